"""Profiles: names for placement and isolation parameters, and the document that defines them.

Decides whether a document is valid and what each profile means, and what a new document does to the profiles in
force. It never fetches a document (`profiles.source` does) and never places CPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DeviceAffinity", "Memory", "Power", "Profile"]


@dataclass(frozen=True, slots=True)
class Memory:
    policy: str = "none"  # none, bind, interleave
    mode: str = "preferred"  # preferred, required
    nodes: int | None = None  # interleave only: how many nodes; None: all with CPUs and memory


@dataclass(frozen=True, slots=True)
class DeviceAffinity:
    match: str  # a PCI address, pci:VENDOR[:DEVICE], class:HEX, net:NAME, block:NAME
    affinity: str = "required"  # required, preferred


@dataclass(frozen=True, slots=True)
class Power:
    governor: str | None = None
    min_mhz: int | None = None
    max_mhz: int | None = None
    energy_performance_preference: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The parameters of one profile; every default is the first value in section 5 of the design."""

    name: str
    mode: str = "exclusive"  # exclusive, shared
    pool: str = "default"
    core_siblings: str = "preferred"  # preferred, required, denied, denied_preferred, none
    placement: str = "pack"  # pack, spread
    memory: Memory = Memory()
    llc: str = "preferred"  # cache.llc: preferred, none, required
    device: DeviceAffinity | None = None
    core_kind: str = "any"  # any, performance, efficiency
    partition: str = "member"  # member, root, isolated
    power: Power | None = None
    lifetime: str = "framework"  # framework, role
