"""Why the agent itself ends a task, where its set was revoked.

Revision agent_0004, after agent_0003. One column that may be empty; what was there is not touched.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "agent_0004"
down_revision = "agent_0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not as a batch: a table that is made anew would take the statuses of its tasks with it.
    op.add_column("tasks", sa.Column("preempted", sa.Text))
