"""What the doctor says of facts: one table, a row for each thing that helps or hinders."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from profiles.mapping import parse_document
from provider import topology
from provider.doctor import BAD, OK, WARN, Cgroups, Facts, Finding, examine
from provider.layout import Config, PoolConfig
from provider.power_rules import Policy
from tests.unit.machines import D16, H28, Q16, U4

V2 = Cgroups(kind="cgroup2", root="/sys/fs/cgroup/unit", controllers=frozenset({"cpuset", "cpu", "memory"}))
GOOD = Facts(host=topology.from_records(Q16), cgroups=V2, kernel="6.12.1-amd64", governors={"performance": 0xFFFF})


def facts(records: dict[str, Any] | None = None, **changes: Any) -> Facts:
    """`cgroups` is a dict of what differs from V2."""
    if "cgroups" in changes:
        changes["cgroups"] = dataclasses.replace(V2, **changes["cgroups"])
    host = topology.from_records(records) if records else GOOD.host
    if more := changes.pop("host", None):
        host = dataclasses.replace(host, **more)
    return dataclasses.replace(GOOD, host=host, **changes)


def of(found: list[Finding], topic: str) -> list[Finding]:
    return [finding for finding in found if finding.topic == topic]


def test_a_good_host_has_nothing_to_mend() -> None:
    found = examine(GOOD)
    assert {finding.level for finding in found} == {OK}
    assert not [finding.remedy for finding in found if finding.remedy]
    topics = {finding.topic for finding in found}
    assert topics >= {"enforcement", "controllers", "others", "partitions", "CPUs", "SMT", "nodes", "frequency"}


NO_MEMORY = Q16 | {"nodes": [node | {"memory_bytes": 0} if node["id"] == 1 else node for node in Q16["nodes"]]}
FAR_MEMORY = D16 | {"nodes": [{"id": 0}, {"id": 1}, {"id": 2, "memory_bytes": 1 << 34}]}


@pytest.mark.parametrize(
    ("given", "topic", "level", "words", "remedy"),
    [
        (facts(cgroups={"kind": "cgroup1"}), "enforcement", WARN, "no partitions", "unified_cgroup_hierarchy"),
        (
            facts(cgroups={"kind": "affinity", "root": "", "reason": "/cg may not be written"}),
            "enforcement",
            BAD,
            "(/cg may not be written): nothing keeps other processes off",
            "delegated",
        ),
        (facts(cgroups={"kind": "affinity", "asked": "none"}), "enforcement", WARN, "as asked", "--cgroup-root"),
        (facts(cgroups={"delegated": True}, systemd=True), "directory", OK, "was delegated by systemd", ""),
        (
            facts(cgroups={"root": "/sys/fs/cgroup", "top": True}, systemd=True),
            "directory",
            WARN,
            "at the top of /sys/fs/cgroup",
            "pinfold-sets.service",
        ),
        (facts(cgroups={"crowd": (17, 4711)}), "directory", BAD, "(17, 4711)", "--cgroup-root"),
        (facts(cgroups={"controllers": frozenset({"cpuset"})}), "controllers", WARN, "no cpu controller", "Delegate="),
        (
            facts(cgroups={"controllers": frozenset({"cpuset", "cpu"})}),
            "controllers",
            WARN,
            "the mem of a task is not limited",
            "+memory in cgroup.subtree_control",
        ),
        (facts(cgroups={"controllers": frozenset()}), "controllers", BAD, "no cpuset controller", "Delegate=cpuset"),
        (facts(cgroups={"bound": "/cg/cpu.max is '1 2'"}), "time limit", BAD, "/cg/cpu.max is '1 2'", "CPUQuota="),
        (facts(cgroups={"cpus": 0xFF}), "limits", WARN, "CPUs 0-15 only 0-7 may be used", "AllowedCPUs="),
        (facts(cgroups={"cpus": 1 << 20}), "limits", BAD, "only none may be used", "AllowedCPUs="),
        (facts(cgroups={"mems": 0b11}), "limits", WARN, "nodes 0-3 only 0-1", "AllowedMemoryNodes="),
        (
            facts(cgroups={"others": {"/cg/system.slice": 0xFFFF, "/cg/calm.slice": 1 << 20}}, systemd=True),
            "others",
            WARN,
            "Processes in /cg/system.slice may run",
            "AllowedCPUs= in their slices; or use partition",
        ),
        (facts(cgroups={"partitions": {"/cg/vm": 0b1100}}), "partitions", WARN, "/cg/vm is a partition", "reserved"),
        (facts(kernel="6.1.0-57-cloud-amd64"), "partitions", WARN, "Linux 6.1.0-57-cloud-amd64 is older than 6.7", ""),
        (facts(kernel="6.7.0"), "partitions", OK, "makes partitions", ""),
        (facts(kernel=""), "partitions", WARN, "The kernel is older than 6.7", ""),
        (facts(U4), "CPUs", OK, "3 of 4 CPUs can be offered, the floor is 0; free are 1-3, 3 of them", ""),
        (facts(U4, cgroups={"sets": {"a": 0b1110}}), "CPUs", WARN, "1 exclusive sets hold 1-3; free are none", "sets"),
        (facts({"cpus": [{"cpu": 0}]}), "CPUs", BAD, "0 of 1 CPUs can be offered", "second core"),
        (facts(D16), "SMT", OK, "up to 2 threads", ""),
        (facts(U4, smt="forceoff"), "SMT", OK, "switched off (forceoff)", ""),
        (facts(U4, host={"offline": 0x30}), "offline", WARN, "CPUs 4-5 are offline", "/online"),
        (facts(U4, host={"isolated": 0b1100}), "isolcpus", WARN, "CPUs 2-3 are isolated", '"cpus": "2-3"'),
        (facts(U4, host={"nohz_full": 0b1000}), "nohz_full", WARN, "not all of them are isolated", "one thread"),
        (facts(U4, host={"nohz_full": 8, "isolated": 8}), "nohz_full", OK, "CPUs 3 have no tick", ""),
        (facts(H28), "kinds", OK, "performance 0-15, efficiency 16-27", ""),
        (facts(NO_MEMORY), "nodes", WARN, "Nodes 1 have CPUs and no memory", "reserve"),
        (facts(FAR_MEMORY), "nodes", OK, "Nodes 2 have no CPUs", ""),
        (facts(U4), "nodes", OK, "One memory node", ""),
        (
            facts(governors={"performance": 0xFF, "powersave": 0xFF00}),
            "frequency",
            WARN,
            "CPUs 8-15 have powersave",
            "power.governor",
        ),
        (facts(governors={}), "frequency", OK, "No cpufreq", ""),
        (facts(numa_balancing=1), "NUMA balancing", WARN, "kernel.numa_balancing", "numa_balancing=0"),
        (facts(numa_balancing=0), "NUMA balancing", OK, "no pages", ""),
        (facts(U4, numa_balancing=1), "NUMA balancing", OK, "no pages", ""),
        (facts(thp="always"), "huge pages", WARN, "for every process", "madvise"),
        (facts(thp="madvise"), "huge pages", OK, "madvise", ""),
        (facts(host={"warnings": ("It is odd.",)}), "topology", WARN, "It is odd.", "pinfold topology"),
    ],
    ids=lambda value: value.replace(" ", "-")[:40] if isinstance(value, str) else "",
)
def test_findings(given: Facts, topic: str, level: str, words: str, remedy: str) -> None:
    there = [finding for finding in of(examine(given), topic) if words in finding.sentence]
    assert [finding.level for finding in there] == [level], examine(given)
    assert remedy in there[0].remedy
    assert bool(there[0].remedy) == (level != OK)


def test_smt_that_is_switched_off_explains_its_offline_siblings() -> None:
    assert not of(examine(facts(U4, host={"offline": 0xF0}, smt="off")), "offline")


def test_a_pool_that_names_isolated_cpus() -> None:
    isolated = facts(U4, host={"isolated": 0b1100})
    found = of(examine(isolated, Config(pools=(PoolConfig("rt", None, 0b1100),))), "isolcpus")
    assert [finding.level for finding in found] == [OK]


def test_a_configuration_that_does_not_fit() -> None:
    found = of(examine(GOOD, Config(reserved=1 << 40)), "config")
    assert [finding.level for finding in found] == [BAD] and "cpu.reserved_cpus" in found[0].sentence


def profile(cpuset: dict[str, Any], given: Facts = GOOD, config: Config | None = None) -> list[tuple[str, str]]:
    entry = {"resource_provider_selector": {"resource_providers": [{"type": "t", "name": "n"}]}, "cpuset": cpuset}
    entries = parse_document(json.dumps({"profile_matrix": {"p": entry}}).encode())
    assert not of(examine(given, config, entries, ("t", "other")), "profile p"), "not this provider's"
    return [(finding.level, finding.sentence) for finding in of(examine(given, config, entries), "profile p")]


FREQUENCIES = facts(
    policies={cpu: Policy(1 << cpu, ("performance", "powersave"), 800_000, 3_600_000) for cpu in range(16)}
)


@pytest.mark.parametrize(
    ("cpuset", "given", "level", "words"),
    [
        ({}, GOOD, OK, "up to 15 CPUs"),
        ({}, facts(cgroups={"sets": {"a": 0xFFF0}}), OK, "up to 15 CPUs, now up to 3."),
        ({"memory": {"policy": "bind", "mode": "required"}}, GOOD, OK, "up to"),
        ({"mode": "shared"}, GOOD, OK, "Shared sets run on what exclusive ones leave of 1-15"),
        ({"mode": "shared"}, facts(cgroups={"controllers": frozenset({"cpuset"})}), WARN, "nothing is guaranteed"),
        ({"pool": "rt"}, GOOD, BAD, "pool 'rt' has no CPUs here; pools with CPUs: default"),
        ({"partition": "isolated"}, GOOD, OK, "up to"),
        ({"partition": "root"}, facts(kernel="6.1.0"), WARN, "comes out as member"),
        ({"core_kind": "efficiency"}, GOOD, WARN, "one kind of core"),
        ({"core_kind": "efficiency"}, facts(H28), OK, "up to 12 CPUs"),
        ({"device": {"match": "net:eth7"}}, GOOD, BAD, "No device here matches 'net:eth7'"),
        ({"device": {"match": "net:eth7", "affinity": "preferred"}}, GOOD, WARN, "No device here"),
        ({"power": {"governor": "performance"}}, GOOD, BAD, "it has no cpufreq"),
        ({"power": {"governor": "performance"}}, FREQUENCIES, OK, "up to 15"),
        ({"power": {"governor": "userspace"}}, FREQUENCIES, BAD, "is none of performance, powersave"),
        ({"power": {"max_mhz": 9000}}, FREQUENCIES, WARN, "max_mhz 9000 is outside"),
        ({"power": {"energy_performance_preference": "power"}}, FREQUENCIES, BAD, "its driver has none"),
        ({"memory": {"policy": "interleave", "mode": "required", "nodes": 5}}, GOOD, BAD, "over 5 nodes"),
        ({"memory": {"policy": "interleave", "nodes": 5}}, GOOD, WARN, "over 5 nodes"),
        ({"core_siblings": "denied"}, facts(D16), OK, "up to 14 CPUs"),
    ],
)
def test_wishes_of_a_profile(cpuset: dict[str, Any], given: Facts, level: str, words: str) -> None:
    found = profile(cpuset, given)
    assert [lvl for lvl, sentence in found if words in sentence] == [level], found


def test_a_profile_that_never_fits_says_why() -> None:
    """Nodes without memory only: bind required has nowhere to be."""
    bare = {"cpus": D16["cpus"], "nodes": [{"id": node, "memory_bytes": 0} for node in (0, 1)]}
    [(level, sentence)] = profile({"memory": {"policy": "bind", "mode": "required"}}, facts(bare))
    assert level == BAD and "whatever is free" in sentence and "memory" in sentence
