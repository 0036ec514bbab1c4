"""The Mesos clients on PyPI."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_api.wire import mesos_pb2, scheduler_pb2
from tests.clients import packages
from tests.clients.conftest import DRIVERS, RAN, add_provider, address, gone, one, run_task, states
from tests.functional.harness import AgentProcess, Framework, is_plain, launch, take, wait_for

HAS_PROVIDER = len(os.sched_getaffinity(0)) > 1
Drive = Callable[..., list[dict[str, Any]]]


def test_pymesos_runs_a_task(agent: AgentProcess, drive: Drive) -> None:
    python = packages.pymesos()
    events = drive(python, DRIVERS / "pymesos_scheduler.py", address(agent.master_url), "*", "plain")
    registered = one(events, "registered")
    assert re.fullmatch(r"\d+(\.\d+)*", registered["master"]["version"])
    assert states(events) == RAN
    assert any(event["event"] == "heartbeat" for event in events)
    assert gone(agent, registered["framework_id"])


@pytest.mark.skipif(not HAS_PROVIDER, reason="an exclusive set beside the floor needs two CPUs")
def test_pymesos_runs_a_task_in_an_exclusive_set(agent: AgentProcess, drive: Drive) -> None:
    python = packages.pymesos()
    events = drive(python, DRIVERS / "pymesos_scheduler.py", address(agent.master_url), "latency", "cpuset")
    status = one(events, "operation")["status"]
    assert status["state"] == "OPERATION_FINISHED"
    (made,) = status["converted_resources"]
    cpus = {x["key"]: x["value"] for x in made["cpu"]["source"]["metadata"]["labels"]}["cpus"]
    assert states(events) == RAN
    (output,) = agent.work_dir.glob("tasks/*/*pymesos-cpuset*/stdout")
    said = output.read_text()
    assert f"PINFOLD_EXCLUSIVE_CPUS={cpus}\n" in said
    assert re.search(rf"Cpus_allowed_list:\s*{re.escape(cpus)}$", said, re.M)
    # The set goes with its framework.
    wait_for(lambda: agent.cpusets() == [], 15, "set destroyed after teardown")


def test_pymesos_makes_every_call(agent: AgentProcess, drive: Drive) -> None:
    python = packages.pymesos()
    events = drive(python, DRIVERS / "pymesos_scheduler.py", address(agent.master_url), "*", "calls")
    assert states(events) == ["TASK_STARTING", "TASK_RUNNING", "TASK_RUNNING", "TASK_KILLED"]
    updates = [event for event in events if event["event"] == "update"]
    assert [update["reason"] for update in updates if not update["uuid"]] == ["REASON_RECONCILIATION"]
    (refused,) = [event["message"] for event in events if event["event"] == "refused"]
    assert "no custom executors: nobody would get the message" in refused


def test_pymesos_fails_over(agent: AgentProcess, drive: Drive) -> None:
    python = packages.pymesos()
    events = drive(python, DRIVERS / "pymesos_scheduler.py", address(agent.master_url), "*", "failover")
    assert [event["event"] for event in events if event["event"].endswith("registered")] == [
        "registered",
        "reregistered",
    ]
    assert states(events) == RAN
    assert gone(agent, one(events, "registered")["framework_id"])


def test_avmesos_and_mesoshttp_run_a_task(agent: AgentProcess, drive: Drive) -> None:
    # Both hand on an event when the next one comes, the last one with the heartbeat: they wait for it at the same time.
    pythons = {module: packages.venv(module, f"{module}==0.4.2") for module in ("avmesos", "mesoshttp")}
    with ThreadPoolExecutor() as pool:
        runs = {
            module: pool.submit(drive, python, DRIVERS / "avmesos_scheduler.py", module, agent.master_url)
            for module, python in pythons.items()
        }
    for module, run in runs.items():
        events = run.result()
        subscribed = one(events, "subscribed")
        assert subscribed["master"]["port"] == int(agent.master_url.rsplit(":", 1)[1])
        assert states(events) == RAN, module
        assert gone(agent, subscribed["framework_id"])


def test_pymesos_operates(agent: AgentProcess, tmp_path: Path) -> None:
    python = packages.pymesos()
    out = tmp_path / "out"
    command = [python, DRIVERS / "pymesos_operator.py", address(agent.master_url), address(agent.agent_url)]
    (agent_info,) = agent.master_get("GET_AGENTS")["agents"]
    command += [agent_info["agent_info"]["id"]["value"], json.dumps(add_provider(agent) if HAS_PROVIDER else None)]
    with out.open("w") as stdout, (tmp_path / "err").open("w") as stderr:
        process = subprocess.Popen([str(part) for part in command], stdout=stdout, stderr=stderr)
        try:

            def watching() -> bool:
                assert process.poll() is None, (tmp_path / "err").read_text()[-3000:]
                return '"watching"' in out.read_text()

            wait_for(watching, 30, f"all calls answered: {out}")
            framework = run_task(agent, "watched", "echo seen")
            framework.update("watched", mesos_pb2.TASK_FINISHED)
            framework.simple(scheduler_pb2.Call.TEARDOWN)
            assert process.wait(45) == 0, (tmp_path / "err").read_text()[-3000:]
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert one(events, "stopped")["ended"]
    for side in ("master", "agent"):
        answers = {e["call"]: e["answer"] for e in events if e["event"] == side}
        assert answers["getHealth"] == {"type": "GET_HEALTH", "get_health": {"healthy": True}}
        assert all(
            answer.get("type") == re.sub(r"(?<=[a-z])([A-Z])", r"_\1", call).upper()
            for call, answer in answers.items()
            if call.startswith("get")
        ), answers
    answers = {e["call"]: e["answer"] for e in events if e["event"] == "master"}
    assert len(answers["getAgents"]["get_agents"]["agents"]) == 1
    assert {e["kind"] for e in events if e["event"] == "done"} == {"reserved", "unreserved", "level"} | (
        {"config"} if HAS_PROVIDER else set()
    )
    assert one(events, "framework_added")["framework"]["framework_info"]["name"] == "beside"
    assert one(events, "task_added")["task"]["task_id"]["value"] == "watched"
    updates = [e["task"] for e in events if e["event"] == "task_updated"]
    assert [update["state"] for update in updates] == RAN
    files = one(events, "files")
    assert {Path(info["path"]).name for info in files["files"]["file_infos"]} >= {"stdout", "stderr"}
    assert base64.b64decode(files["stdout"]["data"]) == b"seen\n"
    assert one(events, "framework_removed")["framework"]["name"] == "beside"


def test_avmesos_cli_lists(agent: AgentProcess, tmp_path: Path) -> None:
    # The package asks for Python 3.12 in its metadata; its code runs on 3.11.
    python = packages.venv("avmesos-cli", "avmesos-cli==1.3.0", options=("--ignore-requires-python",))
    config = tmp_path / "config.toml"
    config.write_text(f'[master]\naddress = "{address(agent.master_url)}"\n[agent]\nssl = false\n')

    def cli(*arguments: str, status: int = 0) -> str:
        done = subprocess.run(
            [python, "-m", "avmesos.cli.mesos-cli", *arguments],
            env={**os.environ, "MESOS_CLI_CONFIG": str(config)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    framework = run_task(agent, "listed", "sleep 60")
    agent_id = agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["id"]["value"]
    hostname = agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["hostname"]
    assert re.search(rf"^{agent_id}\s+{re.escape(hostname)}\s+True\s*$", cli("agent", "list"), re.M)
    assert re.search(rf"^{framework.id}\s+True\s.*\sbeside\s*$", cli("framework", "list"), re.M)
    assert json.loads(cli("framework", "inspect", framework.id))["name"] == "beside"
    assert re.search(rf"^listed\s+TASK_RUNNING\s+{framework.id}\s", cli("task", "list"), re.M)
    task = json.loads(cli("task", "inspect", "listed"))
    assert (task["id"], task["slave_id"]) == ("listed", agent_id)
    # Mesos 1.12 has no such call; the client found the task, its container and the agent before it made it.
    refused = cli("task", "update-memory", "listed", "64", status=1)
    assert f"Unable to update memory limit for task 'listed' on agent '{agent.agent_url}/api/v1'" in refused
    framework.kill("listed")
    framework.update("listed", mesos_pb2.TASK_KILLED)
    framework.simple(scheduler_pb2.Call.TEARDOWN)


def test_mae_exports(agent: AgentProcess, tmp_path: Path) -> None:
    """First without a task, whose list it needs all the same, then the figures that a task serves."""
    python = packages.venv("mae", "mae==1.0.11")
    host, port = address(agent.agent_url).split(":")
    script = "import sys; from mae.mae import MesosAppExporter; print(MesosAppExporter(*sys.argv[1:]).collect())"

    def export() -> str:
        command = [python, "-c", script, host, port]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert export() == ""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        served = free.getsockname()[1]
    framework = Framework(agent.master_url, name="beside")
    framework.subscribe()
    offer, cpus = framework.offer(is_plain)
    command = f"echo figure 42 > metrics; exec {sys.executable} -m http.server {served} --bind 127.0.0.1"
    operation = launch(offer.agent_id.value, "exported", command, take(cpus, 0.1))
    (task,) = operation.launch.task_infos
    task.labels.labels.add(key="prometheus.metrics.enabled", value="true")
    task.discovery.visibility = mesos_pb2.DiscoveryInfo.EXTERNAL
    task.discovery.ports.ports.add(number=served, name="metrics")
    framework.accept([offer], operation)
    framework.update("exported", mesos_pb2.TASK_STARTING)
    framework.update("exported", mesos_pb2.TASK_RUNNING)
    assert wait_for(export, 20, "figures of the task") == "figure 42"
    framework.kill("exported")
    framework.update("exported", mesos_pb2.TASK_KILLED)
    framework.simple(scheduler_pb2.Call.TEARDOWN)
