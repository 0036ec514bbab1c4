"""`pinfold run` on this host, with a real agent and a real provider."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.harness import AgentProcess, provider_config, wait_for

ONLINE = len(os.sched_getaffinity(0))

pytestmark = [
    pytest.mark.skipif(ONLINE < 2, reason="an exclusive set beside the floor needs two CPUs"),
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    directory = tmp_path_factory.mktemp("run")
    started = AgentProcess(directory / "agent")
    started.start()
    try:
        config = directory / "config.json"
        config.write_text(json.dumps(provider_config(directory)))
        added = start(started, "provider-config", "add", str(config))
        assert added.communicate(timeout=60) == ("added org.pinfold.rp.cpu host\n", "")
        started.wait_ready()
        yield started
        started.kill(signal.SIGTERM)
        left = [path for path in Path("/sys/fs/cgroup").glob(f"*/{started.cgroup_name}") if path.is_dir()]
        assert not left, "a clean stop with no tasks leaves no cgroups behind"
    finally:
        started.stop()


@pytest.fixture(autouse=True)
def nothing_is_left(agent: AgentProcess) -> Iterator[None]:
    yield
    wait_for(lambda: not agent.cpusets(), 10, "no sets")
    wait_for(lambda: not agent.master_get("GET_FRAMEWORKS")["frameworks"], 10, "no frameworks")
    assert not agent.master_get("GET_OPERATIONS").get("operations")


def start(agent: AgentProcess, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agent_api.cli.main", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={**os.environ, "PINFOLD_AGENT": agent.agent_url, "PINFOLD_MASTER": agent.master_url, "SECRET": "hidden"},
    )


def run(
    agent: AgentProcess, command: str, *options: str, profile: str = "latency", cpus: int = 1
) -> tuple[int, str, str]:
    process = start(agent, "run", "--profile", profile, "--cpus", str(cpus), *options, "--", "sh", "-c", command)
    out, err = process.communicate(timeout=90)
    return process.returncode, out, err


def test_output_status_place_and_cpus(agent: AgentProcess) -> None:
    status, out, err = run(
        agent,
        "pwd; grep Cpus_allowed_list /proc/self/status; echo $PINFOLD_EXCLUSIVE_CPUS [$SECRET]; echo no >&2; exit 7",
        "--mem",
        "64",
    )
    assert (status, err) == (7, "no\n")
    place, allowed, told = out.splitlines()
    cpus, secret = told.split()
    assert place == "/"
    assert allowed.split()[-1] == cpus
    assert len(cpus.split(",")) == 1
    assert "-" not in cpus
    assert secret == "[]", "the environment is not passed on as a whole"


def test_variables_that_were_asked_for(agent: AgentProcess) -> None:
    assert run(agent, "echo $SECRET $OTHER", "--env", "SECRET", "--env", "OTHER=a=b") == (0, "hidden a=b\n", "")


def test_much_output_arrives_whole(agent: AgentProcess) -> None:
    status, out, _ = run(agent, "seq 1 400000")
    assert status == 0
    assert out == "".join(f"{number}\n" for number in range(1, 400001))


def test_a_killed_command(agent: AgentProcess) -> None:
    status, out, _ = run(agent, "echo before; kill -9 $$")
    assert (status, out) == (128 + 9, "before\n")


def test_a_shared_set(agent: AgentProcess) -> None:
    status, out, err = run(agent, "echo [$PINFOLD_EXCLUSIVE_CPUS] $PINFOLD_SHARED_CPUS", profile="batch")
    assert (status, err) == (0, "")
    assert out.startswith("[] ")
    assert out.split()[1]


def test_refusals_are_shown(agent: AgentProcess) -> None:
    status, out, err = run(agent, "true", profile="nope")
    assert (status, out) == (1, "")
    assert "nope" in err
    status, _, err = run(agent, "true", "--timeout", "1.5", cpus=ONLINE + 1)
    assert status == 1
    assert f"{ONLINE + 1} RAW CPUs of pool default were not offered within 1.5 s" in err
    assert f"numa/0 (pool default): {ONLINE - 1}" in err
    status, _, err = run(agent, "true", "--timeout", "1.5", "--zone", "numa/99")
    assert status == 1
    assert "in zone numa/99" in err


def test_what_one_does_not_use_the_next_gets(agent: AgentProcess, tmp_path: Path) -> None:
    """Neither one that runs nor one that waits for more than there is keeps offers from the others."""
    go = tmp_path / "go"
    plain = start(agent, "run", "--cpus", "0.5", "--", "sh", "-c", f"echo on; while [ ! -e {go} ]; do sleep 0.1; done")
    assert plain.stdout is not None
    assert plain.stdout.readline() == "on\n"
    greedy = start(agent, "run", "--profile", "latency", "--cpus", str(ONLINE + 1), "--timeout", "20", "--", "true")
    wait_for(lambda: len(agent.master_get("GET_FRAMEWORKS")["frameworks"]) == 2, 20)
    time.sleep(6)  # filters of 5 s, which hid it, are over
    status, out, err = run(agent, "echo ran", "--timeout", "15")
    assert (status, out, err) == (0, "ran\n", "")
    go.touch()
    assert plain.wait(30) == 0
    assert greedy.wait(60) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_command(agent: AgentProcess, number: int) -> None:
    process = start(
        agent, "run", "--profile", "latency", "--cpus", "1", "--", "sh", "-c", "echo started; exec sleep 100"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    assert len(agent.cpusets()) == 1
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM


def test_an_interrupt_while_it_waits(agent: AgentProcess) -> None:
    process = start(agent, "run", "--profile", "latency", "--cpus", str(ONLINE + 1), "--", "true")
    wait_for(lambda: agent.master_get("GET_FRAMEWORKS")["frameworks"], 20)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_the_agent_is_killed_and_comes_back_meanwhile(agent: AgentProcess, tmp_path: Path) -> None:
    go = tmp_path / "go"
    process = start(
        agent,
        *("run", "--profile", "latency", "--cpus", "1", "--", "sh", "-c"),
        f"echo started; while [ ! -e {go} ]; do sleep 0.1; done; echo done; exit 5",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    agent.kill()
    agent.start()
    agent.wait_ready()
    go.touch()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (5, "done\n", "")
