"""What the provider holds and what it offers, computed from facts.

Decides how CPUs, sets and reservations become resources: how many RAW CPUs each zone and pool has and who they are
reserved for, what each set's resources say, and what may run where. The facts are `State` (the sets, each with its
CPUs, and the reserved amounts) and `Host`; everything else here is derived from them each time it is asked, so there
is no running sum that could depend on history. It never chooses CPUs (`provider.allocator`), never decides an
operation (`provider.operations`), and does no I/O.

The rule that holds always (section 3 of the design), `figures` checks it by counting CPUs:

    RAW + sets + floor + reserved = online

where `online` are the CPUs the host has online inside our cgroup parent, `reserved` includes online CPUs that no
pool offers (isolated ones), and a set counts with what it charges. CPUs that a set holds and the host lost are
`lost`; guarantees of shared sets that no free CPU backs any more are `unbacked`; both are 0 on a healthy host.
Revocable CPUs and sets are beyond this rule (`provider.revocable`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from agent_api.wire import mesos_pb2
from profiles.mapping import Profile
from provider import cpuset
from provider.errors import StateError
from provider.layout import Layout
from provider.power_rules import Policy
from provider.topology import Topology

__all__ = [
    "EXCLUSIVE",
    "SHARED",
    "Charge",
    "CpuSet",
    "Figures",
    "Host",
    "Labels",
    "Place",
    "RawKey",
    "State",
    "charged",
    "figures",
    "float_mask",
    "free",
    "held",
    "places",
    "plain_mask",
    "raw",
    "raw_labels",
    "raw_resources",
    "reservations_of",
    "resource",
    "resources",
    "set_labels",
    "set_mems",
    "set_resources",
    "shareable",
    "spread",
    "stack_from",
    "stack_of",
    "usable",
]

EXCLUSIVE = "exclusive"
SHARED = "shared"

Source = mesos_pb2.Resource.CpuInfo.Source

RawKey = tuple[str, str, bytes]
"""(zone, pool, reservation stack)."""


class Place(NamedTuple):
    """One zone and pool as it is now."""

    zone: str
    pool: str
    free: int
    """Mask of the CPUs that no exclusive set holds."""
    room: int
    """How many are RAW."""
    revocable: bool = False


Labels = Callable[[Place], mesos_pb2.Labels]
"""The labels of the RAW of a zone and pool."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What a set takes from one zone under one reservation stack."""

    zone: str
    stack: bytes
    cpus: int
    """A number of CPUs; with `core_siblings: denied` the siblings that stay empty are included."""


@dataclass(frozen=True, slots=True)
class CpuSet:
    """One set. An exclusive one holds its CPUs by its id; a shared one holds an amount."""

    id: str
    profile: Profile
    """As it was when the set was made: a profile that sets use is fixed."""
    role: str
    framework_id: str | None
    cpus: int
    """Mask of the usable CPUs; 0 for a shared set, which floats."""
    blocked: int
    """Mask of siblings that are charged and stay empty."""
    mems: int
    """Mask of memory nodes; 0 for a shared set, where it follows from the CPUs."""
    charges: tuple[Charge, ...]
    burst: float | None
    created: float
    """Unix time."""
    revocable: bool = False
    """A shared set made of revocable RAW: what it charges is not guaranteed to it."""

    @property
    def exclusive(self) -> bool:
        return self.profile.mode == EXCLUSIVE

    @property
    def pool(self) -> str:
        return self.profile.pool

    @property
    def charge(self) -> int:
        """CPUs charged in all."""
        return sum(charge.cpus for charge in self.charges)


@dataclass(frozen=True)
class State:
    """The facts that are committed. Immutable: a change is another State."""

    sets: Mapping[str, CpuSet] = field(default_factory=lambda: MappingProxyType({}))
    reserved: Mapping[RawKey, int] = field(default_factory=lambda: MappingProxyType({}))
    """How many CPUs of a zone and pool are reserved under a stack, whether RAW or inside a set. A stack equal to
    the host's default one is never in here: what nobody reserved otherwise has it."""

    def with_set(self, new: CpuSet) -> State:
        return replace(self, sets=MappingProxyType({**self.sets, new.id: new}))

    def without_set(self, set_id: str) -> State:
        """Release by the holder's id; releasing what is not there changes nothing."""
        return replace(self, sets=MappingProxyType({k: v for k, v in self.sets.items() if k != set_id}))

    def with_reserved(self, changes: Mapping[RawKey, int]) -> State:
        """Add the amounts (negative ones take away); what becomes 0 is dropped."""
        amounts = dict(self.reserved)
        for key, change in changes.items():
            amounts[key] = amounts.get(key, 0) + change
        if any(amount < 0 for amount in amounts.values()):
            raise StateError(f"a reserved amount would become negative: {amounts}")
        return replace(self, reserved=MappingProxyType({k: v for k, v in sorted(amounts.items()) if v}))


@dataclass(frozen=True)
class Host:
    """Where the sets live: what is there now, and the rules of the configuration."""

    topology: Topology
    layout: Layout
    allowed: int
    """Online CPUs inside the cgroup parent's cpuset."""
    allowed_mems: int
    """Memory nodes inside the cgroup parent's cpuset; those that have memory."""
    default_stack: bytes = b""
    enforcement: str = "affinity"
    overcommit: float = 1.0
    """How many CPUs' worth of shared sets there may be for each CPU that they run on."""
    path: Callable[[str, bool], str] = field(default=lambda set_id, shared: "", compare=False)
    """(set id, whether it is a shared one) -> its `cgroup` label."""
    policies: Mapping[int, Policy] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """cpufreq of each online CPU that has it."""

    @property
    def floor(self) -> int:
        return self.layout.floor & self.allowed

    def zone_pool(self, zone: str, pool: str) -> int:
        """Online CPUs of a pool in a zone; 0 where the host has no such zone or pool."""
        return self.layout.zones.get(zone, 0) & self.layout.pools.get(pool, 0) & self.allowed & ~self.floor

    def pool(self, pool: str) -> int:
        """Online CPUs of a pool."""
        return self.layout.pools.get(pool, 0) & self.allowed & ~self.floor


def usable(topology: Topology, cpus: int | None, mems: int | None) -> tuple[int, int]:
    """(CPUs, nodes) of a host that may be used where the kernel allows these (None: all): of CPUs those that are
    online, of nodes those with memory; all with memory where none of them is allowed."""
    nodes = cpuset.of(node.id for node in topology.nodes if node.has_memory)
    return (
        topology.online if cpus is None else topology.online & cpus,
        (nodes if mems is None else nodes & mems) or nodes,
    )


def held(state: State, *, but: str | None = None) -> int:
    """CPUs that exclusive sets charge, the blocked ones included; `but` leaves one set out."""
    mask = 0
    for one in state.sets.values():
        if one.exclusive and one.id != but:
            mask |= one.cpus | one.blocked
    return mask


def free(host: Host, state: State, pool: str) -> int:
    """CPUs of the pool that no exclusive set holds (shared sets float over them)."""
    return host.pool(pool) & ~held(state)


def float_mask(host: Host, state: State, pool: str) -> int:
    """Where the shared sets of a pool run: all of the pool that is neither held by an exclusive set nor isolated.

    Where nothing of the pool is left (it was taken out of the configuration, its CPUs are gone) they run where plain
    tasks run: never nowhere, because an empty list would mean everywhere.
    """
    return free(host, state, pool) & ~host.topology.isolated or plain_mask(host, state)


def shareable(host: Host, pool: str) -> bool:
    """Whether shared sets can be made in a pool. On isolated CPUs the kernel moves no task to an idle CPU: the tasks of
    a set that floats over them would pile up on one."""
    return not host.pool(pool) & host.topology.isolated


def plain_mask(host: Host, state: State) -> int:
    """Where what is in no set runs: the floor, and every offered CPU that is neither held nor isolated."""
    offered = 0
    for mask in host.layout.pools.values():
        offered |= mask
    taken = held(state)
    wanted = (host.floor | (offered & ~host.topology.isolated)) & host.allowed & ~taken
    # Only a host that lost CPUs, or was configured by hand over held ones, gets past the first.
    return wanted or (host.allowed & ~taken) or host.floor or host.allowed


def set_mems(host: Host, state: State, one: CpuSet) -> int:
    """The memory nodes of a set, within what the cgroup parent has; never empty."""
    usable = host.allowed_mems
    if one.exclusive:
        return (one.mems & usable) or usable
    if one.profile.memory.policy == "none":
        return usable
    cpus = float_mask(host, state, one.pool)
    near = cpuset.of(node.id for node in host.topology.nodes if node.cpus & cpus)
    return (near & usable) or usable


# -- amounts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """CPUs counted, see the module's rule. `raw` is by zone, pool and stack; every amount is above 0."""

    raw: Mapping[RawKey, int]
    sets: int
    floor: int
    reserved: int
    online: int
    lost: int
    unbacked: int

    @property
    def raw_total(self) -> int:
        return sum(self.raw.values())


def figures(host: Host, state: State) -> Figures:
    """Count everything, and check the rule. Raises StateError where it does not hold: a bug, or two sets that hold
    one CPU."""
    taken = 0
    charged = lost = 0
    for one in state.sets.values():
        charged += 0 if one.revocable else one.charge
        if one.exclusive:
            mine = one.cpus | one.blocked
            if taken & mine:
                raise StateError(f"set {one.id} holds CPUs {cpuset.format_mask(taken & mine)} that another set holds")
            taken |= mine
            lost += one.charge - (mine & host.allowed).bit_count()
    amounts, unbacked = _free_amounts(host, state)
    offered = 0
    for zone in host.layout.zones:
        for pool in host.layout.pools:
            here = host.zone_pool(zone, pool)
            if offered & here:
                raise StateError(f"CPUs {cpuset.format_mask(offered & here)} are in two zones or pools")
            offered |= here
    floor = host.floor & ~taken
    rest = host.allowed & ~taken & ~floor & ~offered
    split = raw(host, state)
    result = Figures(
        raw=split,
        sets=charged,
        floor=floor.bit_count(),
        reserved=rest.bit_count(),
        online=host.allowed.bit_count(),
        lost=lost,
        unbacked=unbacked,
    )
    if (
        sum(split.values()) != sum(amounts.values())
        or result.raw_total + charged + result.floor + result.reserved != result.online + lost + unbacked
    ):
        raise StateError(f"the CPUs do not add up: {result}")
    return result


def _free_amounts(host: Host, state: State) -> tuple[dict[tuple[str, str], int], int]:
    """CPUs per zone and pool that are neither held nor guaranteed, and how much guarantee nothing backs."""
    taken = held(state)
    amounts: dict[tuple[str, str], int] = {}
    for pool in host.layout.pools:
        for zone in host.layout.zones:
            here = host.zone_pool(zone, pool)
            if here:
                amounts[zone, pool] = (here & ~taken).bit_count()
    guaranteed = (one for one in state.sets.values() if not one.exclusive and not one.revocable)
    return spread(amounts, sorted(guaranteed, key=lambda one: one.id))


def spread(room: Mapping[tuple[str, str], int], sets: Iterable[CpuSet]) -> tuple[dict[tuple[str, str], int], int]:
    """Take what sets charge off an amount by zone and pool: what is left of each, and how much found no place."""
    amounts = dict(room)
    homeless: dict[str, int] = {}
    for one in sets:
        for charge in one.charges:
            key = (charge.zone, one.pool)
            got = min(amounts.get(key, 0), charge.cpus)
            if got:
                amounts[key] -= got
            if got < charge.cpus:
                homeless[one.pool] = homeless.get(one.pool, 0) + charge.cpus - got
    without = 0
    for pool, missing in sorted(homeless.items()):
        # The zone it was charged to is gone or too small now: its place is kept where its pool has most room.
        for key in sorted((k for k in amounts if k[1] == pool), key=lambda k: (-amounts[k], k)):
            got = min(amounts[key], missing)
            amounts[key] -= got
            missing -= got
        without += missing
    return amounts, without


def charged(state: State) -> dict[RawKey, int]:
    """What sets have of each zone, pool and stack; revocable ones have nothing of it."""
    in_sets: dict[RawKey, int] = {}
    for one in state.sets.values():
        for charge in () if one.revocable else one.charges:
            key = (charge.zone, one.pool, charge.stack)
            in_sets[key] = in_sets.get(key, 0) + charge.cpus
    return in_sets


def raw(host: Host, state: State) -> Mapping[RawKey, int]:
    """RAW CPUs by zone, pool and reservation stack, in the order of the layout; amounts above 0 only.

    What is reserved and not in a set comes first, in the order of the stacks; where the host lost so much that it does
    not suffice, the last ones get less. The rest has the default stack.
    """
    amounts, _ = _free_amounts(host, state)
    in_sets = charged(state)
    result: dict[RawKey, int] = {}
    for (zone, pool), left in amounts.items():
        stacks = sorted(key[2] for key in state.reserved if key[:2] == (zone, pool))
        for stack in stacks:
            key = (zone, pool, stack)
            amount = min(left, max(0, state.reserved[key] - in_sets.get(key, 0)))
            left -= amount
            if amount:
                result[key] = amount
        if left:
            key = (zone, pool, host.default_stack)
            result[key] = result.get(key, 0) + left
    return MappingProxyType(result)


# -- reservation stacks ---------------------------------------------------------------------------------------------


def stack_of(resource: mesos_pb2.Resource) -> bytes:
    """The reservations of a resource as a value that can be compared: b"" for unreserved.

    A resource in the old form (`role` and `reservation` instead of `reservations`) counts as what it means.
    """
    entries = list(resource.reservations)
    if not entries and resource.HasField("role") and resource.role != "*":
        old = mesos_pb2.Resource.ReservationInfo(role=resource.role)
        if resource.HasField("reservation"):
            old.MergeFrom(resource.reservation)
            old.type = mesos_pb2.Resource.ReservationInfo.DYNAMIC
        else:
            old.type = mesos_pb2.Resource.ReservationInfo.STATIC
        old.role = resource.role
        entries = [old]
    return stack_from(entries)


def stack_from(entries: Iterable[mesos_pb2.Resource.ReservationInfo]) -> bytes:
    """The stack of these reservations, the outermost last."""
    carrier = mesos_pb2.Resource(reservations=list(entries))
    return carrier.SerializePartialToString(deterministic=True)


def reservations_of(stack: bytes) -> list[mesos_pb2.Resource.ReservationInfo]:
    """The reservations of a stack."""
    carrier = mesos_pb2.Resource()
    carrier.MergeFromString(stack)
    return list(carrier.reservations)


# -- resources ------------------------------------------------------------------------------------------------------


def resource(provider_id: str, stack: bytes, amount: int, source: Source) -> mesos_pb2.Resource:
    """A number of CPUs of the provider."""
    made = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    made.scalar.value = float(amount)
    made.provider_id.value = provider_id
    made.reservations.extend(reservations_of(stack))
    made.cpu.source.CopyFrom(source)
    return made


def raw_labels(
    host: Host, profiles: Iterable[Profile], place: Place, largest: Callable[[Profile], int]
) -> dict[str, str]:
    """What can be had of a zone and pool, before asking:

    - `free_whole_cores`: how many cores are wholly free;
    - `free_cpus_by_llc`: CPUs of each last-level cache that no exclusive set holds, "0:4,1:2" by the cache's index;
    - `distances`: of the zone's first node to each node of the topology, in its order;
    - `largest/PROFILE`: the most CPUs that a new set under this active profile can be charged in this zone.

    Of revocable RAW there is only the last to tell, and only of shared profiles.

    `largest` tells the most that an exclusive set under a profile can have of `place.free`.
    """
    if place.revocable:
        mine = (profile for profile in profiles if profile.pool == place.pool and profile.mode == SHARED)
        return {f"largest/{profile.name}": str(place.room) for profile in mine}
    labels = {"free_whole_cores": str(_whole_cores(host, place.free))}
    llcs = [f"{i}:{(mask & place.free).bit_count()}" for i, mask in enumerate(host.topology.llcs) if mask & place.free]
    labels["free_cpus_by_llc"] = ",".join(llcs)
    mask = host.layout.zones.get(place.zone, 0)
    near = next((node for node in host.topology.nodes if node.cpus & mask), None)
    if near is not None:
        labels["distances"] = ",".join(map(str, near.distances))
    for profile in profiles:
        if profile.pool == place.pool:
            most = place.room if profile.mode == EXCLUSIVE or shareable(host, place.pool) else 0
            if profile.mode == EXCLUSIVE and most:
                most = min(most, largest(profile))
            labels[f"largest/{profile.name}"] = str(most)
    return labels


def _whole_cores(host: Host, free_cpus: int) -> int:
    return sum(1 for core in host.topology.cores if core & free_cpus and not core & host.allowed & ~free_cpus)


def places(host: Host, state: State) -> list[Place]:
    """Every zone and pool that has CPUs, in the order of the layout."""
    room, _ = _free_amounts(host, state)
    taken = held(state)
    return [Place(zone, pool, host.zone_pool(zone, pool) & ~taken, amount) for (zone, pool), amount in room.items()]


def _labelled(source: Source, labels: Mapping[str, str]) -> Source:
    for key, value in labels.items():
        source.metadata.labels.add(key=key, value=value)
    return source


def raw_resources(
    host: Host, state: State, provider_id: str, labels: Labels, amounts: Mapping[RawKey, int]
) -> list[mesos_pb2.Resource]:
    """One RAW resource for each amount; the labels are those of the zone and pool as they are in `state`."""
    there = {(place.zone, place.pool): place for place in places(host, state)}
    result = []
    for (zone, pool, stack), amount in amounts.items():
        source = Source(type=Source.RAW, zone=zone, pool=pool)
        source.metadata.CopyFrom(labels(there.get((zone, pool)) or Place(zone, pool, 0, 0)))
        result.append(resource(provider_id, stack, amount, source))
    return result


def set_labels(host: Host, state: State, one: CpuSet) -> dict[str, str]:
    """The metadata of a set: where it is, as it is in force."""
    cpus = one.cpus if one.exclusive else float_mask(host, state, one.pool)
    labels = {
        "cpus": cpuset.format_mask(cpus),
        "mems": cpuset.format_mask(set_mems(host, state, one)),
        "cgroup": host.path(one.id, not one.exclusive),
        "enforcement": host.enforcement,
    }
    if one.profile.memory.policy != "none":
        labels["memory"] = one.profile.memory.policy
    if one.blocked:
        labels["blocked"] = cpuset.format_mask(one.blocked)
    return labels


def set_resources(host: Host, state: State, provider_id: str, one: CpuSet) -> list[mesos_pb2.Resource]:
    """The resources of a set: one for each charge, all with its id."""
    result = []
    labels = set_labels(host, state, one)
    for charge in one.charges:
        source = Source(
            type=Source.EXCLUSIVE if one.exclusive else Source.SHARED,
            id=one.id,
            profile=one.profile.name,
            zone=charge.zone,
            pool=one.pool,
        )
        made = resource(provider_id, charge.stack, charge.cpus, _labelled(source, labels))
        if one.revocable:
            made.revocable.SetInParent()
        result.append(made)
    return result


def resources(host: Host, state: State, provider_id: str, labels: Labels) -> list[mesos_pb2.Resource]:
    """All that the provider has: RAW first, then the sets by age and id."""
    result = raw_resources(host, state, provider_id, labels, raw(host, state))
    for one in sorted(state.sets.values(), key=lambda one: (one.created, one.id)):
        result.extend(set_resources(host, state, provider_id, one))
    return result
