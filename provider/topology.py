"""What a host is: its CPUs and how they are grouped, as immutable values.

Decides how a host is described to the rest of the provider, to the agent and in JSON, whether two hosts are
the same host, and which devices a profile's `device.match` means. It never reads files (`provider.sysfs`
does) and never chooses CPUs (`provider.allocator` does).

A set of CPUs, and a set of node ids, is an `int` with one bit per id (`provider.cpuset`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_api.wire import pinfold_pb2
from provider import cpuset
from provider.topology_values import TopologyError, a_hexadecimal, a_list, a_number, a_set, an_object

__all__ = [
    "DEFAULT_DISTANCE",
    "LOCAL_DISTANCE",
    "Device",
    "Kind",
    "Node",
    "Topology",
    "TopologyError",
    "from_records",
    "group",
    "identity",
    "kind_names",
    "match_devices",
    "to_json",
    "to_wire",
]

LOCAL_DISTANCE = 10
"""Distance of a node to itself (ACPI SLIT)."""

DEFAULT_DISTANCE = 20
"""Distance between two nodes of which nothing is known, as Linux assumes it."""


@dataclass(frozen=True, slots=True)
class Node:
    """One NUMA node, with or without CPUs, with or without memory."""

    id: int
    cpus: int
    """Online CPUs; 0 where the node has none."""
    memory_bytes: int | None
    """MemTotal of the node; None where the kernel does not say."""
    distances: tuple[int, ...]
    """To each node of `Topology.nodes`, in their order; 10 is local (ACPI SLIT), some old kernels say 0."""
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
    """Most capable first, together covering `online`; empty on hosts with one kind of core."""
    devices: tuple[Device, ...] = ()
    possible: int = 0
    offline: int = 0
    """CPUs that are present and not online."""
    isolated: int = 0
    nohz_full: int = 0
    hugepages: tuple[tuple[int, int, int], ...] = ()
    """Machine-wide (page size in kB, total, free)."""
    memory_bytes: int | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What the reader had to guess, one sentence each."""


def identity(topology: Topology) -> str:
    """A hash that two topologies share exactly when they are the same host (DESIGN 6).

    Made of CPU ids, siblings, nodes, packages and LLCs; memory sizes, distances, devices, kinds, isolated CPUs
    and boot ids may change on one host.
    """
    digest = hashlib.sha256()
    nodes = [f"{node.id}:{cpuset.format_mask(node.cpus)}" for node in topology.nodes]
    groups = [
        [cpuset.format_mask(mask) for mask in masks] for masks in (topology.cores, topology.packages, topology.llcs)
    ]
    for part in [[cpuset.format_mask(topology.online)], groups[0], nodes, groups[1], groups[2]]:
        digest.update((";".join(part) + "\n").encode())
    return digest.hexdigest()


def group(keys: Mapping[int, Hashable]) -> tuple[int, ...]:
    """The groups of CPUs with equal keys, as masks ordered by their lowest CPU."""
    masks: dict[Hashable, int] = {}
    for cpu, key in keys.items():
        masks[key] = masks.get(key, 0) | 1 << cpu
    return tuple(sorted(masks.values(), key=cpuset.lowest))


def kind_names(count: int) -> tuple[str, ...]:
    """Names for `count` kinds of core, most capable first: "performance", "kind-1", …, "efficiency"."""
    if count < 2:
        return ("performance",)[:count]
    return ("performance", *(f"kind-{number}" for number in range(1, count - 1)), "efficiency")


def to_wire(topology: Topology) -> pinfold_pb2.Topology:
    """The message GET_TOPOLOGY answers with (DESIGN 3), without allowed, reserved, floor and enforcement.

    Cores, packages, dies and LLCs are numbered through the machine in the order of their lowest CPU.
    """
    message = pinfold_pb2.Topology()
    for record in _cpu_records(topology):
        cpu = message.cpus.add()
        cpu.id = record["cpu"]
        cpu.core = record["core"]
        cpu.package = record["socket"]
        cpu.die = record["die"]
        cpu.llc = record["llc"]
        cpu.numa_node = record["numa"]
        if "kind" in record:
            cpu.kind = record["kind"]
    for node in topology.nodes:
        wire = message.nodes.add()
        wire.id = node.id
        wire.cpus = cpuset.format_mask(node.cpus)
        if node.memory_bytes is not None:
            wire.memory_bytes = node.memory_bytes
        wire.distances.extend(node.distances)
    message.offline = cpuset.format_mask(topology.offline)
    message.isolated = cpuset.format_mask(topology.isolated)
    message.warnings.extend(topology.warnings)
    return message


# --- JSON ---------------------------------------------------------------------------------------------------


def to_json(topology: Topology) -> dict[str, Any]:
    """All that is known, ready for `json.dumps`. `from_records` takes it back without loss.

    Sets of CPUs are strings in list format, sizes are bytes (huge page sizes kB), groups are numbered through
    the machine in the order of their lowest CPU.
    """
    return {
        "online": cpuset.format_mask(topology.online),
        "possible": cpuset.format_mask(topology.possible),
        "offline": cpuset.format_mask(topology.offline),
        "isolated": cpuset.format_mask(topology.isolated),
        "nohz_full": cpuset.format_mask(topology.nohz_full),
        "memory_bytes": topology.memory_bytes,
        "hugepages": _hugepages_json(topology.hugepages),
        "cpus": _cpu_records(topology),
        "nodes": [
            {
                "id": node.id,
                "cpus": cpuset.format_mask(node.cpus),
                "memory_bytes": node.memory_bytes,
                "distances": list(node.distances),
                "hugepages": _hugepages_json(node.hugepages),
            }
            for node in topology.nodes
        ],
        "kinds": [{"name": kind.name, "cpus": cpuset.format_mask(kind.cpus)} for kind in topology.kinds],
        "devices": [
            {
                "address": device.address,
                "class": f"{device.pci_class:06x}",
                "vendor": f"{device.vendor:04x}",
                "device": f"{device.device:04x}",
                "numa_node": device.numa_node,
                "cpus": cpuset.format_mask(device.cpus),
                "names": list(device.names),
            }
            for device in topology.devices
        ],
        "warnings": list(topology.warnings),
    }


def _hugepages_json(hugepages: tuple[tuple[int, int, int], ...]) -> list[dict[str, int]]:
    return [{"size_kb": size, "total": total, "free": free} for size, total, free in hugepages]


def _cpu_records(topology: Topology) -> list[dict[str, Any]]:
    """One record a CPU, ascending, with the keys that `from_records` reads."""
    core, socket, die, llc = (
        _numbers(groups) for groups in (topology.cores, topology.packages, topology.dies, topology.llcs)
    )
    numa = {cpu: node.id for node in topology.nodes for cpu in cpuset.ids(node.cpus)}
    kind = {cpu: kind.name for kind in topology.kinds for cpu in cpuset.ids(kind.cpus)}
    records = []
    for cpu in cpuset.ids(topology.online):
        record: dict[str, Any] = {
            "cpu": cpu,
            "core": core[cpu],
            "socket": socket[cpu],
            "die": die[cpu],
            "numa": numa[cpu],
            "llc": llc[cpu],
        }
        if cpu in kind:
            record["kind"] = kind[cpu]
        records.append(record)
    return records


def _numbers(groups: Iterable[int]) -> dict[int, int]:
    return {cpu: number for number, mask in enumerate(groups) for cpu in cpuset.ids(mask)}


_KIND = re.compile(r"performance|kind-[0-9]{1,3}|efficiency")


def from_records(data: Mapping[str, Any]) -> Topology:
    """The host that DESIGN 8's JSON describes: `{"cpus": [{"cpu", "core", "socket", "numa", "llc", …}], "nodes": […]}`.

    Required is `cpu` alone; `core` absent or null is the CPU itself, `socket` 0, `numa` 0, `die` the socket,
    `llc` the CPUs of the node. Numbers count through the machine, and equal numbers are one group, with one
    defence: files that were copied from sysfs number cores from 0 in each socket, die or node, so a core is
    (socket, die, numa, core), and a die is (socket, die). Threads of one core never lie in two of those, so
    that nothing is lost where numbers are unique. An LLC may be wider than a socket or a node (virtual
    machines; sub-NUMA clusters), so `llc` is taken as it stands.

    `nodes` adds what CPUs do not tell: memory, distances (in the order of `nodes`; a node's list may be left
    out) and nodes without CPUs. Where it says nothing distances are 10 and 20, and memory is unknown. The other
    keys of `to_json` are taken back, all optional; keys that are unknown are ignored.

    Raises `TopologyError` naming the record, the field and the value.
    """
    data = an_object(data, "the topology")
    records = a_list(data, "cpus", "the topology")
    if not records:
        raise TopologyError("cpus: a host has at least one CPU, the list is empty")
    core: dict[int, Hashable] = {}
    socket: dict[int, Hashable] = {}
    die: dict[int, Hashable] = {}
    llc: dict[int, Hashable] = {}
    numa: dict[int, int] = {}
    kind: dict[int, str | None] = {}
    for index, item in enumerate(records):
        where = f"cpus[{index}]"
        record = an_object(item, where)
        cpu = a_number(record, "cpu", where, cpuset.MAX_CPU_ID)
        if cpu is None:
            raise TopologyError(f"{where}: cpu is missing")
        if cpu in core:
            raise TopologyError(f"{where}.cpu: CPU {cpu} is described twice")
        socket[cpu] = a_number(record, "socket", where) or 0
        numa[cpu] = a_number(record, "numa", where, cpuset.MAX_NODE_ID) or 0
        die[cpu] = (socket[cpu], a_number(record, "die", where))
        core_number = a_number(record, "core", where)
        core[cpu] = (die[cpu], numa[cpu], ("core", core_number) if core_number is not None else ("cpu", cpu))
        llc_number = a_number(record, "llc", where)
        llc[cpu] = ("llc", llc_number) if llc_number is not None else ("node", numa[cpu])
        kind[cpu] = _kind(record, where)
    online = cpuset.of(core)
    return Topology(
        online=online,
        cores=group(core),
        llcs=group(llc),
        dies=group(die),
        packages=group(socket),
        nodes=_nodes(data, numa),
        kinds=_kinds(kind),
        devices=_devices(data, online),
        possible=a_set(data, "possible", "the topology") | a_set(data, "offline", "the topology") | online,
        offline=a_set(data, "offline", "the topology") & ~online,
        isolated=a_set(data, "isolated", "the topology"),
        nohz_full=a_set(data, "nohz_full", "the topology"),
        hugepages=_hugepages(data, "the topology"),
        memory_bytes=a_number(data, "memory_bytes", "the topology"),
        warnings=tuple(str(warning) for warning in a_list(data, "warnings", "the topology")),
    )


def _nodes(data: Mapping[str, Any], numa: Mapping[int, int]) -> tuple[Node, ...]:
    """Nodes by id: those that CPUs name and those of `nodes`."""
    cpus: dict[int, int] = {}
    for cpu, node in numa.items():
        cpus[node] = cpus.get(node, 0) | 1 << cpu
    given: dict[int, tuple[str, Mapping[str, Any]]] = {}
    for index, item in enumerate(a_list(data, "nodes", "the topology")):
        where = f"nodes[{index}]"
        record = an_object(item, where)
        node_id = a_number(record, "id", where, cpuset.MAX_NODE_ID)
        if node_id is None:
            raise TopologyError(f"{where}: id is missing")
        if node_id in given:
            raise TopologyError(f"{where}.id: node {node_id} is described twice")
        stated = a_set(record, "cpus", where)
        if stated and stated != cpus.get(node_id, 0):
            raise TopologyError(
                f"{where}.cpus: {cpuset.format_mask(stated)!r} contradicts the CPUs that name node {node_id} in numa:"
                f" {cpuset.format_mask(cpus.get(node_id, 0))!r}"
            )
        given[node_id] = (where, record)
    order = list(given)
    ids = sorted(set(cpus) | set(given))
    nodes = []
    for node_id in ids:
        where, record = given.get(node_id, ("", {}))
        row = _distances(record, where, order)
        nodes.append(
            Node(
                id=node_id,
                cpus=cpus.get(node_id, 0),
                memory_bytes=a_number(record, "memory_bytes", where),
                distances=tuple(
                    row.get(other, LOCAL_DISTANCE if other == node_id else DEFAULT_DISTANCE) for other in ids
                ),
                hugepages=_hugepages(record, where),
            )
        )
    return tuple(nodes)


def _distances(record: Mapping[str, Any], where: str, order: Sequence[int]) -> dict[int, int]:
    row = a_list(record, "distances", where)
    if row and len(row) != len(order):
        raise TopologyError(f"{where}.distances: {len(row)} numbers for the {len(order)} nodes of nodes")
    for number in row:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 31:
            raise TopologyError(f"{where}.distances: {number!r} is no distance (a whole number from 0)")
    return dict(zip(order, row, strict=False))


def _kind(record: Mapping[str, Any], where: str) -> str | None:
    value = record.get("kind")
    if value is None:
        return None
    if not isinstance(value, str) or not _KIND.fullmatch(value):
        raise TopologyError(f"{where}.kind: {value!r} is none of performance, efficiency, kind-N")
    return value


def _kinds(kind: Mapping[int, str | None]) -> tuple[Kind, ...]:
    named = {name for name in kind.values() if name is not None}
    if not named:
        return ()
    without = [cpu for cpu, name in kind.items() if name is None]
    if without:
        raise TopologyError(f"cpus: CPU {min(without)} has no kind, others have; give it to all or to none")
    if len(named) == 1:
        return ()

    def rank(name: str) -> tuple[int, int]:
        if name.startswith("kind-"):
            return 1, int(name[len("kind-") :])
        return (0 if name == "performance" else 2), 0

    return tuple(
        Kind(name, cpuset.of(cpu for cpu, own in kind.items() if own == name)) for name in sorted(named, key=rank)
    )


def _devices(data: Mapping[str, Any], online: int) -> tuple[Device, ...]:
    devices = []
    for index, item in enumerate(a_list(data, "devices", "the topology")):
        where = f"devices[{index}]"
        record = an_object(item, where)
        names = a_list(record, "names", where)
        address = record.get("address")
        if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
            raise TopologyError(f"{where}.address: {address!r} is no PCI address (0000:3b:00.0)")
        devices.append(
            Device(
                address=_full_address(address),
                pci_class=a_hexadecimal(record, "class", where, 6),
                vendor=a_hexadecimal(record, "vendor", where, 4),
                device=a_hexadecimal(record, "device", where, 4),
                numa_node=a_number(record, "numa_node", where, cpuset.MAX_NODE_ID),
                cpus=a_set(record, "cpus", where) & online,
                names=tuple(str(name) for name in names),
            )
        )
    return tuple(devices)


def _hugepages(record: Mapping[str, Any], where: str) -> tuple[tuple[int, int, int], ...]:
    found = []
    for index, item in enumerate(a_list(record, "hugepages", where)):
        inner = f"{where}.hugepages[{index}]"
        pages = an_object(item, inner)
        found.append(tuple(a_number(pages, key, inner) or 0 for key in ("size_kb", "total", "free")))
    return tuple((size, total, free) for size, total, free in found)


# --- Devices of a profile -------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_HEX4 = re.compile(r"(?:0[xX])?([0-9a-fA-F]{4})")
_CLASS = re.compile(r"(?:0[xX])?((?:[0-9a-fA-F]{2}){1,3})")


def _full_address(address: str) -> str:
    address = address.lower()
    return address if address.count(":") == 2 else f"0000:{address}"


def match_devices(topology: Topology, match: str) -> list[Device]:
    """The devices that a profile's `device.match` means (DESIGN 5), in the order of the topology; may be empty.

    `match` is a PCI address ("0000:3b:00.0"; without a domain it is domain 0), `pci:VENDOR[:DEVICE]` (four
    hexadecimal digits each), `class:HEX` (two, four or six digits: base class, sub-class, interface), `net:NAME`
    or `block:NAME`. Raises ValueError, naming the text, for anything else.
    """
    chosen = _condition(match)
    return [device for device in topology.devices if chosen(device)]


def _condition(match: str) -> Callable[[Device], bool]:
    if _ADDRESS.fullmatch(match):
        address = _full_address(match)
        return lambda device: device.address == address
    sort, _, rest = match.partition(":")
    if sort == "pci":
        parts = [_HEX4.fullmatch(part) for part in rest.split(":")]
        numbers = [int(part[1], 16) for part in parts if part is not None]
        if len(numbers) == len(parts) <= 2:
            return lambda device: [device.vendor, device.device][: len(numbers)] == numbers
    elif sort == "class":
        digits = _CLASS.fullmatch(rest)
        if digits is not None:
            prefix = digits[1].lower()
            return lambda device: f"{device.pci_class:06x}".startswith(prefix)
    elif sort in ("net", "block") and rest and "/" not in rest and rest.isprintable():
        return lambda device: match in device.names
    raise ValueError(
        f"device match {match!r} is none of a PCI address (0000:3b:00.0), pci:VENDOR[:DEVICE], class:HEX, net:NAME,"
        " block:NAME"
    )
