"""cpufreq settings over a real database and files like the kernel's: stored first, applied, put back (report 38)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_api.wire import mesos_pb2
from provider import cpuset
from provider.errors import EnforcementError
from provider.power import CpuFreq, PowerKeeper
from provider.power_rules import Found
from tests.functional.cpufreq_tree import FOUND, directory, read, write_cpufreq
from tests.functional.fakeagent import write_sysfs
from tests.functional.harness import (
    AgentProcess,
    Framework,
    alive,
    create_cpuset,
    destroy_cpuset,
    is_raw,
    is_set,
    provider_config,
    running_agent,
    take,
    wait_for,
)
from tests.functional.provider_world import Died, Operation, Provider, create, destroy, resize, uuid
from tests.unit.hosts import S8

FAST = {
    "governor": "performance",
    "min_mhz": 2000,
    "max_mhz": 9000,
    "energy_performance_preference": "performance",
}
SET = {
    "scaling_governor": "performance",
    "scaling_min_freq": "2000000",
    "scaling_max_freq": "3600000",
    "energy_performance_preference": "performance",
}
PROFILES = {
    "fast": {"lifetime": "role", "power": FAST},
    "saving": {"lifetime": "role", "power": {"governor": "powersave", "max_mhz": 1000}},
    "any": {"lifetime": "role"},
}
FINISHED, FAILED = mesos_pb2.OPERATION_FINISHED, mesos_pb2.OPERATION_FAILED


def made(provider: Provider, info: Operation, number: int) -> str:
    status = provider.apply(info, uuid(number))
    assert status is not None
    assert status.state == FINISHED, status.message
    return next((r.cpu.source.id for r in status.converted_resources if is_set(r)), "")


def failed(provider: Provider, info: Operation, number: int) -> str:
    status = provider.apply(info, uuid(number))
    assert status is not None
    assert status.state == FAILED
    return status.message


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_cpufreq(tmp_path / "host", S8.online)


@pytest.fixture
def provider(tmp_path: Path, root: Path) -> Iterator[Provider]:
    started = Provider(tmp_path)
    started.start(profiles=PROFILES)
    yield started
    started.check()
    started.close()


def changed(root: Path) -> dict[int, dict[str, str]]:
    return {cpu: now for cpu in range(8) if (now := read(root, cpu)) != FOUND}


def kept(provider: Provider) -> set[int]:
    assert provider.store is not None
    return set(provider.store.load().power)


def test_report_38_put_on_and_put_back(provider: Provider, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    one = made(provider, create(2, "fast"), 1)
    assert changed(root) == {1: SET, 5: SET}
    assert "power.max_mhz 9000 is outside the hardware's range: 3600 on CPUs 1,5" in caplog.text
    assert kept(provider) == {1, 5}
    made(provider, resize(provider.resources(one), add=2), 2)
    assert set(changed(root)) == {1, 2, 5, 6}
    made(provider, resize(provider.resources(one), subtract=2), 3)
    assert changed(root) == {1: SET, 5: SET} and kept(provider) == {1, 5}
    # In a row: what was found is the host's, never what another set had.
    made(provider, destroy(provider.resources(one)), 4)
    assert not changed(root) and not kept(provider)
    two = made(provider, create(2, "saving"), 5)
    assert changed(root)[1] == FOUND | {"scaling_governor": "powersave", "scaling_max_freq": "1000000"}
    made(provider, destroy(provider.resources(two)), 6)
    assert not changed(root) and not kept(provider)


def test_what_is_clipped_is_shown_with_the_profile(provider: Provider) -> None:
    provider.manager._want_report()
    shown = {one.name: one for one in provider.report().cpu_report.profiles}
    assert shown["fast"].placeable and "9000 is outside the hardware's range: 3600" in shown["fast"].reason
    assert shown["saving"].placeable and shown["saving"].reason == ""


@pytest.mark.parametrize("step", ["create", "resize", "destroy"])
def test_report_38_death_at_every_point(tmp_path: Path, step: str) -> None:
    """After each write, statement and commit: a start later all is as one of the two states wants it."""

    def begin(name: str) -> tuple[Provider, Callable[[], Operation]]:
        place = tmp_path / name
        place.mkdir()
        write_cpufreq(place / "host", S8.online)
        provider = Provider(place)
        provider.start(profiles=PROFILES)
        if step == "create":
            return provider, lambda: create(2, "fast")
        one = made(provider, create(4, "fast"), 1)
        if step == "resize":
            return provider, lambda: resize(provider.resources(one), subtract=2)
        return provider, lambda: destroy(provider.resources(one))

    whole, info = begin("whole")
    start = whole.points
    assert whole.apply(info(), uuid(2)) is not None
    points = whole.points - start
    whole.close()
    assert points > 10
    outcomes = set()
    for point in range(1, points + 1):
        provider, info = begin(str(point))
        provider.die_at = provider.points + point
        with pytest.raises(Died):
            provider.apply(info(), uuid(2))
        provider.start()
        provider.check()
        held = 0
        for one in provider.manager.state.sets.values():
            held |= one.cpus
        assert changed(provider.directory / "host") == dict.fromkeys(cpuset.ids(held), SET)
        assert kept(provider) == set(cpuset.ids(held))
        outcomes.add(held)
        for number, one in enumerate(list(provider.manager.state.sets)):
            made(provider, destroy(provider.resources(one)), 10 + number)
        assert not changed(provider.directory / "host") and not kept(provider)
        provider.close()
    assert len(outcomes) == 2


@pytest.mark.parametrize("how", ["read only", "deaf", "gone"])
def test_report_38_a_kernel_that_refuses_fails_the_operation(
    provider: Provider, root: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = directory(root, 5) / "scaling_governor"
    if how == "read only":
        file.unlink()
        file.symlink_to("/proc/version")  # nobody may write it, root neither
    elif how == "gone":
        file.unlink()
    else:
        file.unlink()
        file.symlink_to("/dev/null")  # takes everything and has nothing
    message = failed(provider, create(2, "fast"), 1)
    assert "scaling_governor" in message
    assert not provider.manager.state.sets
    assert set(changed_but(root, 5)) == set() and provider.kernel() == {"plain": "0-7"}
    # The other CPUs can be had.
    provider.manager._host = provider.manager._watch.look(provider.manager.host)
    if how == "gone":
        made(provider, create(2, "fast"), 2)


def changed_but(root: Path, but: int) -> dict[int, dict[str, str]]:
    return {cpu: now for cpu in range(8) if cpu != but and (now := read(root, cpu)) != FOUND}


def test_a_host_without_cpufreq_says_so(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start(profiles=PROFILES)
    provider.manager._want_report()
    shown = {one.name: one for one in provider.report().cpu_report.profiles}
    assert not shown["fast"].placeable and "CPU 1: it has no cpufreq" in shown["fast"].reason
    assert shown["any"].placeable
    assert "it has no cpufreq" in failed(provider, create(2, "fast"), 1)
    provider.close()


def test_a_policy_that_others_share_is_not_changed(tmp_path: Path) -> None:
    write_cpufreq(tmp_path / "host", S8.online, {1: "1,5", 5: "1,5"})
    provider = Provider(tmp_path)
    provider.start(profiles=PROFILES)
    assert "policy of CPU 1 covers CPUs 5 too" in failed(provider, create(1, "fast"), 1)
    made(provider, create(2, "fast"), 2)
    assert set(changed(tmp_path / "host")) == {1, 5}
    provider.close()


def test_a_driver_with_a_table_of_frequencies(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    steps = {"scaling_available_frequencies": "3000000 2400000 800000 ", "scaling_boost_frequencies": "3600000 "}
    root = write_cpufreq(tmp_path / "host", S8.online, **steps)
    provider = Provider(tmp_path)
    provider.start(profiles=PROFILES)
    made(provider, create(2, "fast"), 1)
    assert changed(root) == dict.fromkeys((1, 5), SET | {"scaling_min_freq": "2400000"})
    assert "power.min_mhz 2000 is none of the hardware's frequencies: 2400 on CPUs 1,5" in caplog.text
    provider.close()


def test_drift_is_repaired_and_what_cannot_be_is_shown(provider: Provider, root: Path) -> None:
    one = made(provider, create(2, "fast"), 1)
    (directory(root, 1) / "scaling_governor").write_text("powersave\n")
    provider.manager.reconcile()
    assert changed(root) == {1: SET, 5: SET}
    file = directory(root, 1) / "scaling_governor"
    file.unlink()
    file.symlink_to("/dev/null")
    provider.manager.reconcile()
    assert "power settings are not in force" in provider.manager.degraded[one]
    file.unlink()
    file.write_text("powersave\n")
    provider.manager.reconcile()
    assert not provider.manager.degraded
    # What cannot be put back is tried until it can, and kept until then.
    file.unlink()
    file.symlink_to("/dev/null")
    made(provider, destroy(provider.resources(one)), 2)
    assert kept(provider) == {1}
    file.unlink()
    file.write_text("performance\n")
    provider.manager.reconcile()
    assert not changed(root) and not kept(provider)


def test_a_cpu_that_goes_offline_and_comes_back_has_its_own_settings_in_the_end(provider: Provider, root: Path) -> None:
    """The kernel keeps what was written last over an offline: it must not be taken for what was found."""
    one = made(provider, create(2, "fast"), 1)
    away = directory(root, 5).with_name("away")
    directory(root, 5).rename(away)
    provider.topology = replace(S8, online=S8.online & ~(1 << 5))
    provider.fs.set_online(provider.topology.online)
    for _ in range(2):
        provider.manager.reconcile()
    assert kept(provider) == {1, 5}
    away.rename(directory(root, 5))
    provider.topology = S8
    provider.fs.set_online(S8.online)
    provider.manager.reconcile()
    assert changed(root) == {1: SET, 5: SET} and kept(provider) == {1, 5}
    assert not provider.manager.degraded
    made(provider, destroy(provider.resources(one)), 2)
    assert not changed(root) and not kept(provider)


@pytest.mark.parametrize("missing", ["cpufreq", "cpufreq/scaling_governor"])
def test_a_cpu_whose_driver_comes_after_it(provider: Provider, root: Path, missing: str) -> None:
    """Milliseconds are between a CPU and its cpufreq directory; a look in them is not the last word."""
    made(provider, create(2, "fast"), 1)
    away = directory(root, 5).with_name("away")
    directory(root, 5).rename(away)
    provider.topology = replace(S8, online=S8.online & ~(1 << 5))
    provider.fs.set_online(provider.topology.online)
    provider.manager.reconcile()
    for file, text in FOUND.items():
        (away / file).write_text(text + "\n")
    away.rename(directory(root, 5))
    late = directory(root, 5).parent / missing
    late.rename(late.with_name("late"))
    provider.topology = S8
    provider.fs.set_online(S8.online)
    provider.manager.reconcile()
    assert "power: " in " ".join(provider.manager.degraded.values())
    late.with_name("late").rename(late)
    provider.report()
    provider.manager.reconcile()
    assert changed(root) == {1: SET, 5: SET}
    assert not provider.manager.degraded
    assert provider.report(), "the profiles are judged again"


def test_a_release_while_a_cpu_is_offline_says_what_is_left(
    provider: Provider, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What it had stays stored; it is written back by the next release, or by the set's end after another start."""
    one = made(provider, create(2, "fast"), 1)
    away = directory(root, 5).with_name("away")

    def offline() -> None:
        directory(root, 5).rename(away)
        provider.topology = replace(S8, online=S8.online & ~(1 << 5))
        provider.fs.set_online(provider.topology.online)
        provider.manager.reconcile()
        provider.manager._release()

    def online() -> None:
        away.rename(directory(root, 5))
        provider.topology = S8
        provider.fs.set_online(S8.online)

    offline()
    assert "power settings of CPUs 5 were not put back" in caplog.text
    assert kept(provider) == {5}
    online()
    assert changed(root) == {5: SET}
    caplog.clear()
    provider.manager._release()
    assert not changed(root) and not kept(provider)
    assert "were not put back" not in caplog.text
    # Or it is started again in place of the second release.
    provider.start()
    assert changed(root) == {1: SET, 5: SET}
    offline()
    online()
    provider.start()
    assert changed(root) == {1: SET, 5: SET} and kept(provider) == {1, 5}
    made(provider, destroy(provider.resources(one)), 2)
    assert not changed(root) and not kept(provider)


def test_nothing_is_forgotten_that_was_not_put_back(tmp_path: Path) -> None:
    """The set was refused, and the way back as well: what was found is kept until it was written."""
    root = write_cpufreq(tmp_path, 0b11)
    saved: dict[int, Found] = {}
    writes = 0

    def checkpoint(name: str) -> None:
        nonlocal writes
        writes += 1
        if writes == 6:  # the second file of the second CPU
            raise EnforcementError("the kernel refuses")

    power = PowerKeeper(CpuFreq(tmp_path, "boot", checkpoint), saved.update)
    with pytest.raises(EnforcementError, match="the kernel refuses"):
        power.enforce({0: SET, 1: SET})
    assert set(saved) == {0, 1} and power.settled({}) == []
    power.repair({})
    assert power.settled({}) == [0, 1]
    assert read(root, 0) == read(root, 1) == FOUND
    power.enforce({0: SET})
    assert power.settled({}) == [1]


def test_what_the_next_set_does_not_name_is_as_it_was_found(tmp_path: Path) -> None:
    """A CPU goes from one set to another in one operation (a reservation that becomes another one)."""
    root = write_cpufreq(tmp_path, 0b1)
    power = PowerKeeper(CpuFreq(tmp_path, "boot"), lambda found: None)
    power.enforce({0: SET})
    power.enforce({0: {"scaling_governor": "powersave"}})
    assert read(root, 0) == FOUND | {"scaling_governor": "powersave"}


def test_another_boot_has_settings_of_its_own(provider: Provider, root: Path) -> None:
    one = made(provider, create(2, "fast"), 1)
    provider.close()
    write_cpufreq(root, S8.online, scaling_governor="conservative")
    provider.boot = "second boot"
    provider.start()
    assert {cpu for cpu in range(8) if read(root, cpu)["scaling_governor"] == "performance"} == {1, 5}
    made(provider, destroy(provider.resources(one)), 2)
    assert {read(root, cpu)["scaling_governor"] for cpu in range(8)} == {"conservative"}


def test_limits_never_cross_on_the_way(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    root = write_cpufreq(tmp_path, 1)
    files = CpuFreq(tmp_path, "boot", lambda name: seen.append(limits()))

    def limits() -> tuple[int, int]:
        now = read(root, 0)
        return int(now["scaling_min_freq"]), int(now["scaling_max_freq"])

    steps = [(2000, 3000), (900, 1000), (3500, 3600), (800, 800), (800, 3600)]
    for least, most in steps:
        files.write(0, {"scaling_min_freq": f"{least}000", "scaling_max_freq": f"{most}000"})
        assert limits() == (1000 * least, 1000 * most)
    assert len(seen) > 6 and all(low <= high for low, high in seen)
    with pytest.raises(EnforcementError, match="cpu1/cpufreq/scaling_governor: writing 'performance'"):
        files.write(1, {"scaling_governor": "performance"})


def test_report_38_kill_9_of_a_provider_process(tmp_path: Path) -> None:
    root = write_cpufreq(write_sysfs(tmp_path / "host", S8), S8.online)
    config = provider_config(tmp_path, profiles={"profile_matrix": {n: {"cpuset": p} for n, p in PROFILES.items()}})
    with running_agent(tmp_path, "--sysfs-root", str(root), cgroup_root="none") as agent:
        call = {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": config}}
        assert agent.agent_call(call).status_code == 200
        agent.wait_ready()
        framework = Framework(agent.master_url)
        framework.subscribe()
        offer, raw = framework.offer(is_raw)
        framework.accept([offer], create_cpuset("make", "fast", take(raw, 2)))
        status = framework.status_of("make")
        assert status.state == FINISHED, status.message
        framework.acknowledge_operation(status)
        assert changed(root) == {1: SET, 5: SET}
        end_provider(agent)
        assert changed(root) == {1: SET, 5: SET}
        for attempt in range(5):
            offer, one = framework.offer(is_set)
            framework.accept([offer], destroy_cpuset(f"unmake-{attempt}", one))
            status = framework.status_of(f"unmake-{attempt}")
            if "no longer valid" not in status.message:  # an offer from before the provider came anew
                break
        assert status.state == FINISHED, status.message
        assert not changed(root)


def end_provider(agent: AgentProcess) -> None:
    """kill -9; the agent starts it again."""
    old = agent.provider_pid()
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: not alive(old) and agent.provider_pid() != old, 60)
    agent.wait_ready()
