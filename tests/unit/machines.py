"""The machines of the field reports, as the records that `pinfold plan` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from provider import topology
from provider.topology import Topology

__all__ = ["A6", "D16", "G34", "H28", "L8", "P18", "Q16", "S8", "T8", "U4", "host"]

Records = dict[str, Any]


def _records(
    count: int,
    core: Callable[[int], int] = lambda cpu: cpu,
    node: Callable[[int], int] = lambda cpu: 0,
    package: Callable[[int], int] | None = None,
    llc: Callable[[int], int] | None = None,
    kind: Callable[[int], str | None] = lambda cpu: None,
) -> list[Records]:
    records = []
    for cpu in range(count):
        record: Records = {"cpu": cpu, "core": core(cpu), "numa": node(cpu), "socket": (package or node)(cpu)}
        record["llc"] = (llc or node)(cpu)
        if kind(cpu):
            record["kind"] = kind(cpu)
        records.append(record)
    return records


def _nodes(distances: Iterable[list[int]], memory: Callable[[int], int] = lambda node: 1 << 34) -> list[Records]:
    return [{"id": i, "memory_bytes": memory(i), "distances": row} for i, row in enumerate(distances)]


def _square(count: int, far: Callable[[int, int], int]) -> list[list[int]]:
    return [[10 if a == b else far(a, b) for b in range(count)] for a in range(count)]


U4: Records = {"cpus": _records(4)}
S8: Records = {"cpus": _records(8, core=lambda cpu: cpu % 4)}
D16: Records = {"cpus": _records(16, core=lambda cpu: cpu % 8, node=lambda cpu: cpu % 8 // 4)}
T8: Records = {"cpus": _records(8, core=lambda cpu: cpu // 4)}
L8: Records = {"cpus": _records(8, llc=lambda cpu: cpu // 4)}
A6: Records = {"cpus": _records(6, llc=lambda cpu: cpu // 4)}
Q16: Records = {
    "cpus": _records(16, node=lambda cpu: cpu // 4, package=lambda cpu: cpu // 8, llc=lambda cpu: cpu // 4),
    "nodes": _nodes(_square(4, lambda a, b: 12 if a // 2 == b // 2 else 32)),
}
P18: Records = {"cpus": _records(18, node=lambda cpu: cpu // 6), "nodes": _nodes(_square(3, lambda a, b: 20))}
H28: Records = {
    "cpus": _records(
        28,
        core=lambda cpu: cpu // 2 if cpu < 16 else cpu,
        llc=lambda cpu: 0,
        kind=lambda cpu: "performance" if cpu < 16 else "efficiency",
    )
}
G34: Records = {
    "cpus": _records(72, node=lambda cpu: cpu // 36),
    "nodes": _nodes(_square(34, lambda a, b: 20)),
}


def host(records: Records, **changes: Any) -> Topology:
    """The topology of these records."""
    return topology.from_records({**records, **changes})
