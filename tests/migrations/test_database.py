"""Opening a database: who may, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from migrations import database
from migrations.database import DatabaseError, open_database

HISTORIES = ["agent", "provider"]


def content(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize("history", HISTORIES)
def test_a_missing_file_is_made_at_head_with_the_durable_settings(tmp_path: Path, history: str) -> None:
    path = tmp_path / "state.db"
    opened = open_database(path, history)
    try:
        with opened.engine.begin() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
            version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
        assert version == database.head(history)
    finally:
        opened.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["state.db", "state.db.lock"]


def test_a_second_process_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    opened = open_database(path, "agent")
    code = (
        "import sys\nfrom migrations.database import *\n"
        "try:\n    open_database(sys.argv[1], 'agent')\nexcept DatabaseError as error:\n    print(error); sys.exit(7)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 7, run.stderr
    import os

    assert f"in use by another process (pid {os.getpid()})" in run.stdout
    opened.close()
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")


def damage_cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def damage_zero_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:8192] = bytes(4096)
    path.write_bytes(bytes(data))


def damage_text(path: Path) -> None:
    path.write_text("this is not a database, " * 300)


@pytest.mark.parametrize("damage", [damage_empty, damage_cut, damage_zero_page, damage_text])
def test_a_damaged_file_is_left_as_it_is_and_the_step_is_named(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "state.db"
    open_database(path, "agent").close()
    damage(path)  # type: ignore[operator]
    before = content(path)
    with pytest.raises(DatabaseError, match=r"is damaged: .*mv .*state\.db .*state\.db\.damaged"):
        open_database(path, "agent")
    assert content(path) == before
    # The step that the message names works.
    path.rename(f"{path}.damaged")
    open_database(path, "agent").close()


def test_a_newer_one_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    open_database(path, "provider").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = content(path)
    with pytest.raises(DatabaseError, match=r"revision '9999'.*newer version"):
        open_database(path, "provider")
    assert content(path) == before
    assert not list(tmp_path.glob("*.backup-*"))


def test_the_other_history_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    open_database(path, "provider").close()
    with pytest.raises(DatabaseError, match="does not know as one of its agent databases"):
        open_database(path, "agent")


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    before = content(path)
    with pytest.raises(DatabaseError, match=r"no database of Pinfold .tables: songs"):
        open_database(path, "agent")
    assert content(path) == before


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nowhere.*must exist and be writable"):
        open_database(tmp_path / "nowhere" / "state.db", "agent")


@pytest.mark.parametrize("name", ["a?b", "x%20y", "%2E", "ä #1", "q?mode=memory"])
def test_any_path_is_a_path(tmp_path: Path, name: str) -> None:
    directory = tmp_path / name
    directory.mkdir()
    open_database(directory / "state.db", "agent").close()
    assert (directory / "state.db").stat().st_size > 0
    open_database(directory / "state.db", "agent").close()


def test_a_missing_wal_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    open_database(path, "agent").close()
    for name in ("-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    open_database(path, "agent").close()


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    opened = open_database(tmp_path / "state.db", "agent")
    with pytest.raises(sa.exc.OperationalError), opened.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE half (x INTEGER)")
        connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")
    with opened.engine.begin() as connection:
        tables = sa.inspect(connection).get_table_names()
    assert "half" not in tables
    opened.close()
