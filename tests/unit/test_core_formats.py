"""Reservations in the format of before they could be refined: what they mean, and who is spoken to in it."""

from __future__ import annotations

from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, reserve, text

from agent_api.core import formats
from agent_api.core import resources as rs
from agent_api.core.model import Framework
from agent_api.wire import master_pb2, mesos_pb2
from agent_api.wire.codec import from_dict, to_dict

DYNAMIC = {"type": "DYNAMIC", "role": "web", "principal": "ops", "labels": {"labels": [{"key": "k", "value": "v"}]}}
SAID = {"principal": "ops", "labels": {"labels": [{"key": "k", "value": "v"}]}}


def cpus(**fields: Any) -> mesos_pb2.Resource:
    return from_dict(mesos_pb2.Resource, {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}} | fields)


PAIRS = [
    pytest.param(cpus(), cpus(role="*"), id="unreserved"),
    pytest.param(cpus(reservations=[{"type": "STATIC", "role": "web"}]), cpus(role="web"), id="static"),
    pytest.param(
        cpus(reservations=[{"type": "DYNAMIC", "role": "web"}]), cpus(role="web", reservation={}), id="dynamic"
    ),
    pytest.param(cpus(reservations=[DYNAMIC]), cpus(role="web", reservation=SAID), id="with principal and labels"),
]


@pytest.mark.parametrize(("new", "old"), PAIRS)
def test_one_says_what_the_other_says(new: mesos_pb2.Resource, old: mesos_pb2.Resource) -> None:
    assert formats.problem(old) is None and formats.problem(new) is None
    assert formats.in_old([new]) == [old]
    assert formats.in_new([old]) == [new]
    assert formats.in_new([new]) == [new]
    both = formats.in_both([new])
    assert both[0].reservations == new.reservations and both[0].role == old.role
    assert both[0].HasField("reservation") is old.HasField("reservation")
    assert formats.problem(both[0]) is None and formats.in_new(both) == [new]


def test_refined_reservations_have_no_old_format() -> None:
    chain = cpus(reservations=[{"type": "STATIC", "role": "web"}, {"type": "DYNAMIC", "role": "web/shop"}])
    assert formats.in_both([chain]) == formats.in_old([chain]) == [chain]


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (cpus(reservation={}), 'role "*" cannot be dynamically reserved'),
        (cpus(role="web", reservation={"type": "DYNAMIC"}), "'Resource.ReservationInfo.type' must not be set"),
        (cpus(role="web", reservation={"role": "web"}), "'Resource.ReservationInfo.role' must not be set"),
        (cpus(role="a", reservations=[DYNAMIC]), "'Resource.role' is 'a', and 'Resource.reservations' are for role 'w"),
    ],
)
def test_what_contradicts_itself_is_refused_and_takes_nothing(resource: mesos_pb2.Resource, words: str) -> None:
    host = Host()
    framework = FrameworkClient(host, role="web")
    assert words in (formats.problem(resource) or "")
    framework.accept(framework.offer(), reserve([resource]), launch(host, "t", [resource]))
    assert words in framework.operation_statuses()[0].message
    assert words in framework.statuses()[0].message
    assert not host.launched


def old_framework(host: Host, role: str = "web", *lacks: str) -> FrameworkClient:
    return FrameworkClient(host, role=role, lacks=lacks or ("RESERVATION_REFINEMENT",))


def test_a_framework_of_before_refinement_reserves_and_runs_in_its_own_words() -> None:
    host = Host(resources=rs.parse("cpus:6;cpus(web):2;mem:1024;mem(other):64"))
    framework = old_framework(host)
    offer = framework.offer()
    assert not any(r.reservations for r in offer.resources)
    assert {(r.name, r.role, r.scalar.value) for r in offer.resources} == {
        ("cpus", "*", 6.0),
        ("cpus", "web", 2.0),
        ("mem", "*", 1024.0),
    }
    assert offer.allocation_info.role == "web"
    wanted = cpus(role="web", reservation={"principal": "ops"}, allocation_info={"role": "web"})
    framework.accept(offer, reserve([wanted]))
    assert framework.operation_statuses()[0].state == mesos_pb2.OPERATION_FINISHED
    offer = framework.offer()
    mine = [r for r in offer.resources if r.HasField("reservation")]
    assert mine == [wanted]
    static = [r for r in offer.resources if r.role == "web" and not r.HasField("reservation")]
    framework.accept(offer, launch(host, "t", [*mine, *static]))
    assert text(host.launched[-1].task.resources) == (
        "cpus(reservations: [(DYNAMIC,web,ops)]):1; cpus(reservations: [(STATIC,web)]):2"
    )
    host.run()
    host.end("t", framework.id)
    framework.accept(framework.offer(), reserve(mine, "back", undo=True))
    assert framework.operation_statuses()[-1].state == mesos_pb2.OPERATION_FINISHED
    assert not any(r.HasField("reservation") for r in framework.offer().resources)


def test_it_makes_a_set_of_what_it_was_offered() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.total[0] = provider.raw("numa/0", 8, "web")
    provider.update_state()
    framework = old_framework(host)
    offer = framework.offer()
    raw = [r for r in offer.resources if r.cpu.source.zone == "numa/0"]
    assert [(r.role, r.HasField("reservation")) for r in raw] == [("web", True)]
    framework.accept(offer, create(raw))
    sent = provider.applied()[0].info.create_cpuset.source
    assert sent[0].reservations[0].role == "web" and not sent[0].HasField("role")


@pytest.mark.parametrize("lacks", [("MULTI_ROLE",), ("MULTI_ROLE", "RESERVATION_REFINEMENT")])
def test_a_framework_of_one_role_is_told_of_no_allocation(lacks: tuple[str, ...]) -> None:
    host = Host()
    framework = old_framework(host, "web", *lacks)
    offer = framework.offer()
    assert not offer.HasField("allocation_info")
    assert not any(r.HasField("allocation_info") for r in offer.resources)
    assert all(r.HasField("role") is ("RESERVATION_REFINEMENT" in lacks) for r in offer.resources)
    framework.accept(offer, launch(host, "t", [r for r in offer.resources if r.name == "cpus"]))
    assert [r.allocation_info.role for r in host.launched[0].task.resources] == ["web"]
    shown = host.master.world.frameworks[framework.id]
    assert isinstance(shown, Framework) and shown.roles == ["web"]


def test_an_operator_sends_back_what_he_was_shown() -> None:
    host = Host()
    world = host.master.world
    resource = cpus(reservations=[{"type": "DYNAMIC", "role": "web"}])
    body: dict[str, Any] = {"agent_id": {"value": world.agent_id}, "resources": [to_dict(resource)]}
    operator(host, "RESERVE_RESOURCES", body)
    answer = operator(host, "GET_AGENTS", None)
    shown = [r for r in answer.get_agents.agents[0].total_resources if r.reservations]
    assert [(r.role, r.HasField("reservation")) for r in shown] == [("web", True)]
    operator(host, "UNRESERVE_RESOURCES", body | {"resources": [to_dict(r) for r in shown]})
    assert not any(r.reservations for r in world.total())
    operator(host, "RESERVE_RESOURCES", body | {"resources": [to_dict(cpus(role="web", reservation={}))]})
    assert [r.reservations[0].role for r in world.total() if r.reservations] == ["web"]


def operator(host: Host, kind: str, body: dict[str, Any] | None) -> Any:
    values = {"type": kind} | ({} if body is None else {kind.lower(): body})
    answer = host.master.master_call(from_dict(master_pb2.Call, values), host.now)
    host.turn()
    return answer


def test_a_provider_may_use_the_old_format_too() -> None:
    host = Host()
    provider = ProviderClient(host)
    old = provider.raw("numa/0", 8)
    old.role = "web"
    provider.total = [old, provider.raw("numa/1", 8)]
    provider.update_state()
    assert text(r for r in host.master.world.total() if r.HasField("cpu")) == (
        "cpus(reservations: [(STATIC,web)])[RAW numa/0 default]:8; cpus[RAW numa/1 default]:8"
    )
