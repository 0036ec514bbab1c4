"""The agent's memory: what is known of frameworks, providers, tasks, operations and offers.

It holds and computes, and it never decides: what is free is derived from totals and holders each time and
never edited. The other modules of the core change it and append effects; nothing here does I/O or reads a clock.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_api.core import own
from agent_api.core import resources as rs
from agent_api.core.acls import ALLOW_ALL, Acls
from agent_api.core.constraints import OfferConstraints
from agent_api.core.effects import Effect, SaveAgent, ToFramework, ToOperators, ToProvider
from agent_api.core.records import (
    AgentRecord,
    ConfigRecord,
    FrameworkRecord,
    ProviderRecord,
    QuotaRecord,
    State,
    TaskRecord,
    WeightRecord,
)
from agent_api.errors import Conflict
from agent_api.wire import master_pb2, mesos_pb2, pinfold_pb2, resource_provider_pb2, scheduler_pb2

__all__ = [
    "TERMINAL_OPERATIONS",
    "TERMINAL_TASKS",
    "Filter",
    "Framework",
    "Offer",
    "Operation",
    "Options",
    "Provider",
    "SetInfo",
    "Task",
    "World",
    "has_capability",
    "roles_of",
    "user_of",
]

log = logging.getLogger(__name__)

TERMINAL_TASKS = frozenset(
    {
        mesos_pb2.TASK_FINISHED,
        mesos_pb2.TASK_FAILED,
        mesos_pb2.TASK_KILLED,
        mesos_pb2.TASK_LOST,
        mesos_pb2.TASK_ERROR,
        mesos_pb2.TASK_DROPPED,
        mesos_pb2.TASK_GONE,
        mesos_pb2.TASK_GONE_BY_OPERATOR,
    }
)
TERMINAL_OPERATIONS = frozenset(
    {
        mesos_pb2.OPERATION_FINISHED,
        mesos_pb2.OPERATION_FAILED,
        mesos_pb2.OPERATION_ERROR,
        mesos_pb2.OPERATION_DROPPED,
        mesos_pb2.OPERATION_GONE_BY_OPERATOR,
    }
)
COMPLETED_TASKS = 1000
REMOVED_FRAMEWORKS = 1000
PAST_OPERATIONS = 1000


@dataclass(frozen=True)
class Options:
    """How the agent was started. Times in seconds."""

    hostname: str
    ip: str
    port: int
    """The agent port."""
    master_port: int
    version: str
    """Digits and dots only: third-party clients parse it."""
    resources: Sequence[mesos_pb2.Resource]
    """The agent's own, from `--resources` or the host, unreserved or statically reserved, not allocated.
    Without `cpus` among them, `online_cpus` are added."""
    online_cpus: int
    measured: Collection[str] = ()
    """Names among the resources that were measured and not given: a start takes them as they are."""
    attributes: Sequence[mesos_pb2.Attribute] = ()
    offer_timeout: float | None = None
    heartbeat_interval: float = 15.0
    allocation_interval: float = 1.0
    work_dir: str = ""
    flags: Mapping[str, str] = field(default_factory=dict)
    """What GET_FLAGS and /flags show; the shell leaves secrets out."""
    acls: Acls = ALLOW_ALL
    user: str = ""
    """The account that the agent runs as: a task for which nobody names one runs as it, too."""
    scheme: str = "http"
    """Of the agent's URL in offers."""
    boot_id: str = ""
    """Which boot of the host this is: tasks of an earlier one run no more."""
    recovery_timeout: float = 600.0
    """How long after a restart of the agent a framework may stay away, where its own timeout is shorter."""


@dataclass
class Filter:
    """A framework does not want offers of these resources, or of a part of them, for a while."""

    role: str
    resources: list[mesos_pb2.Resource]
    """Not allocated."""
    expires: float


@dataclass
class Framework:
    record: FrameworkRecord
    order: int
    stream_id: str | None = None
    suppressed: set[str] = field(default_factory=set)
    constraints: OfferConstraints = field(default_factory=OfferConstraints)
    """Not kept over a restart: it comes with each SUBSCRIBE, and nothing is offered before."""
    filters: list[Filter] = field(default_factory=list)
    next_heartbeat: float = 0.0
    give_up: float | None = None
    """When it is removed if it does not come back; None while connected."""
    served: Counter[str] = field(default_factory=Counter)
    """How often it was made an offer, by role: among equals it is somebody else's turn."""
    counts: Counter[str] = field(default_factory=Counter)
    """Its calls, events, offers, operations and ended tasks since the agent was started; names as in `core.figures`."""
    recovered: bool = False
    """Known from before a restart of the agent and not back yet."""

    @property
    def id(self) -> str:
        return self.record.framework_id

    @property
    def info(self) -> mesos_pb2.FrameworkInfo:
        return self.record.info

    @property
    def roles(self) -> list[str]:
        return roles_of(self.info)

    def can(self, capability: int) -> bool:
        return has_capability(self.info, capability)


def has_capability(info: mesos_pb2.FrameworkInfo, capability: int) -> bool:
    return any(c.type == capability for c in info.capabilities)


def roles_of(info: mesos_pb2.FrameworkInfo) -> list[str]:
    """`roles` with MULTI_ROLE, else the one `role`."""
    return list(info.roles) if has_capability(info, mesos_pb2.FrameworkInfo.Capability.MULTI_ROLE) else [info.role]


def user_of(framework: Framework, task: mesos_pb2.TaskInfo) -> str:
    """The account that a task is to run as; "" for the agent's own. Who may run it is asked by the same word."""
    return task.command.user or framework.info.user


@dataclass
class SetInfo:
    """What the agent must know of a set beyond its resources."""

    role: str | None
    framework_id: str | None
    lifetime: str | None
    """"framework" or "role"; None as long as nobody has said it."""
    retry_destroy: float = 0.0
    revoked: str = ""
    """Why it has to go, its room being taken back; "" while it may stay."""


_USER_INFORMATION = re.compile(r"//(?:[^/]*:.*|[^/]*)@")
"""Before the query. Where there is a colon up to the last @: a password may hold a slash."""


def _without_secrets(uri: str) -> str:
    """A URI as it may be shown: without user information, values of the query and fragment. Rather less than more."""
    front, mark, query = uri.partition("#")[0].partition("?")
    pairs = (f"{pair.partition('=')[0]}=***" if "=" in pair else "***" for pair in query.split("&"))
    return _USER_INFORMATION.sub("//***@", front) + (mark and mark + "&".join(pairs))


@dataclass
class Provider:
    record: ProviderRecord
    stream_id: str | None = None
    ready: bool = False
    """Subscribed, and its UPDATE_STATE has come."""
    reported: bool = False
    """It was ready at least once since the agent started: its operations are known."""
    total: list[mesos_pb2.Resource] = field(default_factory=list)
    """Not allocated. Empty while it is not ready."""
    version: bytes = b""
    report: pinfold_pb2.CpuReport | None = None
    sets: dict[str, SetInfo] = field(default_factory=dict)
    compacting: set[bytes] = field(default_factory=set)
    """Uuids of COMPACT_CPUSETS events that it has not answered."""

    @property
    def id(self) -> str:
        return self.record.provider_id

    @property
    def info(self) -> mesos_pb2.ResourceProviderInfo:
        return self.record.info

    @property
    def shown_info(self) -> mesos_pb2.ResourceProviderInfo:
        """`info` as it may be shown: without secrets in the URI of its profiles."""
        uri = self.info.cpu.profiles.uri
        hidden = _without_secrets(uri)
        if hidden == uri:
            return self.info
        shown = mesos_pb2.ResourceProviderInfo()
        shown.CopyFrom(self.info)
        shown.cpu.profiles.uri = hidden
        return shown

    @property
    def key(self) -> tuple[str, str]:
        return (self.info.type, self.info.name)


@dataclass
class Task:
    record: TaskRecord
    container_id: str
    publishing: dict[bytes, str] = field(default_factory=dict)
    """Publish uuid → provider id, of what is not answered yet."""
    unpublished: set[str] = field(default_factory=set)
    """Providers whose resources are not published yet."""
    launched: bool = False
    """LaunchTask was appended in this run or an earlier one."""
    next_send: float = 0.0
    backoff: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        return (self.record.framework_id, self.record.task.task_id.value)

    @property
    def live(self) -> bool:
        return self.record.state not in TERMINAL_TASKS


@dataclass
class Operation:
    uuid: bytes
    info: mesos_pb2.Offer.Operation
    framework_id: str | None = None
    provider_id: str | None = None
    """None: on the agent's own resources."""
    role: str = ""
    consumed: list[mesos_pb2.Resource] = field(default_factory=list)
    """What it takes out of the totals, not allocated."""
    converted: list[mesos_pb2.Resource] = field(default_factory=list)
    """What came or will come into the totals instead, as far as it is known."""
    speculated: bool = False
    """The totals have been changed already, before it finished."""
    applied: bool = False
    """Its outcome is in the totals."""
    statuses: list[mesos_pb2.OperationStatus] = field(default_factory=list)
    unacknowledged: list[mesos_pb2.OperationStatus] = field(default_factory=list)
    next_send: float | None = None
    """Only where the agent itself is the sender."""
    backoff: float = 0.0

    @property
    def operation_id(self) -> str | None:
        return self.info.id.value if self.info.HasField("id") else None

    @property
    def state(self) -> mesos_pb2.OperationState:
        return self.statuses[-1].state if self.statuses else mesos_pb2.OPERATION_PENDING

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL_OPERATIONS


@dataclass
class Offer:
    message: mesos_pb2.Offer
    framework_id: str
    role: str
    resources: list[mesos_pb2.Resource]
    """Not allocated."""
    expires: float | None


class World:
    """All of it, and the effects of the turn that is being decided."""

    def __init__(self, options: Options, state: State, new_id: Callable[[], str], now: float) -> None:
        self.options = options
        self.new_id = new_id
        self.start_time = now
        self.effects: list[Effect] = []
        self.run_id = new_id()
        self.agent = self._agent(state)
        self.configs: dict[tuple[str, str], ConfigRecord] = {(c.info.type, c.info.name): c for c in state.configs}
        self.providers = {p.provider_id: Provider(p) for p in state.providers}
        self.weights: dict[str, WeightRecord] = {w.role: w for w in state.weights}
        self.quotas: dict[str, QuotaRecord] = {q.config.role: q for q in state.quotas}
        self.frameworks: dict[str, Framework] = {}
        self.removed: OrderedDict[str, FrameworkRecord] = OrderedDict()
        self.framework_count = 0
        for f in sorted(state.frameworks, key=lambda r: (r.registered_time, r.framework_id)):
            if f.removed_time is not None:
                self.removed[f.framework_id] = f
                continue
            patience = max(options.recovery_timeout, f.info.failover_timeout)
            self.frameworks[f.framework_id] = Framework(
                f, self.framework_count, None, set(f.suppressed_roles), give_up=now + patience, recovered=True
            )
            self.framework_count += 1
        self.tasks: dict[tuple[str, str], Task] = {}
        for t in state.tasks:
            task = Task(t, f"{t.framework_id}.{t.task.task_id.value}")
            task.launched = t.state != mesos_pb2.TASK_STAGING
            self.tasks[task.key] = task
        self.completed: deque[TaskRecord] = deque(maxlen=COMPLETED_TASKS)
        self.operations: dict[bytes, Operation] = {}
        self.past_operations: OrderedDict[bytes, Operation] = OrderedDict()
        self.offers: dict[str, Offer] = {}
        self.offer_count = 0
        self.served: Counter[str] = Counter()
        self.allocate_now = True
        self.stale = True
        """Something happened since the last allocation; if not, another one would find what that one found."""
        self.next_allocation = now
        self.next_operator_heartbeat = now
        self.counters: Counter[str] = Counter()
        self.config_in_force = True
        """False after a change of the agent's own resources or attributes was refused, until one is taken."""

    def _agent(self, state: State) -> AgentRecord:
        """The stored one, its resources and attributes brought to what the agent has been started with.

        Raises Conflict where they take away what is in use.
        """
        record = state.agent
        if record is None:
            master_id = self.new_id()
            record = AgentRecord(f"{master_id}-S0", master_id)
        options = self.options
        new = own.wanted(options.resources, options.online_cpus)
        have, unfit = own.carry(record.resources, new, options.measured)
        users = [
            (
                f"'{t.task.task_id.value}' of framework {t.framework_id}",
                rs.unallocate(r for r in t.task.resources if not r.HasField("provider_id")),
            )
            for t in state.tasks
            if t.state not in TERMINAL_TASKS and t.boot_id in (None, options.boot_id)
        ]
        attributes = tuple(options.attributes)
        problem = own.problem(
            record.resources, have, unfit, users, (record.attributes, attributes), set(options.measured)
        )
        if problem is not None:
            raise Conflict(
                f"agent {record.agent_id} cannot start with these resources and attributes: {problem}. Start it with "
                "what it had, and change it once they are free"
            )
        for resource in unfit:
            log.warning(
                "%s is reserved, and the host has less of it now; what there is stays so", rs.describe(resource)
            )
        updated = AgentRecord(record.agent_id, record.master_id, tuple(have), attributes)
        if updated != state.agent:
            self.effects.append(SaveAgent(updated))
        return updated

    # Identity

    @property
    def agent_id(self) -> str:
        return self.agent.agent_id

    @property
    def agent_pid(self) -> str:
        return f"slave(1)@{self.options.ip}:{self.options.port}"

    @property
    def where(self) -> str:
        """How Mesos names an agent in messages."""
        return f"agent {self.agent_id} at {self.agent_pid} ({self.options.hostname})"

    def new_uuid(self) -> bytes:
        """16 bytes made of the next id."""
        text = self.new_id()
        try:
            return uuid.UUID(text).bytes
        except ValueError:
            return uuid.uuid5(uuid.NAMESPACE_OID, text).bytes

    # Effects

    def to_framework(self, framework: Framework | None, event: scheduler_pb2.Event) -> None:
        """Sent where the framework is connected, and dropped where it is not."""
        if framework is not None and framework.stream_id is not None:
            framework.counts[f"events/{scheduler_pb2.Event.Type.Name(event.type).lower()}"] += 1
            self.effects.append(ToFramework(framework.stream_id, event))

    def to_provider(self, provider: Provider, event: resource_provider_pb2.Event) -> None:
        if provider.stream_id is not None:
            self.effects.append(ToProvider(provider.stream_id, event))

    def to_operators(self, event: master_pb2.Event) -> None:
        self.effects.append(ToOperators(event))

    # Who is who

    def framework_of_stream(self, stream_id: str) -> Framework | None:
        return next((f for f in self.frameworks.values() if f.stream_id == stream_id), None)

    def provider_of_stream(self, stream_id: str) -> Provider | None:
        return next((p for p in self.providers.values() if p.stream_id == stream_id), None)

    def live_tasks(self) -> Iterable[Task]:
        return [t for t in self.tasks.values() if t.live]

    def tasks_in_set(self, provider_id: str, set_id: str) -> list[Task]:
        return [
            t
            for t in self.live_tasks()
            if any(rs.provider_of(r) == provider_id and rs.set_id(r) == set_id for r in t.record.task.resources)
        ]

    # What there is

    def floor_cpus(self) -> int | None:
        """The CPUs left to plain tasks by all providers together; None while there is no CPU provider."""
        floors: dict[tuple[str, str], int] = {key: c.floor_cpus for key, c in self.configs.items()}
        for provider in self.providers.values():
            if provider.record.gone:
                continue
            if provider.report is not None and provider.report.HasField("floor_cpus"):
                floors[provider.key] = provider.report.floor_cpus
            elif provider.key not in floors and provider.info.HasField("cpu"):
                floors[provider.key] = max(1, provider.info.cpu.floor)  # at least a core, until it says more
        return sum(floors.values()) if floors else None

    def own_total(self) -> list[mesos_pb2.Resource]:
        """The agent's own resources with reservations; `cpus` not more than the providers' floors leave."""
        own = list(self.agent.resources)
        floor = self.floor_cpus()
        return own if floor is None else rs.limit(own, "cpus", floor)

    def total(self) -> list[mesos_pb2.Resource]:
        result = self.own_total()
        for provider in self.providers.values():
            if provider.ready:
                result.extend(provider.total)
        return result

    def used(self) -> list[mesos_pb2.Resource]:
        """By tasks that are not terminal; not allocated."""
        return rs.unallocate(rs.normalize(r for t in self.live_tasks() for r in t.record.task.resources))

    def offered(self) -> list[mesos_pb2.Resource]:
        return [r for o in self.offers.values() for r in o.resources]

    def held(self) -> list[mesos_pb2.Resource]:
        """By operations that are under way."""
        return [
            r
            for o in self.operations.values()
            if not o.terminal and not o.speculated and not o.applied
            for r in o.consumed
        ]

    def free(self) -> list[mesos_pb2.Resource]:
        """What nobody uses, was offered or holds; never negative, whatever totals became."""
        return rs.subtract(self.total(), [*self.used(), *self.offered(), *self.held()])

    def remember(self, operation: Operation) -> None:
        """An operation that is over: kept for a while for a provider that did not get the acknowledgement."""
        self.operations.pop(operation.uuid, None)
        self.past_operations[operation.uuid] = operation
        while len(self.past_operations) > PAST_OPERATIONS:
            self.past_operations.popitem(last=False)
