"""How much revocable there is, which sets give way, and that nothing of it touches what is guaranteed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_api.wire import pinfold_pb2
from profiles.mapping import Profile
from profiles.state import EMPTY
from provider import cpuset, inventory, reconcile, report, revocable, room
from provider.inventory import CpuSet, Host, State
from provider.layout import Config, PoolConfig
from provider.room import RawLabels
from tests.unit.hosts import D16, S8, host, make_set

PROFILES = (Profile(name="batch", mode="shared"), Profile(name="any"))


def loose(set_id: str, amount: int, created: float = 1000.0, zone: str = "numa/0", pool: str = "default") -> CpuSet:
    profile = Profile(name="batch", mode="shared", pool=pool)
    return make_set(set_id, guarantee=amount, zone=zone, created=created, revocable=True, profile=profile)


def state(*sets: CpuSet) -> State:
    result = State()
    for one in sets:
        result = result.with_set(one)
    return result


def check(place: Host, of: State) -> revocable.Figures:
    """Both rules, and that the one for what is guaranteed is as if there were nothing revocable."""
    figures = revocable.figures(place, of)
    assert figures.raw + figures.sets == figures.room + figures.excess
    firm = of
    for one in of.sets.values():
        if one.revocable:
            firm = firm.without_set(one.id)
    assert inventory.figures(place, of) == inventory.figures(place, firm)
    return figures


@pytest.mark.parametrize(
    ("overcommit", "amounts"),
    [
        (1.0, {}),
        (1.1, {}),  # 6 and 8 CPUs: less than one
        (1.125, {"numa/1": 1}),
        (1.2, {"numa/0": 1, "numa/1": 1}),
        (1.5, {"numa/0": 3, "numa/1": 4}),
        (3.0, {"numa/0": 12, "numa/1": 16}),
    ],
)
def test_the_amount_by_zone(overcommit: float, amounts: dict[str, int]) -> None:
    place = host(D16, overcommit=overcommit)
    assert revocable.amounts(place, State()) == {(zone, "default"): n for zone, n in amounts.items()}
    check(place, State())


def test_each_pool_has_its_own_and_one_with_isolated_cpus_has_none() -> None:
    pools = (PoolConfig("rt", cpus=cpuset.parse("3,7")), PoolConfig("batch", cpus=cpuset.parse("2,6")))
    place = host(replace(S8, isolated=cpuset.parse("7")), Config(pools=pools), overcommit=2.0)
    assert revocable.amounts(place, State()) == {("numa/0", "default"): 2, ("numa/0", "batch"): 2}


@pytest.mark.parametrize(
    ("sets", "left", "gone"),
    [
        # S8 without its floor has 6 CPUs; overcommit 1.5.
        ([], 3, []),
        ([make_set("g", guarantee=6)], 3, []),
        ([make_set("e", "1,5")], 2, []),
        ([make_set("e", "1,5"), make_set("d", "2", blocked="6")], 1, []),
        ([make_set("e", "1-3,5-7")], 0, []),
        ([loose("l", 3)], 0, []),
        ([loose("l", 2), make_set("e", "1,5")], 0, []),
        ([loose("l", 3), make_set("e", "1,5")], 0, ["l"]),
        ([loose("l", 1), make_set("e", "1-3,5-7")], 0, ["l"]),
        # The younger gives way; a smaller one that fits beside the older may stay.
        ([loose("a", 2, 1.0), loose("b", 1, 2.0), make_set("e", "1,5")], 0, ["b"]),
        ([loose("a", 2, 2.0), loose("b", 1, 1.0), make_set("e", "1,5")], 0, ["a"]),
        ([loose("a", 1, 1.0), loose("b", 2, 2.0), loose("c", 1, 3.0), make_set("e", "1,5")], 0, ["b"]),
        ([loose("a", 1), loose("b", 1), make_set("e", "1-2,5-6")], 0, ["b"]),
        # A pool that is no longer configured has room for nobody.
        ([loose("l", 1, pool="gone")], 3, ["l"]),
        # Charged to a zone that is gone: the pool counts.
        ([loose("l", 2, zone="numa/9")], 1, []),
    ],
)
def test_who_gives_way(sets: list[CpuSet], left: int, gone: list[str]) -> None:
    place = host(S8, overcommit=1.5)
    of = state(*sets)
    assert sum(revocable.amounts(place, of).values()) == left
    assert sorted(revocable.revoked(place, of)) == gone
    check(place, of)


def test_without_overcommit_every_revocable_set_gives_way() -> None:
    """After the configuration was changed back to 1."""
    of = state(loose("a", 1), loose("b", 2), make_set("s", guarantee=2))
    assert sorted(revocable.revoked(host(S8), of)) == ["a", "b"]
    assert "room for 0 in all, and older sets have 0" in revocable.revoked(host(S8), of)["a"]


def test_a_revoked_set_runs_somewhere_still_and_never_on_exclusive_cpus() -> None:
    place = host(S8, overcommit=1.5)
    of = state(loose("l", 3), make_set("e", "1-3,5-7"))
    assert sorted(revocable.revoked(place, of)) == ["l"]
    wanted = reconcile.desired(place, of)
    assert wanted.shared["l"].cpus == cpuset.parse("0,4")
    assert wanted.shared["l"].revocable
    assert wanted.shared["l"].share == pytest.approx(0.03)


def test_the_report_shows_what_is_revocable_and_what_is_revoked() -> None:
    place = host(S8, overcommit=1.5)
    of = state(loose("l", 2), loose("m", 1, 2000.0), make_set("e", "1,5"), make_set("s", guarantee=1))
    told = report.cpu_report(
        place, of, {}, EMPTY, None, pinfold_pb2.Topology(), [], {i: room.growth(place, of, of.sets[i]) for i in of.sets}
    )
    shown = {one.id: (one.revocable, one.State.Name(one.state), bool(one.reason)) for one in told.cpusets}
    assert shown == {
        "l": (True, "OK", False),
        "m": (True, "REVOKED", True),
        "e": (False, "OK", False),
        "s": (False, "OK", False),
    }
    # A revocable set grows into what is revocable: there is nothing left.
    assert {one.id: one.growth for one in told.cpusets} == {"l": 0, "m": 0, "e": 3, "s": 3}
    alone = state(loose("l", 2))
    assert room.growth(place, alone, alone.sets["l"]) == 1


def test_revocable_raw_is_marked_unreserved_and_says_what_can_be_had() -> None:
    place = host(D16, overcommit=1.5)
    labels = RawLabels()
    labels.use(place, PROFILES)
    found = revocable.resources("rp", labels, revocable.amounts(place, State()))
    assert [(r.cpu.source.zone, r.scalar.value, r.HasField("revocable"), len(r.reservations)) for r in found] == [
        ("numa/0", 3.0, True, 0),
        ("numa/1", 4.0, True, 0),
    ]
    assert [{label.key: label.value for label in r.cpu.source.metadata.labels} for r in found] == [
        {"largest/batch": "3"},
        {"largest/batch": "4"},
    ]
    assert all(r.cpu.source.type == inventory.Source.RAW and r.provider_id.value == "rp" for r in found)


def test_a_shared_profile_of_a_pool_with_isolated_cpus_is_shown_as_not_placeable() -> None:
    place = host(replace(S8, isolated=cpuset.parse("7")), Config(pools=(PoolConfig("rt", cpus=cpuset.parse("3,7")),)))
    steps = report.unplaceable(place, Profile(name="p", mode="shared", pool="rt"))
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == "pool 'rt' has isolated CPUs, 7: shared sets cannot run there"


def test_another_overcommit_is_another_configuration() -> None:
    assert reconcile.fingerprint(host(S8)) != reconcile.fingerprint(host(S8, overcommit=1.5))
    assert reconcile.fingerprint(host(S8)) == reconcile.fingerprint(host(S8, overcommit=1.0))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("esr"), st.integers(0, 15), st.integers(1, 4), st.integers(0, 3)), max_size=10),
    st.sampled_from([1.0, 1.25, 1.5, 2.0]),
)
def test_both_rules_hold_for_any_sets(wishes: list[tuple[str, int, int, int]], overcommit: float) -> None:
    of, used = State(), 0
    for number, (kind, cpu, amount, age) in enumerate(wishes):
        zone = f"numa/{(cpu % 8) // 4}"
        if kind == "e" and not used >> cpu & 1:
            used |= 1 << cpu
            of = of.with_set(make_set(f"e{number}", str(cpu), zone))
        elif kind == "s":
            of = of.with_set(make_set(f"s{number}", guarantee=amount, zone=zone))
        elif kind == "r":
            of = of.with_set(loose(f"r{number}", amount, float(age), zone))
    place = host(D16, overcommit=overcommit)
    figures = check(place, of)
    # Once what is revoked has gone, all that is left has room.
    for set_id in revocable.revoked(place, of):
        of = of.without_set(set_id)
    after = check(place, of)
    assert after.excess == 0
    assert not revocable.revoked(place, of)
    assert after.room == figures.room
