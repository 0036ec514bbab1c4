"""Compares a topology that was read with the truth that lies beside a dump, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from provider import cpuset
from provider.topology import Topology


def groups(truth: dict[str, Any], key: str) -> set[int]:
    """The truth's groupings as masks; CPUs of which the dump does not tell are left out."""
    found: dict[int, int] = {}
    for cpu in truth["cpus"]:
        if cpu[key] is not None:
            found[cpu[key]] = found.get(cpu[key], 0) | 1 << cpu["cpu"]
    return set(found.values())


def differences(host: Topology, truth: dict[str, Any], limits: tuple[int | None, int | None]) -> list[str]:
    """One line for each field in which the two differ, but for those that the truth calls ambiguous."""
    ambiguous = set(truth["ambiguous"])
    found = []

    def check(name: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            found.append(f"{name}: read {ours!r}, truth {theirs!r}")

    def check_groups(name: str, ours: Iterable[int], key: str) -> None:
        theirs = groups(truth, key)
        if theirs and key not in ambiguous:
            told = sum(theirs)
            check(name, sorted(mask for mask in ours if mask & told), sorted(theirs))

    check("online", cpuset.ids(host.online), truth["online_cpus"])
    check("offline", cpuset.ids(host.offline), truth["offline_cpus"])
    if truth["possible_cpus"] is not None:
        check("possible", cpuset.ids(host.possible), truth["possible_cpus"])
    check("isolated", cpuset.ids(host.isolated), truth["isolated_cpus"] or [])
    check("nohz_full", cpuset.ids(host.nohz_full), truth["nohz_full_cpus"] or [])
    check_groups("cores", host.cores, "core")
    check_groups("packages", host.packages, "socket")
    check_groups("dies", host.dies, "die")
    check_groups("llcs", host.llcs, "llc")
    if "core" not in ambiguous:
        for cpu in truth["cpus"]:
            if cpu["siblings"] is not None:
                own = next(mask for mask in host.cores if mask >> cpu["cpu"] & 1)
                check(f"siblings of {cpu['cpu']}", cpuset.ids(own), cpu["siblings"])

    if truth["numa_nodes"]:
        check("node ids", [node.id for node in host.nodes], [node["id"] for node in truth["numa_nodes"]])
        for ours, theirs in zip(host.nodes, truth["numa_nodes"], strict=False):
            # Where a node's memory is not told and there is one node, the machine's memory stands in for it.
            if theirs["memory_bytes"] is not None or len(host.nodes) > 1:
                check(f"memory of node {ours.id}", ours.memory_bytes, theirs["memory_bytes"])
            if "numa" not in ambiguous:
                check(f"CPUs of node {ours.id}", cpuset.ids(ours.cpus), theirs["cpus"])
            pages = {str(size): {"total": total, "free": free} for size, total, free in ours.hugepages}
            check(f"hugepages of node {ours.id}", pages, truth["hugepages"].get(str(ours.id), {}))
        without = [node.id for node in host.nodes if not node.cpus]
        check("nodes without CPUs", without, truth["cpuless_nodes"])
        check("memory only", [n.id for n in host.nodes if not n.cpus and n.memory_bytes], truth["memory_only_nodes"])
        check("CPUs only", [n.id for n in host.nodes if n.cpus and n.memory_bytes == 0], truth["cpu_only_nodes"])
        if truth["distances"] is not None:
            check("distance nodes", [node.id for node in host.nodes], truth["distance_nodes"])
            check("distances", [list(node.distances) for node in host.nodes], truth["distances"])
    else:
        check("the one node", [(node.id, node.cpus, node.distances) for node in host.nodes], [(0, host.online, (10,))])
    if "numa" not in ambiguous:
        for cpu in truth["cpus"]:
            if cpu["numa"] is not None:
                own_node = next(node.id for node in host.nodes if node.cpus >> cpu["cpu"] & 1)
                check(f"node of {cpu['cpu']}", own_node, cpu["numa"])

    kinds = {"P": "performance", "E": "efficiency", "M": "kind-1"}
    theirs_kinds = [(kinds[kind["kind"]], kind["cpus"]) for kind in truth["core_kinds"]]
    check("kinds", [(kind.name, cpuset.ids(kind.cpus)) for kind in host.kinds], theirs_kinds[::-1])
    check("memory", host.memory_bytes, truth["memory_total_bytes"])
    pages = {str(size): (total, free) for size, total, free in host.hugepages}
    told_pages = {size: (page["total"], page["free"]) for size, page in truth["hugepages_global"].items()}
    check("hugepages", {size: pages.get(size) for size in told_pages}, told_pages)
    check("devices", [device.address for device in host.devices], [d["address"] for d in truth["pci_devices"]])
    for device, told in zip(host.devices, truth["pci_devices"], strict=False):
        check(f"{told['address']} class", device.pci_class, int(told["class"], 16))
        check(f"{told['address']} vendor", device.vendor, int(told["vendor"], 16))
        check(f"{told['address']} device", device.device, int(told["device"], 16))
        node = told["numa_node"]
        check(f"{told['address']} node", device.numa_node, None if node in (None, -1) else node)
        check(f"{told['address']} CPUs", cpuset.ids(device.cpus), told["local_cpus"])

    if truth["allowed"] is None:
        for limit in limits[:1]:
            check("limit", limit is None or limit & host.online == host.online, True)
    else:
        check("allowed CPUs", cpuset.ids((limits[0] or 0) & host.online), truth["allowed"]["cpus"])
        check("allowed nodes", cpuset.ids(limits[1] or 0), truth["allowed"]["mems"])
    return found
