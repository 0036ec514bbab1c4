"""Tasks: what is refused, publishing, statuses and their order, kills, reconciliation, restarts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, scalar, text, with_role

from agent_api.wire import mesos_pb2, resource_provider_pb2, scheduler_pb2

Status = mesos_pb2.TaskStatus
Event = resource_provider_pb2.Event


def states(statuses: list[Status]) -> list[str]:
    return [mesos_pb2.TaskState.Name(s.state) for s in statuses]


def running(host: Host, framework: FrameworkClient, task_id: str = "t", **task: Any) -> None:
    """A plain task that runs and whose statuses are acknowledged."""
    resources = [scalar("cpus", 1, "test"), scalar("mem", 64, "test")]
    framework.accept(framework.offer(), launch(host, task_id, resources, **task))
    host.run()
    for _ in range(2):
        (status,) = framework.statuses()
        framework.acknowledge(status)
    assert not framework.statuses()


def with_set(host: Host) -> tuple[FrameworkClient, ProviderClient]:
    host.config()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host, failover_timeout=1000)
    framework.accept(framework.offer(), create([with_role(provider.raw("numa/0", 4), "test")], None))
    (applied,) = provider.applied()
    provider.status(applied, converted=[provider.cpu_set("s1", "numa/0", 4)])
    return framework, provider


ONE = [scalar("cpus", 1, "test")]


@pytest.mark.parametrize(
    ("task", "resources", "words"),
    [
        ({}, [scalar("cpus", 50, "test")], "cpus(allocated: test):50 required by task and its executor"),
        ({}, [], "Task uses no resources"),
        ({"task_id": {"value": "a/b"}}, ONE, "contains invalid characters"),
        ({"task_id": {"value": ""}}, ONE, "ID must not be empty"),
        ({"task_id": {"value": ".."}}, ONE, "is disallowed"),
        ({"agent_id": {"value": "x"}}, ONE, "Task uses invalid agent x while agent g0-2-S0 is expected"),
        ({"executor": {"executor_id": {"value": "e"}}}, ONE, "command tasks only: the task has an executor 'e'"),
        ({"command": {}}, ONE, "'CommandInfo.value' must be set"),
        ({"command": {"value": "x", "uris": [{"value": "http://h/f"}]}}, ONE, "fetches nothing"),
        ({"container": {"type": "DOCKER", "docker": {"image": "x"}}}, ONE, "'TaskInfo.container'"),
        ({"health_check": {}}, ONE, "'TaskInfo.health_check' is not supported"),
        ({}, [scalar("cpus", -1, "test")], "Resource 'cpus(allocated: test):-1' is invalid"),
        ({}, [scalar("cpus", float("nan"), "test")], "is not a number"),
        ({}, [scalar("cpus", 1, "other")], "is more than available"),
    ],
)  # fmt: skip
def test_bad_tasks(task: dict[str, Any], resources: list[mesos_pb2.Resource], words: str) -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), launch(host, "t", resources, **task))
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_ERROR, Status.REASON_TASK_INVALID)
    assert status.source == Status.SOURCE_MASTER and not status.HasField("uuid")
    assert words in status.message
    assert not host.launched and not host.master.world.tasks


def test_a_task_without_a_command_and_one_on_raw() -> None:
    host = Host()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host)
    bare = launch(host, "t", ONE)
    bare.launch.task_infos[0].ClearField("command")
    raw = launch(host, "u", [with_role(provider.raw("numa/0", 1), "test")])
    framework.accept(framework.offer(), bare, raw)
    first, second = framework.statuses()
    assert "at least one (but not both) of CommandInfo or ExecutorInfo" in first.message
    assert "nothing can run on RAW" in second.message


def test_good_tasks_beside_bad_ones_and_duplicates() -> None:
    host = Host()
    framework = FrameworkClient(host)
    one = scalar("cpus", 1, "test")
    framework.accept(framework.offer(), launch(host, "a", [one]), launch(host, "a", [one]), launch(host, "b", [one]))
    assert [start.task.task_id.value for start in host.launched] == ["a", "b"]
    error = next(s for s in framework.statuses() if s.state == mesos_pb2.TASK_ERROR)
    assert error.message == "Task has duplicate ID: a"


def test_groups_are_refused_with_a_sentence() -> None:
    host = Host()
    framework = FrameworkClient(host)
    operation = mesos_pb2.Offer.Operation(type=mesos_pb2.Offer.Operation.LAUNCH_GROUP)
    operation.launch_group.executor.executor_id.value = "e"
    operation.launch_group.task_group.tasks.extend(launch(host, "t", ONE).launch.task_infos)
    framework.accept(framework.offer(), operation)
    (status,) = framework.statuses()
    assert status.state == mesos_pb2.TASK_ERROR and "LAUNCH_GROUP is not supported" in status.message


def test_the_user_and_the_old_role_field_of_old_clients() -> None:
    host = Host()
    framework = FrameworkClient(host)
    one = scalar("cpus", 1)
    one.role = "*"
    framework.accept(framework.offer(), launch(host, "t", [one], command={"value": "x", "user": "web"}))
    (start,) = host.launched
    assert start.user == "web"


def test_statuses_in_order_one_at_a_time_with_backoff() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), launch(host, "t", ONE))
    host.run()
    host.end("t", framework.id, 3)
    (first,) = framework.statuses()
    times = []
    for _ in range(10 * 4 * 20):
        host.turn(0.25)
        found = framework.statuses()
        if found:
            times.append(host.now - 1000)
            assert [s.uuid for s in found] == [first.uuid]
    assert times == [10, 30, 70, 150]
    framework.acknowledge(first)
    (second,) = framework.statuses()
    framework.acknowledge(first)  # once more: nothing
    assert not framework.statuses()
    framework.acknowledge(second)
    (third,) = framework.statuses()
    assert states([first, second, third]) == ["TASK_STARTING", "TASK_RUNNING", "TASK_FAILED"]
    assert third.message == "Command exited with status 3"
    assert len({s.uuid for s in (first, second, third)}) == 3
    assert all(len(s.uuid) == 16 and s.agent_id.value == "g0-2-S0" for s in (first, second, third))


def test_backoff_has_a_limit() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), launch(host, "t", ONE))
    framework.statuses()
    times = []
    for _ in range(600):
        host.turn(10)
        if framework.statuses():
            times.append(host.now)
    assert [b - a for a, b in itertools.pairwise(times)][-2:] == [600, 600]


def test_resources_are_back_with_the_terminal_status() -> None:
    host = Host()
    framework = FrameworkClient(host)
    running(host, framework)
    assert text(framework.offer().resources).startswith("cpus:7; mem:4032")
    host.end("t", framework.id, None, 9)
    assert framework.statuses()[0].message == "Command terminated with signal Killed"
    assert text(framework.offer().resources).startswith("cpus:8; mem:4096")


@pytest.mark.parametrize(("code", "signal", "lost"), [(None, 9, False), (1, None, False), (None, None, True)])
def test_a_task_beyond_its_memory(code: int | None, signal: int | None, lost: bool) -> None:
    host = Host()
    framework = FrameworkClient(host)
    running(host, framework)
    host.master.task_exited(framework.id, "t", code, signal, lost, "Memory limit exceeded", host.now, True)
    host.turn()
    (status,) = framework.statuses()
    assert (status.state, status.message) == (mesos_pb2.TASK_FAILED, "Memory limit exceeded")
    assert status.reason == mesos_pb2.TaskStatus.REASON_CONTAINER_LIMITATION_MEMORY
    assert status.source == mesos_pb2.TaskStatus.SOURCE_AGENT


def test_publishing_names_the_sets_that_a_task_uses_together() -> None:
    host = Host()
    framework, provider = with_set(host)
    framework.accept(framework.offer(), create([with_role(provider.raw("numa/1", 4), "test")], None))
    (applied,) = provider.applied()
    provider.status(applied, converted=[provider.cpu_set("f1", "numa/1", 4, shared=True)])
    one = with_role(provider.cpu_set("s1", "numa/0", 1), "test")
    float_ = with_role(provider.cpu_set("f1", "numa/1", 1, shared=True), "test")
    named, starting = [], []
    for name, resources in (("a", [one, float_]), ("b", [float_]), ("c", [float_, one])):
        framework.accept(framework.offer(), launch(host, name, resources))
        (event,) = provider.published()
        named.append([list(group.set_ids) for group in event.publish_resources.together])
        starting.append(list(event.publish_resources.starting))
    assert named == [[["f1", "s1"]]] * 3, "each once, and those of other tasks with it"
    assert starting == [["f1", "s1"], ["f1"], ["f1", "s1"]], "only those of the task that waits for it"
    assert [start.task.task_id.value for start in host.launched] == ["a", "b", "c"]


def test_publishing_lists_all_that_is_in_use() -> None:
    host = Host()
    framework, provider = with_set(host)
    two = with_role(provider.cpu_set("s1", "numa/0", 2), "test")
    framework.accept(framework.offer(), launch(host, "a", [two]))
    (event,) = provider.published()
    assert text(event.publish_resources.resources) == "cpus[EXCLUSIVE s1 numa/0 default]:2"
    assert event.publish_resources.resources[0].cpu.source.metadata.labels[0].value == "of-s1"
    framework.accept(framework.offer(), launch(host, "b", [two]))
    (event,) = provider.published()
    assert text(event.publish_resources.resources) == "cpus[EXCLUSIVE s1 numa/0 default]:4"
    assert not event.publish_resources.together
    assert [start.task.task_id.value for start in host.launched] == ["a", "b"]


def test_publishing_that_fails() -> None:
    host = Host()
    framework, provider = with_set(host)
    framework.accept(framework.offer(), launch(host, "t", [with_role(provider.cpu_set("s1", "numa/0", 2), "test")]))
    assert not framework.statuses() and not host.launched
    provider.published(ok=False)
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_FAILED, Status.REASON_CONTAINER_LAUNCH_FAILED)
    assert status.source == Status.SOURCE_AGENT and not status.HasField("container_status")
    assert not host.launched
    framework.acknowledge(status)
    assert not [k for k in host.stored if k[0] == "task"]


def test_publishing_while_the_provider_comes_and_goes() -> None:
    host = Host()
    framework, provider = with_set(host)
    framework.accept(framework.offer(), launch(host, "t", [with_role(provider.cpu_set("s1", "numa/0", 2), "test")]))
    old = provider.take(Event.PUBLISH_RESOURCES)
    provider.close()
    provider.total = [provider.raw("numa/0", 4), provider.raw("numa/1", 8), provider.cpu_set("s1", "numa/0", 4)]
    provider.subscribe()
    assert not provider.take(Event.PUBLISH_RESOURCES)
    provider.update_state()
    host.sent[provider.stream] += old  # a late answer to the first one is nothing
    assert len(provider.published()) == 2
    assert len(host.launched) == 1


def test_killed_before_it_was_started() -> None:
    host = Host()
    framework, provider = with_set(host)
    framework.accept(framework.offer(), launch(host, "t", [with_role(provider.cpu_set("s1", "numa/0", 2), "test")]))
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "t"}}})
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_KILLED, Status.REASON_TASK_KILLED_DURING_LAUNCH)
    provider.published()
    assert not host.launched


@pytest.mark.parametrize(
    ("task", "call", "grace"),
    [
        ({}, {}, 3.0),
        ({"kill_policy": {"grace_period": {"nanoseconds": 7 * 10**9}}}, {}, 7.0),
        (
            {"kill_policy": {"grace_period": {"nanoseconds": 7 * 10**9}}},
            {"kill_policy": {"grace_period": {"nanoseconds": 10**9}}},
            1.0,
        ),
    ],
)
def test_kill(task: dict[str, Any], call: dict[str, Any], grace: float) -> None:
    host = Host()
    framework = FrameworkClient(host)
    running(host, framework, **task)
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "t"}} | call})
    (killed,) = host.killed
    assert killed.grace_seconds == grace
    assert not framework.statuses()
    host.end("t", framework.id, None, 15)
    (status,) = framework.statuses()
    assert (status.state, status.message) == (
        mesos_pb2.TASK_KILLED,
        "Command terminated with signal Terminated",
    )


def test_killing_state_for_those_that_know_it() -> None:
    host = Host()
    framework = FrameworkClient(host, capabilities=["TASK_KILLING_STATE"])
    running(host, framework)
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "t"}}})
    assert states(framework.statuses()) == ["TASK_KILLING"]


@pytest.mark.parametrize("aware", [True, False])
def test_unknown_tasks(aware: bool) -> None:
    host = Host()
    framework = FrameworkClient(host, lacks=() if aware else ("PARTITION_AWARE",))
    agent = {"value": host.master.world.agent_id}
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "x"}}})
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "x"}, "agent_id": agent}})
    wanted = [{"task_id": {"value": "x"}, "agent_id": agent}, {"task_id": {"value": "x"}, "agent_id": {"value": "y"}}]
    framework.call({"type": "RECONCILE", "reconcile": {"tasks": wanted}})
    found = framework.statuses()
    if aware:
        assert states(found) == ["TASK_UNKNOWN", "TASK_GONE", "TASK_GONE", "TASK_UNKNOWN"]
        assert found[1].message == "Reconciliation: Task is unknown to the agent"
    else:
        assert states(found) == ["TASK_LOST"] * 4
    assert all(s.reason == Status.REASON_RECONCILIATION and not s.HasField("uuid") for s in found)


def test_reconcile_known_ones() -> None:
    host = Host()
    framework = FrameworkClient(host)
    running(host, framework)
    stranger = FrameworkClient(host)
    for tasks in ([{"task_id": {"value": "t"}}], []):
        framework.call({"type": "RECONCILE", "reconcile": {"tasks": tasks}})
        (status,) = framework.statuses()
        assert status.state == mesos_pb2.TASK_RUNNING
        assert status.message == "Reconciliation: Latest task state"
        assert status.container_status.executor_pid == 77
    stranger.call({"type": "RECONCILE", "reconcile": {"tasks": [{"task_id": {"value": "t"}}]}})
    assert states(stranger.statuses()) == ["TASK_UNKNOWN"]


def test_a_launch_of_a_running_task_id_is_refused_after_a_restart_too() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=100)
    running(host, framework)
    framework.host = again = Host(host.now, stored=host)
    assert [r.pid for r in again.master.recoverable_tasks()] == [77]
    framework.subscribe()
    framework.accept(framework.offer(), launch(again, "t", ONE))
    (status,) = framework.statuses()
    assert status.message == "Task has duplicate ID: t"
    again.end("t", framework.id)
    assert states(framework.statuses()) == ["TASK_FINISHED"]


def test_a_restart_before_and_after_the_start() -> None:
    host = Host()
    framework, provider = with_set(host)
    two = with_role(provider.cpu_set("s1", "numa/0", 2), "test")
    framework.accept(framework.offer(), launch(host, "staged", [two]))
    again = Host(host.now, stored=host)
    assert again.master.recoverable_tasks() == []  # never handed to the launcher
    framework.host = provider.host = again
    provider.subscribe()
    provider.total = [provider.raw("numa/0", 4), provider.raw("numa/1", 8), provider.cpu_set("s1", "numa/0", 4)]
    provider.update_state()
    assert len(provider.published()) == 1
    assert [s.task.task_id.value for s in again.launched] == ["staged"]
    third = Host(again.now, stored=again)
    (record,) = third.master.recoverable_tasks()
    assert record.state == mesos_pb2.TASK_STARTING and record.pid is None
    assert not third.launched
    framework.host = third
    framework.subscribe()
    (status,) = framework.statuses()
    assert status.state == mesos_pb2.TASK_STARTING


def test_a_kill_survives_a_restart() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=100)
    running(host, framework)
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "t"}}})
    again = Host(host.now, stored=host)
    assert not again.killed
    again.turn(1)
    assert [k.task_id for k in again.killed] == ["t"]
    again.turn(1)
    assert len(again.killed) == 1
    again.master.task_exited(framework.id, "t", None, None, True, "lost", again.now)
    again.turn()
    assert again.stored["task", framework.id, "t"].state == mesos_pb2.TASK_KILLED


def test_lost_and_never_started() -> None:
    host = Host()
    framework = FrameworkClient(host)
    running(host, framework)
    host.master.task_exited(framework.id, "t", None, None, True, "the machine was restarted", host.now)
    host.turn()
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_FAILED, Status.REASON_EXECUTOR_TERMINATED)
    assert status.message == "the machine was restarted"
    framework.accept(framework.offer(), launch(host, "u", ONE))
    host.master.task_failed_to_start(framework.id, "u", "no such user", host.now)
    host.turn()
    (starting,) = framework.statuses()
    framework.acknowledge(starting)
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_FAILED, Status.REASON_CONTAINER_LAUNCH_FAILED)
    assert status.message == "no such user"


def test_news_of_unknown_tasks_is_harmless() -> None:
    host = Host()
    host.master.task_started("f", "t", 1, 2, "b", host.now)
    host.master.task_exited("f", "t", 0, None, False, None, host.now)
    host.master.task_failed_to_start("f", "t", "m", host.now)
    framework = FrameworkClient(host)
    running(host, framework)
    host.end("t", framework.id)
    host.end("t", framework.id, 1)
    assert states(framework.statuses()) == ["TASK_FINISHED"]


def test_teardown_kills_and_forgets() -> None:
    host = Host()
    framework, provider = with_set(host)
    framework.accept(framework.offer(), launch(host, "waits", [with_role(provider.cpu_set("s1", "numa/0", 2), "test")]))
    framework.accept(framework.offer(), launch(host, "runs", ONE))
    host.run()
    framework.call({"type": "TEARDOWN"})
    assert [k.task_id for k in host.killed] == ["runs"]
    assert ("task", framework.id, "waits") not in host.stored
    host.end("runs", framework.id, None, 15)
    assert not [k for k in host.stored if k[0] == "task"]
    assert len(host.master.world.completed) == 2


def test_offers_of_a_torn_down_framework_and_operators_events() -> None:
    host = Host()
    framework = FrameworkClient(host)
    running(host, framework)
    kinds = [scheduler_pb2.Event.Type.Name(e.type) for e in framework.events]
    assert "UPDATE" not in kinds
    names = [type(e).Type.Name(e.type) for e in host.operators]
    assert [n for n in names if n != "HEARTBEAT"] == [
        "FRAMEWORK_ADDED",
        "TASK_ADDED",
        "TASK_UPDATED",
        "TASK_UPDATED",
    ]
