"""The agent's schema history: linear, the same as the tables that the code uses, upgraded from each revision."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import migrations
from agent_api import tables
from agent_api.core.effects import SaveAgent, SaveQuota, SaveWeight
from agent_api.core.records import (
    AgentRecord,
    ConfigRecord,
    FrameworkRecord,
    ProviderRecord,
    QuotaRecord,
    TaskRecord,
    WeightRecord,
)
from agent_api.store import Store
from agent_api.wire import mesos_pb2, quota_pb2
from migrations.database import DatabaseError, head, open_database, upgrade


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent / "agent"))
    return ScriptDirectory.from_config(config)


def test_the_history_is_one_line() -> None:
    assert len(scripts().get_heads()) == 1
    assert len(scripts().get_bases()) == 1
    assert all(not revision.is_merge_point for revision in scripts().walk_revisions())


def test_the_newest_revision_is_what_the_code_uses(tmp_path: Path) -> None:
    database = open_database(tmp_path / "agent.db", "agent")
    with database.engine.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
        assert compare_metadata(context, tables.metadata) == []
    database.close()


@pytest.mark.parametrize("revision", [script.revision for script in scripts().walk_revisions()])
def test_a_database_of_each_revision_opens(tmp_path: Path, revision: str) -> None:
    path = tmp_path / "agent.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        upgrade(connection, "agent", revision)
    engine.dispose()
    store = Store(str(path))
    assert store.load().agent is None
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(head("agent"),)]


def test_what_agent_0001_held_is_there_after_the_upgrade(tmp_path: Path) -> None:
    """Every table of agent_0001 with a row in it, as that version wrote them."""
    path = tmp_path / "agent.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        upgrade(connection, "agent", "agent_0001")
    engine.dispose()
    cpus = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR, scalar=mesos_pb2.Value.Scalar(value=8))
    config = mesos_pb2.ResourceProviderInfo(type="org.pinfold.rp.cpu", name="host")
    info = mesos_pb2.FrameworkInfo(user="u", name="n")
    task = mesos_pb2.TaskInfo(name="t", task_id=mesos_pb2.TaskID(value="t"), agent_id=mesos_pb2.AgentID(value="a-S0"))
    status = mesos_pb2.TaskStatus(task_id=task.task_id, state=mesos_pb2.TASK_RUNNING)
    rows: dict[str, tuple[object, ...]] = {
        "agent": (1, "a-S0", "a"),
        "agent_resources": (0, cpus.SerializeToString()),
        "configs": (config.type, config.name, config.SerializeToString(), 4),
        "providers": ("p", config.SerializeToString(), 0),
        "frameworks": ("f", info.SerializeToString(), None, 1.0, 2.0, '["gold"]', None),
        "tasks": ("f", "t", task.SerializeToString(), int(mesos_pb2.TASK_RUNNING), 1, 77, 5, "boot", 0, 3.0),
        "task_statuses": ("f", "t", 0, status.SerializeToString()),
    }
    with sqlite3.connect(path) as database:
        tables_then = {n for (n,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables_then == {*rows, "alembic_version"}
        for table, row in rows.items():
            database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    database.close()
    store = Store(str(path))
    state = store.load()
    assert state.agent == AgentRecord("a-S0", "a", (cpus,))
    assert state.configs == (ConfigRecord(config, 4),)
    assert state.providers == (ProviderRecord("p", config),)
    assert state.frameworks == (FrameworkRecord("f", info, None, 1.0, 2.0, ("gold",)),)
    assert state.tasks == (
        TaskRecord("f", task, mesos_pb2.TASK_RUNNING, (status,), 1, 77, 5, "boot", launched_time=3.0),
    )
    assert state.weights == () and state.quotas == ()
    quota = QuotaRecord(quota_pb2.QuotaConfig(role="gold"))
    store.apply([SaveWeight(WeightRecord("gold", 2.5)), SaveQuota(quota)])
    store.close()
    store = Store(str(path))
    assert store.load() == replace(state, weights=(WeightRecord("gold", 2.5),), quotas=(quota,))
    store.close()
    (copy,) = [p for p in tmp_path.iterdir() if "agent_0001" in p.name]
    with sqlite3.connect(copy) as database:
        assert database.execute("SELECT agent_id FROM agent").fetchall() == [("a-S0",)]
    database.close()


def test_what_agent_0002_held_is_there_after_the_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        upgrade(connection, "agent", "agent_0002")
    engine.dispose()
    cpus = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR, scalar=mesos_pb2.Value.Scalar(value=8))
    quota = quota_pb2.QuotaConfig(role="gold")
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO agent VALUES (1, 'a-S0', 'a')")
        database.execute("INSERT INTO agent_resources VALUES (0, ?)", (cpus.SerializeToString(),))
        database.execute("INSERT INTO weights VALUES ('gold', 2.5)")
        database.execute("INSERT INTO quotas VALUES ('gold', ?)", (quota.SerializeToString(),))
    database.close()
    store = Store(str(path))
    state = store.load()
    assert state.agent == AgentRecord("a-S0", "a", (cpus,))
    assert (state.weights, state.quotas) == ((WeightRecord("gold", 2.5),), (QuotaRecord(quota),))
    text = mesos_pb2.Value.Text(value="r7")
    rack = mesos_pb2.Attribute(name="rack", type=mesos_pb2.Value.TEXT, text=text)
    for attributes in ((rack,), (rack, rack), ()):
        record = replace(state.agent, attributes=attributes)
        store.apply([SaveAgent(record)])
        assert store.load() == replace(state, agent=record)
    store.close()


def test_a_newer_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    open_database(path, "agent").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match=r"9999.*newer"):
        Store(str(path))
    assert path.read_bytes() == before


def test_the_providers_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "provider.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('p0001')")
    connection.close()
    with pytest.raises(DatabaseError, match="p0001"):
        Store(str(path))
