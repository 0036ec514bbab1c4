"""In which order the kernel's cpuset lists are rewritten, from what they are to what they should be.

Decides: the steps, one after another, so that after each single one
- no CPU is in an exclusive set's list and in the list of any other of our cgroups (unless it already was),
- no list is empty, and a child's list lies inside its parent's (cgroup v1 refuses it otherwise),
- lists widen from the top down and narrow from the bottom up: a parent that moves goes through the union.
Never does: I/O. It knows no path and no file; `provider.cgroups` carries the steps out and reads back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from provider.cgroup_values import (
    Desired,
    Difference,
    Make,
    Observed,
    Remove,
    Rules,
    SetCpus,
    SetMems,
    SetPartition,
    SetQuota,
    SetWeight,
    SharedSlot,
    Step,
    group_name,
    members,
    mixed_name,
)
from provider.cpuset import format_mask
from provider.errors import EnforcementError

__all__ = ["differences", "plan"]

PERIOD_US = 100_000
"""The period in which a burst is measured, in microseconds (the kernel's own default)."""
PLAIN_SHARE = 0.1
"""Weight of the plain group, in CPUs' worth, against the guarantees: plain tasks have the floor for themselves anyway,
and on the other CPUs the guarantees come first."""
_PARTITIONS = ("member", "root", "isolated")


@dataclass(frozen=True, slots=True)
class _Want:
    cpus: int
    mems: int
    exclusive: bool = False
    inherit: bool = False
    """May stay without a list of its own, as its parent's is the same (v2)."""
    partition: str = "member"
    weight: int | None = None
    """None: not ours to set."""
    quota: tuple[int, int] | None = None


def _parent(name: str) -> str | None:
    if not name:
        return None
    return name.rpartition("/")[0]


def _show(mask: int) -> str:
    """Kernel list format of a mask, for messages."""
    return format_mask(mask) or "(none)"


def _weights(shares: Mapping[str, float], rules: Rules) -> dict[str, int]:
    """Weights in the ratio of the shares; the unit shrinks where the largest would not fit the kernel's range."""
    largest = max(shares.values(), default=0.0)
    unit = min(float(rules.weight_unit), rules.weight_max / largest) if largest > 0 else float(rules.weight_unit)
    return {name: max(rules.weight_min, round(share * unit)) for name, share in shares.items()}


def _quota(set_id: str, slot: SharedSlot) -> tuple[int, int] | None:
    if slot.burst is None:
        return None
    if slot.burst < slot.guarantee:
        raise EnforcementError(f"set {set_id}: burst {slot.burst:g} is below the guarantee {slot.guarantee:g}")
    return (max(1000, round(slot.burst * PERIOD_US)), PERIOD_US)  # the kernel takes no quota below 1 ms


def _wants(desired: Desired, observed: Observed, rules: Rules) -> dict[str, _Want]:
    """The desired state by group. Raises EnforcementError where it contradicts itself or does not fit the host."""
    cpus, mems = observed.cpus, observed.mems
    held = desired.plain
    for slot in desired.shared.values():
        held |= slot.cpus
    others = {"plain": desired.plain} | {f"shared set {i}": s.cpus for i, s in desired.shared.items()}
    for what, mask in others.items():
        _inside(what, mask, cpus)
    for set_id, slot_ in desired.exclusive.items():
        _inside(f"exclusive set {set_id}", slot_.cpus, cpus)
        if slot_.partition not in _PARTITIONS:
            raise EnforcementError(f"set {set_id}: partition {slot_.partition!r} is none of {', '.join(_PARTITIONS)}")
        if slot_.cpus & held:
            raise EnforcementError(
                f"exclusive set {set_id}: CPUs {_show(slot_.cpus & held)} of {_show(slot_.cpus)} are wanted by"
                " another set or by plain as well"
            )
        held |= slot_.cpus
    nodes_of = {i: s.mems for i, s in desired.exclusive.items()} | {i: s.mems for i, s in desired.shared.items()}
    for set_id, nodes in nodes_of.items():
        if nodes & ~mems:
            raise EnforcementError(f"set {set_id}: nodes {_show(nodes & ~mems)} are not among {_show(mems)}")

    out = {"": _Want(cpus, mems, inherit=rules.inherits)}
    out["plain"] = _Want(desired.plain, (desired.plain_mems & mems) or mems)
    mixed = _mixed(desired, observed.groups)
    if desired.shared:
        union = union_mems = 0
        for slot in desired.shared.values():
            union |= slot.cpus
            union_mems |= slot.mems or mems
        # A set's share is divided among its own group and the mixed ones: the other sets' stay what they are.
        shares = {i: s.share / (1 + sum(i in ids for ids in mixed.values())) for i, s in desired.shared.items()}
        top = {"plain": PLAIN_SHARE, "shared": sum(shares.values())}
        top |= {n: share for n, ids in mixed.items() if (share := sum(shares.get(i, 0.0) for i in ids))}
        top_weights = _weights(top, rules)
        out["plain"] = _Want(desired.plain, out["plain"].mems, weight=top_weights["plain"])
        out["shared"] = _Want(union, union_mems, weight=top_weights["shared"])
        weights = _weights(shares, rules)
        for set_id, slot in desired.shared.items():
            out[group_name(set_id, shared=True)] = _Want(
                slot.cpus,
                slot.mems or mems,
                inherit=rules.inherits and slot.cpus == union,
                weight=weights[set_id],
                quota=_quota(set_id, slot),
            )
    for set_id, slot_ in desired.exclusive.items():
        out[group_name(set_id)] = _Want(slot_.cpus, slot_.mems or mems, exclusive=True, partition=slot_.partition)
    for name in _kept(desired.kept, observed.groups):
        out[name] = _Want(desired.plain, (desired.kept[name[4:]] & mems) or mems)
    for name, ids in mixed.items():
        all_cpus = all_mems = 0
        for set_id in ids:
            part = desired.exclusive.get(set_id) or desired.shared.get(set_id)
            if part is not None:
                all_cpus |= part.cpus
                all_mems |= part.mems or mems
        weight = top_weights.get(name) if desired.shared else None
        out[name] = _Want(all_cpus or desired.plain, all_mems or mems, weight=weight)
    return out


def _mixed(desired: Desired, groups: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The mixed groups that should be, with their sets: asked for or there, and all of their sets are."""
    names = sorted({*map(mixed_name, desired.mixed), *(name for name in groups if name.startswith("mix."))})
    known = {*desired.shared, *desired.kept, *(i for i, s in desired.exclusive.items() if s.partition == "member")}
    return {name: members(name) for name in names if known.issuperset(members(name))}


def _kept(kept: Collection[str], groups: Collection[str]) -> set[str]:
    return {name for set_id in kept if (name := group_name(set_id)) in groups}


def _inside(what: str, mask: int, allowed: int) -> None:
    if not mask:
        raise EnforcementError(f"{what}: no CPUs (an empty list would mean all of them)")
    if mask & ~allowed:
        raise EnforcementError(f"{what}: CPUs {_show(mask & ~allowed)} of {_show(mask)} are not in {_show(allowed)}")


def differences(observed: Observed, desired: Desired, rules: Rules) -> tuple[Difference, ...]:
    """In what the kernel differs from what is desired, base first, then plain, shared, sets by name."""
    want = _wants(desired, observed, rules)
    out: list[Difference] = []

    def note(name: str, what: str, wanted: str, found: str) -> None:
        out.extend(Difference(set_id, name, what, wanted, found) for set_id in members(name) or (None,))

    for name in sorted({*want, *observed.groups}):
        wish, group = want.get(name), observed.groups.get(name)
        if group is None:
            note(name, "missing", "a cgroup", "none")
        elif wish is None:
            note(name, "extra", "none", f"CPUs {_show(group.effective)}")
        else:
            # A list never set shows in `effective`; one set may also hide behind a narrower parent.
            if name and (group.effective != wish.cpus or (group.cpus or wish.cpus) != wish.cpus):
                note(name, "cpus", _show(wish.cpus), _show(group.effective))
            elif not rules.inherits and group.cpus != wish.cpus:
                note(name, "cpus", _show(wish.cpus), _show(group.cpus))
            if name and group.effective_mems != wish.mems:
                note(name, "mems", _show(wish.mems), _show(group.effective_mems))
            if rules.partitions and group.partition != wish.partition:
                note(name, "partition", wish.partition, group.partition)
            if rules.cpu and wish.weight is not None and group.weight != wish.weight:
                note(name, "weight", str(wish.weight), str(group.weight))
            if rules.cpu and group.quota != wish.quota:
                note(name, "quota", str(wish.quota), str(group.quota))
    return tuple(out)


def plan(observed: Observed, desired: Desired, rules: Rules) -> list[Step]:
    """The steps from `observed` to `desired`, in order; empty where nothing differs.

    Raises EnforcementError where `desired` contradicts itself, does not fit `observed.cpus`/`mems`, or where no order
    exists (every CPU would have to change hands at once).
    """
    return _Planner(observed, desired, rules).run()


class _Planner:
    """The state as it will be after the steps so far."""

    def __init__(self, observed: Observed, desired: Desired, rules: Rules) -> None:
        self.rules = rules
        self.all_cpus, self.all_mems = observed.cpus, observed.mems
        self.want = _wants(desired, observed, rules)
        self.kept = _kept(desired.kept, observed.groups)
        self.groups = dict(observed.groups)
        self.cpus = {name: group.cpus for name, group in observed.groups.items()}
        self.mems = {name: group.mems for name, group in observed.groups.items()}
        self.steps: list[Step] = []
        self.remade: set[str] = set()
        """Sets whose partition has to be made (again) at the end."""

    # What is in force, a list that was never set being its parent's.

    def now(self, name: str) -> int:
        if name not in self.cpus:
            return 0
        if self.cpus[name] or not self.rules.inherits:
            return self.cpus[name]
        parent = _parent(name)
        return self.all_cpus if parent is None else self.now(parent)

    def nodes(self, name: str) -> int:
        if name not in self.mems:
            return 0
        if self.mems[name] or not self.rules.inherits:
            return self.mems[name]
        parent = _parent(name)
        return self.all_mems if parent is None else self.nodes(parent)

    def room(self, name: str) -> int:
        """What the parent has; 0 while it does not exist."""
        parent = _parent(name)
        return self.all_cpus if parent is None else self.now(parent)

    def exclusive(self, name: str) -> bool:
        return name.startswith("set.") and name not in self.kept

    def held_by_others(self, name: str) -> int:
        """CPUs that this group may not take now."""
        held = 0
        mine = self.exclusive(name)
        for other in self.cpus:
            if other not in ("", name) and (mine or self.exclusive(other)) and not self.partners(name, other):
                held |= self.now(other)
        return held

    @staticmethod
    def partners(name: str, other: str) -> bool:
        """Whether one is a mixed group and the other one an exclusive set of it."""
        mixed, own = (name, other) if name.startswith("mix.") else (other, name)
        return mixed.startswith("mix.") and own.startswith("set.") and own[4:] in members(mixed)

    def top_down(self, *, exclusive: bool) -> list[str]:
        return sorted(
            (n for n in self.want if self.exclusive(n) is exclusive), key=lambda n: (n.count("/"), n != "", n)
        )

    # The sequence.

    def run(self) -> list[Step]:
        self.leave_partitions()
        self.remove()
        self.widen_mems()
        self.shelter()
        # A list that follows its parent's must be fixed before the parent's moves to something else.
        for name in reversed(self.top_down(exclusive=False)):
            if self.follows(name) and not self.want[name].inherit:
                self.narrow(name)
        while not self.settled():
            before = len(self.steps)
            for name in self.top_down(exclusive=False):
                self.widen(name)
            for name in reversed(self.top_down(exclusive=False)):
                self.narrow(name)
            for name in self.top_down(exclusive=True):
                self.widen(name)
            for name in self.top_down(exclusive=True):
                self.narrow(name)
            if len(self.steps) == before:
                stuck = [n for n in self.want if self.now(n) != self.want[n].cpus]
                raise EnforcementError(
                    "no order of writes leads there without an overlap: "
                    + "; ".join(f"{n} from {_show(self.now(n))} to {_show(self.want[n].cpus)}" for n in sorted(stuck))
                )
        self.narrow_mems()
        self.set_time()
        self.enter_partitions()
        return self.steps

    def settled(self) -> bool:
        return all(
            name in self.cpus and self.now(name) == wish.cpus and not self.loose(name)
            for name, wish in self.want.items()
        )

    def follows(self, name: str) -> bool:
        return self.rules.inherits and name in self.cpus and not self.cpus[name]

    def loose(self, name: str) -> bool:
        """Has no list of its own and needs one: otherwise it would change with the parent's."""
        return self.follows(name) and not self.want[name].inherit

    def leave_partitions(self) -> None:
        """Back to member where the set goes, or its list is to change: the kernel would invalidate it half-way."""
        for name, group in sorted(self.groups.items()):
            if group.partition == "member":
                continue
            wish = self.want.get(name)
            if wish and wish.partition == group.partition and self.now(name) == wish.cpus:
                continue
            self.steps.append(SetPartition(name, group.partition, "member", self.now(name)))
            self.remade.add(name)

    def remove(self) -> None:
        unwanted = sorted((n for n in self.groups if n not in self.want), key=lambda n: (-n.count("/"), n))
        if unwanted and not self.now("plain"):
            # What is left in a removed set goes there, so it has to be there first.
            self.widen("")
            self.widen("plain")
        for name in unwanted:
            self.steps.append(Remove(name, self.groups[name]))
            del self.cpus[name], self.mems[name], self.groups[name]

    def shelter(self) -> None:
        """Sets that lost all CPUs go to plain's at once: the kernel lets them run on all that the parent has."""
        for name in sorted(self.kept):
            target = self.want[name].cpus & self.room(name) & ~self.held_by_others(name)
            if target and (not self.cpus[name] or self.cpus[name] & ~self.want[name].cpus):
                self.write(name, target)

    def widen(self, name: str) -> None:
        wish, room = self.want[name], self.room(name)
        free = wish.cpus & room & ~self.held_by_others(name)
        if name not in self.cpus:
            # An exclusive set is made when all of it is free, never in part.
            if not free or (wish.exclusive and free != wish.cpus):
                return
            cpus = 0 if wish.inherit else free
            mems = self.first_mems(name, wish)
            self.steps.append(Make(name, cpus, mems))
            self.cpus[name], self.mems[name] = cpus, mems
            return
        now = self.now(name)
        if wish.exclusive and now & self.held_by_others(name):
            # It was sheltered, or rewritten by somebody: at once, as no step may widen what overlaps.
            if free == wish.cpus:
                self.write(name, free)
            return
        if free & ~now and not (self.follows(name) and wish.inherit):
            self.write(name, (now | free) & self.all_cpus)  # v2 keeps offline CPUs in its lists

    def narrow(self, name: str) -> None:
        if name not in self.cpus:
            return
        now, wish = self.now(name), self.want[name]
        keep = now & wish.cpus
        for child in self.cpus:
            if child and _parent(child) == name and not self.follows(child):
                keep |= self.now(child) & now
        if now and not keep:
            # Nothing of the old list stays: keep one CPU, best one that nobody else waits for.
            others = 0
            for other, theirs in self.want.items():
                if other not in ("", name):
                    others |= theirs.cpus
            rest = (now & ~others) or now
            keep = rest & -rest
        if self.loose(name) or (keep != now and not self.follows(name)):
            self.write(name, keep)

    def write(self, name: str, cpus: int) -> None:
        self.steps.append(SetCpus(name, self.cpus[name], cpus))
        self.cpus[name] = cpus

    # Memory nodes: nobody has them alone, so all widen, then all narrow.

    def first_mems(self, name: str, wish: _Want) -> int:
        parent = _parent(name)
        room = self.all_mems if parent is None else self.nodes(parent)
        if self.rules.inherits and wish.mems == room:
            return 0
        return wish.mems

    def mems_order(self) -> list[str]:
        return [*self.top_down(exclusive=False), *self.top_down(exclusive=True)]

    def widen_mems(self) -> None:
        for name in self.mems_order():
            if name in self.mems:
                self.write_mems(name, self.nodes(name) | self.want[name].mems)

    def narrow_mems(self) -> None:
        for name in reversed(self.mems_order()):
            self.write_mems(name, self.want[name].mems)

    def write_mems(self, name: str, mems: int) -> None:
        if mems != self.nodes(name):
            self.steps.append(SetMems(name, self.mems[name], mems))
            self.mems[name] = mems

    # The cpu controller and partitions.

    def set_time(self) -> None:
        if not self.rules.cpu:
            return
        for name, wish in self.want.items():
            group = self.groups.get(name)
            weight = group.weight if group else None
            if wish.weight is not None and wish.weight != weight:
                self.steps.append(SetWeight(name, weight, wish.weight))
            quota = group.quota if group else None
            if wish.quota != quota:
                self.steps.append(SetQuota(name, quota, wish.quota))

    def enter_partitions(self) -> None:
        if not self.rules.partitions:
            return
        for name, wish in self.want.items():
            group = self.groups.get(name)
            now = "member" if group is None or name in self.remade else group.partition
            if wish.partition not in ("member", now):
                self.steps.append(SetPartition(name, now, wish.partition, wish.cpus))
