"""Hosts and states in the words of the field reports, for tests of what is built on topology and layout."""

from __future__ import annotations

from collections.abc import Iterable

from profiles.mapping import Profile
from provider import cpuset, topology
from provider.inventory import Charge, CpuSet, Host
from provider.layout import Config, plan_layout
from provider.topology import Topology

__all__ = ["D16", "S8", "U4", "host", "make_set", "records"]


def records(rows: Iterable[tuple[int, int, int, int]]) -> Topology:
    """From (cpu, core, node, llc)."""
    return topology.from_records(
        {"cpus": [{"cpu": c, "core": core, "socket": n, "numa": n, "llc": llc} for c, core, n, llc in rows]}
    )


U4 = records((c, c, 0, 0) for c in range(4))
S8 = records((c, c % 4, 0, 0) for c in range(8))
D16 = records((c, c % 8, (c % 8) // 4, (c % 8) // 4) for c in range(16))


DEFAULTS = Config()


def host(base: Topology = S8, config: Config = DEFAULTS, allowed: int | None = None, **more: object) -> Host:
    """The host with a configuration."""
    mask = base.online if allowed is None else base.online & allowed
    return Host(
        topology=base,
        layout=plan_layout(base, config, allowed),
        allowed=mask,
        allowed_mems=cpuset.of(node.id for node in base.nodes),
        **more,  # type: ignore[arg-type]
    )


def make_set(
    set_id: str,
    cpus: str = "",
    zone: str = "numa/0",
    *,
    blocked: str = "",
    guarantee: int = 0,
    stack: bytes = b"",
    profile: Profile | None = None,
    role: str = "*",
    burst: float | None = None,
    created: float = 1000.0,
    revocable: bool = False,
) -> CpuSet:
    """A set that charges all it has, or its guarantee, to one zone."""
    mask, idle = cpuset.parse(cpus), cpuset.parse(blocked)
    kind = profile or Profile(name="p", mode="exclusive" if mask else "shared")
    charge = guarantee or (mask | idle).bit_count()
    charges = (Charge(zone, stack, charge),)
    return CpuSet(set_id, kind, role, "fw", mask, idle, 1 if mask else 0, charges, burst, created, revocable)
