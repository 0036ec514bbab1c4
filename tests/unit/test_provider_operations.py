"""Every operation: what it does, and what it is refused for, in the words of the refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agent_api.wire import mesos_pb2
from profiles.mapping import Memory, Profile
from provider import cpuset, inventory
from provider.inventory import Host, State
from provider.layout import Config, PoolConfig
from provider.operations import Catalogued, Change, Context, Operation, Refusal, decide, terminal_status
from tests.unit.hosts import D16, S8, host, make_set

Offer = mesos_pb2.Offer.Operation
Resource = mesos_pb2.Resource
VERSION = bytes(range(16))
UUID = bytes(16)
PROFILES = {
    name: Catalogued(profile)
    for name, profile in {
        "any": Profile(name="any"),
        "whole": Profile(name="whole", core_siblings="required"),
        "denied": Profile(name="denied", core_siblings="denied"),
        "bound": Profile(name="bound", memory=Memory(policy="bind", mode="required")),
        "batch": Profile(name="batch", mode="shared"),
        "rt": Profile(name="rt", pool="rt"),
    }.items()
} | {"old": Catalogued(Profile(name="old"), active=False, reason="it is not in the document")}


def context(place: Host | None = None, **more: object) -> Context:
    return replace(
        Context(
            host=place or host(S8),
            provider_id="rp",
            version=VERSION,
            profiles=PROFILES,
            labels=lambda place: mesos_pb2.Labels(),
            occupied={},
            now=5.0,
            new_set_id="new",
        ),
        **more,  # type: ignore[arg-type]
    )


def raw(
    amount: float = 2, zone: str = "numa/0", pool: str = "default", role: str | None = "r", *reserved: str
) -> Resource:
    result = Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    result.scalar.value = amount
    result.provider_id.value = "rp"
    result.cpu.source.type = inventory.Source.RAW
    result.cpu.source.zone = zone
    result.cpu.source.pool = pool
    if role is not None:
        result.allocation_info.role = role
    for name in reserved:
        result.reservations.add(type=Resource.ReservationInfo.DYNAMIC, role=name)
    return result


def create(*source: Resource, profile: str = "any", burst: float | None = None) -> Offer:
    info = Offer(type=Offer.CREATE_CPUSET)
    info.create_cpuset.target_profile = profile
    info.create_cpuset.source.extend(source)
    if burst is not None:
        info.create_cpuset.burst = burst
    return info


def destroy(*source: Resource) -> Offer:
    info = Offer(type=Offer.DESTROY_CPUSET)
    info.destroy_cpuset.source.extend(source)
    return info


def resize(cpuset_: list[Resource], add: list[Resource] | None = None, subtract: list[Resource] | None = None) -> Offer:
    info = Offer(type=Offer.RESIZE_CPUSET)
    info.resize_cpuset.cpuset.extend(cpuset_)
    info.resize_cpuset.add.extend(add or [])
    info.resize_cpuset.subtract.extend(subtract or [])
    return info


def do(info: Offer, state: State | None = None, ctx: Context | None = None) -> Change | Refusal:
    return decide(ctx or context(), state or State(), Operation(UUID, VERSION, "fw", info))


def done(info: Offer, state: State | None = None, ctx: Context | None = None) -> Change:
    result = do(info, state, ctx)
    assert isinstance(result, Change), result
    inventory.figures((ctx or context()).host, result.after)
    return result


def refused(info: Offer, state: State | None = None, ctx: Context | None = None) -> str:
    result = do(info, state, ctx)
    assert isinstance(result, Refusal), result
    assert result.state == mesos_pb2.OPERATION_FAILED
    return result.message


def of_set(change: Change, amount: float | None = None) -> list[Resource]:
    """The resources of the set that a change made, as a framework gets them offered."""
    result = []
    for converted in change.converted:
        if converted.cpu.source.id:
            resource = Resource()
            resource.CopyFrom(converted)
            resource.allocation_info.role = "r"
            if amount is not None:
                resource.scalar.value = amount
            result.append(resource)
    return result


def labels(resource: Resource) -> Mapping[str, str]:
    return {label.key: label.value for label in resource.cpu.source.metadata.labels}


# -- CREATE_CPUSET --------------------------------------------------------------------------------------------------


def test_create_makes_an_exclusive_set_for_the_role_it_is_allocated_to() -> None:
    change = done(create(raw(2)))
    one = change.after.sets["new"]
    assert (one.role, one.framework_id, one.created) == ("r", "fw", 5.0)
    assert one.cpus == cpuset.parse("1,5")
    assert [(c.zone, c.cpus) for c in one.charges] == [("numa/0", 2)]
    (resource,) = change.converted
    assert resource.cpu.source.type == inventory.Source.EXCLUSIVE
    assert (resource.scalar.value, resource.cpu.source.id, resource.cpu.source.profile) == (2.0, "new", "any")
    assert labels(resource)["cpus"] == "1,5"
    assert not resource.HasField("allocation_info")


def test_converted_resources_mirror_the_sources_by_zone_and_reservation() -> None:
    place = host(D16)
    state = State().with_reserved({("numa/1", "default", inventory.stack_of(raw(1, "numa/1", "default", "r", "x"))): 3})
    change = done(
        create(raw(2), raw(3, "numa/1", "default", "r", "x"), raw(1, "numa/1"), raw(1)), state, context(place)
    )
    got = [(r.cpu.source.zone, [x.role for x in r.reservations], r.scalar.value) for r in change.converted]
    assert got == [("numa/0", [], 3.0), ("numa/1", ["x"], 3.0), ("numa/1", [], 1.0)]
    assert len({r.cpu.source.id for r in change.converted}) == 1
    assert place.layout.zone_of(change.after.sets["new"].cpus) == {"numa/0": 3, "numa/1": 4}


def test_denied_siblings_are_charged_and_named() -> None:
    change = done(create(raw(4), profile="denied"))
    one = change.after.sets["new"]
    assert (one.cpus.bit_count(), one.blocked.bit_count(), one.charge) == (2, 2, 4)
    assert labels(change.converted[0])["blocked"] == cpuset.format_mask(one.blocked)


def test_a_shared_set_takes_an_amount_and_may_have_a_burst() -> None:
    change = done(create(raw(3), profile="batch", burst=4.5))
    one = change.after.sets["new"]
    assert (one.cpus, one.charge, one.burst) == (0, 3, 4.5)
    assert change.converted[0].cpu.source.type == inventory.Source.SHARED
    assert "is below the guarantee of 3" in refused(create(raw(3), profile="batch", burst=2.9))
    assert "below" in refused(create(raw(3), profile="batch", burst=float("nan")))
    assert "only shared profiles" in refused(create(raw(3), burst=4))


def test_what_a_framework_puts_in_metadata_is_ignored() -> None:
    source = raw(2)
    for key, value in (("cpus", "0,4"), ("cgroup", "/etc"), ("mems", "9")):
        source.cpu.source.metadata.labels.add(key=key, value=value)
    change = done(create(source))
    assert change.after.sets["new"].cpus == cpuset.parse("1,5")
    assert labels(change.converted[0])["cgroup"] == ""


def test_the_operator_makes_a_set_for_the_reservation_s_role() -> None:
    reserved = raw(2, "numa/0", "default", None, "x")
    state = State().with_reserved({("numa/0", "default", inventory.stack_of(reserved)): 2})
    assert done(create(reserved), state).after.sets["new"].role == "x"
    assert done(create(raw(2, role=None))).after.sets["new"].role == "*"


def other_provider() -> Resource:
    result = raw()
    result.provider_id.value = "other"
    return result


def ranges() -> Resource:
    result = raw()
    result.type = mesos_pb2.Value.RANGES
    return result


def named(name: str) -> Resource:
    result = raw()
    result.name = name
    return result


def revocable(amount: float = 2, zone: str = "numa/0", pool: str = "default") -> Resource:
    result = raw(amount, zone, pool)
    result.revocable.SetInParent()
    return result


def exclusive_source() -> Resource:
    result = raw()
    result.cpu.source.type = inventory.Source.EXCLUSIVE
    return result


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (create(), "at least one RAW resource"),
        (create(raw(2.5)), "whole number of CPUs above 0 is needed, got 2.5"),
        (create(raw(0)), "got 0"),
        (create(raw(-2)), "got -2"),
        (create(raw(float("inf"))), "got inf"),
        (create(raw(float("nan"))), "got nan"),
        (create(raw(2, "numa/7")), "zone 'numa/7' is unknown; there are numa/0"),
        (create(raw(2, "numa/0", "dpdk")), "pool 'dpdk' is unknown; there are default"),
        (create(other_provider()), "provider_id 'other' is not this provider's, 'rp'"),
        (create(ranges()), "a scalar is needed, got type RANGES"),
        (create(named("mem")), "name 'cpus' is needed, got 'mem'"),
        (create(revocable()), "profile 'any' is exclusive, and only shared profiles take revocable CPUs"),
        (create(revocable(), profile="batch"), "2 revocable RAW CPUs of zone numa/0, pool default are asked for and 0"),
        (create(revocable(), raw(1), profile="batch"), "all RAW must be revocable or none of it"),
        (create(exclusive_source()), "RAW is needed, got EXCLUSIVE"),
        (create(raw(2), profile="nope"), "unknown profile 'nope'; known are any, batch, bound, denied, rt, whole"),
        (create(raw(2), profile="old"), "'old' is inactive: it is not in the document"),
        (create(raw(2), profile="rt"), "profile 'rt' takes CPUs of pool 'rt', the source is of 'default'"),
        (create(raw(7)), "7 RAW CPUs of zone numa/0, pool default are asked for and 6 are there"),
        (create(raw(1, "numa/0", "default", "r", "x")), "reserved for x are asked for and 0 are there"),
        (create(raw(1), raw(1, role="other")), "allocated to one role are needed, got other, r"),
        (create(raw(3), profile="denied"), "3"),
        (Offer(type=Offer.CREATE_CPUSET), "lacks its field 'create_cpuset'"),
        (Offer(type=Offer.LAUNCH), "LAUNCH is not supported by this provider; it does CREATE_CPUSET"),
        (Offer(), "without a type"),
    ],
)
def test_create_is_refused(info: Offer, words: str) -> None:
    assert words in refused(info)


def test_a_refused_placement_names_the_sets_in_the_way() -> None:
    state = State().with_set(make_set("a", "1")).with_set(make_set("b", "2"))
    message = refused(create(raw(4), profile="whole"), state)
    assert "2" in message
    assert "a, b" in message


def test_a_refusal_names_the_sets_that_have_the_cpus() -> None:
    state = State().with_set(make_set("a", "1,5")).with_set(make_set("s", guarantee=3))
    for info in (create(raw(4), profile="batch"), create(raw(4))):
        assert refused(info, state).endswith(
            "4 RAW CPUs of zone numa/0, pool default are asked for and 1 are there; the most of one zone is 1 in "
            "numa/0; in the way: set s (3 guaranteed), a (2)"
        )
    many = State()
    for cpu in (*range(1, 4), *range(5, 8)):
        many = many.with_set(make_set(f"e{cpu}", str(cpu)))
    assert refused(create(raw(1)), many).endswith("in the way: set e1 (1), e2 (1), e3 (1), e5 (1), e6 (1), e7 (1)")
    # What is only reserved for somebody else is in no set's way.
    key = ("numa/0", "default", inventory.stack_of(raw(1, "numa/0", "default", "r", "x")))
    assert "in the way" not in refused(create(raw(3)), state.without_set("s").with_reserved({key: 4}))


def test_no_shared_set_on_isolated_cpus() -> None:
    config = Config(pools=(PoolConfig("rt", cpus=cpuset.parse("2-3,6-7")),))
    place = host(replace(S8, isolated=cpuset.parse("3,7")), config)
    shared = PROFILES | {"rt-batch": Catalogued(Profile(name="rt-batch", mode="shared", pool="rt"))}
    ctx = context(place, profiles=shared)
    assert "pool 'rt' has isolated CPUs, 3,7" in refused(create(raw(1, "numa/0", "rt"), profile="rt-batch"), None, ctx)
    assert done(create(raw(2, "numa/0", "rt"), profile="rt"), None, ctx)


def test_two_roles_share_a_pool_and_its_capacity_is_the_limit() -> None:
    """A pool of 6: a shared set of each role and an exclusive one; what is left is what is not promised."""
    place = host(D16, Config(pools=(PoolConfig("dpdk", capacity=6),)))
    profiles = {
        "one": Catalogued(Profile(name="one", mode="shared", pool="dpdk")),
        "two": Catalogued(Profile(name="two", pool="dpdk")),
    }
    ctx = context(place, profiles=profiles)
    (zone,) = (z for z in place.layout.zones if place.zone_pool(z, "dpdk"))
    state = done(create(raw(2, zone, "dpdk", "a"), profile="one"), None, replace(ctx, new_set_id="s-a")).after
    state = done(create(raw(1, zone, "dpdk", "b"), profile="one"), state, replace(ctx, new_set_id="s-b")).after
    state = done(create(raw(2, zone, "dpdk", "a"), profile="two"), state, replace(ctx, new_set_id="e")).after
    assert [state.sets[i].role for i in ("s-a", "s-b", "e")] == ["a", "b", "a"]
    assert inventory.raw(place, state)[zone, "dpdk", b""] == 1
    floats = inventory.float_mask(place, state, "dpdk")
    assert floats == place.pool("dpdk") & ~state.sets["e"].cpus
    assert floats.bit_count() == 4
    for profile in ("one", "two"):
        message = refused(create(raw(2, zone, "dpdk"), profile=profile), state, ctx)
        assert "2 RAW CPUs" in message and "1 are there" in message
        assert "in the way: set e (2), s-a (2 guaranteed), s-b (1 guaranteed)" in message
    assert done(create(raw(1, zone, "dpdk"), profile="two"), state, ctx)


def test_a_guarantee_keeps_its_place_from_exclusive_sets() -> None:
    state = State().with_set(make_set("s", guarantee=2))
    assert "4 are there" in refused(create(raw(5)), state)
    assert done(create(raw(4)), state).after.sets["new"].charge == 4


def test_the_last_cpus_are_never_given_away() -> None:
    assert "8 RAW CPUs" in refused(create(raw(8)))
    change = done(create(raw(6)))
    assert inventory.plain_mask(host(S8), change.after) == cpuset.parse("0,4")


def test_only_the_pool_s_cpus_are_taken() -> None:
    place = host(S8, Config(pools=(PoolConfig("rt", cpus=cpuset.parse("3,7")),)))
    change = done(create(raw(2, "numa/0", "rt"), profile="rt"), None, context(place))
    assert change.after.sets["new"].cpus == cpuset.parse("3,7")
    assert "RAW of one pool" in refused(create(raw(1, "numa/0", "rt"), raw(1)), None, context(place))


# -- DESTROY_CPUSET -------------------------------------------------------------------------------------------------


def test_destroy_gives_back_what_was_taken() -> None:
    made = done(create(raw(2), profile="denied"))
    change = done(destroy(*of_set(made)), made.after)
    assert change.after == State()
    (resource,) = change.converted
    assert resource.cpu.source.type == inventory.Source.RAW
    assert (resource.cpu.source.zone, resource.cpu.source.pool, resource.scalar.value) == ("numa/0", "default", 2.0)
    assert not resource.cpu.source.HasField("id")


def test_destroy_of_a_set_that_lost_cpus_gives_back_what_is_there() -> None:
    state = State().with_set(make_set("a", "3,7", role="r"))
    source = inventory.set_resources(host(S8), state, "rp", state.sets["a"])
    change = done(destroy(*source), state, context(host(S8, allowed=0x7F)))
    assert [r.scalar.value for r in change.converted] == [1.0]


def test_destroy_is_refused() -> None:
    made = done(create(raw(2)))
    resources = of_set(made)
    assert "the resources of one set" in refused(destroy(), made.after)
    assert "set 'new' does not exist" in refused(destroy(*resources))
    assert "all resources of set new are needed, that is 2 of numa/0; got 1 of numa/0" in refused(
        destroy(*of_set(made, amount=1.0)), made.after
    )
    assert "3 processes are in its cgroup" in refused(destroy(*resources), made.after, context(occupied={"new": 3}))
    resources[0].allocation_info.role = "thief"
    assert "belongs to role 'r', not to 'thief'" in refused(destroy(*resources), made.after)
    resources[0].allocation_info.role = "r"
    resources[0].cpu.source.type = inventory.Source.SHARED
    assert "EXCLUSIVE is needed, got SHARED" in refused(destroy(*resources), made.after)


def test_the_operator_destroys_any_set() -> None:
    made = done(create(raw(2)))
    resources = of_set(made)
    resources[0].ClearField("allocation_info")
    result = decide(context(), made.after, Operation(UUID, VERSION, None, destroy(*resources)))
    assert isinstance(result, Change)


# -- RESIZE_CPUSET --------------------------------------------------------------------------------------------------


def test_growing_keeps_the_cpus_and_shrinking_gives_some_back() -> None:
    made = done(create(raw(2)))
    before = made.after.sets["new"].cpus
    grown = done(resize(of_set(made), add=[raw(2)]), made.after)
    one = grown.after.sets["new"]
    assert one.cpus & before == before
    assert one.charge == 4
    assert [r.scalar.value for r in grown.converted] == [4.0]
    back = of_set(grown, amount=2.0)
    shrunk = done(resize(of_set(done(resize(of_set(made), add=[raw(2)]), made.after)), subtract=back), grown.after)
    assert shrunk.after.sets["new"].charge == 2
    assert [(r.cpu.source.type, r.scalar.value) for r in shrunk.converted] == [
        (inventory.Source.EXCLUSIVE, 2.0),
        (inventory.Source.RAW, 2.0),
    ]


def test_shrinking_by_zone_takes_from_that_zone() -> None:
    ctx = context(host(D16))
    made = done(create(raw(2), raw(4, "numa/1")), None, ctx)
    sub = [r for r in of_set(made) if r.cpu.source.zone == "numa/1"]
    part = Resource()
    part.CopyFrom(sub[0])
    part.scalar.value = 2
    shrunk = done(resize(of_set(made), subtract=[part]), made.after, ctx)
    assert ctx.host.layout.zone_of(shrunk.after.sets["new"].cpus) == {"numa/0": 2, "numa/1": 2}
    gone = done(resize(of_set(made), subtract=sub), made.after, ctx)
    assert ctx.host.layout.zone_of(gone.after.sets["new"].cpus) == {"numa/0": 2}
    assert [c.zone for c in gone.after.sets["new"].charges] == ["numa/0"]


def part_of(one: Change, zone: str, amount: int) -> list[Resource]:
    result = Resource()
    result.CopyFrom(next(r for r in of_set(one) if r.cpu.source.zone == zone))
    result.scalar.value = amount
    return [result]


def kinds(one: Change) -> list[tuple[str, int, float]]:
    return [(r.cpu.source.zone, r.cpu.source.type, r.scalar.value) for r in one.converted]


def test_growing_and_shrinking_together() -> None:
    """One operation that gives CPUs of one node and takes some of another: what stays is kept."""
    ctx = context(host(D16))
    made = done(create(raw(4), raw(2, "numa/1")), None, ctx)
    before = made.after.sets["new"]
    moved = done(resize(of_set(made), [raw(4, "numa/1")], part_of(made, "numa/0", 2)), made.after, ctx)
    after = moved.after.sets["new"]
    assert ctx.host.layout.zone_of(after.cpus) == {"numa/0": 2, "numa/1": 6}
    assert {c.zone: c.cpus for c in after.charges} == {"numa/0": 2, "numa/1": 6}
    stayed = before.cpus & after.cpus
    assert ctx.host.layout.zone_of(stayed) == {"numa/0": 2, "numa/1": 2}
    # What comes back is what was given, and not what was taken at the same time.
    assert kinds(moved)[2:] == [("numa/0", inventory.Source.RAW, 2.0)]
    assert sum(r.scalar.value for r in moved.converted) == sum(c.cpus for c in before.charges) + 4


def test_what_a_zone_gives_and_gets_stays_where_it_is() -> None:
    made = done(create(raw(4)))
    same = done(resize(of_set(made), [raw(2)], of_set(made, amount=2.0)), made.after)
    assert same.after.sets["new"] == made.after.sets["new"]
    assert kinds(same) == [("numa/0", inventory.Source.EXCLUSIVE, 4.0), ("numa/0", inventory.Source.RAW, 2.0)]
    more = done(resize(of_set(made), [raw(2)], of_set(made, amount=1.0)), made.after)
    assert more.after.sets["new"].cpus & made.after.sets["new"].cpus == made.after.sets["new"].cpus


def test_all_of_a_set_to_another_node() -> None:
    ctx = context(host(D16))
    made = done(create(raw(4), profile="bound"), None, ctx)
    moved = done(resize(of_set(made), [raw(6, "numa/1")], of_set(made)), made.after, ctx)
    after = moved.after.sets["new"]
    assert (ctx.host.layout.zone_of(after.cpus), after.mems) == ({"numa/1": 6}, 2)
    assert "one NUMA node" in refused(
        resize(of_set(made), [raw(2, "numa/1")], part_of(made, "numa/0", 2)), made.after, ctx
    )
    assert "are there" in refused(resize(of_set(made), [raw(9, "numa/1")], of_set(made)), made.after, ctx)


def test_a_shared_set_is_resized_by_amount() -> None:
    made = done(create(raw(2), profile="batch", burst=3.0))
    assert "4 CPUs would be above the burst" in refused(resize(of_set(made), add=[raw(2)]), made.after)
    grown = done(resize(of_set(made), add=[raw(1)]), made.after)
    assert grown.after.sets["new"].charge == 3
    back = done(resize(of_set(grown), subtract=of_set(grown, amount=2.0)), grown.after)
    assert (back.after.sets["new"].charge, back.after.sets["new"].burst) == (1, 3.0)
    assert [(r.cpu.source.type, r.scalar.value) for r in back.converted] == [
        (inventory.Source.SHARED, 1.0),
        (inventory.Source.RAW, 2.0),
    ]
    # It grows into nothing that an exclusive set has, and says which.
    full = made.after.with_set(make_set("e", "1-3,5"))
    assert "in the way: set e (4), new (2 guaranteed)" in refused(resize(of_set(made), add=[raw(1)]), full)
    ctx = context(host(D16))
    made = done(create(raw(2), profile="batch"), None, ctx)
    both = done(resize(of_set(made), [raw(3, "numa/1")], of_set(made, amount=1.0)), made.after, ctx)
    assert {c.zone: c.cpus for c in both.after.sets["new"].charges} == {"numa/0": 1, "numa/1": 3}


# -- revocable ------------------------------------------------------------------------------------------------------


def test_a_set_of_revocable_cpus_is_made_grown_shrunk_and_destroyed() -> None:
    """6 CPUs of the pool with overcommit 1.5: 3 revocable ones, beside the 6 of RAW."""
    place = host(S8, overcommit=1.5)
    ctx = context(place)
    made = done(create(revocable(2), profile="batch", burst=4.0), None, ctx)
    one = made.after.sets["new"]
    assert (one.revocable, one.charge, one.burst, one.role) == (True, 2, 4.0, "r")
    (resource,) = made.converted
    assert resource.HasField("revocable")
    assert (resource.cpu.source.type, resource.cpu.source.id) == (inventory.Source.SHARED, "new")
    assert inventory.raw(place, made.after) == inventory.raw(place, State())
    assert "2 revocable RAW CPUs" in refused(create(revocable(2), profile="batch"), made.after, ctx)
    assert "1 are there" in refused(create(revocable(2), profile="batch"), made.after, ctx)
    assert "set new (2 revocable)" in refused(create(revocable(2), profile="batch"), made.after, ctx)

    grown = done(resize(of_set(made), add=[revocable(1)]), made.after, ctx)
    assert grown.after.sets["new"].charge == 3
    shrunk = done(resize(of_set(grown), subtract=of_set(grown, amount=2.0)), grown.after, ctx)
    assert [(r.cpu.source.type, r.scalar.value, r.HasField("revocable")) for r in shrunk.converted] == [
        (inventory.Source.SHARED, 1.0, True),
        (inventory.Source.RAW, 2.0, True),
    ]
    gone = done(destroy(*of_set(shrunk)), shrunk.after, ctx)
    assert gone.after == State()
    assert [(r.scalar.value, r.HasField("revocable")) for r in gone.converted] == [(1.0, True)]


def test_revocable_and_other_cpus_do_not_mix_and_are_not_reserved() -> None:
    ctx = context(host(S8, overcommit=2.0))
    made = done(create(revocable(2), profile="batch"), None, ctx)
    firm = done(create(raw(2), profile="batch"), None, ctx)
    assert "set new is revocable, the source is not revocable" in refused(
        resize(of_set(made), add=[raw(1)]), made.after, ctx
    )
    assert "set new is not revocable, the source is revocable" in refused(
        resize(of_set(firm), add=[revocable(1)]), firm.after, ctx
    )
    assert "set new is revocable" in refused(destroy(*of_set(firm)), made.after, ctx)
    assert "set new is not revocable" in refused(destroy(*of_set(made)), firm.after, ctx)
    wanted = raw(1, "numa/0", "default", "r", "x")
    wanted.revocable.SetInParent()
    assert "cannot be reserved" in refused(reserve(wanted), None, ctx)
    assert "cannot be reserved" in refused(unreserve(wanted), None, ctx)
    assert "cannot be reserved" in refused(reserve(raw(1, "numa/0", "default", "r", "x"), source=[revocable(1)]))


def test_an_exclusive_set_takes_no_notice_of_revocable_ones_and_gives_room_back() -> None:
    place = host(S8, overcommit=1.5)
    ctx = context(place)
    state = done(create(revocable(3), profile="batch"), None, replace(ctx, new_set_id="loose")).after
    made = done(create(raw(6)), state, ctx)
    assert made.after.sets["new"].charge == 6
    assert inventory.float_mask(place, made.after, "default") == cpuset.parse("0,4")
    gone = done(destroy(*of_set(made)), made.after.without_set("loose"), ctx)
    assert [(r.scalar.value, r.HasField("revocable")) for r in gone.converted] == [(6.0, False), (3.0, True)]


def test_resize_is_refused() -> None:
    made = done(create(raw(2)))
    assert "'add', 'subtract' or both are needed" in refused(resize(of_set(made)), made.after)
    assert "nothing would be left of set new; DESTROY_CPUSET" in refused(
        resize(of_set(made), subtract=of_set(made)), made.after
    )
    too_much = of_set(done(create(raw(4))))
    assert "has 2 CPUs of numa/0" in refused(resize(of_set(made), subtract=too_much), made.after)
    alien = of_set(done(create(raw(2))))
    alien[0].cpu.source.id = "other"
    assert "resources of set new are needed, got those of 'other'" in refused(
        resize(of_set(made), subtract=alien), made.after
    )
    assert "asked for and 4 are there" in refused(resize(of_set(made), [raw(5)]), made.after)
    assert "belongs to role 'r', not to 'x'" in refused(resize(of_set(made), [raw(1, role="x")]), made.after)
    lame = context(host(S8, allowed=0xDF))
    assert "CPUs 5 are not there" in refused(resize(of_set(made), [raw(1)]), made.after, lame)


# -- RESERVE, UNRESERVE ---------------------------------------------------------------------------------------------


def reserve(*resources: Resource, source: list[Resource] | None = None) -> Offer:
    info = Offer(type=Offer.RESERVE)
    info.reserve.resources.extend(resources)
    info.reserve.source.extend(source or [])
    return info


def unreserve(*resources: Resource) -> Offer:
    info = Offer(type=Offer.UNRESERVE)
    info.unreserve.resources.extend(resources)
    return info


@pytest.mark.parametrize("revocable", [False, True])
def test_what_sets_have_of_an_older_default_is_not_taken_for_reserved(revocable: bool) -> None:
    """They were made before `default_reservations` changed: that many are in no reserved amount."""
    mine = raw(2, "numa/0", "default", "r", "r")
    stack = inventory.stack_of(mine)
    old = make_set("old", guarantee=3, stack=stack, role="r", revocable=revocable)
    place = host(S8, overcommit=2.0)
    state = State().with_set(old)
    change = done(reserve(mine), state, context(place))
    assert inventory.raw(place, change.after)["numa/0", "default", stack] == 2
    back = done(unreserve(mine), change.after, context(place))
    assert ("numa/0", "default", stack) not in inventory.raw(place, back.after)
    assert inventory.figures(place, back.after).raw_total == inventory.figures(place, state).raw_total


def test_reserve_and_unreserve_undo_one_another() -> None:
    mine = raw(2, "numa/0", "default", "r", "r")
    change = done(reserve(mine))
    key = ("numa/0", "default", inventory.stack_of(mine))
    assert dict(change.after.reserved) == {key: 2}
    (resource,) = change.converted
    assert (resource.scalar.value, resource.reservations[0].role) == (2.0, "r")
    assert dict(inventory.raw(host(S8), change.after)) == {key: 2, ("numa/0", "default", b""): 4}
    back = done(unreserve(mine), change.after)
    assert back.after == State()
    assert not back.converted[0].reservations


def test_reservations_refine_and_move() -> None:
    one, two = raw(2, "numa/0", "default", "r", "a"), raw(2, "numa/0", "default", "r", "a", "a/b")
    state = done(reserve(one)).after
    state = done(reserve(two), state).after
    assert [len(inventory.reservations_of(key[2])) for key in state.reserved] == [2]
    moved = raw(2, "numa/0", "default", "r", "c")
    state = done(reserve(moved, source=[two]), state).after
    assert [inventory.reservations_of(key[2])[-1].role for key in state.reserved] == ["c"]


def test_the_default_reservation_is_the_rest() -> None:
    base = raw(2, "numa/0", "default", "r", "latency")
    place = replace(host(S8), default_stack=inventory.stack_of(base))
    free = done(unreserve(base), None, context(place))
    assert dict(free.after.reserved) == {("numa/0", "default", b""): 2}
    assert done(reserve(base), free.after, context(place)).after == State()


def test_reserve_is_refused() -> None:
    assert "has no reservation" in refused(unreserve(raw(2)))
    assert "has no reservation" in refused(reserve(raw(2)))
    assert "asked for and 6 are there" in refused(reserve(raw(7, "numa/0", "default", "r", "x")))
    assert "amounts before and after differ" in refused(reserve(raw(2, "numa/0", "default", "r", "x"), source=[raw(1)]))
    made = done(create(raw(2)))
    resources = of_set(made)
    resources[0].reservations.add(type=Resource.ReservationInfo.DYNAMIC, role="x")
    assert "RAW is needed, got EXCLUSIVE" in refused(reserve(*resources), made.after)
    assert "at least one" in refused(reserve())


# -- all ------------------------------------------------------------------------------------------------------------


def test_a_stale_version_is_dropped_whatever_it_asks() -> None:
    result = decide(context(), State(), Operation(UUID, b"x" * 16, "fw", create(raw(2))))
    assert isinstance(result, Refusal)
    assert result.state == mesos_pb2.OPERATION_DROPPED
    assert "stale" in result.message


def test_the_terminal_status() -> None:
    info = create(raw(2))
    info.id.value = "op"
    operation = Operation(UUID, VERSION, "fw", info)
    outcome = do(info)
    status = terminal_status("rp", operation, outcome, b"s" * 16)
    assert status.state == mesos_pb2.OPERATION_FINISHED
    assert (status.operation_id.value, status.uuid.value, status.resource_provider_id.value) == ("op", b"s" * 16, "rp")
    assert len(status.converted_resources) == 1
    failed = terminal_status("rp", operation, Refusal(mesos_pb2.OPERATION_FAILED, "no"), b"s" * 16)
    assert (failed.state, failed.message) == (mesos_pb2.OPERATION_FAILED, "no")
    assert not failed.converted_resources


def test_a_hundred_refusals_leave_the_state_alone() -> None:
    state = State().with_set(make_set("a", "1,5"))
    messages = {refused(create(raw(5), profile="whole"), state) for _ in range(100)}
    assert len(messages) == 1
