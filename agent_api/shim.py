"""The supervisor of one task: a small process of its own between the agent and the command.

    python -m agent_api.shim TASK_DIR [STATUS_FD]

It puts itself where the task belongs (cgroups, or scheduling affinity), sees that the kernel agrees, starts the
command, waits for it, and writes how it ended. It outlives the agent, and a kill that has begun is finished without
the agent. Decides nothing about CPUs: all it does is in TASK_DIR/spec.json, which the launcher wrote.

Files in TASK_DIR, each replaced whole: `pid.json` (this process; made first and only once, so a task is never started
twice), `started.json` (the command runs), `exit.json` (how it ended, or why it did not start), `kill.json` (read: what
the launcher asks). Only the standard library is used, and nothing of this project, so that it starts quickly and from
any directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import platform
import pwd
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["boot_id", "descendants", "list_mask", "main", "process_start", "replace_file", "trusted_json"]

_PR_SET_CHILD_SUBREAPER = 36
_POLICIES = {"bind": 2, "interleave": 3}
_MEMPOLICY = {
    "x86_64": (238, 239),
    "aarch64": (237, 236),
    "riscv64": (237, 236),
    "ppc64le": (261, 260),
    "s390x": (270, 269),
}
"""Numbers of the system calls to set and to get it, by machine, from the kernel's tables."""
_MAX_NODES = 1024
"""As many as kernels are built with: get_mempolicy takes no shorter mask than the kernel's."""
_SWEEPS = 50
"""How often the rest of a task is looked for and killed at its end; each look finds what was forked meanwhile."""


class StartError(Exception):
    """The task cannot be started; the message is what the framework reads."""


# Facts about processes. The launcher uses these as well.


def boot_id(proc_root: str = "/proc") -> str:
    return Path(proc_root, "sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int, proc_root: str = "/proc") -> list[str]:
    """Fields of /proc/PID/stat from field 3 (state) on; the command's name may hold spaces and parentheses."""
    text = Path(proc_root, str(pid), "stat").read_text(errors="replace")
    return text[text.rindex(")") + 2 :].split()


def process_start(pid: int, proc_root: str = "/proc") -> int | None:
    """Start time in clock ticks since boot; None where the process is gone or only waits to be reaped."""
    try:
        fields = _stat(pid, proc_root)
    except (OSError, ValueError):
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])


def children(proc_root: str = "/proc") -> dict[int, list[int]]:
    """Of all living processes: parent's pid -> pids."""
    found: dict[int, list[int]] = {}
    for entry in os.listdir(proc_root):  # noqa: PTH208 (names only: Path objects for thousands of pids are slow)
        if entry.isdigit():
            try:
                fields = _stat(int(entry), proc_root)
            except (OSError, ValueError):
                continue
            if fields[0] not in ("Z", "X"):
                found.setdefault(int(fields[1]), []).append(int(entry))
    return found


def descendants(pid: int, family: Mapping[int, list[int]] | None = None) -> list[int]:
    """Pids of all living processes below `pid`, in no order. `family`: what `children` found, for several questions."""
    family = children() if family is None else family
    found: list[int] = []
    todo = [pid]
    while todo:
        below = family.get(todo.pop(), [])
        found += below
        todo += below
    return found


def list_mask(text: str) -> int:
    """Mask of a kernel list ("0-3,8"); for text that the kernel or the provider wrote."""
    mask = 0
    for part in text.strip().split(","):
        if part:
            low, _, high = part.partition("-")
            mask |= (1 << (int(high or low) + 1)) - (1 << int(low))
    return mask


def _allowed(what: str) -> str:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}_allowed_list:"):
            return line.split(":", 1)[1].strip()
    return ""


# Files.


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, once: bool = False) -> bool:
    """Put a file in place whole and durably. `once`: only where there is none yet; False says that there was one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    # The directory may be writable for the task's user: never follow or reuse what lies there.
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        os.fchmod(fd, mode)
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    try:
        if once:
            try:
                os.link(temporary, path, follow_symlinks=False)
            except FileExistsError:
                return False
            finally:
                temporary.unlink()
        else:
            temporary.rename(path)
    finally:
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    return True


def trusted_json(path: Path) -> dict[str, Any] | None:
    """A JSON object that we wrote; None where the file is missing, damaged, or belongs to another user (the task
    itself may write into its directory)."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        if os.fstat(fd).st_uid != os.geteuid():
            return None
        try:
            value = json.loads(file.read(1 << 22))
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


# Starting.


def _join(directories: Iterable[str]) -> None:
    for directory in directories:
        path = f"{directory}/cgroup.procs"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(fd, str(os.getpid()).encode())
            finally:
                os.close(fd)
        except OSError as exc:
            raise StartError(f"cannot join the cgroup {directory}: {_errno(exc)}") from exc


def _errno(exc: OSError) -> str:
    return f"{errno.errorcode.get(exc.errno or 0, 'error')} ({exc.strerror})"


def _set_affinity(cpus: list[int]) -> None:
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as exc:
        raise StartError(
            f"cannot set the affinity to CPUs {cpus}: {_errno(exc)}; allowed are {_allowed('Cpus')}"
        ) from exc


def _set_memory_policy(policy: str, nodes: list[int]) -> None:
    """Set it on ourselves, and see that the kernel has it: the command inherits it."""
    numbers = _MEMPOLICY.get(platform.machine())
    if numbers is None:
        raise StartError(f"no memory policy on {platform.machine()}: {policy} over nodes {nodes} cannot be set")
    mask = sum(1 << node for node in nodes)
    length = max(_MAX_NODES, mask.bit_length())
    words = (ctypes.c_ulong * -(-length // 64))()
    for index in range(len(words)):
        words[index] = mask >> (64 * index) & (1 << 64) - 1
    libc = ctypes.CDLL(None, use_errno=True)
    bits = ctypes.c_ulong(len(words) * 64 + 1)
    if libc.syscall(numbers[0], _POLICIES[policy], words, bits) != 0:
        code = ctypes.get_errno()
        raise StartError(f"cannot {policy} memory over nodes {nodes}: {_errno(OSError(code, os.strerror(code)))}")
    mode = ctypes.c_int(-1)
    if libc.syscall(numbers[1], ctypes.byref(mode), words, bits, None, ctypes.c_ulong(0)) == 0:
        found = sum(words[index] << (64 * index) for index in range(len(words)))
        if (mode.value, found) != (_POLICIES[policy], mask):
            raise StartError(f"memory policy: set {policy} over nodes {nodes}, kernel has {mode.value} over {found:#x}")


def _check(spec: dict[str, Any]) -> None:
    """The kernel's word on where we are, against what we were promised: all CPUs of exclusive sets, and no others than
    those of our sets, or where these float than the cgroup's own list."""
    least, most = spec.get("least_cpus", ""), spec.get("most_cpus", "")
    for left in (2, 1, 0):
        found, expected = _allowed("Cpus"), most or _group_cpus(spec["cgroups"])
        mask = list_mask(found)
        if not list_mask(least) & ~mask and (not expected or not mask & ~list_mask(expected)):
            return
        if not left:
            where = "" if most else f" of {spec['cgroups'][0]}"
            raise StartError(f"CPUs expected{where}: {expected or least}, but the kernel allows this task: {found}")
        time.sleep(0.01)  # the provider may just have moved the group, between our two looks


def _group_cpus(directories: list[str]) -> str:
    """CPUs in effect in the first directory, or in the one above where it has no such file (as below a set on v2); ""
    where that has none."""
    for directory in directories[:1]:
        for place in (Path(directory), Path(directory).parent):
            for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
                with contextlib.suppress(OSError):
                    if text := (place / name).read_text().strip():
                        return text
    return ""


def _identity(spec: dict[str, Any]) -> tuple[str, int, int, str] | None:
    """(name, uid, gid, home) to switch to; None to stay who we are."""
    name = spec.get("user") or ""
    if not name:
        return None
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise StartError(f"user {name!r} is unknown on this host") from None
    if entry.pw_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise StartError(f"cannot run as user {name!r}: the agent does not run as root")
    return name, entry.pw_uid, entry.pw_gid, entry.pw_dir


def _command(spec: dict[str, Any], task_dir: Path, status: int) -> NoReturn:
    """In the child: become the command. Reports a failure on `status`, which an exec that works closes."""
    try:
        identity = _identity(spec)
        _join(filter(None, [spec.get("memory_cgroup")]))
        os.setsid()
        for each in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.umask(0o022)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        for number, name in ((1, "stdout"), (2, "stderr")):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            fd = os.open(task_dir / name, flags, 0o644)
            if identity:
                os.fchown(fd, identity[1], identity[2])
            os.dup2(fd, number)
        top = os.sysconf("SC_OPEN_MAX")
        if status != 3:
            os.dup2(status, 3)
            status = 3
        os.set_inheritable(3, False)
        os.closerange(4, top if 0 < top < 1 << 20 else 1 << 16)
        environment: dict[str, str] = {"PATH": os.environ.get("PATH") or "/usr/local/bin:/usr/bin:/bin"}
        if identity:
            os.initgroups(identity[0], identity[2])
            os.setgid(identity[2])
            os.setuid(identity[1])
            environment |= {"HOME": identity[3], "USER": identity[0], "LOGNAME": identity[0]}
        elif "HOME" in os.environ:
            environment["HOME"] = os.environ["HOME"]
        environment |= spec["environment"]
        environment |= spec["own_environment"]
        if spec.get("plain"):
            environment |= {"PINFOLD_CPUS": _allowed("Cpus"), "PINFOLD_MEMS": _allowed("Mems")}
        try:
            os.chdir(task_dir)
        except OSError as exc:
            raise StartError(
                f"cannot enter the sandbox {task_dir} as {spec.get('user') or 'ourselves'}: {_errno(exc)}"
            ) from exc
        argv = [os.fsencode(word) for word in spec["argv"]]
        os.execvpe(spec["program"], argv, environment)
    except StartError as exc:
        message = str(exc)
    except OSError as exc:
        message = f"cannot execute {spec.get('program')!r}: {_errno(exc)}"
    except BaseException as exc:
        message = f"cannot execute {spec.get('program')!r}: {exc}"
    with contextlib.suppress(OSError):
        os.write(status, message.encode(errors="replace")[:4000])
    os._exit(127)


# Running.


class Shim:
    """One task, from pid.json to exit.json. Its working directory is the task's, and moves along with that."""

    def __init__(self, task_dir: Path, status_fd: int | None) -> None:
        self.dir = task_dir
        """Where it was at the start."""
        self.files = Path()
        self.status_fd = status_fd
        self.child = 0
        self.deadline: float | None = None
        """When a kill turns from SIGTERM to SIGKILL, on the monotonic clock."""
        self.killing = False

    def run(self) -> int:
        """The shim's own exit status: 0 once exit.json is written, 3 where another shim has this task."""
        # Before anybody can know our pid: a SIGTERM only says that there may be a kill.json, it must not end us.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
        mine = {"pid": os.getpid(), "start_ticks": process_start(os.getpid()), "boot_id": boot_id()}
        if not replace_file(self.files / "pid.json", json.dumps(mine).encode(), once=True):
            self.tell({"already": True})
            return 3
        spec = trusted_json(self.files / "spec.json")
        try:
            if spec is None:
                raise StartError(f"{self.dir}/spec.json cannot be read")
            self.start(spec)
        except StartError as exc:
            self.end(failed=str(exc))
            self.tell({"failed": str(exc)})
            return 0
        except Exception as exc:
            self.end(failed=f"the shim failed: {exc!r}")
            self.tell({"failed": f"the shim failed: {exc!r}"})
            return 0
        replace_file(self.files / "started.json", json.dumps({"pid": self.child}).encode())
        self.tell({"started": mine})
        if trusted_json(self.files / "kill.json"):
            self.begin_kill()
        status = self.wait()
        self.sweep()
        code = os.waitstatus_to_exitcode(status)
        self.end(code=code) if code >= 0 else self.end(signal=-code)
        return 0

    def tell(self, message: dict[str, Any]) -> None:
        """To the launcher, while it listens."""
        if self.status_fd is not None:
            with contextlib.suppress(OSError):
                os.write(self.status_fd, json.dumps(message).encode() + b"\n")
            os.close(self.status_fd)
            self.status_fd = None

    def end(self, code: int | None = None, signal: int | None = None, failed: str | None = None) -> None:
        content = {"code": code, "signal": signal, "failed": failed}
        replace_file(self.files / "exit.json", json.dumps(content).encode())

    def start(self, spec: dict[str, Any]) -> None:
        _identity(spec)
        _join(spec["cgroups"])
        if spec["affinity"]:
            _set_affinity(spec["affinity"])
        if spec.get("memory_policy"):
            _set_memory_policy(spec["memory_policy"], spec["policy_nodes"])
        _check(spec)
        # Whatever the command leaves behind becomes our child, so that a kill reaches it.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        readable, writable = os.pipe2(os.O_CLOEXEC)
        self.child = os.fork()
        if self.child == 0:
            os.close(readable)
            _command(spec, self.dir, writable)
        os.close(writable)
        message = b""
        while part := os.read(readable, 4096):
            message += part
        os.close(readable)
        if message:
            os.waitpid(self.child, 0)
            raise StartError(message.decode(errors="replace"))

    def wait(self) -> int:
        """Until the command has ended; its wait status."""
        while True:
            timeout = 3600.0
            if self.deadline is not None:
                timeout = max(0.0, self.deadline - time.monotonic())
            happened = signal.sigtimedwait({signal.SIGCHLD, signal.SIGTERM}, timeout)
            if happened is not None and happened.si_signo == signal.SIGTERM and trusted_json(self.files / "kill.json"):
                self.begin_kill()
            if self.deadline is not None and time.monotonic() >= self.deadline:
                self.strike(signal.SIGKILL)
                self.deadline = time.monotonic() + 0.2  # again for what was forked meanwhile
            while True:
                try:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    break
                if pid == self.child:
                    return status
                if pid == 0:
                    break

    def begin_kill(self) -> None:
        request = trusted_json(self.files / "kill.json") or {}
        if self.killing:
            return
        self.killing = True
        self.deadline = time.monotonic() + max(0.0, float(request.get("grace_seconds", 3.0)))
        self.strike(signal.SIGTERM)

    def strike(self, number: signal.Signals) -> None:
        """Signal the command's process group, and each descendant that left it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child, number)
        for pid in descendants(os.getpid()):
            try:
                in_group = os.getpgid(pid) == self.child
                if not in_group:
                    os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                continue

    def sweep(self) -> None:
        """The command has ended, the task with it: nothing of it may live on in its CPUs."""
        if self.killing:
            # They were asked to end and have until the deadline.
            while self.deadline and time.monotonic() < self.deadline and descendants(os.getpid()):
                time.sleep(0.02)
        for _ in range(_SWEEPS):
            left = descendants(os.getpid())
            if not left:
                break
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def main(arguments: list[str]) -> int:
    """Detach from whoever started us, then run. The status of the first process is always 0."""
    if len(arguments) not in (1, 2):
        sys.stderr.write("usage: python -m agent_api.shim TASK_DIR [STATUS_FD]\n")
        return 2
    task_dir = Path(arguments[0]).absolute()
    status_fd = int(arguments[1]) if len(arguments) == 2 else None
    if os.fork():
        os._exit(0)
    os.setsid()
    if status_fd is not None:
        os.set_inheritable(status_fd, False)
    try:
        os.chdir(task_dir)
        return Shim(task_dir, status_fd).run()
    except Exception as exc:
        sys.stderr.write(f"shim of {task_dir}: {exc!r}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
