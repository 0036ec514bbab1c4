"""The whole agent in memory: each method decides one turn, `drain` hands out what is to be done about it.

It only puts the parts of the core together and owns the order in which a tick goes over them. It does no I/O and
reads no clock; the shell calls it from one thread, commits the changes, and carries out the other effects.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from agent_api.core import (
    accept,
    compaction,
    figures,
    frameworks,
    offers,
    operations,
    providers,
    reading,
    reconfiguration,
    roles,
    tasks,
)
from agent_api.core.effects import Effect
from agent_api.core.model import Options, World
from agent_api.core.records import ConfigRecord, State, TaskRecord
from agent_api.errors import BadRequest, NotImplemented_
from agent_api.wire import (
    agent_pb2,
    master_pb2,
    mesos_pb2,
    resource_provider_pb2,
    scheduler_pb2,
)

__all__ = ["Master", "Options"]

log = logging.getLogger(__name__)


class Master:
    """The agent, with the role of the Mesos master in it."""

    def __init__(self, options: Options, state: State, new_id: Callable[[], str], now: float) -> None:
        """`new_id` gives ids that were never given before, over restarts too; `now` is Unix time."""
        self.world = World(options, state, new_id, now)
        self._first_tick = True
        self._resume_kills = now + 1.0

    def drain(self) -> list[Effect]:
        """The effects since the last call, in order. The constructor may leave some, too."""
        effects, self.world.effects = self.world.effects, []
        return effects

    @property
    def _changing(self) -> World:
        """The world, for a turn that may change what can be offered."""
        self.world.stale = True
        return self.world

    def tick(self, now: float) -> None:
        """What time brings: to be called after every turn and a few times a second."""
        world = self.world
        first, self._first_tick = self._first_tick, False
        frameworks.tick(world, now)
        tasks.tick(world, now, first)
        if self._resume_kills and now >= self._resume_kills:
            self._resume_kills = 0.0
            tasks.resume_kills(world)
        operations.tick(world, now)
        providers.tick(world, now)
        offers.tick(world, now)
        if now >= world.next_operator_heartbeat:
            world.next_operator_heartbeat = now + world.options.heartbeat_interval
            world.to_operators(master_pb2.Event(type=master_pb2.Event.HEARTBEAT))

    # Schedulers

    def subscribe(self, call: scheduler_pb2.Call, stream_id: str, principal: str | None, now: float) -> None:
        """SUBSCRIBE. Bad information: an ERROR event and the end of the stream. Raises ApiError (400) where the call
        contradicts itself."""
        frameworks.subscribe(self._changing, call, stream_id, principal, now)

    def scheduler_call(
        self, call: scheduler_pb2.Call, stream_id: str | None, now: float, principal: str | None = None
    ) -> int:
        """Any other call; the HTTP status of success (202 or 200). Raises ApiError."""
        return frameworks.call(self._changing, call, stream_id, principal, now)

    def framework_stream_closed(self, stream_id: str, now: float) -> None:
        frameworks.stream_closed(self._changing, stream_id, now)

    # Providers

    def provider_subscribe(self, call: resource_provider_pb2.Call, stream_id: str, now: float) -> None:
        """SUBSCRIBE. A refused provider gets the end of its stream and nothing else."""
        providers.subscribe(self._changing, call, stream_id, now)

    def provider_call(self, call: resource_provider_pb2.Call, stream_id: str | None, now: float) -> None:
        """Any other call. Raises ApiError."""
        providers.call(self._changing, call, stream_id, now)

    def provider_stream_closed(self, stream_id: str, now: float) -> None:
        providers.stream_closed(self._changing, stream_id, now)

    # Tasks

    def task_keys(self) -> list[tuple[str, str]]:
        """(framework's id, task's id) of each task of which something is still to happen or to be told."""
        return list(self.world.tasks)

    def task_started(
        self, framework_id: str, task_id: str, pid: int, start_ticks: int, boot_id: str, now: float, note: str = ""
    ) -> None:
        """`note`: what of it is not as it was asked for; the framework is told."""
        tasks.started(self._changing, (framework_id, task_id), pid, start_ticks, boot_id, now, note)

    def task_exited(
        self,
        framework_id: str,
        task_id: str,
        exit_code: int | None,
        signal: int | None,
        lost: bool,
        message: str | None,
        now: float,
        out_of_memory: bool = False,
    ) -> None:
        """`lost`: nobody knows how it ended. An empty message is filled in with Mesos's words. `out_of_memory`: the
        kernel killed of it for its limit."""
        key = framework_id, task_id
        tasks.exited(self._changing, key, exit_code, signal, lost, message or "", now, out_of_memory)

    def task_failed_to_start(self, framework_id: str, task_id: str, message: str, now: float) -> None:
        tasks.failed_to_start(self._changing, (framework_id, task_id), message, now)

    def recoverable_tasks(self) -> list[TaskRecord]:
        """What the launcher has to find again after a start. One without `pid` was handed to the launcher just before
        the agent ended: only its task directory tells whether it was started."""
        return tasks.recoverable(self.world)

    # Provider configs

    def config_to_add(self, info: mesos_pb2.ResourceProviderInfo) -> bool:
        """Whether there is anything to do; False: the same is there already. Raises ApiError (400, 409)."""
        return providers.config_to_add(self.world, info)

    def config_to_update(self, info: mesos_pb2.ResourceProviderInfo) -> bool:
        return providers.config_to_update(self.world, info)

    def has_the_host(self, info: mesos_pb2.ResourceProviderInfo) -> None:
        """Raises ApiError (409) where another provider has the host's CPUs."""
        providers.has_the_host(self.world, info)

    def add_config(self, info: mesos_pb2.ResourceProviderInfo, floor_cpus: int, now: float) -> None:
        """After its check. Raises ApiError (409) where the plain tasks that run do not fit."""
        providers.add_config(self._changing, info, floor_cpus, now)

    def update_config(self, info: mesos_pb2.ResourceProviderInfo, floor_cpus: int, now: float) -> None:
        providers.update_config(self._changing, info, floor_cpus, now)

    def remove_config(self, type: str, name: str, now: float) -> None:
        providers.remove_config(self._changing, type, name, now)

    def configs(self) -> list[ConfigRecord]:
        return list(self.world.configs.values())

    # Own resources and attributes

    def reconfigure(self, change: reconfiguration.Change, now: float) -> bool:
        """Put new resources and attributes of the agent in force; whether anything changed. Raises Conflict, with
        everything as it was, where they take away what is in use."""
        return reconfiguration.apply(self._changing, change)

    def reconfigure_refused(self, now: float) -> None:
        """What the operator wants by now could not even be read."""
        reconfiguration.refused(self.world)

    # Operators

    def compact(self, call: agent_pb2.Call.CompactCpusets, now: float) -> dict[bytes, str]:
        """Ask the providers; `CompactionAnswered` follows for each uuid that is returned. Raises ApiError."""
        return compaction.ask(self.world, call)

    def compacted(
        self, dry_run: bool, answers: dict[str, resource_provider_pb2.Call.UpdateCompaction], now: float
    ) -> agent_pb2.Response:
        return compaction.response(self.world, dry_run, answers)

    def agent_call(self, call: agent_pb2.Call, now: float) -> agent_pb2.Response:
        """An answer without `type` stands for an empty body. Raises ApiError."""
        kinds = agent_pb2.Call
        if call.type == kinds.GET_METRICS:
            _need(call, "agent", "get_metrics")
        metrics = figures.metrics(self, now) if call.type == kinds.GET_METRICS else {}
        response = reading.agent_response(self.world, call, metrics)
        if response is not None:
            return response
        match call.type:
            case kinds.MARK_RESOURCE_PROVIDER_GONE:
                _need(call, "agent", "mark_resource_provider_gone")
                provider_id = call.mark_resource_provider_gone.resource_provider_id.value
                providers.mark_gone(self._changing, provider_id, now)
            case kinds.DESTROY_CPUSET:
                _need(call, "agent", "destroy_cpuset")
                providers.destroy_set(self._changing, call.destroy_cpuset.cpuset_id, now)
            case _:
                raise NotImplemented_(f"Agent call {kinds.Type.Name(call.type)} is not served by Pinfold")
        return agent_pb2.Response()

    def master_call(self, call: master_pb2.Call, now: float) -> master_pb2.Response | None:
        """None stands for an empty body. Raises ApiError."""
        kinds = master_pb2.Call
        if call.type == kinds.GET_METRICS:
            _need(call, "master", "get_metrics")
        metrics = figures.metrics(self, now) if call.type == kinds.GET_METRICS else {}
        response = reading.master_response(self.world, call, metrics)
        if response is not None:
            return response
        operation = mesos_pb2.Offer.Operation()
        match call.type:
            case kinds.TEARDOWN:
                _need(call, "master", "teardown")
                framework = self.world.frameworks.get(call.teardown.framework_id.value)
                if framework is None:
                    raise BadRequest("No framework found with specified ID")
                frameworks.remove(self._changing, framework, now)
            case kinds.UPDATE_WEIGHTS:
                _need(call, "master", "update_weights")
                roles.update_weights(self._changing, call.update_weights)
            case kinds.UPDATE_QUOTA:
                _need(call, "master", "update_quota")
                roles.update_quota(self._changing, call.update_quota)
            case kinds.SET_QUOTA:
                _need(call, "master", "set_quota")
                roles.set_quota(self._changing, call.set_quota.quota_request)
            case kinds.REMOVE_QUOTA:
                _need(call, "master", "remove_quota")
                roles.remove_quota(self._changing, call.remove_quota.role)
            case kinds.RESERVE_RESOURCES:
                _need(call, "master", "reserve_resources")
                operation.type = mesos_pb2.Offer.Operation.RESERVE
                operation.reserve.resources.extend(call.reserve_resources.resources)
                operation.reserve.source.extend(call.reserve_resources.source)
                agent_id = call.reserve_resources.agent_id.value
                accept.reserve_by_operator(self._changing, operation, agent_id, now)
            case kinds.UNRESERVE_RESOURCES:
                _need(call, "master", "unreserve_resources")
                operation.type = mesos_pb2.Offer.Operation.UNRESERVE
                operation.unreserve.resources.extend(call.unreserve_resources.resources)
                agent_id = call.unreserve_resources.agent_id.value
                accept.reserve_by_operator(self._changing, operation, agent_id, now)
            case _:
                raise NotImplemented_(f"Master call {kinds.Type.Name(call.type)} is not served by Pinfold")
        return None

    def subscribe_operator(self, now: float) -> master_pb2.Event:
        """The first event of an operator's stream: everything as it is. Later ones come as ToOperators."""
        event = master_pb2.Event(type=master_pb2.Event.SUBSCRIBED)
        event.subscribed.get_state.CopyFrom(reading.state(self.world))
        event.subscribed.heartbeat_interval_seconds = self.world.options.heartbeat_interval
        return event


def _need(call: agent_pb2.Call | master_pb2.Call, api: str, field: str) -> None:
    if not call.HasField(field):
        raise BadRequest(f"Failed to validate {api}::Call: Expecting '{field}' to be present")
