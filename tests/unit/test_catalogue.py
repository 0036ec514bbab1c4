"""Which profiles this host can use and meet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from profiles.mapping import parse_document
from profiles.state import EMPTY, Fetched, Known, apply_document
from provider.catalogue import LOGGED, Catalogue, would_be_active
from provider.layout import Config, PoolConfig
from provider.report import shown_profiles
from tests.unit.hosts import D16, S8, host

CARD = {"device": {"match": "net:none-such"}}


def known(profiles: dict[str, Any], before: Known = EMPTY) -> Known:
    data = json.dumps({"profile_matrix": {name: {"cpuset": cpuset} for name, cpuset in profiles.items()}}).encode()
    return apply_document(before, Fetched(data, parse_document(data)), {}, "t", "n", 1.0)


def test_what_this_host_never_meets_is_active_with_the_reason() -> None:
    catalogue = Catalogue()
    catalogue.judge(
        known(
            {
                "plain": {},
                "card": CARD,
                "card-if-there": {"device": {"match": "net:none-such", "affinity": "preferred"}},
                "little": {"core_kind": "efficiency"},
                "rt": {"pool": "rt"},
                "two-nodes": {"memory": {"policy": "interleave", "mode": "required", "nodes": 2}},
            }
        ),
        host(S8),
    )
    assert set(catalogue.unmet) == {"card", "rt", "two-nodes"}
    assert "no device on this host matches" in catalogue.unmet["card"]
    assert all(entry.active for entry in catalogue.entries.values())
    # Another host, another judgement.
    catalogue.judge(catalogue.known, host(D16, Config(pools=(PoolConfig("rt", cpus=0b1000),))))
    assert set(catalogue.unmet) == {"card"}


@pytest.mark.parametrize(("enforcement", "told"), [("cgroup2", False), ("cgroup1", True), ("affinity", True)])
def test_a_partition_that_this_host_has_not_is_told(enforcement: str, told: bool) -> None:
    """The set is made all the same, exclusive and as a member: the profile is placeable and says what is missing."""
    place = host(S8, enforcement=enforcement)
    catalogue = Catalogue()
    catalogue.judge(known({"plain": {}, "island": {"partition": "isolated"}}), place)
    shown = {one.name: one for one in shown_profiles(place, catalogue.known, catalogue.unmet)}
    assert shown["plain"].reason == ""
    assert shown["island"].placeable
    assert shown["island"].reason == (
        f"partition isolated needs cgroup v2, and this host enforces by {enforcement}: its sets are made as member and "
        "shown as degraded"
        if told
        else ""
    )


def test_profiles_are_looked_at_beforehand_in_steps() -> None:
    catalogue, place = Catalogue(), host(S8)
    catalogue.judge(EMPTY, place)
    document = known({"plain": {}, "card": CARD, "whole": {"core_siblings": "required"}})
    assert len(list(catalogue.prepare(document))) >= 3
    assert not catalogue.entries and not catalogue.unmet, "nothing is in force by it"
    assert not list(catalogue.prepare(document)), "each is looked at once"
    catalogue.judge(document, place)
    assert set(catalogue.unmet) == {"card"}
    assert catalogue.active == would_be_active(document)


def test_a_kind_of_core_that_a_hybrid_host_has_none_of_in_the_pool() -> None:
    from tests.unit import machines

    hybrid = machines.host(machines.H28)
    kinds = {kind.name: kind.cpus for kind in hybrid.kinds}
    catalogue = Catalogue()
    document = known({"little": {"core_kind": "efficiency", "pool": "big"}, "big": {"core_kind": "performance"}})
    pools = (PoolConfig("big", cpus=kinds["performance"] & ~0b1111),)
    catalogue.judge(document, host(hybrid, Config(pools=pools)))
    assert set(catalogue.unmet) == {"little"}
    assert "efficiency cores" in catalogue.unmet["little"]
    assert catalogue.entries["little"].active


def test_profiles_that_are_alike_have_their_own_reasons_and_names(caplog: pytest.LogCaptureFixture) -> None:
    catalogue = Catalogue()
    first = known({f"c{index}": CARD for index in range(LOGGED + 5)} | {"fine": {"lifetime": "role"}})
    catalogue.judge(first, host(S8))
    assert len(catalogue.unmet) == LOGGED + 5 and len(set(catalogue.unmet.values())) == 1
    assert catalogue.entries["c3"].profile.name == "c3"
    assert catalogue.entries["fine"].profile.lifetime == "role"
    # Told once, and not a thousand lines.
    assert len(caplog.messages) == LOGGED + 1
    assert caplog.messages[-1] == "and 5 more profiles that this host cannot meet"
    catalogue.judge(known({f"c{index}": CARD for index in range(LOGGED + 5)} | {"x": {}}, first), host(S8))
    assert len(caplog.messages) == LOGGED + 1
