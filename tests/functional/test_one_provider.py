"""One agent has one CPU provider: no config beside another one, and none beside a provider that was started by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.functional.harness import AgentProcess, provider_config, running_agent, wait_for

NAME = {"type": "org.pinfold.rp.cpu", "name": "host"}
V1 = os.access("/sys/fs/cgroup/cpuset/cgroup.procs", os.W_OK)


@pytest.fixture(
    params=[
        "none",
        pytest.param("auto", marks=pytest.mark.skipif(not V1, reason="cgroup v1 cpuset may not be written here")),
    ]
)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path, cgroup_root=request.param) as started:
        yield started


def add(agent: AgentProcess, info: dict[str, Any]) -> requests.Response:
    return agent.agent_call({"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": info}})


def test_a_second_config_is_refused(agent: AgentProcess, tmp_path: Path) -> None:
    config = provider_config(tmp_path)
    assert add(agent, config).status_code == 200
    agent.wait_ready()
    second = config | {"name": "two"}
    response = add(agent, second)
    assert response.status_code == 409
    assert "'host' has the CPUs of this host" in response.text
    assert [path.name for path in agent.work_dir.glob("providers/*")] == ["org.pinfold.rp.cpu.host"]
    removed = agent.agent_call(
        {"type": "REMOVE_RESOURCE_PROVIDER_CONFIG", "remove_resource_provider_config": NAME},
    )
    assert removed.status_code == 200
    assert add(agent, second).status_code == 200
    agent.wait_ready()


def test_a_config_beside_a_provider_started_by_hand_is_refused(agent: AgentProcess, tmp_path: Path) -> None:
    """Its process would find the cgroups locked again and again; without cgroups it would offer the CPUs twice."""
    config = provider_config(tmp_path)
    name = "host" if agent.cgroup_root == "none" else "other"
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    command = [sys.executable, "-m", "agent_api.cli.main", "provider", "--agent", agent.agent_url]
    places = ["--work-dir", str(tmp_path / "hand"), "--cgroup-root", agent.cgroup_root, "--cgroup-name"]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [*command, "--config", str(file), *places, agent.cgroup_name], stdout=log, stderr=log
        ) as process,
    ):
        try:
            wait_for(lambda: agent.providers(), 30, "the provider started by hand")
            agent.wait_ready()
            response = add(agent, config | {"name": name})
            assert response.status_code == 409
            assert "started by hand" in response.text and "end it first" in response.text
            assert not list(agent.work_dir.glob("providers/*/config.json"))
            (provider,) = agent.providers()
            assert provider["total_resources"]
        finally:
            process.terminate()
    wait_for(lambda: add(agent, config | {"name": name}).status_code == 200, 10, "its end is seen")
    agent.wait_ready()
