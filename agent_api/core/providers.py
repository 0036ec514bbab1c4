"""Who may subscribe as a provider, what its reports change, and what the operator does with providers.

Decides ids, takeovers and refusals of SUBSCRIBE, the order of checks on other calls (Mesos's), which configs may be
kept, and when a set that nobody needs, or that was revoked, is destroyed. It never decides an operation, and never
looks at CPUs.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from dataclasses import replace

from agent_api.core import compaction, formats, ledger, offers, operations, tasks
from agent_api.core import resources as rs
from agent_api.core.effects import CloseProvider, RemoveConfig, SaveConfig, SaveProvider
from agent_api.core.model import Provider, SetInfo, World
from agent_api.core.records import ConfigRecord, ProviderRecord
from agent_api.errors import ApiError, BadRequest, Conflict, NotFound, NotImplemented_, Unavailable
from agent_api.wire import mesos_pb2, pinfold_pb2, resource_provider_pb2

__all__ = [
    "add_config",
    "call",
    "config_to_add",
    "config_to_update",
    "destroy_set",
    "has_the_host",
    "mark_gone",
    "remove_config",
    "stream_closed",
    "subscribe",
    "tick",
    "update_config",
]

log = logging.getLogger(__name__)

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event
Info = mesos_pb2.ResourceProviderInfo

CPU_TYPE = "org.pinfold.rp.cpu"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_][A-Za-z0-9_-]*)*")
RETRY_DESTROY = 60.0
"""Seconds until a set that could not be destroyed is tried again."""


# The stream


def subscribe(world: World, message: Call, stream_id: str, now: float) -> None:
    """Give or confirm an id. A refused one gets the end of its stream and no event, as with Mesos."""
    info = message.subscribe.resource_provider_info
    provider = _who(world, info)
    if provider is None:
        world.effects.append(CloseProvider(stream_id))
        return
    if provider.stream_id is not None:
        log.info("provider %s subscribes again; its former stream ends", provider.id)
        old = provider.stream_id
        _disconnected(world, provider)
        world.effects.append(CloseProvider(old))
    known = Info()
    known.CopyFrom(info)
    known.id.value = provider.id
    record = ProviderRecord(provider.id, known)
    if provider.id not in world.providers or record != provider.record:
        provider.record = record
        world.effects.append(SaveProvider(record))
    world.providers[provider.id] = provider
    provider.stream_id = stream_id
    event = Event(type=Event.SUBSCRIBED)
    event.subscribed.provider_id.value = provider.id
    world.to_provider(provider, event)
    log.info("provider %s (%s %s) subscribed on stream %s", provider.id, info.type, info.name, stream_id)


def _who(world: World, info: Info) -> Provider | None:
    """The provider that this is; a new one; or None where it is refused."""
    rivals = [*world.configs, *(p.key for p in world.providers.values() if p.stream_id is not None)]
    rival = next((name for kind, name in rivals if kind == info.type == CPU_TYPE and name != info.name), None)
    if rival is not None:
        log.warning("provider %s %s refused: '%s' has the CPUs of this host", info.type, info.name, rival)
        return None
    if info.HasField("id"):
        known = world.providers.get(info.id.value)
        if known is None or known.record.gone or known.key != (info.type, info.name):
            why = "unknown" if known is None else "gone" if known.record.gone else "of another type or name"
            log.warning("provider %s (%s %s) refused: the id is %s", info.id.value, info.type, info.name, why)
            return None
        return known
    for other in world.providers.values():
        if other.key == (info.type, info.name) and not other.record.gone:
            if other.stream_id is not None:
                log.warning("a second provider %s %s refused: %s is connected", info.type, info.name, other.id)
                return None
            return other
    return Provider(ProviderRecord(world.new_id(), info))


def stream_closed(world: World, stream_id: str, now: float) -> None:
    provider = world.provider_of_stream(stream_id)
    if provider is not None:
        log.info("provider %s disconnected", provider.id)
        _disconnected(world, provider)


def _disconnected(world: World, provider: Provider) -> None:
    """Its resources are offered no more; its tasks run on."""
    provider.stream_id = None
    provider.ready = False
    provider.total = []
    tasks.provider_lost(world, provider)
    compaction.provider_lost(world, provider)
    offers.rescind_all(world, provider.id, f"provider {provider.id} is away")
    world.allocate_now = True


# Its calls


def call(world: World, message: Call, stream_id: str | None, now: float) -> None:
    """Everything but SUBSCRIBE. Raises BadRequest with Mesos's words, in Mesos's order."""
    _validate(message)
    provider = world.providers.get(message.resource_provider_id.value)
    if provider is None or provider.stream_id is None:
        raise BadRequest("Resource provider is not subscribed")
    _consistent(message)
    if stream_id is None:
        raise BadRequest("All non-subscribe calls should include to 'Mesos-Stream-Id' header")
    if stream_id != provider.stream_id:
        raise BadRequest(
            f"The stream ID '{stream_id}' included in this request didn't match the stream ID currently associated "
            f"with  resource provider ID {provider.id}"
        )
    if message.type == Call.UNKNOWN:
        raise NotImplemented_("501 Not Implemented.")
    if message.type == Call.UPDATE_STATE:
        _update_state(world, provider, message.update_state, now)
    elif message.type == Call.UPDATE_OPERATION_STATUS:
        operations.provider_status(world, provider, message.update_operation_status, now)
        tasks.sets_changed(world, provider)
    elif message.type == Call.UPDATE_PUBLISH_RESOURCES_STATUS:
        published = message.update_publish_resources_status
        ok = published.status == Call.UpdatePublishResourcesStatus.OK
        tasks.publish_answered(world, provider, published.uuid.value, ok, now)
    elif message.type == Call.UPDATE_COMPACTION:
        compaction.answered(world, provider, message.update_compaction)


def _validate(message: Call) -> None:
    prefix = "Failed to validate resource_provider::Call: "
    if not message.HasField("type"):
        raise BadRequest(f"{prefix}Expecting 'type' to be present")
    if message.type == Call.UNKNOWN:
        return
    if not message.HasField("resource_provider_id"):
        raise BadRequest(f"{prefix}Expecting 'resource_provider_id' to be present")
    if message.type == Call.UPDATE_STATE and not message.HasField("update_state"):
        raise BadRequest(f"{prefix}Expecting 'update_state' to be present")
    if message.type == Call.UPDATE_OPERATION_STATUS and not message.HasField("update_operation_status"):
        raise BadRequest(f"{prefix}Expecting 'update_operation_status' to be present")
    if message.type == Call.UPDATE_PUBLISH_RESOURCES_STATUS and not message.HasField("update_publish_resources_status"):
        raise BadRequest(f"{prefix}Expecting 'update_publish_resources_status' to be present.")
    if message.type == Call.UPDATE_COMPACTION and not message.HasField("update_compaction"):
        raise BadRequest(f"{prefix}Expecting 'update_compaction' to be present")


def _consistent(message: Call) -> None:
    provider_id = message.resource_provider_id.value
    if any(r.provider_id.value != provider_id for r in message.update_state.resources):
        raise BadRequest("Inconsistent call: Inconsistent resource provider ID in 'update_state'")
    status = message.update_operation_status.status
    if message.type == Call.UPDATE_OPERATION_STATUS and status.resource_provider_id.value != provider_id:
        raise BadRequest("Inconsistent call: Inconsistent resource provider ID in 'update_operation_status'")


def _update_state(world: World, provider: Provider, state: Call.UpdateState, now: float) -> None:
    """The provider's word on everything of its own: totals, operations, sets."""
    given = [r for r in state.resources if r.type != mesos_pb2.Value.SCALAR or not _nothing(r.scalar.value)]
    for resource in given:
        try:
            rs.validate(resource)
        except rs.ResourceError as error:
            raise BadRequest(f"Failed to validate resource_provider::Call: {error}") from None
        problem = formats.problem(resource)
        if problem:
            problem = f"Resource '{rs.describe(resource)}' is invalid: {problem}"
            raise BadRequest(f"Failed to validate resource_provider::Call: {problem}")
    total = rs.normalize(rs.unallocate(formats.in_new(given)))
    own_before = world.own_total()
    gone = rs.subtract(provider.total, total)
    same = provider.ready and not gone and rs.contains(provider.total, total)
    provider.total = total
    provider.version = state.resource_version_uuid.value
    provider.ready = provider.reported = True
    _note_report(provider, state)
    if not same:
        log.info("provider %s has %s", provider.id, rs.describe_all(total))
        kinds = {rs.kind(r) for r in gone}
        _rescind(world, provider, lambda r: rs.kind(r) in kinds, "there is less of it now")
    _rescind(world, provider, lambda r: ledger.revoked(world, r), "its set was revoked")
    if world.own_total() != own_before:
        offers.rescind_all(world, None, f"the floor of provider {provider.id} changed")
    operations.merge_state(world, provider, list(state.operations), now)
    tasks.provider_ready(world, provider)
    tasks.sets_changed(world, provider)
    world.allocate_now = True


def _rescind(world: World, provider: Provider, which: Callable[[mesos_pb2.Resource], bool], reason: str) -> None:
    """Take back the offers that hold such a resource of a provider, and no others."""
    for offer_id, offer in list(world.offers.items()):
        found = [r for r in offer.resources if rs.provider_of(r) == provider.id and which(r)]
        if found:
            what = rs.describe_all(found)
            log.info("offer %s rescinded from framework %s: %s: %s", offer_id, offer.framework_id, what, reason)
            offers.rescind(world, offer_id)


def _nothing(value: float) -> bool:
    """Zero and negative quantities are left out of reports, as Mesos does; nonsense is an error."""
    return math.isfinite(value) and value < 0.0005


def _note_report(provider: Provider, state: Call.UpdateState) -> None:
    if state.HasField("cpu_report"):
        provider.report = state.cpu_report
        for cpuset in state.cpu_report.cpusets:
            known = provider.sets.get(cpuset.id)
            revoked = cpuset.state == pinfold_pb2.Cpuset.REVOKED
            provider.sets[cpuset.id] = SetInfo(
                cpuset.role or None,
                cpuset.framework_id or None,
                cpuset.lifetime or None,
                known.retry_destroy if known is not None else 0.0,
                (cpuset.reason or "its room was taken back") if revoked else "",
            )
    there = {i for i in (rs.set_id(r) for r in provider.total) if i is not None}
    reported = {c.id for c in provider.report.cpusets} if provider.report is not None else set()
    for set_id in set(provider.sets) - there - reported:
        del provider.sets[set_id]


# Configs


def _check_info(info: Info, what: str) -> None:
    if info.HasField("id"):
        raise BadRequest(f"Failed to validate agent::Call: Expecting '{what}.info.id' to be unset")
    problem = None
    if info.type != CPU_TYPE:
        problem = f"Unknown local resource provider type '{info.type}'"
    elif not _NAME.fullmatch(info.name) or len(info.name) > 128:
        problem = f"Resource provider name '{info.name}' does not follow Java package naming convention"
    if problem:
        raise BadRequest(
            f"Failed to validate resource provider config with type '{info.type}' and name '{info.name}': {problem}"
        )


def config_to_add(world: World, info: Info) -> bool:
    """False where just this one is there already. Raises 400 or 409."""
    _check_info(info, "add_resource_provider_config")
    known = world.configs.get((info.type, info.name))
    if known is None:
        return True
    if known.info != info:
        raise Conflict(f"Resource provider with type '{info.type}' and name '{info.name}' already exists")
    return False


def config_to_update(world: World, info: Info) -> bool:
    _check_info(info, "update_resource_provider_config")
    known = world.configs.get((info.type, info.name))
    if known is None:
        raise Conflict(f"Resource provider with type '{info.type}' and name '{info.name}' does not exist")
    return known.info != info


def add_config(world: World, info: Info, floor_cpus: int, now: float) -> None:
    """Keep a checked config. Raises 409 where another provider has the CPUs, or where the plain tasks that run do not
    fit beside it."""
    if config_to_add(world, info):
        has_the_host(world, info)
        _keep(world, info, floor_cpus)
        # Who was removed under this name and is added again comes back with its sets, under its id.
        gone = [p for p in world.providers.values() if p.key == (info.type, info.name) and p.record.gone]
        for provider in gone[-1:]:
            provider.record = replace(provider.record, gone=False)
            world.effects.append(SaveProvider(provider.record))


def update_config(world: World, info: Info, floor_cpus: int, now: float) -> None:
    if config_to_update(world, info):
        _keep(world, info, floor_cpus)


def has_the_host(world: World, info: Info) -> None:
    """Raises 409 where another provider does. The process of a second one would find the cgroups locked and never
    become ready; or, where there are none, offer the same CPUs again."""
    this = f"Failed to add resource provider config with type '{info.type}' and name '{info.name}'"
    for _, name in world.configs:
        raise Conflict(
            f"{this}: '{name}' has the CPUs of this host, and an agent has one CPU provider; update that one, or "
            "remove it first"
        )
    for provider in world.providers.values():
        if provider.stream_id is not None:
            raise Conflict(
                f"{this}: provider {provider.id}, named '{provider.key[1]}', is connected without a config, as it was "
                "started by hand; end it first"
            )


def _keep(world: World, info: Info, floor_cpus: int) -> None:
    key = (info.type, info.name)
    others = {k: c.floor_cpus for k, c in world.configs.items() if k != key}
    most = sum(others.values()) + floor_cpus
    used = rs.sum_of([r for r in world.used() if not r.HasField("provider_id")], "cpus")
    if rs.millis(used) > most * 1000:
        raise Conflict(
            f"Failed to keep resource provider config with type '{info.type}' and name '{info.name}': running tasks "
            f"use {used:g} plain CPUs, and the floors would leave them {most} (this one: {floor_cpus})"
        )
    copy = Info()
    copy.CopyFrom(info)
    world.configs[key] = ConfigRecord(copy, floor_cpus)
    world.effects.append(SaveConfig(world.configs[key]))
    for provider in world.providers.values():
        if provider.key == key and provider.report is not None:
            provider.report.ClearField("floor_cpus")  # of the former config
    offers.rescind_all(world, None, f"config {info.type} {info.name} changes what plain tasks may use")
    world.allocate_now = True


def remove_config(world: World, type_: str, name: str, now: float) -> None:
    """Forget it, and end its provider for good. Unknown ones are none of our business: done."""
    if world.configs.pop((type_, name), None) is None:
        return
    world.effects.append(RemoveConfig(type_, name))
    for provider in [p for p in world.providers.values() if p.key == (type_, name)]:
        _gone(world, provider)
    offers.rescind_all(world, None, f"config {type_} {name} was removed")
    world.allocate_now = True


def mark_gone(world: World, provider_id: str, now: float) -> None:
    """MARK_RESOURCE_PROVIDER_GONE; refused while it has resources (500: Mesos's answer)."""
    provider = world.providers.get(provider_id)
    if provider is None or provider.record.gone:
        return
    if provider.total:
        raise ApiError(
            500,
            f"Could not mark resource provider '{provider_id}' as gone: Resource provider has resources",
        )
    _gone(world, provider)


def _gone(world: World, provider: Provider) -> None:
    if provider.record.gone:
        return
    log.info("provider %s is removed by the operator", provider.id)
    world.to_provider(provider, Event(type=Event.TEARDOWN))
    if provider.stream_id is not None:
        world.effects.append(CloseProvider(provider.stream_id))
    _disconnected(world, provider)
    operations.provider_gone(world, provider)
    provider.record = replace(provider.record, gone=True)
    provider.report = None
    provider.sets = {}
    world.effects.append(SaveProvider(provider.record))


# Sets that nobody needs


def tick(world: World, now: float) -> None:
    """Destroy sets in which no task runs any more: those whose framework is gone for good, where their lifetime says
    so, and those that were revoked, whose tasks are ended first."""
    for provider in world.providers.values():
        if not provider.ready:
            continue
        for set_id, info in list(provider.sets.items()):
            if not (info.revoked or _orphaned(world, info, now)):
                continue
            users = world.tasks_in_set(provider.id, set_id)
            if info.revoked:
                for task in users:
                    tasks.preempt(world, task, f"set {set_id} is revoked: {info.revoked}", now)
            if now < info.retry_destroy or users or operations.pending_on_set(world, provider.id, set_id):
                continue
            info.retry_destroy = now + RETRY_DESTROY
            why = "it is revoked" if info.revoked else f"its framework {info.framework_id} is gone"
            log.info("set %s: %s; destroying it", set_id, why)
            _destroy(world, provider, set_id, now)


def _orphaned(world: World, info: SetInfo, now: float) -> bool:
    if info.lifetime != "framework" or not info.framework_id or info.framework_id in world.frameworks:
        return False
    # One that we never saw may still come back to an agent that lost its memory.
    return info.framework_id in world.removed or now >= world.start_time + world.options.recovery_timeout


def _destroy(world: World, provider: Provider, set_id: str, now: float) -> None:
    whole = [r for r in provider.total if rs.set_id(r) == set_id]
    if not whole:
        return
    for offer_id, offer in list(world.offers.items()):
        if any(rs.set_id(r) == set_id and rs.provider_of(r) == provider.id for r in offer.resources):
            offers.rescind(world, offer_id)
    info = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.DESTROY_CPUSET)
    info.destroy_cpuset.source.extend(whole)
    operations.apply(world, provider, None, info, "", now)


def destroy_set(world: World, set_id: str, now: float) -> None:
    """The operator's DESTROY_CPUSET. Raises NotFound, Conflict (in use) or Unavailable."""
    for provider in world.providers.values():
        if set_id not in provider.sets and all(rs.set_id(r) != set_id for r in provider.total):
            continue
        if not provider.ready:
            raise Unavailable(f"Resource provider {provider.id} of set '{set_id}' is not subscribed")
        users = sorted(f"'{t.key[1]}' of framework {t.key[0]}" for t in world.tasks_in_set(provider.id, set_id))
        if users:
            raise Conflict(f"Set '{set_id}' is in use by task {', '.join(users)}")
        if operations.pending_on_set(world, provider.id, set_id):
            raise Conflict(f"Another operation on set '{set_id}' is under way")
        log.info("set %s: the operator destroys it", set_id)
        _destroy(world, provider, set_id, now)
        return
    raise NotFound(f"No set with id '{set_id}'")
