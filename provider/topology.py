"""What a host is: its CPUs and how they are grouped, as immutable values.

Decides how a host is described to the rest of the provider, and whether two hosts are the same host. It
never reads files (`provider.sysfs` does) and never chooses CPUs (`provider.allocator` does).

A set of CPUs, and a set of node ids, is an `int` with one bit per id (`provider.cpuset`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Device", "Kind", "Node", "Topology"]


@dataclass(frozen=True, slots=True)
class Node:
    """One NUMA node, with or without CPUs, with or without memory."""

    id: int
    cpus: int
    """Online CPUs; 0 where the node has none."""
    memory_bytes: int | None
    """MemTotal of the node; None where the kernel does not say."""
    distances: tuple[int, ...]
    """To each node of `Topology.nodes`, in their order; 10 is local (ACPI SLIT)."""
    hugepages: tuple[tuple[int, int, int], ...] = ()
    """(page size in kB, total, free)."""

    @property
    def has_memory(self) -> bool:
        """Whether memory can be bound to it. A node whose memory is unknown counts as having some."""
        return self.memory_bytes is None or self.memory_bytes > 0


@dataclass(frozen=True, slots=True)
class Kind:
    """One class of cores on a hybrid host."""

    name: str
    """"performance" or "efficiency" for two classes; "kind-N" for what lies between."""
    cpus: int


@dataclass(frozen=True, slots=True)
class Device:
    """One PCI device and the CPUs that are local to it."""

    address: str
    """PCI address, "0000:3b:00.0"."""
    pci_class: int
    vendor: int
    device: int
    numa_node: int | None
    cpus: int
    """Online local CPUs."""
    names: tuple[str, ...] = ()
    """"net:eth0", "block:nvme0n1", …"""


@dataclass(frozen=True)
class Topology:
    """One host. Every group is a mask of online CPUs; groups of one sort are disjoint and ordered by their
    lowest CPU, and together they cover `online`."""

    online: int
    cores: tuple[int, ...]
    """Each core's online CPUs (its SMT siblings); a core of any width."""
    llcs: tuple[int, ...]
    """CPUs that share the last-level cache; where the kernel does not say, the node's CPUs."""
    dies: tuple[int, ...]
    packages: tuple[int, ...]
    nodes: tuple[Node, ...]
    """Ordered by id. At least one; those that have CPUs cover `online`."""
    kinds: tuple[Kind, ...] = ()
    """Most capable first; empty on hosts with one kind of core."""
    devices: tuple[Device, ...] = ()
    possible: int = 0
    offline: int = 0
    """Present or possible CPUs that are not online and could come."""
    isolated: int = 0
    nohz_full: int = 0
    hugepages: tuple[tuple[int, int, int], ...] = ()
    """Machine-wide (page size in kB, total, free)."""
    memory_bytes: int | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What the reader had to guess, one sentence each."""
