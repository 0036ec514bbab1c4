"""What profiles ask for, held against a host.

Decides which of their wishes cannot be met here, ever or now. Never places a set: that is the allocator's.
"""

from __future__ import annotations

from collections.abc import Iterator

from profiles.mapping import Profile
from provider import allocator, cpuset
from provider.catalogue import at_once
from provider.cpuset import format_mask
from provider.doctor.cgroups import has_partitions
from provider.doctor.values import BAD, OK, WARN, Facts, Finding
from provider.inventory import Host
from provider.layout import Layout
from provider.power_rules import clipped, unmet
from provider.report import unplaceable
from provider.topology import Topology, match_devices

__all__ = ["wishes"]


def wishes(facts: Facts, layout: Layout, name: str, profile: Profile) -> Iterator[Finding]:
    """All that is to be said of one profile."""
    topic = f"profile {name}"
    before = 0
    for level, sentence, remedy in _unmet(facts, layout, profile):
        before += level == BAD
        yield Finding(topic, level, sentence, remedy)
    if before:
        return
    pool = layout.pools[profile.pool]
    if profile.mode == "shared":
        yield Finding(topic, OK, f"Shared sets run on what exclusive ones leave of {format_mask(pool)}.")
        return
    taken = 0
    for cpus in facts.cgroups.sets.values():
        taken |= cpus
    host = _host(facts, layout)
    if reason := at_once(unplaceable(host, profile)):
        yield Finding(topic, BAD, f"No set of it fits here, whatever is free: {reason}.", "Change the profile.")
        return
    mems = host.allowed_mems
    ever = allocator.largest(facts.host, layout.zones, pool, pool, profile, mems=mems)
    now = allocator.largest(facts.host, layout.zones, pool, pool & ~taken, profile, mems=mems)
    if ever:
        words = f"A set can have up to {ever} CPUs" + ("." if now == ever else f", now up to {now}.")
        yield Finding(topic, OK, words)


def _host(facts: Facts, layout: Layout) -> Host:
    online = facts.host.online
    allowed = online if facts.cgroups.cpus is None else online & facts.cgroups.cpus
    nodes = cpuset.of(node.id for node in facts.host.nodes if node.has_memory)
    mems = nodes if facts.cgroups.mems is None else nodes & facts.cgroups.mems
    return Host(facts.host, layout, allowed, mems or nodes)


def _unmet(facts: Facts, layout: Layout, profile: Profile) -> Iterator[tuple[str, str, str]]:
    """What this host does not have of what a profile asks for."""
    host = facts.host
    if not layout.pools.get(profile.pool):
        pools = ", ".join(pool for pool, cpus in layout.pools.items() if cpus) or "none"
        yield BAD, f"Its pool {profile.pool!r} has no CPUs here; pools with CPUs: {pools}.", "Configure the pool."
        return
    if profile.partition != "member" and not has_partitions(facts):
        yield (
            WARN,
            f"It asks for partition {profile.partition}, which comes out as member here.",
            "See partitions and enforcement above.",
        )
    if profile.core_kind != "any" and profile.mode == "exclusive":
        have = [kind.name for kind in host.kinds if kind.cpus & layout.pools[profile.pool]]
        if host.kinds and profile.core_kind not in have:
            yield BAD, f"It asks for {profile.core_kind} cores, and its pool has none.", "Change its pool."
        elif not host.kinds:
            yield WARN, f"It asks for {profile.core_kind} cores; this host has one kind of core.", ""
    if profile.device is not None:
        yield from _device(host, profile)
    if profile.power is not None:
        pool = layout.pools[profile.pool]
        if reason := unmet(facts.policies, profile.power, pool):
            yield BAD, f"It sets power, and no CPU of its pool can have it: {reason}.", "Change the profile's power."
        elif words := clipped(facts.policies, profile.power, pool):
            yield WARN, f"{words}.", "Change the profile's power."
    if profile.memory.policy == "interleave" and (profile.memory.nodes or 0) > len(host.nodes):
        level = BAD if profile.memory.mode == "required" else WARN
        yield level, f"It interleaves over {profile.memory.nodes} nodes, the host has {len(host.nodes)}.", ""
    if profile.mode == "shared" and facts.cgroups.kind != "affinity" and "cpu" not in facts.cgroups.controllers:
        yield WARN, "It is shared, and without the cpu controller nothing is guaranteed.", "See controllers above."


def _device(host: Topology, profile: Profile) -> Iterator[tuple[str, str, str]]:
    wish = profile.device
    assert wish is not None
    level = BAD if wish.affinity == "required" else WARN
    try:
        found = match_devices(host, wish.match)
    except ValueError as error:
        yield level, f"device.match {wish.match!r}: {error}.", "Correct the profile."
        return
    if not found:
        yield level, f"No device here matches {wish.match!r}.", "pinfold topology lists the devices."
