"""Weights and quotas of roles.

Revision agent_0002, after agent_0001. Two new tables; what was there is not touched. There is no way down: an older
version refuses a newer database, and the copy made before an upgrade is the way back.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "agent_0002"
down_revision = "agent_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "weights",
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("weight", sa.Float, nullable=False),
    )
    op.create_table(
        "quotas",
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("config", sa.LargeBinary, nullable=False),
    )
