"""How much memory a task may use: a cgroup of the task's own, in which the kernel limits it.

Decides where that cgroup is (v2: below the one that has the task's CPUs; v1: in the memory hierarchy) and how large the
limit is, and tells afterwards whether the kernel killed for it. Where there is no memory controller nothing is limited,
and `described` says so. The provider has no part in it: what is below its cgroups is to it as what is in them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from agent_api.cgroup_paths import Hierarchy, words, write

__all__ = ["MIN_MB", "Place", "described", "oom_kills", "place", "remove"]

MIN_MB = 32.0
"""No limit is lower (as with Mesos): a command needs some memory to come into being."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task belongs. `problem` "" = it is limited, or need not be."""

    directories: list[str]
    """What its shim joins."""
    leaf: str = ""
    """What its command joins before it is executed, so that the shim does not count; "" = it has none of its own."""
    problem: str = ""


def described(hierarchy: Hierarchy) -> str:
    """One line for a person: by what the memory of tasks is limited, or that it is not, and why."""
    problem = _problem(hierarchy)
    return f"not limited: {problem}" if problem else f"{hierarchy.kind} {hierarchy.memory_root or hierarchy.root}"


def _problem(hierarchy: Hierarchy) -> str:
    if hierarchy.kind == "affinity":
        return "no cgroup may be written"
    if hierarchy.kind == "cgroup1":
        return "" if hierarchy.memory_root else "no memory hierarchy may be written"
    controllers = f"{hierarchy.root}/cgroup.controllers"
    return "" if "memory" in words(controllers) else f"no memory controller in {controllers}"


def place(hierarchy: Hierarchy, directories: list[str], task: tuple[str, str], mem_mb: float | None) -> Place:
    """Make the cgroup of a task (framework's id, task's id) that belongs into `directories`, with its limit, read back.

    `mem_mb` None = no limit is asked for. What cannot be done is the `problem`, and the task runs without a limit.
    """
    problem = _problem(hierarchy)
    if not directories or problem:
        return Place(directories, problem=problem if mem_mb is not None else "")
    name = f"task.{hashlib.sha256(chr(0).join(task).encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    try:
        if hierarchy.kind == "cgroup2":
            # All tasks, limited or not, and all shims: no process may be beside groups that have the controller.
            for above in _between(hierarchy.root, directories[0]):
                if "memory" not in words(f"{above}/cgroup.subtree_control"):
                    write(f"{above}/cgroup.subtree_control", "+memory")
            leaf, file = f"{directories[0]}/{name}", "memory.max"
            shims = Path(directories[0], "shims")
            shims.mkdir(exist_ok=True)
            directories = [str(shims)]
        elif mem_mb is None:
            return Place(directories)
        else:
            base = Path(hierarchy.memory_root or "", hierarchy.name)
            base.mkdir(exist_ok=True)
            leaf, file = f"{base}/{name}", "memory.limit_in_bytes"
        remove(leaf)  # of an earlier run: its count of kills is not ours
        Path(leaf).mkdir(exist_ok=True)
    except OSError as exc:
        return Place(directories, problem=f"{exc.filename}: {exc.strerror}")
    if mem_mb is None:
        return Place(directories, leaf)
    limit = int(max(mem_mb, MIN_MB) * 1024 * 1024) // os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PAGE_SIZE")
    try:
        write(f"{leaf}/{file}", str(limit))
        found = Path(leaf, file).read_text().strip()
    except OSError as exc:
        return Place(directories, leaf, f"{exc.filename}: {exc.strerror}")
    return Place(directories, leaf, "" if found == str(limit) else f"{leaf}/{file}: wrote {limit}, kernel has {found}")


def oom_kills(leaf: str) -> int:
    """How many processes of the task the kernel killed because of its limit."""
    for name in ("memory.events", "memory.oom_control"):
        with contextlib.suppress(OSError):
            for line in Path(leaf, name).read_text().splitlines():
                key, _, value = line.partition(" ")
                if key == "oom_kill" and value.isdigit():
                    return int(value)
    return 0


def remove(leaf: str) -> bool:
    """Remove a task's cgroup; False while there are still processes in it."""
    try:
        Path(leaf).rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _between(root: str, directory: str) -> list[str]:
    """The directories from the root down to this one. OSError where it is not below."""
    if not f"{directory}/".startswith(f"{root.rstrip('/')}/"):
        raise OSError(0, f"not below {root}", directory)
    below = [Path(directory), *Path(directory).parents]
    return [str(path) for path in reversed(below[: below.index(Path(root)) + 1])]
