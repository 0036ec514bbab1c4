"""What the kernel should have, what is wrong with a set, and when drift is shown."""

from __future__ import annotations

from dataclasses import replace

from profiles.mapping import Profile
from provider import cgroup_plan, cpuset, inventory, reconcile
from provider.cgroup_values import Observed, Rules, SharedSlot, Slot
from provider.inventory import State
from provider.layout import Config, PoolConfig
from tests.unit.hosts import D16, S8, U4, host, make_set, records

RENUMBERED = records((c, c // 2, c // 8, c // 8) for c in range(16))
"""As many CPUs as D16, with siblings (2i, 2i+1)."""


def test_everything_has_its_place_and_nothing_overlaps() -> None:
    isolated = Profile(name="p", partition="isolated")
    state = (
        State()
        .with_set(make_set("a", "1,5", profile=isolated))
        .with_set(make_set("d", "2", blocked="6"))
        .with_set(make_set("s", guarantee=1, burst=1.5))
    )
    wanted = reconcile.desired(host(S8), state)
    assert wanted.exclusive == {"a": Slot(cpuset.parse("1,5"), 1, "isolated"), "d": Slot(cpuset.parse("2"), 1)}
    assert wanted.shared == {"s": SharedSlot(cpuset.parse("3,7"), 1, 1.0, 1.5)}
    assert wanted.plain == cpuset.parse("0,3,4,7")
    # And the kernel can be brought there.
    assert cgroup_plan.plan(Observed("cgroup2", S8.online, 1), wanted, Rules(inherits=True, partitions=True))


def test_a_healthy_host_has_nothing_to_say() -> None:
    state = State().with_set(make_set("a", "1,5")).with_set(make_set("s", guarantee=2))
    assert reconcile.degradations(host(S8), state) == {}


def test_cpus_that_went_are_named_and_left_out() -> None:
    less = records((c, c % 4, 0, 0) for c in range(8) if c != 5)
    state = State().with_set(make_set("a", "1,5")).with_set(make_set("b", "2,6"))
    assert reconcile.degradations(host(less), state) == {"a": "CPUs 5 are not online"}
    assert reconcile.desired(host(less), state).exclusive["a"].cpus == cpuset.parse("1")
    outside = host(S8, allowed=0xDF)
    assert reconcile.degradations(outside, state) == {"a": "CPUs 5 are outside the provider's cgroup parent"}


def test_a_smaller_host_keeps_what_fits_and_writes_no_id_that_it_has_not() -> None:
    state = State().with_set(make_set("a", "1,9")).with_set(make_set("b", "7,15", "numa/1"))
    place = host(S8)
    assert set(reconcile.degradations(place, state)) == {"a", "b"}
    wanted = reconcile.desired(place, state)
    for mask in (wanted.plain, *(slot.cpus for slot in wanted.exclusive.values())):
        assert mask & ~S8.online == 0
    assert wanted.exclusive["a"].cpus == 0b10
    gone = State().with_set(make_set("a", "12-13"))
    assert reconcile.desired(place, gone).exclusive == {}
    assert "12-13 are not online" in reconcile.degradations(place, gone)["a"]


def test_renumbered_siblings_are_noticed() -> None:
    whole = Profile(name="p", core_siblings="required")
    state = State().with_set(make_set("a", "1,9", profile=whole)).with_set(make_set("n", "2"))
    assert reconcile.degradations(host(D16), state) == {}
    found = reconcile.degradations(host(RENUMBERED), state)
    assert set(found) == {"a"}
    assert "cores {0-1}, {8-9}" in found["a"]
    assert reconcile.fingerprint(host(D16)) != reconcile.fingerprint(host(RENUMBERED))


def test_a_blocked_sibling_that_is_one_no_more_is_noticed() -> None:
    denied = Profile(name="p", core_siblings="denied")
    state = State().with_set(make_set("a", "1", blocked="9", profile=denied))
    assert reconcile.degradations(host(D16), state) == {}
    assert "denied" in reconcile.degradations(host(RENUMBERED), state)["a"]


def test_new_rules_bind_new_sets_only() -> None:
    state = State().with_set(make_set("a", "1")).with_set(make_set("r", "3,7", profile=Profile(name="p", pool="rt")))
    place = host(S8, Config(reserved=cpuset.parse("1")))
    found = reconcile.degradations(place, state)
    assert found["a"] == "kept as it was made: CPUs 1 are no longer in pool 'default'"
    assert found["r"] == "kept as it was made: pool 'rt' is no longer configured"
    assert set(reconcile.desired(place, state).exclusive) == {"a", "r"}
    assert not reconcile.desired(place, state).plain & cpuset.parse("1,3,7")


def test_guarantees_that_nothing_backs_are_shown() -> None:
    state = State().with_set(make_set("s", guarantee=5))
    assert "2 CPUs more than what is left" in reconcile.degradations(host(U4), state)["s"]
    other = make_set("s", guarantee=1, profile=Profile(name="p", mode="shared", pool="rt"))
    assert "'rt' is no longer configured" in reconcile.degradations(host(U4), State().with_set(other))["s"]


def test_the_fingerprint_follows_ids_and_configuration_only() -> None:
    place = host(D16)
    same = replace(place, topology=replace(D16, memory_bytes=1, warnings=("x",)))
    assert reconcile.fingerprint(place) == reconcile.fingerprint(same)
    for other in (
        host(D16, allowed=0x7FFF),
        host(D16, Config(floor=4)),
        host(D16, Config(group_by="MACHINE")),
        host(D16, Config(pools=(PoolConfig("rt", capacity=2),))),
        replace(place, default_stack=b"x"),
    ):
        assert reconcile.fingerprint(place) != reconcile.fingerprint(other)


def test_drift_is_shown_once_it_keeps_coming_back() -> None:
    drift = reconcile.Drift()
    for now in (0.0, 3.0):
        drift = drift.noted("a", now)
        assert not drift.returning("a", now)
    drift = drift.noted("a", 6.0)
    assert drift.returning("a", 6.0)
    assert not drift.returning("b", 6.0)
    assert not drift.returning("a", 6.0 + reconcile.DRIFT_WINDOW_SECONDS)
    for now in range(100):
        drift = drift.noted("a", float(now))
    assert len(drift.times["a"]) <= reconcile.DRIFT_TIMES + 1


def test_a_mixed_group_is_idle_once_two_looks_found_it_empty_and_nobody_waits_for_it() -> None:
    wait = reconcile.MIXED_WAIT_SECONDS
    for asked, looks, expected in (
        # (seconds, whether something runs in it) of each look -> whether it may go after the look
        (0.0, [(wait - 1, False), (wait, False)], [False, True]),
        (0.0, [(wait, False), (wait + 3, True), (wait + 6, False), (wait + 9, False)], [False, False, False, True]),
        (0.0, [(wait - 6, False), (wait - 3, False), (wait, False)], [False, False, True]),
        # Seen only: asked for before this process began, nobody knows when.
        (None, [(0, False), (3, False), (wait - 1, False), (wait, False)], [False, False, False, True]),
        # The clock was put back: it is waited for again.
        (1e6, [(0, False), (3, False), (wait, False)], [False, False, True]),
    ):
        mixed = reconcile.Mixed() if asked is None else reconcile.Mixed().asked_for(["m"], asked)
        found = []
        for now, runs in looks:
            mixed, idle = mixed.looked({"m": runs}, now)
            assert idle in ([], ["m"])
            found.append(bool(idle))
        assert found == expected, looks
    # Asked for again while it is empty; what is there no more is forgotten.
    mixed = reconcile.Mixed().looked({"m": False}, 0.0)[0].asked_for(["m"], wait)
    assert mixed.looked({"m": False}, wait + 1)[1] == []
    mixed, idle = mixed.looked({}, 2 * wait)
    assert (mixed.asked, mixed.empty, idle) == ({}, frozenset(), [])


def test_the_last_cpus_stay_with_plain_tasks() -> None:
    state = State().with_set(make_set("a", "1-3,5-7"))
    assert reconcile.desired(host(S8), state).plain == cpuset.parse("0,4")
    assert inventory.figures(host(S8), state).raw_total == 0
