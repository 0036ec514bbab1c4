"""Attributes of the agent: the `--attributes` text, how they are shown, and which changes take something away.

Decides what is a text, a number, ranges or a set, as Mesos does, and with Mesos's additive rule which new attributes
still hold for whoever chose the agent by the old ones. It never looks at tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent_api.core import resources as rs
from agent_api.wire import mesos_pb2

__all__ = ["Attribute", "describe", "lost", "parse", "shown"]

Attribute = mesos_pb2.Attribute

_NAME = re.compile(r"[A-Za-z0-9_.\-/]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def parse(text: str) -> list[Attribute]:
    """An `--attributes` text: `rack:r7;level:10;ports:[1-9];tags:{ssd,gpu}`. Raises ResourceError."""
    result: list[Attribute] = []
    for item in text.split(";"):
        if not item.strip():
            continue
        name, colon, value = (part.strip() for part in item.partition(":"))
        if not colon or not value or not _NAME.fullmatch(name):
            raise rs.ResourceError(f"attributes: '{item.strip()}' is not of the form name:value")
        if any(known.name == name for known in result):
            raise rs.ResourceError(f"attributes: '{name}' is given twice")
        result.append(_attribute(name, value))
    return result


def _attribute(name: str, value: str) -> Attribute:
    attribute = Attribute(name=name, type=mesos_pb2.Value.TEXT)
    if value[0] in "[{" or _NUMBER.fullmatch(value):
        try:
            found = rs.parse_value(name, value)
        except rs.ResourceError as error:
            raise rs.ResourceError(f"attributes: {error}") from None
        attribute.type = found.type
        for field in ("scalar", "ranges", "set"):
            if found.HasField(field):
                getattr(attribute, field).CopyFrom(getattr(found, field))
    elif not value.isprintable():
        raise rs.ResourceError(f"attributes: '{name}' has {value!r}, which cannot be printed")
    else:
        attribute.text.value = value
    return attribute


def shown(attribute: Attribute) -> str | float:
    """As Mesos's JSON endpoints show it: a number, or a text."""
    if attribute.type == mesos_pb2.Value.SCALAR:
        return attribute.scalar.value
    if attribute.type == mesos_pb2.Value.RANGES:
        return "[" + ", ".join(f"{r.begin}-{r.end}" for r in attribute.ranges.range) + "]"
    if attribute.type == mesos_pb2.Value.SET:
        return "{" + ", ".join(attribute.set.item) + "}"
    return attribute.text.value


def describe(attribute: Attribute) -> str:
    value = shown(attribute)
    return f"{attribute.name}:{value:g}" if isinstance(value, float) else f"{attribute.name}:{value}"


def lost(before: Iterable[Attribute], after: Sequence[Attribute]) -> str | None:
    """What of the old ones does not hold any more; None where the new ones only add to them.

    A text must stay; a number, ranges and a set may grow.
    """
    by_name = {attribute.name: attribute for attribute in after}
    for old in before:
        new = by_name.get(old.name)
        if new is None:
            return f"attribute {describe(old)} would go"
        if new.type != old.type or not _holds(old, new):
            return f"attribute {describe(old)} would become {describe(new)}"
    return None


def _holds(old: Attribute, new: Attribute) -> bool:
    if old.type == mesos_pb2.Value.SCALAR:
        return new.scalar.value >= old.scalar.value
    if old.type == mesos_pb2.Value.TEXT:
        return new.text.value == old.text.value
    return rs.contains([_as_resource(new)], [_as_resource(old)])


def _as_resource(attribute: Attribute) -> mesos_pb2.Resource:
    return mesos_pb2.Resource(name=attribute.name, type=attribute.type, ranges=attribute.ranges, set=attribute.set)
