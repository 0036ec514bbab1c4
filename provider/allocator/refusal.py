"""What to say when a request does not fit: what would.

Decides the words and the nearest quantity; never decides whether something fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from provider.allocator.request import PlacementRefused, Request
from provider.allocator.rules import Case, whole_cores
from provider.cpuset import format_mask

__all__ = ["check", "check_quantities", "largest_of", "refused", "unreadable"]

Fits = Callable[[Case], bool]


def check(zones: Mapping[str, int], pool: int, request: Request) -> None:
    """Refuse what is no request at all."""
    profile = request.profile
    if request.cpus < 1:
        raise PlacementRefused(f"cpus: {request.cpus} is not a number of at least 1")
    if profile.mode != "exclusive":
        raise PlacementRefused(f"profile {profile.name!r} is {profile.mode}: it has no CPUs of its own to place")
    for name, count in (request.zones or {}).items():
        if name not in zones:
            raise PlacementRefused(f"zones: there is no zone {name!r}; there are {', '.join(zones) or 'none'}")
        if count < 0:
            raise PlacementRefused(f"zones: {count} of {name} is not a number of CPUs")


def check_quantities(case: Case, request: Request) -> None:
    """Refuse quantities by zone that do not add up to what is added, or given back."""
    if request.zones is None:
        return
    named = sum(request.zones.values())
    before = case.choice.bit_count() if case.shrinks else case.held.bit_count()
    change = abs(request.cpus - before)
    if named != change:
        what = "given back" if case.shrinks else "added" if before else "asked for"
        raise PlacementRefused(f"zones: the quantities add up to {named}, and {change} CPUs are {what}")


def unreadable(request: Request, error: ValueError) -> PlacementRefused:
    """The refusal for a device that cannot be read."""
    return PlacementRefused(f"profile {request.profile.name!r}: device.match: {error}")


def refused(case: Case, zones: Mapping[str, int], mems: int | None, fits: Fits) -> PlacementRefused:
    """The refusal of a case that cannot be met."""
    return PlacementRefused(f"{case.total} CPUs do not fit")


def largest_of(case: Case, fits: Fits) -> int:
    """The largest charge that fits."""
    return 0
