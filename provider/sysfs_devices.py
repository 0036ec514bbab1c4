"""PCI devices, their local CPUs and the names that their network interfaces and disks have.

Decides which device belongs to which CPUs; never which device a profile means (`topology.match_devices`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from provider import cpuset
from provider.sysfs_files import Files
from provider.topology import Device

__all__ = ["pci_devices"]

_PCI = "sys/bus/pci/devices"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SUBSYSTEM = re.compile(r"nvme-subsystem/(nvme-subsys[0-9]+)/")


def pci_devices(files: Files, online: int, nodes: Mapping[int, int]) -> tuple[Device, ...]:
    """All PCI devices, by address.

    Local CPUs are the online ones of `local_cpulist` or `local_cpus`; where they are not told, those of the
    device's node; where that is not told either (-1), all: a device that is near to nothing is equally far
    from everything.
    """
    names = _names(files)
    devices = []
    for address in files.names(_PCI):
        if not _ADDRESS.fullmatch(address):
            continue
        directory = f"{_PCI}/{address}"
        node = files.number(f"{directory}/numa_node")
        if node is not None and not 0 <= node <= cpuset.MAX_NODE_ID:
            node = None
        cpus = (files.either(directory, "local_cpulist", "local_cpus") or 0) & online
        devices.append(
            Device(
                address=address,
                pci_class=files.hexadecimal(f"{directory}/class") or 0,
                vendor=files.hexadecimal(f"{directory}/vendor") or 0,
                device=files.hexadecimal(f"{directory}/device") or 0,
                numa_node=node,
                cpus=cpus or (nodes.get(node, 0) if node is not None else 0) or online,
                names=tuple(sorted(names.get(address, ()))),
            )
        )
    return tuple(devices)


def _names(files: Files) -> dict[str, list[str]]:
    """PCI address to "net:NAME" and "block:NAME", from the links of the classes: a link runs through all parents."""
    found: dict[str, list[str]] = {}
    for sort, directory in (("net", "sys/class/net"), ("block", "sys/block"), ("block", "sys/class/block")):
        for name in files.names(directory):
            target = files.link(f"{directory}/{name}") or ""
            addresses = _ADDRESS.findall(target)[-1:]
            subsystem = _SUBSYSTEM.search(target)
            if not addresses and subsystem:
                # With multipath the disk hangs below the subsystem, whose controllers are PCI devices.
                for controller in files.names(f"sys/devices/virtual/nvme-subsystem/{subsystem[1]}"):
                    link = files.link(f"sys/class/nvme/{controller}") or ""
                    addresses += _ADDRESS.findall(link)[-1:]
            for address in addresses:
                entries = found.setdefault(address, [])
                if f"{sort}:{name}" not in entries:
                    entries.append(f"{sort}:{name}")
    return found
