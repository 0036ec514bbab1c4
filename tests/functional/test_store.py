"""The agent's store on a real SQLite file."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest

from agent_api.core import effects
from agent_api.core.records import (
    AgentRecord,
    ConfigRecord,
    FrameworkRecord,
    ProviderRecord,
    QuotaRecord,
    State,
    TaskRecord,
    WeightRecord,
)
from agent_api.store import Store, StoreError
from agent_api.wire import mesos_pb2, quota_pb2
from migrations.database import DatabaseError


def cpus(value: float) -> mesos_pb2.Resource:
    return mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR, scalar=mesos_pb2.Value.Scalar(value=value))


def task(framework: str, name: str, *states: int, **more: object) -> TaskRecord:
    info = mesos_pb2.TaskInfo(
        name=name,
        task_id=mesos_pb2.TaskID(value=name),
        agent_id=mesos_pb2.AgentID(value="a"),
        resources=[cpus(1)],
    )
    statuses = tuple(
        mesos_pb2.TaskStatus(task_id=info.task_id, state=state, uuid=bytes([index]) * 16)
        for index, state in enumerate(states)
    )
    return TaskRecord(framework, info, states[-1], statuses, **more)  # type: ignore[arg-type]


def provider_info(name: str = "host") -> mesos_pb2.ResourceProviderInfo:
    return mesos_pb2.ResourceProviderInfo(type="org.pinfold.rp.cpu", name=name)


EVERYTHING = State(
    agent=AgentRecord("agent-1", "master-1", (cpus(8), cpus(2.5))),
    configs=(ConfigRecord(provider_info(), 4),),
    providers=(ProviderRecord("p1", provider_info(), False), ProviderRecord("p2", provider_info("old"), True)),
    frameworks=(
        FrameworkRecord("f1", mesos_pb2.FrameworkInfo(user="u", name="ünï"), None, 1.25, 2.5, ("a", "b")),
        FrameworkRecord("f2", mesos_pb2.FrameworkInfo(user="u", name="n"), "who", 1.0, 1.0, (), 9.75),
    ),
    tasks=(
        task("f1", "t2", mesos_pb2.TASK_STAGING, launched_time=1.0),
        task(
            "f1",
            "t1",
            mesos_pb2.TASK_STARTING,
            mesos_pb2.TASK_RUNNING,
            unacknowledged=2,
            pid=77,
            start_ticks=2**40,
            boot_id="boot",
            kill_requested=True,
            launched_time=2.0,
            preempted="set s is revoked",
        ),
    ),
    weights=(WeightRecord("eng/dev", 0.1), WeightRecord("gold", 2.5)),
    quotas=(
        QuotaRecord(quota_pb2.QuotaConfig(role="*", limits={"cpus": mesos_pb2.Value.Scalar(value=1000)})),
        QuotaRecord(quota_pb2.QuotaConfig(role="gold", guarantees={"mem": mesos_pb2.Value.Scalar(value=0.5)})),
    ),
)


def save(store: Store, state: State) -> None:
    assert state.agent is not None
    store.apply(
        [
            effects.SaveAgent(state.agent),
            *(effects.SaveConfig(record) for record in state.configs),
            *(effects.SaveProvider(record) for record in state.providers),
            *(effects.SaveFramework(record) for record in state.frameworks),
            *(effects.SaveTask(record) for record in state.tasks),
            *(effects.SaveWeight(record) for record in state.weights),
            *(effects.SaveQuota(record) for record in state.quotas),
        ]
    )


def test_a_new_database_holds_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    assert store.load() == State()
    store.close()


def test_everything_comes_back_after_a_restart(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    save(store, EVERYTHING)
    save(store, EVERYTHING)
    store.close()
    store = Store(str(tmp_path / "agent.db"))
    assert store.load() == EVERYTHING
    store.close()


def test_saving_again_replaces_and_removing_takes_statuses_along(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    save(store, EVERYTHING)
    newer = task("f1", "t1", mesos_pb2.TASK_FINISHED, launched_time=2.0)
    store.apply(
        [
            effects.SaveTask(newer),
            effects.RemoveTask("f1", "t2"),
            effects.RemoveTask("f1", "unknown"),
            effects.RemoveProvider("p2"),
            effects.RemoveFramework("f2"),
            effects.RemoveConfig("org.pinfold.rp.cpu", "host"),
            effects.RemoveQuota("gold"),
            effects.RemoveQuota("unknown"),
            effects.SaveWeight(WeightRecord("gold", 1.0)),
            effects.SaveAgent(AgentRecord("agent-1", "master-1")),
        ]
    )
    state = store.load()
    assert state.tasks == (newer,)
    assert [record.provider_id for record in state.providers] == ["p1"]
    assert [record.framework_id for record in state.frameworks] == ["f1"]
    assert state.configs == ()
    assert [record.config.role for record in state.quotas] == ["*"]
    assert [record.weight for record in state.weights] == [0.1, 1.0]
    assert state.agent == AgentRecord("agent-1", "master-1")
    store.close()
    with sqlite3.connect(tmp_path / "agent.db") as connection:
        assert connection.execute("SELECT count(*) FROM task_statuses").fetchone() == (1,)


def test_a_turn_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    save(store, EVERYTHING)
    broken = ConfigRecord(provider_info("other"), None)  # type: ignore[arg-type]  # NOT NULL
    with pytest.raises(StoreError):
        store.apply([effects.RemoveTask("f1", "t1"), effects.SaveConfig(broken)])
    assert store.load() == EVERYTHING
    store.close()


def test_a_full_disk_writes_nothing_and_the_store_goes_on(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    save(store, EVERYTHING)
    with store._database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    large = FrameworkRecord("f3", mesos_pb2.FrameworkInfo(user="u", name="x" * 1_000_000), None, 1.0, 1.0)
    with pytest.raises(StoreError, match="full"):
        store.apply([effects.RemoveTask("f1", "t1"), effects.SaveFramework(large)])
    assert store.load() == EVERYTHING
    store.apply([effects.RemoveTask("f1", "t1")])
    assert len(store.load().tasks) == 1
    store.close()


def test_one_bad_row_is_said_and_the_rest_is_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "agent.db"
    store = Store(str(path))
    save(store, EVERYTHING)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE providers SET info = x'ff' WHERE provider_id = 'p1'")
    store = Store(str(path))
    with caplog.at_level(logging.ERROR):
        state = store.load()
    assert [record.provider_id for record in state.providers] == ["p2"]
    assert state.tasks == EVERYTHING.tasks
    assert "providers" in caplog.text
    assert "'p1'" in caplog.text
    store.close()


def test_fields_of_a_newer_version_survive(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    store = Store(str(path))
    unknown = bytes.fromhex("f2ff0703616263")  # field 16382: "abc"
    info = mesos_pb2.ResourceProviderInfo()
    info.ParseFromString(provider_info().SerializeToString() + unknown)
    store.apply([effects.SaveProvider(ProviderRecord("p", info))])
    (record,) = store.load().providers
    store.apply([effects.SaveProvider(record)])
    store.close()
    with sqlite3.connect(path) as connection:
        (data,) = connection.execute("SELECT info FROM providers").fetchone()
    assert data.endswith(unknown)


def test_only_the_owner_may_read_the_state(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    save(store, EVERYTHING)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes
    assert "agent.db-wal" in modes
    store.close()


def test_two_agents_cannot_share_a_database(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "agent.db"))
    with pytest.raises(DatabaseError, match="in use"):
        Store(str(tmp_path / "agent.db"))
    store.close()
