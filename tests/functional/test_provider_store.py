"""The provider's database: what goes in comes out, one bad row harms nobody, damage is refused."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from agent_api.wire import mesos_pb2
from migrations.database import DatabaseError
from profiles.mapping import DeviceAffinity, Memory, Profile, parse_document
from profiles.state import EMPTY, Fetched, apply_document
from provider import inventory, store, tables
from provider.inventory import Charge, State
from provider.operations import Record
from provider.store import Store, StoreError, peek
from tests.unit.hosts import make_set

FULL = Profile(
    name="latency",
    core_siblings="denied",
    memory=Memory("interleave", "required", 2),
    llc="required",
    device=DeviceAffinity("net:eth0", "preferred"),
    partition="isolated",
    lifetime="role",
)


def stack(role: str) -> bytes:
    kind = mesos_pb2.Resource.ReservationInfo
    return inventory.stack_from([kind(type=kind.DYNAMIC, role=role, principal="p")])


def record(number: int = 1) -> Record:
    info = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.CREATE_CPUSET)
    info.create_cpuset.target_profile = "latency"
    status = mesos_pb2.OperationStatus(state=mesos_pb2.OPERATION_FAILED, message="no")
    status.uuid.value = b"s" * 16
    return Record(number.to_bytes(16, "big"), "fw", info, status, False, 7.5)


SETS = (
    State()
    .with_set(
        replace(
            make_set("a", "1,5-900", blocked="901", profile=FULL, role="r/x"),
            charges=(Charge("numa/1", stack("x"), 3), Charge("numa/0", b"", 2)),
        )
    )
    .with_set(make_set("s", guarantee=2, burst=2.5))
    .with_set(make_set("r", guarantee=3, burst=4.0, revocable=True))
    .with_reserved({("numa/0", "default", stack("x")): 3})
)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "provider.db")
    yield made
    made.close()


def test_a_new_database_is_empty(opened: Store) -> None:
    stored = opened.load()
    assert (stored.provider_id, stored.version, stored.host_identity) == (None, b"", "")
    assert (stored.state, stored.operations, stored.profiles) == (State(), (), EMPTY)


def test_what_goes_in_comes_out(opened: Store, tmp_path: Path) -> None:
    opened.save_identity("rp", b"v" * 16, "host")
    opened.save_outcome(State(), SETS, record())
    opened.acknowledge(record().uuid)
    document = b'{"profile_matrix": {"latency": {"cpuset": {}}}}'
    known = apply_document(EMPTY, Fetched(document, parse_document(document)), {}, "t", "n", 3.0)
    opened.save_profiles(known)
    opened.close()
    again = Store(tmp_path / "provider.db")
    stored = again.load()
    again.close()
    assert (stored.provider_id, stored.version, stored.host_identity) == ("rp", b"v" * 16, "host")
    assert stored.state == SETS
    assert stored.operations == (replace(record(), acknowledged=True),)
    assert stored.profiles == known


def test_changes_of_a_set(opened: Store) -> None:
    opened.save_outcome(State(), SETS, record(1))
    grown = SETS.with_set(replace(SETS.sets["s"], charges=(Charge("numa/0", b"", 1), Charge("numa/1", b"", 1))))
    opened.save_outcome(SETS, grown, record(2))
    assert opened.load().state == grown
    empty = State()
    opened.save_outcome(grown, empty, record(3))
    assert opened.load().state == empty
    with opened._database.engine.begin() as connection:
        for table in (tables.sets, tables.charges, tables.reservations):
            assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 0


def test_the_state_does_not_depend_on_its_history(tmp_path: Path) -> None:
    def content(path: Path, states: list[State]) -> list[object]:
        opened = Store(path)
        before = State()
        for number, state in enumerate(states):
            opened.save_outcome(before, state, record(number))
            before = state
        with opened._database.engine.begin() as connection:
            rows = [
                sorted(map(tuple, connection.execute(sa.select(table)).all()), key=repr)
                for table in (tables.sets, tables.charges, tables.reservations)
            ]
        opened.close()
        return rows

    a, b, c = make_set("a", "1"), make_set("b", "2"), make_set("c", "3")
    one = [State().with_set(a), State().with_set(a).with_set(b), State().with_set(b), State().with_set(b).with_set(c)]
    other = [State().with_set(b), State().with_set(b).with_set(c)]
    assert content(tmp_path / "1.db", one) == content(tmp_path / "2.db", other)


def test_the_same_operation_cannot_end_twice(opened: Store) -> None:
    opened.save_outcome(State(), State(), record())
    with pytest.raises(StoreError):
        opened.save_outcome(State(), SETS, record())
    assert opened.load().state == State()


def test_unknown_fields_of_a_newer_version_survive(opened: Store) -> None:
    newer = record()
    newer.status.MergeFromString(b"\xaa\xc1\x6e\x01x")  # a field far above ours
    opened.save_outcome(State(), State(), newer)
    opened.acknowledge(newer.uuid)
    (found,) = opened.load().operations
    assert found.status.SerializeToString() == newer.status.SerializeToString()


def test_one_bad_row_does_not_stop_the_rest(opened: Store, caplog: pytest.LogCaptureFixture) -> None:
    opened.save_outcome(State(), SETS, record(1))
    opened.save_outcome(SETS, SETS, record(2))
    with opened._database.engine.begin() as connection:
        connection.execute(tables.operations.update().where(tables.operations.c.sequence == 1).values(status=b"\xff"))
        connection.execute(tables.sets.update().where(tables.sets.c.id == "a").values(definition="{"))
        connection.execute(tables.sets.update().where(tables.sets.c.id == "s").values(mems="x"))
        connection.execute(tables.profiles.insert().values(one=1, content="nonsense"))
    stored = opened.load()
    assert [one.uuid for one in stored.operations] == [record(2).uuid]
    assert set(stored.state.sets) == {"a", "r"}
    kept = stored.state.sets["a"]
    assert kept.exclusive and kept.cpus == SETS.sets["a"].cpus
    assert stored.profiles == EMPTY
    assert sum(entry.levelno == logging.ERROR for entry in caplog.records) == 4


def test_a_second_store_is_refused_and_a_look_is_not(opened: Store, tmp_path: Path) -> None:
    opened.save_outcome(State(), SETS, record())
    code = "import sys\nfrom provider.store import Store\nStore(sys.argv[1])"
    second = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "provider.db")], capture_output=True, text=True, check=False
    )
    assert "in use by another process" in second.stderr
    assert peek(tmp_path / "provider.db") == SETS


@pytest.mark.parametrize("damage", [b"", b"x" * 5000])
def test_a_damaged_database_is_refused_and_left_as_it_is(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "provider.db"
    path.write_bytes(damage)
    with pytest.raises(DatabaseError, match="left as it is"):
        Store(path)
    assert path.read_bytes() == damage
    if damage:
        with pytest.raises(StoreError):
            peek(path)


def test_a_look_at_a_path_with_strange_letters(tmp_path: Path) -> None:
    made = Store(tmp_path / "provider.db")
    made.save_outcome(State(), SETS, record())
    made.close()
    directory = tmp_path / "a b?c#d%3Fe%"
    directory.mkdir()
    (tmp_path / "provider.db").rename(directory / "provider.db")
    assert peek(directory / "provider.db") == SETS
    with pytest.raises(StoreError, match="cannot be read"):
        peek(directory / "other.db")


def test_checkpoints_surround_every_statement(tmp_path: Path) -> None:
    names: list[str] = []
    made = Store(tmp_path / "provider.db", names.append)
    made.save_outcome(State(), SETS, record())
    made.close()
    assert names.count("store: commit") == names.count("store: committed") == 1
    assert names.count("store: statement") >= 6
    assert store.KEPT_ACKNOWLEDGED > 0
