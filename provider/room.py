"""What can be had: the labels of RAW (`inventory.raw_labels`), how far sets can grow; kept for as long as it is true.

Decides when it is worked out again, and in which steps labels for other profiles are worked out beforehand, so that no
turn of the reactor has to do it all, and what of a host counts as a set's own. Nothing is sent or stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent_api.wire import mesos_pb2
from profiles.mapping import Profile
from provider import allocator, inventory, power_rules, revocable
from provider.inventory import CpuSet, Host, Place, RawKey, State

__all__ = ["Growth", "RawLabels", "growth"]

MAX_KEPT = 4096

Made = dict[Place, mesos_pb2.Labels]


class RawLabels:
    """An `inventory.Labels` for the profiles in force."""

    def __init__(self) -> None:
        self._host: Host | None = None
        self._profiles: tuple[Profile, ...] = ()
        self._made: Made = {}
        self._coming: tuple[tuple[Profile, ...], Made] = ((), {})
        self._largest: dict[tuple[str, int, Profile], int] = {}
        """By pool, what is free, and rules; for any profiles on this host."""

    def use(self, host: Host, profiles: tuple[Profile, ...]) -> None:
        """From now on tell of these profiles on this host; what was prepared for them is used."""
        if host is not self._host:
            self._host, self._made, self._largest, self._coming = host, {}, {}, ((), {})
        if profiles != self._profiles:
            self._made = self._coming[1] if self._coming[0] == profiles else {}
            self._profiles = profiles
            self._coming = ((), {})

    def prepare(self, profiles: tuple[Profile, ...], state: State) -> Iterator[None]:
        """Work out what these profiles, once in use, will need first. Each step is short."""
        host = self._host
        if host is None or profiles == self._profiles:
            return
        made: Made = {}
        self._coming = (profiles, made)
        for place in inventory.places(host, state):
            for profile in profiles:
                if profile.pool == place.pool and profile.mode == inventory.EXCLUSIVE:
                    self._most(host, place, profile)
                    yield
            made[place] = self._work_out(host, profiles, place)
            yield

    def warm(self, state: State) -> None:
        """Work out all that a report needs, at a time when nobody waits."""
        if self._host is not None:
            for place in inventory.places(self._host, state):
                self(place)

    def __call__(self, place: Place) -> mesos_pb2.Labels:
        found = self._made.get(place)
        if found is None:
            if self._host is None:
                raise RuntimeError("use() comes first")
            if len(self._made) >= MAX_KEPT:
                self._made.clear()
            found = self._made[place] = self._work_out(self._host, self._profiles, place)
        return found

    def _work_out(self, host: Host, profiles: tuple[Profile, ...], place: Place) -> mesos_pb2.Labels:
        labels = mesos_pb2.Labels()
        told = inventory.raw_labels(host, profiles, place, lambda one: self._most(host, place, one))
        for key, value in told.items():
            labels.labels.add(key=key, value=value)
        return labels

    def _most(self, host: Host, place: Place, profile: Profile) -> int:
        rules, free = profile.rules, _usable(host, profile, place.free)
        key = (place.pool, free, rules)
        found = self._largest.get(key)
        if found is None:
            if len(self._largest) >= 16 * MAX_KEPT:
                self._largest.clear()
            found = self._largest[key] = allocator.largest(
                host.topology, host.layout.zones, host.pool(place.pool), free, rules, mems=host.allowed_mems
            )
        return found


def _usable(host: Host, profile: Profile, free: int) -> int:
    """Those of the free CPUs that can have the profile's power settings."""
    return free if profile.power is None else power_rules.capable(host.policies, profile.power, free)


def growth(host: Host, state: State, one: CpuSet) -> int:
    """How many CPUs RESIZE_CPUSET can add to a set from its own NUMA nodes now; a shared one, from its own zones.

    RAW counts that is reserved as the set is, or not otherwise than all is by default.
    """
    near = _near(host, one)
    raw = _there(host, _rows(host, state, one.revocable), one.pool, _stacks(host, one), near)
    return _growth(host, one, inventory.free(host, state, one.pool) & near, raw)


def _rows(host: Host, state: State, loose: bool) -> Mapping[RawKey, int]:
    """The RAW that a set can grow into: revocable ones into what is revocable."""
    if not loose:
        return inventory.raw(host, state)
    return {(zone, pool, b""): amount for (zone, pool), amount in revocable.amounts(host, state).items()}


def _near(host: Host, one: CpuSet) -> int:
    """The CPUs of the set's own nodes; of a shared one, of its zones."""
    near = 0
    if one.exclusive:
        for node in host.topology.nodes:
            if node.cpus & one.cpus:
                near |= node.cpus
    else:
        for charge in one.charges:
            near |= host.layout.zones.get(charge.zone, 0)
    return near


def _stacks(host: Host, one: CpuSet) -> frozenset[bytes]:
    return frozenset((host.default_stack, *(charge.stack for charge in one.charges)))


def _there(host: Host, raw: Mapping[RawKey, int], wanted: str, stacks: frozenset[bytes], near: int) -> int:
    """RAW of a pool, under one of the stacks, in the zones that `near` is in."""
    return sum(
        amount
        for (zone, pool, stack), amount in raw.items()
        if pool == wanted and stack in stacks and host.layout.zones.get(zone, 0) & near
    )


def _growth(host: Host, one: CpuSet, free: int, raw: int) -> int:
    if not raw or not one.exclusive:
        return raw
    if (one.cpus | one.blocked) & ~host.allowed:
        return 0
    zones, pool, free = host.layout.zones, host.pool(one.pool), _usable(host, one.profile, free)
    more = allocator.growth(
        host.topology, zones, pool, free, one.profile, one.cpus, one.blocked, mems=host.allowed_mems
    )
    return min(more, raw)


class Growth:
    """`growth` of every set, worked out again only for sets near which something changed."""

    def __init__(self) -> None:
        self._host: Host | None = None
        self._known: dict[str, tuple[CpuSet, int, int, int, int]] = {}
        """By set id: the set, its own nodes' CPUs, those of them that are free, the RAW there, and the answer."""

    def __call__(self, host: Host, state: State) -> dict[str, int]:
        """By set id."""
        before = self._known if host is self._host else {}
        self._host, self._known = host, {}
        rows = {loose: _rows(host, state, loose) for loose in (False, True)}
        held = inventory.held(state)
        sums: dict[tuple[bool, str, frozenset[bytes], int], int] = {}
        for set_id, one in state.sets.items():
            known = before.get(set_id)
            near = known[1] if known is not None and known[0] == one else _near(host, one)
            free = host.pool(one.pool) & ~held & near
            key = (one.revocable, one.pool, _stacks(host, one), near)
            raw = sums.get(key)
            if raw is None:
                raw = sums[key] = _there(host, rows[one.revocable], *key[1:])
            if known is None or known[:4] != (one, near, free, raw):
                known = (one, near, free, raw, _growth(host, one, free, raw))
            self._known[set_id] = known
        return {set_id: known[4] for set_id, known in self._known.items()}
