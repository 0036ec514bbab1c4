"""HTTP byte by byte: sends a request as it was recorded, and reads answers and streams chunk by chunk.

Knows nothing of calls. Each request has a connection of its own.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any

from agent_api.wire import codec, recordio

__all__ = ["Answer", "Stream", "ask", "header"]

TIMEOUT = 20.0


@dataclass
class Answer:
    """Status, headers in their order, the body unpacked; and whether the server left the connection open."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    kept_open: bool


def header(headers: Any, name: str) -> str | None:
    """The last header of that name, of pairs."""
    return next((value for key, value in reversed(headers) if key.lower() == name.lower()), None)


def _send(address: tuple[str, int], method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> Any:
    connection = socket.create_connection(address, timeout=TIMEOUT)
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    connection.sendall("\r\n".join(lines).encode("latin-1") + body)
    return connection


def _head(reader: Any) -> tuple[int, list[tuple[str, str]]]:
    line = reader.readline().decode("latin-1")
    assert line.startswith("HTTP/1.1 "), f"no answer: {line!r}"
    headers = []
    while True:
        text = reader.readline().decode("latin-1").rstrip("\r\n")
        if not text:
            return int(line.split()[1]), headers
        name, _, value = text.partition(": ")
        headers.append((name, value))


def _chunk(reader: Any) -> bytes:
    """The next chunk; empty for the last one. Raises EOFError where the connection ends."""
    line = reader.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    size = int(line, 16)
    data: bytes = reader.read(size)
    if len(data) < size or reader.read(2) != b"\r\n":
        raise EOFError
    return data


def ask(address: tuple[str, int], method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
    """One request and its whole answer."""
    with contextlib.closing(_send(address, method, path, headers, body)) as connection:
        reader = connection.makefile("rb")
        status, got = _head(reader)
        data = b""
        if header(got, "Transfer-Encoding") == "chunked":
            while part := _chunk(reader):
                data += part
        elif method != "HEAD":
            data = reader.read(int(header(got, "Content-Length") or 0))
        if header(got, "Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        # A server that closes does it at once; one that does not sends nothing more.
        connection.settimeout(2.0 if (header(headers, "Connection") or "").lower() == "close" else 0.002)
        try:
            kept_open = connection.recv(1) != b""
        except (TimeoutError, BlockingIOError):
            kept_open = True
        return Answer(status, got, data, kept_open)


class Stream:
    """A stream that a thread reads. `events` holds (event as JSON values, bytes of its chunk but for its own)."""

    def __init__(
        self,
        address: tuple[str, int],
        path: str,
        headers: list[tuple[str, str]],
        body: bytes,
        event_class: Any,
    ) -> None:
        self._connection = _send(address, "POST", path, headers, body)
        self._reader = self._connection.makefile("rb")
        self.status, self.headers = _head(self._reader)
        self._event_class = event_class
        self.events: list[dict[str, Any]] = []
        self.uneven_chunks = 0
        self.ended = False
        self.news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        if header(self.headers, "Transfer-Encoding") == "chunked":
            self._thread.start()
        else:
            self.ended = True

    def _read(self) -> None:
        media = header(self.headers, "Content-Type") or ""
        decoder = recordio.Decoder()
        with contextlib.suppress(EOFError, OSError, ValueError):
            while chunk := _chunk(self._reader):
                records = decoder.feed(chunk)
                with self.news:
                    self.uneven_chunks += len(records) != 1
                    for record in records:
                        self.events.append(event_values(record, media, self._event_class))
                    self.news.notify_all()
        with self.news:
            self.ended = True
            self.news.notify_all()

    def wait(self, what: Any, seconds: float) -> bool:
        """Until `what()` is true, looked at after each event, at most so long."""
        end = time.monotonic() + seconds
        with self.news:
            while not what():
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self.news.wait(left)
            return True

    def close(self) -> None:
        """Go away, as a client does."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join(5)
        self._reader.close()
        self._connection.close()


def event_values(record: bytes, media: str, event_class: Any) -> dict[str, Any]:
    """An event as JSON values: as it stands in JSON, or decoded from protobuf."""
    if media == codec.JSON:
        record.decode("ascii")
        values: dict[str, Any] = json.loads(record)
        return values
    return codec.to_dict(codec.decode(event_class, record, media))


def recorded_event(event: dict[str, Any], event_class: Any) -> dict[str, Any]:
    if "base64" in event:
        return event_values(base64.b64decode(event["base64"]), codec.PROTOBUF, event_class)
    return event
