"""COMPACT_CPUSETS: who is asked, what the answers become, and that tasks follow their sets to other zones."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from agent_api.core.effects import CompactionAnswered, Effect, UpdateTaskCpus
from agent_api.core.resources import describe_all
from agent_api.errors import NotFound, Unavailable
from agent_api.wire import agent_pb2, mesos_pb2, resource_provider_pb2
from tests.unit.core_world import launch, scalar, with_role
from tests.unit.test_core_operations import Stage

Event = resource_provider_pb2.Event
Call = resource_provider_pb2.Call


def wish(*set_ids: str, dry_run: bool | None = None) -> agent_pb2.Call.CompactCpusets:
    call = agent_pb2.Call.CompactCpusets(cpuset_ids=set_ids)
    if dry_run is not None:
        call.dry_run = dry_run
    return call


def ask(stage: Stage, call: agent_pb2.Call.CompactCpusets) -> tuple[dict[bytes, str], list[Event.CompactCpusets]]:
    asked = stage.host.master.compact(call, stage.host.now)
    stage.host.turn()
    return asked, [event.compact_cpusets for event in stage.provider.take(Event.COMPACT_CPUSETS)]


def test_a_call_that_does_not_say_otherwise_is_a_dry_run() -> None:
    stage = Stage()
    stage.make_set(4)
    asked, (event,) = ask(stage, wish())
    assert event.dry_run and list(event.cpuset_ids) == []
    assert asked == {event.uuid.value: stage.provider.id}
    _, (event,) = ask(stage, wish("s1", dry_run=False))
    assert not event.dry_run and list(event.cpuset_ids) == ["s1"]


def test_whom_nobody_has_or_nobody_can_be_asked_for() -> None:
    stage = Stage()
    stage.make_set(4)
    with pytest.raises(NotFound, match="there is no set 's9'"):
        stage.host.master.compact(wish("s1", "s9"), stage.host.now)
    stage.host.master.provider_stream_closed(stage.provider.stream, stage.host.now)
    for call in (wish(), wish("s1")):
        with pytest.raises(Unavailable, match="connected"):
            stage.host.master.compact(call, stage.host.now)
    assert not stage.provider.take(Event.COMPACT_CPUSETS)


def test_nobody_waits_for_a_provider_that_went_away() -> None:
    stage = Stage()
    (first, second) = (next(iter(ask(stage, wish())[0])) for _ in range(2))
    call = Call(type=Call.UPDATE_COMPACTION)
    call.resource_provider_id.value = stage.provider.id
    call.update_compaction.uuid.value = first
    stage.host.master.provider_call(call, stage.provider.stream, stage.host.now)
    stage.host.master.provider_stream_closed(stage.provider.stream, stage.host.now)
    told = [effect for effect in stage.host.master.drain() if isinstance(effect, CompactionAnswered)]
    assert [effect.uuid for effect in told] == [first, second]
    assert "went away" in told[1].answer.message and not told[0].answer.message
    answer = stage.host.master.compacted(True, {stage.provider.id: told[1].answer}, stage.host.now)
    assert "went away" in answer.compact_cpusets.providers[0].message
    # Once is enough.
    stage.host.master.provider_stream_closed(stage.provider.stream, stage.host.now)
    stage.provider.subscribe()
    assert not [e for e in stage.host.master.drain() if isinstance(e, CompactionAnswered)]


def test_the_answer_is_handed_to_who_waits() -> None:
    stage = Stage()
    asked, (event,) = ask(stage, wish())
    call = Call(type=Call.UPDATE_COMPACTION)
    call.resource_provider_id.value = stage.provider.id
    call.update_compaction.uuid.CopyFrom(event.uuid)
    call.update_compaction.moves.add(cpuset_id="s1", done=False)
    call.update_compaction.message = "why"
    master = stage.host.master
    master.provider_call(call, stage.provider.stream, stage.host.now)
    (effect,) = [effect for effect in master.drain() if isinstance(effect, CompactionAnswered)]
    assert effect.uuid in asked
    response = master.compacted(True, {asked[effect.uuid]: effect.answer}, stage.host.now)
    assert response.type == agent_pb2.Response.COMPACT_CPUSETS
    (told,) = response.compact_cpusets.providers
    assert (told.id.value, told.name, told.message, told.moves[0].cpuset_id) == (stage.provider.id, "host", "why", "s1")
    assert response.compact_cpusets.dry_run


def moved(stage: Stage, *resources: mesos_pb2.Resource, raw: dict[str, float]) -> None:
    """The provider reports totals in which a set lies in other zones."""
    stage.provider.total = [*(stage.provider.raw(zone, n) for zone, n in raw.items() if n), *resources]
    stage.provider.update_state()
    stage.host.run()


def used(stage: Stage) -> str:
    return describe_all(stage.host.master.world.used())


def start(stage: Stage, amounts: Iterable[int]) -> None:
    stage.make_set(4)
    for number, amount in enumerate(amounts):
        part = with_role(stage.provider.cpu_set("s1", "numa/0", amount), "test")
        offer = stage.framework.offer()
        task = launch(stage.host, f"t{number}", [part, scalar("mem", 32, "test")])
        stage.framework.accept(offer, task)
        stage.provider.published()
        stage.host.run()


def test_tasks_follow_a_set_to_another_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    start(stage, (1, 2))
    told: list[UpdateTaskCpus] = []
    perform = stage.host.perform

    def watched(effect: Effect) -> None:
        if isinstance(effect, UpdateTaskCpus):
            told.append(effect)
        perform(effect)

    monkeypatch.setattr(stage.host, "perform", watched)
    assert "[EXCLUSIVE s1 numa/0 default]:3" in used(stage)
    moved(stage, stage.provider.cpu_set("s1", "numa/1", 4), raw={"numa/0": 8, "numa/1": 4})
    assert "[EXCLUSIVE s1 numa/1 default]:3" in used(stage) and "numa/0" not in used(stage)
    # The file that PINFOLD_CPUSET_FILE names is written anew for each, once.
    assert [(one.task_id, one.cpu_resources[0].cpu.source.zone) for one in told] == [("t0", "numa/1"), ("t1", "numa/1")]
    assert all(one.cpu_resources[0].cpu.source.metadata.labels for one in told)
    # The rest of the set is offered, where it is now, and only the rest.
    there = stage.free()
    assert "[EXCLUSIVE s1 numa/1 default]:1" in there and "[RAW numa/0 default]:8" in there
    for number in range(2):
        record = stage.host.stored["task", stage.framework.id, f"t{number}"]
        assert record.task.resources[0].cpu.source.zone == "numa/1"
        assert record.task.resources[0].allocation_info.role == "test"


def test_tasks_of_a_set_that_went_to_two_zones_share_them() -> None:
    stage = Stage()
    start(stage, (2, 1))
    parts = (stage.provider.cpu_set("s1", "numa/0", 1), stage.provider.cpu_set("s1", "numa/1", 3))
    moved(stage, *parts, raw={"numa/0": 7, "numa/1": 5})
    assert "[EXCLUSIVE s1 numa/0 default]:1" in used(stage) and "[EXCLUSIVE s1 numa/1 default]:2" in used(stage)
    assert "[EXCLUSIVE s1 numa/1 default]:1" in stage.free()
    again = used(stage)
    moved(stage, *parts, raw={"numa/0": 7, "numa/1": 5})
    assert used(stage) == again, "nothing is counted anew"
