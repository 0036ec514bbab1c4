"""The enforcers against a file system that answers like the kernel, and against this machine's own cgroup v1."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_api import cgroup_paths
from provider.cgroups import Desired, Enforcer, SharedSlot, Slot, detect
from provider.cgroups.affinity import AffinityEnforcer
from provider.cgroups.fs import RealFs
from provider.cgroups.v1 import V1Enforcer
from provider.cgroups.v2 import V2Enforcer
from provider.cpuset import parse
from provider.errors import ConfigError, EnforcementError
from tests.functional.fakecgroup import FakeCgroups

REAL_V1 = Path("/sys/fs/cgroup/cpuset")
_numbers = itertools.count()


def make_fake(version: int, cpus: int, **more: object) -> tuple[FakeCgroups, V1Enforcer | V2Enforcer]:
    fs = FakeCgroups(version, cpus, **more)  # type: ignore[arg-type]
    if version == 2:
        return fs, V2Enforcer("/cg", "pinfold", fs)
    return fs, V1Enforcer("/cg/cpuset", "/cg/cpu", "pinfold", fs)


def real_v1_problem() -> str | None:
    if not (REAL_V1 / "cpuset.cpus").exists():
        return "no cgroup v1 cpuset here"
    if os.geteuid() != 0 or not os.access(REAL_V1, os.W_OK):
        return "cgroup v1 cpuset may not be written"
    if parse((REAL_V1 / "cpuset.cpus").read_text().strip()) & 3 != 3:
        return "needs CPUs 0 and 1"
    return None


@pytest.fixture(params=["fake-v1", "fake-v2", "real-v1"])
def two(request: pytest.FixtureRequest) -> Iterator[Enforcer]:
    """An enforcer that has CPUs 0 and 1, on two fakes and on the real thing."""
    if request.param != "real-v1":
        fs, enforcer = make_fake(int(request.param[-1]), 0b11)
        yield enforcer
        assert fs.overlaps == []
        return
    if problem := real_v1_problem():
        pytest.skip(problem)
    enforcer = detect("auto", f"pinfold-test-{os.getpid()}-{next(_numbers)}")
    assert isinstance(enforcer, V1Enforcer)
    try:
        yield enforcer
    finally:
        enforcer.remove_all()
        assert not Path(enforcer.base).exists()
        assert enforcer.cpu_base and not Path(enforcer.cpu_base).exists()


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def effective(enforcer: Enforcer) -> dict[str, int]:
    return {name: g.effective for name, g in enforcer.read().groups.items()}


# The same on the fakes and on the real kernel.


def test_life_of_a_set(two: Enforcer) -> None:
    assert two.allowed() == (3, 1)
    assert two.read().groups == {}
    two.apply(Desired(plain=3))
    assert effective(two) == {"": 3, "plain": 3}
    wish = Desired(plain=1, exclusive={"a": Slot(2)})
    assert two.apply(wish).notes == {}
    assert effective(two) == {"": 3, "plain": 1, "set.a": 2}
    assert two.differences(wish) == ()
    assert two.apply(wish).steps == (), "idempotent"
    two.apply(Desired(plain=3))
    assert effective(two) == {"": 3, "plain": 3}


def test_shared_sets_shrink_and_grow_around_an_exclusive_one(two: Enforcer) -> None:
    both = {"s": SharedSlot(3, guarantee=0.5, burst=1.5), "t": SharedSlot(3, guarantee=0.25)}
    two.apply(Desired(plain=3, shared=both))
    seen = two.read()
    assert {i: g.effective for i, g in seen.shared.items()} == {"s": 3, "t": 3}
    assert seen.shared["s"].quota == (150_000, 100_000)
    assert seen.shared["t"].quota is None
    weight = [seen.shared[i].weight or 0 for i in "st"]
    assert weight[0] == 2 * weight[1]
    less = {i: SharedSlot(1, 0, s.guarantee, s.burst) for i, s in both.items()}
    two.apply(Desired(plain=1, shared=less, exclusive={"x": Slot(2)}))
    assert effective(two) == {"": 3, "plain": 1, "shared": 1, "shared/s": 1, "shared/t": 1, "set.x": 2}
    assert two.read().exclusive["x"].quota is None
    two.apply(Desired(plain=3, shared=both))
    assert effective(two) == {"": 3, "plain": 3, "shared": 3, "shared/s": 3, "shared/t": 3}


def test_a_set_and_the_plain_group_change_cpus(two: Enforcer) -> None:
    """{0-1} by {0}, {1} the other way round needs a CPU to go through; there is none, and that is said."""
    two.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    with pytest.raises(EnforcementError, match="no order of writes"):
        two.apply(Desired(plain=2, exclusive={"a": Slot(1)}))
    assert effective(two) == {"": 3, "plain": 1, "set.a": 2}


def test_orphans_are_seen_and_removed(two: Enforcer) -> None:
    two.apply(Desired(plain=1, exclusive={"old": Slot(2)}))
    fs = two.fs  # type: ignore[attr-defined]
    fs.mkdir(f"{two.base}/someone")  # type: ignore[attr-defined]
    wish = Desired(plain=3)
    assert [(d.set_id, d.field) for d in two.differences(wish)] == [(None, "cpus"), ("old", "extra")]
    two.apply(wish)
    assert two.read().exclusive == {}
    assert two.read().foreign == ("someone",)
    fs.rmdir(f"{two.base}/someone")  # type: ignore[attr-defined]


def test_removed_by_hand_is_missing_and_made_again(two: Enforcer) -> None:
    wish = Desired(plain=1, exclusive={"a": Slot(2)})
    two.apply(wish)
    two.fs.rmdir(two.path("a"))  # type: ignore[attr-defined]
    assert [(d.set_id, d.field) for d in two.differences(wish)] == [("a", "missing")]
    two.apply(wish)
    assert two.differences(wish) == ()


def test_rewritten_by_hand_is_put_right(two: Enforcer) -> None:
    if not isinstance(two.fs, RealFs):  # type: ignore[attr-defined]
        pytest.skip("the fake itself rejects an overlap made by hand")
    wish = Desired(plain=1, exclusive={"a": Slot(2)})
    two.apply(wish)
    Path(two.plain_path(), "cpuset.cpus").write_text("0-1")
    assert [(d.group, d.found) for d in two.differences(wish)] == [("plain", "0-1")]
    two.apply(wish)
    assert two.differences(wish) == ()


def test_a_hostile_set_id_makes_no_directory(two: Enforcer) -> None:
    two.apply(Desired(plain=1))
    with pytest.raises(EnforcementError, match="cannot name"):
        two.apply(Desired(plain=1, exclusive={"../../x": Slot(2)}))


# Real processes on the real kernel.


@pytest.fixture
def real() -> Iterator[V1Enforcer]:
    if problem := real_v1_problem():
        pytest.skip(problem)
    enforcer = detect("auto", f"pinfold-test-{os.getpid()}-{next(_numbers)}")
    assert isinstance(enforcer, V1Enforcer)
    try:
        yield enforcer
    finally:
        enforcer.remove_all()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["/bin/sleep", "60"])
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def allowed_list(pid: int) -> str:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return line.split()[1]
    raise AssertionError


def join(pid: int, *directories: str | Path) -> None:
    for directory in directories:
        Path(directory, "cgroup.procs").write_text(str(pid))


def test_real_process_follows_its_set_and_is_moved_when_it_goes(
    real: V1Enforcer, sleeper: subprocess.Popen[bytes]
) -> None:
    real.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    join(sleeper.pid, real.path("a"), f"{real.cpu_base}/set.a")
    assert allowed_list(sleeper.pid) == "1"
    assert real.processes("a") == [sleeper.pid]
    real.apply(Desired(plain=3))
    assert allowed_list(sleeper.pid) == "0-1"
    assert Path(real.plain_path(), "cgroup.procs").read_text().split() == [str(sleeper.pid)]
    assert Path(f"{real.cpu_base}/plain/cgroup.procs").read_text().split() == [str(sleeper.pid)]


def test_real_memory_goes_along_when_the_nodes_change(real: V1Enforcer) -> None:
    """cgroup v1 moves pages only where the group says so; v2 always does."""
    real.apply(Desired(plain=1, exclusive={"a": Slot(2)}, shared={"s": SharedSlot(1)}))
    for path in (real.path("a"), real.path("s", shared=True)):
        assert Path(path, "cpuset.memory_migrate").read_text().strip() == "1"


def test_real_sub_cgroup_in_the_way_of_a_resize(real: V1Enforcer) -> None:
    """A cgroup that a task made in its set: EBUSY; reported, not forced, and everything is as before."""
    real.apply(Desired(plain=1, shared={"s": SharedSlot(3)}))
    inner = Path(real.path("s", shared=True), "inner")
    inner.mkdir()
    try:
        (inner / "cpuset.cpus").write_text("1")
        before = real.read()
        with pytest.raises(EnforcementError, match=r"EBUSY.*sub-cgroups in the way: inner \(1\)"):
            real.apply(Desired(plain=1, shared={"s": SharedSlot(1)}, exclusive={"x": Slot(2)}))
        assert real.read() == before
    finally:
        inner.rmdir()


def test_real_sub_cgroup_with_a_process_goes_with_its_set(real: V1Enforcer, sleeper: subprocess.Popen[bytes]) -> None:
    real.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    inner = Path(real.path("a"), "inner")
    inner.mkdir()
    (inner / "cpuset.cpus").write_text("1")
    (inner / "cpuset.mems").write_text("0")
    join(sleeper.pid, inner)
    assert real.processes("a") == [sleeper.pid]
    real.apply(Desired(plain=3))
    assert not Path(real.path("a")).exists()
    assert allowed_list(sleeper.pid) == "0-1"


def test_real_process_moved_out_is_brought_back(real: V1Enforcer, sleeper: subprocess.Popen[bytes]) -> None:
    """To where the kernel moves what runs in a set without CPUs."""
    wish = Desired(plain=1, exclusive={"a": Slot(2)})
    real.apply(wish)
    join(sleeper.pid, real.path("a"), f"{real.cpu_base}/set.a")
    join(sleeper.pid, real.base)
    assert allowed_list(sleeper.pid) == "0-1"
    assert [(d.set_id, d.field) for d in real.differences(wish)] == [("a", "processes")]
    real.apply(wish)
    assert allowed_list(sleeper.pid) == "1"
    assert real.differences(wish) == ()
    join(sleeper.pid, real.base, real.cpu_base or "")
    assert [(d.group, d.field) for d in real.differences(wish)] == [("plain", "processes")]
    real.apply(wish)
    assert allowed_list(sleeper.pid) == "0"


def test_real_set_kept_on_the_plain_cpus_and_back(real: V1Enforcer, sleeper: subprocess.Popen[bytes]) -> None:
    wish = Desired(plain=1, exclusive={"a": Slot(2)})
    real.apply(wish)
    join(sleeper.pid, real.path("a"), f"{real.cpu_base}/set.a")
    real.apply(Desired(plain=1, kept={"a": 0}))
    assert allowed_list(sleeper.pid) == "0"
    assert real.processes("a") == [sleeper.pid]
    real.apply(wish)
    assert allowed_list(sleeper.pid) == "1"


def test_real_change_is_fast(real: V1Enforcer) -> None:
    real.apply(Desired(plain=3))
    started = time.process_time()
    for _ in range(20):
        real.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
        real.apply(Desired(plain=3))
    assert (time.process_time() - started) / 40 < 0.5


def test_detect_real_v1_by_directory(real: V1Enforcer) -> None:
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"):
        found = detect(root, "n")
        assert isinstance(found, V1Enforcer)
        assert (found.base, found.cpu_base) == ("/sys/fs/cgroup/cpuset/n", "/sys/fs/cgroup/cpu/n")
    real.apply(Desired(plain=3))
    below = detect(real.base, "n")
    assert isinstance(below, V1Enforcer)
    assert below.cpu_base == f"{real.cpu_base}/n"


# Against the fakes: failures, hotplug, partitions.


def test_undone_whole_at_each_failing_call(version: int) -> None:
    """Each changing call fails once: the error has the path, and the kernel is as before."""
    start = Desired(plain=0b1111, shared={"s": SharedSlot(0b1110, guarantee=1, burst=2)})
    goal = Desired(
        plain=0b0011,
        shared={"s": SharedSlot(0b0010, guarantee=1)},
        exclusive={"a": Slot(0b0100), "b": Slot(0b1000, partition="isolated")},
        mixed=[("a", "s")],
    )
    points = 0
    for nth in range(1, 200):
        fs, enforcer = make_fake(version, 0b1111)
        enforcer.apply(start)
        before = enforcer.read()
        calls = fs.calls
        fs.fail_at = {calls + nth: errno.EIO}
        try:
            enforcer.apply(goal)
        except EnforcementError as exc:
            points += 1
            assert "EIO" in str(exc) and "/cg" in str(exc)
            assert "undoing it failed" not in str(exc)
            after = enforcer.read()
            assert {n: (g.effective, g.quota, g.weight) for n, g in after.groups.items()} == {
                n: (g.effective, g.quota, g.weight) for n, g in before.groups.items()
            }
        else:
            if fs.fail_at:
                break
        assert fs.overlaps == []
        enforcer.apply(goal)
        assert {n: g.effective for n, g in enforcer.read().exclusive.items()} == {"a": 4, "b": 8}
    assert points >= 6


def test_killed_after_each_call_then_applied_again(version: int) -> None:
    """A crash undoes nothing. Either state can be reached from whatever is left."""

    class Killed(BaseException):
        pass

    start = Desired(plain=0b1001, exclusive={"a": Slot(0b0110)}, shared={"s": SharedSlot(0b1000)}, mixed=[("a", "s")])
    goal = Desired(plain=0b0001, exclusive={"a": Slot(0b0010), "b": Slot(0b1100)}, shared={"s": SharedSlot(1)})
    for target in (start, goal):
        for nth in range(1, 60):
            fs, enforcer = make_fake(version, 0b1111)
            enforcer.apply(start)
            left = [nth]
            change = fs._change

            def dying(path: str, change=change, left=left) -> None:  # type: ignore[no-untyped-def]
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                change(path)

            fs._change = dying  # type: ignore[method-assign]
            try:
                enforcer.apply(goal)
            except Killed:
                pass
            else:
                assert left[0] >= 0 and nth > 3
                break
            fs._change = change  # type: ignore[method-assign]
            again = (
                V2Enforcer("/cg", "pinfold", fs) if version == 2 else V1Enforcer("/cg/cpuset", "/cg/cpu", "pinfold", fs)
            )
            again.apply(target)
            assert again.differences(target) == ()
            assert fs.overlaps == []


def test_processes_that_cannot_be_told_are_no_empty_set(version: int) -> None:
    fs, enforcer = make_fake(version, 0b11)
    enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    fs.start(10, enforcer.path("a"))
    fs.unreadable = {"set.a/cgroup.procs": errno.EIO}
    with pytest.raises(EnforcementError, match=r"cannot tell which processes run there: .*set.a/cgroup.procs.*EIO"):
        enforcer.processes("a")
    with pytest.raises(EnforcementError, match="cannot tell which processes"):
        enforcer.apply(Desired(plain=3))
    assert enforcer.read().exclusive["a"].effective == 2
    fs.unreadable = {"set.a/cgroup.procs": errno.ENODEV}
    assert enforcer.processes("a") == [], "removed while we looked"
    if version == 2:  # a threaded cgroup lists threads only
        fs.unreadable = {"set.a/cgroup.procs": errno.EOPNOTSUPP}
        assert enforcer.processes("a") == [10]


def test_v1_a_base_in_one_hierarchy_only() -> None:
    """What a death between the two mkdirs, another program or a hand leaves."""
    for left in (["/cg/cpuset/pinfold"], ["/cg/cpuset/pinfold", "/cg/cpuset/pinfold/plain"], ["/cg/cpu/pinfold"]):
        fs, enforcer = make_fake(1, 0b11)
        for path in left:
            fs.mkdir(path)
        wish = Desired(plain=1, exclusive={"a": Slot(2)})
        enforcer.apply(wish)
        assert enforcer.differences(wish) == ()
        fs.rmdir("/cg/cpu/pinfold/set.a")
        assert [(d.set_id, d.field) for d in enforcer.differences(wish)] == [("a", "missing")]
        enforcer.apply(wish)
        assert fs.exists("/cg/cpu/pinfold/set.a") and enforcer.differences(wish) == ()


def test_a_group_made_beside_an_exclusive_set_has_its_list_before_anything_else(version: int) -> None:
    fs, enforcer = make_fake(version, 0b1111)
    enforcer.apply(Desired(plain=0b0011, exclusive={"a": Slot(0b1100)}))
    enforcer.apply(Desired(plain=0b0011, exclusive={"a": Slot(0b1100)}, shared={"s": SharedSlot(0b0011)}))
    enforcer.apply(
        Desired(plain=0b0001, exclusive={"a": Slot(0b1100), "b": Slot(0b0010)}, shared={"s": SharedSlot(0b0001)})
    )
    assert fs.overlaps == []


def test_shared_parent_left_without_a_list_gets_it_first(version: int) -> None:
    """A death right after its mkdir."""
    fs, enforcer = make_fake(version, 0b1111)
    wish = Desired(plain=0b0011, exclusive={"a": Slot(0b1100)})
    enforcer.apply(wish)
    fs.mkdir(enforcer.path("s", shared=True).rpartition("/")[0])
    enforcer.apply(Desired(plain=0b0011, exclusive={"a": Slot(0b1100)}, shared={"s": SharedSlot(0b0011)}))
    assert fs.overlaps == []


def test_writes_that_do_nothing_are_noticed(version: int) -> None:
    fs, enforcer = make_fake(version, 0b11)
    enforcer.apply(Desired(plain=3))
    fs.deaf = {"plain/cpuset.cpus"}
    with pytest.raises(EnforcementError, match="wrote 0, kernel has 0-1"):
        enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    assert enforcer.read().exclusive == {}


def test_cpu_goes_and_comes_back(version: int) -> None:
    fs, enforcer = make_fake(version, 0xFF)
    wish = Desired(plain=0b11101110, exclusive={"a": Slot(0b00010001)})
    enforcer.apply(wish)
    fs.set_online(0b11101111)
    assert enforcer.allowed() == (0b11101111, 1)
    with pytest.raises(EnforcementError, match="CPUs 4 of 0,4 are not in"):
        enforcer.differences(wish)
    clipped = Desired(plain=0b11101110, exclusive={"a": Slot(1)})
    enforcer.apply(clipped)
    assert enforcer.differences(clipped) == ()
    fs.set_online(0xFF)
    enforcer.apply(wish)
    assert enforcer.differences(wish) == ()
    assert enforcer.read().exclusive["a"].effective == 0b10001
    assert fs.overlaps == []


@pytest.mark.parametrize("partition", ["member", "isolated"])
def test_all_cpus_of_a_set_go_and_come_back(version: int, partition: str) -> None:
    """What runs in it stays in it, runs on no other exclusive set's CPUs, and has its own again once they are back."""
    fs, enforcer = make_fake(version, 0xFF)
    a, b = Slot(0b00010001, partition=partition), Slot(0b00100010)
    wish = Desired(plain=0b11001100, exclusive={"a": a, "b": b}, shared={"s": SharedSlot(0b11000000)})
    enforcer.apply(wish)
    places = {10: enforcer.path("a"), 11: enforcer.path("b"), 12: enforcer.plain_path()}
    places[13] = enforcer.path("s", shared=True)
    for pid, path in places.items():
        fs.start(pid, path)
    fs.set_online(0b11101110)
    left = Desired(plain=0b11001100, exclusive={"b": b}, shared={"s": SharedSlot(0b11000000)}, kept={"a": 0})
    if version == 1:
        assert fs.where(10) == enforcer.base  # type: ignore[attr-defined]
        assert ("a", "processes") in [(d.set_id, d.field) for d in enforcer.differences(left)]
    enforcer.apply(left)
    assert enforcer.differences(left) == ()
    assert enforcer.apply(left).steps == ()
    assert {pid: fs.where(pid) for pid in places} == places
    assert {i: g.effective for i, g in enforcer.read().exclusive.items()} == {"a": left.plain, "b": b.cpus}
    # Others change meanwhile.
    more = Desired(plain=0b11000100, exclusive={"b": b, "c": Slot(0b1000)}, shared=left.shared, kept={"a": 0})
    enforcer.apply(more)
    assert enforcer.read().exclusive["a"].effective == more.plain
    enforcer.apply(left)
    fs.set_online(0xFF)
    enforcer.apply(wish)
    assert enforcer.differences(wish) == ()
    assert {pid: fs.where(pid) for pid in places} == places
    assert enforcer.read().exclusive["a"].effective == a.cpus
    if version == 2:
        assert enforcer.read().exclusive["a"].partition == partition
    assert fs.overlaps == []


def test_a_kept_set_without_a_cgroup_gets_none(version: int) -> None:
    _, enforcer = make_fake(version, 0b11)
    wish = Desired(plain=3, kept={"a": 0})
    enforcer.apply(wish)
    assert enforcer.differences(wish) == ()
    assert enforcer.read().exclusive == {}


def test_plain_loses_all_its_cpus_and_gets_others(version: int) -> None:
    """On v1 its tasks are moved out, to where they could run on everybody's CPUs."""
    fs, enforcer = make_fake(version, 0b1111)
    enforcer.apply(Desired(plain=0b0001, exclusive={"a": Slot(0b0010)}))
    fs.start(12, enforcer.plain_path())
    fs.set_online(0b1110)
    wish = Desired(plain=0b1100, exclusive={"a": Slot(0b0010)})
    enforcer.apply(wish)
    assert enforcer.differences(wish) == ()
    assert fs.where(12) == enforcer.plain_path()


def test_partition_in_force() -> None:
    fs, enforcer = make_fake(2, 0b1111)
    wish = Desired(plain=3, exclusive={"a": Slot(4, partition="isolated"), "b": Slot(8, partition="root")})
    assert enforcer.apply(wish).notes == {}
    assert {i: g.partition for i, g in enforcer.read().exclusive.items()} == {"a": "isolated", "b": "root"}
    assert enforcer.allowed() == (15, 1), "CPUs of a partition are still ours"
    assert enforcer.apply(wish).steps == ()
    grown = Desired(plain=1, exclusive={"a": Slot(6, partition="isolated"), "b": Slot(8, partition="root")})
    assert enforcer.apply(grown).notes == {}
    assert enforcer.read().exclusive["a"].partition == "isolated"
    fs.writes.clear()
    enforcer.apply(Desired(plain=7, exclusive={"b": Slot(8, partition="root")}))
    assert fs.writes[0] == ("/cg/pinfold/set.a/cpuset.cpus.partition", "member"), "member first, then rmdir"
    assert fs.read("/cg/pinfold/cpuset.cpus.exclusive") == "3"
    assert fs.overlaps == []


@pytest.mark.parametrize("remote", [True, False], ids=["newer kernel", "older kernel"])
def test_partition_that_the_kernel_calls_invalid(remote: bool) -> None:
    fs, enforcer = make_fake(2, 0b1111, remote=remote)
    if remote:
        fs.partition_reason = "Cpu list in cpuset.cpus not exclusive"
    notes = enforcer.apply(Desired(plain=3, exclusive={"a": Slot(12, partition="isolated")})).notes
    reason = "Cpu list in cpuset.cpus not exclusive" if remote else "Parent is not a partition root"
    assert f"kernel has 'isolated invalid ({reason})'; the set is a member" in notes["a"][0]
    assert enforcer.read().exclusive["a"].partition == "member"
    assert enforcer.read().exclusive["a"].effective == 12


def test_partition_lost_later_is_drift() -> None:
    fs, enforcer = make_fake(2, 0b1111)
    wish = Desired(plain=3, exclusive={"a": Slot(12, partition="isolated")})
    enforcer.apply(wish)
    fs.partition_reason = "cpu list changed"
    assert [(d.set_id, d.field, d.found) for d in enforcer.differences(wish)] == [
        ("a", "partition", "isolated invalid (cpu list changed)")
    ]
    assert "cpu list changed" in enforcer.apply(wish).notes["a"][0]
    fs.partition_reason = None
    assert enforcer.apply(wish).notes == {}
    assert enforcer.differences(wish) == ()


def test_partition_on_v1_is_a_note() -> None:
    _, enforcer = make_fake(1, 0b11)
    assert (
        "needs cgroup v2" in enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2, partition="root")})).notes["a"][0]
    )


def test_no_quota_on_exclusive_sets_or_above() -> None:
    fs, enforcer = make_fake(2, 0b1111)
    enforcer.apply(Desired(plain=3, exclusive={"a": Slot(12)}, shared={"s": SharedSlot(3, guarantee=1, burst=1.5)}))
    for path in ("/cg/pinfold", "/cg/pinfold/set.a"):
        fs.write(f"{path}/cpu.max", "50000 100000")
    assert [d.field for d in enforcer.differences(Desired(plain=3, exclusive={"a": Slot(12)}))].count("quota") == 2
    enforcer.apply(Desired(plain=3, exclusive={"a": Slot(8)}, shared={"s": SharedSlot(3, guarantee=1, burst=1.5)}))
    for path in ("/cg/pinfold", "/cg/pinfold/set.a", "/cg/pinfold/shared", "/cg/pinfold/plain"):
        assert fs.read(f"{path}/cpu.max").startswith("max")
    assert fs.read("/cg/pinfold/shared/s/cpu.max") == "150000 100000"


def test_v2_processes_in_the_parent_are_named() -> None:
    fs = FakeCgroups(2, 0b11)
    fs.mkdir("/cg/mine")
    fs.write("/cg/cgroup.subtree_control", "+cpuset +cpu")
    fs.start(77, "/cg/mine")
    with pytest.raises(EnforcementError, match=r"processes sit in /cg/mine itself \(\[77\]\)"):
        V2Enforcer("/cg/mine", "pinfold", fs).apply(Desired(plain=3))
    assert fs.read("/cg/mine/cgroup.subtree_control") == ""


def test_v2_what_is_left_in_a_set_goes_to_a_group_below_plain_where_tasks_have_groups_of_their_own() -> None:
    fs, enforcer = make_fake(2, 0b11)
    fs.controllers = fs.controllers | {"memory"}
    enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    for directory in (enforcer.root, enforcer.base, enforcer.plain_path(), enforcer.path("a")):
        fs.write(f"{directory}/cgroup.subtree_control", "+memory")
    for pid, directory in ((1, enforcer.plain_path()), (2, enforcer.path("a"))):
        fs.mkdir(f"{directory}/task.x")
        fs.start(pid, f"{directory}/task.x")
    assert enforcer.processes("a") == [2]
    enforcer.apply(Desired(plain=3))
    assert fs.where(1) == f"{enforcer.plain_path()}/task.x"
    assert fs.where(2) == f"{enforcer.plain_path()}/rest"


def test_v2_controllers_are_enabled_from_above() -> None:
    fs = FakeCgroups(2, 0b11)
    fs.mkdir("/cg/mine")
    enforcer = V2Enforcer("/cg/mine", "pinfold", fs)
    enforcer.apply(Desired(plain=3))
    assert fs.read("/cg/cgroup.subtree_control") == "cpu cpuset"
    assert enforcer.read().groups["plain"].effective == 3


def test_v2_without_a_cpu_controller() -> None:
    fs, enforcer = make_fake(2, 0b11)
    fs.controllers = {"cpuset"}
    notes = enforcer.apply(Desired(plain=3, shared={"s": SharedSlot(3)})).notes
    assert "no cpu controller" in notes["s"][0]
    assert enforcer.differences(Desired(plain=3, shared={"s": SharedSlot(3)})) == ()


def test_a_process_that_dies_while_it_is_moved(version: int) -> None:
    fs, enforcer = make_fake(version, 0b11)
    enforcer.apply(Desired(plain=1, exclusive={"a": Slot(2)}))
    fs.start(10, enforcer.path("a"))
    fs.start(11, enforcer.path("a"))
    move = fs._move

    def dying(node, text, path):  # type: ignore[no-untyped-def]
        if text == "10":
            for root in fs.roots.values():
                fs._forget(root, 10)
            raise OSError(errno.ESRCH, "No such process")
        move(node, text, path)

    fs._move = dying  # type: ignore[method-assign]
    enforcer.apply(Desired(plain=3))
    assert fs.where(11).endswith("pinfold/plain")


def test_five_hundred_sets(version: int) -> None:
    fs, enforcer = make_fake(version, (1 << 1024) - 1)
    fs._look = lambda: None  # type: ignore[method-assign]
    sets = {f"s{i}": Slot(3 << (2 * i + 2)) for i in range(500)}
    rest = ((1 << 1024) - 1) & ~sum(s.cpus for s in sets.values())
    enforcer.apply(Desired(plain=rest, exclusive=sets))
    gone = sets.pop("s7")
    started = time.process_time()
    enforcer.apply(Desired(plain=rest | gone.cpus, exclusive=sets))
    assert time.process_time() - started < 5


# Detection, in directory trees.


def tree(root: Path, mounts: str, **files: str) -> tuple[str, str]:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mounts").write_text(mounts.replace("ROOT", str(root)))
    (root / "proc/self/cgroup").write_text("0::/\n")
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root / "proc"), str(root)


V2_LINE = "cgroup2 ROOT/cg cgroup2 rw,nosuid 0 0\n"
V1_LINES = "cgroup ROOT/v1/cpuset cgroup rw,cpuset 0 0\ncgroup ROOT/v1/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"


def test_detect(tmp_path: Path) -> None:
    proc, root = tree(tmp_path / "a", V1_LINES + V2_LINE, **{"cg/cgroup.controllers": "cpuset cpu memory\n"})
    (tmp_path / "a/v1/cpuset").mkdir(parents=True)
    (tmp_path / "a/v1/cpu,cpuacct").mkdir(parents=True)
    found = detect("auto", proc_root=proc)
    assert isinstance(found, V2Enforcer) and found.base == f"{root}/cg/pinfold"
    (tmp_path / "a/cg/cgroup.controllers").write_text("hugetlb\n")
    found = detect("auto", proc_root=proc)
    assert isinstance(found, V1Enforcer)
    assert (found.base, found.cpu_base) == (f"{root}/v1/cpuset/pinfold", f"{root}/v1/cpu,cpuacct/pinfold")
    (tmp_path / "a/proc/self/mounts").write_text(V1_LINES.replace("ROOT", root).replace("rw,", "ro,"))
    none = detect("auto", proc_root=proc)
    assert isinstance(none, AffinityEnforcer) and "may not be written" in none.reason
    assert detect("none", proc_root=proc).kind == "affinity"
    with pytest.raises(ConfigError, match="cgroup root '/nowhere'"):
        detect("/nowhere", proc_root=proc)
    with pytest.raises(ConfigError, match="not auto, none or an absolute path"):
        detect("relative", proc_root=proc)


@pytest.mark.parametrize("kind", ["v1", "v2"])
def test_a_plain_directory_tree_will_do(tmp_path: Path, kind: str) -> None:
    """Files that nobody computes: enough for tests of the daemons."""
    if kind == "v2":
        (tmp_path / "cgroup.controllers").write_text("cpuset cpu")
        (tmp_path / "cpuset.cpus.effective").write_text("0-3")
        (tmp_path / "cpuset.mems.effective").write_text("0")
    else:
        (tmp_path / "cpuset").mkdir()
        (tmp_path / "cpu").mkdir()
        (tmp_path / "cpuset/cpuset.cpus").write_text("0-3")
        (tmp_path / "cpuset/cpuset.mems").write_text("0")
    enforcer = detect(str(tmp_path))
    enforcer.apply(Desired(plain=15, shared={"s": SharedSlot(14)}))
    wish = Desired(plain=3, exclusive={"a": Slot(12)}, shared={"s": SharedSlot(2, burst=2.0)})
    enforcer.apply(wish)
    assert Path(enforcer.path("a"), "cpuset.cpus").read_text() == "2-3"
    assert Path(enforcer.plain_path(), "cpuset.cpus").read_text() == "0-1"
    assert enforcer.differences(wish) == ()
    enforcer.apply(Desired(plain=15))
    assert not Path(enforcer.path("a")).exists()
    enforcer.remove_all()
    assert not Path(tmp_path, "pinfold").exists()


def test_affinity_checks_and_writes_nothing() -> None:
    enforcer = AffinityEnforcer(0b1111, 1)
    assert enforcer.apply(Desired(plain=3, exclusive={"a": Slot(12)})).steps == ()
    assert enforcer.path("a") == "" and enforcer.plain_path() == ""
    assert enforcer.differences(Desired(plain=3)) == ()
    with pytest.raises(EnforcementError, match="are not in 0-3"):
        enforcer.apply(Desired(plain=3, exclusive={"a": Slot(16)}))


# In a directory that systemd delegated.


def delegated(tmp_path: Path, own: str, *marked: str) -> tuple[str, str]:
    """(procfs, mount point) of a tree in which we are in `own`, and systemd marked these as delegated."""
    inside = ["", "system.slice", "system.slice/a.service", "system.slice/a.service/main"]
    files = {f"cg/{path}/cgroup.controllers": "cpuset cpu\n" for path in inside}
    files["cg/system.slice/other.service/cgroup.controllers"] = "cpu\n"
    proc, root = tree(tmp_path, V2_LINE, **files)
    Path(proc, "self/cgroup").write_text(f"1:name=systemd:/else\n0::{own}\n")
    for path in marked:
        try:
            os.setxattr(f"{root}/cg/{path}", "user.delegate", b"1")
        except OSError as error:
            pytest.skip(f"no extended attributes here: {error}")
    return proc, f"{root}/cg"


@pytest.mark.parametrize(
    ("own", "marked", "where"),
    [
        ("/system.slice/a.service", ["system.slice/a.service"], "/system.slice/a.service"),
        ("/system.slice/a.service/main", ["system.slice/a.service"], "/system.slice/a.service"),
        ("/system.slice/a.service", [], ""),
        ("/", [], ""),
        ("/", ["."], ""),
        ("/../x", [], ""),
        ("/gone.service", ["system.slice/a.service"], ""),
        # Delegated without cpuset: of no use to us.
        ("/system.slice/other.service", ["system.slice/other.service"], ""),
    ],
)
def test_a_delegated_directory_is_found(tmp_path: Path, own: str, marked: list[str], where: str) -> None:
    proc, point = delegated(tmp_path, own, *marked)
    found = detect("auto", proc_root=proc)
    assert isinstance(found, V2Enforcer) and found.root == point + where
    agent = cgroup_paths.find("auto", "pinfold", proc_root=proc)
    assert (agent.kind, agent.root) == ("cgroup2", found.root), "the agent finds the same"


def test_a_directory_that_its_user_owns_is_found(tmp_path: Path) -> None:
    """As root everything may be written: the fake says what may not."""
    proc, point = delegated(tmp_path, "/system.slice/a.service")

    class Owned(RealFs):
        def writable(self, path: str) -> bool:
            return path.startswith(f"{point}/system.slice/a.service")

    found = detect("auto", proc_root=proc, fs=Owned())
    assert isinstance(found, V2Enforcer) and found.root == f"{point}/system.slice/a.service"


def test_we_move_to_a_leaf_of_our_own() -> None:
    fs = FakeCgroups(2, 0b1111)
    fs.mkdir("/cg/a.service")
    fs.write("/cg/cgroup.subtree_control", "+cpuset +cpu")
    fs.start(os.getpid(), "/cg/a.service")
    enforcer = V2Enforcer("/cg/a.service", "pinfold", fs)
    enforcer.apply(Desired(plain=3, exclusive={"a": Slot(0b1100)}))
    assert fs.where(os.getpid()) == "/cg/a.service/pinfold.main"
    assert effective(enforcer) == {"": 15, "plain": 3, "set.a": 12}
    assert enforcer.differences(Desired(plain=3, exclusive={"a": Slot(0b1100)})) == ()
    # Twice is nothing new; somebody else in it is not ours to move.
    assert enforcer.apply(Desired(plain=3, exclusive={"a": Slot(0b1100)})).steps == ()


def test_partitions_in_a_delegated_directory_are_claimed_from_the_top() -> None:
    """What others have claimed in the directories above stays claimed."""
    fs = FakeCgroups(2, 0xFF)
    fs.write("/cg/cgroup.subtree_control", "+cpuset +cpu")
    fs.mkdir("/cg/our.slice")
    fs.write("/cg/our.slice/cgroup.subtree_control", "+cpuset +cpu")
    for name in ("a.service", "other.service"):
        fs.mkdir(f"/cg/our.slice/{name}")
    fs.write("/cg/our.slice/cpuset.cpus.exclusive", "7")
    fs.write("/cg/our.slice/other.service/cpuset.cpus.exclusive", "7")
    enforcer = V2Enforcer("/cg/our.slice/a.service", "pinfold", fs)
    claimed = lambda: [fs.read(f"/cg/our.slice{path}/cpuset.cpus.exclusive") for path in ("", "/a.service")]  # noqa: E731
    wish = Desired(plain=0b1100_0011, exclusive={"a": Slot(0b1100, partition="isolated"), "b": Slot(0b110000)})
    assert enforcer.apply(wish).notes == {}
    assert claimed() == ["2-3,7", "2-3"]
    assert fs.read(f"{enforcer.path('a')}/cpuset.cpus.partition") == "isolated"
    assert enforcer.allowed()[0] == 0xFF, "a partition's CPUs are ours still"
    both = Desired(
        plain=0b1100_0011, exclusive={name: Slot(cpus, partition="root") for name, cpus in (("a", 12), ("b", 48))}
    )
    assert enforcer.apply(both).notes == {} and enforcer.differences(both) == ()
    assert claimed() == ["2-5,7", "2-5"]
    enforcer.apply(Desired(plain=0xFF))
    assert claimed() == ["7", ""]


def test_somebody_else_beside_us_is_left_where_it_is() -> None:
    fs = FakeCgroups(2, 0b1111)
    fs.mkdir("/cg/a.service")
    fs.write("/cg/cgroup.subtree_control", "+cpuset +cpu")
    fs.start(os.getpid(), "/cg/a.service")
    fs.start(1, "/cg/a.service")
    with pytest.raises(EnforcementError, match=r"processes sit in /cg/a.service itself \(\[1\]\)"):
        V2Enforcer("/cg/a.service", "pinfold", fs).apply(Desired(plain=3))
    assert fs.where(1) == "/cg/a.service"


def test_the_agent_moves_to_the_same_leaf(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    found = cgroup_paths.find(str(tmp_path), "pinfold")
    found.step_aside()
    assert not (tmp_path / "pinfold.main").exists(), "the top of the whole hierarchy may have both"
    (tmp_path / "cgroup.type").write_text("domain\n")
    found.step_aside()
    found.step_aside()
    assert (tmp_path / "pinfold.main/cgroup.procs").read_text() == str(os.getpid())
