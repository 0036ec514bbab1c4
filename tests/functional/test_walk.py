"""The whole path on this host: real processes, real HTTP, real SQLite, real cgroups, real tasks, and kill -9.

Each test walks it once in JSON and once in protobuf. Where no cgroup may be written the same walk runs on
scheduling affinity, but for the plain task, which then is not moved.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from agent_api.wire import agent_pb2, codec, mesos_pb2, scheduler_pb2
from tests.functional.harness import (
    JSON,
    PROTOBUF,
    AgentProcess,
    Framework,
    alive,
    allowed_cpus,
    create_cpuset,
    destroy_cpuset,
    is_plain,
    is_raw,
    is_set,
    labels,
    launch,
    provider_config,
    running_agent,
    take,
    wait_for,
)

Event = scheduler_pb2.Event
Operation = mesos_pb2.Offer.Operation
ONLINE = sorted(os.sched_getaffinity(0))

pytestmark = [
    pytest.mark.skipif(len(ONLINE) < 2, reason="an exclusive set beside the floor needs two CPUs"),
    pytest.mark.timeout(240),
]
MEDIA = pytest.mark.parametrize("media", [JSON, PROTOBUF], ids=["json", "protobuf"])


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path) as started:
        yield started


def add_config(agent: AgentProcess, directory: Path, media: str = JSON) -> None:
    config = provider_config(directory)
    call = agent_pb2.Call(type=agent_pb2.Call.ADD_RESOURCE_PROVIDER_CONFIG)
    call.add_resource_provider_config.info.CopyFrom(codec.from_dict(mesos_pb2.ResourceProviderInfo, config))
    response = requests.post(
        f"{agent.agent_url}/api/v1",
        data=codec.encode(call, media),
        headers={"Content-Type": media, "Accept": media},
        timeout=60,
    )
    assert response.status_code == 200, response.text


def task_file(agent: AgentProcess, task_id: str, name: str) -> Path:
    (path,) = agent.work_dir.glob(f"tasks/*/*{task_id}*/{name}")
    return path


def written_pid(agent: AgentProcess, task_id: str) -> int:
    """The command's own pid, which it wrote as the first word of its output."""
    return int(wait_for(lambda: task_file(agent, task_id, "stdout").read_text().split(), message="task output")[0])


def raw_total(agent: AgentProcess) -> float:
    (provider,) = agent.providers()
    return sum(
        r["scalar"]["value"]
        for r in provider.get("total_resources", [])
        if r.get("cpu", {}).get("source", {}).get("type") == "RAW"
    )


SLEEP = "echo $$; exec sleep 600"


@MEDIA
def test_the_whole_path_with_kills(agent: AgentProcess, tmp_path: Path, media: str) -> None:
    add_config(agent, tmp_path, media)
    provider = agent.wait_ready()
    provider_id = provider["resource_provider_info"]["id"]["value"]
    agent_id = agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["id"]["value"]
    all_raw = raw_total(agent)
    assert all_raw == len(ONLINE) - 1
    (topology,) = agent.agent_get("GET_TOPOLOGY")["providers"]
    cgroups = topology["topology"]["enforcement"] != "affinity"

    framework = Framework(agent.master_url, media, role="latency")
    subscribed = framework.subscribe()
    assert subscribed.subscribed.heartbeat_interval_seconds == 15
    framework.wait(Event.HEARTBEAT, timeout=5)

    # A plain task first: it may run everywhere.
    offer, plain = framework.offer(is_plain)
    framework.accept([offer], launch(agent_id, "plain", SLEEP, take(plain, 0.5)))
    for state in (mesos_pb2.TASK_STARTING, mesos_pb2.TASK_RUNNING):
        framework.update("plain", state)
    plain_pid = written_pid(agent, "plain")
    everywhere = allowed_cpus(plain_pid)

    # A set for the role, with an operation id; its status is not acknowledged at first.
    offer, raw = framework.offer(is_raw)
    framework.accept([offer], create_cpuset("make", "latency", take(raw, 1)))
    made = framework.status_of("make")
    assert made.state == mesos_pb2.OPERATION_FINISHED, made
    (converted,) = made.converted_resources
    assert is_set(converted)
    assert converted.scalar.value == 1
    cpus = labels(converted)["cpus"]
    assert len(cpus.split(",")) == 1
    assert raw_total(agent) == all_raw - 1
    (cpuset,) = wait_for(agent.cpusets, 5, "the provider's report of the set")
    assert (cpuset["cpus"], cpuset["state"], cpuset["role"]) == (cpus, "OK", "latency")
    if cgroups:
        assert allowed_cpus(plain_pid) != everywhere
        assert cpus not in allowed_cpus(plain_pid).split(",")
        assert (Path(cpuset["cgroup"]) / "cpuset.cpus").read_text().strip() == cpus

    again = framework.status_of("make")
    assert again.uuid == made.uuid
    framework.acknowledge_operation(again)
    wait_for(lambda: not agent.master_get("GET_OPERATIONS").get("operations"), 10, "operation acknowledged")

    # A task in the set.
    offer, part = framework.offer(is_set)
    framework.accept([offer], launch(agent_id, "pinned", SLEEP, take(part, 1)))
    framework.update("pinned", mesos_pb2.TASK_STARTING)
    running = framework.update("pinned", mesos_pb2.TASK_RUNNING, acknowledge=False)
    pinned_pid = written_pid(agent, "pinned")
    assert allowed_cpus(pinned_pid) == cpus

    # The set is in use: it cannot be destroyed, and nothing changes.
    refused = agent.agent_call({"type": "DESTROY_CPUSET", "destroy_cpuset": {"cpuset_id": cpuset["id"]}})
    assert refused.status_code == 409, refused.text
    assert "pinned" in refused.text
    assert len(agent.cpusets()) == 1

    def all_is_there() -> None:
        wait_for(lambda: agent.providers() and agent.cpusets(), 30, "provider and set again")
        (again,) = agent.providers()
        assert again["resource_provider_info"]["id"]["value"] == provider_id
        assert agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["id"]["value"] == agent_id
        (found,) = agent.cpusets()
        assert {k: found[k] for k in ("id", "cpus", "state")} == {k: cpuset[k] for k in ("id", "cpus", "state")}
        assert raw_total(agent) == all_raw - 1
        assert alive(pinned_pid)
        assert alive(plain_pid)
        assert allowed_cpus(pinned_pid) == cpus
        if cgroups:
            assert cpus not in allowed_cpus(plain_pid).split(",")

    # kill -9 of the provider.
    old = agent.provider_pid()
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: agent.provider_pid() != old and alive(agent.provider_pid()), 30, "provider restarted")
    all_is_there()

    # kill -9 of the agent: the provider lives on, and there is only the one.
    old = agent.provider_pid()
    agent.kill()
    assert alive(old)
    agent.start()
    all_is_there()
    assert agent.provider_pid() == old
    framework.subscribe()
    assert framework.update("pinned", mesos_pb2.TASK_RUNNING, acknowledge=False).uuid == running.uuid

    # kill -9 of both.
    agent.kill()
    os.kill(agent.provider_pid(), signal.SIGKILL)
    agent.start()
    all_is_there()
    framework.subscribe()
    framework.update("pinned", mesos_pb2.TASK_RUNNING)

    # End the task, destroy the set, and the plain task has everything again.
    framework.kill("pinned")
    framework.update("pinned", mesos_pb2.TASK_KILLED)
    assert not alive(pinned_pid)
    offer, part = framework.offer(is_set)
    framework.accept([offer], destroy_cpuset("unmake", part))
    gone = framework.status_of("unmake")
    assert gone.state == mesos_pb2.OPERATION_FINISHED, gone
    assert allowed_cpus(plain_pid) == everywhere
    framework.acknowledge_operation(gone)
    assert raw_total(agent) == all_raw
    wait_for(lambda: not agent.cpusets(), 5, "the provider's report without the set")
    if cgroups:
        assert not Path(cpuset["cgroup"]).exists()

    # TEARDOWN ends the plain task and the stream; the framework may not come back.
    framework.simple(scheduler_pb2.Call.TEARDOWN)
    assert framework.ended()
    wait_for(lambda: not alive(plain_pid), 15, "plain task killed")


@MEDIA
def test_ends_of_tasks(agent: AgentProcess, media: str) -> None:
    """Without a provider: how tasks end, and which statuses are sent."""
    framework = Framework(agent.master_url, media)
    framework.subscribe()
    agent_id = ""
    cases = {"fine": ("exit 0", mesos_pb2.TASK_FINISHED), "bad": ("exit 3", mesos_pb2.TASK_FAILED)}
    for task_id, (command, end) in cases.items():
        offer, plain = framework.offer(is_plain)
        agent_id = offer.agent_id.value
        framework.accept([offer], launch(agent_id, task_id, command, take(plain, 0.1)))
        framework.update(task_id, mesos_pb2.TASK_STARTING)
        framework.update(task_id, mesos_pb2.TASK_RUNNING)
        assert framework.update(task_id, end, acknowledge=False).HasField("uuid")
    # Not acknowledged, killed, started again: the same end is told again, and the task is not run twice.
    agent.kill()
    agent.start()
    framework.subscribe()
    framework.update("bad", mesos_pb2.TASK_FAILED)
    framework.update("fine", mesos_pb2.TASK_FINISHED)

    # The agent is away while a task ends.
    offer, plain = framework.offer(is_plain)
    marker = agent.work_dir.parent / "go"
    command = f"while [ ! -e {marker} ]; do sleep 0.1; done; exit 7"
    framework.accept([offer], launch(agent_id, "away", command, take(plain, 0.1)))
    framework.update("away", mesos_pb2.TASK_STARTING)
    framework.update("away", mesos_pb2.TASK_RUNNING)
    agent.kill()
    marker.touch()
    wait_for(lambda: task_file(agent, "away", "exit.json").exists(), 10, "exit recorded")
    agent.start()
    framework.subscribe()
    assert "7" in framework.update("away", mesos_pb2.TASK_FAILED).message

    # RECONCILE of what is not there.
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.RECONCILE)
    call.reconcile.tasks.add().task_id.value = "never"
    call.reconcile.tasks[0].agent_id.value = agent_id
    framework.call(call)
    unknown = framework.wait(Event.UPDATE, lambda e: e.update.status.task_id.value == "never").update.status
    assert unknown.state in (mesos_pb2.TASK_LOST, mesos_pb2.TASK_GONE, mesos_pb2.TASK_UNKNOWN)
    assert not unknown.HasField("uuid")


@MEDIA
def test_reservations_filters_and_reconciliation(agent: AgentProcess, tmp_path: Path, media: str) -> None:
    add_config(agent, tmp_path, media)
    agent.wait_ready()
    framework = Framework(agent.master_url, media, role="latency")
    framework.subscribe()

    # RESERVE and UNRESERVE of RAW go through the provider.
    offer, raw = framework.offer(is_raw)
    reserve = Operation(type=Operation.RESERVE)
    reserve.id.value = "reserve"
    reserved = reserve.reserve.resources.add()
    reserved.CopyFrom(raw)
    reserved.reservations.add(type=mesos_pb2.Resource.ReservationInfo.DYNAMIC, role="latency")
    framework.accept([offer], reserve)
    status = framework.status_of("reserve")
    assert status.state == mesos_pb2.OPERATION_FINISHED, status
    framework.acknowledge_operation(status)

    offer, raw = framework.offer(lambda r: is_raw(r) and len(r.reservations) == 1)
    framework.decline(offer, 0.1)
    other = Framework(agent.master_url, media, role="other", name="other")
    other.subscribe()
    offer, _ = other.offer(is_plain)
    assert not any(is_raw(r) for r in offer.resources), "reserved RAW is for its role only"
    other.simple(scheduler_pb2.Call.TEARDOWN)
    assert other.ended()

    offer, raw = framework.offer(lambda r: is_raw(r) and len(r.reservations) == 1)
    unreserve = Operation(type=Operation.UNRESERVE)
    unreserve.id.value = "unreserve"
    unreserve.unreserve.resources.add().CopyFrom(raw)
    framework.accept([offer], unreserve)
    status = framework.status_of("unreserve")
    assert status.state == mesos_pb2.OPERATION_FINISHED, status
    framework.acknowledge_operation(status)

    # A declined offer stays away for its time, and REVIVE brings it at once.
    offer, _ = framework.offer(lambda r: is_raw(r) and not r.reservations)
    framework.decline(offer, 600)
    time.sleep(2.5)
    framework.simple(scheduler_pb2.Call.REVIVE)
    revived = time.monotonic()
    offer, raw = framework.offer(is_raw, timeout=5)
    assert time.monotonic() - revived < 3
    framework.decline(offer, 0)
    framework.simple(scheduler_pb2.Call.SUPPRESS)
    with pytest.raises(AssertionError, match="no OFFERS"):
        while True:
            framework.wait(Event.OFFERS, timeout=3)
    framework.simple(scheduler_pb2.Call.REVIVE)
    offer, raw = framework.offer(is_raw)

    # An offer is used once; the second ACCEPT of it is refused, with a status for its operation.
    framework.accept([offer], create_cpuset("first", "batch", take(raw, 1)))
    framework.accept([offer], create_cpuset("second", "batch", take(raw, 1)))
    stale = framework.status_of("second")
    assert stale.state == mesos_pb2.OPERATION_ERROR
    assert offer.id.value in stale.message
    first = framework.status_of("first")
    assert first.state == mesos_pb2.OPERATION_FINISHED, first
    assert first.converted_resources[0].cpu.source.type == mesos_pb2.Resource.CpuInfo.Source.SHARED

    call = scheduler_pb2.Call(type=scheduler_pb2.Call.RECONCILE_OPERATIONS)
    for operation_id in ("first", "nobody"):
        call.reconcile_operations.operations.add().operation_id.value = operation_id
    framework.call(call)
    unknown = framework.status_of("nobody")
    assert unknown.state == mesos_pb2.OPERATION_UNKNOWN
    known = framework.wait(
        Event.UPDATE_OPERATION_STATUS,
        lambda e: (
            e.update_operation_status.status.operation_id.value == "first"
            and not e.update_operation_status.status.HasField("uuid")
        ),
    )
    assert known.update_operation_status.status.state == mesos_pb2.OPERATION_FINISHED
    framework.acknowledge_operation(first)

    # The framework ends: its set, whose profile lives as long as the framework, goes with it.
    framework.simple(scheduler_pb2.Call.TEARDOWN)
    assert framework.ended()
    wait_for(lambda: agent.cpusets() == [], 15, "set destroyed after teardown")
    wait_for(lambda: raw_total(agent) == len(ONLINE) - 1, 10, "all RAW again")

    # REMOVE stops the provider for good.
    pid = agent.provider_pid()
    response = agent.agent_call(
        {
            "type": "REMOVE_RESOURCE_PROVIDER_CONFIG",
            "remove_resource_provider_config": {"type": "org.pinfold.rp.cpu", "name": "host"},
        }
    )
    assert response.status_code == 200, response.text
    wait_for(lambda: not alive(pid) and not agent.providers(), 15, "provider gone")
