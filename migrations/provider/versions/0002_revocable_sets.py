"""Sets made of revocable RAW are told from the others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "p0002"
down_revision = "p0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not as a batch: a table that is made anew would take the charges of its sets with it.
    op.add_column(
        "sets", sa.Column("revocable", sa.Boolean(create_constraint=False), nullable=False, server_default=sa.false())
    )


def downgrade() -> None:
    raise NotImplementedError("a provider database is never downgraded; restore the backup made before the upgrade")
