"""The life of a task, from STAGING to its acknowledged end.

Decides which state a task is in and when it may be started: after every provider whose resources it uses has
published them. It never starts or kills a process (`LaunchTask` and `KillTask` do), never decides whether a task may
have its resources (`core.accept` does), nor how its framework is told (`core.statuses` does).
"""

from __future__ import annotations

import logging
import signal as signals
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from agent_api.core import resources as rs
from agent_api.core import statuses
from agent_api.core.effects import KillTask, LaunchTask, SaveTask, UpdateTaskCpus
from agent_api.core.model import Framework, Provider, Task, World, user_of
from agent_api.core.records import TaskRecord
from agent_api.wire import master_pb2, mesos_pb2, resource_provider_pb2, scheduler_pb2

__all__ = [
    "exited",
    "failed_to_start",
    "framework_gone",
    "kill",
    "launch",
    "preempt",
    "provider_lost",
    "provider_ready",
    "publish_answered",
    "reconcile",
    "recoverable",
    "resume_kills",
    "sets_changed",
    "started",
    "tick",
]

log = logging.getLogger(__name__)

Status = mesos_pb2.TaskStatus
State = mesos_pb2.TaskState

DEFAULT_GRACE = 3.0
"""Seconds from SIGTERM to SIGKILL where nobody says otherwise (Mesos's default)."""


def launch(world: World, framework: Framework, info: mesos_pb2.TaskInfo, now: float) -> None:
    """Take a task that was found to be good; start it, or have its resources published first."""
    record = TaskRecord(framework.id, info, mesos_pb2.TASK_STAGING, launched_time=now)
    task = Task(record, _container_id(record))
    world.tasks[task.key] = task
    world.effects.append(SaveTask(record))
    world.counters["tasks_launched"] += 1
    log.info("task %s of framework %s: %s", info.task_id.value, framework.id, rs.describe_all(info.resources))
    event = master_pb2.Event(type=master_pb2.Event.TASK_ADDED)
    event.task_added.task.CopyFrom(statuses.message_of(world, record))
    world.to_operators(event)
    _stage(world, task, now)


def _container_id(record: TaskRecord) -> str:
    return f"{record.framework_id}.{record.task.task_id.value}"


# Publishing and starting


def _stage(world: World, task: Task, now: float) -> None:
    ids = {rs.provider_of(r) for r in task.record.task.resources} - {None}
    task.unpublished = {i for i in ids if i is not None}
    for provider_id in sorted(task.unpublished):
        provider = world.providers.get(provider_id)
        if provider is not None and provider.ready:
            _publish(world, task, provider)
    if not task.unpublished:
        _start(world, task, now)


def _publish(world: World, task: Task, provider: Provider) -> None:
    """Ask the provider to have all its resources that tasks use ready, those of this task among them."""
    uuid = world.new_uuid()
    task.publishing[uuid] = provider.id
    event = resource_provider_pb2.Event(type=resource_provider_pb2.Event.PUBLISH_RESOURCES)
    event.publish_resources.uuid.value = uuid
    users = [[r for r in t.record.task.resources if rs.provider_of(r) == provider.id] for t in world.live_tasks()]
    used = [r for user in users for r in user]
    event.publish_resources.resources.extend(rs.canonical(rs.normalize(used), provider.total))
    for ids in sorted({tuple(sorted({i for r in user if (i := rs.set_id(r)) is not None})) for user in users}):
        if len(ids) > 1:
            event.publish_resources.together.add(set_ids=ids)
    mine = (rs.set_id(r) for r in task.record.task.resources if rs.provider_of(r) == provider.id)
    event.publish_resources.starting.extend(sorted({i for i in mine if i is not None}))
    world.to_provider(provider, event)


def publish_answered(world: World, provider: Provider, uuid: bytes, ok: bool, now: float) -> None:
    """UPDATE_PUBLISH_RESOURCES_STATUS; an unknown uuid is nothing to complain about."""
    task = next((t for t in world.tasks.values() if t.publishing.get(uuid) == provider.id), None)
    if task is None or not task.live:
        log.info("provider %s: publish %s is not waited for", provider.id, uuid.hex())
        return
    del task.publishing[uuid]
    if not ok:
        used = [r for r in task.record.task.resources if rs.provider_of(r) == provider.id]
        message = f"Failed to publish resources '{rs.describe_all(used)}': Received FAILED status"
        reason = Status.REASON_CONTAINER_LAUNCH_FAILED
        statuses.advance(world, task, mesos_pb2.TASK_FAILED, now, message, Status.SOURCE_AGENT, reason)
        return
    task.unpublished.discard(provider.id)
    if not task.unpublished and not task.launched:
        _start(world, task, now)


def provider_ready(world: World, provider: Provider) -> None:
    """Publish for the tasks that wait for this provider: nothing was sent, or the answer was lost."""
    for task in world.live_tasks():
        if provider.id in task.unpublished and provider.id not in task.publishing.values():
            _publish(world, task, provider)


def provider_lost(world: World, provider: Provider) -> None:
    for task in world.tasks.values():
        task.publishing = {u: p for u, p in task.publishing.items() if p != provider.id}


def sets_changed(world: World, provider: Provider) -> None:
    """The provider's totals were replaced or converted: tasks in sets with other CPUs than before are told."""
    _follow_moves(world, provider)
    words = rs.Words(provider.total)
    for task in world.live_tasks():
        mine = [r for r in task.record.task.resources if rs.provider_of(r) == provider.id]
        if not mine or not task.launched:
            continue
        newest = rs.canonical(task.record.task.resources, words)
        told = [
            new if rs.provider_of(new) == provider.id and new.cpu.source.metadata.labels else old
            for old, new in zip(task.record.task.resources, newest, strict=True)
        ]
        if told == list(task.record.task.resources):
            continue
        info = mesos_pb2.TaskInfo()
        info.CopyFrom(task.record.task)
        del info.resources[:]
        info.resources.extend(told)
        task.record = replace(task.record, task=info)
        world.effects.append(SaveTask(task.record))
        world.effects.append(UpdateTaskCpus(*task.key, _cpu_resources(info)))


def _follow_moves(world: World, provider: Provider) -> None:
    """Sets that went to other zones: what their tasks use is counted there from now on.

    Which part of a set a task uses is a number and no more; the first task takes the first zones.
    """
    there: dict[str, list[mesos_pb2.Resource]] = {}
    for resource in provider.total:
        set_id = rs.set_id(resource)
        if set_id is not None:
            there.setdefault(set_id, []).append(resource)
    for set_id, whole in there.items():
        users = [t for t in world.tasks_in_set(provider.id, set_id) if t.launched]
        used = [r for t in users for r in t.record.task.resources if rs.set_id(r) == set_id]
        if not used or rs.contains(whole, rs.unallocate(rs.normalize(used))):
            continue
        left = [(r, round(1000 * r.scalar.value)) for r in whole]
        for task in users:
            info = mesos_pb2.TaskInfo()
            info.CopyFrom(task.record.task)
            del info.resources[:]
            for resource in task.record.task.resources:
                if rs.set_id(resource) != set_id:
                    info.resources.add().CopyFrom(resource)
                    continue
                need = round(1000 * resource.scalar.value)
                for index, (part, amount) in enumerate(left):
                    taken = min(need, amount)
                    if taken:
                        moved = info.resources.add()
                        moved.CopyFrom(part)
                        moved.scalar.value = taken / 1000
                        moved.allocation_info.CopyFrom(resource.allocation_info)
                        left[index] = part, amount - taken
                        need -= taken
                if need:
                    log.warning("task %s uses more of set %s than there is", task.key[1], set_id)
            task.record = replace(task.record, task=info)
            world.effects.append(SaveTask(task.record))
            if task.launched:
                world.effects.append(UpdateTaskCpus(*task.key, _cpu_resources(info)))


def _cpu_resources(info: mesos_pb2.TaskInfo) -> tuple[mesos_pb2.Resource, ...]:
    return tuple(r for r in info.resources if r.HasField("provider_id") and r.HasField("cpu"))


def _start(world: World, task: Task, now: float) -> None:
    record = task.record
    framework = world.frameworks.get(record.framework_id)
    if framework is None:
        statuses.finish(world, task)
        return
    info = mesos_pb2.TaskInfo()
    info.CopyFrom(record.task)
    del info.resources[:]
    totals = [r for p in world.providers.values() for r in p.total]
    info.resources.extend(rs.canonical(record.task.resources, totals))
    task.record = replace(record, task=info)
    task.launched = True
    user = user_of(framework, info)
    # STARTING is stored with the effect: after a crash a task that is STAGING was surely never started.
    statuses.advance(world, task, mesos_pb2.TASK_STARTING, now)
    world.effects.append(LaunchTask(record.framework_id, info, user, _cpu_resources(info)))


def recoverable(world: World) -> list[TaskRecord]:
    """Tasks that were started, as far as we know, and whose end we have not seen."""
    return [t.record for t in world.live_tasks() if t.launched]


def tick(world: World, now: float, first: bool) -> None:
    """Send again what was not acknowledged. The first tick after a start also takes up what was under way."""
    if first:
        for task in list(world.live_tasks()):
            if not task.launched:
                _stage(world, task, now)
    statuses.tick(world, now)


def resume_kills(world: World) -> None:
    """Kills that were asked for before a restart: asking twice does nothing new."""
    for task in world.live_tasks():
        if task.launched and task.record.kill_requested:
            world.effects.append(KillTask(*task.key, _grace(task.record.task.kill_policy)))


# News from the launcher


def started(
    world: World, key: tuple[str, str], pid: int, start_ticks: int, boot_id: str, now: float, note: str = ""
) -> None:
    task = world.tasks.get(key)
    if task is None or not task.live:
        log.warning("task %s of framework %s started, and is not known to run", key[1], key[0])
        return
    task.record = replace(task.record, pid=pid, start_ticks=start_ticks, boot_id=boot_id)
    if task.record.state == mesos_pb2.TASK_STARTING:
        statuses.advance(world, task, mesos_pb2.TASK_RUNNING, now, note)
    else:
        world.effects.append(SaveTask(task.record))


def exited(
    world: World,
    key: tuple[str, str],
    code: int | None,
    signal: int | None,
    lost: bool,
    message: str,
    now: float,
    out_of_memory: bool = False,
) -> None:
    task = world.tasks.get(key)
    if task is None or not task.live:
        log.info("task %s of framework %s ended, and was not known to run", key[1], key[0])
        return
    if task.record.preempted is not None:
        _end_preempted(world, task, task.record.preempted, now)
        return
    reason: Status.Reason | None = None
    if not message:
        if signal is not None:
            message = f"Command terminated with signal {signals.strsignal(signal) or signal}"
        elif code is not None:
            message = f"Command exited with status {code}"
        else:
            message = "The command's exit status is not known"
    source = Status.SOURCE_EXECUTOR
    if task.record.kill_requested:
        state = mesos_pb2.TASK_KILLED
    elif code == 0 and not lost:
        state = mesos_pb2.TASK_FINISHED
    else:
        state = mesos_pb2.TASK_FAILED
        if out_of_memory:
            reason, source = Status.REASON_CONTAINER_LIMITATION_MEMORY, Status.SOURCE_AGENT
        elif lost:
            reason, source = Status.REASON_EXECUTOR_TERMINATED, Status.SOURCE_AGENT
    statuses.advance(world, task, state, now, message, source, reason)


def failed_to_start(world: World, key: tuple[str, str], message: str, now: float) -> None:
    task = world.tasks.get(key)
    if task is None or not task.live:
        return
    if task.record.preempted is not None:
        _end_preempted(world, task, task.record.preempted, now)
        return
    if task.record.kill_requested:
        reason = Status.REASON_TASK_KILLED_DURING_LAUNCH
        statuses.advance(world, task, mesos_pb2.TASK_KILLED, now, message, Status.SOURCE_AGENT, reason)
        return
    reason = Status.REASON_CONTAINER_LAUNCH_FAILED
    statuses.advance(world, task, mesos_pb2.TASK_FAILED, now, message, Status.SOURCE_AGENT, reason)


def framework_gone(world: World, framework_id: str, now: float) -> None:
    """Its tasks are killed; nobody is told. To be called once it is not in `world.frameworks` any more."""
    for task in [t for t in world.tasks.values() if t.record.framework_id == framework_id]:
        task.record = replace(task.record, unacknowledged=0)
        if not task.live:
            statuses.finish(world, task)
        elif not task.launched:
            reason, source = Status.REASON_FRAMEWORK_REMOVED, Status.SOURCE_MASTER
            statuses.advance(world, task, mesos_pb2.TASK_KILLED, now, "Framework removed", source, reason)
        else:
            _request_kill(world, task, _grace(task.record.task.kill_policy))


# What frameworks ask


def kill(world: World, framework: Framework, call: scheduler_pb2.Call.Kill, now: float) -> None:
    task = world.tasks.get((framework.id, call.task_id.value))
    if task is None:
        agent_id = call.agent_id.value if call.HasField("agent_id") else None
        _unknown(world, framework, call.task_id.value, agent_id, now)
        return
    if not task.live:
        return  # its end is on the way
    log.info("framework %s kills task %s", framework.id, task.key[1])
    if not task.launched:
        reason, source = Status.REASON_TASK_KILLED_DURING_LAUNCH, Status.SOURCE_AGENT
        statuses.advance(world, task, mesos_pb2.TASK_KILLED, now, "Killed before it was started", source, reason)
        return
    policy = call.kill_policy if call.HasField("kill_policy") else task.record.task.kill_policy
    _request_kill(world, task, _grace(policy))
    wants_killing = framework.can(mesos_pb2.FrameworkInfo.Capability.TASK_KILLING_STATE)
    if wants_killing and task.record.state != mesos_pb2.TASK_KILLING:
        statuses.advance(world, task, mesos_pb2.TASK_KILLING, now)


def _request_kill(world: World, task: Task, grace: float) -> None:
    task.record = replace(task.record, kill_requested=True)
    world.effects.append(SaveTask(task.record))
    world.effects.append(KillTask(*task.key, grace))


def preempt(world: World, task: Task, why: str, now: float) -> None:
    """End a task whose set was revoked, once: SIGTERM, and SIGKILL after its own grace period.

    Its framework did not ask for it: it is told TASK_LOST or, where it is PARTITION_AWARE, TASK_GONE with
    REASON_CONTAINER_PREEMPTED, as Mesos does when an agent takes revocable resources back.
    """
    if task.record.kill_requested:
        return
    log.warning("task %s of framework %s has to go: %s", task.key[1], task.key[0], why)
    world.counters["tasks_preempted"] += 1
    if not task.launched:
        _end_preempted(world, task, why, now)
        return
    task.record = replace(task.record, preempted=why)
    _request_kill(world, task, _grace(task.record.task.kill_policy))


def _end_preempted(world: World, task: Task, why: str, now: float) -> None:
    framework = world.frameworks.get(task.record.framework_id)
    aware = framework is not None and framework.can(mesos_pb2.FrameworkInfo.Capability.PARTITION_AWARE)
    state = mesos_pb2.TASK_GONE if aware else mesos_pb2.TASK_LOST
    reason = Status.REASON_CONTAINER_PREEMPTED
    statuses.advance(world, task, state, now, f"Preempted: {why}", Status.SOURCE_AGENT, reason)


def _grace(policy: mesos_pb2.KillPolicy) -> float:
    if policy.HasField("grace_period"):
        return max(0, policy.grace_period.nanoseconds) / 1e9
    return DEFAULT_GRACE


def reconcile(
    world: World, framework: Framework, wanted: Iterable[scheduler_pb2.Call.Reconcile.Task], now: float
) -> None:
    """Explicit for the named tasks, implicit (all that are not acknowledged to the end) for an empty list."""
    named = list(wanted)
    if not named:
        for task in list(world.tasks.values()):
            if task.record.framework_id == framework.id:
                _tell(world, framework, task, now)
        return
    for item in named:
        known = world.tasks.get((framework.id, item.task_id.value))
        if known is not None:
            _tell(world, framework, known, now)
        else:
            agent_id = item.agent_id.value if item.HasField("agent_id") else None
            _unknown(world, framework, item.task_id.value, agent_id, now)


def _tell(world: World, framework: Framework, task: Task, now: float) -> None:
    statuses.answer(
        world,
        framework,
        task.key[1],
        cast(State, task.record.state),
        "Reconciliation: Latest task state",
        Status.REASON_RECONCILIATION,
        now,
        world.agent_id,
        task,
    )


def _unknown(world: World, framework: Framework, task_id: str, agent_id: str | None, now: float) -> None:
    aware = framework.can(mesos_pb2.FrameworkInfo.Capability.PARTITION_AWARE)
    if agent_id == world.agent_id:
        state, message = mesos_pb2.TASK_GONE, "Reconciliation: Task is unknown to the agent"
    else:
        state, message = mesos_pb2.TASK_UNKNOWN, "Reconciliation: Task is unknown"
    if not aware:
        state = mesos_pb2.TASK_LOST
    statuses.answer(world, framework, task_id, state, message, Status.REASON_RECONCILIATION, now, agent_id)
