"""Where tasks join cgroups: the agent's side of what `--cgroup-root` and `--cgroup-name` mean.

Decides by mounts and files, with the same rules as the provider (a test holds the two together). Makes the group of
plain tasks while no provider has made it; never narrows anything, and removes only what holds neither set nor process.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from agent_api import shim
from agent_api.task_spec import show

__all__ = ["Hierarchy", "find", "words", "write"]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """`kind` is cgroup2, cgroup1 or affinity (then the rest is empty). `root` is the parent directory (v1: in the
    cpuset hierarchy), `cpu_root` the parent in v1's cpu hierarchy."""

    kind: str
    name: str = ""
    root: str = ""
    cpu_root: str | None = None
    sysfs_root: str = "/"
    """The directory that has sys/: which CPUs are isolated."""
    memory_root: str | None = None
    """The parent in v1's memory hierarchy."""

    @property
    def base(self) -> str:
        return f"{self.root}/{self.name}"

    def joined(self, directory: str) -> list[str]:
        """All directories that a task in `directory` (a set's `cgroup` label) joins: v1 has a twin for time."""
        out = [directory]
        if self.kind == "cgroup1" and self.cpu_root and directory.startswith(f"{self.root}/"):
            twin = f"{self.cpu_root}{directory[len(self.root) :]}"
            if twin != directory and Path(twin).is_dir():
                out.append(twin)
        return out

    def make_plain(self) -> list[str]:
        """The directories that a plain task joins. Raises OSError.

        Where the group has no CPU list it is given the parent's CPUs, without isolated ones and without those of
        exclusive sets, which outlive their provider. A list that is there is the provider's, and stays as it is."""
        if self.kind == "affinity":
            return []
        plain = f"{self.base}/plain"
        if self.kind == "cgroup2":
            for above, path in ((self.root, self.base), (self.base, plain)):
                for controller in ("cpuset", "cpu"):
                    if controller not in words(f"{above}/cgroup.subtree_control"):
                        # Without cpu there are no weights, and that is all.
                        with contextlib.suppress(*([OSError] if controller == "cpu" else [])):
                            _write(f"{above}/cgroup.subtree_control", f"+{controller}")
                Path(path).mkdir(exist_ok=True)
            above = next((a for a in (self.base, self.root) if _text(f"{a}/cpuset.cpus.effective")), self.base)
            if not _text(f"{plain}/cpuset.cpus"):
                everything = _mask(f"{above}/cpuset.cpus.effective")
                if everything and (cpus := self._for_plain(everything)) != everything:
                    _write(f"{plain}/cpuset.cpus", show(cpus))  # without one it has its parent's
            return [plain]
        for above, path in ((self.root, self.base), (self.base, plain)):
            Path(path).mkdir(exist_ok=True)
            for file, effective in (("cpuset.cpus", "effective_cpus"), ("cpuset.mems", "effective_mems")):
                if not _text(f"{path}/{file}"):
                    text = _text(f"{above}/cpuset.{effective}") or _text(f"{above}/{file}")
                    if path == plain and file == "cpuset.cpus":
                        text = show(self._for_plain(_cpus(text)))
                    _write(f"{path}/{file}", text)
        if self.cpu_root and self.cpu_root != self.root:
            Path(self.cpu_root, self.name).mkdir(exist_ok=True)
            Path(self.cpu_root, self.name, "plain").mkdir(exist_ok=True)
        return self.joined(plain)

    def _for_plain(self, everything: int) -> int:
        """What plain tasks may use of these CPUs; isolated ones only where there are no others."""
        for path in Path(self.base).glob("set.*/cpuset.cpus"):
            everything &= ~_mask(str(path))
        if not everything:
            raise OSError(f"{self.base}: exclusive sets have all CPUs")
        isolated = _mask(str(Path(self.sysfs_root, "sys/devices/system/cpu/isolated")))
        return everything & ~isolated or everything

    def step_aside(self) -> None:
        """Where we sit in the parent itself (a service to which systemd delegates it is started there), move to
        `NAME.main` in it: the kernel has no process beside groups with controllers. Raises OSError."""
        if self.kind != "cgroup2" or not _text(f"{self.root}/cgroup.type"):
            return
        pid = str(os.getpid())
        if pid in _text(f"{self.root}/cgroup.procs").split():
            aside = Path(self.root, f"{self.name}.main")
            aside.mkdir(exist_ok=True)
            _write(f"{aside}/cgroup.procs", pid)

    def remove_unused(self) -> None:
        """Leave nothing behind: remove our directories where there is no set in them. The kernel refuses to remove
        those with processes, and they stay. The provider makes them again when it needs them."""
        if self.kind == "affinity" or any(self._held(Path(root, self.name)) for root in self._roots()):
            return
        for root in self._roots():
            for path in (*Path(root, self.name).glob("plain/*/"), *(Path(root, self.name, n) for n in _NAMES)):
                with contextlib.suppress(OSError):
                    path.rmdir()

    def _roots(self) -> list[str]:
        """In each of them we have a base directory."""
        return list(dict.fromkeys(root for root in (self.root, self.cpu_root, self.memory_root) if root))

    @staticmethod
    def _held(base: Path) -> bool:
        """Whether there is a set (or something not ours) below the directory."""
        found = [path for directory in (base, base / "shared") for path in directory.glob("*/")]
        return any(path not in (base / "shared", base / "plain") for path in found)


_NAMES = ("shared", "plain", "")


def find(cgroup_root: str, name: str, *, proc_root: str = "/proc", sysfs_root: str = "/") -> Hierarchy:
    """`cgroup_root`: "auto", "none", or a directory, as for the provider. ValueError for a directory that is none."""
    return replace(_find(cgroup_root, name, proc_root), sysfs_root=sysfs_root)


def _find(cgroup_root: str, name: str, proc_root: str) -> Hierarchy:
    if cgroup_root == "none":
        return Hierarchy("affinity")
    mounts = _mounts(proc_root)
    v1 = [(point, options) for point, kind, options in mounts if kind == "cgroup"]
    cpu, memory = (next((p for p, options in v1 if _usable(p, options, each)), None) for each in ("cpu", "memory"))
    if cgroup_root == "auto":
        for point, kind, options in mounts:
            if kind == "cgroup2" and "rw" in options and (ours := _ours(point, proc_root)):
                return Hierarchy("cgroup2", name, ours)
        for point, kind, options in mounts:
            if kind == "cgroup" and _usable(point, options, "cpuset"):
                return Hierarchy("cgroup1", name, point, cpu, memory_root=memory)
        return Hierarchy("affinity")
    root = cgroup_root.rstrip("/")
    if Path(root, "cgroup.controllers").exists():
        return Hierarchy("cgroup2", name, root)
    if Path(root, "cpuset/cpuset.cpus").exists():
        cpu, memory = (f"{root}/{each}" if Path(root, each).exists() else None for each in ("cpu", "memory"))
        return Hierarchy("cgroup1", name, f"{root}/cpuset", cpu, memory_root=memory)
    if Path(root, "cpuset.cpus").exists():
        inside = next((p for p, _, options in mounts if "cpuset" in options and f"{root}/".startswith(f"{p}/")), None)
        twins = (f"{point}{root[len(inside) :]}" if inside and point else None for point in (cpu, memory))
        cpu, memory = (twin if twin and Path(twin).exists() else None for twin in twins)
        return Hierarchy("cgroup1", name, root, cpu, memory_root=memory)
    raise ValueError(f"cgroup root {cgroup_root!r}: no cgroup.controllers, cpuset.cpus or cpuset/cpuset.cpus in it")


def _ours(point: str, proc_root: str) -> str | None:
    """The nearest directory at or above our own cgroup that systemd delegated, else the topmost that may be written."""
    lines = _text(f"{proc_root}/self/cgroup").splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    above = [point]
    for part in own.strip("/").split("/"):
        if not part or part == ".." or not Path(above[-1], part, "cgroup.controllers").exists():
            break
        above.append(str(Path(above[-1], part)))
    usable = [
        path
        for path in above
        if os.access(path, os.W_OK | os.X_OK) and "cpuset" in _text(f"{path}/cgroup.controllers").split()
    ]
    return next((path for path in reversed(usable) if _delegated(path)), usable[0] if usable else None)


def _delegated(path: str) -> bool:
    for name in ("user.delegate", "trusted.delegate"):  # systemd 251 and later, and before
        with contextlib.suppress(OSError):
            return os.getxattr(path, name) == b"1"
    return False


def _usable(point: str, options: set[str], controller: str | None = None) -> bool:
    return (controller is None or controller in options) and "rw" in options and os.access(point, os.W_OK | os.X_OK)


def _mounts(proc_root: str) -> list[tuple[str, str, set[str]]]:
    """(mount point, type, options) of each cgroup mount."""
    out = []
    for line in (_text(f"{proc_root}/self/mounts") or _text(f"{proc_root}/mounts")).splitlines():
        words = line.split(" ")
        if len(words) >= 4 and words[2] in ("cgroup", "cgroup2"):
            point = words[1]
            for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
                point = point.replace(code, char)
            out.append((point.rstrip("/") or "/", words[2], set(words[3].split(","))))
    return out


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _mask(path: str) -> int:
    return _cpus(_text(path))


def _cpus(text: str) -> int:
    """A list as the kernel prints it. Raises OSError for anything else."""
    try:
        return shim.list_mask(text)
    except ValueError as exc:
        raise OSError(f"{text!r} is no list of CPUs") from exc


def words(path: str) -> list[str]:
    """The controllers that a file names; none where it cannot be read."""
    return _text(path).replace("+", "").split()


def _write(path: str, text: str) -> None:
    if not text:
        raise OSError(f"{path}: nothing to write: the parent has no list")
    write(path, text, os.O_CREAT | os.O_TRUNC)


def write(path: str, text: str, flags: int = 0) -> None:
    """One write, as the kernel wants it. Raises OSError that names the file. `flags`: of open(2), beside O_WRONLY."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | flags, 0o644)
    try:
        os.write(fd, text.encode())
    except OSError as exc:
        raise OSError(exc.errno, exc.strerror, path) from exc
    finally:
        os.close(fd)
