"""What becomes of an ACCEPT: which of its operations may be done, in their order, on what was offered.

Decides from the offers and the totals alone, before anything is sent: every operation with an id and every task gets
an answer, whatever happens. Resources are matched by kind; what a framework wrote into `cpu.source.metadata` is
dropped and the provider's own word taken instead. It never changes totals (`core.operations` does) and never places
CPUs (the provider does).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable

from agent_api.core import authorization, formats, offers, operations, statuses, tasks, validation
from agent_api.core import resources as rs
from agent_api.core.model import Framework, Offer, Operation, Provider, World
from agent_api.errors import BadRequest, Conflict, Forbidden
from agent_api.wire import mesos_pb2, scheduler_pb2

__all__ = ["accept", "check_reservation", "reserve_by_operator"]

log = logging.getLogger(__name__)

Info = mesos_pb2.Offer.Operation
Resource = mesos_pb2.Resource
Source = Resource.CpuInfo.Source


class _RefusedError(Exception):
    """Why one operation is not done. `provider_id`: it is dropped because that provider is away."""

    def __init__(self, message: str, provider_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.provider_id = provider_id


def accept(world: World, framework: Framework, call: scheduler_pb2.Call.Accept, now: float) -> None:
    """Do the operations one after the other; what is left over goes back, filtered for a while."""
    for info in call.operations:
        framework.counts[f"operations/{Info.Type.Name(info.type).lower()}"] += 1
    taken, problem = _take_offers(world, framework, [o.value for o in call.offer_ids])
    world.allocate_now = world.allocate_now or problem is not None
    if problem is not None:
        for info in call.operations:
            _answer_invalid(world, framework, info, problem, now)
        return
    framework.counts["offers/accepted" if call.operations else "offers/declined"] += len(taken)
    role = taken[0].role
    left = rs.allocate(rs.normalize(r for offer in taken for r in offer.resources), role)
    for info in call.operations:
        if info.type == Info.LAUNCH:
            left = _launch(world, framework, info.launch.task_infos, role, left, now)
        elif info.type == Info.LAUNCH_GROUP:
            for task in info.launch_group.task_group.tasks:
                _task_error(
                    world,
                    framework,
                    task,
                    "LAUNCH_GROUP is not supported: Pinfold runs command tasks only; use LAUNCH",
                    now,
                    mesos_pb2.TaskStatus.REASON_TASK_GROUP_INVALID,
                )
        else:
            try:
                left = _operate(world, framework, info, role, left, now)
            except _RefusedError as refused:
                _refuse(world, framework, info, refused)
    filters = call.filters if call.HasField("filters") else mesos_pb2.Filters()
    offers.refuse(framework, role, left, filters, now)


def _refuse(world: World, framework: Framework, info: Info, refused: _RefusedError) -> None:
    if refused.provider_id is not None:
        state = mesos_pb2.OPERATION_DROPPED
        operations.refuse(world, framework, info, refused.message, state, refused.provider_id)
    else:
        operations.refuse(world, framework, info, refused.message)


# Offers


def _take_offers(world: World, framework: Framework, ids: list[str]) -> tuple[list[Offer], str | None]:
    """The offers, no longer outstanding, or why they cannot be used together. Good ones among bad are given back."""
    good: list[Offer] = []
    problem: str | None = None if ids else "No offers specified"
    for offer_id in ids:
        offer = world.offers.get(offer_id)
        if offer is None or offer.framework_id != framework.id:
            twice = ids.count(offer_id) > 1 and any(o.message.id.value == offer_id for o in good)
            problem = problem or (
                f"Duplicate offer {offer_id} in offer list" if twice else f"Offer {offer_id} is no longer valid"
            )
            continue
        del world.offers[offer_id]
        good.append(offer)
        if offer.role != good[0].role:
            problem = problem or (
                f"Aggregated offers must be allocated to the same role. Offer {offer_id} uses role "
                f"'{offer.role}' but another is using role '{good[0].role}'"
            )
    return good, problem


def _answer_invalid(world: World, framework: Framework, info: Info, problem: str, now: float) -> None:
    group = list(info.launch_group.task_group.tasks)
    for task in (*info.launch.task_infos, *group):
        aware = framework.can(mesos_pb2.FrameworkInfo.Capability.PARTITION_AWARE)
        state = mesos_pb2.TASK_DROPPED if aware else mesos_pb2.TASK_LOST
        message = f"Task launched with invalid offers: {problem}"
        reason = mesos_pb2.TaskStatus.REASON_INVALID_OFFERS
        statuses.count_end(world, framework.id, state, mesos_pb2.TaskStatus.SOURCE_MASTER, reason)
        statuses.answer(world, framework, task.task_id.value, state, message, reason, now, world.agent_id)
    if info.type in (Info.LAUNCH, Info.LAUNCH_GROUP):
        return
    away = next(
        (
            p
            for p in (world.providers.get(rs.provider_of(r) or "") for r in _named(info))
            if p is not None and not p.ready and not p.record.gone
        ),
        None,
    )
    message = f"Operation attempted with invalid offers: {problem}"
    if away is not None:
        message = f"Resource provider {away.id} is not subscribed. {message}"
        operations.refuse(world, framework, info, message, mesos_pb2.OPERATION_DROPPED, away.id)
    else:
        operations.refuse(world, framework, info, message)


def _named(info: Info) -> list[Resource]:
    """All resources that an operation names."""
    return [
        *info.reserve.resources,
        *info.unreserve.resources,
        *info.create_cpuset.source,
        *info.destroy_cpuset.source,
        *info.resize_cpuset.cpuset,
        *info.resize_cpuset.add,
        *info.resize_cpuset.subtract,
    ]


# Tasks


def _launch(
    world: World,
    framework: Framework,
    infos: Iterable[mesos_pb2.TaskInfo],
    role: str,
    left: list[Resource],
    now: float,
) -> list[Resource]:
    for info in infos:
        problem = validation.task(info, world.agent_id)
        if problem is None and (framework.id, info.task_id.value) in world.tasks:
            problem = f"Task has duplicate ID: {info.task_id.value}"
        if problem is not None:
            _task_error(world, framework, info, problem, now)
            continue
        problem = authorization.launch(world, framework, info)
        if problem is not None:
            _task_error(world, framework, info, problem, now, mesos_pb2.TaskStatus.REASON_TASK_UNAUTHORIZED)
            continue
        task = mesos_pb2.TaskInfo()
        task.CopyFrom(info)
        del task.resources[:]
        task.resources.extend(rs.canonical(rs.normalize(rs.allocate(formats.in_new(info.resources), role)), left))
        if not rs.contains(left, task.resources):
            _task_error(
                world,
                framework,
                info,
                f"Total resources {rs.describe_all(task.resources)} required by task and its executor is more "
                f"than available {rs.describe_all(left)}",
                now,
            )
            continue
        left = rs.subtract(left, task.resources)
        tasks.launch(world, framework, task, now)
    return left


def _task_error(
    world: World,
    framework: Framework,
    info: mesos_pb2.TaskInfo,
    message: str,
    now: float,
    reason: mesos_pb2.TaskStatus.Reason = mesos_pb2.TaskStatus.REASON_TASK_INVALID,
) -> None:
    log.info("task %s of framework %s refused: %s", info.task_id.value, framework.id, message)
    statuses.count_end(world, framework.id, mesos_pb2.TASK_ERROR, mesos_pb2.TaskStatus.SOURCE_MASTER, reason)
    task_id = info.task_id.value
    statuses.answer(world, framework, task_id, mesos_pb2.TASK_ERROR, message, reason, now, world.agent_id)


# Operations


def _operate(
    world: World, framework: Framework, info: Info, role: str, left: list[Resource], now: float
) -> list[Resource]:
    """Check one operation and hand it on; returns what is left of the offer. Raises _RefusedError."""
    if info.HasField("id"):
        problem = validation.identifier(info.id.value, f"Operation ID '{info.id.value}'")
        if problem:
            raise _RefusedError(problem)
        if any(o.framework_id == framework.id and o.operation_id == info.id.value for o in world.operations.values()):
            raise _RefusedError(
                f"Operation ID '{info.id.value}' is already in use by an operation that is pending or whose "
                "status is not acknowledged"
            )
    if info.type in (Info.RESERVE, Info.UNRESERVE):
        try:
            authorization.reservation(world, framework, info)
        except Forbidden as error:
            raise _RefusedError(error.message) from None
        return _reserve(world, framework, info, role, left, now)
    if info.type == Info.CREATE_CPUSET:
        return _create(world, framework, info, role, left, now)
    if info.type == Info.DESTROY_CPUSET:
        return _destroy(world, framework, info, role, left, now)
    if info.type == Info.RESIZE_CPUSET:
        return _resize(world, framework, info, role, left, now)
    if not info.HasField("type") or info.type == Info.UNKNOWN:
        raise _RefusedError("Unknown or missing operation type")
    raise _RefusedError(
        f"{Info.Type.Name(info.type)} is not supported: Pinfold has CPUs and no disks; its operations are LAUNCH, "
        "RESERVE, UNRESERVE, CREATE_CPUSET, DESTROY_CPUSET and RESIZE_CPUSET"
    )


def _checked(resources: Iterable[Resource], role: str, left: list[Resource]) -> list[Resource]:
    """Valid, in the new format, allocated to the role of the offer, with the provider's metadata."""
    given = list(resources)
    problem = validation.resources(given)
    if problem:
        raise _RefusedError(f"Operation attempted with invalid resources: {problem}")
    return rs.canonical(rs.allocate(formats.in_new(given), role), left)


def _provider(world: World, resources: Iterable[Resource]) -> Provider | None:
    """The provider of resources that come from one place; None for the agent's own."""
    given = list(resources)
    problem = validation.one_provider(given)
    if problem:
        raise _RefusedError(f"{problem}; on {world.where}")
    provider_id = rs.provider_of(given[0])
    return world.providers.get(provider_id) if provider_id is not None else None


def _need(left: list[Resource], wanted: list[Resource]) -> None:
    if not rs.contains(left, wanted):
        raise _RefusedError(f"{rs.describe_all(left)} does not contain {rs.describe_all(wanted)}")


def _need_ready(provider: Provider | None, provider_id: str | None) -> Provider:
    if provider is None:
        raise _RefusedError(f"Resource provider {provider_id or '(none)'} is unknown")
    if not provider.ready:
        raise _RefusedError(f"Resource provider {provider.id} is not subscribed", provider.id)
    return provider


def check_reservation(info: Info, resources: list[Resource], role: str | None) -> str | None:
    """RESERVE and UNRESERVE: what is wrong with the reservations; `role` None: an operator asks."""
    for resource in resources:
        last = resource.reservations[-1] if resource.reservations else None
        if last is None or last.type != Resource.ReservationInfo.DYNAMIC:
            return f"Resource {rs.describe(resource)} is not dynamically reserved"
        if info.type != Info.RESERVE:
            continue
        if role is not None and not rs.allocatable_to(resource, role):
            return (
                f"A reserve operation was attempted for a resource with role '{last.role}', but the resource was "
                f"allocated to role '{resource.allocation_info.role}'"
            )
        if resource.HasField("revocable"):
            return f"Resource {rs.describe(resource)} is revocable and cannot be reserved"
    for resource in resources:
        if rs.set_id(resource) is not None:
            return (
                f"Resource {rs.describe(resource)} is a set: it belongs to its role, and only RAW and the agent's "
                "own resources can be reserved and unreserved"
            )
    if info.reserve.source:
        return "'reserve.source' is not supported: UNRESERVE first, then RESERVE"
    return None


def _reserve(
    world: World, framework: Framework, info: Info, role: str, left: list[Resource], now: float
) -> list[Resource]:
    ours = info.reserve.resources if info.type == Info.RESERVE else info.unreserve.resources
    resources = _checked(ours, role, left)
    provider = _provider(world, resources)
    problem = check_reservation(info, resources, role)
    if problem:
        raise _RefusedError(f"{problem}; on {world.where}")
    sent = _with_resources(info, resources)
    consumed, converted = (rs.allocate(side, role) for side in operations.conversion(sent))
    _need(left, consumed)
    if rs.provider_of(resources[0]) is None:
        operations.apply_own(world, framework, sent, role, now)
    else:
        ready = _need_ready(provider, rs.provider_of(resources[0]))
        operations.apply(world, ready, framework, sent, role, now)
    return rs.add(rs.subtract(left, consumed), converted)


def _with_resources(info: Info, resources: list[Resource]) -> Info:
    """The operation with these resources in the place of what was named."""
    sent = Info()
    sent.CopyFrom(info)
    target = {
        Info.RESERVE: sent.reserve.resources,
        Info.UNRESERVE: sent.unreserve.resources,
        Info.CREATE_CPUSET: sent.create_cpuset.source,
        Info.DESTROY_CPUSET: sent.destroy_cpuset.source,
        Info.RESIZE_CPUSET: sent.resize_cpuset.cpuset,
    }[info.type]
    del target[:]
    target.extend(resources)
    return sent


def _whole(resources: list[Resource], field: str) -> None:
    for i, resource in enumerate(resources):
        if resource.name != "cpus" or resource.type != mesos_pb2.Value.SCALAR:
            raise _RefusedError(f"{field}[{i}]: {rs.describe(resource)} is not a scalar named 'cpus'")
        if rs.millis(resource.scalar.value) % 1000:
            raise _RefusedError(f"{field}[{i}]: {rs.describe(resource)} is not a whole number of CPUs")


def _raw(resources: list[Resource], field: str) -> None:
    _whole(resources, field)
    for i, resource in enumerate(resources):
        if rs.source_type(resource) != Source.RAW:
            raise _RefusedError(f"{field}[{i}]: {rs.describe(resource)} is not RAW")


def _create(
    world: World, framework: Framework, info: Info, role: str, left: list[Resource], now: float
) -> list[Resource]:
    create = info.create_cpuset
    if not create.target_profile:
        raise _RefusedError("create_cpuset.target_profile is empty: name a profile")
    if not create.source:
        raise _RefusedError("create_cpuset.source is empty: name the RAW resources that the set is made of")
    if create.HasField("burst") and not (math.isfinite(create.burst) and create.burst > 0):
        raise _RefusedError(f"create_cpuset.burst: {create.burst:g} is not a number of CPUs above 0")
    source = _checked(create.source, role, left)
    provider = _provider(world, source)
    _raw(source, "create_cpuset.source")
    _need(left, source)
    ready = _need_ready(provider, rs.provider_of(source[0]))
    operations.apply(world, ready, framework, _with_resources(info, source), role, now)
    return rs.subtract(left, source)


def _the_set(
    world: World, given: list[Resource], role: str, left: list[Resource], field: str
) -> tuple[Provider, str, list[Resource]]:
    """The one set that is named, and all of its resources. A set of another role might as well not exist."""
    if not given:
        raise _RefusedError(f"{field} is empty: name the resources of the set")
    provider = _provider(world, given)
    ids = {rs.set_id(r) for r in given}
    set_id = next(iter(ids))
    if set_id is None or len(ids) != 1:
        raise _RefusedError(f"{field}: the resources of one set are needed, not {rs.describe_all(given)}")
    ready = _need_ready(provider, rs.provider_of(given[0]))
    whole = rs.allocate([r for r in ready.total if rs.set_id(r) == set_id], role)
    known = ready.sets.get(set_id)
    owner = known.role if known is not None and known.role else rs.reservation_role(given[0])
    if owner != role or not rs.contains(whole, given):
        _need(left, given)
        raise _RefusedError(f"{field}: set {set_id} does not belong to role '{role}'")
    if operations.pending_on_set(world, ready.id, set_id):
        raise _RefusedError(f"{field}: another operation on set {set_id} is under way")
    return ready, set_id, whole


def _destroy(
    world: World, framework: Framework, info: Info, role: str, left: list[Resource], now: float
) -> list[Resource]:
    given = _checked(info.destroy_cpuset.source, role, left)
    ready, set_id, whole = _the_set(world, given, role, left, "destroy_cpuset.source")
    users = world.tasks_in_set(ready.id, set_id)
    if users:
        names = ", ".join(sorted(t.key[1] for t in users if t.key[0] == framework.id))
        raise _RefusedError(f"destroy_cpuset.source: set {set_id} is in use by task {names or 'of another framework'}")
    if not rs.contains(given, whole):
        raise _RefusedError(
            f"destroy_cpuset.source: a set is destroyed as a whole; set {set_id} is {rs.describe_all(whole)}, "
            f"named was {rs.describe_all(given)}"
        )
    _need(left, whole)
    operations.apply(world, ready, framework, _with_resources(info, whole), role, now)
    return rs.subtract(left, whole)


def _resize(
    world: World, framework: Framework, info: Info, role: str, left: list[Resource], now: float
) -> list[Resource]:
    """The set may be in use: its resources need not be in the offer, what is added or taken away must be."""
    resize = info.resize_cpuset
    add = _checked(resize.add, role, left)
    subtract = _checked(resize.subtract, role, left)
    given = _checked(resize.cpuset, role, left)
    ready, set_id, whole = _the_set(world, given, role, left, "resize_cpuset.cpuset")
    if not add and not subtract:
        raise _RefusedError("resize_cpuset: 'add', 'subtract' or both are needed")
    if add:
        _raw(add, "resize_cpuset.add")
        if _provider(world, [*given, *add]) is not ready:
            raise _RefusedError(f"resize_cpuset.add: RAW of provider {ready.id} is needed")
        _need(left, add)
    if subtract:
        _whole(subtract, "resize_cpuset.subtract")
        if any(rs.set_id(r) != set_id for r in subtract):
            raise _RefusedError(f"resize_cpuset.subtract: resources of set {set_id} are needed")
        _need(left, subtract)
    sent = _with_resources(info, whole)
    for field, resources in (("add", add), ("subtract", subtract)):
        target = getattr(sent.resize_cpuset, field)
        del target[:]
        target.extend(resources)
    operations.apply(world, ready, framework, sent, role, now)
    return rs.subtract(left, [*whole, *add])


# The operator's


def reserve_by_operator(world: World, info: Info, agent_id: str, now: float) -> Operation | None:
    """RESERVE_RESOURCES and UNRESERVE_RESOURCES of the master API. Offers in the way are rescinded.

    Raises BadRequest (400) for what is wrong, Conflict (409) for what is not there.
    """
    named = list(info.reserve.resources if info.type == Info.RESERVE else info.unreserve.resources)
    if agent_id != world.agent_id:
        raise BadRequest("No agent found with specified ID")
    problem = validation.resources(named)
    if problem:
        raise BadRequest(f"Failed to validate master::Call: {problem}")
    resources = rs.canonical(rs.unallocate(formats.in_new(named)), world.total())
    problem = validation.one_provider(resources) or check_reservation(info, resources, None)
    if problem:
        raise BadRequest(f"Invalid {Info.Type.Name(info.type)} operation on {world.where}: {problem}")
    sent = _with_resources(info, resources)
    consumed, _ = operations.conversion(sent)
    provider_id = rs.provider_of(resources[0])
    if not rs.contains(world.free(), consumed):
        offers.rescind_all(world, provider_id, "an operator reserves or unreserves")
        world.allocate_now = True
    free = world.free()
    if not rs.contains(free, consumed):
        raise Conflict(f"{rs.describe_all(free)} does not contain {rs.describe_all(consumed)}")
    world.allocate_now = True
    if provider_id is None:
        operations.apply_own(world, None, sent, "", now)
        return None
    return operations.apply(world, world.providers[provider_id], None, sent, "", now)
