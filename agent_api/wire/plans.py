"""Compiled plans: how the messages of one type are written as, and read from, plain JSON values.

Decides what Mesos's JSON looks like (names, enums, bytes, defaults, which empty arrays stay) and where a value goes.
What one value may be is in `agent_api.wire.values`. It never sees JSON text nor protobuf bytes, and knows nothing about
calls: `agent_api.wire.codec` does the text, the bytes and the errors' first words. A plan is made once for a type, at
its first use; after that a message costs one look-up for each field that it has, and no reflection.
"""

from __future__ import annotations

import math
import threading
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from agent_api.wire.values import Convert, FieldError, parser, unexpected

__all__ = ["MAX_DEPTH", "check", "descriptor", "reader", "writer"]

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

Write = Callable[[Message], dict[str, Any]]
Read = Callable[[Message, Mapping[str, Any], int], None]
Check = Callable[[Message], str | None]
_Set = Callable[[Message, Any, int], None]
P = TypeVar("P")


class _Plans(Generic[P]):
    """The plans of one sort, each made at its first use. A plan is seen by other threads only when it is whole."""

    def __init__(self, make: Callable[[Descriptor, Callable[[P], None]], None]) -> None:
        """`make(type, enter)` enters the plan before it asks for those of the fields: a type may hold itself."""
        self._make = make
        self._ready: dict[str, P] = {}
        self._started: dict[str, P] = {}
        self._nesting = 0
        self._lock = threading.RLock()

    def __call__(self, kind: Descriptor) -> P:
        plan = self._ready.get(kind.full_name)
        return plan if plan is not None else self._get(kind)

    def _get(self, kind: Descriptor) -> P:
        name = kind.full_name
        with self._lock:
            plan = self._ready.get(name) or self._started.get(name)
            if plan is not None:
                return plan
            self._nesting += 1
            try:
                self._make(kind, lambda made: self._started.update({name: made}))
            except BaseException:
                self._started.clear()
                raise
            finally:
                self._nesting -= 1
            plan = self._started[name]
            if self._nesting == 0:
                self._ready.update(self._started)
                self._started.clear()
            return plan


def descriptor(message: Message | type[Message]) -> Descriptor:
    """A message's or a message class's type, as the type checker wants to see it."""
    return cast(Descriptor, message.DESCRIPTOR)


# Writing ------------------------------------------------------------------------------------------------------------


def writer(kind: Descriptor) -> Write:
    """The function that makes a message of this type into a dict of what `json.dumps` takes, new at every call.

    Set fields and non-empty repeated ones, by number; then unset ones that have a declared default. Doubles are passed
    on as they are, also those that JSON cannot carry.
    """
    return _writer(kind)


def _make_writer(kind: Descriptor, enter: Callable[[Write], None]) -> None:
    table: dict[FieldDescriptor, tuple[str, Convert | None]] = {}
    defaults: list[tuple[str, Any]] = []
    kept = KEPT_ARRAYS.get(kind.full_name, ())

    def write(message: Message) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for field, value in message.ListFields():
            name, convert = table[field]
            out[name] = value if convert is None else convert(value)
        return out

    def write_more(message: Message) -> dict[str, Any]:
        out = write(message)
        for name, default in defaults:
            if name not in out:
                out[name] = default
        for name in kept:
            if name not in out:
                out[name] = []
        return out

    has_more = bool(kept) or any(_written_default(field) for field in kind.fields)
    enter(write_more if has_more else write)
    for field in kind.fields:
        table[field] = field.name, _converter(field)
        if _written_default(field):
            convert = _one(field)
            default = field.default_value
            defaults.append((field.name, default if convert is None else convert(default)))


_writer = _Plans(_make_writer)


def _written_default(field: FieldDescriptor) -> bool:
    return not field.is_repeated and field.has_default_value and field.full_name not in SILENT_DEFAULTS


def _converter(field: FieldDescriptor) -> Convert | None:
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


def _one(field: FieldDescriptor) -> Convert | None:
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
    return _reader(kind)


def _make_reader(kind: Descriptor, enter: Callable[[Read], None]) -> None:
    table: dict[str, _Set] = {}

    def read(message: Message, values: Mapping[str, Any], depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise FieldError(f"Messages are nested more than {MAX_DEPTH} deep")
        for name, value in values.items():
            if value is not None:
                set_field = table.get(name)
                if set_field is not None:
                    set_field(message, value, depth)

    enter(read)
    for field in kind.fields:
        table[field.name] = _setter(field)


_reader = _Plans(_make_reader)


def _setter(field: FieldDescriptor) -> _Set:
    key, item = _map_fields(field)
    if key is not None:
        return _map_setter(field, key, item)
    if field.message_type is not None:
        return _message_setter(field, reader(field.message_type))
    return _scalar_setter(field, parser(field))


def _message_setter(field: FieldDescriptor, read: Read) -> _Set:
    name = field.name

    def set_one(message: Message, value: Any, depth: int) -> None:
        if not isinstance(value, Mapping):
            raise unexpected(value, name)
        child = getattr(message, name)
        child.SetInParent()
        read(child, value, depth + 1)

    def add_all(message: Message, value: Any, depth: int) -> None:
        # Mesos takes a single value for a list of one, and passes over nulls in lists.
        children = getattr(message, name)
        for one in value if isinstance(value, list | tuple) else (value,):
            if one is not None:
                if not isinstance(one, Mapping):
                    raise unexpected(one, name)
                read(children.add(), one, depth + 1)

    return add_all if field.is_repeated else set_one


def _scalar_setter(field: FieldDescriptor, parse: Convert) -> _Set:
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
    parse_key = parser(key)
    parse = parser(item) if item.message_type is None else None
    read = reader(item.message_type) if item.message_type is not None else None

    def set_entries(message: Message, value: Any, depth: int) -> None:
        if not isinstance(value, Mapping):
            raise unexpected(value, name)
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
                    raise unexpected(one, name)
                # Looking a key up makes its message.
                read(entries[entry], one, depth + 1)

    return set_entries


# Checking -----------------------------------------------------------------------------------------------------------


def check(message: Message) -> str | None:
    """What in a message that came as protobuf JSON could not carry, or None: text that is no UTF-8 (Python's protobuf
    hands it on as bytes), a double that is no finite number. The answer names the field with its path."""
    return _check(descriptor(message))(message)


def _make_check(kind: Descriptor, enter: Callable[[Check], None]) -> None:
    table: dict[FieldDescriptor, Convert] = {}

    def look(message: Message) -> str | None:
        for field, value in message.ListFields():
            if type(value) is str:
                continue
            fault_of = table.get(field)
            if fault_of is not None:
                fault = fault_of(value)
                if fault is not None:
                    return f"{field.name}{fault}"
        return None

    enter(look)
    for field in kind.fields:
        fault_of = _fault_of(field)
        if fault_of is not None:
            table[field] = fault_of


_check = _Plans(_make_check)


def _fault_of(field: FieldDescriptor) -> Convert | None:
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


def _fault_of_one(field: FieldDescriptor) -> Convert | None:
    if field.message_type is not None:
        look = _check(field.message_type)

        def in_message(message: Message) -> str | None:
            fault = look(message)
            return None if fault is None else f".{fault}"

        return in_message
    if field.type == FieldDescriptor.TYPE_STRING:
        return lambda value: None if isinstance(value, str) else " is not UTF-8"
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return lambda value: None if math.isfinite(value) else " is not a finite number"
    return None
