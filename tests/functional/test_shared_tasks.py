"""Tasks in shared and exclusive sets on this host, side by side: real processes, real HTTP, a real kernel.

Two CPUs are enough: the floor has one, the pool the other. What takes more CPUs is asked of a cgroup tree in memory
(test_shared.py) and of a virtual machine (tests/vm).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api.wire import mesos_pb2, scheduler_pb2
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
from tests.functional.test_field_reports import change

Event = scheduler_pb2.Event
Status = mesos_pb2.TaskStatus
pytestmark = [
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a set beside the floor needs two CPUs"),
    pytest.mark.timeout(240),
]
SLEEP = "echo $$; exec sleep 600"


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path) as started:
        yield started


def configure(agent: AgentProcess, directory: Path, **cpu: Any) -> None:
    """Add the provider. Its pool has one CPU, the floor has all others."""
    floor = len(os.sched_getaffinity(0)) - 1
    assert change(agent, "ADD", provider_config(directory, floor=floor, **cpu)).status_code == 200
    agent.wait_ready()


def framework_of(agent: AgentProcess, role: str, media: str = JSON, *capabilities: str) -> Framework:
    framework = Framework(agent.master_url, media, role=role, name=role)
    for name in capabilities:
        framework.info.capabilities.add(type=mesos_pb2.FrameworkInfo.Capability.Type.Value(name))
    framework.subscribe()
    return framework


def revocable(resource: mesos_pb2.Resource) -> bool:
    return resource.HasField("revocable")


def made(framework: Framework, operation: mesos_pb2.Offer.Operation, offer: mesos_pb2.Offer) -> mesos_pb2.Resource:
    """The operation is done; what came of it first."""
    framework.accept([offer], operation)
    status = framework.status_of(operation.id.value)
    framework.acknowledge_operation(status)
    assert status.state == mesos_pb2.OPERATION_FINISHED, status
    return status.converted_resources[0]


def started(agent: AgentProcess, framework: Framework, task_id: str) -> int:
    """The task runs; the pid of its command."""
    framework.update(task_id, mesos_pb2.TASK_STARTING)
    framework.update(task_id, mesos_pb2.TASK_RUNNING)
    (out,) = agent.work_dir.glob(f"tasks/*/*{task_id}*/stdout")
    return int(wait_for(lambda: out.read_text().split(), message=f"output of {task_id}")[0])


def metric(agent: AgentProcess, name: str) -> float:
    return float(requests.get(f"{agent.agent_url}/metrics/snapshot", timeout=10).json()[name])


@pytest.mark.parametrize("profile", ["batch", "latency"])
def test_several_tasks_in_one_set_and_plain_ones_beside(agent: AgentProcess, tmp_path: Path, profile: str) -> None:
    configure(agent, tmp_path)
    framework = framework_of(agent, "crew")
    offer, raw = framework.offer(is_raw)
    agent_id = offer.agent_id.value
    one = made(framework, create_cpuset("make", profile, take(raw, 1)), offer)
    cpus = labels(one)["cpus"]

    # Two take a half each of the set, in one offer and one after the other; two plain ones run beside.
    offer, part = framework.offer(is_set)
    plain = next(r for r in offer.resources if is_plain(r))
    framework.accept(
        [offer],
        launch(agent_id, "set-a", SLEEP, take(part, 0.5)),
        launch(agent_id, "plain-a", SLEEP, take(plain, 0.25)),
    )
    pids = {name: started(agent, framework, name) for name in ("set-a", "plain-a")}
    offer, part = framework.offer(is_set)
    assert part.scalar.value == 0.5
    plain = next(r for r in offer.resources if is_plain(r))
    framework.accept(
        [offer],
        launch(agent_id, "too-much", SLEEP, take(part, 0.75)),
        launch(agent_id, "set-b", SLEEP, take(part, 0.5)),
        launch(agent_id, "plain-b", SLEEP, take(plain, 0.25)),
    )
    assert "more than available" in framework.update("too-much", mesos_pb2.TASK_ERROR, acknowledge=False).message
    pids |= {name: started(agent, framework, name) for name in ("set-b", "plain-b")}

    def in_place() -> None:
        for name, pid in pids.items():
            allowed = allowed_cpus(pid)
            if name.startswith("set"):
                assert allowed == cpus, name
            elif profile == "latency":
                assert not set(cpus.split(",")) & set(allowed.split(",")), name

    in_place()
    # It stays as long as one task is in it.
    (cpuset,) = agent.cpusets()
    assert cpuset["charges"] == [{"zone": one.cpu.source.zone, "cpus": 1}]
    refused = agent.agent_call({"type": "DESTROY_CPUSET", "destroy_cpuset": {"cpuset_id": cpuset["id"]}})
    assert refused.status_code == 409 and "set-a" in refused.text and "set-b" in refused.text
    framework.kill("set-a")
    framework.update("set-a", mesos_pb2.TASK_KILLED)
    assert not alive(pids.pop("set-a"))
    offer, part = framework.offer(is_set)
    assert part.scalar.value == 0.5
    framework.accept([offer], destroy_cpuset("early", part))
    assert framework.status_of("early").state == mesos_pb2.OPERATION_ERROR
    in_place()
    # Over a death of both processes.
    old = agent.provider_pid()
    agent.kill()
    os.kill(old, signal.SIGKILL)
    agent.start()
    agent.wait_ready()
    framework.subscribe()
    wait_for(lambda: [c["state"] for c in agent.cpusets()] == ["OK"], 20, "the set again")
    in_place()
    framework.kill("set-b")
    framework.update("set-b", mesos_pb2.TASK_KILLED)
    offer, part = framework.offer(lambda r: is_set(r) and r.scalar.value == 1)
    made(framework, destroy_cpuset("late", part), offer)
    assert all(alive(pids[name]) for name in ("plain-a", "plain-b"))


def test_revocable_sets_give_way_to_an_exclusive_one(agent: AgentProcess, tmp_path: Path) -> None:
    """A pool of one CPU with overcommit 2: one revocable CPU beside the one of RAW."""
    configure(agent, tmp_path, overcommit=2.0)
    (topology,) = agent.agent_get("GET_TOPOLOGY")["providers"]
    enforcement = topology["topology"]["enforcement"]
    assert metric(agent, "pinfold/cpus_raw_revocable") == metric(agent, "pinfold/cpus_raw") == 1

    # Only who takes it is offered it.
    steady = framework_of(agent, "steady", JSON)
    offer, raw = steady.offer(is_raw)
    assert not any(revocable(r) for r in offer.resources)
    taker = framework_of(agent, "taker", PROTOBUF, "REVOCABLE_RESOURCES")
    offer, extra = taker.offer(lambda r: is_raw(r) and revocable(r))
    agent_id = offer.agent_id.value
    assert (extra.scalar.value, labels(extra)) == (1, {"largest/batch": "1"})

    # Only shared profiles take it.
    taker.accept([offer], create_cpuset("no", "latency", take(extra, 1)))
    refused = taker.status_of("no")
    assert refused.state == mesos_pb2.OPERATION_FAILED
    assert "only shared profiles take revocable CPUs" in refused.message
    taker.acknowledge_operation(refused)
    offer, extra = taker.offer(lambda r: is_raw(r) and revocable(r))
    make = create_cpuset("make", "batch", take(extra, 1))
    make.create_cpuset.burst = 1.5
    one = made(taker, make, offer)
    assert revocable(one) and one.cpu.source.type == mesos_pb2.Resource.CpuInfo.Source.SHARED
    (shown,) = wait_for(agent.cpusets, 5, "the set in the report")
    assert (shown["revocable"], shown["burst"], shown["state"], shown["cpus"]) == (True, 1.5, "OK", labels(one)["cpus"])
    if enforcement == "cgroup1":
        time_of = Path(shown["cgroup"].replace("/cpuset/", "/cpu/"))
        assert (time_of / "cpu.cfs_quota_us").read_text() == "150000\n"
        assert (time_of / "cpu.shares").read_text() == "10\n"
    elif enforcement == "cgroup2":
        assert (Path(shown["cgroup"]) / "cpu.max").read_text() == "150000 100000\n"
        assert (Path(shown["cgroup"]) / "cpu.weight").read_text() == "1\n"

    # Two tasks run in it; a death of the provider does not make it more than it was.
    offer, part = taker.offer(is_set)
    taker.accept([offer], *(launch(agent_id, name, SLEEP, take(part, 0.5)) for name in ("one", "two")))
    pids = [started(agent, taker, name) for name in ("one", "two")]
    assert [allowed_cpus(pid) for pid in pids] == [shown["cpus"]] * 2
    taker.simple(scheduler_pb2.Call.SUPPRESS)
    old = agent.provider_pid()
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: agent.provider_pid() != old and agent.cpusets(), 30, "provider restarted")
    assert agent.cpusets()[0]["revocable"]

    # The other framework takes the pool's last CPU: at once, and the tasks have to go.
    offer, raw = steady.offer(is_raw)
    exclusive = made(steady, create_cpuset("take", "latency", take(raw, 1)), offer)
    held = set(labels(exclusive)["cpus"].split(","))
    for name, pid in zip(("one", "two"), pids, strict=True):
        lost = taker.update(name, mesos_pb2.TASK_LOST)
        assert (lost.reason, lost.source) == (Status.REASON_CONTAINER_PREEMPTED, Status.SOURCE_AGENT)
        assert f"set {shown['id']} is revoked: its 1 revocable CPUs were taken back" in lost.message
        wait_for(lambda pid=pid: not alive(pid), 10, "preempted task ended")
    (left,) = wait_for(lambda: len(agent.cpusets()) == 1 and agent.cpusets(), 15, "the revoked set destroyed")
    assert (left["type"], set(left["cpus"].split(","))) == ("EXCLUSIVE", held)
    assert metric(agent, "slave/executors_preempted") == 2
    assert metric(agent, "pinfold/cpus_raw_revocable") == metric(agent, "pinfold/sets_revoked") == 0
    taker.simple(scheduler_pb2.Call.REVIVE)

    # And back: what is shared again is offered again.
    offer, part = steady.offer(is_set)
    made(steady, destroy_cpuset("give", part), offer)
    _, extra = taker.offer(lambda r: is_raw(r) and revocable(r))
    assert extra.scalar.value == 1
