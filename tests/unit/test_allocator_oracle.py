"""The allocator against brute force: on small machines its answer is the best one, not a good one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from profiles.mapping import DeviceAffinity, Memory, Profile
from provider import allocator, cpuset
from provider.allocator import Request, rules, search
from provider.errors import Refused
from provider.topology import Device, Kind, Node, Topology
from tests.unit.placement_oracle import Oracle


def group(keys: list[Any]) -> tuple[int, ...]:
    masks: dict[Any, int] = {}
    for cpu, key in enumerate(keys):
        if key is not None:
            masks[key] = masks.get(key, 0) | 1 << cpu
    return tuple(sorted(masks.values(), key=lambda mask: mask & -mask))


def random_host(rng: random.Random, limit: int = 12) -> Topology:
    """A machine of up to `limit` CPUs: nodes, packages, caches and cores of odd sizes, ids in any order."""
    nodes = rng.choice([1, 1, 2, 2, 2, 3, 4])
    per_package = rng.choice([1, 1, 2, nodes])
    cpus: list[tuple[int, int, tuple[int, int], tuple[int, int, int]]] = []
    width = rng.choice([1, 2, 2, 2, 4])
    for node in range(nodes):
        cores = rng.randint(1, max(1, limit // nodes // width))
        llcs = rng.randint(1, 2)
        for core in range(cores):
            threads = width if rng.random() < 0.85 else rng.randint(1, width)
            for _ in range(threads):
                cpus.append((node, node // per_package, (node, core % llcs), (node, core, 0)))
    cpus = cpus[:limit]
    if rng.random() < 0.5:
        rng.shuffle(cpus)
    elif rng.random() < 0.7:  # siblings far apart, as firmware likes to number them
        seen: dict[Any, int] = {}
        ranks = []
        for cpu in cpus:
            ranks.append(seen.get(cpu[3], 0))
            seen[cpu[3]] = ranks[-1] + 1
        cpus = [cpu for _, _, cpu in sorted(zip(ranks, range(len(cpus)), cpus, strict=True))]
    online = (1 << len(cpus)) - 1
    style = rng.choice(["uniform", "tree", "any"])
    matrix = [[10] * nodes for _ in range(nodes)]
    for a in range(nodes):
        for b in range(a + 1, nodes):
            far = 20
            if style == "tree":
                far = 12 if a // per_package == b // per_package else 32
            elif style == "any":
                far = rng.choice([12, 16, 22])
            matrix[a][b] = matrix[b][a] = far
    made = []
    there = sorted({cpu[0] for cpu in cpus})
    for node in range(nodes):
        mask = sum(1 << i for i, cpu in enumerate(cpus) if cpu[0] == node)
        memory = 0 if rng.random() < 0.1 and node != there[0] else 1 << 30
        made.append(Node(node, mask, memory, tuple(matrix[node])))
    kinds: tuple[Kind, ...] = ()
    cores = group([cpu[3] for cpu in cpus])
    if rng.random() < 0.2 and len(cores) > 1:
        fast = sum(core for core in cores if rng.random() < 0.5)
        if fast and fast != online:
            kinds = (Kind("performance", fast), Kind("efficiency", online & ~fast))
    devices = tuple(
        Device(f"0000:0{i}:00.0", 0x020000, 0x8086, 0x1572, node, made[node].cpus, (f"net:eth{i}",))
        for i, node in enumerate(rng.sample(there, min(len(there), 2)))
    )
    return Topology(
        online=online,
        cores=cores,
        llcs=group([cpu[2] for cpu in cpus]),
        dies=group([cpu[1] for cpu in cpus]),
        packages=group([cpu[1] for cpu in cpus]),
        nodes=tuple(made),
        kinds=kinds,
        devices=devices,
        possible=online,
    )


def random_profile(rng: random.Random, **fixed: Any) -> Profile:
    values: dict[str, Any] = {
        "core_siblings": rng.choice(["preferred", "required", "denied", "denied_preferred", "none"]),
        "placement": "pack",
        "llc": rng.choice(["preferred", "none", "required"]),
        "memory": rng.choice([Memory(), Memory("bind"), Memory("bind", "required")]),
        "core_kind": rng.choice(["any", "any", "performance", "efficiency"]),
        "device": rng.choice(
            [
                None,
                None,
                DeviceAffinity("net:eth0"),
                DeviceAffinity("net:eth0", "preferred"),
                DeviceAffinity("class:02", "preferred"),
            ]
        ),
    }
    values.update(fixed)
    return Profile(name="p", **values)


def zones_of(rng: random.Random, host: Topology) -> dict[str, int]:
    sort = rng.choice(["numa", "numa", "package", "machine"])
    if sort == "numa":
        return {f"numa/{node.id}": node.cpus for node in host.nodes if node.cpus}
    if sort == "package":
        return {f"package/{i}": mask for i, mask in enumerate(host.packages)}
    return {"machine": host.online}


def subset(rng: random.Random, mask: int, share: float) -> int:
    return cpuset.of(cpu for cpu in cpuset.ids(mask) if rng.random() < share)


def compare(host: Topology, zones: dict[str, int], pool: int, free: int, request: Request) -> bool:
    """Whether there is an answer; asserts that it is the best one."""
    want = Oracle(host, zones, pool, free).best(request.cpus, request.profile, request.zones, request.holds)
    try:
        got = allocator.place(host, zones, pool, free, request)
    except Refused:
        assert want is None, f"refused, but {want} fits: {host}\n{zones}\nfree {cpuset.ids(free)}\n{request}"
        return False
    answer = tuple(cpuset.ids(got.cpus)), tuple(cpuset.ids(got.blocked))
    assert answer == want, f"{answer} instead of {want}: {host}\n{zones}\nfree {cpuset.ids(free)}\n{request}"
    return True


def run(seed: int, rounds: int, limit: int = 12, **fixed: Any) -> int:
    rng = random.Random(seed)
    fitted = 0
    for _ in range(rounds):
        host = random_host(rng, limit)
        profile = random_profile(rng, **{name: rng.choice(values) for name, values in fixed.items()})
        zones = zones_of(rng, host)
        pool = host.online if rng.random() < 0.7 else subset(rng, host.online, 0.8)
        free = subset(rng, pool, rng.choice([0.4, 0.7, 1.0]))
        count = rng.randint(1, max(1, free.bit_count()))
        quantities = None
        if rng.random() < 0.3 and free:
            taken = rng.sample(cpuset.ids(free), count)
            quantities = {name: n for name, mask in zones.items() if (n := (mask & cpuset.of(taken)).bit_count())}
        fitted += compare(host, zones, pool, free, Request(count, profile, quantities))
    return fitted


@pytest.mark.parametrize("seed", range(10))
def test_pack_gives_the_best_answer(seed: int) -> None:
    assert run(seed, 60) > 10


def test_machines_of_16_cpus() -> None:
    assert run(50, 20, 16) > 8
    assert run(51, 10, 16, placement=["spread"]) > 3


@pytest.mark.parametrize("seed", range(6))
def test_spread_gives_the_best_answer(seed: int) -> None:
    assert run(100 + seed, 60, placement=["spread"]) > 10


@pytest.mark.parametrize("seed", range(6))
def test_interleave_gives_the_best_answer(seed: int) -> None:
    memory = [Memory("interleave", mode, nodes) for mode in ("preferred", "required") for nodes in (None, 1, 2, 3)]
    assert run(200 + seed, 60, placement=["pack", "spread"], memory=memory) > 8


@pytest.mark.parametrize("seed", range(8))
def test_resizing_gives_the_best_answer(seed: int) -> None:
    rng = random.Random(300 + seed)
    fitted = 0
    for _ in range(80):
        host = random_host(rng)
        profile = random_profile(
            rng,
            placement=rng.choice(["pack", "pack", "spread"]),
            core_siblings=rng.choice(["preferred", "required", "denied", "none"]),
            memory=rng.choice([Memory(), Memory("bind", "required"), Memory("interleave", "preferred", 2)]),
        )
        if rng.random() < 0.5:
            profile = replace(profile, device=None, core_kind="any", llc="preferred", memory=Memory())
        zones = zones_of(rng, host)
        free = subset(rng, host.online, rng.choice([0.6, 0.9]))
        first = rng.randint(1, max(1, free.bit_count()))
        try:
            held = allocator.place(host, zones, host.online, free, Request(first, profile))
        except Refused:
            continue
        free = subset(rng, free & ~held.charge, 0.9)
        before = held.charge.bit_count()
        total = rng.randint(1, before + free.bit_count())
        if total == before:
            continue
        quantities = None
        if rng.random() < 0.3:
            pick = cpuset.ids(free) if total > before else cpuset.ids(held.charge)
            moved = cpuset.of(rng.sample(pick, abs(total - before)))
            quantities = {name: n for name, mask in zones.items() if (n := (mask & moved).bit_count())}
        fitted += compare(host, zones, host.online, free, Request(total, profile, quantities, held.cpus))
    assert fitted > 10


@pytest.mark.parametrize("seed", range(4))
def test_the_short_cut_for_pack_gives_what_the_general_search_gives(seed: int) -> None:
    """On machines that are too large for brute force, with up to 8 nodes."""
    rng = random.Random(400 + seed)
    fitted = 0
    for _ in range(60):
        host = large_host(rng)
        profile = random_profile(rng, core_kind="any", memory=Memory())
        zones = {f"numa/{node.id}": node.cpus for node in host.nodes}
        free = subset(rng, host.online, rng.choice([0.3, 0.6, 1.0]))
        held = 0
        if rng.random() < 0.3:
            held = cpuset.of(rng.sample(cpuset.ids(free), min(3, free.bit_count())))
            profile = replace(profile, core_siblings=rng.choice(["preferred", "none"]), device=None)
        count = rng.randint(1, max(1, min(30, free.bit_count())))
        request = Request(count + held.bit_count(), profile, None, held)
        for case in rules.cases(host, zones, host.online, free, request):
            for problem in case.problems(host.online):
                key = search.solve(problem)
                assert key == search.solve_in_general(problem), f"{host}\nfree {cpuset.ids(free)}\n{request}"
                fitted += key is not None
    assert fitted > 20


def large_host(rng: random.Random) -> Topology:
    """2 to 8 equal nodes, so that many answers differ only in their ids."""
    nodes, llcs, cores, width = rng.choice([2, 4, 6, 8]), rng.choice([1, 2]), rng.choice([2, 3]), rng.choice([1, 2])
    per_package = rng.choice([1, 2, 4])
    total = nodes * llcs * cores
    where = [core % total for core in range(total * width)]
    if rng.random() < 0.3:
        where = [core // width for core in range(total * width)]
    style = rng.choice(["uniform", "tree", "tree", "line"])

    def far(a: int, b: int) -> int:
        if style == "uniform" or a == b:
            return 10 if a == b else 20
        if style == "line":
            return 10 + 2 * abs(a - b)
        return 12 if a // per_package == b // per_package else 32

    def members(cores_in: Callable[[int], bool]) -> int:
        return cpuset.of(cpu for cpu, core in enumerate(where) if cores_in(core))

    per_node = llcs * cores
    node_masks = [members(lambda core, n=n: core // per_node == n) for n in range(nodes)]  # type: ignore[misc]
    packages = tuple(sum(node_masks[i : i + per_package]) for i in range(0, nodes, per_package))
    return Topology(
        online=(1 << len(where)) - 1,
        cores=group(where),
        llcs=group([core // cores for core in where]),
        dies=packages,
        packages=packages,
        nodes=tuple(Node(n, node_masks[n], 1 << 30, tuple(far(n, m) for m in range(nodes))) for n in range(nodes)),
        devices=(Device("0000:01:00.0", 0x020000, 0x8086, 0x1572, 0, node_masks[0], ("net:eth0",)),),
        possible=(1 << len(where)) - 1,
    )
