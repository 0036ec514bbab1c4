"""A host as the allocator searches it: one tree of groups of CPUs, built once per topology and set of zones.

Every node, package, last-level cache and zone is a vertex; the children of a vertex are the groups inside it, and the
leaves hold cores. Distances between nodes go into the same tree where they allow it: a vertex then says how far two
nodes are apart that lie in different children of it. Never decides what is better, and knows nothing of free CPUs.

Groups that cross each other (firmware tells odd things) are cut: nodes by zones, packages by both, caches by all three;
each piece then counts as a group of its own. A core that is cut by a group is whole nowhere, so that `required` and
`denied`, which promise whole cores, do not use it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import gcd
from typing import Any, TypeVar

from provider.allocator.order import Order
from provider.cpuset import ids, lowest
from provider.topology import Topology

__all__ = ["Tables", "Tree", "Vertex", "tables"]

_LOCAL = 10
_REMOTE = 20
_MAX_TOPOLOGIES = 8
_MAX_TREES = 16
_MAX_MEMOS = 32
_MAX_KNOWN = 4096

T = TypeVar("T")

Memo = dict[tuple[object, ...], list[tuple[int, int] | None]]
"""(shape, state of the group) -> its table: key without ids and, as if the group began at CPU 0, the ids."""


@dataclass(slots=True, eq=False)
class Vertex:
    """One group of CPUs; it may be a node, a cache, a package and a zone at once."""

    mask: int
    node: int = -1
    """Index into `Topology.nodes`."""
    llc: bool = False
    package: bool = False
    zone: str | None = None
    distance: int = 0
    """Between two nodes in different children, both directions added; 0 where no two nodes are below."""
    children: tuple[Vertex, ...] = ()
    cores: tuple[int, ...] = ()
    """Of a leaf: its cores, each with all its online CPUs, by lowest id."""
    low: int = 0
    """Lowest id in it."""
    shape: int = 0
    """Equal for groups that are the same but for a distance of ids: same caches, cores, zones and so on inside."""
    delta: int = 0
    """Of a leaf whose cores have one or two threads, all inside it: by how many ids two threads are apart; else 0."""
    firsts: int = 0
    """Of such a leaf: the first threads of the cores with two."""
    singles: int = 0
    """Of such a leaf: the cores with one thread."""
    zoned: bool = False
    """Whether a zone lies inside it, and is not it."""
    node_count: int = 0
    """Nodes in it, itself included."""
    package_above: int = 0
    """Of a node: the mask of the package that it is only a part of; 0 if there is none."""


@dataclass(slots=True, eq=False)
class Tree:
    """The groups of a host under one set of zones."""

    root: Vertex
    nodes: tuple[Vertex, ...]
    """By lowest CPU."""
    llcs: tuple[Vertex, ...]
    packages: tuple[Vertex, ...]
    zones: tuple[Vertex, ...]
    metric: bool
    """Whether the distances are all in the tree. If not, sets of nodes are compared one by one."""
    flat: bool
    """Whether no cache and no zone is larger than a node, and each node is a vertex of its own."""
    uniform: bool
    """Whether all nodes are equally far apart, so that distances decide nothing."""
    known: dict[object, Any] = field(default_factory=dict)
    """What is worked out once for a pool or a set of memory nodes; kept small."""

    def remember(self, key: object, make: Callable[[], T]) -> T:
        """The value under the key, made where it is not there."""
        found: T | None = self.known.get(key)
        if found is None:
            if len(self.known) >= _MAX_KNOWN:
                self.known.clear()
            found = self.known[key] = make()
        return found

    def near(self, memory: int) -> tuple[int, ...]:
        """The nodes whose CPUs are in `memory`, the CPUs of nodes with memory."""
        return self.remember(("near", memory), lambda: tuple(v.mask for v in self.nodes if v.mask & memory))

    def sizes(self, kind: str, pool: int, memory: int) -> tuple[tuple[int, ...], frozenset[int]]:
        """(how many CPUs of the pool are in each group of a kind, the largest first; these and the sums of the first
        ones). Of `nodes` those with memory count, and of `packages` the CPUs near to memory; with `all ` before the
        kind every group counts with its CPUs near to memory."""
        return self.remember((kind, pool, memory), lambda: self._sizes(kind, pool, memory))

    def _sizes(self, kind: str, pool: int, memory: int) -> tuple[tuple[int, ...], frozenset[int]]:
        groups = {"nodes": self.nodes, "llcs": self.llcs, "packages": self.packages}[kind.removeprefix("all ")]
        masks = [vertex.mask for vertex in groups]
        if kind == "nodes":
            masks = [mask for mask in masks if mask & memory]
        elif kind != "llcs":
            masks = [mask & memory for mask in masks]
        sizes = tuple(sorted(((pool & mask).bit_count() for mask in masks), reverse=True))
        return sizes, frozenset((*sizes, *accumulate(sizes)))

    def groups_with(self, mask: int) -> tuple[list[Vertex], list[Vertex], list[Vertex]]:
        """The nodes, caches and packages that have a CPU of `mask`."""
        nodes: list[Vertex] = []
        llcs: list[Vertex] = []
        packages: list[Vertex] = []
        left = [self.root]
        while left:
            vertex = left.pop()
            if not vertex.mask & mask:
                continue
            if vertex.node >= 0:
                nodes.append(vertex)
            if vertex.llc:
                llcs.append(vertex)
            if vertex.package:
                packages.append(vertex)
            left.extend(vertex.children)
        return nodes, llcs, packages

    def node_around(self, mask: int) -> Vertex | None:
        """The node that all of `mask` is in."""
        return next((vertex for vertex in self.nodes if not mask & ~vertex.mask), None) if mask else None


@dataclass(slots=True, eq=False)
class Tables:
    """What is computed once for a topology."""

    host: Topology
    width: int
    """Bits of a mask: the highest online CPU id plus one."""
    bit: dict[int, int]
    """CPU as a mask -> its weight in step 12: the lower the id, the heavier."""
    width_step: int
    """Every number of CPUs in whole cores is a multiple of it."""
    distance: tuple[tuple[int, ...], ...]
    """By index of node; both directions added."""
    trees: OrderedDict[tuple[tuple[str, int], ...], Tree] = field(default_factory=OrderedDict)
    memos: dict[int, tuple[Order, Memo]] = field(default_factory=dict)
    shapes: dict[object, int] = field(default_factory=dict)
    forms: tuple[tuple[tuple[int, ...], int], ...] = ()
    """Cores of one form together: (by how many ids each of their CPUs is above the lowest, those lowest ones)."""
    memories: dict[int | None, int] = field(default_factory=dict)

    def whole_cores(self, mask: int) -> int:
        """The CPUs of `mask` in cores that lie in it with all their online CPUs."""
        whole = 0
        for offsets, lows in self.forms:
            for offset in offsets:
                lows &= mask >> offset
            if lows:
                for offset in offsets:
                    whole |= lows << offset
        return whole

    def narrowest(self, mask: int) -> int:
        """The fewest CPUs of a core that has some in `mask`; 1 where none has."""
        for offsets, lows in self.forms:
            if any(lows & mask >> offset for offset in offsets):
                return len(offsets)
        return 1

    def memory(self, mems: int | None) -> int:
        """The CPUs of nodes with memory that may be used."""
        found = self.memories.get(mems)
        if found is None:
            found = 0
            for node in self.host.nodes:
                if node.has_memory and (mems is None or mems >> node.id & 1):
                    found |= node.cpus
            if len(self.memories) >= _MAX_TREES:
                self.memories.clear()
            self.memories[mems] = found
        return found

    def memo_of(self, order: Order) -> Memo:
        """Tables worked out under this order; whoever fills it keeps it small."""
        found = self.memos.get(id(order))
        if found is None or found[0] is not order:
            if len(self.memos) >= _MAX_MEMOS:
                self.memos.clear()
            found = self.memos[id(order)] = (order, {})
        return found[1]

    def tree(self, zones: Mapping[str, int]) -> Tree:
        """The tree for these zones; kept for as long as few different ones are asked for."""
        key = tuple(zones.items())
        found = self.trees.get(key)
        if found is None:
            found = _build(self, zones)
            self.trees[key] = found
            if len(self.trees) > _MAX_TREES:
                self.trees.popitem(last=False)
        return found

    def reverse(self, mask: int) -> int:
        """The bits of a mask in the opposite order: turns CPUs into weights and back."""
        return int(f"{mask:0{self.width}b}"[::-1], 2) if mask else 0


_known: OrderedDict[int, Tables] = OrderedDict()


def tables(host: Topology) -> Tables:
    """The tables of a topology object; frozen, so that its identity is enough to find them again."""
    found = _known.get(id(host))
    if found is not None and found.host is host:
        return found
    width = max(host.online.bit_length(), 1)
    bit = {1 << cpu: 1 << (width - 1 - cpu) for cpu in range(width) if host.online >> cpu & 1}
    step = gcd(*(core.bit_count() for core in host.cores)) or 1
    found = Tables(host, width, bit, step, _distances(host), forms=_forms(host))
    _known[id(host)] = found
    while len(_known) > _MAX_TOPOLOGIES:
        _known.popitem(last=False)
    return found


def _forms(host: Topology) -> tuple[tuple[tuple[int, ...], int], ...]:
    forms: dict[tuple[int, ...], int] = {}
    for core in host.cores:
        if core:
            low = lowest(core)
            offsets = tuple(ids(core >> (low.bit_length() - 1)))
            forms[offsets] = forms.get(offsets, 0) | low
    return tuple(sorted(forms.items(), key=lambda form: (len(form[0]), form[0])))


def _distances(host: Topology) -> tuple[tuple[int, ...], ...]:
    def one(i: int, j: int) -> int:
        row = host.nodes[i].distances
        return row[j] if j < len(row) else (_LOCAL if i == j else _REMOTE)

    count = range(len(host.nodes))
    return tuple(tuple(one(i, j) + one(j, i) for j in count) for i in count)


def _build(owner: Tables, zones: Mapping[str, int]) -> Tree:
    host = owner.host
    everything = host.online
    node_masks = [node.cpus & everything for node in host.nodes]
    zone_masks = {name: mask for name, mask in _grow_zones(host, zones).items() if mask}
    pieces = [(index, piece) for index, mask in enumerate(node_masks) for piece in _cut([mask], zone_masks.values())]
    node_pieces = [piece for _, piece in pieces if piece]
    packages = _cut(_cover(host.packages, everything), [*zone_masks.values(), *node_pieces])
    llcs = _cut(_cover(host.llcs, everything), [*zone_masks.values(), *node_pieces, *packages])
    clusters = _clusters(owner, node_masks)
    fixed = [*zone_masks.values(), *node_pieces, *packages, *llcs]
    metric = not any(_crosses(mask, other) for mask in clusters for other in fixed)
    made: dict[int, Vertex] = {}

    def vertex(mask: int) -> Vertex:
        return made.setdefault(mask, Vertex(mask))

    root = vertex(everything)
    for index, mask in pieces:
        if mask:
            vertex(mask).node = index
    for mask in packages:
        vertex(mask).package = True
    for mask in llcs:
        vertex(mask).llc = True
    for mask in clusters if metric else ():
        vertex(mask)
    for name, mask in zone_masks.items():
        vertex(mask).zone = name
    _nest(made, host)
    metric = _set_distances(root, owner.distance) and metric
    _shape(root, owner.shapes)
    _set_packages(root, 0)
    there = [index for index, mask in enumerate(node_masks) if mask]
    far = {owner.distance[a][b] for a in there for b in there if a != b}
    found = list(made.values())
    return Tree(
        root,
        tuple(sorted((v for v in found if v.node >= 0), key=lambda v: v.low)),
        tuple(v for v in found if v.llc),
        tuple(v for v in found if v.package),
        tuple(v for v in found if v.zone is not None),
        metric,
        all(v.node >= 0 or not v.node_count for v in found if v.llc)
        and len(pieces) == len(node_masks)
        and all(not v.llc and v.zone is None for v in found if v.node_count > 1),
        len(far) < 2,
    )


def _grow_zones(host: Topology, zones: Mapping[str, int]) -> dict[str, int]:
    """Zones without holes: a CPU in no zone (reserved, floor) joins the zone of its core, cache or node.

    Nothing is ever taken from there, and groups that only lack such CPUs stay nested.
    """
    grown = {name: mask & host.online for name, mask in zones.items()}
    taken = 0
    for mask in grown.values():
        taken |= mask
    for groups in (host.cores, host.llcs, tuple(node.cpus for node in host.nodes), host.packages, (host.online,)):
        for group in groups:
            loose = group & ~taken & host.online
            if not loose:
                continue
            owners = [name for name, mask in grown.items() if mask & group]
            if len(owners) == 1:
                grown[owners[0]] |= loose
                taken |= loose
    return grown


def _cover(groups: Iterable[int], everything: int) -> list[int]:
    found = [group & everything for group in groups if group & everything]
    rest = everything
    for group in found:
        rest &= ~group
    return [*found, rest] if rest else found


def _crosses(one: int, other: int) -> bool:
    return bool(one & other and one & ~other and other & ~one)


def _cut(groups: Iterable[int], by: Iterable[int]) -> list[int]:
    pieces = list(groups)
    for knife in by:
        cut: list[int] = []
        for piece in pieces:
            cut.extend((piece & knife, piece & ~knife) if _crosses(piece, knife) else (piece,))
        pieces = cut
    return pieces


def _clusters(owner: Tables, node_masks: Sequence[int]) -> list[int]:
    """Groups of nodes that are near to each other, for every distance that occurs."""
    there = [index for index, mask in enumerate(node_masks) if mask]
    steps = sorted({owner.distance[a][b] for a in there for b in there if a != b})
    clusters: list[int] = []
    for limit in steps[:-1]:
        left = set(there)
        while left:
            group = [left.pop()]
            for one in group:
                near = {other for other in left if owner.distance[one][other] <= limit}
                left -= near
                group.extend(near)
            if len(group) > 1:
                clusters.append(sum(node_masks[index] for index in group))
    return clusters


def _nest(made: dict[int, Vertex], host: Topology) -> None:
    """Parents and children by inclusion; what an inner vertex has beyond its children becomes a leaf."""
    ordered = sorted(made.values(), key=lambda v: (-v.mask.bit_count(), v.mask & -v.mask))
    parents: dict[int, list[Vertex]] = {vertex.mask: [] for vertex in ordered}
    deepest: list[Vertex] = []
    for vertex in ordered:
        for parent in reversed(deepest):
            if vertex.mask & ~parent.mask == 0:
                parents[parent.mask].append(vertex)
                break
        deepest.append(vertex)
    for vertex in ordered:
        children = parents[vertex.mask]
        rest = vertex.mask
        for child in children:
            rest &= ~child.mask
        if children and rest:
            children = [*children, Vertex(rest)]
        vertex.children = tuple(sorted(children, key=lambda v: v.mask & -v.mask))
    leaves = {leaf.mask: leaf for vertex in ordered for leaf in (vertex, *vertex.children) if not leaf.children}
    inside: dict[int, list[int]] = {mask: [] for mask in leaves}
    home = {1 << cpu: mask for mask in leaves for cpu in ids(mask)}
    for core in host.cores:
        for mask in {home[1 << cpu] for cpu in ids(core & host.online)}:
            inside[mask].append(core)
    for mask, leaf in leaves.items():
        leaf.low = lowest(mask).bit_length() - 1
        leaf.cores = tuple(core for _, core in sorted((lowest(core & mask), core) for core in inside[mask]))


def _shape(vertex: Vertex, shapes: dict[object, int]) -> None:
    """Number the shapes; look for the leaves whose tables are mere arithmetic."""
    vertex.low = low = lowest(vertex.mask).bit_length() - 1
    vertex.node_count = int(vertex.node >= 0)
    for child in vertex.children:
        _shape(child, shapes)
        vertex.node_count += child.node_count
        vertex.zoned = vertex.zoned or child.zoned or child.zone is not None
    flags = (vertex.node >= 0, vertex.llc, vertex.package, vertex.zone is not None, vertex.distance)
    children = tuple((child.low - low, child.shape) for child in vertex.children)
    inside = all(core & ~vertex.mask == 0 for core in vertex.cores)
    # A core that is cut has CPUs below the group's lowest one, perhaps; such a group is like no other.
    cores = tuple(core >> low for core in vertex.cores) if inside else (vertex.mask, *vertex.cores)
    vertex.shape = shapes.setdefault((vertex.mask >> low, flags, children, cores), len(shapes))
    if not inside or any(core.bit_count() > 2 for core in vertex.cores):
        return
    pairs = [core for core in vertex.cores if core.bit_count() == 2]
    apart = {core.bit_length() - 1 - (lowest(core).bit_length() - 1) for core in pairs} or {1}
    if len(apart) == 1:
        vertex.delta = apart.pop()
        vertex.firsts = sum(lowest(core) for core in pairs)
        vertex.singles = sum(core for core in vertex.cores if core.bit_count() == 1)


def _set_packages(vertex: Vertex, above: int) -> None:
    if vertex.node >= 0:
        vertex.package_above = above
    for child in vertex.children if vertex.node_count > 1 else ():
        _set_packages(child, vertex.mask if vertex.package else above)


def _set_distances(vertex: Vertex, distance: Sequence[Sequence[int]]) -> bool:
    """Write the distances into the tree; False where a vertex would need several."""
    ok = True

    def below(one: Vertex) -> list[int]:
        nonlocal ok
        groups = [below(child) for child in one.children]
        if one.node >= 0:
            return [one.node]
        between = {
            distance[a][b]
            for index, group in enumerate(groups)
            for other in groups[index + 1 :]
            for a in group
            for b in other
        }
        if len(between) > 1:
            ok = False
        one.distance = min(between, default=0)
        return [node for group in groups for node in group]

    below(vertex)
    return ok
