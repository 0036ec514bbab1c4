"""Field reports that only whole processes can answer: agent, provider, tasks, kernel and network of this host.

Each is a question of docs/field-reports.md; those that need no process are in test_field_reports.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from agent_api.wire import mesos_pb2, scheduler_pb2
from provider import cpuset
from tests.functional.harness import (
    AgentProcess,
    Framework,
    alive,
    create_cpuset,
    destroy_cpuset,
    is_raw,
    is_set,
    launch,
    provider_config,
    running_agent,
    take,
    wait_for,
)
from tests.functional.test_field_reports import change

Event = scheduler_pb2.Event
pytestmark = [
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="an exclusive set beside the floor needs two CPUs"),
    pytest.mark.timeout(240),
]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path) as started:
        assert change(started, "ADD", provider_config(tmp_path)).status_code == 200
        started.wait_ready()
        yield started


def make_set(framework: Framework, name: str = "make") -> mesos_pb2.Resource:
    """One CPU in an exclusive set; the resource of the set."""
    offer, raw = framework.offer(is_raw)
    framework.accept([offer], create_cpuset(name, "latency", take(raw, 1)))
    status = framework.status_of(name)
    assert status.state == mesos_pb2.OPERATION_FINISHED, status
    framework.acknowledge_operation(status)
    return status.converted_resources[0]


def start_task(framework: Framework, name: str, command: str = "exec sleep 600") -> None:
    offer, part = framework.offer(is_set)
    framework.accept([offer], launch(offer.agent_id.value, name, command, take(part, 1)))
    framework.update(name, mesos_pb2.TASK_STARTING)
    framework.update(name, mesos_pb2.TASK_RUNNING)


def test_report_23_a_config_that_takes_a_held_cpu_is_refused_with_the_set(agent: AgentProcess, tmp_path: Path) -> None:
    framework = Framework(agent.master_url, role="latency")
    framework.subscribe()
    made = make_set(framework)
    (held,) = wait_for(agent.cpusets, 5, "the report of the set")
    pid = agent.provider_pid()
    refused = change(agent, "UPDATE", provider_config(tmp_path, reserved_cpus=held["cpus"]))
    assert refused.status_code == 409, refused.text
    assert made.cpu.source.id in refused.text
    assert agent.provider_pid() == pid
    assert [one["id"] for one in agent.cpusets()] == [made.cpu.source.id]


def test_report_25_daemons_task_and_cgroup_all_die(agent: AgentProcess) -> None:
    """The task ends once, and the set is there and takes another task."""
    framework = Framework(agent.master_url, role="latency")
    framework.subscribe()
    made = make_set(framework)
    start_task(framework, "first")
    (before,) = wait_for(agent.cpusets, 5, "the report of the set")
    (task_pid,) = agent.work_dir.glob("tasks/*/*first*/pid.json")
    provider, shim = agent.provider_pid(), int(json.loads(task_pid.read_text())["pid"])
    agent.kill()
    cgroup = Path(before["cgroup"]) if before.get("cgroup") else None
    members = [int(pid) for pid in (cgroup / "cgroup.procs").read_text().split()] if cgroup else []
    for pid in {provider, shim, *members}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not any(alive(pid) for pid in (provider, shim, *members)), 10, "all of them dead")
    if cgroup:
        wait_for(lambda: not (cgroup / "cgroup.procs").read_text(), 10, "the set's cgroup empty")
        cgroup.rmdir()
    agent.start()
    agent.wait_ready()
    framework.subscribe()
    ends = framework.wait(Event.UPDATE, lambda e: e.update.status.task_id.value == "first").update.status
    assert ends.state in (mesos_pb2.TASK_FAILED, mesos_pb2.TASK_LOST, mesos_pb2.TASK_GONE), ends
    framework.acknowledge(ends)
    (after,) = wait_for(agent.cpusets, 10, "the report of the set")
    assert {k: after[k] for k in ("id", "cpus", "state")} == {k: before[k] for k in ("id", "cpus", "state")}
    assert after["id"] == made.cpu.source.id
    if cgroup:
        assert (cgroup / "cpuset.cpus").read_text().strip() == before["cpus"]
    start_task(framework, "second", "exit 0")
    framework.update("second", mesos_pb2.TASK_FINISHED)
    late = [e for e in framework.kept if e.type == Event.UPDATE and e.update.status.task_id.value == "first"]
    assert late == [], "the end of the first task is told once"


RESTARTS = int(os.environ.get("PINFOLD_RESTARTS", "5"))
"""How often the agent is killed; PINFOLD_RESTARTS=20 is what the report asks for."""


@pytest.mark.timeout(120 + 30 * RESTARTS)
def test_report_39_the_agent_is_killed_again_and_again_while_operations_run(agent: AgentProcess) -> None:
    """Every operation that got an id ends in one state, and no CPU is lost or given twice."""
    chance = random.Random(39)
    framework = Framework(agent.master_url, role="latency")
    framework.subscribe()
    provider_id = agent.wait_ready()["resource_provider_info"]["id"]["value"]
    for number in range(RESTARTS):
        offer, part = framework.offer(lambda r: is_raw(r) or is_set(r))
        killer = threading.Timer(chance.uniform(0, 0.25), agent.kill)
        killer.start()
        with contextlib.suppress(AssertionError, requests.RequestException, OSError):
            name = f"op-{number}"
            operation = create_cpuset(name, "latency", take(part, 1)) if is_raw(part) else destroy_cpuset(name, part)
            framework.accept([offer], operation)
            framework.acknowledge_operation(framework.status_of(name, 1))
        killer.join()
        agent.start()
        framework.subscribe()
    provider = agent.wait_ready(40)
    assert provider["resource_provider_info"]["id"]["value"] == provider_id

    def settled() -> bool:
        for event in [*framework.kept]:
            if event.type == Event.UPDATE_OPERATION_STATUS:
                framework.kept.remove(event)
                status = event.update_operation_status.status
                if status.HasField("uuid"):
                    framework.acknowledge_operation(status)
        with contextlib.suppress(AssertionError):
            framework.wait(Event.FAILURE, timeout=0.3)  # takes in what comes
        return not agent.master_get("GET_OPERATIONS").get("operations")

    wait_for(settled, 40, "every operation ended and acknowledged")
    # One CPU in one set, or none in any: what came is one of the two whole states, whatever was lost on the way.
    kinds = [
        r["cpu"]["source"]["type"]
        for r in agent.wait_ready()["total_resources"]
        for _ in range(int(r["scalar"]["value"]))
    ]
    assert len(kinds) == len(os.sched_getaffinity(0)) - 1
    assert kinds.count("EXCLUSIVE") == sum(len(cpuset.ids(cpuset.parse(one["cpus"]))) for one in agent.cpusets())


@contextlib.contextmanager
def cable() -> Iterator[tuple[str, str, list[str]]]:
    """A network namespace at the end of a cable: our address, the name of the cable's far end, and how
    to start a program there."""
    if os.geteuid() or not shutil.which("ip") or not shutil.which("unshare") or not shutil.which("nsenter"):
        pytest.skip("a cable to pull needs root, ip, unshare and nsenter")
    name, other, net = f"pf{os.getpid() % 10**6}a", f"pf{os.getpid() % 10**6}b", f"10.213.{os.getpid() % 200}"
    # `unshare` becomes the program: this pid is the one in the namespace.
    keeper = subprocess.Popen(["unshare", "--net", "sleep", "600"])
    try:
        inside = ["nsenter", "--net", "--target", str(keeper.pid)]
        here = Path("/proc/self/ns/net").readlink()
        wait_for(lambda: Path(f"/proc/{keeper.pid}/ns/net").readlink() != here, 5, "the namespace")
        for command in (
            f"ip link add {name} type veth peer name {other} netns {keeper.pid}",
            f"ip addr add {net}.1/24 dev {name}",
            f"ip link set {name} up",
            " ".join([*inside, f"ip addr add {net}.2/24 dev {other}"]),
            " ".join([*inside, f"ip link set {other} up"]),
        ):
            done = subprocess.run(command.split(), capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"no cable to pull: {command}: {done.stderr.strip()}")
        yield f"{net}.1", other, inside
    finally:
        subprocess.run(["ip", "link", "del", name], capture_output=True)
        keeper.kill()
        keeper.wait()


def test_report_39_a_cable_is_pulled(tmp_path: Path) -> None:
    """No FIN and no RST reach the other side: both notice in half a minute, and the provider comes back as the same."""
    with cable() as (address, link_inside, inside), running_agent(tmp_path, "--ip", address, "--insecure") as agent:
        config = tmp_path / "config.json"
        config.write_text(json.dumps(provider_config(tmp_path)))
        log = (tmp_path / "provider.log").open("ab")
        provider = subprocess.Popen(
            [
                *(*inside, sys.executable, "-m", "agent_api.cli.main"),
                *("provider", "--agent", agent.agent_url, "--config", str(config), "--work-dir", str(tmp_path / "p")),
                *("--cgroup-name", agent.cgroup_name),
            ],
            stdout=log,
            stderr=log,
        )
        try:
            before = agent.wait_ready()["resource_provider_info"]["id"]
            told = tmp_path / "provider.log"
            size = told.stat().st_size
            subprocess.run([*inside, "ip", "link", "set", link_inside, "down"], check=True)
            wait_for(lambda: agent.providers() == [], 45, "the agent noticed")
            wait_for(lambda: "the stream to the agent is closed" in told.read_text()[size:], 45, "the provider noticed")
            subprocess.run([*inside, "ip", "link", "set", link_inside, "up"], check=True)
            assert agent.wait_ready(60)["resource_provider_info"]["id"] == before
        finally:
            provider.send_signal(signal.SIGTERM)
            provider.wait(20)
            log.close()


def test_report_47_heartbeats_keep_to_the_clients_clock(tmp_path: Path) -> None:
    with running_agent(tmp_path) as agent:
        framework = Framework(agent.master_url)
        interval = framework.subscribe().subscribed.heartbeat_interval_seconds
        framework.wait(Event.HEARTBEAT, timeout=5)
        first = time.monotonic()
        framework.wait(Event.HEARTBEAT, timeout=interval + 5)
        assert time.monotonic() - first == pytest.approx(interval, abs=1)
