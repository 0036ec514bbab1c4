"""Values out of a JSON description of a host, checked: each error names the record, the key and the value.

Decides what is a number, a set or a list there; never what they describe (`provider.topology`).
An absent key and null are the same: not told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from provider import cpuset

__all__ = ["TopologyError", "a_hexadecimal", "a_list", "a_number", "a_set", "an_object"]


class TopologyError(ValueError):
    """A description that is no host. The message names the record, the field and the value."""


def an_object(value: Any, where: str) -> Mapping[str, Any]:
    """`value`, which must be a JSON object."""
    if not isinstance(value, Mapping):
        raise TopologyError(f"{where}: expected an object, found {_shown(value)}")
    return value


def a_list(record: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """The list at `key`; an absent one is empty."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise TopologyError(f"{where}: {key} must be a list, found {_shown(value)}")
    return value


def a_number(record: Mapping[str, Any], key: str, where: str, limit: int = (1 << 63) - 1) -> int | None:
    """The whole number from 0 to `limit` at `key`, None where it is not told. Booleans are none."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
        raise TopologyError(f"{where}.{key}: {_shown(value)} is no whole number from 0 to {limit}")
    return value


def a_set(record: Mapping[str, Any], key: str, where: str) -> int:
    """A set in list format (as `to_json` writes it) or as a list of ids."""
    value = record.get(key)
    if value is None:
        return 0
    if isinstance(value, str):
        try:
            return cpuset.parse(value, field=f"{where}.{key}")
        except cpuset.CpuListError as error:
            raise TopologyError(str(error)) from error
    if isinstance(value, list):
        return cpuset.of(a_number({key: item}, key, where, cpuset.MAX_CPU_ID) or 0 for item in value)
    raise TopologyError(f"{where}.{key}: {_shown(value)} is no list of CPUs")


def a_hexadecimal(record: Mapping[str, Any], key: str, where: str, digits: int) -> int:
    """The number that a string of at most `digits` hexadecimal digits tells; 0 where it is not told."""
    value = record.get(key)
    if value is None:
        return 0
    if not isinstance(value, str) or not re.fullmatch(rf"(?:0x)?[0-9a-fA-F]{{1,{digits}}}", value):
        raise TopologyError(f"{where}.{key}: {_shown(value)} is no hexadecimal number of {digits} digits")
    return int(value, 16)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
