"""Resource arithmetic: table tests and laws."""

from __future__ import annotations

import pytest
from core_world import Source, scalar
from hypothesis import given
from hypothesis import strategies as st

from agent_api.core import resources as rs
from agent_api.wire import mesos_pb2

Reservation = mesos_pb2.Resource.ReservationInfo


def cpu(kind: int, cpus: float, zone: str = "numa/0", set_id: str = "", label: str = "") -> mesos_pb2.Resource:
    resource = rs.scalar("cpus", cpus)
    resource.provider_id.value = "p"
    resource.cpu.source.type = kind  # type: ignore[assignment]
    resource.cpu.source.zone = zone
    if set_id:
        resource.cpu.source.id = set_id
    if label:
        resource.cpu.source.metadata.labels.add(key="cpus", value=label)
    return resource


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("cpus:8;mem:4096;ports:[31000-32000]", "cpus:8; mem:4096; ports:[31000-32000]"),
        (" cpus : 0.1 ; ", "cpus:0.1"),
        ("cpus:1.0004", "cpus:1"),
        ("cpus(web):2;cpus:6", "cpus(reservations: [(STATIC,web)]):2; cpus:6"),
        ("cpus(*):2", "cpus:2"),
        ("ports:[1-3, 4-5,9]", "ports:[1-5, 9-9]"),
        ("disks:{b, a}", "disks:{a, b}"),
        ("", ""),
        ("cpus:0", ""),
    ],
)
def test_parse(text: str, printed: str) -> None:
    assert rs.describe_all(rs.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("cpus", "'cpus'"),
        ("cpus:", "not a number"),
        ("cpus:eight", "'eight'"),
        ("cpus:-1", "'-1'"),
        ("cpus:nan", "'nan'"),
        ("cpus:inf", "'inf'"),
        ("cpus:1;cpus:2", "twice"),
        ("cpus():1", "empty role"),
        ("ports:[2-1]", "'2-1'"),
        ("ports:[1-2-3]", "1-2-3"),
        ("ports:[]", "range"),
        ("x:{a,a}", "different"),
        ("c pus:1", "c pus"),
    ],
)
def test_parse_refuses(text: str, named: str) -> None:
    with pytest.raises(rs.ResourceError) as error:
        rs.parse(text)
    assert named in str(error.value)


def test_printed_as_mesos_does() -> None:
    resource = scalar("cpus", 100, "test", "test")
    assert rs.describe(resource) == "cpus(allocated: test)(reservations: [(DYNAMIC,test)]):100"
    resource.reservations[0].principal = "ops"
    resource.reservations[0].labels.labels.add(key="k", value="v")
    resource.revocable.SetInParent()
    assert rs.describe(resource) == "cpus(allocated: test)(reservations: [(DYNAMIC,test,ops,{k: v})]){REV}:100"
    assert rs.describe(scalar("cpus", -1)) == "cpus:-1"
    assert rs.describe(scalar("cpus", -0.25)) == "cpus:-0.25"


def test_metadata_is_no_part_of_the_identity_and_the_newer_word_holds() -> None:
    old = cpu(Source.RAW, 2, label="old")
    new = cpu(Source.RAW, 1, label="new")
    assert rs.kind(old) == rs.kind(new)
    (both,) = rs.add([old], [new])
    assert both.scalar.value == 3
    assert both.cpu.source.metadata.labels[0].value == "new"
    (left,) = rs.subtract([old], [new])
    assert left.cpu.source.metadata.labels[0].value == "old"


@pytest.mark.parametrize(
    "other",
    [
        cpu(Source.RAW, 2, zone="numa/1"),
        cpu(Source.EXCLUSIVE, 2, set_id="a"),
        cpu(Source.SHARED, 2, set_id="a"),
        scalar("cpus", 2),
    ],
)
def test_kinds_do_not_mix(other: mesos_pb2.Resource) -> None:
    assert not rs.contains([cpu(Source.RAW, 2)], [other])
    assert len(rs.add([cpu(Source.RAW, 2)], [other])) == 2


def test_canonical_takes_the_providers_word_only() -> None:
    lie = rs.allocate([cpu(Source.EXCLUSIVE, 1, set_id="a", label="0-63")], "r")
    (told,) = rs.canonical(lie, [cpu(Source.EXCLUSIVE, 4, set_id="a", label="1-4")])
    assert told.cpu.source.metadata.labels[0].value == "1-4"
    assert told.scalar.value == 1 and told.allocation_info.role == "r"
    (unknown,) = rs.canonical(lie, [])
    assert not unknown.cpu.source.HasField("metadata")


def test_limit_takes_unreserved_first() -> None:
    have = [scalar("cpus", 4, reserved="a"), scalar("cpus", 4), scalar("mem", 10)]
    assert rs.describe_all(rs.limit(have, "cpus", 5)) == "cpus(reservations: [(DYNAMIC,a)]):4; cpus:1; mem:10"
    assert rs.describe_all(rs.limit(have, "cpus", 1)) == "cpus(reservations: [(DYNAMIC,a)]):1; mem:10"
    assert rs.limit(have, "cpus", 9) == have


@pytest.mark.parametrize(
    ("role", "may"), [("eng", True), ("eng/dev", True), ("eng/dev/x", True), ("engine", False), ("*", False)]
)
def test_reserved_for_a_role_and_those_below(role: str, may: bool) -> None:
    assert rs.allocatable_to(scalar("cpus", 1, reserved="eng"), role) is may
    assert rs.allocatable_to(scalar("cpus", 1), role)


def test_bad_quantities_are_refused_with_words() -> None:
    cases = [
        (
            scalar("cpus", -1, "test"),
            "Resource 'cpus(allocated: test):-1' is invalid: Invalid scalar resource: value <= 0",
        ),
        (scalar("cpus", float("nan")), "is not a number"),
        (scalar("cpus", float("inf")), "is not a number"),
        (scalar("cpus", 1e300), "too large"),
        (scalar("", 1), "Empty resource name"),
        (mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR), "Invalid scalar resource"),
        (mesos_pb2.Resource(name="x", type=mesos_pb2.Value.TEXT), "Unsupported resource type"),
    ]
    for resource, words in cases:
        with pytest.raises(rs.ResourceError) as error:
            rs.validate(resource)
        assert words in str(error.value)
    star = scalar("cpus", 1)
    star.role = "*"
    rs.validate(star)


thousandths = st.integers(0, 10**7)


@given(thousandths, thousandths)
def test_fixed_point(a: int, b: int) -> None:
    x, y = [scalar("cpus", a / 1000)], [scalar("cpus", b / 1000)]
    total = rs.add(x, y)
    assert rs.millis(rs.sum_of(total, "cpus")) == a + b
    assert rs.contains(total, x) and rs.contains(total, y)
    assert rs.millis(rs.sum_of(rs.subtract(total, y), "cpus")) == a
    assert rs.subtract(x, rs.add(x, y)) == []


ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8)), max_size=6)


@given(ranges, ranges)
def test_ranges_are_sets_of_integers(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    def resource(spans: list[tuple[int, int]]) -> list[mesos_pb2.Resource]:
        result = mesos_pb2.Resource(name="ports", type=mesos_pb2.Value.RANGES)
        result.ranges.SetInParent()
        for begin, size in spans:
            result.ranges.range.add(begin=begin, end=begin + size)
        return [result]

    def members(resources: list[mesos_pb2.Resource]) -> set[int]:
        return {i for r in resources for x in r.ranges.range for i in range(x.begin, x.end + 1)}

    x, y = resource(a), resource(b)
    assert members(rs.add(x, y)) == members(x) | members(y)
    assert members(rs.subtract(x, y)) == members(x) - members(y)
    assert rs.contains(x, y) is (members(y) <= members(x))
