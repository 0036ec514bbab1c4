"""The provider's schema history: it makes exactly the tables that the code uses."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from migrations.database import open_database, upgrade
from provider import tables
from provider.power_rules import Found
from provider.store import Store


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


def test_a_set_of_before_revocable_ones_is_not_revocable_and_keeps_its_charges(tmp_path: Path) -> None:
    path = tmp_path / "provider.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        upgrade(connection, "provider", "p0001")
        connection.exec_driver_sql("INSERT INTO sets VALUES ('s', 'batch', '{}', '*', NULL, '', '', '', 2.5, 1000.0)")
        connection.exec_driver_sql("INSERT INTO set_charges VALUES ('s', 'numa/0', x'', 2, 0)")
    engine.dispose()
    database = open_database(path, "provider")
    try:
        with database.engine.begin() as connection:
            assert connection.execute(sa.select(tables.sets.c.burst, tables.sets.c.revocable)).all() == [(2.5, False)]
            assert connection.execute(sa.select(tables.charges.c.cpus)).scalars().all() == [2]
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


def test_what_p0001_held_is_there_after_the_upgrade(tmp_path: Path) -> None:
    """Rows in the tables of p0001 as that version wrote them; p0003 adds an empty table."""
    path = tmp_path / "provider.db"
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        upgrade(connection, "provider", "p0001")
        for statement in (
            "INSERT INTO provider VALUES (1, 'rp-1', x'00112233445566778899aabbccddeeff', 'host')",
            "INSERT INTO sets VALUES ('s1', 'fast', '{\"name\": \"fast\"}', 'r', 'fw', '1,5', '', '0', NULL, 12.5)",
            "INSERT INTO set_charges VALUES ('s1', 'numa/0', x'', 2, 0)",
            "INSERT INTO reservations VALUES ('numa/0', 'default', x'0a', 3)",
        ):
            connection.exec_driver_sql(statement)
    engine.dispose()
    store = Store(path)
    try:
        stored = store.load()
        assert (stored.provider_id, stored.host_identity, len(stored.version)) == ("rp-1", "host", 16)
        (one,) = stored.state.sets.values()
        assert (one.id, one.profile.name, one.cpus, one.charges[0].cpus) == ("s1", "fast", 0b100010, 2)
        assert dict(stored.state.reserved) == {("numa/0", "default", b"\n"): 3}
        assert stored.power == {}
        found = {3: Found({"scaling_governor": "schedutil"}, "boot")}
        store.save_power(found)
        assert store.load().power == found
        store.forget_power([3, 4])
        assert store.load().power == {}
    finally:
        store.close()
