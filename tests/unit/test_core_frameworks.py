"""SUBSCRIBE, failover, heartbeats, timeouts, and the checks before each call."""

from __future__ import annotations

from typing import Any

import pytest
from core_world import FrameworkClient, Host, launch, scalar

from agent_api.errors import ApiError
from agent_api.wire import master_pb2, mesos_pb2, scheduler_pb2
from agent_api.wire.codec import from_dict

OperatorEvent = master_pb2.Event
Event = scheduler_pb2.Event


def subscribe(host: Host, **info: Any) -> list[Any]:
    stream = host.new_stream()
    values = {"user": "u", "name": "n"} | info
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
    call.subscribe.framework_info.CopyFrom(from_dict(mesos_pb2.FrameworkInfo, values))
    if "id" in values:
        call.framework_id.value = values["id"]["value"]
    host.master.subscribe(call, stream, None, host.now)
    host.turn()
    return host.sent.get(stream, [])


MULTI = [{"type": "MULTI_ROLE"}]


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({"roles": ["a"]}, "'FrameworkInfo.roles' must not be set when the framework is not MULTI_ROLE capable"),
        (
            {"role": "a", "capabilities": MULTI},
            "'FrameworkInfo.role' must not be set when the framework is MULTI_ROLE capable",
        ),
        ({"roles": ["a", "a"], "capabilities": MULTI}, "contains duplicate items: { a }"),
        ({"role": "bad role"}, "Role component 'bad role' is invalid because it contains backspace or whitespace"),
        ({"role": "/a"}, "cannot start with a slash"),
        ({"role": "a/"}, "cannot end with a slash"),
        ({"role": "a//b"}, "cannot contain two adjacent slashes"),
        ({"role": "a/.."}, "is a relative path"),
        ({"role": "a/*"}, "is reserved"),
        ({"role": "-a"}, "begins with a dash"),
        ({"role": ""}, "Empty role name is invalid"),
        ({"failover_timeout": -1}, "failover_timeout (-1) is invalid"),
        ({"id": {"value": "a/b"}}, "contains invalid characters"),
        ({"id": {"value": ".."}}, "is disallowed"),
    ],
)
def test_bad_information_is_an_error_event_and_the_end(info: dict[str, Any], words: str) -> None:
    host = Host()
    (event,) = subscribe(host, **info)
    assert event.type == Event.ERROR
    assert words in event.error.message
    assert host.closed == ["stream-0-1"]
    assert not host.master.world.frameworks


def test_hierarchical_and_default_roles_are_good() -> None:
    host = Host()
    assert subscribe(host, roles=["eng/dev", "*"], capabilities=MULTI)[0].type == Event.SUBSCRIBED
    assert subscribe(host)[0].type == Event.SUBSCRIBED


def test_subscribed_event() -> None:
    host = Host()
    framework = FrameworkClient(host)
    subscribed = framework.events[0].subscribed
    assert subscribed.heartbeat_interval_seconds == 15
    assert subscribed.master_info.ip == 16777343  # as a real one prints 127.0.0.1
    assert subscribed.master_info.port == 5050
    assert subscribed.master_info.pid == "master@127.0.0.1:5050"
    assert framework.id.endswith("-0000")


def test_ids_must_agree() -> None:
    host = Host()
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
    call.framework_id.value = "x"
    call.subscribe.framework_info.user = call.subscribe.framework_info.name = "n"
    with pytest.raises(ApiError) as error:
        host.master.subscribe(call, "s", None, host.now)
    assert error.value.status == 400
    assert "'framework_id' differs from 'subscribe.framework_info.id'" in error.value.message


def test_heartbeats_keep_time() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.take(Event.HEARTBEAT)
    times = []
    for _ in range(4 * 60 + 1):
        host.turn(0.25)
        if framework.take(Event.HEARTBEAT):
            times.append(host.now - 1000)
    assert times == [15, 30, 45, 60]


def test_a_second_subscription_takes_over_and_gets_what_is_not_acknowledged() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=60)
    framework.accept(framework.offer(), launch(host, "t", [scalar("cpus", 1)]))
    (starting,) = framework.statuses()
    old = framework.stream
    framework.subscribe()
    assert host.sent[old][-1].error.message == "Framework failed over"
    assert old in host.closed
    kinds = [e.type for e in framework.events]
    assert kinds[:2] == [Event.SUBSCRIBED, Event.HEARTBEAT]
    assert framework.statuses()[0].uuid == starting.uuid
    with pytest.raises(ApiError) as error:
        framework.call({"type": "REVIVE"}, stream=old)
    assert error.value.status == 400
    assert error.value.message == (
        f"The stream ID '{old}' included in this request didn't match the stream ID currently associated with "
        f"framework ID {framework.id}"
    )
    assert framework.offers()


def test_offers_of_a_former_stream_are_void() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=60)
    offer = framework.offer()
    framework.subscribe()
    framework.accept(offer, launch(host, "t", [scalar("cpus", 1)]))
    (status,) = framework.statuses()
    assert status.state == mesos_pb2.TASK_DROPPED
    assert status.message == f"Task launched with invalid offers: Offer {offer.id.value} is no longer valid"


def test_failover_timeout_then_removal_over_a_restart() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=30)
    framework.accept(framework.offer(), launch(host, "t", [scalar("cpus", 1)]))
    host.run()
    framework.close()
    with pytest.raises(ApiError) as error:
        framework.call({"type": "REVIVE"})
    assert (error.value.status, error.value.message) == (403, "Framework is not subscribed")
    host.turn(29)
    assert framework.id in host.master.world.frameworks
    host.turn(1)
    assert framework.id not in host.master.world.frameworks
    assert [k.task_id for k in host.killed] == ["t"]
    with pytest.raises(ApiError) as error:
        framework.call({"type": "REVIVE"})
    assert (error.value.status, error.value.message) == (400, "Framework cannot be found")
    host.end("t", framework.id, None, 15)
    assert not [k for k in host.stored if k[0] == "task"]
    framework.host = Host(host.now, stored=host)
    framework.subscribe()
    assert framework.events[0].error.message == "Framework has been removed"


def test_no_failover_timeout_means_gone_with_the_stream() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.close()
    assert not host.master.world.frameworks


def test_a_framework_comes_back_after_a_restart_of_the_agent() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.host = Host(host.now, stored=host)
    framework.host.turn(599)
    framework.subscribe()
    assert framework.events[0].type == Event.SUBSCRIBED
    assert framework.events[0].subscribed.framework_id.value == framework.id


def test_an_unknown_id_is_taken_as_a_framework_of_a_former_master() -> None:
    host = Host()
    events = subscribe(host, id={"value": "from-before"})
    assert events[0].subscribed.framework_id.value == "from-before"
    added, updated = (
        e for e in host.operators if e.type in (OperatorEvent.FRAMEWORK_ADDED, OperatorEvent.FRAMEWORK_UPDATED)
    )
    assert added.framework_added.framework.recovered and not added.framework_added.framework.active
    assert added.framework_added.framework.registered_time.nanoseconds == 0
    assert updated.framework_updated.framework.active and not updated.framework_updated.framework.recovered


def test_teardown() -> None:
    host = Host()
    framework = FrameworkClient(host)
    assert framework.call({"type": "TEARDOWN"}) == 202
    assert framework.stream in host.closed
    framework.subscribe()
    (event,) = framework.events
    assert event.error.message == "Framework has been removed"


def test_principals_do_not_take_over_each_others_frameworks() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=60)
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
    call.framework_id.value = framework.id
    call.subscribe.framework_info.CopyFrom(framework.info)
    host.master.subscribe(call, "thief", "mallory", host.now)
    host.turn()
    assert host.sent["thief"][0].type == Event.ERROR
    assert framework.stream not in host.closed


@pytest.mark.parametrize(
    ("values", "status", "words"),
    [
        ({}, 400, "Failed to validate scheduler::Call: Expecting 'type' to be present"),
        ({"type": "UNKNOWN"}, 501, "UNKNOWN"),
        ({"type": "ACCEPT"}, 400, "Failed to validate scheduler::Call: Expecting 'accept' to be present"),
        ({"type": "KILL"}, 400, "Failed to validate scheduler::Call: Expecting 'kill' to be present"),
        (
            {
                "type": "ACKNOWLEDGE",
                "acknowledge": {"agent_id": {"value": "a"}, "task_id": {"value": "t"}, "uuid": "YQ=="},
            },
            400,
            "Failed to validate scheduler::Call: Not a valid UUID",
        ),
        (
            {
                "type": "ACKNOWLEDGE_OPERATION_STATUS",
                "acknowledge_operation_status": {
                    "operation_id": {"value": "o"},
                    "uuid": "cguDpzO1Td++EHauTG30Wg==",
                },
            },
            400,
            "Failed to validate scheduler::Call: Expecting 'agent_id' to be present",
        ),
        ({"type": "REVIVE", "framework_id": {"value": "x"}}, 400, "Framework cannot be found"),
    ],
)
def test_checks_of_calls(values: dict[str, Any], status: int, words: str) -> None:
    host = Host()
    framework = FrameworkClient(host)
    with pytest.raises(ApiError) as error:
        framework.call(values)
    assert error.value.status == status
    assert words in error.value.message


def test_no_stream_id() -> None:
    host = Host()
    framework = FrameworkClient(host)
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.REVIVE)
    call.framework_id.value = framework.id
    with pytest.raises(ApiError) as error:
        host.master.scheduler_call(call, None, host.now)
    assert error.value.message == "All non-subscribe calls should include the 'Mesos-Stream-Id' header"
    call.ClearField("framework_id")
    with pytest.raises(ApiError) as error:
        host.master.scheduler_call(call, framework.stream, host.now)
    assert error.value.message == "Failed to validate scheduler::Call: Expecting 'framework_id' to be present"


def test_update_framework() -> None:
    host = Host()
    framework = FrameworkClient(host)
    assert framework.outstanding()
    info = mesos_pb2.FrameworkInfo()
    info.CopyFrom(framework.info)
    info.roles[:] = ["other"]
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.UPDATE_FRAMEWORK)
    call.framework_id.value = framework.id
    call.update_framework.framework_info.CopyFrom(info)
    assert host.master.scheduler_call(call, framework.stream, host.now) == 200
    host.turn()
    assert framework.take(Event.RESCIND)
    assert framework.offers()[-1].allocation_info.role == "other"
    call.update_framework.framework_info.user = "someone"
    with pytest.raises(ApiError) as error:
        host.master.scheduler_call(call, framework.stream, host.now)
    assert error.value.message == (
        "FrameworkInfo update is not valid: Updating 'FrameworkInfo.user' is unsupported; attempted to update from "
        "'root' to 'someone'"
    )
