"""The agent's state in its database: reads all of it at start, writes what one turn of the core changed.

Holds the only SQL of the agent. Decides nothing about the state: a record is written as it is given. A row that
cannot be read is left alone and said, the others are used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from google.protobuf.message import DecodeError, Message
from sqlalchemy.dialects.sqlite import insert

from agent_api import tables
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
from agent_api.wire import mesos_pb2, quota_pb2
from migrations.database import Database, open_database

__all__ = ["Change", "Store", "StoreError", "is_change"]

log = logging.getLogger(__name__)

Change = (
    effects.SaveAgent
    | effects.SaveConfig
    | effects.RemoveConfig
    | effects.SaveProvider
    | effects.RemoveProvider
    | effects.SaveFramework
    | effects.RemoveFramework
    | effects.SaveTask
    | effects.RemoveTask
    | effects.SaveWeight
    | effects.SaveQuota
    | effects.RemoveQuota
)

M = TypeVar("M", bound=Message)
R = TypeVar("R")


def is_change(effect: effects.Effect) -> bool:
    """Whether an effect is for the store (the others go to the world)."""
    return isinstance(effect, Change)


class StoreError(Exception):
    """The database did not take a change: nothing of that transaction is written."""


class Store:
    """The open database. Made by one process at a time; see `migrations.database.open_database` for its errors."""

    def __init__(self, path: str) -> None:
        self._database: Database = open_database(path, "agent")
        # It holds what only the operator may read: environments of tasks, credentials in URIs. SQLite gives the
        # files beside it the same mode.
        Path(path).chmod(0o600)

    def close(self) -> None:
        self._database.close()

    def load(self) -> State:
        """Everything, in the order of keys (tasks in the order of their launch)."""
        with self._database.engine.begin() as connection:
            return State(
                agent=_load_agent(connection),
                configs=_read(connection, tables.configs, _config),
                providers=_read(connection, tables.providers, _provider),
                frameworks=_read(connection, tables.frameworks, _framework),
                tasks=_load_tasks(connection),
                weights=_read(connection, tables.weights, lambda row: WeightRecord(row.role, row.weight)),
                quotas=_read(connection, tables.quotas, _quota),
            )

    def apply(self, changes: Iterable[Change]) -> None:
        """Write all of it in one transaction, in this order. Raises StoreError, and then none is written."""
        changes = list(changes)
        if not changes:
            return
        try:
            with self._database.engine.begin() as connection:
                for change in changes:
                    _APPLY[type(change)](connection, change)
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(str(error)) from error


def _parse(cls: type[M], data: bytes) -> M:
    message = cls()
    message.ParseFromString(data)
    return message


def _read(connection: sa.Connection, table: sa.Table, build: Callable[[Any], R]) -> tuple[R, ...]:
    """Build a record of each row. One that does not parse is said at ERROR and left out."""
    found = []
    keys = list(table.primary_key.columns)
    for row in connection.execute(sa.select(table).order_by(*keys)):
        try:
            found.append(build(row))
        except (DecodeError, ValueError, TypeError) as error:
            key = ", ".join(f"{column.name}={row._mapping[column.name]!r}" for column in keys)
            log.error("a row of table %s (%s) cannot be read and is left out: %s", table.name, key, error)
    return tuple(found)


def _load_agent(connection: sa.Connection) -> AgentRecord | None:
    row = connection.execute(sa.select(tables.agent)).one_or_none()
    if row is None:
        return None
    resources = _read(connection, tables.agent_resources, lambda found: _parse(mesos_pb2.Resource, found.resource))
    attributes = _read(connection, tables.agent_attributes, lambda found: _parse(mesos_pb2.Attribute, found.attribute))
    return AgentRecord(row.agent_id, row.master_id, resources, attributes)


def _config(row: Any) -> ConfigRecord:
    return ConfigRecord(_parse(mesos_pb2.ResourceProviderInfo, row.info), row.floor_cpus)


def _provider(row: Any) -> ProviderRecord:
    return ProviderRecord(row.provider_id, _parse(mesos_pb2.ResourceProviderInfo, row.info), row.gone)


def _quota(row: Any) -> QuotaRecord:
    return QuotaRecord(_parse(quota_pb2.QuotaConfig, row.config))


def _framework(row: Any) -> FrameworkRecord:
    return FrameworkRecord(
        row.framework_id,
        _parse(mesos_pb2.FrameworkInfo, row.info),
        row.principal,
        row.registered_time,
        row.reregistered_time,
        tuple(row.suppressed_roles),
        row.removed_time,
    )


def _load_tasks(connection: sa.Connection) -> tuple[TaskRecord, ...]:
    statuses: dict[tuple[str, str], list[mesos_pb2.TaskStatus]] = {}
    for key, status in _read(
        connection,
        tables.task_statuses,
        lambda row: ((row.framework_id, row.task_id), _parse(mesos_pb2.TaskStatus, row.status)),
    ):
        statuses.setdefault(key, []).append(status)

    def task(row: Any) -> TaskRecord:
        known = tuple(statuses.get((row.framework_id, row.task_id), ()))
        return TaskRecord(
            framework_id=row.framework_id,
            task=_parse(mesos_pb2.TaskInfo, row.task),
            state=row.state,
            statuses=known,
            unacknowledged=min(row.unacknowledged, len(known)),
            pid=row.pid,
            start_ticks=row.start_ticks,
            boot_id=row.boot_id,
            kill_requested=row.kill_requested,
            launched_time=row.launched_time,
            preempted=row.preempted,
        )

    return tuple(sorted(_read(connection, tables.tasks, task), key=lambda record: record.launched_time))


def _upsert(connection: sa.Connection, table: sa.Table, **values: Any) -> None:
    """Insert or update in place (never delete and insert: that would take the rows that refer to it along)."""
    keys = [column.name for column in table.primary_key.columns]
    statement = insert(table).values(**values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=keys, set_={name: value for name, value in values.items() if name not in keys}
        )
    )


def _save_agent(connection: sa.Connection, change: effects.SaveAgent) -> None:
    record = change.record
    _upsert(connection, tables.agent, id=1, agent_id=record.agent_id, master_id=record.master_id)
    for table, column, messages in (
        (tables.agent_resources, "resource", record.resources),
        (tables.agent_attributes, "attribute", record.attributes),
    ):
        connection.execute(sa.delete(table))
        rows = [
            {"position": position, column: message.SerializeToString(deterministic=True)}
            for position, message in enumerate(messages)
        ]
        if rows:
            connection.execute(sa.insert(table), rows)


def _save_config(connection: sa.Connection, change: effects.SaveConfig) -> None:
    info = change.record.info
    _upsert(
        connection,
        tables.configs,
        type=info.type,
        name=info.name,
        info=info.SerializeToString(deterministic=True),
        floor_cpus=change.record.floor_cpus,
    )


def _remove_config(connection: sa.Connection, change: effects.RemoveConfig) -> None:
    table = tables.configs
    connection.execute(sa.delete(table).where(table.c.type == change.type, table.c.name == change.name))


def _save_provider(connection: sa.Connection, change: effects.SaveProvider) -> None:
    record = change.record
    _upsert(
        connection,
        tables.providers,
        provider_id=record.provider_id,
        info=record.info.SerializeToString(deterministic=True),
        gone=record.gone,
    )


def _remove_provider(connection: sa.Connection, change: effects.RemoveProvider) -> None:
    table = tables.providers
    connection.execute(sa.delete(table).where(table.c.provider_id == change.provider_id))


def _save_framework(connection: sa.Connection, change: effects.SaveFramework) -> None:
    record = change.record
    _upsert(
        connection,
        tables.frameworks,
        framework_id=record.framework_id,
        info=record.info.SerializeToString(deterministic=True),
        principal=record.principal,
        registered_time=record.registered_time,
        reregistered_time=record.reregistered_time,
        suppressed_roles=list(record.suppressed_roles),
        removed_time=record.removed_time,
    )


def _remove_framework(connection: sa.Connection, change: effects.RemoveFramework) -> None:
    table = tables.frameworks
    connection.execute(sa.delete(table).where(table.c.framework_id == change.framework_id))


def _save_task(connection: sa.Connection, change: effects.SaveTask) -> None:
    record = change.record
    key = {"framework_id": record.framework_id, "task_id": record.task.task_id.value}
    _upsert(
        connection,
        tables.tasks,
        **key,
        task=record.task.SerializeToString(deterministic=True),
        state=record.state,
        unacknowledged=record.unacknowledged,
        pid=record.pid,
        start_ticks=record.start_ticks,
        boot_id=record.boot_id,
        kill_requested=record.kill_requested,
        launched_time=record.launched_time,
        preempted=record.preempted,
    )
    table = tables.task_statuses
    connection.execute(
        sa.delete(table).where(table.c.framework_id == key["framework_id"], table.c.task_id == key["task_id"])
    )
    if record.statuses:
        connection.execute(
            sa.insert(table),
            [
                {**key, "position": position, "status": status.SerializeToString(deterministic=True)}
                for position, status in enumerate(record.statuses)
            ],
        )


def _remove_task(connection: sa.Connection, change: effects.RemoveTask) -> None:
    table = tables.tasks
    connection.execute(
        sa.delete(table).where(table.c.framework_id == change.framework_id, table.c.task_id == change.task_id)
    )


def _save_weight(connection: sa.Connection, change: effects.SaveWeight) -> None:
    _upsert(connection, tables.weights, role=change.record.role, weight=change.record.weight)


def _save_quota(connection: sa.Connection, change: effects.SaveQuota) -> None:
    config = change.record.config
    _upsert(connection, tables.quotas, role=config.role, config=config.SerializeToString(deterministic=True))


def _remove_quota(connection: sa.Connection, change: effects.RemoveQuota) -> None:
    connection.execute(sa.delete(tables.quotas).where(tables.quotas.c.role == change.role))


_APPLY: dict[type, Callable[[sa.Connection, Any], None]] = {
    effects.SaveAgent: _save_agent,
    effects.SaveConfig: _save_config,
    effects.RemoveConfig: _remove_config,
    effects.SaveProvider: _save_provider,
    effects.RemoveProvider: _remove_provider,
    effects.SaveFramework: _save_framework,
    effects.RemoveFramework: _remove_framework,
    effects.SaveTask: _save_task,
    effects.RemoveTask: _remove_task,
    effects.SaveWeight: _save_weight,
    effects.SaveQuota: _save_quota,
    effects.RemoveQuota: _remove_quota,
}
