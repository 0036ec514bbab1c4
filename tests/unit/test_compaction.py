"""Which sets move when a host has become fragmented: a table of states, and what holds for any of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.mapping import Memory, Profile
from provider import cpuset, inventory, revocable
from provider.compaction import GAINS, Move, search
from provider.errors import Refused
from provider.inventory import Charge, CpuSet, Host, State
from provider.layout import Config
from tests.unit import machines
from tests.unit.hosts import D16, host, make_set

ANY = Profile("any")
BIND = Profile("bind", memory=Memory("bind"))
WHOLE = Profile("whole", core_siblings="required")
ROLE = inventory.stack_from(
    [inventory.mesos_pb2.Resource.ReservationInfo(type=inventory.mesos_pb2.Resource.ReservationInfo.DYNAMIC, role="r")]
)


def a_set(place: Host, name: str, cpus: str, profile: Profile = ANY, stack: bytes = b"", blocked: str = "") -> CpuSet:
    """A set as it would have been made there."""
    one = make_set(name, cpus, blocked=blocked, profile=profile)
    nodes = cpuset.of(node.id for node in place.topology.nodes if node.cpus & one.cpus)
    mems = nodes if profile.memory.policy != "none" else place.allowed_mems
    zones = place.layout.zone_of(one.cpus | one.blocked)
    return replace(one, mems=mems, charges=tuple(Charge(zone, stack, n) for zone, n in zones.items()))


def state_of(*sets: CpuSet) -> State:
    state = State()
    for one in sets:
        state = state.with_set(one)
    return state


def moves_of(place: Host, state: State, *only: str) -> tuple[list[Move], State]:
    """What a dry run finds, and the state it leads to; whatever is true of each step is checked."""
    found: list[Move] = []
    now = state

    def do(move: Move) -> bool:
        nonlocal now
        others = inventory.held(now, but=move.before.id)
        assert not others & (move.after.cpus | move.after.blocked), "two sets on one CPU"
        assert move.after.charge == move.before.charge
        before, now = now, move.state(now)
        first, second = inventory.figures(place, before), inventory.figures(place, now)
        assert (first.raw_total, first.unbacked) == (second.raw_total, second.unbacked)
        old, new = zip(*move.counts, strict=True)
        assert new < old
        found.append(move)
        return True

    for _ in search(lambda: (place, now), do, only):
        pass
    return found, now


def told(moves: list[Move]) -> list[tuple[str, str, str]]:
    return [(m.after.id, cpuset.format_mask(m.before.cpus), cpuset.format_mask(m.after.cpus)) for m in moves]


# D16: two nodes, packages and caches of four cores; siblings are 8 apart; CPUs 0 and 8 are the floor's.


def test_a_set_on_two_nodes_goes_to_one() -> None:
    place = host(D16)
    moves, after = moves_of(place, state_of(a_set(place, "a", "3-4,11-12")))
    assert told(moves) == [("a", "3-4,11-12", "1-2,9-10")]
    assert moves[0].gains["nodes"] == (2, 1)
    assert {"packages", "last-level caches", "distance"} <= set(moves[0].gains)
    assert [(c.zone, c.cpus) for c in after.sets["a"].charges] == [("numa/0", 4)]


def test_what_lies_well_stays() -> None:
    place = host(D16)
    assert moves_of(place, state_of(a_set(place, "a", "1,9"), a_set(place, "b", "4-5,12-13")))[0] == []
    assert moves_of(place, State())[0] == []


def test_one_goes_after_the_other_made_room() -> None:
    place = host(D16)
    state = state_of(a_set(place, "a", "3-4,11-12"), a_set(place, "b", "2,5,10,13"), a_set(place, "c", "7,15"))
    moves, after = moves_of(place, state)
    assert len(moves) == 2
    assert {name: len(place.layout.zone_of(one.cpus)) for name, one in after.sets.items()} == {"a": 1, "b": 1, "c": 1}
    assert after.sets["c"] == state.sets["c"]


def test_bound_memory_goes_along_and_reservations_too() -> None:
    place = host(D16)
    one = a_set(place, "a", "3-4,11-12", BIND, ROLE)
    reserved = {("numa/0", "default", ROLE): 2, ("numa/1", "default", ROLE): 3}
    state = replace(state_of(one), reserved=reserved)
    moves, after = moves_of(place, state)
    assert (moves[0].before.mems, moves[0].after.mems) == (0b11, 0b1)
    assert dict(after.reserved) == {("numa/0", "default", ROLE): 4, ("numa/1", "default", ROLE): 1}
    assert after.sets["a"].charges == (Charge("numa/0", ROLE, 4),)


def test_what_is_reserved_or_guaranteed_there_is_not_taken() -> None:
    place = host(D16)
    one = a_set(place, "a", "3-5,11-13")
    free = state_of(one)
    assert moves_of(place, free)[0]
    # Of node 0 four CPUs are free, of node 1 four: with one guaranteed in each, six fit nowhere.
    full = free.with_set(make_set("s0", guarantee=1)).with_set(make_set("s1", zone="numa/1", guarantee=3))
    assert moves_of(place, full)[0] == []
    taken = replace(free, reserved={("numa/0", "default", ROLE): 4, ("numa/1", "default", ROLE): 4})
    assert moves_of(place, taken)[0] == []


def test_a_reservation_that_was_the_default_one_once_needs_no_other() -> None:
    """The configuration had default_reservations when the set was made: nothing of it is in the reserved amounts."""
    place = host(D16)
    moves, after = moves_of(place, state_of(a_set(place, "a", "3-4,11-12", stack=ROLE)))
    assert told(moves) == [("a", "3-4,11-12", "1-2,9-10")]
    assert dict(after.reserved) == {} and after.sets["a"].charges == (Charge("numa/0", ROLE, 4),)


def test_no_move_revokes_a_set() -> None:
    """The room for revocable sets is rounded zone by zone: 3 CPUs before, and only 2 with the set on node 0."""
    place = host(D16, overcommit=1.35)
    loose = make_set("loose", guarantee=3, profile=Profile("batch", mode="shared"), revocable=True)
    state = state_of(a_set(place, "a", "3-4,11-12")).with_set(loose)
    assert not revocable.revoked(place, state)
    assert moves_of(place, state)[0] == []
    assert moves_of(replace(place, overcommit=1.5), state)[0]


def test_only_the_named_ones_move() -> None:
    place = host(machines.host(machines.Q16))
    state = state_of(a_set(place, "a", "3-4"), a_set(place, "b", "7-8"))
    assert {m.after.id for m in moves_of(place, state)[0]} == {"a", "b"}
    assert {m.after.id for m in moves_of(place, state, "b")[0]} == {"b"}


def test_distance_counts_where_the_number_of_nodes_cannot_change() -> None:
    place = host(machines.host(machines.Q16))
    moves, _ = moves_of(place, state_of(a_set(place, "a", "1-3,13-15")))
    assert len(moves) == 1
    assert moves[0].gains["distance"] == (64, 24) and "nodes" not in moves[0].gains


@pytest.mark.parametrize(
    "profile",
    [Profile("s", placement="spread"), Profile("i", memory=Memory("interleave"))],
)
def test_what_lies_apart_on_purpose_stays(profile: Profile) -> None:
    place = host(D16)
    assert moves_of(place, state_of(a_set(place, "a", "3-4,11-12", profile)))[0] == []


def test_a_set_that_the_host_lost_something_of_stays() -> None:
    place = host(D16, allowed=D16.online & ~(1 << 12))
    assert moves_of(place, state_of(a_set(host(D16), "a", "3-4,11-12")))[0] == []


def test_broken_cores_are_mended_within_the_nodes_of_a_set() -> None:
    place = host(D16)
    none = Profile("none", core_siblings="none", memory=Memory("bind"))
    moves, after = moves_of(place, state_of(a_set(place, "a", "1", none), a_set(place, "b", "2", none)))
    assert [m.gains for m in moves] == [{"broken cores": (2, 0)}]
    both = after.sets["a"].cpus | after.sets["b"].cpus
    assert both in D16.cores
    # For that alone nothing goes to another node: its memory would have to go along.
    far = state_of(a_set(place, "a", "1", none), a_set(place, "b", "4", none))
    assert moves_of(place, far)[0] == []


def test_blocked_siblings_go_along() -> None:
    place = host(D16)
    denied = Profile("d", core_siblings="denied")
    moves, after = moves_of(place, state_of(a_set(place, "a", "3-4", denied, blocked="11-12")))
    assert len(moves) == 1
    one = after.sets["a"]
    assert (one.cpus.bit_count(), one.blocked.bit_count()) == (2, 2)
    assert len(place.layout.zone_of(one.cpus | one.blocked)) == 1


def test_a_move_that_cannot_be_done_is_tried_once() -> None:
    place = host(D16)
    tries: list[str] = []
    state = state_of(a_set(place, "a", "3-4,11-12"))
    for _ in search(lambda: (place, state), lambda move: bool(tries.append(move.after.id))):
        pass
    assert tries == ["a"]


def test_every_gain_has_a_name() -> None:
    place = host(D16)
    (move,) = moves_of(place, state_of(a_set(place, "a", "3-4,11-12")))[0]
    assert len(move.counts) == len(GAINS)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from([ANY, BIND, WHOLE])), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_any_state_is_compacted_in_steps_that_are_whole(wishes: list[tuple[int, Profile]], chance: object) -> None:
    """Sets of random CPUs: each step is checked in `moves_of`; a second time nothing is left to do."""
    place = host(machines.host(machines.Q16), Config(floor=1))
    left = cpuset.ids(place.pool("default"))
    chance.shuffle(left)  # type: ignore[attr-defined]
    state = State()
    for index, (amount, profile) in enumerate(wishes):
        mine, left = left[:amount], left[amount:]
        if mine:
            state = state.with_set(a_set(place, f"s{index}", ",".join(map(str, mine)), profile))
    try:
        moves, after = moves_of(place, state)
    except Refused:
        raise AssertionError("a refusal is no outcome here") from None
    assert len(moves) <= 8 * len(wishes)
    assert {k: v.charge for k, v in after.sets.items()} == {k: v.charge for k, v in state.sets.items()}
