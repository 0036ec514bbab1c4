"""The calls that the provider makes to its agent.

Decides how each is laid out (`resource_provider_pb2.Call`). What is told, and when, is decided by the caller; nothing
is sent here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from agent_api.wire import mesos_pb2, pinfold_pb2, resource_provider_pb2
from provider.operations import Record

__all__ = ["operation_status", "publish_status", "subscribe", "to_provider", "update_state"]

Call = resource_provider_pb2.Call


def to_provider(kind: Call.Type, provider_id: str | None) -> Call:
    """An empty call of the provider with this id."""
    call = Call(type=kind)
    call.resource_provider_id.value = provider_id or ""
    return call


def subscribe(info: mesos_pb2.ResourceProviderInfo, provider_id: str | None) -> Call:
    """SUBSCRIBE; without an id the agent gives one."""
    call = Call(type=Call.SUBSCRIBE)
    call.subscribe.resource_provider_info.CopyFrom(info)
    call.subscribe.resource_provider_info.ClearField("id")
    if provider_id is not None:
        call.subscribe.resource_provider_info.id.value = provider_id
    return call


def operation_status(provider_id: str | None, record: Record) -> Call:
    """UPDATE_OPERATION_STATUS of an ended operation."""
    call = to_provider(Call.UPDATE_OPERATION_STATUS, provider_id)
    update = call.update_operation_status
    if record.framework_id is not None:
        update.framework_id.value = record.framework_id
    update.status.CopyFrom(record.status)
    update.latest_status.CopyFrom(record.status)
    update.operation_uuid.value = record.uuid
    return call


def publish_status(provider_id: str | None, uuid: mesos_pb2.UUID, problems: Collection[str]) -> Call:
    """UPDATE_PUBLISH_RESOURCES_STATUS: OK where there are no problems."""
    call = to_provider(Call.UPDATE_PUBLISH_RESOURCES_STATUS, provider_id)
    answer = call.update_publish_resources_status
    answer.uuid.CopyFrom(uuid)
    answer.status = answer.FAILED if problems else answer.OK
    return call


def update_state(
    provider_id: str | None,
    version: bytes,
    resources: Iterable[mesos_pb2.Resource],
    pending: Iterable[Record],
    cpu_report: pinfold_pb2.CpuReport | None,
) -> Call:
    """UPDATE_STATE. `pending` are the operations that are not acknowledged; without `cpu_report` it is left out."""
    call = to_provider(Call.UPDATE_STATE, provider_id)
    update = call.update_state
    update.resources.extend(resources)
    for record in pending:
        entry = update.operations.add()
        if record.framework_id is not None:
            entry.framework_id.value = record.framework_id
        entry.info.CopyFrom(record.info)
        entry.latest_status.CopyFrom(record.status)
        entry.statuses.add().CopyFrom(record.status)
        entry.uuid.value = record.uuid
    update.resource_version_uuid.value = version
    if cpu_report is not None:
        update.cpu_report.CopyFrom(cpu_report)
    return call
