"""RecordIO: what `agent_api.wire.recordio` takes for a record, in pieces of any size."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_api.wire.recordio import Decoder, RecordError, frame


@pytest.mark.parametrize(
    ("data", "framed"),
    [
        (b"", b"0\n"),
        (b"x", b"1\nx"),
        (b"\n", b"1\n\n"),
        (b"5\nhello", b"7\n5\nhello"),
        (b"a" * 100, b"100\n" + b"a" * 100),
    ],
)
def test_frame(data: bytes, framed: bytes) -> None:
    assert frame(data) == framed
    assert Decoder().feed(framed) == [data]


@given(st.lists(st.binary(max_size=300), max_size=10), st.lists(st.integers(0, 3000), max_size=20))
def test_records_come_whole_and_in_order_however_the_stream_is_cut(records: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(record) for record in records)
    bounds = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    decoder = Decoder()
    found: list[bytes] = []
    for start, end in itertools.pairwise(bounds):
        found += decoder.feed(stream[start:end])
    assert found == records
    assert not decoder.pending
    decoder.close()


def test_byte_by_byte() -> None:
    decoder = Decoder()
    found = []
    for byte in frame(b"hello") + frame(b"") + frame(b"world"):
        found += decoder.feed(bytes([byte]))
    assert found == [b"hello", b"", b"world"]


@pytest.mark.parametrize(
    "head",
    [
        b"\n",
        b"-1\n",
        b"+1\n",
        b" 1\n",
        b"1 \n",
        b"1\r\n",
        b"0x10\n",
        b"1_0\n",
        b"1.0\n",
        b"abc",
        b"{",
        "٣\n".encode(),
        b"1\x00\n",
    ],
)
def test_a_length_is_decimal_digits_and_nothing_else(head: bytes) -> None:
    decoder = Decoder()
    with pytest.raises(RecordError, match="Expecting the length of a record in decimal digits"):
        decoder.feed(head)
    with pytest.raises(RecordError):
        decoder.feed(frame(b"after the fault nothing is believed"))
    with pytest.raises(RecordError):
        decoder.close()


@pytest.mark.parametrize(
    ("limit", "head", "fits"),
    [
        (10, b"10\n", True),
        (10, b"11\n", False),
        (10, b"100\n", False),
        (10, b"0009\n", False),  # no sender pads, and a head must not grow without end
        (0, b"0\n", True),
        (0, b"1\n", False),
        (99, b"099\n", False),
        (100, b"099\n", True),
    ],
)
def test_the_limit_is_of_the_record_and_of_its_head(limit: int, head: bytes, fits: bool) -> None:
    decoder = Decoder(max_record=limit)
    if fits:
        decoder.feed(head)
    else:
        with pytest.raises(RecordError, match=f"is larger than the {limit} allowed"):
            decoder.feed(head)


def test_a_head_without_end_is_refused_before_its_newline() -> None:
    decoder = Decoder(max_record=1000)
    with pytest.raises(RecordError, match="larger than the 1000 allowed"):
        for _ in range(10):
            decoder.feed(b"1")
    with pytest.raises(RecordError):
        Decoder().feed(b"9" * 1_000_000)


def test_records_before_a_fault_are_given_first() -> None:
    decoder = Decoder()
    assert decoder.feed(frame(b"good") + b"bad\n") == [b"good"]
    with pytest.raises(RecordError, match="bad"):
        decoder.feed(b"")


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (b"5\nhel", "after 3 of a record's 5 bytes"),
        (b"12", "inside the length"),
        (b"5\n", "after 0 of a record's 5 bytes"),
    ],
)
def test_a_stream_that_ends_inside_a_record(cut: bytes, message: str) -> None:
    decoder = Decoder()
    assert decoder.feed(frame(b"one") + cut) == [b"one"]
    assert decoder.pending
    with pytest.raises(RecordError, match=message):
        decoder.close()


def test_no_more_is_held_than_the_unfinished_record() -> None:
    decoder = Decoder()
    record = b"x" * 1000
    for _ in range(1000):
        assert decoder.feed(frame(record)) == [record]
    assert not decoder.pending


def test_a_negative_limit_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="max_record"):
        Decoder(max_record=-1)
