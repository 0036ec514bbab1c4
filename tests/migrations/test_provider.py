"""The provider's schema history: it makes exactly the tables that the code uses."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from migrations.database import open_database
from provider import tables


def test_the_history_makes_the_tables_of_the_code(tmp_path: Path) -> None:
    database = open_database(tmp_path / "provider.db", "provider")
    try:
        with database.engine.begin() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            difference = compare_metadata(context, tables.metadata)
            assert difference == []
            names = set(sa.inspect(connection).get_table_names())
        assert names == set(tables.metadata.tables) | {"alembic_version"}
    finally:
        database.close()


def test_the_constraints_hold(tmp_path: Path) -> None:
    database = open_database(tmp_path / "provider.db", "provider")
    try:
        one = {"resource_version": bytes(16), "host_identity": ""}
        with database.engine.begin() as connection:
            connection.execute(tables.provider.insert().values(one=1, **one))
        for bad in (
            tables.provider.insert().values(one=2, **one),
            tables.charges.insert().values(set_id="none", zone="z", reservations=b"", cpus=1, position=0),
        ):
            try:
                with database.engine.begin() as connection:
                    connection.execute(bad)
            except sa.exc.IntegrityError:
                continue
            raise AssertionError(f"accepted: {bad}")
    finally:
        database.close()
