"""Tasks that somebody else starts, in cgroups that are not ours: kept on the CPUs that are theirs.

A stock Mesos agent starts tasks in cgroups of its own, not in those of sets. Where the operator names the root of
these cgroups, `TaskCgroups.keep` looks at every process below it: those in a cgroup that belongs to a set get the set's
CPUs, all others are kept off the CPUs of exclusive sets. It does this with scheduling affinity, thread by thread, so
that no process leaves the cgroup in which Mesos limits, counts and kills it; what a process starts inherits it.

It never moves a process, writes no cgroup file, follows no link, and touches no process outside the root. It decides
nothing about CPUs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from provider import cpuset
from provider.errors import ConfigError

__all__ = ["TaskCgroups"]

MAX_DEPTH = 16
"""Of cgroups below the root; deeper ones are left alone."""


class TaskCgroups:
    """All processes below one cgroup directory."""

    def __init__(self, root: Path, proc_root: Path = Path("/proc"), ours: Path | None = None) -> None:
        """`ours` is the base directory of our own cgroups. Raises ConfigError where the root cannot be the root."""
        try:
            self._root = root.resolve(strict=True)
        except OSError as error:
            raise ConfigError(f"--task-cgroup-root {root}: {error.strerror}") from error
        if not (self._root / "cgroup.procs").is_file():
            raise ConfigError(f"--task-cgroup-root {root}: is no cgroup directory, it has no cgroup.procs")
        if self._root.parent == self._root or not (self._root.parent / "cgroup.procs").is_file():
            raise ConfigError(
                f"--task-cgroup-root {root}: is the root of a hierarchy, where all processes of the host are"
            )
        if ours is not None and (ours.resolve() in (self._root, *self._root.parents) or self._root in ours.parents):
            raise ConfigError(f"--task-cgroup-root {root}: overlaps with this provider's own cgroup {ours}")
        self._proc = proc_root
        self._given: set[int] = set()
        """What was given out last."""

    def keep(self, groups: Mapping[str, int], plain: int) -> list[str]:
        """Keep the processes of each cgroup (by path below the root) on its CPUs, and all others on `plain`.

        Returns what could not be done, in words. A process that ends meanwhile is no problem.
        """
        problems: list[str] = []
        for directory, relative in self._below(self._root, ""):
            mask = self._mask(groups, relative)
            wanted = plain if mask is None else mask
            for pid in self._pids(directory):
                for thread in self._threads(pid):
                    if problem := wanted and self._one(thread, wanted, self._given):
                        problems.append(f"task cgroup {relative or '.'}: process {pid}: {problem}")
                        break
        self._given = {plain, *groups.values()}
        return problems

    @staticmethod
    def _mask(groups: Mapping[str, int], relative: str) -> int | None:
        """The CPUs of the set that a cgroup belongs to; None where it is in none."""
        parts = relative.split("/")
        for length in range(len(parts), 0, -1):
            found = groups.get("/".join(parts[:length]))
            if found is not None:
                return found
        return None

    def _below(self, directory: Path, relative: str, depth: int = 0) -> Iterator[tuple[Path, str]]:
        yield directory, relative
        if depth >= MAX_DEPTH:
            return
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner = f"{relative}/{entry.name}" if relative else entry.name
                yield from self._below(Path(entry.path), inner, depth + 1)

    @staticmethod
    def _pids(directory: Path) -> list[int]:
        try:
            found = [int(line) for line in (directory / "cgroup.procs").read_text().split()]
        except (OSError, ValueError):
            # Gone, or of a threaded cgroup whose processes its parent lists.
            return []
        # A process of another pid namespace is shown as 0.
        return [pid for pid in found if pid > 0]

    def _threads(self, pid: int) -> list[int]:
        try:
            return [int(entry.name) for entry in (self._proc / str(pid) / "task").iterdir()]
        except OSError:
            return []

    def _one(self, thread: int, wanted: int, given: set[int]) -> str:
        """One thread; who has what we gave out before did not choose it. Returns what is wrong."""
        try:
            now = cpuset.of(os.sched_getaffinity(thread))
            if not now & ~wanted and now not in given:
                return ""  # On CPUs of its own choice.
            right = wanted if now in given else (now & wanted) or wanted
            if right == now:
                return ""
            os.sched_setaffinity(thread, cpuset.ids(right))
            got = cpuset.of(os.sched_getaffinity(thread))
        except ProcessLookupError:
            return ""
        except OSError as error:
            return f"CPUs {cpuset.format_mask(wanted)} were refused: {error.strerror}"
        if got & ~right:
            return f"CPUs should be {cpuset.format_mask(right)}, the kernel has {cpuset.format_mask(got)}"
        return ""
