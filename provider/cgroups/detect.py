"""Which way of enforcing this host allows. Decides by the mounts and the files found; changes nothing."""

from __future__ import annotations

from provider.cgroups.enforcer import Enforcer
from provider.cgroups.fs import Fs, RealFs

__all__ = ["detect"]


def detect(
    cgroup_root: str = "auto", name: str = "pinfold", *, proc_root: str = "/proc", fs: Fs | None = None
) -> Enforcer:
    """The enforcer for this host; its base directory is `<root>/<name>`.

    `cgroup_root`: "auto" takes cgroup v2 where its mount has the cpuset controller and may be written, else the v1
    cpuset mount where it may be written, else affinity. "none" is affinity. A path D: cgroup v2 where
    D/cgroup.controllers is, v1 where D/cpuset.cpus is (D in the cpuset hierarchy; the same place in the cpu hierarchy is used
    where that is mounted), or where D/cpuset/cpuset.cpus is (then D/cpu is the cpu hierarchy). Raises ConfigError
    for anything else. `proc_root` is the procfs directory (mounts, self/cgroup).
    """
    raise NotImplementedError
