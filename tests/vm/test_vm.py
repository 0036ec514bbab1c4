"""Real kernels, 16 CPUs with SMT on 4 NUMA nodes: what they answer, and what the enforcer makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import answers
import enforce
import pytest
from expected import ERRNO_TABLE, expected
from fakeworld import FakeWorld
from machine import Machine
from table import write_table

from provider.cpuset import ids, parse

pytestmark = [pytest.mark.vm, pytest.mark.timeout(1200)]


# What the kernel answers.


@pytest.fixture(scope="session")
def asked(vm: Machine) -> dict[str, dict[str, str]]:
    """{"v1"|"v2": answers}; v1 first, as the controller is in one hierarchy at a time."""
    v1 = vm.call(answers.ask_kernel_v1, timeout=120)
    v2 = vm.call(answers.ask_kernel_v2, timeout=120)
    write_table(vm.call(answers.release), v1 if isinstance(v1, dict) else str(v1), v2)
    return {"v1": v1 if isinstance(v1, dict) else {}, "v2": v2}


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_kernel_answers_as_we_rely_on(asked: dict[str, dict[str, str]], version: str) -> None:
    found = asked[version]
    if not found:
        pytest.skip("this kernel has no cgroup v1 cpuset")
    assert not [key for key in found if "broke off" in key], found
    wrong = {key: (wish, found.get(key)) for key, wish in ERRNO_TABLE[version].items() if found.get(key) != wish}
    assert not wrong


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_fake_answers_as_the_kernel(asked: dict[str, dict[str, str]], version: str) -> None:
    found = asked[version]
    if not found:
        pytest.skip("this kernel has no cgroup v1 cpuset")
    remote = "claim of CPUs that base does not claim" in found
    fake = answers.ask_all(FakeWorld(int(version[1]), remote=remote))
    wrong = {key: (answer, fake.get(key)) for key, answer in expected(found).items() if fake.get(key) != answer}
    assert not wrong


# The host as Pinfold sees it.


def test_topology(vm: Machine) -> None:
    done = vm.run("pinfold", "topology", "--json", timeout=120)
    found = json.loads(done["out"])
    text = json.dumps(found)
    cpus = found["cpus"]
    assert [cpu["cpu"] for cpu in cpus] == list(range(16)), text
    assert [cpu["numa"] for cpu in cpus] == [cpu // 4 for cpu in range(16)], text
    assert len({cpu["socket"] for cpu in cpus}) == 2
    assert [cpu["socket"] == cpus[0]["socket"] for cpu in cpus] == [True] * 8 + [False] * 8
    pairs: dict[tuple[int, int], list[int]] = {}
    for cpu in cpus:
        pairs.setdefault((cpu["socket"], cpu["core"]), []).append(cpu["cpu"])
    assert sorted(pairs.values()) == [[first, first + 1] for first in range(0, 16, 2)]
    nodes = {node["id"]: node for node in found["nodes"]}
    assert sorted(nodes) == [0, 1, 2, 3]
    assert nodes[0]["distances"] == [10, 12, 32, 32] and nodes[3]["distances"] == [32, 32, 12, 10]
    assert all(node["memory_bytes"] > 400 * 2**20 for node in nodes.values())


def test_doctor(vm: Machine) -> None:
    done = vm.run("pinfold", "doctor", "--json", timeout=180, check=False)
    found = {finding["topic"]: finding for finding in json.loads(done["out"])}
    assert done["code"] == 0, done
    assert "cgroup v2, below /sys/fs/cgroup/pinfold" in found["enforcement"]["sentence"], found
    newer = int(vm.kernel.release.split(".")[1]) >= 7
    assert found["partitions"]["level"] == ("ok" if newer else "warn") and vm.kernel.release in str(found["partitions"])
    assert found["controllers"]["level"] == "ok" and "up to 2 threads" in found["SMT"]["sentence"]
    assert "14 of 16 CPUs can be offered, the floor is 0-1" in found["CPUs"]["sentence"]
    assert "4 memory nodes" in found["nodes"]["sentence"]


# The enforcer on the real cgroup v2.


EXCLUSIVE = {"lat": ["4-5", "1", "member"], "dpdk": ["8-9", "2", "member"]}
SHARED = {"batch": ["0-3,6-7,10-15", 2.0, None], "web": ["0-3,6-7,10-15", 4.0, 6.0]}
PLAIN = "0-3,6-7,10-15"


def in_force(out: dict, group: str) -> str:
    return str(out["tree"][group]["cpus.effective"])


@pytest.fixture
def clean(asked: dict[str, dict[str, str]], vm: Machine) -> Iterator[Machine]:
    """After the questions, with nothing of ours in the tree before and after."""
    vm.call(enforce.enforcer_ready, timeout=120)
    assert vm.call(enforce.remove_all) is False
    yield vm
    for cpu in range(1, 16):
        vm.call(enforce.set_online, cpu, True)
    assert vm.call(enforce.remove_all) is False


def test_sets_come_into_force_and_others_move_aside(clean: Machine) -> None:
    vm = clean
    out = vm.call(enforce.apply, {}, {}, "0-15")
    assert out["error"] is None and out["kind"] == "cgroup2" and out["drift"] == [], out
    pids = {"plain": vm.call(enforce.spin, "plain", "plain")}
    out = vm.call(enforce.apply, {}, {"batch": ["0-15", 2.0, None]}, "0-15")
    assert out["error"] is None, out
    pids["batch"] = vm.call(enforce.spin, "batch", "shared/batch")
    out = vm.call(enforce.apply, EXCLUSIVE, SHARED, PLAIN)
    assert out["error"] is None and out["again"] == [] and out["drift"] == [], out
    assert in_force(out, "set.lat") == "4-5" and out["tree"]["set.lat"]["mems.effective"] == "1"
    assert in_force(out, "set.dpdk") == "8-9" and out["tree"]["set.dpdk"]["mems.effective"] == "2"
    assert in_force(out, "plain") == in_force(out, "shared/batch") == in_force(out, "shared/web") == PLAIN
    assert out["tree"]["shared/web"]["cpu.max"] == "600000 100000"
    assert all(out["tree"][group]["cpu.max"].startswith("max") for group in ("set.lat", "set.dpdk"))
    weights = {name: int(out["tree"][f"shared/{name}"]["cpu.weight"]) for name in ("batch", "web")}
    assert weights["web"] == 2 * weights["batch"]
    pids["lat"] = vm.call(enforce.spin, "lat", "set.lat")
    pids["dpdk"] = vm.call(enforce.spin, "dpdk", "set.dpdk")
    seen = vm.call(enforce.watch, list(pids.values()), 3)
    may = {"plain": PLAIN, "batch": PLAIN, "lat": "4-5", "dpdk": "8-9"}
    for name, pid in pids.items():
        assert seen[str(pid)]["allowed"] == may[name], (name, seen)
        assert set(seen[str(pid)]["cpus"]) <= set(ids(parse(may[name]))), (name, seen)
        assert seen[str(pid)]["ticks"] > 0
    # Released: the others widen, what ran in the set goes to plain.
    out = vm.call(enforce.apply, {"dpdk": EXCLUSIVE["dpdk"]}, SHARED | {"batch": ["0-7,10-15", 2.0, None]}, "0-7,10-15")
    assert out["error"] is None and out["drift"] == [], out
    assert in_force(out, "plain") == in_force(out, "shared/batch") == "0-7,10-15"
    assert "set.lat" not in out["tree"]
    assert vm.call(enforce.group_of, pids["lat"]) == ["0::/vmtest/plain"]


def test_sets_swap_and_resize(clean: Machine) -> None:
    vm = clean
    for exclusive, plain in (
        ({"a": ["2-3", "0", "member"]}, "0-1,4-15"),
        ({"a": ["2-5", "", "member"]}, "0-1,6-15"),
        ({"a": ["4-5", "1", "member"]}, "0-3,6-15"),
        ({"a": ["6-7", "1", "member"]}, "0-5,8-15"),
        ({"a": ["0-1", "0", "member"], "b": ["6-7", "1", "member"]}, "2-5,8-15"),
        ({"a": ["6-7", "1", "member"], "b": ["0-1", "0", "member"]}, "2-5,8-15"),
        ({"a": ["1-15", "", "member"]}, "0"),
        ({}, "0-15"),
    ):
        out = vm.call(enforce.apply, exclusive, {}, plain)
        assert out["error"] is None and out["drift"] == [] and out["again"] == [], (exclusive, out)
        for name, (cpus, _, _) in exclusive.items():
            assert in_force(out, f"set.{name}") == cpus
        assert in_force(out, "plain") == plain


@pytest.mark.parametrize("mode", ["root", "isolated"])
def test_partitions(clean: Machine, asked: dict[str, dict[str, str]], mode: str) -> None:
    """On 6.7 and later they are in force; before, below a parent that is none, the set is a member and says why."""
    vm = clean
    remote = "claim of CPUs that base does not claim" in asked["v2"]
    sets = {"a": ["2-3", "0", mode], "b": ["8-11", "2", mode]}
    out = vm.call(enforce.apply, sets, {}, "0-1,4-7,12-15")
    assert out["error"] is None, out
    assert out["again"] == [] or not remote, out
    assert in_force(out, "set.a") == "2-3" and in_force(out, "set.b") == "8-11"
    assert in_force(out, "plain") == "0-1,4-7,12-15"
    if not remote:
        assert out["tree"]["set.a"]["cpus.partition"] == "member"
        assert "Parent is not a partition root" in out["notes"]["a"][0] and "member" in out["notes"]["a"][0], out
        return
    assert out["notes"] == {} and out["drift"] == [], out
    assert out["tree"]["set.a"]["cpus.partition"] == out["tree"]["set.b"]["cpus.partition"] == mode
    # What is ours is still all of it, though the parent's effective list has lost the partitions' CPUs.
    assert vm.call(enforce.limits) == ["0-15", "0-3"]
    pid = vm.call(enforce.spin, "a", "set.a")
    seen = vm.call(enforce.watch, [pid], 1)[str(pid)]
    assert seen["allowed"] == "2-3" and set(seen["cpus"]) <= {2, 3} and seen["ticks"] > 0
    # It grows, shrinks, moves; the other is not touched.
    for cpus, plain in (("2-5", "0-1,6-7,12-15"), ("3", "0-2,4-7,12-15"), ("4-5", "0-3,6-7,12-15")):
        out = vm.call(enforce.apply, sets | {"a": [cpus, "", mode]}, {}, plain)
        assert out["error"] is None and out["notes"] == {} and out["drift"] == [] and out["again"] == [], (cpus, out)
        assert in_force(out, "set.a") == cpus and in_force(out, "plain") == plain
        assert out["tree"]["set.a"]["cpus.partition"] == mode
    # It goes; its CPUs are the others' again, on the way up too.
    out = vm.call(enforce.apply, {"b": sets["b"]}, {}, "0-7,12-15")
    assert out["error"] is None and in_force(out, "plain") == "0-7,12-15" and out["drift"] == [], out
    out = vm.call(enforce.apply, {}, {}, "0-15")
    assert out["error"] is None and in_force(out, "plain") == "0-15" and in_force(out, "") == "0-15", out


def test_drift_is_seen_and_repaired(clean: Machine) -> None:
    vm = clean
    wish = (EXCLUSIVE, SHARED, PLAIN)
    assert vm.call(enforce.apply, *wish)["error"] is None
    vm.call(enforce.write, f"{enforce.BASE}/set.lat/cpuset.cpus", "4")
    vm.call(enforce.write, f"{enforce.BASE}/plain/cpuset.cpus", "0-15")
    vm.call(enforce.rmdir, f"{enforce.BASE}/shared/web")
    found = vm.call(enforce.drift, *wish)
    assert ["set.lat", "cpus", "4-5", "4"] in found and ["plain", "cpus", PLAIN, "0-15"] in found, found
    assert any(group == "shared/web" and field == "missing" for group, field, _, _ in found), found
    out = vm.call(enforce.apply, *wish)
    assert out["error"] is None and out["drift"] == [], out


def test_a_cpu_goes_and_comes_back(clean: Machine) -> None:
    vm = clean
    wish = (EXCLUSIVE, SHARED, PLAIN)
    assert vm.call(enforce.apply, *wish)["error"] is None
    vm.call(enforce.set_online, 5, False)
    assert vm.call(enforce.limits)[0] == "0-4,6-15"
    # What the provider asks for then: the set without the CPU.
    less = (EXCLUSIVE | {"lat": ["4", "1", "member"]}, SHARED, PLAIN)
    out = vm.call(enforce.apply, *less)
    assert out["error"] is None and in_force(out, "set.lat") == "4" and out["drift"] == [], out
    vm.call(enforce.set_online, 5, True)
    out = vm.call(enforce.apply, *wish)
    assert out["error"] is None and in_force(out, "set.lat") == "4-5" and out["drift"] == [], out


def test_a_parent_that_holds_processes_is_refused_and_left_alone(clean: Machine) -> None:
    error, enabled, made = clean.call(enforce.crowded_parent)
    assert error and "processes sit in /sys/fs/cgroup/crowd itself" in error
    assert (enabled, made) == ("", 0)


def test_in_a_service_with_a_delegated_directory(clean: Machine, asked: dict[str, dict[str, str]]) -> None:
    """--cgroup-root auto finds the service's own directory, and leaves it for a leaf; partitions are claimed from the top."""
    found = clean.call(enforce.in_a_delegated_service, timeout=180)
    unit = "/sys/fs/cgroup/auto.slice/auto.service"
    assert (found["agent"], found["provider"]) == (unit, unit), found
    assert found["self"] == "0::/auto.slice/auto.service/mine.main", found
    assert (found["set"], found["plain"], found["allowed"]) == ("4-7", "0-3,8-15", 0xFFFF), found
    remote = "claim of CPUs that base does not claim" in asked["v2"]
    assert found["partition"] == ("isolated" if remote else "member"), found
    assert bool(found["notes"]) != remote and (found["again"] == 0 or not remote), found
    assert not found["left"]
