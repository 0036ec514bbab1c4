"""Runs the revisions of the provider's database on the connection that `migrations.database` hands over.

It never opens a database itself: who may open which file, and the backup before an upgrade, are decided there.
"""

from __future__ import annotations

from alembic import context


def run() -> None:
    """Run the revisions inside the transaction that the connection is in."""
    connection = context.config.attributes.get("connection")
    if connection is None:
        raise RuntimeError("run through migrations.database: this environment opens no database of its own")
    context.configure(connection=connection, target_metadata=None, transactional_ddl=True)
    context.run_migrations()


run()
