"""The config file of the agent: which keys and values may stand in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_api.flags import FileWatch, FlagsError, parse, read

KNOWN = {"resources": str, "port": int, "offer_timeout": float, "insecure": bool}


def test_every_kind_of_value() -> None:
    text = b'{"resources": "cpus:2", "port": 5051, "offer-timeout": 2.5, "insecure": false}'
    assert parse(text, KNOWN) == {"resources": "cpus:2", "port": 5051, "offer_timeout": 2.5, "insecure": False}
    assert parse(b"{}", KNOWN) == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b'{"resurces": "cpus:2"}', "'resurces' is no flag of the agent (value \"cpus:2\"); known are resources, port"),
        (b'{"resources": 2}', "'resources' must be a text, and is 2"),
        (b'{"resources": ["cpus:2"]}', "'resources' must be a text, and is [\"cpus:2\"]"),
        (b'{"resources": null}', "'resources' must be a text, and is null"),
        (b'{"port": "5051"}', "'port' must be a whole number, and is \"5051\""),
        (b'{"port": 5051.5}', "'port' must be a whole number, and is 5051.5"),
        (b'{"port": true}', "'port' must be a whole number, and is true"),
        (b'{"offer_timeout": "x"}', "'offer_timeout' must be a number"),
        (b'{"offer_timeout": 1e999}', "'offer_timeout' must be a number"),
        (b'{"insecure": 1}', "'insecure' must be true or false, and is 1"),
        (b'{"port": 1, "port": 2}', "'port' is given twice"),
        (b'{"offer_timeout": 1, "offer-timeout": 2}', "'offer-timeout' is given twice"),
        (b'{"offer_timeout": NaN}', "NaN is no number"),
        (b'{"port": 5051', "not JSON"),
        (b"[]", "no JSON object"),
        (b"\xff", "not UTF-8 (byte 0)"),
        (b"", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"port": ' + b"1" * 5000 + b"}", "not JSON: Exceeds the limit (4300 digits)"),
    ],
)
def test_what_is_refused(text: bytes, named: str) -> None:
    with pytest.raises(FlagsError) as error:
        parse(text, KNOWN)
    assert named in str(error.value)


def test_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    with pytest.raises(FlagsError, match=f"{path}: No such file"):
        read(str(path), KNOWN)
    path.write_text('{"prot": 1}')
    with pytest.raises(FlagsError, match=f"{path}: 'prot' is no flag"):
        read(str(path), KNOWN)


def test_a_change_is_told_once_and_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    path.write_text("{}")
    watch = FileWatch(str(path))
    assert [watch.changed() for _ in range(3)] == [False, False, False]
    path.write_text('{"port": 1')
    assert not watch.changed()  # it may be written still
    path.write_text('{"port": 1}')
    assert not watch.changed()
    assert watch.changed()
    assert not watch.changed()
    path.unlink()
    assert [watch.changed() for _ in range(3)] == [False, False, False]
    path.write_text('{"port": 2, "insecure": true}')
    os.utime(path, ns=(1, 1))
    assert [watch.changed() for _ in range(3)] == [False, True, False]
