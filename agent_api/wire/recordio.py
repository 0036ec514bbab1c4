"""RecordIO, the framing of Mesos's event streams: decimal length, newline, that many bytes.

Decides where a record ends. It never looks into a record, and never waits for one longer than its bound.
"""

from __future__ import annotations

__all__ = ["MAX_RECORD", "Decoder", "RecordError", "frame"]

MAX_RECORD = 64 * 1024 * 1024
"""Bytes of the longest record a decoder takes unless it is told otherwise."""


class RecordError(ValueError):
    """The stream is no RecordIO, or a record is longer than the bound. What follows cannot be read."""


def frame(data: bytes) -> bytes:
    """One record, as it goes on the wire. Mesos sends it as exactly one HTTP chunk, and clients rely on that."""
    return b"%d\n%b" % (len(data), data)


class Decoder:
    """Cuts a stream into records, however it was split on the way."""

    def __init__(self, max_record: int = MAX_RECORD) -> None:
        self._max = max_record
        self._digits = len(str(max_record))
        self._buffer = bytearray()
        self._length: int | None = None  # of the record being read; None while its length is being read
        self._failed = False

    @property
    def pending(self) -> int:
        """Bytes of an unfinished record; not 0 when the stream ends means that it was cut."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes, and return the records they complete. Raises RecordError, and from then on always."""
        if self._failed:
            raise RecordError("the stream was given up after an earlier error")
        self._buffer += data
        records: list[bytes] = []
        position = 0
        while True:
            if self._length is None:
                end = self._buffer.find(b"\n", position, position + self._digits + 1)
                digits = bytes(self._buffer[position : end if end >= 0 else position + self._digits + 1])
                # `isdigit` of bytes knows ASCII digits only: no sign, no space, no other script.
                if (digits and not digits.isdigit()) or (end >= 0 and not digits) or len(digits) > self._digits:
                    self._fail(f"expected a record's length in decimal, got {digits[:20]!r}")
                if end < 0:
                    break
                self._length = int(digits)
                if self._length > self._max:
                    self._fail(f"a record of {self._length} bytes is longer than the bound of {self._max}")
                position = end + 1
            if len(self._buffer) - position < self._length:
                break
            records.append(bytes(self._buffer[position : position + self._length]))
            position += self._length
            self._length = None
        del self._buffer[:position]
        return records

    def _fail(self, message: str) -> None:
        self._failed = True
        self._buffer.clear()
        raise RecordError(message)
