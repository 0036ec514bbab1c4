"""Why these CPUs and not others, in words.

Decides which other answers are worth comparing with: the best one in each node that is not used, the best one without
each node or cache that is used, and the best one without the first CPU. Each is named with the first step at which it
loses. Never changes an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations

from provider.allocator.order import STEPS
from provider.allocator.request import Placement
from provider.allocator.rules import Case, Found, whole_cores
from provider.cpuset import format_mask, lowest

__all__ = ["describe"]

MAX_OTHERS = 16
"""How many other answers are compared, at most."""

Answer = Callable[[Case], Found | None]


def describe(case: Case, found: Found, placement: Placement, answer: Answer) -> list[str]:
    """The lines for one placement: what was asked, what was given, what lost and why, and the notes."""
    lines = [_asked(case), _given(case, placement)]
    lines.append("the order: " + ", ".join(_step(name) for name in (*_kind_step(case), *found[1].order.fields, "ids")))
    for label, other in _others(case, placement)[:MAX_OTHERS]:
        lines.append(f"{label}: {_compare(case, found, placement, other, answer(other))}")
    lines.extend(placement.notes)
    return lines


def _kind_step(case: Case) -> tuple[str, ...]:
    return ("kind",) if case.host.kinds and case.profile.core_kind == "any" else ()


def _step(name: str) -> str:
    return STEPS[name]


def _asked(case: Case) -> str:
    profile = case.profile
    rules = [f"siblings {case.siblings}", profile.placement]
    if profile.memory.policy != "none":
        nodes = f" over {profile.memory.nodes} nodes" if profile.memory.nodes else ""
        rules.append(f"memory {profile.memory.policy}{nodes} {profile.memory.mode}")
    rules.append(f"caches {profile.llc}")
    if profile.device is not None:
        rules.append(f"device {profile.device.match} {profile.device.affinity}")
    if profile.core_kind != "any":
        rules.append(f"{profile.core_kind} cores")
    among = f"{case.choice.bit_count()} {'that the set holds' if case.shrinks else 'free CPUs'}"
    where = "" if case.zones is None else " as " + ", ".join(f"{n} of {name}" for name, n in case.zones.items())
    held = f" besides {format_mask(case.held)}" if case.held else ""
    return f"{case.count} CPUs{where}{held}, among {among} ({format_mask(case.choice)}): {', '.join(rules)}"


def _given(case: Case, placement: Placement) -> str:
    charge = placement.charge
    nodes = [str(node.id) for node in case.host.nodes if node.cpus & charge]
    llcs = sum(1 for v in case.tree.llcs if v.mask & charge)
    cores = [core for core in case.host.cores if core & charge]
    own = sum(1 for core in cores if not core & ~charge)
    blocked = f", blocked siblings {format_mask(placement.blocked)}" if placement.blocked else ""
    return (
        f"given: CPUs {format_mask(placement.cpus)}{blocked} on {'node' if len(nodes) == 1 else 'nodes'} "
        f"{', '.join(nodes)}, in {llcs} {'cache' if llcs == 1 else 'caches'} and {len(cores)} "
        f"{'core' if len(cores) == 1 else 'cores'}, {own} of them wholly"
    )


def _others(case: Case, placement: Placement) -> list[tuple[str, Case]]:
    charge = placement.charge
    used = [v for v in case.tree.nodes if v.mask & charge]
    others: list[tuple[str, Case]] = []
    for vertex in case.tree.nodes:
        node = case.host.nodes[vertex.node].id
        if vertex.mask & charge:
            if len(used) > 1 and not vertex.mask & case.held:
                others.append((f"without node {node}", replace(case, choice=case.choice & ~vertex.mask)))
        elif len(used) == 1 and case.choice & vertex.mask:
            others.append((f"in node {node} instead", replace(case, choice=case.choice & vertex.mask)))
    inside = 0
    for vertex in used:
        inside |= vertex.mask
    for number, vertex in enumerate(sorted(case.tree.llcs, key=lambda v: lowest(v.mask))):
        if vertex.mask & charge and not vertex.mask & case.held and inside & case.choice & ~vertex.mask:
            others.append((f"without cache {number}", replace(case, choice=case.choice & inside & ~vertex.mask)))
    first = lowest(charge & case.choice)
    if first:
        others.append((f"without CPU {format_mask(first)}", replace(case, choice=case.choice & ~first)))
    return others


def _compare(case: Case, found: Found, placement: Placement, other: Case, lost: Found | None) -> str:
    if lost is None:
        usable = whole_cores(case.host, other.choice) if case.whole else other.choice
        sort = " in whole cores" if case.whole else ""
        if usable.bit_count() < case.count:
            return f"only {usable.bit_count()} CPUs are free there{sort}"
        return "nothing there keeps the required rules and the quantities by zone"
    its = case.held | case.tables.reverse(lost[1].order.chosen(lost[0]))
    cpus = format_mask(its & ~case.held)
    if _rank(case, placement.charge) != _rank(case, its):
        return f"{cpus} loses at {STEPS['kind']}"
    best, worse = _measure(case, found, placement.charge), _measure(case, lost, its)
    for name in found[1].order.fields:
        if best[name] != worse[name]:
            return f"{cpus} loses at {STEPS[name]}: {worse[name]} instead of {best[name]}"
    return f"{cpus} is as good in every step but {STEPS['ids']}"


def _rank(case: Case, charge: int) -> int:
    """The kind of core that all of these are of, the most capable first."""
    for rank, kind in enumerate(case.host.kinds):
        if not charge & ~kind.cpus:
            return rank
    return len(case.host.kinds)


def _measure(case: Case, found: Found, charge: int) -> dict[str, int]:
    """Each step for these CPUs, in the figures of the design."""
    host = case.host
    after = case.free & ~charge
    nodes = [v for v in case.tree.nodes if v.mask & charge]
    llcs = [v for v in case.tree.llcs if v.mask & charge]
    zones = [v.mask for v in case.tree.zones]
    cores = [core for core in host.cores if core & charge]
    kept = case.held

    def squares(groups: Iterable[int]) -> int:
        return sum((group & charge).bit_count() ** 2 for group in groups)

    return {
        "new_nodes": sum(1 for v in nodes if not v.mask & kept),
        "new_llcs": sum(1 for v in llcs if not v.mask & kept),
        "count": len(nodes),
        "nodes": len(nodes),
        "local": (charge & found[1].local).bit_count(),
        "dist": sum(case.tables.distance[a.node][b.node] for a, b in combinations(nodes, 2)) // 2,
        "sos_node": squares(v.mask for v in nodes),
        "sos_zone": squares(zones),
        "sos_llc": squares(v.mask for v in llcs),
        "sos_core": squares(cores),
        "packages": sum(1 for v in case.tree.packages if v.mask & charge),
        "llcs": len(llcs),
        "whole": sum(core.bit_count() for core in cores if not core & ~charge),
        "touched": len(cores),
        "broken": sum(1 for core in host.cores if core & after and core & ~after),
        "left_nodes": sum((v.mask & after).bit_count() for v in nodes),
        "left_llcs": sum((v.mask & after).bit_count() for v in llcs),
        "stay_nodes": sum(1 for v in case.tree.nodes if v.mask & after),
        "stay_llcs": sum(1 for v in case.tree.llcs if v.mask & after),
    }
