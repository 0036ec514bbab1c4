"""Real tasks, real shims: started, killed, orphaned, found again; on affinity, and on this machine's cgroup v1."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pwd
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import selectreactor

from agent_api import cgroup_paths, shim
from agent_api.core.sandbox import task_path
from agent_api.launcher import Exit, Launcher
from agent_api.wire import mesos_pb2
from provider.cgroups import Desired, SharedSlot, Slot, detect
from provider.cgroups.v1 import V1Enforcer

ROOT = Path(__file__).parents[2]
REAL_V1 = Path("/sys/fs/cgroup/cpuset/cpuset.cpus")
_numbers = itertools.count()


class World:
    """A reactor of its own that is turned by hand, and the launcher's words in order."""

    def __init__(self, work_dir: Path, cgroup_root: str = "none", cgroup_name: str = "pinfold") -> None:
        self.reactor = selectreactor.SelectReactor()
        self.events: list[tuple[Any, ...]] = []
        self.work_dir = work_dir
        self.launcher = Launcher(
            str(work_dir),
            cgroup_root,
            cgroup_name,
            self.reactor,
            lambda *a: self.events.append(("started", *a)),
            lambda *a: self.events.append(("exited", *a)),
            lambda *a: self.events.append(("failed", *a)),
        )

    def until(self, condition: Callable[[], object], seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited in vain: {self.events}"
            self.reactor.iterate(0.02)

    def event(self, kind: str, task_id: str = "t") -> tuple[Any, ...]:
        """The next event of a kind for a task."""
        self.until(lambda: any(e[0] == kind and e[2] == task_id for e in self.events))
        found = next(e for e in self.events if e[0] == kind and e[2] == task_id)
        self.events.remove(found)
        return found

    def exit(self, task_id: str = "t") -> Exit:
        end = self.event("exited", task_id)[3]
        assert isinstance(end, Exit)
        return end

    def out(self, task_id: str = "t", file: str = "stdout") -> str:
        return Path(self.launcher.sandbox("f", task_id), file).read_text()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    for path in tmp_path.glob("tasks/*/*/pid.json"):
        with contextlib.suppress(OSError, KeyError):
            claim = json.loads(path.read_text())
            made.until(lambda: shim.process_start(claim["pid"]) != claim["start_ticks"])  # noqa: B023


def task(command: str | list[str], task_id: str = "t", env: dict[str, str] | None = None) -> mesos_pb2.TaskInfo:
    info = mesos_pb2.TaskInfo(name="test", task_id={"value": task_id}, agent_id={"value": "a"})
    if isinstance(command, str):
        info.command.value = command
    else:
        info.command.shell = False
        info.command.value = command[0]
        info.command.arguments.extend(command)
    for name, value in (env or {}).items():
        info.command.environment.variables.add(name=name, value=value)
    return info


def with_fields(info: mesos_pb2.TaskInfo, **fields: Any) -> mesos_pb2.TaskInfo:
    info.MergeFrom(mesos_pb2.TaskInfo(**fields))
    return info


def cpus(
    kind: str,
    set_id: str,
    mask: str,
    *,
    enforcement: str = "affinity",
    cgroup: str = "",
    mems: str = "",
    memory: str = "",
) -> mesos_pb2.Resource:
    resource = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR, scalar={"value": 1})
    resource.cpu.source.type = mesos_pb2.Resource.CpuInfo.Source.Type.Value(kind)
    resource.cpu.source.id = set_id
    labels = {"cpus": mask, "mems": mems, "cgroup": cgroup, "enforcement": enforcement, "memory": memory}
    for key, value in labels.items():
        resource.cpu.source.metadata.labels.add(key=key, value=value)
    return resource


def alive(pid: int) -> bool:
    return shim.process_start(pid) is not None


# Starting and ending.


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        ("exit 0", 0, None),
        ("exit 42", 42, None),
        ("kill -9 $$", None, 9),
        (["/bin/sh", "-c", "exit 3"], 3, None),
        (["/bin/true"], 0, None),
    ],
)
def test_exit(world: World, command: str | list[str], code: int | None, number: int | None) -> None:
    world.launcher.launch("f", task(command), "", [])
    started = world.event("started")
    assert started[1:3] == ("f", "t") and started[5] == shim.boot_id()
    end = world.exit()
    assert (end.code, end.signal, end.lost) == (code, number, False)
    assert world.events == []


def test_output_directory_and_environment(world: World) -> None:
    env = {"A": "1", "PATH": "/bin:/usr/bin", "PINFOLD_CPUS": "0-4095", "PINFOLD_CPUSET_FILE": "/etc/shadow"}
    world.launcher.launch("f", task("pwd; echo err >&2; env; cat; umask; ls -l /proc/self/fd", env=env), "", [])
    assert world.exit().code == 0
    lines = world.out().splitlines()
    sandbox = world.launcher.sandbox("f", "t")
    assert lines[0] == sandbox
    assert world.out(file="stderr") == "err\n"
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    assert seen["A"] == "1" and seen["PATH"] == "/bin:/usr/bin"
    assert (seen["MESOS_SANDBOX"], seen["MESOS_TASK_ID"], seen["MESOS_FRAMEWORK_ID"]) == (sandbox, "t", "f")
    assert seen["PINFOLD_CPUS"] == ",".join(seen["PINFOLD_CPUS"].split(",")) != "0-4095"
    assert seen["PINFOLD_EXCLUSIVE_CPUS"] == "" and "PINFOLD_CPUSET_FILE" not in seen
    assert "0022" in lines
    assert not [line for line in lines if "socket" in line or "pidfd" in line or "pipe" in line], (
        "inherited descriptors"
    )


def test_a_sets_words_override_the_frameworks(world: World) -> None:
    """Field report 51."""
    names = ("PINFOLD_CPUS", "PINFOLD_EXCLUSIVE_CPUS", "PINFOLD_SHARED_CPUS", "PINFOLD_MEMS", "PINFOLD_CPUSET_FILE")
    lies = dict.fromkeys((*names, "MESOS_TASK_ID", "MESOS_SANDBOX"), "0-4095")
    script = "env; cat $PINFOLD_CPUSET_FILE; grep Cpus_allowed_list /proc/self/status"
    world.launcher.launch("f", task(script, env=lies), "", [cpus("EXCLUSIVE", "s", "1", mems="0")])
    assert world.exit().code == 0
    assert "4095" not in world.out()
    seen = dict(line.split("=", 1) for line in world.out().splitlines() if "=" in line)
    assert [seen[n] for n in names[:4]] == ["1", "1", "", "0"]
    assert "Cpus_allowed_list:\t1\n" in world.out()


def test_exclusive_and_shared_by_affinity(world: World) -> None:
    resources = [cpus("EXCLUSIVE", "x", "1"), cpus("SHARED", "s", "0")]
    world.launcher.launch("f", task("env | grep PINFOLD; taskset -pc $$"), "", resources)
    assert world.exit().code == 0
    for line in ("PINFOLD_EXCLUSIVE_CPUS=1", "PINFOLD_SHARED_CPUS=0", "PINFOLD_CPUS=0-1"):
        assert line in world.out().splitlines()


POLICY = """
import ctypes, platform
number = {"x86_64": 239, "aarch64": 236, "riscv64": 236, "ppc64le": 260, "s390x": 269}[platform.machine()]
mode, nodes = ctypes.c_int(), (ctypes.c_ulong * 16)()
assert not ctypes.CDLL(None).syscall(number, ctypes.byref(mode), nodes, ctypes.c_ulong(1025), None, ctypes.c_ulong(0))
print(mode.value, *(64 * i + bit for i, word in enumerate(nodes) for bit in range(64) if word >> bit & 1))
"""
"""Its own memory policy: 0 default, 2 bind, 3 interleave, and the nodes."""


@pytest.mark.parametrize(
    ("policies", "seen"), [(["bind"], "2 0"), (["interleave"], "3 0"), ([""], "0"), (["bind", "interleave"], "3 0")]
)
def test_memory_policy_of_the_command(world: World, policies: list[str], seen: str) -> None:
    """Without cgroups; the command's children have it, too."""
    script = f"{sys.executable} - <<'E'\n{POLICY}E\ngrep -c interleave /proc/self/numa_maps"
    sets = [cpus("EXCLUSIVE", f"x{i}", "1", mems="0", memory=each) for i, each in enumerate(policies)]
    world.launcher.launch("f", task(script), "", sets)
    world.exit()
    policy, maps = world.out().splitlines()
    assert policy == seen
    assert (int(maps) > 0) is seen.startswith("3")


def test_a_memory_policy_that_the_kernel_refuses(world: World) -> None:
    world.launcher.launch("f", task("true"), "", [cpus("EXCLUSIVE", "x", "1", mems="77", memory="bind")])
    assert "cannot bind memory over nodes [77]: EINVAL" in world.event("failed")[3]


def test_signals_are_reset(world: World) -> None:
    world.launcher.launch("f", task("grep -E 'Sig(Blk|Ign)' /proc/self/status"), "", [])
    world.exit()
    # Signals 32 and 33 are glibc's own: its posix_spawn, by which make starts programs, leaves them ignored, and its
    # sigaction lets nobody change them. A program that needs them sets them itself.
    masks = [int(line.split()[1], 16) & ~(0b11 << 31) for line in world.out().splitlines()]
    assert masks == [0, 0]


@pytest.mark.parametrize(
    ("info", "resources", "words"),
    [
        (task(["/no/such/program"]), [], "cannot execute '/no/such/program': ENOENT"),
        (task(["no-such-program-anywhere"]), [], "ENOENT"),
        (task(["/etc"]), [], "EACCES"),
        (mesos_pb2.TaskInfo(name="n", task_id={"value": "t"}, agent_id={"value": "a"}), [], "no command"),
        (task("true"), [cpus("EXCLUSIVE", "x", "4000")], "cannot set the affinity to CPUs [4000]: EINVAL"),
        (task("true"), [cpus("EXCLUSIVE", "x", "")], "set x has no CPUs"),
        (task("true"), [cpus("RAW", "x", "1")], "type RAW"),
        (task("true"), [cpus("SHARED", "x", "1", enforcement="cgroup1")], "no cgroup"),
        (
            task("true"),
            [cpus("SHARED", "x", "1", enforcement="cgroup1", cgroup="/none")],
            "cannot join the cgroup /none",
        ),
        (
            task("true"),
            [
                cpus("EXCLUSIVE", "x", "1", enforcement="cgroup1", cgroup="/x"),
                cpus("SHARED", "s", "0", enforcement="cgroup1", cgroup="/s"),
            ],
            "no cgroup for the CPUs of all these sets together: shared set s, exclusive set x",
        ),
        (task("true", env={"A=B": "1"}), [], "cannot name a variable"),
        (task("true\0"), [], "NUL"),
        (with_fields(task("true"), command={"uris": [{"value": "http://x/y"}]}), [], "no fetcher; 'http://x/y'"),
        (with_fields(task("true"), container={"type": 1, "docker": {"image": "i"}}), [], "docker is not supported"),
        (with_fields(task("true"), container={"type": 2, "mesos": {"image": {"type": 2}}}), [], "images are not"),
    ],
)
def test_failure_to_start(
    world: World, info: mesos_pb2.TaskInfo, resources: list[mesos_pb2.Resource], words: str
) -> None:
    world.launcher.launch("f", info, "", resources)
    assert words in world.event("failed")[3]
    assert world.events == []


def test_mismatch_names_both_values(world: World, tmp_path: Path) -> None:
    """A cgroup that takes the process and does not hold it: here a plain directory."""
    (tmp_path / "group").mkdir()
    (tmp_path / "group/cgroup.procs").write_text("")
    world.launcher.launch(
        "f", task("true"), "", [cpus("EXCLUSIVE", "x", "1", enforcement="cgroup2", cgroup=str(tmp_path / "group"))]
    )
    message = world.event("failed")[3]
    assert "CPUs expected: 1, but the kernel allows this task: 0-1" in message


def test_the_cpus_of_a_task_s_own_leaf_are_those_above_it(tmp_path: Path) -> None:
    leaf = tmp_path / "plain/task.x"
    leaf.mkdir(parents=True)
    assert shim._group_cpus([str(leaf)]) == ""
    (tmp_path / "plain/cpuset.cpus.effective").write_text("0-1\n")
    assert shim._group_cpus([str(leaf)]) == "0-1"


def test_plain_group_that_does_not_hold_its_task(tmp_path: Path) -> None:
    """A directory tree that stands for cgroup v2 and lists fewer CPUs than the kernel really allows."""
    (tmp_path / "cg").mkdir()
    for name, text in (("cgroup.controllers", "cpuset cpu"), ("cgroup.subtree_control", "cpuset cpu")):
        (tmp_path / "cg" / name).write_text(text)
    (tmp_path / "cg/pinfold/plain").mkdir(parents=True)
    (tmp_path / "cg/pinfold/cgroup.subtree_control").write_text("cpuset cpu")
    (tmp_path / "cg/pinfold/plain/cgroup.procs").write_text("")
    (tmp_path / "cg/pinfold/plain/cpuset.cpus.effective").write_text("1")
    world = World(tmp_path / "work", str(tmp_path / "cg"))
    world.launcher.launch("f", task("true"), "", [])
    assert "pinfold/plain: 1, but the kernel allows this task: 0-1" in world.event("failed")[3]


def test_users(world: World) -> None:
    world.launcher.launch("f", task("true", "a"), "no-such-user-here", [])
    assert "user 'no-such-user-here' is unknown" in world.event("failed", "a")[3]
    if os.geteuid() != 0:
        pytest.skip("switching users needs root")
    world.work_dir.chmod(0o700)
    world.launcher.launch("f", task("true", "c"), "nobody", [])
    assert "cannot enter the sandbox" in world.event("failed", "c")[3]
    for directory in (world.work_dir, *world.work_dir.parents):
        if directory.stat().st_uid == 0 and directory != Path("/tmp") and len(directory.parts) > 2:
            directory.chmod(0o755)
    me = pwd.getpwnam("nobody")
    script = "id -u; echo $HOME $USER; touch mine; rm -f pid.json spec.json; echo x > exit.json; cat spec.json"
    world.launcher.launch("f", task(script, "b"), "nobody", [])
    end = world.exit("b")
    assert not end.lost
    assert world.out("b").splitlines()[:2] == [str(me.pw_uid), f"{me.pw_dir} nobody"]
    sandbox = Path(world.launcher.sandbox("f", "b"))
    assert (sandbox / "mine").stat().st_uid == me.pw_uid
    assert (sandbox / "pid.json").exists() and "environment" not in world.out("b"), "the task cannot touch our files"


def test_hostile_ids(world: World) -> None:
    ids = ["../x", "/", "..", ".", "", "a/b", "x" * 5000, "x" * 4999 + "y", "a\nb", "ü", "a%2Fb", ".hidden"]
    paths = {task_path(str(world.work_dir), "f", i) for i in ids}
    assert len(paths) == len(ids)
    for path in paths:
        assert Path(path).parent == world.work_dir / "tasks/f"
        assert len(os.fsencode(Path(path).name)) <= 255 and not Path(path).name.startswith(".")
    for task_id in ids:
        world.launcher.launch("f", task("exit 5", task_id or " "), "", [])
        assert world.exit(task_id or " ").code == 5


def test_launched_twice_runs_once_and_the_id_can_be_used_again(world: World) -> None:
    info = task("echo run; sleep 0.3")
    world.launcher.launch("f", info, "", [])
    world.launcher.launch("f", info, "", [])
    world.event("started")
    world.launcher.launch("f", info, "", [])
    assert world.exit().code == 0
    assert world.out() == "run\n"
    assert world.events == []
    world.launcher.launch("f", task("echo another; exit 1"), "", [])
    assert world.exit().code == 1
    assert world.out() == "another\n"
    assert Path(world.launcher.sandbox("f", "t") + "~1", "stdout").read_text() == "run\n"


def test_no_zombies_and_no_children(world: World) -> None:
    for number in range(5):
        world.launcher.launch("f", task("exit 0", f"t{number}"), "", [])
    for number in range(5):
        world.exit(f"t{number}")
    world.until(lambda: not world.launcher._starters)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert not [c for c in children if "agent_api" in Path("/proc", c, "cmdline").read_text()]


def test_many_at_once(world: World) -> None:
    for number in range(30):
        world.launcher.launch("f", task(f"exit {number}", f"t{number}"), "", [])
    assert [world.exit(f"t{number}").code for number in range(30)] == list(range(30))


# Killing.


def test_kill_with_grace(world: World) -> None:
    world.launcher.launch("f", task("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done"), "", [])
    world.event("started")
    world.until(lambda: "up" in world.out())
    world.launcher.kill("f", "t", 10)
    assert world.exit().code == 7
    assert "bye" in world.out()


def test_kill_of_one_that_ignores_it(world: World) -> None:
    world.launcher.launch("f", task("trap '' TERM; echo up; while :; do sleep 0.05; done"), "", [])
    world.event("started")
    world.until(lambda: "up" in world.out())
    asked = time.monotonic()
    world.launcher.kill("f", "t", 0.5)
    world.launcher.kill("f", "t", 0.0)
    assert world.exit().signal == 9
    assert 0.4 < time.monotonic() - asked < 8


def test_kill_reaches_what_left_the_group(world: World) -> None:
    """A daemon: own session, empty environment, orphaned on purpose."""
    daemon = "env -i setsid /bin/sh -c 'trap \"\" TERM; echo $$ > daemon; while :; do sleep 0.1; done' &"
    world.launcher.launch("f", task(f"{daemon} exec sleep 60"), "", [])
    world.event("started")
    file = Path(world.launcher.sandbox("f", "t"), "daemon")
    world.until(lambda: file.exists() and file.read_text().strip())
    pid = int(file.read_text())
    world.launcher.kill("f", "t", 0.3)
    assert world.exit().signal == 15
    assert not alive(pid)


def test_the_end_of_the_command_is_the_end_of_the_task(world: World) -> None:
    world.launcher.launch("f", task("setsid sleep 60 & echo $! > daemon; exit 4"), "", [])
    assert world.exit().code == 4
    assert not alive(int(Path(world.launcher.sandbox("f", "t"), "daemon").read_text()))


def test_kill_before_the_start_is_heard(world: World) -> None:
    world.launcher.launch("f", task("sleep 60"), "", [])
    world.launcher.kill("f", "t", 5)
    assert world.exit().signal == 15


def test_kill_when_the_shim_is_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_api.launcher._KILL_MARGIN_SECONDS", 0.3)
    world.launcher.launch("f", task("echo $$; exec sleep 60"), "", [])
    pid = world.event("started")[3]
    world.until(lambda: world.out().strip())
    os.kill(pid, signal.SIGSTOP)
    world.launcher.kill("f", "t", 0.1)
    assert world.exit().lost
    assert not alive(int(world.out()))


def test_shim_killed_is_lost_and_its_command_goes(world: World) -> None:
    world.launcher.launch("f", task("echo $$; exec sleep 60"), "", [])
    pid = world.event("started")[3]
    world.until(lambda: world.out().strip())
    os.kill(pid, signal.SIGKILL)
    assert world.exit().lost
    assert not alive(int(world.out()))


# The agent goes, the task stays.

CHILD = """
    import sys, json
    from pathlib import Path
    sys.path.insert(0, {root!r})
    from twisted.internet import selectreactor
    from agent_api.launcher import Launcher
    from agent_api.wire import mesos_pb2
    reactor = selectreactor.SelectReactor()
    def started(f, t, pid, ticks, boot, note):
        print(json.dumps([pid, ticks, boot]), flush=True)
    launcher = Launcher({work!r}, "none", "x", reactor, started, print, print)
    info = mesos_pb2.TaskInfo(name="n", task_id={{"value": "t"}}, agent_id={{"value": "a"}})
    info.command.value = {command!r}
    launcher.launch("f", info, "", [])
    {then}
    reactor.run()
"""


def start_agent(world: World, command: str, then: str = "") -> tuple[subprocess.Popen[str], tuple[Any, ...]]:
    """Another process launches the task. What it knew once it was started."""
    code = textwrap.dedent(CHILD).format(root=str(ROOT), work=str(world.work_dir), command=command, then=then)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    return child, tuple(json.loads(child.stdout.readline() or "[]"))


def stop_agent(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()
    assert child.stdout is not None
    child.stdout.close()


def first_agent(world: World, command: str, then: str = "") -> tuple[Any, ...]:
    """As above, and it is killed -9 at once."""
    child, known = start_agent(world, command, then)
    stop_agent(child)
    return known


def test_agent_killed_task_runs_on_and_is_found(world: World) -> None:
    pid, ticks, boot = first_agent(world, "echo up; while ! test -e stop; do sleep 0.05; done; exit 6")
    assert alive(pid)
    world.launcher.recover("f", "t", pid, ticks, boot)
    world.until(lambda: world.launcher._tasks["f", "t"].watch)
    assert world.events == [], "the start was known"
    Path(world.launcher.sandbox("f", "t"), "stop").touch()
    assert world.exit().code == 6


def test_agent_killed_before_it_could_write_the_pid_down(world: World) -> None:
    pid, ticks, boot = first_agent(world, "sleep 1; exit 6")
    world.launcher.recover("f", "t", None, None, None)
    assert world.event("started") == ("started", "f", "t", pid, ticks, boot, "")
    assert world.exit().code == 6


def test_task_ended_while_there_was_no_agent(world: World) -> None:
    known = first_agent(world, "exit 9")
    world.until(lambda: Path(world.launcher.sandbox("f", "t"), "exit.json").exists())
    world.launcher.recover("f", "t", *known)
    assert world.exit().code == 9
    assert world.events == []


def test_agent_killed_right_after_spawning(world: World) -> None:
    first_agent(world, "echo run; exit 8", then="import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    world.launcher.recover("f", "t", None, None, None)
    world.event("started")
    assert world.exit().code == 8
    assert world.out() == "run\n"


def test_kill_goes_on_without_the_agent(world: World) -> None:
    """The agent is killed -9 during the grace period: the shim needs nobody."""
    command = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    kill = "reactor.callLater(0.3, launcher.kill, 'f', 't', 1.0)"
    child, known = start_agent(world, command, kill)
    path = Path(world.launcher.sandbox("f", "t"))
    world.until(lambda: (path / "kill.json").exists())
    time.sleep(0.2)
    stop_agent(child)
    assert alive(known[0])
    world.until(lambda: (path / "exit.json").exists())
    world.launcher.recover("f", "t", *known)
    assert world.exit().signal == 9


def test_kill_that_was_only_written_is_completed(world: World) -> None:
    known = first_agent(world, "trap '' TERM; echo up; while :; do sleep 0.05; done")
    (Path(world.launcher.sandbox("f", "t")) / "kill.json").write_text('{"grace_seconds": 0.3}')
    world.launcher.recover("f", "t", *known)
    assert world.exit().signal == 9


@pytest.mark.parametrize("shim_dies", [False, True])
def test_the_work_directory_is_moved_while_a_task_runs(tmp_path: Path, shim_dies: bool) -> None:
    before = World(tmp_path / "before")
    before.launcher.launch("f", task("echo $$; while ! test -e stop; do sleep 0.05; done; exit 6"), "", [])
    known = before.event("started")[3:6]
    before.until(lambda: before.out())
    pid = int(before.out())
    (tmp_path / "before").rename(tmp_path / "after")
    after = World(tmp_path / "after")
    after.launcher.recover("f", "t", *known)
    if shim_dies:
        os.kill(known[0], signal.SIGKILL)
        assert after.exit().lost
        after.until(lambda: not alive(pid))
    else:
        Path(after.launcher.sandbox("f", "t"), "stop").touch()
        assert after.exit().code == 6
    assert not (tmp_path / "before").exists()


def test_recover_nothing(world: World) -> None:
    world.launcher.recover("f", "t", None, None, None)
    assert "before the task was started" in world.event("failed")[3]


def test_recover_after_reboot_or_with_another_process_under_the_pid(world: World) -> None:
    path = Path(world.launcher.sandbox("f", "t"))
    path.mkdir(parents=True)
    for boot, ticks in (("0000-another-boot", 1), (shim.boot_id(), 1)):
        mine = {"pid": os.getpid(), "start_ticks": ticks, "boot_id": boot}
        (path / "pid.json").write_text(json.dumps(mine))
        world.launcher.recover("f", "t", os.getpid(), ticks, boot)
        end = world.exit()
        assert end.lost
        assert ("host was restarted" in end.message) is (boot != shim.boot_id())


@pytest.mark.parametrize("pid", ["x", [1], {"a": 1}, None, 1.5, True])
def test_recover_where_the_task_wrote_nonsense_for_its_process(world: World, pid: object) -> None:
    path = Path(world.launcher.sandbox("f", "t"))
    path.mkdir(parents=True)
    (path / "pid.json").write_text(json.dumps({"pid": pid, "start_ticks": pid, "boot_id": shim.boot_id()}))
    world.launcher.recover("f", "t", None, None, None)
    assert world.exit().lost
    (path / "pid.json").unlink()  # nothing for the fixture to end


def test_recover_one_whose_shim_never_began_starts_it(world: World) -> None:
    world.launcher.launch("f", task("exit 3"), "", [])
    world.exit()
    path = Path(world.launcher.sandbox("f", "t"))
    for name in ("pid.json", "started.json", "exit.json"):
        (path / name).unlink()
    world.launcher.recover("f", "t", None, None, None)
    assert world.exit().code == 3
    for name in ("pid.json", "started.json", "exit.json"):
        (path / name).unlink()
    (path / "kill.json").write_text("{}")
    world.events.clear()
    world.launcher.recover("f", "t", None, None, None)
    assert "killed before" in world.event("failed")[3]


def test_damaged_or_foreign_files_are_not_believed(world: World) -> None:
    path = Path(world.launcher.sandbox("f", "t"))
    path.mkdir(parents=True)
    for text in ("", "{", "[]", "null"):
        (path / "exit.json").write_text(text)
        world.launcher.recover("f", "t", 2**22 + 5, 1, shim.boot_id())
        assert world.exit().lost
    (path / "exit.json").unlink()
    (path / "exit.json").symlink_to("/etc/hostname")
    assert shim.trusted_json(path / "exit.json") is None


def test_two_shims_for_one_task(world: World) -> None:
    world.launcher.launch("f", task("echo run; sleep 0.5"), "", [])
    world.event("started")
    again = subprocess.run([sys.executable, "-m", "agent_api.shim", world.launcher.sandbox("f", "t")], cwd=ROOT)
    assert again.returncode == 0, "the first process of a shim only detaches"
    assert world.exit().code == 0
    assert world.out() == "run\n"


def test_resize_is_told_to_the_task(world: World) -> None:
    script = "while ! grep -q PINFOLD_CPUS=0-1 $PINFOLD_CPUSET_FILE; do sleep 0.05; done; taskset -pc $$"
    world.launcher.launch("f", task(script), "", [cpus("EXCLUSIVE", "x", "1")])
    world.event("started")
    world.launcher.update_cpus("f", "t", [cpus("EXCLUSIVE", "x", "0-1")])
    assert world.exit().code == 0
    assert world.out().strip().endswith("0,1")


# On this machine's own cgroup v1.


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[World, V1Enforcer]]:
    if not REAL_V1.exists() or not os.access(REAL_V1.parent, os.W_OK) or os.geteuid() != 0:
        pytest.skip("no writable cgroup v1 cpuset here")
    name = f"pinfold-test-{os.getpid()}-l{next(_numbers)}"
    enforcer = detect("auto", name)
    assert isinstance(enforcer, V1Enforcer)
    try:
        yield World(tmp_path, "auto", name), enforcer
    finally:
        enforcer.remove_all()


SHOW = "grep Cpus_allowed_list /proc/self/status; grep -E ':(cpuset|cpu):' /proc/self/cgroup; env | grep ^PINFOLD_CPUS="


def test_real_plain_task_without_a_provider(real: tuple[World, V1Enforcer]) -> None:
    world, enforcer = real
    world.launcher.launch("f", task(SHOW), "", [])
    assert world.exit().code == 0
    assert f":cpuset:/{enforcer.name}/plain\n" in world.out()
    assert f":cpu:/{enforcer.name}/plain\n" in world.out()
    online = REAL_V1.read_text().strip()
    assert f"PINFOLD_CPUS={online}\n" in world.out()
    enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    world.launcher.launch("f", task(SHOW, "u"), "", [])
    assert world.exit("u").code == 0
    assert "Cpus_allowed_list:\t0\n" in world.out("u")


def test_real_set_task(real: tuple[World, V1Enforcer]) -> None:
    world, enforcer = real
    enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    resource = cpus(
        "EXCLUSIVE", "a", "1", enforcement="cgroup1", cgroup=enforcer.path("a"), mems="0", memory="interleave"
    )
    world.launcher.launch("f", task(SHOW + "; grep -m1 -o interleave /proc/self/numa_maps; sleep 0.3"), "", [resource])
    world.event("started")
    assert len(enforcer.processes("a")) >= 2
    assert world.exit().code == 0
    assert "Cpus_allowed_list:\t1\n" in world.out()
    assert "interleave\n" in world.out(), "cpuset.mems alone keeps pages inside the nodes and does not spread them"
    assert f":cpuset:/{enforcer.name}/set.a\n" in world.out()
    assert f":cpu:/{enforcer.name}/set.a\n" in world.out()
    wrong = cpus("EXCLUSIVE", "a", "0-1", enforcement="cgroup1", cgroup=enforcer.path("a"))
    world.launcher.launch("f", task("true", "w"), "", [wrong])
    assert "CPUs expected: 0-1, but the kernel allows this task: 1" in world.event("failed", "w")[3]
    for name, known in (("s", "0-1"), ("g", "0")):
        moved = cpus("SHARED", "a", known, enforcement="cgroup1", cgroup=enforcer.path("a"))
        world.launcher.launch("f", task("true", name), "", [moved])
        assert world.exit(name).code == 0, "a shared set may have shrunk or grown since"
    assert enforcer.processes("a") == []


def test_real_task_in_an_exclusive_and_a_shared_set(real: tuple[World, V1Enforcer]) -> None:
    world, enforcer = real
    both = {"exclusive": {"x": Slot(2)}, "shared": {"s": SharedSlot(1)}}
    exclusive = cpus("EXCLUSIVE", "x", "1", enforcement="cgroup1", cgroup=enforcer.path("x"), mems="0")
    shared = cpus("SHARED", "s", "0", enforcement="cgroup1", cgroup=enforcer.path("s", shared=True), mems="0")
    enforcer.apply(Desired(plain=1, **both))
    world.launcher.launch("f", task("true", "none"), "", [exclusive, shared])
    assert "made no cgroup for the CPUs of all these sets together" in world.event("failed", "none")[3]
    enforcer.apply(Desired(plain=1, **both, mixed=[("s", "x")]))
    script = "env | grep PINFOLD; " + SHOW + "; while ! test -e stop; do sleep 0.05; done; cat $PINFOLD_CPUSET_FILE"
    world.launcher.launch("f", task(script), "", [shared, exclusive])
    pid = world.event("started")[3]
    world.until(lambda: f":cpu:/{enforcer.name}/mix.s+x\n" in world.out())
    for line in ("PINFOLD_EXCLUSIVE_CPUS=1", "PINFOLD_SHARED_CPUS=0", "PINFOLD_CPUS=0-1", "Cpus_allowed_list:\t0-1"):
        assert line in world.out().splitlines()
    assert f":cpuset:/{enforcer.name}/mix.s+x\n" in world.out()
    assert pid in enforcer.processes("x") and pid in enforcer.processes("s", shared=True)
    assert enforcer.mixed() == {"mix.s+x": True} and not enforcer.drop("mix.s+x")
    # The shared set goes on to the exclusive set's CPU, as that lost it: a resize, seen from the kernel.
    enforcer.apply(Desired(plain=2, shared={"s": SharedSlot(2)}, exclusive={"y": Slot(1)}, kept={"x": 0}))
    assert "Cpus_allowed_list:\t1\n" in Path(f"/proc/{pid}/status").read_text()
    shared.cpu.source.metadata.labels[0].value = "1"
    world.launcher.update_cpus("f", "t", [shared, exclusive])
    Path(world.launcher.sandbox("f", "t"), "stop").touch()
    assert world.exit().code == 0
    assert world.out().endswith("PINFOLD_EXCLUSIVE_CPUS=1\nPINFOLD_SHARED_CPUS=1\nPINFOLD_CPUS=1\nPINFOLD_MEMS=0\n")
    world.until(lambda: enforcer.mixed() == {"mix.s+x": False})
    assert enforcer.drop("mix.s+x") and not enforcer.mixed()


def test_a_task_in_more_sets_than_a_name_can_hold(world: World) -> None:
    names = [f"{number}0000000-0000-4000-8000-000000000000" for number in range(7)]
    sets = [cpus("EXCLUSIVE", name, "1", enforcement="cgroup2", cgroup=f"/cg/pinfold/set.{name}") for name in names]
    world.launcher.launch("f", task("true"), "", sets)
    why = world.event("failed")[3]
    assert "it uses 7 CPU sets at once, which are too many" in why and "262 bytes, and the kernel takes 255" in why
    world.launcher.launch("f", task("true", "six"), "", sets[:6])
    assert "made no cgroup for the CPUs of all these sets together" in world.event("failed", "six")[3]


# Agent and provider mean the same directory.


@pytest.mark.parametrize("root", ["auto", "none", "/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"])
def test_agent_and_provider_agree_on_the_place(root: str) -> None:
    if root.startswith("/") and not REAL_V1.exists():
        pytest.skip("no cgroup v1 here")
    provider_side, agent_side = detect(root, "n"), cgroup_paths.find(root, "n")
    assert provider_side.kind == agent_side.kind
    if agent_side.kind != "affinity":
        assert provider_side.plain_path() == f"{agent_side.base}/plain"
    if isinstance(provider_side, V1Enforcer):
        assert provider_side.cpu_root == agent_side.cpu_root


@pytest.mark.parametrize("kind", ["v1", "v2"])
def test_agree_in_a_tree_and_make_plain(tmp_path: Path, kind: str) -> None:
    if kind == "v2":
        (tmp_path / "cgroup.controllers").write_text("cpuset cpu")
        (tmp_path / "cpuset.cpus.effective").write_text("0-3")
        (tmp_path / "cpuset.mems.effective").write_text("0")
    else:
        for name in ("cpuset", "cpu"):
            (tmp_path / name).mkdir()
        (tmp_path / "cpuset/cpuset.cpus").write_text("0-3")
        (tmp_path / "cpuset/cpuset.mems").write_text("0")
    found = cgroup_paths.find(str(tmp_path), "n")
    directories = found.make_plain()
    enforcer = detect(str(tmp_path), "n")
    assert directories[0] == enforcer.plain_path()
    assert len(directories) == (1 if kind == "v2" else 2)
    enforcer.apply(Desired(plain=3))
    assert found.make_plain() == directories
    assert Path(directories[0], "cpuset.cpus").read_text() == "0-1", "what the provider narrowed stays narrow"


@pytest.mark.parametrize("kind", ["v1", "v2"])
def test_plain_made_by_the_agent_leaves_out_isolated_cpus_and_exclusive_sets(tmp_path: Path, kind: str) -> None:
    """While there is no provider: none was there yet, or it died."""
    sysfs = tmp_path / "host"
    (sysfs / "sys/devices/system/cpu").mkdir(parents=True)
    isolated = sysfs / "sys/devices/system/cpu/isolated"
    isolated.write_text("6-7\n")
    root = tmp_path / "cg"
    if kind == "v2":
        root.mkdir()
        (root / "cgroup.controllers").write_text("cpuset cpu")
        (root / "cpuset.cpus.effective").write_text("0-7")
        (root / "cpuset.mems.effective").write_text("0")
    else:
        for name in ("cpuset", "cpu"):
            (root / name).mkdir(parents=True)
        (root / "cpuset/cpuset.cpus").write_text("0-7")
        (root / "cpuset/cpuset.mems").write_text("0")
    found = cgroup_paths.find(str(root), "n", sysfs_root=str(sysfs))
    plain = Path(found.make_plain()[0], "cpuset.cpus")
    assert plain.read_text() == "0-5"

    # A provider made a set and died; its list of plain CPUs stays, however narrow.
    enforcer = detect(str(root), "n")
    enforcer.apply(Desired(plain=1, exclusive={"a": Slot(0b110000)}))
    found.make_plain()
    assert plain.read_text() == "0"
    # It was removed, or its CPUs went offline and the kernel emptied it (v1).
    plain.write_text("")
    found.make_plain()
    assert plain.read_text() == "0-3"
    plain.write_text("")
    isolated.write_text("0-7\n")
    found.make_plain()
    assert plain.read_text() == "0-3,6-7", "there are no others"


@pytest.mark.skipif(not REAL_V1.exists(), reason="no cgroup v1 here")
def test_cgroups_without_sets_and_processes_are_removed() -> None:
    name = f"pinfold-unused-{os.getpid()}"
    enforcer, found = detect("auto", name), cgroup_paths.find("auto", name)
    if not isinstance(enforcer, V1Enforcer):
        pytest.skip("no cgroup v1 may be written here")
    bases = [Path(base) for base in (enforcer.base, enforcer.cpu_base) if base]
    everything = enforcer.allowed()[0] or 0
    first = everything & -everything
    if everything == first:
        pytest.skip("one CPU only")
    beside = Desired(exclusive={"a": Slot(first)}, plain=everything ^ first)
    try:
        enforcer.apply(beside)
        found.remove_unused()
        assert enforcer.differences(beside) == ()
        enforcer.apply(Desired(plain=everything))
        with subprocess.Popen(["sleep", "60"]) as process:
            Path(found.make_plain()[0], "cgroup.procs").write_text(str(process.pid))
            found.remove_unused()
            assert Path(enforcer.plain_path()).exists(), "a plain task is in it"
            process.kill()
        found.remove_unused()
        assert not [base for base in bases if base.exists()]
        found.remove_unused()
    finally:
        enforcer.remove_all()
