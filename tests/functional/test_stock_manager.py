"""The manager in the words of a stock Mesos agent, over real SQLite and a kernel that answers like the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_api.wire import mesos_pb2
from provider import cpuset
from provider.dialect_mesos import Mesos
from provider.errors import ConfigError
from tests.functional.provider_world import Call, Died, Event, Operation, Provider, create
from tests.functional.stockagent import in_totals
from tests.functional.test_manager import without
from tests.unit.hosts import S8
from tests.unit.test_dialect_mesos import cpus, extensions, reserve, unreserve, wanted

FINISHED, FAILED, DROPPED = mesos_pb2.OPERATION_FINISHED, mesos_pb2.OPERATION_FAILED, mesos_pb2.OPERATION_DROPPED
OK, REFUSED = 1, 2
SET = ("r", "pinfold.profile=any", "pinfold.set=a")


def provider_in(directory: Path) -> Provider:
    directory.mkdir(exist_ok=True)
    made = Provider(directory)
    made.dialect = Mesos(task_cgroups=True)
    return made


def made(provider: Provider, info: Operation, uuid: bytes = b"u" * 16) -> mesos_pb2.OperationStatus:
    status = provider.apply(info, uuid)
    assert status is not None
    assert status.state == FINISHED, status.message
    return status


def told(provider: Provider) -> dict[tuple[object, ...], float]:
    """The totals of a report that somebody asked for anew."""
    provider.manager.stream_closed()
    provider.manager.agent_found("agent")
    provider.manager.stream_opened()
    provider.calls.clear()
    provider.manager._subscribed("rp")
    (call,) = provider.taken(Call.UPDATE_STATE)
    assert not extensions(call)
    provider.manager.taken(call)
    return in_totals(call.update_state.resources)


def test_a_set_is_in_force_before_it_is_told_and_before_a_task(tmp_path: Path) -> None:
    provider = provider_in(tmp_path)
    provider.start()
    provider.calls.clear()
    made(provider, reserve(wanted(4, "whole", set="a", cgroup="web")))
    provider.check()
    assert provider.kernel()["set.a"] == "1-2,5-6"
    # What Mesos assumed is what happened: nothing is reported, nothing is rescinded.
    provider.manager.flush()
    assert not provider.taken(Call.UPDATE_STATE)
    # Somebody wrote there meanwhile.
    provider.fs.write("/cg/pinfold/set.a/cpuset.cpus", "1")
    provider.kept.clear()
    assert provider.publish(wanted(0.5, "whole", set="a", cgroup="web")) == OK
    assert provider.kernel()["set.a"] == "1-2,5-6"
    assert provider.kept == [({"web": cpuset.parse("1-2,5-6")}, cpuset.parse("0,3-4,7"))]
    assert provider.publish(cpus(1)) == REFUSED
    assert provider.publish(wanted(1, "whole", set="b")) == REFUSED
    provider.kept.clear()
    provider.manager.tick()
    assert len(provider.kept) == 1
    # Removed: nothing is kept off anything any more.
    provider.manager.handle(Event(type=Event.TEARDOWN))
    assert provider.kept[1:] == [({}, S8.online)]
    provider.close()


def test_processes_in_the_cgroup_keep_the_set(tmp_path: Path) -> None:
    provider = provider_in(tmp_path)
    provider.start()
    made(provider, reserve(wanted(2, set="a")))
    provider.fs.start(4711, "/cg/pinfold/set.a")
    before = provider.manager.version
    status = provider.apply(unreserve(wanted(2, set="a")), b"v" * 16)
    assert status is not None and status.state == FAILED
    assert "set a is in use: 1 processes" in status.message
    # Mesos has given the CPUs back already.
    report = provider.report()
    assert in_totals(report.resources) == {(): 4, (SET,): 2}
    assert report.resource_version_uuid.value == provider.manager.version != before
    provider.close()


def test_what_is_only_shown_is_not_reported(tmp_path: Path) -> None:
    """Profiles and the state of sets have no place in Mesos: they are no reason to rescind offers."""
    provider = provider_in(tmp_path)
    provider.start()
    provider.manager.flush()
    provider.calls.clear()
    provider.fetch({"any": {"lifetime": "role"}, "new": {}})
    provider.now += 60
    provider.manager.tick()
    provider.manager.flush()
    assert not provider.calls
    made(provider, reserve(wanted(2, "new")))
    provider.close()


def test_a_host_that_loses_cpus_tells_it(tmp_path: Path) -> None:
    provider = provider_in(tmp_path)
    provider.start()
    made(provider, reserve(wanted(2, set="a", cgroup="web")))
    made(provider, reserve(cpus(4, ("r", {}))), b"v" * 16)
    before = provider.manager.version
    gone = cpuset.parse("1-2,5")
    provider.fs.set_online(S8.online & ~gone)
    provider.topology = without(S8, gone)
    provider.now += 4
    provider.manager.tick()
    report = provider.report()
    mine = ("r", "pinfold.cgroup=web", "pinfold.profile=any", "pinfold.set=a")
    assert provider.manager.state.sets["a"].cpus == cpuset.parse("1,5")
    assert in_totals(report.resources) == {(("r",),): 3, (mine,): 2}
    assert report.resource_version_uuid.value != before
    provider.manager.tick()
    # A set of which no CPU is there runs where plain tasks run, as in the kernel.
    assert provider.kept[-1] == ({"web": cpuset.parse("0,3-4,6-7")}, cpuset.parse("0,3-4,6-7"))
    # What was reserved stays reserved, and is there again with the CPUs.
    provider.fs.set_online(S8.online)
    provider.topology = S8
    provider.now += 4
    provider.manager.tick()
    assert in_totals(provider.report().resources) == {(("r",),): 4, (mine,): 2}
    provider.close()


@pytest.mark.parametrize("giving_back", [False, True])
def test_death_at_every_point(tmp_path: Path, giving_back: bool) -> None:
    """Killed anywhere: the set is whole or not there, Mesos is told which, and the operation has one end."""
    first, second = b"1" * 16, b"2" * 16
    info = unreserve(wanted(2, set="a")) if giving_back else reserve(wanted(2, set="a"))

    def ready(directory: Path) -> Provider:
        provider = provider_in(directory)
        provider.start()
        if giving_back:
            made(provider, reserve(wanted(2, set="a")), first)
        return provider

    whole = ready(tmp_path / "whole")
    start = whole.points
    made(whole, info, second)
    points = whole.points - start
    whole.close()
    there, gone = {(): 4, (SET,): 2}, {(): 6}
    states = set()
    for point in range(1, points + 1):
        provider = ready(tmp_path / str(point))
        provider.die_at = provider.points + point
        with pytest.raises(Died):
            provider.apply(info, second)
        provider.start()
        provider.check()
        committed = ("a" in provider.manager.state.sets) is not giving_back
        assert told(provider) == (gone if committed is giving_back else there)
        ends = {status.state for uuid, status in provider.reconcile_operations(second) if uuid == second}
        assert ends == {FINISHED if committed else DROPPED}
        states |= ends
        again = provider.apply(info, second)
        assert again is not None and {again.state} == ends
        provider.close()
    assert states == {FINISHED, DROPPED}


def test_sets_of_the_other_engine(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start()
    made(provider, create(2))
    provider.dialect = Mesos()
    with pytest.raises(ConfigError, match="--engine mesos: set set-1 was made by CREATE_CPUSET"):
        provider.start()
    provider.close()


def test_an_operation_of_the_other_engine_is_not_told(tmp_path: Path) -> None:
    """Its status was never acknowledged, and the set is gone: nothing of it may reach a stock agent."""
    provider = Provider(tmp_path)
    provider.start()
    status = provider.apply(create(99), b"o" * 16)
    assert status is not None and status.state == FAILED
    provider.dialect = Mesos()
    provider.start(subscribe=False)
    assert told(provider) == {(): 6}
    assert not any(extensions(call) for call in provider.calls)
    provider.close()


def test_a_set_made_for_a_stock_agent_can_be_told_to_pinfold_s(tmp_path: Path) -> None:
    provider = provider_in(tmp_path)
    provider.start()
    made(provider, reserve(wanted(2, set="a")))
    provider.dialect = None
    provider.start()
    (mine,) = provider.resources("a")
    assert (mine.cpu.source.id, mine.scalar.value) == ("a", 2)
    info = Operation(type=Operation.DESTROY_CPUSET)
    info.destroy_cpuset.source.append(mine)
    made(provider, info, b"d" * 16)
    provider.check()
    provider.close()
