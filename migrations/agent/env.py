"""Runs the agent's revisions on the connection that `migrations.database` hands over, in its transaction.

Decides nothing; there is no offline mode and no configuration file.
"""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transactional_ddl=True, render_as_batch=True)
context.run_migrations()
