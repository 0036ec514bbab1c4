"""Tasks in somebody else's cgroups: real processes, a directory tree as the cgroups that list them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from provider import cpuset
from provider.errors import ConfigError
from provider.task_cgroups import TaskCgroups

MINE = cpuset.of(os.sched_getaffinity(0))
ONE = MINE & -MINE
REST = MINE & ~ONE
pytestmark = pytest.mark.skipif(not REST, reason="two CPUs are needed")

SLEEPER = """
import threading, time
for _ in range(2):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[str]]]:
    made = [subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for one in made:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    yield made
    for one in made:
        one.kill()
        one.wait(10)
        assert one.stdout is not None
        one.stdout.close()


def group(path: Path, *pids: int) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    group(tmp_path / "cgroup")
    return group(tmp_path / "cgroup/mesos")


def affinity(process: subprocess.Popen[str]) -> set[int]:
    """The mask that all threads of a process have."""
    masks = set()
    for entry in Path(f"/proc/{process.pid}/task").iterdir():
        masks.add(cpuset.of(os.sched_getaffinity(int(entry.name))))
    return masks


def test_tasks_are_kept_where_they_belong(root: Path, sleepers: list[subprocess.Popen[str]]) -> None:
    web, other, free = sleepers
    group(root / "web/docker-1", web.pid)
    group(root / "0b1c", other.pid)
    group(root.parent / "system", free.pid)
    tasks = TaskCgroups(root)
    assert tasks.keep({"web": ONE, "we": REST}, REST) == []
    assert (affinity(web), affinity(other), affinity(free)) == ({ONE}, {REST}, {MINE})
    # Twice is as once.
    assert tasks.keep({"web": ONE}, REST) == []
    # The set changes; and once it is gone, its tasks and all others get everything back.
    assert tasks.keep({"web": REST}, ONE) == []
    assert (affinity(web), affinity(other)) == ({REST}, {ONE})
    assert tasks.keep({}, MINE) == []
    assert (affinity(web), affinity(other), affinity(free)) == ({MINE}, {MINE}, {MINE})


def test_a_choice_of_its_own_inside_what_it_may_use_stays(root: Path, sleepers: list[subprocess.Popen[str]]) -> None:
    task = sleepers[0]
    group(root / "a", task.pid)
    os.sched_setaffinity(task.pid, cpuset.ids(ONE))
    tasks = TaskCgroups(root)
    before = affinity(task)
    assert ONE in before
    assert tasks.keep({"a": MINE}, REST) == []
    assert affinity(task) == before


def test_what_a_task_starts_later_and_what_is_gone(root: Path, sleepers: list[subprocess.Popen[str]]) -> None:
    task, gone, _ = sleepers
    tasks = TaskCgroups(root)
    assert tasks.keep({"web": ONE}, REST) == []
    gone.kill()
    gone.wait(10)
    group(root / "web", task.pid, gone.pid, 0)
    assert tasks.keep({"web": ONE}, REST) == []
    assert affinity(task) == {ONE}
    (root / "web/cgroup.procs").write_text("nonsense\n")
    assert tasks.keep({"web": REST}, ONE) == []
    assert affinity(task) == {ONE}


def test_cpus_that_cannot_be_had_are_told(root: Path, sleepers: list[subprocess.Popen[str]]) -> None:
    group(root / "web", sleepers[0].pid)
    (problem,) = TaskCgroups(root).keep({"web": 1 << 8000}, MINE)
    assert problem.startswith(f"task cgroup web: process {sleepers[0].pid}: CPUs 8000 were refused")
    assert affinity(sleepers[0]) == {MINE}
    assert TaskCgroups(root).keep({"web": 0}, MINE) == []


def test_links_are_not_followed(root: Path, tmp_path: Path, sleepers: list[subprocess.Popen[str]]) -> None:
    outside = group(tmp_path / "outside", sleepers[0].pid)
    (root / "web").symlink_to(outside)
    assert TaskCgroups(root).keep({"web": ONE}, REST) == []
    assert affinity(sleepers[0]) == {MINE}


def test_a_root_that_cannot_be_one(root: Path, tmp_path: Path) -> None:
    group(root / "pinfold")
    for path, ours, words in (
        (tmp_path / "none", None, "No such file"),
        (tmp_path, None, "is no cgroup directory"),
        (root.parent, None, "root of a hierarchy"),
        (root, root, "overlaps"),
        (root, root / "pinfold", "overlaps"),
        (group(root / "pinfold/plain"), root / "pinfold", "overlaps"),
    ):
        with pytest.raises(ConfigError, match=words):
            TaskCgroups(path, ours=ours)
    TaskCgroups(root, ours=root.parent / "pinfold")


def test_a_sweep_is_cheap(root: Path, sleepers: list[subprocess.Popen[str]]) -> None:
    """Once a second over hundreds of cgroups must not matter."""
    for index in range(300):
        group(root / f"c{index}", sleepers[0].pid if index % 3 else 0)
    tasks = TaskCgroups(root)
    tasks.keep({}, MINE)
    start = time.process_time()
    tasks.keep({}, MINE)
    assert time.process_time() - start < 0.5
