"""Which cgroups of a stock Mesos agent are those of tasks that use a set.

Decides it from what the agent's GET_TASKS tells: each task's resources, and in its statuses the id of its container,
which is the name of the container's cgroup below the agent's `--cgroups_root`. It looks at no file and asks nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from agent_api.wire import mesos_pb2

__all__ = ["containers"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,250}")
_NESTED = "mesos"
"""The directory between a container's cgroup and those of the containers in it."""


def containers(
    tasks: Iterable[mesos_pb2.Task], sets_of: Callable[[Iterable[mesos_pb2.Resource]], set[str]]
) -> dict[str, tuple[str, ...]]:
    """The sets of each container: path below the agent's root -> set ids, of running tasks only.

    A container in a container may have no cgroup of its own, so the outer one is that of a set as well where all tasks
    in it use the same ones. Where they do not, nothing is said of it: no task runs on another one's CPUs.
    """
    owners: dict[str, set[tuple[str, ...]]] = {}
    for task in tasks:
        parts = _container(task)
        if parts:
            used = tuple(sorted(sets_of(task.resources)))
            for length in range(1, len(parts) + 1):
                owners.setdefault(f"/{_NESTED}/".join(parts[:length]), set()).add(used)
    found = {path: next(iter(used)) for path, used in owners.items() if len(used) == 1}
    return {path: used for path, used in sorted(found.items()) if used}


def _container(task: mesos_pb2.Task) -> list[str]:
    """The ids of a task's container, the outermost first; empty where it has none yet, or one that cannot be a name."""
    for status in reversed(task.statuses):
        if status.container_status.HasField("container_id"):
            parts = []
            one = status.container_status.container_id
            while True:
                parts.append(one.value)
                if not one.HasField("parent"):
                    break
                one = one.parent
            return parts[::-1] if all(_ID.fullmatch(part) for part in parts) else []
    return []
