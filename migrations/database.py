"""Opens the two state databases: makes, checks, backs up and upgrades them.

Decides whether a file may be used: one process at a time, intact, ours, and not from a newer version. It never
reads or writes what the tables hold (`agent_api.store` and `provider.store` do), and it never repairs or removes
a database: what it cannot open it leaves as it is, and says what to do.

Each history (`migrations/agent`, `migrations/provider`) is an alembic environment; its `env.py` finds the
connection to use in `context.config.attributes["connection"]` and must run inside that connection's transaction.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

__all__ = ["Database", "DatabaseError", "head", "open_database", "upgrade"]

log = logging.getLogger(__name__)


class DatabaseError(Exception):
    """The database cannot be used; the message names the file, the reason and the step to take."""


class Database:
    """An open database. It is owned by this process until `close`."""

    def __init__(self, engine: sa.Engine, lock: int) -> None:
        self.engine = engine
        """Every connection has foreign keys on, WAL and synchronous=FULL; a transaction takes the write lock at
        its start (BEGIN IMMEDIATE), so what it has read cannot be outdated when it writes."""
        self._lock = lock

    def close(self) -> None:
        """Close all connections and give the file up. Does nothing the second time."""
        self.engine.dispose()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def open_database(path: str | os.PathLike[str], history: str) -> Database:
    """Open the database at `path` as one of the `history` "agent" or "provider".

    A missing file is made (under another name, then renamed: a half-made one is never seen). An older schema is
    backed up to `PATH.backup-REVISION` and upgraded in one transaction. Raises DatabaseError where another
    process has it open, where it is damaged or of 0 bytes, of another program, of the other history, or newer than
    this version of Pinfold; then the file is unchanged.
    """
    path = Path(path)
    lock = _take_lock(path)
    try:
        if not path.exists():
            _create(path, history)
        revision = _inspect(path, history)
        engine = _engine(path)
        if revision != head(history):
            _back_up(path, revision)
            _upgrade_engine(engine, history)
            log.info("database %s upgraded from revision %s to %s", path, revision, head(history))
    except BaseException:
        os.close(lock)
        raise
    return Database(engine, lock)


def head(history: str) -> str:
    """The newest revision of a history."""
    revision = ScriptDirectory.from_config(_config(history)).get_current_head()
    if revision is None:
        raise DatabaseError(f"the history {history!r} has no revision")
    return revision


def upgrade(connection: sa.Connection, history: str, revision: str = "head") -> None:
    """Bring the schema on `connection` to `revision`, inside the connection's transaction."""
    config = _config(history)
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config(history: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / history).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _take_lock(path: Path) -> int:
    """Own the database by a lock on a file beside it (SQLite's own locks come and go with each transaction)."""
    name = f"{path}.lock"
    try:
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DatabaseError(
            f"cannot use {path}: {name}: {error.strerror}; the directory must exist and be writable"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
        os.close(lock)
        raise DatabaseError(
            f"{path} is in use by another process{f' (pid {holder})' if holder else ''}; "
            "stop it, or use another work directory"
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _create(path: Path, history: str) -> None:
    fresh = path.with_name(path.name + ".new")
    for leftover in (fresh, Path(f"{fresh}-wal"), Path(f"{fresh}-shm"), Path(f"{fresh}-journal")):
        leftover.unlink(missing_ok=True)
    engine = _engine(fresh)
    try:
        _upgrade_engine(engine, history)
    except (sa.exc.OperationalError, sqlite3.OperationalError) as error:
        raise DatabaseError(f"cannot make {path}: {error}") from error
    finally:
        engine.dispose()
    # The last connection has folded the WAL into the file; only then is it given its name.
    _sync(fresh)
    fresh.rename(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _inspect(path: Path, history: str) -> str:
    """Check the file without changing it, and return its revision."""
    backups = sorted(str(name) for name in path.parent.glob(f"{path.name}.backup-*"))
    step = (
        f"Restore a copy of it{f' (there is {backups[-1]})' if backups else ''}, "
        f"or start afresh without its state: mv {path} {path}.damaged"
    )
    if path.stat().st_size == 0:
        raise DatabaseError(f"{path} is damaged: it has 0 bytes. It was left as it is. {step}")
    try:
        connection = sqlite3.connect(path)
        try:
            result = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            revisions = (
                [row[0] for row in connection.execute("SELECT version_num FROM alembic_version")]
                if "alembic_version" in tables
                else []
            )
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        raise DatabaseError(f"cannot read {path}: {error}. It was left as it is") from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path} is damaged: {error}. It was left as it is. {step}") from error
    if result != ["ok"]:
        raise DatabaseError(f"{path} is damaged: {'; '.join(result)}. It was left as it is. {step}")
    if len(revisions) != 1:
        raise DatabaseError(
            f"{path} is no database of Pinfold (tables: {', '.join(sorted(tables)) or 'none'}). It was left as it is"
        )
    known = {script.revision for script in ScriptDirectory.from_config(_config(history)).walk_revisions()}
    if revisions[0] not in known:
        raise DatabaseError(
            f"{path} has the schema revision {revisions[0]!r}, which this version of Pinfold does not know as "
            f"one of its {history} databases (its newest is {head(history)!r}): it was written by a newer version "
            "or is another program's. It was left as it is; use the version that wrote it"
        )
    return str(revisions[0])


def _back_up(path: Path, revision: str) -> None:
    target = path.with_name(f"{path.name}.backup-{revision}")
    partial = target.with_name(target.name + ".part")
    partial.unlink(missing_ok=True)
    source = sqlite3.connect(path)
    copy = sqlite3.connect(partial)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()
    _sync(partial)
    partial.rename(target)
    log.info("database %s backed up to %s", path, target)


def _engine(path: Path) -> sa.Engine:
    # Not as text: a path may hold characters that mean something in a URL.
    url = sa.URL.create("sqlite", database=str(path))
    engine = sa.create_engine(url, connect_args={"timeout": 5.0})

    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: sqlite3.Connection, _record: Any) -> None:
        # Transactions are begun by _on_begin; the driver's own ones would commit before each DDL statement.
        connection.isolation_level = None
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _on_begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _upgrade_engine(engine: sa.Engine, history: str) -> None:
    with engine.begin() as connection:
        upgrade(connection, history)
