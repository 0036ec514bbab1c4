"""One event stream over one HTTP response: framing, flow control, and who is cut off when.

Decides when a reader is too slow (more than `MAX_BUFFERED` bytes wait for it) and when a stream has ended. It never
decides what is sent: the events come from the core through `agent_api.service`.
"""

# mypy: allow-untyped-calls
# (most of twisted.web has no types)

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message
from twisted.internet.interfaces import IPushProducer
from twisted.python.failure import Failure
from twisted.web.server import Request
from zope.interface import implementer

from agent_api.wire import codec, recordio

__all__ = ["MAX_BUFFERED", "Stream"]

log = logging.getLogger(__name__)

MAX_BUFFERED = 8 * 1024 * 1024
"""Bytes that may wait for a reader that does not read. The transport holds up to 64 KiB beyond that, the kernel its
socket buffer. Whoever has more to come is disconnected, and gets everything unacknowledged when it subscribes again."""


@implementer(IPushProducer)
class Stream:
    """A chunked 200 answer; each record is one chunk. Nothing is written before `start`."""

    def __init__(
        self,
        request: Request,
        media: str,
        stream_id: str | None,
        on_closed: Callable[[Stream], None],
        max_buffered: int = MAX_BUFFERED,
    ) -> None:
        """`media` is the media type of the events; `on_closed` is called once if the reader went away or was cut
        off, never after `close`. `stream_id` becomes the Mesos-Stream-Id header; None leaves it out."""
        self.media = media
        self.stream_id = stream_id
        self._request = request
        self._on_closed = on_closed
        self._max_buffered = max_buffered
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._started = False
        self._paused = False
        self._closing = False
        self._gone = False
        request.notifyFinish().addErrback(self._lost)

    @property
    def peer(self) -> str:
        """The reader's address, for log lines."""
        return str(self._request.getClientAddress())

    @property
    def open(self) -> bool:
        return not (self._gone or self._closing)

    def start(self) -> None:
        """Send the head of the answer and whatever was queued before."""
        if self._gone or self._started:
            return
        self._started = True
        request = self._request
        request.setResponseCode(200)
        if self.stream_id is not None:
            # Twisted would write it "Mesos-Stream-Id" in any case; clients look it up without regard to case.
            request.setHeader(b"Mesos-Stream-Id", self.stream_id.encode("ascii"))
        request.setHeader(b"Content-Type", self.media.encode("ascii"))
        request.registerProducer(self, True)
        request.write(b"")  # the head goes out now, also where no event follows for a while
        self._flush()

    def send(self, message: Message) -> None:
        """Queue one event. Does nothing once the stream has ended."""
        if self.open:
            self.send_record(recordio.frame(codec.encode(message, self.media)))

    def send_record(self, record: bytes) -> None:
        """Queue one framed record; for events that were encoded once for many streams."""
        if not self.open:
            return
        self._waiting.append(record)
        self._waiting_bytes += len(record)
        self._flush()
        if self._waiting_bytes > self._max_buffered:
            log.warning(
                "stream %s of %s cut off: its reader left more than %d bytes waiting",
                self.stream_id or "of an operator",
                self.peer,
                self._max_buffered,
            )
            self._waiting.clear()
            self._waiting_bytes = 0
            self._abort()

    def close(self) -> None:
        """End the stream after what was queued before. `on_closed` is not called for it."""
        if not self.open:
            return
        self._closing = True
        self.start()
        self._flush()

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        self._paused = True

    def resumeProducing(self) -> None:  # noqa: N802
        self._paused = False
        self._flush()

    def stopProducing(self) -> None:  # noqa: N802
        self._paused = True

    def _abort(self) -> None:
        channel: Any = self._request.channel
        if channel is not None:
            channel.transport.abortConnection()

    def _flush(self) -> None:
        if not self._started or self._gone:
            return
        while self._waiting and not self._paused:
            record = self._waiting.popleft()
            self._waiting_bytes -= len(record)
            self._request.write(record)
        if self._closing and not self._waiting:
            self._gone = True
            self._request.unregisterProducer()
            self._request.finish()

    def _lost(self, _reason: Failure) -> None:
        told = self._closing
        self._gone = True
        self._waiting.clear()
        self._waiting_bytes = 0
        if not told:
            self._on_closed(self)
