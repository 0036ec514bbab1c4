"""Which calls need whose permission.

Decides what each call is as an action on an object of `core.acls`, and refuses with 403 and a sentence. Whatever is not
named here, whoever got in may do. It never authenticates anybody and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_api.core import formats
from agent_api.core import resources as rs
from agent_api.core.model import Framework, World, user_of
from agent_api.errors import Forbidden
from agent_api.wire import agent_pb2, master_pb2, mesos_pb2

__all__ = ["agent_call", "launch", "master_call", "provider_call", "reservation", "roles", "sandbox", "whose"]

_CONFIG_CALLS = (
    agent_pb2.Call.ADD_RESOURCE_PROVIDER_CONFIG,
    agent_pb2.Call.UPDATE_RESOURCE_PROVIDER_CONFIG,
    agent_pb2.Call.REMOVE_RESOURCE_PROVIDER_CONFIG,
)


def _need(world: World, principal: str | None, action: str, value: str | None = None) -> None:
    if not world.options.acls.allows(action, principal, value):
        who = "Whoever is not authenticated" if principal is None else f"Principal '{principal}'"
        what = f" on '{value}'" if value is not None else ""
        raise Forbidden(f"{who} is not authorized to do {action}{what}")


def agent_call(world: World, principal: str | None, call: agent_pb2.Call) -> None:
    """A call of the agent operator API. Raises Forbidden."""
    kinds = agent_pb2.Call
    if call.type in _CONFIG_CALLS:
        _need(world, principal, "modify_resource_provider_configs")
    elif call.type == kinds.MARK_RESOURCE_PROVIDER_GONE:
        _need(world, principal, "mark_resource_providers_gone")
    elif call.type == kinds.DESTROY_CPUSET:
        known = [p.sets.get(call.destroy_cpuset.cpuset_id) for p in world.providers.values()]
        _need(world, principal, "destroy_cpusets", next((info.role for info in known if info is not None), None))
    elif call.type == kinds.COMPACT_CPUSETS and not call.compact_cpusets.dry_run:
        _need(world, principal, "compact_cpusets")
    elif call.type == kinds.SET_LOGGING_LEVEL:
        _need(world, principal, "set_log_level")
    elif call.type in (kinds.LIST_FILES, kinds.READ_FILE):
        sandbox(world, principal)


def master_call(world: World, principal: str | None, call: master_pb2.Call) -> None:
    """A call of the master operator API. Raises Forbidden."""
    kinds = master_pb2.Call
    match call.type:
        case kinds.SET_LOGGING_LEVEL:
            _need(world, principal, "set_log_level")
        case kinds.LIST_FILES | kinds.READ_FILE:
            sandbox(world, principal)
        case kinds.TEARDOWN:
            framework = world.frameworks.get(call.teardown.framework_id.value)
            _need(world, principal, "teardown_frameworks", whose(framework) if framework is not None else None)
        case kinds.UPDATE_WEIGHTS:
            for weight in call.update_weights.weight_infos:
                _need(world, principal, "update_weights", weight.role)
        case kinds.UPDATE_QUOTA:
            for config in call.update_quota.quota_configs:
                _need(world, principal, "update_quotas", config.role)
        case kinds.SET_QUOTA:
            _need(world, principal, "update_quotas", call.set_quota.quota_request.role)
        case kinds.REMOVE_QUOTA:
            _need(world, principal, "update_quotas", call.remove_quota.role)
        case kinds.RESERVE_RESOURCES:
            _reserve(world, principal, call.reserve_resources.resources)
        case kinds.UNRESERVE_RESOURCES:
            _unreserve(world, principal, call.unreserve_resources.resources)


def sandbox(world: World, principal: str | None) -> None:
    """Reading what tasks wrote. Raises Forbidden."""
    _need(world, principal, "access_sandboxes")


def provider_call(world: World, principal: str | None) -> None:
    """Any call of the resource provider API. Raises Forbidden."""
    _need(world, principal, "register_resource_providers")


# Frameworks


def whose(framework: Framework) -> str | None:
    """The principal of a framework: the one that was authenticated, or what it says of itself where nobody was."""
    return framework.record.principal or framework.info.principal or None


def roles(world: World, principal: str | None, info: mesos_pb2.FrameworkInfo) -> str | None:
    """Why a framework may not have the roles it names; None where it may."""
    multi = any(c.type == mesos_pb2.FrameworkInfo.Capability.MULTI_ROLE for c in info.capabilities)
    principal = principal or info.principal or None
    wrong = [
        role
        for role in (info.roles if multi else [info.role])
        if not world.options.acls.allows("register_frameworks", principal, role)
    ]
    return f"Not authorized to use roles '{{ {', '.join(wrong)} }}'" if wrong else None


def launch(world: World, framework: Framework, task: mesos_pb2.TaskInfo) -> str | None:
    """Why a framework may not run a task as the user it names; None where it may."""
    user = user_of(framework, task) or world.options.user
    if world.options.acls.allows("run_tasks", whose(framework), user):
        return None
    return f"Not authorized to launch as user '{user}'"


def reservation(world: World, framework: Framework, info: mesos_pb2.Offer.Operation) -> None:
    """RESERVE and UNRESERVE of a framework; other operations are none of this. Raises Forbidden."""
    _reserve(world, whose(framework), info.reserve.resources)
    _unreserve(world, whose(framework), info.unreserve.resources)


def _reserve(world: World, principal: str | None, resources: Iterable[mesos_pb2.Resource]) -> None:
    for resource in formats.in_new(resources):
        _need(world, principal, "reserve_resources", rs.reservation_role(resource))
        innermost = resource.reservations[-1] if resource.reservations else None
        if principal is not None and innermost is not None and innermost.principal not in ("", principal):
            raise Forbidden(
                f"Principal '{principal}' cannot make a reservation in the name of principal '{innermost.principal}'"
            )


def _unreserve(world: World, principal: str | None, resources: Iterable[mesos_pb2.Resource]) -> None:
    for resource in formats.in_new(resources):
        innermost = resource.reservations[-1] if resource.reservations else None
        reserver = innermost.principal if innermost is not None else ""
        _need(world, principal, "unreserve_resources", reserver or None)
