"""What the doctor is told of a host, and what it says: immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from provider.power_rules import Policy
from provider.topology import Topology

__all__ = ["BAD", "OK", "WARN", "Cgroups", "Facts", "Finding"]

OK, WARN, BAD = "ok", "warn", "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about the host. `remedy` is empty where nothing needs to be done."""

    topic: str
    level: str
    sentence: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Cgroups:
    """What `provider.cgroups.detect` found, and what lies around it."""

    kind: str
    """cgroup2, cgroup1 or affinity: what would be in force."""
    root: str = ""
    """The directory in which ours is made; "" for affinity."""
    name: str = "pinfold"
    reason: str = ""
    """Why it is affinity."""
    asked: str = "auto"
    """The value of --cgroup-root."""
    top: bool = False
    """The root is the mount point of the whole hierarchy."""
    delegated: bool = False
    """The root was given to us by systemd (Delegate=)."""
    controllers: frozenset[str] = frozenset()
    """That directories in the root can have."""
    crowd: tuple[int, ...] = ()
    """Processes that sit in the root itself, where it is not the top (cgroup v2 allows none there)."""
    cpus: int | None = None
    """What the root lets us use; None: no limit known."""
    mems: int | None = None
    sets: Mapping[str, int] = field(default_factory=dict)
    """Exclusive sets that are in the kernel now, with their CPUs."""
    bound: str = ""
    """A time limit (cpu.max) on or above the root, as text."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Other groups with processes in them, beside the ones that the root is in -> the CPUs they may run on."""
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Partitions that are not ours, with their CPUs."""


@dataclass(frozen=True)
class Facts:
    """One host at one moment. None and empty are "the kernel does not say"."""

    host: Topology
    cgroups: Cgroups
    kernel: str = ""
    """As uname -r."""
    systemd: bool = False
    smt: str = ""
    """sys/devices/system/cpu/smt/control."""
    governors: Mapping[str, int] = field(default_factory=dict)
    """cpufreq governor -> the CPUs that have it."""
    policies: Mapping[int, Policy] = field(default_factory=dict)
    """What the cpufreq of each CPU offers."""
    numa_balancing: int | None = None
    thp: str = ""
    """The chosen word of sys/kernel/mm/transparent_hugepage/enabled."""
