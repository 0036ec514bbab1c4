"""Shared sets while exclusive ones come and go: their CPUs, weights and bounds, write by write, and over a death at any
point. The kernel is a tree that answers like it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_api.wire import mesos_pb2, pinfold_pb2
from provider import cpuset, inventory, revocable
from tests.functional.provider_world import (
    Call,
    Died,
    Operation,
    Provider,
    create,
    destroy,
    resize,
)

FINISHED = mesos_pb2.OPERATION_FINISHED
FAILED = mesos_pb2.OPERATION_FAILED
OK = Call.UpdatePublishResourcesStatus.OK


class Watched(Provider):
    """After each single write: the CPUs that shared sets run on are never fewer than what is guaranteed of them, and no
    CPU of an exclusive set is among them (`FakeCgroups` looks for that itself)."""

    def point(self, name: str = "") -> None:
        self.look()
        super().point(name)

    def look(self) -> None:
        if self.manager is None or self.manager._host is None:
            return
        sets = self.manager.state.sets.values()
        guaranteed = sum(one.charge for one in sets if not one.exclusive and not one.revocable)
        groups = self.enforcer().read().shared
        for one in sets:
            if not one.exclusive and one.id in groups:
                cpus = groups[one.id].effective
                assert cpus.bit_count() >= max(1, guaranteed), f"{one.id} has {cpuset.format_mask(cpus)} on the way"
        assert not self.fs.overlaps, self.fs.overlaps

    def number(self) -> bytes:
        return next(self.uuids).to_bytes(16, "little")

    def done(self, info: Operation) -> mesos_pb2.OperationStatus:
        status = self.apply(info, self.number())
        assert status is not None and status.state == FINISHED, status
        self.check()
        revocable.figures(self.manager.host, self.manager.state)
        return status

    def refused(self, info: Operation) -> str:
        status = self.apply(info, self.number())
        assert status is not None and status.state == FAILED, status
        return status.message

    def time(self, set_id: str) -> tuple[int | None, tuple[int, int] | None]:
        """Weight and quota in the kernel."""
        group = self.enforcer().read().shared[set_id]
        return group.weight, group.quota

    def states(self) -> dict[str, str]:
        self.manager._want_report()
        return {one.id: pinfold_pb2.Cpuset.State.Name(one.state) for one in self.report().cpu_report.cpusets}

    def revocable_raw(self) -> float:
        self.manager._want_report()
        return sum(r.scalar.value for r in self.report().resources if r.HasField("revocable") and not r.cpu.source.id)


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path, version=request.param, overcommit=1.5)
    made.start()
    yield made
    made.check()
    made.close()


def loose(amount: int, burst: float | None = None) -> Operation:
    info = create(amount, "batch", burst=burst)
    info.create_cpuset.source[0].revocable.SetInParent()
    return info


def weight(provider: Provider, cpus: float) -> int:
    return round(cpus * (100 if provider.version == 2 else 1024))


def test_shared_sets_of_two_roles_shrink_and_grow_around_exclusive_ones(provider: Watched) -> None:
    mine, theirs = create(1, "batch"), create(2, "batch")
    theirs.create_cpuset.source[0].allocation_info.role = "other"
    provider.done(mine)
    provider.done(theirs)
    assert [one.role for one in provider.manager.state.sets.values()] == ["r", "other"]
    floats = ["1-3,5-7"]
    for amount in (2, 1):
        provider.done(create(amount))
        kernel = provider.kernel()
        assert kernel["shared/set-1"] == kernel["shared/set-2"]
        floats.append(kernel["shared/set-1"])
    assert floats == ["1-3,5-7", "2-3,6-7", "3,6-7"]
    # The rest is guaranteed, and stays.
    assert provider.refused(create(1)).endswith(
        "1 RAW CPUs of zone numa/0, pool default are asked for and 0 are there; the most of one zone is 0 in no zone; "
        "in the way: set set-2 (2 guaranteed), set-3 (2), set-1 (1 guaranteed), set-4 (1)"
    )
    for set_id, cpus in (("set-3", "1,3,5-7"), ("set-4", "1-3,5-7")):
        provider.done(destroy(provider.resources(set_id)))
        assert provider.kernel()["shared/set-2"] == cpus


def test_weight_and_burst_are_in_force_and_put_back(provider: Watched) -> None:
    provider.done(create(1, "batch", burst=1.5))
    provider.done(create(2, "batch"))
    assert provider.time("set-1") == (weight(provider, 1), (150_000, 100_000))
    assert provider.time("set-2") == (weight(provider, 2), None)
    parent = provider.enforcer().path("set-1", shared=True)
    name, text = ("cpu.max", "150000 100000") if provider.version == 2 else ("cpu.cfs_quota_us", "150000")
    path = f"{parent if provider.version == 2 else parent.replace('/cg/cpuset', '/cg/cpu')}/{name}"
    assert provider.fs.read(path) == text
    assert "below the guarantee of 2" in provider.refused(create(2, "batch", burst=1.5))
    assert "only shared profiles take it" in provider.refused(create(2, burst=3))
    # By hand, and by a death of the process: it is as it was.
    provider.fs.write(path, "max" if provider.version == 2 else "-1")
    assert provider.time("set-1")[1] is None
    provider.now += 10
    provider.manager.tick()
    assert provider.time("set-1")[1] == (150_000, 100_000)
    provider.start()
    assert provider.time("set-1") == (weight(provider, 1), (150_000, 100_000))
    # An exclusive set has no bound, nor has anything above it.
    provider.done(create(2))
    assert {name: group.quota for name, group in provider.enforcer().read().groups.items() if group.quota} == {
        "shared/set-1": (150_000, 100_000)
    }
    provider.manager._want_report()
    shown = {one.id: one.burst for one in provider.report().cpu_report.cpusets if one.HasField("burst")}
    assert shown == {"set-1": 1.5}


def test_a_resize_moves_weights_only(provider: Watched) -> None:
    provider.done(create(1, "batch", burst=4.0))
    provider.done(create(2, "batch"))
    provider.done(create(2))
    files = ("cpu.weight",) if provider.version == 2 else ("cpu.shares",)
    for change, amount in (({"add": 1}, 2), ({"subtract": 1}, 1)):
        provider.fs.writes.clear()
        status = provider.done(resize(provider.resources("set-1"), **change))
        assert provider.time("set-1") == (weight(provider, amount), (400_000, 100_000))
        assert provider.time("set-2")[0] == weight(provider, 2)
        written = [path.rpartition("/")[2] for path, _ in provider.fs.writes]
        assert written and set(written) == set(files), written
        assert status.converted_resources[0].scalar.value == amount
    assert provider.kernel()["shared/set-1"] == "2-3,6-7"
    # What an exclusive set holds cannot be guaranteed.
    assert "in the way: set set-2 (2 guaranteed), set-3 (2), set-1 (1 guaranteed)" in provider.refused(
        resize(provider.resources("set-1"), add=2)
    )


def test_a_revocable_set_runs_beside_and_gives_way_first(provider: Watched) -> None:
    assert provider.revocable_raw() == 3
    provider.done(create(1, "batch"))
    status = provider.done(loose(2, burst=3.0))
    assert [r.HasField("revocable") for r in status.converted_resources] == [True]
    assert provider.time("set-2") == (round(weight(provider, 0.02)), (300_000, 100_000))
    assert provider.revocable_raw() == 1
    assert provider.publish(*provider.resources("set-2")) == OK
    # It is in nobody's way: all RAW but the guarantee goes to exclusive sets.
    provider.done(create(2))
    assert (provider.states(), provider.revocable_raw()) == (
        {"set-1": "OK", "set-2": "OK", "set-3": "OK"},
        0,
    )
    provider.done(create(2))
    assert provider.states() == {"set-1": "OK", "set-2": "REVOKED", "set-3": "OK", "set-4": "OK"}
    kernel = provider.kernel()
    assert kernel["shared/set-2"] == kernel["shared/set-1"]
    assert provider.publish(*provider.resources("set-2")) == Call.UpdatePublishResourcesStatus.FAILED
    assert provider.publish(*provider.resources("set-1")) == OK
    # It is so still for the next process; and it is over once there is room again.
    provider.start()
    assert provider.states()["set-2"] == "REVOKED"
    assert provider.manager.state.sets["set-2"].revocable
    provider.done(destroy(provider.resources("set-4")))
    assert provider.states()["set-2"] == "OK"
    assert provider.publish(*provider.resources("set-2")) == OK
    provider.done(create(2))
    provider.done(destroy(provider.resources("set-2")))
    assert "shared/set-2" not in provider.kernel()


def test_with_no_cpu_left_in_the_pool_revocable_sets_run_where_plain_tasks_do(provider: Watched) -> None:
    provider.done(loose(3))
    provider.done(create(6))
    assert provider.kernel()["shared/set-1"] == provider.kernel()["plain"] == "0,4"
    assert provider.states() == {"set-1": "REVOKED", "set-2": "OK"}
    provider.done(destroy(provider.resources("set-1")))
    provider.done(destroy(provider.resources("set-2")))
    assert provider.revocable_raw() == 3


def test_cpus_that_go_offline_revoke_and_come_back(provider: Watched) -> None:
    provider.done(loose(3))
    whole = provider.topology
    less = whole.online & ~cpuset.parse("6-7")
    provider.topology = replace(whole, online=less, cores=tuple(core & less for core in whole.cores if core & less))
    provider.fs.set_online(less)
    provider.now += 10
    provider.manager.tick()
    assert provider.states() == {"set-1": "REVOKED"}
    provider.topology = whole
    provider.fs.set_online(whole.online)
    provider.now += 10
    provider.manager.tick()
    assert provider.states() == {"set-1": "OK"}


# -- death at any point ---------------------------------------------------------------------------------------------

SCENARIOS = {
    "grow": lambda provider: resize(provider.resources("set-1"), add=1),
    "shrink": lambda provider: resize(provider.resources("set-1"), subtract=1),
    "revocable": lambda provider: loose(1, burst=2.0),
    "revoking": lambda provider: create(3),
    "destroy": lambda provider: destroy(provider.resources("set-2")),
}


def begun(directory: Path) -> Watched:
    directory.mkdir()
    provider = Watched(directory, overcommit=1.5)
    provider.start()
    provider.done(create(2, "batch", burst=4.0))
    provider.done(loose(2))
    return provider


def everything(provider: Watched) -> object:
    return provider.kernel(), {set_id: provider.time(set_id) for set_id in provider.enforcer().read().shared}


@pytest.mark.parametrize("name", SCENARIOS)
def test_death_at_every_point_leaves_one_of_the_two_states(tmp_path: Path, name: str) -> None:
    """Weights and bounds as well: both states are whole, and what is promised is never less on the way."""
    whole = begun(tmp_path / "whole")
    before, kernel_before = whole.manager.state, everything(whole)
    start = whole.points
    whole.done(SCENARIOS[name](whole))
    after, kernel_after = whole.manager.state, everything(whole)
    points = whole.points - start
    standing = whole.states()
    whole.close()
    assert (name == "revoking") is (standing.get("set-2") == "REVOKED")
    outcomes = set()
    for point in range(1, points + 1):
        provider = begun(tmp_path / str(point))
        info = SCENARIOS[name](provider)
        provider.die_at = provider.points + point
        with pytest.raises(Died):
            provider.apply(info, b"d" * 16)
        provider.start()
        provider.check()
        committed = provider.manager.state == after
        assert committed or provider.manager.state == before
        assert everything(provider) == (kernel_after if committed else kernel_before)
        revocable.figures(provider.manager.host, provider.manager.state)
        inventory.figures(provider.manager.host, provider.manager.state)
        outcomes.add(committed)
        provider.close()
    assert outcomes == {False, True}


def test_an_overcommit_that_is_taken_back_revokes_and_disturbs_nobody_else(tmp_path: Path) -> None:
    provider = begun(tmp_path / "one")
    provider.done(create(2))
    kernel = provider.kernel()
    provider.info.cpu.overcommit = 1.0
    provider.start()
    assert provider.kernel() == kernel
    assert provider.states() == {"set-1": "OK", "set-2": "REVOKED", "set-3": "OK"}
    assert provider.revocable_raw() == 0
    assert "1 revocable RAW CPUs" in provider.refused(loose(1))
    provider.check()
    provider.close()
