"""Operations: validation, holding, speculation and its undoing, statuses, reconciliation, restarts."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from core_world import (
    FrameworkClient,
    Host,
    ProviderClient,
    create,
    destroy,
    launch,
    reserve,
    scalar,
    text,
    with_role,
)

from agent_api.errors import ApiError
from agent_api.wire import agent_pb2, master_pb2, mesos_pb2, resource_provider_pb2

State = mesos_pb2.OperationState
Op = mesos_pb2.Offer.Operation
Event = resource_provider_pb2.Event


class Stage:
    """A host with a provider (8 + 8 RAW, floor 2) and a framework of role `test`."""

    def __init__(self) -> None:
        self.host = Host()
        self.host.config()
        self.provider = ProviderClient(self.host)
        self.provider.update_state()
        self.framework = FrameworkClient(self.host, failover_timeout=1000)

    def raw(self, cpus: float = 4, zone: str = "numa/0") -> mesos_pb2.Resource:
        return with_role(self.provider.raw(zone, cpus), "test")

    def make_set(self, cpus: int = 4, set_id: str = "s1") -> None:
        self.framework.accept(self.framework.offer(), create([self.raw(cpus)], f"make-{set_id}"))
        (applied,) = self.provider.applied()
        self.provider.status(applied, converted=[self.provider.cpu_set(set_id, "numa/0", cpus)])
        (status,) = self.framework.operation_statuses()
        self.framework.acknowledge_operation(status)

    def refused(self, operation: Any) -> mesos_pb2.OperationStatus:
        """The status of an operation that must be refused, before anybody is asked."""
        self.framework.accept(self.framework.offer(), operation)
        assert not self.provider.applied()
        (status,) = self.framework.operation_statuses()
        assert status.state == mesos_pb2.OPERATION_ERROR
        assert not status.HasField("uuid")
        return status

    def reconcile(self, *items: dict[str, Any]) -> list[mesos_pb2.OperationStatus]:
        values = {"type": "RECONCILE_OPERATIONS", "reconcile_operations": {"operations": list(items)}}
        self.framework.call(values)
        return self.framework.operation_statuses()

    def free(self) -> str:
        return text(self.framework.offer().resources)


OFFERED = (
    "cpus(allocated: test):2; mem(allocated: test):4096; ports(allocated: test):[31000-32000]; "
    "cpus(allocated: test)[RAW numa/0 default]:8; cpus(allocated: test)[RAW numa/1 default]:8"
)


def test_refused_before_sending() -> None:
    stage = Stage()
    provider = stage.provider
    where = "; on agent g0-2-S0 at slave(1)@127.0.0.1:5051 (localhost)"
    old = stage.raw()
    old.role = "test"
    own = scalar("cpus", 1, "test")
    gpu = stage.raw()
    gpu.name = "gpus"
    cases: list[tuple[Any, str]] = [
        (create([stage.raw(100)]), f"{OFFERED} does not contain cpus(allocated: test)[RAW numa/0 default]:100"),
        (create([stage.raw(2.5)]), "is not a whole number of CPUs"),
        (create([stage.raw(-1)]), "Operation attempted with invalid resources: Resource 'cpus(allocated: test)"),
        (create([stage.raw(1, "numa/7")]), "does not contain cpus(allocated: test)[RAW numa/7 default]:1"),
        (create([]), "create_cpuset.source is empty"),
        (create([stage.raw()], profile=""), "create_cpuset.target_profile is empty"),
        (create([own]), "is not RAW"),
        (
            create([stage.raw(), own]),
            f"Invalid resources: Some resources have a resource provider and some do not{where}",
        ),
        (create([old]), "does not contain cpus(allocated: test)(reservations: [(STATIC,test)])[RAW numa/0 default]:"),
        (create([gpu]), "is not a scalar named 'cpus'"),
        (create([with_role(provider.cpu_set("s9", "numa/0", 1), "test")]), "is not RAW"),
        (create([with_role(provider.raw("numa/0", 1), "other")]), "does not contain"),
        (destroy([with_role(provider.cpu_set("s9", "numa/0", 1), "test")]), "does not contain"),
        (destroy([stage.raw()]), "the resources of one set are needed"),
        (destroy([]), "destroy_cpuset.source is empty"),
        (reserve([]), f"Invalid resources: The resources have multiple resource providers: {where}"),
        (reserve([own]), f"Resource cpus(allocated: test):1 is not dynamically reserved{where}"),
        (
            reserve([scalar("cpus", 1, "test", "other")]),
            "A reserve operation was attempted for a resource with role 'other', but the resource was allocated to "
            f"role 'test'{where}",
        ),
        (
            reserve([scalar("cpus", -1, "test", "test")]),
            "Operation attempted with invalid resources: Resource 'cpus(allocated: test)(reservations: "
            "[(DYNAMIC,test)]):-1' is invalid: Invalid scalar resource: value <= 0",
        ),
        (reserve([scalar("cpus", 100, "test", "test")]), "does not contain cpus(allocated: test):100"),
        (
            reserve([scalar("cpus", 1, "test", "test")], undo=True),
            "does not contain cpus(allocated: test)(reservations: [(DYNAMIC,test)]):1",
        ),
        (Op(type=Op.CREATE, id=mesos_pb2.OperationID(value="op")), "CREATE is not supported"),
        (Op(type=Op.UNKNOWN, id=mesos_pb2.OperationID(value="op")), "Unknown or missing operation type"),
        (Op(id=mesos_pb2.OperationID(value="op")), "Unknown or missing operation type"),
    ]
    for operation, words in cases:
        status = stage.refused(operation)
        assert words in status.message, status.message
        assert status.operation_id.value == "op"


def test_stale_offers() -> None:
    stage = Stage()
    stage.framework.accept("nope", create([stage.raw()]), reserve([scalar("cpus", 1, "test", "test")], "r"))
    for status in stage.framework.operation_statuses():
        assert status.state == mesos_pb2.OPERATION_ERROR
        assert status.message == "Operation attempted with invalid offers: Offer nope is no longer valid"
    stage.framework.call({"type": "ACCEPT", "accept": {"operations": [{"type": "RESERVE", "id": {"value": "x"}}]}})
    (status,) = stage.framework.operation_statuses()
    assert status.message == "Operation attempted with invalid offers: No offers specified"


def test_the_same_raw_twice() -> None:
    stage = Stage()
    offer = stage.framework.offer()
    stage.framework.accept(offer, create([stage.raw(5)], "a"), create([stage.raw(5)], "b"), create([stage.raw(3)], "c"))
    assert [a.info.id.value for a in stage.provider.applied()] == ["a", "c"]
    (status,) = stage.framework.operation_statuses()
    assert status.operation_id.value == "b"
    assert "[RAW numa/0 default]:3; " in status.message
    assert status.message.endswith("does not contain cpus(allocated: test)[RAW numa/0 default]:5")


def test_held_while_pending_whatever_the_provider_says_and_free_after_failure() -> None:
    stage = Stage()
    stage.framework.accept(stage.framework.offer(), create([stage.raw(6)]))
    (applied,) = stage.provider.applied()
    assert "[RAW numa/0 default]:2" in stage.free()
    listed = mesos_pb2.Operation(info=applied.info, uuid=applied.operation_uuid)
    listed.latest_status.state = mesos_pb2.OPERATION_PENDING
    listed.framework_id.value = stage.framework.id
    stage.provider.update_state([listed])
    assert "[RAW numa/0 default]:2" in stage.free()
    # The agent restarts; the provider's report is all it knows.
    stage.host.now += 1
    again = Host(stage.host.now, stored=stage.host)
    stage.framework.host = stage.provider.host = stage.host = again
    stage.framework.subscribe()
    stage.provider.subscribe()
    assert "RAW" not in stage.free()
    stage.provider.update_state([listed])
    assert "[RAW numa/0 default]:2" in stage.free()
    stage.provider.status(applied, "OPERATION_FAILED", message="no such luck")
    (status,) = stage.framework.operation_statuses()
    assert (status.state, status.message) == (mesos_pb2.OPERATION_FAILED, "no such luck")
    assert "[RAW numa/0 default]:8" in stage.free()


def test_statuses_come_again_and_are_acknowledged_once() -> None:
    stage = Stage()
    stage.framework.accept(stage.framework.offer(), create([stage.raw()]))
    (applied,) = stage.provider.applied()
    for _ in range(3):
        stage.provider.status(applied, converted=[stage.provider.cpu_set("s1", "numa/0", 4)])
    statuses = stage.framework.operation_statuses()
    assert len(statuses) == 3 and len({s.uuid.value for s in statuses}) == 1
    assert "[RAW numa/0 default]:4" in stage.free() and "[EXCLUSIVE s1 numa/0 default]:4" in stage.free()
    for _ in range(2):
        stage.framework.acknowledge_operation(statuses[0])
    assert len(stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)) == 1
    # The provider did not get the acknowledgement: the framework is asked once more, the totals stay.
    stage.provider.status(applied, converted=[stage.provider.cpu_set("s1", "numa/0", 4)])
    (status,) = stage.framework.operation_statuses()
    stage.framework.acknowledge_operation(status)
    assert len(stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)) == 1
    assert "[RAW numa/0 default]:4" in stage.free() and "[EXCLUSIVE s1 numa/0 default]:4" in stage.free()


def test_to_a_framework_that_was_away() -> None:
    stage = Stage()
    stage.framework.accept(stage.framework.offer(), create([stage.raw()]))
    (applied,) = stage.provider.applied()
    stage.framework.close()
    stage.provider.status(applied, converted=[stage.provider.cpu_set("s1", "numa/0", 4)])
    assert not stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)
    stage.framework.subscribe()
    (status,) = stage.framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_FINISHED


def test_nobody_to_acknowledge() -> None:
    stage = Stage()
    offer = stage.framework.offer()
    stage.framework.accept(offer, create([stage.raw(2)], None), create([stage.raw(2)], "op"))
    first, second = stage.provider.applied()
    stage.provider.status(first, converted=[stage.provider.cpu_set("s1", "numa/0", 2)])
    (ack,) = stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)
    assert ack.acknowledge_operation_status.operation_uuid == first.operation_uuid
    assert not stage.framework.operation_statuses()
    stage.framework.call({"type": "TEARDOWN"})
    stage.provider.status(second, "OPERATION_FAILED", status_uuid=2)
    assert len(stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)) == 1
    assert not stage.host.master.world.operations


def test_an_operation_id_is_used_once_at_a_time() -> None:
    stage = Stage()
    offer = stage.framework.offer()
    stage.framework.accept(offer, create([stage.raw(2)], "op"), create([stage.raw(2)], "op"))
    assert len(stage.provider.applied()) == 1
    (status,) = stage.framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_ERROR and "already in use" in status.message


@pytest.mark.parametrize("end", ["OPERATION_FAILED", "OPERATION_DROPPED", "OPERATION_ERROR"])
def test_speculation_is_undone(end: str) -> None:
    stage = Stage()
    reserved = with_role(stage.provider.raw("numa/0", 3, "test"), "test")
    stage.framework.accept(stage.framework.offer(), reserve([reserved]))
    (applied,) = stage.provider.applied()
    assert applied.info.reserve.resources[0].allocation_info.role == "test"
    there = stage.free()
    assert "(reservations: [(DYNAMIC,test)])[RAW numa/0 default]:3" in there
    stage.provider.status(applied, end, message="made up")
    there = stage.free()
    assert "DYNAMIC" not in there and "[RAW numa/0 default]:8" in there


def test_speculation_that_holds() -> None:
    stage = Stage()
    reserved = with_role(stage.provider.raw("numa/0", 3, "test"), "test")
    stage.framework.accept(
        stage.framework.offer(), reserve([reserved], "r"), create([with_role(reserved, "test")], "c")
    )
    first, second = stage.provider.applied()
    assert [first.info.type, second.info.type] == [Op.RESERVE, Op.CREATE_CPUSET]
    stage.provider.status(first, converted=[stage.provider.raw("numa/0", 3, "test")], status_uuid=1)
    made = stage.provider.cpu_set("s1", "numa/0", 3, "test")
    stage.provider.status(second, converted=[made], status_uuid=2)
    there = stage.free()
    assert "cpus(reservations: [(DYNAMIC,test)])[EXCLUSIVE s1 numa/0 default]:3" in there
    assert "[RAW numa/0 default]:5" in there
    assert len(stage.framework.operation_statuses()) == 2
    stage.refused(reserve([with_role(made, "test")], "x", undo=True))


def test_an_operation_the_provider_never_saw() -> None:
    stage = Stage()
    stage.framework.accept(stage.framework.offer(), create([stage.raw()]))
    (applied,) = stage.provider.applied()
    stage.provider.close()
    stage.provider.subscribe()
    stage.provider.update_state()
    (ask,) = stage.provider.take(Event.RECONCILE_OPERATIONS)
    assert list(ask.reconcile_operations.operation_uuids) == [applied.operation_uuid]
    stage.provider.status(applied, "OPERATION_DROPPED")
    (status,) = stage.framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_DROPPED
    assert "[RAW numa/0 default]:8" in stage.free()
    stage.framework.acknowledge_operation(status)
    assert not stage.host.master.world.operations


def test_a_reservation_the_provider_never_saw() -> None:
    stage = Stage()
    reserved = with_role(stage.provider.raw("numa/0", 3, "test"), "test")
    stage.framework.accept(stage.framework.offer(), reserve([reserved]))
    (applied,) = stage.provider.applied()
    stage.provider.close()
    stage.provider.subscribe()
    stage.provider.update_state()  # its totals know nothing of the reservation
    assert "[RAW numa/0 default]:5" in stage.free()  # what it would take is held until that is settled
    stage.provider.status(applied, "OPERATION_DROPPED")
    there = stage.free()
    assert "DYNAMIC" not in there and "[RAW numa/0 default]:8" in there


def test_a_finished_operation_in_a_report_is_counted_once() -> None:
    stage = Stage()
    stage.framework.accept(stage.framework.offer(), create([stage.raw()]))
    (applied,) = stage.provider.applied()
    stage.provider.close()
    made = stage.provider.cpu_set("s1", "numa/0", 4)
    stage.provider.total = [stage.provider.raw("numa/0", 4), stage.provider.raw("numa/1", 8), made]
    listed = mesos_pb2.Operation(info=applied.info, uuid=applied.operation_uuid)
    listed.framework_id.value = stage.framework.id
    listed.latest_status.state = mesos_pb2.OPERATION_FINISHED
    stage.provider.subscribe()
    stage.provider.update_state([listed])
    stage.provider.status(applied, converted=[made])
    total = text(stage.host.master.world.total())
    assert "[RAW numa/0 default]:4; " in total and total.endswith("[EXCLUSIVE s1 numa/0 default]:4")


def test_dropped_while_the_provider_is_away() -> None:
    stage = Stage()
    offer = stage.framework.offer()
    stage.provider.close()
    stage.framework.accept(offer, create([stage.raw()], "c"))
    (status,) = stage.framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_DROPPED
    assert status.operation_id.value == "c"
    assert status.resource_provider_id.value == stage.provider.info.id.value
    assert status.agent_id.value == stage.host.master.world.agent_id
    assert "is not subscribed" in status.message and offer.id.value in status.message


def test_hundred_failures_leave_nothing_behind() -> None:
    stage = Stage()
    for i in range(100):
        stage.framework.accept(stage.framework.offer(), create([stage.raw(5)], f"op{i}"))
        (applied,) = stage.provider.applied()
        stage.provider.status(applied, "OPERATION_FAILED", message="does not fit", status_uuid=i)
        (status,) = stage.framework.operation_statuses()
        stage.framework.acknowledge_operation(status)
    assert not stage.host.master.world.operations
    assert "[RAW numa/0 default]:8" in stage.free()


# RESIZE


def resize(cpuset: list[Any], add: list[Any] | None = None, subtract: list[Any] | None = None) -> Any:
    operation = Op(type=Op.RESIZE_CPUSET, id=mesos_pb2.OperationID(value="resize"))
    operation.resize_cpuset.cpuset.extend(cpuset)
    operation.resize_cpuset.add.extend(add or [])
    operation.resize_cpuset.subtract.extend(subtract or [])
    return operation


def test_a_set_in_use_grows_and_its_task_is_told() -> None:
    stage = Stage()
    stage.make_set(4)
    whole = with_role(stage.provider.cpu_set("s1", "numa/0", 4), "test")
    offer = stage.framework.offer()
    stage.framework.accept(offer, launch(stage.host, "t", [whole, scalar("mem", 32, "test")]))
    stage.provider.published()
    stage.host.run()
    stage.framework.accept(stage.framework.offer(), resize([whole], add=[stage.raw(2)]))
    (applied,) = stage.provider.applied()
    assert text(applied.info.resize_cpuset.cpuset) == "cpus[EXCLUSIVE s1 numa/0 default]:4"
    assert "[RAW numa/0 default]:2" in stage.free()
    grown = stage.provider.cpu_set("s1", "numa/0", 6)
    grown.cpu.source.metadata.labels[0].value = "more"
    stage.provider.status(applied, converted=[grown])
    there = stage.free()
    assert "[RAW numa/0 default]:2" in there and "[EXCLUSIVE s1 numa/0 default]:2" in there
    record = stage.host.stored["task", stage.framework.id, "t"]
    assert record.task.resources[0].cpu.source.metadata.labels[0].value == "more"


def test_a_set_shrinks_by_what_nobody_uses() -> None:
    stage = Stage()
    stage.make_set(4)
    whole = with_role(stage.provider.cpu_set("s1", "numa/0", 4), "test")
    part = with_role(stage.provider.cpu_set("s1", "numa/0", 3), "test")
    offer = stage.framework.offer()
    stage.framework.accept(offer, launch(stage.host, "t", [part, scalar("mem", 32, "test")]))
    two = with_role(stage.provider.cpu_set("s1", "numa/0", 2), "test")
    assert "does not contain" in stage.refused(resize([whole], subtract=[two])).message
    assert "'add', 'subtract' or both are needed" in stage.refused(resize([whole])).message
    assert "does not contain" in stage.refused(resize([whole], add=[stage.raw(9)])).message
    one = with_role(stage.provider.cpu_set("s1", "numa/0", 1), "test")
    stage.framework.accept(stage.framework.offer(), resize([whole], subtract=[one]))
    (applied,) = stage.provider.applied()
    left = stage.provider.cpu_set("s1", "numa/0", 3)
    stage.provider.status(applied, converted=[left, stage.provider.raw("numa/0", 1)])
    there = stage.free()
    assert "s1" not in there and "[RAW numa/0 default]:5" in there


def test_a_set_that_gains_and_gives_in_one_operation() -> None:
    stage = Stage()
    stage.make_set(4)
    whole = with_role(stage.provider.cpu_set("s1", "numa/0", 4), "test")
    one = with_role(stage.provider.cpu_set("s1", "numa/0", 1), "test")
    stage.framework.accept(stage.framework.offer(), resize([whole], add=[stage.raw(3)], subtract=[one]))
    (applied,) = stage.provider.applied()
    assert text(applied.info.resize_cpuset.add) == "cpus[RAW numa/0 default]:3"
    assert text(applied.info.resize_cpuset.subtract) == "cpus[EXCLUSIVE s1 numa/0 default]:1"
    there = stage.provider.cpu_set("s1", "numa/0", 6)
    stage.provider.status(applied, converted=[there, stage.provider.raw("numa/0", 1)])
    assert "[EXCLUSIVE s1 numa/0 default]:6" in stage.free() and "[RAW numa/0 default]:2" in stage.free()


def test_one_operation_on_a_set_at_a_time() -> None:
    stage = Stage()
    stage.make_set(4)
    whole = with_role(stage.provider.cpu_set("s1", "numa/0", 4), "test")
    offer = stage.framework.offer()
    stage.framework.accept(offer, resize([whole], add=[stage.raw(2)]), destroy([whole], "d"))
    (status,) = stage.framework.operation_statuses()
    assert status.message == "destroy_cpuset.source: another operation on set s1 is under way"


def test_destroy_takes_the_whole_set() -> None:
    stage = Stage()
    stage.make_set(4)
    part = with_role(stage.provider.cpu_set("s1", "numa/0", 3), "test")
    assert "a set is destroyed as a whole" in stage.refused(destroy([part])).message


# Reconciliation: the table of the design, and field report 42


def test_reconcile_every_row() -> None:
    stage = Stage()
    world = stage.host.master.world
    agent, provider = {"value": world.agent_id}, {"value": stage.provider.id}
    stage.framework.accept(stage.framework.offer(), create([stage.raw()], "mine"))
    (applied,) = stage.provider.applied()

    def ask(op_id: str, **more: Any) -> tuple[int, str]:
        (status,) = stage.reconcile({"operation_id": {"value": op_id}} | more)
        assert not status.HasField("uuid") and status.operation_id.value == op_id
        return status.state, status.message

    assert ask("mine")[0] == mesos_pb2.OPERATION_PENDING
    assert [s.operation_id.value for s in stage.reconcile()] == ["mine"]
    assert ask("nope") == (
        mesos_pb2.OPERATION_UNKNOWN,
        "Reconciliation: Operation is unknown and no 'agent_id' was provided",
    )
    assert ask("nope", agent_id=agent) == (mesos_pb2.OPERATION_UNKNOWN, "Reconciliation: Operation is unknown")
    assert ask("nope", agent_id={"value": "x"}) == (
        mesos_pb2.OPERATION_UNKNOWN,
        "Reconciliation: Both operation and agent are unknown",
    )
    assert ask("nope", resource_provider_id=provider)[0] == mesos_pb2.OPERATION_UNKNOWN
    stranger = FrameworkClient(stage.host)
    values = {"operations": [{"operation_id": {"value": "mine"}}]}
    stranger.call({"type": "RECONCILE_OPERATIONS", "reconcile_operations": values})
    assert [s.state for s in stranger.operation_statuses()] == [mesos_pb2.OPERATION_UNKNOWN]

    stage.provider.close()
    assert ask("mine")[0] == mesos_pb2.OPERATION_PENDING
    assert ask("nope", resource_provider_id=provider)[0] == mesos_pb2.OPERATION_RECOVERING
    # After a restart nothing is known until the provider is back.
    again = Host(stage.host.now, stored=stage.host)
    stage.framework.host = stage.provider.host = stage.host = again
    stage.framework.subscribe()
    assert ask("mine")[0] == mesos_pb2.OPERATION_RECOVERING
    assert ask("mine", resource_provider_id=provider)[0] == mesos_pb2.OPERATION_RECOVERING
    stage.provider.subscribe()
    listed = mesos_pb2.Operation(info=applied.info, uuid=applied.operation_uuid)
    listed.latest_status.state = mesos_pb2.OPERATION_PENDING
    listed.framework_id.value = stage.framework.id
    stage.provider.update_state([listed])
    assert ask("mine")[0] == mesos_pb2.OPERATION_PENDING

    again.master.remove_config("org.pinfold.rp.cpu", "host", again.now)
    again.turn()
    (told,) = stage.framework.operation_statuses()
    assert told.state == mesos_pb2.OPERATION_GONE_BY_OPERATOR
    assert [e.type for e in stage.provider.take(Event.TEARDOWN)] == [Event.TEARDOWN]
    assert ask("mine")[0] == mesos_pb2.OPERATION_GONE_BY_OPERATOR
    third = Host(again.now, stored=again)
    stage.framework.host = stage.host = third
    stage.framework.subscribe()
    assert ask("mine", resource_provider_id=provider)[0] == mesos_pb2.OPERATION_GONE_BY_OPERATOR


# What ends a real daemon and must not end ours


def test_odd_uuids_and_missing_agent_ids() -> None:
    stage = Stage()
    odd = mesos_pb2.Operation(info=create([stage.raw(1)], "odd"))
    odd.uuid.value = b"short"
    odd.latest_status.state = mesos_pb2.OPERATION_PENDING
    odd.framework_id.value = stage.framework.id
    stage.provider.update_state([odd])
    assert [s.operation_id.value for s in stage.reconcile()] == ["odd"]
    call = resource_provider_pb2.Call(type=resource_provider_pb2.Call.UPDATE_OPERATION_STATUS)
    call.update_operation_status.operation_uuid.value = b"short"
    call.update_operation_status.status.state = mesos_pb2.OPERATION_FAILED
    call.update_operation_status.status.uuid.value = b"also short"
    with pytest.raises(ApiError, match="Inconsistent resource provider ID in 'update_operation_status'"):
        stage.provider.call(call)
    call.update_operation_status.status.resource_provider_id.value = stage.provider.info.id.value
    stage.provider.call(call)
    (status,) = stage.framework.operation_statuses()
    assert status.agent_id.value == stage.host.master.world.agent_id
    host = stage.host
    for kind in (agent_pb2.Call.GET_OPERATIONS,):
        host.master.agent_call(agent_pb2.Call(type=kind), host.now)
    unknown = resource_provider_pb2.Call(type=resource_provider_pb2.Call.UPDATE_OPERATION_STATUS)
    unknown.update_operation_status.CopyFrom(call.update_operation_status)
    unknown.update_operation_status.operation_uuid.value = uuid.UUID(int=9).bytes
    stage.provider.call(unknown)
    assert stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)


# The operator's


def master_call(host: Host, kind: str, resources: list[mesos_pb2.Resource], agent_id: str | None = None) -> None:
    call = master_pb2.Call(type=master_pb2.Call.Type.Value(kind))
    part = getattr(call, kind.lower())
    part.agent_id.value = agent_id or host.master.world.agent_id
    part.resources.extend(resources)
    try:
        host.master.master_call(call, host.now)
    finally:
        host.turn()


def test_reserve_by_the_operator() -> None:
    stage = Stage()
    assert stage.framework.outstanding()
    reserved = stage.provider.raw("numa/0", 2, "gold")
    master_call(stage.host, "RESERVE_RESOURCES", [reserved])
    (applied,) = stage.provider.applied()
    assert not applied.HasField("framework_id")
    assert not applied.info.reserve.resources[0].HasField("allocation_info")
    assert "[RAW numa/0 default]:6" in stage.free()
    stage.provider.status(applied, converted=[reserved])
    assert stage.provider.take(Event.ACKNOWLEDGE_OPERATION_STATUS)
    master_call(stage.host, "UNRESERVE_RESOURCES", [reserved])
    (applied,) = stage.provider.applied()
    stage.provider.status(applied, "OPERATION_FAILED", message="made up", status_uuid=2)
    assert "[RAW numa/0 default]:6" in stage.free()
    master_call(stage.host, "RESERVE_RESOURCES", [scalar("cpus", 1, reserved="gold")])
    assert text(stage.framework.offer().resources).startswith("cpus:1; ")


@pytest.mark.parametrize(
    ("resources", "agent", "status", "words"),
    [
        ([scalar("cpus", 100, reserved="test")], None, 409, "does not contain cpus:100"),
        ([scalar("cpus", 1)], None, 400, "Resource cpus:1 is not dynamically reserved"),
        ([scalar("cpus", 1, reserved="test")], "nope", 400, "No agent found with specified ID"),
        ([], None, 400, "Invalid resources: The resources have multiple resource providers: "),
        (
            [scalar("cpus", -1, reserved="test")],
            None,
            400,
            "Failed to validate master::Call: Resource 'cpus(reservations: [(DYNAMIC,test)]):-1' is invalid: Invalid "
            "scalar resource: value <= 0",
        ),
        (
            [scalar("cpus", 1, reserved="bad role")],
            None,
            400,
            "Failed to validate master::Call: Resource 'cpus(reservations: [(DYNAMIC,bad role)]):1' is invalid: Role "
            "component 'bad role' is invalid because it contains backspace or whitespace",
        ),
    ],
)
def test_reserve_by_the_operator_refused(
    resources: list[mesos_pb2.Resource], agent: str | None, status: int, words: str
) -> None:
    host = Host()
    with pytest.raises(ApiError) as error:
        master_call(host, "RESERVE_RESOURCES", resources, agent)
    assert error.value.status == status
    assert words in error.value.message


def test_destroy_by_the_operator() -> None:
    stage = Stage()
    stage.make_set(4)
    whole = with_role(stage.provider.cpu_set("s1", "numa/0", 4), "test")
    offer = stage.framework.offer()
    stage.framework.accept(offer, launch(stage.host, "t", [whole, scalar("mem", 32, "test")]))
    call = agent_pb2.Call(type=agent_pb2.Call.DESTROY_CPUSET)
    for set_id, status, words in (("s1", 409, "'t' of framework"), ("s2", 404, "No set with id 's2'")):
        call.destroy_cpuset.cpuset_id = set_id
        with pytest.raises(ApiError) as error:
            stage.host.master.agent_call(call, stage.host.now)
        assert error.value.status == status and words in error.value.message
    stage.framework.call({"type": "KILL", "kill": {"task_id": {"value": "t"}}})
    stage.framework.offer()
    call.destroy_cpuset.cpuset_id = "s1"
    assert not stage.host.master.agent_call(call, stage.host.now).HasField("type")
    stage.host.turn()
    (applied,) = stage.provider.applied()
    assert applied.info.type == Op.DESTROY_CPUSET and not applied.HasField("framework_id")
    stage.provider.status(applied, converted=[stage.provider.raw("numa/0", 4)], status_uuid=5)
    assert "[RAW numa/0 default]:8" in stage.free()


def test_a_status_that_comes_again_after_its_acknowledgement_is_acknowledged_again_and_no_more() -> None:
    stage = Stage()
    framework, provider = stage.framework, stage.provider
    framework.accept(framework.offer(), create([stage.raw()]))
    (applied,) = provider.applied()
    made = [provider.cpu_set("s", "numa/0", 4)]
    provider.status(applied, converted=made)
    (status,) = framework.operation_statuses()
    framework.acknowledge_operation(status)
    totals = text(stage.host.master.world.total())
    provider.take(resource_provider_pb2.Event.ACKNOWLEDGE_OPERATION_STATUS)
    provider.status(applied, converted=made)  # it did not get the acknowledgement
    assert framework.operation_statuses() == [status]
    assert not stage.host.master.world.operations and text(stage.host.master.world.total()) == totals
    framework.acknowledge_operation(status)
    framework.acknowledge_operation(status)
    assert len(provider.take(resource_provider_pb2.Event.ACKNOWLEDGE_OPERATION_STATUS)) == 1
    framework.call({"type": "RECONCILE_OPERATIONS", "reconcile_operations": {}})
    assert not framework.operation_statuses()
