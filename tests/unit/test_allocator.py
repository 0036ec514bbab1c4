"""Each rule of a profile and each step of the order, one row a rule; what is refused, and with which words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.mapping import DeviceAffinity, Memory, Profile
from provider import allocator, cpuset
from provider.allocator import PlacementRefused, Request
from provider.errors import Refused
from provider.topology import Device, Topology, from_records
from tests.unit.machines import A6, D16, G34, H28, L8, P18, Q16, S8, T8, U4, host

BIND = Memory("bind", "required")


MACHINES = [host(records) for records in (S8, D16, T8, L8, A6, Q16, P18, H28)]
PROFILES = st.builds(
    Profile,
    name=st.just("p"),
    core_siblings=st.sampled_from(["preferred", "required", "denied", "denied_preferred", "none"]),
    placement=st.sampled_from(["pack", "spread"]),
    memory=st.sampled_from([Memory(), Memory("bind"), BIND, Memory("interleave"), Memory("interleave", "required", 2)]),
    llc=st.sampled_from(["preferred", "none", "required"]),
    core_kind=st.sampled_from(["any", "performance", "efficiency"]),
)


def zones(machine: Topology) -> dict[str, int]:
    return {f"numa/{node.id}": node.cpus for node in machine.nodes if node.cpus}


def place(
    records: dict[str, Any],
    cpus: int,
    available: str | None = None,
    *,
    quantities: dict[str, int] | None = None,
    holds: str = "",
    pool: str | None = None,
    **profile: Any,
) -> allocator.Placement:
    machine = host(records)
    mask = machine.online if pool is None else cpuset.parse(pool)
    held = cpuset.parse(holds)
    free = mask & ~held if available is None else cpuset.parse(available)
    request = Request(cpus, Profile(name="p", **profile), quantities, held)
    return allocator.place(machine, zones(machine), mask, free, request)


def cpus(placement: allocator.Placement) -> str:
    return cpuset.format_mask(placement.cpus)


ROWS = [
    # the design's own example, and the field reports
    ("siblings of one core", D16, 2, "1-15", {}, "1,9"),
    ("report 1: a core with one thread offline is no pair", S8, 2, "0-2,4-6", {"core_siblings": "required"}, "0,4"),
    ("report 2: kinds are not mixed", H28, 2, "2-27", {}, "2-3"),
    ("report 2: the same with whole cores", H28, 2, "2-27", {"core_siblings": "required"}, "2-3"),
    ("report 6: four threads a core", T8, 4, None, {"core_siblings": "required"}, "0-3"),
    ("report 13: two nodes, the third stays whole", P18, 5, "4-5,9-11,15-17", {"memory": Memory("bind")}, "4-5,9-11"),
    ("report 13: the nearer nodes", Q16, 6, "0-3,6-7,8-15", {}, "0-3,6-7"),
    ("report 13: not over the long way", Q16, 6, "0-3,8-15", {}, "8-13"),
    ("report 15: one cache holds it", A6, 3, None, {}, "0-2"),
    ("report 15: the cache that is broken already", L8, 2, "0-3,6-7", {"llc": "required"}, "6-7"),
    ("report 15: larger than a cache", L8, 6, None, {"llc": "required"}, "0-5"),
    ("report 49: nodes without CPUs cost nothing", G34, 40, None, {}, "0-39"),
    # kinds
    ("efficiency asked for", H28, 4, None, {"core_kind": "efficiency"}, "16-19"),
    ("a mixture only where no kind holds it", H28, 20, None, {}, "0-19"),
    ("performance on a host with one kind", U4, 2, None, {"core_kind": "performance"}, "0-1"),
    # whole cores
    ("preferred: the odd one breaks one core", S8, 3, None, {}, "0-1,4"),
    ("preferred: the odd one uses up a broken core", S8, 3, "0-6", {}, "0,3-4"),
    ("none: broken cores first", S8, 2, "0-6", {"core_siblings": "none"}, "0,3"),
    ("none: two broken cores before a whole one", S8, 2, "0-5", {"core_siblings": "none"}, "2-3"),
    # best fit
    ("best fit: the fuller node", D16, 2, "0-7,8-10,12-15", {}, "0,8"),
    ("fewest nodes before best fit", D16, 6, "0-1,8-9,4-7,12-15", {}, "4-6,12-14"),
    # spread
    ("spread: as even as whole cores allow", D16, 4, None, {"placement": "spread"}, "0,4,8,12"),
    ("spread: with one CPU a core", D16, 4, None, {"placement": "spread", "core_siblings": "none"}, "0-1,4-5"),
    ("spread over caches", L8, 4, None, {"placement": "spread"}, "0-1,4-5"),
    # interleave
    ("interleave over all", Q16, 4, None, {"memory": Memory("interleave")}, "0,4,8,12"),
    ("interleave over two: the nearest", Q16, 4, None, {"memory": Memory("interleave", "required", 2)}, "0-1,4-5"),
    ("interleave, whole cores", D16, 6, None, {"memory": Memory("interleave")}, "0-1,4,8-9,12"),
    ("interleave preferred on as many as can be", Q16, 3, None, {"memory": Memory("interleave")}, "0,4,8"),
    # bind
    ("bind required: larger than a node, one package", Q16, 6, "0-3,8-15", {"memory": BIND}, "8-13"),
    ("bind required: larger than a package, fewest nodes", Q16, 10, None, {"memory": BIND}, "0-9"),
    ("bind required: one node though two are nearer to empty", Q16, 4, "0-1,4-7", {"memory": BIND}, "4-7"),
]


def rows(table: list[Any]) -> dict[str, Any]:
    return {"argvalues": [row[1:] for row in table], "ids": [row[0] for row in table]}


@pytest.mark.parametrize(("records", "count", "available", "profile", "expected"), **rows(ROWS))
def test_the_answer(
    records: dict[str, Any], count: int, available: str | None, profile: dict[str, Any], expected: str
) -> None:
    assert cpus(place(records, count, available, **profile)) == expected


REFUSED = [
    ("report 6: four threads a core", T8, 6, None, {"core_siblings": "required"}, "4 or 8 would fit", 4),
    ("report 13: most in a node", P18, 5, "4-5,9-11,15-17", {"memory": BIND}, "most free in a node: 3", 3),
    ("too many", S8, 9, None, {}, "8 are free", 8),
    ("nothing", S8, 2, "", {}, "0 are free", None),
    ("whole cores: none is whole", S8, 2, "0-3", {"core_siblings": "required"}, "0 CPUs are in such", None),
    ("whole cores: an odd number", S8, 3, None, {"core_siblings": "denied"}, "2 or 4 would fit", 2),
    ("one cache", L8, 3, "0-1,4-5", {"llc": "required"}, "most free in one: 2", 2),
    ("two caches, of three", A6, 2, "0,4", {"llc": "required"}, "most free in one: 1", 1),
    ("interleave: a node is taken", Q16, 8, "0-11", {"memory": Memory("interleave", "required")}, "4 NUMA nodes", None),
    ("interleave: fewer than nodes", Q16, 3, None, {"memory": Memory("interleave", "required")}, "4 would fit", 4),
    (
        "interleave: more nodes than there are",
        Q16,
        8,
        None,
        {"memory": Memory("interleave", "required", 5)},
        "5 NUMA",
        None,
    ),
    ("bind: two nodes have it, one has not", D16, 6, "0-2,4-6", {"memory": BIND}, "node 0", 3),
    ("kind", H28, 13, None, {"core_kind": "efficiency"}, "13 CPUs on efficiency cores asked for; 12 are free", 12),
    ("no device", S8, 2, None, {"device": DeviceAffinity("net:eth7")}, "no device on this host matches", None),
    ("device unreadable", S8, 2, None, {"device": DeviceAffinity("eth7")}, "device match 'eth7'", None),
    ("shared", S8, 2, None, {"mode": "shared"}, "no CPUs of its own", None),
    ("none", S8, 0, None, {}, "at least 1", None),
]


@pytest.mark.parametrize(
    ("records", "count", "available", "profile", "words", "nearest"),
    [r[1:] for r in REFUSED],
    ids=[r[0] for r in REFUSED],
)
def test_the_refusal_says_what_would_fit(
    records: dict[str, Any], count: int, available: str | None, profile: dict[str, Any], words: str, nearest: int | None
) -> None:
    with pytest.raises(Refused) as refused:
        place(records, count, available, **profile)
    assert words in str(refused.value)
    assert refused.value.nearest == nearest


def test_a_refusal_tells_which_held_cpus_are_in_the_way() -> None:
    with pytest.raises(PlacementRefused) as refused:
        place(S8, 6, "0-5", core_siblings="required")
    assert refused.value.in_the_way == cpuset.parse("6-7")
    with pytest.raises(PlacementRefused) as refused:
        place(D16, 7, "0-3,8-9,4-5,12-13", memory=BIND)
    assert refused.value.in_the_way == cpuset.parse("10-11")


def test_siblings_that_stay_empty_are_charged() -> None:
    whole = place(T8, 8, core_siblings="denied")
    assert (cpuset.ids(whole.cpus), cpuset.ids(whole.blocked)) == ([0, 4], [1, 2, 3, 5, 6, 7])
    one = place(T8, 4, core_siblings="denied")
    assert (cpuset.ids(one.cpus), cpuset.ids(one.blocked)) == ([0], [1, 2, 3])
    assert place(U4, 2, core_siblings="denied").blocked == 0
    wished = place(S8, 4, core_siblings="denied_preferred")
    assert (cpuset.ids(wished.cpus), cpuset.ids(wished.blocked)) == ([0, 1], [4, 5])
    fallen_back = place(S8, 3, core_siblings="denied_preferred")
    assert (fallen_back.cpus.bit_count(), fallen_back.blocked, len(fallen_back.notes)) == (3, 0, 1)


def test_two_sets_share_a_core_only_where_both_may() -> None:
    first = place(S8, 1, core_siblings="none")
    assert cpus(first) == "0"
    free = "1-7"
    assert cpus(place(S8, 1, free, core_siblings="none")) == "4", "broken cores are used up"
    assert cpus(place(S8, 1, free)) == "4"
    assert cpus(place(S8, 2, free, core_siblings="required")) == "1,5"
    assert cpus(place(S8, 2, free, core_siblings="denied")) == "1"


def test_quantities_by_zone_are_exact() -> None:
    placed = place(D16, 4, quantities={"numa/0": 1, "numa/1": 3})
    assert cpus(placed) == "0,4-5,12"
    with pytest.raises(Refused, match=r"3 CPUs of numa/0 asked for, 1 are free there; the zone .* numa/1 with 8"):
        place(D16, 3, "0,4-7,12-15", quantities={"numa/0": 3})
    with pytest.raises(Refused, match="no zone 'numa/7'"):
        place(D16, 1, quantities={"numa/7": 1})
    with pytest.raises(Refused, match="add up to 3, and 4 CPUs are asked for"):
        place(D16, 4, quantities={"numa/0": 3})
    with pytest.raises(Refused, match="2 or 4 would fit"):
        place(D16, 3, quantities={"numa/0": 3}, core_siblings="required")
    with pytest.raises(Refused, match="of one NUMA node"):
        place(D16, 4, quantities={"numa/0": 2, "numa/1": 2}, memory=BIND)


def test_memory_nodes() -> None:
    assert place(D16, 2).mems == 0b11, "no policy: any memory"
    assert place(D16, 2, "4-7", memory=Memory("bind")).mems == 0b10
    assert place(D16, 10, memory=Memory("interleave")).mems == 0b11
    without = {
        **Q16,
        "nodes": [{**node, "memory_bytes": 0 if node["id"] in (0, 3) else 1 << 34} for node in Q16["nodes"]],
    }
    near = place(without, 2, quantities={"numa/0": 2}, memory=Memory("bind"))
    assert (near.mems, near.notes) == (0b10, ("node 0 has no memory: node 1, the nearest that has, is used",))
    with pytest.raises(Refused, match="node 0 has no memory"):
        place(without, 2, quantities={"numa/0": 2}, memory=BIND)
    assert cpus(place(without, 2, memory=BIND)) == "4-5"
    # Interleave leaves nodes without memory alone as long as the others can hold the set.
    assert cpus(place(without, 4, memory=Memory("interleave"))) == "4-5,8-9"
    assert place(without, 9, memory=Memory("interleave")).cpus.bit_count() == 9


def test_growing_keeps_the_cpus_and_stays_near() -> None:
    grown = place(Q16, 4, "2-15", holds="0-1")
    assert cpus(grown) == "0-3"
    assert cpus(place(Q16, 6, "2-3,4-7,8-15", holds="0-1")) == "0-5"
    # Not where more would be free, but where the set is.
    assert cpus(place(D16, 4, "1-3,9-11,4-7,12-15", holds="0,8")) == "0-1,8-9"
    assert cpus(place(L8, 3, "2-3,4-7", holds="0-1")) == "0-2"
    denied = place(S8, 4, "1-3,5-7", holds="0", core_siblings="denied")
    assert (cpus(denied), cpuset.format_mask(denied.blocked)) == ("0-1", "4-5")
    with pytest.raises(Refused, match="4 more CPUs for a set of 2"):
        place(S8, 6, "1-2,5", holds="0,4")


def test_shrinking_chooses_what_leaves() -> None:
    assert cpus(place(D16, 2, "1-3,9-11,5-7,13-15", holds="0,4,8,12")) == "0,8"
    assert cpus(place(S8, 2, "3,7", holds="0-2,4", core_siblings="none")) == "1-2"
    assert cpus(place(S8, 2, "3,7", holds="0-2,4")) == "0,4"
    denied = place(S8, 2, "2-3,6-7", holds="0-1", core_siblings="denied")
    assert (cpus(denied), cpuset.format_mask(denied.blocked)) == ("0", "4")
    given_back = place(D16, 3, "1-3,9-11,5-7,13-15", holds="0,4,8,12", quantities={"numa/0": 1})
    assert cpus(given_back) == "0,4,12"
    # A set of two nodes is not refused to become smaller because one node could hold it.
    kept = place(Q16, 4, "2-3,6-15", holds="0-1,4-5,8", memory=BIND)
    assert cpus(kept) == "0-1,4-5"
    assert kept.notes


def test_a_resize_to_the_same_size_changes_nothing() -> None:
    same = place(S8, 2, "1-3,5-7", holds="0,4", memory=BIND)
    assert (cpus(same), same.mems) == ("0,4", 1)


def with_devices() -> Topology:
    base = host(Q16)
    return replace(
        base,
        devices=(
            Device("0000:3b:00.0", 0x020000, 0x8086, 0x1592, 1, base.nodes[1].cpus, ("net:eth0",)),
            Device("0000:86:00.0", 0x020000, 0x8086, 0x1592, 2, base.nodes[2].cpus, ("net:eth1",)),
        ),
    )


@pytest.mark.parametrize(
    ("match", "affinity", "count", "expected"),
    [
        ("net:eth0", "required", 2, "4-5"),
        ("net:eth1", "required", 4, "8-11"),
        ("net:eth1", "preferred", 5, "8-12"),
        ("net:eth0", "preferred", 5, "0,4-7"),
        ("class:02", "required", 3, "4-6"),
        ("net:none", "preferred", 2, "0-1"),
        ("net:eth0", "required", 5, None),
    ],
)
def test_devices(match: str, affinity: str, count: int, expected: str | None) -> None:
    machine = with_devices()
    request = Request(count, Profile(name="p", device=DeviceAffinity(match, affinity)))
    if expected is None:
        with pytest.raises(Refused, match="4 are free there"):
            allocator.place(machine, zones(machine), machine.online, machine.online, request)
        return
    placed = allocator.place(machine, zones(machine), machine.online, machine.online, request)
    assert cpus(placed) == expected


def test_a_pool_is_all_there_is() -> None:
    assert cpus(place(S8, 2, pool="2-3,6-7")) == "2,6"
    with pytest.raises(Refused, match="4 are free in pool"):
        place(S8, 5, pool="2-3,6-7")
    # By size of the pool: with four CPUs of each node in it, six are larger than a node.
    assert cpus(place(D16, 6, pool="0-1,8-9,4-5,12-13", memory=BIND)) == "0-1,4,8-9,12"


def test_what_can_be_had() -> None:
    machine = host(D16)
    free = cpuset.parse("1-7,9-15")

    def largest(**profile: Any) -> int:
        return allocator.largest(machine, zones(machine), machine.online, free, Profile(name="p", **profile))

    assert cpuset.format_mask(allocator.free_whole_cores(machine, free & ~2)) == "2-7,10-15"
    assert largest() == 14
    assert largest(memory=BIND) == 14, "larger than a node, in two of them"
    assert largest(core_siblings="required") == 14
    assert largest(llc="required") == 14
    one_node = zones(machine)["numa/0"]
    in_zone = allocator.largest(
        machine, zones(machine), machine.online, free & one_node, Profile(name="p", memory=BIND)
    )
    assert in_zone == 6
    assert allocator.largest(machine, zones(machine), machine.online, 0, Profile(name="p")) == 0
    some = cpuset.parse("1-2,4-5,12")
    assert allocator.largest(machine, zones(machine), machine.online, some, Profile(name="p", memory=BIND)) == 3
    assert (
        allocator.largest(machine, zones(machine), machine.online, some, Profile(name="p", core_siblings="denied")) == 2
    )


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([D16, Q16, P18, H28, L8]),
    st.data(),
    st.integers(0, (1 << 28) - 1),
    st.integers(0, (1 << 28) - 1),
    st.sampled_from([None, 0b1, 0b10]),
)
def test_the_largest_of_nodes_that_are_alike_is_that_of_each(
    records: dict[str, Any], data: st.DataObject, mask: int, outside: int, mems: int | None
) -> None:
    """What is kept of one node is told of another only where it is true of it."""
    shared = host(records)
    pool = shared.online & ~outside
    for _ in range(3):
        profile = data.draw(PROFILES)
        for region in [*zones(shared).values(), shared.online]:
            fresh = replace(shared)  # nothing is known of it yet
            free = pool & mask & region
            told = allocator.largest(shared, zones(shared), pool, free, profile, mems=mems)
            assert told == allocator.largest(fresh, zones(fresh), pool, free, profile, mems=mems)
            fit = [
                n
                for n in range(1, free.bit_count() + 1)
                if allocator.can_place(fresh, zones(fresh), pool, free, Request(n, profile), mems=mems)
            ]
            assert told == max(fit, default=0)


def test_an_explanation_names_the_step_that_decided() -> None:
    machine = host(D16)
    lines = allocator.explain(
        machine, zones(machine), machine.online, cpuset.parse("1-15"), Request(2, Profile(name="p"))
    )
    text = "\n".join(lines)
    assert "given: CPUs 1,9 on node 0" in text
    assert "in node 1 instead: 4,12 loses at (10) best fit" in text
    assert "without CPU 1: 2,10 is as good in every step but (12) lowest CPU ids" in text
    refused = allocator.explain(machine, zones(machine), machine.online, 1, Request(2, Profile(name="p")))
    assert "1 are free" in refused[0]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(MACHINES), PROFILES, st.integers(0, (1 << 28) - 1), st.integers(1, 12), st.integers(0, 12))
def test_whatever_is_asked_the_rules_hold(
    machine: Topology, profile: Profile, mask: int, count: int, change: int
) -> None:
    pool = machine.online
    free = mask & pool
    request = Request(count, profile)
    fits = allocator.can_place(machine, zones(machine), pool, free, request)
    try:
        placed = allocator.place(machine, zones(machine), pool, free, request)
        assert fits
    except Refused as refused:
        assert not fits
        if refused.nearest is not None:
            again = allocator.place(machine, zones(machine), pool, free, Request(refused.nearest, profile))
            assert again.charge.bit_count() == refused.nearest
        return
    check(machine, profile, placed, free, count)
    assert placed == allocator.place(machine, zones(machine), pool, free, request)
    assert allocator.largest(machine, zones(machine), pool, free, profile) >= count
    free &= ~placed.charge
    total = max(1, placed.charge.bit_count() + change - 6)
    try:
        resized = allocator.place(
            machine, zones(machine), pool, free, Request(total, profile, None, placed.cpus, placed.blocked)
        )
    except Refused:
        return
    assert resized.charge.bit_count() == total
    if total >= placed.charge.bit_count():
        assert placed.charge & ~resized.charge == 0
        assert resized.charge & ~placed.charge & ~free == 0
    else:
        assert resized.charge & ~placed.charge == 0


def check(machine: Topology, profile: Profile, placed: allocator.Placement, free: int, count: int) -> None:
    assert placed.charge.bit_count() == count
    assert placed.charge & ~free == 0
    assert placed.cpus & placed.blocked == 0
    assert placed.cpus
    assert placed.mems
    for core in machine.cores:
        part = core & placed.charge
        if profile.core_siblings in ("required", "denied") and part:
            assert part == core
        if placed.blocked and part:
            assert (core & placed.cpus).bit_count() == 1
    if profile.memory == BIND:
        nodes = [node for node in machine.nodes if node.cpus & placed.charge]
        if any(node.cpus.bit_count() >= count for node in machine.nodes):
            assert len(nodes) == 1
    if profile.llc == "required" and any(llc.bit_count() >= count for llc in machine.llcs):
        assert sum(1 for llc in machine.llcs if llc & placed.charge) == 1


def test_a_set_on_a_node_without_memory_cannot_grow_under_required_interleave() -> None:
    nodes = [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]
    records = {
        "cpus": [{"cpu": cpu, "core": cpu, "socket": 0, "numa": node} for cpu, node in enumerate(nodes)],
        "nodes": [{"id": node, "memory_bytes": 100 * (node % 2)} for node in range(4)],
    }
    machine = from_records(records)
    zones = {"machine": machine.online}
    free = cpuset.parse("0,2-4,6-8")

    def grow(mode: str) -> allocator.Placement:
        profile = Profile(name="p", memory=Memory(policy="interleave", mode=mode))
        return allocator.place(machine, zones, machine.online, free, Request(cpus=3, profile=profile, holds=0b10))

    with pytest.raises(Refused, match="interleave, required"):
        grow("required")
    assert grow("preferred").cpus & 0b10
