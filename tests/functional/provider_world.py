"""A provider's manager over a real SQLite file and a cgroup file system that answers like the kernel, without an
agent: the test plays the agent. A process that dies is a manager that raised `Died` and is never used again."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from agent_api.wire import mesos_pb2, resource_provider_pb2
from profiles.mapping import parse_document
from profiles.state import Fetched
from provider import cpuset, inventory
from provider.cgroups import Enforcer
from provider.cgroups.v1 import V1Enforcer
from provider.cgroups.v2 import V2Enforcer
from provider.dialect import Dialect
from provider.layout import config_from_wire
from provider.manager import Manager
from provider.power import CpuFreq
from provider.store import Store
from provider.topology import Topology
from provider.world import World
from tests.functional.fakecgroup import FakeCgroups
from tests.unit.hosts import S8

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event
Operation = mesos_pb2.Offer.Operation

PROFILES = {
    "any": {"lifetime": "role"},
    "whole": {"core_siblings": "required"},
    "denied": {"core_siblings": "denied"},
    "batch": {"mode": "shared"},
}


class Died(BaseException):
    """The process ended here; no cleanup runs."""


class DyingFs(FakeCgroups):
    """Calls `before_change` before each changing call."""

    before_change: Callable[[], None] = staticmethod(lambda: None)

    def _change(self, path: str) -> None:
        self.before_change()
        super()._change(path)


class Provider:
    """One work directory and one host, over any number of processes."""

    def __init__(self, directory: Path, base: Topology = S8, version: int = 2, **cpu: Any) -> None:
        self.directory = directory
        self.topology = base
        self.fs = DyingFs(version, base.online, cpuset.of(node.id for node in base.nodes))
        self.version = version
        self.now = 1000.0
        self.ids = itertools.count(1)
        self.uuids = itertools.count(1)
        self.calls: list[Call] = []
        self.points = 0
        """Crash points passed so far."""
        self.die_at: int | None = None
        self.info = mesos_pb2.ResourceProviderInfo(type="org.pinfold.rp.cpu", name="host")
        self.info.cpu.SetInParent()
        for name, value in cpu.items():
            setattr(self.info.cpu, name, value)
        self.dialect: Dialect | None = None
        self.kept: list[tuple[dict[str, int], int]] = []
        """What tasks in cgroups of their own were to be kept on, each time."""
        self.boot = "first boot"
        self.store: Store | None = None
        self.manager: Manager = None  # type: ignore[assignment]

    def point(self, name: str = "") -> None:
        self.points += 1
        if self.points == self.die_at:
            raise Died(name)

    def enforcer(self) -> Enforcer:
        if self.version == 2:
            return V2Enforcer("/cg", "pinfold", self.fs)
        return V1Enforcer("/cg/cpuset", "/cg/cpu", "pinfold", self.fs)

    def start(
        self, subscribe: bool = True, profiles: dict[str, Any] | None = None, die_at: int | None = None
    ) -> Manager:
        """A new process."""
        self.die_at = die_at
        self.fs.before_change = self.point  # type: ignore[method-assign]
        self.close()
        self.store = Store(self.directory / "provider.db", self.point)
        world = World(
            store=self.store,
            enforcer=self.enforcer(),
            read_topology=lambda: self.topology,
            host_changed=lambda: cpuset.format_mask(self.topology.online),
            clock=lambda: self.now,
            new_uuid=lambda: next(self.uuids).to_bytes(16, "big"),
            new_set_id=lambda: f"set-{next(self.ids)}",
            keep_tasks=self._keep_tasks,
            cpufreq=CpuFreq(self.directory / "host", self.boot, self.point),
            checkpoint=self.point,
        )
        config = config_from_wire(self.info)
        self.manager = Manager(world, self.info, config, self.calls.append, dialect=self.dialect)
        self.manager.recover()
        if self.manager.profiles.document is None:
            self.fetch(PROFILES if profiles is None else profiles)
        if subscribe:
            self.subscribe()
        return self.manager

    def _keep_tasks(self, groups: Mapping[str, int], plain: int) -> list[str]:
        self.kept.append((dict(groups), plain))
        return []

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None

    def fetch(self, profiles: dict[str, Any]) -> None:
        data = json.dumps({"profile_matrix": {n: {"cpuset": p} for n, p in profiles.items()}}).encode()
        self.manager.profiles_fetched(Fetched(data, parse_document(data)))

    # The agent's part.

    def subscribe(self, provider_id: str = "rp") -> None:
        self.calls.clear()
        self.manager.stream_opened()
        event = Event(type=Event.SUBSCRIBED)
        event.subscribed.provider_id.value = provider_id
        self.manager.handle(event)
        (call,) = self.calls
        self.manager.taken(call)

    def taken(self, kind: Call.Type) -> list[Call]:
        """The calls of one type so far, which are then forgotten."""
        found = [call for call in self.calls if call.type == kind]
        self.calls[:] = [call for call in self.calls if call.type != kind]
        return found

    def statuses(self) -> list[tuple[bytes, mesos_pb2.OperationStatus]]:
        found = [call.update_operation_status for call in self.taken(Call.UPDATE_OPERATION_STATUS)]
        return [(update.operation_uuid.value, update.status) for update in found]

    def report(self) -> resource_provider_pb2.Call.UpdateState:
        """The newest UPDATE_STATE, after what waits was flushed."""
        self.manager.flush()
        return self.taken(Call.UPDATE_STATE)[-1].update_state

    def apply(
        self, info: Operation, uuid: bytes = b"u" * 16, version: bytes | None = None
    ) -> mesos_pb2.OperationStatus | None:
        """Send APPLY_OPERATION and return the status that it got."""
        event = Event(type=Event.APPLY_OPERATION)
        event.apply_operation.framework_id.value = "fw"
        event.apply_operation.info.CopyFrom(info)
        event.apply_operation.operation_uuid.value = uuid
        event.apply_operation.resource_version_uuid.value = self.manager.version if version is None else version
        self.statuses()
        self.manager.handle(event)
        found = [status for key, status in self.statuses() if key == uuid]
        return found[-1] if found else None

    def acknowledge(self, uuid: bytes, status: mesos_pb2.OperationStatus) -> None:
        event = Event(type=Event.ACKNOWLEDGE_OPERATION_STATUS)
        event.acknowledge_operation_status.operation_uuid.value = uuid
        event.acknowledge_operation_status.status_uuid.CopyFrom(status.uuid)
        self.manager.handle(event)

    def reconcile_operations(self, *uuids: bytes) -> list[tuple[bytes, mesos_pb2.OperationStatus]]:
        event = Event(type=Event.RECONCILE_OPERATIONS)
        for uuid in uuids:
            event.reconcile_operations.operation_uuids.add(value=uuid)
        self.statuses()
        self.manager.handle(event)
        return self.statuses()

    def publish(
        self, *resources: mesos_pb2.Resource, together: Iterable[tuple[str, ...]] = (), starting: Iterable[str] = ()
    ) -> int:
        event = Event(type=Event.PUBLISH_RESOURCES)
        for ids in together:
            event.publish_resources.together.add(set_ids=ids)
        event.publish_resources.starting.extend(starting)
        event.publish_resources.uuid.value = b"p" * 16
        event.publish_resources.resources.extend(resources)
        self.manager.handle(event)
        (call,) = self.taken(Call.UPDATE_PUBLISH_RESOURCES_STATUS)
        return call.update_publish_resources_status.status

    def resources(self, set_id: str) -> list[mesos_pb2.Resource]:
        """A set's resources as a framework gets them."""
        state = self.manager.state
        found = inventory.set_resources(self.manager.host, state, "rp", state.sets[set_id])
        for resource in found:
            resource.allocation_info.role = "r"
        return found

    # The kernel's part.

    def kernel(self) -> dict[str, str]:
        """Effective CPUs of each of our groups."""
        return {name: cpuset.format_mask(g.effective) for name, g in self.enforcer().read().groups.items() if name}

    def check(self) -> None:
        """What must be true whenever nothing is under way."""
        manager = self.manager
        figures = manager.figures()
        assert figures.raw_total + figures.sets + figures.floor + figures.reserved == (
            figures.online + figures.lost + figures.unbacked
        )
        assert not self.fs.overlaps, self.fs.overlaps
        sets = [one for one in manager.state.sets.values() if one.exclusive]
        found = {name for name in self.kernel() if name.startswith("set.")}
        assert {f"set.{one.id}" for one in sets if one.cpus & manager.host.allowed} <= found
        assert found <= {f"set.{one.id}" for one in sets}


def uuid(number: int) -> bytes:
    return number.to_bytes(16, "little")


def made(provider: Provider, info: Operation, number: int = 1) -> mesos_pb2.OperationStatus:
    status = provider.apply(info, uuid(number))
    assert status is not None
    assert status.state == mesos_pb2.OPERATION_FINISHED, status.message
    return status


def raw(amount: int, zone: str = "numa/0", role: str = "r", *reserved: str) -> mesos_pb2.Resource:
    result = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    result.scalar.value = amount
    result.provider_id.value = "rp"
    result.cpu.source.type = inventory.Source.RAW
    result.cpu.source.zone = zone
    result.cpu.source.pool = "default"
    result.allocation_info.role = role
    for name in reserved:
        result.reservations.add(type=mesos_pb2.Resource.ReservationInfo.DYNAMIC, role=name)
    return result


def create(amount: int, profile: str = "any", zone: str = "numa/0", burst: float | None = None) -> Operation:
    info = Operation(type=Operation.CREATE_CPUSET)
    info.create_cpuset.source.append(raw(amount, zone))
    info.create_cpuset.target_profile = profile
    if burst is not None:
        info.create_cpuset.burst = burst
    return info


def destroy(resources: list[mesos_pb2.Resource]) -> Operation:
    info = Operation(type=Operation.DESTROY_CPUSET)
    info.destroy_cpuset.source.extend(resources)
    return info


def resize(resources: list[mesos_pb2.Resource], add: int = 0, subtract: int = 0, zone: str = "numa/0") -> Operation:
    """`zone`: where what is added comes from."""
    info = Operation(type=Operation.RESIZE_CPUSET)
    info.resize_cpuset.cpuset.extend(resources)
    if add:
        info.resize_cpuset.add.append(raw(add, zone))
    if subtract:
        part = info.resize_cpuset.subtract.add()
        part.CopyFrom(resources[0])
        part.scalar.value = subtract
    return info


def reserve(amount: int) -> Operation:
    info = Operation(type=Operation.RESERVE)
    info.reserve.resources.append(raw(amount, "numa/0", "r", "r"))
    return info
