"""What frameworks are told of their tasks: which status, in what order, how often.

Decides nothing about the task itself (`core.tasks` does). Statuses go out in order: only the first one that is not
acknowledged is under way, and it is sent again with backoff until it is acknowledged. A status without uuid is an
answer, sent once, and never acknowledged.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import cast

from agent_api.core.effects import RemoveTask, SaveTask
from agent_api.core.model import Framework, Task, World
from agent_api.core.records import TaskRecord
from agent_api.wire import master_pb2, mesos_pb2, scheduler_pb2

__all__ = ["acknowledge", "advance", "answer", "count_end", "finish", "framework_back", "message_of", "tick"]

log = logging.getLogger(__name__)

Status = mesos_pb2.TaskStatus
State = mesos_pb2.TaskState

FIRST_BACKOFF = 10.0
MOST_BACKOFF = 600.0


def tick(world: World, now: float) -> None:
    """Send again what was not acknowledged."""
    for task in world.tasks.values():
        if task.record.unacknowledged and now >= task.next_send:
            _send(world, task, now)


def advance(
    world: World,
    task: Task,
    state: State,
    now: float,
    message: str = "",
    source: Status.Source = Status.SOURCE_EXECUTOR,
    reason: Status.Reason | None = None,
) -> None:
    """The task is in another state: keep it, queue the status, tell the operators."""
    record = task.record
    status = Status(
        task_id=record.task.task_id,
        state=state,
        source=source,
        agent_id=mesos_pb2.AgentID(value=world.agent_id),
        timestamp=now,
        uuid=world.new_uuid(),
    )
    if message:
        status.message = message
    if reason is not None:
        status.reason = reason
    if source != Status.SOURCE_MASTER:
        status.executor_id.value = task.key[1]  # of each task its own, as Mesos shows command tasks
    if task.launched:
        _container(world, task, status)
    if source != Status.SOURCE_MASTER:
        world.counters["messages_status_update"] += 1
    task.record = replace(
        record,
        state=state,
        statuses=(*record.statuses, status),
        unacknowledged=record.unacknowledged + 1,
    )
    log.info("task %s of framework %s is %s%s", task.key[1], task.key[0], State.Name(state), message and f": {message}")
    event = master_pb2.Event(type=master_pb2.Event.TASK_UPDATED)
    event.task_updated.framework_id.value = record.framework_id
    event.task_updated.status.CopyFrom(status)
    event.task_updated.state = state
    world.to_operators(event)
    if not task.live:
        task.publishing.clear()
        task.unpublished.clear()
        count_end(world, record.framework_id, state, source, reason)
        world.allocate_now = True
    if record.framework_id not in world.frameworks:
        # Nobody is left to be told.
        task.record = replace(task.record, unacknowledged=0)
        if not task.live:
            finish(world, task)
            return
    world.effects.append(SaveTask(task.record))
    if task.record.unacknowledged == 1:
        task.backoff = FIRST_BACKOFF
        _send(world, task, now)


def count_end(
    world: World, framework_id: str, state: State, source: Status.Source, reason: Status.Reason | None
) -> None:
    """A task ended, or never began, in this state."""
    name = State.Name(state).lower()
    world.counters[name] += 1
    framework = world.frameworks.get(framework_id)
    if framework is not None:
        framework.counts[f"tasks/terminal/{name}"] += 1
    if reason is not None:
        # In figures Mesos still calls an agent a slave.
        words = f"{Status.Source.Name(source)}/{Status.Reason.Name(reason)}".lower().replace("agent", "slave")
        world.counters[f"{name}/{words}"] += 1


def _container(world: World, task: Task, status: Status) -> None:
    status.container_status.container_id.value = task.container_id
    status.container_status.network_infos.add().ip_addresses.add(
        protocol=mesos_pb2.NetworkInfo.IPv4, ip_address=world.options.ip
    )
    if task.record.pid is not None:
        status.container_status.executor_pid = task.record.pid


def _send(world: World, task: Task, now: float) -> None:
    framework = world.frameworks.get(task.record.framework_id)
    event = scheduler_pb2.Event(type=scheduler_pb2.Event.UPDATE)
    event.update.status.CopyFrom(task.record.statuses[-task.record.unacknowledged])
    world.to_framework(framework, event)
    task.backoff = task.backoff or FIRST_BACKOFF
    task.next_send = now + task.backoff
    task.backoff = min(task.backoff * 2, MOST_BACKOFF)


def acknowledge(world: World, framework: Framework, call: scheduler_pb2.Call.Acknowledge, now: float) -> None:
    """The first unacknowledged status, or nothing: an acknowledgement may come twice or late."""
    task = world.tasks.get((framework.id, call.task_id.value))
    if task is None or not task.record.unacknowledged:
        world.counters["invalid_status_update_acknowledgements"] += 1
        log.info("framework %s acknowledges unknown task %s; ignored", framework.id, call.task_id.value)
        return
    if task.record.statuses[-task.record.unacknowledged].uuid != call.uuid:
        world.counters["invalid_status_update_acknowledgements"] += 1
        log.info("framework %s acknowledges another status of task %s; ignored", framework.id, task.key[1])
        return
    world.counters["valid_status_update_acknowledgements"] += 1
    task.record = replace(task.record, unacknowledged=task.record.unacknowledged - 1)
    if task.record.unacknowledged:
        world.effects.append(SaveTask(task.record))
        task.backoff = FIRST_BACKOFF
        _send(world, task, now)
    elif not task.live:
        finish(world, task)
    else:
        world.effects.append(SaveTask(task.record))


def finish(world: World, task: Task) -> None:
    """Nothing is left to be said of it."""
    del world.tasks[task.key]
    world.completed.append(task.record)
    world.effects.append(RemoveTask(*task.key))


def framework_back(world: World, framework: Framework, now: float) -> None:
    """The framework has a new stream: what is not acknowledged is sent at once."""
    for task in world.tasks.values():
        if task.record.framework_id == framework.id and task.record.unacknowledged:
            task.backoff = FIRST_BACKOFF
            _send(world, task, now)


def answer(
    world: World,
    framework: Framework,
    task_id: str,
    state: State,
    message: str,
    reason: Status.Reason,
    now: float,
    agent_id: str | None = None,
    task: Task | None = None,
) -> None:
    """One status without uuid: what became of a call, sent once."""
    status = Status(
        task_id=mesos_pb2.TaskID(value=task_id),
        state=state,
        message=message,
        source=Status.SOURCE_MASTER,
        reason=reason,
        timestamp=now,
    )
    if agent_id is not None:
        status.agent_id.value = agent_id
    if task is not None and task.launched:
        _container(world, task, status)
    event = scheduler_pb2.Event(type=scheduler_pb2.Event.UPDATE)
    event.update.status.CopyFrom(status)
    world.to_framework(framework, event)


def message_of(world: World, record: TaskRecord) -> mesos_pb2.Task:
    """The task as the operator APIs show it."""
    info = record.task
    task = mesos_pb2.Task(
        name=info.name,
        task_id=info.task_id,
        framework_id=mesos_pb2.FrameworkID(value=record.framework_id),
        agent_id=mesos_pb2.AgentID(value=world.agent_id),
        state=cast(State, record.state),
        resources=info.resources,
        statuses=record.statuses,
    )
    if record.statuses:
        first = record.statuses[-record.unacknowledged if record.unacknowledged else -1]
        task.status_update_state = first.state
        task.status_update_uuid = first.uuid
    for field in ("labels", "discovery", "container", "kill_policy"):
        if info.HasField(field):
            getattr(task, field).CopyFrom(getattr(info, field))
    if info.command.HasField("user"):
        task.user = info.command.user
    return task


def _container_id(record: TaskRecord) -> str:
    return f"{record.framework_id}.{record.task.task_id.value}"
