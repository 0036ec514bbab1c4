"""What the kernel should have, and what is wrong with a set, from the committed state and the host as it is.

Decides what should be in force for every set and for plain tasks, which sets the host no longer suits and why, and
when drift that is repaired again and again must be shown. It reads and writes nothing: `provider.manager` asks the
kernel and carries the repair out. It looks at committed state only, never at an operation under way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from provider import cpuset, inventory, power_rules, topology
from provider.cgroup_values import Desired, SharedSlot, Slot
from provider.inventory import CpuSet, Host, State

__all__ = ["Drift", "Mixed", "degradations", "desired", "fingerprint", "only", "power", "released"]

DRIFT_WINDOW_SECONDS = 60.0
DRIFT_TIMES = 3
"""Drift of one set this often within the window is shown: something else writes there."""

MIXED_WAIT_SECONDS = 30.0
"""How long a mixed group waits for the task that it was asked for; from the answer to the task's start it is tenths of
a second, and seconds on a host with too much to do."""


def desired(host: Host, state: State) -> Desired:
    """What the kernel should have. A set of which no CPU is there is not in force, and what runs in it is kept."""
    exclusive: dict[str, Slot] = {}
    kept: dict[str, int] = {}
    shared: dict[str, SharedSlot] = {}
    for one in state.sets.values():
        mems = inventory.set_mems(host, state, one)
        if one.exclusive:
            cpus = one.cpus & host.allowed
            if cpus:
                exclusive[one.id] = Slot(cpus=cpus, mems=mems, partition=one.profile.partition)
            else:
                kept[one.id] = mems
        else:
            shared[one.id] = SharedSlot(
                cpus=inventory.float_mask(host, state, one.pool),
                mems=mems,
                guarantee=float(one.charge),
                burst=one.burst,
                revocable=one.revocable,
            )
    return Desired(
        plain=inventory.plain_mask(host, state),
        exclusive=MappingProxyType(exclusive),
        shared=MappingProxyType(shared),
        plain_mems=host.allowed_mems,
        kept=MappingProxyType(kept),
    )


def released(host: Host, state: State, busy: Collection[str]) -> Desired:
    """What the kernel should have once nobody looks after the sets any more: only those in `busy`, in which something
    runs, and plain tasks on all that these leave but isolated CPUs (reserved CPUs are no longer reserved)."""
    kept = only(state, busy)
    wanted = desired(host, kept)
    rest = host.allowed & ~inventory.held(kept)
    return replace(wanted, plain=(rest & ~host.topology.isolated) or rest or wanted.plain)


def only(state: State, set_ids: Collection[str]) -> State:
    """The state as if there were no sets but these."""
    kept = {set_id: one for set_id, one in state.sets.items() if set_id in set_ids}
    return replace(state, sets=MappingProxyType(kept))


def power(host: Host, state: State) -> dict[int, dict[str, str]]:
    """The cpufreq settings that CPUs should have, by CPU; CPUs that are not named should have what they had."""
    wanted: dict[int, dict[str, str]] = {}
    for one in state.sets.values():
        if one.exclusive and one.profile.power is not None:
            for cpu in cpuset.ids(power_rules.capable(host.policies, one.profile.power, one.cpus & host.allowed)):
                wanted[cpu] = power_rules.settings(host.policies.get(cpu), one.profile.power)
    return wanted


def degradations(host: Host, state: State) -> dict[str, str]:
    """Why sets are not what was promised, by id; a set that is not named is as it should be.

    Rules of a new configuration bind new sets only: a set made under the old ones is kept, and this says so.
    """
    result: dict[str, str] = {}
    unbacked = inventory.figures(host, state).unbacked
    for one in state.sets.values():
        reasons = _exclusive(host, one) if one.exclusive else _shared(host, one, unbacked)
        if reasons:
            result[one.id] = "; ".join(reasons)
    return result


def _exclusive(host: Host, one: CpuSet) -> list[str]:
    reasons = []
    mine = one.cpus | one.blocked
    gone = mine & ~host.topology.online
    outside = mine & ~host.allowed & ~gone
    if gone:
        reasons.append(f"CPUs {cpuset.format_mask(gone)} are not online")
    if outside:
        reasons.append(f"CPUs {cpuset.format_mask(outside)} are outside the provider's cgroup parent")
    if not one.cpus & host.allowed:
        reasons.append("what runs in it runs where plain tasks run, until they are back")
    here = mine & host.allowed
    if one.pool not in host.layout.pools:
        reasons.append(f"kept as it was made: pool {one.pool!r} is no longer configured")
    elif alien := here & ~host.pool(one.pool):
        reasons.append(f"kept as it was made: CPUs {cpuset.format_mask(alien)} are no longer in pool {one.pool!r}")
    if broken := _broken_cores(host, one):
        reasons.append(f"core_siblings {one.profile.core_siblings}: cores {broken} of this host are not wholly its own")
    if one.profile.power is not None:
        here = one.cpus & host.allowed
        unmet = here & ~power_rules.capable(host.policies, one.profile.power, here)
        if unmet:
            reasons.append(f"power: {power_rules.unmet(host.policies, one.profile.power, unmet)}")
    if one.mems & ~host.allowed_mems:
        reasons.append(f"memory nodes {cpuset.format_mask(one.mems & ~host.allowed_mems)} are not there")
    return reasons


def _broken_cores(host: Host, one: CpuSet) -> str:
    """The cores that a set shares although its profile says it never does, as a list of CPU lists."""
    rule = one.profile.core_siblings
    if rule not in ("required", "denied") and not (rule == "denied_preferred" and one.blocked):
        return ""
    mine = one.cpus | one.blocked
    broken = []
    for core in host.topology.cores:
        part = core & mine & host.allowed
        shares = part and core & host.allowed & ~mine
        doubled = one.blocked and (core & one.cpus & host.allowed).bit_count() > 1
        if shares or doubled:
            broken.append(f"{{{cpuset.format_mask(core)}}}")
    return ", ".join(broken)


def _shared(host: Host, one: CpuSet, unbacked: int) -> list[str]:
    reasons = []
    if one.pool not in host.layout.pools:
        reasons.append(f"pool {one.pool!r} is no longer configured; it runs where plain tasks run")
    elif not inventory.shareable(host, one.pool):
        isolated = cpuset.format_mask(host.pool(one.pool) & host.topology.isolated)
        reasons.append(f"CPUs {isolated} of pool {one.pool!r} are isolated now; it does not run there")
    if unbacked and not one.revocable:
        reasons.append(f"the guarantees of the shared sets are {unbacked} CPUs more than what is left for them")
    return reasons


def fingerprint(host: Host) -> str:
    """A value that changes where the offered totals can change by the host's or the configuration's doing.

    It is that of CPU ids, siblings, nodes, packages, LLCs and of what is allowed, reserved and pooled; not of memory
    sizes, frequencies or the boot.
    """
    parts = [topology.identity(host.topology), format(host.allowed, "x"), format(host.floor, "x")]
    for groups in (host.layout.zones, host.layout.pools):
        parts.extend(f"{name}={mask:x}" for name, mask in groups.items())
    parts.append(host.default_stack.hex())
    if host.overcommit != 1.0:
        parts.append(f"overcommit={host.overcommit:g}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Drift:
    """How often each set's kernel state had to be repaired lately. Immutable."""

    times: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def noted(self, set_id: str, now: float) -> Drift:
        """One more repair of this set."""
        kept = tuple(t for t in self.times.get(set_id, ()) if now - t < DRIFT_WINDOW_SECONDS)[-DRIFT_TIMES:]
        return replace(self, times=MappingProxyType({**self.times, set_id: (*kept, now)}))

    def returning(self, set_id: str, now: float) -> bool:
        """Whether the drift of this set keeps coming back."""
        recent = [t for t in self.times.get(set_id, ()) if now - t < DRIFT_WINDOW_SECONDS]
        return len(recent) >= DRIFT_TIMES


@dataclass(frozen=True)
class Mixed:
    """When the groups of tasks in several sets were last asked for, and which were empty at the last look. Immutable.

    One that is empty and waits for no task takes a part of its shared set's weight for nothing, and may go.
    """

    asked: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    empty: frozenset[str] = frozenset()

    def asked_for(self, names: Iterable[str], now: float) -> Mixed:
        """Tasks are about to start in these, or run there."""
        return replace(self, asked=MappingProxyType({**self.asked, **dict.fromkeys(names, now)}))

    def looked(self, running: Mapping[str, bool], now: float) -> tuple[Mixed, list[str]]:
        """`running`: of each group that is there, whether something runs in it. Gives those that may go: empty at this
        look and the one before, and not asked for lately. One that is new to us counts as asked for now, and so does
        one that was asked for in the future (the clock was put back)."""
        asked = {name: min(self.asked.get(name, now), now) for name in running}
        empty = frozenset(name for name, runs in running.items() if not runs)
        idle = sorted(name for name in empty & self.empty if now - asked[name] >= MIXED_WAIT_SECONDS)
        return Mixed(MappingProxyType(asked), empty), idle
