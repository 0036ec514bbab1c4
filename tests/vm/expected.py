"""What Pinfold relies on in the kernel's answers, and which of them the fake cgroup file system has to give as well.

Decides that; the answers themselves are what `guest/answers.py` finds. A kernel that answers otherwise is news: the
test fails.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ERRNO_TABLE", "expected"]

_BOTH = {
    "cpus '15'": "ok; 15",
    "cpus '16'": "ERANGE; 2-3",
    "cpus 'x'": "EINVAL; 2-3",
    "cpus '5-3'": "EINVAL; 2-3",
    "cpus '0-3:1/2'": "ok; 0,2",
    "mems '4'": "EINVAL; 0",
    "cpus emptied, a task inside": "ENOSPC; 2-3 / 2-3",
    "mems emptied, a task inside": "ENOSPC; 0",
    "pid of a process that has ended": "ESRCH",
    "rmdir with a task inside": "EBUSY",
    "mkdir of what is there": "EEXIST",
    "Cpus_allowed_list of a task: at start, narrowed to 2-3, widened to 2-7": "2-5; 2-3; 2-7",
}
ERRNO_TABLE: Mapping[str, Mapping[str, str]] = {
    "v1": _BOTH
    | {
        "child list partly outside the parent's": "EACCES; 2-3 / 2-3",
        "parent shrunk below its child": "EBUSY; 2-5 / 2-5",
        "list never set": "(empty) / (empty)",
        "task into a cpuset never set": "ENOSPC",
        "list with a CPU that is offline": "EINVAL; 2 / 2",
        "list that overlaps an exclusive sibling's": "EINVAL; 4-5 / 4-5",
        "a CPU of the set goes offline": "2 / 2; 2",
        "... and comes back": "2 / 2",
        "all CPUs of the set go offline": "(empty) / (empty); the task is in its parent",
    },
    "v2": _BOTH
    | {
        "child list partly outside the parent's": "ok; 6-9 / 6-7",
        "child list wholly outside the parent's": "ok; 8-9 / 0-7",
        "parent shrunk below its child": "ok; 2-5 / 2-3",
        "list never set": "(empty) / 0-7",
        "task into a cpuset never set": "ok",
        "cpuset enabled where a task sits": "ok",
        "... then a task moves below it": "EOPNOTSUPP",
        "memory enabled where a task sits": "EBUSY",
        "task into a directory that has controllers enabled": "EBUSY",
        "list with a CPU that is offline": "ok; 2-3 / 2",
        "a CPU of the set goes offline": "2-3 / 2; 2",
        "... and comes back": "2-3 / 2-3",
        "all CPUs of the set go offline": "2-3 / 0-1,4-7; the task is inside",
        "cpu.max 150000 100000": "ok; 150000 100000",
        "cpu.max 999 100000": "EINVAL; max 100000",
    },
}
"""The table of field-reports section D, as Debian's 6.1 and 6.12 answer."""

_NOT_OF_THE_FAKE = (
    "local:",  # Pinfold never makes its base a partition
    "cpus emptied",  # the fake refuses it: nothing of ours may write an empty list
    "mems emptied",
    "cpus 'all'",
    "cpus '1,,2'",  # nothing of ours writes these forms
    "list that overlaps an exclusive sibling's",  # nor sets cpuset.cpu_exclusive
    "memory enabled",
    "cpuset and memory enabled",
    "all CPUs of a remote partition go offline",  # 6.12 says EBUSY to the last one: scheduling, not cpusets
)


def expected(found: Mapping[str, str]) -> dict[str, str]:
    """The answers of a real kernel that the fake must give too."""
    return {key: answer for key, answer in found.items() if not key.startswith(_NOT_OF_THE_FAKE)}
