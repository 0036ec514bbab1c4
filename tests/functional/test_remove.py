"""REMOVE_RESOURCE_PROVIDER_CONFIG on this host's own cgroups: the CPUs go back to plain tasks, whatever state the
provider is in, and the sets come back with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_api.wire import mesos_pb2
from tests.functional.harness import (
    AgentProcess,
    Framework,
    alive,
    allowed_cpus,
    create_cpuset,
    is_plain,
    is_raw,
    is_set,
    labels,
    launch,
    provider_config,
    running_agent,
    take,
    wait_for,
)
from tests.functional.test_walk import written_pid

ONLINE = sorted(os.sched_getaffinity(0))
SLEEP = "echo $$; exec sleep 600"
NAME = {"type": "org.pinfold.rp.cpu", "name": "host"}

pytestmark = [
    pytest.mark.skipif(len(ONLINE) < 2, reason="an exclusive set beside the floor needs two CPUs"),
    pytest.mark.skipif(
        not os.access("/sys/fs/cgroup/cpuset/cgroup.procs", os.W_OK), reason="cgroup v1 cpuset may not be written here"
    ),
    pytest.mark.timeout(240),
]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path) as started:
        yield started


def configure(agent: AgentProcess, what: str, content: dict[str, Any]) -> None:
    response = agent.agent_call({"type": what, what.lower(): content})
    assert response.status_code == 200, response.text


class Scene:
    """A plain task and a set of one CPU beside it."""

    def __init__(self, agent: AgentProcess, directory: Path) -> None:
        self.agent = agent
        self.config = {"info": provider_config(directory)}
        configure(agent, "ADD_RESOURCE_PROVIDER_CONFIG", self.config)
        agent.wait_ready()
        self.agent_id = agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["id"]["value"]
        self.framework = framework = Framework(agent.master_url, role="latency")
        framework.subscribe()
        offer, plain = framework.offer(is_plain)
        assert plain.scalar.value == 1
        framework.accept([offer], launch(self.agent_id, "plain", SLEEP, take(plain, 0.5)))
        for state in (mesos_pb2.TASK_STARTING, mesos_pb2.TASK_RUNNING):
            framework.update("plain", state)
        self.plain_pid = written_pid(agent, "plain")
        self.everywhere = allowed_cpus(self.plain_pid)
        offer, raw = framework.offer(is_raw)
        framework.accept([offer], create_cpuset("make", "latency", take(raw, 1)))
        made = framework.status_of("make")
        framework.acknowledge_operation(made)
        self.cpus = labels(made.converted_resources[0])["cpus"]
        (cpuset,) = wait_for(agent.cpusets, 5, "the provider's report of the set")
        self.directory = Path(cpuset["cgroup"])
        self.narrow = allowed_cpus(self.plain_pid)
        assert self.narrow != self.everywhere

    def remove(self) -> None:
        configure(self.agent, "REMOVE_RESOURCE_PROVIDER_CONFIG", NAME)

    def add_again(self) -> None:
        configure(self.agent, "ADD_RESOURCE_PROVIDER_CONFIG", self.config)
        self.agent.wait_ready()
        (cpuset,) = wait_for(self.agent.cpusets, 10, "the set is reported again")
        assert (cpuset["cpus"], cpuset["state"]) == (self.cpus, "OK")
        assert (self.directory / "cpuset.cpus").read_text().strip() == self.cpus
        assert allowed_cpus(self.plain_pid) == self.narrow

    def totals(self) -> list[float]:
        """The `cpus` of the agent, by what provides them."""
        (agent,) = self.agent.master_get("GET_AGENTS")["agents"]
        return [r["scalar"]["value"] for r in agent["total_resources"] if r["name"] == "cpus"]


@pytest.mark.parametrize("provider_is", ["running", "killed", "stopped"])
def test_cpus_go_back_to_plain_tasks(agent: AgentProcess, tmp_path: Path, provider_is: str) -> None:
    """killed: kill -9 right before. stopped: SIGSTOP, so it hears of nothing and has to be killed."""
    scene = Scene(agent, tmp_path)
    pid = agent.provider_pid()
    if provider_is != "running":
        os.kill(pid, signal.SIGKILL if provider_is == "killed" else signal.SIGSTOP)
    scene.remove()
    assert allowed_cpus(scene.plain_pid) == scene.everywhere
    assert not scene.directory.exists()
    assert not alive(pid)
    assert agent.providers() == []
    assert scene.totals() == [len(ONLINE)]
    scene.add_again()


def test_a_set_in_use_stays_until_its_task_has_ended(agent: AgentProcess, tmp_path: Path) -> None:
    scene = Scene(agent, tmp_path)
    framework = scene.framework
    offer, part = framework.offer(is_set)
    framework.accept([offer], launch(scene.agent_id, "pinned", SLEEP, part))
    for state in (mesos_pb2.TASK_STARTING, mesos_pb2.TASK_RUNNING):
        framework.update("pinned", state)
    pinned = written_pid(agent, "pinned")
    scene.remove()
    assert allowed_cpus(pinned) == scene.cpus
    assert allowed_cpus(scene.plain_pid) == scene.narrow
    # Another provider would take the set out of the kernel.
    info = scene.config["info"] | {"name": "other"}
    refused = agent.agent_call({"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": info}})
    assert refused.status_code == 409
    assert "'host' was removed, but processes still run in its sets" in refused.text
    assert allowed_cpus(pinned) == scene.cpus
    framework.kill("pinned")
    wait_for(lambda: not alive(pinned))
    # An agent that was killed in the middle completes it at its next start.
    agent.kill()
    agent.start()
    wait_for(lambda: not scene.directory.exists(), 20, "the set is out of the kernel")
    wait_for(lambda: allowed_cpus(scene.plain_pid) == scene.everywhere, 5)
    scene.add_again()
