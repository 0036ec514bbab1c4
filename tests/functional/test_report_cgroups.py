"""Field reports on writes to cgroups (30 to 36), asked of a provider on a file system that answers like the kernel;
docs/field-reports.md names the tests of each report, here and elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_api.wire import mesos_pb2
from provider import cpuset
from provider.cgroups import Desired, SharedSlot
from provider.session import State as Standing
from tests.functional.provider_world import Provider, create, destroy, made, resize, uuid
from tests.functional.test_cgroups import make_fake

FAILED = mesos_pb2.OPERATION_FAILED
CORE = {0, 4}
"""The floor of the host S8: its first core."""


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def provider(tmp_path: Path, version: int) -> Iterator[Provider]:
    started = Provider(tmp_path, version=version)
    started.start()
    yield started
    started.check()
    started.close()


def lists(provider: Provider, name: str) -> list[str]:
    """What was written to the CPU list of a group, in order."""
    return [text for path, text in provider.fs.writes if path.endswith(f"/pinfold/{name}/cpuset.cpus")]


def refused(provider: Provider, info: Any, number: int) -> str:
    before = provider.kernel(), provider.manager.state
    status = provider.apply(info, uuid(number))
    assert status is not None and status.state == FAILED
    assert (provider.kernel(), provider.manager.state) == before
    return status.message


@pytest.mark.parametrize("cpu", [{}, {"floor": 0}, {"floor": 1}], ids=["no floor", "floor 0", "floor 1"])
def test_report_30_the_last_cpus_are_never_given_away(tmp_path: Path, version: int, cpu: dict[str, int]) -> None:
    provider = Provider(tmp_path, version=version, **cpu)
    provider.start()
    provider.fs.start(10, provider.enforcer().plain_path())
    for number, amount in enumerate((8, 7), 1):
        assert "6 are there" in refused(provider, create(amount), number)
    made(provider, create(6), 3)
    assert {*cpuset.ids(cpuset.parse(provider.kernel()["plain"]))} == CORE
    provider.start()
    assert {*cpuset.ids(cpuset.parse(provider.kernel()["plain"]))} == CORE, "such a state is no fault"
    provider.check()
    assert all(text.strip() for path, text in provider.fs.writes if path.endswith(("cpuset.cpus", "cpuset.mems")))
    provider.close()


def test_report_30_a_guarantee_keeps_its_cpus(provider: Provider) -> None:
    made(provider, create(2, "batch"))
    assert "4 are there" in refused(provider, create(5), 2)
    made(provider, create(4), 3)
    assert cpuset.parse(provider.kernel()["shared/set-1"]).bit_count() == 2
    assert refused(provider, create(1), 4)


def test_report_31_others_leave_before_and_come_back_before_it_is_told(provider: Provider) -> None:
    """After each single write no CPU is in an exclusive set and in another list: the fake looks each time."""
    made(provider, create(1, "batch"))
    provider.fs.writes.clear()
    made(provider, create(2), 2)
    order = [path.removeprefix(f"{provider.enforcer().base}/") for path, _ in provider.fs.writes]
    made_at = order.index("set.set-2/cpuset.cpus")
    for name in ("plain", "shared/set-1", "shared"):
        wrote = [i for i, path in enumerate(order) if path == f"{name}/cpuset.cpus"]
        assert all(i < made_at for i in wrote)
    assert "plain/cpuset.cpus" in order[:made_at]
    # What somebody made while we were away has no place.
    provider.fs.mkdir(f"{provider.enforcer().base}/set.nobody")
    provider.fs.write(f"{provider.enforcer().base}/set.nobody/cpuset.cpus", provider.kernel()["shared"])
    provider.fs.overlaps.clear()
    provider.start()
    assert "set.nobody" not in provider.kernel()


def test_report_32_a_parent_goes_through_the_union(version: int) -> None:
    fs, enforcer = make_fake(version, 0b1111)
    enforcer.apply(Desired(plain=0b1000, shared={"s": SharedSlot(0b0011), "t": SharedSlot(0b0001)}))
    fs.writes.clear()
    enforcer.apply(Desired(plain=0b1000, shared={"s": SharedSlot(0b0110), "t": SharedSlot(0b0100)}))
    assert [text for path, text in fs.writes if path.endswith("/pinfold/shared/cpuset.cpus")] == ["0-2", "1-2"]


def test_report_32_what_a_task_made_inside_its_set_is_not_forced(provider: Provider) -> None:
    made(provider, create(4))
    inner = f"{provider.enforcer().path('set-1')}/inner"
    provider.fs.mkdir(inner)
    if provider.version == 2:
        provider.fs.write(f"{provider.enforcer().path('set-1')}/cgroup.subtree_control", "+cpuset")
    provider.fs.write(f"{inner}/cpuset.cpus", provider.kernel()["set.set-1"])
    shrink = resize(provider.resources("set-1"), subtract=2)
    if provider.version == 1:
        assert "EBUSY" in (message := refused(provider, shrink, 2)) and "sub-cgroups in the way: inner" in message
    else:  # a list may be wider than what is in effect
        made(provider, shrink, 2)
    provider.fs.rmdir(inner)
    made(provider, resize(provider.resources("set-1"), subtract=1), 3)


def test_report_32_more_reserved_cpus_at_a_restart(tmp_path: Path, version: int) -> None:
    before = Provider(tmp_path, version=version)
    before.start()
    made(before, create(1, "batch"))
    made(before, create(2), 2)
    before.close()
    after = Provider(tmp_path, version=version, reserved_cpus="3")
    after.fs = before.fs
    after.start()
    assert after.manager.session.state is Standing.READY
    assert not cpuset.parse(after.kernel()["shared/set-1"]) & cpuset.parse("3,7")
    after.check()
    after.close()


def test_report_33_a_partition_is_what_is_read(tmp_path: Path) -> None:
    provider = Provider(tmp_path, version=2)
    provider.start(profiles={"alone": {"mode": "exclusive", "partition": "isolated"}})
    provider.fs.partition_reason = "Cpu list in cpuset.cpus not exclusive"
    made(provider, create(2, "alone"))
    assert "isolated invalid (Cpu list in cpuset.cpus not exclusive)" in provider.manager.degraded["set-1"]
    assert provider.enforcer().read().exclusive["set-1"].partition == "member"
    provider.fs.partition_reason = None
    for _ in range(2):
        provider.now += 4
        provider.manager.tick()
    assert provider.manager.degraded == {}
    assert provider.enforcer().read().exclusive["set-1"].partition == "isolated"
    provider.fs.partition_reason = "cpu list changed"  # by a sibling, later
    provider.now += 4
    provider.manager.tick()
    assert "cpu list changed" in provider.manager.degraded["set-1"]
    provider.close()


def test_report_35_no_time_limit_on_or_above_an_exclusive_set(provider: Provider) -> None:
    made(provider, create(1, "batch", burst=1.5))
    assert "below" in refused(provider, create(2, "batch", burst=1.5), 2)
    made(provider, create(2), 3)
    provider.start()
    made(provider, resize(provider.resources("set-2" if "set-2" in provider.manager.state.sets else "set-3"), add=2), 4)
    quotas = {name: group.quota for name, group in provider.enforcer().read().groups.items()}
    assert {name: quota for name, quota in quotas.items() if quota} == {"shared/set-1": (150_000, 100_000)}


def test_report_36_a_write_that_does_nothing_is_no_set(provider: Provider) -> None:
    provider.fs.deaf.add("set.set-1/cpuset.cpus")
    message = refused(provider, create(2), 1)
    assert "wrote 1,5, kernel has" in message
    provider.fs.deaf.clear()
    made(provider, create(2), 2)
    (set_id,) = provider.manager.state.sets
    kernel = provider.kernel()
    provider.start()  # over directories that are there
    assert provider.kernel() == kernel
    made(provider, destroy(provider.resources(set_id)), 3)
    assert provider.kernel() == {"plain": "0-7"}
