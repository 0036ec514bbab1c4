"""How groups nest, and the words for them; the picture as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider import cpuset, outline, picture
from provider.outline import Group, memory, nearest
from provider.topology import Topology, from_records


def shape(group: Group) -> Any:
    """Nested tuples: (sort and number, CPUs, what lies in it)."""
    inner = [shape(child) for child in group.groups] + [cpuset.format_mask(core) for core in group.cores]
    return (f"{group.sort} {group.number}", *inner)


def host(**columns: list[int]) -> Topology:
    count = len(next(iter(columns.values())))
    return from_records(
        {"cpus": [{"cpu": cpu} | {key: row[cpu] for key, row in columns.items()} for cpu in range(count)]}
    )


def test_packages_hold_nodes_hold_caches() -> None:
    topology = host(core=[0, 1, 2, 3, 0, 1, 2, 3], numa=[0, 0, 1, 1] * 2, llc=[0, 1, 2, 3] * 2)
    assert shape(outline.outline(topology).host) == (
        "host 0",
        (
            "package 0",
            ("node 0", ("cache 0", "0,4"), ("cache 1", "1,5")),
            ("node 1", ("cache 2", "2,6"), ("cache 3", "3,7")),
        ),
    )


def test_nodes_may_hold_packages() -> None:
    topology = host(socket=[0, 1, 2, 3], numa=[0, 0, 1, 1], llc=[0, 0, 1, 1])
    assert shape(outline.outline(topology).host)[1] == (
        "node 0",
        ("cache 0", ("package 0", "0"), ("package 1", "1")),
    )


def test_dies_show_where_they_are_not_the_packages() -> None:
    topology = host(socket=[0, 0, 0, 0], die=[0, 0, 1, 1], numa=[0, 0, 0, 0])
    assert [child[0] for child in shape(outline.outline(topology).host)[1][1][1][1:]] == ["die 0", "die 1"]
    assert "die" not in str(shape(outline.outline(host(socket=[0, 0, 1, 1])).host))


def test_groups_that_cut_across_are_told_apart() -> None:
    topology = host(socket=[0, 1, 0, 1], numa=[0, 0, 1, 1], llc=[0, 1, 2, 3])
    found = outline.outline(topology)
    assert [(group.sort, group.number) for group in found.crossing] == [("node", 0), ("node", 1)]
    assert [child[0] for child in shape(found.host)[1:]] == ["package 0", "package 1"]
    assert "node 0 cuts across the boxes: CPUs 0-1" in picture.picture(topology)


@st.composite
def hosts(draw: st.DrawFn) -> Topology:
    small = st.integers(0, 3)
    count = draw(st.integers(1, 24))
    keys = ("core", "socket", "die", "numa", "llc")
    return host(**{key: draw(st.lists(small, min_size=count, max_size=count)) for key in keys})


@given(hosts())
def test_each_cpu_is_in_one_place(topology: Topology) -> None:
    found = outline.outline(topology)
    places = [core for group in found.host.walk() for core in group.cores]
    assert sum(places) == topology.online
    assert sum(core.bit_count() for core in places) == topology.online.bit_count()
    for group in found.host.walk():
        assert all(inner.cpus & ~group.cpus == 0 for inner in group.groups)
    document = picture.picture(topology)
    assert document == picture.picture(topology)
    assert overlaps(document) == []


def overlaps(document: str) -> list[str]:
    """Boxes of the host that neither contain each other nor lie apart."""
    boxes = []
    for rectangle in ElementTree.fromstring(document).iter("{http://www.w3.org/2000/svg}rect"):
        if (
            rectangle.get("class") in ("package", "node", "die", "cache", "core")
            and float(rectangle.get("width", 0)) > 16
        ):
            x, y, width, height = (float(rectangle.get(key, 0)) for key in ("x", "y", "width", "height"))
            boxes.append((x, y, x + width, y + height))
    found = []
    for index, a in enumerate(boxes):
        for b in boxes[index + 1 :]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            within = a[0] <= b[0] and a[1] <= b[1] and b[2] <= a[2] + 0.01 and b[3] <= a[3] + 0.01
            if not apart and not within:
                found.append(f"{a} {b}")
    return found


def test_names_are_escaped_and_the_barred_are_grey() -> None:
    topology = replace(host(core=[0, 1]), offline=0b100)
    document = picture.picture(topology, allowed=0b01, name="<a & b>")
    assert "&lt;a &amp; b&gt;" in document
    assert document.count('class="barred"') == 2
    assert document.count('class="offline"') == 1
    ElementTree.fromstring(document)


def test_large_hosts_are_drawn_with_every_cpu() -> None:
    topology = host(core=[cpu // 2 for cpu in range(2048)], numa=[cpu // 32 for cpu in range(2048)])
    texts = [
        text.text for text in ElementTree.fromstring(picture.picture(topology)).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {str(cpu) for cpu in range(2048)} <= set(texts)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "memory unknown"),
        (0, "no memory"),
        (512, "512 B"),
        (1 << 30, "1 GiB"),
        (int(62.84 * (1 << 30)), "62.8 GiB"),
        (8588869632, "8 GiB"),
        (400 << 40, "400 TiB"),
        (5000 << 40, "5000 TiB"),
    ],
)
def test_sizes(size: int | None, text: str) -> None:
    assert memory(size) == text


def test_summaries() -> None:
    assert outline.summary(host(core=[0, 0, 1, 1, 2])) == (
        "5 CPUs, 2 cores x 2 and 1 x 1 threads, 1 package, 1 NUMA node, 1 last-level cache"
    )
    assert outline.summary(host(core=[0])).startswith("1 CPU, 1 core, 1 package")
    assert outline.summary(host(core=[0, 0])).startswith("2 CPUs, 1 core x 2 threads")


def test_the_nearest_nodes() -> None:
    nodes = [
        {"id": 0, "distances": [10, 20, 17]},
        {"id": 1, "distances": [20, 10, 28]},
        {"id": 2, "distances": [17, 28, 10]},
    ]
    topology = from_records({"cpus": [{"cpu": 0, "numa": 0}, {"cpu": 1, "numa": 1}], "nodes": nodes})
    assert nearest(topology, topology.nodes[2]) == ([0], 17)
    alike = [{"id": 0}, {"id": 1}, {"id": 2}]
    topology = from_records({"cpus": [{"cpu": 0, "numa": 0}, {"cpu": 1, "numa": 1}], "nodes": alike})
    assert nearest(topology, topology.nodes[2]) == ([], 20)
