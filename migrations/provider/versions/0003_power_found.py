"""The cpufreq settings that CPUs had before a set changed them.

Revision p0003, after p0002. One new table; what was there is not touched. There is no way down: an older version
refuses a newer database, and the copy made before an upgrade is the way back.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "p0003"
down_revision = "p0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "power_found",
        sa.Column("cpu", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("boot", sa.Text, nullable=False),
    )


def downgrade() -> None:
    raise NotImplementedError("a provider database is never downgraded; restore the backup made before the upgrade")
