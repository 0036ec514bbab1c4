"""What the core wants done to the world. The core only appends these; `agent_api.service` carries them out.

Order within one turn: all `Save*` and `Remove*` effects are committed in one transaction, and only then are
the others performed, in the order they were appended. If the commit fails, none of them is performed.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_api.core.records import (
    AgentRecord,
    ConfigRecord,
    FrameworkRecord,
    ProviderRecord,
    QuotaRecord,
    TaskRecord,
    WeightRecord,
)
from agent_api.wire import master_pb2, mesos_pb2, resource_provider_pb2, scheduler_pb2

__all__ = [
    "CloseFramework",
    "CloseProvider",
    "CompactionAnswered",
    "Effect",
    "KillTask",
    "LaunchTask",
    "RemoveConfig",
    "RemoveFramework",
    "RemoveProvider",
    "RemoveQuota",
    "RemoveTask",
    "SaveAgent",
    "SaveConfig",
    "SaveFramework",
    "SaveProvider",
    "SaveQuota",
    "SaveTask",
    "SaveWeight",
    "ToFramework",
    "ToOperators",
    "ToProvider",
    "UpdateTaskCpus",
]


@dataclass(frozen=True, slots=True)
class SaveAgent:
    record: AgentRecord


@dataclass(frozen=True, slots=True)
class SaveConfig:
    record: ConfigRecord


@dataclass(frozen=True, slots=True)
class RemoveConfig:
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class SaveProvider:
    record: ProviderRecord


@dataclass(frozen=True, slots=True)
class RemoveProvider:
    provider_id: str


@dataclass(frozen=True, slots=True)
class SaveFramework:
    record: FrameworkRecord


@dataclass(frozen=True, slots=True)
class RemoveFramework:
    framework_id: str


@dataclass(frozen=True, slots=True)
class SaveTask:
    record: TaskRecord


@dataclass(frozen=True, slots=True)
class RemoveTask:
    framework_id: str
    task_id: str


@dataclass(frozen=True, slots=True)
class SaveWeight:
    record: WeightRecord


@dataclass(frozen=True, slots=True)
class SaveQuota:
    record: QuotaRecord


@dataclass(frozen=True, slots=True)
class RemoveQuota:
    role: str


@dataclass(frozen=True, slots=True)
class ToFramework:
    """Send one event on the stream; dropped silently where that stream has gone."""

    stream_id: str
    event: scheduler_pb2.Event


@dataclass(frozen=True, slots=True)
class CloseFramework:
    """End the stream, after what was sent on it before."""

    stream_id: str


@dataclass(frozen=True, slots=True)
class ToProvider:
    stream_id: str
    event: resource_provider_pb2.Event


@dataclass(frozen=True, slots=True)
class CloseProvider:
    stream_id: str


@dataclass(frozen=True, slots=True)
class ToOperators:
    """Send to every subscriber of the master operator stream."""

    event: master_pb2.Event


@dataclass(frozen=True, slots=True)
class LaunchTask:
    """Start the command through the shim. The shell answers with `Master.task_started` or
    `Master.task_failed_to_start`, and later with `Master.task_exited`.

    `cpu_resources` are the task's resources that came from a provider: their `cpu.source` says the type
    (EXCLUSIVE or SHARED), the set id, and in metadata `cpus`, `mems`, `cgroup`, `enforcement`. Empty for a plain task.
    """

    framework_id: str
    task: mesos_pb2.TaskInfo
    user: str
    cpu_resources: tuple[mesos_pb2.Resource, ...]


@dataclass(frozen=True, slots=True)
class KillTask:
    """SIGTERM to the task, SIGKILL after the grace period. Done twice it does nothing new."""

    framework_id: str
    task_id: str
    grace_seconds: float


@dataclass(frozen=True, slots=True)
class UpdateTaskCpus:
    """The sets of a task that runs have other CPUs now: the file that PINFOLD_CPUSET_FILE names is written again.

    `cpu_resources` as in `LaunchTask`, with the provider's newest metadata.
    """

    framework_id: str
    task_id: str
    cpu_resources: tuple[mesos_pb2.Resource, ...]


@dataclass(frozen=True, slots=True)
class CompactionAnswered:
    """A provider's answer to the COMPACT_CPUSETS event with this uuid; whoever waits for it is told."""

    uuid: bytes
    answer: resource_provider_pb2.Call.UpdateCompaction


Effect = (
    SaveAgent
    | SaveConfig
    | RemoveConfig
    | SaveProvider
    | RemoveProvider
    | SaveFramework
    | RemoveFramework
    | SaveTask
    | RemoveTask
    | SaveWeight
    | SaveQuota
    | RemoveQuota
    | ToFramework
    | CloseFramework
    | ToProvider
    | CloseProvider
    | ToOperators
    | LaunchTask
    | KillTask
    | UpdateTaskCpus
    | CompactionAnswered
)
