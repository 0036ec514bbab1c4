"""What two answers have in common: ids that stand for each other, and where one answer is not as the other.

Decides what counts as a difference, and nothing about HTTP. Both answers come from the same call, the first from a real
Mesos. Values are compared too, but for those that no two runs have in common (`VOLATILE`, `OPEN`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Difference", "Ids", "amounts", "covers", "differences"]

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(rf"{_UUID}(-[SO]?\d+)?|[A-Za-z0-9+/]{{22}}==")

VOLATILE = re.compile(
    r"timestamp|nanoseconds|\w+_time_secs|mem_rss_bytes|mtime|(\w+_)?time|executor_pid|port|version|master_hostname|build_\w+|git_\w+|size|nlink|mode|[ug]id"
)
"""Values under these keys are of the run: only their type counts."""

OPEN = {"flags", "metrics", "(snapshot)"}
"""What is named in these is the daemon's own business: only the form of one of them counts."""

UNORDERED = re.compile(
    r"(\w+_)?resources(_full)?|capabilities|roles|file_infos|labels|attributes|resource_providers|(\w+_)?(operations"
    r"|frameworks|tasks)"
)
"""Lists whose order says nothing."""

PATHS = {"directory"}


@dataclass(frozen=True)
class Difference:
    """`what` is status, header, text, missing, extra, type, length, value, event, order, ended, connection or chunk."""

    exchange: str
    what: str
    path: str = ""
    recorded: Any = None
    ours: Any = None

    @property
    def key(self) -> str:
        """What an entry of the list of differences names: `what` and the path ("missing get_tasks.tasks.#.user")."""
        return f"{self.what} {self.path}".strip()

    def __str__(self) -> str:
        return f"{self.exchange}: {self.key}: Mesos {_short(self.recorded)}, Pinfold {_short(self.ours)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 240 else text[:240] + "…"


@dataclass
class Ids:
    """Recorded ids and ours. One that is not known is taken as it is: the client made it."""

    known: dict[str, str] = field(default_factory=dict)
    _pattern: re.Pattern[str] | None = None

    def copy(self) -> Ids:
        return Ids(dict(self.known))

    def bind(self, recorded: str, ours: str) -> None:
        self.known[recorded] = ours
        self._pattern = None

    def translate(self, text: str) -> str:
        """A recorded text with our ids in it."""
        if not self.known:
            return text
        if self._pattern is None:
            self._pattern = re.compile("|".join(re.escape(one) for one in sorted(self.known, key=len, reverse=True)))
        return self._pattern.sub(lambda found: self.known[found[0]], text)

    def values(self, value: Any) -> Any:
        """Recorded JSON values with our ids in them."""
        if isinstance(value, str):
            return self.translate(value)
        if isinstance(value, dict):
            return {self.translate(key): self.values(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.values(one) for one in value]
        return value


def differences(exchange: str, recorded: Any, ours: Any, ids: Ids, path: str = "") -> list[Difference]:
    """Where our JSON values are not as the recorded ones. Binds ids that are seen for the first time."""
    found: dict[tuple[str, str], Difference] = {}
    for what, at, left, right in _walk(recorded, ours, ids, path, path.rsplit(".", 1)[-1]):
        # One of each sort and place: a list of many says the same many times.
        found.setdefault((what, at), Difference(exchange, what, at, left, right))
    return list(found.values())


def _walk(recorded: Any, ours: Any, ids: Ids, path: str, key: str) -> Iterator[tuple[str, str, Any, Any]]:
    if type(recorded) is not type(ours):
        yield "type", path, recorded, ours
    elif isinstance(recorded, dict):
        yield from _walk_dict(recorded, ours, ids, path, key)
    elif isinstance(recorded, list):
        yield from _walk_list(recorded, ours, ids, path, key)
    elif isinstance(recorded, str):
        if key in PATHS or (_ID.fullmatch(recorded) and recorded not in ids.known):
            ids.bind(recorded, ours)
        elif not VOLATILE.fullmatch(key) and ids.translate(recorded) != ours:
            yield "value", path, ids.translate(recorded), ours
    elif not VOLATILE.fullmatch(key) and recorded != ours:
        yield "value", path, recorded, ours


def _walk_dict(
    recorded: dict[str, Any], ours: dict[str, Any], ids: Ids, path: str, key: str
) -> Iterator[tuple[str, str, Any, Any]]:
    if key in OPEN:
        theirs, mine = {type(one) for one in recorded.values()}, {type(one) for one in ours.values()}
        if not mine <= theirs:
            yield "type", f"{path}.#".lstrip("."), recorded, ours
        return
    names = {ids.translate(name): name for name in recorded}
    for name, original in names.items():
        # A name that is an id or the like would make another path in each run.
        shown = "#" if name != original else name
        at = f"{path}.{shown}".lstrip(".")
        if name not in ours:
            yield "missing", at, recorded[original], None
        else:
            yield from _walk(recorded[original], ours[name], ids, at, name)
    for name in ours:
        if name not in names:
            yield "extra", f"{path}.{name}".lstrip("."), None, ours[name]


def _walk_list(
    recorded: list[Any], ours: list[Any], ids: Ids, path: str, key: str
) -> Iterator[tuple[str, str, Any, Any]]:
    at = f"{path}.#".lstrip(".")
    if key in OPEN:
        if recorded and ours:
            yield from (one for one in _walk(recorded[0], ours[0], ids.copy(), at, "#") if one[0] != "value")
        return
    if UNORDERED.fullmatch(key):
        recorded, ours = _paired(recorded, ours, ids)
    if len(recorded) != len(ours):
        yield "length", at, recorded, ours
    for one, other in zip(recorded, ours, strict=False):
        yield from _walk(one, other, ids, at, key)


def _paired(recorded: list[Any], ours: list[Any], ids: Ids) -> tuple[list[Any], list[Any]]:
    """Both lists with the most alike elements at the same place, what is left over at the end."""
    left: list[Any] = []
    right: list[Any] = []
    rest = [(one, set(_leaves(one))) for one in ours]
    alike = []
    for number, one in enumerate(recorded):
        wanted = set(_leaves(ids.values(one)))
        alike += [(len(wanted & leaves), -number, -other) for other, (_, leaves) in enumerate(rest)]
    taken: set[tuple[str, int]] = set()
    for _, number, other in sorted(alike, reverse=True):
        if not taken & {("recorded", number), ("ours", other)}:
            taken |= {("recorded", number), ("ours", other)}
            left.append(recorded[-number])
            right.append(ours[-other])
    left += [one for number, one in enumerate(recorded) if ("recorded", -number) not in taken]
    right += [one for number, one in enumerate(ours) if ("ours", -number) not in taken]
    return left, right


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All values in a tree with their places. An id counts more than anything else."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, f"{path}.#")
    else:
        yield path, value
        if re.search(r"(\.|_)id(\.value)?$", path):
            yield from ((f"{path} {again}", value) for again in range(10))


def amounts(offers: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], float]:
    """How much of each scalar there is in offers, by its name, and whether a provider has it and it is reserved."""
    found: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    for offer in offers:
        for one in offer["resources"]:
            if one["type"] == "SCALAR":
                found[one["name"], "provider_id" in one, "reservations" in one] += one["scalar"]["value"]
    return dict(found)


def covers(have: dict[tuple[Any, ...], float], wanted: dict[tuple[Any, ...], float]) -> bool:
    """Whether there is as much as is wanted; Mesos counts in thousandths."""
    return all(have.get(key, 0.0) >= amount - 0.0005 for key, amount in wanted.items())
