"""What an operation asks for, and reading it.

Decides what the resources that an operation names mean, and refuses those that are not there, not ours or of the wrong
kind; nothing of it is taken on trust. What is then done is decided in `provider.operations`. No I/O, no clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agent_api.wire import mesos_pb2
from profiles.mapping import Profile
from provider import inventory, revocable
from provider.inventory import CpuSet, Host, RawKey, Source, State, stack_of

__all__ = [
    "Catalogued",
    "Change",
    "Context",
    "FailError",
    "Kinds",
    "Operation",
    "Raw",
    "Record",
    "Refusal",
    "amount_of",
    "check_kind",
    "check_kind_of",
    "check_ours",
    "check_role",
    "check_there_is",
    "raw_sources",
    "role_of",
    "stack_text",
    "the_set",
]

Resource = mesos_pb2.Resource
Offer = mesos_pb2.Offer

SHOWN_HOLDERS = 8
"""How many sets a refusal names."""


@dataclass(frozen=True, slots=True)
class Catalogued:
    """A profile by name, and whether new sets may be made under it."""

    profile: Profile
    active: bool = True
    reason: str = ""


@dataclass(frozen=True)
class Context:
    """What a decision may look at besides the state."""

    host: Host
    provider_id: str
    version: bytes
    """Our resource version; an operation decided on another one is dropped."""
    profiles: Mapping[str, Catalogued]
    labels: inventory.Labels
    occupied: Mapping[str, int]
    """Processes in each set, where the kernel tells. A set that is not named has none."""
    now: float
    new_set_id: str


@dataclass(frozen=True)
class Operation:
    """One APPLY_OPERATION."""

    uuid: bytes
    version: bytes
    framework_id: str | None
    info: Offer.Operation


@dataclass(frozen=True)
class Change:
    """The operation can be done: the state it leads to, and what the resources become."""

    after: State
    converted: tuple[Resource, ...]
    summary: str
    """For the log."""


@dataclass(frozen=True)
class Refusal:
    """It cannot; nothing changes."""

    state: mesos_pb2.OperationState
    message: str


@dataclass(frozen=True)
class Record:
    """An operation with its terminal status, as it is stored. Key: uuid."""

    uuid: bytes
    framework_id: str | None
    info: Offer.Operation
    status: mesos_pb2.OperationStatus
    acknowledged: bool
    finished: float
    """Unix time."""


class FailError(Exception):
    """Ends a decision with OPERATION_FAILED."""


Kinds = Mapping[Offer.Operation.Type, tuple[str, Callable[[Context, State, Operation], Change]]]
"""Operations by type: the field that each needs, and what decides it (it raises FailError or Refused)."""


def amount_of(resource: Resource, field: str) -> int:
    """The whole number of CPUs of a resource."""
    value = resource.scalar.value
    if resource.type != mesos_pb2.Value.SCALAR or not resource.HasField("scalar"):
        raise FailError(f"{field}: a scalar is needed, got type {mesos_pb2.Value.Type.Name(resource.type)}")
    if not math.isfinite(value) or value <= 0 or value != int(value):
        raise FailError(f"{field}: a whole number of CPUs above 0 is needed, got {value:g}")
    return int(value)


def check_ours(context: Context, resource: Resource, field: str) -> None:
    """Raise FailError where these are not CPUs of this provider."""
    if resource.provider_id.value != context.provider_id:
        raise FailError(
            f"{field}: provider_id {resource.provider_id.value!r} is not this provider's, {context.provider_id!r}"
        )
    if resource.name != "cpus":
        raise FailError(f"{field}: name 'cpus' is needed, got {resource.name!r}")


def check_kind(context: Context, resource: Resource, field: str, kind: Source.Type) -> None:
    """Raise FailError where these are not CPUs of this provider, of this kind."""
    check_ours(context, resource, field)
    actual = resource.cpu.source.type
    if actual != kind:
        raise FailError(f"{field}: {Source.Type.Name(kind)} is needed, got {Source.Type.Name(actual)}")


@dataclass(frozen=True, slots=True)
class Raw:
    """The RAW that an operation names: of one pool, and all of it revocable or none."""

    amounts: Mapping[RawKey, int]
    pool: str
    revocable: bool

    @property
    def total(self) -> int:
        return sum(self.amounts.values())

    @property
    def zones(self) -> dict[str, int]:
        zones: dict[str, int] = {}
        for (zone, _, _), amount in self.amounts.items():
            zones[zone] = zones.get(zone, 0) + amount
        return zones


def raw_sources(context: Context, sources: Iterable[Resource], field: str) -> Raw:
    """The amounts that RAW resources name, by zone, pool and stack, and the one pool they are from."""
    layout = context.host.layout
    amounts: dict[RawKey, int] = {}
    kinds: set[bool] = set()
    for index, resource in enumerate(sources):
        where = f"{field}[{index}]"
        check_kind(context, resource, where, Source.RAW)
        source = resource.cpu.source
        if source.zone not in layout.zones:
            raise FailError(f"{where}: zone {source.zone!r} is unknown; there are {', '.join(layout.zones)}")
        if source.pool not in layout.pools:
            raise FailError(f"{where}: pool {source.pool!r} is unknown; there are {', '.join(layout.pools)}")
        kinds.add(resource.HasField("revocable"))
        key = (source.zone, source.pool, stack_of(resource))
        amounts[key] = amounts.get(key, 0) + amount_of(resource, where)
    if not amounts:
        raise FailError(f"{field}: at least one RAW resource is needed")
    pools = sorted({pool for _, pool, _ in amounts})
    if len(pools) > 1:
        raise FailError(f"{field}: RAW of one pool is needed, got {', '.join(pools)}")
    if len(kinds) > 1:
        raise FailError(f"{field}: all RAW must be revocable or none of it: a set has one kind of CPUs")
    return Raw(amounts, pools[0], True in kinds)


def check_there_is(context: Context, state: State, wanted: Raw, field: str) -> None:
    """Raise FailError where that much RAW is not there now; it says what would fit, and which sets have the rest."""
    host = context.host
    there: Mapping[RawKey, int] = inventory.raw(host, state)
    if wanted.revocable:
        there = {(zone, pool, b""): n for (zone, pool), n in revocable.amounts(host, state).items()}
    for key, amount in wanted.amounts.items():
        zone, pool, stack = key
        if there.get(key, 0) < amount:
            most = max(((n, z) for (z, p, s), n in there.items() if p == pool and s == stack), default=(0, "no zone"))
            in_all = sum(n for (z, p, _), n in there.items() if (z, p) == (zone, pool))
            raise FailError(
                f"{field}: {amount} {'revocable ' if wanted.revocable else ''}RAW CPUs of zone {zone}, pool {pool}"
                f"{stack_text(stack)} are asked for and {there.get(key, 0)} are there; the most of one zone is "
                f"{most[0]} in {most[1]}{_holders(host, state, zone, pool) if in_all < amount else ''}"
            )


def _holders(host: Host, state: State, zone: str, pool: str) -> str:
    """The sets that have CPUs of a zone and pool, those with most first, for a refusal."""
    here = host.zone_pool(zone, pool)
    found: list[tuple[int, str, str]] = []
    for one in state.sets.values():
        if one.exclusive:
            amount, how = ((one.cpus | one.blocked) & here).bit_count(), ""
        else:
            amount = sum(charge.cpus for charge in one.charges if charge.zone == zone) if one.pool == pool else 0
            how = " revocable" if one.revocable else " guaranteed"
        if amount:
            found.append((-amount, one.id, f"{one.id} ({amount}{how})"))
    names = [text for _, _, text in sorted(found)]
    more = f" and {len(names) - SHOWN_HOLDERS} more" if len(names) > SHOWN_HOLDERS else ""
    return f"; in the way: set {', '.join(names[:SHOWN_HOLDERS])}{more}" if names else ""


def stack_text(stack: bytes) -> str:
    """The reservations of a stack, for a refusal."""
    roles = [entry.role for entry in inventory.reservations_of(stack)]
    return f", reserved for {'/'.join(roles)}" if roles else ""


def role_of(resources: Iterable[Resource], field: str) -> str:
    """The role the resources are allocated to; where the operator acts there is none, and the reservation tells it."""
    roles = {resource.allocation_info.role for resource in resources if resource.allocation_info.HasField("role")}
    if not roles:
        for resource in resources:
            entries = inventory.reservations_of(stack_of(resource))
            roles.add(entries[-1].role if entries else "*")
    if len(roles) > 1:
        raise FailError(f"{field}: resources allocated to one role are needed, got {', '.join(sorted(roles))}")
    return roles.pop()


def the_set(context: Context, state: State, operation: Operation, sources: Iterable[Resource], field: str) -> CpuSet:
    """The one set that these resources are, all of it and nothing else."""
    resources = list(sources)
    if not resources:
        raise FailError(f"{field}: the resources of one set are needed")
    ids = sorted({resource.cpu.source.id for resource in resources})
    if len(ids) > 1:
        raise FailError(f"{field}: the resources of one set are needed, got those of {', '.join(ids)}")
    one = state.sets.get(ids[0])
    if one is None:
        raise FailError(f"{field}: set {ids[0]!r} does not exist")
    named: dict[tuple[str, bytes], int] = {}
    for index, resource in enumerate(resources):
        where = f"{field}[{index}]"
        check_kind_of(context, one, resource, where)
        check_role(operation, one, resource, where)
        key = (resource.cpu.source.zone, stack_of(resource))
        named[key] = named.get(key, 0) + amount_of(resource, where)
    wanted = {(charge.zone, charge.stack): charge.cpus for charge in one.charges}
    if named != wanted:
        raise FailError(
            f"{field}: all resources of set {one.id} are needed, that is {_amounts_text(wanted)}; "
            f"got {_amounts_text(named)}"
        )
    return one


def check_kind_of(context: Context, one: CpuSet, resource: Resource, where: str) -> None:
    """Raise FailError where a resource is not of the set's kind."""
    check_kind(context, resource, where, Source.EXCLUSIVE if one.exclusive else Source.SHARED)
    if resource.HasField("revocable") is not one.revocable:
        raise FailError(f"{where}: set {one.id} is {'' if one.revocable else 'not '}revocable")


def check_role(operation: Operation, one: CpuSet, resource: Resource, where: str) -> None:
    """Raise FailError where a framework reaches for a set of another role than it acts for."""
    role = resource.allocation_info.role
    if operation.framework_id is not None and role and role != one.role:
        raise FailError(f"{where}: set {one.id} belongs to role {one.role!r}, not to {role!r}")


def _amounts_text(amounts: Mapping[tuple[str, bytes], int]) -> str:
    return ", ".join(f"{n} of {zone}{stack_text(stack)}" for (zone, stack), n in sorted(amounts.items()))
