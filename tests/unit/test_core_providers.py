"""Providers: who may subscribe, checks of calls, configs, removal, sets that nobody needs."""

from __future__ import annotations

from typing import Any

import pytest
from core_world import (
    RP,
    FrameworkClient,
    Host,
    ProviderClient,
    create,
    launch,
    scalar,
    text,
    with_role,
)

from agent_api.errors import ApiError
from agent_api.wire import agent_pb2, mesos_pb2, pinfold_pb2, resource_provider_pb2

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event


def test_ids_survive_a_restart_and_streams_do_not() -> None:
    host = Host()
    provider = ProviderClient(host)
    again = Host(host.now, stored=host)
    back = ProviderClient(again)
    back.info.id.value = provider.id
    back.subscribe()
    assert back.id == provider.id and again.closed == ["stream-1-1"]  # the takeover of its own first stream
    assert back.stream != provider.stream


def test_without_id_but_known_by_type_and_name() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.close()
    assert ProviderClient(host).id == provider.id


def test_refused_with_an_end_of_stream_and_no_event() -> None:
    host = Host()
    provider = ProviderClient(host)
    for info in (
        mesos_pb2.ResourceProviderInfo(type=RP, name="host"),  # a second one
        mesos_pb2.ResourceProviderInfo(type=RP, name="host", id=mesos_pb2.ResourceProviderID(value="nope")),
        mesos_pb2.ResourceProviderInfo(type=RP, name="other", id=provider.info.id),
        mesos_pb2.ResourceProviderInfo(type="org.other", name="host", id=provider.info.id),
    ):
        stream = host.new_stream()
        call = Call(type=Call.SUBSCRIBE)
        call.subscribe.resource_provider_info.CopyFrom(info)
        host.master.provider_subscribe(call, stream, host.now)
        host.turn()
        assert stream in host.closed and not host.sent.get(stream)
    assert provider.stream not in host.closed


def test_takeover_over_a_half_open_connection() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.update_state()
    old = provider.stream
    provider.subscribe()
    assert old in host.closed
    host.master.provider_stream_closed(old, host.now)  # the news of the old one's end comes late
    provider.update_state()
    framework = FrameworkClient(host)
    assert "RAW" in text(framework.offer().resources)
    with pytest.raises(ApiError):
        provider.call(Call(type=Call.UPDATE_STATE, update_state=_state()), stream=old)


def _state() -> Call.UpdateState:
    state = Call.UpdateState()
    state.resource_version_uuid.value = b"v" * 16
    return state


def test_checks_in_mesos_order() -> None:
    host = Host()
    provider = ProviderClient(host)

    def refused(call: Call, stream: str | None) -> str:
        with pytest.raises(ApiError) as error:
            host.master.provider_call(call, stream, host.now)
        assert error.value.status == 400
        return error.value.message

    call = Call()
    assert refused(call, None) == "Failed to validate resource_provider::Call: Expecting 'type' to be present"
    assert refused(Call(type=Call.UNKNOWN), None) == "Resource provider is not subscribed"
    call.type = Call.UPDATE_STATE
    assert (
        refused(call, None)
        == "Failed to validate resource_provider::Call: Expecting 'resource_provider_id' to be present"
    )
    call.resource_provider_id.value = "nope"
    assert refused(call, None) == "Failed to validate resource_provider::Call: Expecting 'update_state' to be present"
    call.update_state.CopyFrom(_state())
    assert refused(call, None) == "Resource provider is not subscribed"
    call.resource_provider_id.value = provider.id
    call.update_state.resources.append(scalar("cpus", 1))
    assert refused(call, None) == "Inconsistent call: Inconsistent resource provider ID in 'update_state'"
    del call.update_state.resources[:]
    assert refused(call, None) == "All non-subscribe calls should include to 'Mesos-Stream-Id' header"
    assert refused(call, "zzz") == (
        "The stream ID 'zzz' included in this request didn't match the stream ID currently associated with  "
        f"resource provider ID {provider.id}"
    )
    call.type = Call.UPDATE_OPERATION_STATUS
    call.update_operation_status.operation_uuid.value = b"u"
    call.update_operation_status.status.state = mesos_pb2.OPERATION_FAILED
    call.update_operation_status.status.resource_provider_id.value = "other"
    call.ClearField("update_state")
    assert (
        refused(call, provider.stream)
        == "Inconsistent call: Inconsistent resource provider ID in 'update_operation_status'"
    )


def test_a_provider_beside_the_one_that_has_the_cpus_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    """Started by hand under another name, where sets are affinity only, it would offer the same CPUs again."""
    host = Host()
    first = ProviderClient(host, name="first")
    first_id = first.id
    second = ProviderClient(host, name="second")
    assert second.stream in host.closed and not second.events
    assert "'first' has the CPUs of this host" in caplog.text
    # Once that one is away another may come, and then it is the first one's turn to wait, known as it is.
    host.master.provider_stream_closed(first.stream, host.now)
    second.subscribe()
    assert second.id
    first.subscribe()
    assert first.stream in host.closed and first.id == first_id
    # A configuration has the CPUs also while its provider is away. Providers of other things are none of this.
    host.master.provider_stream_closed(second.stream, host.now)
    host.master.add_config(info(name="third"), 4, host.now)
    second.subscribe()
    assert second.stream in host.closed
    disks = ProviderClient(host, name="disks", type="org.example.disks")
    assert disks.id


def test_reports_are_put_in_order() -> None:
    host = Host()
    provider = ProviderClient(host, {})
    minus = provider.raw("numa/1", -1)
    zero = provider.raw("numa/1", 0)
    allocated = with_role(provider.raw("numa/0", 1), "x")
    provider.total = [provider.raw("numa/0", 2), provider.raw("numa/0", 3), minus, zero, allocated]
    provider.update_state()
    assert text(host.master.world.providers[provider.id].total) == "cpus[RAW numa/0 default]:6"
    old = provider.raw("numa/0", 2, "shop")
    old.role = "web"  # and the reservation says "shop"
    nan = provider.raw("numa/0", float("nan"))
    for bad in (old, nan):
        provider.total = [bad]
        with pytest.raises(ApiError) as error:
            provider.update_state()
        assert error.value.status == 400 and "Failed to validate resource_provider::Call" in error.value.message
    assert text(host.master.world.providers[provider.id].total) == "cpus[RAW numa/0 default]:6"


def test_unknown_publishes_are_taken() -> None:
    host = Host()
    provider = ProviderClient(host)
    call = Call(type=Call.UPDATE_PUBLISH_RESOURCES_STATUS)
    call.update_publish_resources_status.uuid.value = b"x"
    call.update_publish_resources_status.status = Call.UpdatePublishResourcesStatus.OK
    provider.call(call)


# Configs


def info(**more: Any) -> mesos_pb2.ResourceProviderInfo:
    return mesos_pb2.ResourceProviderInfo(**({"type": RP, "name": "host"} | more))


def test_add_and_update_say_whether_there_is_anything_to_do() -> None:
    host = Host()
    master = host.master
    assert master.config_to_add(info())
    with pytest.raises(ApiError) as error:
        master.config_to_update(info())
    assert (error.value.status, error.value.message) == (
        409,
        f"Resource provider with type '{RP}' and name 'host' does not exist",
    )
    master.add_config(info(), 2, host.now)
    assert not master.config_to_add(info())
    assert not master.config_to_update(info())
    other = info()
    other.cpu.floor = 4
    with pytest.raises(ApiError) as error:
        master.config_to_add(other)
    assert (error.value.status, error.value.message) == (
        409,
        f"Resource provider with type '{RP}' and name 'host' already exists",
    )
    assert master.config_to_update(other)
    master.update_config(other, 4, host.now)
    assert [c.floor_cpus for c in master.configs()] == [4]
    host.turn()
    assert [c.floor_cpus for c in Host(stored=host).master.configs()] == [4]


def test_one_agent_has_one_cpu_provider() -> None:
    """A second one on the host would find the cgroups taken, and without cgroups offer the same CPUs again."""
    host = Host()
    host.master.add_config(info(), 2, host.now)
    assert host.master.config_to_add(info(name="second")), "it is judged before"
    with pytest.raises(ApiError) as error:
        host.master.add_config(info(name="second"), 2, host.now)
    assert error.value.status == 409
    assert error.value.message == (
        "Failed to add resource provider config with type 'org.pinfold.rp.cpu' and name 'second': 'host' has the "
        "CPUs of this host, and an agent has one CPU provider; update that one, or remove it first"
    )
    assert not host.master.config_to_add(info())
    host.master.remove_config(RP, "host", host.now)
    host.master.add_config(info(name="second"), 2, host.now)
    assert [c.info.name for c in host.master.configs()] == ["second"]


@pytest.mark.parametrize("name", ["host", "other"])
def test_no_config_beside_a_provider_started_by_hand(name: str) -> None:
    host = Host()
    provider = ProviderClient(host)
    with pytest.raises(ApiError) as error:
        host.master.add_config(info(name=name), 2, host.now)
    assert error.value.status == 409
    assert f"provider {provider.id}, named 'host', is connected without a config" in error.value.message
    assert host.master.configs() == []
    host.master.provider_stream_closed(provider.stream, host.now)
    host.master.add_config(info(name=name), 2, host.now)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            info(id=mesos_pb2.ResourceProviderID(value="x")),
            "Failed to validate agent::Call: Expecting 'add_resource_provider_config.info.id' to be unset",
        ),
        (info(type="org.x"), "Unknown local resource provider type 'org.x'"),
        (info(name="bad name!"), "Resource provider name 'bad name!' does not follow Java package naming convention"),
        (info(name="../x"), "does not follow Java package naming convention"),
    ],
)
def test_bad_configs(config: mesos_pb2.ResourceProviderInfo, words: str) -> None:
    with pytest.raises(ApiError) as error:
        Host().master.config_to_add(config)
    assert error.value.status == 400 and words in error.value.message


def test_plain_tasks_must_fit() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), launch(host, "t", [scalar("cpus", 3.5, "test"), scalar("mem", 32, "test")]))
    with pytest.raises(ApiError) as error:
        host.master.add_config(info(), 3, host.now)
    assert error.value.status == 409 and "use 3.5 plain CPUs" in error.value.message
    assert not host.master.configs()
    host.master.add_config(info(), 4, host.now)
    with pytest.raises(ApiError):
        other = info()
        other.cpu.floor = 1
        host.master.update_config(other, 1, host.now)


def test_removed_and_added_again() -> None:
    host = Host()
    host.master.remove_config(RP, "nope", host.now)
    host.config()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host)
    framework.offers()
    host.master.remove_config(RP, "host", host.now)
    host.turn()
    assert provider.take(Event.TEARDOWN) and provider.stream in host.closed
    assert "RAW" not in text(framework.offer().resources)
    provider.subscribe()
    assert provider.stream in host.closed and not provider.events
    host.config()
    provider.subscribe()
    assert provider.stream not in host.closed
    provider.update_state()
    assert "RAW" in text(framework.offer().resources)


def test_mark_gone() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.update_state()
    call = agent_pb2.Call(type=agent_pb2.Call.MARK_RESOURCE_PROVIDER_GONE)
    with pytest.raises(ApiError) as error:
        host.master.agent_call(call, host.now)
    assert "Expecting 'mark_resource_provider_gone' to be present" in error.value.message
    call.mark_resource_provider_gone.resource_provider_id.value = provider.id
    with pytest.raises(ApiError) as error:
        host.master.agent_call(call, host.now)
    assert error.value.message == (
        f"Could not mark resource provider '{provider.id}' as gone: Resource provider has resources"
    )
    provider.total = []
    provider.update_state()
    for _ in range(2):
        host.master.agent_call(call, host.now)
        host.turn()
    assert len(provider.take(Event.TEARDOWN)) == 1
    again = Host(host.now, stored=host)
    provider.host = again
    provider.subscribe()
    assert provider.stream in again.closed
    provider.info.ClearField("id")
    provider.subscribe()
    assert provider.stream not in again.closed  # a new one under the same name


# Sets that nobody needs


def a_set(host: Host, lifetime: str) -> tuple[FrameworkClient, ProviderClient]:
    host.config()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), create([with_role(provider.raw("numa/0", 4), "test")], None))
    (applied,) = provider.applied()
    made = provider.cpu_set("s1", "numa/0", 4)
    provider.status(applied, converted=[made])
    provider.total = [provider.raw("numa/0", 4), provider.raw("numa/1", 8), made]
    provider.cpusets = [pinfold_pb2.Cpuset(id="s1", role="test", framework_id=framework.id, lifetime=lifetime)]
    provider.update_state()
    return framework, provider


@pytest.mark.parametrize("lifetime", ["framework", "role"])
def test_a_set_goes_with_its_framework_once_no_task_uses_it(lifetime: str) -> None:
    host = Host()
    framework, provider = a_set(host, lifetime)
    framework.accept(framework.offer(), launch(host, "t", [with_role(provider.cpu_set("s1", "numa/0", 2), "test")]))
    provider.published()
    host.run()
    framework.call({"type": "TEARDOWN"})
    host.turn(5)
    assert not provider.applied()
    host.end("t", framework.id, None, 15)
    applied = provider.applied()
    if lifetime == "role":
        assert not applied
        return
    assert text(applied[0].info.destroy_cpuset.source) == "cpus[EXCLUSIVE s1 numa/0 default]:4"
    assert not applied[0].HasField("framework_id")
    provider.status(applied[0], "OPERATION_FAILED", message="busy")
    host.turn(30)
    assert not provider.applied()
    host.turn(31)
    (applied,) = provider.applied()
    provider.status(applied, converted=[provider.raw("numa/0", 4)], status_uuid=3)
    other = FrameworkClient(host)
    assert "[RAW numa/0 default]:8" in text(other.offer().resources)


def test_sets_of_a_framework_removed_before_a_restart() -> None:
    host = Host()
    framework, provider = a_set(host, "framework")
    provider.close()
    framework.call({"type": "TEARDOWN"})
    again = Host(host.now, stored=host)
    provider.host = again
    provider.subscribe()
    provider.update_state()
    assert len(provider.applied()) == 1


def test_sets_of_a_framework_nobody_remembers_wait_for_a_while() -> None:
    host = Host()
    provider = ProviderClient(host, {})
    provider.total = [provider.cpu_set("s1", "numa/0", 4)]
    provider.cpusets = [pinfold_pb2.Cpuset(id="s1", role="test", framework_id="lost", lifetime="framework")]
    provider.update_state()
    host.turn(599)
    assert not provider.applied()
    host.turn(1)
    assert len(provider.applied()) == 1


def test_three_creates_of_two_frameworks_never_overlap() -> None:
    """Field report 19: back to back, a tick between each pair of steps."""
    host = Host()
    host.config()
    provider = ProviderClient(host, {"numa/0": 8})
    provider.update_state()
    frameworks = [FrameworkClient(host), FrameworkClient(host, role="b")]
    made: dict[str, int] = {}
    taken: list[Any] = []
    for i, cpus in enumerate((5, 5, 3)):
        client = frameworks[i % 2]
        frameworks[(i + 1) % 2].call({"type": "SUPPRESS"})
        for offer_id in frameworks[(i + 1) % 2].outstanding():
            frameworks[(i + 1) % 2].call(
                {
                    "type": "DECLINE",
                    "decline": {"offer_ids": [{"value": offer_id}], "filters": {"refuse_seconds": 0}},
                }
            )
        client.call({"type": "REVIVE"})
        client.accept(client.offer(), create([with_role(provider.raw("numa/0", cpus), client.role)], f"c{i}"))
        taken += provider.applied()
        host.turn(0.25)
    for i, applied in enumerate(taken):
        cpus = int(applied.info.create_cpuset.source[0].scalar.value)
        made[f"s{i}"] = cpus
        provider.status(applied, converted=[provider.cpu_set(f"s{i}", "numa/0", cpus)], status_uuid=i)
        host.turn(0.25)
        total = [r for r in host.master.world.total() if r.HasField("cpu")]
        assert sum(r.scalar.value for r in total) == 8
    assert made == {"s0": 5, "s1": 3}
    ends = [s.state for f in frameworks for s in f.operation_statuses()]
    assert sorted(ends) == sorted(
        [mesos_pb2.OPERATION_FINISHED, mesos_pb2.OPERATION_FINISHED, mesos_pb2.OPERATION_ERROR]
    )
