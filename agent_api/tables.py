"""The agent's tables as they are at the newest revision; `migrations/agent/versions` makes them.

Decides names and types only. Messages are kept as protobuf bytes: fields that a newer version wrote survive being
read and written by this one.
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = [
    "agent",
    "agent_attributes",
    "agent_resources",
    "configs",
    "frameworks",
    "metadata",
    "providers",
    "quotas",
    "task_statuses",
    "tasks",
    "weights",
]

metadata = sa.MetaData()

agent = sa.Table(
    "agent",
    metadata,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True),
    sa.Column("agent_id", sa.Text, nullable=False),
    sa.Column("master_id", sa.Text, nullable=False),
)

agent_resources = sa.Table(
    "agent_resources",
    metadata,
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("resource", sa.LargeBinary, nullable=False),
)

agent_attributes = sa.Table(
    "agent_attributes",
    metadata,
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("attribute", sa.LargeBinary, nullable=False),
)

configs = sa.Table(
    "configs",
    metadata,
    sa.Column("type", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("info", sa.LargeBinary, nullable=False),
    sa.Column("floor_cpus", sa.Integer, nullable=False),
)

providers = sa.Table(
    "providers",
    metadata,
    sa.Column("provider_id", sa.Text, primary_key=True),
    sa.Column("info", sa.LargeBinary, nullable=False),
    sa.Column("gone", sa.Boolean, nullable=False),
)

frameworks = sa.Table(
    "frameworks",
    metadata,
    sa.Column("framework_id", sa.Text, primary_key=True),
    sa.Column("info", sa.LargeBinary, nullable=False),
    sa.Column("principal", sa.Text),
    sa.Column("registered_time", sa.Float, nullable=False),
    sa.Column("reregistered_time", sa.Float, nullable=False),
    sa.Column("suppressed_roles", sa.JSON, nullable=False),
    sa.Column("removed_time", sa.Float),
)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("framework_id", sa.Text, primary_key=True),
    sa.Column("task_id", sa.Text, primary_key=True),
    sa.Column("task", sa.LargeBinary, nullable=False),
    sa.Column("state", sa.Integer, nullable=False),
    sa.Column("unacknowledged", sa.Integer, nullable=False),
    sa.Column("pid", sa.Integer),
    sa.Column("start_ticks", sa.Integer),
    sa.Column("boot_id", sa.Text),
    sa.Column("kill_requested", sa.Boolean, nullable=False),
    sa.Column("launched_time", sa.Float, nullable=False),
    sa.Column("preempted", sa.Text),
)

task_statuses = sa.Table(
    "task_statuses",
    metadata,
    sa.Column("framework_id", sa.Text, primary_key=True),
    sa.Column("task_id", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("status", sa.LargeBinary, nullable=False),
    sa.ForeignKeyConstraint(["framework_id", "task_id"], ["tasks.framework_id", "tasks.task_id"], ondelete="CASCADE"),
)

weights = sa.Table(
    "weights",
    metadata,
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("weight", sa.Float, nullable=False),
)

quotas = sa.Table(
    "quotas",
    metadata,
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("config", sa.LargeBinary, nullable=False),
)
