"""Starts tasks through the shim, watches them, kills them, and finds them again after a restart of the agent.

Decides: what a task's shim is told (where it belongs, its environment), and how a task ended, from the shim's files.
Never does: choose CPUs, change a set, or keep state of its own: everything is in the task's directory, and what the
agent knows of a task is in its store. Task directory: `<work dir>/tasks/<framework id>/<task id>/`, ids encoded; it is
the task's sandbox as well. See `agent_api.shim` for the files in it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twisted.internet.interfaces import IReadDescriptor
from zope.interface import implementer

from agent_api import cgroup_paths, memory, sandboxes, shim, task_dir
from agent_api.core.sandbox import task_path
from agent_api.task_dir import MARK
from agent_api.task_spec import LaunchError, Sets, ids
from agent_api.wire import mesos_pb2

__all__ = ["Exit", "Launcher"]

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
_START_SECONDS = 60.0
"""How long a shim may take from pid.json to started.json before the agent stops asking."""
_KILL_MARGIN_SECONDS = 10.0
"""After the grace period the shim itself kills; this long after that the agent does it over its head."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a task ended. Exactly one of `code` and `signal` is set, or `lost`: nobody can tell."""

    code: int | None = None
    signal: int | None = None
    lost: bool = False
    message: str = ""
    out_of_memory: bool = False
    """The kernel killed of it for its limit."""


@implementer(IReadDescriptor)
class _Reader:
    """A file descriptor in the reactor."""

    def __init__(
        self, fd: int, on_readable: Callable[[], None], name: str, on_hangup: Callable[[], None] = lambda: None
    ) -> None:
        self.fd = fd
        self._on_readable = on_readable
        self._on_hangup = on_hangup
        self._name = name

    def fileno(self) -> int:
        return self.fd

    def doRead(self) -> None:  # noqa: N802 (Twisted's name)
        self._on_readable()

    def connectionLost(self, reason: object) -> None:  # noqa: N802
        """The other end was closed with nothing to read, which the epoll reactor tells in this way; or it stops."""
        self._on_hangup()

    def logPrefix(self) -> str:  # noqa: N802
        return self._name


@dataclass(slots=True)
class _Task:
    """A task that is being started or watched."""

    framework_id: str
    task_id: str
    path: Path
    announced: bool = False
    """Whether the caller knows that it runs."""
    pid: int = 0
    start_ticks: int = 0
    boot_id: str = ""
    starter: subprocess.Popen[bytes] | None = None
    pipe: _Reader | None = None
    heard: bytes = b""
    watch: _Reader | None = None
    backup: Any = None
    """Delayed call: kill over the shim's head."""

    @property
    def key(self) -> tuple[str, str]:
        return self.framework_id, self.task_id

    def __str__(self) -> str:
        return f"task {self.task_id!r} of framework {self.framework_id}"


class Launcher:
    """All tasks of one agent. Callbacks come in the reactor thread, never from within a call of these methods:

    `on_started(framework_id, task_id, pid, start_ticks, boot_id, note)`, pid and the two after it being the shim's,
    `note` what of the task is not as it was asked for;
    `on_exited(framework_id, task_id, exit: Exit)`; `on_failed(framework_id, task_id, message)`: it never ran.
    `cgroup_root` and `cgroup_name` as the provider gets them; `proc_root` is the procfs directory,
    `sysfs_root` the one that has sys/.
    """

    def __init__(
        self,
        work_dir: str,
        cgroup_root: str,
        cgroup_name: str,
        reactor: Any,
        on_started: Callable[[str, str, int, int, str, str], None],
        on_exited: Callable[[str, str, Exit], None],
        on_failed: Callable[[str, str, str], None],
        *,
        proc_root: str = "/proc",
        sysfs_root: str = "/",
    ) -> None:
        self.work_dir = str(Path(work_dir).absolute())
        self.cgroups = cgroup_paths.find(cgroup_root, cgroup_name, proc_root=proc_root, sysfs_root=sysfs_root)
        self._reactor = reactor
        self._on_started, self._on_exited, self._on_failed = on_started, on_exited, on_failed
        self._tasks: dict[tuple[str, str], _Task] = {}
        self._starters: list[subprocess.Popen[bytes]] = []

    def sandbox(self, framework_id: str, task_id: str) -> str:
        """The task's directory: its working directory, with stdout and stderr. Exists once it was launched."""
        return task_path(self.work_dir, framework_id, task_id)

    def launch(
        self,
        framework_id: str,
        task: mesos_pb2.TaskInfo,
        user: str,
        cpu_resources: Iterable[mesos_pb2.Resource],
    ) -> None:
        """Start the task's command; called again while it runs it changes nothing. Answers with `on_started` or
        `on_failed`. `user` "" = as the agent runs. `cpu_resources` as in `effects.LaunchTask`. An id that was used
        before, by a task that has ended, is another run: the old directory is kept as `<directory>~<number>`."""
        key = framework_id, task.task_id.value
        if key in self._tasks:
            log.info("%s: launched again, already known", self._tasks[key])
            return
        entry = self._tasks[key] = _Task(*key, Path(self.sandbox(*key)))
        try:
            sandboxes.set_aside(entry.path)
            if (entry.path / "spec.json").exists():
                log.info("%s: launched again, has a directory from before", entry)
            else:
                task_dir.prepare(entry.path, entry.key, task, user, list(cpu_resources), self.cgroups)
        except LaunchError as exc:
            self._fail(entry, str(exc))
            return
        except OSError as exc:
            self._fail(entry, f"cannot prepare the task's directory: {exc}")
            return
        self._resume(entry)

    def kill(self, framework_id: str, task_id: str, grace_seconds: float) -> None:
        """SIGTERM to the task's processes, SIGKILL after `grace_seconds`. The request is on disk first, so it is
        completed over a restart of the agent; asked twice it does nothing new. Unknown tasks are ignored."""
        entry = self._tasks.get((framework_id, task_id))
        if entry is None:
            log.info("kill of task %r of framework %s: not running", task_id, framework_id)
            return
        request = {"grace_seconds": max(0.0, grace_seconds)}
        try:
            fresh = shim.replace_file(entry.path / "kill.json", json.dumps(request).encode(), once=True)
        except OSError as exc:
            log.error("%s: cannot write the kill request: %s", entry, exc)
            return
        log.info("%s: kill%s, %.1f s grace", entry, "" if fresh else " again", grace_seconds)
        self._pass_kill_on(entry)

    def recover(
        self,
        framework_id: str,
        task_id: str,
        pid: int | None,
        start_ticks: int | None,
        boot_id: str | None,
    ) -> None:
        """After a restart of the agent: watch the task again, or report how it ended meanwhile. pid, start_ticks and
        boot_id are what `on_started` said, None where it was not heard: then it is reported now. A task that was
        decided and whose shim never began is started now; it cannot be started twice."""
        key = framework_id, task_id
        if key in self._tasks:
            return
        entry = self._tasks[key] = _Task(*key, Path(self.sandbox(*key)), announced=pid is not None)
        claim = shim.trusted_json(entry.path / "pid.json")
        if claim is None and pid is None and not (entry.path / "spec.json").exists():
            self._fail(entry, "the agent was restarted before the task was started")
            return
        if claim is None and pid is not None:
            # The files are gone, the agent's own record is not.
            entry.pid, entry.start_ticks, entry.boot_id = pid, start_ticks or 0, boot_id or ""
            self._watch(entry)
            return
        self._resume(entry)

    def update_cpus(self, framework_id: str, task_id: str, cpu_resources: Iterable[mesos_pb2.Resource]) -> None:
        """A set that the task uses was resized: replace the file that PINFOLD_CPUSET_FILE names, atomically; where
        affinity is what enforces, set it on each process of the task. Unknown tasks are ignored."""
        entry = self._tasks.get((framework_id, task_id))
        if entry is None:
            return
        try:
            sets = Sets(list(cpu_resources))
            if not sets.ids:
                return
            if sets.affinity and entry.pid:
                self._move(entry.pid, sets.cpus)
            task_dir.write_cpuset_file(entry.path, sets)  # last: who reads it may use what it says
        except (LaunchError, OSError) as exc:
            log.error("%s: cannot tell the task its new CPUs: %s", entry, exc)

    @staticmethod
    def _move(shim_pid: int, cpus: int) -> None:
        for pid in [shim_pid, *shim.descendants(shim_pid)]:
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                    os.sched_setaffinity(int(thread), ids(cpus))

    # Starting.

    def _resume(self, entry: _Task) -> None:
        """From whatever the directory says: not begun, running, or over."""
        claim = shim.trusted_json(entry.path / "pid.json")
        if claim is None:
            if (entry.path / "kill.json").exists():
                # Nobody may begin it any more.
                if shim.replace_file(entry.path / "pid.json", b'{"pid": 0}', once=True):
                    self._fail(entry, "killed before it was started")
                    return
                self._resume(entry)
                return
            self._spawn(entry)
            return
        # A task with the agent's own user may have written it: what is no number is nobody's process.
        entry.pid, entry.start_ticks = (
            value if type(value := claim.get(key)) is int else 0 for key in ("pid", "start_ticks")
        )
        entry.boot_id = str(claim.get("boot_id") or "")
        self._await_start(entry, _START_SECONDS)

    def _spawn(self, entry: _Task) -> None:
        readable, writable = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(writable, True)
        try:
            # By file, isolated: no environment and no working directory decides which code runs.
            entry.starter = subprocess.Popen(
                [sys.executable, "-I", "-S", shim.__file__, str(entry.path), str(writable)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(writable,),
                start_new_session=True,
                cwd="/",
            )
        except OSError as exc:
            os.close(readable)
            self._fail(entry, f"cannot start the task's shim: {exc}")
            return
        finally:
            os.close(writable)
        hear = functools.partial(self._hear, entry)
        entry.pipe = _Reader(readable, hear, f"shim of {entry}", on_hangup=hear)
        self._reactor.addReader(entry.pipe)

    def _hear(self, entry: _Task) -> None:
        assert entry.pipe is not None
        try:
            while part := os.read(entry.pipe.fd, 65536):
                entry.heard += part
        except BlockingIOError:
            return
        self._reactor.removeReader(entry.pipe)
        os.close(entry.pipe.fd)
        entry.pipe = None
        if entry.starter is not None:
            self._reap(entry.starter)
            entry.starter = None
        try:
            message = json.loads(entry.heard or b"{}")
        except ValueError:
            message = {}
        if "failed" in message:
            self._fail(entry, str(message["failed"]))
        elif shim.trusted_json(entry.path / "pid.json") is None:
            self._fail(entry, "the task's shim ended before it began")
        else:
            self._resume(entry)

    def _reap(self, starter: subprocess.Popen[bytes]) -> None:
        """The first process of a shim ends as soon as it has detached; it must not stay a zombie."""
        self._starters = [one for one in [*self._starters, starter] if one.poll() is None]
        if self._starters:
            self._reactor.callLater(_POLL_SECONDS, self._reap_later)

    def _reap_later(self) -> None:
        self._starters = [one for one in self._starters if one.poll() is None]
        if self._starters:
            self._reactor.callLater(_POLL_SECONDS, self._reap_later)

    def _await_start(self, entry: _Task, patience: float) -> None:
        """The shim has begun. Until it has started the command, look again shortly; then watch it."""
        if (
            not entry.announced
            and patience > 0
            and not (entry.path / "started.json").exists()
            and not (entry.path / "exit.json").exists()
            and self._alive(entry)
        ):
            self._reactor.callLater(_POLL_SECONDS, self._await_start, entry, patience - _POLL_SECONDS)
            return
        if not entry.announced and (entry.path / "started.json").exists():
            entry.announced = True
            log.info("%s: started, shim %d", entry, entry.pid)
            self._tell_start(entry)
        self._watch(entry)

    # Watching.

    def _alive(self, entry: _Task) -> bool:
        return entry.pid > 0 and entry.boot_id == shim.boot_id() and shim.process_start(entry.pid) == entry.start_ticks

    def _watch(self, entry: _Task) -> None:
        fd = -1
        if entry.pid > 0:
            with contextlib.suppress(OSError):
                fd = os.pidfd_open(entry.pid)
        # Looked at after the pidfd was had: the pid may be another process's by now.
        if fd < 0 or not self._alive(entry):
            if fd >= 0:
                os.close(fd)
            self._ended(entry)
            return
        entry.watch = _Reader(fd, lambda: self._ended(entry), f"watch of {entry}")
        self._reactor.addReader(entry.watch)
        log.debug("%s: watching shim %d", entry, entry.pid)
        if (entry.path / "kill.json").exists():
            self._pass_kill_on(entry)

    def _ended(self, entry: _Task) -> None:
        """The shim is gone: what did it write?"""
        if entry.watch is not None:
            self._reactor.removeReader(entry.watch)
            os.close(entry.watch.fd)
            entry.watch = None
        result = shim.trusted_json(entry.path / "exit.json")
        kills = memory.oom_kills(leaf) if (leaf := self._memory_cgroup(entry)) else 0
        killed = f"Memory limit exceeded: the kernel killed {kills} of the task's processes" if kills else ""
        if result is None:
            rebooted = entry.boot_id not in ("", shim.boot_id())
            if not rebooted:
                self._kill_remains(entry)
            why = "the host was restarted" if rebooted else "its shim ended without a word"
            message = killed or f"The task's end was not seen: {why}"
            self._finish(entry, Exit(lost=True, message=message, out_of_memory=bool(kills)))
        elif result.get("failed") is not None:
            self._fail(entry, str(result["failed"]))
        else:
            code, number = result.get("code"), result.get("signal")
            failed = bool(kills) and code != 0
            self._finish(entry, Exit(code, number, message=killed if failed else "", out_of_memory=failed))

    def _spec(self, entry: _Task) -> dict[str, Any]:
        return shim.trusted_json(entry.path / "spec.json") or {}

    def _memory_cgroup(self, entry: _Task) -> str:
        return str(self._spec(entry).get("memory_cgroup") or "")

    def _remove_later(self, leaf: str, tries: int = 20) -> None:
        """The last process may not be quite gone yet."""
        if not memory.remove(leaf) and tries:
            self._reactor.callLater(_POLL_SECONDS, self._remove_later, leaf, tries - 1)

    def _finish(self, entry: _Task, end: Exit) -> None:
        self._forget(entry)
        log.info("%s: ended, code %s, signal %s%s", entry, end.code, end.signal, ", lost" if end.lost else "")
        if not entry.announced and not end.lost and entry.pid:
            # It ran and ended while nobody listened: first things first.
            self._tell_start(entry)
        self._later(self._on_exited, *entry.key, end)

    def _tell_start(self, entry: _Task) -> None:
        note = str(self._spec(entry).get("note") or "")
        self._later(self._on_started, *entry.key, entry.pid, entry.start_ticks, entry.boot_id, note)

    def _fail(self, entry: _Task, message: str) -> None:
        self._forget(entry)
        log.warning("%s: failed to start: %s", entry, message)
        if entry.announced:
            self._later(self._on_exited, *entry.key, Exit(lost=True, message=message))
        else:
            self._later(self._on_failed, *entry.key, message)

    def _forget(self, entry: _Task) -> None:
        self._tasks.pop(entry.key, None)
        if entry.backup is not None and entry.backup.active():
            entry.backup.cancel()
        if leaf := self._memory_cgroup(entry):
            self._remove_later(leaf)

    def _later(self, callback: Callable[..., None], *arguments: Any) -> None:
        self._reactor.callLater(0, callback, *arguments)

    # Killing.

    def _pass_kill_on(self, entry: _Task) -> None:
        """Tell the shim that there is a kill.json. One that has not begun reads it when it has."""
        if entry.watch is None:
            return
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(entry.watch.fd, signal.SIGTERM)
        if entry.backup is None:
            request = shim.trusted_json(entry.path / "kill.json") or {}
            grace = float(request.get("grace_seconds", 0.0))
            entry.backup = self._reactor.callLater(grace + _KILL_MARGIN_SECONDS, self._kill_hard, entry)

    def _kill_hard(self, entry: _Task) -> None:
        """The shim did not do it (stopped, or stuck): everything of the task goes, the shim last."""
        if entry.watch is None:
            return
        log.error("%s: its shim %d did not carry the kill out; killing all of it", entry, entry.pid)
        for pid in shim.descendants(entry.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(entry.watch.fd, signal.SIGKILL)

    def _kill_remains(self, entry: _Task) -> None:
        """A shim that was killed leaves the command running; the task is over, so its processes must not stay."""
        # By the place where it was started: the agent's directory may have been moved since.
        mark = f"{MARK}={self._spec(entry).get('own_environment', {}).get(MARK, entry.path)}".encode()
        for _ in range(5):
            found = []
            for name in os.listdir("/proc"):  # noqa: PTH208
                if name.isdigit() and int(name) != os.getpid():
                    with contextlib.suppress(OSError):
                        if mark in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                            found.append(int(name))
            for pid in found:
                log.warning("%s: killing process %d, left by its shim", entry, pid)
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not found:
                return
