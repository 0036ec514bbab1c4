"""CPU sets in the kernel: cgroup v2, cgroup v1, or scheduling affinity alone.

    enforcer = detect("auto", "pinfold")
    enforcer.apply(Desired(plain=0b0011, exclusive={"id": Slot(0b1100)}))

Layout below the parent cgroup: NAME/plain, NAME/set.ID (exclusive), NAME/shared/ID, and NAME/mix.ID+ID for
tasks that use several sets at once.
"""

from provider.cgroup_values import Desired, Difference, Group, Observed, SharedSlot, Slot
from provider.cgroups.detect import detect
from provider.cgroups.enforcer import Applied, Enforcer
from provider.cgroups.fs import Fs, RealFs

__all__ = [
    "Applied",
    "Desired",
    "Difference",
    "Enforcer",
    "Fs",
    "Group",
    "Observed",
    "RealFs",
    "SharedSlot",
    "Slot",
    "detect",
]
