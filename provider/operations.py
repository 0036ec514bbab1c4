"""What an operation does to the provider's state, or why it is refused.

Decides each operation from the committed state: everything the agent said is checked again here, because the agent
that sends may be an older one, restarted, or somebody else's. The result is the next state and the terminal status;
nothing is changed here. It never writes to the kernel, the database or the network (`provider.manager` does, in
that order), and never reads a clock: ids and times are arguments.

A refusal is an outcome, not an exception: every operation ends in exactly one of OPERATION_FINISHED,
OPERATION_FAILED (what was asked cannot be done) and OPERATION_DROPPED (it was decided on another version of our
resources, or never reached us).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent_api.wire import mesos_pb2
from profiles.mapping import Profile
from provider import allocator, cpuset, inventory, power_rules, revocable
from provider.asked import (
    Catalogued,
    Change,
    Context,
    FailError,
    Kinds,
    Operation,
    Raw,
    Record,
    Refusal,
    amount_of,
    check_kind_of,
    check_ours,
    check_role,
    check_there_is,
    raw_sources,
    role_of,
    stack_text,
    the_set,
)
from provider.errors import Refused
from provider.inventory import Charge, CpuSet, Host, RawKey, State, stack_of

__all__ = [
    "Catalogued",
    "Change",
    "Context",
    "FailError",
    "Kinds",
    "Operation",
    "Record",
    "Refusal",
    "amount_of",
    "burst_of",
    "check_ours",
    "check_power",
    "check_shareable",
    "decide",
    "describe",
    "place",
    "popped",
    "profile_of",
    "terminal_status",
]

Resource = mesos_pb2.Resource
Offer = mesos_pb2.Offer


def decide(context: Context, state: State, operation: Operation, kinds: Kinds | None = None) -> Change | Refusal:
    """Decide one operation. It has not been seen before (`provider.manager` looks that up). `kinds` are the operations
    there are, by default those of Pinfold's own wire."""
    if operation.version != context.version:
        return Refusal(
            mesos_pb2.OPERATION_DROPPED,
            f"resource version {operation.version.hex()} is stale, the provider's is {context.version.hex()}",
        )
    info = operation.info
    if kinds is None:
        kinds = {
            Offer.Operation.RESERVE: ("reserve", _reserve),
            Offer.Operation.UNRESERVE: ("unreserve", _unreserve),
            Offer.Operation.CREATE_CPUSET: ("create_cpuset", _create),
            Offer.Operation.DESTROY_CPUSET: ("destroy_cpuset", _destroy),
            Offer.Operation.RESIZE_CPUSET: ("resize_cpuset", _resize),
        }
    try:
        kind = kinds.get(info.type)
        if kind is None:
            name = Offer.Operation.Type.Name(info.type) if info.HasField("type") else "without a type"
            raise FailError(
                f"operation {name} is not supported by this provider; it does "
                + ", ".join(sorted(Offer.Operation.Type.Name(known) for known in kinds))
            )
        field, handler = kind
        if not info.HasField(field):
            raise FailError(f"operation {Offer.Operation.Type.Name(info.type)} lacks its field {field!r}")
        return handler(context, state, operation)
    except (FailError, Refused) as refusal:
        return Refusal(mesos_pb2.OPERATION_FAILED, str(refusal))


def terminal_status(
    provider_id: str, operation: Operation, outcome: Change | Refusal, status_uuid: bytes
) -> mesos_pb2.OperationStatus:
    """The status that tells the outcome."""
    status = mesos_pb2.OperationStatus()
    if operation.info.HasField("id"):
        status.operation_id.CopyFrom(operation.info.id)
    if isinstance(outcome, Change):
        status.state = mesos_pb2.OPERATION_FINISHED
        status.converted_resources.extend(outcome.converted)
    else:
        status.state = outcome.state
        status.message = outcome.message
    status.uuid.value = status_uuid
    status.resource_provider_id.value = provider_id
    return status


# -- reservations ---------------------------------------------------------------------------------------------------


def _reserve(context: Context, state: State, operation: Operation) -> Change:
    reserve = operation.info.reserve
    if reserve.source:
        before = list(reserve.source)
    else:
        before = [popped(resource, f"reserve.resources[{i}]") for i, resource in enumerate(reserve.resources)]
    return _move(context, state, before, list(reserve.resources), "reserve.resources")


def _unreserve(context: Context, state: State, operation: Operation) -> Change:
    resources = list(operation.info.unreserve.resources)
    after = [popped(resource, f"unreserve.resources[{i}]") for i, resource in enumerate(resources)]
    return _move(context, state, resources, after, "unreserve.resources")


def popped(resource: Resource, field: str) -> Resource:
    """The resource without its last reservation."""
    entries = inventory.reservations_of(stack_of(resource))
    if not entries:
        raise FailError(f"{field}: has no reservation")
    result = Resource()
    result.CopyFrom(resource)
    result.ClearField("role")
    result.ClearField("reservation")
    del result.reservations[:]
    result.reservations.extend(entries[:-1])
    return result


def _move(context: Context, state: State, before: list[Resource], after: list[Resource], field: str) -> Change:
    """Move amounts from one reservation stack to another."""
    if any(resource.HasField("revocable") for resource in (*before, *after)):
        raise FailError(f"{field}: revocable CPUs can be taken back any time and cannot be reserved")
    taken = _raw_sources_any_pool(context, before, field)
    given = _raw_sources_any_pool(context, after, field)
    totals: dict[tuple[str, str], int] = {}
    for sign, amounts in ((1, taken), (-1, given)):
        for (zone, pool, _), amount in amounts.items():
            totals[zone, pool] = totals.get((zone, pool), 0) + sign * amount
    if any(totals.values()):
        raise FailError(f"{field}: the amounts before and after differ")
    check_there_is(context, state, Raw(taken, "", False), field)
    default = context.host.default_stack
    changes: dict[RawKey, int] = {}
    for sign, amounts in ((-1, taken), (1, given)):
        for key, amount in amounts.items():
            if key[2] != default:
                changes[key] = changes.get(key, 0) + sign * amount
    for key, amount in inventory.charged(state).items():
        # Sets have it from when it was the default: it is reserved by more than what is to be RAW.
        if key in given and key[2] != default:
            changes[key] += max(0, amount - state.reserved.get(key, 0))
    changed = state.with_reserved(changes)
    converted = inventory.raw_resources(context.host, changed, context.provider_id, context.labels, given)
    return Change(changed, tuple(converted), f"{sum(given.values())} RAW CPUs moved to other reservations")


def _raw_sources_any_pool(context: Context, sources: list[Resource], field: str) -> dict[RawKey, int]:
    """As `raw_sources`, over several pools."""
    amounts: dict[RawKey, int] = {}
    by_pool: dict[str, list[Resource]] = {}
    for resource in sources:
        by_pool.setdefault(resource.cpu.source.pool, []).append(resource)
    for some in by_pool.values():
        amounts.update(raw_sources(context, some, field).amounts)
    if not amounts:
        raise FailError(f"{field}: at least one RAW resource is needed")
    return amounts


# -- sets -----------------------------------------------------------------------------------------------------------


def _create(context: Context, state: State, operation: Operation) -> Change:
    create = operation.info.create_cpuset
    source = raw_sources(context, create.source, "create_cpuset.source")
    profile = profile_of(context, create.target_profile)
    if profile.pool != source.pool:
        raise FailError(
            f"create_cpuset: profile {profile.name!r} takes CPUs of pool {profile.pool!r}, "
            f"the source is of {source.pool!r}"
        )
    if profile.mode == inventory.EXCLUSIVE and source.revocable:
        raise FailError(
            f"create_cpuset: profile {profile.name!r} is exclusive, and only shared profiles take revocable CPUs: "
            "they are time on CPUs that others have as well"
        )
    check_shareable(context, profile, "create_cpuset")
    role = role_of(create.source, "create_cpuset.source")
    check_there_is(context, state, source, "create_cpuset.source")
    total = source.total
    burst = burst_of(profile, total, create.burst if create.HasField("burst") else None)
    cpus = blocked = mems = 0
    notes: tuple[str, ...] = ()
    if profile.mode == inventory.EXCLUSIVE:
        placement = place(context, state, profile, total, source.zones)
        cpus, blocked, mems, notes = placement.cpus, placement.blocked, placement.mems, placement.notes
    new = CpuSet(
        id=context.new_set_id,
        profile=profile,
        role=role,
        framework_id=operation.framework_id,
        cpus=cpus,
        blocked=blocked,
        mems=mems,
        charges=tuple(Charge(zone, stack, amount) for (zone, _, stack), amount in source.amounts.items()),
        burst=burst,
        created=context.now,
        revocable=source.revocable,
    )
    notes += check_power(context.host, new)
    after = state.with_set(new)
    converted = inventory.set_resources(context.host, after, context.provider_id, new)
    return Change(after, tuple(converted), describe("made", new, notes))


def check_shareable(context: Context, profile: Profile, field: str) -> None:
    """Raise FailError for a shared profile on CPUs that cannot be shared."""
    if profile.mode != inventory.EXCLUSIVE and not inventory.shareable(context.host, profile.pool):
        isolated = context.host.pool(profile.pool) & context.host.topology.isolated
        raise FailError(
            f"{field}: profile {profile.name!r} is shared, and pool {profile.pool!r} has isolated CPUs, "
            f"{cpuset.format_mask(isolated)}: the kernel does not balance tasks there"
        )


def profile_of(context: Context, name: str, field: str = "create_cpuset.target_profile") -> Profile:
    """The profile of that name, where new sets may be made under it."""
    entry = context.profiles.get(name)
    if entry is None:
        known = ", ".join(sorted(n for n, e in context.profiles.items() if e.active)) or "none"
        raise FailError(f"{field}: unknown profile {name!r}; known are {known}")
    if not entry.active:
        raise FailError(f"{field}: profile {name!r} is inactive{f': {entry.reason}' if entry.reason else ''}")
    return entry.profile


def burst_of(profile: Profile, guarantee: int, burst: float | None, field: str = "create_cpuset.burst") -> float | None:
    """The burst of a shared set with this guarantee, checked."""
    if burst is None:
        return None
    if profile.mode != inventory.SHARED:
        raise FailError(f"{field}: only shared profiles take it, {profile.name!r} is {profile.mode}")
    if not math.isfinite(burst) or burst < guarantee:
        raise FailError(f"{field}: {burst:g} is below the guarantee of {guarantee} CPUs")
    return burst


def place(
    context: Context,
    state: State,
    profile: Profile,
    total: int,
    zones: Mapping[str, int] | None,
    one: CpuSet | None = None,
) -> allocator.Placement:
    """Choose CPUs for a new set, or for `one` at its new size. A refusal names the sets in the way."""
    host = context.host
    request = allocator.Request(
        cpus=total,
        profile=profile,
        zones=zones,
        holds=one.cpus if one else 0,
        blocked=one.blocked if one else None,
    )
    pool, free = host.pool(profile.pool), inventory.free(host, state, profile.pool)
    if profile.power is not None:
        free = _with_power(host, profile, pool, free)
    try:
        return allocator.place(host.topology, host.layout.zones, pool, free, request, mems=host.allowed_mems)
    except allocator.PlacementRefused as refused:
        others = sorted(
            other.id
            for other in state.sets.values()
            if other.exclusive and (other.cpus | other.blocked) & refused.in_the_way and other is not one
        )
        in_the_way = f"; in the way: set {', '.join(others)}" if others else ""
        raise FailError(f"{refused}{in_the_way}") from refused


def _with_power(host: Host, profile: Profile, pool: int, free: int) -> int:
    """Those of the CPUs that can have the profile's power settings."""
    assert profile.power is not None
    reason = power_rules.unmet(host.policies, profile.power, pool)
    if reason:
        raise FailError(f"profile {profile.name!r} cannot be met on this host: {reason}")
    return power_rules.capable(host.policies, profile.power, free)


def check_power(host: Host, one: CpuSet) -> tuple[str, ...]:
    """Refuse a set whose power settings would hold for others' CPUs. Returns what is to be said of them."""
    if one.profile.power is None:
        return ()
    crossing = power_rules.crossing(host.policies, one.cpus, one.cpus | one.blocked)
    if crossing:
        raise FailError(f"profile {one.profile.name!r}: power: {crossing}")
    clipped = power_rules.clipped(host.policies, one.profile.power, one.cpus)
    return (clipped,) if clipped else ()


def _destroy(context: Context, state: State, operation: Operation) -> Change:
    one = the_set(context, state, operation, operation.info.destroy_cpuset.source, "destroy_cpuset.source")
    processes = context.occupied.get(one.id, 0)
    if processes:
        raise FailError(f"destroy_cpuset.source: set {one.id} is in use: {processes} processes are in its cgroup")
    after = state.without_set(one.id)
    return Change(after, _gained(context, state, after), describe("destroyed", one))


def _resize(context: Context, state: State, operation: Operation) -> Change:
    resize = operation.info.resize_cpuset
    one = the_set(context, state, operation, resize.cpuset, "resize_cpuset.cpuset")
    if not resize.add and not resize.subtract:
        raise FailError("resize_cpuset: 'add', 'subtract' or both are needed")
    charges = {(charge.zone, charge.stack): charge.cpus for charge in one.charges}
    added = _add(context, state, operation, one) if resize.add else Raw({}, one.pool, one.revocable)
    left = _subtract(context, operation, one, resize.subtract, charges)
    for (zone, _, stack), amount in added.amounts.items():
        charges[zone, stack] = charges.get((zone, stack), 0) + amount
    total = sum(charges.values())
    if not total:
        raise FailError(f"resize_cpuset.subtract: nothing would be left of set {one.id}; DESTROY_CPUSET destroys it")
    if one.burst is not None and one.burst < total:
        raise FailError(f"resize_cpuset: {total} CPUs would be above the burst of set {one.id}, {one.burst:g}")
    resized = replace(
        one, charges=tuple(Charge(zone, stack, amount) for (zone, stack), amount in charges.items() if amount)
    )
    notes: tuple[str, ...] = ()
    if one.exclusive:
        lost = (one.cpus | one.blocked) & ~context.host.allowed
        if lost:
            raise FailError(
                f"resize_cpuset: set {one.id} is degraded, its CPUs {cpuset.format_mask(lost)} are not there"
            )
        resized, notes = _replaced(context, state, one, resized, added.zones, left)
        notes += check_power(context.host, resized)
    after = state.with_set(resized)
    converted = inventory.set_resources(context.host, after, context.provider_id, resized)
    if resize.subtract:
        converted.extend(_gained(context, state, after, added))
    return Change(after, tuple(converted), describe(f"resized from {one.charge} CPUs", resized, notes))


def _add(context: Context, state: State, operation: Operation, one: CpuSet) -> Raw:
    """The RAW that is added, which has to be there."""
    add = operation.info.resize_cpuset.add
    added = raw_sources(context, add, "resize_cpuset.add")
    if added.pool != one.pool:
        raise FailError(f"resize_cpuset.add: set {one.id} is of pool {one.pool!r}, the source is of {added.pool!r}")
    if added.revocable is not one.revocable:
        kinds = ("revocable", "not revocable")
        raise FailError(
            f"resize_cpuset.add: set {one.id} is {kinds[not one.revocable]}, the source is {kinds[not added.revocable]}"
        )
    for index, resource in enumerate(add):
        check_role(operation, one, resource, f"resize_cpuset.add[{index}]")
    check_there_is(context, state, added, "resize_cpuset.add")
    return added


def _replaced(
    context: Context, state: State, one: CpuSet, resized: CpuSet, added: Mapping[str, int], left: Mapping[str, int]
) -> tuple[CpuSet, tuple[str, ...]]:
    """The set with its new CPUs. What a zone gives and gets at once stays where it is; what then is left to give is
    given first, so that what comes is chosen next to the CPUs that stay."""
    change = {zone: added.get(zone, 0) - left.get(zone, 0) for zone in (*added, *left)}
    more = {zone: amount for zone, amount in change.items() if amount > 0}
    less = {zone: -amount for zone, amount in change.items() if amount < 0}
    notes: tuple[str, ...] = ()
    if more and sum(less.values()) == one.charge:
        # Nothing stays: it is placed as a new set would be.
        placement = place(context, state, one.profile, resized.charge, more)
        placed = replace(resized, cpus=placement.cpus, blocked=placement.blocked, mems=placement.mems)
        return placed, placement.notes
    before, total = one, one.charge
    for sign, zones in ((-1, less), (1, more)):
        if zones:
            total += sign * sum(zones.values())
            placement = place(context, state, one.profile, total, zones, before)
            before = replace(before, cpus=placement.cpus, blocked=placement.blocked, mems=placement.mems)
            notes = placement.notes
    return replace(resized, cpus=before.cpus, blocked=before.blocked, mems=before.mems), notes


def _subtract(
    context: Context,
    operation: Operation,
    one: CpuSet,
    subtract: Iterable[Resource],
    charges: dict[tuple[str, bytes], int],
) -> dict[str, int]:
    """Take what leaves off the charges, and tell how much each zone gets back."""
    zones: dict[str, int] = {}
    for index, resource in enumerate(subtract):
        where = f"resize_cpuset.subtract[{index}]"
        check_kind_of(context, one, resource, where)
        check_role(operation, one, resource, where)
        if resource.cpu.source.id != one.id:
            raise FailError(f"{where}: resources of set {one.id} are needed, got those of {resource.cpu.source.id!r}")
        key = (resource.cpu.source.zone, stack_of(resource))
        amount = amount_of(resource, where)
        if charges.get(key, 0) < amount:
            raise FailError(f"{where}: set {one.id} has {charges.get(key, 0)} CPUs of {key[0]}{stack_text(key[1])}")
        charges[key] -= amount
        zones[key[0]] = zones.get(key[0], 0) + amount
    return zones


def _gained(context: Context, before: State, after: State, added: Raw | None = None) -> tuple[Resource, ...]:
    """The RAW that is there after a change and was not before, revocable or not, but for what it took (`added`).

    On a healthy host this is what the set gives. Where the host lost CPUs of the set, or has other zones than when
    the set was made, it is what really comes back.
    """
    was = dict(inventory.raw(context.host, before))
    before_that = dict(revocable.amounts(context.host, before))
    for (zone, pool, stack), amount in added.amounts.items() if added else ():
        if added and added.revocable:
            before_that[zone, pool] = before_that.get((zone, pool), 0) - amount
        else:
            was[zone, pool, stack] = was.get((zone, pool, stack), 0) - amount
    gained = {
        key: amount - was.get(key, 0)
        for key, amount in inventory.raw(context.host, after).items()
        if amount > was.get(key, 0)
    }
    more = {
        key: amount - before_that.get(key, 0)
        for key, amount in revocable.amounts(context.host, after).items()
        if amount > before_that.get(key, 0)
    }
    return (
        *inventory.raw_resources(context.host, after, context.provider_id, context.labels, gained),
        *revocable.resources(context.provider_id, context.labels, more),
    )


def describe(done: str, one: CpuSet, notes: tuple[str, ...] = ()) -> str:
    """What was done to a set, for the log."""
    shared = f"{one.charge} revocable CPUs" if one.revocable else f"a guarantee of {one.charge} CPUs"
    where = f"CPUs {cpuset.format_mask(one.cpus)}" if one.exclusive else shared
    blocked = f" (blocked {cpuset.format_mask(one.blocked)})" if one.blocked else ""
    said = "".join(f"; {note}" for note in notes)
    return f"set {one.id} {done}: {where}{blocked}, profile {one.profile.name}, role {one.role}{said}"
