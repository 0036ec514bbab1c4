"""ACLs: the document, the answer to one question, and what calls are asked about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from core_world import FrameworkClient, Host, launch, reserve, scalar

from agent_api.core import authorization
from agent_api.core.acls import ALLOW_ALL, Acls, AclsError, parse
from agent_api.errors import BadRequest, Forbidden
from agent_api.wire import agent_pb2, master_pb2, mesos_pb2, scheduler_pb2
from agent_api.wire.codec import from_dict

ANY, NONE = {"type": "ANY"}, {"type": "NONE"}


def some(*values: str) -> dict[str, Any]:
    return {"values": list(values)}


def acls(**document: Any) -> Acls:
    return parse(json.dumps(document).encode())


# fmt: off
ANSWERS = [
    # (rules for update_quotas as (principals, roles)), permissive, principal, role, allowed
    ([], True, "web", "gold", True),
    ([], False, "web", "gold", False),
    ([(some("ops"), ANY)], False, "ops", "gold", True),
    ([(some("ops"), ANY)], False, "web", "gold", False),
    ([(some("ops"), ANY)], True, "web", "gold", True),
    ([(some("ops"), ANY), (ANY, NONE)], True, "web", "gold", False),
    ([(ANY, NONE), (some("ops"), ANY)], True, "ops", "gold", False),      # the first that speaks of it counts
    ([(NONE, some("gold"))], True, "web", "gold", False),                 # nobody may, for gold
    ([(NONE, some("gold"))], True, "web", "iron", True),
    ([(some("web"), some("gold", "iron"))], False, "web", "iron", True),
    ([(some("web"), some("gold"))], False, "web", "iron", False),
    ([(some("web"), some("eng/%"))], False, "web", "eng/dev", True),
    ([(some("web"), some("eng/%"))], False, "web", "eng/dev/x", True),
    ([(some("web"), some("eng/%"))], False, "web", "eng", False),
    ([(some("web"), some("eng/%"))], False, "web", "engine", False),
    ([(some("web"), ANY)], False, None, "gold", False),                   # nobody in particular is not "web"
    ([(ANY, ANY)], False, None, "gold", True),
    ([(ANY, some("gold"))], False, "web", None, False),                   # all there is is more than gold
    ([(ANY, some("gold"))], True, "web", None, True),
    ([(some("web"), NONE)], True, "web", None, False),
]
# fmt: on


@pytest.mark.parametrize(("rules", "permissive", "principal", "role", "allowed"), ANSWERS)
def test_answers(rules: list[Any], permissive: bool, principal: str | None, role: str | None, allowed: bool) -> None:
    entries = [{"principals": principals, "roles": roles} for principals, roles in rules]
    found = acls(permissive=permissive, update_quotas=entries)
    assert found.allows("update_quotas", principal, role) is allowed
    assert found.allows("update_weights", principal, role) is permissive


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (b"{", "not JSON"),
        (b"[]", "no JSON object"),
        (b"\xff", "not UTF-8"),
        (b'{"permissive": 1}', "'permissive' must be true or false, and is 1"),
        (b'{"update_quota": []}', "'update_quota' is no action; known are access_sandboxes, compact_cpusets"),
        (b'{"update_quotas": {}}', "'update_quotas' must be a list"),
        (b'{"update_quotas": [{"principals": {"type": "ANY"}}]}', "'update_quotas[0]' must have just 'principals' and"),
        (b'{"update_quotas": [{"principals": {"type": "ANY"}, "users": {"type": "ANY"}}]}', "'roles'"),
        (b'{"update_quotas": [{"principals": "ops", "roles": {"type": "ANY"}}]}', "'update_quotas[0].principals' must"),
        (b'{"update_quotas": [{"principals": {"type": "ALL"}, "roles": {"type": "ANY"}}]}', "type' must be ANY, NONE"),
        (b'{"update_quotas": [{"principals": {"values": []}, "roles": {"type": "ANY"}}]}', "must have 'values'"),
        (b'{"update_quotas": [{"principals": {"values": [1]}, "roles": {"type": "ANY"}}]}', "must be a list of texts"),
        (b'{"update_quotas": [{"principals": {"type": "ANY", "values": ["x"]}, "roles": {"type": "ANY"}}]}', "values"),
        (b'{"set_log_level": [{"principals": {"type": "ANY"}, "level": {"values": ["x"]}}]}', "ANY or NONE"),
        (b'{"update_quotas": [], "update_quotas": []}', "'update_quotas' is given twice"),
        (b'{"permissive": ' + b"1" * 5000 + b"}", "not JSON: Exceeds the limit (4300 digits)"),
    ],
)
def test_a_wrong_document(document: bytes, named: str) -> None:
    with pytest.raises(AclsError) as error:
        parse(document)
    assert named in str(error.value)


def test_mesos_actions_that_are_not_asked_for_are_told() -> None:
    found = acls(view_roles=[], create_volumes=[], launch_nested_containers_under_parent_with_user=[], update_quotas=[])
    assert found.without_effect == (
        "view_roles",
        "create_volumes",
        "launch_nested_containers_under_parent_with_user",
    )


def only(action: str, objects: str, *principals: str) -> Acls:
    """These principals may do the action, and nobody else may do anything."""
    return acls(permissive=False, **{action: [{"principals": some(*principals), objects: ANY}]})


RESOURCE = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}
RESERVED = RESOURCE | {"reservations": [{"type": "DYNAMIC", "role": "gold", "principal": "ops"}]}
RESERVE = {"agent_id": {"value": "a"}, "resources": [RESERVED]}
CONFIG = {"info": {"type": "t", "name": "n"}}
CALLS = [
    ("agent", "modify_resource_provider_configs", "resource_providers", "ADD_RESOURCE_PROVIDER_CONFIG", CONFIG),
    ("agent", "modify_resource_provider_configs", "resource_providers", "UPDATE_RESOURCE_PROVIDER_CONFIG", CONFIG),
    (
        *("agent", "modify_resource_provider_configs", "resource_providers", "REMOVE_RESOURCE_PROVIDER_CONFIG"),
        {"type": "t", "name": "n"},
    ),
    (
        *("agent", "mark_resource_providers_gone", "resource_providers", "MARK_RESOURCE_PROVIDER_GONE"),
        {"resource_provider_id": {"value": "p"}},
    ),
    ("agent", "destroy_cpusets", "roles", "DESTROY_CPUSET", {"cpuset_id": "s"}),
    ("agent", "compact_cpusets", "roles", "COMPACT_CPUSETS", {"dry_run": False}),
    ("agent", "set_log_level", "level", "SET_LOGGING_LEVEL", {"level": 1, "duration": {"nanoseconds": 1}}),
    ("agent", "access_sandboxes", "users", "LIST_FILES", {"path": "/"}),
    ("agent", "access_sandboxes", "users", "READ_FILE", {"path": "/", "offset": 0}),
    ("master", "set_log_level", "level", "SET_LOGGING_LEVEL", {"level": 1, "duration": {"nanoseconds": 1}}),
    ("master", "access_sandboxes", "users", "LIST_FILES", {"path": "/"}),
    ("master", "access_sandboxes", "users", "READ_FILE", {"path": "/", "offset": 0}),
    ("master", "teardown_frameworks", "framework_principals", "TEARDOWN", {"framework_id": {"value": "f"}}),
    ("master", "update_weights", "roles", "UPDATE_WEIGHTS", {"weight_infos": [{"role": "gold", "weight": 2}]}),
    ("master", "update_quotas", "roles", "UPDATE_QUOTA", {"quota_configs": [{"role": "gold"}]}),
    (
        *("master", "update_quotas", "roles", "SET_QUOTA"),
        {"quota_request": {"role": "gold", "guarantee": [RESOURCE]}},
    ),
    ("master", "update_quotas", "roles", "REMOVE_QUOTA", {"role": "gold"}),
    ("master", "reserve_resources", "roles", "RESERVE_RESOURCES", RESERVE),
    ("master", "unreserve_resources", "reserver_principals", "UNRESERVE_RESOURCES", RESERVE),
]


@pytest.mark.parametrize(("api", "action", "objects", "kind", "body"), CALLS)
def test_operator_calls(api: str, action: str, objects: str, kind: str, body: dict[str, Any]) -> None:
    host = Host(acls=only(action, objects, "ops"))
    document = {"type": kind, kind.lower(): body}

    def ask(principal: str | None) -> None:
        if api == "agent":
            authorization.agent_call(host.master.world, principal, from_dict(agent_pb2.Call, document))
        else:
            authorization.master_call(host.master.world, principal, from_dict(master_pb2.Call, document))

    ask("ops")
    for principal, who in (("web", "Principal 'web' is not authorized to do "), (None, "Whoever is not authenticated")):
        with pytest.raises(Forbidden) as error:
            ask(principal)
        assert error.value.status == 403
        assert error.value.message.startswith(who) and action in error.value.message


@pytest.mark.parametrize("kind", ["GET_STATE", "GET_FLAGS", "GET_HEALTH", "GET_AGENT", "GET_CPUSETS", "GET_METRICS"])
def test_reading_needs_no_permission(kind: str) -> None:
    host = Host(acls=acls(permissive=False))
    authorization.agent_call(host.master.world, "web", from_dict(agent_pb2.Call, {"type": kind}))
    look = {"type": "COMPACT_CPUSETS", "compact_cpusets": {"dry_run": True}}
    authorization.agent_call(host.master.world, "web", from_dict(agent_pb2.Call, look))


def test_a_reservation_is_made_in_ones_own_name() -> None:
    host = Host()
    call = from_dict(master_pb2.Call, {"type": "RESERVE_RESOURCES", "reserve_resources": RESERVE})
    authorization.master_call(host.master.world, "ops", call)
    authorization.master_call(host.master.world, None, call)
    with pytest.raises(Forbidden, match="'web' cannot make a reservation in the name of principal 'ops'"):
        authorization.master_call(host.master.world, "web", call)


def subscribe(host: Host, principal: str | None, framework_id: str = "", /, **info: Any) -> Any:
    """The first event and the framework's id."""
    values = {"user": "root", "name": "fw", "roles": ["gold"], "capabilities": [{"type": "MULTI_ROLE"}]} | info
    call = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
    call.subscribe.framework_info.CopyFrom(from_dict(mesos_pb2.FrameworkInfo, values))
    if framework_id:
        call.framework_id.value = call.subscribe.framework_info.id.value = framework_id
    stream = host.new_stream()
    host.master.subscribe(call, stream, principal, host.now)
    host.turn()
    return host.sent[stream][0]


def test_roles_of_frameworks() -> None:
    rules = [{"principals": some("web"), "roles": some("gold")}, {"principals": ANY, "roles": NONE}]
    host = Host(acls=acls(register_frameworks=rules))
    assert subscribe(host, "web").type == scheduler_pb2.Event.SUBSCRIBED
    refused = subscribe(host, "web", roles=["gold", "iron", "lead"])
    assert refused.error.message == "Not authorized to use roles '{ iron, lead }'"
    assert subscribe(host, "other").type == scheduler_pb2.Event.ERROR
    # Where nobody is authenticated, what a framework says of itself counts, as with Mesos.
    assert subscribe(host, None, principal="web").type == scheduler_pb2.Event.SUBSCRIBED
    assert subscribe(host, None).type == scheduler_pb2.Event.ERROR
    (framework, _) = host.master.world.frameworks.values()
    update = {
        "type": "UPDATE_FRAMEWORK",
        "framework_id": {"value": framework.id},
        "update_framework": {
            "framework_info": {
                "user": "root",
                "name": "fw",
                "id": {"value": framework.id},
                "roles": ["iron"],
                "capabilities": [{"type": "MULTI_ROLE"}],
            }
        },
    }
    with pytest.raises(Forbidden, match=r"Not authorized to use roles '\{ iron \}'"):
        host.master.scheduler_call(from_dict(scheduler_pb2.Call, update), framework.stream_id, host.now, "web")
    assert list(framework.info.roles) == ["gold"]


def test_a_frameworks_calls_are_its_principals_own() -> None:
    host = Host()
    subscribe(host, "web")
    (framework,) = host.master.world.frameworks.values()
    call = from_dict(scheduler_pb2.Call, {"type": "REVIVE", "framework_id": {"value": framework.id}})
    assert host.master.scheduler_call(call, framework.stream_id, host.now, "web") == 202
    with pytest.raises(BadRequest, match="Authenticated principal 'mallory' does not match principal 'web'"):
        host.master.scheduler_call(call, framework.stream_id, host.now, "mallory")


def test_credentials_can_be_switched_on_and_off() -> None:
    host = Host()
    framework_id = subscribe(host, None).subscribed.framework_id.value
    assert subscribe(host, "mallory", framework_id).type == scheduler_pb2.Event.ERROR  # it is connected
    on = Host(host.now, stored=host)
    assert subscribe(on, "web", framework_id).type == scheduler_pb2.Event.SUBSCRIBED
    assert subscribe(on, "mallory", framework_id).type == scheduler_pb2.Event.ERROR
    again = Host(on.now, stored=on)
    assert subscribe(again, "mallory", framework_id).type == scheduler_pb2.Event.ERROR
    off = Host(again.now, stored=again)
    assert subscribe(off, None, framework_id).type == scheduler_pb2.Event.SUBSCRIBED


def test_users_of_tasks() -> None:
    rules = [{"principals": ANY, "users": some("nobody")}, {"principals": ANY, "users": NONE}]
    host = Host(acls=acls(run_tasks=rules))
    framework = FrameworkClient(host)  # its user is root
    resources = [scalar("cpus", 1)]
    framework.accept(framework.offer(), launch(host, "as-root", resources))
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_ERROR, mesos_pb2.TaskStatus.REASON_TASK_UNAUTHORIZED)
    assert status.message == "Not authorized to launch as user 'root'"
    command = {"value": "true", "user": "nobody"}
    framework.accept(framework.offer(), launch(host, "as-nobody", resources, command=command))
    assert [one.task.task_id.value for one in host.launched] == ["as-nobody"]


@pytest.mark.parametrize(
    ("framework_user", "command_user", "runs_as"),
    [
        ("nobody", None, "nobody"),
        ("nobody", "", "nobody"),
        ("nobody", "web", "web"),
        ("", "", "root"),
        ("", None, "root"),
    ],
)
def test_the_user_that_is_asked_about_is_the_one_it_runs_as(
    framework_user: str, command_user: str | None, runs_as: str
) -> None:
    """An empty user is none: such a task must not run as the agent's own while another one was asked about."""
    command = {"value": "true"} | ({} if command_user is None else {"user": command_user})
    for allowed in (True, False):
        rules = [{"principals": ANY if allowed else NONE, "users": some(runs_as)}]
        others = [{"principals": ANY, "users": NONE if allowed else ANY}]
        host = Host(acls=acls(run_tasks=rules + others), user="root")
        framework = FrameworkClient(host, user=framework_user)
        framework.accept(framework.offer(), launch(host, "t", [scalar("cpus", 1)], command=command))
        if not allowed:
            (status,) = framework.statuses()
            assert status.message == f"Not authorized to launch as user '{runs_as}'"
            assert not host.launched
        else:
            assert [one.user or "root" for one in host.launched] == [runs_as]


def test_reservations_of_frameworks() -> None:
    rules = [{"principals": ANY, "roles": some("gold")}, {"principals": ANY, "roles": NONE}]
    host = Host(acls=acls(reserve_resources=rules))
    framework = FrameworkClient(host, role="test")
    framework.accept(framework.offer(), reserve([scalar("cpus", 1, "test", "test")]))
    (status,) = framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_ERROR
    assert "is not authorized to do reserve_resources on 'test'" in status.message
    gold = FrameworkClient(host, role="gold")
    framework.call({"type": "TEARDOWN"})
    gold.accept(gold.offer(), reserve([scalar("cpus", 1, "gold", "gold")]))
    (status,) = gold.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_FINISHED


def test_without_a_document_everybody_may() -> None:
    assert ALLOW_ALL.allows("modify_resource_provider_configs", None)
