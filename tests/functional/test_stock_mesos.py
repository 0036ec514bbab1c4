"""The provider as a process against a stock Mesos agent that is played from recordings (`stockagent` says how)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_api.wire import mesos_pb2
from tests.functional.stockagent import (
    AGAIN,
    AGENT_ID,
    DATA,
    FIRST,
    NO_LABELS,
    RECORDED,
    REFUSED,
    REMOVED,
    StockAgent,
    in_totals,
    labelled,
    recorded,
)
from tests.functional.test_client import Process

GOLDEN = Path(__file__).parents[3] / "shared/wire/golden"
FRAMEWORK = "6ebad4cf-5874-4199-9fb2-feab5ba2b945-0000"
RAW = 6.0
"""Of S8: 8 CPUs without the floor of one core."""
WEB = ("test", "pinfold.profile=whole", "pinfold.set=web-1")


@pytest.fixture
def agent() -> Iterator[StockAgent]:
    made = StockAgent()
    yield made
    made.close()
    assert not made.problems


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    made = Process(tmp_path)
    yield made
    if made.process is not None:
        made.stop(signal.SIGKILL)


def start(process: Process, agent: StockAgent, form: str = "json") -> None:
    process.start(agent.url, "--engine", "mesos", "--content-type", form)


def test_the_recordings_are_the_recorded_ones() -> None:
    """Each entry, and each event to its length, is what was recorded."""
    if not GOLDEN.is_dir():
        pytest.skip("the recordings are not here")
    found: dict[str, list[dict[str, object]]] = {}
    for name in ("3-rp", "4-sched"):
        for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found.setdefault(entry["name"], []).append(entry["response"])
    for source, mine in RECORDED.items():
        same = [one for one in found[source] if one["headers"] == mine["headers"]]
        if "body" in mine:
            assert any(one["body"] == mine["body"] for one in same)
            continue
        events = max((one["events"] for one in same), key=len)
        assert [json.loads(text) if text else text for text in mine["events"]] == [
            "" if "base64" in one["event"] else one["event"] for one in events
        ]
        assert [len(text) for text in mine["events"] if text] == [
            one["length"] for one in events if "base64" not in one["event"]
        ]
    assert DATA.stat().st_size < 20000


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_a_whole_life(agent: StockAgent, process: Process, form: str) -> None:
    start(process, agent, form)
    stream = agent.subscribed()
    info = stream.call.subscribe.resource_provider_info
    assert (info.type, info.name) == ("org.pinfold.rp.cpu", "host")
    assert not info.HasField("id")
    assert agent.seen[:2] == ["POST /slave(1)/api/v1", "POST /slave(1)/api/v1/resource_provider"]
    state = agent.state()
    assert in_totals(state.resources) == {(): RAW}
    assert not state.operations
    version = state.resource_version_uuid.value

    # A set by RESERVE, a larger one by another, and back by UNRESERVE.
    text = labelled(recorded(FIRST, "op-reserve-1"), profile="whole", set="web-1")
    uuid = stream.apply(text, version)
    update = agent.status()
    assert update.operation_uuid.value == uuid
    assert update.framework_id.value == FRAMEWORK
    assert update.status.operation_id.value == "op-reserve-1"
    assert update.status.state == mesos_pb2.OPERATION_FINISHED, update.status.message
    assert in_totals(update.status.converted_resources) == {(WEB,): 2}
    assert "set web-1 made: CPUs 1,5" in process.text()
    stream.acknowledge(update)
    process.until("acknowledged")
    # The same operation again is not done again.
    stream.apply(text, version)
    assert agent.status().status.uuid.value == update.status.uuid.value
    no_id = labelled(recorded(FIRST, "BVzuxXtyTGyjsAM6"), profile="whole", set="web-1")
    stream.apply(no_id.replace('"value":1.0', '"value":2.0'), version)
    update = agent.status()
    assert not update.status.HasField("operation_id")
    assert in_totals(update.status.converted_resources) == {(WEB,): 2}
    assert "set web-1 resized from 2 CPUs: CPUs 1-2,5-6" in process.text()
    stream.acknowledge(update)
    unreserve = labelled(recorded(FIRST, "op-unreserve-1"), profile="whole", set="web-1")
    stream.apply(unreserve, version)
    update = agent.status()
    assert in_totals(update.status.converted_resources) == {(): 2}
    stream.acknowledge(update)

    # What a task is to use must be a set; tasks beside it are published with it.
    published = labelled(recorded(FIRST, '"PUBLISH_RESOURCES"', 5), profile="whole", set="web-1")
    assert stream.publish(published).status == 1
    assert stream.publish(recorded(FIRST, '"PUBLISH_RESOURCES"')).status == 2
    assert "1 cpus unreserved are no set" in process.text()

    # As recorded, without a label: an ordinary reservation of RAW.
    stream.apply(recorded(FIRST, '"op-noalloc"'), version)
    update = agent.status()
    assert in_totals(update.status.converted_resources) == {(("test",),): 1}
    stream.acknowledge(update)

    # Mesos has moved the amount already: a failure tells the totals anew, under another version.
    stream.apply(labelled(recorded(FIRST, "op-OPERATION_FAILED"), profile="nope"), version)
    update = agent.status()
    assert update.status.state == mesos_pb2.OPERATION_FAILED
    assert "label pinfold.profile: unknown profile 'nope'; known are any, whole" in update.status.message
    totals = {(): RAW - 3, (("test",),): 1, (WEB,): 2}
    state = agent.state()
    assert in_totals(state.resources) == totals
    assert state.resource_version_uuid.value != version
    assert [entry.agent_id.value for entry in state.operations] == [AGENT_ID]
    stream.acknowledge(update)
    # What was decided before that is dropped, and told as well.
    stream.apply(recorded(FIRST, "op-OPERATION_DROPPED"), version)
    update = agent.status()
    assert update.status.state == mesos_pb2.OPERATION_DROPPED
    again = agent.state()
    assert in_totals(again.resources) == totals
    assert again.resource_version_uuid.value == state.resource_version_uuid.value
    stream.acknowledge(update)
    version = state.resource_version_uuid.value
    # Half a CPU is none.
    stream.apply(recorded(FIRST, '"op-dup"'), version)
    update = agent.status()
    assert "a whole number of CPUs above 0 is needed, got 0.5" in update.status.message
    version = agent.state().resource_version_uuid.value
    stream.acknowledge(update)

    # Killed before the acknowledgement: the set is there, the status comes again, as the same one.
    waiting = stream.apply(labelled(recorded(FIRST, "op-pending"), profile="any"), version)
    update = agent.status()
    assert update.status.state == mesos_pb2.OPERATION_FINISHED
    process.stop(signal.SIGKILL)
    assert stream.gone.wait(20)
    start(process, agent, form)
    stream = agent.subscribed()
    assert stream.call.subscribe.resource_provider_info.id.value == agent.provider_id(stream.media)
    totals = {(): RAW - 4, (("test",),): 1, (WEB,): 2, (("test", "pinfold.profile=any"),): 1}
    state = agent.state()
    assert in_totals(state.resources) == totals
    assert state.resource_version_uuid.value == version
    (entry,) = state.operations
    assert (entry.uuid.value, entry.agent_id.value) == (waiting, AGENT_ID)
    assert entry.latest_status.state == mesos_pb2.OPERATION_FINISHED
    resent = agent.status()
    assert resent.status.uuid.value == update.status.uuid.value
    stream.acknowledge(resent)

    # An operation that never came here.
    stream.play(recorded(AGAIN, '"RECONCILE_OPERATIONS"'))
    update = agent.status()
    assert update.status.state == mesos_pb2.OPERATION_DROPPED
    assert in_totals(agent.state().resources) == totals
    stream.acknowledge(update)
    stream.play(recorded(REMOVED, '"TEARDOWN"'))
    assert process.process is not None
    assert process.process.wait(20) == 0
    assert agent.calls.empty()


def test_the_agent_goes_and_comes_back(agent: StockAgent, process: Process) -> None:
    """The stream's end is no end; an agent that does not tell its id hears of no operation in UPDATE_STATE."""
    start(process, agent)
    stream = agent.subscribed()
    version = agent.state().resource_version_uuid.value
    stream.apply(labelled(recorded(FIRST, "op-reserve-1"), profile="any"), version)
    update = agent.status()
    agent.tell_id = False
    stream.out.put(None)
    again = agent.subscribed()
    assert again.source == AGAIN
    state = agent.state()
    assert not state.operations
    assert in_totals(state.resources) == {(): RAW - 2, (("test", "pinfold.profile=any"),): 2}
    process.until("the agent does not tell its id")
    assert agent.status().status.uuid.value == update.status.uuid.value


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_a_task_that_mesos_starts(agent: StockAgent, process: Process, tmp_path: Path, form: str) -> None:
    """Its container is found by what the agent tells of it, and kept in the set; others are kept off the set."""
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("CPUs 0 and 1 are needed")
    command = [sys.executable, "-c", "print('ready', flush=True); import time; time.sleep(120)"]
    tasks = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        root = tmp_path / "cgroup/mesos"
        for path, pid in (
            (root.parent, None),
            (root, None),
            (root / "85703b46-a5d9-43e9-8261-fd0fb66092d6", tasks[0].pid),
            (root / "0b1c", tasks[1].pid),
        ):
            path.mkdir(parents=True, exist_ok=True)
            (path / "cgroup.procs").write_text("" if pid is None else f"{pid}\n")
        for task in tasks:
            assert task.stdout is not None
            task.stdout.readline()
            os.sched_setaffinity(task.pid, {0, 1})
        shown = RECORDED["4-sched/view-10-running-agent-GET_TASKS"]["body"]
        mine = f'"allocation_info":{{"role":"test"}},{NO_LABELS}}},{{"name":"mem"'
        agent.tasks = labelled(
            shown.replace('"allocation_info":{"role":"test"}},{"name":"mem"', mine), profile="whole", set="web-1"
        )
        process.start(
            agent.url,
            "--engine",
            "mesos",
            "--content-type",
            form,
            "--task-cgroup-root",
            str(root),
            "--log-level",
            "debug",
        )
        stream = agent.subscribed()
        version = agent.state().resource_version_uuid.value
        stream.apply(labelled(recorded(FIRST, "op-reserve-1"), profile="whole", set="web-1"), version)
        assert agent.status().status.state == mesos_pb2.OPERATION_FINISHED
        published = labelled(recorded(FIRST, '"PUBLISH_RESOURCES"', 5), profile="whole", set="web-1")
        assert stream.publish(published).status == 1
        process.until("task cgroup 85703b46-a5d9-43e9-8261-fd0fb66092d6 belongs to set web-1")
        # Of the set's CPUs, 1 and 5, this host may have the first only.
        end = time.monotonic() + 20
        while 1 not in os.sched_getaffinity(tasks[0].pid):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert 0 not in os.sched_getaffinity(tasks[0].pid)
        assert 0 in os.sched_getaffinity(tasks[1].pid)
        assert 1 not in os.sched_getaffinity(tasks[1].pid)
    finally:
        for task in tasks:
            task.kill()
            task.communicate()


def test_an_agent_that_refuses_the_provider(agent: StockAgent, process: Process) -> None:
    agent.plan = [REFUSED]
    start(process, agent)
    agent.subscribed()
    process.until("it refuses this provider's id, type or name")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--task-cgroup-root .*: only with --engine mesos"),
        (("--engine", "mesos"), "--task-cgroup-root .*: is no cgroup directory"),
    ],
)
def test_a_root_of_cgroups_that_is_none(process: Process, options: tuple[str, ...], words: str) -> None:
    process.start("http://127.0.0.1:9", "--task-cgroup-root", str(process.directory), *options)
    assert process.process is not None
    assert process.process.wait(30) == 1
    assert re.search(words, process.text())
