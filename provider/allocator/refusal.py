"""What to say when a request does not fit: which rule is in the way, and what would fit.

Decides the words, the nearest quantity and the largest one; whether something fits is asked of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from profiles.mapping import Memory
from provider.allocator.budget import MAX_WORK, Budget
from provider.allocator.largest import Fits, largest_of, of_size, usable_of
from provider.allocator.request import PlacementRefused, Request
from provider.allocator.rules import Case, whole_cores
from provider.cpuset import format_mask

__all__ = ["check", "check_quantities", "refused", "unreadable"]


def check(zones: Mapping[str, int], request: Request) -> None:
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


def refused(case: Case, zones: Mapping[str, int], fits: Fits) -> PlacementRefused:
    """The refusal of a case that cannot be met: the rule in the way, what would fit, and whose CPUs are in the way."""
    # What was refused after much work is not looked into at length again.
    case = replace(case, budget=Budget(MAX_WORK // 4))
    reason, in_the_way = _reason(case, zones, fits)
    below, above = _nearest(case, zones, fits)
    parts = [reason]
    if below and above:
        parts.append(f"{below} or {above} would fit")
    elif below or above:
        parts.append(f"{below or above} would fit")
    elif not case.shrinks:
        parts.append("no number of CPUs would fit")
    in_the_way &= case.pool & ~case.free & ~case.held
    if in_the_way:
        parts.append(f"CPUs {format_mask(in_the_way)} are held by other sets or outside what is free")
    near = [number for number in (below, above) if number]
    nearest = min(near, key=lambda number: (abs(number - case.total), number), default=None)
    return PlacementRefused("; ".join(parts), nearest=nearest, in_the_way=in_the_way)


def _reason(case: Case, zones: Mapping[str, int], fits: Fits) -> tuple[str, int]:
    profile = case.profile
    free = case.choice.bit_count()
    what = f"{case.total} CPUs" if not case.held else f"{case.count} more CPUs for a set of {case.held.bit_count()}"
    device = profile.device
    if device is not None and device.affinity == "required" and not case.devices:
        return f"device {device.match!r} (required): no device on this host matches, or none has local CPUs", 0
    if not case.shrinks and free < case.count:
        return f"{what} do not fit: {free} are free in pool {profile.pool!r}", case.pool
    short = _short_zone(case, zones)
    if short is not None:
        return short
    rules: list[tuple[str, Case, int]] = []
    if case.whole:
        rules.append((_whole_words(case, what), _with(case, siblings="none"), _broken(case)))
    if case.binds:
        words, group = _bind_words(case, what)
        rules.append((words, _with(case, memory=Memory()), group))
    if case.interleaves:
        wanted, there = case.interleave_nodes()
        words = (
            f"{what} on each of {wanted} NUMA nodes asked for (memory interleave, required); {there} have memory and "
            f"CPUs of pool {profile.pool!r}, {_count_nodes(case)} of them free ones"
        )
        rules.append((words, _with(case, memory=Memory()), case.pool))
    if profile.llc == "required":
        most, group = _most(case, [v.mask for v in case.tree.llcs])
        few = case.most_llcs() or 0
        where = "one last-level cache" if few == 1 else f"{few} last-level caches"
        words = f"{what} of {where} asked for (cache llc required); most free in one: {most}"
        rules.append((words, _with(case, llc="none"), group))
    if device is not None and device.affinity == "required":
        most, group = _most(case, case.devices or ())
        words = f"{what} local to device {device.match!r} asked for (required); {most} are free there"
        rules.append((words, _with(case, device=None), group))
    if profile.core_kind != "any" and case.host.kinds:
        most, group = _most(case, [kind.cpus for kind in case.host.kinds if kind.name == profile.core_kind])
        words = f"{what} on {profile.core_kind} cores asked for; {most} are free there"
        rules.append((words, _with(case, core_kind="any"), group))
    for words, without, in_the_way in rules:
        if fits(without):
            return words, in_the_way
    if case.zones is not None and rules and fits(replace(case, zones=None)):
        named = ", ".join(f"{count} of {name}" for name, count in case.zones.items())
        return f"{what} do not fit as {named}: " + "; ".join(words for words, _, _ in rules), rules[0][2]
    if rules:
        return "; ".join(words for words, _, _ in rules), rules[0][2]
    return f"{what} do not fit", case.pool


def _with(case: Case, *, siblings: str | None = None, **changes: object) -> Case:
    return replace(case, siblings=siblings or case.siblings, profile=replace(case.profile, **changes))  # type: ignore[arg-type]


def _short_zone(case: Case, zones: Mapping[str, int]) -> tuple[str, int] | None:
    """The first zone that has fewer free CPUs than are to come from it."""
    if case.zones is None or case.shrinks:
        return None
    for name, count in case.zones.items():
        there = (case.choice & zones[name]).bit_count()
        if there < count:
            most = max(zones, key=lambda other: (case.choice & zones[other]).bit_count())
            best = (case.choice & zones[most]).bit_count()
            other = f"; the zone with the most: {most} with {best}" if most != name else ""
            return f"{count} CPUs of {name} asked for, {there} are free there{other}", zones[name]
    return None


def _whole_words(case: Case, what: str) -> str:
    whole = whole_cores(case.host, case.choice | case.held) & ~case.held
    rule = "siblings denied" if case.siblings == "denied" else "siblings required"
    return f"{what} cannot be made of whole free cores ({rule}); {whole.bit_count()} CPUs are in such"


def _broken(case: Case) -> int:
    """CPUs whose core is partly free."""
    mask = 0
    for core in case.host.cores:
        if core & case.choice and core & ~case.choice:
            mask |= core
    return mask


def _bind_words(case: Case, what: str) -> tuple[str, int]:
    rule = "(memory bind, required)"
    without = [node for node in case.host.nodes if node.cpus & case.choice and not node.cpus & case.memory]
    note = "".join(f"; node {node.id} has no memory" for node in without)
    if case.in_package():
        most, group = _most(case, [v.mask & case.memory for v in case.tree.packages])
        return f"{what} of one package asked for {rule}; most free in a package: {most}{note}", group
    limit = case.most_nodes()
    most, group = _most(case, list(case.node_groups()))
    place = "".join(f" (node {node.id})" for node in case.host.nodes if node.cpus & group)
    if limit == 0:
        size = sum(case.sizes("nodes"))
        return f"{what} asked for, bound to memory {rule}; the nodes with memory have {size} CPUs of the pool{note}", 0
    if limit == 1:
        return (
            f"{what} of one NUMA node asked for {rule}; most free in a node: {most}{place if most else ''}{note}",
            group,
        )
    return f"{what} of at most {limit} NUMA nodes asked for {rule}; most free in a node: {most}{place}{note}", group


def _most(case: Case, groups: Iterable[int]) -> tuple[int, int]:
    """(how many CPUs the group with the most has, that group)."""
    usable = usable_of(case)
    return max((((usable & group).bit_count(), group) for group in groups), key=lambda item: item[0], default=(0, 0))


def _count_nodes(case: Case) -> int:
    usable = usable_of(case)
    return sum(1 for mask in case.node_groups() if mask & usable)


def _nearest(case: Case, zones: Mapping[str, int], fits: Fits) -> tuple[int, int]:
    """(the nearest smaller total that fits, the nearest larger one); 0 for none, or none near enough."""
    below = above = 0
    step = 2 * max((core.bit_count() for core in case.host.cores), default=1)
    for total in range(case.total - 1, max(0, case.total - step - 1), -1):
        other = of_size(case, total)
        if other is not None and fits(other):
            below = total
            break
    if not below and not case.shrinks:
        region = case
        if case.zones is not None and len(case.zones) == 1:
            region = replace(case, choice=case.choice & zones[next(iter(case.zones))], zones=None)
        if case.zones is None or len(case.zones) == 1:
            below = largest_of(region, fits, case.total - 1)
    free = case.choice.bit_count() + case.held.bit_count()
    for total in range(case.total + 1, min(free, case.total + step) + 1):
        other = of_size(case, total)
        if other is not None and fits(other):
            above = total
            break
    return below, above
