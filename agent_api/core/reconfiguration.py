"""A change of the agent's own resources and attributes while it runs.

Decides whether it may be (by `core.own`), and what follows: new totals at once, offers that are not true any more
taken back, new ones made, operators told. A refused change leaves everything as it was, and is counted.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_api.core import offers, own, reading
from agent_api.core import resources as rs
from agent_api.core.acls import ALLOW_ALL, Acls
from agent_api.core.effects import SaveAgent
from agent_api.core.model import World
from agent_api.errors import Conflict
from agent_api.wire import master_pb2, mesos_pb2

__all__ = ["Change", "apply", "refused"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Change:
    """What the operator wants by now."""

    resources: Sequence[mesos_pb2.Resource]
    """Unreserved or statically reserved, as in `Options`."""
    online_cpus: int
    attributes: Sequence[mesos_pb2.Attribute]
    flags: Mapping[str, str]
    """Shown from now on by GET_FLAGS and /flags."""
    acls: Acls = ALLOW_ALL


def apply(world: World, change: Change) -> bool:
    """Put a change in force; whether anything is different now. Raises Conflict: nothing was changed, and why."""
    record = world.agent
    new = own.wanted(change.resources, change.online_cpus)
    after, unfit = own.carry(record.resources, new)
    users = [
        (
            f"'{task.key[1]}' of framework {task.key[0]}",
            rs.unallocate(r for r in task.record.task.resources if not r.HasField("provider_id")),
        )
        for task in world.live_tasks()
    ]
    attributes = tuple(change.attributes)
    problem = own.problem(record.resources, after, unfit, users, (record.attributes, attributes))
    if problem is not None:
        refused(world)
        raise Conflict(f"The agent's resources and attributes cannot be changed: {problem}")
    world.config_in_force = True
    world.options = replace(
        world.options,
        resources=list(change.resources),
        online_cpus=change.online_cpus,
        attributes=list(attributes),
        flags=dict(change.flags),
        acls=change.acls,
    )
    grown = rs.contains(after, record.resources)
    same_attributes = attributes == record.attributes
    if grown and rs.contains(record.resources, after) and same_attributes:
        return False
    world.agent = replace(record, resources=tuple(after), attributes=attributes)
    world.effects.append(SaveAgent(world.agent))
    world.counters["config_changes"] += 1
    log.info("the agent has %s from now on", rs.describe_all(after))
    if not same_attributes:
        offers.rescind_those(world, lambda offer: True, "the agent's attributes changed")
    elif not grown:
        offers.rescind_all(world, None, "the agent's resources became fewer")
    event = master_pb2.Event(type=master_pb2.Event.AGENT_ADDED)
    event.agent_added.agent.CopyFrom(reading.agent_message(world))
    world.to_operators(event)
    world.allocate_now = True
    return True


def refused(world: World) -> None:
    """Note that what the operator wants by now is not in force."""
    world.config_in_force = False
    world.counters["config_refused"] += 1
