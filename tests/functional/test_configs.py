"""Provider configs through the operator API: a real agent, real providers, one process for each config."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.functional.harness import AgentProcess, alive, provider_config, running_agent, wait_for

ONLINE = len(os.sched_getaffinity(0))

pytestmark = [
    pytest.mark.skipif(ONLINE < 2, reason="RAW beside the floor needs two CPUs"),
    pytest.mark.timeout(180),
]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path) as started:
        yield started


def change(agent: AgentProcess, kind: str, **value: Any) -> requests.Response:
    name = f"{kind}_RESOURCE_PROVIDER_CONFIG"
    return agent.agent_call({"type": name, name.lower(): value})


def processes(agent: AgentProcess) -> list[int]:
    """The provider processes that run in the agent's work directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                arguments = (entry / "cmdline").read_text().split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if "provider" in arguments and any(argument.startswith(str(agent.work_dir)) for argument in arguments):
                found.append(int(entry.name))
    return found


def test_add_update_and_remove(agent: AgentProcess, tmp_path: Path) -> None:
    config = provider_config(tmp_path)
    assert change(agent, "UPDATE", info=config).status_code == 409
    assert change(agent, "ADD", info=config).status_code == 200
    agent.wait_ready()
    first = agent.provider_pid()
    assert change(agent, "ADD", info=config).status_code == 200, "the same again"
    assert change(agent, "UPDATE", info=config).status_code == 200, "the same again"
    other = provider_config(tmp_path, pools=[{"name": "p", "capacity": 1}])
    refused = change(agent, "ADD", info=other)
    assert refused.status_code == 409
    assert "already exists" in refused.text
    assert processes(agent) == [first]

    assert change(agent, "UPDATE", info=other).status_code == 200

    def pool_is_offered() -> bool:
        (provider,) = agent.providers()
        return any(r.get("cpu", {}).get("source", {}).get("pool") == "p" for r in provider["total_resources"])

    wait_for(pool_is_offered, 30)
    assert not alive(first)
    assert processes(agent) == [agent.provider_pid()]

    for _ in range(2):
        assert change(agent, "REMOVE", type=config["type"], name=config["name"]).status_code == 200
    assert processes(agent) == []
    wait_for(lambda: not agent.providers(), 10)


def test_a_config_that_does_not_fit_is_refused_and_nothing_changes(agent: AgentProcess, tmp_path: Path) -> None:
    bad = provider_config(tmp_path, reserved_cpus="999")
    refused = change(agent, "ADD", info=bad)
    assert refused.status_code in (400, 409), refused.text
    assert "999" in refused.text
    assert not list(agent.work_dir.glob("providers/*"))
    good = provider_config(tmp_path)
    assert change(agent, "ADD", info=good).status_code == 200
    before = agent.wait_ready()
    assert change(agent, "UPDATE", info=bad).status_code in (400, 409)
    assert agent.wait_ready() == before
    assert processes(agent) == [agent.provider_pid()]
    agent.kill(signal.SIGTERM)
    assert processes(agent) == [], "a clean stop ends the providers"
    agent.start()
    assert agent.wait_ready()["resource_provider_info"]["name"] == "host"


def test_many_changes_at_once_are_made_one_after_the_other(agent: AgentProcess, tmp_path: Path) -> None:
    configs = [provider_config(tmp_path, pools=[{"name": f"p{number}", "capacity": 1}]) for number in range(4)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda config: change(agent, "ADD", info=config).status_code, configs))
    assert sorted(answers) == [200, 409, 409, 409]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda config: change(agent, "UPDATE", info=config).status_code, configs))
    assert answers == [200] * 4

    def last_is_offered() -> bool:
        (kept,) = agent.work_dir.glob("providers/*/config.json")
        last = json.loads(kept.read_text())["cpu"]["pools"][0]["name"]
        (provider,) = agent.providers()
        pools = {r.get("cpu", {}).get("source", {}).get("pool") for r in provider["total_resources"]}
        return last in pools and processes(agent) == [agent.provider_pid()]

    wait_for(last_is_offered, 40)


def test_the_agents_port_changes_over_a_restart(agent: AgentProcess, tmp_path: Path) -> None:
    assert change(agent, "ADD", info=provider_config(tmp_path)).status_code == 200
    agent.wait_ready()
    first = agent.provider_pid()
    agent.kill()
    assert alive(first)
    agent.agent_url = agent.master_url = ""  # other ports
    agent.start()
    agent.wait_ready()
    assert not alive(first), "it would never find the agent again"
    assert processes(agent) == [agent.provider_pid()]
