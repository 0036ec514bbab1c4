"""The commands that talk to an agent: what they print, and how they fail."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api import provider_daemon, service
from agent_api.cli import client
from agent_api.cli.run import pick_raw
from tests.functional.harness import AgentProcess

COMMANDS = ("providers", "sets", "tasks", "offers", "operations")


def pinfold(
    *arguments: str, agent: AgentProcess | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    nobody = "http://127.0.0.1:9"
    return subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PINFOLD_AGENT": agent.agent_url if agent else nobody,
            "PINFOLD_MASTER": agent.master_url if agent else nobody,
        },
    )


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    started = AgentProcess(tmp_path_factory.mktemp("commands") / "agent", cgroup_root="none")
    started.start()
    yield started
    started.stop()


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_there(agent: AgentProcess, command: str) -> None:
    shown = pinfold(command, agent=agent)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("no") or shown.stdout.startswith("there are no")
    assert json.loads(pinfold(command, "--json", agent=agent).stdout) == []


@pytest.mark.parametrize("arguments", [*((name,) for name in COMMANDS), ("sets", "destroy", "x")])
def test_nobody_answers(arguments: tuple[str, ...]) -> None:
    shown = pinfold(*arguments)
    assert shown.returncode == 1
    assert shown.stdout == ""
    assert "nobody answers at http://127.0.0.1:9" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_offers_are_shown(agent: AgentProcess) -> None:
    info = {"user": "root", "name": "[bold]shown", "roles": ["batch"], "capabilities": [{"type": "MULTI_ROLE"}]}
    body = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
    with requests.post(f"{agent.master_url}/api/v1/scheduler", json=body, stream=True, timeout=20) as stream:
        chunks = stream.iter_content(None)
        while b'"OFFERS"' not in next(chunks):
            pass
        (offer,) = json.loads(pinfold("offers", "--json", agent=agent).stdout)
        assert offer["framework"] == "[bold]shown"
        table = pinfold("offers", agent=agent).stdout
        assert "[bold]shown" in table, "what others named is no markup"
        assert offer["id"] in table
        assert "batch" in table


def test_config_errors_are_the_agents(agent: AgentProcess, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text("{")
    shown = pinfold("provider-config", "add", str(file), agent=agent)
    assert shown.returncode == 1
    assert str(file) in shown.stderr
    file.write_text(json.dumps({"type": "org.pinfold.rp.cpu"}))
    shown = pinfold("provider-config", "add", str(file), agent=agent)
    assert shown.returncode == 1
    assert "Missing required fields: add_resource_provider_config.info.name" in shown.stderr
    file.write_text(json.dumps({"type": "org.pinfold.rp.cpu", "name": "unknown"}))
    shown = pinfold("provider-config", "update", str(file), agent=agent)
    assert shown.returncode == 1
    assert "does not exist" in shown.stderr
    assert pinfold("provider-config", "add", str(tmp_path / "none"), agent=agent).returncode == 2
    misspelt = tmp_path / "misspelt.json"
    misspelt.write_text('{"type": "org.pinfold.rp.cpu", "name": "x", "cpu": {"flor": 1}}')
    shown = pinfold("provider-config", "add", str(misspelt), agent=agent)
    assert shown.returncode == 1
    assert "misspelt.json: cpu.flor: there is no such field; is floor meant?" in shown.stderr
    shown = pinfold("provider-config", "remove", "org.pinfold.rp.cpu", "unknown", agent=agent)
    assert (shown.returncode, shown.stdout) == (0, "removed org.pinfold.rp.cpu unknown\n")


def test_run_without_a_provider(agent: AgentProcess) -> None:
    shown = pinfold("run", "--profile", "latency", "--cpus", "1", "--timeout", "1.5", "--", "true", agent=agent)
    assert shown.returncode == 1
    assert "1 RAW CPUs of pool default were not offered within 1.5 s; no RAW CPUs were offered at all" in shown.stderr
    frameworks = agent.master_get("GET_FRAMEWORKS")
    assert all(f["framework_info"]["name"] != "pinfold run true" for f in frameworks.get("frameworks", []))


def test_run_needs_a_command_that_exists(agent: AgentProcess) -> None:
    shown = pinfold("run", "--profile", "p", "--cpus", "1", "--", "no-such-command", agent=agent)
    assert shown.returncode == 127
    assert "no-such-command" in shown.stderr
    assert pinfold("run", "--profile", "p", "--cpus", "0", "--", "true", agent=agent).returncode == 2


def test_a_state_that_cannot_be_written_stops_the_agent_and_nobody_is_told(tmp_path: Path) -> None:
    agent = AgentProcess(tmp_path / "agent", cgroup_root="none")
    agent.start()
    assert agent.process is not None
    resource.prlimit(agent.process.pid, resource.RLIMIT_FSIZE, (0, 0))
    info = {"user": "root", "name": "x", "roles": ["*"], "capabilities": [{"type": "MULTI_ROLE"}]}
    answer = requests.post(
        f"{agent.master_url}/api/v1/scheduler",
        json={"type": "SUBSCRIBE", "subscribe": {"framework_info": info}},
        stream=True,
        timeout=20,
    )
    assert answer.status_code == 503
    assert agent.process.wait(20) == 1
    # The log is a file, too: it cannot say so there. What counts is what the next start finds.
    agent.start()
    assert not agent.master_get("GET_FRAMEWORKS").get("frameworks")
    assert agent.kill(signal.SIGTERM) == 0


def raw(amount: float, zone: str, pool: str = "default", provider: str = "p", **more: Any) -> dict[str, Any]:
    return {
        "name": "cpus",
        "type": "SCALAR",
        "scalar": {"value": amount},
        "provider_id": {"value": provider},
        "cpu": {"source": {"type": "RAW", "zone": zone, "pool": pool}},
        **more,
    }


PLAIN = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 64.0}}


@pytest.mark.parametrize(
    ("offered", "cpus", "pool", "zone", "taken"),
    [
        ([], 1, "default", None, None),
        ([PLAIN], 1, "default", None, None),
        ([PLAIN, raw(4, "numa/0"), raw(4, "numa/1")], 4, "default", None, [("numa/0", 4)]),
        ([raw(3, "numa/0"), raw(4, "numa/1")], 4, "default", None, [("numa/1", 4)]),
        ([raw(2, "numa/0"), raw(3, "numa/1")], 4, "default", None, [("numa/1", 3), ("numa/0", 1)]),
        ([raw(2, "numa/0"), raw(3, "numa/1")], 6, "default", None, None),
        ([raw(4, "numa/0"), raw(4, "numa/1")], 2, "default", "numa/1", [("numa/1", 2)]),
        ([raw(4, "numa/0"), raw(4, "numa/1")], 6, "default", "numa/1", None),
        ([raw(4, "numa/0", "rt"), raw(2, "numa/0")], 3, "rt", None, [("numa/0", 3)]),
        ([raw(4, "numa/0", "rt")], 3, "default", None, None),
        (
            [raw(1, "numa/0", reservations=[{"role": "a"}]), raw(2, "numa/0")],
            3,
            "default",
            None,
            [("numa/0", 1), ("numa/0", 2)],
        ),
        ([raw(4, "numa/0", revocable={})], 1, "default", None, None),
        ([raw(2, "numa/0"), raw(2, "numa/0", provider="q")], 4, "default", None, None),
    ],
)
def test_pick_raw(
    offered: list[dict[str, Any]], cpus: int, pool: str, zone: str | None, taken: list[tuple[str, float]] | None
) -> None:
    found = pick_raw(offered, cpus, pool, zone)
    if taken is None:
        assert found is None
    else:
        assert found is not None
        assert [(part["cpu"]["source"]["zone"], part["scalar"]["value"]) for part in found] == taken


def test_commands_wait_longer_than_the_agent_does() -> None:
    """Else they would say that nothing came, where the agent is about to say why."""
    assert max(service.COMPACTION_SECONDS, provider_daemon.CHECK_SECONDS) < client.TIMEOUT[1]


def test_json_does_not_pass_a_look_for_a_move() -> None:
    """Where nobody can be asked, it would show what would move and end with 0, as if it had."""
    shown = pinfold("sets", "compact", "--json")
    assert shown.returncode == 2
    assert "--json asks nobody: it needs --dry-run or --yes" in shown.stderr
