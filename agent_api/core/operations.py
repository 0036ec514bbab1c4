"""Operations under way: what they take, what they give, who is told, and what reconciliation answers.

Decides how an operation changes the totals and when: RESERVE and UNRESERVE at once (speculation, undone where they
fail), the operations on sets when their provider says that they are finished. The provider keeps its operations; this
is the agent's view of them, learnt again after a restart. It never decides whether an operation may be done;
`core.accept` and the provider do.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import replace

from agent_api.core import formats, offers
from agent_api.core import resources as rs
from agent_api.core.effects import SaveAgent
from agent_api.core.model import TERMINAL_OPERATIONS, Framework, Operation, Provider, SetInfo, World
from agent_api.wire import mesos_pb2, resource_provider_pb2, scheduler_pb2

__all__ = [
    "acknowledge",
    "apply",
    "apply_own",
    "conversion",
    "framework_back",
    "framework_gone",
    "lifetime_of",
    "merge_state",
    "message_of",
    "pending_on_set",
    "provider_gone",
    "provider_status",
    "reconcile",
    "refuse",
    "tick",
]

log = logging.getLogger(__name__)

Info = mesos_pb2.Offer.Operation
Status = mesos_pb2.OperationStatus
Resource = mesos_pb2.Resource

FIRST_BACKOFF = 10.0
MOST_BACKOFF = 600.0


def conversion(info: Info) -> tuple[list[Resource], list[Resource]]:
    """What an operation takes out of the totals, and what it puts there as far as that is known beforehand.

    Both not allocated. The second is empty for operations on sets: only the provider knows.
    """
    if info.type == Info.RESERVE:
        return _unreserved(info.reserve.resources), rs.unallocate(info.reserve.resources)
    if info.type == Info.UNRESERVE:
        return rs.unallocate(info.unreserve.resources), _unreserved(info.unreserve.resources)
    if info.type == Info.CREATE_CPUSET:
        return rs.unallocate(info.create_cpuset.source), []
    if info.type == Info.DESTROY_CPUSET:
        return rs.unallocate(info.destroy_cpuset.source), []
    if info.type == Info.RESIZE_CPUSET:
        return rs.unallocate([*info.resize_cpuset.cpuset, *info.resize_cpuset.add]), []
    return [], []


def _unreserved(resources: Iterable[Resource]) -> list[Resource]:
    result = rs.unallocate(resources)
    for resource in result:
        if resource.reservations:
            del resource.reservations[-1]
    return result


# Beginning


def apply(
    world: World, provider: Provider, framework: Framework | None, info: Info, role: str, now: float
) -> Operation:
    """Hand an operation that was found to be good to its provider. Its resources are held, or converted at once."""
    operation = Operation(world.new_uuid(), info, framework.id if framework is not None else None, provider.id, role)
    operation.consumed, operation.converted = conversion(info)
    if info.type in (Info.RESERVE, Info.UNRESERVE):
        provider.total = rs.add(rs.subtract(provider.total, operation.consumed), operation.converted)
        operation.speculated = True
    operation.statuses = [_complete(world, operation, Status(state=mesos_pb2.OPERATION_PENDING))]
    world.operations[operation.uuid] = operation
    world.counters["operations_sent"] += 1
    event = resource_provider_pb2.Event(type=resource_provider_pb2.Event.APPLY_OPERATION)
    if operation.framework_id is not None:
        event.apply_operation.framework_id.value = operation.framework_id
    event.apply_operation.info.CopyFrom(info)
    event.apply_operation.operation_uuid.value = operation.uuid
    event.apply_operation.resource_version_uuid.value = provider.version
    world.to_provider(provider, event)
    log.info(
        "operation %s (%s, id %s) of framework %s to provider %s: takes %s",
        operation.uuid.hex(),
        Info.Type.Name(info.type),
        operation.operation_id,
        operation.framework_id,
        provider.id,
        rs.describe_all(operation.consumed),
    )
    return operation


def apply_own(world: World, framework: Framework | None, info: Info, role: str, now: float) -> None:
    """RESERVE and UNRESERVE of the agent's own resources: done and stored in this turn."""
    operation = Operation(world.new_uuid(), info, framework.id if framework is not None else None, None, role)
    operation.consumed, operation.converted = conversion(info)
    own = rs.add(rs.subtract(world.agent.resources, operation.consumed), operation.converted)
    world.agent = replace(world.agent, resources=tuple(own))
    world.effects.append(SaveAgent(world.agent))
    operation.applied = True
    status = Status(state=mesos_pb2.OPERATION_FINISHED, converted_resources=operation.converted)
    status.uuid.value = world.new_uuid()
    operation.statuses = [_complete(world, operation, status)]
    _count_end(world, info, status.state)
    log.info("%s of the agent's own %s", Info.Type.Name(info.type), rs.describe_all(operation.converted))
    if framework is not None and operation.operation_id is not None:
        world.operations[operation.uuid] = operation
        operation.unacknowledged = list(operation.statuses)
        operation.next_send = now
        _resend(world, operation, now)


def refuse(
    world: World,
    framework: Framework,
    info: Info,
    message: str,
    state: mesos_pb2.OperationState = mesos_pb2.OPERATION_ERROR,
    provider_id: str | None = None,
) -> None:
    """An operation that goes nowhere: told once, without uuid, and only where it has an id to be told by."""
    log.info(
        "operation %s (id %s) of framework %s refused: %s",
        Info.Type.Name(info.type),
        info.id.value,
        framework.id,
        message,
    )
    world.counters["operations_refused"] += 1
    _count_end(world, info, state)
    if not info.HasField("id"):
        return
    status = Status(operation_id=info.id, state=state, message=message)
    if provider_id is not None:
        status.agent_id.value = world.agent_id
        status.resource_provider_id.value = provider_id
    _tell(world, framework, status)


def _count_end(world: World, info: Info, state: mesos_pb2.OperationState) -> None:
    outcome = mesos_pb2.OperationState.Name(state).removeprefix("OPERATION_").lower()
    world.counters[f"operations/{Info.Type.Name(info.type).lower()}/{outcome}"] += 1


def _complete(world: World, operation: Operation, status: Status) -> Status:
    """A copy with every id that the framework needs."""
    result = Status()
    result.CopyFrom(status)
    if operation.operation_id is not None:
        result.operation_id.value = operation.operation_id
    result.agent_id.value = world.agent_id
    if operation.provider_id is not None:
        result.resource_provider_id.value = operation.provider_id
    return result


def _tell(world: World, framework: Framework | None, status: Status) -> None:
    event = scheduler_pb2.Event(type=scheduler_pb2.Event.UPDATE_OPERATION_STATUS)
    event.update_operation_status.status.CopyFrom(status)
    world.to_framework(framework, event)


# News from the provider


def provider_status(
    world: World, provider: Provider, update: resource_provider_pb2.Call.UpdateOperationStatus, now: float
) -> None:
    """UPDATE_OPERATION_STATUS: change the totals once, then tell the framework each time it comes."""
    uuid = update.operation_uuid.value
    # One that is over stays over: a status that comes once more is told and acknowledged once more.
    operation = world.operations.get(uuid) or world.past_operations.get(uuid)
    if operation is None:
        operation = Operation(uuid, Info(), provider_id=provider.id)
        world.operations[uuid] = operation
        operation.applied = True  # what it did is in the totals that were reported after it
        if update.HasField("framework_id"):
            operation.framework_id = update.framework_id.value
        if update.status.HasField("operation_id"):
            operation.info.id.CopyFrom(update.status.operation_id)
    elif operation.provider_id != provider.id:
        log.warning("provider %s reports operation %s of another provider; ignored", provider.id, uuid.hex())
        return
    world.counters["messages_operation_status_update"] += 1
    status = _complete(world, operation, update.status)
    latest = _complete(world, operation, update.latest_status) if update.HasField("latest_status") else status
    for one in (status, latest):
        _take(operation, one)
    if operation.terminal:
        _settle(world, provider, operation)
    if status.HasField("uuid"):
        known = [s.uuid.value for s in operation.unacknowledged]
        if status.uuid.value not in known:
            operation.unacknowledged.append(status)
    framework = world.frameworks.get(operation.framework_id or "")
    if framework is None or operation.operation_id is None:
        # Nobody could acknowledge it: an operator's, one without id, or its framework has gone.
        _acknowledge_all(world, provider, operation)
        return
    _tell(world, framework, status)
    if not status.HasField("uuid") and operation.terminal:
        world.remember(operation)


def _take(operation: Operation, status: Status) -> None:
    """A terminal state stands; nothing that comes later takes it back."""
    if operation.terminal or any(s.HasField("uuid") and s.uuid.value == status.uuid.value for s in operation.statuses):
        return
    operation.statuses.append(status)


def _settle(world: World, provider: Provider, operation: Operation) -> None:
    """The outcome into the totals, once."""
    if operation.applied:
        return
    operation.applied = True
    last = operation.statuses[-1]
    log.info(
        "operation %s (id %s) on provider %s: %s%s",
        operation.uuid.hex(),
        operation.operation_id,
        provider.id,
        mesos_pb2.OperationState.Name(last.state),
        last.message and f": {last.message}",
    )
    _count_end(world, operation.info, last.state)
    world.allocate_now = True
    if last.state == mesos_pb2.OPERATION_FINISHED:
        converted = rs.unallocate(formats.in_new(last.converted_resources)) or operation.converted
        operation.converted = converted
        if operation.speculated and rs.contains(provider.total, converted):
            # Nothing moves; the provider's newer metadata takes the place of what was guessed.
            provider.total = rs.add(rs.subtract(provider.total, converted), converted)
        elif not operation.speculated and provider.ready:
            if rs.contains(provider.total, operation.consumed):
                provider.total = rs.add(rs.subtract(provider.total, operation.consumed), converted)
            else:
                log.warning(
                    "operation %s took %s, which provider %s has not; its totals stay until it reports them",
                    operation.uuid.hex(),
                    rs.describe_all(operation.consumed),
                    provider.id,
                )
        _note_sets(provider, operation)
    elif operation.speculated and provider.ready:
        provider.total = rs.add(rs.subtract(provider.total, operation.converted), operation.consumed)
        offers.rescind_all(world, provider.id, f"operation {operation.uuid.hex()} came to nothing")


def _note_sets(provider: Provider, operation: Operation) -> None:
    made = {i for i in (rs.set_id(r) for r in operation.converted) if i is not None}
    taken = {i for i in (rs.set_id(r) for r in operation.consumed) if i is not None}
    for set_id in taken - made:
        provider.sets.pop(set_id, None)
    for set_id in made - taken:
        if set_id not in provider.sets:
            lifetime = lifetime_of(provider, operation.info.create_cpuset.target_profile)
            provider.sets[set_id] = SetInfo(operation.role or None, operation.framework_id, lifetime)


def lifetime_of(provider: Provider, profile: str) -> str | None:
    """What the provider's report says of a profile; None where it says nothing."""
    for known in provider.report.profiles if provider.report is not None else ():
        if known.name == profile:
            try:
                definition = json.loads(known.definition or "{}")
            except ValueError:
                return None
            return str(definition.get("lifetime", "framework")) if isinstance(definition, dict) else None
    return None


def merge_state(world: World, provider: Provider, reported: list[mesos_pb2.Operation], now: float) -> None:
    """The operations that an UPDATE_STATE lists; its totals are in force already and hold what is finished.

    What the agent holds as pending and the provider does not list is asked for: RECONCILE_OPERATIONS.
    """
    listed: set[bytes] = set()
    for item in reported:
        uuid = item.uuid.value
        listed.add(uuid)
        operation = world.operations.get(uuid)
        if operation is None:
            operation = Operation(uuid, item.info, provider_id=provider.id)
            if item.HasField("framework_id"):
                operation.framework_id = item.framework_id.value
            operation.consumed, operation.converted = conversion(item.info)
            operation.role = next(
                (r.allocation_info.role for r in _sources(item.info) if r.HasField("allocation_info")), ""
            )
            operation.statuses = []
            world.past_operations.pop(uuid, None)
            world.operations[uuid] = operation
        elif operation.provider_id != provider.id:
            log.warning("provider %s lists operation %s of another provider", provider.id, uuid.hex())
            continue
        operation.speculated = False
        for status in (*item.statuses, item.latest_status):
            _take(operation, _complete(world, operation, status))
        operation.applied = operation.terminal
    missing = [o for o in world.operations.values() if o.provider_id == provider.id and o.uuid not in listed]
    lost = [o for o in missing if not o.terminal]
    for operation in lost:
        operation.speculated = False  # the totals that just came do not hold it
    if lost:
        event = resource_provider_pb2.Event(type=resource_provider_pb2.Event.RECONCILE_OPERATIONS)
        for operation in lost:
            log.info("operation %s is not known to provider %s; asking", operation.uuid.hex(), provider.id)
            event.reconcile_operations.operation_uuids.add(value=operation.uuid)
        world.to_provider(provider, event)


def _sources(info: Info) -> list[Resource]:
    return [
        *info.reserve.resources,
        *info.unreserve.resources,
        *info.create_cpuset.source,
        *info.destroy_cpuset.source,
        *info.resize_cpuset.cpuset,
    ]


def provider_gone(world: World, provider: Provider) -> None:
    """Removed by the operator: its operations end here."""
    for operation in [o for o in world.operations.values() if o.provider_id == provider.id]:
        if not operation.terminal:
            state, message = mesos_pb2.OPERATION_GONE_BY_OPERATOR, "The resource provider was removed"
            _count_end(world, operation.info, state)
            status = _complete(world, operation, Status(state=state, message=message))
            operation.statuses.append(status)
            framework = world.frameworks.get(operation.framework_id or "")
            if operation.operation_id is not None:
                _tell(world, framework, status)
        operation.applied = True
        world.remember(operation)


def pending_on_set(world: World, provider_id: str, set_id: str) -> bool:
    return any(
        not o.terminal and o.provider_id == provider_id and any(rs.set_id(r) == set_id for r in o.consumed)
        for o in world.operations.values()
    )


# Acknowledging


def acknowledge(world: World, framework: Framework, call: scheduler_pb2.Call.AcknowledgeOperationStatus) -> None:
    """Handed on to the provider once; a second time nothing is done."""
    for operation in [*world.operations.values(), *world.past_operations.values()]:
        if operation.framework_id != framework.id or operation.operation_id != call.operation_id.value:
            continue
        for status in operation.unacknowledged:
            if status.uuid.value == call.uuid:
                provider = world.providers.get(operation.provider_id or "")
                world.counters["valid_operation_status_update_acknowledgements"] += 1
                _acknowledge(world, provider, operation, status)
                return
    world.counters["invalid_operation_status_update_acknowledgements"] += 1
    log.info("framework %s acknowledges operation %s, which waits for none", framework.id, call.operation_id.value)


def _acknowledge(world: World, provider: Provider | None, operation: Operation, status: Status) -> None:
    operation.unacknowledged = [s for s in operation.unacknowledged if s.uuid.value != status.uuid.value]
    if provider is not None:
        event = resource_provider_pb2.Event(type=resource_provider_pb2.Event.ACKNOWLEDGE_OPERATION_STATUS)
        event.acknowledge_operation_status.status_uuid.value = status.uuid.value
        event.acknowledge_operation_status.operation_uuid.value = operation.uuid
        world.to_provider(provider, event)
    if status.state in TERMINAL_OPERATIONS:
        operation.unacknowledged = []  # what came before is of no interest any more
        world.remember(operation)


def _acknowledge_all(world: World, provider: Provider | None, operation: Operation) -> None:
    for status in list(operation.unacknowledged):
        _acknowledge(world, provider, operation, status)
    if operation.terminal:
        world.remember(operation)


def framework_gone(world: World, framework_id: str) -> None:
    """Nobody will acknowledge any more. What is under way goes on."""
    for operation in [o for o in world.operations.values() if o.framework_id == framework_id]:
        _acknowledge_all(world, world.providers.get(operation.provider_id or ""), operation)


def framework_back(world: World, framework: Framework) -> None:
    """What is not acknowledged goes out again at once, to the new stream."""
    for operation in world.operations.values():
        if operation.framework_id == framework.id and operation.unacknowledged:
            _tell(world, framework, operation.unacknowledged[0])


def tick(world: World, now: float) -> None:
    """Send again what the agent itself is the sender of; providers send their own again."""
    for operation in world.operations.values():
        if operation.next_send is not None and operation.unacknowledged and now >= operation.next_send:
            _resend(world, operation, now)


def _resend(world: World, operation: Operation, now: float) -> None:
    _tell(world, world.frameworks.get(operation.framework_id or ""), operation.unacknowledged[0])
    operation.backoff = min(operation.backoff * 2 or FIRST_BACKOFF, MOST_BACKOFF)
    operation.next_send = now + operation.backoff


# Reconciliation


def reconcile(
    world: World,
    framework: Framework,
    wanted: list[scheduler_pb2.Call.ReconcileOperations.Operation],
    now: float,
) -> None:
    """One status without uuid for each operation that is asked for; for all there are, where none is named."""
    own = [o for o in world.operations.values() if o.framework_id == framework.id and o.operation_id is not None]
    if not wanted:
        for operation in own:
            _tell(world, framework, _answer(world, operation))
        return
    gone = [o for o in world.past_operations.values() if o.framework_id == framework.id]
    gone = [o for o in gone if o.state == mesos_pb2.OPERATION_GONE_BY_OPERATOR]
    for item in wanted:
        operation_id = item.operation_id.value
        known = next((o for o in (*own, *gone) if o.operation_id == operation_id), None)
        _tell(world, framework, _answer(world, known) if known is not None else _unknown(world, item, now))


def _answer(world: World, operation: Operation) -> Status:
    status = _complete(world, operation, operation.statuses[-1] if operation.statuses else Status())
    if not operation.statuses:
        status.state = mesos_pb2.OPERATION_PENDING
    status.ClearField("uuid")
    return status


def _unknown(world: World, item: scheduler_pb2.Call.ReconcileOperations.Operation, now: float) -> Status:
    """Nothing is known of it. While a provider may still tell of it, that is no answer yet; where no provider is
    named, that while ends some time after the agent's start."""
    status = Status(operation_id=item.operation_id, state=mesos_pb2.OPERATION_UNKNOWN)
    if item.HasField("agent_id"):
        status.agent_id.CopyFrom(item.agent_id)
    if item.HasField("resource_provider_id"):
        status.resource_provider_id.CopyFrom(item.resource_provider_id)
    if item.HasField("agent_id") and item.agent_id.value != world.agent_id:
        status.message = "Reconciliation: Both operation and agent are unknown"
        return status
    provider = world.providers.get(item.resource_provider_id.value)
    starting = now < world.start_time + world.options.recovery_timeout
    if provider is not None and provider.record.gone:
        status.state = mesos_pb2.OPERATION_GONE_BY_OPERATOR
        status.message = "Reconciliation: The resource provider was removed"
    elif (provider is not None and not provider.ready) or (
        provider is None
        and starting
        and not item.HasField("resource_provider_id")
        and any(not p.reported and not p.record.gone for p in world.providers.values())
    ):
        status.state = mesos_pb2.OPERATION_RECOVERING
        status.message = "Reconciliation: The resource provider is not subscribed"
    elif item.HasField("agent_id"):
        status.message = "Reconciliation: Operation is unknown"
    else:
        status.message = "Reconciliation: Operation is unknown and no 'agent_id' was provided"
    return status


def message_of(world: World, operation: Operation) -> mesos_pb2.Operation:
    """The operation as GET_OPERATIONS shows it."""
    pending = Status(state=mesos_pb2.OPERATION_PENDING)
    message = mesos_pb2.Operation(
        agent_id=mesos_pb2.AgentID(value=world.agent_id),
        info=operation.info,
        latest_status=operation.statuses[-1] if operation.statuses else _complete(world, operation, pending),
        statuses=[s for s in operation.statuses if s.HasField("uuid")],
        uuid=mesos_pb2.UUID(value=operation.uuid),
    )
    if operation.framework_id is not None:
        message.framework_id.value = operation.framework_id
    return message
