"""An agent with a provider, and a way to run a client's program against it."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_api.wire import mesos_pb2
from tests.clients.packages import UnavailableError
from tests.functional.harness import (
    AgentProcess,
    Framework,
    is_plain,
    launch,
    provider_config,
    running_agent,
    take,
)

DRIVERS = Path(__file__).with_name("drivers")
RUN_SECONDS = 60
RAN = ["TASK_STARTING", "TASK_RUNNING", "TASK_FINISHED"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clients: third-party Mesos clients, unmodified; fetches their packages")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if DRIVERS.parent in item.path.parents:
            item.add_marker(pytest.mark.clients)
            # The first run fetches packages.
            item.add_marker(pytest.mark.timeout(600))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip where a package cannot be had, but not where PINFOLD_CLIENTS_REQUIRED says that all of them can."""
    try:
        return (yield)
    except UnavailableError as error:
        if os.environ.get("PINFOLD_CLIENTS_REQUIRED"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    """One agent for all clients, so that each meets what the others left.

    Where the host has CPUs for it there is a provider, and the offers hold RAW CPUs with fields that no client knows.
    """
    directory = tmp_path_factory.mktemp("clients")
    with running_agent(directory) as started:
        if len(os.sched_getaffinity(0)) > 1:
            add_provider(started)
            started.wait_ready()
        yield started


def add_provider(agent: AgentProcess) -> dict[str, Any]:
    """Add the provider's config, which is the same each time, and return it."""
    info = provider_config(agent.work_dir.parent)
    call = {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": info}}
    response = agent.agent_call(call)
    assert response.status_code == 200, response.text
    return info


def address(url: str) -> str:
    """host:port of a URL."""
    return url.split("//", 1)[1]


@pytest.fixture
def drive(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Run a client's program and return the JSON lines that it printed; it must end with 0."""

    def run(*command: str | Path, environ: dict[str, str] | None = None) -> list[dict[str, Any]]:
        name = uuid.uuid4().hex
        out, err = tmp_path / f"{name}.out", tmp_path / f"{name}.err"
        with out.open("w") as stdout, err.open("w") as stderr:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=tmp_path,
                env={**os.environ, **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
            try:
                status = process.wait(RUN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                status = None
        said = f"{out.read_text()[-3000:]}\n{err.read_text()[-3000:]}"
        assert status == 0, f"{command[1]} ended with {status}:\n{said}"
        return [json.loads(line) for line in out.read_text().splitlines() if line.startswith("{")]

    return run


def states(events: list[dict[str, Any]]) -> list[str]:
    return [event["state"] for event in events if event["event"] == "update"]


def one(events: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (found,) = [event for event in events if event["event"] == name]
    return found


def gone(agent: AgentProcess, framework_id: str) -> bool:
    """Whether the master holds the framework as completed."""
    frameworks = agent.master_get("GET_FRAMEWORKS")
    ids = [f["framework_info"]["id"]["value"] for f in frameworks.get("frameworks", [])]
    return framework_id not in ids


def run_task(agent: AgentProcess, task_id: str, command: str = "true") -> Framework:
    """A framework of our own that has a task running or finished."""
    framework = Framework(agent.master_url, name="beside")
    framework.subscribe()
    offer, cpus = framework.offer(is_plain)
    framework.accept([offer], launch(offer.agent_id.value, task_id, command, take(cpus, 0.1)))
    framework.update(task_id, mesos_pb2.TASK_STARTING)
    framework.update(task_id, mesos_pb2.TASK_RUNNING)
    return framework
