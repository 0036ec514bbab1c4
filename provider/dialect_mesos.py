"""The words of a stock Mesos agent: a set is a reservation.

Decides how the provider works with an agent that knows nothing of CPU sets. RAW is one amount of `cpus` with this
provider's id. A RESERVE whose reservation carries the label `pinfold.profile` (`provider.reservation`) makes a set of
that many CPUs; another RESERVE with the same reservation makes it larger; UNRESERVE makes it smaller, and the last one
destroys it. Mesos adds equal reservations up, so they are one set; another value of `pinfold.set` is another set. All
other reservations reserve RAW, as anywhere in Mesos.

Such an agent changes the totals when it forwards an operation, before we decide it. Where the outcome is another one,
`telling` says that it must be told. Resources have no zone and no pool there: which RAW of which zone is reserved for
whom is dealt out anew after each change, so that a set can be had anywhere. No field from 10001 up leaves the process.

It chooses no CPUs (`provider.operations.place`) and does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from agent_api.wire import mesos_pb2, resource_provider_pb2
from provider import cpuset, inventory, mesos_tasks, operations, reservation
from provider.dialect import Telling
from provider.errors import ConfigError
from provider.inventory import Charge, CpuSet, Host, RawKey, State
from provider.operations import Change, Context, FailError, Operation, Refusal
from provider.reservation import Wish, canonical, shown, stack_of, wish_of

__all__ = ["EXTENSIONS", "Mesos", "strip"]

Resource = mesos_pb2.Resource
Offer = mesos_pb2.Offer
Call = resource_provider_pb2.Call

EXTENSIONS = 10001
"""The first number of Pinfold's own fields and enum values."""


class Mesos:
    """A stock Mesos agent."""

    extended = False

    def __init__(self, task_cgroups: bool = False) -> None:
        """`task_cgroups`: whether somebody keeps tasks in cgroups of their own in their sets (`pinfold.cgroup`)."""
        self._task_cgroups = task_cgroups

    def check(self, info: mesos_pb2.ResourceProviderInfo, state: State) -> None:
        if found := reservation.named_in(info.default_reservations):
            raise ConfigError(f"default_reservations: label {found[0]}: what is offered cannot be a set already")
        if info.cpu.overcommit > 1:
            raise ConfigError(
                f"cpu.overcommit: {info.cpu.overcommit:g}: revocable CPUs cannot be reserved, so with --engine mesos "
                "there are no sets of them; 1 is needed"
            )
        for one in state.sets.values():
            stacks = {charge.stack for charge in one.charges}
            wish = None
            if len(stacks) == 1:
                try:
                    wish = wish_of(next(iter(stacks)), "")
                except FailError:
                    wish = None
            if wish is None or wish.profile != one.profile.name:
                raise ConfigError(
                    f"--engine mesos: set {one.id} was made by CREATE_CPUSET, which a stock Mesos agent cannot be told "
                    "of; destroy it with --engine pinfold first, or use another --work-dir"
                )

    def info(self, info: mesos_pb2.ResourceProviderInfo) -> mesos_pb2.ResourceProviderInfo:
        result = mesos_pb2.ResourceProviderInfo()
        result.CopyFrom(info)
        strip(result)
        return result

    def decide(self, context: Context, state: State, operation: Operation) -> Change | Refusal:
        kinds: operations.Kinds = {
            Offer.Operation.RESERVE: ("reserve", self._move),
            Offer.Operation.UNRESERVE: ("unreserve", self._move),
        }
        return operations.decide(context, state, operation, kinds)

    def _move(self, context: Context, state: State, operation: Operation) -> Change:
        if not self._task_cgroups:
            _, after, field = _sides(operation.info)
            for stack in map(stack_of, after):
                wish = wish_of(stack, field)
                if wish is not None and wish.cgroup is not None and stack not in _by_stack(state):
                    raise FailError(
                        f"{field}: label {reservation.PREFIX}cgroup: this provider runs without --task-cgroup-root"
                    )
        return _move(context, state, operation)

    def emptied(self, state: State, info: Offer.Operation) -> set[str]:
        sets = _by_stack(state)
        given = (*info.unreserve.resources, *info.reserve.source)
        return {sets[stack].id for stack in map(stack_of, given) if stack in sets}

    def telling(self, host: Host, before: State, operation: Operation, outcome: Change | Refusal) -> Telling:
        if isinstance(outcome, Refusal):
            dropped = outcome.state == mesos_pb2.OPERATION_DROPPED
            # One that was dropped was decided on an older version: the one we have is as good as a new one.
            return Telling.REPORT if dropped else Telling.NEW_VERSION
        expected = _totals(host, before)
        source, result, field = _sides(operation.info)
        for stack, change in _net(source, result, field).items():
            expected[stack] = expected.get(stack, 0) + change
        actual = _totals(host, outcome.after)
        same = {s: n for s, n in expected.items() if n} == {s: n for s, n in actual.items() if n}
        return Telling.NOTHING if same else Telling.NEW_VERSION

    def resources(self, host: Host, state: State, provider_id: str, labels: inventory.Labels) -> list[Resource]:
        """One for each reservation, as Mesos adds them up; what is not reserved first."""
        return [_resource(provider_id, stack, amount) for stack, amount in _totals(host, state).items() if amount > 0]

    def used(self, state: State, resources: Iterable[Resource]) -> tuple[set[str], list[str]]:
        sets = _by_stack(state)
        named: set[str] = set()
        problems = []
        for resource in resources:
            stack = stack_of(resource)
            if stack in sets:
                named.add(sets[stack].id)
            else:
                problems.append(
                    f"{resource.scalar.value:g} {resource.name} {shown(stack)} are no set: no task can use them"
                )
        return named, problems

    def groups(self, state: State) -> Mapping[str, tuple[str, ...]]:
        result = {}
        for stack, one in _by_stack(state).items():
            wish = wish_of(stack, "")
            if wish is not None and wish.cgroup is not None:
                result[wish.cgroup] = (one.id,)
        return result

    def containers(self, state: State, tasks: Iterable[mesos_pb2.Task]) -> Mapping[str, tuple[str, ...]]:
        return mesos_tasks.containers(tasks, lambda resources: self.used(state, resources)[0])

    def outgoing(self, call: Call, agent_id: str | None) -> Call:
        """Without anything of Pinfold's own; and no operation without the agent's id, which would end a real agent
        when it is acknowledged. Where that is not known they are left out: the agent asks for them."""
        entries = list(call.update_state.operations)
        if entries:
            del call.update_state.operations[:]
            for entry in entries:
                if agent_id is not None and entry.info.type < EXTENSIONS:
                    entry.agent_id.value = agent_id
                    call.update_state.operations.append(entry)
        strip(call)
        return call


def strip(message: Message) -> None:
    """Clear Pinfold's own fields in a message and all that is in it."""
    for field, value in message.ListFields():
        if field.number >= EXTENSIONS:
            message.ClearField(field.name)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in [value] if isinstance(value, Message) else value:
                strip(inner)


# -- totals ---------------------------------------------------------------------------------------------------------


def _resource(provider_id: str, stack: bytes, amount: int) -> Resource:
    resource = Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    resource.provider_id.value = provider_id
    resource.scalar.value = float(amount)
    resource.reservations.extend(inventory.reservations_of(stack))
    return resource


def _totals(host: Host, state: State) -> dict[bytes, int]:
    """All CPUs by reservation stack, RAW and sets: what Mesos has as this provider's totals."""
    totals: dict[bytes, int] = {}
    for (_, _, stack), amount in inventory.raw(host, state).items():
        key = canonical(stack)
        totals[key] = totals.get(key, 0) + amount
    for one in state.sets.values():
        for charge in one.charges:
            totals[charge.stack] = totals.get(charge.stack, 0) + charge.cpus
    return dict(sorted(totals.items()))


def _by_stack(state: State) -> dict[bytes, CpuSet]:
    """The sets by the reservation that each is."""
    return {charge.stack: one for one in state.sets.values() for charge in one.charges}


# -- operations -----------------------------------------------------------------------------------------------------


def _sides(info: Offer.Operation) -> tuple[list[Resource], list[Resource], str]:
    """The resources before and after a RESERVE or UNRESERVE, and the field that they are in."""
    if info.type == Offer.Operation.RESERVE:
        field = "reserve.resources"
        after = list(info.reserve.resources)
        before = list(info.reserve.source) or [operations.popped(r, f"{field}[{i}]") for i, r in enumerate(after)]
    else:
        field = "unreserve.resources"
        before = list(info.unreserve.resources)
        after = [operations.popped(r, f"{field}[{i}]") for i, r in enumerate(before)]
    return before, after, field


def _net(before: Iterable[Resource], after: Iterable[Resource], field: str) -> dict[bytes, int]:
    """By how much each stack changes."""
    net: dict[bytes, int] = {}
    for sign, resources in ((-1, before), (1, after)):
        for index, resource in enumerate(resources):
            stack = stack_of(resource)
            net[stack] = net.get(stack, 0) + sign * operations.amount_of(resource, f"{field}[{index}]")
    return {stack: change for stack, change in net.items() if change}


def _check(context: Context, resources: Iterable[Resource], field: str) -> None:
    for index, resource in enumerate(resources):
        operations.check_ours(context, resource, f"{field}[{index}]")
        if resource.HasField("revocable"):
            raise FailError(f"{field}[{index}]: revocable CPUs cannot be reserved")


def _move(context: Context, state: State, operation: Operation) -> Change:
    """Move amounts from one reservation to another; where one of them is a set, the set changes with it."""
    before, after, field = _sides(operation.info)
    if not before or not after:
        raise FailError(f"{field}: at least one resource is needed")
    _check(context, before, field)
    _check(context, after, field)
    net = _net(before, after, field)
    if sum(net.values()):
        raise FailError(f"{field}: the amounts before and after differ")
    wishes = {stack: wish_of(stack, field) for stack, change in net.items() if change > 0}
    there, sets = _totals(context.host, state), _by_stack(state)
    for stack, change in net.items():
        if there.get(stack, 0) + change < 0:
            raise FailError(f"{field}: {-change} cpus {shown(stack)} are asked for and {there.get(stack, 0)} are there")
    done: list[str] = []
    working = state
    # What becomes free first: another part of the same operation may need it.
    for stack, change in net.items():
        if stack in sets and change < 0:
            working = _smaller(context, working, sets[stack], -change, field, done)
    for stack, change in net.items():
        if stack in sets and change > 0:
            working = _larger(context, working, sets[stack], stack, change, field, done)
        elif (wish := wishes.get(stack)) is not None:
            working = _made(context, working, operation, stack, wish, change, field, done)
    final = _dealt(context.host, state, working, net)
    given: dict[bytes, int] = {}
    for index, resource in enumerate(after):
        stack = stack_of(resource)
        given[stack] = given.get(stack, 0) + operations.amount_of(resource, f"{field}[{index}]")
    converted = tuple(_resource(context.provider_id, stack, amount) for stack, amount in given.items())
    said = "; ".join(done) or f"{sum(given.values())} RAW CPUs moved to other reservations"
    return Change(final, converted, said)


def _room(host: Host, state: State, pool: str) -> dict[str, int]:
    """RAW CPUs of a pool by zone, whoever they are reserved for."""
    room: dict[str, int] = {}
    for (zone, where, _), amount in inventory.raw(host, state).items():
        if where == pool:
            room[zone] = room.get(zone, 0) + amount
    return room


def _zones(context: Context, state: State, pool: str, wish: Wish, amount: int, field: str) -> dict[str, int] | None:
    """The numbers by zone where the reservation names one; None for any. Raises where there are not as many."""
    room = _room(context.host, state, pool)
    if wish.zone is None:
        if sum(room.values()) < amount:
            raise FailError(f"{field}: {amount} CPUs of pool {pool} are asked for and {sum(room.values())} are there")
        return None
    if wish.zone not in context.host.layout.zones:
        raise FailError(
            f"{field}: label {reservation.PREFIX}zone: zone {wish.zone!r} is unknown; there are "
            f"{', '.join(context.host.layout.zones)}"
        )
    if room.get(wish.zone, 0) < amount:
        most = max(((n, zone) for zone, n in room.items()), default=(0, "no zone"))
        raise FailError(
            f"{field}: {amount} CPUs of zone {wish.zone}, pool {pool} are asked for and {room.get(wish.zone, 0)} are "
            f"there; the most of one zone is {most[0]} in {most[1]}"
        )
    return {wish.zone: amount}


def _made(
    context: Context,
    state: State,
    operation: Operation,
    stack: bytes,
    wish: Wish,
    amount: int,
    field: str,
    done: list[str],
) -> State:
    profile = operations.profile_of(context, wish.profile, f"{field}: label {reservation.PREFIX}profile")
    if profile.pool not in context.host.layout.pools:
        raise FailError(
            f"{field}: profile {profile.name!r} takes CPUs of pool {profile.pool!r}, which is not configured"
        )
    operations.check_shareable(context, profile, field)
    set_id = wish.name or (f"{context.new_set_id}.{len(done)}" if done else context.new_set_id)
    if (other := state.sets.get(set_id)) is not None:
        raise FailError(
            f"{field}: label {reservation.PREFIX}set: set {set_id!r} exists already, {shown(other.charges[0].stack)}; "
            "the same set has the same reservation"
        )
    if wish.cgroup is not None:
        _check_group(state, wish.cgroup, field)
    burst = operations.burst_of(profile, amount, wish.burst, f"{field}: label {reservation.PREFIX}burst")
    zones = _zones(context, state, profile.pool, wish, amount, field)
    cpus = blocked = mems = 0
    notes: tuple[str, ...] = ()
    if profile.mode == inventory.EXCLUSIVE:
        placement = operations.place(context, state, profile, amount, zones)
        cpus, blocked, mems, notes = placement.cpus, placement.blocked, placement.mems, placement.notes
        charges = _charges(context.host, cpus | blocked, stack)
    else:
        charges = _guaranteed(_room(context.host, state, profile.pool), zones, amount, stack)
    new = CpuSet(
        id=set_id,
        profile=profile,
        role=inventory.reservations_of(stack)[-1].role,
        framework_id=operation.framework_id,
        cpus=cpus,
        blocked=blocked,
        mems=mems,
        charges=charges,
        burst=burst,
        created=context.now,
    )
    notes += operations.check_power(context.host, new)
    done.append(operations.describe("made", new, notes))
    return state.with_set(new)


def _check_group(state: State, cgroup: str, field: str) -> None:
    for stack, one in _by_stack(state).items():
        other = wish_of(stack, field)
        if other is None or other.cgroup is None:
            continue
        one_path, other_path = f"{cgroup}/", f"{other.cgroup}/"
        if one_path.startswith(other_path) or other_path.startswith(one_path):
            raise FailError(
                f"{field}: label {reservation.PREFIX}cgroup: {cgroup!r} and {other.cgroup!r} of set {one.id} overlap"
            )


def _charges(host: Host, mask: int, stack: bytes) -> tuple[Charge, ...]:
    """The charge of an exclusive set: its CPUs by zone."""
    found = ((zone, (cpus & mask).bit_count()) for zone, cpus in host.layout.zones.items())
    return tuple(Charge(zone, stack, count) for zone, count in found if count)


def _guaranteed(
    room: Mapping[str, int], zones: Mapping[str, int] | None, amount: int, stack: bytes
) -> tuple[Charge, ...]:
    """The charge of a shared set: from the zones with most room, as few as can be."""
    if zones is not None:
        return tuple(Charge(zone, stack, count) for zone, count in zones.items())
    charges = []
    for zone in sorted(room, key=lambda zone: (-room[zone], list(room).index(zone))):
        if got := min(amount, room[zone]):
            charges.append(Charge(zone, stack, got))
            amount -= got
    return tuple(charges)


def _larger(
    context: Context, state: State, one: CpuSet, stack: bytes, amount: int, field: str, done: list[str]
) -> State:
    wish = wish_of(stack, field) or Wish(one.profile.name)
    zones = _zones(context, state, one.pool, wish, amount, field)
    if not one.exclusive:
        if one.burst is not None and one.burst < one.charge + amount:
            raise FailError(
                f"{field}: {one.charge + amount} CPUs would be above the burst of set {one.id}, {one.burst:g}"
            )
        more = {c.zone: c.cpus for c in _guaranteed(_room(context.host, state, one.pool), zones, amount, stack)}
        for charge in one.charges:
            more[charge.zone] = more.get(charge.zone, 0) + charge.cpus
        changed = replace(one, charges=tuple(Charge(zone, stack, count) for zone, count in more.items()))
    else:
        changed = _placed(context, state, one, one.charge + amount, zones, stack, field)
    done.append(operations.describe(f"resized from {one.charge} CPUs", changed))
    return state.with_set(changed)


def _smaller(context: Context, state: State, one: CpuSet, amount: int, field: str, done: list[str]) -> State:
    left = one.charge - amount
    if not left:
        processes = context.occupied.get(one.id, 0)
        if processes:
            raise FailError(f"{field}: set {one.id} is in use: {processes} processes are in its cgroup")
        done.append(operations.describe("destroyed", one))
        return state.without_set(one.id)
    if one.exclusive:
        changed = _placed(context, state, one, left, None, one.charges[0].stack, field)
    else:
        charges = []
        for charge in one.charges:
            if keep := min(left, charge.cpus):
                charges.append(replace(charge, cpus=keep))
                left -= keep
        changed = replace(one, charges=tuple(charges))
    done.append(operations.describe(f"resized from {one.charge} CPUs", changed))
    return state.with_set(changed)


def _placed(
    context: Context, state: State, one: CpuSet, total: int, zones: Mapping[str, int] | None, stack: bytes, field: str
) -> CpuSet:
    """An exclusive set at its new size."""
    lost = (one.cpus | one.blocked) & ~context.host.allowed
    if lost:
        raise FailError(f"{field}: set {one.id} is degraded, its CPUs {cpuset.format_mask(lost)} are not there")
    placement = operations.place(context, state, one.profile, total, zones, one)
    placed = replace(
        one,
        cpus=placement.cpus,
        blocked=placement.blocked,
        mems=placement.mems,
        charges=_charges(context.host, placement.charge, stack),
    )
    operations.check_power(context.host, placed)
    return placed


def _dealt(host: Host, before: State, working: State, net: Mapping[bytes, int]) -> State:
    """The state with its reservations: those of the sets as the sets are, and the amounts of all others dealt out over
    what is left of the zones and pools."""
    sets = _by_stack(working)
    amounts: dict[bytes, int] = {}
    for (_, _, stack), amount in before.reserved.items():
        amounts[canonical(stack)] = amounts.get(canonical(stack), 0) + amount
    for stack, change in net.items():
        amounts[stack] = amounts.get(stack, 0) + change
    reserved: dict[RawKey, int] = {}
    for one in working.sets.values():
        for charge in one.charges:
            key = (charge.zone, one.pool, charge.stack)
            reserved[key] = reserved.get(key, 0) + charge.cpus
    base = replace(working, reserved=MappingProxyType(dict(sorted(reserved.items()))))
    room: dict[tuple[str, str], int] = {}
    for (zone, pool, _), amount in inventory.raw(host, base).items():
        room[zone, pool] = room.get((zone, pool), 0) + amount
    own = canonical(host.default_stack)
    changes: dict[RawKey, int] = {}
    for stack in sorted(amounts):
        left = amounts[stack]
        if stack in sets or stack == own or left <= 0:
            continue
        for cell in room:
            got = min(left, room[cell])
            room[cell] -= got
            left -= got
            if got:
                changes[*cell, stack] = got
        if left:
            # The host lost CPUs: what was reserved stays so, and is there again when they come back.
            cell = next(iter(room), (next(iter(host.layout.zones)), next(iter(host.layout.pools))))
            changes[*cell, stack] = changes.get((*cell, stack), 0) + left
    return base.with_reserved(changes)
