"""The provider as a process, against an agent that speaks real HTTP: subscribe, work, lose the agent, come back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_api.wire import mesos_pb2, pinfold_pb2
from provider.client import parse_target
from provider.errors import ConfigError
from tests.functional.fakeagent import Call, Event, FakeAgent, Stream, apply, write_sysfs
from tests.functional.provider_world import create, destroy
from tests.unit.hosts import S8

ROOT = Path(__file__).resolve().parents[2]
PROFILES = {
    "profile_matrix": {"any": {"cpuset": {"lifetime": "role"}}, "whole": {"cpuset": {"core_siblings": "required"}}}
}


class Process:
    """One `pinfold provider` with its directory."""

    def __init__(self, directory: Path, **cpu: Any) -> None:
        self.directory = directory
        self.root = write_sysfs(directory / "host", S8)
        self.profiles = directory / "profiles.json"
        self.profiles.write_text(json.dumps(PROFILES))
        self.config = directory / "config.json"
        self.write_config(profiles={"uri": str(self.profiles), "poll_interval_seconds": 0.5}, **cpu)
        self.log = directory / "log"
        self.cgroup_root = "none"
        self.process: subprocess.Popen[bytes] | None = None

    def write_config(self, **cpu: Any) -> None:
        self.config.write_text(json.dumps({"type": "org.pinfold.rp.cpu", "name": "host", "cpu": cpu}))

    def command(self, *more: str) -> list[str]:
        return [
            *(sys.executable, "-m", "agent_api.cli.main", "provider", "--config", str(self.config)),
            *("--work-dir", str(self.directory / "work"), "--sysfs-root", str(self.root)),
            *("--cgroup-root", self.cgroup_root),
            *more,
        ]

    def start(self, url: str, *more: str) -> Process:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command("--agent", url, *more), stderr=log, stdout=log, cwd=ROOT)
        return self

    def stop(self, sig: int = signal.SIGTERM) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(20)

    def text(self) -> str:
        return self.log.read_text()

    def until(self, words: str, timeout: float = 20.0) -> None:
        end = time.monotonic() + timeout
        while words not in self.text():
            assert time.monotonic() < end, f"{words!r} is not in the log:\n{self.text()[-3000:]}"
            time.sleep(0.05)


@pytest.fixture
def agent() -> Iterator[FakeAgent]:
    made = FakeAgent()
    yield made
    made.close()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    made = Process(tmp_path)
    yield made
    made.stop(signal.SIGKILL) if made.process else None


def ready(agent: FakeAgent, profiles: int = 2) -> tuple[Stream, Call.UpdateState]:
    """The stream and the first report that has the profiles."""
    stream = agent.stream()
    while True:
        report = agent.call(Call.UPDATE_STATE).update_state
        if len(report.cpu_report.profiles) >= profiles:
            return stream, report


def fit(info: mesos_pb2.Offer.Operation, provider_id: str = "rp-1") -> mesos_pb2.Offer.Operation:
    for resource in [*info.create_cpuset.source, *info.destroy_cpuset.source]:
        resource.provider_id.value = provider_id
    return info


@pytest.mark.parametrize("media", ["json", "protobuf"])
def test_a_whole_life(agent: FakeAgent, process: Process, media: str) -> None:
    process.start(agent.url, "--content-type", media)
    stream, report = ready(agent)
    assert not stream.call.subscribe.resource_provider_info.HasField("id")
    assert stream.call.subscribe.resource_provider_info.name == "host"
    assert agent.headers[-1]["content-type"] == f"application/{'x-protobuf' if media == 'protobuf' else 'json'}"
    assert agent.headers[-1]["mesos-stream-id"] == "stream-1"
    assert [(r.scalar.value, r.provider_id.value) for r in report.resources] == [(6.0, "rp-1")]
    version = report.resource_version_uuid.value
    assert len(version) == 16

    stream.send(apply(fit(create(2)), b"1" * 16, version), pieces=7)
    update = agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status
    assert update.status.state == mesos_pb2.OPERATION_FINISHED, update.status.message
    assert (update.operation_uuid.value, update.framework_id.value) == (b"1" * 16, "fw")
    after = agent.call(Call.UPDATE_STATE).update_state
    assert [c.cpus for c in after.cpu_report.cpusets] == ["1,5"]
    assert after.resource_version_uuid.value == version
    made = list(update.status.converted_resources)

    publish = Event(type=Event.PUBLISH_RESOURCES)
    publish.publish_resources.uuid.value = b"p" * 16
    publish.publish_resources.resources.extend(made)
    stream.send(publish)
    answer = agent.call(Call.UPDATE_PUBLISH_RESOURCES_STATUS).update_publish_resources_status
    assert (answer.uuid.value, answer.status) == (b"p" * 16, answer.OK)

    acknowledge = Event(type=Event.ACKNOWLEDGE_OPERATION_STATUS)
    acknowledge.acknowledge_operation_status.operation_uuid.value = b"1" * 16
    acknowledge.acknowledge_operation_status.status_uuid.CopyFrom(update.status.uuid)
    stream.send(acknowledge)
    stream.send(apply(destroy(made), b"2" * 16, version))
    update = agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status
    assert update.status.state == mesos_pb2.OPERATION_FINISHED, update.status.message
    process.until("READY as provider rp-1: ")
    assert process.text().count("READY as") == 1
    assert process.stop() == 0


def test_kill_and_restart_keep_id_sets_and_statuses(agent: FakeAgent, process: Process) -> None:
    process.start(agent.url)
    stream, report = ready(agent)
    stream.send(apply(fit(create(2)), b"1" * 16, report.resource_version_uuid.value))
    first = agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status
    process.stop(signal.SIGKILL)
    process.start(agent.url)
    stream, report = ready(agent)
    assert stream.call.subscribe.resource_provider_info.id.value == "rp-1"
    (entry,) = report.operations
    assert entry.latest_status == first.status
    assert agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status == first
    assert [c.cpus for c in report.cpu_report.cpusets] == ["1,5"]


def test_an_agent_that_ends_the_stream_or_refuses_a_call_is_subscribed_again(
    agent: FakeAgent, process: Process
) -> None:
    process.start(agent.url)
    stream, _ = ready(agent)
    stream.end()
    stream, report = ready(agent)
    assert stream.stream_id == "stream-2"
    agent.refuse_calls = (400, "Resource provider is not subscribed")
    stream.send(apply(fit(create(2)), b"1" * 16, report.resource_version_uuid.value))
    stream = agent.stream()
    process.until("was refused: 400 Resource provider is not subscribed")
    agent.refuse_calls = None
    assert agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status.operation_uuid.value == b"1" * 16


def test_the_agent_may_come_later_and_go(process: Process, tmp_path: Path) -> None:
    agent = FakeAgent()
    port = agent.port
    agent.close()
    process.start(f"127.0.0.1:{port}")
    process.until("no connection")
    agent = FakeAgent(port)
    try:
        ready(agent)
    finally:
        agent.close()
    agent = FakeAgent(port)
    try:
        stream, _ = ready(agent)
        assert stream.call.subscribe.resource_provider_info.id.value == "rp-1"
    finally:
        agent.close()


def test_a_refused_id_is_shown_and_tried_on(
    agent: FakeAgent, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.end_at_once = True
    process.start(agent.url)
    agent.stream()
    process.until("the agent ended the stream at once: it refuses this provider's id, type or name")
    assert process.process is not None and process.process.poll() is None


def test_subscribe_that_is_refused_and_garbage_on_the_stream(agent: FakeAgent, process: Process) -> None:
    agent.refuse_subscribe = (503, "Agent has not finished recovery")
    process.start(agent.url)
    process.until("SUBSCRIBE was answered with 503 Agent has not finished recovery")
    agent.refuse_subscribe = None
    stream, _ = ready(agent)
    stream.raw(b"5\n\xff\xff\xff\xff\xff")
    process.until("cannot be read is ignored")
    stream.raw(b"hello\n")
    assert agent.stream().stream_id != stream.stream_id


def test_credentials_are_sent_and_never_logged(agent: FakeAgent, process: Process, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("principal s3cr3t\n")
    process.start(agent.url, "--credentials", str(secret), "--log-level", "debug")
    ready(agent)
    assert {h["authorization"] for h in agent.headers} == {"Basic cHJpbmNpcGFsOnMzY3IzdA=="}
    assert "s3cr3t" not in process.text() and "cHJpbmNpcGFsOnMzY3IzdA" not in process.text()


def test_profiles_are_followed(agent: FakeAgent, process: Process) -> None:
    process.start(agent.url)
    ready(agent)
    process.profiles.write_text(json.dumps({"profile_matrix": {"other": {"cpuset": {}}}}))
    while True:
        told = agent.call(Call.UPDATE_STATE).update_state.cpu_report
        if len(told.profiles) == 3:
            break
    states = {p.name: p.state for p in told.profiles}
    assert states == {
        "other": pinfold_pb2.Profile.ACTIVE,
        "any": pinfold_pb2.Profile.INACTIVE,
        "whole": pinfold_pb2.Profile.INACTIVE,
    }
    process.profiles.write_text("<html>")
    while True:
        told = agent.call(Call.UPDATE_STATE).update_state.cpu_report
        if not told.profile_source.ok:
            break
    assert {p.name for p in told.profiles} == set(states)
    assert told.profile_source.uri == str(process.profiles)


def test_a_cpu_that_goes_offline_is_told(agent: FakeAgent, process: Process) -> None:
    process.start(agent.url)
    _, report = ready(agent)
    (process.root / "sys/devices/system/cpu/online").write_text("0-6\n")
    while True:
        changed = agent.call(Call.UPDATE_STATE).update_state
        if changed.resource_version_uuid != report.resource_version_uuid:
            break
    assert [r.scalar.value for r in changed.resources] == [5.0]
    assert changed.cpu_report.topology.offline == "7"


def test_one_process_for_a_work_directory(agent: FakeAgent, process: Process) -> None:
    process.start(agent.url)
    ready(agent)
    second = subprocess.run(
        process.command("--agent", agent.url), capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )
    assert second.returncode == 1
    assert "is in use by another process" in second.stderr


def test_a_provider_with_a_cgroup_tree_and_a_second_one_on_it(
    agent: FakeAgent, process: Process, tmp_path: Path
) -> None:
    tree = tmp_path / "cg"
    tree.mkdir()
    for name, text in (("cgroup.controllers", "cpuset cpu"), ("cpuset.cpus.effective", "0-7")):
        (tree / name).write_text(text)
    (tree / "cpuset.mems.effective").write_text("0")
    process.cgroup_root = str(tree)
    process.start(agent.url)
    stream, report = ready(agent)
    assert report.cpu_report.topology.enforcement == "cgroup2"
    stream.send(apply(fit(create(2)), b"1" * 16, report.resource_version_uuid.value))
    status = agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status.status
    assert status.state == mesos_pb2.OPERATION_FINISHED, status.message
    labels = {x.key: x.value for x in status.converted_resources[0].cpu.source.metadata.labels}
    assert (Path(labels["cgroup"]) / "cpuset.cpus").read_text() == "1,5"
    assert Path(labels["cgroup"]).parent == tree / "pinfold"
    assert (tree / "pinfold/plain/cpuset.cpus").read_text() == "0,2-4,6-7"
    other = Process(tmp_path / "other")
    other.cgroup_root = str(tree)
    refused = subprocess.run(
        other.command("--agent", agent.url), capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )
    assert refused.returncode == 1
    assert "another provider works in" in refused.stderr
    assert (Path(labels["cgroup"]) / "cpuset.cpus").read_text() == "1,5"
    assert process.stop() == 0
    assert (Path(labels["cgroup"]) / "cpuset.cpus").read_text() == "1,5", "sets stay at an ordinary stop"


def test_teardown_ends_the_process(agent: FakeAgent, process: Process) -> None:
    process.start(agent.url)
    stream, _ = ready(agent)
    stream.send(Event(type=Event.TEARDOWN))
    assert process.process is not None
    assert process.process.wait(15) == 0


# -- wrong usage and the check --------------------------------------------------------------------------------------


def run(process: Process, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(process.command(*more), capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)


def check(process: Process) -> tuple[int, dict[str, Any]]:
    result = run(process, "--check")
    return result.returncode, json.loads(result.stdout)


def test_without_an_agent_is_wrong_usage(process: Process) -> None:
    assert run(process).returncode == 2


@pytest.mark.parametrize(
    ("cpu", "words"),
    [
        ({"reserved_cpus": "15"}, "15"),
        ({"reserved_cpus": "0-7"}, "leaves none"),
        ({"reserved_cpus": "1--3"}, "position"),
        ({"pools": [{"name": "a", "cpus": "0-3"}, {"name": "b", "cpus": "3-5"}]}, "both name CPUs 3"),
        ({"group_by": "SOCKET"}, "'SOCKET' is not one of"),
        ({"overcommit": 0.5}, "cpu.overcommit: 0.5"),
        ({"floor": 9}, "9 CPUs are needed"),
    ],
)
def test_a_config_that_can_never_be_right(process: Process, cpu: dict[str, Any], words: str) -> None:
    process.write_config(**cpu)
    status, said = check(process)
    assert (status, said["status"]) == (1, 400)
    assert words in said["error"]
    result = run(process, "--agent", "127.0.0.1:1")
    assert result.returncode == 1
    assert words in result.stderr
    assert not (process.directory / "work/provider.db-wal").exists()


def test_check_tells_the_floor_and_changes_nothing(process: Process) -> None:
    assert check(process) == (0, {"floor_cpus": 2})
    process.write_config(floor=3)
    assert check(process) == (0, {"floor_cpus": 4})
    assert not (process.directory / "work").exists()


def test_check_names_the_set_that_is_in_the_way(agent: FakeAgent, process: Process) -> None:
    process.start(agent.url)
    stream, report = ready(agent)
    stream.send(apply(fit(create(2)), b"1" * 16, report.resource_version_uuid.value))
    made = agent.call(Call.UPDATE_OPERATION_STATUS).update_operation_status.status.converted_resources[0]
    set_id = made.cpu.source.id
    before = process.config.read_text()
    for cpu, field in (
        ({"reserved_cpus": "1"}, "cpu.reserved_cpus"),
        ({"floor": 4}, "cpu.floor"),
        ({"pools": [{"name": "rt", "cpus": "5"}]}, "cpu.pools"),
    ):
        process.write_config(**cpu)
        status, said = check(process)
        assert (status, said["status"]) == (1, 409), said
        assert field in said["error"] and set_id in said["error"]
    process.write_config(reserved_cpus="3", pools=[{"name": "rt", "cpus": "2,6"}])
    assert check(process) == (0, {"floor_cpus": 2})
    process.config.write_text(before)
    # Started by hand with such a file, the set is kept.
    process.stop(signal.SIGKILL)
    process.write_config(reserved_cpus="1")
    process.start(agent.url)
    _, report = ready(agent, profiles=0)
    (kept,) = report.cpu_report.cpusets
    assert (kept.id, kept.cpus, kept.state) == (set_id, "1,5", pinfold_pb2.Cpuset.DEGRADED)
    assert sum(r.scalar.value for r in report.resources) == 6


def test_a_config_file_that_is_none(process: Process) -> None:
    for text, words in (("{", "JSON"), ('{"type": "x"}', "name"), ('{"type":"x","name":"y","id":{"value":"z"}}', "id")):
        process.config.write_text(text)
        status, said = check(process)
        assert status == 1
        assert words in said["error"]
    process.config.unlink()
    assert check(process)[1]["status"] == 400


@pytest.mark.parametrize(
    ("agent_url", "url"),
    [
        ("http://h:1", "http://h:1/api/v1/resource_provider"),
        ("h:1", "http://h:1/api/v1/resource_provider"),
        ("h", "http://h:5051/api/v1/resource_provider"),
        ("https://h/", "https://h:443/api/v1/resource_provider"),
        ("http://[::1]:5051", "http://[::1]:5051/api/v1/resource_provider"),
        ("http://h:1/slave(1)/api/v1/resource_provider", "http://h:1/slave(1)/api/v1/resource_provider"),
        ("http://h:5051/slave(1)", "http://h:5051/slave(1)/api/v1/resource_provider"),
        ("http://h:5051/slave(1)/", "http://h:5051/slave(1)/api/v1/resource_provider"),
        ("http://h:5051/slave%281%29", "http://h:5051/slave%281%29/api/v1/resource_provider"),
        ("http://h:5051/slave(1)/api/v1", "http://h:5051/slave(1)/api/v1/resource_provider"),
        ("http://u:p@h:1", "http://h:1/api/v1/resource_provider"),
    ],
)
def test_where_the_agent_is(agent_url: str, url: str) -> None:
    target = parse_target(agent_url)
    assert target.url == url
    assert target.operator_url + "/resource_provider" == url


@pytest.mark.parametrize("agent_url", ["ftp://h", "http://", "http://h:x", "http://h:0", "h:99999"])
def test_an_agent_that_is_nowhere(agent_url: str) -> None:
    with pytest.raises(ConfigError, match="--agent"):
        parse_target(agent_url)
