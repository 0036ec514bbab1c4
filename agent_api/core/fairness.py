"""The allocator's arithmetic: whose turn it is, and how much a role may get without breaking a promise to another.

Decides the order of roles by weighted dominant shares (DRF) in the tree of roles, what a quota still guarantees and
still allows, and how much of what is free a role may be given. Numbers in, numbers out: it knows neither resources
nor frameworks, and it never decides which CPUs those are (`core.offers` and the provider do).

Quantities are whole thousandths by the name of the resource; what is not named is zero. Quotas are those of roles at
the top of the tree (as with Mesos) and hold for all roles below; see `docs/operating.md` for the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = [
    "Quantities",
    "Quota",
    "add",
    "by_top",
    "headroom",
    "lineage",
    "may_take",
    "order",
    "share",
    "top",
]

Quantities = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Quota:
    """Thousandths by name. A name without a guarantee is promised nothing, one without a limit may grow freely."""

    guarantees: Quantities = field(default_factory=dict)
    limits: Quantities = field(default_factory=dict)

    @property
    def default(self) -> bool:
        """Whether it says nothing: the role is as one without a quota."""
        return not self.guarantees and not self.limits


def top(role: str) -> str:
    """The role at the top of the tree that a role is in: `eng` of `eng/dev/ci`."""
    return role.partition("/")[0]


def lineage(role: str) -> list[str]:
    """The role's path from the top down to itself: `a`, `a/b`, `a/b/c`."""
    parts = role.split("/")
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def add(target: dict[str, int], more: Quantities) -> None:
    """Count `more` into `target`, in place."""
    for name, quantity in more.items():
        target[name] = target.get(name, 0) + quantity


def by_top(consumed: Mapping[str, Quantities]) -> dict[str, dict[str, int]]:
    """What whole trees of roles have consumed, by their top role."""
    result: dict[str, dict[str, int]] = {}
    for role, quantities in consumed.items():
        add(result.setdefault(top(role), {}), quantities)
    return result


def _missing(quota: Quota, consumed: Quantities) -> dict[str, int]:
    """What the guarantee still promises. A role above its guarantee is owed nothing, and never less than nothing:
    what it has too much must not count for the guarantee of another (MESOS-8339)."""
    owed = ((name, most - consumed.get(name, 0)) for name, most in quota.guarantees.items())
    return {name: quantity for name, quantity in owed if quantity > 0}


def headroom(quotas: Mapping[str, Quota], consumed: Mapping[str, Quantities]) -> dict[str, int]:
    """What has to stay free for all guarantees that are not used up. `consumed` by top role."""
    result: dict[str, int] = {}
    for role, quota in quotas.items():
        add(result, _missing(quota, consumed.get(role, {})))
    return result


def may_take(
    role: str, quotas: Mapping[str, Quota], consumed: Mapping[str, Quantities], free: Quantities
) -> dict[str, tuple[int, int]]:
    """How much of what is free and unreserved a role may be given now: by name (guaranteed, at most).

    The first is what its own guarantee still promises it; the second adds what is free beyond the headroom that all
    guarantees need, and ends at the role's limit. This holds for every name, also for those the role has no guarantee
    for (MESOS-8352). Where less is free than is owed, everyone with a guarantee may still have their own.
    """
    quota = quotas.get(top(role), Quota())
    mine = consumed.get(top(role), {})
    missing = _missing(quota, mine)
    needed = headroom(quotas, consumed)
    result: dict[str, tuple[int, int]] = {}
    for name, have in free.items():
        owed = missing.get(name, 0)
        most = max(0, have - needed.get(name, 0)) + owed
        if name in quota.limits:
            most = min(most, max(0, quota.limits[name] - mine.get(name, 0)))
        most = min(most, have)
        result[name] = (min(owed, most), most)
    return result


# Shares


def share(got: Quantities, total: Quantities) -> float:
    """The dominant share: the largest part of any one resource."""
    return max((got.get(name, 0) / size for name, size in total.items() if size > 0), default=0.0)


def order(
    roles: Iterable[str],
    allocated: Mapping[str, Quantities],
    total: Quantities,
    weights: Mapping[str, float],
    served: Mapping[str, int],
) -> list[str]:
    """The roles, in the order in which they are served.

    At each level of the tree the one with the smallest dominant share (of its whole tree), divided by its weight, comes
    first; among equals the one served less often, then by name. A role that has roles below it competes with them as
    a leaf of weight 1. `allocated` and `served` are by role, without those below.
    """
    clients = sorted(set(roles))
    trees: dict[str, dict[str, int]] = {}
    turns: dict[str, int] = {}
    for role, quantities in allocated.items():
        for path in lineage(role):
            add(trees.setdefault(path, {}), quantities)
    for role, count in served.items():
        for path in lineage(role):
            turns[path] = turns.get(path, 0) + count

    def key(role: str) -> tuple[tuple[float, int, str], ...]:
        steps: list[tuple[float, int, str]] = [
            (share(trees.get(path, {}), total) / weights.get(path, 1.0), turns.get(path, 0), path)
            for path in lineage(role)
        ]
        # Beside its children, a role stands for what it got itself; "." sorts before any name below it.
        steps.append((share(allocated.get(role, {}), total), served.get(role, 0), f"{role}/."))
        return tuple(steps)

    return sorted(clients, key=key)
