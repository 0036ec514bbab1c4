"""How a provider's configuration cuts a host: reserved CPUs, the floor, zones and pools.

Decides which CPUs can be offered at all, and under which zone and pool. It never looks at sets or tasks (`inventory`
does) and reads no file; the only placement that it asks the allocator for is that of a pool of fixed capacity.

Rules that the design leaves open:

- A pool with a capacity and no CPU list takes the CPUs that the order of preference gives a set of that size (whole
  cores first, fewest nodes) among what is neither reserved, isolated, named by another pool nor needed for the floor;
  pools choose in the order in which they are configured. The same configuration on the same host gives the same CPUs.
- The floor is chosen before the pools with a capacity, and after those with a list.
- A pool with a list must not touch reserved CPUs (nor their siblings, which are reserved with them).
- Isolated CPUs that no pool names are in no zone and no pool: `Layout.withheld`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from agent_api.wire import mesos_pb2
from profiles.errors import SourceError
from profiles.mapping import Profile
from profiles.uri import parse_uri
from provider import allocator, cpuset
from provider.errors import ConfigError, Refused
from provider.topology import Topology

__all__ = ["DEFAULT_POOL", "GROUPS", "Config", "Layout", "PoolConfig", "config_from_wire", "plan_layout"]

DEFAULT_POOL = "default"
GROUPS = ("NUMA", "PACKAGE", "MACHINE")
MOST_OVERCOMMIT = 100.0
"""More is a slip of the pen: a hundred sets on one CPU."""


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """A pool as configured: a number of CPUs, or the CPUs themselves."""

    name: str
    capacity: int | None = None
    cpus: int | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """The `cpu` part of a provider configuration; every default is that of the design."""

    group_by: str = "NUMA"
    reserved: int = 0
    """The CPUs named in `reserved_cpus`, before they are made whole cores."""
    floor: int = 0
    """The configured number; the layout makes it at least one whole core."""
    overcommit: float = 1.0
    pools: tuple[PoolConfig, ...] = ()
    uri: str | None = None
    """Where the profile document is; None: no profiles are configured."""
    poll_interval_seconds: float | None = None
    """None: the document is read once."""
    max_random_wait_seconds: float = 0.0
    ca_file: str | None = None
    credentials_file: str | None = None


@dataclass(frozen=True)
class Layout:
    """What a configuration makes of a host. Masks of online CPUs inside the allowed ones."""

    reserved: int
    floor: int
    zones: Mapping[str, int]
    """Zone name -> CPUs that can be offered there, in the order of the zones' ids. No zone is empty."""
    pools: Mapping[str, int]
    """Pool name -> its CPUs, `default` first; without reserved, floor and (unless the pool names them) isolated
    CPUs."""
    withheld: int = 0
    """Isolated CPUs that no pool names: neither offered nor part of the floor."""
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def offerable(self) -> int:
        """Every CPU that is in a zone."""
        mask = 0
        for zone in self.zones.values():
            mask |= zone
        return mask

    def zone_of(self, cpus: int) -> dict[str, int]:
        """How many of these CPUs each zone has; zones with none are left out."""
        return {name: count for name, mask in self.zones.items() if (count := (mask & cpus).bit_count())}

    def pool_of(self, cpus: int) -> dict[str, int]:
        """How many of these CPUs each pool has; pools with none are left out."""
        return {name: count for name, mask in self.pools.items() if (count := (mask & cpus).bit_count())}


def config_from_wire(info: mesos_pb2.ResourceProviderInfo) -> Config:
    """The `cpu` part of a provider configuration, checked as far as that is possible without a host.

    Raises `ConfigError` that names the field and its value.
    """
    cpu = info.cpu
    group_by = cpu.group_by or "NUMA"
    if group_by not in GROUPS:
        raise ConfigError(f"cpu.group_by: {group_by!r} is not one of {', '.join(GROUPS)}")
    overcommit = cpu.overcommit if cpu.HasField("overcommit") else 1.0
    if not (math.isfinite(overcommit) and 1 <= overcommit <= MOST_OVERCOMMIT):
        raise ConfigError(f"cpu.overcommit: {overcommit:g} is not a number from 1 to {MOST_OVERCOMMIT:g}")
    pools = tuple(_pool(index, pool) for index, pool in enumerate(cpu.pools))
    _check_pools(pools)
    source = cpu.profiles
    if cpu.HasField("profiles") and not source.uri:
        raise ConfigError("cpu.profiles.uri: is empty; the URI of a profile document is needed")
    if source.uri:
        try:
            parse_uri(source.uri)
        except SourceError as error:
            raise ConfigError(f"cpu.profiles.uri: {error}") from error
    interval = source.poll_interval_seconds if source.HasField("poll_interval_seconds") else None
    if interval is not None and not (math.isfinite(interval) and interval > 0):
        raise ConfigError(f"cpu.profiles.poll_interval_seconds: {interval:g} is not a number above 0")
    wait = source.max_random_wait_seconds
    if not (math.isfinite(wait) and wait >= 0):
        raise ConfigError(f"cpu.profiles.max_random_wait_seconds: {wait:g} is not a number of at least 0")
    return Config(
        group_by=group_by,
        reserved=_list("cpu.reserved_cpus", cpu.reserved_cpus),
        floor=cpu.floor,
        overcommit=overcommit,
        pools=pools,
        uri=source.uri or None,
        poll_interval_seconds=interval,
        max_random_wait_seconds=wait,
        ca_file=source.ca_file or None,
        credentials_file=source.credentials_file or None,
    )


def _pool(index: int, pool: mesos_pb2.ResourceProviderInfo.Cpu.Pool) -> PoolConfig:
    where = f"cpu.pools[{index}]"
    if not pool.name or pool.name == DEFAULT_POOL:
        raise ConfigError(f"{where}.name: {pool.name!r} cannot be configured; the default pool holds what others leave")
    if pool.HasField("cpus"):
        mask = _list(f"{where}.cpus", pool.cpus)
        if not mask:
            raise ConfigError(f"{where}.cpus: {pool.cpus!r} names no CPU")
        if pool.HasField("capacity") and pool.capacity != mask.bit_count():
            raise ConfigError(
                f"{where}.capacity: {pool.capacity} contradicts cpus {pool.cpus!r}, {mask.bit_count()} CPUs"
            )
        return PoolConfig(pool.name, None, mask)
    if not pool.capacity:
        raise ConfigError(f"{where}: pool {pool.name!r} needs 'cpus' or a 'capacity' above 0")
    return PoolConfig(pool.name, pool.capacity, None)


def _list(name: str, text: str) -> int:
    try:
        return cpuset.parse(text, field=name)
    except cpuset.CpuListError as error:
        raise ConfigError(str(error)) from error


def _check_pools(pools: Iterable[PoolConfig]) -> None:
    seen: dict[str, int] = {}
    for pool in pools:
        if pool.name in seen:
            raise ConfigError(f"cpu.pools: the name {pool.name!r} is there twice")
        for name, mask in seen.items():
            if mask & (pool.cpus or 0):
                both = cpuset.format_mask(mask & (pool.cpus or 0))
                raise ConfigError(f"cpu.pools: {name!r} and {pool.name!r} both name CPUs {both}")
        seen[pool.name] = pool.cpus or 0


def plan_layout(topology: Topology, config: Config, allowed: int | None = None, *, with_floor: bool = True) -> Layout:
    """Cut a host as its configuration says.

    `allowed` are the CPUs of the provider's cgroup parent, None for all. `with_floor=False` leaves the floor out: for
    what is planned on paper where no floor is configured.

    Raises `ConfigError` for what can never be right on this host: ids that it cannot have, pools that overlap, CPUs
    that are reserved and in a pool, nothing left to offer or for the floor. Ids that are possible but offline, or
    online but not allowed, are warnings: they are not offered.
    """
    usable = topology.online if allowed is None else topology.online & allowed
    possible = topology.possible | topology.online | topology.offline
    warnings: list[str] = []
    _check_ids("cpu.reserved_cpus", config.reserved, possible, usable, topology, warnings)
    reserved = _whole(topology, config.reserved) & usable
    if usable and not usable & ~reserved:
        raise ConfigError(
            f"cpu.reserved_cpus: {cpuset.format_mask(config.reserved)} leaves none of the CPUs "
            f"{cpuset.format_mask(usable)} (reserved CPUs take their whole cores)"
        )
    _check_pools(config.pools)
    named = 0
    for index, pool in enumerate(config.pools):
        if pool.cpus is None:
            continue
        where = f"cpu.pools[{index}].cpus"
        _check_ids(where, pool.cpus, possible, usable, topology, warnings)
        if pool.cpus & reserved:
            both = cpuset.format_mask(pool.cpus & reserved)
            raise ConfigError(f"{where}: pool {pool.name!r} names CPUs {both}, which are reserved")
        named |= pool.cpus & usable
        for core in topology.cores:
            if core & pool.cpus & usable and core & usable & ~pool.cpus:
                warnings.append(
                    f"{where}: pool {pool.name!r} has only {cpuset.format_mask(core & pool.cpus)} "
                    f"of the core {cpuset.format_mask(core)}"
                )
    rest = usable & ~reserved & ~named & ~topology.isolated
    floor = _floor(topology, rest, config.floor, warnings) if with_floor else 0
    rest &= ~floor
    pools: dict[str, int] = {DEFAULT_POOL: 0}
    for index, pool in enumerate(config.pools):
        if pool.cpus is not None:
            pools[pool.name] = pool.cpus & usable
            continue
        chosen = _choose(topology, rest, pool, f"cpu.pools[{index}].capacity")
        pools[pool.name] = chosen
        rest &= ~chosen
    pools[DEFAULT_POOL] = rest
    offerable = 0
    for mask in pools.values():
        offerable |= mask
    return Layout(
        reserved=reserved,
        floor=floor,
        zones=MappingProxyType(_zones(topology, config.group_by, offerable)),
        pools=MappingProxyType(pools),
        withheld=usable & topology.isolated & ~offerable & ~reserved & ~floor,
        warnings=tuple(warnings),
    )


def _check_ids(name: str, mask: int, possible: int, usable: int, topology: Topology, warnings: list[str]) -> None:
    if mask & ~possible:
        raise ConfigError(
            f"{name}: CPUs {cpuset.format_mask(mask & ~possible)} cannot exist here; "
            f"possible are {cpuset.format_mask(possible)}"
        )
    if mask & ~topology.online:
        warnings.append(f"{name}: CPUs {cpuset.format_mask(mask & ~topology.online)} are offline and are not offered")
    if mask & topology.online & ~usable:
        outside = cpuset.format_mask(mask & topology.online & ~usable)
        warnings.append(f"{name}: CPUs {outside} are outside the cpuset of the cgroup parent and are not offered")


def _whole(topology: Topology, mask: int) -> int:
    """The online CPUs of every core that has one of these."""
    whole = 0
    for core in topology.cores:
        if core & mask:
            whole |= core
    return whole


def _floor(topology: Topology, rest: int, wanted: int, warnings: list[str]) -> int:
    """The first whole cores by id, at least one; parts of cores only where no whole core is left."""
    cores = sorted((core for core in topology.cores if core & rest), key=cpuset.lowest)
    whole = [core for core in cores if core & ~rest == 0]
    if cores and not whole:
        warnings.append("cpu.floor: no whole core is left in the default pool; the floor takes parts of cores")
    floor = 0
    for core in whole or [core & rest for core in cores]:
        if floor and floor.bit_count() >= wanted:
            break
        floor |= core
    if not floor or floor.bit_count() < wanted:
        raise ConfigError(
            f"cpu.floor: {max(wanted, 1)} CPUs are needed for what is in no set, and the default pool has "
            f"{floor.bit_count()} in whole cores that are neither reserved, isolated nor named by a pool"
        )
    return floor


def _choose(topology: Topology, rest: int, pool: PoolConfig, where: str) -> int:
    wanted = pool.capacity or 0
    try:
        placement = allocator.place(
            topology, {"machine": rest}, rest, rest, allocator.Request(wanted, Profile(name=pool.name))
        )
    except Refused as refused:
        raise ConfigError(
            f"{where}: pool {pool.name!r} wants {wanted} CPUs and {rest.bit_count()} are left for it"
        ) from refused
    return placement.cpus


def _zones(topology: Topology, group_by: str, offerable: int) -> dict[str, int]:
    if group_by == "NUMA":
        named = [(f"numa/{node.id}", node.cpus) for node in topology.nodes]
    elif group_by == "PACKAGE":
        named = [(f"package/{index}", mask) for index, mask in enumerate(topology.packages)]
    else:
        named = [("machine", topology.online)]
    return {name: mask & offerable for name, mask in named if mask & offerable}
