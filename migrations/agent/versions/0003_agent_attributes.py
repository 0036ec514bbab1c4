"""The agent's attributes, so that a start can tell what it would take away.

Revision agent_0003, after agent_0002. One new table; what was there is not touched. There is no way down: an older
version refuses a newer database, and the copy made before an upgrade is the way back.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "agent_0003"
down_revision = "agent_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agent_attributes",
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("attribute", sa.LargeBinary, nullable=False),
    )
