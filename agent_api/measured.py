"""What the agent's host has, for the resources that the operator does not name.

Decides how much is left to the host itself, as Mesos does. It only reads.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent_api import shim
from agent_api.wire import mesos_pb2

__all__ = ["online_cpus", "resources"]


def resources(online: int, work_dir: str) -> list[mesos_pb2.Resource]:
    """All online CPUs; memory and disk less a part for the host; the ports that Mesos offers."""
    ports = mesos_pb2.Resource(name="ports", type=mesos_pb2.Value.RANGES)
    ports.ranges.range.add(begin=31000, end=32000)
    return [
        _scalar("cpus", online),
        _scalar("mem", _less_reserve(_memory_mb(), 1024)),
        _scalar("disk", _less_reserve(_disk_mb(work_dir), 5 * 1024)),
        ports,
    ]


def _scalar(name: str, value: float) -> mesos_pb2.Resource:
    return mesos_pb2.Resource(name=name, type=mesos_pb2.Value.SCALAR, scalar=mesos_pb2.Value.Scalar(value=value))


def _less_reserve(total: int, reserve: int) -> int:
    """What is left beside a fixed reserve, or half where that is less than half of the total."""
    return total - reserve if total >= 2 * reserve else total // 2


def _memory_mb() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 1024


def _disk_mb(work_dir: str) -> int:
    path = Path(work_dir).absolute()
    while not path.exists():
        path = path.parent
    status = os.statvfs(path)
    return status.f_frsize * status.f_blocks // (1024 * 1024)


def online_cpus(sysfs_root: str) -> int:
    """How many CPUs the kernel runs; those this process may use, where sysfs does not say."""
    try:
        text = (Path(sysfs_root) / "sys/devices/system/cpu/online").read_text().strip()
        count = shim.list_mask(text).bit_count()
    except (OSError, ValueError):
        count = 0
    return count or len(os.sched_getaffinity(0))
