"""The allocator's entry points: place, explain, largest, free_whole_cores.

Decides the order in which kinds of cores and forms of `denied_preferred` are tried, which memory nodes go with the
CPUs, and which siblings are blocked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from profiles.mapping import Profile
from provider.allocator import refusal
from provider.allocator.explaining import describe
from provider.allocator.largest import largest_of
from provider.allocator.request import Placement, Request
from provider.allocator.rules import Case, Found, cases, whole_cores
from provider.allocator.search import solve
from provider.cpuset import lowest
from provider.errors import Refused
from provider.topology import Topology

__all__ = ["can_place", "explain", "free_whole_cores", "growth", "largest", "place"]


def place(
    host: Topology, zones: Mapping[str, int], pool: int, free: int, request: Request, *, mems: int | None = None
) -> Placement:
    """The best CPUs for a request, the same for the same arguments.

    `zones` are the zones with their CPUs, `pool` all CPUs of the request's pool, `free` those of them that no
    exclusive set holds. `mems` are the memory nodes that may be used, None for all that have memory.

    Raises `Refused` (a `PlacementRefused`) where nothing meets the profile's required rules and the quantities; the
    message says what would fit.
    """
    return _decide(host, zones, pool, free, request, mems)[2]


def _decide(
    host: Topology, zones: Mapping[str, int], pool: int, free: int, request: Request, mems: int | None
) -> tuple[Case, Found, Placement]:
    refusal.check(zones, request)
    try:
        attempts = cases(host, zones, pool, free, request, mems)
    except ValueError as error:
        raise refusal.unreadable(request, error) from error
    for index, case in enumerate(attempts):
        refusal.check_quantities(case, request)
        notes: list[str] = []
        found = answer(case)
        if found is None and case.shrinks:
            case = replace(case, relaxed=True)
            found = answer(case)
            notes.append("no part of what the set holds keeps the rules on nodes, caches, devices and kinds of cores")
        if found is None:
            continue
        if index:
            notes.append("siblings could not be kept empty (core_siblings denied_preferred): all CPUs are usable")
        return case, found, _placement(case, found, notes, mems)
    raise refusal.refused(attempts[-1], zones, fits)


def answer(case: Case) -> Found | None:
    """The best key and the problem that it answers; None where the case cannot be met."""
    if case.count == 0 and not case.shrinks:
        return _unchanged(case)
    limit = case.most_nodes()
    for among in case.tries():
        best: Found | None = None
        for problem in case.problems(among):
            key = solve(problem)
            if key is None:
                continue
            # The search counts what it chooses; which of several devices is nearer depends on the held CPUs, too.
            key -= problem.order.local * (problem.held & problem.local).bit_count()
            if best is not None and key >= best[0]:
                continue
            if limit is not None and problem.order.nodes and problem.order.split(key)["nodes"] > limit:
                continue
            best = key, problem
        if best is not None:
            return best
    return None


def can_place(
    host: Topology, zones: Mapping[str, int], pool: int, free: int, request: Request, *, mems: int | None = None
) -> bool:
    """Whether `place` has an answer; quicker than it where there is none, as nobody asks why."""
    try:
        refusal.check(zones, request)
        attempts = cases(host, zones, pool, free, request, mems)
    except (ValueError, Refused):
        return False
    return any(fits(case) for case in attempts)


def fits(case: Case) -> bool:
    """Whether the case can be met."""
    return answer(case) is not None


def _unchanged(case: Case) -> Found:
    for problem in case.problems(case.host.online):
        return 0, problem
    for problem in replace(case, relaxed=True).problems(case.host.online):
        return 0, problem
    raise AssertionError("a case without rules has a problem")


def _placement(case: Case, found: Found, notes: list[str], mems: int | None) -> Placement:
    key, problem = found
    charge = case.held | (case.tables.reverse(problem.order.chosen(key)) if key else 0)
    blocked = 0
    if case.siblings == "denied":
        for core in case.host.cores:
            part = core & charge
            if part:
                kept = part & case.usable
                blocked |= part & ~(kept or lowest(part))
    if case.profile.device is not None and not case.devices:
        notes.append(f"no device matches {case.profile.device.match!r}")
    nodes = memory_of(case, charge, mems, notes)
    return Placement(charge & ~blocked, blocked, nodes, tuple(notes))


def memory_of(case: Case, charge: int, mems: int | None, notes: list[str]) -> int:
    """The memory nodes for these CPUs."""
    host = case.host
    there = [i for i, node in enumerate(host.nodes) if node.has_memory and (mems is None or mems >> node.id & 1)]
    everywhere = 0
    for index in there:
        everywhere |= 1 << host.nodes[index].id
    if case.profile.memory.policy == "none" or not there:
        return everywhere
    nodes = 0
    for index, node in enumerate(host.nodes):
        if not node.cpus & charge:
            continue
        if index in there:
            nodes |= 1 << node.id
            continue
        nearest = min(there, key=lambda other: (case.tables.distance[index][other], other))
        nodes |= 1 << host.nodes[nearest].id
        notes.append(f"node {node.id} has no memory: node {host.nodes[nearest].id}, the nearest that has, is used")
    return nodes or everywhere


def free_whole_cores(host: Topology, free: int) -> int:
    """The CPUs of `free` in cores all of whose online CPUs are in it."""
    return whole_cores(host, free & host.online)


def largest(
    host: Topology, zones: Mapping[str, int], pool: int, free: int, profile: Profile, *, mems: int | None = None
) -> int:
    """The largest charge that fits now under a profile; 0 where nothing does.

    Where all that is free lies in one node, the answer depends on its state and shape, not on which node it is: it is
    worked out once for nodes that are alike.
    """
    try:
        attempts = cases(host, zones, pool, free, Request(1, profile), mems)
    except ValueError:
        return 0
    first = attempts[0]
    node = first.tree.node_around(first.choice)
    if node is None:
        return _largest(attempts)
    masks = (first.choice, first.memory, *(kind.cpus for kind in host.kinds), *(first.devices or ()))
    state = tuple((mask & node.mask) >> node.low for mask in masks)
    key = ("largest", profile.rules, pool, first.memory, node.shape, state)
    return first.tree.remember(key, lambda: _largest(attempts))


def growth(
    host: Topology,
    zones: Mapping[str, int],
    pool: int,
    free: int,
    profile: Profile,
    holds: int,
    blocked: int,
    *,
    mems: int | None = None,
) -> int:
    """How many CPUs of `free` a set can be charged more, at most."""
    charge = (holds | blocked).bit_count()
    request = Request(charge + 1, profile, holds=holds, blocked=blocked)
    try:
        attempts = cases(host, zones, pool, free, request, mems)
    except ValueError:
        return 0
    return max(0, _largest(attempts) - charge)


def _largest(attempts: list[Case]) -> int:
    return max(largest_of(case, fits) for case in attempts)


def explain(
    host: Topology, zones: Mapping[str, int], pool: int, free: int, request: Request, *, mems: int | None = None
) -> list[str]:
    """Why the answer is what it is and why others are not, one statement a line; the refusal where there is none."""
    try:
        case, found, placement = _decide(host, zones, pool, free, request, mems)
    except Refused as refused:
        return [str(refused)]
    return describe(case, found, placement, answer)
