"""The agent's config file: a JSON object whose keys are the agent's flags.

Decides which keys and kinds of values may stand in it; what a value means is decided where the command line is read.
It reads one file and never writes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["FileWatch", "FlagsError", "parse", "read"]

MAX_BYTES = 1024 * 1024

NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class FlagsError(ValueError):
    """The config file cannot be used; names the file, and the key and value in the way."""


def read(path: str, known: Mapping[str, type]) -> dict[str, Any]:
    """The flags in a file. Raises FlagsError."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise FlagsError(f"{path}: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise FlagsError(f"{path}: more than {MAX_BYTES} bytes")
    try:
        return parse(data, known)
    except FlagsError as error:
        raise FlagsError(f"{path}: {error}") from None


def parse(data: bytes, known: Mapping[str, type]) -> dict[str, Any]:
    """The flags in a JSON document: names as GET_FLAGS shows them (`master_port`), as on the command line
    (`master-port`) as well. `known` is str, int, float or bool for each. Raises FlagsError."""

    def no_constant(text: str) -> float:
        raise FlagsError(f"{text} is no number")

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in found:
            name = key.replace("-", "_")
            if name in result:
                raise FlagsError(f"'{key}' is given twice")
            result[name] = value
        return result

    try:
        document = json.loads(data.decode("utf-8"), parse_constant=no_constant, object_pairs_hook=pairs)
    except UnicodeDecodeError as error:
        raise FlagsError(f"not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise FlagsError("nested too deeply") from None
    except FlagsError:
        raise
    except ValueError as error:  # also a number with too many digits
        raise FlagsError(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise FlagsError("no JSON object")
    for name, value in document.items():
        if name not in known:
            raise FlagsError(f"'{name}' is no flag of the agent (value {_shown(value)}); known are {', '.join(known)}")
        if not _fits(value, known[name]):
            raise FlagsError(f"'{name}' must be {NAMES[known[name]]}, and is {_shown(value)}")
    return document


def _fits(value: Any, kind: type) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is int:
        return isinstance(value, int)
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, str) and "\0" not in value


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


class FileWatch:
    """Tells when a file has become another one: once its time and size changed and then stayed for one look."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._taken = self._seen = self._state()

    def _state(self) -> tuple[int, ...] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def changed(self) -> bool:
        """To be asked every few seconds. A file that is gone has not changed: its old content stays in force."""
        now = self._state()
        steady, self._seen = now == self._seen, now
        if now is None or not steady or now == self._taken:
            return False
        self._taken = now
        return True
