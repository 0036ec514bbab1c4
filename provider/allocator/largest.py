"""The largest number of CPUs that fits, of those that lie in some region of the host.

Decides which numbers are worth asking the search about; whether one fits is asked of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import accumulate

from provider.allocator.rules import Case, whole_cores

__all__ = ["MAX_TRIES", "Fits", "largest_of", "of_size", "usable_of"]

Fits = Callable[[Case], bool]

MAX_TRIES = 24
"""How many quantities are tried, at most, to find the largest one and the next larger one that would fit."""


def usable_of(case: Case) -> int:
    """CPUs that may be chosen, those of whole cores only where the profile wants these; the held ones too."""
    mask = case.choice | case.held
    kinds = case.host.kinds
    if case.profile.core_kind != "any" and kinds:
        mask &= case.held | sum(kind.cpus for kind in kinds if kind.name == case.profile.core_kind)
    return whole_cores(case.host, mask) | case.held if case.whole and not case.shrinks else mask


def of_size(case: Case, total: int) -> Case | None:
    """The same case for another total; None where it is not clear what its zones would be."""
    count = total if case.shrinks else total - case.held.bit_count()
    if count < 1:
        return None
    changed = replace(case, total=total, count=count)
    if case.zones is None:
        return changed
    if case.shrinks or len(case.zones) != 1:
        return None
    return replace(changed, zones=dict.fromkeys(case.zones, count))


def largest_of(case: Case, fits: Fits, limit: int | None = None) -> int:
    """The largest total of at most `limit` that fits; 0 where none does.

    The totals that are looked at are those at which a rule changes its mind: the sums of what is free in the fullest
    groups, and the sizes of the largest ones.
    """
    best = 0
    masks = list(case.devices or ()) if _device_required(case) else [case.host.online]
    for mask in masks:
        region = replace(case, choice=case.choice & mask)
        best = max(best, _largest_in(region, fits, limit))
    return best


def _device_required(case: Case) -> bool:
    return case.profile.device is not None and case.profile.device.affinity == "required"


def _largest_in(case: Case, fits: Fits, limit: int | None) -> int:
    usable = usable_of(case)
    top = usable.bit_count()
    if limit is not None:
        top = min(top, limit)
    free_by_rule = not (case.binds or case.interleaves or case.profile.llc == "required")
    if (free_by_rule and not case.whole) or not top:
        return top
    rooms = _Rooms(case, usable)
    totals = {top, usable.bit_count()}
    for sizes in (rooms.nodes, rooms.llcs, rooms.packages):
        totals.update(sizes)
        totals.update(accumulate(sizes))
    for kind in ("nodes", "llcs", "packages"):
        totals.update(case.sums(kind))
    for node in rooms.node_masks if case.binds else ():
        sizes = _sizes(usable & node, rooms.llc_masks)
        totals.update(sizes)
        totals.update(accumulate(sizes))
    if case.whole:
        # A total is at most this far above a sum of whole cores, where all cores have the same width.
        width = case.tables.narrowest(usable)
        totals |= {total - total % width for total in totals}
    tries = 0
    for total in sorted((t for t in totals if 0 < t <= top), reverse=True):
        other = of_size(case, total)
        if other is None or not rooms.plausible(other):
            continue
        if fits(other):
            return total
        tries += 1
        if tries >= MAX_TRIES:
            break
    return 0


def _sizes(mask: int, groups: Iterable[int]) -> list[int]:
    return sorted((size for group in groups if (size := (mask & group).bit_count())), reverse=True)


class _Rooms:
    """What is usable in each node, cache and package that has something usable, the fullest first."""

    def __init__(self, case: Case, usable: int) -> None:
        nodes, llcs, packages = case.tree.groups_with(usable)
        memory = case.memory
        self.node_masks = [v.mask for v in nodes]
        self.llc_masks = [v.mask for v in llcs]
        package_masks = [v.mask for v in packages]
        among = usable & memory if case.binds else usable
        self.nodes = _sizes(among, self.node_masks)
        self.llcs = _sizes(among, self.llc_masks)
        self.packages = _sizes(among, package_masks)
        self._bound = _sizes(usable, [mask for mask in self.node_masks if mask & memory])
        self._bound_packages = _sizes(usable & memory, package_masks)
        self._caches = self.llcs if among == usable else _sizes(usable, self.llc_masks)

    def plausible(self, case: Case) -> bool:
        """A quick look at the rules by numbers, before the search is asked."""
        limit = case.most_nodes()
        if limit == 0 or case.most_llcs() == 0:
            return False
        if limit is not None and sum(self._bound[:limit]) < case.total:
            return False
        if case.in_package() and sum(self._bound_packages[:1]) < case.total:
            return False
        llcs = case.most_llcs()
        return llcs is None or sum(self._caches[:llcs]) >= case.total
