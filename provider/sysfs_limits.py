"""The CPUs and memory nodes that the process's cgroup leaves to it, on cgroup v1 and v2.

Decides where the limit of one process is written; never what is done about it. It is the limit that this
process or the dumped one lives under, not that of the provider's cgroup parent (`provider.cgroups`).
"""

from __future__ import annotations

import re
from pathlib import Path

from provider import cpuset
from provider.sysfs_files import Files

__all__ = ["cgroup_limits"]

_V2 = (("cpuset.cpus.effective",), ("cpuset.mems.effective",))
_V1 = (("cpuset.effective_cpus", "cpuset.cpus"), ("cpuset.effective_mems", "cpuset.mems"))
_NOPREFIX = (("effective_cpus", "cpus"), ("effective_mems", "mems"))


def cgroup_limits(root: str | Path = "/") -> tuple[int | None, int | None]:
    """(CPUs, memory nodes) that the cpuset of the process below `root` allows; None where nothing limits it.

    The hierarchy is found by `proc/mounts` (v1 with the controller `cpuset` first, since a controller is in one
    hierarchy only), the cgroup by `proc/self/cgroup`, then `proc/self/cpuset`. A cgroup that has no cpuset files,
    or whose path another namespace wrote, is under the limit of its nearest ancestor that can be seen. Masks are as
    written and may name CPUs that are not online.
    """
    files = Files(root)
    mount = _mount(files)
    if mount is None:
        return None, None
    base, version, noprefix = mount
    path = _path(files, version)
    names = _V2 if version == 2 else _NOPREFIX if noprefix else _V1
    cpus = _nearest(files, base, path, names[0], cpuset.MAX_CPU_ID)
    mems = _nearest(files, base, path, names[1], cpuset.MAX_NODE_ID)
    return cpus, mems


def _mount(files: Files) -> tuple[str, int, bool] | None:
    """(mount point, 1 or 2, without the prefix "cpuset.") of the hierarchy that has cpusets."""
    second = None
    for line in (files.text("proc/mounts") or "").splitlines():
        fields = line.split(" ")
        if len(fields) < 4:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[1]).strip("/")
        options = fields[3].split(",")
        if fields[2] == "cpuset" or (fields[2] == "cgroup" and "cpuset" in options):
            return point, 1, fields[2] == "cpuset" or "noprefix" in options
        if fields[2] == "cgroup2" and second is None:
            second = (point, 2, False)
    return second


def _path(files: Files, version: int) -> list[str]:
    """The parts of the cgroup's path in the hierarchy."""
    found = None
    for line in (files.text("proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (version == 2 and number == "0" and not controllers) or (
            version == 1 and "cpuset" in controllers.split(",")
        ):
            found = path
    if found is None:
        found = files.text("proc/self/cpuset") or "/"
    parts = [part for part in found.strip().split("/") if part and part != "."]
    return [] if ".." in parts else parts


def _nearest(files: Files, base: str, path: list[str], names: tuple[str, ...], max_id: int) -> int | None:
    for length in range(len(path), -1, -1):
        directory = "/".join([base, *path[:length]])
        for name in names:
            mask = files.mask(f"{directory}/{name}", max_id=max_id)
            if mask:
                return mask
    return None
