"""What is RAW, what a set says of itself, and that all CPUs are counted once."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_api.wire import mesos_pb2
from profiles.mapping import Memory, Power, Profile
from provider import cpuset, inventory
from provider.errors import StateError
from provider.inventory import State
from provider.layout import Config, PoolConfig
from provider.power_rules import GOVERNOR, Policy
from provider.room import Growth, RawLabels, growth
from tests.unit.hosts import D16, S8, U4, host, make_set


def no_labels(place: inventory.Place) -> mesos_pb2.Labels:
    return mesos_pb2.Labels()


def stack(*roles: str) -> bytes:
    kind = mesos_pb2.Resource.ReservationInfo
    return inventory.stack_from(kind(type=kind.DYNAMIC, role=role) for role in roles)


def check(one: inventory.Host, state: State) -> inventory.Figures:
    figures = inventory.figures(one, state)
    total = figures.raw_total + figures.sets + figures.floor + figures.reserved
    assert total == figures.online + figures.lost + figures.unbacked
    return figures


def test_an_empty_host_is_all_raw_but_the_floor() -> None:
    figures = check(host(D16), State())
    assert dict(figures.raw) == {("numa/0", "default", b""): 6, ("numa/1", "default", b""): 8}
    assert (figures.floor, figures.reserved, figures.online) == (2, 0, 16)


def test_reserved_pools_and_floor_are_cut_out() -> None:
    config = Config(reserved=1, floor=4, pools=(PoolConfig("rt", cpus=cpuset.parse("7,15")),))
    figures = check(host(D16, config), State())
    assert dict(figures.raw) == {
        ("numa/0", "default", b""): 2,
        ("numa/1", "default", b""): 6,
        ("numa/1", "rt", b""): 2,
    }
    assert (figures.floor, figures.reserved) == (4, 2)


@pytest.mark.parametrize(("group_by", "zones"), [("PACKAGE", 2), ("MACHINE", 1)])
def test_zones_follow_the_grouping(group_by: str, zones: int) -> None:
    figures = check(host(D16, Config(group_by=group_by)), State())
    assert len(figures.raw) == zones
    assert figures.raw_total == 14


def test_exclusive_sets_take_what_they_charge_and_give_it_back() -> None:
    place = host(S8)
    state = State().with_set(make_set("a", "1,5")).with_set(make_set("b", "2", blocked="6"))
    figures = check(place, state)
    assert figures.raw_total == 2
    assert figures.sets == 4
    assert inventory.free(place, state, "default") == cpuset.parse("3,7")
    assert inventory.plain_mask(place, state) == cpuset.parse("0,4,3,7")
    state = state.without_set("a").without_set("a")
    assert check(place, state).raw_total == 4


def test_a_guarantee_is_taken_off_raw_but_no_cpu_is_held() -> None:
    place = host(S8)
    state = State().with_set(make_set("s", guarantee=3)).with_set(make_set("a", "1,5"))
    figures = check(place, state)
    assert figures.raw_total == 1
    assert inventory.float_mask(place, state, "default") == cpuset.parse("2,3,6,7")
    assert figures.unbacked == 0


def test_a_cpu_is_in_no_two_sets() -> None:
    state = State().with_set(make_set("a", "1,5")).with_set(make_set("b", "5"))
    with pytest.raises(StateError, match="b holds CPUs 5"):
        inventory.figures(host(S8), state)


def test_cpus_that_went_away_are_lost_and_not_counted_twice() -> None:
    state = State().with_set(make_set("a", "3,7", zone="numa/0")).with_set(make_set("s", guarantee=2))
    figures = check(host(U4), state)
    assert figures.lost == 1
    assert (figures.online, figures.floor, figures.raw_total, figures.unbacked) == (4, 1, 0, 0)
    figures = check(host(U4), state.with_set(make_set("t", guarantee=2)))
    assert figures.unbacked == 2


def test_a_held_cpu_that_becomes_reserved_is_counted_once() -> None:
    state = State().with_set(make_set("a", "1"))
    figures = check(host(S8, Config(reserved=cpuset.parse("1"))), state)
    assert (figures.reserved, figures.sets, figures.floor, figures.raw_total) == (1, 1, 2, 4)


def test_a_guarantee_of_a_zone_that_is_gone_is_kept_elsewhere() -> None:
    state = State().with_set(make_set("s", guarantee=3, zone="numa/1"))
    figures = check(host(S8), state)
    assert figures.raw_total == 3
    assert figures.unbacked == 0


def test_isolated_cpus_are_neither_offered_nor_plain() -> None:
    place = host(replace(S8, isolated=cpuset.parse("3,7")))
    figures = check(place, State())
    assert figures.raw_total == 4
    assert figures.reserved == 2
    assert not inventory.plain_mask(place, State()) & cpuset.parse("3,7")
    place = host(replace(S8, isolated=cpuset.parse("3,7")), Config(pools=(PoolConfig("rt", cpus=0b10001000),)))
    assert check(place, State()).raw_total == 6
    assert not inventory.plain_mask(place, State()) & cpuset.parse("3,7")


def test_reservations_follow_the_set_and_come_back() -> None:
    place = replace(host(S8), default_stack=stack("d"))
    state = State().with_reserved({("numa/0", "default", stack("x")): 4})
    assert dict(inventory.raw(place, state)) == {
        ("numa/0", "default", stack("x")): 4,
        ("numa/0", "default", stack("d")): 2,
    }
    held = state.with_set(make_set("a", "1,5", stack=stack("x")))
    assert dict(inventory.raw(place, held)) == {
        ("numa/0", "default", stack("x")): 2,
        ("numa/0", "default", stack("d")): 2,
    }
    check(place, held)
    assert inventory.raw(place, held.without_set("a")) == inventory.raw(place, state)


def test_reserved_amounts_never_go_below_zero_and_zero_is_nothing() -> None:
    key = ("numa/0", "default", stack("x"))
    state = State().with_reserved({key: 2})
    assert State() == state.with_reserved({key: -2})
    with pytest.raises(StateError):
        state.with_reserved({key: -3})


def test_state_does_not_depend_on_the_order_of_events() -> None:
    a, b, c = make_set("a", "1,5"), make_set("b", "2,6"), make_set("c", "3,7")
    one = State().with_set(a).with_set(b).without_set("a").with_set(c)
    other = State().with_set(c).with_set(b)
    assert one == other
    assert inventory.raw(host(S8), one) == inventory.raw(host(S8), other)


def test_a_resource_in_the_old_form_means_its_reservation() -> None:
    old = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR, role="x")
    kind = mesos_pb2.Resource.ReservationInfo
    assert inventory.stack_of(old) == inventory.stack_from([kind(type=kind.STATIC, role="x")])
    old.reservation.principal = "p"
    assert inventory.stack_of(old) == inventory.stack_from([kind(type=kind.DYNAMIC, role="x", principal="p")])
    old.role = "*"
    assert inventory.stack_of(old) == b""
    assert inventory.reservations_of(stack("a", "b"))[-1].role == "b"


def test_resources_say_all_that_the_design_wants() -> None:
    place = replace(host(D16), enforcement="cgroup2", path=lambda set_id, shared: f"/cg/{set_id}/{shared}")
    denied = Profile(name="latency", core_siblings="denied")
    state = State().with_set(make_set("a", "1", blocked="9", profile=denied)).with_set(make_set("s", guarantee=1))
    found = inventory.resources(place, state, "rp", no_labels)
    raw = [r for r in found if r.cpu.source.type == inventory.Source.RAW]
    assert [(r.cpu.source.zone, r.cpu.source.pool, r.scalar.value) for r in raw] == [
        ("numa/0", "default", 3.0),
        ("numa/1", "default", 8.0),
    ]
    assert not any(r.cpu.source.HasField("id") or r.cpu.source.HasField("profile") for r in raw)
    assert all(r.provider_id.value == "rp" and r.name == "cpus" for r in found)
    exclusive, shared = found[len(raw) :]
    labels = {label.key: label.value for label in exclusive.cpu.source.metadata.labels}
    assert labels == {"cpus": "1", "mems": "0", "blocked": "9", "cgroup": "/cg/a/False", "enforcement": "cgroup2"}
    assert (exclusive.scalar.value, exclusive.cpu.source.id, exclusive.cpu.source.profile) == (2.0, "a", "latency")
    labels = {label.key: label.value for label in shared.cpu.source.metadata.labels}
    assert labels["cpus"] == "2-7,10-15"
    assert labels["mems"] == "0-1"
    assert shared.cpu.source.type == inventory.Source.SHARED


def test_raw_labels_tell_what_can_be_had() -> None:
    place = host(D16)
    state = State().with_set(make_set("a", "1"))
    wishes = [
        Profile(name="any"),
        Profile(name="whole", core_siblings="required"),
        Profile(name="shared", mode="shared"),
        Profile(name="elsewhere", pool="rt"),
    ]
    here = place.zone_pool("numa/0", "default") & ~inventory.held(state)
    labels = labels_of(place, wishes, inventory.Place("numa/0", "default", here, 5))
    assert labels["free_whole_cores"] == "2"
    assert labels["free_cpus_by_llc"] == "0:5"
    assert labels["distances"].split(",")[0] == "10"
    assert labels["largest/any"] == "5"
    assert labels["largest/whole"] == "4"
    assert labels["largest/shared"] == "5"
    assert "largest/elsewhere" not in labels
    assert labels_of(place, wishes[:1], inventory.Place("numa/0", "default", here, 3))["largest/any"] == "3"


def labels_of(host: inventory.Host, profiles: list[Profile], place: inventory.Place) -> dict[str, str]:
    labels = RawLabels()
    labels.use(host, tuple(profiles))
    return {label.key: label.value for label in labels(place).labels}


def test_labels_are_worked_out_beforehand_for_profiles_that_come() -> None:
    place, state = host(D16), State().with_set(make_set("a", "1"))
    before, after = (Profile(name="old"),), (Profile(name="new", core_siblings="required"), Profile(name="old"))
    labels = RawLabels()
    labels.use(place, before)
    steps = list(labels.prepare(after, state))
    assert len(steps) > 4, "one for each profile and zone, and one for each zone"
    here = inventory.places(place, state)[0]
    # Nothing of it is told before they are in use.
    assert [label.key for label in labels(here).labels][-1] == "largest/old"
    labels.use(place, after)
    ready = labels._made
    assert set(ready) == set(inventory.places(place, state))
    told = {label.key: label.value for label in labels(here).labels}
    assert (told["largest/new"], told["largest/old"]) == ("4", "5")
    assert told == labels_of(place, list(after), here)
    # Another host: nothing that was worked out counts.
    labels.use(host(D16), after)
    assert not labels._made


def test_memory_nodes_of_a_shared_set_follow_its_cpus() -> None:
    place = host(D16)
    bound = Profile(name="p", mode="shared", memory=Memory(policy="bind"))
    one = make_set("s", guarantee=1, profile=bound)
    state = State().with_set(one).with_set(make_set("a", "1-3,9-11"))
    assert inventory.set_mems(place, state, one) == 0b10
    assert inventory.set_mems(place, State().with_set(one), one) == 0b11


def test_nothing_runs_nowhere() -> None:
    everything = State().with_set(make_set("a", "0-7"))
    assert inventory.plain_mask(host(S8), everything)
    shared = make_set("s", guarantee=1, profile=Profile(name="p", mode="shared", pool="gone"))
    state = State().with_set(shared)
    assert inventory.float_mask(host(S8), state, "gone") == inventory.plain_mask(host(S8), state)


@given(st.lists(st.tuples(st.integers(0, 15), st.booleans(), st.integers(1, 3)), max_size=8), st.integers(1, 0xFFFF))
def test_the_sum_holds_for_any_sets_on_any_part_of_the_host(wishes: list[tuple[int, bool, int]], allowed: int) -> None:
    names = itertools.count()
    state, used = State(), 0
    for cpu, exclusive, guarantee in wishes:
        zone = f"numa/{(cpu % 8) // 4}"
        if exclusive and not used >> cpu & 1:
            used |= 1 << cpu
            state = state.with_set(make_set(f"e{next(names)}", str(cpu), zone))
        elif not exclusive:
            state = state.with_set(make_set(f"s{next(names)}", guarantee=guarantee, zone=zone))
    try:
        place = host(D16, allowed=allowed)
    except Exception:
        return  # no room for a floor: such a host cannot be configured
    figures = check(place, state)
    assert all(amount > 0 for amount in figures.raw.values())


def test_what_can_be_had_with_power_settings() -> None:
    """Only some CPUs have cpufreq: the others are no promise."""
    fast, slow = Profile("fast", power=Power("performance")), Profile("slow", power=Power(max_mhz=1))
    files = frozenset({GOVERNOR})
    place = replace(host(S8), policies={cpu: Policy(1 << cpu, files=files) for cpu in (1, 2, 5)})
    labels = RawLabels()
    labels.use(place, (fast, slow, Profile("any")))
    (free,) = inventory.places(place, State())
    told = {label.key: label.value for label in labels(free).labels}
    assert (told["largest/fast"], told["largest/slow"], told["largest/any"]) == ("3", "0", "6")
    one = make_set("a", "1,5", profile=fast)
    assert growth(place, State().with_set(one), one) == 1


@pytest.mark.parametrize(
    ("profile", "cpus", "blocked", "others", "more"),
    [
        (Profile(name="p"), "1,9", "", "", 4),  # the floor is 0,8
        (Profile(name="p"), "1,9", "", "2,4", 3),
        (Profile(name="p", core_siblings="required"), "1,9", "", "2", 2),
        (Profile(name="p", core_siblings="denied"), "1", "9", "2", 2),
        (Profile(name="p", memory=Memory("bind", "required")), "5,13", "", "", 6),
        (Profile(name="p"), "3,4,11,12", "", "", 10),  # on both nodes
        (Profile(name="p"), "1-3,9-11", "", "", 0),
    ],
)
def test_how_far_a_set_can_grow_on_its_own_nodes(
    profile: Profile, cpus: str, blocked: str, others: str, more: int
) -> None:
    place = host(D16)
    one = make_set("a", cpus, blocked=blocked, profile=profile)
    zone = next(iter(place.layout.zone_of(one.cpus)))
    one = replace(one, charges=(replace(one.charges[0], zone=zone),))
    state = State().with_set(one)
    for index, cpu in enumerate(cpuset.ids(cpuset.parse(others))):
        state = state.with_set(make_set(f"o{index}", str(cpu), next(iter(place.layout.zone_of(1 << cpu)))))
    assert growth(place, state, one) == more
    known = Growth()
    assert known(place, state)["a"] == known(place, state)["a"] == more
    # A guarantee of others is not to be had, whoever's CPUs it lies on.
    guarded = state.with_set(make_set("s", zone=zone, guarantee=2))
    assert known(place, guarded)["a"] == growth(place, guarded, one) == min(more, place_room(place, guarded, one))


def place_room(place: inventory.Host, state: State, one: inventory.CpuSet) -> int:
    zones = place.layout.zone_of(one.cpus)
    return sum(amount for (zone, _, _), amount in inventory.raw(place, state).items() if zone in zones)
