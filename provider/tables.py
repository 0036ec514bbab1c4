"""The provider's tables, as SQLAlchemy Core describes them. They decide nothing.

The schema itself is made by the revisions in `migrations/provider/versions`; a test compares the two.

CPU and node masks are stored in the kernel's list format, so that a person can read them. Messages are stored as
protobuf: unknown fields survive.
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["charges", "metadata", "operations", "power", "profiles", "provider", "reservations", "sets"]

metadata = sa.MetaData()

provider = sa.Table(
    "provider",
    metadata,
    sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1", name="one_row"), primary_key=True),
    sa.Column("provider_id", sa.Text),  # NULL until the agent gave one
    sa.Column("resource_version", sa.LargeBinary, nullable=False),  # 16 bytes
    sa.Column("host_identity", sa.Text, nullable=False),  # of the host the state was last used on
)

sets = sa.Table(
    "sets",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("profile", sa.Text, nullable=False),  # name
    sa.Column("definition", sa.Text, nullable=False),  # JSON of the profile as it was
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("framework_id", sa.Text),
    sa.Column("cpus", sa.Text, nullable=False),  # "" for a shared set
    sa.Column("blocked", sa.Text, nullable=False),
    sa.Column("mems", sa.Text, nullable=False),
    sa.Column("burst", sa.Float),
    sa.Column("created", sa.Float, nullable=False),  # Unix time
    sa.Column("revocable", sa.Boolean(create_constraint=False), nullable=False, server_default=sa.false()),
)

charges = sa.Table(
    "set_charges",
    metadata,
    sa.Column("set_id", sa.Text, sa.ForeignKey("sets.id", name="charge_of_set", ondelete="CASCADE"), primary_key=True),
    sa.Column("zone", sa.Text, primary_key=True),
    sa.Column("reservations", sa.LargeBinary, primary_key=True),  # mesos.v1.Resource with reservations only
    sa.Column("cpus", sa.Integer, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
)

reservations = sa.Table(
    "reservations",
    metadata,
    sa.Column("zone", sa.Text, primary_key=True),
    sa.Column("pool", sa.Text, primary_key=True),
    sa.Column("reservations", sa.LargeBinary, primary_key=True),
    sa.Column("cpus", sa.Integer, nullable=False),
)

operations = sa.Table(
    "operations",
    metadata,
    sa.Column("sequence", sa.Integer, primary_key=True),
    sa.Column("uuid", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("framework_id", sa.Text),
    sa.Column("info", sa.LargeBinary, nullable=False),  # mesos.v1.Offer.Operation
    sa.Column("status", sa.LargeBinary, nullable=False),  # mesos.v1.OperationStatus, terminal
    sa.Column("acknowledged", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("finished", sa.Float, nullable=False),  # Unix time
)

profiles = sa.Table(
    "profiles",
    metadata,
    sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1", name="one_row"), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),  # JSON, as profiles.state.Known writes it
)

power = sa.Table(
    "power_found",
    metadata,
    sa.Column("cpu", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("settings", sa.Text, nullable=False),  # JSON: cpufreq file -> text, as it was before we changed it
    sa.Column("boot", sa.Text, nullable=False),  # of the boot in which that was
)
