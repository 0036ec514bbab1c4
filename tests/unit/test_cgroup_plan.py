"""The order of kernel writes, as tables: before, after, and the lists on the way."""

from __future__ import annotations

import dataclasses
import functools
import operator
import random

import pytest

from provider.cgroup_plan import differences, plan
from provider.cgroup_values import (
    Desired,
    Group,
    Make,
    Observed,
    Remove,
    Rules,
    SetCpus,
    SetMems,
    SetPartition,
    SetQuota,
    SetWeight,
    SharedSlot,
    Slot,
    Step,
    group_name,
    members,
    mixed_name,
)
from provider.cpuset import format_mask, parse
from provider.errors import EnforcementError

V1 = Rules(inherits=False, weight_unit=1024, weight_min=2, weight_max=262_144)
V2 = Rules(inherits=True, partitions=True)


def group(cpus: str, mems: int = 1, **more: object) -> Group:
    mask = parse(cpus) if cpus else 0
    return Group(cpus=mask, effective=mask, mems=mems, effective_mems=mems, **more)  # type: ignore[arg-type]


def host(cpus: str, mems: int = 1, **groups: Group) -> Observed:
    """Names with "_" for "/" and "." would not be Python; `set_a` is set.a, `shared_a` is shared/a, `base` is ""."""
    names = {
        "" if k == "base" else k.replace("shared_", "shared/").replace("set_", "set."): g for k, g in groups.items()
    }
    return Observed("cgroup1", parse(cpus), mems, names)


def lists(steps: list[Step]) -> list[str]:
    """`name=list` for each step that changes CPUs, in order."""
    out = []
    for step in steps:
        match step:
            case Make(name=name, cpus=cpus):
                out.append(f"+{name}={format_mask(cpus)}")
            case SetCpus(name=name, after=cpus):
                out.append(f"{name}={format_mask(cpus)}")
            case Remove(name=name):
                out.append(f"-{name}")
    return out


def replay(observed: Observed, steps: list[Step], rules: Rules) -> dict[str, int]:
    """Carries the steps out on masks and asserts, after each, what must never be. Returns the lists at the end."""
    own = {name: g.cpus for name, g in observed.groups.items()}

    def now(name: str) -> int:
        if own[name] or not rules.inherits:
            return own[name]
        return now(name.rpartition("/")[0]) if name else observed.cpus

    def overlapping() -> set[tuple[str, str, int]]:
        out = set()
        for a in own:
            if a.startswith("set.") and (own[a] or rules.inherits):
                for b in own:
                    if b.startswith("mix.") and a[4:] in members(b):
                        continue  # what runs there is of the set
                    for cpu in range(observed.cpus.bit_length()):
                        if b not in ("", a) and now(a) & now(b) & (1 << cpu):
                            out.add((a, b, cpu))
        return out

    before = overlapping()
    for step in steps:
        match step:
            case Make(name=name, cpus=cpus):
                assert name not in own
                assert not name or name.rpartition("/")[0] in own
                own[name] = cpus
                assert cpus or rules.inherits, "a v1 group without CPUs takes no task"
            case SetCpus(name=name, after=after):
                assert after, f"{name} is emptied"
                assert own[name] != after, f"{name} is written for nothing"
                own[name] = after
            case Remove(name=name):
                assert not any(n.startswith(name + "/") for n in own)
                assert "plain" in own, "nowhere to move what is left in it"
                del own[name]
        for name in own:
            if name:
                assert not now(name) & ~now(name.rpartition("/")[0]), f"{name} is wider than its parent after {step}"
        after_ = overlapping()
        assert after_ <= before, f"new overlap {after_ - before} after {step}"
        before = after_
    assert not before
    return {name: now(name) for name in own}


SET_RESIZE = host("0-3", base=group("0-3"), plain=group("2-3"), set_a=group("0-1"))


@pytest.mark.parametrize(
    ("before", "desired", "expected"),
    [
        pytest.param(
            host("0-3"),
            Desired(plain=0b1111),
            ["+=0-3", "+plain=0-3"],
            id="first start",
        ),
        pytest.param(
            host("0-3", base=group("0-3"), plain=group("0-3")),
            Desired(plain=0b0011, exclusive={"a": Slot(0b1100)}),
            ["plain=0-1", "+set.a=2-3"],
            id="create: others shrink first",
        ),
        pytest.param(
            host("0-3", base=group("0-3"), plain=group("0-1"), set_a=group("2-3")),
            Desired(plain=0b1111),
            ["-set.a", "plain=0-3"],
            id="destroy: others widen at once",
        ),
        pytest.param(
            SET_RESIZE,
            Desired(plain=0b1001, exclusive={"a": Slot(0b0110)}),
            ["plain=3", "set.a=0-2", "set.a=1-2", "plain=0,3"],
            id="move a set over what plain has: via the union",
        ),
        pytest.param(
            host("0-3", base=group("0-3"), plain=group("2-3"), set_a=group("0-1")),
            Desired(plain=0b0011, exclusive={"a": Slot(0b1100)}),
            ["plain=2", "set.a=0-1,3", "set.a=3", "plain=0-2", "plain=0-1", "set.a=2-3"],
            id="swap set and plain",
        ),
        pytest.param(
            host("0-3", base=group("0-3"), plain=group("0"), set_a=group("0-2")),
            Desired(plain=0b0001, exclusive={"a": Slot(0b0110)}),
            ["set.a=1-2"],
            id="drift: a list widened by hand is narrowed",
        ),
        pytest.param(
            host("0-3", base=group("0-1"), plain=group("0"), set_a=group("1")),
            Desired(plain=0b0001, exclusive={"a": Slot(0b1010)}),
            ["=0-3", "set.a=1,3"],
            id="a CPU is back: parent first, from our state",
        ),
        pytest.param(
            host("0-5", base=group("0-5"), plain=group("3-5"), shared=group("0-1"), shared_s=group("0-1")),
            Desired(plain=0b111000, shared={"s": SharedSlot(0b000110)}),
            ["shared=0-2", "shared/s=0-2", "shared/s=1-2", "shared=1-2"],
            id="{0-1} to {1-2}: the parent goes through {0-2}, down then up",
        ),
    ],
)
def test_order(before: Observed, desired: Desired, expected: list[str]) -> None:
    steps = plan(before, desired, V1)
    assert lists(steps) == expected
    replay(before, steps, V1)


def test_nothing_to_do_is_no_step() -> None:
    assert plan(SET_RESIZE, Desired(plain=0b1100, exclusive={"a": Slot(0b0011)}), V1) == []


def test_v2_shared_sets_follow_their_parent_in_one_write() -> None:
    shared = {f"s{i}": SharedSlot(0b1110) for i in range(5)}
    first = plan(host("0-3"), Desired(plain=0b1111, shared=shared), V2)
    assert [s for s in lists(first) if "shared" in s] == ["+shared=1-3", *(f"+shared/s{i}=" for i in range(5))]
    groups = {"shared/" + i: Group(effective=0b1110, weight=100, mems=0, effective_mems=1) for i in shared}
    now = Observed(
        "cgroup2",
        0b1111,
        1,
        {"": Group(effective=15, effective_mems=1), "plain": group("0-3"), "shared": group("1-3"), **groups},
    )
    narrower = {i: SharedSlot(0b0110) for i in shared}
    steps = plan(now, Desired(plain=0b0111, exclusive={"x": Slot(0b1000)}, shared=narrower), V2)
    assert lists(steps) == ["shared=1-2", "plain=0-2", "+set.x=3"]


def test_v2_a_list_that_follows_is_fixed_before_the_parent_moves_on() -> None:
    now = Observed(
        "cgroup2",
        0b1111,
        1,
        {
            "": Group(effective=15, effective_mems=1),
            "plain": group("0"),
            "shared": group("1"),
            "shared/s": Group(effective=2, effective_mems=1),
        },
    )
    steps = plan(now, Desired(plain=1, shared={"s": SharedSlot(0b0010), "t": SharedSlot(0b1100)}), V2)
    assert lists(steps) == ["shared/s=1", "shared=1-3", "+shared/t=2-3"]


def test_partition_goes_to_member_before_its_list_changes_and_comes_back_after() -> None:
    now = Observed(
        "cgroup2",
        0b1111,
        1,
        {"": Group(effective=1), "plain": group("0-1"), "set.a": group("2-3", partition="isolated")},
    )
    steps = plan(now, Desired(plain=0b0111, exclusive={"a": Slot(0b1000, partition="isolated")}), V2)
    kinds = [s for s in steps if isinstance(s, SetPartition | SetCpus)]
    assert kinds == [
        SetPartition("set.a", "isolated", "member", 0b1100),
        SetCpus("set.a", 0b1100, 0b1000),
        SetCpus("plain", 0b0011, 0b0111),
        SetPartition("set.a", "member", "isolated", 0b1000),
    ]
    gone = plan(now, Desired(plain=0b0111), V2)
    assert [type(s) for s in gone] == [SetPartition, Remove, SetCpus]


def test_an_invalid_partition_is_made_again() -> None:
    now = Observed(
        "cgroup2",
        0b11,
        1,
        {"": Group(effective=1), "plain": group("0"), "set.a": group("1", partition="root invalid (whatever)")},
    )
    steps = plan(now, Desired(plain=1, exclusive={"a": Slot(2, partition="root")}), V2)
    assert [(s.before, s.after) for s in steps if isinstance(s, SetPartition)] == [
        ("root invalid (whatever)", "member"),
        ("member", "root"),
    ]


def test_memory_nodes_widen_then_narrow() -> None:
    now = host("0-3", 0b11, base=group("0-3", 0b01), plain=group("0-1", 0b01), set_a=group("2-3", 0b01))
    steps = plan(now, Desired(plain=0b0011, exclusive={"a": Slot(0b1100, mems=0b10)}), V1)
    assert [(s.name, s.after) for s in steps if isinstance(s, SetMems)] == [
        ("", 0b11),
        ("plain", 0b11),
        ("set.a", 0b11),
        ("set.a", 0b10),
    ]


def test_time_is_for_shared_sets_only() -> None:
    now = host(
        "0-3",
        base=group("0-3", quota=(1000, 100000)),
        plain=group("0"),
        set_a=group("3", quota=(100000, 100000)),
        shared=group("1-2"),
        shared_s=group("1-2", weight=1024),
    )
    desired = Desired(plain=1, exclusive={"a": Slot(8)}, shared={"s": SharedSlot(6, guarantee=1.5, burst=2.0)})
    steps = plan(now, desired, V1)
    assert {s.name: s.after for s in steps if isinstance(s, SetQuota)} == {
        "": None,
        "set.a": None,
        "shared/s": (200_000, 100_000),
    }
    assert {s.name: s.after for s in steps if isinstance(s, SetWeight)} == {
        "plain": 102,
        "shared": 1536,
        "shared/s": 1536,
    }
    with_many = Desired(plain=1, shared={"s": SharedSlot(6, guarantee=400.0), "t": SharedSlot(6, guarantee=100.0)})
    weights = {s.name: s.after for s in plan(now, with_many, V2) if isinstance(s, SetWeight)}
    assert (weights["shared/s"], weights["shared/t"], weights["shared"]) == (10_000, 2_500, 10_000)


@pytest.mark.parametrize(
    ("rules", "weights"),
    [
        (V2, {"plain": 10, "shared": 303, "shared/g": 100, "shared/h": 200, "shared/r": 1, "shared/q": 2}),
        (V1, {"plain": 102, "shared": 3103, "shared/g": 1024, "shared/h": 2048, "shared/r": 10, "shared/q": 20}),
    ],
    ids=["v2", "v1"],
)
def test_weights_are_in_the_ratio_of_the_guarantees_and_revocable_ones_get_what_is_left(
    rules: Rules, weights: dict[str, int]
) -> None:
    shared = {
        "g": SharedSlot(6, guarantee=1.0),
        "h": SharedSlot(6, guarantee=2.0),
        "r": SharedSlot(6, guarantee=1.0, revocable=True),
        "q": SharedSlot(6, guarantee=2.0, burst=3.0, revocable=True),
    }
    steps = plan(host("0-3"), Desired(plain=1, shared=shared), rules)
    assert {s.name: s.after for s in steps if isinstance(s, SetWeight)} == weights
    assert [(s.name, s.after) for s in steps if isinstance(s, SetQuota)] == [("shared/q", (300_000, 100_000))]


def test_a_resized_guarantee_moves_weights_and_no_list() -> None:
    lists_ = {"plain": group("0-2", weight=10), "shared": group("1-2", weight=200), "set_a": group("3")}
    shared = {"shared_s": group("1-2", weight=100), "shared_t": group("1-2", weight=100)}
    now = host("0-3", base=group("0-3"), **lists_, **shared)
    for amount, weight in ((3.0, 300), (0.5, 50)):
        slots = {"s": SharedSlot(6, guarantee=amount), "t": SharedSlot(6, guarantee=1.0)}
        steps = plan(now, Desired(plain=7, exclusive={"a": Slot(8)}, shared=slots), V2)
        assert {s.name: s.after for s in steps if isinstance(s, SetWeight)} == {
            "shared": weight + 100,
            "shared/s": weight,
        }
        assert len(steps) == 2


@pytest.mark.parametrize(
    ("desired", "words"),
    [
        (Desired(plain=0), "plain: no CPUs"),
        (Desired(plain=1, exclusive={"a": Slot(0)}), "exclusive set a: no CPUs"),
        (Desired(plain=1, shared={"s": SharedSlot(0)}), "shared set s: no CPUs"),
        (Desired(plain=1, exclusive={"a": Slot(0b110000)}), "CPUs 4-5 of 4-5 are not in 0-3"),
        (Desired(plain=3, exclusive={"a": Slot(0b0110)}), "CPUs 1 of 1-2 are wanted by another set or by plain"),
        (Desired(plain=1, exclusive={"a": Slot(2), "b": Slot(6)}), "exclusive set b: CPUs 1"),
        (Desired(plain=1, exclusive={"a": Slot(2)}, shared={"s": SharedSlot(6)}), "exclusive set a: CPUs 1"),
        (Desired(plain=1, exclusive={"../a": Slot(2)}), "cannot name a cgroup"),
        (Desired(plain=1, exclusive={"a": Slot(2, partition="isolate")}), "'isolate' is none of"),
        (Desired(plain=1, exclusive={"a": Slot(2, mems=4)}), "nodes 2 are not among 0"),
        (Desired(plain=1, shared={"s": SharedSlot(2, guarantee=2, burst=1.5)}), "burst 1.5 is below the guarantee 2"),
    ],
)
def test_refused_before_any_step(desired: Desired, words: str) -> None:
    with pytest.raises(EnforcementError, match=words):
        plan(host("0-3"), desired, V1)


def test_no_order() -> None:
    """Two sets of one CPU each change places and there is no third CPU."""
    now = host("0-2", base=group("0-2"), plain=group("2"), set_a=group("0"), set_b=group("1"))
    with pytest.raises(EnforcementError, match=r"set\.a from 0 to 1; set\.b from 1 to 0"):
        plan(now, Desired(plain=4, exclusive={"a": Slot(2), "b": Slot(1)}), V1)


def _random_state(rng: random.Random, cpus: int) -> Desired:
    """Sets over 1..n-1, the floor (CPU 0) always plain's."""
    order = list(range(1, cpus))
    rng.shuffle(order)
    exclusive, at = {}, 0
    for set_id in "abcd":
        size = rng.randint(0, 3)
        if size and at + size < len(order):
            exclusive[set_id] = Slot(sum(1 << c for c in order[at : at + size]))
            at += size
    free = sum(1 << c for c in order[at:])
    shared = {s: SharedSlot(free) for s in "st" if free and rng.random() < 0.5}
    both = [(x, s) for x in exclusive for s in shared] + [("a", "b")] * exclusive.keys().__ge__({"a", "b"})
    return Desired(plain=1 | free, exclusive=exclusive, shared=shared, mixed=rng.sample(both, min(len(both), 2)))


@pytest.mark.parametrize("rules", [V1, V2], ids=["v1", "v2"])
def test_any_state_to_any_other(rules: Rules) -> None:
    """Random moves: the rules hold after each step, the end is what was desired, and then nothing is left to do."""
    rng = random.Random(7)
    now = Observed("x", 0xFF, 1)
    stuck = mixed = 0
    for _ in range(1000):
        desired = _random_state(rng, 8)
        try:
            steps = plan(now, desired, rules)
        except EnforcementError as exc:
            assert "no order" in str(exc)
            stuck += 1
            continue
        final = replay(now, steps, rules)
        want = {"": 0xFF, "plain": desired.plain}
        want |= {f"set.{i}": s.cpus for i, s in desired.exclusive.items()}
        want |= {f"shared/{i}": s.cpus for i, s in desired.shared.items()}
        if desired.shared:
            want["shared"] = next(iter(desired.shared.values())).cpus
        there = {i: s.cpus for i, s in (*desired.exclusive.items(), *desired.shared.items())}
        for name in {*map(mixed_name, desired.mixed), *(n for n in now.groups if n.startswith("mix."))}:
            if there.keys() >= {*members(name)}:
                mixed += 1
                want[name] = functools.reduce(operator.or_, (there[i] for i in members(name)))
        assert final == want
        own = {n: g.cpus for n, g in now.groups.items()}
        mems = {n: g.mems for n, g in now.groups.items()}
        weights = {n: g.weight for n, g in now.groups.items()}
        for step in steps:
            match step:
                case Make(name=name, cpus=cpus, mems=nodes):
                    own[name], mems[name], weights[name] = cpus, nodes, 100
                case SetCpus(name=name, after=after):
                    own[name] = after
                case SetMems(name=name, after=after):
                    mems[name] = after
                case SetWeight(name=name, after=weight):
                    weights[name] = weight
                case Remove(name=name):
                    del own[name], mems[name], weights[name]
        now = Observed("x", 0xFF, 1, {n: Group(own[n], final[n], mems[n], 1, weight=weights[n]) for n in own})
        assert plan(now, desired, rules) == []
        assert differences(now, desired, dataclasses.replace(rules, partitions=False)) == ()
    assert stuck < 100
    assert mixed > 500


def mix(name: str, now: Observed, desired: Desired, rules: Rules = V2) -> list[str]:
    """The steps that concern one group or the sets in it."""
    return [
        text for text in lists(plan(now, desired, rules)) if text.lstrip("+-").startswith((name, "set.", "shared/"))
    ]


MIXED = Observed(
    "cgroup2",
    0xFF,
    1,
    {
        "": group("0-7"),
        "plain": group("0-1,4-7", weight=10),
        "set.x": group("2-3"),
        "shared": group("4-7", weight=200),
        "shared/s": group("4-7", weight=200),
        "mix.s+x": group("2-7", weight=100),
    },
)
X, S = Slot(0b1100), SharedSlot(0xF0, guarantee=2.0)


@pytest.mark.parametrize("rules", [V1, V2], ids=["v1", "v2"])
def test_a_task_in_two_sets_has_a_group_with_the_cpus_of_both(rules: Rules) -> None:
    now = dataclasses.replace(MIXED, groups={n: g for n, g in MIXED.groups.items() if n != "mix.s+x"})
    desired = Desired(plain=0xF3, exclusive={"x": X}, shared={"s": S}, mixed=[("s", "x")])
    steps = plan(now, desired, rules)
    assert lists(steps)[-1] == "+mix.s+x=2-7"
    assert not [s for s in steps if isinstance(s, SetQuota)]
    # Its guarantee is the set's, divided between the two groups: no other set's becomes smaller.
    weights = {s.name: s.after / rules.weight_unit for s in steps if isinstance(s, SetWeight)}
    assert weights["shared/s"] == weights["shared"] == weights["mix.s+x"] == 1.0
    wanted = [(d.set_id, d.group, d.field) for d in differences(now, desired, rules) if d.group == "mix.s+x"]
    assert wanted == [("s", "mix.s+x", "missing"), ("x", "mix.s+x", "missing")]


def test_a_mixed_group_stays_as_long_as_its_sets_and_follows_them() -> None:
    now, plain = MIXED, 0xF3
    # It is not named any more: after a restart of the provider nobody knows who asked for it.
    assert mix("mix", now, Desired(plain=plain, exclusive={"x": X}, shared={"s": S})) == []
    # Another exclusive set takes CPUs of the shared one: the mixed group gives them up before.
    taken = Desired(plain=0x33, exclusive={"x": X, "y": Slot(0xC0)}, shared={"s": SharedSlot(0x30, guarantee=2.0)})
    steps = mix("mix", now, taken)
    assert steps.index("mix.s+x=2-5") < steps.index("+set.y=6-7")
    # The exclusive one grows into the shared one's CPUs, which the mixed group has anyway.
    grown = Desired(plain=0xE3, exclusive={"x": Slot(0b11100)}, shared={"s": SharedSlot(0xE0, guarantee=2.0)})
    assert mix("mix", now, grown) == ["shared/s=5-7", "set.x=2-4"]
    # It shrinks, and the CPU goes to another exclusive set at once.
    shrunk = Desired(plain=plain, exclusive={"x": Slot(0b1000), "y": Slot(0b100)}, shared={"s": S})
    steps = mix("mix", now, shrunk)
    assert steps.index("mix.s+x=3-7") < steps.index("+set.y=2")
    for gone in (Desired(plain=plain, exclusive={"x": X}), Desired(plain=plain, shared={"s": S})):
        assert "-mix.s+x" in mix("mix", now, gone)


def test_a_partition_is_mixed_with_nothing() -> None:
    now = dataclasses.replace(MIXED, groups={n: g for n, g in MIXED.groups.items() if n != "mix.s+x"})
    isolated = Slot(0b1100, partition="isolated")
    desired = Desired(plain=0xF3, exclusive={"x": isolated}, shared={"s": S}, mixed=[("s", "x")])
    assert mix("mix", now, desired) == []


def test_a_mixed_group_whose_exclusive_set_lost_all_its_cpus() -> None:
    desired = Desired(plain=0xF3, shared={"s": S}, kept={"x": 0})
    assert mix("mix", MIXED, desired) == ["set.x=0-1,4-7", "mix.s+x=4-7"]


def test_differences_name_set_and_field() -> None:
    now = host(
        "0-3",
        base=group("0-3"),
        plain=group("0-1"),
        set_a=group("2"),
        set_old=group("3"),
    )
    found = differences(now, Desired(plain=1, exclusive={"a": Slot(2), "b": Slot(8)}), V1)
    assert [(d.set_id, d.field, d.wanted, d.found) for d in found] == [
        (None, "cpus", "0", "0-1"),
        ("a", "cpus", "1", "2"),
        ("b", "missing", "a cgroup", "none"),
        ("old", "extra", "none", "CPUs 3"),
    ]


@pytest.mark.parametrize("set_id", ["", ".", "../x", "a/b", "a b", "x" * 201, "ä"])
def test_ids_that_name_no_directory(set_id: str) -> None:
    with pytest.raises(EnforcementError):
        group_name(set_id)
