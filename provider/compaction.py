"""Which sets would be better off on other CPUs once a host has become fragmented, and in which order they move.

Decides the moves: each is one set that goes to CPUs that are free at that moment, or are its own; so no two sets are
ever on one CPU, and each move leaves a state that is whole. A set moves only where that gains something (`GAINS`, the
first difference decides), under the profile that it was made with. It moves nothing itself (`provider.manager` does),
and nobody's set moves without being asked for.

Not moved: shared sets (they float), sets that are spread or interleaved (they lie apart on purpose), sets of which the
host has lost something, and revocable ones; nor does a set move where a revocable one would have to give way. Memory
goes along (cpuset.mems), so a smaller gain, by cores only, never makes a set change its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, replace

from provider import allocator, inventory, power_rules, revocable
from provider.errors import Refused
from provider.inventory import Charge, CpuSet, Host, RawKey, State
from provider.topology import match_devices

__all__ = ["GAINS", "Move", "candidate", "measures", "search"]

GAINS = (
    "nodes",
    "CPUs far from the device",
    "distance",
    "packages",
    "last-level caches",
    "cores shared with others",
    "broken cores",
)
"""What is counted, the first first; lower is better. Broken cores are those of the pool that are free in part."""
_FAR = 5
"""Only what comes before this is worth another node's memory."""

MAX_PASSES = 8


@dataclass(frozen=True)
class Move:
    """One set that goes elsewhere."""

    before: CpuSet
    after: CpuSet
    reserved: Mapping[RawKey, int]
    """Reservations go along from zone to zone."""
    counts: tuple[tuple[int, int], ...]
    """Before and after, for each of `GAINS`."""

    @property
    def gains(self) -> dict[str, tuple[int, int]]:
        """What differs."""
        return {name: pair for name, pair in zip(GAINS, self.counts, strict=True) if pair[0] != pair[1]}

    def state(self, state: State) -> State:
        """The state after it."""
        return state.with_set(self.after).with_reserved(self.reserved)


def measures(host: Host, state: State, one: CpuSet) -> tuple[int, ...]:
    """How well a set lies, and the host with it; by `GAINS`."""
    topology = host.topology
    cpus = one.cpus | one.blocked
    nodes = [index for index, node in enumerate(topology.nodes) if node.cpus & cpus]
    far = 0
    if one.profile.device is not None:
        near = [device.cpus for device in match_devices(topology, one.profile.device.match)]
        far = min(((cpus & ~mask).bit_count() for mask in near), default=0)
    distance = sum(
        topology.nodes[a].distances[b] + topology.nodes[b].distances[a]
        for position, a in enumerate(nodes)
        for b in nodes[position + 1 :]
        if b < len(topology.nodes[a].distances) and a < len(topology.nodes[b].distances)
    )
    packages = sum(1 for mask in topology.packages if mask & cpus)
    llcs = sum(1 for mask in topology.llcs if mask & cpus) if one.profile.llc != "none" else 0
    shared = 0
    if one.profile.core_siblings != "none":
        shared = sum(1 for core in topology.cores if core & cpus and core & host.allowed & ~cpus)
    free = inventory.free(host, state, one.pool)
    pool = host.pool(one.pool)
    broken = sum(1 for core in topology.cores if core & free and core & pool & ~free)
    return len(nodes), far, distance, packages, llcs, shared, broken


def candidate(host: Host, state: State, one: CpuSet) -> Move | None:
    """The move that gains most for a set now; None where none gains anything."""
    mine = one.cpus | one.blocked
    profile = one.profile
    if not one.exclusive or one.revocable or one.pool not in host.layout.pools or mine & ~host.pool(one.pool):
        return None
    if profile.placement == "spread" or profile.memory.policy == "interleave":
        return None
    near = 0
    for node in host.topology.nodes:
        if node.cpus & mine:
            near |= node.cpus
    before = measures(host, state, one)
    for region in (host.allowed, near):
        move = _within(host, state, one, region, before)
        if move is None:
            continue
        old, new = zip(*move.counts, strict=True)
        if new[:_FAR] < old[:_FAR] or (new < old and move.after.mems == one.mems and region == near):
            return move
    return None


def _within(host: Host, state: State, one: CpuSet, region: int, before: tuple[int, ...]) -> Move | None:
    mine = one.cpus | one.blocked
    raw = inventory.raw(host, state)
    free = inventory.free(host, state, one.pool) & region
    for zone, mask in host.layout.zones.items():
        # What is promised there, or reserved for others, is not to be had.
        if not mask & mine and not raw.get((zone, one.pool, host.default_stack), 0):
            free &= ~mask
    free |= mine
    if one.profile.power is not None:
        free &= power_rules.capable(host.policies, one.profile.power, free)
    request = allocator.Request(cpus=one.charge, profile=one.profile)
    try:
        placed = allocator.place(
            host.topology, host.layout.zones, host.pool(one.pool), free, request, mems=host.allowed_mems
        )
    except Refused:
        return None
    if placed.charge == mine:
        return None
    moved = replace(one, cpus=placed.cpus, blocked=placed.blocked, mems=placed.mems)
    if one.profile.power is not None and power_rules.crossing(host.policies, moved.cpus, placed.charge):
        return None
    found = _charges(host, state, raw, one, placed.charge)
    if found is None:
        return None
    moved = replace(moved, charges=found[0])
    after = state.with_set(moved).with_reserved(found[1])
    if inventory.figures(host, after).unbacked > inventory.figures(host, state).unbacked:
        return None
    if revocable.revoked(host, after).keys() - revocable.revoked(host, state).keys():
        return None
    return Move(one, moved, found[1], tuple(zip(before, measures(host, after, moved), strict=True)))


def _charges(
    host: Host, state: State, raw: Mapping[RawKey, int], one: CpuSet, cpus: int
) -> tuple[tuple[Charge, ...], dict[RawKey, int]] | None:
    """What is charged where after a move, and the reservations that go along; None where a zone has not that much RAW
    that nobody reserved."""
    missing = dict(host.layout.zone_of(cpus))
    rows: list[Charge] = []
    homeless: list[Charge] = []
    for charge in one.charges:
        stays = min(charge.cpus, missing.get(charge.zone, 0))
        missing[charge.zone] = missing.get(charge.zone, 0) - stays
        if stays:
            rows.append(replace(charge, cpus=stays))
        if charge.cpus > stays:
            homeless.append(replace(charge, cpus=charge.cpus - stays))
    reserved: dict[RawKey, int] = {}
    for charge in homeless:
        left = charge.cpus
        for zone in [zone for zone, amount in missing.items() if amount]:
            amount = min(left, missing[zone])
            if not amount:
                continue
            left -= amount
            missing[zone] -= amount
            rows.append(Charge(zone, charge.stack, amount))
            # Nothing is there of what was the default once: it goes with the set alone.
            here, there = (charge.zone, one.pool, charge.stack), (zone, one.pool, charge.stack)
            along = min(amount, state.reserved.get(here, 0) + reserved.get(here, 0))
            if along > 0:
                reserved[here] = reserved.get(here, 0) - along
                reserved[there] = reserved.get(there, 0) + along
    if any(missing.values()):
        return None
    gained: dict[str, int] = {}
    for sign, charges in ((1, rows), (-1, one.charges)):
        for charge in charges:
            gained[charge.zone] = gained.get(charge.zone, 0) + sign * charge.cpus
    if any(amount > raw.get((zone, one.pool, host.default_stack), 0) for zone, amount in gained.items() if amount > 0):
        return None
    merged: dict[tuple[str, bytes], int] = {}
    for charge in rows:
        merged[charge.zone, charge.stack] = merged.get((charge.zone, charge.stack), 0) + charge.cpus
    return tuple(Charge(zone, stack, amount) for (zone, stack), amount in merged.items()), reserved


def search(
    now: Callable[[], tuple[Host, State]], do: Callable[[Move], bool], only: Collection[str] = ()
) -> Generator[None, None, None]:
    """Find moves and `do` each at once, until nothing gains anything any more; stops after each look at a set.

    `now` tells host and state as they are; `do` is False where a move could not be done, and that set is then left.
    `only`: the sets that may move; all where none is named.
    """
    left: set[str] = set()
    for _ in range(MAX_PASSES):
        ranked: list[tuple[tuple[int, ...], float, str]] = []
        for set_id in list(now()[1].sets):
            host, state = now()
            one = state.sets.get(set_id)
            if one is None or set_id in left or (only and set_id not in only):
                continue
            move = candidate(host, state, one)
            if move is not None:
                ranked.append((tuple(new - old for old, new in move.counts), one.created, set_id))
            yield
        if not ranked:
            return
        for _, _, set_id in sorted(ranked):
            host, state = now()
            one = state.sets.get(set_id)
            move = candidate(host, state, one) if one is not None else None
            if move is not None and not do(move):
                left.add(set_id)
            yield
