"""The agent's schema history: linear, the same as the tables that the code uses, upgraded from each revision."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import migrations
from agent_api import tables
from agent_api.store import Store
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
