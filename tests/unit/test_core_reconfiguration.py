"""The agent's own resources and attributes grow and shrink, while it runs and over a restart."""

from __future__ import annotations

import pytest
from core_world import FrameworkClient, Host, ProviderClient, launch, reserve, scalar, text

from agent_api.core import attributes as at
from agent_api.core import figures, own, views
from agent_api.core import resources as rs
from agent_api.core.reconfiguration import Change
from agent_api.errors import Conflict
from agent_api.wire import agent_pb2, master_pb2, mesos_pb2, scheduler_pb2

Event = scheduler_pb2.Event


def change(host: Host, resources: str, attributes: str = "", tick: bool = True) -> bool:
    wanted = Change(rs.parse(resources), 16, at.parse(attributes), {"resources": resources, "attributes": attributes})
    try:
        return host.master.reconfigure(wanted, host.now)
    finally:
        if tick:
            host.turn()


def metric(host: Host, name: str) -> float:
    return figures.metrics(host.master, host.now)[f"pinfold/{name}"]


def flags(host: Host) -> dict[str, str]:
    answer = host.master.agent_call(agent_pb2.Call(type=agent_pb2.Call.GET_FLAGS), host.now)
    return {flag.name: flag.value for flag in answer.get_flags.flags}


def busy(host: Host, cpus: float = 4, mem: float = 1024) -> FrameworkClient:
    """A framework with one running task."""
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), launch(host, "t", [scalar("cpus", cpus), scalar("mem", mem)]))
    host.run()
    host.turn(1.5)  # what is left is offered
    return framework


CARRY = [
    ("cpus:8", "cpus:9", "cpus:9", ""),
    ("cpus(a):2;cpus:6", "cpus:9", "cpus:9", ""),  # static ones are the operator's own
]


@pytest.mark.parametrize(("stored", "new", "result", "unfit"), CARRY)
def test_what_carries_over(stored: str, new: str, result: str, unfit: str) -> None:
    have, left = own.carry(rs.parse(stored), rs.parse(new))
    assert (rs.describe_all(have), rs.describe_all(left)) == (result, unfit)


def test_refined_reservations_carry_over() -> None:
    kinds = mesos_pb2.Resource.ReservationInfo
    stored = rs.scalar("cpus", 2)
    stored.reservations.add(type=kinds.STATIC, role="eng")
    for role in ("eng/a", "eng/a/b"):
        stored.reservations.add(type=kinds.DYNAMIC, role=role)
    have, left = own.carry([stored], rs.parse("cpus(eng):3"))
    assert rs.contains(have, [stored]) and rs.sum_of(have, "cpus") == 3 and not left
    assert own.carry([stored], rs.parse("cpus:3"))[1] == [stored]


def test_a_reservation_of_what_was_measured_keeps_what_there_is() -> None:
    def reserved(cpus: float, role: str) -> mesos_pb2.Resource:
        resource = rs.scalar("cpus", cpus)
        resource.reservations.add(type=mesos_pb2.Resource.ReservationInfo.DYNAMIC, role=role)
        return resource

    stored = [reserved(3, "a"), reserved(4, "b"), reserved(2, "c")]
    have, left = own.carry(stored, rs.parse("cpus:5;mem:10"), {"cpus"})
    assert have == [*rs.parse("mem:10"), reserved(3, "a"), reserved(2, "b")]
    assert left == stored[1:]
    # What the operator named is not made smaller: the change is refused.
    assert own.carry(stored, rs.parse("cpus:5;mem:10"), {"mem"})[0] == [*rs.parse("mem:10"), *stored[::2]]


def test_growth_is_offered_at_once_and_what_is_offered_stays() -> None:
    host = Host()
    framework = busy(host)
    (rest,) = framework.offers()
    assert text(rest.resources) == "cpus:4; mem:3072; ports:[31000-32000]"
    agent_id = host.master.world.agent_id
    host.operators.clear()
    assert change(host, "cpus:12;mem:4096;ports:[31000-33000];gpus:2")
    assert framework.take(Event.RESCIND) == []
    (more,) = framework.offers()
    assert text(more.resources) == "cpus:4; ports:[32001-33000]; gpus:2"
    assert host.master.world.agent_id == agent_id and len(list(host.master.world.live_tasks())) == 1
    (event,) = [e for e in host.operators if e.type == master_pb2.Event.AGENT_ADDED]
    assert event.agent_added.agent.agent_info.id.value == agent_id
    assert rs.sum_of(event.agent_added.agent.total_resources, "cpus") == 12
    info = host.master.agent_call(agent_pb2.Call(type=agent_pb2.Call.GET_AGENT), host.now).get_agent.agent_info
    assert text(info.resources) == "cpus:12; mem:4096; ports:[31000-33000]; gpus:2"
    assert views.agent_state(host.master, host.now)["resources"]["cpus"] == 12
    assert views.slaves(host.master, host.now)["slaves"][0]["resources"]["gpus"] == 2
    assert flags(host)["resources"] == "cpus:12;mem:4096;ports:[31000-33000];gpus:2"
    assert metric(host, "config_changes") == 1 and metric(host, "config_in_force") == 1
    # Kept, and the same again is no change.
    assert text(host.stored[("agent",)].resources) == text(info.resources)
    assert not change(host, "cpus:12;mem:4096;ports:[31000-33000];gpus:2")
    assert metric(host, "config_changes") == 1


def test_shrinking_what_is_free_takes_offers_back() -> None:
    host = Host()
    framework = busy(host)
    (rest,) = framework.offers()
    assert change(host, "cpus:5;mem:2048")
    assert [e.rescind.offer_id.value for e in framework.take(Event.RESCIND)] == [rest.id.value]
    (fewer,) = framework.offers()
    assert text(fewer.resources) == "cpus:1; mem:1024"


@pytest.mark.parametrize(
    ("resources", "reason"),
    [
        ("cpus:3;mem:4096", "tasks use cpus:4, and only cpus:3 would be there ('t' of framework"),
        ("cpus:8;mem:1000", "tasks use mem:1024, and only mem:1000 would be there"),
        ("cpus(gold):8;mem:4096", "tasks use cpus:4, and only nothing would be there"),
    ],
)
def test_what_a_task_uses_is_not_taken(resources: str, reason: str) -> None:
    host = Host(flags={"resources": "as started"})
    framework = busy(host)
    before = (host.stored[("agent",)], flags(host), list(host.master.world.offers))
    with pytest.raises(Conflict) as error:
        change(host, resources)
    assert reason in error.value.message
    assert (host.stored[("agent",)], flags(host), list(host.master.world.offers)) == before
    assert framework.take(Event.RESCIND) == []
    assert metric(host, "config_refused") == 1 and metric(host, "config_in_force") == 0
    # Over a restart it is the same, and nothing is written.
    with pytest.raises(Conflict) as error:
        Host(host.now, stored=host, resources=rs.parse(resources), boot_id="boot")
    assert reason in error.value.message and "cannot start" in error.value.message
    # After a reboot the task runs no more, and what was measured nobody can take back.
    Host(host.now, stored=host, resources=rs.parse(resources), boot_id="another")
    Host(host.now, stored=host, resources=rs.parse(resources), boot_id="boot", measured={"cpus", "mem"})
    # Once the task has ended, it can be.
    host.end("t", framework.id)
    assert change(host, resources)
    assert metric(host, "config_in_force") == 1


def test_what_is_reserved_is_not_taken() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), reserve([scalar("cpus", 3, "test", "test")], "r"))
    with pytest.raises(Conflict, match=r"cpus\(reservations: \[\(DYNAMIC,test\)\]\):3 is reserved"):
        change(host, "cpus:2;mem:4096")
    assert change(host, "cpus:3;mem:4096")
    assert text(host.master.world.agent.resources) == "mem:4096; cpus(reservations: [(DYNAMIC,test)]):3"


def test_what_was_missing_before_is_no_reason() -> None:
    """The host lost CPUs: what is used is more than there is. That must not stop every change after it."""
    host = Host()
    busy(host, cpus=8)
    again = Host(host.now, stored=host, resources=rs.parse("cpus:6;mem:4096"), measured={"cpus"}, boot_id="boot")
    assert change(again, "cpus:6;mem:8192")
    with pytest.raises(Conflict, match="tasks use cpus:8, and only cpus:5"):
        change(again, "cpus:5;mem:8192")


def test_attributes_grow_and_offers_tell_them() -> None:
    host = Host(attributes=at.parse("rack:r7"))
    framework = FrameworkClient(host)
    offer = framework.offer()
    assert [a.name for a in offer.attributes] == ["rack"]
    assert change(host, "cpus:8;mem:4096;ports:[31000-32000]", "rack:r7;tags:{ssd}")
    assert [e.rescind.offer_id.value for e in framework.take(Event.RESCIND)] == [offer.id.value]
    (offer,) = framework.offers()
    assert [at.describe(a) for a in offer.attributes] == ["rack:r7", "tags:{ssd}"]
    assert views.agent_state(host.master, host.now)["attributes"] == {"rack": "r7", "tags": "{ssd}"}
    assert [at.describe(a) for a in host.stored[("agent",)].attributes] == ["rack:r7", "tags:{ssd}"]


def test_attributes_that_tasks_were_placed_by_stay() -> None:
    host = Host(attributes=at.parse("rack:r7;level:2"))
    framework = busy(host)
    same = "cpus:8;mem:4096;ports:[31000-32000]"
    for attributes, reason in (("level:2", "attribute rack:r7 would go"), ("rack:r7;level:1", "would become level:1")):
        with pytest.raises(Conflict) as error:
            change(host, same, attributes)
        assert reason in error.value.message and "'t' of framework" in error.value.message
        with pytest.raises(Conflict) as error:
            Host(host.now, stored=host, attributes=at.parse(attributes), boot_id="boot")
        assert reason in error.value.message
    assert change(host, same, "rack:r7;level:3;new:x")
    again = Host(host.now, stored=host, attributes=at.parse("rack:r7;level:3;new:x;more:y"), boot_id="boot")
    assert again.master.world.agent_id == host.master.world.agent_id
    host.end("t", framework.id)
    assert change(host, same, "rack:r8")


def test_beside_a_provider_plain_cpus_stay_its_floor() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.update_state(floor=2)
    framework = FrameworkClient(host)
    framework.offer()
    assert change(host, "cpus:12;mem:8192")
    assert rs.sum_of(host.master.world.own_total(), "cpus") == 2
    plain = [r for r in host.master.world.total() if not r.HasField("provider_id")]
    assert text(plain) == "cpus:2; mem:8192"
    assert rs.sum_of([r for r in host.master.world.total() if r.HasField("provider_id")], "cpus") == 16
