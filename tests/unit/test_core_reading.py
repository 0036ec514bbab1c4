"""What operators read: every call answers, in the shape of what a real Mesos was seen to answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, scalar, with_role

from agent_api.core import figures, reading, views
from agent_api.errors import ApiError
from agent_api.wire import agent_pb2, codec, master_pb2, mesos_pb2, pinfold_pb2
from tests import golden as recordings


def busy() -> tuple[Host, FrameworkClient, ProviderClient]:
    """A plain task that runs, one that has ended, a pending operation, an offer outstanding."""
    host = Host(flags={"work_dir": "/w"}, work_dir="/w")
    host.config()
    provider = ProviderClient(host)
    provider.cpusets = [pinfold_pb2.Cpuset(id="s0", role="test")]
    provider.update_state()
    framework = FrameworkClient(host)
    one = [scalar("cpus", 0.5, "test"), scalar("mem", 32, "test")]
    offer = framework.offer()
    raw = with_role(provider.raw("numa/0", 4), "test")
    framework.accept(offer, launch(host, "a", one), launch(host, "b", one), create([raw], "op"))
    for start in host.launched:
        host.run(start)
    host.end("b", framework.id)
    for _ in range(6):
        for status in framework.statuses():
            framework.acknowledge(status)
    host.turn(1)
    assert framework.outstanding()
    return host, framework, provider


AGENT_CALLS = [
    "GET_HEALTH",
    "GET_FLAGS",
    "GET_VERSION",
    "GET_METRICS",
    "GET_STATE",
    "GET_CONTAINERS",
    "GET_FRAMEWORKS",
    "GET_EXECUTORS",
    "GET_OPERATIONS",
    "GET_TASKS",
    "GET_AGENT",
    "GET_RESOURCE_PROVIDERS",
    "GET_TOPOLOGY",
    "GET_PROFILES",
    "GET_CPUSETS",
]
MASTER_CALLS = [
    "GET_HEALTH",
    "GET_FLAGS",
    "GET_VERSION",
    "GET_METRICS",
    "GET_STATE",
    "GET_AGENTS",
    "GET_FRAMEWORKS",
    "GET_EXECUTORS",
    "GET_OPERATIONS",
    "GET_TASKS",
    "GET_ROLES",
    "GET_WEIGHTS",
    "GET_QUOTA",
    "GET_MASTER",
    "GET_MAINTENANCE_STATUS",
    "GET_MAINTENANCE_SCHEDULE",
]


def agent(host: Host, kind: str) -> Any:
    call = agent_pb2.Call(type=agent_pb2.Call.Type.Value(kind))
    if kind == "GET_METRICS":
        call.get_metrics.SetInParent()
    return host.master.agent_call(call, host.now)


def master(host: Host, kind: str) -> Any:
    call = master_pb2.Call(type=master_pb2.Call.Type.Value(kind))
    if kind == "GET_METRICS":
        call.get_metrics.SetInParent()
    return host.master.master_call(call, host.now)


@pytest.mark.parametrize("kind", AGENT_CALLS)
def test_agent_calls(kind: str) -> None:
    for host in (Host(), busy()[0]):
        response = agent(host, kind)
        assert response.IsInitialized()
        assert agent_pb2.Response.Type.Name(response.type) == kind
        codec.to_json(response)


@pytest.mark.parametrize("kind", MASTER_CALLS)
def test_master_calls(kind: str) -> None:
    for host in (Host(), busy()[0]):
        response = master(host, kind)
        assert response.IsInitialized()
        assert master_pb2.Response.Type.Name(response.type) == kind
        codec.to_json(response)


@pytest.mark.parametrize("kind", ["LAUNCH_CONTAINER", "PRUNE_IMAGES", "UNKNOWN"])
def test_agent_calls_not_served(kind: str) -> None:
    with pytest.raises(ApiError) as error:
        agent(Host(), kind)
    assert error.value.status == 501 and kind in error.value.message


@pytest.mark.parametrize("kind", ["START_MAINTENANCE", "MARK_AGENT_GONE", "UNKNOWN"])
def test_master_calls_not_served(kind: str) -> None:
    with pytest.raises(ApiError) as error:
        master(Host(), kind)
    assert error.value.status == 501 and kind in error.value.message


def test_metrics_need_their_part() -> None:
    with pytest.raises(ApiError) as error:
        Host().master.agent_call(agent_pb2.Call(type=agent_pb2.Call.GET_METRICS), 0)
    assert error.value.message == "Failed to validate agent::Call: Expecting 'get_metrics' to be present"


def test_tasks_in_their_places() -> None:
    host, _, _ = busy()
    tasks = agent(host, "GET_TASKS").get_tasks
    assert [t.task_id.value for t in tasks.launched_tasks] == ["a"]
    assert [t.task_id.value for t in tasks.completed_tasks] == ["b"]
    (task,) = tasks.launched_tasks
    assert task.state == mesos_pb2.TASK_RUNNING and task.status_update_state == mesos_pb2.TASK_RUNNING
    assert len(task.statuses) == 2
    assert [t.task_id.value for t in master(host, "GET_TASKS").get_tasks.tasks] == ["a"]
    (shown,) = master(host, "GET_FRAMEWORKS").get_frameworks.frameworks
    assert shown.active and shown.connected and len(shown.offers) == 1
    assert [r.role for r in shown.allocated_resources] == ["*", "*"]


def test_operations_and_providers() -> None:
    host, framework, provider = busy()
    (operation,) = agent(host, "GET_OPERATIONS").get_operations.operations
    assert operation.latest_status.state == mesos_pb2.OPERATION_PENDING
    assert not operation.latest_status.HasField("uuid")
    assert operation.framework_id.value == framework.id
    (shown,) = agent(host, "GET_RESOURCE_PROVIDERS").get_resource_providers.resource_providers
    assert shown.resource_provider_info.id.value == provider.id and len(shown.total_resources) == 2
    assert len(master(host, "GET_AGENTS").get_agents.agents[0].resource_providers) == 1
    assert agent(host, "GET_CPUSETS").get_cpusets.providers[0].cpusets[0].id == "s0"
    assert [r.name for r in agent(host, "GET_AGENT").get_agent.agent_info.resources] == ["cpus", "mem", "ports"]
    provider.close()
    assert not agent(host, "GET_RESOURCE_PROVIDERS").get_resource_providers.resource_providers
    assert not master(host, "GET_AGENTS").get_agents.agents[0].resource_providers
    assert not agent(host, "GET_CPUSETS").get_cpusets.providers


@pytest.mark.parametrize(
    ("uri", "shown_uri"),
    [
        ("https://user:pa@ss@example.org/p.json?a=sec@ret&b", "https://***@example.org/p.json?a=***&***"),
        ("https://user:12/pa@ss@example.org/p.json#secret", "https://***@example.org/p.json"),
        ("https://user@example.org/@v1/p.json", "https://***@example.org/@v1/p.json"),
    ],
)
def test_no_answer_shows_the_credentials_in_the_profiles_uri(uri: str, shown_uri: str) -> None:
    host, _, provider = busy()
    provider.close()
    provider.info.cpu.profiles.uri = uri
    provider.subscribe()
    provider.update_state()
    shown = agent(host, "GET_RESOURCE_PROVIDERS").get_resource_providers.resource_providers[0].resource_provider_info
    assert shown.cpu.profiles.uri == shown_uri
    answers = [str(agent(host, kind)) for kind in AGENT_CALLS] + [str(master(host, kind)) for kind in MASTER_CALLS]
    answers += [json.dumps(view(host.master, host.now)) for view in VIEWS] + [str(host.operators)]
    assert not [
        answer
        for answer in answers
        if any(part in answer for part in ("pa@ss", "user:pa", "user:12", "sec@ret", "#secret"))
    ]


def test_operator_stream_and_teardown() -> None:
    host, framework, _ = busy()
    event = host.master.subscribe_operator(host.now)
    assert event.type == master_pb2.Event.SUBSCRIBED
    assert len(event.subscribed.get_state.get_tasks.tasks) == 1
    call = master_pb2.Call(type=master_pb2.Call.TEARDOWN)
    call.teardown.framework_id.value = framework.id
    assert host.master.master_call(call, host.now) is None
    host.turn()
    assert host.operators[-1].type == master_pb2.Event.FRAMEWORK_REMOVED
    with pytest.raises(ApiError) as error:
        host.master.master_call(call, host.now)
    assert error.value.status == 400
    (gone,) = master(host, "GET_FRAMEWORKS").get_frameworks.completed_frameworks
    assert gone.unregistered_time.nanoseconds > 0


VIEWS = [
    views.agent_state,
    views.master_state,
    views.slaves,
    views.tasks,
    views.frameworks,
    views.roles,
    views.state_summary,
    figures.metrics,
]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_views_are_json(view: Any) -> None:
    for host in (Host(), busy()[0]):
        json.dumps(view(host.master, host.now), allow_nan=False)


def test_figures_of_views() -> None:
    host, framework, _ = busy()
    (slave,) = views.slaves(host.master, host.now)["slaves"]
    assert slave["resources"] == {
        "disk": 0.0,
        "mem": 4096.0,
        "gpus": 0.0,
        "cpus": 18.0,
        "ports": "[31000-32000]",
    }
    assert slave["used_resources"] == {"disk": 0.0, "mem": 32.0, "gpus": 0.0, "cpus": 0.5}
    assert slave["pid"] == "slave(1)@127.0.0.1:5051"
    assert [t["id"] for t in views.tasks(host.master, host.now)["tasks"]] == ["b", "a"]
    (role,) = views.roles(host.master, host.now)["roles"]
    assert role["name"] == "test" and role["allocated"] == {"mem": 32.0, "cpus": 0.5}
    (executor,) = views.agent_state(host.master, host.now)["frameworks"][0]["executors"]
    assert executor["directory"] == f"/w/tasks/{framework.id}/a"
    counted = figures.metrics(host.master, host.now)
    assert counted["master/tasks_running"] == 1 and counted["master/tasks_finished"] == 1
    assert counted["master/cpus_total"] == 18 and counted["pinfold/cpus_raw"] == 16


def test_the_summary_counts_tasks() -> None:
    host, framework, _ = busy()
    summary = views.state_summary(host.master, host.now)
    (slave,), (shown,) = summary["slaves"], summary["frameworks"]
    for one in (slave, shown):
        assert {state: one[f"TASK_{state}"] for state in ("RUNNING", "FINISHED", "LOST")} == {
            "RUNNING": 1,
            "FINISHED": 1,
            "LOST": 0,
        }
    assert slave["framework_ids"] == [framework.id] and shown["slave_ids"] == [slave["id"]]
    assert shown["id"] == framework.id and shown["active"] and "tasks" not in shown
    seen = golden("5-master/legacy-master_state-summary")
    assert missing(seen, summary) == []


def test_each_started_task_has_an_executor_and_a_container() -> None:
    host, framework, _ = busy()
    answer = agent(host, "GET_EXECUTORS").get_executors
    (executor,), (over,) = answer.executors, answer.completed_executors
    assert (executor.executor_info.source, over.executor_info.source) == ("a", "b")
    assert executor.executor_info.name == "Command Executor (Task: a) (Command: sh -c 'sleep 1000')"
    assert not executor.executor_info.command.HasField("environment")
    (container,) = agent(host, "GET_CONTAINERS").get_containers.containers
    assert container.executor_id.value == "a" and container.framework_id.value == framework.id
    assert container.container_status.executor_pid == 77
    assert container.resource_statistics.mem_limit_bytes == container.resource_statistics.mem_soft_limit_bytes > 0
    host.end("a", framework.id)
    for status in framework.statuses():
        framework.acknowledge(status)
    assert not agent(host, "GET_CONTAINERS").HasField("get_containers")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ({"value": "echo hello from here"}, "sh -c 'echo hello f...'"),
        ({"value": "true"}, "sh -c 'true'"),
        ({"shell": False, "value": "/bin/ls", "arguments": ["ls", "-la"]}, "[/bin/ls, ls,...]"),
        ({"shell": False, "value": "ls"}, "[ls]"),
    ],
)
def test_the_name_of_an_executor_has_the_beginning_of_the_command(command: dict[str, Any], shown: str) -> None:
    values = {"name": "t", "task_id": {"value": "t"}, "agent_id": {"value": "a"}, "command": command}
    name = reading.executor_name(codec.from_dict(mesos_pb2.TaskInfo, values))
    assert name == f"Command Executor (Task: t) (Command: {shown})"


def test_figures_of_profiles() -> None:
    host, _, _ = busy()
    counted = figures.metrics(host.master, host.now)
    assert counted["pinfold/profiles_active"] == 0
    assert not [name for name in counted if name.startswith("pinfold/profile_")]
    (provider,) = host.master.world.providers.values()
    assert provider.report is not None
    for name, state, placeable in (("a", 1, True), ("b", 1, False), ("c", 2, True), ("d", 3, True)):
        provider.report.profiles.add(name=name, state=state, placeable=placeable)
    provider.report.profile_source.uri = "/p.json"
    counted = figures.metrics(host.master, host.now)
    assert [counted[f"pinfold/profiles_{n}"] for n in ("active", "inactive", "change_refused", "not_placeable")] == [
        *(2, 1, 1, 1)
    ]
    assert counted["pinfold/profile_source_ok"] == 0
    assert "pinfold/profile_last_fetch_age_secs" not in counted
    source = provider.report.profile_source
    source.ok, source.last_fetch, source.in_force_since = True, host.now - 3, host.now - 60
    counted = figures.metrics(host.master, host.now)
    assert counted["pinfold/profile_source_ok"] == 1
    assert counted["pinfold/profile_last_fetch_age_secs"] == pytest.approx(3)
    assert counted["pinfold/profile_in_force_age_secs"] == pytest.approx(60)


# Shapes that were seen


def golden(name: str) -> Any:
    return json.loads(recordings.entry(name)["response"]["body"])


NOT_OURS = {
    "build_date",
    "build_time",
    "build_user",
    "flags",
    "quota",
    "executor_id",
    "disk",
    "executors",
    "checkpoint",
    "executor_pid",
}
"""Of a build, of executors and disks. A pid comes with RUNNING: with STARTING there is none yet."""


def missing(seen: Any, ours: Any, path: str = "") -> list[str]:
    """Keys that were seen and that we do not have, where both have a value."""
    if isinstance(seen, dict) and isinstance(ours, dict):
        found = []
        for key, value in seen.items():
            if key in NOT_OURS or (key.endswith("resources") and isinstance(value, list)):
                continue
            if key not in ours:
                found.append(f"{path}.{key}")
            else:
                found += missing(value, ours[key], f"{path}.{key}")
        return found
    if isinstance(seen, list) and isinstance(ours, list) and seen and ours:
        return missing(seen[0], ours[0], f"{path}[]")
    if type(seen) is not type(ours):
        return [f"{path}: {type(seen).__name__} was seen, ours is {type(ours).__name__}"]
    return []


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("4-sched/view-10-running-master-legacy-state", views.master_state),
        ("4-sched/view-10-running-agent-legacy-state", views.agent_state),
        ("4-sched/view-10-running-master-legacy-tasks", views.tasks),
    ],
)
def test_legacy_shapes(name: str, view: Any) -> None:
    host, _, _ = busy()
    assert missing(golden(name), view(host.master, host.now)) == []


def test_slaves_shape() -> None:
    host, _, _ = busy()
    seen = golden("5-master/legacy-slaves-after-reserve")
    seen["slaves"][0]["reserved_resources"] = seen["slaves"][0]["reserved_resources_full"] = {}
    assert missing(seen, views.slaves(host.master, host.now)) == []


@pytest.mark.parametrize("kind", ["GET_TASKS", "GET_STATE", "GET_FRAMEWORKS"])
def test_master_shapes(kind: str) -> None:
    host, _, _ = busy()
    seen = golden(f"4-sched/view-10-running-master-{kind}")
    assert missing(seen, codec.to_dict(master(host, kind))) == []


@pytest.mark.parametrize("kind", ["GET_HEALTH", "GET_MASTER", "GET_AGENTS", "GET_QUOTA", "GET_ROLES", "GET_OPERATIONS"])
def test_more_master_shapes(kind: str) -> None:
    host, _, _ = busy()
    assert missing(golden(f"5-master/{kind}"), codec.to_dict(master(host, kind))) == []


@pytest.mark.parametrize("kind", ["GET_TASKS", "GET_STATE"])
def test_agent_shapes(kind: str) -> None:
    host, _, _ = busy()
    seen = golden(f"4-sched/view-10-running-agent-{kind}")
    assert missing(seen, codec.to_dict(agent(host, kind))) == []
