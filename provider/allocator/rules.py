"""From a request to the problems whose best answer is the placement.

Decides which CPUs a profile may have (pool, kind, device, memory), and turns its hard rules (one node, one cache, so
many nodes) into limits of the search. Never searches and never words a refusal.

Where the design leaves room:

- Sizes of nodes, packages and caches, for `required`, are those of the whole pool, free or not; for `bind` only nodes
  with memory count. So a number that fits one node by size has to be in one node, whatever the kind of core or the
  device.
- `bind` and `required`: CPUs of a node without memory are not given, since their memory could not be in their node.
  `preferred`: they are, and the memory comes from the nearest node that has some.
- `interleave` without `nodes` means all nodes with memory and CPUs of the pool. `preferred` takes CPUs of nodes
  without memory only where the others cannot hold the set; where more nodes are needed than asked for, as few more as
  can be.
- `device`, several matches: CPUs local to one of them, whichever gives the better answer.
- `core_kind` on a host with one kind of core restricts nothing.
- A shrinking set may keep CPUs that a rule on nodes, caches or devices would not give it today, where no choice keeps
  the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from profiles.mapping import Profile
from provider.allocator.budget import Budget
from provider.allocator.order import order_of
from provider.allocator.request import Request
from provider.allocator.search import Problem
from provider.allocator.tables import Tables, Tree, tables
from provider.topology import Topology, match_devices

__all__ = ["Case", "Found", "cases", "whole_cores"]

WHOLE = frozenset({"required", "denied"})


@dataclass(frozen=True, slots=True)
class Case:
    """One request on one host, put in the allocator's own terms."""

    host: Topology
    tables: Tables
    tree: Tree
    profile: Profile
    siblings: str
    """The `core_siblings` that is tried; `denied_preferred` is two cases."""
    pool: int
    total: int
    """The charge that the set is to have."""
    count: int
    """CPUs to choose among `choice`."""
    choice: int
    held: int
    """Charged by the set and kept in any case."""
    usable: int
    """Usable CPUs of the set before."""
    free: int
    zones: Mapping[str, int] | None
    shrinks: bool
    memory: int
    """CPUs of nodes with memory that may be used."""
    devices: tuple[int, ...] | None
    """Local CPUs of each device that matches; None where the profile has no device."""
    budget: Budget
    """Shared by all that is tried for the request."""
    relaxed: bool = False
    """Whether the rules on nodes, caches, devices and memory are left out."""

    @property
    def whole(self) -> bool:
        return self.siblings in WHOLE

    def tries(self) -> tuple[int, ...]:
        """CPUs to try, in this order, the first that can hold the set wins: by kind, and for interleave by memory."""
        kinds = self.kinds()
        if self.profile.memory.policy == "interleave" and self.choice & ~self.memory:
            return tuple(mask for kind in kinds for mask in (kind & self.memory, kind))
        return kinds

    def kinds(self) -> tuple[int, ...]:
        """The kinds of cores to try."""
        everything = self.host.online
        kinds = self.host.kinds
        if not kinds:
            return (everything,)
        if self.profile.core_kind != "any":
            named = sum(kind.cpus for kind in kinds if kind.name == self.profile.core_kind)
            return (everything,) if self.relaxed else (named | self.held,)
        return (*(kind.cpus for kind in kinds if not self.held & ~kind.cpus), everything)

    def sizes(self, kind: str) -> tuple[int, ...]:
        """CPUs of the pool in each of the "nodes" with memory, of the "llcs" or of the "packages" (those near to
        memory), the largest first."""
        return self.tree.sizes(kind, self.pool, self.memory)[0]

    def sums(self, kind: str) -> frozenset[int]:
        """Totals at which a rule by size can change its mind: these sizes, and those of the largest ones together.

        Memory is left out where the profile does not bind.
        """
        return self.tree.sizes(f"all {kind}", self.pool, self.memory if self.binds else -1)[1]

    def node_groups(self) -> tuple[int, ...]:
        return self.tree.near(self.memory)

    def fewest(self, kind: str) -> int:
        """How few of these groups could hold the set by their size; 0 where all of them could not."""
        rest = self.total
        for number, size in enumerate(self.sizes(kind), 1):
            rest -= size
            if rest <= 0:
                return number
        return 0

    @property
    def binds(self) -> bool:
        memory = self.profile.memory
        return memory.policy == "bind" and memory.mode == "required" and not self.relaxed

    @property
    def interleaves(self) -> bool:
        memory = self.profile.memory
        return memory.policy == "interleave" and memory.mode == "required" and not self.relaxed

    def interleave_nodes(self) -> tuple[int, int]:
        """(how many nodes are asked for, how many have memory and CPUs of the pool)."""
        there = sum(1 for mask in self.node_groups() if mask & self.pool)
        return self.profile.memory.nodes or there, there

    def most_nodes(self) -> int | None:
        """How many nodes a `bind` set may have; None: any number. 0: the pool's nodes could not hold it."""
        if not self.binds:
            return None
        sizes = self.sizes("nodes")
        if self.total <= (sizes[0] if sizes else 0):
            return 1
        return None if self.in_package() else self.fewest("nodes")

    def in_package(self) -> bool:
        """Whether a `bind` set is too large for a node and has to be in one package."""
        if not self.binds:
            return False
        nodes, packages = self.sizes("nodes"), self.sizes("packages")
        return (nodes[0] if nodes else 0) < self.total <= (packages[0] if packages else 0)

    def most_llcs(self) -> int | None:
        """How many caches an `llc: required` set may have; None: any number, 0: all of them could not hold it."""
        if self.profile.llc != "required" or self.relaxed:
            return None
        return self.fewest("llcs")

    def problems(self, among: int) -> Iterator[Problem]:
        """The problems for CPUs of `among` (one of `tries`); the least key of their answers is the best answer.

        For `pack` a limit on the number of nodes is left to the order, which puts fewer nodes first: the caller
        compares the number used with `most_nodes`.
        """
        profile = self.profile
        choice = self.choice & among
        memory = profile.memory
        pack = profile.placement == "pack" and memory.policy != "interleave"
        grows = bool(self.usable) and not self.shrinks
        order = order_of(profile, self.siblings, grows=grows, width=self.tables.width)
        base = Problem(
            tables=self.tables,
            tree=self.tree,
            order=order,
            count=self.count,
            choice=choice if not self.whole or self.shrinks else whole_cores(self.host, choice | self.held) & choice,
            held=self.held,
            free=self.free,
            whole=self.whole,
            units=self.shrinks,
            zones=self.zones,
            budget=self.budget,
        )
        llcs = self.most_llcs()
        if llcs == 0 or self.most_nodes() == 0:
            return
        if self.interleaves and memory.mode == "required" and self.held & ~self.memory:
            # The set already is on a node without memory: it cannot be interleaved over that one.
            return
        if llcs is not None:
            base = self._in_llcs(base, llcs)
        if self.binds or self.interleaves:
            base = replace(base, choice=base.choice & self.memory)
        if memory.policy == "interleave":
            base = self._interleave(base)
        for one in self._by_device(base):
            if self.in_package():
                yield from self._inside(one, tuple(v.mask for v in self.tree.packages))
            elif self.most_nodes() == 1 and not pack:
                yield from self._inside(one, self.node_groups())
            elif (limit := self.most_nodes()) is not None and not pack:
                yield replace(one, nodes=dict.fromkeys(range(1, limit + 1), 0))
            else:
                yield one

    def _in_llcs(self, base: Problem, most: int) -> Problem:
        if most > 1:
            return replace(base, max_llcs=most)
        for vertex in self.tree.llcs:
            if self.held & vertex.mask:
                # With two caches held already, nothing is left to choose from.
                base = replace(base, choice=base.choice & vertex.mask)
        return replace(base, one_llc=True)

    def _interleave(self, base: Problem) -> Problem:
        wanted, _ = self.interleave_nodes()
        if self.interleaves:
            return replace(base, nodes={wanted: 0})
        most = len(self.tree.nodes)
        nodes = {number: wanted - number if number <= wanted else number for number in range(1, most + 1)}
        return replace(base, nodes=nodes)

    def _by_device(self, base: Problem) -> Iterator[Problem]:
        device = self.profile.device
        if device is None or (self.relaxed and device.affinity == "required"):
            yield base
        elif device.affinity == "required":
            for mask in self.devices or ():
                if not self.held & ~mask:
                    yield replace(base, choice=base.choice & mask)
        elif not base.order.local or not self.devices:
            yield base
        else:
            for mask in self.devices:
                yield replace(base, local=mask)

    def _inside(self, base: Problem, groups: tuple[int, ...]) -> Iterator[Problem]:
        for mask in groups:
            if not self.held & ~mask and (base.choice & mask).bit_count() >= base.count:
                yield replace(base, choice=base.choice & mask)


Found = tuple[int, Problem]


def cases(
    host: Topology, zones: Mapping[str, int], pool: int, free: int, request: Request, mems: int | None = None
) -> list[Case]:
    """The request in the allocator's terms: one case, or two for `denied_preferred`, the first that fits wins.

    Raises ValueError for a device that `match_devices` cannot read.
    """
    known = tables(host)
    pool &= host.online
    free &= pool & ~request.holds
    profile = request.profile
    memory = known.memory(mems)
    devices: tuple[int, ...] | None = None
    if profile.device is not None:
        matches = match_devices(host, profile.device.match)
        devices = tuple(dict.fromkeys(device.cpus & host.online for device in matches if device.cpus & host.online))
    found: list[Case] = []
    budget = Budget()
    tries = ("denied", "none") if profile.core_siblings == "denied_preferred" else (profile.core_siblings,)
    for siblings in tries:
        charge = request.holds | _blocked(host, free, request)
        shrinks = bool(charge) and request.cpus < charge.bit_count()
        found.append(
            Case(
                host=host,
                tables=known,
                tree=known.tree(zones),
                profile=profile,
                siblings=siblings,
                pool=pool,
                total=request.cpus,
                count=request.cpus if shrinks else request.cpus - charge.bit_count(),
                choice=charge if shrinks else free & ~charge,
                held=0 if shrinks else charge,
                usable=request.holds,
                free=free | charge if shrinks else free & ~charge,
                zones=_quantities(zones, charge, request, shrinks),
                shrinks=shrinks,
                memory=memory,
                devices=devices,
                budget=budget,
            )
        )
    return found


def _blocked(host: Topology, free: int, request: Request) -> int:
    """The siblings that a set charges besides its usable CPUs."""
    if not request.holds:
        return 0
    if request.blocked is not None:
        return request.blocked & ~request.holds
    if request.profile.core_siblings not in ("denied", "denied_preferred"):
        return 0
    wished = request.profile.core_siblings == "denied_preferred"
    blocked = 0
    for core in host.cores:
        if core & request.holds:
            if wished and (core & free or (core & request.holds).bit_count() > 1):
                return 0
            blocked |= core & ~request.holds
    if wished and request.zones:
        charge = (request.holds | blocked).bit_count()
        change = sum(request.zones.values())
        if request.cpus not in (charge + change, charge - change):
            return 0
    return blocked


def _quantities(zones: Mapping[str, int], charge: int, request: Request, shrinks: bool) -> Mapping[str, int] | None:
    if request.zones is None:
        return None
    if not shrinks:
        return {name: count for name, count in request.zones.items() if count}
    return {
        name: (charge & mask).bit_count() - request.zones.get(name, 0) for name, mask in zones.items() if charge & mask
    }


def whole_cores(host: Topology, mask: int) -> int:
    """The CPUs of `mask` in cores that lie in it with all their online CPUs."""
    return tables(host).whole_cores(mask)
