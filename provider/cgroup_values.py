"""What should be in force in the kernel, what is, and the single steps between them: values without path or file.

Decides: how groups are named, and nothing else. Masks are plain ints: bit n = CPU n (or NUMA node n). Groups are named
by their place below our base directory: "" is the base itself, "plain", "shared", "shared/<set id>", "set.<set id>" for
an exclusive set, and "mix.<set id>+<set id>" for tasks that use several sets at once. The last one has the CPUs of all
of its sets: it is the only other group that an exclusive set's CPUs may be in, as what runs in it is of that set.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from provider.errors import EnforcementError

__all__ = [
    "Desired",
    "Difference",
    "Group",
    "Make",
    "Observed",
    "Remove",
    "Rules",
    "SetCpus",
    "SetMems",
    "SetPartition",
    "SetQuota",
    "SetWeight",
    "SharedSlot",
    "Slot",
    "Step",
    "group_name",
    "members",
    "mixed_name",
    "set_of",
]

REVOCABLE_SHARE = 0.01
"""Weight of a revocable CPU against a guaranteed one: it gets what the others leave, and some still moves."""
_NAME_MAX = 255
"""Bytes in a directory's name."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


@dataclass(frozen=True, slots=True)
class Slot:
    """What an exclusive set should have. `mems` 0 = all nodes. `partition`: member, root or isolated (cgroup v2)."""

    cpus: int
    mems: int = 0
    partition: str = "member"


@dataclass(frozen=True, slots=True)
class SharedSlot:
    """What a shared set should have: all CPUs it may float over, its guarantee and burst in CPUs' worth of time
    (burst None = no bound). With `revocable` the guarantee is none: it only says how it stands to others like it."""

    cpus: int
    mems: int = 0
    guarantee: float = 1.0
    burst: float | None = None
    revocable: bool = False

    @property
    def share(self) -> float:
        """Its weight, in guaranteed CPUs."""
        return self.guarantee * (REVOCABLE_SHARE if self.revocable else 1)


@dataclass(frozen=True, slots=True)
class Desired:
    """The whole of what should be in force. A set that is not named here is removed.

    All masks must lie inside what `Enforcer.allowed()` says (clip a set that has lost CPUs before asking);
    `plain` must not be empty. `plain_mems` 0 = all nodes.
    """

    plain: int
    exclusive: Mapping[str, Slot] = field(default_factory=lambda: MappingProxyType({}))
    shared: Mapping[str, SharedSlot] = field(default_factory=lambda: MappingProxyType({}))
    plain_mems: int = 0
    kept: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Exclusive sets of which no CPU is there, with their nodes (0 = all). Their cgroups stay with what runs in them,
    on the plain CPUs meanwhile: left to the kernel it would run on everybody's. What has no cgroup gets none."""
    mixed: Collection[tuple[str, ...]] = frozenset()
    """Ids of sets that one task uses at once, for which a group is to be made. One that is there stays as long as its
    sets do, named here or not, unless it is dropped in between. There is none with a set that is to be a partition:
    nobody else can have its CPUs."""


@dataclass(frozen=True, slots=True)
class Group:
    """One cgroup as the kernel has it."""

    cpus: int = 0
    """Its own list; 0 = never set (cgroup v2: it has its parent's; v1: no task can be in it)."""
    effective: int = 0
    """The CPUs that its tasks may really use."""
    mems: int = 0
    effective_mems: int = 0
    partition: str = "member"
    """The partition file's text, with the kernel's reason where it is invalid; "member" on cgroup v1."""
    weight: int | None = None
    """cpu.weight (v2) or cpu.shares (v1); None where there is no cpu controller."""
    quota: tuple[int, int] | None = None
    """Microseconds of time in each period of microseconds; None = no bound."""


@dataclass(frozen=True, slots=True)
class Observed:
    """All of our cgroups as the kernel has them. Empty `groups`: the base does not exist yet."""

    kind: str
    """cgroup2, cgroup1 or affinity."""
    cpus: int = 0
    """The CPUs that our parent lets us use (0 = not known: affinity only)."""
    mems: int = 0
    groups: Mapping[str, Group] = field(default_factory=lambda: MappingProxyType({}))
    foreign: tuple[str, ...] = ()
    """Directories directly in our base that are not of our making; they are left alone."""

    @property
    def plain(self) -> Group | None:
        return self.groups.get("plain")

    @property
    def exclusive(self) -> dict[str, Group]:
        """Exclusive sets by id."""
        return {name[4:]: group for name, group in self.groups.items() if name.startswith("set.")}

    @property
    def shared(self) -> dict[str, Group]:
        """Shared sets by id."""
        return {name[7:]: group for name, group in self.groups.items() if name.startswith("shared/")}


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs between cgroup versions."""

    inherits: bool
    """v2: a list that was never set is the parent's, and the base's own is left so."""
    partitions: bool = False
    cpu: bool = True
    """Whether there is a cpu controller for weights and quotas."""
    weight_unit: int = 100
    """Weight of one guaranteed CPU, while all fit the range."""
    weight_min: int = 1
    weight_max: int = 10_000


@dataclass(frozen=True, slots=True)
class Make:
    """Create the group and give it its lists at once; 0 = leave that list unset (v2)."""

    name: str
    cpus: int
    mems: int


@dataclass(frozen=True, slots=True)
class SetCpus:
    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SetMems:
    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SetPartition:
    name: str
    before: str
    after: str
    cpus: int
    """The set's CPUs at that time."""


@dataclass(frozen=True, slots=True)
class SetWeight:
    name: str
    before: int | None
    after: int


@dataclass(frozen=True, slots=True)
class SetQuota:
    name: str
    before: tuple[int, int] | None
    after: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Remove:
    """Move what still runs in it to "plain", then remove the directory."""

    name: str
    group: Group


Step = Make | SetCpus | SetMems | SetPartition | SetWeight | SetQuota | Remove


@dataclass(frozen=True, slots=True)
class Difference:
    """One point in which the kernel differs from what is desired."""

    set_id: str | None
    """The set concerned; None for plain, the shared parent and the base."""
    group: str
    field: str
    """missing, extra, cpus, mems, partition, weight, quota or processes (which are not where they belong)."""
    wanted: str
    found: str


def group_name(set_id: str, *, shared: bool = False) -> str:
    """Name of a set's group. Raises EnforcementError for an id that cannot be a directory's name."""
    if not _ID.fullmatch(set_id):
        raise EnforcementError(f"set id {set_id[:80]!r} cannot name a cgroup: letters, digits, '.', '_' and '-' only")
    return f"shared/{set_id}" if shared else f"set.{set_id}"


def set_of(name: str) -> str | None:
    """The set's id that a group belongs to, or None."""
    if name.startswith("set."):
        return name[4:]
    return name[7:] if name.startswith("shared/") else None


def mixed_name(set_ids: Collection[str]) -> str:
    """Name of the group for tasks that use these sets at once. Raises EnforcementError as `group_name`, and where they
    are too many for one name (it is all that tells after a restart which sets the group is of)."""
    for set_id in set_ids:
        group_name(set_id)
    name = "mix." + "+".join(sorted(set_ids))
    if len(name) > _NAME_MAX:
        raise EnforcementError(
            f"a task that uses {len(set_ids)} sets at once can have no cgroup: its name would have {len(name)} bytes,"
            f" and the kernel takes {_NAME_MAX}"
        )
    return name


def members(name: str) -> tuple[str, ...]:
    """Ids of the sets whose CPUs the group has: one, or of a mixed group several; none for the others."""
    if name.startswith("mix."):
        return tuple(name[4:].split("+"))
    set_id = set_of(name)
    return () if set_id is None else (set_id,)
