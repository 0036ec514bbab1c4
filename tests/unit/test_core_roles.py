"""Weights and quotas end to end in the core: what is answered, what is offered, what survives a restart."""

from __future__ import annotations

from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, reserve, scalar, with_role

from agent_api.core import resources as rs
from agent_api.core import views
from agent_api.errors import ApiError
from agent_api.wire import master_pb2, mesos_pb2, scheduler_pb2
from agent_api.wire.codec import from_dict, to_dict

Event = scheduler_pb2.Event


def ask(host: Host, kind: str, **body: Any) -> dict[str, Any]:
    """A call of the master API; its answer as JSON, {} for an empty one."""
    try:
        response = host.master.master_call(from_dict(master_pb2.Call, {"type": kind} | body), host.now)
    finally:
        host.turn()
    return to_dict(response) if response is not None else {}


def refused(host: Host, kind: str, **body: Any) -> tuple[int, str]:
    before = dict(host.stored)
    with pytest.raises(ApiError) as caught:
        ask(host, kind, **body)
    assert host.stored == before
    return caught.value.status, caught.value.message


def quota(host: Host, role: str, guarantees: dict[str, float], limits: dict[str, float] | None = None) -> None:
    def values(given: dict[str, float]) -> dict[str, Any]:
        return {name: {"value": value} for name, value in given.items()}

    config = {"role": role, "guarantees": values(guarantees), "limits": values(limits or {})}
    assert ask(host, "UPDATE_QUOTA", update_quota={"quota_configs": [config], "force": True}) == {}


def weigh(host: Host, role: str, weight: float) -> dict[str, Any]:
    return ask(host, "UPDATE_WEIGHTS", update_weights={"weight_infos": [{"role": role, "weight": weight}]})


def outstanding(client: FrameworkClient, name: str = "cpus", role: str | None = None) -> float:
    """How much a framework is offered now."""
    offers = client.host.master.world.offers.values()
    mine = [o for o in offers if o.framework_id == client.id and role in (None, o.role)]
    return rs.sum_of([r for o in mine for r in o.resources], name)


def give_back(client: FrameworkClient, refuse: float = 0.0) -> None:
    ids = [{"value": i} for i in client.outstanding()]
    client.call({"type": "DECLINE", "decline": {"offer_ids": ids, "filters": {"refuse_seconds": refuse}}})


# What is answered: the words of `golden/5-master.jsonl`


def test_weights_as_a_master_answers() -> None:
    host = Host()
    assert ask(host, "GET_WEIGHTS") == {"type": "GET_WEIGHTS"}
    assert weigh(host, "gold", 2.5) == {}
    infos = [{"weight": 2.5, "role": "gold"}]
    assert ask(host, "GET_WEIGHTS") == {"type": "GET_WEIGHTS", "get_weights": {"weight_infos": infos}}
    assert ask(host, "GET_ROLES")["get_roles"] == {"roles": [{"name": "gold", "weight": 2.5}]}
    weigh(host, "gold", 1.0)
    assert ask(host, "GET_WEIGHTS")["get_weights"] == {"weight_infos": [{"weight": 1.0, "role": "gold"}]}


@pytest.mark.parametrize(
    ("infos", "words"),
    [
        (
            [{"role": "gold", "weight": 0}],
            "Failed to validate update weights request JSON for role 'gold': Invalid weight '0': "
            "Weights must be positive",
        ),
        (
            [{"role": "good", "weight": 2}, {"role": "gold", "weight": -1.5}],
            "Failed to validate update weights request JSON for role 'gold': Invalid weight '-1.5': "
            "Weights must be positive",
        ),
        (
            [{"role": "a//b", "weight": 1}],
            "Failed to validate update weights request JSON: Invalid role 'a//b': Role 'a//b' cannot contain two "
            "adjacent slashes",
        ),
    ],
)
def test_bad_weights_change_nothing(infos: list[dict[str, Any]], words: str) -> None:
    host = Host()
    assert refused(host, "UPDATE_WEIGHTS", update_weights={"weight_infos": infos}) == (400, words)
    assert not host.master.world.weights


def test_quotas_as_a_master_answers() -> None:
    host = Host()
    assert ask(host, "GET_QUOTA") == {"type": "GET_QUOTA", "get_quota": {"status": {}}}
    quota(host, "gold", {"cpus": 1}, {"cpus": 2})
    assert ask(host, "GET_QUOTA")["get_quota"]["status"] == {
        "infos": [{"role": "gold", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}}]}],
        "configs": [{"role": "gold", "guarantees": {"cpus": {"value": 1.0}}, "limits": {"cpus": {"value": 2.0}}}],
    }
    quota(host, "*", {}, {"cpus": 1000})
    quota(host, "gold", {})
    assert ask(host, "GET_QUOTA")["get_quota"]["status"] == {
        "infos": [{"role": "*"}, {"role": "gold"}],
        "configs": [{"role": "*", "limits": {"cpus": {"value": 1000.0}}}, {"role": "gold"}],
    }
    assert ask(host, "UPDATE_QUOTA", update_quota={}) == {}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            {"role": "gold", "guarantees": {"cpus": {"value": 3}}, "limits": {"cpus": {"value": 2}}},
            "Invalid QuotaConfig: 'QuotaConfig.guarantees' { cpus: 3 } is not contained within the "
            "'QuotaConfig.limits' { cpus: 2 }",
        ),
        (
            {"role": "gold", "guarantees": {"cpus": {"value": 1000}}, "limits": {"cpus": {"value": 1000}}},
            "Invalid QuotaConfig: total quota guarantees 'cpus:1000' exceed cluster capacity 'cpus:8; mem:4096' "
            "(use 'force' flag to bypass this check)",
        ),
        (
            {"role": "bad role", "limits": {"cpus": {"value": 1}}},
            "Invalid QuotaConfig: Invalid 'QuotaConfig.role': Role component 'bad role' is invalid because it "
            "contains backspace or whitespace",
        ),
        ({"role": "a/b"}, "Updating quota on nested role 'a/b' is not supported yet"),
        (
            {"role": "gold", "limits": {"cpus": {"value": -1}}},
            "Invalid QuotaConfig: Invalid 'QuotaConfig.limits': 'cpus' is -1, not a number from 0 up",
        ),
    ],
)
def test_bad_quotas_change_nothing(config: dict[str, Any], words: str) -> None:
    host = Host()
    good = {"role": "silver", "limits": {"cpus": {"value": 1}}}
    assert refused(host, "UPDATE_QUOTA", update_quota={"quota_configs": [good, config]}) == (400, words)
    assert not host.master.world.quotas


@pytest.mark.parametrize("kind", ["UPDATE_WEIGHTS", "UPDATE_QUOTA", "SET_QUOTA", "REMOVE_QUOTA"])
def test_a_call_without_its_part(kind: str) -> None:
    words = f"Failed to validate master::Call: Expecting '{kind.lower()}' to be present"
    assert refused(Host(), kind) == (400, words)


def test_the_older_calls_set_and_remove_a_quota() -> None:
    host = Host()
    cpus = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 4}}
    asked = {"quota_request": {"role": "gold", "guarantee": [cpus]}}
    assert ask(host, "SET_QUOTA", set_quota=asked) == {}
    (config,) = ask(host, "GET_QUOTA")["get_quota"]["status"]["configs"]
    assert config == {"role": "gold", "guarantees": {"cpus": {"value": 4.0}}, "limits": {"cpus": {"value": 4.0}}}
    status, words = refused(host, "SET_QUOTA", set_quota=asked)
    assert status == 400 and "Cannot set quota for role 'gold' which already has quota" in words
    much = {"quota_request": {"role": "silver", "guarantee": [cpus | {"scalar": {"value": 5}}]}}
    status, words = refused(host, "SET_QUOTA", set_quota=much)
    assert status == 409 and "(use 'force' to bypass this check): Total quota guarantees 'cpus:9' exceed" in words
    assert ask(host, "REMOVE_QUOTA", remove_quota={"role": "gold"}) == {}
    assert ask(host, "GET_QUOTA")["get_quota"] == {"status": {}}
    words = "Failed to remove quota: Role 'gold' has no quota set"
    assert refused(host, "REMOVE_QUOTA", remove_quota={"role": "gold"}) == (400, words)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"role": "*", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}, "default '*' role"),
        ({"role": "a"}, "empty 'guarantee'"),
        ({"role": "", "guarantee": []}, "Empty role name"),
        (
            {
                "role": "a",
                "guarantee": [{"name": "p", "type": "RANGES", "ranges": {"range": [{"begin": 1, "end": 2}]}}],
            },
            "non-scalar",
        ),
        ({"role": "a", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}] * 2}, "duplicate"),
        (
            {"role": "a/b", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]},
            "nested role 'a/b'",
        ),
    ],
)
def test_bad_older_quotas(request_: dict[str, Any], words: str) -> None:
    status, message = refused(Host(), "SET_QUOTA", set_quota={"quota_request": request_})
    assert status == 400 and words in message


def test_maintenance_is_there_to_read() -> None:
    host = Host()
    assert ask(host, "GET_MAINTENANCE_STATUS")["get_maintenance_status"] == {"status": {}}
    assert ask(host, "GET_MAINTENANCE_SCHEDULE")["get_maintenance_schedule"] == {"schedule": {}}


def test_weights_and_quotas_survive_a_restart() -> None:
    host = Host()
    weigh(host, "gold", 2.5)
    quota(host, "gold", {"cpus": 6})
    quota(host, "silver", {}, {"cpus": 1})
    ask(host, "REMOVE_QUOTA", remove_quota={"role": "silver"})
    again = Host(host.now, stored=host)
    for call in ("GET_WEIGHTS", "GET_QUOTA", "GET_ROLES"):
        assert ask(again, call) == ask(host, call)
    assert outstanding(FrameworkClient(again, role="other")) == 2


# Quotas: what is offered


def test_a_limit_ends_what_a_role_and_those_below_are_offered() -> None:
    host = Host()
    quota(host, "eng", {}, {"cpus": 3, "mem": 1024})
    first = FrameworkClient(host, role="eng/dev")
    assert (outstanding(first), outstanding(first, "mem")) == (3, 1024)
    second = FrameworkClient(host, role="eng")
    host.turn(2)
    assert not second.outstanding() or outstanding(second) == 0
    (offer,) = first.offers()
    first.accept(offer, launch(host, "t", [scalar("cpus", 2, "eng/dev"), scalar("mem", 64, "eng/dev")]))
    host.turn(2)
    assert outstanding(first) + outstanding(second) == 1
    host.run()
    host.end("t", first.id)
    give_back(first)
    give_back(second)
    host.turn(2)
    assert outstanding(first) + outstanding(second) == 3


def test_guarantees_are_kept_for_their_role() -> None:
    """A guarantee that is set is capacity for its role even while nobody in it is there to take it."""
    host = Host()
    quota(host, "gold", {"cpus": 5, "mem": 1000})
    other = FrameworkClient(host, role="other")
    assert (outstanding(other), outstanding(other, "mem")) == (3, 3096)
    gold = FrameworkClient(host, role="gold")
    assert (outstanding(gold), outstanding(gold, "mem")) == (5, 1000)
    assert outstanding(other) == 3  # and nothing had to be taken back for it
    give_back(gold)
    give_back(other)
    host.turn(5)
    assert outstanding(gold) >= 5 and outstanding(other) <= 3


def test_a_guarantee_of_the_top_role_serves_those_below() -> None:
    host = Host()
    quota(host, "eng", {"cpus": 5})
    assert outstanding(FrameworkClient(host, role="other")) == 3
    assert outstanding(FrameworkClient(host, role="eng/dev")) == 5


def test_sets_are_capacity_of_their_role() -> None:
    host = Host()
    host.config(floor=2)
    provider = ProviderClient(host, {"numa/0": 8})
    provider.update_state()
    quota(host, "gold", {"cpus": 4}, {"cpus": 6})
    gold = FrameworkClient(host, role="gold")
    assert outstanding(gold) == 6
    raw = [r for o in host.master.world.offers.values() for r in o.resources if r.HasField("cpu")]
    cpus = rs.sum_of(raw, "cpus")
    assert cpus >= 4
    gold.accept(gold.outstanding()[0], create([with_role(provider.raw("numa/0", 4), "gold")]))
    (applied,) = provider.applied()
    host.turn(2)
    assert outstanding(gold) == 2  # the set is under way and counts
    provider.status(applied, converted=[provider.cpu_set("s1", "numa/0", 4)])
    give_back(gold)
    host.turn(2)
    offered = [r for o in host.master.world.offers.values() for r in o.resources]
    assert outstanding(gold) == 6  # its own set, and what the limit leaves of the rest
    assert [rs.set_id(r) for r in offered if rs.set_id(r)] == ["s1"]
    # The guarantee is used up by the set: the others need to leave nothing.
    give_back(gold)
    gold.call({"type": "SUPPRESS"})
    other = FrameworkClient(host, role="other")
    assert outstanding(other) == 6


def test_reservations_count_against_the_quota_of_their_own_role_only() -> None:
    """MESOS-4527 and MESOS-8339: held and not used is consumed, and what is beyond a guarantee is nobody else's."""
    host = Host(resources=rs.parse("cpus:2;cpus(gold):4;mem:4096"))
    quota(host, "gold", {"cpus": 1}, {"cpus": 4})
    quota(host, "silver", {"cpus": 2})
    # gold has three more reserved than guaranteed: those are no headroom for silver, which needs the two free ones.
    assert outstanding(FrameworkClient(host, role="other")) == 0
    gold = FrameworkClient(host, role="gold")
    assert outstanding(gold) == 4  # its reservation; unused, it fills the limit
    assert outstanding(FrameworkClient(host, role="silver")) == 2


def test_a_reservation_fills_the_guarantee_of_its_role() -> None:
    host = Host(resources=rs.parse("cpus:4;cpus(gold):4;mem:4096"))
    quota(host, "gold", {"cpus": 4})
    assert outstanding(FrameworkClient(host, role="other")) == 4  # nothing more has to stay free for gold


def test_what_a_role_has_no_quota_for_leaves_the_headroom_of_others_whole() -> None:
    """MESOS-8352: gold is guaranteed CPUs only, and must not be given the memory that silver is guaranteed."""
    host = Host()
    quota(host, "gold", {"cpus": 2})
    quota(host, "silver", {"mem": 3000})
    gold = FrameworkClient(host, role="gold")
    assert (outstanding(gold), outstanding(gold, "mem")) == (8, 1096)
    silver = FrameworkClient(host, role="silver")
    assert outstanding(silver, "mem") == 3000


def test_raw_is_given_in_whole_cpus_and_another_zone_comes_first_each_time() -> None:
    host = Host(resources=rs.parse("cpus:2;mem:64"))
    host.config(floor=2)
    provider = ProviderClient(host)
    provider.update_state()
    quota(host, "gold", {}, {"cpus": 5.5})
    gold = FrameworkClient(host, role="gold")
    seen = set()
    for _ in range(6):
        parts = [r for o in host.master.world.offers.values() for r in o.resources if r.name == "cpus"]
        assert rs.sum_of(parts, "cpus") <= 5.5
        assert all(r.scalar.value == int(r.scalar.value) for r in parts if r.HasField("cpu"))
        seen |= {r.cpu.source.zone for r in parts}
        give_back(gold)
        host.turn(1)
    assert seen == {"", "numa/0", "numa/1"}


def test_revocable_resources_are_beyond_quotas() -> None:
    host = Host()
    provider = ProviderClient(host, {})
    extra = provider.raw("numa/0", 4)
    extra.revocable.SetInParent()
    provider.total = [extra]
    provider.update_state()
    quota(host, "gold", {}, {"cpus": 1})
    gold = FrameworkClient(host, role="gold", capabilities=["REVOCABLE_RESOURCES"])
    assert outstanding(gold) == 5


def test_a_new_quota_takes_back_offers_in_its_way() -> None:
    host = Host()
    other = FrameworkClient(host, role="other")
    assert outstanding(other) == 8
    quota(host, "gold", {"cpus": 6})
    assert other.take(Event.RESCIND)
    assert outstanding(other) == 2
    assert outstanding(FrameworkClient(host, role="gold")) == 6
    quota(host, "other", {}, {"cpus": 1})
    assert outstanding(other) == 1


def test_a_suppressed_role_does_not_lose_its_guarantee() -> None:
    host = Host()
    quota(host, "gold", {"cpus": 6})
    gold = FrameworkClient(host, role="gold")
    gold.call({"type": "SUPPRESS"})
    give_back(gold)
    assert outstanding(FrameworkClient(host, role="other")) == 2


# Fair shares


def test_weights_decide_who_is_served_first() -> None:
    host = Host()
    clients = {role: FrameworkClient(host, role=role) for role in ("a", "b")}
    for role, cpus in (("a", 3), ("b", 2)):
        client = clients[role]
        for other in clients.values():
            if other is not client:
                other.call({"type": "SUPPRESS"})
                give_back(other)
        client.call({"type": "REVIVE"})
        host.turn(1)
        client.accept(
            client.outstanding()[0], launch(host, role, [scalar("cpus", cpus, role), scalar("mem", 32, role)])
        )
    for client in clients.values():
        client.call({"type": "SUPPRESS"})
        give_back(client)

    def first() -> str:
        for client in clients.values():
            give_back(client)
            client.call({"type": "SUPPRESS"})
        host.turn(1)
        world = host.master.world
        for client in clients.values():
            world.frameworks[client.id].suppressed.clear()
        world.allocate_now = True
        host.turn()
        return next(o.role for o in world.offers.values())

    assert first() == "b"  # 2 of 8 against 3 of 8
    weigh(host, "a", 2)
    assert first() == "a"  # 3 of 8 halved


def test_another_weight_takes_all_offers_back() -> None:
    host = Host()
    client = FrameworkClient(host, role="a/x")
    client.offers()
    weigh(host, "unused", 3)
    assert not client.take(Event.RESCIND)
    weigh(host, "a", 3)
    assert client.take(Event.RESCIND)


# Reservations that refine others; roles of one framework


def test_a_refined_reservation_is_offered_below_and_to_those_who_understand_it() -> None:
    host = Host(resources=rs.parse("cpus(eng):8;mem:4096"))
    dev = FrameworkClient(host, role="eng/dev")
    offer = dev.offer()
    refined = scalar("cpus", 3, "eng/dev")
    kinds = mesos_pb2.Resource.ReservationInfo
    refined.reservations.add(type=kinds.STATIC, role="eng")
    refined.reservations.add(type=kinds.DYNAMIC, role="eng/dev")
    dev.accept(offer, reserve([refined], "r"))
    (status,) = dev.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_FINISHED
    give_back(dev)
    host.turn(1)
    assert outstanding(dev) == 8
    # Who says that it does not know refinement any more loses the offer and gets one without.
    info = to_dict(dev.info)
    info["capabilities"] = [{"type": "MULTI_ROLE"}]
    assert dev.call({"type": "UPDATE_FRAMEWORK", "update_framework": {"framework_info": info}}) == 200
    assert dev.take(Event.RESCIND)
    assert outstanding(dev) == 5
    dev.call({"type": "SUPPRESS"})
    give_back(dev)
    above = FrameworkClient(host, role="eng")
    assert outstanding(above) == 5
    again = FrameworkClient(Host(host.now, stored=host, resources=rs.parse("cpus(eng):8;mem:4096")), role="eng/dev")
    assert outstanding(again) == 8


def two_roles(host: Host) -> FrameworkClient:
    return FrameworkClient(host, roles=["a", "b"])


def test_filters_and_suppression_are_of_one_role() -> None:
    host = Host()
    client = two_roles(host)
    (role,) = {o.role for o in host.master.world.offers.values()}
    other = "b" if role == "a" else "a"
    give_back(client, refuse=1000)
    host.turn(1)
    assert (outstanding(client, role=role), outstanding(client, role=other)) == (0, 8)
    client.call({"type": "SUPPRESS", "suppress": {"roles": [other]}})
    give_back(client)
    host.turn(5)
    assert not client.outstanding()
    client.call({"type": "REVIVE", "revive": {"roles": [other]}})
    assert (outstanding(client, role=role), outstanding(client, role=other)) == (0, 8)
    give_back(client)
    client.call({"type": "SUPPRESS", "suppress": {"roles": [other]}})
    give_back(client)
    client.call({"type": "REVIVE", "revive": {"roles": [role]}})
    assert (outstanding(client, role=role), outstanding(client, role=other)) == (8, 0)


# Reservations that are no refinement; calls to executors; what changes with UPDATE_FRAMEWORK


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        (["eng", "ops"], "Invalid refined reservation: role 'ops' is not a refinement of 'eng'"),
        (["eng", "eng"], "Invalid refined reservation: role 'eng' is not a refinement of 'eng'"),
        (["eng", "engine"], "Invalid refined reservation: role 'engine' is not a refinement of 'eng'"),
        (["eng", "-eng/dev"], "Invalid refined reservation: A refined reservation cannot be STATIC"),
    ],
)
def test_what_is_no_refinement_is_refused(chain: list[str], words: str) -> None:
    host = Host()
    resource = rs.scalar("cpus", 1)
    kinds = mesos_pb2.Resource.ReservationInfo
    for role in chain:
        resource.reservations.add(type=kinds.STATIC if role.startswith("-") else kinds.DYNAMIC, role=role.strip("-"))
    body = {"agent_id": {"value": host.master.world.agent_id}, "resources": [to_dict(resource)]}
    status, message = refused(host, "RESERVE_RESOURCES", reserve_resources=body)
    assert status == 400 and message.endswith(words)


@pytest.mark.parametrize("kind", ["MESSAGE", "SHUTDOWN"])
def test_calls_to_executors_are_refused_with_a_sentence(kind: str) -> None:
    host = Host()
    client = FrameworkClient(host)
    body = {"agent_id": {"value": host.master.world.agent_id}, "executor_id": {"value": "e"}, "data": "aGVsbG8="}
    with pytest.raises(ApiError) as caught:
        client.call({"type": kind, kind.lower(): body})
    assert caught.value.status == 501
    assert "Pinfold runs command tasks and no custom executors" in caught.value.message


def test_update_framework_changes_roles_and_forgets_what_was_of_the_old_ones() -> None:
    host = Host()
    client = two_roles(host)
    give_back(client, refuse=1000)
    host.turn(1)
    give_back(client, refuse=1000)
    host.turn(1)
    assert not client.outstanding()
    info = to_dict(client.info) | {"roles": ["b", "c"]}
    update = {"framework_info": info, "suppressed_roles": ["b"]}
    assert client.call({"type": "UPDATE_FRAMEWORK", "update_framework": update}) == 200
    assert outstanding(client, role="c") == 8
    assert {f.role for f in host.master.world.frameworks[client.id].filters} == {"b"}
    again = Host(host.now, stored=host)
    kept = again.master.world.frameworks[client.id]
    assert kept.roles == ["b", "c"] and kept.suppressed == {"b"}
    update = {"framework_info": to_dict(client.info) | {"roles": ["a"]}}
    assert client.call({"type": "UPDATE_FRAMEWORK", "update_framework": update}) == 200
    assert client.take(Event.RESCIND)
    assert outstanding(client, role="a") == 8


# The older paths


def test_older_paths_as_a_master_answers() -> None:
    host = Host()
    assert (views.quota(host.master, 0), views.weights(host.master, 0), views.maintenance(host.master, 0)) == (
        {},
        [],
        {},
    )
    quota(host, "*", {}, {"cpus": 1000})
    quota(host, "gold", {})
    weigh(host, "gold", 1.0)
    assert views.quota(host.master, 0) == {
        "infos": [{"role": "*"}, {"role": "gold"}],
        "configs": [{"role": "*", "limits": {"cpus": {"value": 1000.0}}}, {"role": "gold"}],
    }
    assert views.weights(host.master, 0) == [{"role": "gold", "weight": 1.0}]
    empty: dict[str, Any] = {"resources": {}, "allocated": {}, "offered": {}, "reserved": {}, "frameworks": []}
    sums = {"role": "gold", "guarantee": {}, "limit": {}, "consumed": {}}
    assert views.roles(host.master, 0)["roles"] == [
        {"name": "*", "weight": 1.0, "quota": sums | {"role": "*", "limit": {"cpus": 1000.0}}} | empty,
        {"name": "gold", "weight": 1.0, "quota": sums} | empty,
    ]


def test_consumed_is_of_the_whole_tree_and_counts_a_reservation_once() -> None:
    host = Host(resources=rs.parse("cpus:4;cpus(eng):4;mem:4096"))
    client = FrameworkClient(host, role="eng/dev")
    client.accept(client.offer(), launch(host, "t", [scalar("mem", 64, "eng/dev"), scalar("cpus", 1, "eng/dev")]))
    client.call({"type": "SUPPRESS"})
    give_back(client)
    found = {r["name"]: r["quota"]["consumed"] for r in views.roles(host.master, 0)["roles"]}
    assert found == {"eng": {"cpus": 5.0, "mem": 64.0}, "eng/dev": {"cpus": 1.0, "mem": 64.0}}
