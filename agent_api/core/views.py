"""The JSON of Mesos's endpoints from before the v1 API. Decides their shape only.

Mesos's own web UI and command-line clients read these. Everything is made of what `core.reading` answers with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agent_api.core import attributes, fairness, formats, ledger, offers, reading
from agent_api.core import resources as rs
from agent_api.core import roles as role_table
from agent_api.core.model import Framework, Offer, Provider, World
from agent_api.core.records import FrameworkRecord, TaskRecord
from agent_api.core.sandbox import task_path
from agent_api.wire import codec, mesos_pb2

if TYPE_CHECKING:
    from agent_api.core.master import Master

__all__ = [
    "agent_state",
    "frameworks",
    "maintenance",
    "master_state",
    "quota",
    "roles",
    "slaves",
    "state_summary",
    "tasks",
    "weights",
]

Json = dict[str, Any]
_SCALARS = ("disk", "mem", "gpus", "cpus")


def _amounts(resources: Iterable[mesos_pb2.Resource]) -> Json:
    """Quantities by name: what is not there of the usual scalars is 0.0. Revocable ones stand apart, under a name of
    their own."""
    given = list(resources)
    merged = [r for r in given if not r.HasField("revocable")]
    result: Json = {name: rs.sum_of(merged, name) for name in _SCALARS}
    extra = [r for r in given if r.HasField("revocable")]
    result |= {f"{name}_revocable": rs.sum_of(extra, name) for name in sorted({r.name for r in extra})}
    plain = []
    for resource in merged:
        if resource.type == mesos_pb2.Value.SCALAR:
            if resource.name not in _SCALARS:
                result[resource.name] = result.get(resource.name, 0.0) + resource.scalar.value
        else:
            bare = mesos_pb2.Resource(name=resource.name, type=resource.type)
            bare.ranges.CopyFrom(resource.ranges)
            bare.set.CopyFrom(resource.set)
            plain.append(bare)
    for resource in rs.normalize(plain):
        result[resource.name] = rs.describe(resource).partition(":")[2]
    return result


def _by_role(resources: Iterable[mesos_pb2.Resource]) -> dict[str, list[mesos_pb2.Resource]]:
    result: dict[str, list[mesos_pb2.Resource]] = {}
    for resource in resources:
        role = rs.reservation_role(resource)
        if role is not None:
            result.setdefault(role, []).append(resource)
    return result


def _full(resources: Iterable[mesos_pb2.Resource]) -> list[Any]:
    return [codec.to_dict(r) for r in formats.in_both(resources)]


def _unreserved(resources: Iterable[mesos_pb2.Resource]) -> list[mesos_pb2.Resource]:
    return [r for r in resources if not r.reservations]


def _used(world: World) -> list[mesos_pb2.Resource]:
    return rs.normalize(r for t in world.live_tasks() for r in t.record.task.resources)


def _attributes(world: World) -> Json:
    return {attribute.name: attributes.shown(attribute) for attribute in world.options.attributes}


def _version(world: World) -> Json:
    return {"version": world.options.version, "start_time": world.start_time}


def _status(status: mesos_pb2.TaskStatus) -> Json:
    result: Json = {"state": mesos_pb2.TaskState.Name(status.state), "timestamp": status.timestamp}
    if status.HasField("container_status"):
        container = mesos_pb2.ContainerStatus()
        container.CopyFrom(status.container_status)
        container.ClearField("executor_pid")
        result["container_status"] = codec.to_dict(container)
    if status.HasField("message"):
        result["message"] = status.message
    return result


def _task(world: World, record: TaskRecord) -> Json:
    info = record.task
    result: Json = {
        "id": info.task_id.value,
        "name": info.name,
        "framework_id": record.framework_id,
        "executor_id": "",
        "slave_id": world.agent_id,
        "state": mesos_pb2.TaskState.Name(record.state),
        "resources": _amounts(info.resources),
        "role": next((r.allocation_info.role for r in info.resources), "*"),
        "statuses": [_status(s) for s in record.statuses],
    }
    if info.labels.labels:
        result["labels"] = [codec.to_dict(label) for label in info.labels.labels]
    if info.HasField("discovery"):
        result["discovery"] = codec.to_dict(info.discovery)
    return result


def _offer(world: World, offer: Offer) -> Json:
    return {
        "id": offer.message.id.value,
        "framework_id": offer.framework_id,
        "allocation_info": {"role": offer.role},
        "slave_id": world.agent_id,
        "resources": _amounts(offer.resources),
    }


def _slave(world: World, full: bool) -> Json:
    total, used, offered = world.total(), _used(world), world.offered()
    result: Json = {
        "id": world.agent_id,
        "hostname": world.options.hostname,
        "port": world.options.port,
        "attributes": _attributes(world),
        "pid": world.agent_pid,
        "registered_time": world.start_time,
        "resources": _amounts(total),
        "used_resources": _amounts(used),
        "offered_resources": _amounts(offered),
        "reserved_resources": {role: _amounts(rr) for role, rr in _by_role(total).items()},
        "unreserved_resources": _amounts(_unreserved(total)),
        "active": True,
        "deactivated": False,
        "version": world.options.version,
        "capabilities": _capabilities(),
    }
    if full:
        result["reserved_resources_full"] = {role: _full(rr) for role, rr in _by_role(total).items()}
        result["unreserved_resources_full"] = _full(_unreserved(total))
        result["used_resources_full"] = _full(used)
        result["offered_resources_full"] = _full(
            r for o in world.offers.values() for r in rs.allocate(o.resources, o.role)
        )
    return result


def _capabilities() -> list[str]:
    return [mesos_pb2.AgentInfo.Capability.Type.Name(kind) for kind in reading.AGENT_CAPABILITIES]


def _framework(world: World, framework: Framework) -> Json:
    info = framework.info
    offered = [r for o in world.offers.values() if o.framework_id == framework.id for r in o.resources]
    used = reading.allocated_to(world, framework)
    result = _framework_base(framework.record)
    result |= {
        "used_resources": _amounts(used),
        "offered_resources": _amounts(offered),
        "capabilities": [mesos_pb2.FrameworkInfo.Capability.Type.Name(c.type) for c in info.capabilities],
        "webui_url": info.webui_url,
        "active": framework.stream_id is not None,
        "connected": framework.stream_id is not None,
        "recovered": framework.recovered,
        "registered_time": framework.record.registered_time,
        "unregistered_time": 0.0,
        "resources": _amounts([*used, *offered]),
        "tasks": [_task(world, t.record) for t in world.live_tasks() if t.record.framework_id == framework.id],
        "unreachable_tasks": [],
        "completed_tasks": [_task(world, r) for r in _over(world) if r.framework_id == framework.id],
        "offers": [_offer(world, o) for o in world.offers.values() if o.framework_id == framework.id],
        "executors": [],
        "offer_constraints": codec.to_dict(framework.constraints.message),
    }
    if framework.record.reregistered_time != framework.record.registered_time:
        result["reregistered_time"] = framework.record.reregistered_time
    return result


def _framework_base(record: FrameworkRecord) -> Json:
    info = record.info
    result: Json = {
        "id": record.framework_id,
        "name": info.name,
        "user": info.user,
        "failover_timeout": info.failover_timeout,
        "checkpoint": info.checkpoint,
        "hostname": info.hostname,
    }
    if info.roles:
        result["roles"] = list(info.roles)
    else:
        result["role"] = info.role
    if record.principal is not None:
        result["principal"] = record.principal
    return result


def _gone(world: World, record: FrameworkRecord) -> Json:
    return _framework_base(record) | {
        "used_resources": _amounts([]),
        "offered_resources": _amounts([]),
        "resources": _amounts([]),
        "webui_url": record.info.webui_url,
        "active": False,
        "connected": False,
        "recovered": False,
        "registered_time": record.registered_time,
        "unregistered_time": record.removed_time or 0.0,
        "capabilities": [],
        "tasks": [],
        "unreachable_tasks": [],
        "completed_tasks": [_task(world, r) for r in _over(world) if r.framework_id == record.framework_id],
        "offers": [],
        "executors": [],
    }


def _over(world: World) -> list[TaskRecord]:
    """Tasks that have ended, told to the end or not."""
    return [*(t.record for t in world.tasks.values() if not t.live), *world.completed]


def agent_state(master: Master, now: float) -> Json:
    """GET /state of the agent port: its own and its providers' resources together."""
    world = master.world
    total, used = world.total(), _used(world)
    here = {t.record.framework_id for t in world.tasks.values()}
    return _version(world) | {
        "id": world.agent_id,
        "pid": world.agent_pid,
        "hostname": world.options.hostname,
        "capabilities": _capabilities(),
        "resources": _amounts(total),
        "reserved_resources": {role: _amounts(rr) for role, rr in _by_role(total).items()},
        "unreserved_resources": _amounts(_unreserved(total)),
        "reserved_resources_full": {role: _full(rr) for role, rr in _by_role(total).items()},
        "unreserved_resources_full": _full(_unreserved(total)),
        "reserved_resources_allocated": {role: _amounts(rr) for role, rr in _by_role(used).items()},
        "unreserved_resources_allocated": _amounts(_unreserved(used)),
        "resource_providers": [_provider(p) for p in reading.connected(world)],
        "attributes": _attributes(world),
        "master_hostname": world.options.hostname,
        "flags": dict(world.options.flags),
        "frameworks": [
            _framework_base(f.record) | {"executors": _executors(world, f.id), "completed_executors": []}
            for f in world.frameworks.values()
            if f.id in here
        ],
        "completed_frameworks": [],
    }


def _provider(provider: Provider) -> Json:
    result: Json = {"resource_provider_info": codec.to_dict(provider.shown_info)}
    if provider.total:
        result["total_resources"] = [codec.to_dict(r) for r in provider.total]
    return result


def _executors(world: World, framework_id: str) -> list[Json]:
    """One for each task, as Mesos shows command tasks."""
    result = []
    for task in world.live_tasks():
        if task.record.framework_id == framework_id:
            info = task.record.task
            result.append(
                {
                    "id": info.task_id.value,
                    "name": reading.executor_name(info),
                    "source": info.task_id.value,
                    "container": task.container_id,
                    "directory": task_path(world.options.work_dir, framework_id, info.task_id.value),
                    "resources": _amounts(info.resources),
                    "role": next((r.allocation_info.role for r in info.resources), "*"),
                    "tasks": [_task(world, task.record)],
                    "queued_tasks": [],
                    "completed_tasks": [],
                }
            )
    return result


def master_state(master: Master, now: float) -> Json:
    """GET /state of the master port."""
    world = master.world
    options = world.options
    pid = f"master@{options.ip}:{options.master_port}"
    return (
        _version(world)
        | {
            "elected_time": world.start_time,
            "id": world.agent.master_id,
            "pid": pid,
            "hostname": options.hostname,
            "capabilities": ["AGENT_UPDATE", "AGENT_DRAINING", "QUOTA_V2"],
            "activated_slaves": 1.0,
            "deactivated_slaves": 0.0,
            "unreachable_slaves": 0.0,
            "leader": pid,
            "leader_info": {
                "id": world.agent.master_id,
                "pid": pid,
                "port": options.master_port,
                "hostname": options.hostname,
            },
            "flags": dict(options.flags),
            "slaves": [_slave(world, full=False)],
            "recovered_slaves": [],
            "orphan_tasks": [],
        }
        | frameworks(master, now)
    )


_COUNTED = ("STAGING", "STARTING", "RUNNING", "KILLING", "FINISHED", "KILLED", "FAILED", "LOST", "ERROR", "UNREACHABLE")


def _counts(records: Iterable[TaskRecord]) -> Json:
    """How many tasks are in which state."""
    names = [mesos_pb2.TaskState.Name(record.state) for record in records]
    return {f"TASK_{state}": names.count(f"TASK_{state}") for state in _COUNTED}


def state_summary(master: Master, now: float) -> Json:
    """GET /state-summary: agents and frameworks with their numbers of tasks, and no tasks."""
    world = master.world
    every = [*(t.record for t in world.tasks.values()), *world.completed]
    by_framework = {f.id: [r for r in every if r.framework_id == f.id] for f in world.frameworks.values()}
    here = [framework_id for framework_id, records in by_framework.items() if records]
    result: Json = {"hostname": world.options.hostname}
    result["slaves"] = [_slave(world, full=False) | _counts(every) | {"framework_ids": here}]
    result["frameworks"] = []
    for framework in world.frameworks.values():
        whole = _framework(world, framework)
        names = ("id", "name", "used_resources", "offered_resources", "capabilities", "hostname", "webui_url")
        shown: Json = {name: whole[name] for name in (*names, "active", "connected", "recovered")}
        shown |= _counts(by_framework[framework.id])
        shown["slave_ids"] = [world.agent_id] if framework.id in here else []
        result["frameworks"].append(shown)
    return result


def slaves(master: Master, now: float) -> Json:
    return {"slaves": [_slave(master.world, full=True)], "recovered_slaves": []}


def tasks(master: Master, now: float) -> Json:
    """GET /tasks: all of them, oldest first; the shell filters and cuts."""
    world = master.world
    found = [*world.completed, *(t.record for t in world.tasks.values())]
    return {"tasks": [_task(world, r) for r in sorted(found, key=lambda r: r.launched_time)]}


def frameworks(master: Master, now: float) -> Json:
    world = master.world
    return {
        "frameworks": [_framework(world, f) for f in world.frameworks.values()],
        "completed_frameworks": [_gone(world, r) for r in world.removed.values()],
        "unregistered_frameworks": [],
    }


def roles(master: Master, now: float) -> Json:
    """GET /roles. Consumed is what counts against a quota, of the role and of those below it."""
    world = master.world
    consumed: dict[str, dict[str, int]] = {}
    for name, quantities in ledger.consumed(world).items():
        for path in fairness.lineage(name):
            fairness.add(consumed.setdefault(path, {}), quantities)
    quotas = offers.quotas(world)
    result = []
    for name in role_table.names(world):
        allocated = [r for r in _used(world) if r.allocation_info.role == name]
        offered = [r for o in world.offers.values() if o.role == name for r in o.resources]
        quota = quotas.get(name, fairness.Quota())
        result.append(
            {
                "name": name,
                "weight": role_table.weight(world, name),
                "quota": {
                    "role": name,
                    "guarantee": _numbers(quota.guarantees),
                    "limit": _numbers(quota.limits),
                    "consumed": _numbers(consumed.get(name, {})),
                },
                "resources": _sums([*allocated, *offered]),
                "allocated": _sums(allocated),
                "offered": _sums(offered),
                "reserved": _sums(_by_role(world.total()).get(name, [])),
                "frameworks": [f.id for f in world.frameworks.values() if name in f.roles],
            }
        )
    return {"roles": result}


def quota(master: Master, now: float) -> Json:
    """GET /quota."""
    return codec.to_dict(role_table.quota_status(master.world))


def weights(master: Master, now: float) -> list[Json]:
    """GET /weights: those that were ever set."""
    return [codec.to_dict(info) for info in role_table.weights(master.world)]


def maintenance(master: Master, now: float) -> Json:
    """GET /maintenance/status and /maintenance/schedule: nothing is planned and no machine is down."""
    return {}


def _numbers(quantities: Mapping[str, int]) -> dict[str, float]:
    return {name: value / 1000 for name, value in sorted(quantities.items())}


def _sums(resources: list[mesos_pb2.Resource]) -> Json:
    """Quantities by name, without what is not there."""
    return {k: v for k, v in _amounts(resources).items() if v}
