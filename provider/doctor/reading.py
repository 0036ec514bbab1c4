"""Reads what the doctor is told: the host, its cgroups, and the settings that slow sets down.

Decides where each fact is found. Changes nothing, judges nothing, and fails over nothing but a root without CPUs and a
--cgroup-root that is none: a file that is missing is a fact that is unknown.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

from provider import cgroups, sysfs
from provider.cgroups import Enforcer, Fs, RealFs
from provider.cgroups.detect import Mount, cgroup_mounts
from provider.cpuset import CpuListError, parse
from provider.doctor.values import Cgroups, Facts
from provider.errors import EnforcementError
from provider.power import CpuFreq
from provider.power_rules import GOVERNOR
from provider.sysfs_files import Files

__all__ = ["read"]

MOST_GROUPS = 200
"""How many directories are looked at beside ours, on each level."""
CPU = "sys/devices/system/cpu"


class Below(RealFs):
    """A copy of a host: every path is looked up below one directory. For reading only."""

    def __init__(self, root: str) -> None:
        self.below = root.rstrip("/")

    def read(self, path: str) -> str:
        return super().read(self.below + path)

    def listdir(self, path: str) -> list[str]:
        return super().listdir(self.below + path)

    def exists(self, path: str) -> bool:
        return super().exists(self.below + path)

    def writable(self, path: str) -> bool:
        return super().writable(self.below + path)

    def delegated(self, path: str) -> bool:
        return super().delegated(self.below + path)


def read(root: str | Path = "/", cgroup_root: str = "auto", cgroup_name: str = "pinfold") -> Facts:
    """The host below `root` (sys/ and proc/ in it), with cgroups as `--cgroup-root` would find them: for "auto" below
    `root` as well. Raises TopologyError, ConfigError, and OSError for nothing."""
    root = str(root)
    files = Files(root)
    host = sysfs.read(root)
    fs: Fs = Below(root) if root.rstrip("/") else RealFs()
    place = fs if cgroup_root in ("auto", "none") else RealFs()
    enforcer = cgroups.detect(cgroup_root, cgroup_name, proc_root="/proc", fs=place)
    cpufreq = CpuFreq(Path(root), "")
    policies = cpufreq.policies(host.online)
    return Facts(
        host=host,
        cgroups=_cgroups(enforcer, cgroup_mounts("/proc", place), place, cgroup_root, cgroup_name),
        kernel=_kernel(files),
        systemd=(files.text("proc/1/comm") or "").strip() == "systemd" or bool(files.names("run/systemd/system")),
        smt=(files.text(f"{CPU}/smt/control") or "").strip(),
        governors=_governors(cpufreq, policies),
        policies=policies,
        numa_balancing=files.number("proc/sys/kernel/numa_balancing"),
        thp=_chosen(files.text("sys/kernel/mm/transparent_hugepage/enabled") or ""),
    )


def _kernel(files: Files) -> str:
    text = (files.text("proc/sys/kernel/osrelease") or "").strip()
    if not text:
        found = re.match(r"Linux version (\S+)", files.text("proc/version") or "")
        text = found[1] if found else ""
    return text


def _chosen(text: str) -> str:
    """The word in brackets of "always [madvise] never"."""
    found = re.search(r"\[([a-z_]+)\]", text)
    return found[1] if found else ""


def _governors(cpufreq: CpuFreq, cpus: Iterable[int]) -> dict[str, int]:
    """governor -> the CPUs that have it now."""
    governors: dict[str, int] = {}
    for cpu in cpus:
        if name := cpufreq.read(cpu).get(GOVERNOR):
            governors[name] = governors.get(name, 0) | 1 << cpu
    return governors


# --- cgroups ----------------------------------------------------------------------------------------------------


def _cgroups(enforcer: Enforcer, found: list[Mount], fs: Fs, asked: str, name: str) -> Cgroups:
    cpus, mems = _limits(enforcer)
    plain = enforcer.plain_path()
    if enforcer.kind == "affinity":
        reason = str(getattr(enforcer, "reason", ""))
        return Cgroups(kind="affinity", name=name, reason=reason, asked=asked, cpus=cpus, mems=mems)
    root = posixpath.dirname(posixpath.dirname(plain))
    v2 = enforcer.kind == "cgroup2"
    inside = [mount.point for mount in found if f"{root}/".startswith(f"{mount.point.rstrip('/')}/")]
    point = max(inside, key=len, default=root)
    top = v2 and not fs.exists(f"{root}/cgroup.type")
    sets, others, partitions = _beside(fs, point, root, name, v2)
    return Cgroups(
        kind=enforcer.kind,
        root=root,
        name=name,
        asked=asked,
        top=top,
        delegated=v2 and fs.delegated(root),
        controllers=frozenset(_text(fs, f"{root}/cgroup.controllers").split()) if v2 else _v1_controllers(found, fs),
        crowd=() if top or not v2 else tuple(int(pid) for pid in _text(fs, f"{root}/cgroup.procs").split()),
        cpus=cpus,
        mems=mems,
        sets=sets,
        bound=_bound(fs, point, root) if v2 else "",
        others=others,
        partitions=partitions,
    )


def _limits(enforcer: Enforcer) -> tuple[int | None, int | None]:
    try:
        return enforcer.allowed()
    except EnforcementError:
        return None, None


def _v1_controllers(found: list[Mount], fs: Fs) -> frozenset[str]:
    have = {"cpuset"}
    for mount in found:
        if mount.type == "cgroup" and fs.writable(mount.point):
            have |= mount.options & {"cpu", "memory"}
    return frozenset(have)


def _bound(fs: Fs, point: str, root: str) -> str:
    path = root
    while f"{path}/".startswith(f"{point.rstrip('/')}/") and path != "/":
        text = _text(fs, f"{path}/cpu.max")
        if text and not text.startswith("max"):
            return f"{path}/cpu.max is {text!r}"
        path = posixpath.dirname(path)
    return ""


def _beside(
    fs: Fs, point: str, root: str, name: str, v2: bool
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """(our exclusive sets, other groups with processes, others' partitions), each with CPUs. Looked at are the
    directories beside those that lead to ours."""
    sets: dict[str, int] = {}
    for entry in _names(fs, f"{root}/{name}"):
        if entry.startswith("set."):
            sets[entry.removeprefix("set.")] = _cpus(fs, f"{root}/{name}/{entry}", v2)
    others: dict[str, int] = {}
    partitions: dict[str, int] = {}
    path = point
    while True:
        # On v1 the top may hold anybody; on v2 only its kernel threads, init's early children, and those of no service.
        if not v2 and _text(fs, f"{path}/cgroup.procs"):
            others[path] = _cpus(fs, path, v2)
        rest = root[len(path) :].strip("/")
        following = rest.split("/")[0] if rest else name
        for entry in _names(fs, path)[:MOST_GROUPS]:
            beside = f"{path.rstrip('/')}/{entry}"
            if entry in (following, f"{name}.main"):
                continue
            cpus = _cpus(fs, beside, v2)
            if v2 and _text(fs, f"{beside}/cpuset.cpus.partition") in ("root", "isolated"):
                partitions[beside] = cpus
            elif _populated(fs, beside, v2):
                others[beside] = cpus
        if not rest:
            return sets, others, partitions
        path = f"{path.rstrip('/')}/{following}"


def _populated(fs: Fs, path: str, v2: bool) -> bool:
    if v2:
        return "populated 1" in _text(fs, f"{path}/cgroup.events")
    return bool(_text(fs, f"{path}/cgroup.procs"))


def _cpus(fs: Fs, path: str, v2: bool) -> int:
    """CPUs that its processes may run on: its own, or those of the nearest above that says."""
    file = "cpuset.cpus.effective" if v2 else "cpuset.effective_cpus"
    while path and path != "/":
        if text := _text(fs, f"{path}/{file}") or ("" if v2 else _text(fs, f"{path}/cpuset.cpus")):
            return _mask(text)
        path = posixpath.dirname(path)
    return 0


def _names(fs: Fs, path: str) -> list[str]:
    try:
        return fs.listdir(path)
    except OSError:
        return []


def _text(fs: Fs, path: str) -> str:
    try:
        return fs.read(path)
    except OSError:
        return ""


def _mask(text: str) -> int:
    try:
        return parse(text.strip()) if text.strip() else 0
    except CpuListError:
        return 0
