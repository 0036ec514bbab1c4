"""Profiles on a real agent with a real provider: what is shown of them, and that no source, however it misbehaves,
holds up offers and operations."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api.wire import mesos_pb2
from tests.functional.harness import (
    AgentProcess,
    Framework,
    alive,
    create_cpuset,
    destroy_cpuset,
    is_raw,
    is_set,
    provider_config,
    running_agent,
    take,
    wait_for,
)
from tests.functional.test_profile_source import GOOD, Server, as_body

pytestmark = [
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="an exclusive set beside the floor needs two CPUs"),
    pytest.mark.timeout(400),
]
FINISHED = mesos_pb2.OPERATION_FINISHED


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path) as started:
        yield started


def source_of(agent: AgentProcess) -> dict[str, Any]:
    (provider,) = agent.agent_get("GET_PROFILES")["providers"]
    found: dict[str, Any] = provider["source"]
    return found


def states(agent: AgentProcess) -> dict[str, tuple[str, bool]]:
    (provider,) = agent.agent_get("GET_PROFILES")["providers"]
    return {p["name"]: (p["state"], p["placeable"]) for p in provider.get("profiles", [])}


def figures(agent: AgentProcess) -> dict[str, float]:
    lines = [
        line for line in requests.get(f"{agent.agent_url}/metrics", timeout=10).text.splitlines() if "#" not in line
    ]
    return {name.removeprefix("pinfold_pinfold_"): float(value) for name, value in map(str.split, lines)}


def listing(agent: AgentProcess, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", "profiles", "--agent", agent.agent_url, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def profile_set(framework: Framework, operation_id: str, profile: str) -> None:
    offer, raw = framework.offer(is_raw)
    framework.accept([offer], create_cpuset(operation_id, profile, take(raw, 1)))
    status = framework.status_of(operation_id)
    assert status.state == FINISHED, status.message
    framework.acknowledge_operation(status)


def drop_set(framework: Framework, operation_id: str) -> None:
    for attempt in range(5):
        offer, _ = framework.offer(is_set)
        name = f"{operation_id}-{attempt}"
        framework.accept([offer], destroy_cpuset(name, *(r for r in offer.resources if is_set(r))))
        status = framework.status_of(name)
        if status.state == mesos_pb2.OPERATION_ERROR and "no longer valid" in status.message:
            continue  # an offer from before the provider came anew
        assert status.state == FINISHED, status.message
        framework.acknowledge_operation(status)
        return
    raise AssertionError(status.message)


def test_listing_states_metrics_and_restart(agent: AgentProcess, tmp_path: Path) -> None:
    here, elsewhere = (
        {"resource_providers": [{"type": "org.pinfold.rp.cpu", "name": name}]} for name in ("host", "elsewhere")
    )
    matrix: dict[str, Any] = {
        "used": {"cpuset": {}},
        "idle": {"cpuset": {}},
        "mine": {"resource_provider_selector": here, "cpuset": {}},
        "other": {"resource_provider_selector": elsewhere, "cpuset": {}},
        "card": {"cpuset": {"device": {"match": "net:none-such"}}},
    }
    config = provider_config(tmp_path, profiles={"profile_matrix": matrix})
    added = agent.agent_call({"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": config}})
    assert added.status_code == 200, added.text
    wait_for(lambda: "used" in states(agent))
    assert states(agent) == {name: ("ACTIVE", name != "card") for name in ("used", "idle", "mine", "card")}
    shown = listing(agent)
    assert "this host cannot meet it: device 'net:none-such' (required): no device on this host matches" in shown
    framework = Framework(agent.master_url)
    framework.subscribe()
    profile_set(framework, "made", "used")

    # Replaced as editors do: what is in use is refused by itself, the rest of the document is taken.
    path = tmp_path / "profiles.json"
    matrix["used"]["cpuset"] = {"placement": "spread"}
    matrix["new"] = {"cpuset": {"mode": "shared"}}
    del matrix["idle"]
    draft = tmp_path / ".profiles.json.swp"
    draft.write_text(json.dumps({"profile_matrix": matrix}))
    draft.rename(path)
    wait_for(lambda: "new" in states(agent))
    assert states(agent) == {
        "used": ("CHANGE_REFUSED", True),
        "idle": ("INACTIVE", True),
        "mine": ("ACTIVE", True),
        "new": ("ACTIVE", True),
        "card": ("ACTIVE", False),
    }
    rows = {row.split()[1]: row for row in listing(agent).splitlines() if row.startswith("host ")}
    assert 'the document changes placement from "pack" to "spread" while sets use it' in rows["used"]
    assert "it is not in the document" in rows["idle"]
    seen = figures(agent)
    assert [seen[f"profiles_{n}"] for n in ("active", "inactive", "change_refused", "not_placeable")] == [3, 1, 1, 1]
    assert seen["profile_source_ok"] == 1
    assert seen["profile_last_fetch_age_secs"] < 15

    # The file goes, and then the provider: what was good is in force.
    path.unlink()
    wait_for(lambda: not source_of(agent)["ok"])
    assert figures(agent)["profile_source_ok"] == 0
    assert "No such file or directory" in listing(agent).splitlines()[-1]
    before = states(agent)
    since = source_of(agent)["in_force_since"]
    old = agent.provider_pid()
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: not alive(old) and agent.provider_pid() != old and states(agent) == before, 60)
    assert source_of(agent)["in_force_since"] == since
    json_seen = json.loads(listing(agent, "--json"))
    assert {p["name"]: p["state"] for p in json_seen[0]["profiles"]} == {name: one[0] for name, one in before.items()}

    # Its last set goes while the file is missing still: the change is made.
    drop_set(framework, "gone")
    wait_for(lambda: states(agent)["used"] == ("ACTIVE", True))
    assert "placement=spread" in next(row for row in listing(agent).splitlines() if row.split()[1] == "used")
    path.write_text(json.dumps({"profile_matrix": {"idle": {"cpuset": {}}}}))
    wait_for(lambda: states(agent)["idle"][0] == "ACTIVE" and states(agent)["used"][0] == "INACTIVE", 60)


# -- a source that misbehaves -----------------------------------------------------------------------------------------

MONITORED = """
import logging, signal, sys, time
from pathlib import Path
from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from provider import service

busiest, last = 0.0, None

def tick():
    # No turn that lies between two calls used more CPU time of the reactor's thread than this. Of the time that passes,
    # other programs on the machine take what they want.
    global busiest, last
    now = time.thread_time()
    if last is not None:
        busiest = max(busiest, now - last)
    last = now

def tell(*_):
    global busiest
    Path(result).with_suffix(".new").write_text(str(busiest))
    Path(result).with_suffix(".new").rename(result)
    busiest = 0.0

logging.basicConfig(level="INFO")
url, config, work_dir, name, result = sys.argv[1:]
signal.signal(signal.SIGUSR1, tell)
reactor.callWhenRunning(lambda: reactor.callLater(1, LoopingCall(tick).start, 0.005))
sys.exit(service.run(service.Options(Path(config), Path(work_dir), url, cgroup_name=name), reactor))
"""

QUICK = [
    ("/status?500", "HTTP status 500"),
    ("/html", "this looks like an HTML"),
    (as_body(b"{}"), "$.profile_matrix: is missing"),
    (as_body(b""), "the document is empty"),
    ("/cut", "cut the answer off"),
    ("/huge", "more than the 1048576 allowed"),
    ("/huge-open", "more than the 1048576 bytes allowed"),
    ("/gzip-bomb", "once unpacked"),
    ("/loop", "more than 5 redirects"),
    ("/to?file:///etc/passwd", "which is not http or https"),
    ("/garbage", "not valid HTTP or broke off"),
    ("/status?404", "HTTP status 404"),
    ("/not-modified", "there is no document that was asked about"),
]


def test_offers_and_operations_go_on_while_the_source_misbehaves(agent: AgentProcess, tmp_path: Path) -> None:
    server = Server()
    server.put(GOOD)
    config = provider_config(tmp_path)
    config["cpu"]["profiles"] = {"uri": server.url("/doc", user="me:secret"), "poll_interval_seconds": 0.2}
    (tmp_path / "config.json").write_text(json.dumps(config))
    result = tmp_path / "worst"
    log = (tmp_path / "provider.log").open("wb")
    work_dir = tmp_path / "provider"
    arguments = (agent.agent_url, tmp_path / "config.json", work_dir, agent.cgroup_name, result)
    provider = subprocess.Popen([sys.executable, "-c", MONITORED, *map(str, arguments)], stdout=log, stderr=log)
    try:
        agent.wait_ready()
        wait_for(lambda: "a" in states(agent))
        framework = Framework(agent.master_url)
        framework.subscribe()

        rounds = itertools.count()

        def work() -> None:
            number = next(rounds)
            profile_set(framework, f"make-{number}", "a")
            drop_set(framework, f"drop-{number}")

        def held_up() -> float:
            """The most CPU time that the provider's reactor used in one turn since this was asked last, in seconds."""
            result.unlink(missing_ok=True)
            provider.send_signal(signal.SIGUSR1)
            return float(wait_for(result.read_text))

        def least(what: Callable[[], None], times: int = 4) -> float:
            """A hold-up of ours is there each time; a slow moment of the machine is not."""
            found: list[float] = []
            while len(found) < times and min(found, default=1.0) >= 0.05:
                held_up()
                what()
                found.append(held_up())
            print(f"longest turns in ms of CPU time: {[round(1000 * one) for one in found]}")
            return min(found)

        def quick() -> None:
            for path, expected in QUICK:
                requests.put(server.url("/doc"), json={"as": path}, timeout=5).raise_for_status()
                wait_for(lambda expected=expected: expected in source_of(agent)["outcome"], 30)
                work()
                assert states(agent)["a"] == ("ACTIVE", True)
                # Good again, so that the waits between looks stay short.
                server.put(GOOD)
                wait_for(lambda: source_of(agent)["ok"], 30)

        def large() -> None:
            """As many profiles as a document may have, each time others that were not seen before."""
            shapes = [{}, {"core_siblings": "required"}, {"placement": "spread"}, {"cache": {"llc": "required"}}]
            names = [f"p{next(rounds)}-{index}" for index in range(999)]
            matrix = {name: {"description": "x" * 600, "cpuset": shapes[i % 4]} for i, name in enumerate(["a", *names])}
            server.put(json.dumps({"profile_matrix": matrix}))
            wait_for(lambda: names[-1] in states(agent), 90)
            work()

        assert least(quick) < 0.05
        assert least(large) < 0.05
        server.put(GOOD)
        wait_for(lambda: states(agent).get("a") == ("ACTIVE", True) and source_of(agent)["ok"])
        requests.put(server.url("/doc"), json={"as": "/drip"}, timeout=5).raise_for_status()
        end = time.monotonic() + 60
        while "not complete within 30 s" not in source_of(agent)["outcome"]:
            assert time.monotonic() < end
            work()
        server.stop()
        wait_for(lambda: "refused" in source_of(agent)["outcome"], 60)
        work()
        server.start()
        server.put(GOOD)
        wait_for(lambda: source_of(agent)["ok"], 60)
        work()
        assert provider.poll() is None
        provider.send_signal(signal.SIGTERM)
        assert provider.wait(30) == 0
    finally:
        provider.kill()
        provider.wait()
        server.stop()
        log.close()
    said = (tmp_path / "provider.log").read_text()
    # Subscribed once, and never anything but READY from then on.
    assert said.count("READY (reported)") == 1, said
    assert "secret" not in said
    assert "Traceback" not in said
