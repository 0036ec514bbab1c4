"""The provider's sequence over a real database and a kernel-like cgroup tree: what is told is committed, what is not
committed is undone, wherever the process dies."""

from __future__ import annotations

import errno
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from agent_api.wire import mesos_pb2, pinfold_pb2, resource_provider_pb2
from profiles.state import NotModified
from provider import cpuset, inventory
from provider.session import State as Standing
from provider.store import KEPT_ACKNOWLEDGED, StoreError
from tests.functional.provider_world import (
    Call,
    Died,
    Event,
    Operation,
    Provider,
    create,
    destroy,
    made,
    raw,
    reserve,
    resize,
    uuid,
)
from tests.unit.hosts import D16, S8
from tests.unit.test_allocator_large import HOSTS as LARGE

BIND = {"policy": "bind", "mode": "required"}
FINISHED = mesos_pb2.OPERATION_FINISHED
FAILED = mesos_pb2.OPERATION_FAILED
DROPPED = mesos_pb2.OPERATION_DROPPED
OK = Call.UpdatePublishResourcesStatus.OK


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def provider(tmp_path: Path, version: int) -> Iterator[Provider]:
    made = Provider(tmp_path, version=version)
    made.start()
    yield made
    made.check()
    made.close()


# -- a provider's life ----------------------------------------------------------------------------------------------


def test_the_first_report(provider: Provider) -> None:
    assert provider.manager.session.state is Standing.READY
    provider.manager._want_report()
    report = provider.report()
    (resource,) = report.resources
    assert (resource.scalar.value, resource.cpu.source.zone, resource.cpu.source.pool) == (6.0, "numa/0", "default")
    labels = {label.key: label.value for label in resource.cpu.source.metadata.labels}
    assert labels["free_whole_cores"] == "3"
    assert labels["largest/denied"] == "6"
    assert len(report.resource_version_uuid.value) == 16
    told = report.cpu_report
    assert (told.floor_cpus, told.topology.floor, told.topology.enforcement) == (2, "0,4", provider.enforcer().kind)
    assert [(p.name, p.state, p.placeable) for p in told.profiles] == [
        (name, pinfold_pb2.Profile.ACTIVE, True) for name in ("any", "batch", "denied", "whole")
    ]
    assert provider.kernel() == {"plain": "0-7"}


def test_create_publish_destroy(provider: Provider) -> None:
    status = made(provider, create(2))
    (resource,) = status.converted_resources
    labels = {label.key: label.value for label in resource.cpu.source.metadata.labels}
    assert labels["cpus"] == "1,5"
    assert labels["cgroup"] == provider.enforcer().path("set-1")
    assert provider.kernel() == {"plain": "0,2-4,6-7", "set.set-1": "1,5"}
    report = provider.report()
    assert [r.scalar.value for r in report.resources] == [4.0, 2.0]
    (shown,) = report.cpu_report.cpusets
    assert (shown.id, shown.state, shown.role, shown.framework_id, shown.lifetime, shown.created) == (
        "set-1",
        pinfold_pb2.Cpuset.OK,
        "r",
        "fw",
        "role",
        1000.0,
    )
    assert provider.publish(*provider.resources("set-1")) == OK
    status = made(provider, destroy(provider.resources("set-1")), 2)
    assert [r.scalar.value for r in status.converted_resources] == [2.0]
    assert provider.kernel() == {"plain": "0-7"}


def test_others_are_wide_again_before_the_destroy_is_told(provider: Provider) -> None:
    made(provider, create(2, "batch"))
    made(provider, create(2), 2)
    assert provider.kernel()["shared/set-1"] == "2-3,6-7"
    seen: list[str] = []
    provider.manager._send = lambda call: seen.append(provider.kernel()["shared/set-1"])
    provider.apply(destroy(provider.resources("set-2")), uuid(3))
    assert seen == ["1-3,5-7"]


def test_resize_keeps_cpus_and_moves_the_kernel(provider: Provider) -> None:
    made(provider, create(2))
    made(provider, resize(provider.resources("set-1"), add=2), 2)
    kernel = provider.kernel()
    assert cpuset.parse(kernel["set.set-1"]) & cpuset.parse("1,5") == cpuset.parse("1,5")
    made(provider, resize(provider.resources("set-1"), subtract=2), 3)
    assert cpuset.parse(provider.kernel()["set.set-1"]).bit_count() == 2


def test_a_set_that_moves_to_another_node_while_others_are_there(tmp_path: Path, version: int) -> None:
    """Its neighbours are narrowed before it comes and widened after it went, in one operation."""
    provider = Provider(tmp_path, D16, version=version)
    provider.start(profiles={"bind": {"memory": BIND}, "any": {}, "batch": {"mode": "shared"}})
    made(provider, create(2, "batch", "numa/1"), 1)
    made(provider, create(2, "any", "numa/1"), 2)
    made(provider, create(4, "bind"), 3)
    assert provider.kernel()["shared/set-1"] == "3,5-7,11,13-15"
    made(provider, resize(provider.resources("set-3"), add=3, subtract=4, zone="numa/1"), 4)
    one = provider.manager.state.sets["set-3"]
    assert (one.cpus.bit_count(), one.mems, [c.zone for c in one.charges]) == (3, 2, ["numa/1"])
    kernel = provider.kernel()
    assert kernel["set.set-3"] == cpuset.format_mask(one.cpus)
    assert cpuset.parse(kernel["shared/set-1"]) == D16.online & ~0b100000001 & ~one.cpus & ~cpuset.parse("4,12")
    provider.check()
    provider.close()


def test_reservations(provider: Provider) -> None:
    made(provider, reserve(4))
    provider.start()
    provider.manager._want_report()
    report = provider.report()
    assert [(len(r.reservations), r.scalar.value) for r in report.resources] == [(1, 4.0), (0, 2.0)]


def test_the_operator_s_operation_has_no_framework(provider: Provider) -> None:
    event = Event(type=Event.APPLY_OPERATION)
    event.apply_operation.info.CopyFrom(create(2))
    event.apply_operation.operation_uuid.value = uuid(1)
    event.apply_operation.resource_version_uuid.value = provider.manager.version
    provider.manager.handle(event)
    (call,) = provider.taken(Call.UPDATE_OPERATION_STATUS)
    assert call.update_operation_status.status.state == FINISHED
    assert not call.update_operation_status.HasField("framework_id")


# -- refusals -------------------------------------------------------------------------------------------------------


def test_bad_operations_end_once_and_change_nothing(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    before = provider.manager.state
    assert provider.apply(create(2), b"short") is None
    assert "is not 16 bytes" in caplog.text
    stale = provider.apply(create(2), uuid(1), b"s" * 16)
    assert stale is not None and stale.state == DROPPED
    unknown = provider.apply(Operation(type=Operation.GROW_VOLUME), uuid(2))
    assert unknown is not None and unknown.state == FAILED
    for number in range(3, 23):
        failed = provider.apply(create(100), uuid(number))
        assert failed is not None and failed.state == FAILED
        assert "6 are there" in failed.message
    assert provider.manager.state == before
    assert provider.kernel() == {"plain": "0-7"}


def test_a_kernel_that_refuses_fails_the_operation(provider: Provider) -> None:
    provider.fs.deaf.add("set.set-1/cpuset.cpus")
    status = provider.apply(create(2))
    assert status is not None and status.state == FAILED
    assert "wrote 1,5, kernel has" in status.message
    assert provider.manager.state.sets == {}
    assert provider.kernel() == {"plain": "0-7"}
    assert made(provider, create(2), 9).converted_resources


def test_a_set_with_processes_is_not_destroyed(provider: Provider) -> None:
    made(provider, create(2))
    provider.fs.start(77, provider.enforcer().path("set-1"))
    status = provider.apply(destroy(provider.resources("set-1")), uuid(2))
    assert status is not None and status.state == FAILED
    assert "1 processes are in its cgroup" in status.message
    assert "set-1" in provider.manager.state.sets


def test_a_set_whose_processes_cannot_be_told_is_not_destroyed(provider: Provider) -> None:
    made(provider, create(2))
    provider.fs.unreadable = {"set.set-1/cgroup.procs": errno.EACCES}
    status = provider.apply(destroy(provider.resources("set-1")), uuid(2))
    assert status is not None and status.state == FAILED
    assert "cannot tell which processes run there" in status.message and "EACCES" in status.message
    assert provider.kernel()["set.set-1"] == "1,5"
    provider.fs.unreadable.clear()
    made(provider, destroy(provider.resources("set-1")), 3)


def test_publish_puts_in_force_or_fails(provider: Provider) -> None:
    made(provider, create(2))
    enforcer = provider.enforcer()
    provider.fs.rmdir(enforcer.path("set-1"))
    assert provider.publish(*provider.resources("set-1")) == OK
    assert provider.kernel()["set.set-1"] == "1,5"
    missing = provider.resources("set-1")
    missing[0].cpu.source.id = "nope"
    assert provider.publish(*missing) == Call.UpdatePublishResourcesStatus.FAILED
    assert provider.publish(raw(1)) == Call.UpdatePublishResourcesStatus.FAILED
    assert provider.publish() == OK


def test_a_set_that_cannot_be_used_is_no_problem_of_tasks_in_others(tmp_path: Path, version: int) -> None:
    """The agent names the sets of all its tasks: one that is revoked, and one of which no CPU is there."""
    refused = Call.UpdatePublishResourcesStatus.FAILED
    provider = Provider(tmp_path, version=version, overcommit=1.5)
    provider.start()
    info = create(2, "batch")
    info.create_cpuset.source[0].revocable.SetInParent()
    made(provider, info, 1)
    made(provider, create(2), 2)
    made(provider, create(4), 3)
    assert set(provider.manager.revoked) == {"set-1"}
    gone = provider.manager.state.sets["set-2"].cpus
    provider.topology = without(S8, gone)
    provider.fs.set_online(provider.topology.online)
    provider.manager.reconcile()
    used = [one for set_id in ("set-1", "set-2", "set-3") for one in provider.resources(set_id)]
    assert provider.publish(*used, starting=["set-3"]) == OK
    for bad in (["set-1"], ["set-2"], ["set-2", "set-3"], ["set-9"], []):
        assert provider.publish(*used, starting=bad) == refused
    # Nor is one that is not there any more.
    used[0].cpu.source.id = "set-9"
    assert provider.publish(*used, starting=["set-3"]) == OK
    assert provider.publish(*used, starting=["set-9"]) == refused
    provider.close()


# -- statuses -------------------------------------------------------------------------------------------------------


def test_a_status_is_sent_again_until_acknowledged(provider: Provider) -> None:
    status = made(provider, create(2))
    provider.now += 1
    provider.manager.tick()
    assert provider.statuses() == []
    waits = []
    for _ in range(200):
        provider.now += 1
        provider.manager.tick()
        if provider.statuses():
            waits.append(provider.now)
    gaps = [b - a for a, b in itertools.pairwise(waits)]
    assert gaps[:4] == [4, 8, 16, 32]
    wrong = mesos_pb2.OperationStatus()
    wrong.uuid.value = b"w" * 16
    provider.acknowledge(uuid(1), wrong)
    provider.acknowledge(uuid(1), status)
    provider.acknowledge(uuid(1), status)
    for _ in range(100):
        provider.now += 10
        provider.manager.tick()
    assert provider.statuses() == []
    provider.manager._want_report()
    assert not provider.report().operations


def test_what_is_not_acknowledged_is_told_on_the_next_stream_and_by_the_next_process(provider: Provider) -> None:
    status = made(provider, create(2))
    provider.manager.stream_closed()
    assert provider.manager.session.state is Standing.DISCONNECTED
    provider.now += 100
    provider.manager.tick()
    assert provider.statuses() == []
    for again in (provider.subscribe, provider.start):
        again()
        assert [(key, one.uuid.value) for key, one in provider.statuses()] == [(uuid(1), status.uuid.value)]
        (entry,) = provider.calls[0].update_state.operations
        assert (entry.uuid.value, entry.latest_status.state, entry.info.type) == (uuid(1), FINISHED, create(2).type)
        assert entry.framework_id.value == "fw"
        provider.manager.stream_closed()


def test_the_same_operation_again_has_the_same_outcome(provider: Provider) -> None:
    first = made(provider, create(2))
    again = provider.apply(create(2), uuid(1))
    assert again == first
    provider.acknowledge(uuid(1), first)
    assert provider.apply(create(2), uuid(1)) == first
    provider.start()
    assert provider.apply(create(2), uuid(1), b"stale-version..."[:16]) == first
    assert list(provider.manager.state.sets) == ["set-1"]


def test_acknowledged_operations_are_forgotten_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KEPT_ACKNOWLEDGED >= 100
    monkeypatch.setattr("provider.endings.KEPT_ACKNOWLEDGED", 5)
    provider = Provider(tmp_path)
    provider.start()
    for number in range(12):
        status = provider.apply(create(100), uuid(number))
        assert status is not None
        provider.acknowledge(uuid(number), status)
    assert provider.store is not None
    assert [record.uuid for record in provider.store.load().operations] == [uuid(n) for n in range(7, 12)]
    provider.close()


def test_reconcile_operations(provider: Provider) -> None:
    status = made(provider, create(2))
    answers = provider.reconcile_operations(uuid(1), uuid(7), b"short")
    assert [(key, one.state) for key, one in answers] == [(uuid(1), FINISHED), (uuid(7), DROPPED)]
    assert answers[0][1] == status
    assert answers[1][1].uuid.value
    # Dropped once and for all.
    assert provider.reconcile_operations(uuid(7)) == answers[1:]
    late = provider.apply(create(2), uuid(7))
    assert late is not None and late.state == DROPPED


# -- death at any point ---------------------------------------------------------------------------------------------


def scenario_create(provider: Provider) -> Operation:
    return create(2)


def scenario_shared(provider: Provider) -> Operation:
    return create(2, "batch", burst=3.0)


def scenario_grow(provider: Provider) -> Operation:
    return resize(provider.resources("set-2"), add=2)


def scenario_shrink(provider: Provider) -> Operation:
    return resize(provider.resources("set-2"), subtract=1)


def scenario_both(provider: Provider) -> Operation:
    return resize(provider.resources("set-2"), add=2, subtract=1)


def scenario_destroy(provider: Provider) -> Operation:
    return destroy(provider.resources("set-2"))


def scenario_reserve(provider: Provider) -> Operation:
    return reserve(2)


@pytest.mark.parametrize(
    "scenario",
    [
        scenario_create,
        scenario_shared,
        scenario_grow,
        scenario_shrink,
        scenario_both,
        scenario_destroy,
        scenario_reserve,
    ],
)
def test_death_at_every_point_leaves_one_of_the_two_states(
    tmp_path: Path, version: int, scenario: Callable[[Provider], Operation]
) -> None:
    """After each statement, commit and cgroup write: restart, and the state before or after is whole."""
    # What the operation does where nothing dies.
    whole = Provider(tmp_path / "whole", version=version)
    (tmp_path / "whole").mkdir()
    whole.start()
    made(whole, create(1, "batch"))
    made(whole, create(2), 2)
    before, kernel_before = whole.manager.state, whole.kernel()
    start = whole.points
    assert whole.apply(scenario(whole), uuid(3)) is not None
    points = whole.points - start
    after, kernel_after = whole.manager.state, whole.kernel()
    whole.close()
    assert points > 0
    assert before != after

    outcomes = set()
    for point in range(1, points + 1):
        directory = tmp_path / str(point)
        directory.mkdir()
        provider = Provider(directory, version=version)
        provider.start()
        made(provider, create(1, "batch"))
        made(provider, create(2), 2)
        assert provider.manager.state == before
        info = scenario(provider)
        provider.die_at = provider.points + point
        provider.calls.clear()
        with pytest.raises(Died):
            provider.apply(info, uuid(3))
        told = [status for key, status in provider.statuses() if key == uuid(3)]
        provider.start()
        provider.check()
        committed = provider.manager.state == after
        assert committed or provider.manager.state == before
        assert provider.kernel() == (kernel_after if committed else kernel_before)
        assert not told or committed
        # The agent lost its answer: it compares, and there is one terminal state.
        states = {one.state for key, one in provider.reconcile_operations(uuid(3)) if key == uuid(3)}
        assert states == {FINISHED if committed else DROPPED}
        again = provider.apply(info, uuid(3))
        assert again is not None and {again.state} == states
        provider.check()
        outcomes.add(committed)
        provider.close()
    assert outcomes == {False, True}


def test_death_at_every_point_of_the_first_start(tmp_path: Path, version: int) -> None:
    whole = Provider(tmp_path / "whole", version=version)
    (tmp_path / "whole").mkdir()
    whole.start()
    points = whole.points
    kernel = whole.kernel()
    whole.close()
    assert points > 0
    for point in range(1, points + 1):
        directory = tmp_path / str(point)
        directory.mkdir()
        provider = Provider(directory, version=version)
        with pytest.raises(Died):
            provider.start(die_at=point)
        provider.start()
        assert provider.kernel() == kernel
        made(provider, create(2))
        provider.check()
        provider.close()


def test_the_resent_operation_is_done_once_after_a_death_before_its_commit(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start()
    provider.die_at = provider.points + 3
    with pytest.raises(Died):
        provider.apply(create(2), uuid(1))
    provider.start()
    assert made(provider, create(2)).converted_resources
    assert len(provider.manager.state.sets) == 1
    provider.check()
    provider.close()


def test_a_disk_that_is_full_fails_the_operation_and_nothing_else(tmp_path: Path, version: int) -> None:
    provider = Provider(tmp_path, version=version)
    provider.start()
    assert provider.store is not None
    engine = provider.store._database.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    full = True

    @sa.event.listens_for(engine, "begin")
    def limit(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if full else 1_000_000}")

    number = 0
    while True:
        number += 1
        assert number < 200
        info = create(1)
        for index in range(300):
            info.create_cpuset.source[0].cpu.source.metadata.labels.add(key=f"k{index}", value="x" * 200)
        status = provider.apply(info, uuid(number))
        if status is None:
            break
        if status.state == FINISHED:
            (set_id,) = provider.manager.state.sets
            provider.apply(destroy(provider.resources(set_id)), uuid(1000 + number))
    assert provider.kernel() == {"plain": "0-7"}
    provider.check()
    assert provider.statuses() == []
    # Asked again, nothing is told that is not stored; then there is room again.
    assert provider.reconcile_operations(uuid(number)) == []
    full = False
    provider.now += 1
    provider.manager.tick()
    ((key, told),) = [entry for entry in provider.statuses() if entry[0] == uuid(number)]
    assert (key, told.state) == (uuid(number), FAILED)
    assert "full" in told.message
    made(provider, create(2), 5000)
    provider.check()
    provider.close()


# -- drift, hotplug, other hosts ------------------------------------------------------------------------------------


def test_drift_is_repaired_and_shown_once_it_keeps_coming_back(provider: Provider) -> None:
    made(provider, create(2))
    path = provider.enforcer().path("set-1")
    for _ in range(4):
        provider.fs.rmdir(path)
        provider.now += 4
        provider.manager.tick()
        assert provider.kernel()["set.set-1"] == "1,5"
    (shown,) = provider.report().cpu_report.cpusets
    assert shown.state == pinfold_pb2.Cpuset.DEGRADED
    assert "again and again" in shown.reason
    for _ in range(30):
        provider.now += 4
        provider.manager.tick()
    (shown,) = provider.report().cpu_report.cpusets
    assert shown.state == pinfold_pb2.Cpuset.OK


def test_a_foreign_cgroup_in_our_tree_is_removed_if_it_is_a_set_nobody_made(provider: Provider) -> None:
    provider.fs.mkdir(provider.enforcer().path("stray"))
    provider.now += 4
    provider.manager.tick()
    assert "set.stray" not in provider.kernel()


def test_a_cpu_goes_and_comes_back(provider: Provider) -> None:
    made(provider, create(2))
    version = provider.manager.version
    provider.report()
    gone = cpuset.parse("0-4,6-7")
    provider.fs.set_online(gone)
    provider.topology = without(S8, cpuset.parse("5"))
    provider.now += 4
    provider.manager.tick()
    report = provider.report()
    assert report.resource_version_uuid.value != version
    assert [r.scalar.value for r in report.resources] == [4.0, 2.0]
    (shown,) = report.cpu_report.cpusets
    assert (shown.state, shown.reason) == (pinfold_pb2.Cpuset.DEGRADED, "CPUs 5 are not online")
    assert provider.kernel()["set.set-1"] == "1"
    provider.check()
    provider.fs.set_online(S8.online)
    provider.topology = S8
    provider.now += 4
    provider.manager.tick()
    assert provider.kernel()["set.set-1"] == "1,5"
    report = provider.report()
    assert report.cpu_report.cpusets[0].state == pinfold_pb2.Cpuset.OK
    assert [r.scalar.value for r in report.resources] == [4.0, 2.0]


def test_all_cpus_of_a_set_go_and_come_back(provider: Provider) -> None:
    made(provider, create(2))
    made(provider, create(2), 2)
    path = provider.enforcer().path("set-1")
    provider.fs.start(77, path)
    before = provider.kernel()
    gone = cpuset.parse(before["set.set-1"])
    provider.fs.set_online(S8.online & ~gone)
    provider.topology = without(S8, gone)
    for _ in range(2):
        provider.now += 4
        provider.manager.tick()
        assert provider.fs.where(77) == path
        kernel = provider.kernel()
        assert kernel["set.set-1"] == kernel["plain"]
        (shown, _) = sorted(provider.report().cpu_report.cpusets, key=lambda one: one.id)
        assert shown.state == pinfold_pb2.Cpuset.DEGRADED
        assert "not online" in shown.reason and "where plain tasks run" in shown.reason
        assert provider.publish(*provider.resources("set-1")) == Call.UpdatePublishResourcesStatus.FAILED
        refused = provider.apply(destroy(provider.resources("set-1")), uuid(5))
        assert refused is not None and refused.state == FAILED
        provider.start()
        provider.manager._want_report()
    provider.fs.set_online(S8.online)
    provider.topology = S8
    provider.now += 4
    provider.manager.tick()
    assert provider.kernel() == before
    assert provider.fs.where(77) == path
    assert provider.manager.degraded == {}


def test_a_free_cpu_that_goes_is_offered_no_more(provider: Provider) -> None:
    version = provider.manager.version
    provider.fs.set_online(cpuset.parse("0-6"))
    provider.topology = without(S8, cpuset.parse("7"))
    provider.now += 4
    provider.manager.tick()
    report = provider.report()
    assert [r.scalar.value for r in report.resources] == [5.0]
    assert report.resource_version_uuid.value != version
    stale = provider.apply(create(2), uuid(1), version)
    assert stale is not None and stale.state == DROPPED


def test_another_host_after_the_restart(tmp_path: Path, version: int) -> None:
    provider = Provider(tmp_path, D16, version)
    provider.start()
    made(provider, create(2))
    made(provider, create(6, zone="numa/1"), 2)
    one, two = provider.manager.state.sets.values()
    assert cpuset.format_mask(one.cpus) == "1,9"
    provider.close()
    smaller = Provider(tmp_path, S8, version)
    smaller.start()
    assert smaller.manager.session.state is Standing.READY
    assert set(smaller.manager.degraded) == {one.id, two.id}
    for path, text in smaller.fs.writes:
        if path.endswith("cpuset.cpus"):
            assert cpuset.parse(text) & ~S8.online == 0
    made(smaller, create(1), 3)
    smaller.check()
    smaller.close()
    larger = Provider(tmp_path, D16, version)
    larger.start()
    assert larger.manager.degraded == {}
    larger.check()
    larger.close()


def test_another_configuration_after_the_restart(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start()
    made(provider, create(2))
    provider.info.cpu.reserved_cpus = "1"
    provider.start()
    assert "no longer in pool" in provider.manager.degraded["set-1"]
    figures = provider.manager.figures()
    assert (figures.sets, figures.reserved, figures.floor, figures.raw_total) == (2, 0, 2, 4)
    assert provider.kernel()["set.set-1"] == "1,5"
    provider.check()
    provider.close()


def test_the_version_stays_where_nothing_changed(provider: Provider) -> None:
    version = provider.manager.version
    made(provider, create(2))
    assert provider.manager.version == version
    provider.start()
    assert provider.manager.version == version


# -- profiles -------------------------------------------------------------------------------------------------------


def test_profiles_survive_a_restart_without_their_source(provider: Provider) -> None:
    made(provider, create(2))
    provider.fetch({"any": {"core_siblings": "required"}, "new": {}})
    assert provider.manager.profiles.profiles["any"].state == "CHANGE_REFUSED"
    provider.start()
    assert set(provider.manager.profiles.profiles) >= {"any", "new"}
    failed = provider.apply(create(2, "whole"), uuid(2))
    assert failed is not None and "inactive" in failed.message
    # Its last set goes: the change is taken.
    made(provider, destroy(provider.resources("set-1")), 3)
    assert provider.manager.profiles.profiles["any"].state == "ACTIVE"
    status = provider.apply(create(1, "any"), uuid(4))
    assert status is not None and status.state == FAILED


def test_a_profile_that_this_host_never_meets(provider: Provider) -> None:
    provider.fetch({"gpu": {"device": {"match": "net:eth9", "affinity": "required"}}, "rt": {"pool": "rt"}})
    told = {p.name: p for p in provider.report().cpu_report.profiles}
    assert not told["gpu"].placeable
    assert not told["rt"].placeable
    assert "pool 'rt' is not configured; there are default" in told["rt"].reason


def test_the_time_of_the_last_look_is_told_every_few_seconds(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.info.cpu.profiles.uri = "/p.json"
    provider.start()
    provider.report()
    told = []
    for _ in range(40):
        provider.now += 1
        provider.manager.profiles_fetched(NotModified())
        provider.manager.flush()
        told += [c.update_state.cpu_report.profile_source.last_fetch for c in provider.taken(Call.UPDATE_STATE)]
    # What the outcome changes to is told at once, then the time at most every 10 seconds.
    assert told == [1001, 1011, 1021, 1031]
    provider.close()


def test_a_document_that_cannot_be_stored_is_not_in_force_and_comes_again(provider: Provider) -> None:
    assert provider.store is not None
    engine = provider.store._database.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()

    @sa.event.listens_for(engine, "begin")
    def limit(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if full else 1_000_000}")

    many: dict[str, Any] = {f"p{index}": {} for index in range(500)}
    full = True
    with pytest.raises(StoreError, match="full"):
        provider.fetch(many)
    told = provider.report().cpu_report
    assert [p.name for p in told.profiles] == ["any", "batch", "denied", "whole"]
    assert "the document cannot be stored: " in provider.manager.profiles.outcome
    assert provider.manager.profiles.ok is False
    made(provider, create(1))
    full = False
    provider.fetch(many)
    assert provider.manager.profiles.profiles["p499"].state == "ACTIVE"
    assert provider.manager.profiles.ok


def test_no_profiles_configured(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start(profiles={})
    failed = provider.apply(create(2))
    assert failed is not None and "unknown profile 'any'; known are none" in failed.message
    provider.close()


# -- the stream -----------------------------------------------------------------------------------------------------


def test_events_before_subscribed_are_ignored(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start(subscribe=False)
    provider.manager.stream_opened()
    provider.calls.clear()
    assert provider.apply(create(2)) is None
    assert provider.manager.state.sets == {}
    provider.close()


def test_the_id_is_kept(provider: Provider) -> None:
    assert provider.manager.provider_id == "rp"
    provider.start(subscribe=False)
    call = provider.manager.subscribe_call()
    assert call.subscribe.resource_provider_info.id.value == "rp"


def test_teardown_gives_back_what_nobody_uses(provider: Provider) -> None:
    made(provider, create(2))
    made(provider, create(2), 2)
    made(provider, create(1, "batch"), 3)
    kernel = provider.kernel()
    used = kernel["set.set-2"]
    provider.fs.start(77, provider.enforcer().path("set-2"))
    provider.manager.handle(Event(type=Event.TEARDOWN))
    assert provider.manager.torn_down
    rest = cpuset.format_mask(S8.online & ~cpuset.parse(used))
    assert provider.kernel() == {"plain": rest, "set.set-2": used}
    # Nothing makes them again, until the provider is added again.
    provider.now += 10
    provider.manager.tick()
    provider.manager.handle(Event(type=Event.RECONCILE_OPERATIONS))
    assert provider.kernel() == {"plain": rest, "set.set-2": used}
    assert set(provider.manager.state.sets) == {"set-1", "set-2", "set-3"}
    provider.start()
    assert provider.kernel() == kernel


def test_teardown_keeps_a_set_whose_processes_cannot_be_told(provider: Provider) -> None:
    made(provider, create(2))
    made(provider, create(1, "batch"), 2)
    shared = provider.kernel()["shared/set-2"]
    provider.fs.unreadable = {"set.set-1/cgroup.procs": errno.EIO}
    provider.fs.start(78, provider.enforcer().path("set-2", shared=True))
    provider.manager.handle(Event(type=Event.TEARDOWN))
    provider.fs.unreadable.clear()
    assert provider.kernel() == {"plain": "0,2-4,6-7", "shared": shared, "shared/set-2": shared, "set.set-1": "1,5"}
    provider.start()


def test_teardown_without_sets_leaves_plain_everything(tmp_path: Path, version: int) -> None:
    """Reserved CPUs as well; isolated ones not."""
    provider = Provider(tmp_path, replace(S8, isolated=cpuset.parse("3,7")), version, reserved_cpus="2,6")
    provider.start()
    assert provider.kernel() == {"plain": "0-1,4-5"}
    provider.manager.handle(Event(type=Event.TEARDOWN))
    assert provider.kernel() == {"plain": "0-2,4-6"}
    provider.close()


def test_three_requests_back_to_back_with_a_check_between_all_steps(tmp_path: Path) -> None:
    provider = Provider(tmp_path, D16)
    provider.start()
    states = []
    for number, amount in enumerate((4, 4, 2)):
        status = provider.apply(create(amount), uuid(number))
        assert status is not None
        states.append(status.state)
        provider.now += 4
        provider.manager.tick()
        provider.check()
    assert states == [FINISHED, FAILED, FINISHED]
    held = inventory.held(provider.manager.state)
    assert held.bit_count() == 6
    provider.close()


def without(base: object, gone: int) -> object:
    """The host with CPUs offline."""
    topology = base  # a Topology
    less = topology.online & ~gone  # type: ignore[attr-defined]
    cut = {
        name: tuple(mask & less for mask in getattr(topology, name) if mask & less)
        for name in ("cores", "llcs", "dies", "packages")
    }
    nodes = tuple(replace(node, cpus=node.cpus & less) for node in topology.nodes)  # type: ignore[attr-defined]
    return replace(topology, online=less, offline=gone, nodes=nodes, **cut)  # type: ignore[type-var]


def test_a_report_of_a_large_host_takes_little_time(tmp_path: Path) -> None:
    """2,048 CPUs on 64 nodes and ten profiles: no report holds the others up; by CPU time, so that nothing else
    counts. The least of several, as what the collector of garbage does is not the report's."""
    profiles = {
        "a": {"lifetime": "role"},
        "b": {"core_siblings": "required"},
        "c": {"core_siblings": "denied"},
        "d": {"core_siblings": "none"},
        "e": {"memory": BIND},
        "f": {"core_siblings": "required", "memory": BIND},
        "g": {"cache": {"llc": "required"}},
        "h": {"core_siblings": "denied_preferred"},
        "i": {"placement": "spread"},
        "j": {"core_siblings": "required", "cache": {"llc": "required"}},
    }
    provider = Provider(tmp_path, LARGE["packages"])
    manager = provider.start(profiles=profiles)
    spent: list[float] = []
    for number in range(6):
        made(provider, create(2 + 2 * number, "abcdef"[number], f"numa/{7 * number}"), number)
        manager._want_report()
        start = time.thread_time()
        report = provider.report()
        spent.append(time.thread_time() - start)
    assert len(report.resources) == 64 + 6
    assert sorted(spent)[3] < 0.05, spent
    # Worked out anew from what is known of other nodes, all of it.
    start = time.thread_time()
    manager._labels._made.clear()
    manager._labels._largest.clear()
    manager._want_report()
    again = provider.report()
    assert time.thread_time() - start < 0.5
    assert list(again.resources) == list(report.resources)


# -- compaction -----------------------------------------------------------------------------------------------------


def fragmented(directory: Path, version: int) -> Provider:
    """set-1 of four CPUs on both nodes, set-2 beside it, a shared set that floats over the rest."""
    provider = Provider(directory, D16, version=version)
    provider.start(profiles={"any": {}, "bind": {"memory": {"policy": "bind"}}, "batch": {"mode": "shared"}})
    made(provider, create(4, "any"), 1)
    info = create(2, "bind")
    info.create_cpuset.source.append(raw(2, "numa/1"))
    made(provider, info, 2)
    made(provider, destroy(provider.resources("set-1")), 3)
    made(provider, create(2, "batch"), 4)
    return provider


def compact(provider: Provider, *set_ids: str, dry_run: bool = False) -> resource_provider_pb2.Call.UpdateCompaction:
    event = Event(type=Event.COMPACT_CPUSETS)
    event.compact_cpusets.uuid.value = b"c" * 16
    event.compact_cpusets.dry_run = dry_run
    event.compact_cpusets.cpuset_ids.extend(set_ids)
    provider.manager.handle(event)
    (call,) = provider.taken(Call.UPDATE_COMPACTION)
    assert call.update_compaction.uuid.value == b"c" * 16
    return call.update_compaction


def test_compaction_shows_moves_and_then_makes_them(tmp_path: Path, version: int) -> None:
    provider = fragmented(tmp_path, version)
    before, kernel, old = provider.manager.state, provider.kernel(), provider.manager.version
    planned = compact(provider, dry_run=True)
    (move,) = planned.moves
    assert (move.cpuset_id, move.profile, move.done) == ("set-2", "bind", False)
    assert (move.from_mems, move.to_mems) == ("0-1", "0")
    assert {g.what: (g.before, g.after) for g in move.gains}["nodes"] == (2, 1)
    assert (provider.manager.state, provider.kernel()) == (before, kernel), "a dry run changes nothing"
    assert not compact(provider, "set-1", dry_run=True).moves, "only the named ones"
    provider.calls.clear()
    (done,) = compact(provider).moves
    assert (done.done, done.to_cpus, done.reason) == (True, move.to_cpus, "")
    one = provider.manager.state.sets["set-2"]
    assert cpuset.format_mask(one.cpus) == move.to_cpus == provider.kernel()["set.set-2"]
    assert provider.enforcer().read().groups["set.set-2"].effective_mems == 0b1
    # Told at once, as totals that are other ones: what was decided on the old ones is dropped.
    report = provider.taken(Call.UPDATE_STATE)[-1].update_state
    assert report.resource_version_uuid.value == provider.manager.version != old
    told = [r for r in report.resources if r.cpu.source.id == "set-2"]
    assert [(r.cpu.source.zone, r.scalar.value) for r in told] == [("numa/0", 4.0)]
    assert sum(r.scalar.value for r in report.resources) == 14
    stale = provider.apply(create(2, "any"), uuid(9), old)
    assert stale is not None and stale.state == DROPPED
    assert not compact(provider).moves, "a second time nothing is left"
    provider.check()
    provider.start()
    assert provider.manager.state.sets["set-2"] == one and provider.kernel()["set.set-2"] == move.to_cpus
    provider.check()
    provider.close()


def test_death_at_every_point_of_a_compaction(tmp_path: Path, version: int) -> None:
    (tmp_path / "whole").mkdir()
    whole = fragmented(tmp_path / "whole", version)
    before, start = whole.manager.state, whole.points
    compact(whole)
    points, after = whole.points - start, whole.manager.state
    whole.close()
    assert points > 5 and before != after
    outcomes = set()
    for point in range(1, points + 1):
        (tmp_path / str(point)).mkdir()
        provider = fragmented(tmp_path / str(point), version)
        provider.die_at = provider.points + point
        with pytest.raises(Died):
            compact(provider)
        provider.start()
        provider.check()
        assert provider.manager.state in (before, after)
        outcomes.add(provider.manager.state == after)
        expected = cpuset.format_mask(provider.manager.state.sets["set-2"].cpus)
        assert provider.kernel()["set.set-2"] == expected
        compact(provider)
        assert provider.manager.state == after, "asked again, it goes on"
        provider.close()
    assert outcomes == {False, True}


def test_a_fault_in_a_compaction_is_answered(tmp_path: Path) -> None:
    """Nobody waits for an answer that does not come, and the kernel is what was committed soon after."""
    provider = fragmented(tmp_path, 2)
    before, kernel, uuids = provider.manager.state, provider.kernel(), provider.uuids
    provider.uuids = iter(())  # type: ignore[assignment]
    answer = compact(provider)
    assert answer.message.startswith("internal error: ") and not answer.moves
    assert provider.manager.state == before
    provider.uuids = uuids
    provider.manager.reconcile()
    assert provider.kernel() == kernel
    assert [m.done for m in compact(provider).moves] == [True]
    provider.close()


def test_a_move_that_the_kernel_refuses_leaves_all_as_it_was(tmp_path: Path, version: int) -> None:
    provider = fragmented(tmp_path, version)
    before = provider.manager.state
    provider.fs.deaf.add("set.set-2/cpuset.cpus")
    (move,) = compact(provider).moves
    assert not move.done and "the kernel refused" in move.reason
    assert provider.manager.state == before
    provider.fs.deaf.clear()
    assert [m.done for m in compact(provider).moves] == [True]
    provider.check()
    provider.close()
