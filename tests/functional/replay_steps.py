"""What the recorder did and when: the calls of a recording, also those that only a stream's entry tells of, and its
streams. Sends nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_api.wire import codec
from tests import golden
from tests.functional.replay_wire import header

__all__ = ["Step", "steps"]

NOTED_LATER = 0.1535, 0.156
"""Seconds after its start at which a stream's entry has a call, as those that have entries of their own tell: one that
the recorder made for itself, and one that it wrote down."""


@dataclass(frozen=True)
class Step:
    """One thing that the recorder did at `time`: a call, or a stream opened or left."""

    time: float
    name: str
    do: str
    entry: dict[str, Any]


def steps(recording: str) -> list[Step]:
    """What was done, not yet in order."""
    entries = golden.entries(recording)
    named = {entry["file"] for entry in entries}
    found = []
    for entry in entries:
        if "request" not in entry:
            continue  # the content of a directory
        name, start = f"{recording}/{entry['file']}", entry["time"]
        response = entry.get("response", {})
        if "error" in entry:
            # A stream that the recorder took for an answer, and gave up.
            found += [
                Step(start, name, "open", entry),
                Step(start + entry["elapsed_ms"] / 1000, name, "close", entry),
            ]
        elif "events" not in response:
            found.append(Step(start, name, "call", entry))
        else:
            found.append(Step(start, name, "open", entry))
            if "EOFError" in response["end"]["how"]:
                found.append(Step(start + response["end"]["t_ms"] / 1000, name, "close", entry))
        for number, call in enumerate(entry.get("calls", [])):
            file = Path(call["file"]).stem if call["file"] else None
            if file not in named:
                kind = json.loads(call["request"])["type"]
                made = _call_entry(entry, call)
                found.append(Step(made["time"], f"{recording}/{file or f'call-{number}-{kind}'}", "call", made))
    return found


def _call_entry(stream: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """An entry for a call that only its stream's entry tells of."""
    stream_id: str | None = header(stream["response"]["headers"], "Mesos-Stream-Id")
    if "should include the 'Mesos-Stream-Id'" in call["body"]:
        stream_id = None
    elif call["body"].startswith("The stream ID '"):
        stream_id = call["body"].split("'")[1]
    headers = [["Accept", codec.JSON], ["Content-Type", codec.JSON], ["Content-Length", "0"]]
    if stream_id is not None:
        headers.append(["Mesos-Stream-Id", stream_id])
    answered = [] if call["status"] in (200, 202) else [["Content-Type", "text/plain; charset=utf-8"]]
    return {
        "server": stream["server"],
        "time": stream["time"] + call["t_ms"] / 1000 - NOTED_LATER[bool(call["file"])],
        "request": {
            "method": "POST",
            "path": stream["request"]["path"],
            "headers": [["Host", "127.0.0.1"], *headers],
            "body": call["request"],
        },
        "response": {"status": call["status"], "headers": answered, "body": call["body"]},
    }
