"""The whole way: subscribe, offer, CREATE_CPUSET, LAUNCH into the set, end, DESTROY_CPUSET."""

from __future__ import annotations

from core_world import (
    FrameworkClient,
    Host,
    ProviderClient,
    create,
    destroy,
    launch,
    scalar,
    text,
    with_role,
)

from agent_api.wire import mesos_pb2, resource_provider_pb2, scheduler_pb2


def test_plain_task_from_offer_to_its_acknowledged_end() -> None:
    host = Host()
    framework = FrameworkClient(host)
    kinds = [e.type for e in framework.events]
    assert kinds == [
        scheduler_pb2.Event.SUBSCRIBED,
        scheduler_pb2.Event.HEARTBEAT,
        scheduler_pb2.Event.OFFERS,
    ]
    offer = framework.offer()
    assert text(offer.resources) == "cpus:8; mem:4096; ports:[31000-32000]"
    assert offer.url.address.port == 5051 and offer.url.path == "/slave(1)"
    framework.accept(offer, launch(host, "t1", [scalar("cpus", 1, "test"), scalar("mem", 64)]))
    (start,) = host.launched
    assert start.user == "root" and start.cpu_resources == ()
    host.run()
    (starting,) = framework.statuses()
    assert starting.state == mesos_pb2.TASK_STARTING
    framework.acknowledge(starting)
    (running,) = framework.statuses()
    assert running.state == mesos_pb2.TASK_RUNNING
    assert running.container_status.executor_pid == 77
    assert running.container_status.container_id.value
    framework.acknowledge(running)
    host.end("t1", framework.id)
    (finished,) = framework.statuses()
    assert finished.state == mesos_pb2.TASK_FINISHED
    assert finished.message == "Command exited with status 0"
    assert ("task", framework.id, "t1") in host.stored
    framework.acknowledge(finished)
    assert ("task", framework.id, "t1") not in host.stored
    assert text(framework.offer().resources) == "cpus:8; mem:4096; ports:[31000-32000]"


def test_a_set_is_made_used_and_destroyed() -> None:
    host = Host()
    host.config(floor=2)
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host)
    offer = framework.offer()
    assert text(offer.resources) == (
        "cpus:2; mem:4096; ports:[31000-32000]; cpus[RAW numa/0 default]:8; cpus[RAW numa/1 default]:8"
    )
    raw = with_role(provider.raw("numa/0", 4), "test")
    raw.cpu.source.metadata.labels.add(key="cpus", value="0-63")  # a framework's word counts for nothing
    framework.accept(offer, create([raw], "make"))
    (applied,) = provider.applied()
    assert applied.framework_id.value == framework.id
    assert not applied.info.create_cpuset.source[0].cpu.source.metadata.labels
    assert applied.info.create_cpuset.source[0].allocation_info.role == "test"
    pending = framework.offer()
    assert "cpus[RAW numa/0 default]:4" in text(pending.resources)

    provider.status(applied, converted=[provider.cpu_set("s1", "numa/0", 4)])
    (status,) = framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_FINISHED
    assert status.operation_id.value == "make"
    assert status.agent_id.value == host.master.world.agent_id
    assert status.resource_provider_id.value == provider.id
    framework.acknowledge_operation(status)
    (ack,) = provider.take(resource_provider_pb2.Event.ACKNOWLEDGE_OPERATION_STATUS)
    assert ack.acknowledge_operation_status.operation_uuid == applied.operation_uuid
    assert ack.acknowledge_operation_status.status_uuid == status.uuid
    assert not host.master.world.operations

    offer = framework.offer()
    mine = [r for r in offer.resources if r.cpu.source.id == "s1"]
    assert text(mine) == "cpus[EXCLUSIVE s1 numa/0 default]:4"
    framework.accept(offer, launch(host, "t1", [*mine, scalar("mem", 32, "test")]))
    assert not host.launched
    (publish,) = provider.published()
    assert text(publish.publish_resources.resources) == "cpus[EXCLUSIVE s1 numa/0 default]:4"
    (start,) = host.launched
    (cpus,) = start.cpu_resources
    assert cpus.cpu.source.metadata.labels[0].value == "of-s1"
    host.run()

    part = provider.cpu_set("s1", "numa/0", 4)
    framework.accept(framework.offer(), destroy([with_role(part, "test")], "early"))
    (refused,) = framework.operation_statuses()
    assert refused.state == mesos_pb2.OPERATION_ERROR
    assert "set s1 is in use by task t1" in refused.message

    host.end("t1", framework.id)
    offer = framework.offer()
    framework.accept(offer, destroy([r for r in offer.resources if r.cpu.source.id == "s1"], "gone"))
    (applied,) = provider.applied()
    provider.status(applied, converted=[provider.raw("numa/0", 4)], status_uuid=2)
    assert text(framework.offer().resources).endswith("cpus[RAW numa/0 default]:8; cpus[RAW numa/1 default]:8")
