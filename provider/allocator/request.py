"""What the allocator is asked and what it answers, as values. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from profiles.mapping import Profile
from provider.errors import Refused

__all__ = ["Placement", "PlacementRefused", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """One exclusive set that is wanted, or the size that one is to be resized to."""

    cpus: int
    """The charge: how many CPUs are taken out of RAW, blocked siblings included; for a resize the new total."""
    profile: Profile
    zones: Mapping[str, int] | None = None
    """How many CPUs come from each zone, exactly; zones not named give none. For a growing set what is added, for a
    shrinking one what each zone gets back. None: any zones."""
    holds: int = 0
    """The usable CPUs of the set that is resized; 0 for a new set."""
    blocked: int | None = None
    """The blocked siblings of `holds`, where the caller knows them. None: as `core_siblings` says; under
    `denied_preferred` the siblings of `holds` count as blocked where each core has one CPU of the set and none free
    (and the quantities by zone, if given, add up to it)."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The CPUs of a set."""

    cpus: int
    """Usable CPUs."""
    blocked: int
    """Siblings that are charged and stay empty."""
    mems: int
    """Ids of the memory nodes to use, never empty: the nodes of its CPUs for bind and interleave (a node without
    memory is replaced by the nearest that has some), all nodes with memory where the profile has no policy."""
    notes: tuple[str, ...] = ()
    """What was given other than wished, in words."""

    @property
    def charge(self) -> int:
        """Usable and blocked CPUs."""
        return self.cpus | self.blocked


class PlacementRefused(Refused):
    """A refusal that also says which held CPUs are in the way, so that the caller can name their sets."""

    def __init__(self, message: str, *, nearest: int | None = None, in_the_way: int = 0) -> None:
        super().__init__(message, nearest=nearest)
        self.in_the_way = in_the_way
        """CPUs of the pool that other sets hold, where the request would come nearest to a place."""
