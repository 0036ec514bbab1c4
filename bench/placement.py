"""How long a placement takes, and how good the placements of a long run are.

    python bench/placement.py            everything (about a minute)
    python bench/placement.py --quick    the times only

Prints a table of times (CPU time of one call of the allocator, median, 90th percentile and largest; memory) and a
table for the churn: random creates and destroys on a machine of 256 CPUs, where each create is compared with (a) first
fit by CPU number, in a run of its own with the same requests, and (b) the best that any choice could be in the state
at hand, counted without the allocator.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from profiles.mapping import DeviceAffinity, Memory, Profile
from provider import allocator, cpuset
from provider.allocator import Request
from provider.errors import Refused
from provider.topology import Device, Node, Topology

GIB = 1 << 30


def show(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


PLAIN = Profile("plain")


def machine(
    nodes: int,
    llcs: int,
    cores: int,
    threads: int,
    per_package: int,
    distance: Callable[[int, int], int] | None = None,
    empty: int = 0,
) -> Topology:
    """`nodes` nodes of `llcs` caches of `cores` cores, siblings half the machine apart; `empty` nodes without CPUs.

    Without `distance` two nodes are 12 apart in a package and 32 across.
    """
    count = nodes * llcs * cores
    core_masks = [sum(1 << (core + thread * count) for thread in range(threads)) for core in range(count)]
    per_node = llcs * cores
    node_masks = [sum(core_masks[i * per_node : (i + 1) * per_node]) for i in range(nodes)] + [0] * empty
    total = nodes + empty

    def far(a: int, b: int) -> int:
        if a == b:
            return 10
        if distance is not None:
            return distance(a, b)
        return 12 if a // per_package == b // per_package else 32

    packages = tuple(sum(node_masks[i : i + per_package]) for i in range(0, nodes, per_package))
    return Topology(
        online=(1 << count * threads) - 1,
        cores=tuple(core_masks),
        llcs=tuple(sum(core_masks[i * cores : (i + 1) * cores]) for i in range(nodes * llcs)),
        dies=packages,
        packages=packages,
        nodes=tuple(Node(i, node_masks[i], 16 * GIB, tuple(far(i, j) for j in range(total))) for i in range(total)),
        devices=(Device("0000:3b:00.0", 0x020000, 0x8086, 0x1592, 0, node_masks[0], ("net:eth0",)),),
        possible=(1 << count * threads) - 1,
    )


def zones_of(host: Topology) -> dict[str, int]:
    """A zone for each node with CPUs."""
    return {f"numa/{node.id}": node.cpus for node in host.nodes if node.cpus}


def fill(host: Topology, rng: random.Random, share: float, sizes: list[int], sets: int = 0) -> tuple[int, list[int]]:
    """(free CPUs, sets) after random creates and destroys, until `share` of it is taken, or there are `sets`."""
    zones = zones_of(host)
    free = host.online
    held: list[int] = []
    most = host.online.bit_count() * share
    while len(held) < sets or (not sets and host.online.bit_count() - free.bit_count() < most):
        if held and rng.random() < 0.3:
            free |= held.pop(rng.randrange(len(held)))
        try:
            charge = allocator.place(host, zones, host.online, free, Request(rng.choice(sizes), PLAIN)).charge
        except Refused:
            continue
        free &= ~charge
        held.append(charge)
    return free, held


def half(host: Topology, rng: random.Random) -> int:
    """Every second CPU taken, at random: a state that no allocator leaves behind, and the hardest to search."""
    return cpuset.of(rng.sample(cpuset.ids(host.online), host.online.bit_count() // 2))


def timed(host: Topology, states: list[int], count: int, profile: Profile, holds: int = 0) -> list[float]:
    """Milliseconds of CPU time for each state, each seen for the first time."""
    zones = zones_of(host)
    # Builds the tables of the machine.
    allocator.place(host, zones, host.online, host.online, Request(1, Profile("first")))
    times = []
    for free in states:
        start = time.thread_time()
        with contextlib.suppress(Refused):
            allocator.place(host, zones, host.online, free & ~holds, Request(count, profile, None, holds))
        times.append((time.thread_time() - start) * 1000)
    return times


def times() -> None:
    """Print how long placements take."""
    rng = random.Random(7)
    small = [1, 1, 2, 2, 2, 3, 4]
    server = machine(8, 2, 4, 2, 4)
    large = machine(64, 2, 8, 2, 8)
    flat = machine(64, 2, 8, 2, 64, lambda a, b: 20)
    strange = machine(2, 1, 18, 1, 1, empty=32)
    narrow = machine(64, 1, 4, 2, 8)
    hypercube = machine(64, 1, 4, 2, 64, lambda a, b: 10 + 4 * (a ^ b).bit_count())
    churned = [fill(server, rng, 0.5, [1, 2, 2, 4, 4, 8, 16])[0] for _ in range(40)]
    busy = [fill(large, rng, 0, small, 500)[0] for _ in range(5)]
    busy_flat = [fill(flat, rng, 0, small, 500)[0] for _ in range(5)]
    scattered = [half(server, rng) for _ in range(40)]
    near = Profile("near", device=DeviceAffinity("net:eth0", "preferred"))
    rows: list[tuple[str, Topology, list[int], int, Profile, float | None]] = [
        ("16 of 128, 8 nodes, half full after a churn", server, churned, 16, PLAIN, 0.3),
        ("16 of 128, 8 nodes, every second CPU taken at random", server, scattered, 16, PLAIN, 0.3),
        (
            "16 of 128, 8 nodes, half full: bind required",
            server,
            churned,
            16,
            Profile("b", memory=Memory("bind", "required")),
            None,
        ),
        ("16 of 128, 8 nodes, half full: spread", server, churned, 16, Profile("s", placement="spread"), None),
        (
            "16 of 128, 8 nodes, half full: interleave",
            server,
            churned,
            16,
            Profile("i", memory=Memory("interleave")),
            None,
        ),
        ("200 of 2,048, 64 nodes in 8 packages, 500 sets", large, busy, 200, PLAIN, 5.0),
        ("200 of 2,048, 64 nodes equally far, 500 sets", flat, busy_flat, 200, PLAIN, 5.0),
        ("200 of 2,048, 64 nodes in 8 packages, empty", large, [large.online] * 3, 200, PLAIN, None),
        (
            "200 of 2,048, 64 nodes, every second CPU taken at random",
            large,
            [half(large, rng) for _ in range(5)],
            200,
            PLAIN,
            None,
        ),
        (
            "200 of 512, 64 nodes, random, device preferred",
            narrow,
            [half(narrow, rng) | 255 for _ in range(5)],
            200,
            near,
            None,
        ),
        (
            "200 of 512, 64 nodes in a hypercube, random",
            hypercube,
            [half(hypercube, rng) for _ in range(3)],
            200,
            PLAIN,
            None,
        ),
        (
            "20 of 72, 34 nodes, 2 with CPUs, half full",
            strange,
            [half(strange, rng) for _ in range(20)],
            20,
            PLAIN,
            1.0,
        ),
        ("40 of 72, 34 nodes, 2 with CPUs, empty", strange, [strange.online] * 5, 40, PLAIN, 1.0),
    ]
    show(f"{'one placement':58} {'median':>9} {'90 %':>9} {'largest':>9} {'wanted':>8}   ms")
    for label, host, states, count, profile, wanted in rows:
        taken = sorted(timed(host, states, count, profile))
        goal = f"{wanted:8.1f}" if wanted else " " * 8
        show(f"{label:58} {statistics.median(taken):9.3f} {taken[int(len(taken) * 0.9)]:9.3f} {taken[-1]:9.3f} {goal}")
    zones = zones_of(server)
    start = time.thread_time()
    for free in churned:
        allocator.largest(server, zones, server.online, free, Profile("b", memory=Memory("bind", "required")))
        allocator.free_whole_cores(server, free)
    each = (time.thread_time() - start) * 1000 / len(churned)
    show(f"{'what can be had (largest, whole cores), 128 CPUs':58} {each:9.3f}")


def memory() -> None:
    """Print how much memory 3,000 placements on ever new states keep."""
    host = machine(8, 4, 4, 2, 4)
    zones = zones_of(host)
    rng = random.Random(3)
    tracemalloc.start()
    marks = []
    for _ in range(3):
        for _ in range(1000):
            allocator.place(host, zones, host.online, half(host, rng), Request(rng.randint(1, 40), PLAIN))
        gc.collect()
        marks.append(tracemalloc.get_traced_memory()[0] / (1 << 20))
    tracemalloc.stop()
    show(
        "memory kept after 1,000, 2,000, 3,000 placements on random states: " + ", ".join(f"{m:.1f} MiB" for m in marks)
    )


@dataclass
class Sums:
    """What a run of sets comes to."""

    asked: int = 0
    fitted: int = 0
    nodes: int = 0
    llcs: int = 0
    broken: int = 0

    def line(self, label: str) -> str:
        """One row of the table."""
        sets = max(1, self.fitted)
        return (
            f"{label:44} {self.fitted / self.asked:9.2%} {self.nodes / sets:9.4f} {self.llcs / sets:9.4f} "
            f"{self.broken / sets:9.4f}"
        )


def count(host: Topology, charge: int, free: int) -> tuple[int, int, int]:
    """(nodes, caches, whole free cores that are broken) of a set made from `free`."""
    return (
        sum(1 for node in host.nodes if node.cpus & charge),
        sum(1 for llc in host.llcs if llc & charge),
        sum(1 for core in host.cores if core & charge and not core & ~free and core & ~charge),
    )


def best_possible(host: Topology, free: int, wanted: int) -> tuple[int, int, int]:
    """The fewest nodes, with these the fewest caches, with these the fewest broken cores: by going through them all."""
    rooms = sorted(((node.cpus & free).bit_count() for node in host.nodes), reverse=True)
    nodes = next(k for k in range(1, len(rooms) + 1) if sum(rooms[:k]) >= wanted)
    best: tuple[int, int] | None = None
    for chosen in itertools.combinations(host.nodes, nodes):
        mask = sum(node.cpus for node in chosen) & free
        if mask.bit_count() < wanted:
            continue
        llcs = [llc & mask for llc in host.llcs if llc & mask]
        for number in range(1, len(llcs) + 1):
            if best is not None and number > best[0]:
                break
            found = False
            for some in itertools.combinations(llcs, number):
                if sum(llc.bit_count() for llc in some) >= wanted:
                    found = True
                    broken = _fewest_broken(host, sum(some), wanted)
                    if best is None or (number, broken) < best:
                        best = (number, broken)
            if found:
                break
    assert best is not None
    return nodes, *best


def _fewest_broken(host: Topology, free: int, wanted: int) -> int:
    """Broken cores are needed only where whole cores and single free threads do not add up: one at most."""
    whole = sum(1 for core in host.cores if not core & ~free)
    single = free.bit_count() - 2 * whole
    return 0 if any(wanted - s <= 2 * whole and (wanted - s) % 2 == 0 for s in range(min(single, wanted) + 1)) else 1


def churn(rounds: int) -> None:
    """Print what `rounds` random creates and destroys come to."""
    host = machine(8, 4, 4, 2, 4)
    zones = zones_of(host)
    sizes = [1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24]
    ours, best, first = Sums(), Sums(), Sums()
    for label in ("ours", "first fit"):
        rng = random.Random(11)
        free = host.online
        sets: list[int] = []
        for _ in range(rounds):
            if rng.random() < 0.5 and sets:
                free |= sets.pop(rng.randrange(len(sets)))
                continue
            wanted = rng.choice(sizes)
            enough = free.bit_count() >= wanted
            if label == "ours":
                ours.asked += 1
                best.asked += 1
                try:
                    charge = allocator.place(host, zones, host.online, free, Request(wanted, PLAIN)).charge
                except Refused:
                    charge = 0
                if enough:
                    _add(best, best_possible(host, free, wanted))
            else:
                first.asked += 1
                charge = cpuset.of(cpuset.ids(free)[:wanted]) if enough else 0
            if charge:
                _add(ours if label == "ours" else first, count(host, charge, free))
                free &= ~charge
                sets.append(charge)
    title = f"{rounds:,} creates and destroys, 256 CPUs"
    show(f"{title:44} {'fit':>9} {'nodes':>9} {'caches':>9} {'broken':>9}   per set")
    show(ours.line("Pinfold (core_siblings preferred)"))
    show(best.line("(b) best possible in each of these states"))
    show(first.line("(a) first fit by CPU number"))
    for name in ("fitted", "nodes", "llcs", "broken"):
        mine, theirs = getattr(ours, name), getattr(best, name)
        show(f"  {name}: {mine} against {theirs}, {abs(mine - theirs) / max(1, theirs):.2%} off")


def _add(sums: Sums, counts: tuple[int, int, int]) -> None:
    sums.fitted += 1
    sums.nodes += counts[0]
    sums.llcs += counts[1]
    sums.broken += counts[2]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="the times only")
    parser.add_argument("--rounds", type=int, default=10_000, help="creates and destroys of the churn")
    options = parser.parse_args()
    times()
    memory()
    if not options.quick:
        churn(options.rounds)


if __name__ == "__main__":
    main()
