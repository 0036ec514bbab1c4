"""Pinfold as installed, in a VM: sets, tasks, memory, a CPU that goes, deaths, and a power failure.

systemd is process 1 and runs the units of packaging/systemd. One boot, and one after the power failure; the tests follow
each other in this order, each begins where the last one ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import enforce
import pytest
import story
from conftest import Fleet
from machine import GuestError, Machine

from provider.cpuset import ids, parse

pytestmark = [pytest.mark.vm, pytest.mark.timeout(1200)]

GROUP = "/pinfold.slice/pinfold-sets.service/pinfold"
BASE = f"/sys/fs/cgroup{GROUP}"


@pytest.fixture(scope="module")
def host(fleet: Fleet) -> Machine:
    """The newer kernel where there is one and systemd, the agent running as its unit, the provider ready."""
    made = fleet.running("systemd")
    made.call(story.write_files)
    began = time.monotonic()
    made.call(story.wait_agent, timeout=260)
    try:
        made.run("pinfold", "provider-config", "add", "/data/config.json", timeout=240)
    except GuestError:
        print(made.call(story.logs))
        raise
    assert made.call(story.ready, timeout=240) == sorted(story.PROFILES["profile_matrix"])
    print(f"\nready {time.monotonic() - began:.1f} s after the agent's start")
    made.call(story.subscribe, timeout=90)
    return made


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """What earlier tests made: sets and tasks by name."""
    return {}


@pytest.fixture(autouse=True)
def tell(host: Machine, request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test fails, what the processes inside wrote."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        try:
            print(host.call(story.logs))
        except GuestError as exc:
            print(exc)


def finished(done: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """(set id, labels) of an operation that made or changed a set."""
    assert done["state"] == "OPERATION_FINISHED", done
    (_, _, _, _, set_id), labels = done["resources"][0]
    return set_id, labels


def check(host: Machine, may: dict[int, str], seconds: float = 3) -> None:
    """Each process has been only on its CPUs, is allowed just these, and got time."""
    seen = host.call(enforce.watch, list(may), seconds)
    for pid, cpus in may.items():
        found = seen[str(pid)]
        assert found["allowed"] == cpus, (pid, cpus, found)
        assert set(found["cpus"]) <= set(ids(parse(cpus))), (pid, cpus, found)
        assert found["ticks"] > 0


def test_a_plain_and_a_shared_task_run_everywhere(host: Machine, known: dict[str, Any]) -> None:
    known["plain"] = host.call(story.launch, "plain", 8, [], 1.0, timeout=120)
    known["batch"], labels = finished(host.call(story.create, "batch", 2, "numa/0", timeout=90))
    assert labels["cgroup"] == f"{BASE}/shared/{known['batch']}" and labels["enforcement"] == "cgroup2"
    known["shared"] = host.call(story.launch, "shared", 8, [known["batch"]], 0.0, 1.0, timeout=120)
    for name, place in (("plain", f"{GROUP}/plain"), ("shared", f"{GROUP}/shared/{known['batch']}")):
        leaf = host.call(story.group, known[name]["pid"]).removeprefix("0::")
        assert leaf.startswith(f"{place}/task."), leaf
        assert host.call(story.file, f"/sys/fs/cgroup{leaf}/memory.max") == str((8 + 32) * 1024 * 1024)
    # The floor, two CPUs, is plain tasks' alone.
    check(host, {known["plain"]["pid"]: "0-15", known["shared"]["pid"]: "2-15"})
    environment = host.call(story.environment, known["shared"]["pid"])
    assert environment["PINFOLD_SHARED_CPUS"] == "2-15" and not environment.get("PINFOLD_EXCLUSIVE_CPUS")


def test_exclusive_sets_push_them_aside(host: Machine, known: dict[str, Any]) -> None:
    known["latency"], labels = finished(host.call(story.create, "latency", 2, "numa/1", timeout=90))
    assert (labels["cpus"], labels["mems"]) == ("4-5", "1")
    known["kept"], labels = finished(host.call(story.create, "kept", 4, "numa/2", timeout=90))
    assert (labels["cpus"], labels["mems"]) == ("8-11", "2")
    known["a"] = host.call(story.launch, "a", 64, [known["latency"]], timeout=120)
    known["b"] = host.call(story.launch, "b", 64, [known["kept"]], timeout=120)
    pids = {name: known[name]["pid"] for name in ("plain", "shared", "a", "b")}
    check(
        host,
        {pids["plain"]: "0-3,6-7,12-15", pids["shared"]: "2-3,6-7,12-15", pids["a"]: "4-5", pids["b"]: "8-11"},
        5,
    )
    assert host.call(story.file, f"{BASE}/set.{known['kept']}/cpuset.cpus.effective") == "8-11"
    assert host.call(story.file, f"{BASE}/set.{known['kept']}/cpu.max").startswith("max")
    environment = host.call(story.environment, pids["a"])
    assert environment["PINFOLD_EXCLUSIVE_CPUS"] == environment["PINFOLD_CPUS"] == "4-5"
    assert environment["PINFOLD_MEMS"] == "1"


def test_memory_lies_on_the_sets_node(host: Machine, known: dict[str, Any]) -> None:
    for name, node in (("a", "1"), ("b", "2")):
        deadline = time.monotonic() + 90
        pages: dict[str, int] = {}
        while pages.get(node, 0) < 64 * 256:  # it fills them one by one
            assert time.monotonic() < deadline, (name, pages)
            pages = host.call(story.memory, known[name]["pid"])
        assert set(pages) == {node}, (name, pages)


def test_memory_is_interleaved_where_asked(host: Machine, known: dict[str, Any]) -> None:
    set_id, labels = finished(host.call(story.create, "wide", [2, 2], ["numa/1", "numa/3"], timeout=90))
    assert (labels["cpus"], labels["mems"]) == ("6-7,12-13", "1,3")
    task = host.call(story.launch, "wide", 64, [set_id], timeout=120)
    check(host, {task["pid"]: "6-7,12-13", known["plain"]["pid"]: "0-3,14-15"}, 1)
    pages = host.call(story.memory, task["pid"])
    assert set(pages) == {"1", "3"} and abs(pages["1"] - pages["3"]) < 0.1 * sum(pages.values()), pages
    assert host.call(story.end_task, task["task_id"], timeout=90) == "TASK_KILLED"
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"


def test_siblings_stay_empty_where_denied(host: Machine, known: dict[str, Any]) -> None:
    set_id, labels = finished(host.call(story.create, "alone", 2, "numa/1", timeout=90))
    assert (labels["cpus"], labels["blocked"]) == ("6", "7")
    check(host, {known["plain"]["pid"]: "0-3,12-15", known["shared"]["pid"]: "2-3,12-15", known["a"]["pid"]: "4-5"})
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"
    check(host, {known["plain"]["pid"]: "0-3,6-7,12-15"}, 1)


def test_a_set_grows_and_shrinks_under_a_task(host: Machine, known: dict[str, Any]) -> None:
    set_id, labels = finished(host.call(story.create, "latency", 2, "numa/3", timeout=90))
    assert labels["cpus"] == "12-13"
    task = host.call(story.launch, "grows", 4, [set_id], 0.0, 1.0, timeout=120)
    told = host.call(story.environment, task["pid"])["PINFOLD_CPUSET_FILE"]
    same, labels = finished(host.call(story.grow, set_id, 2, "numa/3", timeout=90))
    assert (same, labels["cpus"]) == (set_id, "12-15")
    assert host.call(story.file, f"{BASE}/set.{set_id}/cpuset.cpus.effective") == "12-15"
    check(host, {task["pid"]: "12-15", known["plain"]["pid"]: "0-3,6-7", known["shared"]["pid"]: "2-3,6-7"}, 1)
    host.call(story.wait_file, told, "PINFOLD_CPUS=12-15", timeout=90)
    same, labels = finished(host.call(story.shrink, set_id, 2, timeout=90))
    assert (same, labels["cpus"]) == (set_id, "12-13")
    check(host, {task["pid"]: "12-13", known["plain"]["pid"]: "0-3,6-7,14-15"}, 1)
    host.call(story.wait_file, told, "PINFOLD_CPUS=12-13", timeout=90)
    assert host.call(story.end_task, task["task_id"], timeout=90) == "TASK_KILLED"
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"


def test_nothing_is_on_exclusive_cpus_while_sets_come_and_go(host: Machine, known: dict[str, Any]) -> None:
    pids = [known[name]["pid"] for name in ("plain", "shared", "a", "b")]
    host.call(story.sample, pids)
    times = host.call(story.come_and_go, 4, "latency", ["numa/1", "numa/3"], timeout=900)
    samples = host.call(story.sampled, timeout=60)
    assert len(samples) > 200
    wrong = [
        (when, pid, cpu, cpus)
        for cpus, begin, end, _ in times
        for when, pid, cpu in samples
        if begin <= when <= end and cpu in ids(parse(cpus))
    ]
    assert not wrong, (wrong[:10], known)
    inside = sum(1 for when, _, _ in samples if any(begin <= when <= end for _, begin, end, _ in times))
    assert inside > 50
    print(f"\n{len(samples)} looks, {inside} of them while one of {len(times)} sets was there, none on its CPUs")


def test_a_task_uses_an_exclusive_and_a_shared_set(host: Machine, known: dict[str, Any]) -> None:
    """It has the CPUs of both and follows both; nobody else gets the exclusive ones."""
    mine, labels = finished(host.call(story.create, "latency", 2, "numa/3", timeout=90))
    assert labels["cpus"] == "12-13"
    task = host.call(story.launch, "both", 4, [mine, known["batch"]], 0.0, 1.0, timeout=120)
    others = {known["plain"]["pid"]: "0-3,6-7,14-15", known["shared"]["pid"]: "2-3,6-7,14-15"}
    check(host, {task["pid"]: "2-3,6-7,12-15", known["a"]["pid"]: "4-5", **others})
    environment = host.call(story.environment, task["pid"])
    assert environment["PINFOLD_EXCLUSIVE_CPUS"] == "12-13" and environment["PINFOLD_CPUS"] == "2-3,6-7,12-15"
    assert environment["PINFOLD_SHARED_CPUS"] == "2-3,6-7,14-15"
    more, labels = finished(host.call(story.create, "latency", 2, "numa/1", timeout=90))
    assert labels["cpus"] == "6-7"
    check(host, {task["pid"]: "2-3,12-15", known["plain"]["pid"]: "0-3,14-15"}, 1)
    assert host.call(story.destroy, more, timeout=90)["state"] == "OPERATION_FINISHED"
    check(host, {task["pid"]: "2-3,6-7,12-15", known["plain"]["pid"]: "0-3,6-7,14-15"}, 1)
    assert host.call(story.end_task, task["task_id"], timeout=90) == "TASK_KILLED"
    assert host.call(story.destroy, mine, timeout=90)["state"] == "OPERATION_FINISHED"
    check(host, {known["plain"]["pid"]: "0-3,6-7,12-15", known["shared"]["pid"]: "2-3,6-7,12-15"}, 1)


def test_an_isolated_set(host: Machine, known: dict[str, Any]) -> None:
    set_id, labels = finished(host.call(story.create, "isolated", 2, "numa/3", timeout=90))
    assert labels["cpus"] == "12-13"
    remote = host.call(story.file, f"{BASE}/cpuset.cpus.exclusive") != "No such file or directory"
    partition = host.call(story.file, f"{BASE}/set.{set_id}/cpuset.cpus.partition")
    assert partition == ("isolated" if remote else "member")
    task = host.call(story.launch, "isolated", 4, [set_id], timeout=120)
    check(host, {task["pid"]: "12-13", known["plain"]["pid"]: "0-3,6-7,14-15"})
    assert host.call(story.end_task, task["task_id"], timeout=90) == "TASK_KILLED"
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"
    check(host, {known["plain"]["pid"]: "0-3,6-7,12-15"}, 1)


def test_a_shared_set_has_a_weight_and_a_bound(host: Machine, known: dict[str, Any]) -> None:
    set_id, labels = finished(host.call(story.create, "batch", 1, "numa/3", 1.5, timeout=90))
    assert labels["cgroup"] == f"{BASE}/shared/{set_id}" and labels["cpus"] == "2-3,6-7,12-15"
    assert host.call(story.file, f"{labels['cgroup']}/cpu.max") == "150000 100000"
    assert host.call(story.file, f"{labels['cgroup']}/cpu.weight") == "100"
    assert host.call(story.file, f"{BASE}/shared/{known['batch']}/cpu.max") == "max 100000"
    assert host.call(story.file, f"{BASE}/shared/{known['batch']}/cpu.weight") == "200"
    task = host.call(story.launch, "bounded", 4, [set_id], timeout=120)
    assert host.call(story.group, task["pid"]).startswith(f"0::{GROUP}/shared/{set_id}/task.")
    check(host, {task["pid"]: "2-3,6-7,12-15", known["a"]["pid"]: "4-5"})
    assert host.call(story.end_task, task["task_id"], timeout=90) == "TASK_KILLED"
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"


def test_a_revocable_set_gives_way(host: Machine, known: dict[str, Any]) -> None:
    """It has all that is revocable; the exclusive set that takes CPUs is there at once, its task is told why it ends."""
    before = host.call(story.raw_amounts)
    assert before == [{"numa/1": 2, "numa/3": 4}, {"numa/0": 2, "numa/1": 2, "numa/3": 4}]
    zones = ["numa/0", "numa/1", "numa/3"]
    set_id, labels = finished(host.call(story.create, "batch", [2, 2, 4], zones, None, True, timeout=90))
    assert host.call(story.file, f"{labels['cgroup']}/cpu.weight") == "8", "1 for each CPU, not 100"
    host.call(story.wait_raw, [before[0], {}], timeout=90)
    task = host.call(story.launch, "revoked", 4, [set_id], timeout=120)
    check(host, {task["pid"]: "2-3,6-7,12-15"})
    taker, labels = finished(host.call(story.create, "latency", 2, "numa/3", timeout=90))
    assert labels["cpus"] == "12-13"
    status = host.call(story.last_status, task["task_id"], timeout=90)
    assert (status["state"], status["reason"]) == ("TASK_LOST", "REASON_CONTAINER_PREEMPTED"), status
    assert f"set {set_id} is revoked" in status["message"], status
    kept = {known[name]: {"state": "OK"} for name in ("latency", "kept", "batch")}
    host.call(story.wait_sets, {set_id: {"state": None}, **kept}, timeout=90)
    assert not host.call(story.alive, task["pid"])
    assert host.call(story.file, f"{BASE}/shared/{set_id}/cpu.weight") == "No such file or directory"
    check(host, {known["shared"]["pid"]: "2-3,6-7,14-15", known["plain"]["pid"]: "0-3,6-7,14-15"})
    assert host.call(story.destroy, taker, timeout=90)["state"] == "OPERATION_FINISHED"
    host.call(story.wait_raw, before, timeout=90)
    check(host, {known["shared"]["pid"]: "2-3,6-7,12-15", known["plain"]["pid"]: "0-3,6-7,12-15"}, 1)


def test_compacting_moves_a_set_under_its_task(host: Machine, known: dict[str, Any]) -> None:
    """Made while a node was half taken, it lies on two; it goes to one when there is room, with the task's memory."""
    raw = host.call(story.raw_amounts)
    in_the_way, labels = finished(host.call(story.create, "latency", 2, "numa/3", timeout=90))
    assert labels["cpus"] == "12-13"
    set_id, labels = finished(host.call(story.create, "apart", [2, 2], ["numa/1", "numa/3"], timeout=90))
    assert (labels["cpus"], labels["mems"]) == ("6-7,14-15", "1,3")
    task = host.call(story.launch, "moves", 64, [set_id], timeout=120)
    told = host.call(story.environment, task["pid"])["PINFOLD_CPUSET_FILE"]
    assert host.call(story.destroy, in_the_way, timeout=90)["state"] == "OPERATION_FINISHED"
    check(host, {task["pid"]: "6-7,14-15", known["plain"]["pid"]: "0-3,12-13"}, 1)
    deadline = time.monotonic() + 90
    while sum(host.call(story.memory, task["pid"]).values()) < 64 * 256:  # it fills them one by one
        assert time.monotonic() < deadline

    def exclusive() -> dict[str, Any]:
        fields = ("cpus", "mems", "charges", "cgroup", "state", "created")
        found = host.call(story.sets)
        return {i: {k: one.get(k) for k in fields} for i, one in found.items() if one["type"] == "EXCLUSIVE"}

    before = exclusive()
    assert set(before) == {known["latency"], known["kept"], set_id}
    shown = host.run("pinfold", "sets", "compact", "--dry-run", timeout=120)["out"]
    assert set_id in shown and "6-7,14-15 -> 12-15" in shown and "1,3 -> 3" in shown and "nodes 2 -> 1" in shown, shown
    assert known["latency"] not in shown and known["kept"] not in shown, shown
    assert exclusive() == before, "nothing moves in a dry run"
    assert host.call(story.file, f"{BASE}/set.{set_id}/cpuset.cpus") == "6-7,14-15"
    done = host.run("pinfold", "sets", "compact", "--yes", "--json", timeout=120)
    (move,) = (move for provider in json.loads(done["out"]) for move in provider["moves"])
    assert (move["cpuset_id"], move["done"], move["to_cpus"], move["to_mems"]) == (set_id, True, "12-15", "3")
    host.call(story.wait_file, told, "PINFOLD_CPUS=12-15", timeout=90)
    after = {"cpus": "12-15", "mems": "3"}
    assert host.call(story.wait_sets, {set_id: after}, timeout=90)[set_id]["charges"] == [{"zone": "numa/3", "cpus": 4}]
    others = {known["a"]["pid"]: "4-5", known["b"]["pid"]: "8-11", known["shared"]["pid"]: "2-3,6-7"}
    check(host, {task["pid"]: "12-15", known["plain"]["pid"]: "0-3,6-7", **others})
    assert host.call(enforce.watch, [task["pid"]], 0)[str(task["pid"])]["mems"] == "3"
    assert host.call(story.file, f"{BASE}/set.{set_id}/cpuset.mems.effective") == "3"
    assert set(host.call(story.memory, task["pid"])) == {"3"}
    now = exclusive()
    assert {**now, set_id: None} == {**before, set_id: None}, "no other set was touched"
    assert host.call(story.end_task, task["task_id"], timeout=90) == "TASK_KILLED"
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"
    host.call(story.wait_raw, raw, timeout=90)
    check(host, {known["plain"]["pid"]: "0-3,6-7,12-15", known["shared"]["pid"]: "2-3,6-7,12-15"}, 1)


def test_a_refusal_says_what_would_fit(host: Machine) -> None:
    done = host.call(story.create, "latency", 3, "numa/3", timeout=90)
    assert done["state"] == "OPERATION_FAILED" and "2" in done["message"], done


def test_a_cpu_goes_and_comes_back(host: Machine, known: dict[str, Any]) -> None:
    host.call(enforce.set_online, 9, False)
    found = host.call(story.wait_sets, {known["kept"]: {"state": "DEGRADED"}}, timeout=90)
    assert "9" in found[known["kept"]]["reason"] and found[known["latency"]]["state"] == "OK", found
    check(host, {known["b"]["pid"]: "8,10-11", known["a"]["pid"]: "4-5", known["plain"]["pid"]: "0-3,6-7,12-15"})
    host.call(enforce.set_online, 9, True)
    host.call(story.wait_sets, {known["kept"]: {"state": "OK"}}, timeout=90)
    check(host, {known["b"]["pid"]: "8-11", known["plain"]["pid"]: "0-3,6-7,12-15"})


def test_drift_is_repaired(host: Machine, known: dict[str, Any]) -> None:
    host.call(enforce.write, f"{BASE}/plain/cpuset.cpus", "0-15")
    deadline = time.monotonic() + 60
    while host.call(story.file, f"{BASE}/plain/cpuset.cpus.effective") != "0-3,6-7,12-15":
        assert time.monotonic() < deadline
        time.sleep(0.5)
    check(host, {known["plain"]["pid"]: "0-3,6-7,12-15"}, 1)


def test_provider_and_agent_die(host: Machine, known: dict[str, Any]) -> None:
    """Tasks stay where they are; the sets are there again."""
    names = ("plain", "shared", "a", "b")
    host.call(story.kill, "provider")
    before = host.call(story.kill, "agent")
    assert all(host.call(story.alive, known[name]["pid"]) for name in names)
    assert host.call(story.wait_agent, before, timeout=260) != before, "systemd started it again"
    host.call(
        story.wait_sets, {known[name]: {"state": "OK"} for name in ("latency", "kept", "batch")}, 120, timeout=150
    )
    assert all(host.call(story.alive, known[name]["pid"]) for name in names)
    may = ("0-3,6-7,12-15", "2-3,6-7,12-15", "4-5", "8-11")
    check(host, {known[name]["pid"]: cpus for name, cpus in zip(names, may, strict=True)})
    host.call(story.wait_resubscribed, timeout=220)
    set_id, _ = finished(host.call(story.create, "latency", 2, "numa/3", timeout=120))
    assert host.call(story.destroy, set_id, timeout=90)["state"] == "OPERATION_FINISHED"


def test_pinfold_run(host: Machine, known: dict[str, Any]) -> None:
    command = "cat /proc/self/status; echo $PINFOLD_CPUS; exit 7"
    host.call(story.step_aside)
    done = host.run(
        *("pinfold", "run", "--profile", "latency", "--cpus", "2", "--zone", "numa/3", "--", "sh", "-c", command),
        timeout=150,
        check=False,
    )
    host.call(story.step_back)
    assert done["code"] == 7, done
    assert "Cpus_allowed_list:\t12-13" in done["out"] and "Mems_allowed_list:\t3" in done["out"], done
    assert done["out"].rstrip().endswith("12-13")
    check(host, {known["plain"]["pid"]: "0-3,6-7,12-15"}, 1)


def test_the_power_fails(host: Machine, known: dict[str, Any]) -> None:
    """The sets that live with their role are there again with their CPUs; the tasks are gone, and say so once."""
    framework_id = host.call(story.framework_id)
    host.kill()
    host.start()
    host.call(story.wait_agent, timeout=260)
    host.call(story.resubscribe, framework_id, timeout=60)
    found = host.call(story.wait_sets, {known[name]: {"state": "OK"} for name in ("kept", "batch")}, 200, timeout=230)
    assert found[known["kept"]]["cpus"] == "8-11" and found[known["latency"]]["cpus"] == "4-5"
    for name in ("plain", "shared", "a", "b"):
        assert host.call(story.last_state, known[name]["task_id"], timeout=90) in (
            "TASK_LOST",
            "TASK_FAILED",
            "TASK_GONE",
        )
    assert host.call(story.file, f"{BASE}/set.{known['kept']}/cpuset.cpus.effective") == "8-11"
    assert host.call(story.file, f"{BASE}/plain/cpuset.cpus.effective") == "0-3,6-7,12-15"
    task = host.call(story.launch, "again", 64, [known["kept"]], timeout=120)
    check(host, {task["pid"]: "8-11"})
    assert set(host.call(story.memory, task["pid"])) == {"2"}
