"""Starts real agents and plays a real framework against them over HTTP, in JSON or in protobuf.

The processes are those a user starts (`python -m agent_api.cli.main agent …`); the framework here is written
with `requests` and threads, apart from the codec it shares nothing with the program under test.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import requests

from agent_api.wire import agent_pb2, codec, master_pb2, mesos_pb2, recordio, scheduler_pb2

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
ROOT = Path(__file__).resolve().parents[2]


def wait_for(what: Callable[[], Any], timeout: float = 20.0, message: str = "") -> Any:
    """Poll until `what()` is true and return it; AssertionErrors and connection errors count as not yet."""
    end = time.monotonic() + timeout
    last: BaseException | None = None
    while time.monotonic() < end:
        try:
            value = what()
            if value:
                return value
        except (AssertionError, requests.RequestException, OSError, ValueError, LookupError) as error:
            last = error
        time.sleep(0.05)
    raise AssertionError(f"not within {timeout} s: {message or what}; last error: {last!r}")


def alive(pid: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def allowed_cpus(pid: int) -> str:
    """Cpus_allowed_list of a process, as the kernel says."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return line.split(":")[1].strip()
    raise AssertionError("no Cpus_allowed_list")


class AgentProcess:
    """One `pinfold agent` on ports of its own choice, in a work directory that outlives it."""

    def __init__(
        self,
        work_dir: Path,
        *arguments: str,
        cgroup_name: str | None = None,
        cgroup_root: str = "auto",
        access: dict[str, Any] | None = None,
    ):
        """`access`: what requests must have to get in, as `requests` names it (auth, verify)."""
        self.access = access or {}
        self.work_dir = work_dir
        work_dir.parent.mkdir(exist_ok=True)
        self.cgroup_name = cgroup_name or f"pinfold-test-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.cgroup_root = cgroup_root
        self.arguments = arguments
        self.process: subprocess.Popen[bytes] | None = None
        self.agent_url = self.master_url = ""
        self.log = work_dir.parent / f"{work_dir.name}.log"

    def start(self, timeout: float = 30.0) -> AgentProcess:
        endpoints = self.work_dir / "endpoints.json"
        endpoints.unlink(missing_ok=True)
        # The same ports after a restart, so that a running provider finds the agent again.
        ports = (
            ["--port", self.agent_url.rsplit(":", 1)[1], "--master-port", self.master_url.rsplit(":", 1)[1]]
            if self.agent_url
            else ["--port", "0", "--master-port", "0"]
        )
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "agent_api.cli.main", "agent", "--work-dir", str(self.work_dir), *ports),
                    *("--cgroup-name", self.cgroup_name, "--cgroup-root", self.cgroup_root, *self.arguments),
                ],
                stdout=log,
                stderr=log,
                cwd="/",
            )

        def ready() -> bool:
            assert self.process is not None
            if self.process.poll() is not None:
                raise RuntimeError(f"the agent ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")
            found = json.loads(endpoints.read_text())
            self.agent_url, self.master_url = found["agent"], found["master"]
            return requests.get(f"{self.agent_url}/health", timeout=2, **self.access).status_code == 200

        wait_for(ready, timeout, "agent up")
        return self

    def kill(self, sig: int = signal.SIGKILL) -> int:
        assert self.process is not None
        self.process.send_signal(sig)
        return self.process.wait(30)

    def stop(self) -> None:
        """Stop the agent and its providers, end its tasks, and remove the cgroups it made."""
        if self.process is not None and self.process.poll() is None:
            self.kill(signal.SIGTERM)
        for pid_file in [*self.work_dir.glob("providers/*/pid.json"), *self.work_dir.glob("tasks/*/*/pid.json")]:
            with contextlib.suppress(OSError, ValueError, KeyError):
                pid = int(json.loads(pid_file.read_text())["pid"])
                if str(self.work_dir) in Path(f"/proc/{pid}/cmdline").read_text():
                    os.kill(pid, signal.SIGKILL)
                    wait_for(lambda pid=pid: not alive(pid), 5)
        self.remove_cgroups()

    def remove_cgroups(self) -> None:
        for hierarchy in ("cpuset", "cpu", "memory"):
            top = Path("/sys/fs/cgroup") / hierarchy / self.cgroup_name
            for path, _, _ in os.walk(top, topdown=False):
                for pid in (Path(path) / "cgroup.procs").read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                wait_for(lambda path=path: not (Path(path) / "cgroup.procs").read_text(), 5)
                with contextlib.suppress(FileNotFoundError):
                    Path(path).rmdir()

    def agent_call(self, call: dict[str, Any], **arguments: Any) -> requests.Response:
        return requests.post(f"{self.agent_url}/api/v1", json=call, timeout=30, **{**self.access, **arguments})

    def agent_get(self, what: str) -> dict[str, Any]:
        response = self.agent_call({"type": what})
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer[what.lower()]  # type: ignore[no-any-return]

    def master_get(self, what: str) -> dict[str, Any]:
        response = requests.post(f"{self.master_url}/api/v1", json={"type": what}, timeout=30, **self.access)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer[what.lower()]  # type: ignore[no-any-return]

    def cpusets(self) -> list[dict[str, Any]]:
        return [c for p in self.agent_get("GET_CPUSETS").get("providers", []) for c in p.get("cpusets", [])]

    def providers(self) -> list[dict[str, Any]]:
        return self.agent_get("GET_RESOURCE_PROVIDERS").get("resource_providers", [])  # type: ignore[no-any-return]

    def provider_pid(self) -> int:
        (pid_file,) = self.work_dir.glob("providers/*/pid.json")
        return int(json.loads(pid_file.read_text())["pid"])

    def wait_ready(self, timeout: float = 30.0) -> dict[str, Any]:
        """Until the one provider has reported its resources."""

        def ready() -> Any:
            (provider,) = self.providers()
            return provider if provider.get("total_resources") else None

        return wait_for(ready, timeout, f"provider ready; see {self.log}")  # type: ignore[no-any-return]


class Framework:
    """A scheduler that subscribes and keeps what it gets; `wait` takes the first event that fits, in order."""

    def __init__(
        self,
        master_url: str,
        media: str = JSON,
        role: str = "*",
        name: str = "walk",
        access: dict[str, Any] | None = None,
        **info: Any,
    ) -> None:
        self.access = access or {}
        self.url = f"{master_url}/api/v1/scheduler"
        self.media = media
        self.info = mesos_pb2.FrameworkInfo(user="root", name=name, roles=[role], failover_timeout=60.0)
        kinds = mesos_pb2.FrameworkInfo.Capability
        for capability in (kinds.MULTI_ROLE, kinds.RESERVATION_REFINEMENT):
            self.info.capabilities.add(type=capability)
        for field, value in info.items():
            setattr(self.info, field, value)
        self.role = role
        self.stream_id = ""
        self.events: queue.Queue[scheduler_pb2.Event | None] = queue.Queue()
        self.kept: list[scheduler_pb2.Event] = []
        self.response: requests.Response | None = None

    @property
    def id(self) -> str:
        return self.info.id.value

    def subscribe(self) -> scheduler_pb2.Event:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
        call.subscribe.framework_info.CopyFrom(self.info)
        if self.info.HasField("id"):
            call.framework_id.CopyFrom(self.info.id)
        self.response = requests.post(
            self.url,
            data=codec.encode(call, self.media),
            headers={"Content-Type": self.media, "Accept": self.media},
            stream=True,
            timeout=(5, 60),
            **self.access,
        )
        assert self.response.status_code == 200, self.response.text
        assert self.response.headers["Content-Type"] == self.media
        self.stream_id = self.response.headers["Mesos-Stream-Id"]
        self.events = queue.Queue()
        self.kept = []
        threading.Thread(target=self._read, args=(self.response, self.events), daemon=True).start()
        subscribed = self.next(10)
        assert subscribed.type == scheduler_pb2.Event.SUBSCRIBED, f"first event: {subscribed}"
        self.info.id.CopyFrom(subscribed.subscribed.framework_id)
        return subscribed

    def _read(self, response: requests.Response, events: queue.Queue[scheduler_pb2.Event | None]) -> None:
        decoder = recordio.Decoder()
        with contextlib.suppress(requests.RequestException, AttributeError, OSError):
            for chunk in response.iter_content(None):
                for record in decoder.feed(chunk):
                    events.put(codec.decode(scheduler_pb2.Event, record, self.media))
        events.put(None)

    def next(self, timeout: float = 20.0) -> scheduler_pb2.Event:
        event = self.events.get(timeout=timeout)
        assert event is not None, "the stream ended"
        return event

    def ended(self, timeout: float = 10.0) -> bool:
        """Whether the stream ends; events before its end are kept."""
        while True:
            try:
                event = self.events.get(timeout=timeout)
            except queue.Empty:
                return False
            if event is None:
                return True
            self.kept.append(event)

    def wait(
        self,
        kind: int,
        fits: Callable[[scheduler_pb2.Event], Any] = lambda event: True,
        timeout: float = 25.0,
    ) -> scheduler_pb2.Event:
        """The first event of this kind that fits, among those that were passed over before and those that come."""
        for event in self.kept:
            if event.type == kind and fits(event):
                self.kept.remove(event)
                return event
        end = time.monotonic() + timeout
        while True:
            try:
                event = self.next(max(0.01, end - time.monotonic()))
            except queue.Empty:
                name = scheduler_pb2.Event.Type.Name(kind)
                raise AssertionError(f"no {name} that fits within {timeout} s; kept: {self.kept}") from None
            if event.type == kind and fits(event):
                return event
            self.kept.append(event)

    def call(self, call: scheduler_pb2.Call, expect: int | None = 202) -> requests.Response:
        call.framework_id.CopyFrom(self.info.id)
        response = requests.post(
            self.url,
            data=codec.encode(call, self.media),
            headers={"Content-Type": self.media, "Accept": self.media, "Mesos-Stream-Id": self.stream_id},
            timeout=30,
            **self.access,
        )
        if expect is not None:
            assert response.status_code == expect, f"{response.status_code} {response.text}"
        return response

    def offer(
        self, fits: Callable[[mesos_pb2.Resource], bool], timeout: float = 25.0
    ) -> tuple[mesos_pb2.Offer, mesos_pb2.Resource]:
        """An offer with a resource that fits, and that resource. Other offers are declined for a moment."""
        found: list[tuple[mesos_pb2.Offer, mesos_pb2.Resource]] = []

        def look(event: scheduler_pb2.Event) -> bool:
            for offer in event.offers.offers:
                for resource in offer.resources:
                    if fits(resource):
                        found.append((offer, resource))
                        return True
                decline = scheduler_pb2.Call(type=scheduler_pb2.Call.DECLINE)
                decline.decline.offer_ids.add().CopyFrom(offer.id)
                decline.decline.filters.refuse_seconds = 0.2
                self.call(decline)
            return False

        self.wait(scheduler_pb2.Event.OFFERS, look, timeout)
        return found[0]

    def accept(
        self, offers: list[mesos_pb2.Offer], *operations: mesos_pb2.Offer.Operation, refuse: float = 0.2
    ) -> requests.Response:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.ACCEPT)
        call.accept.offer_ids.extend(offer.id for offer in offers)
        call.accept.operations.extend(operations)
        call.accept.filters.refuse_seconds = refuse
        return self.call(call)

    def decline(self, offer: mesos_pb2.Offer, refuse: float = 0.2) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.DECLINE)
        call.decline.offer_ids.add().CopyFrom(offer.id)
        call.decline.filters.refuse_seconds = refuse
        self.call(call)

    def status_of(self, operation_id: str, timeout: float = 25.0) -> mesos_pb2.OperationStatus:
        event = self.wait(
            scheduler_pb2.Event.UPDATE_OPERATION_STATUS,
            lambda e: e.update_operation_status.status.operation_id.value == operation_id,
            timeout,
        )
        return event.update_operation_status.status

    def acknowledge_operation(self, status: mesos_pb2.OperationStatus) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.ACKNOWLEDGE_OPERATION_STATUS)
        acknowledge = call.acknowledge_operation_status
        acknowledge.agent_id.CopyFrom(status.agent_id)
        acknowledge.resource_provider_id.CopyFrom(status.resource_provider_id)
        acknowledge.uuid = status.uuid.value
        acknowledge.operation_id.CopyFrom(status.operation_id)
        self.call(call)

    def update(self, task_id: str, state: int, timeout: float = 25.0, acknowledge: bool = True) -> mesos_pb2.TaskStatus:
        event = self.wait(
            scheduler_pb2.Event.UPDATE,
            lambda e: e.update.status.task_id.value == task_id and e.update.status.state == state,
            timeout,
        )
        if acknowledge:
            self.acknowledge(event.update.status)
        return event.update.status

    def acknowledge(self, status: mesos_pb2.TaskStatus) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.ACKNOWLEDGE)
        call.acknowledge.agent_id.CopyFrom(status.agent_id)
        call.acknowledge.task_id.CopyFrom(status.task_id)
        call.acknowledge.uuid = status.uuid
        self.call(call)

    def kill(self, task_id: str) -> None:
        call = scheduler_pb2.Call(type=scheduler_pb2.Call.KILL)
        call.kill.task_id.value = task_id
        self.call(call)

    def simple(self, kind: int, expect: int = 202) -> requests.Response:
        return self.call(scheduler_pb2.Call(type=kind), expect)


def is_raw(resource: mesos_pb2.Resource) -> bool:
    return resource.cpu.source.type == mesos_pb2.Resource.CpuInfo.Source.RAW


def is_set(resource: mesos_pb2.Resource) -> bool:
    source = mesos_pb2.Resource.CpuInfo.Source
    return resource.cpu.source.type in (source.EXCLUSIVE, source.SHARED)


def is_plain(resource: mesos_pb2.Resource) -> bool:
    return resource.name == "cpus" and not resource.HasField("provider_id")


def take(resource: mesos_pb2.Resource, amount: float) -> mesos_pb2.Resource:
    part = mesos_pb2.Resource()
    part.CopyFrom(resource)
    part.scalar.value = amount
    return part


def create_cpuset(operation_id: str, profile: str, *source: mesos_pb2.Resource) -> mesos_pb2.Offer.Operation:
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.CREATE_CPUSET)
    operation.id.value = operation_id
    operation.create_cpuset.source.extend(source)
    operation.create_cpuset.target_profile = profile
    return operation


def destroy_cpuset(operation_id: str, *source: mesos_pb2.Resource) -> mesos_pb2.Offer.Operation:
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.DESTROY_CPUSET)
    operation.id.value = operation_id
    operation.destroy_cpuset.source.extend(source)
    return operation


def launch(agent_id: str, task_id: str, command: str, *resources: mesos_pb2.Resource) -> mesos_pb2.Offer.Operation:
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.LAUNCH)
    task = operation.launch.task_infos.add(name=task_id)
    task.task_id.value = task_id
    task.agent_id.value = agent_id
    task.command.value = command
    task.resources.extend(resources)
    return operation


def labels(resource: mesos_pb2.Resource) -> dict[str, str]:
    return {label.key: label.value for label in resource.cpu.source.metadata.labels}


PROFILES = {
    "profile_matrix": {
        "latency": {"cpuset": {"mode": "exclusive", "core_siblings": "preferred", "memory": {"policy": "bind"}}},
        "batch": {"cpuset": {"mode": "shared"}},
    }
}


def provider_config(directory: Path, floor: int = 1, profiles: Any = PROFILES, **cpu: Any) -> dict[str, Any]:
    path = directory / "profiles.json"
    path.write_text(json.dumps(profiles))
    source = {"uri": f"file://{path}", "poll_interval_seconds": 0.5}
    return {"type": "org.pinfold.rp.cpu", "name": "host", "cpu": {"floor": floor, "profiles": source, **cpu}}


@contextlib.contextmanager
def running_agent(directory: Path, *arguments: str, **options: Any) -> Iterator[AgentProcess]:
    agent = AgentProcess(directory / "agent", *arguments, **options)
    try:
        yield agent.start()
    finally:
        agent.stop()


__all__ = [name for name in dir() if not name.startswith("_")] + ["agent_pb2", "master_pb2"]
