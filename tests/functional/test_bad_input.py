"""Bad input on the main path: a clear error with the field and the value, the right status, nothing changed."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api.wire import mesos_pb2, scheduler_pb2
from tests.functional.harness import (
    AgentProcess,
    Framework,
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


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    """One agent with a provider, which no test of this module may change."""
    directory = tmp_path_factory.mktemp("bad")
    with running_agent(directory) as started:
        config = provider_config(directory)
        response = started.agent_call(
            {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": config}}
        )
        assert response.status_code == 200, response.text
        started.wait_ready()
        yield started


@pytest.fixture(autouse=True)
def nothing_changes(agent: AgentProcess) -> Iterator[None]:
    def picture() -> Any:
        (provider,) = agent.providers()
        return provider["resource_provider_info"], agent.cpusets()

    before = picture()
    yield
    assert wait_for(lambda: picture() == before, 20, "everything as it was before the bad input")


BODIES = [
    ("agent", "/api/v1", b"{", 400, "Failed to parse body into JSON"),
    ("agent", "/api/v1", b"[]", 400, "Expecting a JSON object"),
    ("agent", "/api/v1", b"{}", 400, "Expecting 'type' to be present"),
    ("agent", "/api/v1", b'{"type": "GET_NOTHING"}', 400, "Expecting 'type' to be present"),
    ("agent", "/api/v1", b'{"type": 3}', 400, "Not expecting a JSON number for field 'type'"),
    ("agent", "/api/v1", b'{"type": "LAUNCH_CONTAINER"}', 501, "LAUNCH_CONTAINER"),
    (
        "agent",
        "/api/v1",
        b'{"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": {"type": "t"}}}',
        400,
        "Missing required fields: add_resource_provider_config.info.name",
    ),
    ("agent", "/api/v1", b'{"type": "ADD_RESOURCE_PROVIDER_CONFIG"}', 400, "add_resource_provider_config"),
    ("master", "/api/v1", b"{", 400, "Failed to parse body into JSON"),
    ("master", "/api/v1", b'{"type": "NOPE"}', 400, "Expecting 'type' to be present"),
    ("master", "/api/v1/scheduler", b'{"type": "SUBSCRIBE"}', 400, "Expecting 'subscribe' to be present"),
    ("master", "/api/v1/scheduler", b'{"type": "DECLINE"}', 400, "Expecting 'framework_id' to be present"),
    ("agent", "/api/v1/resource_provider", b'{"type": "UPDATE_STATE"}', 400, "Expecting"),
]


@pytest.mark.parametrize(("port", "path", "body", "status", "text"), BODIES)
def test_bodies(agent: AgentProcess, port: str, path: str, body: bytes, status: int, text: str) -> None:
    url = agent.agent_url if port == "agent" else agent.master_url
    response = requests.post(f"{url}{path}", data=body, headers={"Content-Type": "application/json"}, timeout=10)
    assert (response.status_code, text in response.text) == (status, True), response.text
    assert response.headers["Content-Type"].startswith("text/plain")


CONFIGS = [
    ({"reserved_cpus": "4095"}, 400, ["reserved_cpus", "4095"]),
    ({"reserved_cpus": "1--3"}, 400, ["reserved_cpus", "1--3"]),
    ({"pools": [{"name": "rt", "cpus": "777"}]}, 400, ["cpu.pools[0].cpus", "777"]),
    ({"pools": [{"name": "a", "cpus": "1"}, {"name": "b", "cpus": "1"}]}, 400, ["'a'", "'b'"]),
    ({"pools": [{"name": "big", "capacity": 100000}]}, 400, ["big", "100000"]),
    ({"floor": 100000}, 400, ["floor", "100000"]),
    ({"group_by": "SOCKET"}, 400, ["group_by", "SOCKET"]),
    ({"overcommit": 0.5}, 400, ["overcommit", "0.5"]),
    ({"profiles": {"uri": "gopher://x"}}, 400, ["uri", "gopher"]),
]


@pytest.mark.parametrize(("cpu", "status", "texts"), CONFIGS)
@pytest.mark.parametrize("call", ["ADD_RESOURCE_PROVIDER_CONFIG", "UPDATE_RESOURCE_PROVIDER_CONFIG"])
def test_configs(agent: AgentProcess, call: str, cpu: dict[str, Any], status: int, texts: list[str]) -> None:
    name = "host" if call.startswith("UPDATE") else "second"
    info = {"type": "org.pinfold.rp.cpu", "name": name, "cpu": {"floor": 1, **cpu}}
    response = agent.agent_call({"type": call, call.lower(): {"info": info}})
    assert response.status_code == status, response.text
    for text in texts:
        assert text in response.text
    assert "Traceback" not in response.text


def test_config_of_an_unknown_type_or_a_bad_name(agent: AgentProcess) -> None:
    for info, text in [
        ({"type": "org.example", "name": "x"}, "org.example"),
        ({"type": "org.pinfold.rp.cpu", "name": "../x"}, "../x"),
        ({"type": "org.pinfold.rp.cpu", "name": "host", "cpu": {"floor": 2}}, "already exists"),
        ({"type": "org.pinfold.rp.cpu", "name": "y", "id": {"value": "z"}}, "id"),
    ]:
        response = agent.agent_call(
            {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": info}}
        )
        assert response.status_code == (409 if "already" in text else 400), response.text
        assert text in response.text


def test_operations(agent: AgentProcess) -> None:
    framework = Framework(agent.master_url, role="bad", name="bad")
    framework.subscribe()
    offer, raw = framework.offer(is_raw)
    agent_id = offer.agent_id.value

    # A profile that nobody knows: the answer lists those that there are.
    framework.accept([offer], create_cpuset("profile", "nope", take(raw, 1)))
    status = framework.status_of("profile")
    assert status.state == mesos_pb2.OPERATION_FAILED
    assert "nope" in status.message
    assert "latency" in status.message
    framework.acknowledge_operation(status)

    # More CPUs than there are, half a CPU, and a set made of plain CPUs.
    for operation_id, amount, text in [("many", raw.scalar.value + 1, "does not contain"), ("half", 0.5, "0.5")]:
        offer, raw = framework.offer(is_raw)
        framework.accept([offer], create_cpuset(operation_id, "latency", take(raw, amount)))
        status = framework.status_of(operation_id)
        assert status.state in (mesos_pb2.OPERATION_ERROR, mesos_pb2.OPERATION_FAILED)
        assert text in status.message
        if status.HasField("uuid"):
            framework.acknowledge_operation(status)

    # A stale offer, for an operation and for a task.
    stale = mesos_pb2.Offer()
    stale.CopyFrom(offer)
    stale.id.value = "no-such-offer"
    framework.accept([stale], create_cpuset("stale", "latency", take(raw, 1)))
    status = framework.status_of("stale")
    assert status.state == mesos_pb2.OPERATION_ERROR
    assert "Offer no-such-offer is no longer valid" in status.message
    plain = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    plain.scalar.value = 0.1
    framework.accept([stale], launch(agent_id, "stale-task", "true", plain))
    dropped = framework.wait(scheduler_pb2.Event.UPDATE).update.status
    assert (dropped.task_id.value, dropped.reason) == ("stale-task", mesos_pb2.TaskStatus.REASON_INVALID_OFFERS)

    # Two operations on the same RAW in one ACCEPT: the first gets it.
    offer, raw = framework.offer(is_raw)
    everything = take(raw, raw.scalar.value)
    framework.accept([offer], create_cpuset("one", "latency", everything), create_cpuset("two", "latency", everything))
    assert "does not contain" in framework.status_of("two").message
    one = framework.status_of("one")
    assert one.state == mesos_pb2.OPERATION_FINISHED, one
    framework.acknowledge_operation(one)

    # A set in use cannot be destroyed in the same breath, and a task of another role gets no set.
    offer, part = framework.offer(is_set)
    framework.accept([offer], launch(agent_id, "user", "sleep 600", take(part, 1)), destroy_cpuset("early", part))
    assert framework.status_of("early").state in (mesos_pb2.OPERATION_ERROR, mesos_pb2.OPERATION_FAILED)
    framework.update("user", mesos_pb2.TASK_STARTING)
    framework.update("user", mesos_pb2.TASK_RUNNING)
    other = Framework(agent.master_url, role="thief", name="thief")
    other.subscribe()
    offer, _ = other.offer(lambda r: r.name == "cpus" or r.name == "mem")
    stolen = take(part, 1)
    stolen.allocation_info.role = "thief"
    other.accept([offer], launch(agent_id, "theft", "true", stolen))
    error = other.wait(scheduler_pb2.Event.UPDATE).update.status
    assert (error.task_id.value, error.state) == ("theft", mesos_pb2.TASK_ERROR)
    other.simple(scheduler_pb2.Call.TEARDOWN)
    framework.simple(scheduler_pb2.Call.TEARDOWN)
    assert framework.ended()


def agent_command(work_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", "agent", "--work-dir", str(work_dir), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_start_refused(agent: AgentProcess, tmp_path: Path) -> None:
    free = ("--port", "0", "--master-port", "0")
    # A port in use.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        run = agent_command(tmp_path / "one", "--port", port, "--master-port", "0")
        assert run.returncode == 1
        assert port in run.stderr
        assert "Traceback" not in run.stderr
    # A work directory that another agent uses.
    run = agent_command(agent.work_dir, *free)
    assert run.returncode == 1
    assert str(agent.work_dir) in run.stderr
    assert "in use" in run.stderr
    assert "Traceback" not in run.stderr
    # Another address than loopback, as long as there are no credentials.
    run = agent_command(tmp_path / "two", *free, "--ip", "0.0.0.0")
    assert run.returncode == 2
    assert "--insecure" in run.stderr
    # A database from a newer version.
    with running_agent(tmp_path / "three") as third:
        third.kill(15)
        (database,) = third.work_dir.glob("*.db")
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE alembic_version SET version_num = 'zzz'")
        connection.close()
        before = database.read_bytes()
        run = agent_command(third.work_dir, *free)
        assert run.returncode == 1
        assert "zzz" in run.stderr
        assert "newer" in run.stderr
        assert "Traceback" not in run.stderr
        assert database.read_bytes() == before


def test_provider_config_command_shows_the_servers_words(agent: AgentProcess, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"type": "org.pinfold.rp.cpu", "name": "second", "cpu": {"reserved_cpus": "4095"}}))
    command = [sys.executable, "-m", "agent_api.cli.main", "provider-config", "add", str(path)]
    run = subprocess.run([*command, "--agent", agent.agent_url], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "reserved_cpus" in run.stderr
    assert "4095" in run.stderr
