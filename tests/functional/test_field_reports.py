"""What users of systems like this one ran into, asked of Pinfold; docs/field-reports.md names the test of each report.

Here are the questions that belong to no other file, as they go through several parts at once.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy

from agent_api.wire import mesos_pb2, pinfold_pb2, scheduler_pb2
from migrations.database import DatabaseError, open_database, upgrade
from provider import cpuset, inventory, sysfs
from provider.cli.topology import topology as topology_command
from provider.session import State as Standing
from tests.functional.fakeagent import write_sysfs
from tests.functional.harness import (
    AgentProcess,
    Framework,
    create_cpuset,
    destroy_cpuset,
    is_raw,
    is_set,
    launch,
    provider_config,
    running_agent,
    take,
    wait_for,
)
from tests.functional.provider_world import Operation, Provider, create, destroy, raw, resize, uuid
from tests.functional.test_manager import without
from tests.unit.hosts import D16, S8, records

FINISHED, FAILED = mesos_pb2.OPERATION_FINISHED, mesos_pb2.OPERATION_FAILED
RENUMBERED = records((c, c // 2, c // 8, c // 8) for c in range(16))
"""As many CPUs as D16, with siblings (2i, 2i+1)."""


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def made(provider: Provider, info: Operation, number: int) -> str:
    """Carry out an operation that must succeed; the newest set's id."""
    status = provider.apply(info, uuid(number))
    assert status is not None
    assert status.state == FINISHED, status.message
    return (["", *provider.manager.state.sets])[-1]


def period(provider: Provider) -> None:
    """One reconcile period passes."""
    provider.now += 4
    provider.manager.tick()


# -- 1, 4: discovery ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topology_directory", [True, False])
def test_report_1_an_offline_thread_is_nobodys(tmp_path: Path, topology_directory: bool) -> None:
    """S8 with 7 offline and 3 reserved, from sysfs, over a restart, with and without the files of CPU 7."""
    seven = cpuset.parse("7")
    root = write_sysfs(tmp_path / "host", without(S8, seven))  # type: ignore[arg-type]
    if topology_directory:
        shutil.copytree(root / "sys/devices/system/cpu/cpu3", root / "sys/devices/system/cpu/cpu7")
    provider = Provider(tmp_path, sysfs.read(root), reserved_cpus="3")
    provider.start()
    for _ in range(2):
        figures = provider.manager.figures()
        assert (figures.online, figures.reserved) == (7, 1)
        assert figures.raw_total + figures.sets + figures.floor + figures.reserved == 7
        provider.start()
    made(provider, create(2, "whole"), 1)
    made(provider, create(2), 2)
    refused = provider.apply(create(1), uuid(3))
    assert refused is not None and refused.state == FAILED
    held = inventory.held(provider.manager.state)
    assert held == cpuset.parse("1-2,5-6"), "neither 3 nor 7; 0 and 4 are the floor"
    provider.start()
    provider.check()
    assert inventory.held(provider.manager.state) == held
    assert provider.manager.degraded == {}
    provider.close()


def no_nodes(system: Path) -> str:
    shutil.rmtree(system / "node")
    return "0-7"


def gaps(system: Path) -> str:
    (system / "cpu/online").write_text("0,3-5\n")
    (system / "cpu/possible").write_text("0-5\n")
    return "0,3-5"


def node_of_more(system: Path) -> str:
    (system / "cpu/online").write_text("0-3\n")
    (system / "cpu/possible").write_text("0-3\n")
    (system / "node/node0/cpulist").write_text("0-15\n")
    return "0-3"


def no_caches(system: Path) -> str:
    for directory in system.glob("cpu/cpu*/cache"):
        shutil.rmtree(directory)
    return "0-7"


def core_unknown(system: Path) -> str:
    for core_id in system.glob("cpu/cpu*/topology/core_id"):
        core_id.write_text("-1\n")
        for name in ("thread_siblings_list", "core_siblings_list"):
            (core_id.parent / name).unlink()
    return "0-7"


@pytest.mark.parametrize("change", [no_nodes, gaps, node_of_more, no_caches, core_unknown])
def test_report_4_the_command_goes_on_without_a_file(tmp_path: Path, change: Any) -> None:
    from click.testing import CliRunner

    root = write_sysfs(tmp_path / "host", S8)
    online = change(root / "sys/devices/system")
    result = CliRunner().invoke(topology_command, ["--root", str(root), "--json"])
    assert result.exit_code == 0, result.output
    host = sysfs.read(root)
    assert cpuset.format_mask(host.online) == online
    shown = CliRunner().invoke(topology_command, ["--root", str(root)])
    guessed = change is not gaps
    assert (bool(host.warnings), "warning: " in shown.output) == (guessed, guessed)


# -- 9, 21: CPUs go, other hosts ------------------------------------------------------------------------------------


def test_report_9_all_cpus_of_a_set_go(tmp_path: Path, version: int) -> None:
    provider = Provider(tmp_path, version=version)
    provider.start()
    set_id = made(provider, create(2), 1)
    gone = provider.manager.state.sets[set_id].cpus
    provider.topology = without(S8, gone)  # type: ignore[assignment]
    provider.fs.set_online(S8.online & ~gone)
    period(provider)
    report = provider.report()
    (shown,) = report.cpu_report.cpusets
    assert (shown.id, shown.state) == (set_id, pinfold_pb2.Cpuset.DEGRADED)
    assert "1,5 are not online" in shown.reason
    assert [r.scalar.value for r in report.resources if r.cpu.source.type == 1] == [4.0]
    provider.topology = S8
    provider.fs.set_online(S8.online)
    period(provider)
    assert provider.kernel()[f"set.{set_id}"] == "1,5"
    assert provider.manager.degraded == {}
    provider.check()
    provider.close()


def test_report_21_fewer_cpus_and_other_siblings(tmp_path: Path, version: int) -> None:
    """Sets on whole cores of D16; the host returns smaller, then with as many CPUs and other siblings."""
    provider = Provider(tmp_path, D16, version)
    provider.start()
    one = made(provider, create(2, "whole"), 1)
    two = made(provider, create(4, "whole", zone="numa/1"), 2)
    before = {key: held.cpus for key, held in provider.manager.state.sets.items()}
    provider.close()
    # {4,5,12,13} are whole cores of either numbering.
    for other, lost in ((S8, {one, two}), (RENUMBERED, {one})):
        again = Provider(tmp_path, other, version)
        again.start()
        assert again.manager.session.state is Standing.READY
        assert set(again.manager.degraded) == lost
        assert {key: held.cpus for key, held in again.manager.state.sets.items()} == before
        written = [cpuset.parse(text) for path, text in again.fs.writes if path.endswith("cpuset.cpus")]
        assert written and not any(mask & ~other.online for mask in written)
        again.check()
        again.close()
    same = Provider(tmp_path, D16, version)
    same.start()
    assert same.manager.degraded == {}
    same.close()


def test_report_21_a_cpu_that_is_offline_makes_no_other_host(tmp_path: Path) -> None:
    """Over a restart too: other sets are as they were, the id and what was acknowledged stay."""
    provider = Provider(tmp_path, D16)
    provider.start()
    one = made(provider, create(2, "whole"), 1)
    two = made(provider, create(2, "whole", zone="numa/1"), 2)
    provider.topology = without(D16, cpuset.parse("15"))  # type: ignore[assignment]
    provider.fs.set_online(provider.topology.online)
    provider.start()
    assert provider.manager.provider_id == "rp"
    assert provider.manager.degraded == {}, "nobody held CPU 15"
    assert set(provider.manager.state.sets) == {one, two}
    provider.check()
    provider.close()


# -- 16, 17, 19: allocation over time -------------------------------------------------------------------------------


def test_report_16_a_short_lived_set_gives_all_back(tmp_path: Path) -> None:
    flat = records((c, c, c // 8, c // 8) for c in range(16))
    provider = Provider(tmp_path, flat)
    provider.start(profiles={"bind": {"memory": {"policy": "bind", "mode": "required"}}})
    big = made(provider, create(5, "bind"), 1)
    small = made(provider, create(1, "bind"), 2)
    made(provider, create(8, "bind", zone="numa/1"), 3)
    made(provider, destroy(provider.resources(small)), 4)
    made(provider, resize(provider.resources(big), add=2), 5)
    assert provider.manager.state.sets[big].cpus == cpuset.parse("1-7")
    provider.check()
    provider.close()


def test_report_17_the_state_is_the_facts_and_no_running_sum(tmp_path: Path) -> None:
    """Bound and interleaved memory side by side; a restart; what is offered does not depend on what was once."""
    profiles = {
        "bind": {"memory": {"policy": "bind", "mode": "required"}, "lifetime": "role"},
        "both": {"memory": {"policy": "interleave"}, "lifetime": "role"},
    }
    across = create(4, "both", zone="numa/0")
    across.create_cpuset.source[0].scalar.value = 2
    across.create_cpuset.source.append(raw(2, "numa/1"))

    provider = Provider(tmp_path, D16)
    provider.start(profiles=profiles)
    first = made(provider, create(2, "bind"), 1)
    made(provider, across, 2)
    made(provider, destroy(provider.resources(first)), 3)
    made(provider, create(2, "bind"), 4)
    for _ in range(2):
        sets = list(provider.manager.state.sets.values())
        assert [one.mems for one in sets] == [0b11, 0b01]
        built = inventory.State()
        for one in sets:
            built = built.with_set(one)
        assert provider.manager.state == built
        assert inventory.raw(provider.manager.host, built) == inventory.raw(
            provider.manager.host, provider.manager.state
        )
        provider.check()
        provider.start()
    provider.close()


def test_report_19_the_sum_holds_at_every_commit(tmp_path: Path) -> None:
    provider = Provider(tmp_path, D16)
    provider.start()
    sums = []
    point = provider.point

    def look(name: str = "") -> None:
        point(name)
        figures = provider.manager.figures()
        sums.append(figures.raw_total + figures.sets + figures.floor + figures.reserved)

    assert provider.store is not None
    provider.store._checkpoint = look
    states = []
    for number, amount in enumerate((5, 5, 3)):
        status = provider.apply(create(amount, zone="numa/1"), uuid(number))
        assert status is not None
        states.append(status.state)
        period(provider)
        provider.check()
    assert states == [FINISHED, FAILED, FINISHED]
    assert sums and set(sums) == {16}
    provider.close()


# -- 23, 25, 27, 44: state ------------------------------------------------------------------------------------------


def test_report_23_a_new_rule_leaves_an_old_set_alone(tmp_path: Path) -> None:
    provider = Provider(tmp_path)
    provider.start(profiles={"one": {"core_siblings": "none", "lifetime": "role"}})
    set_id = made(provider, create(1, "one"), 1)
    provider.fetch({})
    provider.start()
    assert provider.manager.profiles.profiles["one"].state == "INACTIVE"
    provider.fetch({"one": {"core_siblings": "required"}})
    provider.start()
    assert provider.manager.profiles.profiles["one"].state == "CHANGE_REFUSED"
    assert provider.manager.state.sets[set_id].cpus == cpuset.parse("1")
    assert provider.manager.degraded == {}
    assert provider.kernel()[f"set.{set_id}"] == "1"
    provider.check()
    provider.close()


def test_report_44_a_reboot_puts_the_sets_in_force_again(tmp_path: Path, version: int) -> None:
    """A reboot leaves no cgroup; the sets and what is offered come back without anybody's doing."""
    provider = Provider(tmp_path, version=version)
    provider.start()
    made(provider, create(2), 1)
    made(provider, create(2, "batch"), 2)
    kernel = provider.kernel()
    provider.manager._want_report()
    before = provider.report()
    provider.close()
    after_boot = Provider(tmp_path, version=version)
    after_boot.uuids = provider.uuids
    after_boot.start()
    assert after_boot.kernel() == kernel
    after_boot.manager._want_report()
    report = after_boot.report()
    assert [r.scalar.value for r in report.resources] == [r.scalar.value for r in before.resources]
    assert report.resource_version_uuid == before.resource_version_uuid
    after_boot.check()
    after_boot.close()


def test_report_27_without_its_wal_a_database_is_whole(tmp_path: Path) -> None:
    """kill -9, and the -wal file lost: an earlier state, but one that was committed."""
    provider = Provider(tmp_path)
    provider.start()
    made(provider, create(2), 1)
    lost = tmp_path / "lost"
    lost.mkdir()
    shutil.copy(tmp_path / "provider.db", lost / "provider.db")
    provider.close()
    again = Provider(lost)
    again.start()
    assert len(again.manager.state.sets) in (0, 1)
    again.check()
    made(again, create(2), 2)
    again.close()


def test_report_27_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    path = Path("/proc/self") / "provider.db"  # not writable for root either
    with pytest.raises(DatabaseError, match="must exist and be writable"):
        open_database(path, "provider")


# -- 10, 23: configs through a real agent ---------------------------------------------------------------------------


def test_report_28_an_old_database_with_a_status_to_send_is_upgraded(tmp_path: Path) -> None:
    """What the first revision held of a running provider: its set lives on, the status is sent until acknowledged."""
    newest, first = tmp_path / "newest", tmp_path / "first"
    newest.mkdir()
    first.mkdir()
    provider = Provider(newest)
    provider.start()
    status = provider.apply(create(2), uuid(1))
    assert status is not None and status.state == FINISHED
    before = dict(provider.manager.state.sets)
    provider.close()
    engine = sqlalchemy.create_engine(f"sqlite:///{first / 'provider.db'}")
    with engine.begin() as connection:
        upgrade(connection, "provider", "p0001")
    engine.dispose()
    with sqlite3.connect(first / "provider.db") as old:
        old.execute("ATTACH ? AS newest", (str(newest / "provider.db"),))
        for (table,) in old.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            if table != "alembic_version":
                names = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
                old.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM newest.{table}")
    old.close()
    again = Provider(first)
    again.start(subscribe=False)
    assert dict(again.manager.state.sets) == before
    again.subscribe()
    again.manager.flush()
    (sent,) = again.statuses()
    assert sent == (uuid(1), status)
    again.acknowledge(*sent)
    period(again)
    assert again.statuses() == []
    again.check()
    again.close()
    assert [path.name for path in first.iterdir() if "p0001" in path.name], "the copy made before the upgrade"


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    """An agent on S8, as files: CPUs 0-7, enforcement by affinity."""
    root = write_sysfs(tmp_path / "host", S8)
    with running_agent(tmp_path, "--sysfs-root", str(root), cgroup_root="none") as started:
        yield started


def change(agent: AgentProcess, kind: str, info: dict[str, Any]) -> requests.Response:
    name = f"{kind}_RESOURCE_PROVIDER_CONFIG"
    return agent.agent_call({"type": name, name.lower(): {"info": info}})


def test_report_10_lists_that_do_not_fit_are_refused_and_the_old_config_stays(
    agent: AgentProcess, tmp_path: Path
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"reserved_cpus": "15"}, "15"),
        ({"pools": [{"name": "a", "cpus": "0-3"}, {"name": "b", "cpus": "3-5"}]}, "both name CPUs 3"),
        ({"reserved_cpus": "0-7"}, "leaves none"),
    ]
    for cpu, words in cases:
        refused = change(agent, "ADD", provider_config(tmp_path, **cpu))
        assert refused.status_code == 400, refused.text
        assert words in refused.text
    assert not list(agent.work_dir.glob("providers/*"))
    assert change(agent, "ADD", provider_config(tmp_path)).status_code == 200
    before, pid = agent.wait_ready(), agent.provider_pid()
    for cpu, words in cases:
        refused = change(agent, "UPDATE", provider_config(tmp_path, **cpu))
        assert refused.status_code == 400, refused.text
        assert words in refused.text
    assert agent.wait_ready() == before
    assert agent.provider_pid() == pid


# -- 25, 39: many rounds with kills ---------------------------------------------------------------------------------

ROUNDS = int(os.environ.get("PINFOLD_ROUNDS", "10"))
"""Rounds of `test_report_25…`; every third has a kill -9. PINFOLD_ROUNDS=1000 is what the report asks for."""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="an exclusive set beside the floor needs two CPUs")
@pytest.mark.timeout(60 + 30 * ROUNDS)
def test_report_25_everything_comes_back_after_rounds_with_kills(tmp_path: Path) -> None:
    """Create, launch, exit, destroy; the agent, the provider or both are killed at a random moment of a round."""
    chance = random.Random(25)
    with running_agent(tmp_path) as agent:
        assert change(agent, "ADD", provider_config(tmp_path)).status_code == 200
        total = scalar_sum(agent.wait_ready())
        framework = Framework(agent.master_url, role="latency")
        framework.subscribe()
        for number in range(ROUNDS):
            if number % 3:
                one_round(framework, number)
                continue
            killer = threading.Timer(chance.uniform(0, 1.5), kill_some, (agent, chance.choice(("agent", "rp", "both"))))
            killer.start()
            with contextlib.suppress(AssertionError, requests.RequestException, OSError):
                one_round(framework, number, patience=2)
            killer.join()
            if agent.process is None or agent.process.poll() is not None:
                agent.start()
            framework.subscribe()
            agent.wait_ready(40)
            tidy(agent)
        wait_for(lambda: scalar_sum(agent.wait_ready()) == total, 20, "all RAW again")
        assert agent.cpusets() == []
        (topology,) = agent.agent_get("GET_TOPOLOGY")["providers"]
        if topology["topology"]["enforcement"] == "cgroup1":
            left = Path("/sys/fs/cgroup/cpuset", agent.cgroup_name)
            assert [path.name for path in left.iterdir() if path.name.startswith("set.")] == []
        (path,) = agent.work_dir.glob("providers/*/provider.db")
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for table in ("sets", "set_charges", "reservations"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        connection.close()


def scalar_sum(provider: dict[str, Any]) -> float:
    return float(sum(r["scalar"]["value"] for r in provider["total_resources"]))


def kill_some(agent: AgentProcess, whom: str) -> None:
    pid = agent.provider_pid()
    if whom != "rp":
        agent.kill()
    if whom != "agent":
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def one_round(framework: Framework, number: int, patience: float = 25.0) -> None:
    operate(framework, is_raw, lambda name, part: create_cpuset(f"make-{name}", "latency", part), number, patience)
    run_to_its_end(framework, number, patience)
    operate(framework, is_set, lambda name, part: destroy_cpuset(f"unmake-{name}", part), number, patience)


def run_to_its_end(framework: Framework, number: int, patience: float) -> None:
    """One task in a set, launched again where its offer was rescinded meanwhile."""
    for attempt in range(5):
        name = f"t{number}-{attempt}"
        offer, resource = framework.offer(is_set, patience)
        framework.accept([offer], launch(offer.agent_id.value, name, "exit 0", take(resource, 1)))
        event = framework.wait(
            scheduler_pb2.Event.UPDATE,
            lambda e, name=name: e.update.status.task_id.value == name,  # type: ignore[misc]
            patience,
        )
        if event.update.status.state == mesos_pb2.TASK_STARTING:
            framework.acknowledge(event.update.status)
            for state in (mesos_pb2.TASK_RUNNING, mesos_pb2.TASK_FINISHED):
                framework.update(name, state, patience)
            return
        assert "no longer valid" in event.update.status.message, event
    raise AssertionError("five times in a row")


def operate(
    framework: Framework,
    fits: Callable[[mesos_pb2.Resource], bool],
    operation: Callable[[str, mesos_pb2.Resource], Operation],
    number: int,
    patience: float,
) -> None:
    """One operation on one CPU, again where the offer was rescinded meanwhile or the provider was away."""
    for attempt in range(5):
        offer, resource = framework.offer(fits, patience)
        asked = operation(f"{number}-{attempt}", take(resource, 1))
        framework.accept([offer], asked)
        status = framework.status_of(asked.id.value, patience)
        if status.HasField("uuid"):
            framework.acknowledge_operation(status)
        if status.state == FINISHED:
            return
        assert status.state in (mesos_pb2.OPERATION_DROPPED, mesos_pb2.OPERATION_ERROR), status
        assert status.state == mesos_pb2.OPERATION_DROPPED or "no longer valid" in status.message, status
    raise AssertionError(f"five times in a row: {status}")


def tidy(agent: AgentProcess) -> None:
    """What a round that was cut short left: the operator destroys it, once no task is in it."""

    def gone() -> bool:
        for one in agent.cpusets():
            agent.agent_call({"type": "DESTROY_CPUSET", "destroy_cpuset": {"cpuset_id": one["id"]}})
        return agent.cpusets() == []

    wait_for(gone, 30, "the sets of a round that was cut short")
