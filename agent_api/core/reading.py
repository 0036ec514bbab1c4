"""What the operator APIs of agent and master answer, as protobuf values.

Decides the shape of each answer and nothing else; nothing is changed here. The shell serves the calls that are about
processes and files (configs, logging level, LIST_FILES, READ_FILE).
"""

from __future__ import annotations

from agent_api.core import formats, frameworks, operations, roles, statuses
from agent_api.core import resources as rs
from agent_api.core.model import Framework, Provider, World
from agent_api.wire import agent_pb2, master_pb2, mesos_pb2

__all__ = ["agent_info", "agent_message", "agent_response", "connected", "executor_name", "flags", "master_response"]

AgentCall = agent_pb2.Call
AgentResponse = agent_pb2.Response
MasterCall = master_pb2.Call
MasterResponse = master_pb2.Response

AGENT_CAPABILITIES = (
    mesos_pb2.AgentInfo.Capability.MULTI_ROLE,
    mesos_pb2.AgentInfo.Capability.HIERARCHICAL_ROLE,
    mesos_pb2.AgentInfo.Capability.RESERVATION_REFINEMENT,
    mesos_pb2.AgentInfo.Capability.RESOURCE_PROVIDER,
    mesos_pb2.AgentInfo.Capability.AGENT_OPERATION_FEEDBACK,
)


def flags(world: World) -> list[mesos_pb2.Flag]:
    return [mesos_pb2.Flag(name=name, value=value) for name, value in sorted(world.options.flags.items())]


def agent_info(world: World) -> mesos_pb2.AgentInfo:
    """The agent with its own resources, as it was started."""
    options = world.options
    return mesos_pb2.AgentInfo(
        hostname=options.hostname,
        port=options.port,
        resources=world.own_total(),
        attributes=options.attributes,
        id=mesos_pb2.AgentID(value=world.agent_id),
    )


def _about_the_process(world: World, response: AgentResponse | MasterResponse, metrics: dict[str, float]) -> None:
    """Fill the answer, whose type is set, to one of the calls that agent and master have in common."""
    match type(response).Type.Name(response.type):
        case "GET_HEALTH":
            response.get_health.healthy = True
        case "GET_FLAGS":
            response.get_flags.flags.extend(flags(world))
            response.get_flags.SetInParent()
        case "GET_VERSION":
            response.get_version.version_info.version = world.options.version
        case "GET_METRICS":
            for name, value in metrics.items():
                response.get_metrics.metrics.add(name=name, value=value)


# The agent's


def agent_response(world: World, call: AgentCall, metrics: dict[str, float]) -> AgentResponse | None:
    """The answer to a reading call; None where the call is not one of them."""
    kinds = AgentCall
    answers = AgentResponse
    match call.type:
        case kinds.GET_HEALTH | kinds.GET_FLAGS | kinds.GET_VERSION | kinds.GET_METRICS:
            response = AgentResponse(type=kinds.Type.Name(call.type))
            _about_the_process(world, response, metrics)
        case kinds.GET_STATE:
            response = AgentResponse(type=answers.GET_STATE)
            _agent_tasks(world, response.get_state.get_tasks)
            _agent_executors(world, response.get_state.get_executors)
            _agent_frameworks(world, response.get_state.get_frameworks)
        case kinds.GET_TASKS:
            response = AgentResponse(type=answers.GET_TASKS)
            _agent_tasks(world, response.get_tasks)
        case kinds.GET_FRAMEWORKS:
            response = AgentResponse(type=answers.GET_FRAMEWORKS)
            _agent_frameworks(world, response.get_frameworks)
        case kinds.GET_EXECUTORS:
            response = AgentResponse(type=answers.GET_EXECUTORS)
            _agent_executors(world, response.get_executors)
        case kinds.GET_CONTAINERS:
            response = AgentResponse(type=answers.GET_CONTAINERS)
            _containers(world, response.get_containers)
        case kinds.GET_OPERATIONS:
            response = AgentResponse(type=answers.GET_OPERATIONS)
            response.get_operations.operations.extend(_operations(world))
            response.get_operations.SetInParent()
        case kinds.GET_AGENT:
            response = AgentResponse(type=answers.GET_AGENT)
            response.get_agent.agent_info.CopyFrom(agent_info(world))
        case kinds.GET_RESOURCE_PROVIDERS:
            response = AgentResponse(type=answers.GET_RESOURCE_PROVIDERS)
            response.get_resource_providers.SetInParent()
            for provider in connected(world):
                response.get_resource_providers.resource_providers.add(
                    resource_provider_info=provider.shown_info, total_resources=provider.total
                )
        case kinds.GET_TOPOLOGY | kinds.GET_PROFILES | kinds.GET_CPUSETS:
            response = _cpu(world, call.type)
        case _:
            return None
    return response


def connected(world: World) -> list[Provider]:
    """The providers that an agent shows: those with a stream, whether they reported resources or not."""
    return [p for p in world.providers.values() if p.stream_id is not None]


def _agent_tasks(world: World, answer: AgentResponse.GetTasks) -> None:
    answer.SetInParent()
    for task in world.tasks.values():
        message = statuses.message_of(world, task.record)
        if not task.live:
            answer.terminated_tasks.append(message)
        elif not task.launched:
            answer.queued_tasks.append(message)
        else:
            answer.launched_tasks.append(message)
    answer.completed_tasks.extend(statuses.message_of(world, r) for r in world.completed)


def _agent_frameworks(world: World, answer: AgentResponse.GetFrameworks) -> None:
    """Those with tasks here, as an agent knows frameworks: completed are those that have none any more."""
    answer.SetInParent()
    here = {t.record.framework_id for t in world.tasks.values()}
    for framework in world.frameworks.values():
        if framework.id in here:
            answer.frameworks.add(framework_info=framework.info)
    been = {record.framework_id for record in world.completed} - here
    for framework in world.frameworks.values():
        if framework.id in been:
            answer.completed_frameworks.add(framework_info=framework.info)
    for record in world.removed.values():
        answer.completed_frameworks.add(framework_info=record.info)


def executor_name(info: mesos_pb2.TaskInfo) -> str:
    """What a command task's executor is called, with the beginning of the command; as Mesos does."""
    command = info.command
    text = command.value if command.shell else ", ".join((command.value, *command.arguments))
    short = text if len(text) <= 15 else f"{text[:12]}..."
    shown = f"sh -c '{short}'" if command.shell else f"[{short}]"
    return f"Command Executor (Task: {info.task_id.value}) (Command: {shown})"


def _agent_executors(world: World, answer: AgentResponse.GetExecutors) -> None:
    """One for each task, from its launch on: the shim that runs it. It takes no resources of its own."""
    answer.SetInParent()
    live = [task.record for task in world.live_tasks()]
    for target, records in ((answer.executors, live), (answer.completed_executors, world.completed)):
        for record in records:
            task_id = record.task.task_id.value
            info = target.add().executor_info
            info.executor_id.value = task_id
            info.framework_id.value = record.framework_id
            info.command.shell = False
            info.command.value = "python"
            info.command.arguments.extend(("python", "-m", "agent_api.shim"))
            info.name = executor_name(record.task)
            info.source = task_id


def _containers(world: World, answer: AgentResponse.GetContainers) -> None:
    """One for each task that runs, with what it was given; the shell adds what it uses. Where there is none, Mesos
    leaves the whole out."""
    for task in world.live_tasks():
        if task.record.pid is not None:
            container = answer.containers.add()
            container.framework_id.value = task.record.framework_id
            container.executor_id.value = task.key[1]
            container.executor_name = executor_name(task.record.task)
            container.container_id.value = task.container_id
            container.container_status.container_id.value = task.container_id
            container.container_status.executor_pid = task.record.pid
            given = task.record.task.resources
            mem = int(rs.sum_of(given, "mem") * 1024 * 1024)
            container.resource_statistics.timestamp = 0  # required: it was not measured yet
            container.resource_statistics.cpus_soft_limit = rs.sum_of(given, "cpus")
            container.resource_statistics.mem_limit_bytes = mem
            container.resource_statistics.mem_soft_limit_bytes = mem


def _operations(world: World) -> list[mesos_pb2.Operation]:
    return [operations.message_of(world, o) for o in world.operations.values() if o.info.HasField("type")]


def _cpu(world: World, kind: AgentCall.Type) -> AgentResponse:
    """What the providers that are connected reported last."""
    response = AgentResponse()
    if kind == AgentCall.GET_TOPOLOGY:
        response.type = AgentResponse.GET_TOPOLOGY
        response.get_topology.SetInParent()
    elif kind == AgentCall.GET_PROFILES:
        response.type = AgentResponse.GET_PROFILES
        response.get_profiles.SetInParent()
    else:
        response.type = AgentResponse.GET_CPUSETS
        response.get_cpusets.SetInParent()
    for provider in world.providers.values():
        if not provider.ready or provider.report is None:
            continue
        provider_id = mesos_pb2.ResourceProviderID(value=provider.id)
        name = provider.info.name
        if kind == AgentCall.GET_TOPOLOGY:
            response.get_topology.providers.add(id=provider_id, name=name, topology=provider.report.topology)
        elif kind == AgentCall.GET_PROFILES:
            response.get_profiles.providers.add(
                id=provider_id,
                name=name,
                profiles=provider.report.profiles,
                source=provider.report.profile_source if provider.report.HasField("profile_source") else None,
            )
        else:
            response.get_cpusets.providers.add(id=provider_id, name=name, cpusets=provider.report.cpusets)
    return response


# The master's


def master_response(world: World, call: MasterCall, metrics: dict[str, float]) -> MasterResponse | None:
    """The answer to a reading call; None where the call is not one of them."""
    kinds = MasterCall
    answers = MasterResponse
    match call.type:
        case kinds.GET_HEALTH | kinds.GET_FLAGS | kinds.GET_VERSION | kinds.GET_METRICS:
            response = MasterResponse(type=kinds.Type.Name(call.type))
            _about_the_process(world, response, metrics)
        case kinds.GET_STATE:
            response = MasterResponse(type=answers.GET_STATE)
            response.get_state.CopyFrom(state(world))
        case kinds.GET_AGENTS:
            response = MasterResponse(type=answers.GET_AGENTS)
            response.get_agents.agents.append(agent_message(world))
        case kinds.GET_FRAMEWORKS:
            response = MasterResponse(type=answers.GET_FRAMEWORKS)
            _frameworks(world, response.get_frameworks)
        case kinds.GET_EXECUTORS:
            response = MasterResponse(type=answers.GET_EXECUTORS)
            response.get_executors.SetInParent()
        case kinds.GET_TASKS:
            response = MasterResponse(type=answers.GET_TASKS)
            _tasks(world, response.get_tasks)
        case kinds.GET_OPERATIONS:
            response = MasterResponse(type=answers.GET_OPERATIONS)
            response.get_operations.operations.extend(_operations(world))
            response.get_operations.SetInParent()
        case kinds.GET_ROLES:
            response = MasterResponse(type=answers.GET_ROLES)
            response.get_roles.roles.extend(_roles(world))
            response.get_roles.SetInParent()
        case kinds.GET_WEIGHTS:
            response = MasterResponse(type=answers.GET_WEIGHTS)
            if world.weights:  # left out where none was ever set, as Mesos does
                response.get_weights.weight_infos.extend(roles.weights(world))
        case kinds.GET_QUOTA:
            response = MasterResponse(type=answers.GET_QUOTA)
            response.get_quota.status.CopyFrom(roles.quota_status(world))
            response.get_quota.status.SetInParent()
        case kinds.GET_MASTER:
            response = MasterResponse(type=answers.GET_MASTER)
            response.get_master.master_info.CopyFrom(frameworks.master_info(world))
            response.get_master.start_time = world.start_time
            response.get_master.elected_time = world.start_time
        case kinds.GET_MAINTENANCE_STATUS:
            response = MasterResponse(type=answers.GET_MAINTENANCE_STATUS)
            response.get_maintenance_status.status.SetInParent()
        case kinds.GET_MAINTENANCE_SCHEDULE:
            response = MasterResponse(type=answers.GET_MAINTENANCE_SCHEDULE)
            response.get_maintenance_schedule.schedule.SetInParent()
        case _:
            return None
    return response


def state(world: World) -> MasterResponse.GetState:
    result = MasterResponse.GetState()
    _tasks(world, result.get_tasks)
    result.get_executors.SetInParent()
    _frameworks(world, result.get_frameworks)
    result.get_agents.agents.append(agent_message(world))
    return result


def agent_message(world: World) -> MasterResponse.GetAgents.Agent:
    """The one agent there is, as the master shows it."""
    agent = MasterResponse.GetAgents.Agent(
        agent_info=agent_info(world),
        active=True,
        deactivated=False,
        version=world.options.version,
        pid=world.agent_pid,
        total_resources=formats.in_both(world.total()),
        allocated_resources=formats.in_both(
            rs.normalize(r for t in world.live_tasks() for r in t.record.task.resources)
        ),
        offered_resources=formats.in_both(
            rs.normalize(r for o in world.offers.values() for r in rs.allocate(o.resources, o.role))
        ),
    )
    agent.registered_time.nanoseconds = int(world.start_time * 1e9)
    for kind in AGENT_CAPABILITIES:
        agent.capabilities.add(type=kind)
    for provider in world.providers.values():
        if provider.ready:
            agent.resource_providers.add(resource_provider_info=provider.shown_info, total_resources=provider.total)
    return agent


def _tasks(world: World, answer: MasterResponse.GetTasks) -> None:
    answer.SetInParent()
    for task in world.tasks.values():
        target = answer.tasks if task.live else answer.completed_tasks
        target.append(statuses.message_of(world, task.record))
    answer.completed_tasks.extend(statuses.message_of(world, r) for r in world.completed)


def _frameworks(world: World, answer: MasterResponse.GetFrameworks) -> None:
    answer.SetInParent()
    for framework in world.frameworks.values():
        message = answer.frameworks.add()
        message.CopyFrom(frameworks.message_of(world, framework))
        mine = [o for o in world.offers.values() if o.framework_id == framework.id]
        message.offers.extend(o.message for o in mine)
        message.offered_resources.extend(
            formats.in_both(rs.normalize(r for o in mine for r in rs.allocate(o.resources, o.role)))
        )
        message.allocated_resources.extend(formats.in_both(allocated_to(world, framework)))
        message.offer_constraints.CopyFrom(framework.constraints.message)
        message.offer_constraints.SetInParent()
    for record in world.removed.values():
        gone = answer.completed_frameworks.add()
        gone.CopyFrom(frameworks.message_of(world, Framework(record, 0)))
        gone.offer_constraints.SetInParent()
        gone.unregistered_time.nanoseconds = int((record.removed_time or 0) * 1e9)


def allocated_to(world: World, framework: Framework) -> list[mesos_pb2.Resource]:
    return rs.normalize(
        r for t in world.live_tasks() if t.record.framework_id == framework.id for r in t.record.task.resources
    )


def _roles(world: World) -> list[mesos_pb2.Role]:
    result = []
    for name in roles.names(world):
        role = mesos_pb2.Role(name=name, weight=roles.weight(world, name))
        for framework in world.frameworks.values():
            if name in framework.roles:
                role.frameworks.add(value=framework.id)
        role.resources.extend(
            rs.normalize(
                r for t in world.live_tasks() for r in t.record.task.resources if r.allocation_info.role == name
            )
        )
        result.append(role)
    return result
