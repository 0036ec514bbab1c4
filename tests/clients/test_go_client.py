"""mesos-go as Debian packages it, in JSON and in protobuf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.clients import packages
from tests.clients.conftest import DRIVERS, RAN, one, states
from tests.functional.harness import AgentProcess

Drive = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize("media", ["json", "protobuf"])
def test_mesos_go_runs_a_task_and_reads(agent: AgentProcess, drive: Drive, media: str) -> None:
    program = packages.mesos_go(DRIVERS / "mesosgo")
    events = drive(program, agent.master_url, media)
    assert one(events, "subscribed")["interval"] == 15
    assert states(events) == RAN
    answers = [event for event in events if event["event"] == "answer"]
    # The agent's capabilities are newer than its JSON decoder, with a real Mesos, too.
    assert len(answers) == (16 if media == "protobuf" else 14)
    assert all(answer["call"] == answer["type"] for answer in answers)
    if media == "protobuf":
        assert one(events, "watched") == {"event": "watched", "type": "SUBSCRIBED", "agents": 1}
