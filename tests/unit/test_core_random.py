"""Random walks: whatever comes in whatever order, nothing is promised twice and every operation ends once."""

from __future__ import annotations

import random
from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, destroy, launch, with_role

from agent_api.core import resources as rs
from agent_api.wire import mesos_pb2, resource_provider_pb2

Event = resource_provider_pb2.Event
CPUS = 16


class Walk:
    """A provider with a memory of its own, two frameworks, an agent that is restarted now and then."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.host = Host()
        self.host.config()
        self.provider = ProviderClient(self.host)
        self.provider.update_state()
        self.frameworks = [FrameworkClient(self.host, role=r, failover_timeout=10**6) for r in "ab"]
        self.sets: dict[str, tuple[str, int]] = {}  # id → zone, cpus
        self.inbox: list[Any] = []
        self.done: dict[bytes, tuple[Any, str, list[Any]]] = {}  # uuid → apply, state, converted
        self.asked: set[str] = set()
        self.ended: dict[str, set[int]] = {}
        self.count = 0
        self.lost = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # What the provider keeps

    def total(self) -> list[mesos_pb2.Resource]:
        free = {"numa/0": 8, "numa/1": 8}
        for zone, cpus in self.sets.values():
            free[zone] -= cpus
        assert min(free.values()) >= 0
        raw = [self.provider.raw(zone, cpus) for zone, cpus in free.items()]
        return raw + [self.provider.cpu_set(i, zone, cpus) for i, (zone, cpus) in self.sets.items()]

    def report(self) -> None:
        self.provider.total = self.total()
        listed = []
        for applied, state, converted in self.done.values():
            if state == "OPERATION_DROPPED":
                continue  # never seen: nothing is known of it but the uuid
            item = mesos_pb2.Operation(info=applied.info, uuid=applied.operation_uuid)
            item.framework_id.CopyFrom(applied.framework_id)
            item.latest_status.state = mesos_pb2.OperationState.Value(state)
            item.latest_status.converted_resources.extend(converted)
            listed.append(item)
        for applied in self.inbox:
            item = mesos_pb2.Operation(info=applied.info, uuid=applied.operation_uuid)
            item.framework_id.CopyFrom(applied.framework_id)
            item.latest_status.state = mesos_pb2.OPERATION_PENDING
            listed.append(item)
        self.provider.update_state(listed)

    def collect(self) -> None:
        self.inbox += self.provider.applied()
        for event in self.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS):
            self.done.pop(event.acknowledge_operation_status.operation_uuid.value, None)
        known = {a.operation_uuid.value for a in self.inbox} | set(self.done)
        for event in self.provider.take(Event.RECONCILE_OPERATIONS):
            for uuid in event.reconcile_operations.operation_uuids:
                if uuid.value not in known:
                    self.done[uuid.value] = (self.forgotten(uuid), "OPERATION_DROPPED", [])
                    self.tell()

    def forgotten(self, uuid: mesos_pb2.UUID) -> Any:
        applied = resource_provider_pb2.Event.ApplyOperation()
        applied.operation_uuid.CopyFrom(uuid)
        return applied

    def decide(self) -> None:
        """The provider finishes one operation or lets it fail, and maybe says so."""
        if not self.inbox:
            return
        applied = self.inbox.pop(0)
        info = applied.info
        converted: list[Any] = []
        state = "OPERATION_FAILED"
        if self.random.random() < 0.75:
            state = "OPERATION_FINISHED"
            if info.type == mesos_pb2.Offer.Operation.CREATE_CPUSET:
                (source,) = info.create_cpuset.source
                set_id = self.name("s")
                self.sets[set_id] = (source.cpu.source.zone, int(source.scalar.value))
                converted = [self.provider.cpu_set(set_id, *self.sets[set_id])]
            else:
                (source,) = info.destroy_cpuset.source
                zone, cpus = self.sets.pop(source.cpu.source.id)
                converted = [self.provider.raw(zone, cpus)]
        self.done[applied.operation_uuid.value] = (applied, state, converted)
        if self.random.random() < 0.8:
            self.tell()

    def tell(self) -> None:
        """What is not acknowledged is sent (again)."""
        for applied, state, converted in list(self.done.values()):
            seed = int.from_bytes(applied.operation_uuid.value[:4], "big")
            self.provider.status(applied, state, converted, status_uuid=seed)

    # What may happen

    def step(self) -> None:
        framework = self.random.choice(self.frameworks)
        match self.random.choice(
            ["create", "destroy", "launch", "end", "decide", "tell", "ack", "provider", "lose", "agent", "time"]
        ):
            case "create":
                zone, cpus = self.random.choice(["numa/0", "numa/1"]), self.random.randint(1, 6)
                self.ask(framework, create([with_role(self.provider.raw(zone, cpus), framework.role)], self.name("c")))
            case "destroy":
                for set_id, (zone, cpus) in list(self.sets.items())[:1]:
                    part = with_role(self.provider.cpu_set(set_id, zone, cpus), framework.role)
                    self.ask(framework, destroy([part], self.name("d")))
            case "launch":
                for set_id, (zone, cpus) in list(self.sets.items())[-1:]:
                    part = with_role(self.provider.cpu_set(set_id, zone, min(cpus, 1)), framework.role)
                    self.ask(framework, launch(self.host, self.name("t"), [part]))
            case "end":
                for task in list(self.host.master.world.live_tasks())[:1]:
                    self.host.end(task.key[1], task.key[0])
            case "decide":
                self.decide()
            case "tell":
                self.tell()
            case "ack":
                self.acknowledge()
            case "provider":
                self.provider.close()
                self.provider.subscribe()
                self.report()
            case "lose" if self.inbox:
                self.inbox.pop()  # APPLY_OPERATION was lost with the connection
                self.lost += 1
                self.provider.close()
                self.provider.subscribe()
                self.report()
            case "agent":
                self.restart()
            case "time":
                self.host.turn(self.random.choice([0.25, 1, 6, 60]))
        self.collect()
        self.provider.published()
        self.collect()

    def ask(self, framework: FrameworkClient, operation: Any) -> None:
        self.listen()
        for other in self.frameworks:
            ids = [{"value": i} for i in other.outstanding()]
            other.call({"type": "DECLINE", "decline": {"offer_ids": ids, "filters": {"refuse_seconds": 0}}})
            if other is not framework:
                other.call({"type": "SUPPRESS"})
        framework.call({"type": "REVIVE"})
        self.host.turn(1)
        ids = framework.outstanding()
        for other in self.frameworks:
            other.call({"type": "REVIVE"})
        if operation.HasField("id"):
            self.asked.add(operation.id.value)
        framework.accept(ids[0] if ids else "none", operation)
        framework.offers()

    def listen(self) -> list[tuple[FrameworkClient, mesos_pb2.OperationStatus]]:
        heard = []
        for framework in self.frameworks:
            for status in framework.operation_statuses():
                self.ended.setdefault(status.operation_id.value, set()).add(status.state)
                heard.append((framework, status))
        return heard

    def acknowledge(self) -> None:
        for framework, status in self.listen():
            if status.HasField("uuid"):
                framework.acknowledge_operation(status)

    def restart(self) -> None:
        self.listen()
        self.host = Host(self.host.now + 1, stored=self.host)
        self.provider.host = self.host
        for framework in self.frameworks:
            framework.host = self.host
            framework.subscribe()
        self.provider.subscribe()
        self.report()

    # What must hold

    def check(self) -> None:
        world = self.host.master.world
        for provider in world.providers.values():
            if provider.ready:
                assert sum(r.scalar.value for r in provider.total) == CPUS
                assert all(r.scalar.value > 0 for r in provider.total)
        taken = [*world.used(), *world.offered(), *world.held()]
        assert rs.contains(world.total(), taken), (
            rs.describe_all(world.total()),
            rs.describe_all(rs.normalize(taken)),
        )

    def finish(self) -> None:
        """Everything under way comes to its end, and everything can be given back."""
        for _ in range(12):
            while self.inbox:
                self.decide()
                self.collect()
            self.tell()
            self.collect()
            self.acknowledge()
            self.collect()
            for task in list(self.host.master.world.live_tasks()):
                self.host.end(task.key[1], task.key[0])
            for framework in self.frameworks:
                for status in framework.statuses():
                    if status.uuid:
                        framework.acknowledge(status)
            self.host.turn(601)
        self.listen()


@pytest.mark.parametrize("seed", range(40))
def test_walk(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(60):
        walk.step()
        walk.check()
    walk.finish()
    world = walk.host.master.world
    assert not world.operations and not world.tasks
    assert not [key for key in walk.host.stored if key[0] == "task"]
    assert rs.contains(world.total(), walk.total())
    # The agent keeps no operations: one that was lost on the way and then forgotten in a restart is unknown to all.
    for operation_id in walk.asked - set(walk.ended):
        for framework in walk.frameworks:
            items = [{"operation_id": {"value": operation_id}}]
            framework.call({"type": "RECONCILE_OPERATIONS", "reconcile_operations": {"operations": items}})
        assert walk.lost
        assert {s.state for _, s in walk.listen()} == {mesos_pb2.OPERATION_UNKNOWN}
        del walk.ended[operation_id]
    terminal = {
        mesos_pb2.OPERATION_FINISHED,
        mesos_pb2.OPERATION_FAILED,
        mesos_pb2.OPERATION_ERROR,
        mesos_pb2.OPERATION_DROPPED,
    }
    assert all(len(states & terminal) == 1 for states in walk.ended.values()), walk.ended
