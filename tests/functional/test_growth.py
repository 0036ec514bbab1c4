"""A running agent takes over new resources and attributes: from its config file, on SIGHUP, and over a restart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api.wire import mesos_pb2, scheduler_pb2
from tests.functional.harness import AgentProcess, Framework, alive, is_plain, launch, running_agent, take, wait_for


def write(path: Path, **flags: Any) -> None:
    partial = path.with_suffix(".new")
    partial.write_text(json.dumps(flags))
    partial.rename(path)


def hang_up(agent: AgentProcess) -> None:
    assert agent.process is not None
    os.kill(agent.process.pid, signal.SIGHUP)


def metric(agent: AgentProcess, name: str) -> float:
    return float(requests.get(f"{agent.agent_url}/metrics/snapshot", timeout=10).json()[f"pinfold/{name}"])


def amounts(agent: AgentProcess) -> dict[str, float]:
    found: dict[str, float] = requests.get(f"{agent.agent_url}/state", timeout=10).json()["resources"]
    return {name: found[name] for name in ("cpus", "mem")}


def flags(agent: AgentProcess) -> dict[str, str]:
    found: dict[str, str] = requests.get(f"{agent.agent_url}/flags", timeout=10).json()["flags"]
    return found


def run_task(framework: Framework, cpus: float) -> str:
    """Start a task of so many CPUs; the agent's id."""
    offer, plain = framework.offer(is_plain)
    memory = next(r for r in offer.resources if r.name == "mem")
    command = "exec sleep 1000"
    framework.accept([offer], launch(offer.agent_id.value, "t", command, take(plain, cpus), take(memory, 64)))
    framework.update("t", mesos_pb2.TASK_STARTING)
    framework.update("t", mesos_pb2.TASK_RUNNING)
    return offer.agent_id.value


def test_growth_while_a_task_runs(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    write(path, resources="cpus:4;mem:1024", attributes="rack:r7")
    with running_agent(tmp_path, "--config", str(path), cgroup_root="none") as agent:
        assert amounts(agent) == {"cpus": 4, "mem": 1024}
        framework = Framework(agent.master_url)
        framework.subscribe()
        agent_id = run_task(framework, 3)
        (task_file,) = agent.work_dir.glob("tasks/*/t/pid.json")
        shim = int(json.loads(task_file.read_text())["pid"])
        stream = requests.post(f"{agent.master_url}/api/v1", json={"type": "SUBSCRIBE"}, stream=True, timeout=20)

        # On SIGHUP: offered at once, told to operators and frameworks, nothing else changes.
        write(path, resources="cpus:6;mem:2048;gpus:1", attributes="rack:r7;tags:{ssd}")
        hang_up(agent)
        offer, _ = framework.offer(lambda r: is_plain(r) and r.scalar.value == 3)
        assert [(a.name, list(a.set.item)) for a in offer.attributes] == [("rack", []), ("tags", ["ssd"])]
        assert offer.agent_id.value == agent_id
        assert amounts(agent) == {"cpus": 6, "mem": 2048}
        info = agent.agent_get("GET_AGENT")["agent_info"]
        assert info["id"]["value"] == agent_id and info["attributes"][0]["text"] == {"value": "r7"}
        assert flags(agent)["resources"] == "cpus:6;mem:2048;gpus:1"
        seen = b""
        for chunk in stream.iter_content(None):
            seen += chunk
            if b'"type":"AGENT_ADDED"' in seen:
                break
        stream.close()
        framework.decline(offer)

        # Less than the task uses: refused with the reason, and the old values stay.
        write(path, resources="cpus:2;mem:2048;gpus:1", attributes="rack:r7;tags:{ssd}")
        hang_up(agent)
        wait_for(lambda: metric(agent, "config_refused") >= 1)
        assert metric(agent, "config_in_force") == 0
        assert amounts(agent) == {"cpus": 6, "mem": 2048}
        assert flags(agent)["resources"] == "cpus:6;mem:2048;gpus:1"
        assert f"tasks use cpus:3, and only cpus:2 would be there ('t' of framework {framework.id})" in (
            agent.log.read_text()
        )
        # What cannot be read: the same.
        for content, reason in (
            ('{"resources": "cpus:8', "not JSON"),
            ('{"resources": "cpus:eight"}', "'cpus' has 'eight'"),
            ('{"resurces": "cpus:8"}', "'resurces' is no flag of the agent"),
            ('{"resources": ' + "1" * 5000 + "}", "not JSON: Exceeds the limit (4300 digits)"),
            ('{"attributes": "rack"}', "'rack' is not of the form name:value"),
            ('{"offer_timeout": -1}', "offer-timeout"),
        ):
            path.write_text(content)
            hang_up(agent)
            wait_for(lambda reason=reason: reason in agent.log.read_text(), message=content)
            assert amounts(agent) == {"cpus": 6, "mem": 2048}
            assert metric(agent, "config_in_force") == 0

        # A changed file is seen without a signal; what needs a restart is said.
        write(path, resources="cpus:7;mem:2048;gpus:1", attributes="rack:r7;tags:{ssd}", offer_timeout=30.5)
        wait_for(lambda: amounts(agent)["cpus"] == 7, 15)
        assert metric(agent, "config_in_force") == 1
        wait_for(lambda: "in force from the next start on: offer_timeout" in agent.log.read_text())
        assert flags(agent)["offer_timeout"] == ""

        # Over a restart: agent id and task stay, and the same rule holds.
        agent.kill(signal.SIGTERM)
        assert alive(shim)
        write(path, resources="cpus:2;mem:2048", attributes="rack:r7;tags:{ssd}")
        with pytest.raises(RuntimeError) as error:
            agent.start()
        assert "ended with 1" in str(error.value)
        assert "tasks use cpus:3, and only cpus:2 would be there" in str(error.value)
        write(path, resources="cpus:7;mem:2048", attributes="rack:r8")
        with pytest.raises(RuntimeError, match="attribute rack:r7 would become rack:r8 while tasks run"):
            agent.start()
        write(path, resources="cpus:8;mem:2048", attributes="rack:r7;tags:{ssd,nvme}")
        agent.start()
        assert agent.agent_get("GET_AGENT")["agent_info"]["id"]["value"] == agent_id
        assert amounts(agent)["cpus"] == 8
        framework.url = f"{agent.master_url}/api/v1/scheduler"
        framework.subscribe()
        reconcile = scheduler_pb2.Call(type=scheduler_pb2.Call.RECONCILE)
        reconcile.reconcile.SetInParent()
        framework.call(reconcile)
        framework.update("t", mesos_pb2.TASK_RUNNING, acknowledge=False)
        assert alive(shim)
        framework.kill("t")
        framework.update("t", mesos_pb2.TASK_KILLED)
        framework.simple(scheduler_pb2.Call.TEARDOWN)

        # Nobody uses anything: it may shrink.
        write(path, resources="cpus:1;mem:512", attributes="")
        hang_up(agent)
        wait_for(lambda: amounts(agent) == {"cpus": 1, "mem": 512})


def test_the_command_line_wins(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    write(path, resources="cpus:4;mem:1024", hostname="from-the-file")
    arguments = ("--config", str(path), "--resources", "cpus:2;mem:512")
    with running_agent(tmp_path, *arguments, cgroup_root="none") as agent:
        assert amounts(agent) == {"cpus": 2, "mem": 512}
        assert agent.agent_get("GET_AGENT")["agent_info"]["hostname"] == "from-the-file"
        write(path, resources="cpus:8;mem:1024", attributes="a:b")
        hang_up(agent)
        wait_for(lambda: flags(agent)["attributes"] == "a:b")
        assert amounts(agent) == {"cpus": 2, "mem": 512}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"resurces": "cpus:8"}', "'resurces' is no flag of the agent (value \"cpus:8\")"),
        ('{"port": "x"}', "'port' must be a whole number, and is \"x\""),
        ('{"resources": "cpus:eight"}', "'cpus' has 'eight'"),
        ('{"ip": "0.0.0.0"}', "0.0.0.0 can be reached from other hosts"),
        (None, "No such file"),
    ],
)
def test_a_start_with_a_wrong_file(tmp_path: Path, content: str | None, reason: str) -> None:
    path = tmp_path / "agent.json"
    if content is not None:
        path.write_text(content)
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "agent_api.cli.main", "agent", "--work-dir", str(tmp_path / "w")),
            *("--port", "0", "--master-port", "0", "--config", str(path)),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert reason in " ".join(ended.stderr.split())
    assert not (tmp_path / "w").exists()
