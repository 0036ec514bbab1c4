"""Tasks that a stock agent starts: which cgroups are to be kept on which CPUs.

Decides it from the sets, from what frameworks named and from what the agent tells of its tasks (`provider.dialect`).
How they are kept there is the caller's (`provider.task_cgroups`); it does no I/O of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from agent_api.wire import mesos_pb2
from provider import inventory
from provider.dialect import Dialect
from provider.inventory import Host, State

__all__ = ["Tasks"]

log = logging.getLogger(__name__)


class Tasks:
    """The tasks of one agent."""

    def __init__(self, dialect: Dialect, keep: Callable[[Mapping[str, int], int], list[str]]) -> None:
        """`keep`: (CPUs by cgroup of tasks, CPUs of all other tasks) -> what could not be done."""
        self._dialect = dialect
        self._keep = keep
        self._containers: Mapping[str, tuple[str, ...]] = {}
        """Cgroups of tasks that run in sets, by what the agent told last."""
        self._problems: list[str] = []

    def told(self, state: State, tasks: Iterable[mesos_pb2.Task]) -> None:
        """Take over which tasks the agent runs."""
        before, self._containers = self._containers, self._dialect.containers(state, tasks)
        for path in sorted(self._containers.keys() - before.keys()):
            log.info("task cgroup %s belongs to set %s", path, " and ".join(self._containers[path]))

    def keep(self, host: Host, state: State) -> None:
        """Keep all tasks where they belong. A set of which no CPU is there runs where plain tasks run."""
        plain = inventory.plain_mask(host, state)
        groups = {}
        for cgroup, set_ids in {**self._containers, **self._dialect.groups(state)}.items():
            mask = 0
            for one in filter(None, map(state.sets.get, set_ids)):
                mask |= one.cpus & host.allowed if one.exclusive else inventory.float_mask(host, state, one.pool)
            groups[cgroup] = mask or plain
        problems = self._keep(groups, plain)
        for problem in problems:
            if problem not in self._problems:
                log.error("%s", problem)
        self._problems = problems

    def release(self, plain: int) -> None:
        """Nobody looks after the sets any more: all tasks may use these CPUs."""
        self._keep({}, plain)
