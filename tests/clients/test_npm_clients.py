"""The Mesos clients on npm."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_api.wire import mesos_pb2, scheduler_pb2
from tests.clients import packages
from tests.clients.conftest import DRIVERS, RAN, address, gone, one, run_task, states
from tests.functional.harness import AgentProcess, wait_for

Drive = Callable[..., list[dict[str, Any]]]


def test_mesos_framework_runs_a_task(agent: AgentProcess, drive: Drive) -> None:
    modules = packages.npm("mesos-framework", "mesos-framework@0.5.3")
    environ = {"CLIENT_MODULES": str(modules)}
    host, port = address(agent.master_url).split(":")
    events = drive(packages.node(), DRIVERS / "mesos_framework.js", host, port, environ=environ)
    assert states(events) == RAN
    assert not [event for event in events if event["event"] == "error"]
    offer = next(event for event in events if event["event"] == "offers")
    assert offer["ip"] == host
    (output,) = agent.work_dir.glob("tasks/*/*mesos-framework.hello*/stdout")
    assert output.read_text() == f"hello {host}\n"
    assert gone(agent, one(events, "subscribed")["frameworkId"])


def test_dcos_mesos_client_reads_and_watches(agent: AgentProcess, tmp_path: Path) -> None:
    modules = packages.npm("mesos-client", "@dcos/mesos-client@1.0.0", "jsdom@22.1.0")
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(
            [packages.node(), DRIVERS / "mesos_client.js", agent.master_url],
            env={**os.environ, "CLIENT_MODULES": str(modules)},
            stdout=stdout,
            stderr=stderr,
        )
        try:

            def watching() -> bool:
                assert process.poll() is None, err.read_text()[-3000:]
                return out.read_text().count('"answer"') >= 5 and '"SUBSCRIBED"' in out.read_text()

            wait_for(watching, 30, f"all calls answered: {out}")
            framework = run_task(agent, "watched-by-npm")
            framework.update("watched-by-npm", mesos_pb2.TASK_FINISHED)
            framework.simple(scheduler_pb2.Call.TEARDOWN)
            assert process.wait(45) == 0, out.read_text()[-3000:] + err.read_text()[-3000:]
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    events = [json.loads(line) for line in out.read_text().splitlines()]
    answers = {event["answer"]["type"] for event in events if event["event"] == "answer"}
    assert answers == {"GET_FLAGS", "GET_STATE", "GET_AGENTS", "GET_FRAMEWORKS", "GET_TASKS"}
    records = [event["record"] for event in events if event["event"] == "record"]
    assert [record["type"] for record in records[:2]] == ["SUBSCRIBED", "HEARTBEAT"]
    assert "get_state" in records[0]["subscribed"]
    kinds = [record["type"] for record in records[2:] if record["type"] != "HEARTBEAT"]
    assert kinds[:2] == ["FRAMEWORK_ADDED", "TASK_ADDED"]
    assert kinds.count("TASK_UPDATED") == 3
    assert kinds[-1] == "FRAMEWORK_REMOVED"
