"""Offer constraints: which are well formed, which agents meet them, and that offers follow."""

from __future__ import annotations

import time
from typing import Any

import pytest
from core_world import FrameworkClient, Host

from agent_api.core.constraints import OfferConstraints
from agent_api.errors import ApiError
from agent_api.wire import master_pb2, mesos_pb2, scheduler_pb2
from agent_api.wire.codec import from_dict, to_dict

Event = scheduler_pb2.Event

ATTRIBUTES = [
    from_dict(mesos_pb2.Attribute, {"name": "rack", "type": "TEXT", "text": {"value": "r1"}}),
    from_dict(mesos_pb2.Attribute, {"name": "year", "type": "SCALAR", "scalar": {"value": 2026}}),
]
RACK = {"attribute_name": "rack"}
ABSENT = {"attribute_name": "gpu"}
HOST = {"pseudoattribute_type": "HOSTNAME"}


def constraints(selector: dict[str, Any], predicate: dict[str, Any], role: str = "test") -> dict[str, Any]:
    return {
        "role_constraints": {
            role: {"groups": [{"attribute_constraints": [{"selector": selector, "predicate": predicate}]}]}
        }
    }


def made(values: dict[str, Any], roles: tuple[str, ...] = ("test",)) -> OfferConstraints:
    return OfferConstraints(from_dict(scheduler_pb2.OfferConstraints, values), roles)


@pytest.mark.parametrize(
    ("selector", "predicate", "met"),
    [
        (RACK, {"exists": {}}, True),
        (ABSENT, {"exists": {}}, False),
        (RACK, {"not_exists": {}}, False),
        (ABSENT, {"not_exists": {}}, True),
        (RACK, {"text_equals": {"value": "r1"}}, True),
        (RACK, {"text_equals": {"value": "r"}}, False),
        (ABSENT, {"text_equals": {"value": ""}}, False),
        (RACK, {"text_not_equals": {"value": "r2"}}, True),
        (RACK, {"text_not_equals": {"value": "r1"}}, False),
        (ABSENT, {"text_not_equals": {"value": "r1"}}, True),
        (RACK, {"text_matches": {"regex": "r[0-9]"}}, True),
        (RACK, {"text_matches": {"regex": "r"}}, False),  # all of it must match
        (ABSENT, {"text_matches": {"regex": ".*"}}, False),
        (RACK, {"text_not_matches": {"regex": "r[0-9]"}}, False),
        (RACK, {"text_not_matches": {"regex": "r[2-9]"}}, True),
        (ABSENT, {"text_not_matches": {"regex": ".*"}}, True),
        # Nothing is said of the text of what is no text.
        ({"attribute_name": "year"}, {"text_equals": {"value": "x"}}, True),
        ({"attribute_name": "year"}, {"text_not_matches": {"regex": ".*"}}, True),
        (HOST, {"text_equals": {"value": "node-7"}}, True),
        (HOST, {"text_not_matches": {"regex": "node-.*"}}, False),
        ({"pseudoattribute_type": "ZONE"}, {"exists": {}}, False),
        ({"pseudoattribute_type": "REGION"}, {"text_not_equals": {"value": "eu"}}, True),
    ],
)
def test_what_meets_a_constraint(selector: dict[str, Any], predicate: dict[str, Any], met: bool) -> None:
    asked = made(constraints(selector, predicate))
    assert asked.met("test", ATTRIBUTES, "node-7") is met
    assert asked.met("other", ATTRIBUTES, "node-7")


def test_one_whole_group_is_enough() -> None:
    yes = {"selector": RACK, "predicate": {"exists": {}}}
    no = {"selector": ABSENT, "predicate": {"exists": {}}}

    def met(*groups: list[dict[str, Any]]) -> bool:
        role = {"groups": [{"attribute_constraints": group} for group in groups]}
        return made({"role_constraints": {"test": role}}).met("test", ATTRIBUTES, "node-7")

    assert met([no, yes], [yes, yes])
    assert not met([no, yes], [yes, no])


BAD = [
    (constraints(RACK, {"exists": {}}, "nope"), "for a role 'nope' not contained in the set of roles"),
    ({"role_constraints": {"test": {}}}, "has an empty 'RoleConstraints::groups' for role test"),
    ({"role_constraints": {"test": {"groups": [{}]}}}, "for role test contains an empty RoleConstraints::Group"),
    (constraints({}, {"exists": {}}), "Exactly one of 'AttributeConstraint::Selector::name'"),
    (constraints(RACK | HOST, {"exists": {}}), "Exactly one of 'AttributeConstraint::Selector::name'"),
    (constraints({"pseudoattribute_type": "UNKNOWN"}, {"exists": {}}), "Unknown pseudoattribute type"),
    (constraints(RACK, {}), "Unknown predicate type"),
    (constraints(RACK, {"exists": {}, "not_exists": {}}), "Exactly one of exists and not_exists must be set"),
    (constraints(RACK, {"text_matches": {"regex": "("}}), "Failed to construct regex from pattern '('"),
    (constraints(RACK, {"text_matches": {"regex": "(?=a)"}}), "Failed to construct regex from pattern '(?=a)'"),
    (constraints(RACK, {"text_not_matches": {"regex": "a{99}b{99}"}}), "Regex 'a{99}b{99}' is too complex"),
    (constraints(RACK, {"text_matches": {"regex": "[α-ω]{999}"}}), "Failed to construct regex from pattern"),
]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_what_is_not_well_formed_is_an_error_and_changes_nothing(values: dict[str, Any], words: str) -> None:
    host = Host()
    framework = FrameworkClient(host)
    before = framework.outstanding()
    update = {"framework_info": to_dict(framework.info) | {"roles": ["test", "more"]}, "offer_constraints": values}
    with pytest.raises(ApiError, match="Offer constraints ") as caught:
        framework.call({"type": "UPDATE_FRAMEWORK", "update_framework": update})
    assert caught.value.status == 400 and words in caught.value.message
    assert framework.outstanding() == before
    assert host.master.world.frameworks[framework.id].roles == ["test"]
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
    call.subscribe.framework_info.CopyFrom(framework.info)
    call.subscribe.framework_info.ClearField("id")
    call.subscribe.offer_constraints.CopyFrom(from_dict(scheduler_pb2.OfferConstraints, values))
    host.master.subscribe(call, "other", None, host.now)
    host.turn()
    assert [e.type for e in host.sent["other"]] == [Event.ERROR] and host.closed == ["other"]
    assert words in host.sent["other"][0].error.message
    assert list(host.master.world.frameworks) == [framework.id]


def test_a_pattern_takes_no_more_time_than_its_text_is_long() -> None:
    asked = made(constraints(RACK, {"text_matches": {"regex": "(a+)+b"}}))
    long = [from_dict(mesos_pb2.Attribute, {"name": "rack", "type": "TEXT", "text": {"value": "a" * 20000}})]
    start = time.process_time()
    assert not asked.met("test", long, "")
    assert time.process_time() - start < 2


def test_offers_follow() -> None:
    host = Host(attributes=ATTRIBUTES)
    framework = FrameworkClient(host, roles=["test", "more"])
    framework.call({"type": "DECLINE", "decline": {"offer_ids": [{"value": i} for i in framework.outstanding()]}})
    wanted = constraints(RACK, {"text_equals": {"value": "r2"}})

    def update(**more: Any) -> None:
        body = {"framework_info": to_dict(framework.info)} | more
        assert framework.call({"type": "UPDATE_FRAMEWORK", "update_framework": body}) == 200
        host.turn(6)

    update(offer_constraints=wanted)
    assert {o.role for o in host.master.world.offers.values()} == {"more"}
    answer = host.master.master_call(master_pb2.Call(type=master_pb2.Call.GET_FRAMEWORKS), host.now)
    assert answer is not None
    assert to_dict(answer.get_frameworks.frameworks[0].offer_constraints) == wanted
    # The role that has an offer of an agent that it does not want any more gets it taken back.
    framework.take(Event.RESCIND)
    update(offer_constraints=constraints(HOST, {"text_equals": {"value": "elsewhere"}}, "more"))
    assert framework.take(Event.RESCIND)
    assert {o.role for o in host.master.world.offers.values()} == {"test"}
    # The last word holds: without constraints every agent will do.
    framework.call({"type": "DECLINE", "decline": {"offer_ids": [{"value": i} for i in framework.outstanding()]}})
    update(suppressed_roles=["test"])
    assert {o.role for o in host.master.world.offers.values()} == {"more"}
    assert host.master.world.frameworks[framework.id].suppressed == {"test"}
