"""Over HTTP, against one real agent: requests that end a real Mesos, which calls are served, what its web UI reads."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api.web import containers
from agent_api.wire import agent_pb2, master_pb2, mesos_pb2, resource_provider_pb2, scheduler_pb2
from tests.functional import harness
from tests.functional.harness import AgentProcess, wait_for
from tests.functional.replay_wire import Stream, header

JSON = "application/json"
VERSION = {"value": base64.b64encode(b"v" * 16).decode()}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    started = AgentProcess(tmp_path_factory.mktemp("better") / "agent", cgroup_root="none")
    started.start()
    yield started
    assert started.process is not None and started.process.poll() is None, "the agent has ended"
    started.stop()


class Peer:
    """A subscribed framework or provider: a stream and the calls beside it."""

    def __init__(self, url: str, call: dict[str, Any], event_class: Any) -> None:
        host, _, rest = url.removeprefix("http://").partition(":")
        port, _, path = rest.partition("/")
        body = json.dumps(call).encode()
        headers = [("Host", "x"), ("Content-Type", JSON), ("Content-Length", str(len(body)))]
        self.url = url
        self.stream = Stream((host, int(port)), f"/{path}", headers, body, event_class)
        self.stream_id = header(self.stream.headers, "Mesos-Stream-Id") or ""

    def event(self, kind: str, after: int = 0) -> dict[str, Any]:
        """The first event of its type."""

        def found() -> list[dict[str, Any]]:
            return [event for event in self.stream.events if event["type"] == kind][after:]

        assert self.stream.wait(found, 15), f"no {kind} in {self.stream.events}"
        return found()[0]

    def call(self, call: dict[str, Any]) -> requests.Response:
        return requests.post(self.url, json=call, headers={"Mesos-Stream-Id": self.stream_id}, timeout=20)


class Provider(Peer):
    def __init__(self, agent: AgentProcess, name: str, id: str | None = None) -> None:
        info: dict[str, Any] = {"type": "org.example.rp.cpu", "name": name}
        if id is not None:
            info["id"] = {"value": id}
        call = {"type": "SUBSCRIBE", "subscribe": {"resource_provider_info": info}}
        super().__init__(f"{agent.agent_url}/api/v1/resource_provider", call, resource_provider_pb2.Event)
        self.id: str = self.event("SUBSCRIBED")["subscribed"]["provider_id"]["value"]

    def update(self, kind: str, **values: Any) -> requests.Response:
        return self.call({"type": kind, "resource_provider_id": {"value": self.id}, kind.lower(): values})

    def cpus(self, value: float, **more: Any) -> dict[str, Any]:
        scalar = {"name": "cpus", "type": "SCALAR", "scalar": {"value": value}}
        return scalar | {"provider_id": {"value": self.id}} | more


class Framework(Peer):
    def __init__(self, agent: AgentProcess, role: str) -> None:
        kinds = [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}]
        info = {"user": "root", "name": role, "roles": [role], "capabilities": kinds}
        call = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
        super().__init__(f"{agent.master_url}/api/v1/scheduler", call, scheduler_pb2.Event)
        self.id: str = self.event("SUBSCRIBED")["subscribed"]["framework_id"]["value"]

    def call(self, call: dict[str, Any]) -> requests.Response:
        return super().call(call | {"framework_id": {"value": self.id}})


def test_a_scheduler_call_of_type_unknown(agent: AgentProcess) -> None:
    framework = Framework(agent, "unknown")
    answer = framework.call({"type": "UNKNOWN"})
    assert answer.status_code == 501 and "UNKNOWN" in answer.text
    assert framework.call({"type": "REVIVE"}).status_code == 202
    framework.stream.close()


def test_an_operation_without_agent_id_and_one_with_a_short_uuid(agent: AgentProcess) -> None:
    framework, provider = Framework(agent, "odd"), Provider(agent, "odd")
    reserved = provider.cpus(1, reservations=[{"type": "DYNAMIC", "role": "odd"}])
    for uuid, name in (("MTIzNDU2Nzg5MDEyMzQ1Ng==", "no-agent"), ("YQ==", "short")):
        operation = {
            "framework_id": {"value": framework.id},
            "info": {"type": "RESERVE", "id": {"value": name}, "reserve": {"resources": [reserved]}},
            "uuid": {"value": uuid},
            "latest_status": {"operation_id": {"value": name}, "state": "OPERATION_PENDING"},
        }
        resources = [provider.cpus(4)]
        state = {"resources": resources, "resource_version_uuid": VERSION, "operations": [operation]}
        assert provider.update("UPDATE_STATE", **state).status_code == 202
        status = {
            "operation_id": {"value": name},
            "state": "OPERATION_FAILED",
            "uuid": {"value": base64.b64encode(name.encode().ljust(16, b"-")[:16]).decode()},
            "resource_provider_id": {"value": provider.id},
        }
        answer = provider.update("UPDATE_OPERATION_STATUS", status=status, operation_uuid={"value": uuid})
        assert answer.status_code == 202, answer.text
        event = framework.stream
        assert event.wait(lambda name=name: _told(framework, name), 15), framework.stream.events
        told = _told(framework, name)
        assert told["agent_id"] == {"value": agent.agent_get("GET_AGENT")["agent_info"]["id"]["value"]}
        acknowledge = {
            "agent_id": told["agent_id"],
            "operation_id": {"value": name},
            "uuid": told["uuid"]["value"],
            "resource_provider_id": {"value": provider.id},
        }
        call = {"type": "ACKNOWLEDGE_OPERATION_STATUS", "acknowledge_operation_status": acknowledge}
        assert framework.call(call).status_code == 202
        wait_for(lambda: "operations" not in agent.agent_get("GET_OPERATIONS"), 10, "acknowledged")
    provider.stream.close()
    framework.stream.close()


def _told(framework: Framework, name: str) -> dict[str, Any]:
    for event in framework.stream.events:
        if event["type"] == "UPDATE_OPERATION_STATUS":
            status: dict[str, Any] = event["update_operation_status"]["status"]
            if status["operation_id"]["value"] == name:
                return status
    return {}


def test_a_known_provider_takes_over_while_its_old_connection_is_open(agent: AgentProcess) -> None:
    old = Provider(agent, "twice")
    state = {"resources": [old.cpus(2)], "resource_version_uuid": VERSION}
    assert old.update("UPDATE_STATE", **state).status_code == 202
    new = Provider(agent, "twice", old.id)
    assert new.id == old.id and new.stream_id != old.stream_id
    assert old.stream.wait(lambda: old.stream.ended, 10), "the old stream ends"
    assert old.update("UPDATE_STATE", **state).status_code == 400
    assert new.update("UPDATE_STATE", **state).status_code == 202
    shown = [p for p in agent.providers() if p["resource_provider_info"]["name"] == "twice"]
    assert [p["total_resources"][0]["scalar"]["value"] for p in shown] == [2.0]
    old.stream.close()
    new.stream.close()


def test_a_resource_with_the_old_role_field(agent: AgentProcess) -> None:
    provider = Provider(agent, "old-role")
    state = {"resources": [provider.cpus(2, role="kept")], "resource_version_uuid": VERSION}
    assert provider.update("UPDATE_STATE", **state).status_code == 202
    (shown,) = [p for p in agent.providers() if p["resource_provider_info"]["name"] == "old-role"]
    assert shown["total_resources"][0]["reservations"] == [{"type": "STATIC", "role": "kept"}]
    provider.stream.close()


# Which calls are served -----------------------------------------------------------------------------------------------

AGENT_CALLS = {
    *("GET_HEALTH", "GET_FLAGS", "GET_VERSION", "GET_METRICS", "GET_LOGGING_LEVEL", "SET_LOGGING_LEVEL", "LIST_FILES"),
    *("READ_FILE", "GET_STATE", "GET_CONTAINERS", "GET_FRAMEWORKS", "GET_EXECUTORS", "GET_OPERATIONS", "GET_TASKS"),
    *("GET_AGENT", "GET_RESOURCE_PROVIDERS", "ADD_RESOURCE_PROVIDER_CONFIG", "UPDATE_RESOURCE_PROVIDER_CONFIG"),
    *("REMOVE_RESOURCE_PROVIDER_CONFIG", "MARK_RESOURCE_PROVIDER_GONE"),
    *("GET_TOPOLOGY", "GET_PROFILES", "GET_CPUSETS", "DESTROY_CPUSET", "COMPACT_CPUSETS"),
}
MASTER_CALLS = {
    *("GET_HEALTH", "GET_FLAGS", "GET_VERSION", "GET_METRICS", "GET_LOGGING_LEVEL", "SET_LOGGING_LEVEL", "LIST_FILES"),
    *("READ_FILE", "GET_STATE", "GET_AGENTS", "GET_FRAMEWORKS", "GET_EXECUTORS", "GET_OPERATIONS", "GET_TASKS"),
    *("GET_ROLES", "GET_WEIGHTS", "UPDATE_WEIGHTS", "GET_MASTER", "GET_QUOTA", "UPDATE_QUOTA", "SET_QUOTA"),
    *("REMOVE_QUOTA", "RESERVE_RESOURCES", "UNRESERVE_RESOURCES", "GET_MAINTENANCE_STATUS"),
    *("GET_MAINTENANCE_SCHEDULE", "TEARDOWN"),
}


@pytest.mark.parametrize(
    ("port", "module", "served"), [("agent", agent_pb2, AGENT_CALLS), ("master", master_pb2, MASTER_CALLS)]
)
def test_what_is_served_and_what_is_not(agent: AgentProcess, port: str, module: Any, served: set[str]) -> None:
    url = f"{agent.agent_url if port == 'agent' else agent.master_url}/api/v1"
    for name in sorted(set(module.Call.Type.keys()) - {"UNKNOWN", "SUBSCRIBE"}):
        answer = requests.post(url, json={"type": name}, timeout=20)
        if name in served:
            needs = answer.status_code == 400 and "to be present" in answer.text
            assert answer.status_code == 200 or needs, f"{name}: {answer.status_code} {answer.text}"
        else:
            assert answer.status_code == 501, f"{name}: {answer.status_code} {answer.text}"
            assert answer.text == f"{port.capitalize()} call {name} is not served by Pinfold"


# What Mesos's web UI reads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("port", "path"),
    [
        ("master", "/master/state"),
        ("master", "/master/roles"),
        ("master", "/metrics/snapshot"),
        ("agent", "/slave(1)/state"),
        ("agent", "/metrics/snapshot"),
        ("agent", "/slave(1)/monitor/statistics"),
        ("agent", "/files/browse?path=."),
    ],
)
def test_paths_of_the_web_ui_call_back(agent: AgentProcess, port: str, path: str) -> None:
    (agent.work_dir / "tasks").mkdir(exist_ok=True)
    url = f"{agent.agent_url if port == 'agent' else agent.master_url}{path}"
    plain = requests.get(url, timeout=20)
    assert (plain.status_code, plain.headers["Content-Type"]) == (200, JSON), plain.text
    called = requests.get(f"{url}{'&' if '?' in url else '?'}jsonp=angular.callbacks._7", timeout=20)
    assert (called.status_code, called.headers["Content-Type"]) == (200, "text/javascript")
    function, _, rest = called.text.partition("(")
    assert function == "angular.callbacks._7" and rest.endswith(")")
    value = json.loads(rest[:-1])
    assert type(value) is type(plain.json())
    if isinstance(value, dict):
        assert value.keys() == plain.json().keys()


def _process(proc: Path, pid: int, parent: int, ticks: tuple[int, int, int, int], pages: int) -> None:
    (proc / str(pid)).mkdir()
    before = f"{pid} (a (b) c) S {parent} {pid} {pid} 0 -1 4194560 0 0 0 0"
    after = f"20 0 1 0 100 0 {pages} 0"
    (proc / str(pid) / "stat").write_text(f"{before} {' '.join(map(str, ticks))} {after}\n")


def test_what_a_task_uses_is_that_of_all_its_processes(tmp_path: Path) -> None:
    hertz, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    _process(tmp_path, 10, 1, (hertz, 0, 2 * hertz, 0), 100)  # the shim, and what it waited for
    _process(tmp_path, 11, 10, (3 * hertz, hertz, 0, 0), 50)
    _process(tmp_path, 12, 11, (0, 0, 0, hertz), 7)
    _process(tmp_path, 13, 1, (hertz * 100, 0, 0, 0), 1000)  # somebody else's
    found = [agent_pb2.Response.GetContainers.Container() for _ in range(2)]
    found[0].container_status.executor_pid = 10
    found[1].container_status.executor_pid = 99  # gone meanwhile
    containers.measure(found, 7.0, str(tmp_path))
    used = found[0].resource_statistics
    assert (used.cpus_user_time_secs, used.cpus_system_time_secs) == (6, 2)
    assert (used.mem_rss_bytes, used.processes, used.timestamp) == (157 * page, 3, 7.0)
    assert not found[1].resource_statistics.HasField("mem_rss_bytes")
    assert found[1].resource_statistics.timestamp == 7.0


def test_containers_and_their_statistics(agent: AgentProcess) -> None:
    framework = harness.Framework(agent.master_url, role="stats")
    framework.subscribe()
    offer, cpus = framework.offer(lambda r: r.name == "cpus")
    given = [mesos_pb2.Resource(name=name, type=mesos_pb2.Value.SCALAR) for name in ("cpus", "mem")]
    for resource, value in zip(given, (0.5, 32), strict=True):
        resource.scalar.value = value
        resource.allocation_info.CopyFrom(cpus.allocation_info)
    # It uses CPU time in a child, until the file goes.
    command = "touch on; (while [ -e on ]; do :; done); sleep 1000"
    framework.accept([offer], harness.launch(offer.agent_id.value, "busy", command, *given))
    framework.update("busy", mesos_pb2.TASK_STARTING)
    framework.update("busy", mesos_pb2.TASK_RUNNING)

    def busy() -> Any:
        (one,) = requests.get(f"{agent.agent_url}/monitor/statistics", timeout=20).json()
        used = one["statistics"]
        return one if used["cpus_user_time_secs"] + used["cpus_system_time_secs"] > 0.2 else None

    shown = wait_for(busy, 30, "CPU time")
    sandbox = agent.work_dir / "tasks" / framework.id / "busy"
    (sandbox / "on").unlink()
    assert (shown["executor_id"], shown["source"], shown["framework_id"]) == ("busy", "busy", framework.id)
    used = shown["statistics"]
    assert (used["cpus_soft_limit"], used["mem_limit_bytes"]) == (0.5, 32 * 1024 * 1024)
    assert used["mem_rss_bytes"] > 100_000 and used["processes"] >= 3 and used["timestamp"] > 1e9
    (container,) = requests.get(f"{agent.agent_url}/slave(1)/containers", timeout=20).json()
    assert container["executor_id"] == "busy" and container["statistics"].keys() == used.keys()
    (called,) = agent.agent_get("GET_CONTAINERS")["containers"]
    assert called["container_id"]["value"] == container["container_id"]
    assert called["container_status"] == container["status"]
    assert called["resource_statistics"].keys() == used.keys()
    framework.kill("busy")
    framework.update("busy", mesos_pb2.TASK_KILLED)
    assert requests.get(f"{agent.agent_url}/monitor/statistics", timeout=20).json() == []
    framework.simple(scheduler_pb2.Call.TEARDOWN)
