"""A framework and a provider for tests of the core: they talk to a real Master, ids are counted, time is a number."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from agent_api.core import effects as fx
from agent_api.core import resources as rs
from agent_api.core.master import Master, Options
from agent_api.core.records import State
from agent_api.wire import mesos_pb2, pinfold_pb2, resource_provider_pb2, scheduler_pb2
from agent_api.wire.codec import from_dict

Source = mesos_pb2.Resource.CpuInfo.Source
RP = "org.pinfold.rp.cpu"


def counter(prefix: str = "id") -> Any:
    count = 0

    def new_id() -> str:
        nonlocal count
        count += 1
        return f"{prefix}{count}"

    return new_id


def options(**changes: Any) -> Options:
    values: dict[str, Any] = {
        "hostname": "localhost",
        "ip": "127.0.0.1",
        "port": 5051,
        "master_port": 5050,
        "version": "0.1.0",
        "resources": rs.parse("cpus:8;mem:4096;ports:[31000-32000]"),
        "online_cpus": 16,
    }
    return Options(**(values | changes))


class Host:
    """The agent's shell, as far as the core can tell: it stores, and hands events out to streams."""

    def __init__(self, now: float = 1000.0, stored: Host | None = None, **changes: Any) -> None:
        self.now = now
        self.stored: dict[tuple[str, ...], Any] = dict(stored.stored) if stored is not None else {}
        generation = stored.generation + 1 if stored is not None else 0
        self.generation = generation
        self.sent: dict[str, list[Any]] = {}
        self.closed: list[str] = []
        self.operators: list[Any] = []
        self.launched: list[fx.LaunchTask] = []
        self.killed: list[fx.KillTask] = []
        self.streams = 0
        self.master = Master(options(**changes), self.state(), counter(f"g{generation}-"), now)
        self.turn()

    def state(self) -> State:
        def of(kind: str) -> tuple[Any, ...]:
            return tuple(record for key, record in self.stored.items() if key[0] == kind)

        agent = self.stored.get(("agent",))
        kinds = ("config", "provider", "framework", "task", "weight", "quota")
        return State(agent, *(of(kind) for kind in kinds))

    def turn(self, seconds: float = 0.0) -> None:
        """Let time pass, then tick and carry out what is to be done."""
        self.now += seconds
        self.master.tick(self.now)
        for effect in self.master.drain():
            self.perform(effect)

    def perform(self, effect: fx.Effect) -> None:
        match effect:
            case fx.SaveAgent(record):
                self.stored[("agent",)] = record
            case fx.SaveConfig(record):
                self.stored[("config", record.info.type, record.info.name)] = record
            case fx.RemoveConfig(kind, name):
                self.stored.pop(("config", kind, name))
            case fx.SaveProvider(record):
                self.stored[("provider", record.provider_id)] = record
            case fx.SaveFramework(record):
                self.stored[("framework", record.framework_id)] = record
            case fx.RemoveFramework(framework_id):
                self.stored.pop(("framework", framework_id))
            case fx.SaveTask(record):
                self.stored[("task", record.framework_id, record.task.task_id.value)] = record
            case fx.RemoveTask(framework_id, task_id):
                self.stored.pop(("task", framework_id, task_id))
            case fx.SaveWeight(record):
                self.stored[("weight", record.role)] = record
            case fx.SaveQuota(record):
                self.stored[("quota", record.config.role)] = record
            case fx.RemoveQuota(role):
                self.stored.pop(("quota", role))
            case fx.ToFramework(stream, event) | fx.ToProvider(stream, event):
                assert event.IsInitialized()
                if stream not in self.closed:
                    self.sent.setdefault(stream, []).append(event)
            case fx.CloseFramework(stream) | fx.CloseProvider(stream):
                self.closed.append(stream)
            case fx.ToOperators(event):
                assert event.IsInitialized()
                self.operators.append(event)
            case fx.LaunchTask():
                self.launched.append(effect)
            case fx.KillTask():
                self.killed.append(effect)

    def new_stream(self) -> str:
        self.streams += 1
        return f"stream-{self.generation}-{self.streams}"

    def run(self, launch: fx.LaunchTask | None = None, pid: int = 77) -> None:
        """The launcher says that a task runs."""
        launch = launch or self.launched[-1]
        self.master.task_started(launch.framework_id, launch.task.task_id.value, pid, 5, "boot", self.now)
        self.turn()

    def end(self, task_id: str, framework_id: str, code: int | None = 0, signal: int | None = None) -> None:
        self.master.task_exited(framework_id, task_id, code, signal, False, "", self.now)
        self.turn()

    def config(self, floor: int = 2, name: str = "host") -> None:
        info = mesos_pb2.ResourceProviderInfo(type=RP, name=name)
        assert self.master.config_to_add(info)
        self.master.add_config(info, floor, self.now)
        self.turn()


class Client:
    """What both ends of a stream share."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.stream = ""

    @property
    def events(self) -> list[Any]:
        return self.host.sent.get(self.stream, [])

    def take(self, kind: Any) -> list[Any]:
        """The events of a kind, taken off."""
        found = [e for e in self.events if e.type == kind]
        self.host.sent[self.stream] = [e for e in self.events if e.type != kind]
        return found


class FrameworkClient(Client):
    def __init__(
        self, host: Host, role: str = "test", capabilities: Iterable[str] = (), lacks: Iterable[str] = (), **info: Any
    ) -> None:
        """`capabilities` beside those that most frameworks have, of which it `lacks` some."""
        super().__init__(host)
        names = {"MULTI_ROLE", "RESERVATION_REFINEMENT", "PARTITION_AWARE", *capabilities} - set(lacks)
        values: dict[str, Any] = {"user": "root", "name": "fw", "capabilities": [{"type": n} for n in sorted(names)]}
        values |= {"roles": [role]} if "MULTI_ROLE" in names else {"role": role}
        self.info = from_dict(mesos_pb2.FrameworkInfo, values | info)
        self.role = role
        self.subscribe()

    def subscribe(self) -> None:
        self.stream = self.host.new_stream()
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
        call.subscribe.framework_info.CopyFrom(self.info)
        if self.info.HasField("id"):
            call.framework_id.CopyFrom(self.info.id)
        self.host.master.subscribe(call, self.stream, None, self.host.now)
        self.host.turn()
        for event in self.events:
            if event.type == scheduler_pb2.Event.SUBSCRIBED:
                self.info.id.CopyFrom(event.subscribed.framework_id)

    @property
    def id(self) -> str:
        return self.info.id.value

    def call(self, values: dict[str, Any], stream: str | None = None) -> int:
        call = from_dict(scheduler_pb2.Call, {"framework_id": {"value": self.id}} | values)
        try:
            return self.host.master.scheduler_call(call, stream or self.stream, self.host.now)
        finally:
            self.host.turn()

    def close(self) -> None:
        self.host.closed.append(self.stream)
        self.host.master.framework_stream_closed(self.stream, self.host.now)
        self.host.turn()

    def offers(self) -> list[mesos_pb2.Offer]:
        return [o for e in self.take(scheduler_pb2.Event.OFFERS) for o in e.offers.offers]

    def offer(self) -> mesos_pb2.Offer:
        """Everything in one: what is outstanding is declined first. Waits for up to seven seconds."""
        found = self.offers()
        if len(found) == 1 and len(self.outstanding()) == 1:
            return found[0]
        ids = [{"value": i} for i in self.outstanding()]
        self.call({"type": "DECLINE", "decline": {"offer_ids": ids, "filters": {"refuse_seconds": 0}}})
        for _ in range(30):
            found = self.offers()
            if found:
                return found[-1]
            self.host.turn(0.25)
        raise AssertionError("no offer came")

    def outstanding(self) -> list[str]:
        return [i for i, o in self.host.master.world.offers.items() if o.framework_id == self.id]

    def statuses(self) -> list[mesos_pb2.TaskStatus]:
        return [e.update.status for e in self.take(scheduler_pb2.Event.UPDATE)]

    def operation_statuses(self) -> list[mesos_pb2.OperationStatus]:
        events = self.take(scheduler_pb2.Event.UPDATE_OPERATION_STATUS)
        return [e.update_operation_status.status for e in events]

    def accept(self, offer: mesos_pb2.Offer | str, *operations: mesos_pb2.Offer.Operation, refuse: float = 0.0) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.ACCEPT)
        call.framework_id.value = self.id
        call.accept.offer_ids.add(value=offer if isinstance(offer, str) else offer.id.value)
        call.accept.operations.extend(operations)
        call.accept.filters.refuse_seconds = refuse
        assert self.host.master.scheduler_call(call, self.stream, self.host.now) == 202
        self.host.turn()

    def acknowledge(self, status: mesos_pb2.TaskStatus) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.ACKNOWLEDGE)
        call.framework_id.value = self.id
        call.acknowledge.agent_id.CopyFrom(status.agent_id)
        call.acknowledge.task_id.CopyFrom(status.task_id)
        call.acknowledge.uuid = status.uuid
        self.host.master.scheduler_call(call, self.stream, self.host.now)
        self.host.turn()

    def acknowledge_operation(self, status: mesos_pb2.OperationStatus) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.ACKNOWLEDGE_OPERATION_STATUS)
        call.framework_id.value = self.id
        part = call.acknowledge_operation_status
        part.agent_id.CopyFrom(status.agent_id)
        part.uuid = status.uuid.value
        part.operation_id.CopyFrom(status.operation_id)
        self.host.master.scheduler_call(call, self.stream, self.host.now)
        self.host.turn()


class ProviderClient(Client):
    """A provider of RAW in zones, that makes sets when told to."""

    def __init__(self, host: Host, zones: dict[str, int] | None = None, name: str = "host", type: str = RP) -> None:
        super().__init__(host)
        self.info = mesos_pb2.ResourceProviderInfo(type=type, name=name)
        self.zones = zones if zones is not None else {"numa/0": 8, "numa/1": 8}
        self.version = 0
        self.total: list[mesos_pb2.Resource] = []
        self.cpusets: list[pinfold_pb2.Cpuset] = []
        self.subscribe()

    @property
    def id(self) -> str:
        return self.info.id.value

    def subscribe(self) -> None:
        self.stream = self.host.new_stream()
        call = resource_provider_pb2.Call(type=resource_provider_pb2.Call.SUBSCRIBE)
        call.subscribe.resource_provider_info.CopyFrom(self.info)
        self.host.master.provider_subscribe(call, self.stream, self.host.now)
        self.host.turn()
        for event in self.take(resource_provider_pb2.Event.SUBSCRIBED):
            self.info.id.CopyFrom(event.subscribed.provider_id)
        if not self.total:
            self.total = [self.raw(zone, cpus) for zone, cpus in self.zones.items()]

    def raw(self, zone: str, cpus: float, role: str | None = None) -> mesos_pb2.Resource:
        return self._resource(Source(type=Source.RAW, zone=zone, pool="default"), cpus, role)

    def cpu_set(
        self, set_id: str, zone: str, cpus: float, role: str | None = None, shared: bool = False
    ) -> mesos_pb2.Resource:
        kind = Source.SHARED if shared else Source.EXCLUSIVE
        source = Source(type=kind, id=set_id, profile="latency", zone=zone, pool="default")
        source.metadata.labels.add(key="cpus", value=f"of-{set_id}")
        return self._resource(source, cpus, role)

    def _resource(self, source: Source, cpus: float, role: str | None) -> mesos_pb2.Resource:
        resource = rs.scalar("cpus", cpus)
        resource.provider_id.value = self.id
        resource.cpu.source.CopyFrom(source)
        if role is not None:
            resource.reservations.add(type=mesos_pb2.Resource.ReservationInfo.DYNAMIC, role=role)
        return resource

    def call(self, call: resource_provider_pb2.Call, stream: str | None = None) -> None:
        call.resource_provider_id.CopyFrom(self.info.id)
        try:
            self.host.master.provider_call(call, stream or self.stream, self.host.now)
        finally:
            self.host.turn()

    def update_state(self, operations: Iterable[mesos_pb2.Operation] = (), floor: int | None = None) -> None:
        self.version += 1
        call = resource_provider_pb2.Call(type=resource_provider_pb2.Call.UPDATE_STATE)
        call.update_state.resources.extend(self.total)
        call.update_state.operations.extend(operations)
        call.update_state.resource_version_uuid.value = uuid.UUID(int=self.version).bytes
        call.update_state.cpu_report.cpusets.extend(self.cpusets)
        if floor is not None:
            call.update_state.cpu_report.floor_cpus = floor
        self.call(call)

    def close(self) -> None:
        self.host.closed.append(self.stream)
        self.host.master.provider_stream_closed(self.stream, self.host.now)
        self.host.turn()

    def applied(self) -> list[Any]:
        return [e.apply_operation for e in self.take(resource_provider_pb2.Event.APPLY_OPERATION)]

    def status(
        self,
        applied: Any,
        state: str = "OPERATION_FINISHED",
        converted: Iterable[mesos_pb2.Resource] = (),
        message: str = "",
        status_uuid: int = 1,
    ) -> None:
        """Send UPDATE_OPERATION_STATUS for an APPLY_OPERATION."""
        call = resource_provider_pb2.Call(type=resource_provider_pb2.Call.UPDATE_OPERATION_STATUS)
        update = call.update_operation_status
        if applied.HasField("framework_id"):
            update.framework_id.CopyFrom(applied.framework_id)
        update.operation_uuid.CopyFrom(applied.operation_uuid)
        update.status.state = mesos_pb2.OperationState.Value(state)
        update.status.uuid.value = uuid.UUID(int=1000 + status_uuid).bytes
        update.status.resource_provider_id.CopyFrom(self.info.id)
        if applied.info.HasField("id"):
            update.status.operation_id.CopyFrom(applied.info.id)
        if message:
            update.status.message = message
        update.status.converted_resources.extend(converted)
        update.latest_status.CopyFrom(update.status)
        self.call(call)

    def published(self, ok: bool = True) -> list[Any]:
        """Answer every PUBLISH_RESOURCES."""
        events = self.take(resource_provider_pb2.Event.PUBLISH_RESOURCES)
        kinds = resource_provider_pb2.Call.UpdatePublishResourcesStatus
        for event in events:
            call = resource_provider_pb2.Call(type=resource_provider_pb2.Call.UPDATE_PUBLISH_RESOURCES_STATUS)
            call.update_publish_resources_status.uuid.CopyFrom(event.publish_resources.uuid)
            call.update_publish_resources_status.status = kinds.OK if ok else kinds.FAILED
            self.call(call)
        return events


# Operations, as frameworks write them


def launch(host: Host, name: str, resources: Iterable[mesos_pb2.Resource], /, **task: Any) -> Any:
    values = {
        "name": name,
        "task_id": {"value": name},
        "agent_id": {"value": host.master.world.agent_id},
        "command": {"value": "sleep 1000"},
    }
    info = from_dict(mesos_pb2.TaskInfo, values | task)
    info.resources.extend(resources)
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.LAUNCH)
    operation.launch.task_infos.append(info)
    return operation


def create(source: Iterable[mesos_pb2.Resource], op_id: str | None = "op", profile: str = "latency") -> Any:
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.CREATE_CPUSET)
    operation.create_cpuset.source.extend(source)
    operation.create_cpuset.target_profile = profile
    if op_id is not None:
        operation.id.value = op_id
    return operation


def destroy(source: Iterable[mesos_pb2.Resource], op_id: str | None = "op") -> Any:
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.DESTROY_CPUSET)
    operation.destroy_cpuset.source.extend(source)
    if op_id is not None:
        operation.id.value = op_id
    return operation


def reserve(resources: Iterable[mesos_pb2.Resource], op_id: str | None = "op", undo: bool = False) -> Any:
    kinds = mesos_pb2.Offer.Operation
    operation = kinds(type=kinds.UNRESERVE if undo else kinds.RESERVE)
    (operation.unreserve if undo else operation.reserve).resources.extend(resources)
    if op_id is not None:
        operation.id.value = op_id
    return operation


def scalar(name: str, value: float, role: str | None = None, reserved: str | None = None) -> mesos_pb2.Resource:
    """As a framework names it: allocated to a role, maybe reserved."""
    resource = rs.scalar(name, value)
    if role is not None:
        resource.allocation_info.role = role
    if reserved is not None:
        resource.reservations.add(type=mesos_pb2.Resource.ReservationInfo.DYNAMIC, role=reserved)
    return resource


def with_role(resource: mesos_pb2.Resource, role: str) -> mesos_pb2.Resource:
    return rs.allocate([resource], role)[0]


def text(resources: Iterable[mesos_pb2.Resource]) -> str:
    return rs.describe_all(rs.unallocate(resources))
