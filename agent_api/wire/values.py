"""One JSON value and the field it is for: what is taken, what it becomes, and how a refusal reads.

Decides in Mesos's manner: strings are taken for numbers and booleans, unknown names of an enum leave the field unset
unless it is required, numbers are no enums. Where Mesos would cut a number to fit its field, this refuses it. It never
touches a message; `agent_api.wire.plans` does.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

__all__ = ["Convert", "FieldError", "parser", "unexpected"]

_INTEGERS: dict[int, tuple[int, int]] = {
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32), (-(2**31), 2**31 - 1)
    ),
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64), (-(2**63), 2**63 - 1)
    ),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32), (0, 2**32 - 1)),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64), (0, 2**64 - 1)),
}
_MAX_FLOAT32 = 3.4028234663852886e38

_NUMBER = re.compile(r"\s*(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*\Z", re.ASCII)
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]", re.ASCII)
_SPACE = re.compile(r"\s+", re.ASCII)

Convert = Callable[[Any], Any]


class FieldError(ValueError):
    """A JSON value that its field does not take. The text is Mesos's where Mesos has one."""


def parser(field: FieldDescriptor) -> Convert:
    """From one JSON value, not null, to one that the field takes; None where the field is to stay unset."""
    if field.enum_type is not None:
        return _enum_parser(field)
    if field.type == FieldDescriptor.TYPE_STRING:
        return _string_parser(field.name)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _bytes_parser(field.name)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return _bool_parser(field.name)
    if field.type in _INTEGERS:
        return _integer_parser(field.name, *_INTEGERS[field.type])
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return _double_parser(field.name, math.inf if field.type == FieldDescriptor.TYPE_DOUBLE else _MAX_FLOAT32)
    raise TypeError(f"field {field.full_name} has a type that this codec does not know: {field.type}")


def _enum_parser(field: FieldDescriptor) -> Convert:
    name, numbers, required = field.name, dict[str, int](), field.is_required
    if field.enum_type is not None:
        numbers.update((value.name, value.number) for value in field.enum_type.values)

    def parse(value: Any) -> int | None:
        if not isinstance(value, str):
            raise unexpected(value, name)
        number = numbers.get(value)
        if number is None and required:
            raise FieldError(f"Failed to find enum for '{_short(value)}'")
        return number

    return parse


def _string_parser(name: str) -> Convert:
    def parse(value: Any) -> str:
        if not isinstance(value, str):
            raise unexpected(value, name)
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise FieldError(f"Not expecting half of a surrogate pair in the string for field '{name}'") from None
        return value

    return parse


def _bytes_parser(name: str) -> Convert:
    def parse(value: Any) -> bytes:
        if not isinstance(value, str):
            raise unexpected(value, name)
        try:
            return b64decode(value, validate=True)
        except (Base64Error, ValueError):
            return _lenient_base64(value, name)

    return parse


def _lenient_base64(value: str, name: str) -> bytes:
    """Base64 with line breaks, or without its padding; or the error that says what is wrong with it."""
    text = _SPACE.sub("", value)
    body = text.rstrip("=")
    wrong = _NOT_BASE64.search(body)
    prefix = f"Failed to base64 decode bytes field '{name}': "
    if wrong is not None:
        raise FieldError(f"{prefix}Invalid character '{_printable(wrong.group())}'")
    if len(body) % 4 == 1 or len(text) - len(body) > 2:
        raise FieldError(f"{prefix}Invalid length")
    return b64decode(body + "=" * (-len(body) % 4))


def _bool_parser(name: str) -> Convert:
    def parse(value: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            text = value.strip(" \t\r\n")
            if text in ("true", "false"):
                return text == "true"
            raise FieldError(f"Failed to parse '{_short(value)}' as a JSON boolean for field '{name}'")
        raise unexpected(value, name)

    return parse


def _integer_parser(name: str, low: int, high: int) -> Convert:
    def parse(value: Any) -> int:
        if type(value) is not int:
            value = _number(value, name)
        if isinstance(value, float):
            if not value.is_integer():
                raise FieldError(f"Expecting a whole number for field '{name}', but received {value}")
            value = int(value)
        if not low <= value <= high:
            raise FieldError(
                f"Expecting a number from {low} to {high} for field '{name}', but received {_short(str(value))}"
            )
        return int(value)

    return parse


def _double_parser(name: str, high: float) -> Convert:
    def parse(value: Any) -> float:
        if type(value) is not float:
            try:
                value = float(_number(value, name))
            except OverflowError:
                value = math.inf
        if not -high <= value <= high or math.isinf(value):
            raise FieldError(f"Expecting a finite number for field '{name}'")
        return float(value)

    return parse


def _number(value: Any, name: str) -> int | float:
    """A JSON number, or a string that holds one."""
    if isinstance(value, str):
        if value.strip() in ("NaN", "Infinity", "-Infinity"):
            raise FieldError(f"Expecting a finite number for field '{name}'")
        match = _NUMBER.match(value)
        if match is None or len(value) > 400:
            raise FieldError(f"Failed to parse '{_short(value)}' as a JSON number for field '{name}'")
        return int(value) if match[2] is None and match[3] is None else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise unexpected(value, name)
    return value


def unexpected(value: Any, name: str) -> FieldError:
    """The refusal of a value whose JSON type the field does not take."""
    if isinstance(value, bool):
        kind = "boolean"
    elif isinstance(value, int | float):
        kind = "number"
    elif isinstance(value, str):
        kind = "string"
    elif isinstance(value, Mapping):
        kind = "object"
    elif isinstance(value, list | tuple):
        kind = "array"
    else:
        kind = type(value).__name__
    return FieldError(f"Not expecting a JSON {kind} for field '{name}'")


def _short(text: str) -> str:
    """A client's text, fit for one line of an answer."""
    return _printable(text if len(text) <= 100 else text[:100] + "…")


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
