"""CPU sets on cgroup v2: `cpuset` and `cpu` controllers below one parent directory, partitions where asked.

Decides: nothing. What it relies on: a list never set is the parent's, a list may be wider than what is in effect
(so only `cpuset.cpus.effective` counts), controllers are switched on from the top down and only where no process
sits beside sub-cgroups, and a partition that the kernel rejects is written without error and reads "invalid (reason)".
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import logging
import os
import posixpath

from provider.cgroup_values import Group, Rules, SetPartition, SetQuota, SetWeight, set_of
from provider.cgroups.fs import Fs
from provider.cgroups.tree import TreeEnforcer, errno_text
from provider.cpuset import format_mask
from provider.errors import EnforcementError

__all__ = ["V2Enforcer"]

log = logging.getLogger(__name__)

_RULES = Rules(inherits=True, partitions=True, cpu=True)


class V2Enforcer(TreeEnforcer):
    """`root` is the parent: the mount point, or a directory that was delegated to us. It must hold no process but
    ourselves, or be the mount point, as the kernel allows no process beside sub-cgroups with controllers. Where we sit
    in it (a service that systemd delegates it to is started there), we move to `NAME.main` in it, before all else."""

    kind = "cgroup2"

    def __init__(self, root: str, name: str, fs: Fs) -> None:
        super().__init__(root, name, fs, _RULES)

    def _limits(self) -> tuple[int | None, int | None]:
        cpus, mems = self._nearest("cpuset.cpus.effective"), self._nearest("cpuset.mems.effective")
        # CPUs of a partition are taken out of every ancestor's effective list, but they are still ours.
        for entry in self._listdir(self.base):
            if entry.startswith("set."):
                partition = self.text(f"{self.base}/{entry}/cpuset.cpus.partition")
                if partition in ("root", "isolated"):
                    cpus |= self.mask(f"{self.base}/{entry}/cpuset.cpus.effective")
        return cpus or None, mems or None

    def _nearest(self, file: str) -> int:
        """The value in our parent, or in the nearest directory above it that has the file."""
        path = self.root
        while path and path != "/":
            if found := self.mask(f"{path}/{file}"):
                return found
            path = posixpath.dirname(path)
        return 0

    def _group(self, name: str) -> Group:
        path = self._dir(name)
        cpus, mems = self.mask(f"{path}/cpuset.cpus"), self.mask(f"{path}/cpuset.mems")
        weight: int | None = None
        with contextlib.suppress(ValueError):
            weight = int(self.text(f"{path}/cpu.weight"))
        return Group(
            cpus=cpus,
            effective=self._in_effect(path, "cpus"),
            mems=mems,
            effective_mems=self._in_effect(path, "mems"),
            partition=self.text(f"{path}/cpuset.cpus.partition") or "member",
            weight=weight,
            quota=_quota(self.text(f"{path}/cpu.max")),
        )

    def _in_effect(self, path: str, what: str) -> int:
        """What the kernel says; in a directory tree that nobody computes, the list, or the nearest one above."""
        found = self.mask(f"{path}/cpuset.{what}.effective")
        if found or path == self.root or self.fs.exists(f"{path}/cgroup.controllers"):
            return found
        return self.mask(f"{path}/cpuset.{what}") or self._in_effect(posixpath.dirname(path), what)

    # Controllers.

    def _prepare(self) -> None:
        self._step_aside()
        self._enable(self.root)
        # A shared parent without a list has the base's CPUs, those of exclusive sets among them: its list comes first.
        for name in ("", "shared"):
            path = self._dir(name)
            if self.fs.exists(path) and (not name or self.text(f"{path}/cpuset.cpus") or self._listdir(path)):
                self._enable(path)

    def _step_aside(self) -> None:
        pid = os.getpid()
        if pid not in self._pids(self.root) or not self.text(f"{self.root}/cgroup.type"):
            return
        aside = f"{self.root}/{self.name}.main"
        try:
            with contextlib.suppress(FileExistsError):
                self.fs.mkdir(aside)
            self.fs.write(f"{aside}/cgroup.procs", str(pid))
        except OSError as exc:
            raise EnforcementError(f"{aside}: cannot move there from {self.root}: {errno_text(exc)}") from exc
        log.info("cgroups: moved ourselves from %s to %s", self.root, aside)

    def _made(self, name: str) -> None:
        """Nothing: between mkdir and its list a directory has its parent's CPUs, so nothing may come between."""

    def _listed(self, name: str) -> None:
        if name in ("", "shared"):
            self._enable(self._dir(name))

    def _enable(self, path: str) -> None:
        """Switch cpuset, and cpu where there is one, on for the directories in `path`."""
        enabled = self._words(f"{path}/cgroup.subtree_control")
        offered = self._words(f"{path}/cgroup.controllers")
        if "cpuset" not in enabled:
            if "cpuset" not in offered and path == self.root and self.fs.exists(f"{path}/cgroup.controllers"):
                self._enable_above(path)
            self._switch_on(path, "cpuset")
        if "cpu" not in enabled and self.rules.cpu:
            try:
                self._switch_on(path, "cpu")
            except EnforcementError as exc:
                # Realtime processes outside the root keep some kernels from it; the sets themselves do not need it.
                self.rules = dataclasses.replace(self.rules, cpu=False)
                self._note("", f"no cpu controller: {exc}")

    def _enable_above(self, path: str) -> None:
        above = posixpath.dirname(path)
        if not self.fs.exists(f"{above}/cgroup.controllers"):
            raise EnforcementError(
                f"{path}/cgroup.controllers: no cpuset among {sorted(self._words(f'{path}/cgroup.controllers'))}"
            )
        if "cpuset" not in self._words(f"{above}/cgroup.controllers"):
            self._enable_above(above)
        self._switch_on(above, "cpuset")
        with contextlib.suppress(EnforcementError):
            self._switch_on(above, "cpu")

    def _switch_on(self, path: str, controller: str) -> None:
        file = f"{path}/cgroup.subtree_control"
        crowd = f": processes sit in {path} itself ({self._pids(path)[:10]}); give us a directory without any"
        # Not left to the kernel: it lets cpuset and cpu be enabled there, and then no process may go below. Only the
        # top of the whole hierarchy, which has no cgroup.type, may have both.
        if self._pids(path) and self.text(f"{path}/cgroup.type"):
            raise EnforcementError(f"{file}: cannot enable {controller}{crowd}")
        try:
            self.fs.write(file, f"+{controller}")
        except OSError as exc:
            why = ""
            if exc.errno in (errno.EBUSY, errno.EOPNOTSUPP):
                why = crowd
            elif exc.errno == errno.ENOENT:
                why = ": the controller is not enabled for this directory"
            raise EnforcementError(f"{file}: cannot enable {controller}: {errno_text(exc)}{why}") from exc
        if controller not in self._words(file):
            raise EnforcementError(f"{file}: wrote +{controller}, kernel has {self.text(file)!r}")

    def _words(self, path: str) -> set[str]:
        # A plain file that stands for the kernel's keeps the sign that was written.
        return {word.lstrip("+") for word in self.text(path).split()}

    def _directories(self, name: str) -> list[tuple[str, str]]:
        path = self._dir(name)
        if not self.fs.exists(path):
            return []
        plain = self._dir("plain")
        return [(path, plain if name not in ("", "plain") and self.fs.exists(plain) else self.root)]

    # Time.

    def _set_weight(self, step: SetWeight) -> None:
        self._time(step.name, "cpu.weight", str(step.after), None if step.before is None else str(step.before))

    def _set_quota(self, step: SetQuota) -> None:
        before = f"{step.before[0]} {step.before[1]}" if step.before else "max 100000"
        self._time(step.name, "cpu.max", f"{step.after[0]} {step.after[1]}" if step.after else "max 100000", before)

    def _time(self, name: str, file: str, text: str, before: str | None) -> None:
        if not self.rules.cpu:
            return
        path = f"{self._dir(name)}/{file}"
        self.write(path, text, before)
        found = self.text(path)
        if found != text:
            raise EnforcementError(f"{path}: wrote {text}, kernel has {found or 'nothing'}")

    def _gather(self) -> None:
        """Nothing: on v2 processes stay in a group that has lost all of its CPUs."""

    def _bounded_above(self) -> str | None:
        path = self.root
        while path and path != "/":
            text = self.text(f"{path}/cpu.max")
            if _quota(text):
                return f"{path}/cpu.max is {text!r}"
            path = posixpath.dirname(path)
        return None

    # Partitions.

    def _set_partition(self, step: SetPartition) -> None:
        path = f"{self._dir(step.name)}/cpuset.cpus.partition"
        if step.after == "member":
            self.write(path, "member", step.before.split()[0] if step.before else None)
            self._claim(step.name, 0)
            return
        set_id = set_of(step.name) or ""
        if not self.fs.exists(path):
            self._note(
                set_id, f"partition {step.after}: this kernel has no {path.rpartition('/')[2]}; the set is a member"
            )
            return
        reason = ""
        try:
            self._claim(step.name, step.cpus)
            self.write(path, step.after, "member")
        except EnforcementError as exc:
            reason = str(exc)
        found = self.text(path)
        if found == step.after:
            return
        self._note(set_id, f"partition: wrote {step.after}, kernel has {reason or found!r}; the set is a member")
        self.write(path, "member", None)
        self._claim(step.name, 0)

    def _claim(self, name: str, cpus: int) -> None:
        """Newer kernels (6.7) make a partition below a plain parent where the CPUs are claimed all the way down: in the
        directories above ours as well, where others' claims are kept."""
        file = "cpuset.cpus.exclusive"
        mine, ours = f"{self._dir(name)}/{file}", f"{self.base}/{file}"
        if not self.fs.exists(mine) or not self.fs.exists(ours):
            return
        wanted = cpus
        for entry in self._listdir(self.base):
            if entry.startswith("set.") and entry != name:
                wanted |= self.mask(f"{self.base}/{entry}/{file}")
        now = self.mask(ours)
        claims = [(ours, wanted), (mine, cpus)]
        path = self.root
        while self.fs.exists(f"{path}/{file}"):
            claims.insert(0, (f"{path}/{file}", self.mask(f"{path}/{file}") & ~now | wanted))
            path = posixpath.dirname(path)
        for path, value in claims if cpus else reversed(claims):  # claim from the top, give up from below
            before = self.mask(path)
            if before != value:
                # Empty is right here, unlike in cpuset.cpus: it claims nothing.
                self.write(path, format_mask(value) or "\n", format_mask(before) or "\n")


def _quota(text: str) -> tuple[int, int] | None:
    """cpu.max: "max 100000" or "150000 100000"."""
    words = text.split()
    if not words or not words[0].isdigit():
        return None
    return int(words[0]), int(words[1]) if len(words) > 1 else 100_000
