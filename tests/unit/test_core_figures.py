"""What is counted, under Mesos's names."""

from __future__ import annotations

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, reserve, scalar

from agent_api.core import figures
from agent_api.core import resources as rs
from agent_api.errors import ApiError
from agent_api.wire import master_pb2, mesos_pb2
from agent_api.wire.codec import from_dict


def of(host: Host) -> dict[str, float]:
    return figures.metrics(host.master, host.now)


def test_the_calls_events_offers_and_tasks_of_a_framework() -> None:
    host = Host()
    framework = FrameworkClient(host, name="my/fw")
    prefix = f"master/frameworks/my%2Ffw/{framework.id}"
    assert of(host)[f"{prefix}/subscribed"] == 1 and of(host)[f"{prefix}/calls"] == 1
    framework.accept(framework.offer(), launch(host, "a", [scalar("cpus", 1)]), launch(host, "b", [scalar("cpus", 99)]))
    host.run()
    host.end("a", framework.id)
    framework.call({"type": "DECLINE", "decline": {"offer_ids": [{"value": i} for i in framework.outstanding()]}})
    framework.call({"type": "SUPPRESS"})
    framework.accept("nope", launch(host, "c", [scalar("cpus", 1)]))
    with pytest.raises(ApiError):
        framework.call(
            {"type": "MESSAGE", "message": {"agent_id": {"value": "x"}, "executor_id": {"value": "x"}, "data": ""}}
        )
    counted = of(host)
    expected = {
        "calls/subscribe": 1,
        "calls/accept": 2,
        "calls/decline": 1,
        "calls/message": 1,
        "events/subscribed": 1,
        "events/update": 3,  # STARTING is not acknowledged: RUNNING and FINISHED wait; b is in error, c dropped
        "offers/sent": 2,
        "offers/accepted": 1,
        "offers/declined": 1,
        "operations/launch": 3,
        "operations": 3,
        "tasks/terminal/task_finished": 1,
        "tasks/terminal/task_error": 1,
        "tasks/terminal/task_dropped": 1,
        "roles/test/suppressed": 1,
    }
    assert {name: counted[f"{prefix}/{name}"] for name in expected} == expected
    assert counted[f"{prefix}/calls"] == sum(v for n, v in counted.items() if n.startswith(f"{prefix}/calls/")) == 6
    assert counted["master/messages_launch_tasks"] == 2 and counted["master/messages_framework_to_executor"] == 1
    assert counted["master/task_error/source_master/reason_task_invalid"] == 1
    assert counted["master/task_dropped/source_master/reason_invalid_offers"] == 1
    framework.acknowledge(framework.statuses()[0])
    framework.acknowledge(
        from_dict(mesos_pb2.TaskStatus, {"task_id": {"value": "z"}, "state": "TASK_LOST", "uuid": "A" * 22 + "=="})
    )
    counted = of(host)
    assert counted["master/valid_status_update_acknowledgements"] == 1
    assert counted["master/invalid_status_update_acknowledgements"] == 1
    framework.call({"type": "TEARDOWN"})
    assert not [name for name in of(host) if name.startswith(prefix)]


def test_operations_by_kind_and_outcome() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host)
    offer = framework.offer()
    raw = [r for r in offer.resources if r.HasField("cpu")]
    framework.accept(
        offer,
        reserve([scalar("cpus", 1, "test", "test")], "own"),
        create(raw[:1], "made"),
        create(raw[1:], "failed"),
        create(raw[1:], "twice"),
    )
    for number, (applied, state) in enumerate(
        zip(provider.applied(), ("OPERATION_FINISHED", "OPERATION_FAILED"), strict=True)
    ):
        made = [provider.cpu_set("s", "numa/0", 8)] if number == 0 else []
        provider.status(applied, state, made, status_uuid=number)
    counted = of(host)
    kinds = {n: v for n, v in counted.items() if n.startswith("master/operations/") and v}
    assert kinds == {
        "master/operations/reserve/finished": 1,
        "master/operations/reserve/total": 1,
        "master/operations/create_cpuset/finished": 1,
        "master/operations/create_cpuset/failed": 1,
        "master/operations/create_cpuset/error": 1,
        "master/operations/create_cpuset/total": 3,
        "master/operations/finished": 2,
        "master/operations/failed": 1,
        "master/operations/error": 1,
        "master/operations/total": 4,
    }


def test_what_the_allocator_has_and_gives() -> None:
    host = Host(resources=rs.parse("cpus:8;mem:1024"))
    eng = FrameworkClient(host, role="eng/dev")
    quota = [{"role": "eng", "guarantees": {"cpus": {"value": 4}}, "limits": {"cpus": {"value": 6}}}]
    call = from_dict(master_pb2.Call, {"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": quota}})
    host.master.master_call(call, host.now)
    host.turn(1)
    before = of(host)["allocator/mesos/allocation_runs"]
    eng.accept(eng.offer(), launch(host, "a", [scalar("cpus", 2)]), refuse=1000)
    host.turn(2)
    counted = of(host)
    assert counted["allocator/mesos/allocation_runs"] > before
    expected = {
        "resources/cpus/total": 8,
        "resources/cpus/offered_or_allocated": 2,
        "resources/mem/total": 1024,
        "resources/mem/offered_or_allocated": 0,
        "roles/eng/dev/shares/dominant": 0.25,
        "offer_filters/roles/eng/dev/active": 1,
        "quota/roles/eng/resources/cpus/guarantee": 4,
        "quota/roles/eng/resources/cpus/limit": 6,
        "quota/roles/eng/resources/cpus/offered_or_allocated": 2,
    }
    assert {name: counted[f"allocator/mesos/{name}"] for name in expected} == expected
