"""CPU and memory-node sets as integers, and the two ways in which Linux writes them.

A set is an `int` with one bit per id: union is `|`, intersection `&`, difference `a & ~b`, the number of
members `.bit_count()`. Decides which texts are lists; never reads a file and never knows which ids a host has.

The list format is that of the kernel's `bitmap_parselist` ("0-3,8", "0-31:2/8"), read more strictly where the
kernel guesses: an item must not be empty ("1,,2"), and the words "all" and "N" are not taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "MAX_CPU_ID",
    "MAX_LIST_LENGTH",
    "MAX_NODE_ID",
    "CpuListError",
    "format_mask",
    "ids",
    "lowest",
    "of",
    "parse",
    "parse_bitmap",
]

MAX_CPU_ID = 8191
"""Largest CPU id that is taken: no Linux architecture is built for more than 8,192 CPUs. No text can make a
set larger than 1 kB."""

MAX_NODE_ID = 1023
"""Largest memory node id: Linux is built for at most 1,024 nodes."""

MAX_LIST_LENGTH = 32768
"""Longest text that is read, in characters: the longest list that 8,192 ids need ("0-1,3-4,6-7…") has 27,000."""

_ITEM = re.compile(r"[ \t\n]*([0-9]+)(?:-([0-9]+)(?::([0-9]+)/([0-9]+))?)?[ \t\n]*")
_BLANK = " \t\n\r\v\f\0"
_MAX_DIGITS = 6
_MAX_BITMAP_WORDS = (MAX_CPU_ID + 1) // 32


class CpuListError(ValueError):
    """A text that is no list. The message names the field, the position and what is wrong there."""

    def __init__(self, field: str, text: str, position: int, reason: str) -> None:
        start = max(0, position - 12)
        excerpt = text[start : position + 20]
        shown = ("…" if start else "") + excerpt + ("…" if start + len(excerpt) < len(text) else "")
        super().__init__(f"{field}: {reason} at position {position} of {shown!r}")
        self.field = field
        self.position = position
        """Index of the character at which the text stops being a list, counted from 0."""
        self.reason = reason


def parse(text: str, *, field: str = "cpus", max_id: int = MAX_CPU_ID) -> int:
    """The set that `text` lists: ids, ranges "a-b" and ranges with a stride "a-b:used/group", parted by commas.

    "a-b:used/group" is the kernel's: of each `group` ids the first `used`. Blanks around the text and around
    items do not count; an empty or blank text is the empty set. Ids may come twice and in any order.

    Raises `CpuListError` on anything else, on an id above `max_id` and on a text over `MAX_LIST_LENGTH`; it
    costs no more than some milliseconds and kilobytes, whatever the text is.
    """
    if len(text) > MAX_LIST_LENGTH:
        raise CpuListError(field, text, MAX_LIST_LENGTH, f"the list goes on after {MAX_LIST_LENGTH} characters")
    end = len(text.rstrip(_BLANK))
    if not end:
        return 0
    mask = 0
    position = 0
    for item in text[:end].split(","):
        # Most items are a bare id; the general form costs ten times as much.
        if len(item) <= 4 and item.isdigit() and item.isascii():
            mask |= 1 << _number(item, max_id, field, text, position)
        else:
            mask |= _item(item, max_id, field, text, position)
        position += len(item) + 1
    return mask


def _item(item: str, max_id: int, field: str, text: str, position: int) -> int:
    found = _ITEM.match(item)
    if found is None:
        at = position + len(item) - len(item.lstrip(" \t\n"))
        raise CpuListError(field, text, at, _what_is_missing(text, at))
    if found.end() != len(item):
        raise CpuListError(field, text, position + found.end(), f"unexpected {item[found.end()]!r}")
    first, last, used, group = found.groups()
    low = _number(first, max_id, field, text, position + found.start(1))
    if last is None:
        return 1 << low
    high = _number(last, max_id, field, text, position + found.start(2))
    if high < low:
        reason = f"the range {low}-{high} ends before it begins"
        raise CpuListError(field, text, position + found.start(2), reason)
    if used is None:
        return ((1 << (high - low + 1)) - 1) << low
    return _strided(low, high, used, group, field, text, position + found.start(3))


def _what_is_missing(text: str, at: int) -> str:
    if not text[at:].strip(_BLANK):
        return "a number is missing after the last comma"
    if text[at] == ",":
        return "an item is empty"
    return f"expected a number in ASCII digits, found {text[at]!r}"


def _number(digits: str, max_id: int, field: str, text: str, position: int) -> int:
    # Counted before converted: a number of 30,000 digits must not cost its conversion.
    if len(digits) > _MAX_DIGITS:
        digits = digits.lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS or int(digits) > max_id:
        shown = digits if len(digits) <= 24 else digits[:20] + "…"
        raise CpuListError(field, text, position, f"{shown} is above the largest id {max_id}")
    return int(digits)


def _strided(low: int, high: int, used_text: str, group_text: str, field: str, text: str, position: int) -> int:
    used = _number(used_text, MAX_CPU_ID + 1, field, text, position)
    group = _number(group_text, MAX_CPU_ID + 1, field, text, position + len(used_text) + 1)
    if group == 0 or not 0 < used <= group:
        raise CpuListError(field, text, position, f"{used}/{group} does not take some of each {group} ids")
    pattern = (1 << used) - 1
    width = group
    wanted = high - low + 1
    while width < wanted:
        pattern |= pattern << width
        width *= 2
    return (pattern & ((1 << wanted) - 1)) << low


def parse_bitmap(text: str, *, field: str = "cpumap") -> int:
    """The set of a kernel bitmap: 32-bit hexadecimal words, most significant first, parted by commas.

    Raises `CpuListError` where it is none, or wider than `MAX_CPU_ID` allows. An empty text is the empty set.
    """
    stripped = text.strip(_BLANK)
    if not stripped:
        return 0
    words = stripped.split(",", _MAX_BITMAP_WORDS)
    if len(words) > _MAX_BITMAP_WORDS:
        raise CpuListError(field, text, 0, f"a bitmap of more than {_MAX_BITMAP_WORDS} words")
    position = 0
    mask = 0
    for word in words:
        # int() alone would take "0x1", "1_0", "+1" and digits of other scripts.
        if not 0 < len(word) <= 8 or not all(letter in "0123456789abcdefABCDEF" for letter in word):
            raise CpuListError(field, text, position, f"{word[:20]!r} is no 32-bit hexadecimal word")
        mask = mask << 32 | int(word, 16)
        position += len(word) + 1
    return mask


def format_mask(mask: int) -> str:
    """The shortest list of plain ids and ranges, ascending: "0-3,8"; "" for the empty set."""
    _not_negative(mask)
    parts = []
    offset = 0
    while mask:
        gap = (mask & -mask).bit_length() - 1
        mask >>= gap
        run = (~mask & (mask + 1)).bit_length() - 1
        first = offset + gap
        last = first + run - 1
        parts.append(str(first) if run == 1 else f"{first}-{last}")
        mask >>= run
        offset = last + 1
    return ",".join(parts)


def ids(mask: int) -> list[int]:
    """The members, ascending."""
    _not_negative(mask)
    members = []
    while mask:
        low = mask & -mask
        members.append(low.bit_length() - 1)
        mask ^= low
    return members


def of(members: Iterable[int]) -> int:
    """The set of these ids; they may come twice. Raises ValueError for a negative one."""
    mask = 0
    for member in members:
        mask |= 1 << member
    return mask


def lowest(mask: int) -> int:
    """The set of the lowest member alone; 0 for the empty set."""
    return mask & -mask


def _not_negative(mask: int) -> None:
    if mask < 0:
        raise ValueError(f"a set is a non-negative int, not {mask}")
