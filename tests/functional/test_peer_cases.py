"""What the allocators of Kubernetes, OpenStack Nova and nri-plugins answer in their own tests, asked of Pinfold.

The cases are facts only (see tests/data/peer-cases/README.md): a machine, what is free, what is asked, what the peer
gives. Each runs under the Pinfold profile that means the same, and the answer must be no worse than the peer's in
nodes, packages, caches, cores touched and cores broken; what the peer refuses for a reason that is ours, too, is
refused. `EXCEPTIONS` lists, with the reason, the only figures in which an answer may be worse, and every one of them
has to be. What has no counterpart in Pinfold is in `NOT_OURS`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from profiles.mapping import Memory, Profile
from provider import allocator, cpuset, topology
from provider.allocator import Request
from provider.errors import Refused
from provider.topology import Kind, Topology

DATA = Path(__file__).parent.parent / "data" / "peer-cases"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="tests/data/peer-cases is not there")

FIGURES = ("numa_nodes", "sockets", "llcs", "cores", "split_free_cores", "orphaned_siblings")

WHOLE_CORES_FIRST = "whole cores come before evenness; with core_siblings none it is as even as the peer's"

EXCEPTIONS: dict[str, tuple[set[str], str]] = {
    "dist-25": ({"numa_imbalance"}, WHOLE_CORES_FIRST),
    "dist-30": ({"numa_imbalance"}, WHOLE_CORES_FIRST),
    "dist-resize-18": ({"numa_imbalance"}, WHOLE_CORES_FIRST),
    "dist-resize-20": ({"numa_imbalance"}, WHOLE_CORES_FIRST),
}

NOT_OURS = {
    "freeSockets": "the peer's book-keeping: which sockets are wholly free",
    "freeNUMANodes": "the peer's book-keeping: which nodes are wholly free",
    "freeSockets+freeNUMANodes": "the peer's book-keeping",
    "freeCPUs": "the order in which the peer tries single CPUs",
    "take": "the peer's book-keeping: how many CPUs are still to be found",
    "baseline_not_subset_of_allocated": "the peer's check of an argument that Pinfold does not have",
    "choose_pool": "memory sizes and kinds, affinity to other containers; in Pinfold the framework names zones",
    "disjoint": "the peer keeps holders apart (balancing); Pinfold packs, and keeps apart by zones or spread",
    "disjoint_numa": "as disjoint",
    "disjoint_sockets": "as disjoint",
    "exact": "the peer prefers the emptiest node for the next holder; Pinfold the fullest that fits",
    "holder_on_distinct": "one thread a core, and the other stays usable by others: no profile means that",
    "candidate_set_size": "the peer's intermediate result",
    "consume": "the peer's book-keeping",
    "release": "the peer's book-keeping",
    "fit": "several cells, each with memory: a framework does that with one set a zone",
}


def load(name: str) -> Any:
    path = DATA / name
    return json.loads(path.read_text()) if path.is_file() else []


_machines: dict[str, Topology] = {}


def machine(name: str, sort: str = "kubelet") -> Topology:
    key = f"{sort}/{name}"
    if key not in _machines:
        data = load(f"{sort}/topologies.json")[name]
        records: dict[str, Any] = {"cpus": data["cpus"]}
        far = data.get("numa_distance")
        if far:
            only = data.get("memory_only_nodes", [])
            records["nodes"] = [{"id": int(node), "distances": row} for node, row in far.items()]
            assert all(0 <= node < len(far) for node in only)
        _machines[key] = topology.from_records(records)
    return _machines[key]


def zones(host: Topology) -> dict[str, int]:
    return {f"numa/{node.id}": node.cpus for node in host.nodes if node.cpus}


def figures(host: Topology, charge: int, available: int, with_llcs: bool) -> dict[str, int]:
    """The peers' figures (the data's README) for these CPUs; `available` was free before."""
    touched = [core for core in host.cores if core & charge]
    partial = [core for core in touched if core & ~charge]
    values = {
        "numa_nodes": sum(1 for node in host.nodes if node.cpus & charge),
        "sockets": sum(1 for package in host.packages if package & charge),
        "cores": len(touched),
        "partial_cores": len(partial),
        "split_free_cores": sum(1 for core in partial if not core & ~available),
        "orphaned_siblings": sum((core & available & ~charge).bit_count() for core in partial),
    }
    if with_llcs:
        values["llcs"] = sum(1 for llc in host.llcs if llc & charge)
    return values


def imbalance(host: Topology, charge: int) -> int:
    counts = [count for node in host.nodes if (count := (node.cpus & charge).bit_count())]
    return max(counts) - min(counts)


def kubelet_profile(case: dict[str, Any]) -> Profile:
    """`packed` is pack, `distributed` interleave over as many nodes as the peer takes; groups are whole cores."""
    options = case["options"]
    size = options.get("cpuGroupSize", 1)
    # The peer gives up on groups where the number is no multiple of them.
    whole = options.get("fullPCPUsOnly") or (size > 1 and case["request"] % size == 0)
    memory = Memory()
    if "Distributed" in case["function"] and "quality" in case:
        memory = Memory("interleave", "preferred", case["quality"]["numa_nodes"])
    return Profile(name=case["id"], core_siblings="required" if whole else "preferred", memory=memory)


def compare(case: dict[str, Any], host: Topology, charge: int, available: int) -> None:
    theirs = case["quality"]
    ours = figures(host, charge, available, theirs.get("llcs") is not None)
    worse = {name for name in FIGURES if theirs.get(name) is not None and ours[name] > theirs[name]}
    if "Distributed" in case["function"] and imbalance(host, charge) > theirs["numa_imbalance"]:
        worse.add("numa_imbalance")
    expected, reason = EXCEPTIONS.get(case["id"], (set(), ""))
    shown = {name: (ours.get(name), theirs.get(name)) for name in sorted(worse)}
    assert worse == expected, f"{case['id']}: (ours, theirs) {shown}; {cpuset.format_mask(charge)} {reason}"


KUBELET = load("kubelet/cases.json")
TAKES = [case for case in KUBELET if case["function"].startswith("takeBy")]
OTHERS = [case for case in KUBELET if not case["function"].startswith("takeBy")]


def ids(cases: list[dict[str, Any]]) -> list[str]:
    return [case["id"] for case in cases]


@pytest.mark.parametrize("case", TAKES, ids=ids(TAKES))
def test_kubelet_takes(case: dict[str, Any]) -> None:
    host = machine(case["topology"])
    available = cpuset.of(case["available"])
    held = cpuset.of(case.get("allocated", []))
    if case["request"] == len(case.get("allocated", [])):
        return
    request = Request(case["request"], kubelet_profile(case), None, held)
    try:
        placed = allocator.place(host, zones(host), host.online, available & ~held, request)
    except Refused:
        assert "error" in case["expect"], f"{case['id']}: the peer gives {case['expect']}"
        return
    if case["expect"].get("error") in NOT_OURS:
        return
    assert "error" not in case["expect"]
    assert placed.charge.bit_count() == case["request"]
    compare(case, host, placed.charge, available)
    if "Distributed" in case["function"] and not held:
        even = replace(request, profile=replace(request.profile, core_siblings="none"))
        placed = allocator.place(host, zones(host), host.online, available, even)
        assert imbalance(host, placed.charge) <= case["quality"]["numa_imbalance"]


@pytest.mark.parametrize("case", OTHERS, ids=ids(OTHERS))
def test_kubelet_what_is_free(case: dict[str, Any]) -> None:
    if case["function"] != "freeCores":
        assert case["function"] in NOT_OURS
        return
    host = machine(case["topology"])
    free = allocator.free_whole_cores(host, cpuset.of(case["available"]))
    by_number = {record["core"]: 0 for record in load("kubelet/topologies.json")[case["topology"]]["cpus"]}
    for record in load("kubelet/topologies.json")[case["topology"]]["cpus"]:
        by_number[record["core"]] |= 1 << record["cpu"]
    whole = sorted(number for number, mask in by_number.items() if not mask & ~free)
    assert whole == sorted(case["expect"]["cores"])


POLICY = load("kubelet/policy_cases.json")


@pytest.mark.parametrize("case", POLICY, ids=ids(POLICY))
def test_kubelet_policy(case: dict[str, Any]) -> None:
    host = machine(case["topology"])
    free = available = cpuset.of(case["available"])
    profile = kubelet_profile(case)
    charge = 0
    for count in case.get("requests", [case.get("request")]):
        quantities = None
        if hint := case["options"].get("hint_numa"):
            there = {f"numa/{node}": (zones(host)[f"numa/{node}"] & free).bit_count() for node in hint}
            quantities = there if sum(there.values()) == count else None
        held = cpuset.of(case.get("current", []))
        if held.bit_count() == count:
            return
        try:
            placed = allocator.place(host, zones(host), host.online, free, Request(count, profile, quantities, held))
        except Refused:
            assert "error" in case["expect"], f"{case['id']}: the peer gives {case['expect']}"
            return
        free &= ~placed.charge
        charge |= placed.charge
    assert "error" not in case["expect"], f"{case['id']}: {cpuset.format_mask(charge)}"
    if "llc_ids" in case["expect"]:
        ours = sum(1 for llc in host.llcs if llc & charge)
        worse = {"llcs"} if ours > len(case["expect"]["llc_ids"]) else set()
        assert worse == EXCEPTIONS.get(case["id"], (set(), ""))[0], f"{case['id']}: {ours} caches"
        return
    compare(case, host, charge, available)


NRI = load("nri/cases.json")


def of(sort: str) -> list[dict[str, Any]]:
    return [case for case in NRI if case["op"] == sort]


@pytest.mark.parametrize("case", of("allocate"), ids=ids(of("allocate")))
def test_nri_allocate(case: dict[str, Any]) -> None:
    """Classes of CPUs are kinds of cores; clusters that cut cores are no caches, and are left out."""
    host = machine(case["topology"], "nri")
    available = cpuset.of(case["available"])
    classes = case["options"]["priorities"]
    profile = Profile(name="p")
    if len(classes) > 1 and "error" not in case["expect"]:
        names = {"normal": "performance", "low": "efficiency"}
        kinds = tuple(Kind(names[name], cpuset.of(classes[name])) for name in ("normal", "low"))
        host = replace(host, kinds=kinds)
        profile = replace(profile, core_kind=names[case["options"]["prefer"]])
    request = Request(case["request"], profile)
    if "error" in case["expect"]:
        with pytest.raises(Refused, match=str(case["expect"]["available"])):
            allocator.place(host, zones(host), host.online, available, request)
        return
    placed = allocator.place(host, zones(host), host.online, available, request)
    compare({**case, "function": "allocate"}, host, placed.charge, available)


NODES_FIRST = "the peer leaves the far package first, and keeps more nodes; Pinfold keeps the fewest nodes (step 2)"

RESIZE_EXCEPTIONS = {
    ("balloon-07", 1): NODES_FIRST,
    ("balloon-07", 2): NODES_FIRST,
    ("balloon-08", 1): "both keep four nodes; Pinfold keeps the whole core 8-9 (step 7), dies are no step of its order",
}
"""(case, index of the step) -> why what the peer expects of it does not hold."""


def group_of(host: Topology, level: str) -> tuple[int, ...]:
    return {
        "core": host.cores,
        "numa": tuple(node.cpus for node in host.nodes if node.cpus),
        "die": host.dies,
        "package": host.packages,
    }[level]


@pytest.mark.parametrize("case", of("resize_sequence"), ids=ids(of("resize_sequence")))
def test_nri_resizes(case: dict[str, Any]) -> None:
    """Holders that grow and shrink; what the peer expects of where they are."""
    host = machine(case["topology"], "nri")
    if case["options"].get("prefer_spread_on_physical_cores"):
        assert "holder_on_distinct" in NOT_OURS
        return
    holders: dict[int, int] = {}
    if "initial" in case:
        holders[case["initial"]["holder"]] = cpuset.of(case["initial"]["cpus"])
    for index, step in enumerate(case["steps"]):
        number = step["holder"]
        held = holders.get(number, 0)
        total = held.bit_count() + step["delta"]
        free = host.online
        for mask in holders.values():
            free &= ~mask
        if total <= 0:
            holders.pop(number)
            continue
        request = Request(total, Profile(name="p"), None, held)
        placed = allocator.place(host, zones(host), host.online, free, request).charge
        holders[number] = placed
        if (case["id"], index) in RESIZE_EXCEPTIONS:
            continue
        for name, level in step["expect"].items():
            if name in NOT_OURS:
                continue
            masks = list(holders.values()) if name == "all_on_same" else [placed]
            if name in ("holder_on_same", "all_on_same"):
                together = 0
                for mask in masks:
                    together |= mask
                assert any(not together & ~group for group in group_of(host, level)), (case["id"], step, holders)
            elif name == "holder_avoids":
                assert not placed & cpuset.of(level), (case["id"], step, cpuset.format_mask(placed))
            else:
                raise AssertionError(name)


@pytest.mark.parametrize("case", of("take_sequence"), ids=ids(of("take_sequence")))
def test_nri_takes(case: dict[str, Any]) -> None:
    host = machine(case["topology"], "nri")
    kinds = case["options"].get("kinds")
    if kinds:
        fast = cpuset.of(kinds["performance"])
        host = replace(host, kinds=(Kind("performance", fast), Kind("efficiency", host.online & ~fast)))
    free = host.online & ~cpuset.of(case["options"]["reserved"])
    for take in case["takes"]:
        options = take.get("options", {})
        siblings = "denied" if options.get("one_thread_per_core") else "preferred"
        kind = {"high": "performance", "low": "efficiency"}.get(options.get("prefer", ""), "any")
        count = take["cpus"] + (1 if siblings == "denied" else 0)
        hint = options.get("hint_numa")
        quantities = {f"numa/{hint[0] if isinstance(hint, list) else hint}": count} if hint else None
        expect = take["expect"]
        if options.get("require_isolated"):
            # In Pinfold isolated CPUs are a pool; this machine has none, and no pool.
            continue
        request = Request(count, Profile(name="p", core_siblings=siblings, core_kind=kind), quantities)
        try:
            placed = allocator.place(host, zones(host), host.online, free, request)
        except Refused:
            assert "error" in expect, (case["id"], take)
            continue
        assert "error" not in expect, (case["id"], take)
        free &= ~placed.charge
        for name, value in expect.items():
            if name in NOT_OURS:
                continue
            if name == "within":
                assert not placed.cpus & ~cpuset.of(value)
            elif name == "not_any_of":
                assert not placed.cpus & cpuset.of(value)
            elif name == "got_cpus":
                assert placed.cpus.bit_count() == value
            elif name == "numa_ids":
                assert [node.id for node in host.nodes if node.cpus & placed.cpus] == [int(value[0])]
            else:
                sort = {"cores": "core", "numa": "numa", "sockets": "package"}[name]
                assert sum(1 for group in group_of(host, sort) if group & placed.cpus) <= value, (case["id"], take)


def test_nri_choose_pool_is_not_ours() -> None:
    assert all(case["op"] in ("allocate", "resize_sequence", "take_sequence") or case["op"] in NOT_OURS for case in NRI)


NOVA = load("nova/cases.json")
CELLS = [
    case
    for case in NOVA
    if case["op"] == "fit_cell" and all(cell["cpu_policy"] == "dedicated" for cell in case["request"]["cells"])
]

NOVA_REASONS = {
    "pin-15": "the peer does not isolate where shared and dedicated CPUs are told apart; pools do not hinder Pinfold",
}


@pytest.mark.parametrize("case", CELLS, ids=ids(CELLS))
def test_nova_cells(case: dict[str, Any]) -> None:
    """A guest cell on a host cell: a set bound to one node; prefer, require, isolate: preferred, required, denied."""
    cell = case["request"]["cells"][0]
    where = case["host"][0]
    cores = {cpu: number for number, core in enumerate(where["siblings"]) for cpu in core}
    host = topology.from_records({"cpus": [{"cpu": cpu, "core": core} for cpu, core in cores.items()]})
    pool = cpuset.of(where["pcpuset"]) & host.online
    free = pool & ~cpuset.of(where["pinned"])
    policy = cell.get("thread_policy", "prefer")
    siblings = {"prefer": "preferred", "require": "required", "isolate": "denied"}[policy]
    width = max(len(core) for core in where["siblings"])
    count = len(cell["dedicated_vcpus"]) or len(cell["shared_vcpus"])
    count = count * width if siblings == "denied" else count + case["request"].get("extra_reserved_cpus", 0)
    request = Request(count, Profile(name="p", core_siblings=siblings, memory=Memory("bind", "required")))
    try:
        placed = allocator.place(host, zones(host), pool, free, request)
    except Refused:
        assert not case["expect"]["fits"], case["id"]
        return
    assert case["expect"]["fits"] or case["id"] in NOVA_REASONS, case["id"]
    if "quality" in case and "extra_reserved_cpus" not in case["request"]:
        ours = figures(host, placed.cpus, free, False)
        for name in ("cores", "split_free_cores"):
            assert ours[name] <= case["quality"][name], (case["id"], name, cpuset.format_mask(placed.cpus))


def test_every_nova_case_is_run_or_explained() -> None:
    left = [case for case in NOVA if case not in CELLS]
    for case in left:
        shared = (
            any(cell["cpu_policy"] != "dedicated" for cell in case["request"]["cells"]) if "request" in case else False
        )
        assert case["op"] in NOT_OURS or shared, case["id"]
