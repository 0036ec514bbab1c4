"""The provider's database: the only place that speaks SQL.

Decides nothing: it reads the committed state at start, and writes each change as one transaction. It returns
values, never rows. What was committed is what the provider answers for; what was not, did not happen.

`checkpoint(name)` is called before every statement and around every commit: a test makes it raise there, to see what
a process that dies at that point leaves behind.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

import sqlalchemy as sa

from agent_api.wire import mesos_pb2
from migrations.database import Database, open_database
from profiles.mapping import Profile, definition, profile_from_definition
from profiles.state import EMPTY, Known
from provider import cpuset, tables
from provider.errors import ProviderError
from provider.inventory import EXCLUSIVE, SHARED, Charge, CpuSet, RawKey, State
from provider.operations import Record
from provider.power_rules import Found

__all__ = ["KEPT_ACKNOWLEDGED", "Store", "StoreError", "Stored", "peek"]

log = logging.getLogger(__name__)

KEPT_ACKNOWLEDGED = 1000
"""How many acknowledged operations are remembered, so that one that is sent again is not done again."""


class StoreError(ProviderError):
    """A change could not be committed; nothing of it is stored."""


@dataclass(frozen=True, slots=True)
class Stored:
    """All that was committed."""

    provider_id: str | None
    version: bytes
    """The resource version, 16 bytes; b"" in a new database."""
    host_identity: str
    state: State
    operations: tuple[Record, ...]
    """Oldest first, acknowledged ones included."""
    profiles: Known
    power: Mapping[int, Found]
    """By CPU, what it had before it was changed first."""


class Store:
    """An open provider database. All changes go through it, each method is one transaction."""

    def __init__(self, path: str | os.PathLike[str], checkpoint: Callable[[str], None] = lambda name: None) -> None:
        """Raises `migrations.database.DatabaseError` where the file cannot be used."""
        self._database: Database = open_database(path, "provider")
        self._checkpoint = checkpoint

    def close(self) -> None:
        self._database.close()

    # -- reading ----------------------------------------------------------------------------------------------------

    def load(self) -> Stored:
        """The committed state. A row that cannot be read is left out and logged; it does not stop the rest."""
        with self._database.engine.begin() as connection:
            row = connection.execute(sa.select(tables.provider)).one_or_none()
            return Stored(
                provider_id=row.provider_id if row else None,
                version=row.resource_version if row else b"",
                host_identity=row.host_identity if row else "",
                state=State(
                    sets=MappingProxyType({one.id: one for one in _load_sets(connection)}),
                    reserved=MappingProxyType(_load_reserved(connection)),
                ),
                operations=tuple(_load_operations(connection)),
                profiles=_load_profiles(connection),
                power=_load_power(connection),
            )

    # -- writing ----------------------------------------------------------------------------------------------------

    def save_identity(self, provider_id: str | None, version: bytes, host_identity: str) -> None:
        """Store who we are, which resources version is in force, and on which host."""
        values = {"provider_id": provider_id, "resource_version": version, "host_identity": host_identity}
        with _Transaction(self) as execute:
            execute(tables.provider.delete())
            execute(tables.provider.insert().values(one=1, **values))

    def save_outcome(self, before: State, after: State, record: Record, settled: Iterable[int] = ()) -> None:
        """Store an operation's terminal status together with everything it changed; `settled` as in `forget_power`."""
        with _Transaction(self) as execute:
            _save_state(execute, before, after)
            _forget_power(execute, settled)
            execute(
                tables.operations.insert().values(
                    uuid=record.uuid,
                    framework_id=record.framework_id,
                    info=record.info.SerializePartialToString(),
                    status=record.status.SerializePartialToString(),
                    acknowledged=record.acknowledged,
                    finished=record.finished,
                )
            )

    def save_move(
        self, before: State, after: State, identity: tuple[str | None, bytes, str], settled: Iterable[int] = ()
    ) -> None:
        """Store that a set went elsewhere, and the resources version with it; `identity` as in `save_identity`."""
        names = ("provider_id", "resource_version", "host_identity")
        with _Transaction(self) as execute:
            _save_state(execute, before, after)
            _forget_power(execute, settled)
            execute(tables.provider.delete())
            execute(tables.provider.insert().values(one=1, **dict(zip(names, identity, strict=True))))

    def acknowledge(self, uuid: bytes, forget: Iterable[bytes] = ()) -> None:
        """Mark an operation acknowledged, and forget others that were long ago."""
        with _Transaction(self) as execute:
            execute(tables.operations.update().where(tables.operations.c.uuid == uuid).values(acknowledged=True))
            for old in forget:
                execute(tables.operations.delete().where(tables.operations.c.uuid == old))

    def save_profiles(self, known: Known) -> None:
        with _Transaction(self) as execute:
            execute(tables.profiles.delete())
            execute(tables.profiles.insert().values(one=1, content=known.to_json()))

    def save_power(self, found: Mapping[int, Found]) -> None:
        """Store what CPUs have, before it is changed."""
        with _Transaction(self) as execute:
            _forget_power(execute, found)
            for cpu, one in found.items():
                text = json.dumps(dict(one.settings), sort_keys=True)
                execute(tables.power.insert().values(cpu=cpu, settings=text, boot=one.boot))

    def forget_power(self, settled: Iterable[int]) -> None:
        """These CPUs have again what they had."""
        with _Transaction(self) as execute:
            _forget_power(execute, settled)


def _forget_power(execute: Callable[[sa.Executable], None], cpus: Iterable[int]) -> None:
    for cpu in cpus:
        execute(tables.power.delete().where(tables.power.c.cpu == cpu))


class _Transaction:
    """One transaction with checkpoints; a database error becomes StoreError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._context = store._database.engine.begin()

    def __enter__(self) -> Callable[[sa.Executable], None]:
        checkpoint = self._store._checkpoint
        try:
            connection = self._context.__enter__()
        except sa.exc.DBAPIError as error:
            raise StoreError(f"the database cannot be written: {error.orig}") from error

        def execute(statement: sa.Executable) -> None:
            checkpoint("store: statement")
            connection.execute(statement)

        return execute

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._store._checkpoint("store: commit")
        except BaseException as stopped:
            self._context.__exit__(type(stopped), stopped, stopped.__traceback__)
            raise
        try:
            self._context.__exit__(kind, error, trace)  # type: ignore[arg-type]
        except sa.exc.DBAPIError as failure:
            raise StoreError(f"the database cannot be written: {failure.orig}") from failure
        if error is None:
            self._store._checkpoint("store: committed")
        if isinstance(error, sa.exc.DBAPIError):
            raise StoreError(f"the database cannot be written: {error.orig}") from error


def _save_state(execute: Callable[[sa.Executable], None], before: State, after: State) -> None:
    for set_id in before.sets.keys() - after.sets.keys():
        execute(tables.sets.delete().where(tables.sets.c.id == set_id))
    for set_id, one in after.sets.items():
        if before.sets.get(set_id) == one:
            continue
        if set_id in before.sets:
            execute(tables.sets.delete().where(tables.sets.c.id == set_id))
        execute(
            tables.sets.insert().values(
                id=one.id,
                profile=one.profile.name,
                definition=definition(one.profile),
                role=one.role,
                framework_id=one.framework_id,
                cpus=cpuset.format_mask(one.cpus),
                blocked=cpuset.format_mask(one.blocked),
                mems=cpuset.format_mask(one.mems),
                burst=one.burst,
                created=one.created,
                revocable=one.revocable,
            )
        )
        for position, charge in enumerate(one.charges):
            execute(
                tables.charges.insert().values(
                    set_id=one.id,
                    zone=charge.zone,
                    reservations=charge.stack,
                    cpus=charge.cpus,
                    position=position,
                )
            )
    for key in before.reserved.keys() | after.reserved.keys():
        if before.reserved.get(key) == after.reserved.get(key):
            continue
        zone, pool, stack = key
        columns = tables.reservations.c
        execute(
            tables.reservations.delete().where(
                columns.zone == zone, columns.pool == pool, columns.reservations == stack
            )
        )
        if key in after.reserved:
            execute(
                tables.reservations.insert().values(zone=zone, pool=pool, reservations=stack, cpus=after.reserved[key])
            )


def _load_sets(connection: sa.Connection) -> Iterable[CpuSet]:
    charges: dict[str, list[Charge]] = {}
    for row in connection.execute(sa.select(tables.charges).order_by(tables.charges.c.position)):
        charges.setdefault(row.set_id, []).append(Charge(row.zone, row.reservations, row.cpus))
    for row in connection.execute(sa.select(tables.sets).order_by(tables.sets.c.created, tables.sets.c.id)):
        try:
            cpus, blocked = cpuset.parse(row.cpus), cpuset.parse(row.blocked)
            mems = cpuset.parse(row.mems)
        except ValueError as error:
            log.error("set %s in the database cannot be read and is left out: %s", row.id, error)
            continue
        try:
            profile = profile_from_definition(row.definition)
        except ValueError as error:
            # Its CPUs must stay held, whatever its profile was.
            log.error("set %s: its profile cannot be read, it is kept with defaults: %s", row.id, error)
            profile = Profile(name=row.profile, mode=EXCLUSIVE if cpus else SHARED)
        yield CpuSet(
            id=row.id,
            profile=profile,
            role=row.role,
            framework_id=row.framework_id,
            cpus=cpus,
            blocked=blocked,
            mems=mems,
            charges=tuple(charges.get(row.id, ())),
            burst=row.burst,
            created=row.created,
            revocable=row.revocable,
        )


def _load_reserved(connection: sa.Connection) -> dict[RawKey, int]:
    rows = connection.execute(sa.select(tables.reservations)).all()
    return dict(sorted(((row.zone, row.pool, row.reservations), row.cpus) for row in rows))


def _load_operations(connection: sa.Connection) -> Iterable[Record]:
    for row in connection.execute(sa.select(tables.operations).order_by(tables.operations.c.sequence)):
        info, status = mesos_pb2.Offer.Operation(), mesos_pb2.OperationStatus()
        try:
            info.MergeFromString(row.info)
            status.MergeFromString(row.status)
        except Exception as error:  # protobuf's DecodeError has no common base over its versions
            log.error("operation %s in the database cannot be read and is left out: %s", row.uuid.hex(), error)
            continue
        yield Record(row.uuid, row.framework_id, info, status, row.acknowledged, row.finished)


def _load_profiles(connection: sa.Connection) -> Known:
    row = connection.execute(sa.select(tables.profiles)).one_or_none()
    if row is None:
        return EMPTY
    try:
        return Known.from_json(row.content)
    except ValueError as error:
        log.error("the profiles in the database cannot be read; they are fetched anew: %s", error)
        return EMPTY


def _load_power(connection: sa.Connection) -> Mapping[int, Found]:
    found: dict[int, Found] = {}
    for row in connection.execute(sa.select(tables.power).order_by(tables.power.c.cpu)):
        try:
            settings = {str(file): str(text) for file, text in json.loads(row.settings).items()}
        except (ValueError, AttributeError) as error:
            log.error(
                "the power settings of CPU %d in the database cannot be read and are left out: %s", row.cpu, error
            )
            continue
        found[row.cpu] = Found(settings, row.boot)
    return found


def peek(path: str | os.PathLike[str]) -> State:
    """The committed sets and reservations of a database that another process may have open. Changes nothing.

    Raises StoreError where it cannot be read (another schema, damaged).
    """
    name = f"file:{quote(os.fspath(path))}?mode=ro"
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(name, uri=True))
    try:
        with engine.connect() as connection:
            sets = {one.id: one for one in _load_sets(connection)}
            return State(MappingProxyType(sets), MappingProxyType(_load_reserved(connection)))
    except sa.exc.DBAPIError as error:
        raise StoreError(f"{path} cannot be read: {error.orig}") from error
    finally:
        engine.dispose()
