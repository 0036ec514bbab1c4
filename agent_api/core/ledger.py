"""Who has how much: what each role has consumed of its quota, and what counts as its share.

It adds up what the world holds and decides nothing. Two sums are kept apart, because they answer two questions:

- `consumed`, for quotas, counts what is not revocable: reservations and sets at the role that holds them, used or not,
  once and at that role only; of the rest what tasks use, what is offered and what operations are about to take.
- `shares`, for fairness, counts what is used, offered or under way, and sets (they are taken from the others whether
  a task runs in them or not); a reservation that nobody uses is no advantage yet.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_api.core import fairness
from agent_api.core import resources as rs
from agent_api.core.model import SetInfo, World
from agent_api.wire import mesos_pb2

__all__ = ["amount", "capacity", "consumed", "owner", "quantities", "revoked", "shares"]

Resource = mesos_pb2.Resource
Sums = dict[str, dict[str, int]]


def amount(resource: Resource) -> int:
    """Thousandths of a scalar; ranges and sets count their items."""
    if resource.type == mesos_pb2.Value.SCALAR:
        return rs.millis(resource.scalar.value)
    if resource.type == mesos_pb2.Value.RANGES:
        return 1000 * sum(r.end - r.begin + 1 for r in resource.ranges.range)
    return 1000 * len(resource.set.item)


def quantities(resources: Iterable[Resource]) -> dict[str, int]:
    """Added up by name."""
    result: dict[str, int] = {}
    for resource in resources:
        result[resource.name] = result.get(resource.name, 0) + amount(resource)
    return result


def capacity(world: World) -> dict[str, int]:
    """All scalars that are not revocable: what can be guaranteed at most."""
    return quantities(r for r in world.total() if r.type == mesos_pb2.Value.SCALAR and not r.HasField("revocable"))


def owner(world: World, resource: Resource) -> str | None:
    """The role that holds a set or a reservation; None for what is free for all."""
    info = _set_info(world, resource)
    if info is not None and info.role:
        return info.role
    return rs.reservation_role(resource)


def revoked(world: World, resource: Resource) -> bool:
    """Whether it is of a set that has to go."""
    info = _set_info(world, resource)
    return info is not None and bool(info.revoked)


def _set_info(world: World, resource: Resource) -> SetInfo | None:
    set_id = rs.set_id(resource)
    provider = world.providers.get(rs.provider_of(resource) or "") if set_id is not None else None
    return provider.sets.get(set_id) if provider is not None and set_id is not None else None


def _away(world: World) -> set[str]:
    """Providers whose resources are not in the totals: what tasks use of them is known from the tasks alone."""
    return {p.id for p in world.providers.values() if not p.ready}


def _count(sums: Sums, role: str, resource: Resource) -> None:
    mine = sums.setdefault(role, {})
    mine[resource.name] = mine.get(resource.name, 0) + amount(resource)


def consumed(world: World) -> Sums:
    """What counts against quotas, by role (without those below)."""
    sums: Sums = {}
    away = _away(world)

    def loose(resource: Resource) -> bool:
        return not resource.HasField("revocable") and not resource.reservations and rs.set_id(resource) is None

    for resource in world.total():
        if not resource.HasField("revocable"):
            holder = owner(world, resource)
            if holder is not None:
                _count(sums, holder, resource)
    for task in world.live_tasks():
        for resource in task.record.task.resources:
            if loose(resource) or (rs.provider_of(resource) in away and not resource.HasField("revocable")):
                _count(sums, resource.allocation_info.role, resource)
    for offer in world.offers.values():
        for resource in offer.resources:
            if loose(resource):
                _count(sums, offer.role, resource)
    for operation in world.operations.values():
        if operation.role and not (operation.terminal or operation.speculated or operation.applied):
            for resource in operation.consumed:
                if loose(resource):
                    _count(sums, operation.role, resource)
    return sums


def shares(world: World) -> tuple[Sums, dict[tuple[str, str], dict[str, int]]]:
    """What counts for fairness: by role (without those below), and by role and framework."""
    by_role: Sums = {}
    by_client: dict[tuple[str, str], dict[str, int]] = {}
    away = _away(world)

    def count(role: str, framework_id: str | None, resource: Resource) -> None:
        if resource.type != mesos_pb2.Value.SCALAR:
            return
        _count(by_role, role, resource)
        if framework_id is not None:
            mine = by_client.setdefault((role, framework_id), {})
            fairness.add(mine, {resource.name: amount(resource)})

    for provider in world.providers.values():
        for resource in provider.total:
            set_id = rs.set_id(resource)
            holder = owner(world, resource) if set_id is not None else None
            if set_id is not None and holder is not None:
                info = provider.sets.get(set_id)
                count(holder, info.framework_id if info is not None else None, resource)
    for task in world.live_tasks():
        for resource in task.record.task.resources:
            if rs.set_id(resource) is None or rs.provider_of(resource) in away:
                count(resource.allocation_info.role, task.record.framework_id, resource)
    for offer in world.offers.values():
        for resource in offer.resources:
            if rs.set_id(resource) is None:
                count(offer.role, offer.framework_id, resource)
    for operation in world.operations.values():
        if operation.role and not (operation.terminal or operation.speculated or operation.applied):
            for resource in operation.consumed:
                if rs.set_id(resource) is None:
                    count(operation.role, operation.framework_id, resource)
    return by_role, by_client
