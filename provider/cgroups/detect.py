"""Which way of enforcing this host allows. Decides by the mounts and the files found; changes nothing."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from provider.cgroups.affinity import AffinityEnforcer
from provider.cgroups.enforcer import Enforcer
from provider.cgroups.fs import Fs, RealFs
from provider.cgroups.v1 import V1Enforcer
from provider.cgroups.v2 import V2Enforcer
from provider.cpuset import CpuListError, parse
from provider.errors import ConfigError

__all__ = ["Mount", "cgroup_mounts", "detect"]


@dataclass(frozen=True, slots=True)
class Mount:
    """One cgroup hierarchy."""

    point: str
    type: str
    options: frozenset[str]


def detect(
    cgroup_root: str = "auto", name: str = "pinfold", *, proc_root: str = "/proc", fs: Fs | None = None
) -> Enforcer:
    """The enforcer for this host; its base directory is `<root>/<name>`.

    `cgroup_root`: "auto" takes cgroup v2 where it has the cpuset controller and may be written: the nearest directory
    at or above our own that systemd delegated, else the topmost at or above our own that may be written (for root the
    mount point). Else the v1 cpuset mount where it may be written, else affinity. "none" is affinity. A path D: cgroup
    v2 where D/cgroup.controllers is, v1 where D/cpuset.cpus is (D in the cpuset hierarchy; the same place in the cpu
    hierarchy is used where that is mounted), or where D/cpuset/cpuset.cpus is (then D/cpu is the cpu hierarchy).
    Raises ConfigError for anything else. `proc_root` is the procfs directory (mounts, self/cgroup).
    """
    fs = fs or RealFs()
    mounts = cgroup_mounts(proc_root, fs)
    if cgroup_root == "none":
        return _affinity(mounts, proc_root, fs, "cgroups are switched off (--cgroup-root none)")
    if cgroup_root != "auto":
        return _at(cgroup_root, name, mounts, fs)
    reasons = []
    for mount in mounts:
        if mount.type == "cgroup2":
            if "cpuset" not in _text(fs, f"{mount.point}/cgroup.controllers").split():
                reasons.append(f"{mount.point} has no cpuset controller")
            elif "rw" not in mount.options:
                reasons.append(f"{mount.point} may not be written")
            elif root := _ours(mount.point, _own(proc_root, fs).get(""), fs):
                return V2Enforcer(root, name, fs)
            else:
                reasons.append(f"no directory at or above ours in {mount.point} has cpuset and may be written")
    for mount in mounts:
        if mount.type == "cgroup" and "cpuset" in mount.options:
            if "rw" not in mount.options or not fs.writable(mount.point):
                reasons.append(f"{mount.point} may not be written")
            else:
                return V1Enforcer(mount.point, _cpu_mount(mounts, fs), name, fs)
    return _affinity(mounts, proc_root, fs, "; ".join(reasons) or "no cgroup hierarchy with cpuset is mounted")


def _ours(point: str, own: str | None, fs: Fs) -> str | None:
    """The directory of the v2 hierarchy below which we make ours: see `detect`. `own` is our cgroup's path."""
    above = [point]
    for part in (own or "/").strip("/").split("/"):
        # A path that starts with .. is outside of our namespace: nothing of it can be seen here.
        if not part or part == ".." or not fs.exists(f"{above[-1].rstrip('/')}/{part}/cgroup.controllers"):
            break
        above.append(f"{above[-1].rstrip('/')}/{part}")
    usable = [p for p in above if fs.writable(p) and "cpuset" in _text(fs, f"{p}/cgroup.controllers").split()]
    return next((path for path in reversed(usable) if fs.delegated(path)), usable[0] if usable else None)


def _at(root: str, name: str, mounts: list[Mount], fs: Fs) -> Enforcer:
    """A directory that the operator names."""
    root = root.rstrip("/") or "/"
    if not posixpath.isabs(root):
        raise ConfigError(f"cgroup root {root!r}: not auto, none or an absolute path")
    if fs.exists(f"{root}/cgroup.controllers"):
        return V2Enforcer(root, name, fs)
    if fs.exists(f"{root}/cpuset/cpuset.cpus"):
        cpu = f"{root}/cpu"
        return V1Enforcer(f"{root}/cpuset", cpu if fs.exists(cpu) else None, name, fs)
    if fs.exists(f"{root}/cpuset.cpus"):
        inside = next((m for m in mounts if "cpuset" in m.options and f"{root}/".startswith(f"{m.point}/")), None)
        cpu_mount = _cpu_mount(mounts, fs)
        twin = f"{cpu_mount}{root[len(inside.point) :]}" if inside and cpu_mount else None
        return V1Enforcer(root, twin if twin and fs.exists(twin) else None, name, fs)
    raise ConfigError(
        f"cgroup root {root!r}: no cgroup.controllers (v2), cpuset.cpus or cpuset/cpuset.cpus (v1) in this directory"
    )


def _cpu_mount(mounts: list[Mount], fs: Fs) -> str | None:
    for mount in mounts:
        if mount.type == "cgroup" and "cpu" in mount.options and "rw" in mount.options and fs.writable(mount.point):
            return mount.point
    return None


def _affinity(mounts: list[Mount], proc_root: str, fs: Fs, reason: str) -> AffinityEnforcer:
    """Limited to the cpuset that we are in, where that can be read: the kernel refuses affinity outside of it."""
    mine = _own(proc_root, fs)
    for mount in mounts:
        v2 = mount.type == "cgroup2"
        if not v2 and not (mount.type == "cgroup" and "cpuset" in mount.options):
            continue
        keys = [""] if v2 else [c for c in mine if "cpuset" in c.split(",")]
        own = next((mine[key] for key in keys if key in mine), "/")
        suffix = "cpuset.{}.effective" if v2 else "cpuset.effective_{}"
        for place in (own.rstrip("/"), ""):  # in a cgroup namespace the mount may already be our own group
            cpus = _mask(fs, f"{mount.point}{place}/{suffix.format('cpus')}")
            mems = _mask(fs, f"{mount.point}{place}/{suffix.format('mems')}")
            if cpus:
                return AffinityEnforcer(cpus, mems, reason)
    return AffinityEnforcer(None, None, reason)


def _own(proc_root: str, fs: Fs) -> dict[str, str]:
    """Our cgroup in each hierarchy, by its controllers ("" is v2)."""
    mine = {}
    for line in _text(fs, f"{proc_root}/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        mine[controllers] = path
    return mine


def cgroup_mounts(proc_root: str, fs: Fs) -> list[Mount]:
    """The cgroup mounts of PROC/mounts (spaces and such are octal escapes there)."""
    out = []
    text = _text(fs, f"{proc_root}/self/mounts") or _text(fs, f"{proc_root}/mounts")
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) >= 4 and words[2] in ("cgroup", "cgroup2"):
            point = words[1]
            for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
                point = point.replace(code, char)
            out.append(Mount(point.rstrip("/") or "/", words[2], frozenset(words[3].split(","))))
    return out


def _text(fs: Fs, path: str) -> str:
    try:
        return fs.read(path)
    except OSError:
        return ""


def _mask(fs: Fs, path: str) -> int | None:
    try:
        return parse(_text(fs, path)) or None
    except CpuListError:
        return None
