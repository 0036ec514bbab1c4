"""Hosts that are too large for brute force: the rules hold, wishes never refuse, and no request takes for ever."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from profiles.mapping import DeviceAffinity, Memory, Profile
from provider import allocator, cpuset
from provider.allocator import Request
from provider.errors import Refused
from provider.topology import Device, Node, Topology


def machine(nodes: int, cores: int, per_package: int, far: Callable[[int, int], int]) -> Topology:
    """Nodes of two caches with two threads a core, siblings half the machine apart."""
    total = nodes * cores
    core_masks = [1 << core | 1 << (core + total) for core in range(total)]
    masks = [sum(core_masks[i * cores : (i + 1) * cores]) for i in range(nodes)]
    half = cores // 2
    packages = tuple(sum(masks[i : i + per_package]) for i in range(0, nodes, per_package))
    return Topology(
        online=(1 << 2 * total) - 1,
        cores=tuple(core_masks),
        llcs=tuple(sum(core_masks[i * half : (i + 1) * half]) for i in range(2 * nodes)),
        dies=packages,
        packages=packages,
        nodes=tuple(
            Node(i, masks[i], 1 << 30, tuple(10 if i == j else far(i, j) for j in range(nodes))) for i in range(nodes)
        ),
        devices=(Device("0000:01:00.0", 0x020000, 0x8086, 0x1572, 0, masks[0], ("net:eth0",)),),
        possible=(1 << 2 * total) - 1,
    )


HOSTS = {
    "packages": machine(64, 16, 8, lambda a, b: 12 if a // 8 == b // 8 else 32),
    "flat": machine(64, 16, 64, lambda a, b: 20),
    "hypercube": machine(64, 4, 64, lambda a, b: 10 + 4 * (a ^ b).bit_count()),
}

WISHES = [
    Profile("pack"),
    Profile("none", core_siblings="none", llc="none"),
    Profile("device", device=DeviceAffinity("net:eth0", "preferred")),
    Profile("spread", placement="spread"),
    Profile("spread none", placement="spread", core_siblings="none"),
    Profile("interleave", memory=Memory("interleave")),
    Profile("interleave 3", memory=Memory("interleave", "preferred", 3)),
    Profile("denied_preferred", core_siblings="denied_preferred"),
]


def zones(host: Topology) -> dict[str, int]:
    return {f"numa/{node.id}": node.cpus for node in host.nodes}


def some(rng: random.Random, host: Topology, share: float) -> int:
    return cpuset.of(cpu for cpu in cpuset.ids(host.online) if rng.random() < share)


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("profile", WISHES, ids=[profile.name for profile in WISHES])
def test_wishes_never_refuse_what_is_free(host: Topology, profile: Profile) -> None:
    rng = random.Random(profile.name)
    for share in (0.5, 1.0):
        free = some(rng, host, share)
        for count in (3, 40, free.bit_count() // 2):
            start = time.thread_time()
            placed = allocator.place(host, zones(host), host.online, free, Request(count, profile))
            assert time.thread_time() - start < 10
            assert placed.charge.bit_count() == count
            assert not placed.charge & ~free


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_required_rules_hold(host: Topology) -> None:
    rng = random.Random(5)
    fitted = 0
    for _ in range(12):
        nodes = rng.choice([2, 3, 40, 64])
        free = some(rng, host, rng.choice([0.5, 0.9]))
        count = rng.randint(nodes, 300)
        profile = Profile("p", memory=Memory("interleave", "required", nodes), llc=rng.choice(["preferred", "none"]))
        start = time.thread_time()
        try:
            placed = allocator.place(host, zones(host), host.online, free, Request(count, profile))
        except Refused:
            rooms = sorted(((node.cpus & free).bit_count() for node in host.nodes), reverse=True)
            assert sum(rooms[:nodes]) < count or not rooms[nodes - 1]
            continue
        finally:
            assert time.thread_time() - start < 10
        fitted += 1
        assert sum(1 for node in host.nodes if node.cpus & placed.charge) == nodes
        assert placed.charge.bit_count() == count
        again = allocator.place(host, zones(host), host.online, free, Request(count, profile))
        assert again == placed
    assert fitted > 3


def test_report_49_within_the_reports_own_limits() -> None:
    """Thread time, so that a busy machine does not count: 50 ms for 34 nodes, 1 s for 64, on slower machines too."""
    big = (1 << 36) - 1
    nodes = tuple(
        Node(i, big << 36 * i if i < 2 else 0, 1 << 30, tuple(10 if i == j else 20 for j in range(34)))
        for i in range(34)
    )
    online = (1 << 72) - 1
    cores = tuple(1 << cpu for cpu in range(72))
    halves = (big, big << 36)
    host = Topology(online=online, cores=cores, llcs=halves, dies=halves, packages=halves, nodes=nodes, possible=online)
    with_cpus = {f"numa/{i}": half for i, half in enumerate(halves)}
    start = time.thread_time()
    assert allocator.place(host, with_cpus, online, online, Request(40, Profile("p"))).charge.bit_count() == 40
    assert time.thread_time() - start < 0.05

    host = HOSTS["packages"]
    free = some(random.Random(49), host, 0.6)
    wish = Profile("p", llc="preferred", device=DeviceAffinity("net:eth0", "preferred"))
    start = time.thread_time()
    assert allocator.place(host, zones(host), host.online, free, Request(200, wish)).charge.bit_count() == 200
    assert time.thread_time() - start < 1
