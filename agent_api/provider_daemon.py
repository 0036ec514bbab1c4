"""Runs one provider process for each config: starts, adopts, restarts with backoff, stops, and checks configs.

Decides when a process is started again and when it is killed, and sees to it that the CPUs of a removed provider are
given back: `pinfold provider --release` does that once its process is gone, as often as it takes. It never looks into a
config (`pinfold provider --check` does) and never imports the provider: it is another program. A provider outlives an
agent that was killed; the next agent finds it by its pid file, or by its command line where the agent died before it
wrote one.
"""

# mypy: allow-untyped-calls
# (most of twisted.web has no types)

from __future__ import annotations

import json
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from twisted.internet.defer import Deferred, DeferredLock, gatherResults, inlineCallbacks, succeed
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import IReadDescriptor
from twisted.python.failure import Failure
from zope.interface import implementer

from agent_api import shim
from agent_api.wire import codec, mesos_pb2

__all__ = ["CheckResult", "ProviderDaemons", "directory_name"]

log = logging.getLogger(__name__)

BACKOFF_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Before the first, second, … start after an end; the last one holds on."""

STEADY_SECONDS = 60.0
"""Whoever ran this long starts with the shortest backoff again."""

STOP_SECONDS = 10.0
"""From SIGTERM to SIGKILL."""

CHECK_SECONDS = 60.0
"""How long `--check` may take."""

RELEASED = "released"
"""File in a removed provider's directory: nothing of it is left in the kernel."""

RELEASE_SECONDS = 60.0
"""How long `--release` may take, and how long until it is asked again where sets are still in use."""

LOG_BYTES = 16 * 1024 * 1024
"""A provider's log is moved to `log.1` at its next start once it is larger."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What `pinfold provider --check` said. `error` is None where the config can be used."""

    error: str | None
    status: int
    """The HTTP status that goes with the error: 400 (wrong by itself), 409 (not on this host as it stands), 500."""
    floor_cpus: int


def directory_name(type_: str, name: str) -> str:
    """The directory of a config below `providers/`; never leaves it, whatever type and name hold."""
    # A dot in the name is encoded, so that the last one in the result divides type and name.
    encoded = f"{quote(type_, safe='')}.{quote(name, safe='').replace('.', '%2E')}"
    return f"%2E{encoded[1:]}" if encoded.startswith(".") else encoded


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one run of the provider program went."""

    code: int | None
    """None: it could not be started, or took too long."""
    output: bytes
    problem: str
    """The sentence for a person, where the output is not what was expected."""


@dataclass(frozen=True, slots=True)
class _Process:
    """A process told apart from a later one with the same pid."""

    pid: int
    start_ticks: int
    boot_id: str
    argv: tuple[str, ...]


@implementer(IReadDescriptor)
class _Watch:
    """Calls `ended` in the reactor once a process has ended. Works for processes that are not our children, too."""

    def __init__(self, reactor: Any, pid: int, ended: Callable[[], None]) -> None:
        self._reactor = reactor
        self._ended = ended
        self.fd = os.pidfd_open(pid)
        reactor.addReader(self)

    def fileno(self) -> int:
        return self.fd

    def logPrefix(self) -> str:  # noqa: N802 (Twisted's name)
        return "provider process"

    def doRead(self) -> None:  # noqa: N802
        self.close()
        self._ended()

    def connectionLost(self, reason: Failure = Failure(ConnectionDone())) -> None:  # noqa: N802, B008
        self.close()

    def signal(self, number: int) -> None:
        """Signal the very process, not one that has its pid by now."""
        if self.fd >= 0 and not select.select([self.fd], [], [], 0)[0]:
            signal.pidfd_send_signal(self.fd, number)

    def close(self) -> None:
        if self.fd >= 0:
            self._reactor.removeReader(self)
            os.close(self.fd)
            self.fd = -1


class _Daemon:
    """One config's process."""

    def __init__(
        self, owner: ProviderDaemons, info: mesos_pb2.ResourceProviderInfo, directory: Path, config: bytes
    ) -> None:
        self.owner = owner
        self.label = f"{info.type} {info.name}"
        self.directory = directory
        self.config = config
        self.watch: _Watch | None = None
        self.child: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.failures = 0
        self.timer: Any = None
        self.kill_timer: Any = None
        self.stopped: list[Deferred[None]] = []
        self.stopping = False

    @property
    def argv(self) -> tuple[str, ...]:
        return (
            *self.owner.command,
            *self.owner.agent_arguments,
            *("--config", str(self.directory / "config.json")),
            *("--work-dir", str(self.directory)),
            *self.owner.host_arguments,
        )

    @inlineCallbacks
    def begin(self) -> Any:
        """Adopt the process that runs with this very config, or end it and start anew."""
        running = self._find()
        if running is not None and self._watch(running.pid):
            if running.argv == self.argv and _read(self.directory / "config.json") == self.config:
                log.info("provider %s: adopted the running process %d", self.label, running.pid)
                self.started_at = self.owner.reactor.seconds()
                self._write_pid(running)
                return
            log.info("provider %s: process %d runs with another configuration; ending it", self.label, running.pid)
            yield self._end()
        if self.stopping:
            return
        self._spawn()

    @inlineCallbacks
    def end_left_over(self) -> Any:
        """End the process that an earlier agent left in the directory of a config that is no more."""
        self.stopping = True
        running = self._find()
        if running is not None and self._watch(running.pid):
            log.info("provider %s: process %d runs without a configuration; ending it", self.label, running.pid)
            yield self._end()

    def stop(self) -> Deferred[None]:
        """SIGTERM, SIGKILL after a while; fires once the process has ended."""
        self.stopping = True
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        return self._end()

    def _end(self) -> Deferred[None]:
        if self.watch is None:
            return succeed(None)
        waiting: Deferred[None] = Deferred()
        self.stopped.append(waiting)
        self.watch.signal(signal.SIGTERM)
        if self.kill_timer is None:
            self.kill_timer = self.owner.reactor.callLater(STOP_SECONDS, self._kill)
        return waiting

    def _kill(self) -> None:
        self.kill_timer = None
        if self.watch is not None:
            log.warning("provider %s did not end within %g s of SIGTERM; killing it", self.label, STOP_SECONDS)
            self.watch.signal(signal.SIGKILL)

    def _spawn(self) -> None:
        self.timer = None
        log_path = self.directory / "log"
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.directory / RELEASED).unlink(missing_ok=True)
            _replace(self.directory / "config.json", self.config)
            if log_path.exists() and log_path.stat().st_size > LOG_BYTES:
                log_path.rename(self.directory / "log.1")
            with log_path.open("ab") as output:
                self.child = subprocess.Popen(
                    self.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd=self.directory,
                    start_new_session=True,
                )
        except OSError as error:
            log.error("provider %s cannot be started: %s", self.label, error)
            self._again()
            return
        self.started_at = self.owner.reactor.seconds()
        pid = self.child.pid
        self._watch(pid)
        process = _identify(pid)
        if process is not None:
            # The arguments are ours, not /proc's: the child may not have executed the program yet.
            self._write_pid(_Process(pid, process.start_ticks, process.boot_id, self.argv))
        log.info("provider %s: started as process %d, its log is %s", self.label, pid, log_path)

    def _watch(self, pid: int) -> bool:
        """Watch a process; False where it has just ended (a child of ours cannot, it waits to be reaped)."""
        try:
            self.watch = _Watch(self.owner.reactor, pid, self._ended)
        except ProcessLookupError:
            return False
        return True

    def _ended(self) -> None:
        self.watch = None
        how = "ended"
        if self.child is not None:
            code = self.child.wait()
            how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
            self.child = None
        if self.kill_timer is not None:
            self.kill_timer.cancel()
            self.kill_timer = None
        (self.directory / "pid.json").unlink(missing_ok=True)
        asked_for = bool(self.stopped)
        for waiting in self.stopped:
            self.owner.reactor.callLater(0, waiting.callback, None)
        self.stopped = []
        if asked_for or self.stopping:
            log.info("provider %s %s, as asked", self.label, how)
            return
        if self.owner.reactor.seconds() - self.started_at >= STEADY_SECONDS:
            self.failures = 0
        log.warning("provider %s %s; its log is %s", self.label, how, self.directory / "log")
        self._again()

    def _again(self) -> None:
        if self.stopping:
            return
        delay = BACKOFF_SECONDS[min(self.failures, len(BACKOFF_SECONDS) - 1)]
        self.failures += 1
        log.info("provider %s: starts again in %g s", self.label, delay)
        self.timer = self.owner.reactor.callLater(delay, self._spawn)

    def _write_pid(self, process: _Process) -> None:
        content = {
            "pid": process.pid,
            "start_ticks": process.start_ticks,
            "boot_id": process.boot_id,
            "argv": list(process.argv),
        }
        try:
            _replace(self.directory / "pid.json", json.dumps(content).encode())
        except OSError as error:
            log.warning("provider %s: its pid file cannot be written: %s", self.label, error)

    def _find(self) -> _Process | None:
        """The process that works in our directory: by its pid file, else by the command lines of all."""
        content = _read(self.directory / "pid.json")
        if content is not None:
            try:
                kept = json.loads(content)
                process = _Process(kept["pid"], kept["start_ticks"], kept["boot_id"], tuple(kept["argv"]))
            except (ValueError, KeyError, TypeError) as error:
                log.warning("%s cannot be read: %s", self.directory / "pid.json", error)
            else:
                now = _identify(process.pid)
                if now is not None and (now.start_ticks, now.boot_id) == (process.start_ticks, process.boot_id):
                    return process
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            found = _identify(int(entry.name))
            if found is None or found.pid == os.getpid() or {"--check", "--release"} & {*found.argv}:
                continue
            pairs = zip(found.argv, found.argv[1:], strict=False)
            if ("--work-dir", str(self.directory)) in pairs and "provider" in " ".join(found.argv[:4]):
                return found
        return None


class ProviderDaemons:
    """All provider processes of one agent."""

    def __init__(
        self,
        work_dir: str,
        agent_url: str,
        reactor: Any,
        *,
        sysfs_root: str = "/",
        cgroup_root: str = "auto",
        cgroup_name: str = "pinfold",
        credential: str | None = None,
        agent_cert: str | None = None,
        command: Sequence[str] = (sys.executable, "-m", "agent_api.cli.main", "provider"),
    ) -> None:
        self.reactor = reactor
        self.agent_url = agent_url
        self.command = tuple(command)
        self.agent_arguments = (
            *("--agent", agent_url),
            *(("--credentials", credential) if credential is not None else ()),
            *(("--agent-cert", agent_cert) if agent_cert is not None else ()),
        )
        """Names of files only: what is on a command line all users of the host can read."""
        self.host_arguments = (
            *("--sysfs-root", sysfs_root),
            *("--cgroup-root", cgroup_root),
            *("--cgroup-name", cgroup_name),
        )
        self._directory = Path(work_dir).absolute() / "providers"
        self._wanted: dict[tuple[str, str], mesos_pb2.ResourceProviderInfo] = {}
        self._running: dict[tuple[str, str], _Daemon] = {}
        self._locks: defaultdict[tuple[str, str], DeferredLock] = defaultdict(DeferredLock)
        self._again: dict[tuple[str, str], Any] = {}
        """Delayed calls: releases that are to be tried again."""
        self._stopped = False

    def run(self, info: mesos_pb2.ResourceProviderInfo) -> Deferred[None]:
        """Run a provider with this config, in the place of one of the same type and name. One that an earlier
        agent left running with it is adopted. Fires once it is so; of several orders only the last is carried out."""
        key = (info.type, info.name)
        self._wanted[key] = info
        if key in self._again:
            self._again.pop(key).cancel()
        return self._follow(key)

    def stop(self, type_: str, name: str) -> Deferred[None]:
        """End the provider; fires once it has ended. Unknown ones are none. Its directory stays."""
        self._wanted.pop((type_, name), None)
        return self._follow((type_, name))

    def remove(self, type_: str, name: str) -> Deferred[None]:
        """End the provider for good, and then give back the CPUs of its sets in which nothing runs; those of the others
        follow once they are empty. Fires once the first is done. Its directory stays, for the case that it is added
        again."""
        self._wanted.pop((type_, name), None)
        return self._retire((type_, name))

    def finish_removals(self) -> None:
        """At the agent's start, after the `run` of all configs: what an earlier agent removed and did not complete."""
        for key in self._removed():
            log.info("provider %s %s was removed; completing that", *key)
            self._retire(key)

    def _removed(self) -> list[tuple[str, str]]:
        """Those whose CPUs are not given back yet."""
        found = []
        for config in self._directory.glob("*/config.json"):
            if (config.parent / RELEASED).exists():
                continue
            try:
                info = codec.decode(mesos_pb2.ResourceProviderInfo, config.read_bytes(), "application/json")
            except (OSError, ValueError) as error:
                log.warning("%s cannot be read: %s", config, error)
                continue
            key = info.type, info.name
            if key not in self._wanted and config.parent.name == directory_name(*key):
                found.append(key)
        return found

    def _retire(self, key: tuple[str, str]) -> Deferred[None]:
        retired: Deferred[None] = self._locks[key].run(self._end_and_release, key)
        return retired.addErrback(
            lambda failure: log.error("provider %s %s: its CPUs are not given back: %s", *key, failure.value)
        )

    @inlineCallbacks
    def _end_and_release(self, key: tuple[str, str]) -> Any:
        known = key in self._running
        yield self._converge(key)
        directory = self._directory / directory_name(*key)
        config = _read(directory / "config.json")
        if key in self._wanted or config is None or (directory / RELEASED).exists():
            return
        if not known:
            info = mesos_pb2.ResourceProviderInfo(type=key[0], name=key[1])
            yield _Daemon(self, info, directory, config).end_left_over()
        if self._wanted:
            return  # another one works in the cgroups, or will: what is in the kernel is its business
        arguments = ("--release", "--config", str(directory / "config.json"), "--work-dir", str(directory))
        ended = yield self._run_once(arguments, RELEASE_SECONDS)
        kept, error = _release_result(ended)
        if error is None and not kept:
            log.info("provider %s %s: its CPUs are given back", *key)
            _replace(directory / RELEASED, b"")
            return
        if error is not None:
            log.error("provider %s %s: its CPUs are not given back, it is tried again: %s", *key, error)
        else:
            log.info("provider %s %s: processes run in its sets %s; they stay until then", *key, ", ".join(kept))
        if key not in self._wanted and not self._stopped:
            self._again[key] = self.reactor.callLater(RELEASE_SECONDS, self._retire_again, key)

    def _retire_again(self, key: tuple[str, str]) -> None:
        self._again.pop(key, None)
        if key not in self._wanted:
            self._retire(key)

    def stop_all(self) -> Deferred[list[None]]:
        """End all of them at once; fires once the last one has ended."""
        self._stopped = True
        for call in self._again.values():
            call.cancel()
        self._again.clear()
        self._wanted.clear()
        return gatherResults([self._follow(key) for key in list(self._running)])

    def _follow(self, key: tuple[str, str]) -> Deferred[None]:
        return self._locks[key].run(self._converge, key)

    @inlineCallbacks
    def _converge(self, key: tuple[str, str]) -> Any:
        """Bring what runs to what is wanted by now."""
        daemon = self._running.get(key)
        info = self._wanted.get(key)
        config = None if info is None else codec.encode(info, "application/json")
        if daemon is not None and daemon.config != config:
            yield daemon.stop()
            del self._running[key]
            daemon = None
        if daemon is None and info is not None and config is not None:
            daemon = _Daemon(self, info, self._directory / directory_name(*key), config)
            self._running[key] = daemon
            yield daemon.begin()

    def check(self, info: mesos_pb2.ResourceProviderInfo, *, adding: bool) -> Deferred[CheckResult]:
        """Ask `pinfold provider --check` whether this host can run with the config. Changes nothing. `adding`: it is
        for a provider that does not run yet, and must not take the sets of a removed one out of the kernel."""
        directory = self._directory / directory_name(info.type, info.name)
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=self._directory, prefix=".check.", suffix=".json", delete=False) as file:
            file.write(codec.encode(info, "application/json"))
        config = Path(file.name)
        arguments = ("--check", "--config", str(config), "--work-dir", str(directory))

        def done(ended: _Ended) -> CheckResult:
            config.unlink(missing_ok=True)
            result = _check_result(ended)
            left = [name for type_, name in self._removed() if (type_, name) != (info.type, info.name)]
            if adding and left and result.error is None:
                why = f"'{left[0]}' was removed, but processes still run in its sets; add it again, or end them first"
                return CheckResult(why, 409, 0)
            return result

        return self._run_once(arguments, CHECK_SECONDS).addCallback(done)

    def _run_once(self, arguments: Sequence[str], seconds: float) -> Deferred[_Ended]:
        """Run the provider program to its end; it is killed where it takes longer."""
        output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 (closed in `done`)
        finished: Deferred[_Ended] = Deferred()
        try:
            child = subprocess.Popen(
                [*self.command, *arguments, *self.host_arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            with output, errors:
                return succeed(_Ended(None, b"", f"the provider program cannot be started: {error}"))
        too_late = False

        def done() -> None:
            code = child.wait()
            if timer.active():
                timer.cancel()
            output.seek(0)
            errors.seek(0)
            with output, errors:
                tail = errors.read().decode("utf-8", "replace").strip()[-500:]
                what = f"{arguments[0].strip('-')} of the provider config"
                problem = (
                    f"the {what} took longer than {seconds:g} s"
                    if too_late
                    else f"the {what} ended with status {code}: {tail}"
                )
                ended = _Ended(None if too_late else code, output.read(), problem)
            finished.callback(ended)

        def expire() -> None:
            nonlocal too_late
            too_late = True
            child.kill()

        timer = self.reactor.callLater(seconds, expire)
        _Watch(self.reactor, child.pid, done)
        return finished


def _check_result(ended: _Ended) -> CheckResult:
    if ended.code is None:
        return CheckResult(ended.problem, 500, 0)
    try:
        said = json.loads(ended.output)
        if ended.code == 0:
            return CheckResult(None, 200, int(said["floor_cpus"]))
        return CheckResult(str(said["error"]), int(said.get("status", 400)), 0)
    except (ValueError, KeyError, TypeError, AttributeError):
        return CheckResult(ended.problem, 500, 0)


def _release_result(ended: _Ended) -> tuple[list[str], str | None]:
    """(ids of the sets that are still in use, what went wrong)."""
    try:
        said = json.loads(ended.output)
        if ended.code == 0:
            return [str(set_id) for set_id in said["kept"]], None
        return [], str(said["error"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return [], ended.problem


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new one, whole."""
    partial = path.with_name(path.name + ".new")
    partial.write_bytes(content)
    partial.rename(path)


def _identify(pid: int) -> _Process | None:
    """A running process as /proc shows it now; None for one that has ended, a zombie too."""
    start_ticks = shim.process_start(pid)
    try:
        argv = tuple(Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1])
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return None if start_ticks is None else _Process(pid, start_ticks, shim.boot_id(), argv)
