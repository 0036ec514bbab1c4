"""The order of preference as one number.

Decides in which order the steps count for a profile. Each step is a field of a fixed number of bits in one big integer,
the first step in the highest bits, and below all of them the chosen CPUs, the lowest id in the highest bit and
subtracted: the smallest such number is the best answer. The numbers add up over disjoint groups of CPUs, so a group's
best choice for a number of CPUs does not depend on what is chosen elsewhere, and the best answer is unique.

Where the design leaves room:

- `spread` with `core_siblings: preferred`: most CPUs in wholly own cores first (whole cores come first), then the
  evenness;
- `interleave`: the number of nodes, then most CPUs in wholly own cores, then the smallest sum of distances (which
  nodes), then the evenness over them, then (3) local to the device, (5), (6), or the evenness by zone, cache and core
  for `spread`;
- a device does not count for `spread` (its step is one of those that evenness replaces);
- CPUs are counted as charged: blocked siblings are CPUs of the set in every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from profiles.mapping import Profile

__all__ = ["STEPS", "Order", "order_of"]

_SMALL = 16
_LARGE = 44

STEPS = {
    "kind": "(1) one core kind, the most capable",
    "new_nodes": "(growth) fewest nodes that the set does not use yet",
    "new_llcs": "(growth) fewest caches that the set does not use yet",
    "count": "(interleave) the number of nodes",
    "nodes": "(2) fewest NUMA nodes",
    "local": "(3) most CPUs local to the device",
    "dist": "(4) smallest sum of distances between the nodes",
    "sos_node": "(interleave) as even over the nodes as can be",
    "sos_zone": "(spread) as even over the zones as can be",
    "sos_llc": "(spread) as even over the caches as can be",
    "sos_core": "(spread) as even over the cores as can be",
    "packages": "(5) fewest packages",
    "llcs": "(6) fewest last-level caches",
    "whole": "(7) most CPUs in cores that are wholly the set's own",
    "touched": "(8) fewest cores touched",
    "broken": "(9) fewest broken cores left behind",
    "left_nodes": "(10) best fit: fewest CPUs left free in the nodes used",
    "left_llcs": "(10) best fit: fewest CPUs left free in the caches used",
    "stay_nodes": "(11) what stays free lies in the fewest nodes",
    "stay_llcs": "(11) what stays free lies in the fewest caches",
    "ids": "(12) lowest CPU ids",
}
"""Each field and its step, in words."""

_WIDE = frozenset({"dist", "sos_node", "sos_zone", "sos_llc", "sos_core"})


@dataclass(frozen=True, slots=True)
class Order:
    """The weight of one unit of each step; 0 for a step that does not count."""

    fields: tuple[str, ...]
    """The steps that count, the first first."""
    width: int
    new_nodes: int = 0
    new_llcs: int = 0
    count: int = 0
    nodes: int = 0
    local: int = 0
    dist: int = 0
    sos_node: int = 0
    sos_zone: int = 0
    sos_llc: int = 0
    sos_core: int = 0
    packages: int = 0
    llcs: int = 0
    whole: int = 0
    touched: int = 0
    broken: int = 0
    left_nodes: int = 0
    left_llcs: int = 0
    stay_nodes: int = 0
    stay_llcs: int = 0

    def chosen(self, key: int) -> int:
        """The chosen CPUs in `key`, still in the reversed order of bits (`Tables.reverse`)."""
        return -key & ((1 << self.width) - 1)

    def split(self, key: int) -> dict[str, int]:
        """What `key` says for each step, without the ids."""
        value = (key + self.chosen(key)) >> self.width
        parts: dict[str, int] = {}
        for name in reversed(self.fields):
            bits = _LARGE if name in _WIDE else _SMALL
            part = value & ((1 << bits) - 1)
            if part >> (bits - 1):
                part -= 1 << bits
            parts[name] = part
            value = (value - part) >> bits
        return dict(reversed(parts.items()))


def order_of(profile: Profile, siblings: str, *, grows: bool, width: int) -> Order:
    """The order for a profile, where `siblings` is the `core_siblings` that is tried."""
    device = profile.device is not None and profile.device.affinity == "preferred"
    interleave = profile.memory.policy == "interleave"
    return _order(profile.placement == "spread", interleave, siblings, profile.llc != "none", device, grows, width)


@lru_cache(maxsize=256)
def _order(spread: bool, interleave: bool, siblings: str, llc: bool, device: bool, grows: bool, width: int) -> Order:
    fields: list[str] = ["new_nodes", "new_llcs"] if grows else []
    whole = ["whole"] if siblings == "preferred" else []
    even = ["sos_zone", "sos_llc", "sos_core"]
    local = ["local"] if device else []
    inner = [*local, "packages", *(["llcs"] if llc else [])]
    if interleave:
        fields += ["count", *whole, "dist", "sos_node", *(even if spread else inner)]
    elif spread:
        fields += [*whole, *even]
    else:
        fields += ["nodes", *local, "dist", "packages", *(["llcs"] if llc else []), *whole]
    if siblings != "none":
        fields.append("touched")
    fields += ["broken", "left_nodes", "left_llcs", "stay_nodes", "stay_llcs"]
    weights: dict[str, int] = {}
    shift = width
    for name in reversed(fields):
        weights[name] = 1 << shift
        shift += _LARGE if name in _WIDE else _SMALL
    return Order(tuple(fields), width, **weights)
