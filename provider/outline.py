"""How the groups of a host lie inside each other, and the words that people read for it.

Decides the nesting (a node may hold packages, or a package nodes; a cache may be wider than either) for the
tree that is printed and for the picture. It never draws and never prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from provider import cpuset
from provider.topology import Node, Topology

__all__ = ["Group", "Outline", "memory", "nearest", "outline", "plural", "summary"]


@dataclass(slots=True)
class Group:
    """One package, node, die or last-level cache, with the groups and the cores that lie directly in it."""

    sort: str
    """"package", "node", "die" or "cache"; "host" for the outermost."""
    number: int
    """The node's id; of other sorts the place in the topology's order."""
    cpus: int
    groups: list[Group] = field(default_factory=list)
    cores: list[int] = field(default_factory=list)

    def walk(self) -> Iterator[Group]:
        yield self
        for group in self.groups:
            yield from group.walk()


@dataclass(frozen=True, slots=True)
class Outline:
    host: Group
    crossing: tuple[Group, ...]
    """Groups that cut across others (a node with halves of two packages): no nesting shows them."""
    apart: tuple[Node, ...]
    """Nodes without CPUs."""


def outline(topology: Topology) -> Outline:
    """Nests the groups: wide ones outside; of equal ones the package outside the node, then die, then cache.

    Dies that are the packages are left out.
    """
    candidates = [Group("package", number, mask) for number, mask in enumerate(topology.packages)]
    candidates += [Group("node", node.id, node.cpus) for node in topology.nodes if node.cpus]
    if topology.dies != topology.packages:
        candidates += [Group("die", number, mask) for number, mask in enumerate(topology.dies)]
    candidates += [Group("cache", number, mask) for number, mask in enumerate(topology.llcs)]
    candidates.sort(key=lambda group: -group.cpus.bit_count())  # stable: equal ones stay in the order above
    host = Group("host", 0, topology.online)
    innermost = dict.fromkeys(cpuset.ids(topology.online), host)
    crossing = []
    for group in candidates:
        parents = {id(innermost[cpu]): innermost[cpu] for cpu in cpuset.ids(group.cpus)}
        if len(parents) > 1:
            crossing.append(group)
            continue
        parent = next(iter(parents.values()))
        parent.groups.append(group)
        for cpu in cpuset.ids(group.cpus):
            innermost[cpu] = group
    for core in topology.cores:
        # In several groups only where one of them is narrower than a core.
        parts: dict[int, int] = {}
        for cpu in cpuset.ids(core):
            parts[id(innermost[cpu])] = parts.get(id(innermost[cpu]), 0) | 1 << cpu
        for part in parts.values():
            innermost[cpuset.ids(part)[0]].cores.append(part)
    for group in host.walk():
        group.groups.sort(key=lambda inner: cpuset.lowest(inner.cpus))
    return Outline(host, tuple(crossing), tuple(node for node in topology.nodes if not node.cpus))


def plural(count: int, one: str, many: str | None = None) -> str:
    """ "1 core", "2 cores"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def memory(size: int | None) -> str:
    """A size for people: "62.8 GiB"; "memory unknown", "no memory"."""
    if size is None:
        return "memory unknown"
    if size == 0:
        return "no memory"
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    number = f"{amount:.0f}" if amount >= 100 else f"{amount:.1f}".removesuffix(".0")
    return f"{number} {unit}"


def threads(cores: Iterable[int]) -> str:
    """ "4 cores x 2 threads", "6 cores x 2 and 8 x 1 threads"; without SMT "4 cores"."""
    counts: dict[int, int] = {}
    for core in cores:
        counts[core.bit_count()] = counts.get(core.bit_count(), 0) + 1
    parts = sorted(counts.items(), reverse=True)
    if not parts or list(counts) == [1]:
        return plural(counts.get(1, 0), "core")
    first, *rest = parts
    text = f"{plural(first[1], 'core')} x {first[0]}"
    return text + "".join(f" and {count} x {width}" for width, count in rest) + " threads"


def summary(topology: Topology) -> str:
    """One line on the whole host."""
    parts = [
        plural(topology.online.bit_count(), "CPU"),
        threads(topology.cores),
        plural(len(topology.packages), "package"),
        plural(len(topology.nodes), "NUMA node"),
        plural(len(topology.llcs), "last-level cache"),
    ]
    total = topology.memory_bytes
    if total is None:
        told = [node.memory_bytes for node in topology.nodes if node.memory_bytes is not None]
        total = sum(told) if told else None
    if total is not None:
        parts.append(memory(total))
    return ", ".join(parts)


def nearest(topology: Topology, node: Node) -> tuple[list[int], int | None]:
    """The nodes with CPUs that are nearest to `node`, and their distance; none where all are equally far."""
    others = [
        (distance, other.id)
        for other, distance in zip(topology.nodes, node.distances, strict=True)
        if other.cpus and other.id != node.id
    ]
    if not others:
        return [], None
    least = min(others)[0]
    ids = [other for distance, other in others if distance == least]
    return (ids, least) if len(ids) < len(others) or len(others) == 1 else ([], least)
