"""How a configuration cuts a host: each rule, and each fault with the field and the value that it names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_api.wire import codec, mesos_pb2
from provider import cpuset
from provider.errors import ConfigError
from provider.layout import Config, Layout, PoolConfig, config_from_wire, plan_layout
from tests.unit.machines import D16, H28, Q16, S8, T8, U4, host

DEFAULT = Config()


def config(**cpu: Any) -> Config:
    info = codec.from_dict(mesos_pb2.ResourceProviderInfo, {"type": "org.pinfold.rp.cpu", "name": "host", "cpu": cpu})
    return config_from_wire(info)


def shown(layout: Layout) -> dict[str, str]:
    return {
        "reserved": cpuset.format_mask(layout.reserved),
        "floor": cpuset.format_mask(layout.floor),
        **{name: cpuset.format_mask(mask) for name, mask in layout.zones.items()},
    }


def test_the_defaults_are_one_core_and_nodes() -> None:
    assert shown(plan_layout(host(D16), DEFAULT)) == {
        "reserved": "",
        "floor": "0,8",
        "numa/0": "1-3,9-11",
        "numa/1": "4-7,12-15",
    }
    assert plan_layout(host(D16), DEFAULT, with_floor=False).floor == 0


@pytest.mark.parametrize(
    ("records", "cpu", "floor"),
    [
        (S8, {"floor": 0}, "0,4"),
        (S8, {"floor": 1}, "0,4"),
        (S8, {"floor": 2}, "0,4"),
        (S8, {"floor": 3}, "0-1,4-5"),
        (U4, {}, "0"),
        (T8, {}, "0-3"),
        (H28, {}, "0-1"),
        (S8, {"reserved_cpus": "0"}, "1,5"),
        (S8, {"pools": [{"name": "a", "cpus": "0,4"}]}, "1,5"),
        (S8, {"pools": [{"name": "a", "capacity": 6}]}, "0,4"),
    ],
)
def test_the_floor_is_the_first_whole_cores_of_the_default_pool(
    records: dict[str, Any], cpu: dict[str, Any], floor: str
) -> None:
    assert cpuset.format_mask(plan_layout(host(records), config(**cpu)).floor) == floor


def test_zones_follow_group_by() -> None:
    assert list(plan_layout(host(Q16), config(group_by="PACKAGE")).zones) == ["package/0", "package/1"]
    assert list(plan_layout(host(Q16), config(group_by="MACHINE")).zones) == ["machine"]
    nodes = plan_layout(host(Q16), config(group_by="NUMA"))
    assert list(nodes.zones) == ["numa/0", "numa/1", "numa/2", "numa/3"]
    assert nodes.zone_of(cpuset.parse("3-4,9")) == {"numa/0": 1, "numa/1": 1, "numa/2": 1}
    assert nodes.pool_of(cpuset.parse("0,3")) == {"default": 1}


def test_nodes_without_usable_cpus_are_no_zones() -> None:
    records = {**D16, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}]}
    assert list(plan_layout(host(records), DEFAULT).zones) == ["numa/0", "numa/1"]
    assert list(plan_layout(host(D16), DEFAULT, allowed=cpuset.parse("0-3,8-11")).zones) == ["numa/0"]
    assert list(plan_layout(host(D16), config(reserved_cpus="0-3")).zones) == ["numa/1"]


def test_reserved_cpus_take_their_siblings() -> None:
    assert cpuset.format_mask(plan_layout(host(S8), config(reserved_cpus="3")).reserved) == "3,7"
    # Report 1: with 7 offline its core is one CPU.
    seven = host({"cpus": [cpu for cpu in S8["cpus"] if cpu["cpu"] != 7], "offline": "7"})
    layout = plan_layout(seven, config(reserved_cpus="3,7"))
    assert cpuset.format_mask(layout.reserved) == "3"
    assert "CPUs 7 are offline" in layout.warnings[0]
    counts = layout.offerable.bit_count() + layout.floor.bit_count() + layout.reserved.bit_count()
    assert counts == 7


def test_isolated_cpus_need_a_pool_that_names_them() -> None:
    isolated = host(D16, isolated="2-3,10-11")
    layout = plan_layout(isolated, DEFAULT, with_floor=False)
    assert cpuset.format_mask(layout.zones["numa/0"]) == "0-1,8-9"
    assert cpuset.format_mask(layout.withheld) == "2-3,10-11"
    named = plan_layout(isolated, config(pools=[{"name": "rt", "cpus": "2-3,10-11"}]))
    assert cpuset.format_mask(named.pools["rt"]) == "2-3,10-11"
    assert cpuset.format_mask(named.zones["numa/0"]) == "1-3,9-11"
    assert (named.withheld, named.floor) == (0, cpuset.parse("0,8"))
    assert plan_layout(isolated, config(pools=[{"name": "a", "capacity": 4}])).pools["a"] & isolated.isolated == 0
    first = host(D16, isolated="0-1,8-9")
    assert cpuset.format_mask(plan_layout(first, DEFAULT).floor) == "2,10"


def test_a_pool_of_a_capacity_lies_together() -> None:
    layout = plan_layout(host(D16), config(pools=[{"name": "a", "capacity": 8}, {"name": "b", "capacity": 2}]))
    assert cpuset.format_mask(layout.pools["a"]) == "4-7,12-15"
    assert cpuset.format_mask(layout.pools["b"]) == "1,9"
    assert cpuset.format_mask(layout.pools["default"]) == "2-3,10-11"
    assert list(layout.pools) == ["default", "a", "b"]


@pytest.mark.parametrize(
    ("cpu", "message"),
    [
        ({"group_by": "SOCKET"}, "cpu.group_by: 'SOCKET' is not one of NUMA, PACKAGE, MACHINE"),
        ({"reserved_cpus": "15"}, "cpu.reserved_cpus: CPUs 15 cannot exist here; possible are 0-7"),
        ({"reserved_cpus": "0-"}, "cpu.reserved_cpus"),
        ({"reserved_cpus": "0-3"}, "cpu.reserved_cpus: 0-3 leaves none of the CPUs 0-7"),
        ({"floor": 9}, "cpu.floor: 9 CPUs are needed"),
        ({"overcommit": 0.5}, "cpu.overcommit: 0.5 is not a number from 1 to 100"),
        ({"overcommit": 1e300}, "cpu.overcommit: 1e+300"),
        ({"pools": [{"name": "a", "cpus": "0-3"}, {"name": "b", "cpus": "3-5"}]}, "'a' and 'b' both name CPUs 3"),
        ({"pools": [{"name": "a", "capacity": 1}, {"name": "a", "capacity": 1}]}, "the name 'a' is there twice"),
        ({"pools": [{"name": "default", "capacity": 1}]}, "cpu.pools[0].name: 'default'"),
        ({"pools": [{"name": "", "capacity": 1}]}, "cpu.pools[0].name: ''"),
        ({"pools": [{"name": "a"}]}, "needs 'cpus' or a 'capacity'"),
        ({"pools": [{"name": "a", "capacity": 0}]}, "needs 'cpus' or a 'capacity'"),
        ({"pools": [{"name": "a", "capacity": 7}]}, "pool 'a' wants 7 CPUs and 6 are left for it"),
        ({"pools": [{"name": "a", "capacity": 3, "cpus": "1,5"}]}, "contradicts cpus '1,5', 2 CPUs"),
        ({"pools": [{"name": "a", "cpus": "1,9"}]}, "cpu.pools[0].cpus: CPUs 9 cannot exist here"),
        ({"reserved_cpus": "1", "pools": [{"name": "a", "cpus": "5"}]}, "pool 'a' names CPUs 5, which are reserved"),
        ({"pools": [{"name": "a", "cpus": "0-7"}]}, "cpu.floor: 1 CPUs are needed"),
        ({"profiles": {"uri": ""}}, "cpu.profiles.uri"),
        ({"profiles": {"uri": "file:///p", "poll_interval_seconds": 0}}, "poll_interval_seconds: 0"),
        ({"profiles": {"uri": "file:///p", "max_random_wait_seconds": -1}}, "max_random_wait_seconds: -1"),
    ],
)
def test_a_fault_is_named(cpu: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        plan_layout(host(S8), config(**cpu))
    assert message in str(error.value)


def test_what_is_possible_and_not_there_is_a_warning() -> None:
    offline = host({"cpus": [cpu for cpu in S8["cpus"] if cpu["cpu"] != 7], "offline": "7"})
    layout = plan_layout(offline, config(pools=[{"name": "a", "cpus": "3,7"}]))
    assert layout.pools["a"] == cpuset.parse("3")
    assert any("CPUs 7 are offline" in warning for warning in layout.warnings)
    outside = plan_layout(host(S8), config(pools=[{"name": "a", "cpus": "3,7"}]), allowed=cpuset.parse("0-6"))
    assert any("CPUs 7 are outside the cpuset" in warning for warning in outside.warnings)
    cut = plan_layout(host(S8), config(pools=[{"name": "a", "cpus": "3"}]))
    assert any("pool 'a' has only 3 of the core 3,7" in warning for warning in cut.warnings)


def test_a_config_has_the_designs_defaults() -> None:
    assert config() == DEFAULT
    full = config(
        group_by="PACKAGE",
        reserved_cpus="0,32",
        floor=4,
        overcommit=1.5,
        pools=[{"name": "dpdk", "capacity": 10}, {"name": "rt", "cpus": "2-3,34-35"}],
        profiles={"uri": "file:///etc/pinfold/profiles.json", "poll_interval_seconds": 10, "ca_file": "/ca"},
    )
    assert full == Config(
        group_by="PACKAGE",
        reserved=cpuset.parse("0,32"),
        floor=4,
        overcommit=1.5,
        pools=(PoolConfig("dpdk", 10, None), PoolConfig("rt", None, cpuset.parse("2-3,34-35"))),
        uri="file:///etc/pinfold/profiles.json",
        poll_interval_seconds=10,
        ca_file="/ca",
    )


MACHINES = [host(records) for records in (U4, S8, D16, T8, Q16, H28)]


@given(
    st.sampled_from(MACHINES),
    st.integers(0, (1 << 28) - 1),
    st.integers(0, 6),
    st.integers(0, (1 << 28) - 1),
    st.integers(0, 8),
    st.integers(0, (1 << 28) - 1),
    st.sampled_from(["NUMA", "PACKAGE", "MACHINE"]),
)
def test_every_cpu_is_somewhere_once(
    machine: Any, reserved: int, floor: int, named: int, capacity: int, allowed: int, group_by: str
) -> None:
    reserved &= machine.online & 0b1000_0100
    named &= machine.online & ~0b11 & 0b1011_0000_0010_0000
    pools = [PoolConfig("named", None, named)] if named else []
    pools += [PoolConfig("some", capacity, None)] if capacity else []
    allowed = (allowed | 0b1111) & machine.online
    try:
        layout = plan_layout(machine, Config(group_by, reserved, floor, 1.0, tuple(pools)), allowed)
    except ConfigError:
        return
    parts = [layout.reserved, layout.floor, layout.withheld, *layout.zones.values()]
    assert sum(part.bit_count() for part in parts) == allowed.bit_count()
    assert layout.offerable | layout.reserved | layout.floor | layout.withheld == allowed
    assert sum(mask.bit_count() for mask in layout.pools.values()) == layout.offerable.bit_count()
    assert layout.floor.bit_count() >= max(1, floor)
    if capacity:
        assert layout.pools["some"].bit_count() == capacity
