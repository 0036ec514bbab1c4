"""The differences from a real Mesos that are meant, as `tests/data/golden/differences.toml` lists them."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from tests import golden
from tests.functional.replay_compare import Difference

__all__ = ["Known"]


class Known:
    """The differences that are meant: entries with `exchanges`, `differences` (both shell patterns) and `reason`; with
    `sometimes`, if they depend on the moment, which no two runs have in common."""

    PATH = golden.DATA / "differences.toml"

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self.entries = entries
        for entry in entries:
            assert set(entry) - {"sometimes"} == {"exchanges", "differences", "reason"}, f"wrong keys: {entry}"
            for pattern in entry["exchanges"]:
                assert pattern.split("/")[0] in golden.NAMES, f"'{pattern}' does not begin with a recording's name"
        self._used: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)

    @classmethod
    def read(cls) -> Known:
        return cls(tomllib.loads(cls.PATH.read_text()).get("difference", []))

    def has(self, difference: Difference, use: bool = True) -> bool:
        """Whether it is meant; remembers which entries said so, if it is of `use`."""
        found = False
        recording = difference.exchange.split("/")[0]
        for number, entry in enumerate(self.entries):
            exchanges = [one for one in entry["exchanges"] if fnmatchcase(difference.exchange, one)]
            kinds = [one for one in entry["differences"] if fnmatchcase(difference.key, one)]
            if exchanges and kinds:
                found = True
                if use:
                    self._used[recording].update((number, one) for one in (*exchanges, *kinds))
        return found

    def stale(self, recordings: Iterable[str]) -> list[str]:
        """What, after a replay of these recordings, was no difference."""
        recordings = list(recordings)
        used = set().union(*(self._used[one] for one in recordings))
        found = []
        for number, entry in enumerate(self.entries):
            exchanges = [one for one in entry["exchanges"] if one.split("/")[0] in recordings]
            if exchanges and not entry.get("sometimes"):
                unused = [one for one in (*exchanges, *entry["differences"]) if (number, one) not in used]
                found += [f"'{one}' ({entry['reason']})" for one in unused]
        return found
