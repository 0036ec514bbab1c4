"""Compiled plans: how the messages of one type are written as, and read from, plain JSON values.

Decides what Mesos's JSON looks like (names, enums, bytes, defaults, which empty arrays stay) and which values are taken
for which field. It never sees JSON text nor protobuf bytes, and knows nothing about calls: `agent_api.wire.codec` does
the text, the bytes and the errors' first words. A plan is made once for a type, at its first use; after that a message
costs one look-up for each field that it has, and no reflection.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

__all__ = ["MAX_DEPTH", "FieldError", "check", "descriptor", "reader", "writer"]

MAX_DEPTH = 100
"""Messages inside messages, the same bound that protobuf's own parser has. Types that hold themselves
(`ContainerID.parent`) would otherwise let a client choose how deep we recurse."""

SILENT_DEFAULTS = frozenset({"mesos.v1.FrameworkInfo.role", "mesos.v1.Resource.role"})
"""Declared defaults that Mesos does not write where the field is unset, as it calls these fields deprecated."""

KEPT_ARRAYS = {
    "mesos.v1.agent.Response.GetExecutors": ("executors", "completed_executors"),
    "mesos.v1.agent.Response.GetFrameworks": ("frameworks", "completed_frameworks"),
    "mesos.v1.agent.Response.GetTasks": (
        "pending_tasks",
        "queued_tasks",
        "launched_tasks",
        "terminated_tasks",
        "completed_tasks",
    ),
    "mesos.v1.master.Response.GetAgents": ("agents", "recovered_agents"),
    "mesos.v1.master.Response.GetExecutors": ("executors",),
    "mesos.v1.master.Response.GetFrameworks": ("frameworks", "completed_frameworks"),
    "mesos.v1.master.Response.GetTasks": ("tasks", "unreachable_tasks", "completed_tasks"),
}
"""Arrays that stay where they are empty. Mesos writes these answers by hand, and clients rely on it."""

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

Write = Callable[[Message], dict[str, Any]]
Read = Callable[[Message, Mapping[str, Any], int], None]
Check = Callable[[Message], str | None]
_Convert = Callable[[Any], Any]
_Set = Callable[[Message, Any, int], None]


class FieldError(ValueError):
    """A JSON value that its field does not take. The text is Mesos's where Mesos has one."""


_writers: dict[str, Write] = {}
_readers: dict[str, Read] = {}
_checks: dict[str, Check] = {}


def descriptor(message: Message | type[Message]) -> Descriptor:
    """A message's or a message class's type, as the type checker wants to see it."""
    return cast(Descriptor, message.DESCRIPTOR)


# Writing ------------------------------------------------------------------------------------------------------------


def writer(kind: Descriptor) -> Write:
    """The function that makes a message of this type into a dict of what `json.dumps` takes, new at every call.

    Set fields and non-empty repeated ones, by number; then unset ones that have a declared default. Doubles are passed
    on as they are, also those that JSON cannot carry.
    """
    found = _writers.get(kind.full_name)
    return found if found is not None else _make_writer(kind)


def _make_writer(kind: Descriptor) -> Write:
    table: dict[FieldDescriptor, tuple[str, _Convert | None]] = {}
    defaults: list[tuple[str, Any]] = []
    kept = KEPT_ARRAYS.get(kind.full_name, ())

    def write(message: Message) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for field, value in message.ListFields():
            name, convert = table[field]
            out[name] = value if convert is None else convert(value)
        for name, default in defaults:
            if name not in out:
                out[name] = default
        for name in kept:
            if name not in out:
                out[name] = []
        return out

    # Entered before the fields are looked at: a type may hold itself.
    _writers[kind.full_name] = write
    for field in kind.fields:
        table[field] = field.name, _converter(field)
        if not field.is_repeated and field.has_default_value and field.full_name not in SILENT_DEFAULTS:
            convert = _one(field)
            default = field.default_value
            defaults.append((field.name, default if convert is None else convert(default)))
    return write


def _converter(field: FieldDescriptor) -> _Convert | None:
    if not field.is_repeated:
        return _one(field)
    key, item = _map_fields(field)
    convert = _one(item)
    if key is not None:
        name = _map_key(key)
        if convert is None:
            return lambda entries: {name(key): entries[key] for key in sorted(entries)}
        return lambda entries: {name(key): convert(entries[key]) for key in sorted(entries)}
    if convert is None:
        return list
    return lambda values: [convert(value) for value in values]


def _one(field: FieldDescriptor) -> _Convert | None:
    """How one value of the field is written; None where it is written as it is."""
    if field.message_type is not None:
        return writer(field.message_type)
    if field.enum_type is not None:
        return {value.number: value.name for value in reversed(field.enum_type.values)}.__getitem__
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: b64encode(value).decode("ascii")
    return None


def _map_fields(field: FieldDescriptor) -> tuple[FieldDescriptor | None, FieldDescriptor]:
    """Key and value of a map; None and the field itself for what is none."""
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        return entry.fields_by_name["key"], entry.fields_by_name["value"]
    return None, field


def _map_key(key: FieldDescriptor) -> Callable[[Any], str]:
    if key.type == FieldDescriptor.TYPE_BOOL:
        return lambda value: "true" if value else "false"
    return str


# Reading ------------------------------------------------------------------------------------------------------------


def reader(kind: Descriptor) -> Read:
    """The function `(message, values, depth)` that sets the fields of a message of this type from a JSON object.

    `depth` counts the messages around this one, from 0. Null leaves a field unset, unknown names are passed over.
    Raises FieldError at the first value that does not fit; required fields are not looked at.
    """
    found = _readers.get(kind.full_name)
    return found if found is not None else _make_reader(kind)


def _make_reader(kind: Descriptor) -> Read:
    table: dict[str, _Set] = {}

    def read(message: Message, values: Mapping[str, Any], depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise FieldError(f"Messages are nested more than {MAX_DEPTH} deep")
        for name, value in values.items():
            if value is not None:
                set_field = table.get(name)
                if set_field is not None:
                    set_field(message, value, depth)

    _readers[kind.full_name] = read
    for field in kind.fields:
        table[field.name] = _setter(field)
    return read


def _setter(field: FieldDescriptor) -> _Set:
    key, item = _map_fields(field)
    if key is not None:
        return _map_setter(field, key, item)
    if field.message_type is not None:
        return _message_setter(field, reader(field.message_type))
    return _scalar_setter(field, _parser(field))


def _message_setter(field: FieldDescriptor, read: Read) -> _Set:
    name = field.name

    def set_one(message: Message, value: Any, depth: int) -> None:
        if not isinstance(value, Mapping):
            raise _unexpected(value, name)
        child = getattr(message, name)
        child.SetInParent()
        read(child, value, depth + 1)

    def add_all(message: Message, value: Any, depth: int) -> None:
        # Mesos takes a single value for a list of one, and passes over nulls in lists.
        children = getattr(message, name)
        for one in value if isinstance(value, list | tuple) else (value,):
            if one is not None:
                if not isinstance(one, Mapping):
                    raise _unexpected(one, name)
                read(children.add(), one, depth + 1)

    return add_all if field.is_repeated else set_one


def _scalar_setter(field: FieldDescriptor, parse: _Convert) -> _Set:
    name = field.name

    def set_one(message: Message, value: Any, _depth: int) -> None:
        parsed = parse(value)
        if parsed is not None:
            setattr(message, name, parsed)

    def add_all(message: Message, value: Any, _depth: int) -> None:
        values = value if isinstance(value, list | tuple) else (value,)
        parsed = [parse(one) for one in values if one is not None]
        getattr(message, name).extend([one for one in parsed if one is not None])

    return add_all if field.is_repeated else set_one


def _map_setter(field: FieldDescriptor, key: FieldDescriptor, item: FieldDescriptor) -> _Set:
    name = field.name
    parse_key = _parser(key)
    parse = _parser(item) if item.message_type is None else None
    read = reader(item.message_type) if item.message_type is not None else None

    def set_entries(message: Message, value: Any, depth: int) -> None:
        if not isinstance(value, Mapping):
            raise _unexpected(value, name)
        entries = getattr(message, name)
        for text, one in value.items():
            if one is None:
                continue
            entry = parse_key(text)
            if parse is not None:
                parsed = parse(one)
                if parsed is not None:
                    entries[entry] = parsed
            elif read is not None:
                if not isinstance(one, Mapping):
                    raise _unexpected(one, name)
                # Looking a key up makes its message.
                read(entries[entry], one, depth + 1)

    return set_entries


def _parser(field: FieldDescriptor) -> _Convert:
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


def _enum_parser(field: FieldDescriptor) -> _Convert:
    name, numbers, required = field.name, dict[str, int](), field.is_required
    if field.enum_type is not None:
        numbers.update((value.name, value.number) for value in field.enum_type.values)

    def parse(value: Any) -> int | None:
        if not isinstance(value, str):
            raise _unexpected(value, name)
        number = numbers.get(value)
        if number is None and required:
            raise FieldError(f"Failed to find enum for '{_short(value)}'")
        return number

    return parse


def _string_parser(name: str) -> _Convert:
    def parse(value: Any) -> str:
        if not isinstance(value, str):
            raise _unexpected(value, name)
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise FieldError(f"Not expecting half of a surrogate pair in the string for field '{name}'") from None
        return value

    return parse


def _bytes_parser(name: str) -> _Convert:
    def parse(value: Any) -> bytes:
        if not isinstance(value, str):
            raise _unexpected(value, name)
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


def _bool_parser(name: str) -> _Convert:
    def parse(value: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            text = value.strip(" \t\r\n")
            if text in ("true", "false"):
                return text == "true"
            raise FieldError(f"Failed to parse '{_short(value)}' as a JSON boolean for field '{name}'")
        raise _unexpected(value, name)

    return parse


def _integer_parser(name: str, low: int, high: int) -> _Convert:
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


def _double_parser(name: str, high: float) -> _Convert:
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
        raise _unexpected(value, name)
    return value


def _unexpected(value: Any, name: str) -> FieldError:
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


# Checking -----------------------------------------------------------------------------------------------------------


def check(message: Message) -> str | None:
    """What in a message that came as protobuf JSON could not carry, or None: text that is no UTF-8 (Python's protobuf
    hands it on as bytes), a double that is no finite number. The answer names the field with its path."""
    return _check_of(descriptor(message))(message)


def _check_of(kind: Descriptor) -> Check:
    if kind.full_name in _checks:
        return _checks[kind.full_name]
    table: dict[FieldDescriptor, _Convert] = {}

    def look(message: Message) -> str | None:
        for field, value in message.ListFields():
            fault_of = table.get(field)
            if fault_of is not None:
                fault = fault_of(value)
                if fault is not None:
                    return f"{field.name}{fault}"
        return None

    _checks[kind.full_name] = look
    for field in kind.fields:
        fault_of = _fault_of(field)
        if fault_of is not None:
            table[field] = fault_of
    return look


def _fault_of(field: FieldDescriptor) -> _Convert | None:
    key, item = _map_fields(field)
    one = _fault_of_one(item)
    if key is not None:
        key_fault = _fault_of_one(key)

        def in_map(entries: Any) -> str | None:
            for name in entries:
                fault = key_fault(name) if key_fault is not None else None
                if fault is None and one is not None:
                    fault = one(entries[name])
                if fault is not None:
                    return f"[{name!r}]{fault}"
            return None

        return in_map
    if one is None or not field.is_repeated:
        return one

    def in_list(values: Any) -> str | None:
        for index, value in enumerate(values):
            fault = one(value)
            if fault is not None:
                return f"[{index}]{fault}"
        return None

    return in_list


def _fault_of_one(field: FieldDescriptor) -> _Convert | None:
    if field.message_type is not None:
        look = _check_of(field.message_type)

        def in_message(message: Message) -> str | None:
            fault = look(message)
            return None if fault is None else f".{fault}"

        return in_message
    if field.type == FieldDescriptor.TYPE_STRING:
        return lambda value: None if isinstance(value, str) else " is not UTF-8"
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return lambda value: None if math.isfinite(value) else " is not a finite number"
    return None
