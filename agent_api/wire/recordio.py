"""RecordIO, the framing of Mesos's event streams: the decimal length of a record, a newline, its bytes.

Decides where records begin and end, and what is no record. It never looks inside one and does no I/O.
"""

from __future__ import annotations

__all__ = ["MAX_RECORD", "Decoder", "RecordError", "frame"]

MAX_RECORD = 64 * 1024 * 1024
"""Bytes of a record that a Decoder takes unless told otherwise. A SUBSCRIBED event of the operator API with all that a
busy agent knows is a few MiB."""


class RecordError(ValueError):
    """The stream is not RecordIO, or a record is larger than allowed. Nothing after this can be told apart."""


def frame(data: bytes) -> bytes:
    """One record as it goes over the wire."""
    return b"%d\n%b" % (len(data), data)


class Decoder:
    """Cuts a stream of bytes, in pieces of any size, into records.

    It holds at most one unfinished record of `max_record` bytes and its head. Once it has raised RecordError it raises
    the same at every later call.
    """

    def __init__(self, max_record: int = MAX_RECORD) -> None:
        """`max_record`: the largest record to take, in bytes."""
        if max_record < 0:
            raise ValueError(f"max_record must not be negative, but is {max_record}")
        self._max_record = max_record
        self._max_digits = len(str(max_record))
        self._buffer = bytearray()
        self._length: int | None = None  # of the record whose head is read, None while the head is not complete
        self._error: RecordError | None = None

    @property
    def pending(self) -> bool:
        """Whether the stream, if it ended now, would end inside a record."""
        return self._length is not None or bool(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """The records that `data` completes, in order.

        Raises RecordError for a length that is not made of digits alone, or is over the limit. Records that were
        complete before the fault in the same piece are given first; the error then comes with the next call.
        """
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        buffer += data
        records: list[bytes] = []
        position = 0
        try:
            while True:
                if self._length is None:
                    end = self._head_end(position)
                    if end < 0:
                        break
                    self._length = int(buffer[position:end])
                    position = end + 1
                end = position + self._length
                if len(buffer) < end:
                    break
                records.append(bytes(buffer[position:end]))
                position = end
                self._length = None
        except RecordError as error:
            self._error = error
            buffer.clear()
            if not records:
                raise
            return records
        if position:
            del buffer[:position]
        return records

    def close(self) -> None:
        """The stream has ended. Raises RecordError if that was inside a record, or after a fault."""
        if self._error is not None:
            raise self._error
        if self._length is not None:
            raise RecordError(f"The stream ended after {len(self._buffer)} of a record's {self._length} bytes")
        if self._buffer:
            raise RecordError("The stream ended inside the length of a record")

    def _head_end(self, start: int) -> int:
        """Where the newline after the length at `start` is; -1 if it has not come yet. Checks what has come."""
        # One digit more than a length can have, and the newline: a head is never longer.
        limit = start + self._max_digits + 1
        end = self._buffer.find(b"\n", start, limit)
        head = bytes(self._buffer[start : limit if end < 0 else end])
        if (end >= 0 and not head) or (head and not head.isdigit()):
            raise RecordError(f"Expecting the length of a record in decimal digits, but received {head[:32]!r}")
        if end < 0 and len(head) <= self._max_digits:
            return -1
        if len(head) > self._max_digits or int(head) > self._max_record:
            length = head.decode("ascii") + ("" if end >= 0 else "…")
            raise RecordError(f"A record of {length} bytes is larger than the {self._max_record} allowed")
        return end
