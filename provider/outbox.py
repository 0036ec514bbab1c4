"""The operations that ended here, and their statuses on the way to the agent.

Decides when a status is sent again and which ended operations are still remembered. It never decides an outcome, and
holds only what was committed: what is in here may be told.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from agent_api.wire import resource_provider_pb2
from provider.operations import Record

__all__ = ["FIRST_RESEND_SECONDS", "LAST_RESEND_SECONDS", "Outbox"]

log = logging.getLogger(__name__)

Call = resource_provider_pb2.Call

FIRST_RESEND_SECONDS = 2.0
LAST_RESEND_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Sent:
    """When a status is sent again on this stream."""

    due: float
    delay: float


class Outbox:
    """All ended operations by uuid, oldest first."""

    def __init__(self, send: Callable[[Record], None]) -> None:
        """`send` sends the status of an operation on the stream; it is called only while there is one."""
        self._send = send
        self._records: dict[bytes, Record] = {}
        self._sent: dict[bytes, _Sent] = {}

    def load(self, records: Iterable[Record]) -> None:
        """What was committed before."""
        self._records = {record.uuid: record for record in records}

    def get(self, uuid: bytes) -> Record | None:
        return self._records.get(uuid)

    @property
    def pending(self) -> list[Record]:
        """Those that are not acknowledged."""
        return [record for record in self._records.values() if not record.acknowledged]

    def add(self, record: Record) -> None:
        """An operation whose end has just been committed."""
        self._records[record.uuid] = record

    def send(self, record: Record, now: float) -> None:
        """Send a status now; until it is acknowledged it is sent again, each time after twice the time."""
        if not record.acknowledged:
            last = self._sent.get(record.uuid)
            delay = min(last.delay * 2, LAST_RESEND_SECONDS) if last else FIRST_RESEND_SECONDS
            self._sent[record.uuid] = _Sent(now + delay, delay)
        self._send(record)

    def send_due(self, now: float) -> None:
        """Send each status that was not sent on this stream, or is due again."""
        for record in self.pending:
            last = self._sent.get(record.uuid)
            if last is None or last.due <= now:
                if last is not None:
                    log.info("operation %s: its status is sent again, it was not acknowledged", record.uuid.hex())
                self.send(record, now)

    def new_stream(self) -> None:
        """The stream is gone: on the next one everything is sent again."""
        self._sent.clear()

    def forgettable(self, kept: int) -> list[bytes]:
        """The oldest acknowledged operations, so that with one more there are `kept`."""
        old = [record.uuid for record in self._records.values() if record.acknowledged]
        return old[: max(0, len(old) + 1 - kept)]

    def acknowledged(self, uuid: bytes, forget: Iterable[bytes]) -> None:
        """The acknowledgement was committed, and with it those to forget were removed."""
        self._sent.pop(uuid, None)
        for key in forget:
            self._records.pop(key, None)
        self._records[uuid] = replace(self._records[uuid], acknowledged=True)
