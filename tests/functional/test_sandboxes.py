"""Directories of tasks that are over are removed after a while, and no others."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from agent_api import sandboxes, shim
from agent_api.wire import mesos_pb2
from tests.functional.harness import Framework, is_plain, launch, running_agent, take, wait_for


def directory(work_dir: Path, name: str, age: float, pid: int | None = None) -> Path:
    path = work_dir / "tasks" / name
    path.mkdir(parents=True)
    (path / "stdout").write_text("what it said")
    if pid is not None:
        claim = {"pid": pid, "start_ticks": shim.process_start(pid), "boot_id": shim.boot_id()}
        (path / "pid.json").write_text(json.dumps(claim))
    else:
        (path / "exit.json").write_text("{}")
        os.utime(path / "exit.json", (time.time() - age,) * 2)
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_which_are_moved_away(tmp_path: Path) -> None:
    old = [directory(tmp_path, f"f/{name}", 100) for name in ("a", "a~1", "b")]
    alone = directory(tmp_path, "g/a", 100)
    kept = [
        directory(tmp_path, "f/young", 10),
        directory(tmp_path, "f/known", 100),
        directory(tmp_path, "f/running", 100, os.getpid()),
    ]
    (tmp_path / "tasks/f/lost").mkdir()
    os.utime(tmp_path / "tasks/f/lost", (time.time() - 100,) * 2)
    found = sandboxes.discard(str(tmp_path), {str(kept[1])}, time.time() - 50)
    assert {*found} == {*old, alone, tmp_path / "tasks/f/lost"}
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in found)
    assert not alone.parent.exists() and kept[0].parent.exists()
    assert len([*(tmp_path / "tasks.removed").iterdir()]) == 5
    assert sandboxes.discard(str(tmp_path), {str(kept[1])}, time.time() - 50) == []


@pytest.mark.parametrize("claim", [b'{"pid": "x"}', b'{"pid": [1]}', b"[" * 100_000])
def test_what_a_task_wrote_in_place_of_its_shim_stops_nothing(tmp_path: Path, claim: bytes) -> None:
    """A task that runs as the agent's user can write there what it likes."""
    strange, old = (directory(tmp_path, f"f/{name}", 100) for name in ("a", "b"))
    (strange / "pid.json").write_bytes(claim)
    assert {*sandboxes.discard(str(tmp_path), set(), time.time() - 50)} == {strange, old}
    again = directory(tmp_path, "f/a", 100)
    (again / "pid.json").write_bytes(claim)
    sandboxes.set_aside(again)
    assert (tmp_path / "tasks/f/a~1").exists()


def test_nothing_there_yet(tmp_path: Path) -> None:
    assert sandboxes.discard(str(tmp_path), set(), time.time()) == []


def test_an_agent_removes_what_is_over_and_acknowledged(tmp_path: Path) -> None:
    with running_agent(tmp_path, "--gc-delay", "1", cgroup_root="none") as agent:
        left = directory(agent.work_dir, "before/old", 10)
        agent_id = agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["id"]["value"]
        framework = Framework(agent.master_url)
        framework.subscribe()
        for name, command in (("told", "true"), ("open", "true"), ("runs", "sleep 600")):
            offer, plain = framework.offer(is_plain)
            framework.accept([offer], launch(agent_id, name, command, take(plain, 0.1)))
            for state in (mesos_pb2.TASK_STARTING, mesos_pb2.TASK_RUNNING):
                framework.update(name, state)
            if name != "runs":
                framework.update(name, mesos_pb2.TASK_FINISHED, acknowledge=name == "told")
        places = {name: agent.work_dir / "tasks" / framework.id / name for name in ("told", "open", "runs")}
        wait_for(lambda: not places["told"].exists() and not left.exists(), 20, "removed")
        wait_for(lambda: not (agent.work_dir / "tasks.removed").exists(), 20, "deleted")
        assert places["open"].exists() and places["runs"].exists()
        agent.kill(signal.SIGKILL)
        agent.start()
        time.sleep(2.5)
        assert places["open"].exists() and places["runs"].exists()
