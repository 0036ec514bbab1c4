"""What the manager reaches the world with: store, kernel, clock, ids.

Decides nothing: the process (`provider.service`) gives the real ones, a test its own. No socket and no timer is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from provider.cgroups import Enforcer
from provider.power import CpuFreq
from provider.store import Store
from provider.topology import Topology

__all__ = ["World"]


@dataclass(frozen=True)
class World:
    """What the manager reaches the world with; a test gives its own."""

    store: Store
    enforcer: Enforcer
    read_topology: Callable[[], Topology]
    host_changed: Callable[[], object]
    """A cheap value that differs once CPUs went off- or online."""
    clock: Callable[[], float]
    """Unix time."""
    new_uuid: Callable[[], bytes]
    """16 bytes."""
    new_set_id: Callable[[], str]
    keep_tasks: Callable[[Mapping[str, int], int], list[str]] = lambda groups, plain: []
    """(CPUs by cgroup of tasks, CPUs of all other tasks) -> what could not be done (`provider.task_cgroups`)."""
    cpufreq: CpuFreq | None = None
    """None: cpufreq is not touched, and no profile with `power` can be met."""
    checkpoint: Callable[[str], None] = lambda name: None
    """Called between the steps of each change; a test raises in it."""
