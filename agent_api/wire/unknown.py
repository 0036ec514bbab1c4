"""Which keys of a JSON object no message has a field for.

Decides nothing on the wire: there Mesos ignores what it does not know, and so does the codec. A file that a person
wrote is another matter: a misspelt `reserved_cpus` that is silently left out gives away CPUs that were to be kept.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from agent_api.wire import plans

__all__ = ["unknown_fields"]


def unknown_fields(cls: type[Message], data: Mapping[str, Any]) -> list[str]:
    """A sentence for each key of `data`, at any depth, that a message of class `cls` has no field for, in their order.

    `data` is JSON that has been read. Each sentence starts with the path (`cpu.pools[1].capcity`) and names the field
    that was meant where one is close. Values of the wrong kind are not looked into: the codec has an error for them.
    """
    return list(_in_object(plans.descriptor(cls), data, ""))


def _in_object(kind: Descriptor, data: Mapping[str, Any], prefix: str) -> Iterator[str]:
    fields = kind.fields_by_name
    for key, value in data.items():
        field = fields.get(key)
        if field is None:
            close = difflib.get_close_matches(key, list(fields), n=1)
            yield f"{prefix}{key}: there is no such field" + (f"; is {close[0]} meant?" if close else "")
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            yield from _in_value(field.message_type, value, f"{prefix}{key}")


def _in_value(kind: Descriptor, value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _in_object(kind, value, f"{path}.")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in_value(kind, item, f"{path}[{index}]")
