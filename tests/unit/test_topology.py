"""Topologies as values: from JSON and back, identity, the wire, devices."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider import cpuset, topology
from provider.topology import Device, Kind, Topology, TopologyError, from_records

D16: dict[str, Any] = {
    "cpus": [
        {"cpu": cpu, "core": cpu % 8, "socket": cpu % 8 // 4, "numa": cpu % 8 // 4, "llc": cpu % 8 // 4}
        for cpu in range(16)
    ]
}


def lists(masks: tuple[int, ...]) -> list[str]:
    return [cpuset.format_mask(mask) for mask in masks]


def test_the_records_of_the_design() -> None:
    host = from_records(D16)
    assert cpuset.format_mask(host.online) == "0-15"
    assert lists(host.cores) == ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"]
    assert lists(host.llcs) == lists(host.packages) == lists(host.dies) == ["0-3,8-11", "4-7,12-15"]
    assert [(node.id, cpuset.format_mask(node.cpus), node.memory_bytes, node.distances) for node in host.nodes] == [
        (0, "0-3,8-11", None, (10, 20)),
        (1, "4-7,12-15", None, (20, 10)),
    ]
    assert host.kinds == host.devices == host.warnings == ()


def test_only_the_cpu_is_required() -> None:
    host = from_records({"cpus": [{"cpu": 3}, {"cpu": 1, "llc": None, "core": None}]})
    assert lists(host.cores) == ["1", "3"]
    assert lists(host.llcs) == lists(host.packages) == ["1,3"]
    assert [node.id for node in host.nodes] == [0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"socket": 0}, {"socket": 1}),
        ({"die": 0}, {"die": 1}),
        ({"numa": 0}, {"numa": 1}),
    ],
)
def test_core_numbers_that_start_again_do_not_collide(first: dict[str, int], second: dict[str, int]) -> None:
    records = [{"cpu": 0, "core": 0, **first}, {"cpu": 1, "core": 0, **second}, {"cpu": 2, "core": 0, **first}]
    assert lists(from_records({"cpus": records}).cores) == ["0,2", "1"]


def test_an_llc_may_be_wider_than_a_socket() -> None:
    records = [{"cpu": cpu, "core": cpu, "socket": cpu, "llc": 0} for cpu in range(3)]
    host = from_records({"cpus": records})
    assert lists(host.llcs) == ["0-2"]
    assert lists(host.packages) == ["0", "1", "2"]


def test_an_llc_that_is_absent_is_the_node() -> None:
    records = [{"cpu": 0, "numa": 0, "llc": 0}, {"cpu": 1, "numa": 0}, {"cpu": 2, "numa": 1}, {"cpu": 3, "numa": 1}]
    assert lists(from_records({"cpus": records}).llcs) == ["0", "1", "2-3"]


def test_distances_follow_the_order_of_nodes() -> None:
    nodes = [
        {"id": 5, "memory_bytes": 0, "distances": [10, 31, 42]},
        {"id": 0, "memory_bytes": 1 << 34, "distances": [30, 10, 12]},
        {"id": 2, "distances": [40, 13, 10]},
    ]
    host = from_records({"cpus": [{"cpu": 0, "numa": 0}, {"cpu": 1, "numa": 5}], "nodes": nodes})
    assert [(node.id, node.cpus, node.distances) for node in host.nodes] == [
        (0, 1, (10, 12, 30)),
        (2, 0, (13, 10, 40)),
        (5, 2, (31, 42, 10)),
    ]
    assert [node.has_memory for node in host.nodes] == [True, True, False]


def test_a_node_that_is_not_in_nodes_has_default_distances() -> None:
    nodes = [{"id": 0, "distances": [10, 15]}, {"id": 1, "distances": [15, 10]}]
    host = from_records({"cpus": [{"cpu": 0}, {"cpu": 1, "numa": 7}], "nodes": nodes})
    assert [(node.id, node.distances) for node in host.nodes] == [
        (0, (10, 15, 20)),
        (1, (15, 10, 20)),
        (7, (20, 20, 10)),
    ]


def test_kinds_are_ordered_by_what_they_can() -> None:
    names = ["efficiency", "performance", "kind-2", "kind-1", "performance"]
    host = from_records({"cpus": [{"cpu": cpu, "kind": name} for cpu, name in enumerate(names)]})
    assert host.kinds == (
        Kind("performance", 0b10010),
        Kind("kind-1", 0b1000),
        Kind("kind-2", 0b100),
        Kind("efficiency", 0b1),
    )
    same = {"cpus": [{"cpu": cpu, "kind": "efficiency"} for cpu in range(2)]}
    assert from_records(same).kinds == ()
    assert topology.kind_names(0) == ()
    assert topology.kind_names(2) == ("performance", "efficiency")
    assert topology.kind_names(4) == tuple(kind.name for kind in host.kinds)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], r"the topology: expected an object, found \[\]"),
        ({}, "cpus: a host has at least one CPU"),
        ({"cpus": {}}, r"cpus must be a list, found \{\}"),
        ({"cpus": [7]}, r"cpus\[0\]: expected an object, found 7"),
        ({"cpus": [{"core": 0}]}, r"cpus\[0\]: cpu is missing"),
        ({"cpus": [{"cpu": 0}, {"cpu": 0}]}, r"cpus\[1\].cpu: CPU 0 is described twice"),
        ({"cpus": [{"cpu": -1}]}, r"cpus\[0\].cpu: -1 is no whole number from 0 to 8191"),
        ({"cpus": [{"cpu": 8192}]}, r"cpus\[0\].cpu: 8192 is no"),
        ({"cpus": [{"cpu": True}]}, r"cpus\[0\].cpu: True is no"),
        ({"cpus": [{"cpu": 0, "core": "0"}]}, r"cpus\[0\].core: '0' is no"),
        ({"cpus": [{"cpu": 0, "socket": 1.5}]}, r"cpus\[0\].socket: 1.5 is no"),
        ({"cpus": [{"cpu": 0, "numa": 1024}]}, r"cpus\[0\].numa: 1024 is no whole number from 0 to 1023"),
        ({"cpus": [{"cpu": 0, "llc": -1}]}, r"cpus\[0\].llc: -1 is no"),
        ({"cpus": [{"cpu": 0, "kind": "fast"}]}, r"cpus\[0\].kind: 'fast' is none of performance"),
        ({"cpus": [{"cpu": 0, "kind": "performance"}, {"cpu": 4}]}, "CPU 4 has no kind"),
        ({"cpus": [{"cpu": 0}], "nodes": [{}]}, r"nodes\[0\]: id is missing"),
        ({"cpus": [{"cpu": 0}], "nodes": [{"id": 0}, {"id": 0}]}, r"nodes\[1\].id: node 0 is described twice"),
        ({"cpus": [{"cpu": 0}], "nodes": [{"id": 0, "cpus": "0-1"}]}, r"nodes\[0\].cpus: '0-1' contradicts .*: '0'"),
        (
            {"cpus": [{"cpu": 0}], "nodes": [{"id": 0, "distances": [10, 20]}]},
            r"nodes\[0\].distances: 2 numbers for the 1",
        ),
        ({"cpus": [{"cpu": 0}], "nodes": [{"id": 0, "distances": [-1]}]}, r"nodes\[0\].distances: -1 is no distance"),
        ({"cpus": [{"cpu": 0}], "nodes": [{"id": 0, "memory_bytes": "8G"}]}, r"nodes\[0\].memory_bytes: '8G' is no"),
        ({"cpus": [{"cpu": 0}], "isolated": "3-1"}, "the topology.isolated: the range 3-1 ends before it begins"),
        ({"cpus": [{"cpu": 0}], "devices": [{"address": "x"}]}, r"devices\[0\].address: 'x' is no PCI address"),
    ],
)
def test_what_is_no_host_is_refused_by_name(data: Any, message: str) -> None:
    with pytest.raises(TopologyError, match=message):
        from_records(data)


FULL = replace(
    from_records(
        {
            "cpus": [
                {"cpu": cpu, "core": cpu // 2, "numa": cpu // 4 * 3, "kind": "performance" if cpu < 6 else "efficiency"}
                for cpu in range(8)
            ],
            "nodes": [
                {
                    "id": 0,
                    "memory_bytes": 1 << 40,
                    "distances": [10, 17, 28],
                    "hugepages": [{"size_kb": 2048, "total": 9}],
                },
                {"id": 1, "memory_bytes": 0, "distances": [17, 10, 28]},
                {"id": 3, "distances": [28, 28, 10]},
            ],
            "hugepages": [{"size_kb": 2048, "total": 9, "free": 4}],
            "isolated": "2-3",
            "offline": [8, 9],
            "nohz_full": "2",
            "memory_bytes": 1 << 41,
            "warnings": ["guessed"],
        }
    ),
    devices=(
        Device("0000:3b:00.0", 0x020000, 0x8086, 0x1592, 0, 0x0F, ("net:eth0",)),
        Device("0000:3b:00.1", 0x020000, 0x8086, 0x1593, 0, 0x0F, ("net:eth1",)),
        Device("0001:5e:00.0", 0x010802, 0x144D, 0xA808, None, 0xFF, ("block:nvme0n1", "nvme:nvme0")),
    ),
)


def test_json_goes_out_and_comes_back() -> None:
    text = json.dumps(topology.to_json(FULL))
    back = from_records(json.loads(text))
    assert back == FULL
    assert back.warnings == FULL.warnings


@st.composite
def hosts(draw: st.DrawFn) -> Topology:
    small = st.integers(0, 3)
    cpus = draw(st.sets(st.integers(0, 70), min_size=1, max_size=20))
    records = [
        {
            "cpu": cpu,
            "core": draw(small),
            "socket": draw(small),
            "die": draw(small),
            "numa": draw(small),
            "llc": draw(small),
        }
        for cpu in cpus
    ]
    return from_records({"cpus": records})


@given(hosts())
def test_groups_part_the_cpus(host: Topology) -> None:
    for groups in (host.cores, host.llcs, host.dies, host.packages, tuple(node.cpus for node in host.nodes)):
        assert sum(mask.bit_count() for mask in groups) == host.online.bit_count()
        assert sum(groups) == host.online
    for groups in (host.cores, host.llcs, host.dies, host.packages):
        assert list(groups) == sorted(groups, key=cpuset.lowest)
    back = from_records(topology.to_json(host))
    assert back == host
    assert topology.identity(back) == topology.identity(host)


def test_identity_is_the_shape_and_nothing_else() -> None:
    same = replace(
        FULL,
        nodes=tuple(replace(node, memory_bytes=5, distances=(1, 2, 3)) for node in FULL.nodes),
        devices=(),
        kinds=(),
        isolated=0,
        memory_bytes=None,
        warnings=("other",),
    )
    assert topology.identity(same) == topology.identity(FULL)


@pytest.mark.parametrize(
    "change",
    [
        {"cores": (0b101, 0b1010, 0b110000, 0b11000000)},
        {"llcs": (0xFF,)},
        {"packages": (0x0F, 0xF0)},
        {"online": 0x7F},
    ],
)
def test_identity_notices_a_changed_shape(change: dict[str, Any]) -> None:
    assert topology.identity(replace(FULL, **change)) != topology.identity(FULL)


def test_identity_notices_a_changed_node() -> None:
    moved = (replace(FULL.nodes[0], cpus=0x07), FULL.nodes[1], replace(FULL.nodes[2], cpus=0xF8))
    assert topology.identity(replace(FULL, nodes=moved)) != topology.identity(FULL)


def test_identity_notices_renumbered_siblings() -> None:
    other = from_records({"cpus": [{**record, "core": record["cpu"] // 2} for record in D16["cpus"]]})
    assert topology.identity(other) != topology.identity(from_records(D16))


def test_the_wire_message() -> None:
    message = topology.to_wire(FULL)
    assert message.IsInitialized()
    assert [(cpu.id, cpu.core, cpu.package, cpu.numa_node, cpu.kind) for cpu in message.cpus][3:7] == [
        (3, 1, 0, 0, "performance"),
        (4, 2, 0, 3, "performance"),
        (5, 2, 0, 3, "performance"),
        (6, 3, 0, 3, "efficiency"),
    ]
    assert [(node.id, node.cpus, list(node.distances)) for node in message.nodes] == [
        (0, "0-3", [10, 17, 28]),
        (1, "", [17, 10, 28]),
        (3, "4-7", [28, 28, 10]),
    ]
    assert [node.HasField("memory_bytes") for node in message.nodes] == [True, True, False]
    assert (message.offline, message.isolated, list(message.warnings)) == ("8-9", "2-3", ["guessed"])
    assert not message.HasField("allowed")
    assert not topology.to_wire(from_records(D16)).cpus[0].HasField("kind")


@pytest.mark.parametrize(
    ("match", "found"),
    [
        ("0000:3b:00.0", [0]),
        ("3b:00.0", [0]),
        ("0000:3B:00.1", [1]),
        ("5e:00.0", []),
        ("0001:5e:00.0", [2]),
        ("pci:8086", [0, 1]),
        ("pci:8086:1593", [1]),
        ("pci:0x8086:0x1593", [1]),
        ("pci:1022", []),
        ("class:02", [0, 1]),
        ("class:0200", [0, 1]),
        ("class:0x020000", [0, 1]),
        ("class:0108", [2]),
        ("class:010801", []),
        ("net:eth1", [1]),
        ("net:eth", []),
        ("block:nvme0n1", [2]),
        ("block:eth0", []),
    ],
)
def test_devices_are_matched(match: str, found: list[int]) -> None:
    assert topology.match_devices(FULL, match) == [FULL.devices[index] for index in found]


@pytest.mark.parametrize(
    "match",
    [
        "",
        "eth0",
        "net:",
        "block:",
        "net:a/b",
        "pci:",
        "pci:80",
        "pci:8086:",
        "pci:8086:1:2",
        "pci:80866",
        "class:",
        "class:0",
        "class:020",
        "class:02000000",
        "class:zz",
        "3b:00",
        "3b:00.9",
        "usb:1d6b",
        "net:a\nb",
    ],
)
def test_a_match_that_means_nothing_is_refused(match: str) -> None:
    with pytest.raises(ValueError, match="is none of a PCI address") as caught:
        topology.match_devices(FULL, match)
    assert repr(match) in str(caught.value)
