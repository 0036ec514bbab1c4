"""The tasks that run, as Mesos shows containers: GET_CONTAINERS, /containers and /monitor/statistics.

Decides what counts as a task's use: the CPU time and the resident memory of its shim and of all processes below it, as
the kernel tells of each. What the task was given comes from the core. Nothing is kept between two calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_api import shim
from agent_api.wire import agent_pb2, codec

__all__ = ["containers", "measure", "statistics"]

Container = agent_pb2.Response.GetContainers.Container
_TICKS = os.sysconf("SC_CLK_TCK")


def measure(found: Iterable[Container], now: float, proc_root: str = "/proc") -> None:
    """Fill in what is used: of processes that are gone nothing, of children that have ended their CPU time."""
    those = list(found)
    family = shim.children(proc_root) if those else {}
    for container in those:
        used = container.resource_statistics
        used.timestamp = now
        user = system = rss = processes = 0
        pid = container.container_status.executor_pid
        for one in (pid, *shim.descendants(pid, family)):
            try:
                text = Path(proc_root, str(one), "stat").read_text(errors="replace")
            except OSError:
                continue
            fields = text[text.rindex(")") + 2 :].split()
            # utime and stime, each with that of the children waited for; resident pages (proc(5), from field 3 on).
            user += int(fields[11]) + int(fields[13])
            system += int(fields[12]) + int(fields[14])
            rss += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            processes += 1
        if processes:
            used.cpus_user_time_secs = user / _TICKS
            used.cpus_system_time_secs = system / _TICKS
            used.mem_rss_bytes = rss
            used.processes = processes


def containers(found: Iterable[Container]) -> list[dict[str, Any]]:
    """GET /containers."""
    return [
        {"container_id": one.container_id.value, **entry, "status": codec.to_dict(one.container_status)}
        for one, entry in ((one, _entry(one)) for one in found)
    ]


def statistics(found: Iterable[Container]) -> list[dict[str, Any]]:
    """GET /monitor/statistics."""
    return [_entry(one) for one in found]


def _entry(container: Container) -> dict[str, Any]:
    return {
        "executor_id": container.executor_id.value,
        "executor_name": container.executor_name,
        "framework_id": container.framework_id.value,
        "source": container.executor_id.value,
        "statistics": codec.to_dict(container.resource_statistics),
    }
