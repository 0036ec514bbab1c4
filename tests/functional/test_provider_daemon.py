"""The supervision of provider processes, with programs that only do what a process can do: run, end, hold on.

What they stand for is any provider; the real one is run by the walk.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_api.provider_daemon import directory_name
from tests.functional.harness import alive, wait_for

DRIVER = """
import json, logging, sys
from twisted.internet import reactor, task
from agent_api import provider_daemon
from agent_api.provider_daemon import ProviderDaemons
from agent_api.wire import codec, mesos_pb2

provider_daemon.BACKOFF_SECONDS = (0.05, 0.1, 0.2)
provider_daemon.STOP_SECONDS = 1.0
provider_daemon.CHECK_SECONDS = 2.0
provider_daemon.RELEASE_SECONDS = 0.6
logging.basicConfig(level=logging.INFO, stream=sys.stderr)
work_dir, url, program, steps = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
daemons = ProviderDaemons(work_dir, url, reactor, cgroup_name="t", command=(sys.executable, program, "provider"))
def info(value):
    return codec.from_dict(mesos_pb2.ResourceProviderInfo, value)
async def main():
    for name, argument in steps:
        if name in ("start", "restart"): daemons.run(info(argument))
        elif name == "stop": await daemons.stop(*argument)
        elif name == "remove": await daemons.remove(*argument)
        elif name == "finish": daemons.finish_removals()
        elif name == "stop_all": await daemons.stop_all()
        elif name == "sleep": await task.deferLater(reactor, argument)
        elif name == "check":
            result = await daemons.check(info(argument), adding=False)
            print(json.dumps([result.error, result.status, result.floor_cpus]), flush=True)
        elif name == "say": print(json.dumps(argument), flush=True)
    reactor.stop()
def run():
    from twisted.internet.defer import Deferred
    d = Deferred.fromCoroutine(main())
    d.addErrback(lambda f: (f.printTraceback(), reactor.stop()))
reactor.callWhenRunning(run)
reactor.run()
"""

PROGRAM = """
import json, os, signal, sys, time
arguments = sys.argv[2:]
option = lambda name: arguments[arguments.index(name) + 1]
config = json.load(open(option("--config")))
if "--check" in arguments:
    name = config["name"]
    if name == "slow": time.sleep(60)
    if name == "broken": sys.exit("no such thing")
    if name == "refused": print(json.dumps({"error": "reserved_cpus: 15 is no CPU", "status": 409})); sys.exit(1)
    print(json.dumps({"floor_cpus": 3})); sys.exit(0)
def note(what):
    with open(os.path.join(option("--work-dir"), what), "a") as f: f.write(f"{os.getpid()}\\n")
if "--release" in arguments:
    note("releases")
    if os.path.exists(os.path.join(option("--work-dir"), "busy")): print(json.dumps({"kept": ["s"]})); sys.exit(0)
    if config["name"] == "failing": print(json.dumps({"error": "no", "status": 409})); sys.exit(1)
    print(json.dumps({"kept": []})); sys.exit(0)
with open(os.path.join(option("--work-dir"), "starts"), "a") as f: f.write(f"{os.getpid()}\\n")
if config["name"] == "deaf": signal.signal(signal.SIGTERM, signal.SIG_IGN)
if config["name"] == "short": print("leaving"); sys.exit(3)
while True: time.sleep(60)
"""

TYPE = "org.pinfold.rp.cpu"
HOST = {"type": TYPE, "name": "host"}


class World:
    def __init__(self, directory: Path) -> None:
        self.work_dir = directory / "agent"
        self.program = directory / "program.py"
        self.program.write_text(textwrap.dedent(PROGRAM))
        self.driver = directory / "driver.py"
        self.driver.write_text(textwrap.dedent(DRIVER))
        self.running: list[subprocess.Popen[str]] = []

    def start(self, *steps: tuple[str, Any], url: str = "http://127.0.0.1:1") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(self.driver), str(self.work_dir), url, str(self.program), json.dumps(steps)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        self.running.append(process)
        return process

    def run(self, *steps: tuple[str, Any], **options: Any) -> list[Any]:
        process = self.start(*steps, **options)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 0, err
        self.errors = err
        return [json.loads(line) for line in out.splitlines()]

    def directory(self, name: str = "host") -> Path:
        return self.work_dir / "providers" / f"{TYPE}.{name}"

    def pid(self, name: str = "host") -> int:
        text = (self.directory(name) / "pid.json").read_text()
        assert text.endswith("}"), "cut"
        return int(json.loads(text)["pid"])

    def starts(self, name: str = "host") -> list[int]:
        return [int(line) for line in (self.directory(name) / "starts").read_text().split()]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    for process in made.running:
        if process.poll() is None:
            process.kill()
            process.communicate()
    for started in made.work_dir.glob("providers/*/starts"):
        for pid in map(int, started.read_text().split()):
            if alive(pid) and str(made.program) in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)


def test_start_and_stop(world: World) -> None:
    process = world.start(("start", HOST), ("sleep", 1.5), ("stop", [TYPE, "host"]), ("say", "stopped"), ("sleep", 1))
    pid = wait_for(lambda: world.starts()[0])
    assert world.pid() == pid
    command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    expected = {"--agent": "http://127.0.0.1:1", "--work-dir": str(world.directory()), "--cgroup-name": "t"}
    for option, value in expected.items():
        assert command[command.index(option) + 1] == value
    assert json.loads((world.directory() / "config.json").read_text()) == HOST
    assert process.stdout is not None
    assert process.stdout.readline() == '"stopped"\n'
    assert not alive(pid)
    assert not (world.directory() / "pid.json").exists()
    process.communicate(timeout=20)
    assert len(world.starts()) == 1, "a process that was stopped is not started again"


def test_a_process_that_ends_is_started_again_with_growing_pauses(world: World) -> None:
    world.run(("start", {"type": TYPE, "name": "short"}), ("sleep", 1.5), ("stop_all", None))
    assert 3 <= len(world.starts("short")) <= 9
    assert "leaving" in (world.directory("short") / "log").read_text()
    assert "ended with status 3" in world.errors
    assert world.errors.index("again in 0.05 s") < world.errors.index("again in 0.1 s") < world.errors.index("in 0.2 s")


def test_a_killed_process_comes_back(world: World) -> None:
    world.start(("start", HOST), ("sleep", 20))
    first = wait_for(lambda: world.starts()[0])
    os.kill(first, signal.SIGKILL)
    second = wait_for(lambda: world.starts()[1])
    assert wait_for(lambda: world.pid() == second)


def test_a_process_that_ignores_the_request_to_end_is_killed(world: World) -> None:
    began = time.monotonic()
    world.run(("start", {"type": TYPE, "name": "deaf"}), ("sleep", 0.7), ("stop_all", None))
    assert time.monotonic() - began < 10
    assert not alive(world.starts("deaf")[0])
    assert "killing it" in world.errors


@pytest.mark.parametrize("pid_file", ["kept", "missing", "cut", "of another"])
def test_the_next_agent_adopts_the_running_process(world: World, pid_file: str) -> None:
    first = world.start(("start", HOST), ("sleep", 60))
    pid = wait_for(lambda: world.pid())
    wait_for(lambda: world.starts())
    first.kill()
    first.communicate()
    assert alive(pid)
    path = world.directory() / "pid.json"
    if pid_file == "missing":
        path.unlink()
    elif pid_file == "cut":
        path.write_text(path.read_text()[:10])
    elif pid_file == "of another":
        path.write_text(json.dumps({**json.loads(path.read_text()), "pid": os.getpid()}))
    second = world.start(("start", HOST), ("sleep", 60))
    assert wait_for(lambda: path.exists() and world.pid() == pid)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: len(world.starts()) == 2, message="an adopted process is watched")
    second.kill()
    second.communicate()
    world.run(("start", HOST), ("sleep", 0.5), ("stop_all", None))
    assert len(world.starts()) == 2
    assert not alive(world.starts()[1])


@pytest.mark.parametrize("what", ["config", "agent"])
def test_a_running_process_with_another_configuration_is_replaced(world: World, what: str) -> None:
    first = world.start(("start", HOST), ("sleep", 60))
    pid = wait_for(lambda: world.starts()[0])
    wait_for(lambda: world.pid())
    first.kill()
    first.communicate()
    config = {**HOST, "cpu": {"floor": 2}} if what == "config" else HOST
    world.start(("start", config), ("sleep", 60), url="http://127.0.0.1:2" if what == "agent" else "http://127.0.0.1:1")
    wait_for(lambda: len(world.starts()) == 2)
    assert not alive(pid)
    assert json.loads((world.directory() / "config.json").read_text()).get("cpu", {}).get("floor") == (
        2 if what == "config" else None
    )


def test_restart_uses_the_new_config(world: World) -> None:
    world.run(
        ("start", HOST), ("sleep", 0.7), ("restart", {**HOST, "cpu": {"floor": 2}}), ("sleep", 0.7), ("stop_all", None)
    )
    assert len(world.starts()) == 2
    assert json.loads((world.directory() / "config.json").read_text())["cpu"]["floor"] == 2


def test_of_several_orders_in_a_row_the_last_is_carried_out(world: World) -> None:
    orders = [("start", {**HOST, "cpu": {"floor": floor}}) for floor in range(1, 6)]
    world.run(
        *orders, ("sleep", 1.0), *orders, ("stop", [TYPE, "host"]), ("start", HOST), ("sleep", 1.0), ("stop_all", None)
    )
    assert json.loads((world.directory() / "config.json").read_text()) == HOST
    assert len(world.starts()) <= 3
    assert not any(map(alive, world.starts()))


def test_check(world: World) -> None:
    good, refused, broken, slow = world.run(
        ("check", HOST),
        ("check", {"type": TYPE, "name": "refused"}),
        ("check", {"type": TYPE, "name": "broken"}),
        ("check", {"type": TYPE, "name": "slow"}),
    )
    assert good == [None, 200, 3]
    assert refused == ["reserved_cpus: 15 is no CPU", 409, 0]
    assert broken[1] == 500
    assert "no such thing" in broken[0]
    assert slow[1] == 500
    assert "longer than" in slow[0]
    assert not world.directory().exists(), "a check leaves nothing behind"
    assert list((world.work_dir / "providers").iterdir()) == []


def releases(world: World, name: str = "host") -> int:
    path = world.directory(name) / "releases"
    return len(path.read_text().split()) if path.exists() else 0


def test_a_removed_provider_s_cpus_are_given_back_after_its_end(world: World) -> None:
    world.run(("start", HOST), ("sleep", 0.7), ("remove", [TYPE, "host"]), ("remove", [TYPE, "host"]), ("sleep", 1))
    assert not alive(world.starts()[0])
    assert releases(world) == 1
    assert (world.directory() / "released").exists()
    world.run(("remove", [TYPE, "other"]), ("start", HOST), ("sleep", 0.7), ("stop_all", None), ("sleep", 1))
    assert releases(world) == 1, "a stop is no removal"
    assert not (world.directory() / "released").exists()


def test_what_is_still_in_use_is_given_back_later(world: World) -> None:
    world.directory().mkdir(parents=True)
    (world.directory() / "busy").touch()
    process = world.start(
        ("start", HOST), ("sleep", 0.7), ("remove", [TYPE, "host"]), ("say", "removed"), ("sleep", 20)
    )
    assert process.stdout is not None
    assert process.stdout.readline() == '"removed"\n'
    wait_for(lambda: releases(world) >= 3)
    assert not (world.directory() / "released").exists()
    (world.directory() / "busy").unlink()
    wait_for(lambda: (world.directory() / "released").exists())


def test_what_fails_is_tried_again_until_it_is_added_again(world: World) -> None:
    failing = {"type": TYPE, "name": "failing"}
    world.run(
        *(("start", failing), ("sleep", 0.7), ("remove", [TYPE, "failing"]), ("sleep", 1), ("start", failing)),
        *(("sleep", 1.5), ("stop_all", None), ("sleep", 1)),
    )
    assert 2 <= releases(world, "failing") <= 3
    assert "its CPUs are not given back, it is tried again: no" in world.errors
    assert len(world.starts("failing")) == 2


def test_the_next_agent_completes_a_removal(world: World) -> None:
    first = world.start(("start", HOST), ("sleep", 60))
    pid = wait_for(lambda: world.pid())
    wait_for(lambda: world.starts())
    first.kill()
    first.communicate()
    world.run(("finish", None), ("sleep", 2), ("stop_all", None))
    assert not alive(pid)
    assert len(world.starts()) == 1
    assert releases(world) == 1
    assert (world.directory() / "released").exists()


def test_nothing_is_given_back_beside_another_provider(world: World) -> None:
    """The release takes all sets out of the kernel that are not its own: those of the other one, while that is down."""
    first = world.start(("start", HOST), ("sleep", 60))
    pid = wait_for(lambda: world.pid())
    wait_for(lambda: world.starts())
    first.kill()
    first.communicate()
    other = {"type": TYPE, "name": "other"}
    world.run(("start", other), ("finish", None), ("sleep", 2), ("stop_all", None))
    assert not alive(pid)
    assert releases(world) == 0 and releases(world, "other") == 0


def test_names_do_not_leave_the_directory() -> None:
    for type_, name in (("..", "x"), (".", "."), ("a/b", "../c"), ("", ""), ("a\0b", "ü")):
        found = directory_name(type_, name)
        assert "/" not in found
        assert "\0" not in found
        assert not found.startswith(".")
    assert directory_name("a", "b.c") != directory_name("a.b", "c")
    assert directory_name(TYPE, "host") == f"{TYPE}.host"
