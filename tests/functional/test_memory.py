"""Memory of tasks: limited by a cgroup of their own where there is a controller, and said where there is none."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_api import cgroup_paths, memory, shim
from agent_api.cgroup_paths import Hierarchy
from agent_api.wire import mesos_pb2
from tests.functional.harness import Framework, is_plain, launch, running_agent, take, wait_for
from tests.functional.test_launcher import World, task

V1 = Path("/sys/fs/cgroup/memory")
_numbers = itertools.count()
MB = 1024 * 1024
GREEDY = [sys.executable, "-c", "x = bytearray(200 << 20); print(len(x), flush=True)"]


def with_memory(info: mesos_pb2.TaskInfo, mem_mb: float) -> mesos_pb2.TaskInfo:
    info.resources.add(name="mem", type=mesos_pb2.Value.SCALAR, scalar={"value": mem_mb})
    return info


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    if not (V1 / "memory.limit_in_bytes").exists() or not os.access(V1, os.W_OK) or os.geteuid() != 0:
        pytest.skip("no cgroup v1 memory that may be written")
    made = World(tmp_path, "auto", f"pinfold-memory-{os.getpid()}-{next(_numbers)}")
    if made.launcher.cgroups.kind != "cgroup1":
        pytest.skip("no cgroup v1 cpuset that may be written")
    yield made
    made.until(lambda: not made.launcher._tasks)
    hierarchy = made.launcher.cgroups
    made.until(lambda: not [*Path(hierarchy.memory_root or "", hierarchy.name).glob("task.*")])
    hierarchy.remove_unused()
    for root in hierarchy._roots():
        assert not Path(root, hierarchy.name).exists()


def test_a_task_beyond_its_limit_is_ended_and_says_so(world: World) -> None:
    world.launcher.launch("f", with_memory(task(GREEDY), 64), "", [])
    started = world.event("started")
    assert started[6] == ""
    end = world.exit()
    assert (end.signal, end.out_of_memory) == (9, True)
    assert end.message == "Memory limit exceeded: the kernel killed 1 of the task's processes"
    world.launcher.launch("f", with_memory(task(GREEDY, "u"), 400), "", [])
    end = world.exit("u")
    assert (end.code, end.out_of_memory, end.message) == (0, False, "")
    # A child that is killed, of a command that goes on and ends well.
    child = f"{GREEDY[0]} -c '{GREEDY[2]}' || exit 0"
    world.launcher.launch("f", with_memory(task(child, "v"), 64), "", [])
    end = world.exit("v")
    assert (end.code, end.out_of_memory, end.message) == (0, False, "")


def test_the_limit_is_the_sum_of_mem_and_belongs_to_one_task(world: World) -> None:
    for name, mem in (("a", 64.0), ("b", 1.0), ("c", None)):
        info = task("grep :memory: /proc/self/cgroup; while ! test -e stop; do sleep 0.05; done", name)
        if mem is not None:
            with_memory(with_memory(info, mem / 2), mem / 2)
        world.launcher.launch("f", info, "", [])
        world.event("started", name)
        world.until(lambda name=name: world.out(name))
    found = {}
    for name in "abc":
        leaf = V1 / world.out(name).strip().split(":")[2].lstrip("/")
        found[name] = leaf
        Path(world.launcher.sandbox("f", name), "stop").touch()
        if name != "c":
            limit = int((leaf / "memory.limit_in_bytes").read_text())
            assert limit == (64 if name == "a" else memory.MIN_MB) * MB
    assert world.launcher.cgroups.name not in str(found["c"]) and found["a"] != found["b"]
    for name in "abc":
        assert world.exit(name).code == 0


def test_the_next_agent_is_told_what_the_kernel_did(world: World) -> None:
    world.launcher.launch("f", with_memory(task(f"sleep 1; exec {GREEDY[0]} -c '{GREEDY[2]}'"), 64), "", [])
    known = world.event("started")[3:6]
    leaf = world.launcher._memory_cgroup(world.launcher._tasks["f", "t"])
    after = World(world.work_dir, "auto", world.launcher.cgroups.name)
    world.launcher._tasks.clear()  # it hears of nothing more
    after.until(lambda: shim.process_start(known[0]) != known[1])
    after.launcher.recover("f", "t", *known)
    assert after.exit().out_of_memory
    after.until(lambda: not Path(leaf).exists())


def test_the_framework_is_told_the_reason(world: World, tmp_path: Path) -> None:
    """A whole agent on this host's own cgroups."""
    with running_agent(tmp_path) as agent:
        agent_id = agent.master_get("GET_AGENTS")["agents"][0]["agent_info"]["id"]["value"]
        framework = Framework(agent.master_url)
        framework.subscribe()
        offer, plain = framework.offer(is_plain)
        mem = next(resource for resource in offer.resources if resource.name == "mem")
        command = f"exec {GREEDY[0]} -c '{GREEDY[2]}'"
        framework.accept([offer], launch(agent_id, "greedy", command, take(plain, 0.5), take(mem, 64)))
        framework.update("greedy", mesos_pb2.TASK_STARTING)
        assert framework.update("greedy", mesos_pb2.TASK_RUNNING).message == ""
        failed = framework.update("greedy", mesos_pb2.TASK_FAILED)
        assert failed.reason == mesos_pb2.TaskStatus.REASON_CONTAINER_LIMITATION_MEMORY
        assert failed.message == "Memory limit exceeded: the kernel killed 1 of the task's processes"
        wait_for(lambda: not [*(V1 / agent.cgroup_name).glob("task.*")], 10, "its cgroup goes")


def test_without_a_controller_it_is_said(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert memory.described(world.launcher.cgroups) == "not limited: no cgroup may be written"
    world.launcher.launch("f", with_memory(task("true"), 64), "", [])
    assert world.event("started")[6] == "The task's memory is not limited: no cgroup may be written"
    assert world.exit().code == 0
    world.launcher.launch("f", task("true", "u"), "", [])
    assert world.event("started", "u")[6] == ""
    assert world.exit("u").code == 0


# cgroup v2, as a directory tree: the VM has the real one.


def tree(root: Path, controllers: str = "cpuset cpu memory") -> Hierarchy:
    for path in (root, root / "n", root / "n/shared", root / "n/shared/s", root / "n/plain"):
        path.mkdir(exist_ok=True)
        (path / "cgroup.controllers").write_text(controllers)
        (path / "cgroup.subtree_control").write_text("")
    return cgroup_paths.find(str(root), "n")


def test_v2_each_task_has_a_leaf_below_its_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchy = tree(tmp_path)
    assert memory.described(hierarchy) == f"cgroup2 {tmp_path}"
    group = str(tmp_path / "n/shared/s")
    real_mkdir = Path.mkdir

    def mkdir(path: Path, *args: object, **more: object) -> None:
        """The kernel's: files come with the directory."""
        real_mkdir(path, *args, **more)  # type: ignore[arg-type]
        (path / "memory.max").write_text("max")
        (path / "memory.events").write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    place = memory.place(hierarchy, [group], ("f", "t"), 100)
    assert place.problem == "" and place.directories == [f"{group}/shims"]
    assert Path(place.leaf).parent == Path(group)
    assert Path(place.leaf, "memory.max").read_text() == str(100 * MB)
    assert memory.oom_kills(place.leaf) == 2
    for above in (tmp_path, tmp_path / "n", tmp_path / "n/shared", tmp_path / "n/shared/s"):
        assert (above / "cgroup.subtree_control").read_text() == "+memory"
    assert (tmp_path / "n/plain/cgroup.subtree_control").read_text() == ""
    # Without a limit it has a leaf all the same: no process may be beside the others'.
    other = memory.place(hierarchy, [group], ("f", "u"), None)
    assert other.leaf != place.leaf and other.directories == place.directories
    assert Path(other.leaf, "memory.max").read_text() == "max"


def test_v2_what_keeps_the_limit_away_is_the_problem(tmp_path: Path) -> None:
    group = str(tmp_path / "n/plain")
    without = tree(tmp_path, "cpuset cpu")
    place = memory.place(without, [group], ("f", "t"), 100)
    assert place == memory.Place([group], "", f"no memory controller in {tmp_path}/cgroup.controllers")
    assert memory.described(without) == f"not limited: {place.problem}"
    assert memory.place(without, [group], ("f", "t"), None).problem == ""
    hierarchy = tree(tmp_path)
    elsewhere = memory.place(hierarchy, ["/elsewhere/set.a"], ("f", "t"), 100)
    assert elsewhere.directories == ["/elsewhere/set.a"]
    assert elsewhere.problem == f"/elsewhere/set.a: not below {tmp_path}"
    with contextlib.suppress(PermissionError):
        (tmp_path / "n/plain/cgroup.subtree_control").unlink()
        assert memory.place(hierarchy, [group], ("f", "t"), 100).problem.endswith("No such file or directory")
