"""What the agent keeps over a restart, as plain values. `agent_api.store` maps each to one table.

They decide nothing. Operations are not here: the provider alone keeps the operations on its resources.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from agent_api.wire import mesos_pb2, quota_pb2

__all__ = [
    "AgentRecord",
    "ConfigRecord",
    "FrameworkRecord",
    "ProviderRecord",
    "QuotaRecord",
    "State",
    "TaskRecord",
    "WeightRecord",
    "replace",
]


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """One row: the agent itself, and the reservations made on its own resources."""

    agent_id: str
    master_id: str
    resources: tuple[mesos_pb2.Resource, ...] = ()
    """The agent's own resources as they stand (reservations applied); empty until first computed."""
    attributes: tuple[mesos_pb2.Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """A provider configuration as the operator gave it. Key: (type, name)."""

    info: mesos_pb2.ResourceProviderInfo
    floor_cpus: int
    """How many CPUs of the host its floor leaves for plain tasks, as `pinfold provider --check` said."""


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    """A provider that has ever subscribed. Remembered after removal, so that its operations stay gone."""

    provider_id: str
    info: mesos_pb2.ResourceProviderInfo
    gone: bool = False
    """Removed by the operator: never comes back under this id."""


@dataclass(frozen=True, slots=True)
class FrameworkRecord:
    framework_id: str
    info: mesos_pb2.FrameworkInfo
    principal: str | None
    registered_time: float
    reregistered_time: float
    suppressed_roles: tuple[str, ...] = ()
    removed_time: float | None = None
    """Set once it is gone for good (teardown, or its failover timeout ran out)."""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """Key: (framework_id, task_id)."""

    framework_id: str
    task: mesos_pb2.TaskInfo
    """As launched, with resources allocated to a role."""
    state: int
    """mesos_pb2.TaskState: the newest state, sent or not."""
    statuses: tuple[mesos_pb2.TaskStatus, ...] = ()
    """Every status so far, oldest first."""
    unacknowledged: int = 0
    """How many statuses at the end of `statuses` the framework has not acknowledged."""
    pid: int | None = None
    """The shim's process id; None until it was started."""
    start_ticks: int | None = None
    """The shim's start time, field 22 of /proc/PID/stat: with `boot_id` it tells a reused pid."""
    boot_id: str | None = None
    kill_requested: bool = False
    launched_time: float = 0.0
    preempted: str | None = None
    """Why the agent itself ends it, where its set was revoked; its framework is told that it is lost, not killed."""


@dataclass(frozen=True, slots=True)
class WeightRecord:
    """How much of what is shared a role is to get, beside its siblings. Key: role. Kept when it is 1 again."""

    role: str
    weight: float


@dataclass(frozen=True, slots=True)
class QuotaRecord:
    """What is guaranteed to a role and what it may have at most, as the operator gave it. Key: config.role."""

    config: quota_pb2.QuotaConfig


@dataclass(frozen=True, slots=True)
class State:
    """All of it, as the store reads it at start."""

    agent: AgentRecord | None = None
    configs: tuple[ConfigRecord, ...] = field(default=())
    providers: tuple[ProviderRecord, ...] = field(default=())
    frameworks: tuple[FrameworkRecord, ...] = field(default=())
    tasks: tuple[TaskRecord, ...] = field(default=())
    weights: tuple[WeightRecord, ...] = field(default=())
    quotas: tuple[QuotaRecord, ...] = field(default=())
