"""What cgroup v1 and v2 have in common: carry the plan's steps out, read back after each, undo on failure.

Decides: nothing about order (`provider.cgroup_plan` does) and nothing about CPUs. Never does: write an empty CPU list,
touch a directory that is not below our base, or force a set whose own sub-cgroups are in the way.
"""

from __future__ import annotations

import abc
import contextlib
import errno
import logging
import time
from collections.abc import Callable, Iterator

from provider import cgroup_plan
from provider.cgroup_values import (
    Desired,
    Difference,
    Group,
    Make,
    Observed,
    Remove,
    Rules,
    SetCpus,
    SetMems,
    SetPartition,
    SetQuota,
    SetWeight,
    Step,
    group_name,
    members,
)
from provider.cgroups.enforcer import Applied
from provider.cgroups.fs import Fs
from provider.cpuset import CpuListError, format_mask, parse
from provider.errors import EnforcementError

__all__ = ["TreeEnforcer", "errno_text"]

log = logging.getLogger(__name__)

_DRAIN_ROUNDS = 100
"""How often a removed set is looked at for processes that were forked meanwhile."""
_RMDIR_TRIES = 20
_RMDIR_PAUSE = 0.005
"""Seconds. A process that has just left or died may keep the directory busy for a moment."""


def errno_text(exc: OSError) -> str:
    """ "EBUSY (Device or resource busy)"."""
    return f"{errno.errorcode.get(exc.errno or 0, 'error')} ({exc.strerror})"


def _ours(entry: str) -> bool:
    return entry in ("plain", "shared") or entry.startswith(("set.", "mix."))


def _of_task(path: str) -> bool:
    """Whether the agent made it for one task: it goes when the agent has read there how the task ended."""
    return path.rpartition("/")[2].startswith("task.")


class TreeEnforcer(abc.ABC):
    """An `Enforcer` over one or two cgroup hierarchies. `root` is the parent directory, `root/name` our base."""

    kind: str

    def __init__(self, root: str, name: str, fs: Fs, rules: Rules) -> None:
        group_name(name)  # the same characters are allowed for the base's name
        self.root = root.rstrip("/") or "/"
        self.name = name
        self.base = f"{self.root.rstrip('/')}/{name}"
        self.fs = fs
        self.rules = rules
        self._undo: list[tuple[str, Callable[[], None]]] = []
        self._notes: dict[str, list[str]] = {}

    # What the versions differ in.

    @abc.abstractmethod
    def _limits(self) -> tuple[int | None, int | None]:
        """CPUs and nodes of our parent."""

    @abc.abstractmethod
    def _group(self, name: str) -> Group:
        """The group as the kernel has it."""

    @abc.abstractmethod
    def _in_effect(self, path: str, what: str) -> int:
        """What the tasks in the directory may use; `what` is "cpus" or "mems"."""

    @abc.abstractmethod
    def _prepare(self) -> None:
        """Whatever must be true of the parent and of directories that exist, before steps are taken."""

    @abc.abstractmethod
    def _made(self, name: str) -> None:
        """After the directory was made, before its lists are written."""

    @abc.abstractmethod
    def _listed(self, name: str) -> None:
        """After its lists were written."""

    @abc.abstractmethod
    def _directories(self, name: str) -> list[tuple[str, str]]:
        """(directory, directory to which its processes move when it is removed), one for each hierarchy."""

    @abc.abstractmethod
    def _set_weight(self, step: SetWeight) -> None: ...

    @abc.abstractmethod
    def _set_quota(self, step: SetQuota) -> None: ...

    @abc.abstractmethod
    def _set_partition(self, step: SetPartition) -> None: ...

    @abc.abstractmethod
    def _gather(self) -> None:
        """Bring processes back that the kernel moved out of their groups."""

    @abc.abstractmethod
    def _bounded_above(self) -> str | None:
        """A time limit that the parent or something above it puts on all of us, as text, or None."""

    # The interface.

    def allowed(self) -> tuple[int | None, int | None]:
        return self._limits()

    def path(self, set_id: str, *, shared: bool = False) -> str:
        return self._dir(group_name(set_id, shared=shared))

    def plain_path(self) -> str:
        return self._dir("plain")

    def read(self) -> Observed:
        cpus, mems = self._limits()
        groups = {name: self._group(name) for name in self._names()}
        foreign = tuple(entry for entry in self._listdir(self.base) if not _ours(entry))
        return Observed(self.kind, cpus or 0, mems or 0, groups, foreign)

    def differences(self, desired: Desired) -> tuple[Difference, ...]:
        return cgroup_plan.differences(self.read(), desired, self.rules)

    def processes(self, set_id: str, *, shared: bool = False) -> list[int]:
        found: set[int] = set()
        mixed = [name for name in self._names() if name.startswith("mix.") and set_id in members(name)]
        for name in (group_name(set_id, shared=shared), *mixed):
            for directory, _ in self._directories(name):
                for path in self._below(directory):
                    found.update(self._pids(path))
        return sorted(found)

    def mixed(self) -> dict[str, bool]:
        return {name: self._runs(name) for name in self._names() if name.startswith("mix.")}

    def _runs(self, name: str) -> bool:
        try:
            below = [path for directory, _ in self._directories(name) for path in self._below(directory)]
            return any(map(_of_task, below)) or any(self._pids(path) for path in below)
        except EnforcementError as exc:
            log.warning("cgroups %s: %s stays: %s", self.base, name, exc)
            return True

    def drop(self, name: str) -> bool:
        for directory, _ in self._directories(name):
            below = list(self._below(directory))
            if any(map(_of_task, below)):
                return False
            for path in below:
                try:
                    self.fs.rmdir(path)
                except FileNotFoundError:
                    continue
                except OSError as exc:
                    if exc.errno == errno.EBUSY:
                        return False
                    raise EnforcementError(f"{path}: cannot remove the cgroup: {errno_text(exc)}") from exc
        log.info("cgroups %s: removed %s, which no task uses any more", self.base, name)
        return True

    def apply(self, desired: Desired) -> Applied:
        self._undo.clear()
        self._notes = {}
        taken: list[Step] = []
        try:
            self._prepare()
            observed = self.read()
            if not observed.cpus or not observed.mems:
                raise EnforcementError(f"{self.root}: cannot tell which CPUs and memory nodes may be used")
            for step in cgroup_plan.plan(observed, desired, self.rules):
                self._take(step)
                taken.append(step)
            if taken:
                self._verify(desired)
        except EnforcementError as exc:
            failed = self._roll_back()
            if failed:
                log.error("cgroups %s: %s; undoing it failed: %s", self.base, exc, "; ".join(failed))
                raise EnforcementError(f"{exc}; undoing it failed as well: {'; '.join(failed)}") from exc
            log.warning("cgroups %s: %s; undone", self.base, exc)
            raise
        self._undo.clear()
        self._gather()
        if desired.exclusive and (bound := self._bounded_above()):
            self._note("", f"exclusive sets are under a time limit from outside: {bound}")
        if not self.rules.partitions:
            for set_id, slot in desired.exclusive.items():
                if slot.partition != "member":
                    self._note(set_id, f"partition {slot.partition} needs cgroup v2; the set is a member")
        if not self.rules.cpu:
            for set_id in desired.shared:
                self._note(set_id, "no cpu controller: guarantee and burst are not in force")
        if taken:
            log.info("cgroups %s: %d steps, in force and read back", self.base, len(taken))
            for set_id, texts in self._notes.items():
                log.warning("cgroups %s: set %s: %s", self.base, set_id or "-", "; ".join(texts))
        return Applied(tuple(taken), {set_id: tuple(texts) for set_id, texts in self._notes.items()})

    def remove_all(self) -> None:
        self._undo.clear()
        observed = self.read()
        for name in sorted(observed.groups, key=lambda n: (n == "", n == "plain", -n.count("/"), n)):
            if observed.groups[name].partition != "member":
                self._set_partition(SetPartition(name, observed.groups[name].partition, "member", 0))
            self._remove(name)
        self._undo.clear()

    # Steps.

    def _take(self, step: Step) -> None:
        log.debug("cgroups %s: %s", self.base, step)
        match step:
            case Make(name=name, cpus=cpus, mems=mems):
                self._make_dir(self._dir(name))
                self._made(name)
                if cpus:
                    self._write_list(name, "cpus", None, cpus)
                if mems:
                    self._write_list(name, "mems", None, mems)
                self._listed(name)
            case SetCpus(name=name, before=before, after=after):
                self._write_list(name, "cpus", before, after)
                self._listed(name)
            case SetMems(name=name, before=before, after=after):
                self._write_list(name, "mems", before, after)
            case SetPartition():
                self._set_partition(step)
            case SetWeight():
                self._set_weight(step)
            case SetQuota():
                self._set_quota(step)
            case Remove(name=name, group=group):
                self._remove(name)
                self._undo.append((f"make {name} again", lambda: self._restore(name, group)))

    def _write_list(self, name: str, what: str, before: int | None, after: int) -> None:
        """Write cpuset.cpus or cpuset.mems and see both the list and its effect. `before`: to go back to; 0 = it had
        no list (what was in effect is written then, as never an empty list is); None = the group is new."""
        path = f"{self._dir(name)}/cpuset.{what}"
        old = before
        if before == 0 and self.rules.inherits:
            old = self._in_effect(self._dir(name), what)
        self.write(path, format_mask(after), format_mask(old) if old else None)
        listed = self.mask(path)
        effective = self._in_effect(self._dir(name), what)
        if listed != after or effective != after:
            wrong = listed if listed != after else effective
            raise EnforcementError(
                f"{path}: wrote {format_mask(after)}, kernel has {format_mask(wrong) or 'an empty list'}"
                + (" in effect" if listed == after else "")
            )

    def _verify(self, desired: Desired) -> None:
        """All at the end: a later write may have changed what an earlier one made."""
        for difference in self.differences(desired):
            if difference.field == "partition":
                self._partition_lost(difference)
            elif difference.field == "processes":
                continue  # they are brought back afterwards
            elif difference.field not in ("weight", "quota") or self.rules.cpu:
                raise EnforcementError(
                    f"{self._dir(difference.group)}: {difference.field} wanted {difference.wanted},"
                    f" kernel has {difference.found}"
                )

    def _partition_lost(self, difference: Difference) -> None:
        """A partition that the kernel does not keep becomes member again, and the set says so."""
        if difference.found != "member":
            cpus = self._group(difference.group).cpus
            self._set_partition(SetPartition(difference.group, difference.found, "member", cpus))
        if not self._notes.get(difference.set_id or ""):
            self._note(difference.set_id or "", f"partition {difference.wanted} not in force: {difference.found}")

    def _note(self, set_id: str, text: str) -> None:
        self._notes.setdefault(set_id, []).append(text)

    # Directories.

    def _dir(self, name: str) -> str:
        return f"{self.base}/{name}" if name else self.base

    def _listdir(self, path: str) -> list[str]:
        try:
            return self.fs.listdir(path)
        except FileNotFoundError:
            return []
        except OSError as exc:
            raise EnforcementError(f"{path}: cannot list: {errno_text(exc)}") from exc

    def _names(self) -> list[str]:
        """Our groups that exist, base first; none where there is no base."""
        if not self.fs.exists(self.base):
            return []
        names = ["", *filter(_ours, self._listdir(self.base))]
        if "shared" in names:
            names += [f"shared/{entry}" for entry in self._listdir(self._dir("shared"))]
        return names

    def _below(self, path: str) -> Iterator[str]:
        """The directory and all below it, deepest first."""
        for entry in self._listdir(path):
            yield from self._below(f"{path}/{entry}")
        yield path

    def _make_dir(self, path: str) -> None:
        try:
            self.fs.mkdir(path)
        except FileExistsError:
            return  # there from before: the same as made
        except OSError as exc:
            raise EnforcementError(f"{path}: cannot make the cgroup: {errno_text(exc)}") from exc
        self._undo.append((f"remove {path}", lambda: self.fs.rmdir(path)))

    def _pids(self, path: str) -> list[int]:
        """The processes in the directory itself. Raises EnforcementError where that cannot be told: nobody may take
        it for empty then."""
        try:
            text = self.text(f"{path}/cgroup.procs", threads=f"{path}/cgroup.threads")
        except EnforcementError as exc:
            raise EnforcementError(f"cannot tell which processes run there: {exc}") from exc
        return [int(word) for word in text.split() if word.isdigit() and word != "0"]

    def _remove(self, name: str) -> None:
        for directory, refuge in self._directories(name):
            for path in list(self._below(directory)):
                self._drain(path, refuge)
                self._rmdir(path)

    def _drain(self, path: str, refuge: str) -> None:
        moved: set[int] = set()
        plain = refuge
        for _ in range(_DRAIN_ROUNDS):
            pids = self._pids(path)
            if not pids:
                break
            for pid in pids:
                try:
                    self.fs.write(f"{refuge}/cgroup.procs", str(pid))
                    moved.add(pid)
                except OSError as exc:
                    if exc.errno == errno.EBUSY and (rest := f"{plain}/rest") != refuge:
                        # v2: tasks have groups of their own below it, and no process may be beside them.
                        self._make_dir(rest)
                        refuge = rest
                        break
                    # It died meanwhile (v1 on some kernels says EINVAL): the next look shows.
                    if exc.errno not in (errno.ESRCH, errno.EINVAL):
                        raise EnforcementError(
                            f"{path}: cannot move process {pid} to {refuge}: {errno_text(exc)}"
                        ) from exc
        if moved:
            log.warning(
                "cgroups: moved %d processes left in %s to %s: %s", len(moved), path, refuge, sorted(moved)[:20]
            )

    def _rmdir(self, path: str) -> None:
        for attempt in range(_RMDIR_TRIES):
            try:
                self.fs.rmdir(path)
                return
            except FileNotFoundError:
                return
            except OSError as exc:
                if exc.errno != errno.EBUSY or attempt == _RMDIR_TRIES - 1:
                    raise EnforcementError(
                        f"{path}: cannot remove the cgroup: {errno_text(exc)}; processes inside: {self._pids(path)}"
                    ) from exc
                time.sleep(_RMDIR_PAUSE)

    def _restore(self, name: str, group: Group) -> None:
        with contextlib.suppress(FileExistsError):
            self.fs.mkdir(self._dir(name))
        self._made(name)
        if group.cpus:
            self.fs.write(f"{self._dir(name)}/cpuset.cpus", format_mask(group.cpus))
        if group.mems:
            self.fs.write(f"{self._dir(name)}/cpuset.mems", format_mask(group.mems))
        self._listed(name)

    # Files.

    def mask(self, path: str) -> int:
        """The list in a file; 0 where the file is empty or does not exist."""
        text = self.text(path)
        try:
            return parse(text) if text else 0
        except CpuListError as exc:
            raise EnforcementError(f"{path}: {exc}") from exc

    def text(self, path: str, *, threads: str = "") -> str:
        """A file's text; empty where it does not exist. `threads`: read instead where the cgroup is a threaded one,
        which has no list of processes (v2)."""
        try:
            return self.fs.read(path)
        except FileNotFoundError:
            return ""
        except OSError as exc:
            if exc.errno == errno.ENODEV:  # the cgroup was removed while we looked
                return ""
            if exc.errno == errno.EOPNOTSUPP and threads:
                return self.text(threads)
            raise EnforcementError(f"{path}: cannot read: {errno_text(exc)}") from exc

    def write(self, path: str, text: str, before: str | None) -> None:
        """Write, and remember how to take it back (None: nothing to take back)."""
        try:
            self.fs.write(path, text)
        except OSError as exc:
            now = ""
            with contextlib.suppress(EnforcementError):
                now = self.text(path)
            raise EnforcementError(
                f"{path}: cannot write {text!r}, kernel has {now!r}: {errno_text(exc)}{self._hint(path, exc)}"
            ) from exc
        if before is not None:
            self._undo.append((f"write {before!r} to {path}", lambda: self.fs.write(path, before)))

    def _hint(self, path: str, exc: OSError) -> str:
        """Why the kernel may have said so."""
        directory, _, file = path.rpartition("/")
        inside = [f"{entry} ({self.text(f'{directory}/{entry}/{file}')})" for entry in self._listdir(directory)]
        if exc.errno == errno.EBUSY and inside:
            return f"; sub-cgroups in the way: {', '.join(inside[:5])}"
        return ""

    def _roll_back(self) -> list[str]:
        failed = []
        while self._undo:
            what, action = self._undo.pop()
            try:
                action()
            except OSError as exc:
                failed.append(f"{what}: {errno_text(exc)}")
            except EnforcementError as exc:
                failed.append(f"{what}: {exc}")
        return failed
