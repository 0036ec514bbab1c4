"""The order of preference by brute force: every subset of the free CPUs, compared by the steps as the design words
them.

Written without the allocator's tables and search, and knowing nothing of them: plain sets of ids, and one tuple per
subset. Good for machines of up to about 16 CPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from profiles.mapping import Profile
from provider.topology import Topology, match_devices

Answer = tuple[tuple[int, ...], tuple[int, ...]]


def members(mask: int) -> frozenset[int]:
    return frozenset(i for i in range(mask.bit_length()) if mask >> i & 1)


class Oracle:
    def __init__(self, host: Topology, zones: Mapping[str, int], pool: int, free: int) -> None:
        self.host = host
        self.cores = [members(core) for core in host.cores]
        self.llcs = [members(llc) for llc in host.llcs]
        self.packages = [members(package) for package in host.packages]
        self.nodes = [members(node.cpus) for node in host.nodes]
        self.zones = {name: members(mask) for name, mask in zones.items()}
        self.pool = members(pool)
        self.free = members(free)
        self.core_of = {cpu: core for core in self.cores for cpu in core}

    def best(
        self,
        total: int,
        profile: Profile,
        quantities: Mapping[str, int] | None = None,
        holds: int = 0,
    ) -> Answer | None:
        """(usable, blocked) as sorted ids; None where nothing keeps the rules."""
        if profile.core_siblings == "denied_preferred":
            return self._best("denied", total, profile, quantities, holds) or self._best(
                "none", total, profile, quantities, holds
            )
        return self._best(profile.core_siblings, total, profile, quantities, holds)

    def _best(
        self, siblings: str, total: int, profile: Profile, quantities: Mapping[str, int] | None, holds: int
    ) -> Answer | None:
        usable = members(holds)
        charge = usable
        if siblings == "denied":
            charge = frozenset(cpu for held in usable for cpu in self.core_of[held])
        if not usable:
            before = self.free
            candidates = (frozenset(extra) for extra in combinations(sorted(self.free), total))
        elif total >= len(charge):
            before = self.free - charge
            candidates = (charge | frozenset(x) for x in combinations(sorted(before), total - len(charge)))
        else:
            before = self.free | charge
            candidates = (frozenset(kept) for kept in combinations(sorted(charge), total))
        relaxed_best: tuple[object, frozenset[int]] | None = None
        best: tuple[object, frozenset[int]] | None = None
        shrinks = bool(usable) and total < len(charge)
        for chosen in candidates:
            if not self._quantities(chosen, charge, quantities, shrinks):
                continue
            if siblings in ("required", "denied") and any(self.core_of[c] - chosen for c in chosen):
                continue
            strict = self._rules(chosen, profile, total)
            if not strict and not shrinks:
                continue
            key = self._key(chosen, before, charge if usable and not shrinks else frozenset(), siblings, profile)
            if key is None:
                continue
            entry = (key, chosen)
            if strict and (best is None or entry[0] < best[0]):  # type: ignore[operator]
                best = entry
            if relaxed_best is None or entry[0] < relaxed_best[0]:  # type: ignore[operator]
                relaxed_best = entry
        best = best or (relaxed_best if shrinks else None)
        if best is None:
            return None
        chosen = best[1]
        if siblings != "denied":
            return tuple(sorted(chosen)), ()
        use = {min(core & usable or core) for core in self.cores if core & chosen}
        return tuple(sorted(use)), tuple(sorted(chosen - use))

    def _quantities(
        self, chosen: frozenset[int], charge: frozenset[int], quantities: Mapping[str, int] | None, shrinks: bool
    ) -> bool:
        if quantities is None:
            return True
        moved = charge - chosen if shrinks else chosen - charge
        named: frozenset[int] = frozenset()
        for name, zone in self.zones.items():
            if len(moved & zone) != quantities.get(name, 0):
                return False
            named |= zone
        return moved <= named

    # -- hard rules

    def _size_rule(self, chosen: frozenset[int], groups: list[frozenset[int]], total: int) -> int | None:
        """How many of the groups may be used; None: the number can never be held."""
        sizes = sorted((len(group & self.pool) for group in groups), reverse=True)
        for number in range(1, len(sizes) + 1):
            if sum(sizes[:number]) >= total:
                return number
        return None

    def _rules(self, chosen: frozenset[int], profile: Profile, total: int) -> bool:
        memory = profile.memory
        with_memory = [
            nodes for nodes, node in zip(self.nodes, self.host.nodes, strict=True) if node.has_memory and nodes
        ]
        if memory.policy == "bind" and memory.mode == "required":
            used = [node for node in self.nodes if node & chosen]
            if any(node not in with_memory for node in used):
                return False
            largest = max((len(node & self.pool) for node in with_memory), default=0)
            reachable: frozenset[int] = frozenset().union(*with_memory)
            package = max((len(p & self.pool & reachable) for p in self.packages), default=0)
            if total <= largest:
                if len(used) > 1:
                    return False
            elif total <= package:
                if sum(1 for p in self.packages if p & chosen) > 1:
                    return False
            else:
                limit = self._size_rule(chosen, with_memory, total)
                if limit is None or len(used) > limit:
                    return False
        if memory.policy == "interleave" and memory.mode == "required":
            wanted = memory.nodes or sum(1 for node in with_memory if node & self.pool)
            used = [node for node in self.nodes if node & chosen]
            if len(used) != wanted or any(node not in with_memory for node in used):
                return False
        if profile.llc == "required":
            limit = self._size_rule(chosen, self.llcs, total)
            if limit is None or sum(1 for llc in self.llcs if llc & chosen) > limit:
                return False
        if profile.device is not None and profile.device.affinity == "required":
            matches = match_devices(self.host, profile.device.match)
            if not any(chosen <= members(device.cpus) for device in matches):
                return False
        if profile.core_kind != "any" and self.host.kinds:
            kind = [members(kind.cpus) for kind in self.host.kinds if kind.name == profile.core_kind]
            if not kind or chosen - kind[0]:
                return False
        return True

    # -- the order

    def _key(
        self, chosen: frozenset[int], before: frozenset[int], kept: frozenset[int], siblings: str, profile: Profile
    ) -> tuple[object, ...] | None:
        after = before - chosen
        kind = 0
        if profile.core_kind == "any" and self.host.kinds:
            kind = len(self.host.kinds)
            for rank, one in enumerate(self.host.kinds):
                if chosen <= members(one.cpus):
                    kind = rank
                    break
        used = [i for i, node in enumerate(self.nodes) if node & chosen]
        llcs = [llc for llc in self.llcs if llc & chosen]
        distance = sum(
            self.host.nodes[a].distances[b] + self.host.nodes[b].distances[a] for a, b in combinations(used, 2)
        )
        local = 0
        if profile.device is not None and profile.device.affinity == "preferred":
            matches = match_devices(self.host, profile.device.match)
            local = max((len(chosen & members(device.cpus)) for device in matches), default=0)
        packages = sum(1 for package in self.packages if package & chosen)
        whole = sum(len(core) for core in self.cores if core <= chosen)
        touched = sum(1 for core in self.cores if core & chosen)
        broken = sum(1 for core in self.cores if core & after and core - after)
        key: list[object] = [kind]
        if kept:
            key.append(sum(1 for node in self.nodes if node & chosen and not node & kept))
            key.append(sum(1 for llc in self.llcs if llc & chosen and not llc & kept))
        whole_step = [-whole] if siblings == "preferred" else []
        llc_step = [len(llcs)] if profile.llc != "none" else []

        def squares(groups: list[frozenset[int]]) -> int:
            return sum(len(group & chosen) ** 2 for group in groups)

        even = [squares(list(self.zones.values())), squares(self.llcs), squares(self.cores)]
        if profile.memory.policy == "interleave":
            with_memory = [i for i, node in enumerate(self.host.nodes) if node.has_memory and self.nodes[i]]
            wanted = profile.memory.nodes or sum(1 for i in with_memory if self.nodes[i] & self.pool)
            moved = before - after
            key.insert(1, any(self.nodes[i] & moved and i not in with_memory for i in used))
            key.append(wanted - len(used) if len(used) <= wanted else len(used))
            key += [*whole_step, distance, squares(self.nodes)]
            key += even if profile.placement == "spread" else [-local, packages, *llc_step]
        elif profile.placement == "spread":
            key += [*whole_step, *even]
        else:
            key += [len(used), -local, distance, packages, *llc_step, *whole_step]
        if siblings != "none":
            key.append(touched)
        key.append(broken)
        key.append(sum(len(node & after) for node in self.nodes if node & chosen))
        key.append(sum(len(llc & after) for llc in self.llcs if llc & chosen))
        key.append(sum(1 for node in self.nodes if node & after))
        key.append(sum(1 for llc in self.llcs if llc & after))
        key.append(tuple(sorted(chosen)))
        return tuple(key)
