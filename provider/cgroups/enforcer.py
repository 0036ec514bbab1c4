"""What every way of enforcing offers: the one interface that `provider.manager` and `provider.reconcile` use.

Decides: nothing. Never does: choose CPUs, keep state (what should be in force is the caller's `Desired`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from provider.cgroup_values import Desired, Difference, Observed, Step

__all__ = ["Applied", "Enforcer"]


@dataclass(frozen=True, slots=True)
class Applied:
    """What one `apply` did. `notes` by set id: what was asked and is not in force, and why ("" = not of one set)."""

    steps: tuple[Step, ...] = ()
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


class Enforcer(Protocol):
    """The kernel side. All calls block for as long as the kernel takes (microseconds to a few milliseconds)."""

    @property
    def kind(self) -> str:
        """cgroup2, cgroup1 or affinity: the value of the metadata label `enforcement`."""

    def allowed(self) -> tuple[int | None, int | None]:
        """(CPU mask, node mask) that our parent cgroup lets us use now, None = no limit known. Follows hotplug."""

    def apply(self, desired: Desired) -> Applied:
        """Bring the kernel from what it is to `desired`, in the safe order, reading back after each step.

        Idempotent: what is right already is not written. Sets that `desired` does not name are removed; processes
        left in them are moved to plain. Raises EnforcementError, with the value written and the value read, after
        undoing what this call did; where the undoing failed as well, the message says so. Sets whose partition
        cannot be had are left as `member`, with a note.
        """

    def read(self) -> Observed:
        """What the kernel has now. Raises EnforcementError only where the hierarchy itself cannot be read."""

    def differences(self, desired: Desired) -> tuple[Difference, ...]:
        """In what the kernel differs from `desired` now: the drift."""

    def processes(self, set_id: str, *, shared: bool = False) -> list[int]:
        """Pids of what uses the set: inside its cgroup and below it, and in those of tasks that use other sets as well;
        empty where there is none."""

    def mixed(self) -> dict[str, bool]:
        """The groups of tasks that use several sets, and whether each is in use: something runs in or below it, or
        there is a task's own cgroup below it, which the agent has yet to look at (True where that cannot be told)."""

    def drop(self, name: str) -> bool:
        """Remove a mixed group that is not in use; False where it is now. Moves no process."""

    def path(self, set_id: str, *, shared: bool = False) -> str:
        """The set's directory, for the metadata label `cgroup`: absolute; on v1 in the cpuset hierarchy; "" for
        affinity. Says where it is or will be, not that it exists."""

    def plain_path(self) -> str:
        """The directory that plain tasks join; "" for affinity."""

    def remove_all(self) -> None:
        """Remove everything of ours, base included. Processes left inside go to the parent. For uninstalling and
        tests; never at an ordinary stop, as tasks outlive us."""
