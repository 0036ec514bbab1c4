"""The agent's two ports as a client sees them: a real `pinfold agent`, raw sockets where bytes matter."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from agent_api.wire import agent_pb2, master_pb2, recordio, scheduler_pb2
from tests.functional.harness import AgentProcess, Framework, wait_for

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
HEALTH = b'{"type":"GET_HEALTH"}'
HEALTHY = b'{"type":"GET_HEALTH","get_health":{"healthy":true}}'


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    """One agent for all tests that leave nothing behind."""
    started = AgentProcess(tmp_path_factory.mktemp("http") / "agent", cgroup_root="none")
    started.start()
    yield started
    started.stop()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[AgentProcess]:
    started = AgentProcess(tmp_path / "agent", cgroup_root="none")
    started.start()
    yield started
    started.stop()


def port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


class Raw:
    """A connection on which exactly the given bytes are sent, and answers are read as they come."""

    def __init__(self, url: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port_of(url)), timeout=20)
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def send(
        self, method: str, path: str, headers: list[tuple[str, str]], body: bytes | None = None, length: bool = True
    ) -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in headers)]
        if body is not None and length:
            lines.append(f"Content-Length: {len(body)}")
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))

    def head(self) -> tuple[int, dict[str, str]]:
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def answer(self, body: bool = True) -> tuple[int, dict[str, str], bytes]:
        status, headers = self.head()
        return status, headers, self.file.read(int(headers["content-length"])) if body else b""

    def chunk(self) -> bytes:
        """One HTTP chunk; b"" at the end of the stream."""
        size = int(self.file.readline(), 16)
        data = self.file.read(size)
        assert self.file.read(2) == b"\r\n"
        return data

    def ask(self, method: str, path: str, headers: list[tuple[str, str]], body: bytes | None = None) -> Any:
        self.send(method, path, headers, body)
        return self.answer(method != "HEAD")


POST_JSON = [("Content-Type", JSON), ("Accept", JSON)]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1", 200),
        ("/api/v1/", 200),
        ("/api/v1?a=b", 200),
        ("/api/v1/operator", 200),
        ("/api/v1/state", 200),
        ("/slave(1)/api/v1", 200),
        ("/slave%281%29/api/v1", 200),
        ("/slave(1)/api/v1/", 200),
        ("/api/v2", 404),
        ("/api/v10", 404),
        ("/api", 404),
        ("/slave/api/v1", 404),
        ("/slave(2)/api/v1", 404),
        ("/nope", 404),
        ("/state.json", 404),
    ],
)
def test_paths(agent: AgentProcess, path: str, status: int) -> None:
    with Raw(agent.agent_url) as raw:
        found, headers, body = raw.ask("POST", path, POST_JSON, HEALTH)
        assert found == status
        if status == 200:
            assert body == HEALTHY
            assert headers["content-type"] == JSON
        else:
            assert body == b"404 Not Found."
            assert headers["content-type"] == "text/plain; charset=utf-8"
        assert raw.ask("POST", "/api/v1", POST_JSON, HEALTH)[2] == HEALTHY, "the connection stays open"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_a_wrong_method(agent: AgentProcess, method: str) -> None:
    with Raw(agent.agent_url) as raw:
        status, headers, body = raw.ask(method, "/api/v1", POST_JSON, HEALTH)
        assert (status, headers["allow"]) == (405, "POST")
        assert body.decode() == f"405 Method Not Allowed. Expecting one of {{ 'POST' }}, but received '{method}'."
        assert raw.ask("HEAD", "/api/v1", [])[0] == 405
        assert raw.ask("POST", "/api/v1", POST_JSON, HEALTH)[2] == HEALTHY


API = "/api/v1"
PROVIDER = "/api/v1/resource_provider"


@pytest.mark.parametrize(
    ("path", "headers", "body", "status", "text"),
    [
        (API, [("Accept", JSON)], HEALTH, 400, "Expecting 'Content-Type' to be present"),
        (
            API,
            [("Content-Type", "text/plain")],
            HEALTH,
            415,
            "Expecting 'Content-Type' of application/json or application/x-protobuf or application/recordio",
        ),
        (
            API,
            [("Content-Type", JSON), ("Accept", "text/html")],
            HEALTH,
            406,
            "Expecting 'Accept' to allow application/json or application/x-protobuf or application/recordio",
        ),
        (
            API,
            [("Content-Type", JSON), ("Accept", "application/json;q=0")],
            HEALTH,
            406,
            "Expecting 'Accept' to allow application/json or application/x-protobuf or application/recordio",
        ),
        (API, POST_JSON, b"{}", 400, "Failed to validate agent::Call: Expecting 'type' to be present"),
        (
            API,
            POST_JSON,
            b'{"type":"NO_SUCH_CALL"}',
            400,
            "Failed to validate agent::Call: Expecting 'type' to be present",
        ),
        (API, POST_JSON, b'{"type":"UNKNOWN"}', 501, "501 Not Implemented."),
        (API, POST_JSON, b'{"type":"GET_HEALTH","type":"UNKNOWN"}', 501, "501 Not Implemented."),
        (
            API,
            POST_JSON,
            b"[]",
            400,
            "Expecting a JSON object",
        ),
        (
            API,
            POST_JSON,
            b'{"type": 1}',
            400,
            "Not expecting a JSON number for field 'type'",
        ),
        (
            API,
            POST_JSON,
            b'{"type":"SET_LOGGING_LEVEL","set_logging_level":{"level":0}}',
            400,
            "Missing required fields: set_logging_level.duration",
        ),
        (
            API,
            POST_JSON,
            b'{"type":"ADD_RESOURCE_PROVIDER_CONFIG"}',
            400,
            "Failed to validate agent::Call: Expecting 'add_resource_provider_config' to be present",
        ),
        (
            API,
            [("Content-Type", PROTOBUF)],
            b"hello world",
            400,
            "Failed to parse body into a protobuf object",
        ),
        (
            API,
            [("Content-Type", "application/recordio"), ("Message-Content-Type", JSON)],
            HEALTH,
            501,
            "Agent calls that are a stream (ATTACH_CONTAINER_INPUT) are not served by Pinfold",
        ),
        (API, POST_JSON, b'{"type":"LAUNCH_CONTAINER"}', 501, "Agent call LAUNCH_CONTAINER is not served by Pinfold"),
        (API, POST_JSON, b'{"type":"PRUNE_IMAGES"}', 501, "Agent call PRUNE_IMAGES is not served by Pinfold"),
        (
            PROVIDER,
            [("Content-Type", "text/plain")],
            b"{}",
            415,
            "Expecting 'Content-Type' of application/json or application/x-protobuf",
        ),
        (
            PROVIDER,
            [*POST_JSON, ("Accept", "text/html")],
            b'{"type":"SUBSCRIBE"}',
            406,
            "Expecting 'Accept' to allow 'application/x-protobuf' or 'application/json'",
        ),
        (PROVIDER, POST_JSON, b"[]", 400, "Failed to convert JSON into Call protobuf: Expecting a JSON object"),
        (PROVIDER, [("Content-Type", PROTOBUF)], b"hello world", 400, "Failed to parse body into Call protobuf"),
        (
            PROVIDER,
            POST_JSON,
            b"{}",
            400,
            "Failed to validate resource_provider::Call: Expecting 'type' to be present",
        ),
        (
            PROVIDER,
            POST_JSON,
            b'{"type":"SUBSCRIBE"}',
            400,
            "Failed to validate resource_provider::Call: Expecting 'subscribe' to be present",
        ),
        (
            PROVIDER,
            [*POST_JSON, ("Mesos-Stream-Id", "11111111-2222-3333-4444-555555555555")],
            b'{"type":"SUBSCRIBE","subscribe":{"resource_provider_info":{"type":"a.b","name":"c"}}}',
            400,
            "Subscribe calls should not include the 'Mesos-Stream-Id' header",
        ),
    ],
)
def test_refusals(
    agent: AgentProcess, path: str, headers: list[tuple[str, str]], body: bytes, status: int, text: str
) -> None:
    with Raw(agent.agent_url) as raw:
        found, answered, said = raw.ask("POST", path, headers, body)
        assert (found, said.decode()) == (status, text)
        assert answered["content-type"] == "text/plain; charset=utf-8"
        assert raw.ask("POST", "/api/v1", POST_JSON, HEALTH)[2] == HEALTHY, "the connection stays open"


def test_a_body_that_is_no_json(agent: AgentProcess) -> None:
    for body in (b"", b'{"type":', b"not json", b'{"type":"GET_HEALTH"} x', b"\xef\xbb\xbf{}"):
        with Raw(agent.agent_url) as raw:
            status, _, said = raw.ask("POST", API, POST_JSON, body)
            assert status == 400, body
            assert said.startswith(b"Failed to parse body into JSON: "), said


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ([], JSON),
        (["*/*"], JSON),
        ([JSON], JSON),
        ([PROTOBUF], PROTOBUF),
        ([f"{PROTOBUF}, {JSON}"], JSON),
        ([f"{PROTOBUF};q=1, {JSON};q=0.1"], JSON),
        (["text/html, application/*;q=0.5"], JSON),
        ([PROTOBUF, JSON], JSON),
        ([JSON, PROTOBUF], PROTOBUF),
        (["text/html", PROTOBUF], PROTOBUF),
    ],
)
def test_negotiation(agent: AgentProcess, accept: list[str], media: str) -> None:
    with Raw(agent.agent_url) as raw:
        headers = [("Content-Type", JSON), *(("Accept", value) for value in accept)]
        status, answered, body = raw.ask("POST", API, headers, HEALTH)
        assert (status, answered["content-type"]) == (200, media)
        if media == PROTOBUF:
            assert agent_pb2.Response.FromString(body).get_health.healthy
        else:
            assert body == HEALTHY


def test_content_types_that_are_taken(agent: AgentProcess) -> None:
    call = agent_pb2.Call(type=agent_pb2.Call.GET_HEALTH).SerializeToString()
    for headers, body in (
        ([("Content-Type", f"{JSON}; charset=utf-8")], HEALTH),
        ([("Content-Type", "text/plain"), ("Content-Type", JSON)], HEALTH),
        ([("Content-Type", PROTOBUF)], call),
    ):
        with Raw(agent.agent_url) as raw:
            assert raw.ask("POST", API, headers, body)[2] == HEALTHY


def test_packed_and_chunked_requests(agent: AgentProcess) -> None:
    with Raw(agent.agent_url) as raw:
        assert raw.ask("POST", API, [*POST_JSON, ("Content-Encoding", "gzip")], gzip.compress(HEALTH))[2] == HEALTHY
        chunks = b"".join(b"%x\r\n%s\r\n" % (1, bytes([byte])) for byte in HEALTH) + b"0\r\n\r\n"
        raw.send("POST", API, [*POST_JSON, ("Transfer-Encoding", "chunked")], chunks, length=False)
        assert raw.answer()[2] == HEALTHY
        for broken in (b"nonsense", gzip.compress(HEALTH)[:-4], gzip.compress(HEALTH) + b"more"):
            status, _, said = raw.ask("POST", API, [*POST_JSON, ("Content-Encoding", "gzip")], broken)
            assert status == 400
            assert b"gzip" in said


def test_large_bodies_are_refused_before_and_after_unpacking(agent: AgentProcess) -> None:
    with Raw(agent.agent_url) as raw:
        fits = HEALTH + b" " * (8 * 1024 * 1024)
        assert raw.ask("POST", API, POST_JSON, fits)[2] == HEALTHY
        too_large = HEALTH + b" " * (16 * 1024 * 1024)
        assert raw.ask("POST", API, POST_JSON, too_large)[0] == 413
        bomb = gzip.compress(b" " * (256 * 1024 * 1024), compresslevel=1)
        assert len(bomb) < 16 * 1024 * 1024
        assert raw.ask("POST", API, [*POST_JSON, ("Content-Encoding", "gzip")], bomb)[0] == 413
        assert raw.ask("POST", API, POST_JSON, HEALTH)[2] == HEALTHY
    assert agent.process is not None
    status = Path(f"/proc/{agent.process.pid}/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
    assert peak < 300, f"{peak} MiB"


def test_packed_answers(agent: AgentProcess) -> None:
    with Raw(agent.agent_url) as raw:
        headers = [*POST_JSON, ("Accept-Encoding", "gzip, deflate")]
        status, answered, body = raw.ask("GET", "/metrics/snapshot", headers)
        assert status == 200
        if "content-encoding" in answered:
            body = gzip.decompress(body)
        json.loads(body)
        _, answered, body = raw.ask("GET", "/", headers)
        assert answered["content-encoding"] == "gzip"
        assert b"<title>Pinfold</title>" in gzip.decompress(body)
        _, answered, body = raw.ask("POST", API, headers, HEALTH)
        assert "content-encoding" not in answered
        assert body == HEALTHY


def test_empty_answers(agent: AgentProcess) -> None:
    call = {"type": "SET_LOGGING_LEVEL", "set_logging_level": {"level": 0, "duration": {"nanoseconds": 1}}}
    with Raw(agent.agent_url) as raw:
        status, headers, body = raw.ask("POST", API, POST_JSON, json.dumps(call).encode())
        assert (status, headers["content-length"], body) == (200, "0", b"")
        assert "content-type" not in headers
        for path in ("/health", "/slave(1)/health"):
            status, headers, body = raw.ask("GET", path, [])
            assert (status, headers["content-length"], body) == (200, "0", b"")
            assert "content-type" not in headers
        assert raw.ask("HEAD", "/health", [])[0] == 200


def test_the_reading_endpoints(agent: AgentProcess) -> None:
    for path in ("/state", "/slave(1)/state"):
        state = requests.get(agent.agent_url + path, timeout=10).json()
        assert state["pid"] == f"slave(1)@127.0.0.1:{port_of(agent.agent_url)}"
    for path in ("/state", "/master/state", "/slaves", "/master/slaves", "/master/slaves/", "/tasks", "/frameworks"):
        assert isinstance(requests.get(agent.master_url + path, timeout=10).json(), dict), path
    for path in ("/roles", "/flags", "/version", "/metrics/snapshot"):
        assert requests.get(agent.master_url + path, timeout=10).json(), path
    for path in ("/quota", "/maintenance/schedule", "/master/maintenance/status"):
        assert requests.get(agent.master_url + path, timeout=10).json() == {}, path
    assert requests.get(f"{agent.master_url}/weights", timeout=10).json() == []
    for path in ("/flags", "/version", "/metrics/snapshot"):
        assert requests.get(agent.agent_url + path, timeout=10).json(), path
    version = requests.get(f"{agent.master_url}/version", timeout=10).json()["version"]
    assert version.replace(".", "").isdigit()
    assert requests.get(f"{agent.master_url}/tasks?order=asc&limit=-1", timeout=10).json() == {"tasks": []}
    assert requests.get(f"{agent.master_url}/tasks?limit=x", timeout=10).status_code == 400
    redirect = requests.get(f"{agent.master_url}/redirect", allow_redirects=False, timeout=10)
    assert redirect.status_code == 307
    assert redirect.headers["Location"] == agent.master_url.removeprefix("http:")
    answer = requests.get(f"{agent.master_url}/state?jsonp=angular.callbacks._0", timeout=10)
    assert answer.headers["Content-Type"] == "text/javascript"
    assert answer.text.startswith("angular.callbacks._0({")
    assert requests.get(f"{agent.master_url}/state?jsonp=alert(1)//", timeout=10).status_code == 400


def test_metrics_in_prometheus_text(agent: AgentProcess) -> None:
    answer = requests.get(f"{agent.agent_url}/metrics", timeout=10)
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = list(text_string_to_metric_families(answer.text))
    assert families and all(family.name.startswith("pinfold_") for family in families)
    names = [family.name for family in families]
    assert len(names) == len(set(names))


def test_the_figures_of_frameworks_and_roles_have_labels(agent: AgentProcess) -> None:
    clients = [Framework(agent.master_url, role=role) for role in ("eng/dev", "ops")]
    for client in clients:
        client.subscribe()
    text = requests.get(f"{agent.agent_url}/metrics", timeout=10).text
    for client in clients:
        client.call(scheduler_pb2.Call(type=scheduler_pb2.Call.TEARDOWN))
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    subscribed = [s for s in samples if s.name == "pinfold_master_framework_calls_subscribe_total"]
    assert {client.id: 1.0 for client in clients}.items() <= {
        s.labels["framework_id"]: s.value for s in subscribed
    }.items()
    shares = [s for s in samples if s.name == "pinfold_allocator_mesos_role_share_dominant"]
    assert {"eng/dev", "ops"} <= {s.labels["role"] for s in shares}


def test_the_logging_level_goes_back_by_itself(agent: AgentProcess) -> None:
    def level() -> int:
        answer = agent.agent_get("GET_LOGGING_LEVEL")["level"]
        assert isinstance(answer, int)
        return answer

    assert level() == 0
    call = {"type": "SET_LOGGING_LEVEL", "set_logging_level": {"level": 1, "duration": {"nanoseconds": 700_000_000}}}
    assert agent.agent_call(call).status_code == 200
    assert level() == 1
    wait_for(lambda: level() == 0, 5)


def test_files_of_tasks_and_no_others(fresh: AgentProcess) -> None:
    sandbox = fresh.work_dir / "tasks" / "f" / "t"
    sandbox.mkdir(parents=True)
    (sandbox / "stdout").write_text("0123456789")
    (sandbox / "spec.json").write_text("{}")
    (sandbox / "link").symlink_to("/etc/passwd")
    (sandbox / "up").symlink_to("../../..")
    os.mkfifo(sandbox / "pipe")
    tasks = fresh.work_dir / "tasks"

    def read(path: str, **more: Any) -> requests.Response:
        return fresh.agent_call({"type": "READ_FILE", "read_file": {"path": path, "offset": 0, **more}})

    virtual = "/frameworks/f/executors/t/runs/latest"
    for path in ("f/t/stdout", f"{tasks}/f/t/stdout", "./f/../f/t/stdout", f"{virtual}/stdout"):
        answer = read(path, offset=2, length=3).json()["read_file"]
        assert answer == {"size": 10, "data": "MjM0"}
    assert read("f/t/stdout", offset=99).json()["read_file"]["size"] == 10
    for path in (
        "/etc/passwd",
        "../agent.db",
        "f/t/link",
        "f/t/up/agent.db",
        "f/t/pipe",
        "f/t/spec.json",
        "nope",
        "f/t/stdout\0x",
        str(fresh.work_dir / "agent.db"),
        f"{tasks}/../agent.db",
        f"{virtual}/link",
        f"{virtual}/spec.json",
        f"{virtual}/../../../agent.db",
        "/frameworks/../executors/../runs/latest/agent.db",
        "/frameworks/f/executors/x/runs/latest/stdout",
    ):
        assert read(path).status_code == 404, path
    url = f"{fresh.agent_url}/files"
    assert requests.get(f"{url}/download?path=f/t/stdout", timeout=10).content == b"0123456789"
    assert requests.get(f"{url}/read?path=f/t/stdout&offset=8", timeout=10).json() == {"data": "89", "offset": 8}
    assert requests.get(f"{url}/read?path=f/t/stdout", timeout=10).json() == {"data": "", "offset": 10}
    names = [entry["path"] for entry in requests.get(f"{url}/browse?path=f/t", timeout=10).json()]
    assert names == ["f/t/link", "f/t/pipe", "f/t/stdout", "f/t/up"]
    assert requests.get(f"{url}/download?path=/etc/passwd", timeout=10).status_code == 404
    assert requests.get(f"{url}/browse", timeout=10).status_code == 400
    listed = fresh.agent_call({"type": "LIST_FILES", "list_files": {"path": "f/t"}}).json()["list_files"]
    assert [Path(info["path"]).name for info in listed["file_infos"]] == ["link", "pipe", "stdout", "up"]
    assert listed["file_infos"][2]["size"] == 10
    again = fresh.agent_call({"type": "LIST_FILES", "list_files": {"path": virtual}}).json()["list_files"]
    assert [info["path"] for info in again["file_infos"]] == [
        f"{virtual}/{n}" for n in ("link", "pipe", "stdout", "up")
    ]
    for path in ("f/t/stdout", f"{virtual}/stdout"):
        assert fresh.agent_call({"type": "LIST_FILES", "list_files": {"path": path}}).json()["list_files"] == {}
    for path in ("/", "/etc", "..", "f/t/up", "/nope", "/slave/log"):
        status = fresh.agent_call({"type": "LIST_FILES", "list_files": {"path": path}}).status_code
        assert status == 404, path


# -- streams

SUBSCRIBE = {
    "type": "SUBSCRIBE",
    "subscribe": {
        "framework_info": {"user": "root", "name": "ünï", "roles": ["*"], "capabilities": [{"type": "MULTI_ROLE"}]}
    },
}


def test_a_schedulers_stream(fresh: AgentProcess) -> None:
    with Raw(fresh.master_url) as raw:
        raw.send("POST", "/api/v1/scheduler", POST_JSON, json.dumps(SUBSCRIBE).encode())
        status, headers = raw.head()
        assert status == 200
        assert headers["transfer-encoding"] == "chunked"
        assert headers["content-type"] == JSON
        assert headers["mesos-stream-id"]
        kinds = []
        while "OFFERS" not in kinds:
            (record,) = recordio.Decoder().feed(raw.chunk())  # one chunk is one record, whole
            record.decode("ascii")
            kinds.append(json.loads(record)["type"])
        assert kinds[:2] == ["SUBSCRIBED", "HEARTBEAT"]
    # The connection is gone, and with it a framework that has no failover timeout.
    wait_for(lambda: fresh.master_get("GET_FRAMEWORKS")["completed_frameworks"], 10)


def test_a_stream_in_protobuf_and_with_connection_close(fresh: AgentProcess) -> None:
    with Raw(fresh.master_url) as raw:
        headers = [("Content-Type", JSON), ("Accept", PROTOBUF), ("Connection", "close")]
        raw.send("POST", "/master/api/v1/scheduler", headers, json.dumps(SUBSCRIBE).encode())
        status, answered = raw.head()
        assert (status, answered["content-type"]) == (200, PROTOBUF)
        (record,) = recordio.Decoder().feed(raw.chunk())
        event = scheduler_pb2.Event.FromString(record)
        assert event.subscribed.heartbeat_interval_seconds == 15


def test_the_operators_stream(fresh: AgentProcess) -> None:
    with Raw(fresh.master_url) as raw:
        raw.send("POST", "/api/v1", [("Content-Type", JSON), ("Accept", PROTOBUF)], b'{"type":"SUBSCRIBE"}')
        status, headers = raw.head()
        assert status == 200
        assert "mesos-stream-id" not in headers

        def event() -> master_pb2.Event:
            (record,) = recordio.Decoder().feed(raw.chunk())
            return master_pb2.Event.FromString(record)

        first, second = event(), event()
        assert first.type == master_pb2.Event.SUBSCRIBED
        assert first.subscribed.HasField("get_state")
        assert second.type == master_pb2.Event.HEARTBEAT
        with Raw(fresh.master_url) as other:
            other.send("POST", "/api/v1/scheduler", POST_JSON, json.dumps(SUBSCRIBE).encode())
            other.head()
            while (found := event()).type == master_pb2.Event.HEARTBEAT:
                pass
            assert found.type == master_pb2.Event.FRAMEWORK_ADDED
            assert found.framework_added.framework.framework_info.name == "ünï"


def test_a_subscriber_that_does_not_read_is_cut_off(fresh: AgentProcess) -> None:
    """Operators' events grow with each framework; one operator reads nothing, another all."""
    with contextlib.ExitStack() as stack:
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", port_of(fresh.master_url)))
        stack.callback(slow.close)
        slow.sendall(
            b"POST /api/v1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n"
            b'{"type":"SUBSCRIBE"}'
        )
        assert fresh.process is not None
        info = {**SUBSCRIBE["subscribe"]["framework_info"], "name": "x" * 500_000}  # type: ignore[index]
        body = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}

        def cut() -> bool:
            return "cut off" in fresh.log.read_text()

        for _ in range(60):
            with requests.post(f"{fresh.master_url}/api/v1/scheduler", json=body, stream=True, timeout=10) as answer:
                assert answer.status_code == 200
            if cut():
                break
        wait_for(cut, 5)
        slow.settimeout(20)
        with pytest.raises(ConnectionResetError):
            while slow.recv(65536):
                pass
            raise AssertionError("ended without a reset")
        peak = int(Path(f"/proc/{fresh.process.pid}/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
        assert peak < 600, f"{peak} MiB"
    assert requests.get(f"{fresh.master_url}/health", timeout=10).status_code == 200


def test_accepted_connections_are_probed(agent: AgentProcess) -> None:
    if not Path("/proc/net/tcp").exists():
        pytest.skip("no /proc/net/tcp")
    with Raw(agent.master_url) as raw:
        raw.ask("GET", "/health", [])
        local = raw.socket.getsockname()[1]
        wanted = (f":{port_of(agent.master_url):04X}", f":{local:04X}")
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        (line,) = [
            fields
            for fields in map(str.split, lines)
            if fields[1].endswith(wanted[0]) and fields[2].endswith(wanted[1])
        ]
        timer = line[5].split(":")[0]
        assert timer == "02", "the keepalive timer runs"


# -- start and stop


def run_agent(*arguments: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", "agent", *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_a_clean_stop(fresh: AgentProcess) -> None:
    with Raw(fresh.master_url) as raw:
        raw.send("POST", "/api/v1/scheduler", POST_JSON, json.dumps(SUBSCRIBE).encode())
        raw.head()
        raw.chunk()
        began = time.monotonic()
        assert fresh.kill(signal.SIGTERM) == 0
        assert time.monotonic() - began < 5
        while raw.chunk():
            pass  # the stream ends in order, not by a reset
    assert not (fresh.work_dir / "endpoints.json").exists()
    fresh.start()
    assert requests.get(f"{fresh.agent_url}/health", timeout=10).status_code == 200


def test_a_port_in_use(agent: AgentProcess, tmp_path: Path) -> None:
    port = str(port_of(agent.agent_url))
    for options in (("--port", port, "--master-port", "0"), ("--port", "0", "--master-port", port)):
        ended = run_agent("--work-dir", str(tmp_path / "new"), *options)
        assert ended.returncode == 1
        assert f"127.0.0.1:{port}" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert not (tmp_path / "new").exists()


def test_a_work_directory_in_use(agent: AgentProcess) -> None:
    before = {path: path.stat().st_mtime_ns for path in agent.work_dir.iterdir() if path.suffix == ".json"}
    ended = run_agent("--work-dir", str(agent.work_dir), "--port", "0", "--master-port", "0")
    assert ended.returncode == 1
    assert str(agent.work_dir) in ended.stderr
    assert "in use" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert {path: path.stat().st_mtime_ns for path in agent.work_dir.iterdir() if path.suffix == ".json"} == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ip", "0.0.0.0"), "--insecure"),
        (("--ip", "localhost"), "'localhost' is no IP address"),
        (("--port", "65536"), "65536"),
        (("--resources", "cpus:many"), "'cpus' has 'many'"),
        (("--resources", "cpus:1;cpus:2"), "twice"),
        (("--cgroup-name", "../x"), "../x"),
        (("--gc-delay", "nan"), "--gc-delay: nan is no number of seconds"),
        (("--offer-timeout", "NaN"), "--offer-timeout: nan is no number of seconds"),
        (("--log-level", "loud"), "loud"),
    ],
)
def test_wrong_usage(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    ended = run_agent("--work-dir", str(tmp_path / "new"), "--port", "0", "--master-port", "0", *options)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert not (tmp_path / "new").exists()


def test_without_a_package_it_says_which(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['re2'] = None; from agent_api.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", blocked, "agent", "--work-dir", str(tmp_path / "new"), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "google-re2, for the patterns of offer constraints, cannot be loaded" in ended.stderr
    assert "Traceback" not in ended.stderr and not (tmp_path / "new").exists()


def test_a_damaged_database(tmp_path: Path) -> None:
    (tmp_path / "agent.db").write_bytes(b"")
    ended = run_agent("--work-dir", str(tmp_path), "--port", "0", "--master-port", "0")
    assert ended.returncode == 1
    assert "agent.db" in ended.stderr
    assert "0 bytes" in ended.stderr
    assert "Traceback" not in ended.stderr
