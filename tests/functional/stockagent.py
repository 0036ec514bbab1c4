"""A stock Mesos agent, played from recordings of a real one: real HTTP, the recorded bytes.

`tests/data/stock-mesos.jsonl` holds what an Apache Mesos 1.12.0 agent sent to a resource provider: whole heads of
answers, bodies, and each event of a stream as text whose length the recording gave. All of it is sent as it was, but:

- an APPLY_OPERATION carries the resource version that the provider told, not the recorded one;
- an ACKNOWLEDGE_OPERATION_STATUS carries the provider's status uuid, and the operation's that it is about;
- where a test wants a set, the recorded reservation gets labels, as a framework would have given them (and the task
  that GET_TASKS shows gets that reservation);
- a stream in protobuf: the recording has the bytes of its first event only; the events after it are the recorded JSON,
  encoded again, with the provider id of that stream.

RecordIO's lengths and chunk sizes follow from that. Calls are checked as the real agent checks them, in its words, and
no field of Pinfold's own may be in them.
"""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import socket
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from agent_api.wire import agent_pb2, codec, mesos_pb2, recordio, resource_provider_pb2
from tests.functional.fakeagent import serve
from tests.unit.test_dialect_mesos import extensions

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event

DATA = Path(__file__).parents[1] / "data/stock-mesos.jsonl"
RECORDED: dict[str, dict[str, Any]] = {
    entry["source"]: entry for entry in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())
}
AGENT_ID = "20a81098-e832-4524-a7c0-861650f5b076-S0"
PREFIX = "/slave(1)"
FIRST, AGAIN, REFUSED, REMOVED, PROTOBUF = (
    "4-sched/rp-SUBSCRIBE",
    "4-sched/r3-rp-SUBSCRIBE",
    "3-rp/h-SUBSCRIBE-id-wrong-name",
    "3-rp/i-SUBSCRIBE-with-attributes",
    "3-rp/k-SUBSCRIBE-protobuf-accept",
)
NO_LABELS = '"reservations":[{"type":"DYNAMIC","role":"test"}]'


def recorded(source: str, words: str, nth: int = 0) -> str:
    """The text of a recorded event: the nth that has these words."""
    return [text for text in RECORDED[source]["events"] if words in text][nth]


def labelled(text: str, **labels: str) -> str:
    """A recorded event whose reservation has labels."""
    assert NO_LABELS in text
    given = [{"key": f"pinfold.{key}", "value": value} for key, value in labels.items()]
    more = json.dumps({"labels": {"labels": given}}, separators=(",", ":"))[1:-1]
    return text.replace(NO_LABELS, f"{NO_LABELS[:-2]},{more}}}]")


def _field(text: str, name: str) -> str:
    """The value of a recorded uuid field."""
    start = text.index(f'"{name}":{{"value":"') + len(f'"{name}":{{"value":"')
    return text[start : text.index('"', start)]


class StockStream:
    """One SUBSCRIBE, answered from one recorded stream."""

    def __init__(self, agent: StockAgent, source: str, call: Call, media: str) -> None:
        self.agent, self.source, self.call, self.media = agent, source, call, media
        entry = RECORDED[PROTOBUF if media == "application/x-protobuf" and source in (FIRST, AGAIN) else source]
        self.headers = entry["headers"]
        self.stream_id = dict(map(tuple, self.headers))["Mesos-Stream-Id"]
        self.first = base64.b64decode(entry["base64"][0]) if "base64" in entry else None
        self.out: queue.Queue[bytes | None] = queue.Queue()
        self.gone = threading.Event()

    @property
    def provider_id(self) -> str:
        return self.agent.provider_id(self.media)

    def play(self, text: str) -> None:
        """Send one event."""
        if self.first is not None and '"SUBSCRIBED"' in text:
            self.out.put(recordio.frame(self.first))
            return
        if self.media == "application/json":
            self.out.put(recordio.frame(text.encode()))
            return
        said = text.replace(self.agent.provider_id("application/json"), self.provider_id)
        self.out.put(recordio.frame(codec.encode(codec.from_json(Event, said.encode()), self.media)))

    def apply(self, text: str, version: bytes) -> bytes:
        """Send an APPLY_OPERATION with the provider's version; returns the operation's uuid."""
        mine = base64.b64encode(version).decode()
        self.play(text.replace(_field(text, "resource_version_uuid"), mine))
        return base64.b64decode(_field(text, "operation_uuid"))

    def acknowledge(self, update: Call.UpdateOperationStatus) -> None:
        text = recorded(FIRST, '"ACKNOWLEDGE_OPERATION_STATUS"')
        for name, value in (("status_uuid", update.status.uuid.value), ("operation_uuid", update.operation_uuid.value)):
            text = text.replace(_field(text, name), base64.b64encode(value).decode())
        self.play(text)

    def publish(self, text: str) -> Call.UpdatePublishResourcesStatus:
        """Send a PUBLISH_RESOURCES; returns the provider's answer."""
        self.play(text)
        answer = self.agent.call(Call.UPDATE_PUBLISH_RESOURCES_STATUS).update_publish_resources_status
        assert answer.uuid.value == base64.b64decode(_field(text, "uuid"))
        return answer


class StockAgent:
    """The agent. `plan` are the recorded streams that the next SUBSCRIBEs get."""

    def __init__(self) -> None:
        self.plan: list[str] = [FIRST, AGAIN]
        self.streams: queue.Queue[StockStream] = queue.Queue()
        self.calls: queue.Queue[Call] = queue.Queue()
        self.seen: list[str] = []
        """Method and path of each request."""
        self.problems: list[str] = []
        """What a real agent would have refused, or Pinfold must not have sent."""
        self.stream: StockStream | None = None
        self.connections: list[socket.socket] = []
        self.tell_id = True
        self.tasks: str | None = None
        """What GET_TASKS is answered with, where it is not as recorded."""
        self.server = serve(self._post, self.connections)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{PREFIX}"

    @staticmethod
    def provider_id(media: str) -> str:
        """The id that the recorded SUBSCRIBED of this form gives."""
        if media == "application/json":
            return json.loads(RECORDED[FIRST]["events"][0])["subscribed"]["provider_id"]["value"]
        found = codec.decode(Event, base64.b64decode(RECORDED[PROTOBUF]["base64"][0]), media)
        return found.subscribed.provider_id.value

    def _post(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.seen.append(f"{request.command} {request.path}")
        if request.path == f"{PREFIX}/api/v1":
            self._operator(request, body)
            return
        assert request.path == f"{PREFIX}/api/v1/resource_provider", request.path
        call = codec.decode(Call, body, request.headers["Content-Type"])
        if found := extensions(call) + _unknown(call):
            self.problems.append(f"{Call.Type.Name(call.type)}: {', '.join(found)}")
        if call.type == Call.SUBSCRIBE:
            self._subscribe(request, call)
            return
        if refusal := self._refusal(request, call):
            self.problems.append(f"{Call.Type.Name(call.type)}: {refusal}")
            self._answer(request, 400, [["Content-Type", "text/plain; charset=utf-8"]], refusal.encode())
            return
        self.calls.put(call)
        entry = RECORDED["4-sched/rp-UPDATE_OPERATION_STATUS-RESERVE-FINISHED"]
        self._answer(request, entry["status"], entry["headers"], b"")

    def _operator(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        media = request.headers["Content-Type"]
        kind = codec.decode(agent_pb2.Call, body, media).type
        if kind == agent_pb2.Call.GET_TASKS:
            entry = RECORDED["4-sched/view-10-running-agent-GET_TASKS"]
            said = (self.tasks or entry["body"]).encode()
            if media != "application/json":
                said = said.replace(self.provider_id("application/json").encode(), self.provider_id(media).encode())
                said = codec.encode(codec.from_json(agent_pb2.Response, said), media)
            self._answer(request, entry["status"], entry["headers"], said)
            return
        assert json.loads(body) == {"type": "GET_AGENT"}
        entry = RECORDED["3-rp/view-0-before-agent-GET_AGENT"]
        if self.tell_id:
            self._answer(request, entry["status"], entry["headers"], entry["body"].encode())
        else:
            self._answer(request, 403, [], b"")

    @staticmethod
    def _answer(request: BaseHTTPRequestHandler, status: int, headers: list[list[str]], body: bytes) -> None:
        request.send_response_only(status)
        for name, value in headers:
            if name != "Content-Length":
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _refusal(self, request: BaseHTTPRequestHandler, call: Call) -> str:
        """What the real agent would have answered with 400, in the order in which it looks."""
        if not call.HasField("resource_provider_id"):
            return "Failed to validate resource_provider::Call: Expecting 'resource_provider_id' to be present"
        stream = self.stream
        if stream is None or call.resource_provider_id.value != stream.provider_id:
            return "Resource provider is not subscribed"
        if call.type == Call.UPDATE_STATE:
            if any(resource.provider_id.value != stream.provider_id for resource in call.update_state.resources):
                return "Inconsistent call: Inconsistent resource provider ID in 'update_state'"
            # These end a real agent, or its master, later on.
            if any(not entry.HasField("agent_id") for entry in call.update_state.operations):
                return "an operation without agent_id"
        if call.type == Call.UPDATE_OPERATION_STATUS:
            update = call.update_operation_status
            if update.status.resource_provider_id.value != stream.provider_id:
                return "Inconsistent call: Inconsistent resource provider ID in 'update_operation_status'"
            if len(update.operation_uuid.value) != 16 or len(update.status.uuid.value) != 16:
                return "a uuid that is not 16 bytes"
        given = request.headers.get("Mesos-Stream-Id")
        if given is None:
            return "All non-subscribe calls should include to 'Mesos-Stream-Id' header"
        if given != stream.stream_id:
            return (
                f"The stream ID '{given}' included in this request didn't match the stream ID currently associated "
                f"with  resource provider ID {stream.provider_id}"
            )
        return ""

    def _subscribe(self, request: BaseHTTPRequestHandler, call: Call) -> None:
        if self.stream is not None and not self.stream.gone.is_set():
            self.problems.append("SUBSCRIBE while the old connection is open")
        stream = StockStream(self, self.plan.pop(0), call, request.headers["Accept"])
        request.send_response_only(200)
        for name, value in stream.headers:
            request.send_header(name, value)
        request.end_headers()
        request.wfile.flush()
        if not RECORDED[stream.source]["events"]:
            request.wfile.write(b"0\r\n\r\n")
            self.streams.put(stream)
            return
        self.stream = stream
        stream.play(RECORDED[stream.source]["events"][0])
        threading.Thread(target=self._watch, args=(request.connection, stream), daemon=True).start()
        self.streams.put(stream)
        try:
            while (data := stream.out.get()) is not None:
                request.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                request.wfile.flush()
            request.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass
        finally:
            stream.gone.set()
            request.close_connection = True

    @staticmethod
    def _watch(connection: socket.socket, stream: StockStream) -> None:
        """Notice that the provider is gone, as the agent does."""
        with contextlib.suppress(OSError):
            connection.recv(1, socket.MSG_PEEK)
        stream.gone.set()
        stream.out.put(None)

    def subscribed(self, timeout: float = 30.0) -> StockStream:
        """The next SUBSCRIBE."""
        return self.streams.get(timeout=timeout)

    def call(self, kind: Call.Type, timeout: float = 30.0) -> Call:
        """The next call, which is of this type."""
        found = self.calls.get(timeout=timeout)
        assert found.type == kind, found
        return found

    def state(self) -> Call.UpdateState:
        return self.call(Call.UPDATE_STATE).update_state

    def status(self) -> Call.UpdateOperationStatus:
        return self.call(Call.UPDATE_OPERATION_STATUS).update_operation_status

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _unknown(message: Any) -> list[str]:
    """Fields that the schema does not have: a protobuf body could carry anything."""
    # What is encoded again without them is shorter.
    copy = type(message).FromString(message.SerializeToString())
    copy.DiscardUnknownFields()
    return ["unknown fields"] if copy.ByteSize() != message.ByteSize() else []


def in_totals(resources: Any) -> dict[tuple[Any, ...], float]:
    """Amounts by role and labels of each reservation."""
    found: dict[tuple[Any, ...], float] = {}
    for resource in resources:
        assert resource.name == "cpus"
        assert resource.type == mesos_pb2.Value.SCALAR
        assert not resource.HasField("role")
        key = tuple(
            (entry.role, *sorted(f"{label.key}={label.value}" for label in entry.labels.labels))
            for entry in resource.reservations
        )
        assert key not in found, "Mesos adds equal resources up"
        found[key] = resource.scalar.value
    return found
