"""The exchanges that were recorded from a real Mesos 1.12: `tests/data/golden/*.jsonl.gz`, one JSON object a line.

An entry has `file` (its number and name in the recording), `server` (agent or master: the port), `time` (seconds), and
`request` and `response`: method, path, headers in their order, `body` or `body_base64`. A stream's `response` has
`events` with their times instead of a body, and `calls`: what its client sent meanwhile, of which some have no entry of
their own. Left out of the recording are `body_json` (the body once more) and the streams' first halves.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["DATA", "NAMES", "entries", "entry"]

DATA = Path(__file__).parent / "data/golden"

NAMES = tuple(sorted(path.name.removesuffix(".jsonl.gz") for path in DATA.glob("*.jsonl.gz")))
"""The recordings: each is one sequence against one pair of daemons."""


@cache
def _text(name: str) -> str:
    return gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).decode("ascii")


def entries(name: str) -> list[dict[str, Any]]:
    """All entries of one recording, as new objects."""
    return [json.loads(line) for line in _text(name).splitlines()]


def entry(name: str) -> dict[str, Any]:
    """The one of this name ("4-sched/view-10-running-master-GET_TASKS")."""
    (found,) = (one for one in entries(name.split("/")[0]) if one.get("name") == name)
    return found
