"""The allocator's arithmetic: order by weighted shares in the tree of roles, headroom, guarantees, limits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_api.core import fairness
from agent_api.core.fairness import Quota

TOTAL = {"cpus": 10_000, "mem": 100_000}


@pytest.mark.parametrize(
    ("allocated", "weights", "expected"),
    [
        ({}, {}, ["a", "b"]),
        ({"a": {"cpus": 1}}, {}, ["b", "a"]),
        ({"a": {"cpus": 3000}, "b": {"mem": 20_000}}, {}, ["b", "a"]),  # 0.3 of the CPUs, 0.2 of the memory
        ({"a": {"cpus": 3000}, "b": {"mem": 40_000}}, {}, ["a", "b"]),
        ({"a": {"cpus": 3000}, "b": {"cpus": 2000}}, {"a": 2.0}, ["a", "b"]),  # 0.15 against 0.2
        ({"a": {"cpus": 3000}, "b": {"cpus": 2000}}, {"a": 1.2}, ["b", "a"]),
        ({"a": {"nonsense": 9}, "b": {"cpus": 1}}, {}, ["a", "b"]),
    ],
)
def test_the_least_weighted_dominant_share_comes_first(
    allocated: dict[str, dict[str, int]], weights: dict[str, float], expected: list[str]
) -> None:
    assert fairness.order(["b", "a"], allocated, TOTAL, weights, {}) == expected


def test_trees_compete_as_wholes() -> None:
    allocated = {"a/x": {"cpus": 4000}, "b": {"cpus": 3000}}
    roles = ["a/x", "a/y", "b"]
    assert fairness.order(roles, allocated, TOTAL, {}, {}) == ["b", "a/y", "a/x"]
    assert fairness.order(roles, allocated, TOTAL, {"a": 2.0}, {}) == ["a/y", "a/x", "b"]
    # A weight in the tree counts among its siblings only.
    assert fairness.order(roles, allocated, TOTAL, {"a/x": 1000.0}, {})[0] == "b"


def test_a_role_competes_with_those_below_it() -> None:
    roles = ["a", "a/x"]
    assert fairness.order(roles, {"a": {"cpus": 2000}}, TOTAL, {}, {}) == ["a/x", "a"]
    assert fairness.order(roles, {"a/x": {"cpus": 2000}}, TOTAL, {}, {}) == ["a", "a/x"]
    assert fairness.order(roles, {"a": {"cpus": 2000}, "a/x": {"cpus": 3000}}, TOTAL, {"a/x": 2.0}, {}) == ["a/x", "a"]


def test_among_equals_the_one_served_less_often() -> None:
    assert fairness.order(["a", "b"], {}, TOTAL, {}, {"a": 2, "b": 1}) == ["b", "a"]
    assert fairness.order(["a/x", "a/y", "b"], {}, TOTAL, {}, {"a/x": 1}) == ["b", "a/y", "a/x"]


def test_headroom_is_what_is_owed_and_never_less_than_nothing() -> None:
    quotas = {"a": Quota({"cpus": 4000}), "b": Quota({"cpus": 3000, "mem": 10}), "c": Quota({}, {"cpus": 1})}
    assert fairness.headroom(quotas, {}) == {"cpus": 7000, "mem": 10}
    assert fairness.headroom(quotas, {"a": {"cpus": 9000}, "b": {"cpus": 1000}}) == {"cpus": 2000, "mem": 10}


@pytest.mark.parametrize(
    ("role", "consumed", "free", "expected"),
    [
        ("other", {}, 10_000, (0, 4000)),  # 6 are promised to others
        ("a", {}, 10_000, (4000, 8000)),  # its own promise and what is beyond all promises
        ("a/below", {}, 10_000, (4000, 8000)),
        ("b", {}, 10_000, (2000, 3000)),  # ends at its limit
        ("b", {"b": 2500}, 7000, (0, 500)),
        ("b", {"b": 5000}, 5000, (0, 0)),  # above its limit already
        ("other", {"a": 9000}, 1000, (0, 0)),  # what a has too much is no headroom for b
        ("a", {"other": 7000}, 3000, (3000, 3000)),  # less is free than is owed: have it
        ("a", {"a": 4000}, 6000, (0, 4000)),
    ],
)
def test_may_take(role: str, consumed: dict[str, int], free: int, expected: tuple[int, int]) -> None:
    quotas = {"a": Quota({"cpus": 4000}), "b": Quota({"cpus": 2000}, {"cpus": 3000})}
    held = {name: {"cpus": n} for name, n in consumed.items()}
    assert fairness.may_take(role, quotas, held, {"cpus": free})["cpus"] == expected


def test_resources_without_a_guarantee_leave_the_headroom_of_others_whole() -> None:
    quotas = {"a": Quota({"cpus": 1000}), "b": Quota({"mem": 60_000})}
    assert fairness.may_take("a", quotas, {}, TOTAL) == {"cpus": (1000, 10_000), "mem": (0, 40_000)}


def test_names() -> None:
    assert fairness.lineage("a/b/c") == ["a", "a/b", "a/b/c"]
    assert fairness.top("a/b/c") == "a" and fairness.top("*") == "*"
    assert fairness.by_top({"a": {"x": 1}, "a/b": {"x": 2}, "c": {}}) == {"a": {"x": 3}, "c": {}}
    assert Quota().default and not Quota({}, {"cpus": 1}).default


ROLES = ["a", "a/x", "b", "c/y"]
AMOUNTS = st.dictionaries(st.sampled_from(["cpus", "mem"]), st.integers(0, 20), max_size=2)


@st.composite
def situations(draw: st.DrawFn) -> tuple[dict[str, Quota], dict[str, dict[str, int]], dict[str, int]]:
    quotas = {}
    for role in draw(st.sets(st.sampled_from(["a", "b", "c"]))):
        guarantees = draw(AMOUNTS)
        limits = {n: guarantees.get(n, 0) + draw(st.integers(0, 9)) for n in draw(AMOUNTS)}
        quotas[role] = Quota(guarantees, limits)
    consumed = {role: draw(AMOUNTS) for role in ROLES}
    return quotas, consumed, draw(AMOUNTS)


@given(situations(), st.sampled_from(ROLES), st.integers(0, 100))
@settings(max_examples=400)
def test_what_may_be_taken_breaks_no_promise(
    situation: tuple[dict[str, Quota], dict[str, dict[str, int]], dict[str, int]], role: str, part: int
) -> None:
    quotas, consumed, free = situation
    before = fairness.by_top(consumed)
    needed = fairness.headroom(quotas, before)
    for name, (guaranteed, most) in fairness.may_take(role, quotas, before, free).items():
        assert 0 <= guaranteed <= most <= free[name]
        taken = most * part // 100
        after = {r: dict(q) for r, q in before.items()}
        fairness.add(after.setdefault(fairness.top(role), {}), {name: taken})
        left = free[name] - taken
        still = fairness.headroom(quotas, after).get(name, 0)
        if free[name] >= needed.get(name, 0):
            assert left >= still  # the headroom was whole and is whole
        else:
            assert still - left <= needed[name] - free[name]  # and where it was not, it got no worse
        limit = quotas.get(fairness.top(role), Quota()).limits.get(name)
        if limit is not None and taken:
            assert after[fairness.top(role)][name] <= limit


@given(
    st.lists(st.sampled_from([*ROLES, "b/z", "d"]), unique=True),
    st.dictionaries(st.sampled_from([*ROLES, "b/z"]), AMOUNTS),
)
def test_trees_stay_together(roles: list[str], allocated: dict[str, dict[str, int]]) -> None:
    found = fairness.order(roles, allocated, {"cpus": 50, "mem": 50}, {}, {})
    assert sorted(found) == sorted(roles)
    tops = [fairness.top(r) for r in found]
    assert all(tops[i] == tops[i - 1] or tops[i] not in tops[:i] for i in range(1, len(tops)))
