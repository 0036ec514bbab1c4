"""CPU sets on cgroup v1: the `cpuset` hierarchy, and `cpu` beside it for guarantees and bursts.

Decides: nothing. Facts it rests on (seen on Linux 6.18): a child's list outside its parent's is EACCES, a parent
narrowed under its children EBUSY, a task joining a group without cpus or mems ENOSPC, and a CPU that goes offline is
taken out of every list and never put back by the kernel.
"""

from __future__ import annotations

import contextlib
import errno
import logging

from provider.cgroup_values import Desired, Difference, Group, Rules, SetPartition, SetQuota, SetWeight, set_of
from provider.cgroups.fs import Fs
from provider.cgroups.tree import TreeEnforcer, errno_text
from provider.errors import EnforcementError

__all__ = ["V1Enforcer"]

log = logging.getLogger(__name__)

_RULES = Rules(inherits=False, partitions=False, cpu=True, weight_unit=1024, weight_min=2, weight_max=262_144)
_NO_CPU = Rules(inherits=False, partitions=False, cpu=False)


class V1Enforcer(TreeEnforcer):
    """`root` is the parent in the cpuset hierarchy, `cpu_root` the parent in the cpu hierarchy (the same directory
    where both are mounted together, None where there is none: then guarantees and bursts are not in force)."""

    kind = "cgroup1"

    def __init__(self, root: str, cpu_root: str | None, name: str, fs: Fs) -> None:
        super().__init__(root, name, fs, _RULES if cpu_root else _NO_CPU)
        self.cpu_root = cpu_root.rstrip("/") if cpu_root else None
        self.cpu_base = f"{self.cpu_root}/{name}" if self.cpu_root else None

    def _cpu_dir(self, name: str) -> str | None:
        if self.cpu_base is None:
            return None
        return f"{self.cpu_base}/{name}" if name else self.cpu_base

    def _limits(self) -> tuple[int | None, int | None]:
        cpus = self.mask(f"{self.root}/cpuset.effective_cpus") or self.mask(f"{self.root}/cpuset.cpus")
        mems = self.mask(f"{self.root}/cpuset.effective_mems") or self.mask(f"{self.root}/cpuset.mems")
        return cpus or None, mems or None

    def _group(self, name: str) -> Group:
        path = self._dir(name)
        cpus, mems = self.mask(f"{path}/cpuset.cpus"), self.mask(f"{path}/cpuset.mems")
        weight: int | None = None
        quota: tuple[int, int] | None = None
        cpu = self._cpu_dir(name)
        if cpu is not None:
            with contextlib.suppress(ValueError):
                weight = int(self.text(f"{cpu}/cpu.shares"))
            with contextlib.suppress(ValueError):
                time_us = int(self.text(f"{cpu}/cpu.cfs_quota_us"))
                if time_us > 0:
                    quota = (time_us, int(self.text(f"{cpu}/cpu.cfs_period_us")))
        return Group(
            cpus=cpus,
            effective=self._in_effect(path, "cpus"),
            mems=mems,
            effective_mems=self._in_effect(path, "mems"),
            weight=weight,
            quota=quota,
        )

    def _in_effect(self, path: str, what: str) -> int:
        # Kernels before 4.2 have no effective files: there the list is what is in force.
        return self.mask(f"{path}/cpuset.effective_{what}") or self.mask(f"{path}/cpuset.{what}")

    def _prepare(self) -> None:
        for name in self._names():
            self._make_twin(name)

    def _made(self, name: str) -> None:
        self._make_twin(name)
        # On v2 pages go along when the nodes of a group change; here only where this says so.
        path = f"{self._dir(name)}/cpuset.memory_migrate"
        if self.fs.exists(path):
            try:
                self.fs.write(path, "1")
            except OSError as exc:
                self._note(set_of(name) or "", f"memory stays where it is when the nodes change: {errno_text(exc)}")

    def _listed(self, name: str) -> None:
        return

    def differences(self, desired: Desired) -> tuple[Difference, ...]:
        """A group without its twin in the cpu hierarchy is missing there: its tasks would have no share of time. What
        the kernel moved out of a group without CPUs belongs back into it."""
        half = [name for name in self._names() if self._lacks_twin(name)]
        there = "a cgroup in the cpu hierarchy"
        return (
            *super().differences(desired),
            *(Difference(set_of(name), name, "missing", there, "none") for name in half),
            *(
                Difference(set_of(name), name, "processes", "in the cgroup", f"moved out of it: {pids[:20]}")
                for name, pids in self._strays().items()
            ),
        )

    def _lacks_twin(self, name: str) -> bool:
        cpu = self._cpu_dir(name)
        return cpu is not None and cpu != self._dir(name) and not self.fs.exists(cpu)

    def _make_twin(self, name: str) -> None:
        """The group's directory in the cpu hierarchy, and all above it that a death between the two mkdirs, or a hand,
        left out."""
        if not self._lacks_twin(name):
            return
        parts = name.split("/") if name else []
        for depth in range(len(parts) + 1):
            self._make_dir("/".join([self.cpu_base or "", *parts[:depth]]))

    def _directories(self, name: str) -> list[tuple[str, str]]:
        out: list[tuple[str, str]] = []
        for base, root in ((self.base, self.root), (self.cpu_base, self.cpu_root)):
            if base is None or root is None or (out and base == self.base):
                continue
            path = f"{base}/{name}" if name else base
            if self.fs.exists(path):
                plain = f"{base}/plain"
                out.append((path, plain if path not in (base, plain) and self.fs.exists(plain) else root))
        return out

    def _strays(self) -> dict[str, list[int]]:
        """Processes in the directories above the groups, by the group that they belong to. The kernel moves them there
        when a group loses its last CPU; in the cpu hierarchy they stay where they were, and that tells. Where it does
        not (there is none, or it is the same one), they are plain ones."""
        names = [name for name in self._names() if name not in ("", "shared")]
        pids = {*self._pids(self.base), *self._pids(self._dir("shared"))}
        if not pids or "plain" not in names:
            return {}
        homes: dict[str, list[int]] = {}
        for name in names:
            cpu = self._cpu_dir(name)
            if cpu is None or cpu == self._dir(name):
                continue
            if mine := pids.intersection(pid for path in self._below(cpu) for pid in self._pids(path)):
                homes[name] = sorted(mine)
                pids -= mine
        if pids:
            homes["plain"] = sorted({*homes.get("plain", ()), *pids})
        return homes

    def _gather(self) -> None:
        try:
            for name, pids in self._strays().items():
                self._bring_back(name, pids)
        except EnforcementError as exc:
            self._note("", str(exc))

    def _bring_back(self, name: str, pids: list[int]) -> None:
        for pid in pids:
            try:
                self.fs.write(f"{self._dir(name)}/cgroup.procs", str(pid))
            except OSError as exc:
                if exc.errno not in (errno.ESRCH, errno.EINVAL):  # it may have died meanwhile
                    self._note(
                        set_of(name) or "", f"process {pid} cannot be moved back into its cgroup: {errno_text(exc)}"
                    )
        log.warning("cgroups %s: moved %s back into %s", self.base, pids[:20], name)

    def _set_weight(self, step: SetWeight) -> None:
        self._time(step.name, "cpu.shares", str(step.after), None if step.before is None else str(step.before))

    def _set_quota(self, step: SetQuota) -> None:
        before, after = step.before, step.after
        if after is not None:
            period = str(before[1]) if before else None
            self._time(step.name, "cpu.cfs_period_us", str(after[1]), period)
        self._time(step.name, "cpu.cfs_quota_us", str(after[0]) if after else "-1", str(before[0]) if before else "-1")

    def _time(self, name: str, file: str, text: str, before: str | None) -> None:
        path = self._cpu_dir(name)
        if path is None:
            return
        self._make_twin(name)  # where it was removed by hand meanwhile
        self.write(f"{path}/{file}", text, before)
        found = self.text(f"{path}/{file}")
        if found != text:
            raise EnforcementError(f"{path}/{file}: wrote {text}, kernel has {found or 'nothing'}")

    def _set_partition(self, step: SetPartition) -> None:
        """There are none on v1: the plan asks for none, and `apply` notes it."""

    def _bounded_above(self) -> str | None:
        path = self.cpu_root
        while path:
            text = self.text(f"{path}/cpu.cfs_quota_us")
            if not text:
                return None
            if not text.startswith("-"):
                return f"{path}/cpu.cfs_quota_us is {text}"
            path = path.rpartition("/")[0]
        return None
