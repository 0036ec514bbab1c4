"""Messages to and from what goes over the wire: JSON in Mesos's own manner, and protobuf.

Decides what text and which bytes are a message, and how the errors read (a real Mesos's words, where it has some). It
never decides whether a call makes sense; that is validation, and it comes after. What a JSON value becomes in a field
is in `agent_api.wire.plans`.

JSON cannot carry NaN and infinities, and text must be UTF-8: a message with either is refused when it comes in as
protobuf too, so that what one client sent can always be shown to another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json.decoder import JSONDecodeError
from typing import Any, NoReturn, TypeVar

from google.protobuf.message import DecodeError, Message

from agent_api.wire import plans, values

__all__ = ["JSON", "PROTOBUF", "CodecError", "decode", "encode", "from_dict", "from_json", "to_dict", "to_json"]

JSON = "application/json"
PROTOBUF = "application/x-protobuf"

NEAR = 256
"""Characters of the faulty line that an error repeats."""

M = TypeVar("M", bound=Message)

_SPACE = re.compile(r"[ \t\r\n]*", re.ASCII)
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN', re.DOTALL)


class CodecError(ValueError):
    """What came is no message of the wanted type, or a message cannot be written.

    The text is a whole sentence for the client; `detail` is the part after "Failed to …: ", empty if there is none.
    """

    def __init__(self, action: str, detail: str = "", *, hidden: bool = False) -> None:
        """`hidden` keeps the detail out of the text, where Mesos has none; it is there for the log."""
        super().__init__(action if hidden or not detail else f"{action}: {detail}")
        self.detail = detail


class _ConstantError(ValueError):
    """NaN or an infinity as a bare word; Python's parser takes them, JSON does not."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


_scan = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
_dump = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def to_dict(message: Message) -> dict[str, Any]:
    """The message as `json.dumps` takes it: new dicts and lists, 64-bit integers as numbers, bytes as base64.

    Doubles that JSON cannot carry are passed on as they are; `to_json` refuses them.
    """
    return plans.writer(plans.descriptor(message))(message)


def to_json(message: Message) -> str:
    """The message as Mesos writes it: ASCII, without spaces. Raises CodecError, naming the field, where it holds what
    JSON cannot carry."""
    try:
        return _dump(plans.writer(plans.descriptor(message))(message))
    except (ValueError, TypeError, RecursionError) as error:
        name = message.DESCRIPTOR.name
        detail = plans.check(message) if not isinstance(error, RecursionError) else "it is nested too deep"
        raise CodecError(f"Failed to write {name} protobuf as JSON", detail or str(error)) from None


def from_json(cls: type[M], data: bytes | str) -> M:
    """The message that this JSON text says. Raises CodecError."""
    return from_dict(cls, _parse(data))


def from_dict(cls: type[M], data: Any) -> M:
    """The message that these JSON values say, which must be an object with all required fields. Raises CodecError."""
    action = f"Failed to convert JSON into {cls.DESCRIPTOR.name} protobuf"
    if not isinstance(data, Mapping):
        raise CodecError(action, "Expecting a JSON object")
    message = cls()
    try:
        plans.reader(plans.descriptor(cls))(message, data, 0)
    except values.FieldError as error:
        raise CodecError(action, str(error)) from None
    if not message.IsInitialized():
        raise CodecError(action, _missing(message))
    return message


def encode(message: Message, media: str) -> bytes:
    """The message in one of the two media types. Raises CodecError for what cannot be written."""
    if media == JSON:
        return to_json(message).encode("ascii")
    if media != PROTOBUF:
        raise ValueError(f"media type {media!r} is neither {JSON!r} nor {PROTOBUF!r}")
    if not message.IsInitialized():
        raise CodecError(f"Failed to write {message.DESCRIPTOR.name} protobuf", _missing(message))
    return message.SerializeToString()


def decode(cls: type[M], data: bytes, media: str) -> M:
    """The message in a body of one of the two media types; unknown fields are thrown away. Raises CodecError."""
    if media == JSON:
        return from_json(cls, data)
    if media != PROTOBUF:
        raise ValueError(f"media type {media!r} is neither {JSON!r} nor {PROTOBUF!r}")
    action = f"Failed to parse body into {cls.DESCRIPTOR.name} protobuf"
    message = cls()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise CodecError(action, str(error), hidden=True) from None
    if not message.IsInitialized():
        raise CodecError(action, _missing(message), hidden=True)
    fault = plans.check(message)
    if fault is not None:
        raise CodecError(action, fault)
    # As in JSON. Kept ones would make equal messages differ, resources above all.
    message.DiscardUnknownFields()
    return message


def _missing(message: Message) -> str:
    return "Missing required fields: " + ", ".join(message.FindInitializationErrors())  # type: ignore[attr-defined]


def _parse(data: bytes | str) -> Any:
    """JSON text to values. Bytes that are no UTF-8 become U+FFFD: Mesos takes them too."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    action = "Failed to parse body into JSON"
    start = _SPACE.match(text)
    try:
        value, end = _scan(text, 0 if start is None else start.end())
    except JSONDecodeError as error:
        raise CodecError(action, _syntax_error(text, _position(text, error))) from None
    except _ConstantError:
        found = next((m.start() for m in _STRING_OR_CONSTANT.finditer(text) if not m[0].startswith('"')), 0)
        raise CodecError(action, _syntax_error(text, found)) from None
    except RecursionError:
        raise CodecError(action, "it is nested too deep") from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise CodecError(action, f"a number is too long: {error}") from None
    rest = text[end : end + NEAR]
    if text[end:].strip(" \t\r\n"):
        raise CodecError(action, f"Parsed JSON included non-whitespace trailing characters: {_clean(rest)}")
    return value


def _position(text: str, error: JSONDecodeError) -> int:
    """Where Mesos's parser, which has read what it could, stands at this fault."""
    if error.msg.startswith("Unterminated string"):
        return len(text)
    for word in ("null", "true", "false"):
        if text.startswith(word[0], error.pos):
            matched = 1
            while matched < len(word) and text.startswith(word[: matched + 1], error.pos):
                matched += 1
            return error.pos + matched
    return error.pos


def _syntax_error(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    end = text.find("\n", position)
    near = text[position : len(text) if end < 0 else end]
    return f"syntax error at line {line} near: {_clean(near[:NEAR])}"


def _clean(text: str) -> str:
    return "".join(character for character in text if character >= " ")
