"""No cgroup may be written: CPU sets are scheduling affinity, which each task's shim sets on itself.

Decides: nothing. Never does: move a process. The values travel in the set's metadata; other processes of the host
are not kept off, and the label `enforcement=affinity` says so.
"""

from __future__ import annotations

from provider import cgroup_plan
from provider.cgroup_values import Desired, Difference, Observed, Rules, group_name
from provider.cgroups.enforcer import Applied

__all__ = ["AffinityEnforcer"]

_RULES = Rules(inherits=False, cpu=False)


class AffinityEnforcer:
    """Checks what it is asked like the others do, and has nothing to write. `cpus` and `mems` limit what may be asked
    (the provider's own cpuset, where it has a smaller one than the host); None = not limited."""

    kind = "affinity"

    def __init__(self, cpus: int | None = None, mems: int | None = None, reason: str = "") -> None:
        self._cpus, self._mems = cpus, mems
        self.reason = reason
        """Why no cgroup is used, for the log and the doctor."""

    def allowed(self) -> tuple[int | None, int | None]:
        return self._cpus, self._mems

    def apply(self, desired: Desired) -> Applied:
        """Raises EnforcementError where `desired` contradicts itself; changes nothing."""
        everything = self._cpus if self._cpus is not None else (1 << 1 << 16) - 1
        nodes = self._mems if self._mems is not None else (1 << 1 << 16) - 1
        cgroup_plan.plan(Observed(self.kind, everything, nodes), desired, _RULES)
        notes = {
            set_id: (f"partition {slot.partition} needs cgroup v2; the set is affinity only",)
            for set_id, slot in desired.exclusive.items()
            if slot.partition != "member"
        }
        return Applied((), notes)

    def read(self) -> Observed:
        return Observed(self.kind, self._cpus or 0, self._mems or 0)

    def differences(self, desired: Desired) -> tuple[Difference, ...]:
        """None: nothing is in the kernel that could differ."""
        return ()

    def processes(self, set_id: str, *, shared: bool = False) -> list[int]:
        """Always empty: affinity has no list of its users."""
        return []

    def mixed(self) -> dict[str, bool]:
        """Always empty, as there is no group."""
        return {}

    def drop(self, name: str) -> bool:
        """There is nothing to remove."""
        return True

    def path(self, set_id: str, *, shared: bool = False) -> str:
        group_name(set_id, shared=shared)
        return ""

    def plain_path(self) -> str:
        return ""

    def remove_all(self) -> None:
        return
