"""Reading small kernel files below one root, in the forms in which the kernel writes them.

Decides what counts as readable and remembers what was wrong. It never decides what a file means: that is
`provider.sysfs` and its siblings. No method raises for a file that is missing, unreadable or not understood.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from provider import cpuset

__all__ = ["Files"]

_LIMIT = 4 << 20
"""Most bytes that are taken of one file; /proc/cpuinfo of 2,048 CPUs has 3 MB."""
_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,19})\s*", re.ASCII)
_HEXADECIMAL = re.compile(r"\s*(?:0[xX])?([0-9a-fA-F]{1,16})\s*", re.ASCII)


class Files:
    """The files below one root. Paths are given without a leading slash. Each text is parsed once."""

    def __init__(self, root: str | Path = "/") -> None:
        self.root = str(root).rstrip("/")
        self.warnings: list[str] = []
        """What was wrong or had to be guessed, one sentence each, each once."""
        self._sets: dict[tuple[str, bool, int], int | None] = {}
        self._forms: dict[str, str] = {}

    def warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def text(self, path: str) -> str | None:
        """The content, or None where it cannot be read."""
        try:
            handle = os.open(f"{self.root}/{path}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError):
            return None
        try:
            data = os.read(handle, 8192)
            if len(data) == 8192 or (data and path.startswith("proc/")):
                parts = [data]
                size = len(data)
                while data and size < _LIMIT:
                    data = os.read(handle, 1 << 16)
                    parts.append(data)
                    size += len(data)
                data = b"".join(parts)
        except OSError:
            return None
        finally:
            os.close(handle)
        return data.decode("latin-1")

    def names(self, path: str) -> list[str]:
        """The entries of a directory, sorted; none where it cannot be read."""
        try:
            return sorted(os.listdir(f"{self.root}/{path}"))  # noqa: PTH208 -- names, three times as fast
        except (OSError, ValueError):
            return []

    def numbered(self, path: str, prefix: str, limit: int) -> list[int]:
        """The numbers N of the entries `prefix`N of a directory, ascending."""
        length = len(prefix)
        return sorted(
            int(name[length:])
            for name in self.names(path)
            if name.startswith(prefix)
            and name[length:].isascii()
            and name[length:].isdigit()
            and len(name) < length + 6
            and int(name[length:]) <= limit
        )

    def link(self, path: str) -> str | None:
        """Where a symbolic link points, as it is written."""
        try:
            return os.readlink(f"{self.root}/{path}")  # noqa: PTH115 -- text as written
        except (OSError, ValueError):
            return None

    def number(self, path: str) -> int | None:
        """A decimal number, possibly negative."""
        text = self.text(path)
        found = _INTEGER.fullmatch(text) if text is not None else None
        return int(found[1]) if found else None

    def hexadecimal(self, path: str) -> int | None:
        """A hexadecimal number, with or without 0x."""
        text = self.text(path)
        found = _HEXADECIMAL.fullmatch(text) if text is not None else None
        return int(found[1], 16) if found else None

    def mask(self, path: str, *, bitmap: bool = False, max_id: int = cpuset.MAX_CPU_ID) -> int | None:
        """A set in list format (or as a bitmap); None where there is none, 0 for the kernel's "(null)"."""
        text = self.text(path)
        if text is None:
            return None
        key = (text, bitmap, max_id)
        if key not in self._sets:
            self._sets[key] = self._parsed(path, text, bitmap, max_id)
        return self._sets[key]

    def _parsed(self, path: str, text: str, bitmap: bool, max_id: int) -> int | None:
        if text.strip() == "(null)":
            return 0
        try:
            return cpuset.parse_bitmap(text, field=path) if bitmap else cpuset.parse(text, field=path, max_id=max_id)
        except cpuset.CpuListError as error:
            self.warn(f"{error}: the file is taken as missing.")
            return None

    def either(self, directory: str, *names: str) -> int | None:
        """The first of these sets that can be read in `directory`.

        A name that ends in "_list" or "list" is in list format, any other a bitmap. Which name this kernel has
        is remembered, so that a machine is not asked 256 times for files that it does not have.
        """
        known = self._forms.get(names[0])
        if known is not None:
            found = self.mask(f"{directory}/{known}", bitmap=not known.endswith("list"))
            if found is not None:
                return found
        for name in names:
            found = self.mask(f"{directory}/{name}", bitmap=not name.endswith("list"))
            if found is not None:
                self._forms[names[0]] = name
                return found
        return None
