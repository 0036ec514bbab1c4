"""The recorded exchanges of a real Mesos, played against a real agent; and that the comparing finds what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import golden
from tests.functional.harness import AgentProcess
from tests.functional.replay import GROUPS, REPLAY_OPTIONS, Replay
from tests.functional.replay_compare import Difference, Ids, amounts, covers, differences
from tests.functional.replay_known import Known
from tests.functional.replay_steps import steps

UUID = "5e4b4f56-d2f0-48ef-8f37-d26d42ea39bd"

COMPARED: list[tuple[Any, Any, list[str]]] = [
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": 1.0}, ["type a"]),
    ({"a": 1}, {"a": 2}, ["value a"]),
    ({"a": 1}, {}, ["missing a"]),
    ({}, {"a": 1}, ["extra a"]),
    ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}]}, ["length a.#"]),
    ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 2}, {"b": 1}]}, ["value a.#.b"]),
    ({"resources": [{"b": 1}, {"b": 2}]}, {"resources": [{"b": 2}, {"b": 1}]}, []),
    ({"timestamp": 1.5}, {"timestamp": 2.5}, []),
    ({"timestamp": 1.5}, {"timestamp": "x"}, ["type timestamp"]),
    ({"flags": [{"name": "a", "value": "b"}]}, {"flags": [{"name": "c", "value": "d"}]}, []),
    ({"flags": [{"name": "a", "value": "b"}]}, {"flags": [{"name": "c"}]}, ["missing flags.#.value"]),
    ({"id": UUID}, {"id": "ours"}, []),
    ({"a": {"id": UUID}, "b": {"id": UUID}}, {"a": {"id": "x"}, "b": {"id": "y"}}, ["value b.id"]),
    ([{"id": UUID}, {UUID: 1}], [{"id": "ours"}, {"ours": 2}], ["value #.#"]),
    ({"id": UUID, "path": f"/{UUID}/"}, {"id": "ours", "path": "/ours/"}, []),
]


@pytest.mark.parametrize(("recorded", "ours", "found"), COMPARED)
def test_comparing(recorded: Any, ours: Any, found: list[str]) -> None:
    assert [one.key for one in differences("x", recorded, ours, Ids())] == found


CPUS = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 2.0}}
OURS = {**CPUS, "provider_id": {"value": UUID}}
PORTS = {"name": "ports", "type": "RANGES"}


@pytest.mark.parametrize(
    ("have", "wanted", "enough"),
    [
        ([[CPUS, PORTS]], [[CPUS]], True),
        ([[CPUS]], [[CPUS, PORTS]], True),
        ([[CPUS], [CPUS]], [[CPUS, CPUS]], True),
        ([[CPUS]], [[CPUS], [CPUS]], False),
        ([[CPUS]], [[OURS]], False),
        ([[OURS, OURS]], [[{**OURS, "reservations": []}]], False),
        ([], [], True),
    ],
)
def test_offers_that_are_as_much(have: Any, wanted: Any, enough: bool) -> None:
    sums = [amounts({"resources": resources} for resources in side) for side in (have, wanted)]
    assert covers(*sums) == enough


def test_known_differences_that_are_none_any_more_are_named() -> None:
    known = Known(
        [
            {"exchanges": ["1-agent/00*", "3-rp/*"], "differences": ["missing a.*", "text"], "reason": "because"},
        ]
    )
    assert known.has(Difference("1-agent/001-x", "missing", "a.b"))
    assert not known.has(Difference("1-agent/001-x", "extra", "a.b"))
    assert not known.has(Difference("1-agent/011-x", "missing", "a.b"))
    assert known.stale(["1-agent"]) == ["'text' (because)"]
    assert known.stale(["3-rp"]) == ["'3-rp/*' (because)", "'missing a.*' (because)", "'text' (because)"]
    assert known.stale(["4-sched"]) == []


def test_every_recorded_exchange_is_played() -> None:
    """Of 649 entries 3 tell of a directory and 2 are the first halves of streams; 35 calls only streams tell of."""
    assert sum(len(golden.entries(name)) for name in golden.NAMES) == 649 - 2
    done = [step for name in golden.NAMES for step in steps(name)]
    assert len({step.name for step in done if step.do != "close"}) == 649 - 2 - 3 + 35
    assert sum(step.do == "open" for step in done) == 20


@pytest.mark.parametrize("group", ["agent", "master", pytest.param("scheduler", marks=pytest.mark.timeout(300))])
def test_recorded_exchanges(group: str, tmp_path: Path) -> None:
    """Each as with the Mesos that was recorded, but for the differences that have a reason.

    The scheduler's recording has filters of offers and a task that take seconds, and its views while the task runs
    take two of its six.
    """
    known = Known.read()
    agent = AgentProcess(tmp_path / "agent", *REPLAY_OPTIONS, cgroup_root="none")
    agent.start()
    try:
        found = Replay(agent, GROUPS[group], known).run()
    finally:
        agent.stop()
    assert [str(one) for one in found] == []
    assert known.stale(GROUPS[group]) == [], "these are listed, and are no difference any more"
