"""What PUBLISH_RESOURCES asks for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent_api.wire import mesos_pb2, resource_provider_pb2
from provider.dialect import Pinfold
from provider.inventory import Source, State
from provider.publishing import wanted
from tests.unit.hosts import make_set

Publish = resource_provider_pb2.Event.PublishResources

STATE = State().with_set(make_set("a", "1,5")).with_set(make_set("b", "2,6"))


def publish(named: Sequence[str], starting: Sequence[str] = (), together: Sequence[Sequence[str]] = ()) -> Publish:
    result = Publish(starting=starting)
    for set_id in named:
        resource = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
        resource.cpu.source.type = Source.EXCLUSIVE
        resource.cpu.source.id = set_id
        result.resources.append(resource)
    for ids in together:
        result.together.add(set_ids=ids)
    return result


@pytest.mark.parametrize(
    ("named", "starting", "needed", "problems"),
    [
        ("ab", "", "ab", ["set b is revoked: no room"]),
        ("a", "", "a", []),
        ("ab", "a", "a", []),
        ("ab", "b", "b", ["set b is revoked: no room"]),
        ("ac", "", "a", ["set 'c' does not exist"]),
        ("ac", "a", "a", []),
        ("a", "c", "c", ["set 'c' does not exist"]),
    ],
)
def test_the_answer_is_about_the_task_that_starts(named: str, starting: str, needed: str, problems: list[str]) -> None:
    found = wanted(Pinfold(), STATE, {"b": "no room"}, publish(named, starting))
    assert (found.needed, list(found.problems)) == (frozenset(needed), problems)
    assert found.named == frozenset(named) & STATE.sets.keys()


def test_groups_of_sets_that_exist() -> None:
    found = wanted(Pinfold(), STATE, {}, publish("ab", together=["ba", "ac"]))
    assert found.mixed == {("a", "b")}
