"""First tables.

Revision agent_0001, after nothing. There is no way down: an older version refuses a newer database, and the copy made
before an upgrade is the way back.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "agent_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agent",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("master_id", sa.Text, nullable=False),
    )
    op.create_table(
        "agent_resources",
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("resource", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "configs",
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("info", sa.LargeBinary, nullable=False),
        sa.Column("floor_cpus", sa.Integer, nullable=False),
    )
    op.create_table(
        "providers",
        sa.Column("provider_id", sa.Text, primary_key=True),
        sa.Column("info", sa.LargeBinary, nullable=False),
        sa.Column("gone", sa.Boolean, nullable=False),
    )
    op.create_table(
        "frameworks",
        sa.Column("framework_id", sa.Text, primary_key=True),
        sa.Column("info", sa.LargeBinary, nullable=False),
        sa.Column("principal", sa.Text),
        sa.Column("registered_time", sa.Float, nullable=False),
        sa.Column("reregistered_time", sa.Float, nullable=False),
        sa.Column("suppressed_roles", sa.JSON, nullable=False),
        sa.Column("removed_time", sa.Float),
    )
    op.create_table(
        "tasks",
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
    )
    op.create_table(
        "task_statuses",
        sa.Column("framework_id", sa.Text, primary_key=True),
        sa.Column("task_id", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("status", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["framework_id", "task_id"], ["tasks.framework_id", "tasks.task_id"], ondelete="CASCADE"
        ),
    )
