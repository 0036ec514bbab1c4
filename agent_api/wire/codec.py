"""Mesos messages as JSON and as protobuf, both ways.

Decides how Mesos's JSON maps to messages (it is not protobuf's own JSON mapping: see `to_json` and `from_json`) and the
wording of what is wrong with a body, which clients match on. It never decides what a message means.

The mapping of a message type is compiled once, into one closure a field, and not looked up by reflection at each call.
Source of the rules: the behaviour of Mesos 1.12's stout library (JSON::protobuf and protobuf::parse), as recorded.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, EnumValueDescriptor, FieldDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

__all__ = ["JSON", "PROTOBUF", "CodecError", "decode", "encode", "from_dict", "from_json", "to_dict", "to_json"]

JSON = "application/json"
PROTOBUF = "application/x-protobuf"

M = TypeVar("M", bound=Message)

_DEPRECATED_DEFAULTS = {"mesos.v1.Resource.role"}
"""Declared defaults are written, but for those of fields that Mesos's schema marks as deprecated."""

_MAX_DEPTH = 100
"""Nesting of messages; the same bound as protobuf's own parser has."""

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1, "int32"),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1, "int64"),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1, "uint32"),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1, "uint64"),
}


class CodecError(ValueError):
    """A body that is no such message. The text is the one a Mesos client gets, and names the field and the value."""


def encode(message: Message, media: str) -> bytes:
    """The body for a media type. Raises CodecError where a required field is missing: a bug of ours."""
    if media == JSON:
        return to_json(message)
    if media == PROTOBUF:
        try:
            return message.SerializeToString()
        except EncodeError as error:
            raise CodecError(str(error)) from error
    raise ValueError(f"no such media type: {media!r}")


def decode(kind: type[M], data: bytes, media: str) -> M:
    """The message in a body. Raises CodecError."""
    if media == JSON:
        return from_json(kind, data)
    if media != PROTOBUF:
        raise ValueError(f"no such media type: {media!r}")
    message = kind()
    try:
        message.ParseFromString(data)
        complete = message.IsInitialized()
    except (DecodeError, RuntimeWarning):
        complete = False
    if not complete:
        raise CodecError(f"Failed to parse body into {kind.DESCRIPTOR.name} protobuf")
    return message


# ---------------------------------------------------------------------------------------------- to JSON


def to_json(message: Message) -> bytes:
    """Compact ASCII JSON: names as in the schema, 64-bit integers as numbers, enums by name, bytes in base64.

    Fields that are not set are left out, but for those with a declared default. Raises CodecError for
    numbers that JSON does not have (infinite, not a number).
    """
    try:
        return json.dumps(to_dict(message), separators=(",", ":"), allow_nan=False).encode("ascii")
    except ValueError as error:
        raise CodecError(f"{message.DESCRIPTOR.name} has a number that JSON cannot carry: {error}") from error


def to_dict(message: Message) -> dict[str, Any]:
    """What `to_json` writes, as Python values."""
    result: dict[str, Any] = {}
    for write in _writers(message.DESCRIPTOR):
        write(message, result)
    return result


Writer = Callable[[Message, dict[str, Any]], None]


@cache
def _writers(descriptor: Descriptor) -> tuple[Writer, ...]:
    return tuple(_writer(field) for field in sorted(descriptor.fields, key=lambda field: field.number))


def _writer(field: FieldDescriptor) -> Writer:
    name = field.name
    if _is_map(field):
        value_of = _value_writer(_entry(field)["value"])

        def write_map(message: Message, result: dict[str, Any]) -> None:
            found = getattr(message, name)
            if found:
                result[name] = {str(key): value_of(found[key]) for key in sorted(found)}

        return write_map
    value_of = _value_writer(field)
    if field.is_repeated:

        def write_list(message: Message, result: dict[str, Any]) -> None:
            found = getattr(message, name)
            if found:
                result[name] = [value_of(item) for item in found]

        return write_list
    if field.has_default_value and field.full_name not in _DEPRECATED_DEFAULTS:

        def write_always(message: Message, result: dict[str, Any]) -> None:
            result[name] = value_of(getattr(message, name))

        return write_always

    def write(message: Message, result: dict[str, Any]) -> None:
        if message.HasField(name):
            result[name] = value_of(getattr(message, name))

    return write


def _value_writer(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: base64.b64encode(value).decode("ascii")
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        names = {value.number: value.name for value in reversed(_enum_values(field))}
        return names.__getitem__
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        return to_dict
    return lambda value: value


# -------------------------------------------------------------------------------------------- from JSON


def from_json(kind: type[M], data: bytes | str) -> M:
    """Read a JSON body.

    null is an unset field; unknown fields and unknown names of optional enums are dropped; of duplicate keys the last
    counts; strings are taken for numbers and booleans; a lone value is taken for a list of one. Raises CodecError.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value, end = _DECODER.raw_decode(text, _SPACE.match(text).end())  # type: ignore[union-attr]
    except UnicodeDecodeError as error:
        raise CodecError(f"Failed to parse body into JSON: invalid UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        near = error.doc[error.pos :].split("\n", 1)[0][:80]
        raise CodecError(f"Failed to parse body into JSON: syntax error at line {error.lineno} near: {near}") from error
    except RecursionError as error:
        raise CodecError("Failed to parse body into JSON: nested too deeply") from error
    except ValueError as error:
        raise CodecError(f"Failed to parse body into JSON: {error}") from error
    if text[end:].strip(" \t\r\n"):
        raise CodecError(
            "Failed to parse body into JSON: Parsed JSON included non-whitespace trailing characters: "
            + text[end:][:80]
        )
    return from_dict(kind, value)


def from_dict(kind: type[M], value: Any) -> M:
    """What `from_json` reads, from Python values. Raises CodecError."""
    prefix = f"Failed to convert JSON into {kind.DESCRIPTOR.name} protobuf"
    message = kind()
    try:
        if not isinstance(value, dict):
            raise CodecError("Expecting a JSON object")
        _read(message, value, 1)
    except CodecError as error:
        raise CodecError(f"{prefix}: {error}") from None
    if not message.IsInitialized():
        missing: list[str] = message.FindInitializationErrors()  # type: ignore[attr-defined]
        raise CodecError(f"{prefix}: Missing required fields: {', '.join(missing)}")
    return message


_SPACE = re.compile(r"[ \t\r\n]*")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)

Reader = Callable[[Message, Any, int], None]


def _read(message: Message, value: dict[str, Any], depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise CodecError(f"nested more than {_MAX_DEPTH} messages deep")
    readers = _readers(message.DESCRIPTOR)
    for name, item in value.items():
        if item is not None and (reader := readers.get(name)) is not None:
            reader(message, item, depth)


@cache
def _readers(descriptor: Descriptor) -> dict[str, Reader]:
    return {field.name: _reader(field) for field in descriptor.fields}


def _reader(field: FieldDescriptor) -> Reader:
    name = field.name
    if _is_map(field):
        return _map_reader(field)
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        if field.is_repeated:

            def read_messages(message: Message, value: Any, depth: int) -> None:
                target = getattr(message, name)
                for item in value if isinstance(value, list) else [value]:
                    if not isinstance(item, dict):
                        raise _unexpected(item, name)
                    _read(target.add(), item, depth + 1)

            return read_messages

        def read_message(message: Message, value: Any, depth: int) -> None:
            if not isinstance(value, dict):
                raise _unexpected(value, name)
            target = getattr(message, name)
            target.SetInParent()
            _read(target, value, depth + 1)

        return read_message
    value_of = _value_reader(field)
    if field.is_repeated:

        def read_values(message: Message, value: Any, _depth: int) -> None:
            items = [value_of(item) for item in (value if isinstance(value, list) else [value])]
            getattr(message, name).extend(item for item in items if item is not None)

        return read_values

    def read_value(message: Message, value: Any, _depth: int) -> None:
        item = value_of(value)
        if item is not None:
            setattr(message, name, item)

    return read_value


def _map_reader(field: FieldDescriptor) -> Reader:
    name = field.name
    key_of = _value_reader(_entry(field)["key"])
    value_field = _entry(field)["value"]
    of_messages = value_field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
    value_of = None if of_messages else _value_reader(value_field)

    def read_map(message: Message, value: Any, depth: int) -> None:
        if not isinstance(value, dict):
            raise _unexpected(value, name)
        target = getattr(message, name)
        for key, item in value.items():
            if item is None:
                continue
            if value_of is not None:
                target[key_of(key)] = value_of(item)
            elif isinstance(item, dict):
                entry = target[key_of(key)]
                entry.SetInParent()
                _read(entry, item, depth + 1)
            else:
                raise _unexpected(item, name)

    return read_map


def _value_reader(field: FieldDescriptor) -> Callable[[Any], Any]:
    name = field.name
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return _enum_reader(field)
    if field.type == FieldDescriptor.TYPE_BYTES:

        def read_bytes(value: Any) -> bytes:
            if not isinstance(value, str):
                raise _unexpected(value, name)
            return _base64(value, name)

        return read_bytes
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:

        def read_string(value: Any) -> str:
            if not isinstance(value, str):
                raise _unexpected(value, name)
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise CodecError(f"Not expecting a lone surrogate in field '{name}'") from None
            return value

        return read_string
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:

        def read_bool(value: Any) -> bool:
            if isinstance(value, bool):
                return value
            if value in ("true", "false"):
                return bool(value == "true")
            raise _unexpected(value, name)

        return read_bool
    if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return lambda value: _double(value, name)
    low, high, kind = _INTEGERS[field.cpp_type]
    return lambda value: _integer(value, name, low, high, kind)


def _enum_reader(field: FieldDescriptor) -> Callable[[Any], Any]:
    numbers = {value.name: value.number for value in _enum_values(field)}
    required = field.is_required

    def read_enum(value: Any) -> int | None:
        if not isinstance(value, str):
            raise _unexpected(value, field.name)
        number = numbers.get(value)
        if number is None and required:
            raise CodecError(f"Failed to find enum for '{value[:80]}'")
        return number

    return read_enum


def _base64(text: str, name: str) -> bytes:
    wrong = re.search(r"[^A-Za-z0-9+/=]", text)
    if wrong is not None:
        raise CodecError(f"Failed to base64 decode bytes field '{name}': Invalid character '{wrong.group()}'")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise CodecError(f"Failed to base64 decode bytes field '{name}': {error}") from None


def _double(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _unexpected(value, name)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise CodecError(f"Failed to convert '{str(value)[:40]}' to a double for field '{name}'")
    return number


def _integer(value: Any, name: str, low: int, high: int, kind: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _unexpected(value, name)
    number: int | None = None
    if isinstance(value, int):
        number = value
    elif isinstance(value, float):
        number = int(value) if math.isfinite(value) and value == int(value) else None
    elif re.fullmatch(r"[+-]?[0-9]{1,20}", value):
        number = int(value)
    if number is None or not low <= number <= high:
        raise CodecError(f"Failed to convert '{str(value)[:40]}' to {kind} for field '{name}'")
    return number


def _unexpected(value: Any, name: str) -> CodecError:
    if value is None:
        kind = "null"
    elif isinstance(value, bool):
        kind = "boolean"
    elif isinstance(value, int | float):
        kind = "number"
    elif isinstance(value, str):
        kind = "string"
    elif isinstance(value, list):
        kind = "array"
    else:
        kind = "object"
    return CodecError(f"Not expecting a JSON {kind} for field '{name}'")


def _is_map(field: FieldDescriptor) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def _entry(field: FieldDescriptor) -> Mapping[str, FieldDescriptor]:
    """Key and value of a map field."""
    assert field.message_type is not None
    return field.message_type.fields_by_name


def _enum_values(field: FieldDescriptor) -> Sequence[EnumValueDescriptor]:
    assert field.enum_type is not None
    return field.enum_type.values
