"""Sets while they live, through a real agent and a real provider on a host of two nodes (files): how far they can grow
is told beforehand, they are resized both ways at once, and moved where the operator asks for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_api.wire import mesos_pb2
from tests.functional.fakeagent import write_sysfs
from tests.functional.harness import (
    AgentProcess,
    Framework,
    create_cpuset,
    destroy_cpuset,
    is_raw,
    is_set,
    provider_config,
    running_agent,
    take,
    wait_for,
)
from tests.unit.hosts import D16

FINISHED = mesos_pb2.OPERATION_FINISHED
PROFILES = {
    "any": {"lifetime": "role"},
    "bound": {"lifetime": "role", "memory": {"policy": "bind", "mode": "required"}},
    "batch": {"mode": "shared", "lifetime": "role"},
}


@pytest.fixture(params=["files as cgroups", "affinity"])
def agent(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[AgentProcess]:
    root = write_sysfs(tmp_path / "host", D16)
    tree = tmp_path / "cg"
    tree.mkdir()
    for name, text in (("cgroup.controllers", "cpuset cpu"), ("cpuset.cpus.effective", "0-15")):
        (tree / name).write_text(text)
    (tree / "cpuset.mems.effective").write_text("0-1")
    cgroup_root = "none" if request.param == "affinity" else str(tree)
    with running_agent(tmp_path, "--sysfs-root", str(root), cgroup_root=cgroup_root) as started:
        matrix = {"profile_matrix": {name: {"cpuset": rules} for name, rules in PROFILES.items()}}
        added = started.agent_call(
            {
                "type": "ADD_RESOURCE_PROVIDER_CONFIG",
                "add_resource_provider_config": {"info": provider_config(tmp_path, profiles=matrix)},
            }
        )
        assert added.status_code == 200, added.text
        started.wait_ready()
        yield started


def pinfold(agent: AgentProcess, *arguments: str, status: int = 0, answer: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", *arguments, "--agent", agent.agent_url],
        capture_output=True,
        text=True,
        timeout=60,
        input=answer,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def sets(agent: AgentProcess) -> dict[str, dict[str, Any]]:
    """By profile."""
    (provider,) = agent.agent_get("GET_CPUSETS")["providers"]
    return {one["profile"]: one for one in provider.get("cpusets", [])}


def in_zone(offer: mesos_pb2.Offer, zone: str) -> mesos_pb2.Resource:
    return next(r for r in offer.resources if is_raw(r) and r.cpu.source.zone == zone)


def make(framework: Framework, name: str, profile: str, **amounts: int) -> mesos_pb2.OperationStatus:
    offer, _ = framework.offer(is_raw)
    sources = [take(in_zone(offer, f"numa/{zone[1:]}"), amount) for zone, amount in amounts.items()]
    framework.accept([offer], create_cpuset(name, profile, *sources))
    return concluded(framework, name)


def concluded(framework: Framework, name: str) -> mesos_pb2.OperationStatus:
    status = framework.status_of(name)
    assert status.state == FINISHED, status.message
    framework.acknowledge_operation(status)
    return status


def test_growth_is_told_and_a_set_is_resized_both_ways_at_once(agent: AgentProcess) -> None:
    framework = Framework(agent.master_url)
    framework.subscribe()
    make(framework, "one", "any", n0=4, n1=2)
    wait_for(lambda: "any" in sets(agent))
    before = sets(agent)["any"]
    # Of 8 CPUs a node 2 are the floor's in node 0; 4 and 2 are taken.
    assert before["growth"] == 2 + 6
    offer, whole = framework.offer(is_set)
    mine = [r for r in offer.resources if is_set(r)]
    assert len(mine) == 2 and whole in mine
    resize = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.RESIZE_CPUSET)
    resize.id.value = "both"
    resize.resize_cpuset.cpuset.extend(mine)
    resize.resize_cpuset.add.append(take(in_zone(offer, "numa/1"), 4))
    resize.resize_cpuset.subtract.append(take(next(r for r in mine if r.cpu.source.zone == "numa/0"), 2))
    framework.accept([offer], resize)
    status = concluded(framework, "both")
    assert sum(r.scalar.value for r in status.converted_resources if is_set(r)) == 8
    wait_for(lambda: sets(agent)["any"]["cpus"] != before["cpus"])
    after = sets(agent)["any"]
    assert {c["zone"]: c["cpus"] for c in after["charges"]} == {"numa/0": 2, "numa/1": 6}
    assert after["growth"] == 4 + 2
    assert [one["growth"] for one in json.loads(pinfold(agent, "sets", "--json"))] == [6]
    make(framework, "two", "bound", n0=2)
    make(framework, "three", "batch", n1=1)
    wait_for(lambda: len(sets(agent)) == 3)
    assert {name: one["growth"] for name, one in sets(agent).items()} == {"any": 2 + 1, "bound": 2, "batch": 1}
    # Everything that was made of RAW and not given to a set is offered, once.
    offer, _ = framework.offer(is_set)
    assert sum(r.scalar.value for r in offer.resources if is_raw(r) or is_set(r)) == 14


def test_sets_are_moved_where_the_operator_asks_for_it(agent: AgentProcess) -> None:
    framework = Framework(agent.master_url)
    framework.subscribe()
    assert "no set would be better off elsewhere" in pinfold(agent, "sets", "compact", "--dry-run")
    make(framework, "apart", "any", n0=2, n1=2)
    wait_for(lambda: "any" in sets(agent))
    before = sets(agent)["any"]
    if before["enforcement"] == "affinity":
        assert "tasks that run cannot be moved" in pinfold(agent, "sets", "compact", "--yes")
        assert sets(agent)["any"] == before
        return
    shown = pinfold(agent, "sets", "compact", "--dry-run")
    assert "nodes 2 -> 1" in shown and "Move them?" not in shown
    assert "Move them?" in pinfold(agent, "sets", "compact", status=1, answer="n\n")
    assert "there is no set 'none-such'" in pinfold(agent, "sets", "compact", "none-such", status=1)
    assert sets(agent)["any"] == before, "nothing moves without being asked for"
    directory = Path(before["cgroup"])
    assert "nodes 2 -> 1" in pinfold(agent, "sets", "compact", before["id"], answer="y\n")
    wait_for(lambda: sets(agent)["any"]["cpus"] != before["cpus"])
    after = sets(agent)["any"]
    assert [c["zone"] for c in after["charges"]] == ["numa/0"] and after["id"] == before["id"]
    assert (directory / "cpuset.cpus").read_text() == after["cpus"]
    assert "no set would be better off elsewhere" in pinfold(agent, "sets", "compact")
    # Offers, operations and the set's own resources go on with what is there now.
    for attempt in range(5):
        offer, one = framework.offer(is_set)
        framework.accept([offer], destroy_cpuset(f"gone-{attempt}", one))
        status = framework.status_of(f"gone-{attempt}")
        if "no longer valid" not in status.message:
            break
    assert status.state == FINISHED, status.message
    wait_for(lambda: not sets(agent))
    assert not directory.exists()
