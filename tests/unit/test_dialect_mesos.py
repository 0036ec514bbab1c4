"""A stock Mesos agent's operations: what becomes of the sets, and whether Mesos's own sums stay right."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from google.protobuf.message import Message

from agent_api.wire import mesos_pb2, resource_provider_pb2
from profiles.mapping import Power, Profile
from provider import cpuset, inventory
from provider.dialect import Telling
from provider.dialect_mesos import EXTENSIONS, Mesos
from provider.errors import ConfigError
from provider.inventory import Host, State
from provider.layout import Config, PoolConfig
from provider.operations import Catalogued, Change, Context, Operation, Refusal
from provider.power_rules import GOVERNOR, Policy
from provider.reservation import stack_of
from tests.unit.hosts import D16, S8, host, make_set
from tests.unit.test_provider_operations import VERSION, context

Offer = mesos_pb2.Offer.Operation
Resource = mesos_pb2.Resource
Labels = dict[str, str]
UUID = bytes(16)
DIALECT = Mesos(task_cgroups=True)


def cpus(amount: float, *entries: tuple[str, Labels]) -> Resource:
    """CPUs as Mesos knows them, under these reservations."""
    result = Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    result.provider_id.value = "rp"
    result.scalar.value = amount
    result.allocation_info.role = entries[-1][0] if entries else "r"
    for role, labels in entries:
        entry = result.reservations.add(type=Resource.ReservationInfo.DYNAMIC, role=role)
        for key, value in labels.items():
            entry.labels.labels.add(key=f"pinfold.{key}", value=value)
    return result


def wanted(amount: float, profile: str = "any", role: str = "r", **labels: str) -> Resource:
    return cpus(amount, (role, {"profile": profile, **labels}))


def reserve(*resources: Resource) -> Offer:
    info = Offer(type=Offer.RESERVE)
    info.reserve.resources.extend(resources)
    return info


def unreserve(*resources: Resource) -> Offer:
    info = Offer(type=Offer.UNRESERVE)
    info.unreserve.resources.extend(resources)
    return info


def decide(info: Offer, state: State, ctx: Context) -> Change | Refusal:
    return DIALECT.decide(ctx, state, Operation(UUID, VERSION, "fw", info))


def done(info: Offer, state: State | None = None, ctx: Context | None = None) -> Change:
    ctx, state = ctx or context(), state or State()
    result = decide(info, state, ctx)
    assert isinstance(result, Change), result
    inventory.figures(ctx.host, result.after)
    operation = Operation(UUID, VERSION, "fw", info)
    assert DIALECT.telling(ctx.host, state, operation, result) is Telling.NOTHING
    return result


def refused(info: Offer, state: State | None = None, ctx: Context | None = None) -> str:
    result = decide(info, state or State(), ctx or context())
    assert isinstance(result, Refusal), result
    assert result.state == mesos_pb2.OPERATION_FAILED
    return result.message


def totals(place: Host, state: State) -> dict[bytes, float]:
    found = DIALECT.resources(place, state, "rp", lambda *_: {})
    result = {stack_of(resource): resource.scalar.value for resource in found}
    assert len(result) == len(found), "equal resources are one"
    for resource in found:
        assert not extensions(resource)
    return result


def extensions(message: Message, path: str = "") -> list[str]:
    """Fields of Pinfold's own that are set anywhere in a message."""
    found = []
    for field, value in message.ListFields():
        where = f"{path}.{field.name}"
        if field.number >= EXTENSIONS:
            found.append(where)
        elif field.message_type is not None:
            for inner in [value] if isinstance(value, Message) else value:
                found.extend(extensions(inner, where))
        elif field.enum_type is not None:
            numbers = [value] if isinstance(value, int) else value
            found.extend(where for number in numbers if number >= EXTENSIONS)
    return found


def the_set(change: Change, set_id: str = "new") -> inventory.CpuSet:
    return change.after.sets[set_id]


def test_raw_is_one_amount() -> None:
    assert totals(host(D16), State()) == {b"": 14}
    pools = host(D16, Config(pools=(PoolConfig("rt", cpus=0b1100 << 8 | 0b1100),)))
    assert totals(pools, State()) == {b"": 14}


def test_a_reservation_with_a_profile_is_a_set() -> None:
    info = reserve(wanted(4, "whole"))
    change = done(info)
    one = the_set(change)
    assert (one.profile.name, one.role, one.framework_id, one.charge) == ("whole", "r", "fw", 4)
    assert one.cpus.bit_count() == 4
    (converted,) = change.converted
    assert not converted.HasField("allocation_info")
    assert (converted.scalar.value, stack_of(converted)) == (4, stack_of(info.reserve.resources[0]))
    assert totals(host(S8), change.after) == {b"": 2, stack_of(converted): 4}


def test_the_same_reservation_again_makes_the_set_larger_and_unreserve_smaller() -> None:
    first = done(reserve(wanted(2)))
    second = done(reserve(wanted(2)), first.after)
    assert list(second.after.sets) == ["new"]
    assert the_set(second).charge == 4
    assert the_set(first).cpus & ~the_set(second).cpus == 0
    third = done(unreserve(wanted(3)), second.after)
    assert the_set(third).charge == 1
    assert the_set(third).cpus & ~the_set(second).cpus == 0
    last = done(unreserve(wanted(1)), third.after)
    assert last.after == State()
    assert [(r.scalar.value, len(r.reservations)) for r in last.converted] == [(1, 0)]


def test_another_set_label_is_another_set() -> None:
    first = done(reserve(wanted(2, set="a")))
    second = done(reserve(wanted(2, set="b")), first.after)
    assert sorted(second.after.sets) == ["a", "b"]
    assert not second.after.sets["a"].cpus & second.after.sets["b"].cpus
    message = refused(reserve(wanted(1, set="a", role="q")), second.after)
    assert "label pinfold.set: set 'a' exists already, reserved for r (" in message
    assert "exists already" in refused(reserve(wanted(1, "whole", set="a")), second.after)


def test_two_sets_in_one_operation() -> None:
    change = done(reserve(wanted(2, "any"), wanted(2, "whole")))
    assert sorted((one.profile.name, one.charge) for one in change.after.sets.values()) == [("any", 2), ("whole", 2)]
    assert len(change.converted) == 2
    message = refused(reserve(wanted(2, "any"), wanted(6, "whole")))
    assert "8 cpus unreserved are asked for and 6 are there" in message


def test_denied_siblings_are_charged() -> None:
    one = the_set(done(reserve(wanted(4, "denied"))))
    assert (one.cpus.bit_count(), one.blocked.bit_count(), one.charge) == (2, 2, 4)
    assert "denied" in refused(reserve(wanted(3, "denied")))


def test_shared_sets() -> None:
    first = done(reserve(wanted(2, "batch", burst="5")))
    assert (the_set(first).cpus, the_set(first).charge, the_set(first).burst) == (0, 2, 5.0)
    second = done(reserve(wanted(2, "batch", burst="5")), first.after)
    assert the_set(second).charge == 4
    assert "above the burst" in refused(reserve(wanted(2, "batch", burst="5")), second.after)
    third = done(unreserve(wanted(1, "batch", burst="5")), second.after)
    assert the_set(third).charge == 3
    # The guarantee is kept from exclusive sets.
    assert "4 cpus unreserved are asked for and 3 are there" in refused(reserve(wanted(4)), third.after)
    done(reserve(wanted(3)), third.after, context(new_set_id="other"))
    assert "label pinfold.burst: only shared profiles" in refused(reserve(wanted(2, burst="5")))
    assert "label pinfold.burst: 1 is below" in refused(reserve(wanted(2, "batch", burst="1")))


def test_a_zone() -> None:
    place = context(host(D16))
    one = the_set(done(reserve(wanted(4, zone="numa/1")), ctx=place))
    assert one.cpus & ~D16.nodes[1].cpus == 0
    message = refused(reserve(wanted(7, zone="numa/0")), ctx=place)
    assert "7 CPUs of zone numa/0, pool default are asked for and 6 are there; the most of one zone is 8 in numa/1" in (
        message
    )
    assert "zone 'numa/9' is unknown; there are numa/0, numa/1" in refused(reserve(wanted(1, zone="numa/9")), ctx=place)
    shared = done(reserve(wanted(3, "batch", zone="numa/1")), ctx=place)
    assert [(charge.zone, charge.cpus) for charge in the_set(shared).charges] == [("numa/1", 3)]


def test_a_set_goes_over_zones_where_it_must() -> None:
    place = context(host(D16))
    one = the_set(done(reserve(wanted(10)), ctx=place))
    assert sorted(charge.cpus for charge in one.charges) == [4, 6]
    half = done(reserve(wanted(3, zone="numa/1")), ctx=place).after
    other = replace(place, new_set_id="other")
    assert "one NUMA node" in refused(reserve(wanted(7, "bound")), half, other)


def test_what_is_reserved_for_somebody_may_be_anywhere() -> None:
    """Stock Mesos knows no zones: a reservation of RAW must not keep a set out of the only node that suits it."""
    place = context(host(D16))
    state = done(reserve(cpus(8, ("q", {}))), ctx=place).after
    for profile in ("bound", "any"):
        change = done(reserve(wanted(6, profile)), state, ctx=place)
        assert len(the_set(change).charges) == 1
        assert totals(place.host, change.after)[stack_of(cpus(1, ("q", {})))] == 8
    # Refined into a set, and given back to where it came from.
    refined = cpus(6, ("q", {}), ("q/x", {"profile": "bound"}))
    change = done(reserve(refined), state, ctx=place)
    assert the_set(change).role == "q/x"
    assert totals(place.host, change.after)[stack_of(cpus(1, ("q", {})))] == 2
    back = done(unreserve(refined), change.after, ctx=place)
    assert totals(place.host, back.after) == totals(place.host, state)


def test_a_pool_is_the_profile_s() -> None:
    place = context(host(D16, Config(pools=(PoolConfig("rt", cpus=cpuset.parse("2-3,10-11")),))))
    one = the_set(done(reserve(wanted(4, "rt")), ctx=place))
    assert one.cpus == cpuset.parse("2-3,10-11")
    assert "5 CPUs of pool rt are asked for and 4 are there" in refused(reserve(wanted(5, "rt")), ctx=place)
    assert "pool 'rt', which is not configured" in refused(reserve(wanted(1, "rt")), ctx=context(host(S8)))


def test_isolated_cpus_are_not_shared() -> None:
    pools = Config(pools=(PoolConfig("rt", cpus=cpuset.parse("2,6")),))
    place = context(host(replace(S8, isolated=cpuset.parse("2,6")), pools))
    profiles = {**place.profiles, "both": Catalogued(Profile(name="both", mode="shared", pool="rt"))}
    assert "pool 'rt' has isolated CPUs, 2,6" in refused(
        reserve(wanted(1, "both")), ctx=replace(place, profiles=profiles)
    )
    done(reserve(wanted(2, "rt")), ctx=place)


def test_an_ordinary_reservation() -> None:
    change = done(reserve(cpus(2, ("r", {}))))
    assert not change.after.sets
    assert totals(host(S8), change.after) == {b"": 4, stack_of(cpus(1, ("r", {}))): 2}
    assert done(unreserve(cpus(2, ("r", {}))), change.after).after == State()
    assert "3 cpus reserved for r are asked for and 2 are there" in refused(unreserve(cpus(3, ("r", {}))), change.after)


def test_default_reservations() -> None:
    stack = stack_of(cpus(1, ("r", {})))
    place = context(host(S8, default_stack=stack))
    assert totals(place.host, State()) == {stack: 6}
    change = done(reserve(cpus(4, ("r", {}), ("r/a", {"profile": "any"}))), ctx=place)
    assert done(unreserve(cpus(4, ("r", {}), ("r/a", {"profile": "any"}))), change.after, place).after == State()
    assert "2 cpus unreserved are asked for and 0 are there" in refused(reserve(wanted(2)), ctx=place)


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (reserve(wanted(2, "none")), "label pinfold.profile: unknown profile 'none'; known are any"),
        (reserve(wanted(2, "old")), "label pinfold.profile: profile 'old' is inactive: it is not in the document"),
        (reserve(wanted(0.5)), r"reserve.resources\[0\]: a whole number of CPUs above 0 is needed, got 0.5"),
        (reserve(cpus(0.5, ("r", {}))), "a whole number"),
        (reserve(wanted(7)), "7 cpus unreserved are asked for and 6 are there"),
        (reserve(cpus(1, ("r", {"profile": "any"}), ("r/a", {}))), "cannot be refined"),
        (reserve(), "at least one resource"),
        (unreserve(cpus(1)), "has no reservation"),
        (unreserve(wanted(1)), "1 cpus reserved for r .pinfold.profile=any. are asked for and 0 are there"),
        (Offer(type=Offer.RESERVE), "lacks its field 'reserve'"),
        (Offer(type=Offer.CREATE_DISK), "not supported by this provider; it does RESERVE, UNRESERVE"),
        (Offer(type=Offer.CREATE_CPUSET), "operation CREATE_CPUSET is not supported"),
    ],
)
def test_what_is_refused(info: Offer, words: str) -> None:
    message = refused(info)
    assert re.search(words, message), message


def test_resources_of_others() -> None:
    other = wanted(1)
    other.provider_id.value = "other"
    assert "provider_id 'other' is not this provider's" in refused(reserve(other))
    revocable = wanted(1)
    revocable.revocable.SetInParent()
    assert "revocable CPUs cannot be reserved" in refused(reserve(revocable))
    memory = wanted(1)
    memory.name = "mem"
    assert "name 'cpus' is needed, got 'mem'" in refused(reserve(memory))


def test_a_source_that_is_named() -> None:
    """RESERVE may say what it reserves anew: from one reservation to another in one step."""
    state = done(reserve(cpus(4, ("r", {})))).after
    info = reserve(wanted(4))
    info.reserve.source.append(cpus(4, ("r", {})))
    change = done(info, state)
    assert the_set(change).charge == 4
    assert totals(host(S8), change.after) == {b"": 2, stack_of(wanted(1)): 4}
    info.reserve.source[0].scalar.value = 3
    assert "the amounts before and after differ" in refused(info, state)


def test_a_set_in_use_stays() -> None:
    state = done(reserve(wanted(2))).after
    assert DIALECT.emptied(state, unreserve(wanted(2))) == {"new"}
    message = refused(unreserve(wanted(2)), state, context(occupied={"new": 3}))
    assert message == "unreserve.resources: set new is in use: 3 processes are in its cgroup"


def test_a_set_that_becomes_another_reservation_is_destroyed_too() -> None:
    state = done(reserve(wanted(2))).after
    info = reserve(cpus(2, ("r", {})))
    info.reserve.source.append(wanted(2))
    assert DIALECT.emptied(state, info) == {"new"}
    message = refused(info, state, context(occupied={"new": 3}))
    assert message == "reserve.resources: set new is in use: 3 processes are in its cgroup"
    assert not done(info, state).after.sets


def test_power_that_would_hold_for_others_is_refused() -> None:
    """S8: siblings are 4 apart; here each core has one cpufreq policy."""
    files = frozenset({GOVERNOR})
    policies = {cpu: Policy(1 << cpu % 4 | 1 << cpu % 4 + 4, files=files) for cpu in range(8)}
    profiles = {"fast": Catalogued(Profile("fast", power=Power("performance")))}
    ctx = replace(context(replace(host(S8), policies=policies)), profiles=profiles)
    alone = "power: the cpufreq policy of CPU 1 covers CPUs 5 too, which are not the set's"
    assert alone in refused(reserve(wanted(1, "fast")), ctx=ctx)
    state = done(reserve(wanted(2, "fast")), ctx=ctx).after
    assert "which are not the set's" in refused(reserve(wanted(1, "fast")), state, ctx)
    assert "which are not the set's" in refused(unreserve(wanted(1, "fast")), state, ctx)
    assert done(reserve(wanted(2, "fast")), state, ctx).after.sets["new"].charge == 4


def test_a_stale_version() -> None:
    operation = Operation(UUID, b"x" * 16, "fw", reserve(wanted(2)))
    outcome = DIALECT.decide(context(), State(), operation)
    assert isinstance(outcome, Refusal)
    assert outcome.state == mesos_pb2.OPERATION_DROPPED
    assert DIALECT.telling(host(S8), State(), operation, outcome) is Telling.REPORT


def test_what_mesos_assumed_and_did_not_happen_is_told() -> None:
    operation = Operation(UUID, VERSION, "fw", reserve(wanted(7)))
    outcome = DIALECT.decide(context(), State(), operation)
    assert DIALECT.telling(host(S8), State(), operation, outcome) is Telling.NEW_VERSION
    # A set gives back less than Mesos believes once the host has lost one of its CPUs.
    state = done(reserve(wanted(4))).after
    lost = state.sets["new"].cpus & -state.sets["new"].cpus
    place = context(replace(host(S8), allowed=S8.online & ~lost))
    operation = Operation(UUID, VERSION, "fw", unreserve(wanted(4)))
    outcome = DIALECT.decide(place, state, operation)
    assert isinstance(outcome, Change)
    assert DIALECT.telling(place.host, state, operation, outcome) is Telling.NEW_VERSION
    assert "is degraded" in refused(unreserve(wanted(1)), state, place)


def test_publishing() -> None:
    state = done(reserve(wanted(2, set="a"), wanted(2, set="b"))).after
    used = wanted(0.5, set="a")
    assert DIALECT.used(state, [used]) == ({"a"}, [])
    named, problems = DIALECT.used(state, [used, cpus(1), wanted(1, set="c")])
    assert named == {"a"}
    assert problems[0] == "1 cpus unreserved are no set: no task can use them"
    assert "pinfold.set=c" in problems[1]


def test_cgroups_of_tasks() -> None:
    state = done(reserve(wanted(2, set="a", cgroup="web"), wanted(2, set="b", cgroup="db/1"))).after
    assert DIALECT.groups(state) == {"web": ("a",), "db/1": ("b",)}
    for path in ("web", "web/x", "db", "db/1/2"):
        assert f"label pinfold.cgroup: {path!r} and" in refused(reserve(wanted(1, set="c", cgroup=path)), state)
    done(reserve(wanted(1, set="c", cgroup="webs")), state)
    without = Mesos()
    outcome = without.decide(context(), State(), Operation(UUID, VERSION, "fw", reserve(wanted(2, cgroup="web"))))
    assert isinstance(outcome, Refusal)
    assert "label pinfold.cgroup: this provider runs without --task-cgroup-root" in outcome.message


def running(container: list[str], *resources: Resource) -> mesos_pb2.Task:
    """A task as GET_TASKS shows it; the ids of its container, the innermost first."""
    task = mesos_pb2.Task()
    task.resources.extend(resources)
    task.statuses.add()
    if container:
        one = task.statuses[0].container_status.container_id
        for index, value in enumerate(container):
            one.value = value
            one = one.parent if index + 1 < len(container) else one
    task.statuses.add()
    return task


def test_containers_of_tasks() -> None:
    state = done(reserve(wanted(2, set="a"), wanted(2, "batch", set="b"))).after
    a, b, memory = wanted(1, set="a"), wanted(1, "batch", set="b"), Resource(name="mem")
    for tasks, found in (
        ([], {}),
        ([running(["c1"], a, memory)], {"c1": ("a",)}),
        ([running(["c1"], a, b)], {"c1": ("a", "b")}),
        ([running(["c1"], memory), running(["c2"], cpus(1)), running([], a)], {}),
        (
            [running(["n1", "c1"], a), running(["n2", "c1"], a)],
            dict.fromkeys(("c1", "c1/mesos/n1", "c1/mesos/n2"), ("a",)),
        ),
        ([running(["n1", "c1"], a), running(["n2", "c1"], b)], {"c1/mesos/n1": ("a",), "c1/mesos/n2": ("b",)}),
        ([running(["n1", "c1"], a), running(["n2", "c1"], memory)], {"c1/mesos/n1": ("a",)}),
        ([running([".."], a), running(["a/b"], a), running(["x", ""], a)], {}),
    ):
        assert DIALECT.containers(state, tasks) == found


def test_what_cannot_be_said_to_a_stock_agent() -> None:
    info = mesos_pb2.ResourceProviderInfo(type="t", name="n")
    info.cpu.floor = 2
    info.default_reservations.add(type=Resource.ReservationInfo.DYNAMIC, role="r")
    DIALECT.check(info, done(reserve(wanted(2))).after)
    said = DIALECT.info(info)
    assert not said.HasField("cpu")
    assert info.HasField("cpu")
    assert said.default_reservations[0].role == "r"
    with pytest.raises(ConfigError, match="--engine mesos: set old was made by CREATE_CPUSET"):
        DIALECT.check(info, State().with_set(make_set("old", "1-2")))
    info.cpu.overcommit = 1.5
    with pytest.raises(ConfigError, match=r"cpu.overcommit: 1.5: revocable"):
        DIALECT.check(info, State())
    info.cpu.overcommit = 1
    info.default_reservations[0].labels.labels.add(key="pinfold.profile", value="any")
    with pytest.raises(ConfigError, match=r"default_reservations: label pinfold.profile"):
        DIALECT.check(info, State())


def test_nothing_of_pinfold_s_own_leaves() -> None:
    call = resource_provider_pb2.Call(type=resource_provider_pb2.Call.UPDATE_STATE)
    call.resource_provider_id.value = "rp"
    update = call.update_state
    update.resource_version_uuid.value = VERSION
    update.cpu_report.floor_cpus = 1
    resource = update.resources.add()
    resource.CopyFrom(cpus(1))
    resource.cpu.source.type = inventory.Source.RAW
    for kind in (Offer.RESERVE, Offer.CREATE_CPUSET):
        entry = update.operations.add()
        entry.info.type = kind
        entry.info.reserve.resources.append(resource)
        entry.uuid.value = UUID
        entry.latest_status.state = mesos_pb2.OPERATION_FINISHED
        entry.latest_status.converted_resources.append(resource)
    assert len(extensions(call)) == 7
    copy = resource_provider_pb2.Call()
    copy.CopyFrom(call)
    said = DIALECT.outgoing(call, "agent-1").update_state
    assert not extensions(said)
    assert [(entry.info.type, entry.agent_id.value) for entry in said.operations] == [(Offer.RESERVE, "agent-1")]
    # An operation without the agent's id would end a real agent.
    assert not DIALECT.outgoing(copy, None).update_state.operations


@pytest.mark.parametrize("seed", range(8))
def test_mesos_s_sums_are_ours(seed: int) -> None:
    """Whatever frameworks do: an operation that succeeds leads to what Mesos computes, one that does not to nothing."""
    rng = random.Random(seed)
    place = context(host(D16, Config(pools=(PoolConfig("rt", cpus=cpuset.parse("2-3,10-11")),))))
    state, expected = State(), totals(place.host, State())
    counts = {"done": 0, "refused": 0}
    stacks: list[tuple[tuple[str, Labels], ...]] = [
        (("r", {}),),
        (("q", {}),),
        *((("r", {"profile": profile}),) for profile in ("any", "whole", "denied", "bound", "batch", "rt")),
        (("r", {"profile": "any", "zone": "numa/1"}),),
        *((("q", {}), ("q/x", {"profile": profile, "set": f"x-{profile}"})) for profile in ("whole", "batch")),
    ]
    for step in range(60):
        reserving = rng.random() < 0.5
        # What is there is given back more often than what is not.
        there = [entries for entries in stacks if expected.get(stack_of(cpus(1, *entries)))]
        entries = rng.choice(stacks if reserving or rng.random() < 0.2 or not there else there)
        amount = rng.randint(1, 5)
        resource = cpus(amount, *entries)
        mine = stack_of(resource)
        below = stack_of(cpus(1, *entries[:-1]))
        info = (reserve if reserving else unreserve)(resource)
        outcome = DIALECT.decide(replace(place, new_set_id=f"s{step}"), state, Operation(UUID, VERSION, "fw", info))
        if isinstance(outcome, Refusal):
            counts["refused"] += 1
            assert totals(place.host, state) == {s: n for s, n in expected.items() if n}
            continue
        counts["done"] += 1
        sign = 1 if reserving else -1
        expected[mine] = expected.get(mine, 0) + sign * amount
        expected[below] = expected.get(below, 0) - sign * amount
        state = outcome.after
        inventory.figures(place.host, state)
        assert totals(place.host, state) == {s: n for s, n in expected.items() if n}
    assert counts["done"] > 10
    assert counts["refused"] > 5
