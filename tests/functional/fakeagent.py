"""An agent's side of the resource provider API over real HTTP, as simple as it can be: the test says what it answers.
And a host as a directory tree."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from agent_api.wire import codec, mesos_pb2, recordio, resource_provider_pb2
from provider import cpuset
from provider.topology import Topology

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event
END = object()


class Stream:
    """One SUBSCRIBE that was answered with a stream."""

    def __init__(self, call: Call, stream_id: str, media: str) -> None:
        self.call, self.stream_id, self.media = call, stream_id, media
        self.out: queue.Queue[Any] = queue.Queue()
        self.gone = threading.Event()

    def send(self, event: Event, pieces: int = 1) -> None:
        """Send one event, in one chunk or in several."""
        data = recordio.frame(codec.encode(event, self.media))
        size = max(1, len(data) // pieces)
        for start in range(0, len(data), size):
            self.out.put(data[start : start + size])

    def raw(self, data: bytes) -> None:
        self.out.put(data)

    def end(self) -> None:
        self.out.put(END)


def serve(
    post: Callable[[BaseHTTPRequestHandler], None], connections: list[socket.socket], port: int = 0
) -> ThreadingHTTPServer:
    """A server on loopback that runs: `post` answers each request, all connections are added to the list."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            connections.append(self.connection)

        def do_POST(self) -> None:
            post(self)

        def log_message(self, *args: Any) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        allow_reuse_address = True

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


class FakeAgent:
    """Answers SUBSCRIBE with a stream and SUBSCRIBED, and every call with 202, unless told otherwise."""

    def __init__(self, port: int = 0, provider_id: str = "rp-1") -> None:
        self.provider_id = provider_id
        self.streams: queue.Queue[Stream] = queue.Queue()
        self.calls: queue.Queue[Call] = queue.Queue()
        self.headers: list[dict[str, str]] = []
        self.refuse_subscribe: tuple[int, str] | None = None
        self.refuse_calls: tuple[int, str] | None = None
        self.end_at_once = False
        self.silent = False
        """SUBSCRIBE gets a stream and no event."""
        self.open: list[Stream] = []
        self.connections: list[socket.socket] = []
        self._count = 0
        self.server = serve(self._post, self.connections, port)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def _post(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        media = request.headers["Content-Type"]
        self.headers.append({k.lower(): v for k, v in request.headers.items()})
        call = codec.decode(Call, body, media)
        if call.type == Call.SUBSCRIBE:
            self._subscribe(request, call, media)
            return
        refuse = self.refuse_calls
        if refuse is None:
            # Kept before it is answered: what the test takes was taken.
            self.calls.put(call)
        self._answer(request, *(refuse or (202, "")))

    def _answer(self, request: BaseHTTPRequestHandler, status: int, text: str) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text.encode())

    def _subscribe(self, request: BaseHTTPRequestHandler, call: Call, media: str) -> None:
        if self.refuse_subscribe is not None:
            self._answer(request, *self.refuse_subscribe)
            return
        self._count += 1
        while not self.calls.empty():
            self.calls.get_nowait()
        stream = Stream(call, f"stream-{self._count}", request.headers["Accept"])
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.send_header("Content-Type", stream.media)
        request.send_header("Mesos-Stream-Id", stream.stream_id)
        request.end_headers()
        request.wfile.flush()
        if self.end_at_once:
            request.wfile.write(b"0\r\n\r\n")
            self.streams.put(stream)
            return
        if not self.silent:
            event = Event(type=Event.SUBSCRIBED)
            event.subscribed.provider_id.value = self.provider_id
            stream.send(event)
        self.open.append(stream)
        self.streams.put(stream)
        try:
            while True:
                data = stream.out.get()
                if data is END:
                    request.wfile.write(b"0\r\n\r\n")
                    break
                request.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                request.wfile.flush()
        except OSError:
            pass
        finally:
            stream.gone.set()
            request.close_connection = True

    def stream(self, timeout: float = 20.0) -> Stream:
        """The next SUBSCRIBE."""
        return self.streams.get(timeout=timeout)

    def call(self, kind: Call.Type, timeout: float = 20.0) -> Call:
        """The next call of this type; others are dropped."""
        while True:
            found = self.calls.get(timeout=timeout)
            if found.type == kind:
                return found

    def close(self) -> None:
        for stream in self.open:
            stream.end()
        self.server.shutdown()
        self.server.server_close()
        for stream in self.open:
            stream.gone.wait(5)
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def apply(info: mesos_pb2.Offer.Operation, uuid: bytes, version: bytes) -> Event:
    event = Event(type=Event.APPLY_OPERATION)
    event.apply_operation.framework_id.value = "fw"
    event.apply_operation.info.CopyFrom(info)
    event.apply_operation.operation_uuid.value = uuid
    event.apply_operation.resource_version_uuid.value = version
    return event


def write_sysfs(root: Path, host: Topology) -> Path:
    """The host as the files of sysfs."""
    cpus = root / "sys/devices/system/cpu"
    (root / "proc").mkdir(parents=True, exist_ok=True)

    def put(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    everything = host.online | host.offline
    for name, mask in (("online", host.online), ("possible", everything), ("present", everything)):
        put(cpus / name, cpuset.format_mask(mask))
    for cpu in cpuset.ids(host.online):
        core = next(i for i, mask in enumerate(host.cores) if mask >> cpu & 1)
        package = next(i for i, mask in enumerate(host.packages) if mask >> cpu & 1)
        llc = next(i for i, mask in enumerate(host.llcs) if mask >> cpu & 1)
        place = cpus / f"cpu{cpu}"
        put(place / "topology/core_id", str(core))
        put(place / "topology/physical_package_id", str(package))
        put(place / "topology/thread_siblings_list", cpuset.format_mask(host.cores[core]))
        put(place / "topology/core_siblings_list", cpuset.format_mask(host.packages[package]))
        put(place / "cache/index3/level", "3")
        put(place / "cache/index3/type", "Unified")
        put(place / "cache/index3/shared_cpu_list", cpuset.format_mask(host.llcs[llc]))
    nodes = root / "sys/devices/system/node"
    put(nodes / "online", cpuset.format_mask(cpuset.of(node.id for node in host.nodes)))
    for node in host.nodes:
        put(nodes / f"node{node.id}/cpulist", cpuset.format_mask(node.cpus))
        put(nodes / f"node{node.id}/distance", " ".join("10" if o is node else "20" for o in host.nodes))
        put(nodes / f"node{node.id}/meminfo", f"Node {node.id} MemTotal:        8388608 kB")
    return root
