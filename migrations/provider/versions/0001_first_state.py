"""The first schema: sets with their charges, reservations, operations, profiles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "p0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "provider",
        sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1", name="one_row"), primary_key=True),
        sa.Column("provider_id", sa.Text),
        sa.Column("resource_version", sa.LargeBinary, nullable=False),
        sa.Column("host_identity", sa.Text, nullable=False),
    )
    op.create_table(
        "sets",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("profile", sa.Text, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("framework_id", sa.Text),
        sa.Column("cpus", sa.Text, nullable=False),
        sa.Column("blocked", sa.Text, nullable=False),
        sa.Column("mems", sa.Text, nullable=False),
        sa.Column("burst", sa.Float),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_table(
        "set_charges",
        sa.Column(
            "set_id",
            sa.Text,
            sa.ForeignKey("sets.id", name="charge_of_set", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("zone", sa.Text, primary_key=True),
        sa.Column("reservations", sa.LargeBinary, primary_key=True),
        sa.Column("cpus", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_table(
        "reservations",
        sa.Column("zone", sa.Text, primary_key=True),
        sa.Column("pool", sa.Text, primary_key=True),
        sa.Column("reservations", sa.LargeBinary, primary_key=True),
        sa.Column("cpus", sa.Integer, nullable=False),
    )
    op.create_table(
        "operations",
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("uuid", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("framework_id", sa.Text),
        sa.Column("info", sa.LargeBinary, nullable=False),
        sa.Column("status", sa.LargeBinary, nullable=False),
        sa.Column("acknowledged", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("finished", sa.Float, nullable=False),
    )
    op.create_table(
        "profiles",
        sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1", name="one_row"), primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )


def downgrade() -> None:
    raise NotImplementedError("a provider database is never downgraded; restore the backup made before the upgrade")
