"""Which framework is who, whether it is connected, and when it is gone; and the checks before each of its calls.

Decides SUBSCRIBE, failover, heartbeats, timeouts and TEARDOWN, with Mesos's statuses and words. What a call then
does is decided in `core.accept`, `core.tasks`, `core.operations` and `core.offers`.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from agent_api.core import accept, authorization, offers, operations, statuses, tasks, validation
from agent_api.core.constraints import OfferConstraints
from agent_api.core.effects import CloseFramework, RemoveFramework, SaveFramework, ToFramework
from agent_api.core.model import REMOVED_FRAMEWORKS, Framework, World, roles_of
from agent_api.core.records import FrameworkRecord
from agent_api.errors import BadRequest, Forbidden, NotImplemented_
from agent_api.wire import master_pb2, mesos_pb2, scheduler_pb2

__all__ = ["call", "master_info", "message_of", "remove", "stream_closed", "subscribe", "tick"]

log = logging.getLogger(__name__)

Call = scheduler_pb2.Call
Event = scheduler_pb2.Event

_PREFIX = "Failed to validate scheduler::Call: "
_NEEDS = {
    Call.ACCEPT: "accept",
    Call.DECLINE: "decline",
    Call.KILL: "kill",
    Call.SHUTDOWN: "shutdown",
    Call.ACKNOWLEDGE: "acknowledge",
    Call.RECONCILE: "reconcile",
    Call.MESSAGE: "message",
    Call.REQUEST: "request",
    Call.ACCEPT_INVERSE_OFFERS: "accept_inverse_offers",
    Call.DECLINE_INVERSE_OFFERS: "decline_inverse_offers",
    Call.ACKNOWLEDGE_OPERATION_STATUS: "acknowledge_operation_status",
    Call.RECONCILE_OPERATIONS: "reconcile_operations",
    Call.UPDATE_FRAMEWORK: "update_framework",
}
_MESSAGES = {
    Call.DECLINE: "decline_offers",
    Call.KILL: "kill_task",
    Call.ACKNOWLEDGE: "status_update_acknowledgement",
    Call.RECONCILE: "reconcile_tasks",
    Call.MESSAGE: "framework_to_executor",
    Call.REQUEST: "resource_request",
    Call.REVIVE: "revive_offers",
    Call.SUPPRESS: "suppress_offers",
    Call.ACKNOWLEDGE_OPERATION_STATUS: "operation_status_update_acknowledgement",
    Call.RECONCILE_OPERATIONS: "reconcile_operations",
}
"""How calls are called in the figures: they have their names from before there were calls."""
_NOBODY_THERE = {
    Call.MESSAGE: "Pinfold runs command tasks and no custom executors: nobody would get the message",
    Call.SHUTDOWN: (
        "Pinfold runs command tasks and no custom executors: there is none to shut down; use KILL for a task, TEARDOWN "
        "for the framework"
    ),
}
_ANSWERED_WITH_NOTHING = (
    Call.REQUEST,
    Call.ACCEPT_INVERSE_OFFERS,
    Call.DECLINE_INVERSE_OFFERS,
)


def master_info(world: World) -> mesos_pb2.MasterInfo:
    options = world.options
    address = 0
    parts = options.ip.split(".")
    if len(parts) == 4:
        for part in reversed(parts):  # network order in a little-endian word, as Mesos has it
            address = address << 8 | int(part)
    info = mesos_pb2.MasterInfo(
        id=world.agent.master_id,
        ip=address,
        port=options.master_port,
        pid=f"master@{options.ip}:{options.master_port}",
        hostname=options.hostname,
        version=options.version,
        address=mesos_pb2.Address(hostname=options.hostname, ip=options.ip, port=options.master_port),
    )
    capability = mesos_pb2.MasterInfo.Capability
    for kind in (capability.AGENT_UPDATE, capability.AGENT_DRAINING, capability.QUOTA_V2):
        info.capabilities.add(type=kind)
    return info


# Subscribing


def subscribe(world: World, message: Call, stream_id: str, principal: str | None, now: float) -> None:
    """A new framework, or a known one on a new stream. Bad information is told on the stream, which then ends.

    Raises BadRequest where the call contradicts itself.
    """
    if not message.HasField("subscribe"):
        raise BadRequest(f"{_PREFIX}Expecting 'subscribe' to be present")
    info = message.subscribe.framework_info
    if info.id.value != message.framework_id.value:
        raise BadRequest(f"{_PREFIX}'framework_id' differs from 'subscribe.framework_info.id'")
    if principal is not None and info.HasField("principal") and info.principal != principal:
        raise BadRequest(
            f"{_PREFIX}Authenticated principal '{principal}' does not match principal '{info.principal}' set in "
            "'FrameworkInfo'"
        )
    suppressed = list(message.subscribe.suppressed_roles)
    framework_id = info.id.value
    known = world.frameworks.get(framework_id)
    problem = validation.framework_info(info, suppressed)
    constraints = OfferConstraints()
    if problem is None:
        try:
            constraints = OfferConstraints(message.subscribe.offer_constraints, roles_of(info))
        except ValueError as error:
            problem = str(error)
    if problem is None and framework_id in world.removed:
        problem = "Framework has been removed"
    if problem is None:
        problem = authorization.roles(world, principal, info)
    owner = known.record.principal if known is not None else principal
    # Who registered before anybody was authenticated here comes back with a principal, once.
    adopted = owner is None and known is not None and known.recovered
    if problem is None and principal not in (None, owner) and not adopted:
        problem = "Framework is registered under another principal"
    if problem is not None:
        log.info("framework '%s' (%s) refused: %s", info.name, framework_id, problem)
        event = Event(type=Event.ERROR)
        event.error.message = problem
        world.effects.append(ToFramework(stream_id, event))
        world.effects.append(CloseFramework(stream_id))
        return
    if known is None:
        framework = _new(world, info, principal, now)
        operator_event = master_pb2.Event.FRAMEWORK_ADDED
        if framework_id:
            # One of a former master: operators hear of it, and then that it is back.
            _tell_operators(
                world,
                Framework(replace(framework.record, registered_time=0, reregistered_time=0), 0, recovered=True),
                operator_event,
            )
            operator_event = master_pb2.Event.FRAMEWORK_UPDATED
    else:
        framework = known
        _take_over(world, framework, info, now)
        framework.record = replace(framework.record, principal=principal or framework.record.principal)
        operator_event = master_pb2.Event.FRAMEWORK_UPDATED
    framework.stream_id = stream_id
    framework.give_up = None
    framework.recovered = False
    framework.suppressed = set(suppressed)
    framework.constraints = constraints
    framework.record = replace(framework.record, suppressed_roles=tuple(sorted(suppressed)))
    framework.next_heartbeat = now + world.options.heartbeat_interval
    framework.counts["calls/subscribe"] += 1
    world.counters["messages_reregister_framework" if framework_id else "messages_register_framework"] += 1
    world.frameworks[framework.id] = framework
    world.effects.append(SaveFramework(framework.record))
    event = Event(type=Event.SUBSCRIBED)
    event.subscribed.framework_id.value = framework.id
    event.subscribed.heartbeat_interval_seconds = world.options.heartbeat_interval
    event.subscribed.master_info.CopyFrom(master_info(world))
    world.to_framework(framework, event)
    world.to_framework(framework, Event(type=Event.HEARTBEAT))
    log.info("framework %s (%s) subscribed on stream %s", framework.id, info.name, stream_id)
    _tell_operators(world, framework, operator_event)
    statuses.framework_back(world, framework, now)
    operations.framework_back(world, framework)
    world.allocate_now = True


def _new(world: World, info: mesos_pb2.FrameworkInfo, principal: str | None, now: float) -> Framework:
    copy = mesos_pb2.FrameworkInfo()
    copy.CopyFrom(info)
    if not info.id.value:
        copy.id.value = f"{world.run_id}-{world.framework_count:04d}"
    framework = Framework(FrameworkRecord(copy.id.value, copy, principal, now, now), world.framework_count)
    world.framework_count += 1
    return framework


def _take_over(world: World, framework: Framework, info: mesos_pb2.FrameworkInfo, now: float) -> None:
    """The framework is on a new stream: the old one is told and ends, its offers are void."""
    if framework.stream_id is not None:
        event = Event(type=Event.ERROR)
        event.error.message = "Framework failed over"
        world.to_framework(framework, event)
        world.effects.append(CloseFramework(framework.stream_id))
    offers.drop(world, framework.id)
    framework.filters = []
    copy = mesos_pb2.FrameworkInfo()
    copy.CopyFrom(info)
    for field in ("user", "checkpoint", "principal"):  # these stay what they were, as with Mesos
        if getattr(copy, field) != getattr(framework.info, field):
            log.info("framework %s: a changed '%s' is ignored", framework.id, field)
            copy.ClearField(field)
            if framework.info.HasField(field):
                setattr(copy, field, getattr(framework.info, field))
    framework.record = replace(framework.record, info=copy, reregistered_time=now)


def stream_closed(world: World, stream_id: str, now: float) -> None:
    framework = world.framework_of_stream(stream_id)
    if framework is None:
        return
    framework.stream_id = None
    framework.give_up = now + framework.info.failover_timeout
    framework.filters = []
    offers.drop(world, framework.id)
    world.allocate_now = True
    log.info("framework %s disconnected; it has %g s to come back", framework.id, framework.info.failover_timeout)


def remove(world: World, framework: Framework, now: float) -> None:
    """Gone for good: its tasks are killed, its sets follow (see `core.providers.tick`)."""
    log.info("framework %s is removed", framework.id)
    if framework.stream_id is not None:
        world.effects.append(CloseFramework(framework.stream_id))
        framework.stream_id = None
    del world.frameworks[framework.id]
    offers.drop(world, framework.id)
    record = replace(framework.record, removed_time=now)
    world.removed[framework.id] = record
    world.effects.append(SaveFramework(record))
    while len(world.removed) > REMOVED_FRAMEWORKS:
        oldest, _ = world.removed.popitem(last=False)
        world.effects.append(RemoveFramework(oldest))
    tasks.framework_gone(world, framework.id, now)
    operations.framework_gone(world, framework.id)
    event = master_pb2.Event(type=master_pb2.Event.FRAMEWORK_REMOVED)
    event.framework_removed.framework_info.CopyFrom(record.info)
    world.to_operators(event)
    world.allocate_now = True


def tick(world: World, now: float) -> None:
    """Heartbeats, and the end of frameworks that did not come back in time."""
    for framework in list(world.frameworks.values()):
        if framework.stream_id is not None:
            if now >= framework.next_heartbeat:
                world.to_framework(framework, Event(type=Event.HEARTBEAT))
                # Kept on the grid, so that a late tick does not shift all that follow.
                late = now - framework.next_heartbeat
                step = world.options.heartbeat_interval
                framework.next_heartbeat += step * (1 + late // step)
        elif framework.give_up is not None and now >= framework.give_up:
            remove(world, framework, now)


def message_of(world: World, framework: Framework) -> master_pb2.Response.GetFrameworks.Framework:
    """The framework as the operator API shows it, without its offers and resources."""
    record = framework.record
    message = master_pb2.Response.GetFrameworks.Framework(
        framework_info=record.info,
        active=framework.stream_id is not None,
        connected=framework.stream_id is not None,
        recovered=framework.recovered,
    )
    message.registered_time.nanoseconds = int(record.registered_time * 1e9)
    message.reregistered_time.nanoseconds = int(record.reregistered_time * 1e9)
    return message


def _tell_operators(world: World, framework: Framework, kind: master_pb2.Event.Type) -> None:
    event = master_pb2.Event(type=kind)
    part = event.framework_added if kind == master_pb2.Event.FRAMEWORK_ADDED else event.framework_updated
    part.framework.CopyFrom(message_of(world, framework))
    part.framework.unregistered_time.nanoseconds = 0
    world.to_operators(event)


# All other calls


def call(world: World, message: Call, stream_id: str | None, principal: str | None, now: float) -> int:
    """Everything but SUBSCRIBE; the HTTP status of success. Raises ApiError in Mesos's order and words."""
    _validate(message)
    framework = world.frameworks.get(message.framework_id.value)
    if framework is None:
        raise BadRequest("Framework cannot be found")
    owner = framework.record.principal
    if principal is not None and owner is not None and principal != owner:
        raise BadRequest(
            f"Authenticated principal '{principal}' does not match principal '{owner}' set in 'FrameworkInfo'"
        )
    if framework.stream_id is None:
        raise Forbidden("Framework is not subscribed")
    if stream_id is None:
        raise BadRequest("All non-subscribe calls should include the 'Mesos-Stream-Id' header")
    if stream_id != framework.stream_id:
        raise BadRequest(
            f"The stream ID '{stream_id}' included in this request didn't match the stream ID currently associated "
            f"with framework ID {framework.id}"
        )
    _count(world, framework, message)
    match message.type:
        case Call.TEARDOWN:
            remove(world, framework, now)
        case Call.ACCEPT:
            accept.accept(world, framework, message.accept, now)
        case Call.DECLINE:
            offers.decline(world, framework, message.decline, now)
        case Call.REVIVE:
            offers.revive(world, framework, message.revive.roles)
            _keep_suppressed(world, framework)
        case Call.SUPPRESS:
            offers.suppress(framework, message.suppress.roles)
            _keep_suppressed(world, framework)
        case Call.KILL:
            tasks.kill(world, framework, message.kill, now)
        case Call.ACKNOWLEDGE:
            statuses.acknowledge(world, framework, message.acknowledge, now)
        case Call.RECONCILE:
            tasks.reconcile(world, framework, message.reconcile.tasks, now)
        case Call.ACKNOWLEDGE_OPERATION_STATUS:
            operations.acknowledge(world, framework, message.acknowledge_operation_status)
        case Call.RECONCILE_OPERATIONS:
            operations.reconcile(world, framework, list(message.reconcile_operations.operations), now)
        case Call.UPDATE_FRAMEWORK:
            _update(world, framework, message.update_framework)
            return 200
        case kind if kind in _NOBODY_THERE:
            raise NotImplemented_(f"Call type {Call.Type.Name(kind)} is not served: {_NOBODY_THERE[kind]}")
        case kind if kind in _ANSWERED_WITH_NOTHING:
            log.info("framework %s: %s is taken and does nothing", framework.id, Call.Type.Name(kind))
        case _:
            raise NotImplemented_(f"Call type {Call.Type.Name(message.type)} is not served")
    return 202


def _count(world: World, framework: Framework, message: Call) -> None:
    framework.counts[f"calls/{Call.Type.Name(message.type).lower()}"] += 1
    launches = any(o.type == mesos_pb2.Offer.Operation.LAUNCH for o in message.accept.operations)
    name = "launch_tasks" if launches else _MESSAGES.get(message.type)
    if name is not None:
        world.counters[f"messages_{name}"] += 1


def _validate(message: Call) -> None:
    if not message.HasField("type"):
        raise BadRequest(f"{_PREFIX}Expecting 'type' to be present")
    if message.type == Call.UNKNOWN:
        raise NotImplemented_("Call type UNKNOWN is not served")
    if not message.HasField("framework_id"):
        raise BadRequest(f"{_PREFIX}Expecting 'framework_id' to be present")
    field = _NEEDS.get(message.type)
    if field is not None and not message.HasField(field):
        raise BadRequest(f"{_PREFIX}Expecting '{field}' to be present")
    if message.type == Call.ACKNOWLEDGE and len(message.acknowledge.uuid) != 16:
        raise BadRequest(f"{_PREFIX}Not a valid UUID")
    if message.type == Call.ACKNOWLEDGE_OPERATION_STATUS:
        if len(message.acknowledge_operation_status.uuid) != 16:
            raise BadRequest(f"{_PREFIX}Not a valid UUID")
        if not message.acknowledge_operation_status.HasField("agent_id"):
            raise BadRequest(f"{_PREFIX}Expecting 'agent_id' to be present")


def _keep_suppressed(world: World, framework: Framework) -> None:
    suppressed = tuple(sorted(framework.suppressed))
    if suppressed != framework.record.suppressed_roles:
        framework.record = replace(framework.record, suppressed_roles=suppressed)
        world.effects.append(SaveFramework(framework.record))


def _update(world: World, framework: Framework, message: Call.UpdateFramework) -> None:
    """UPDATE_FRAMEWORK: new roles, capabilities, constraints and so on; offers it may have no more are rescinded."""
    info = message.framework_info
    problem = validation.framework_info(info, message.suppressed_roles)
    if problem is not None:
        raise BadRequest(f"'FrameworkInfo' object validation failed: {problem}")
    if info.id.value != framework.id:
        raise BadRequest(f"{_PREFIX}'framework_id' differs from 'update_framework.framework_info.id'")
    problem = validation.framework_update(framework.info, info)
    if problem is not None:
        raise BadRequest(f"FrameworkInfo update is not valid: {problem}")
    problem = authorization.roles(world, framework.record.principal, info)
    if problem is not None:
        raise Forbidden(problem)
    try:
        framework.constraints = OfferConstraints(message.offer_constraints, roles_of(info))
    except ValueError as error:
        raise BadRequest(str(error)) from None
    copy = mesos_pb2.FrameworkInfo()
    copy.CopyFrom(info)
    framework.record = replace(framework.record, info=copy)
    framework.suppressed = set(message.suppressed_roles)
    framework.filters = [f for f in framework.filters if f.role in framework.roles]
    framework.record = replace(framework.record, suppressed_roles=tuple(sorted(framework.suppressed)))
    world.effects.append(SaveFramework(framework.record))
    for offer_id, offer in list(world.offers.items()):
        allowed = (
            offer.role in framework.roles
            and offers.wants_agent(world, framework, offer.role)
            and all(offers.eligible(world, r, offer.role, framework) for r in offer.resources)
        )
        if offer.framework_id == framework.id and not allowed:
            offers.rescind(world, offer_id)
    world.allocate_now = True
    _tell_operators(world, framework, master_pb2.Event.FRAMEWORK_UPDATED)
