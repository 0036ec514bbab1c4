"""Whether what clients say is well formed. Mesos's words where Mesos has some.

Each function returns None or the sentence that says what is wrong. It decides nothing about what there is: whether
resources are there, offers valid, ids taken is for others.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_api.core import formats
from agent_api.core import resources as rs
from agent_api.core.model import has_capability, roles_of
from agent_api.wire import mesos_pb2

__all__ = ["framework_info", "framework_update", "identifier", "one_provider", "resources", "role", "roles", "task"]

_SPACE = "\t\n\v\f\r\b\x7f "
MAX_ID = 255


def role(name: str) -> str | None:
    """A role: `*`, or components joined by `/`."""
    if name == "*":
        return None
    if not name:
        return "Empty role name is invalid"
    if name.startswith("/"):
        return f"Role '{name}' cannot start with a slash"
    if name.endswith("/"):
        return f"Role '{name}' cannot end with a slash"
    if "//" in name:
        return f"Role '{name}' cannot contain two adjacent slashes"
    for component in name.split("/"):
        if component in (".", ".."):
            return f"Role component '{component}' is invalid because it is a relative path"
        if component == "*":
            return "Role component '*' is invalid because it is reserved"
        if component.startswith("-"):
            return f"Role component '{component}' is invalid because it begins with a dash"
        if any(c in _SPACE for c in component):
            return f"Role component '{component}' is invalid because it contains backspace or whitespace"
    return None


def identifier(value: str, what: str) -> str | None:
    """An id that a client chose. It becomes the name of a directory."""
    if not value:
        return f"{what} is invalid: ID must not be empty"
    if len(value.encode()) > MAX_ID:
        return f"{what} is invalid: ID must not be greater than {MAX_ID} characters"
    if value in (".", ".."):
        return f"{what} is invalid: '{value}' is disallowed"
    if any(ord(c) < 32 or c in "/\\\x7f" for c in value):
        return f"{what} is invalid: {value!r} contains invalid characters"
    return None


def roles(info: mesos_pb2.FrameworkInfo) -> str | None:
    multi = has_capability(info, mesos_pb2.FrameworkInfo.Capability.MULTI_ROLE)
    if multi and info.HasField("role"):
        return "'FrameworkInfo.role' must not be set when the framework is MULTI_ROLE capable"
    if not multi and info.roles:
        return "'FrameworkInfo.roles' must not be set when the framework is not MULTI_ROLE capable"
    names = roles_of(info)
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        return f"'FrameworkInfo.roles' contains duplicate items: {{ {', '.join(twice)} }}"
    for name in names:
        problem = role(name)
        if problem:
            field = "roles" if multi else "role"
            return f"'FrameworkInfo.{field}' contains invalid role: {problem}"
    return None


def framework_info(info: mesos_pb2.FrameworkInfo, suppressed: Iterable[str]) -> str | None:
    problem = roles(info)
    if problem:
        return problem
    if info.HasField("id") and info.id.value:
        problem = identifier(info.id.value, f"Framework ID '{info.id.value}'")
        if problem:
            return problem
    timeout = info.failover_timeout
    if not 0 <= timeout <= 2**63 / 1e9:
        return f"The framework failover_timeout ({timeout:g}) is invalid: it must be a number of seconds from 0 up"
    unknown = sorted(set(suppressed) - set(roles_of(info)))
    if unknown:
        return f"Suppressed roles {{ {', '.join(unknown)} }} are not contained in the set of roles"
    return None


def framework_update(old: mesos_pb2.FrameworkInfo, new: mesos_pb2.FrameworkInfo) -> str | None:
    """UPDATE_FRAMEWORK changes neither of these."""
    for field in ("user", "checkpoint", "principal"):
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            return (
                f"Updating 'FrameworkInfo.{field}' is unsupported; attempted to update from "
                f"'{_word(before)}' to '{_word(after)}'"
            )
    return None


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def resources(values: Iterable[mesos_pb2.Resource]) -> str | None:
    for resource in values:
        try:
            rs.validate(resource)
        except rs.ResourceError as error:
            return str(error)
        problem = formats.problem(resource)
        if problem:
            return f"Resource '{rs.describe(resource)}' is invalid: {problem}"
        for reservation in formats.in_new([resource])[0].reservations:
            problem = role(reservation.role) or _reservation(reservation)
            if problem:
                return f"Resource '{rs.describe(resource)}' is invalid: {problem}"
        problem = _refinement(resource)
        if problem:
            return f"Resource '{rs.describe(resource)}' is invalid: Invalid refined reservation: {problem}"
    return None


def _reservation(reservation: mesos_pb2.Resource.ReservationInfo) -> str | None:
    if reservation.type not in (
        mesos_pb2.Resource.ReservationInfo.STATIC,
        mesos_pb2.Resource.ReservationInfo.DYNAMIC,
    ):
        return "'ReservationInfo.type' must be set to STATIC or DYNAMIC"
    if reservation.role == "*":
        return "a resource cannot be reserved for role '*'"
    return None


def _refinement(resource: mesos_pb2.Resource) -> str | None:
    """Each reservation beyond the first narrows the one before it to a role below."""
    for outer, inner in zip(resource.reservations, resource.reservations[1:], strict=False):
        if inner.type == mesos_pb2.Resource.ReservationInfo.STATIC:
            return "A refined reservation cannot be STATIC"
        if not inner.role.startswith(outer.role + "/"):
            return f"role '{inner.role}' is not a refinement of '{outer.role}'"
    return None


def one_provider(values: Iterable[mesos_pb2.Resource]) -> str | None:
    """An operation works on the resources of one provider, or of none."""
    ids = [rs.provider_of(r) for r in values]
    if ids and None in ids and set(ids) != {None}:
        return "Invalid resources: Some resources have a resource provider and some do not"
    if len(set(ids)) != 1:
        names = ", ".join(sorted(str(i) for i in set(ids)))
        return f"Invalid resources: The resources have multiple resource providers: {names}"
    return None


def task(info: mesos_pb2.TaskInfo, agent_id: str) -> str | None:
    """All of a task but the question whether its resources are there."""
    problem = identifier(info.task_id.value, f"TaskID '{info.task_id.value}'")
    if problem:
        return problem
    if info.agent_id.value != agent_id:
        return f"Task uses invalid agent {info.agent_id.value} while agent {agent_id} is expected"
    if info.HasField("executor"):
        return (
            "Pinfold runs command tasks only: the task has an executor "
            f"'{info.executor.executor_id.value}'; put the command into 'TaskInfo.command'"
        )
    if not info.HasField("command"):
        return "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
    if info.command.shell and not info.command.value:
        return "'CommandInfo.value' must be set for a shell command"
    if not info.command.shell and not info.command.value and not info.command.arguments:
        return "'CommandInfo.value' or 'CommandInfo.arguments' must be set"
    if info.command.uris:
        return "'CommandInfo.uris' is not supported: Pinfold fetches nothing, the files must be on the host"
    for variable in info.command.environment.variables:
        if variable.type == mesos_pb2.Environment.Variable.SECRET:
            return f"Environment variable '{variable.name}' is a secret, which Pinfold cannot resolve"
        if not variable.name or "=" in variable.name or "\0" in variable.name or "\0" in variable.value:
            return f"Environment variable '{variable.name!r}' is invalid"
    if info.HasField("container") and (
        info.container.type == mesos_pb2.ContainerInfo.DOCKER
        or info.container.mesos.HasField("image")
        or info.container.volumes
    ):
        return "'TaskInfo.container' with an image or volumes is not supported: Pinfold runs commands on the host"
    for field in ("health_check", "check", "max_completion_time"):
        if info.HasField(field):
            return f"'TaskInfo.{field}' is not supported: Pinfold starts, watches and kills the command only"
    if not info.resources:
        return "Task uses no resources"
    problem = resources(info.resources)
    if problem:
        return f"Task uses invalid resources: {problem}"
    for name in sorted({r.name for r in info.resources}):
        if len({r.HasField("revocable") for r in info.resources if r.name == name}) > 1:
            return f"Task uses invalid resources: Cannot use both revocable and non-revocable '{name}' at the same time"
    for resource in info.resources:
        if rs.source_type(resource) == mesos_pb2.Resource.CpuInfo.Source.RAW:
            return f"Task uses RAW {rs.describe(resource)}: nothing can run on RAW; make a set of it by CREATE_CPUSET"
    if info.kill_policy.grace_period.nanoseconds < 0:
        return "Task's 'kill_policy.grace_period' must be non-negative"
    return None
