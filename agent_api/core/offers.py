"""Who is offered what, and for how long.

Decides the order in which frameworks are served (least allocated first, deterministic), what each may see (its
role's reservations and sets, revocable resources only where it takes them), filters, and when an offer ends. It
never decides whether an offer may be used; `core.accept` does.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from agent_api.core import resources as rs
from agent_api.core.model import Filter, Framework, Offer, World
from agent_api.wire import mesos_pb2, scheduler_pb2

__all__ = ["allocate", "decline", "drop", "eligible", "refuse", "rescind", "rescind_all", "revive", "suppress", "tick"]

log = logging.getLogger(__name__)

LEAST_CPUS = 0.01
LEAST_MEM = 32.0
"""Less than both is not worth an offer (Mesos's default for what can be allocated at least)."""
FOREVER = 365 * 24 * 3600.0


def tick(world: World, now: float) -> None:
    """Let filters and offers run out; allocate when asked to, and at each allocation interval."""
    for framework in world.frameworks.values():
        if any(f.expires <= now for f in framework.filters):
            framework.filters = [f for f in framework.filters if f.expires > now]
            world.stale = True
    for offer_id, offer in list(world.offers.items()):
        if offer.expires is not None and offer.expires <= now:
            log.info("offer %s timed out; rescinded from framework %s", offer_id, offer.framework_id)
            rescind(world, offer_id)
            world.stale = True
    if world.allocate_now or (world.stale and now >= world.next_allocation):
        world.allocate_now = world.stale = False
        world.next_allocation = now + world.options.allocation_interval
        allocate(world, now)


def allocate(world: World, now: float) -> None:
    """One allocation: each framework gets at most one offer for each of its roles."""
    order = _order(world)
    if not order:
        return
    free = world.free()
    events: dict[str, scheduler_pb2.Event] = {}
    for role, framework in order:
        mine = [r for r in free if eligible(world, r, role, framework)]
        if not _worthwhile(mine) or _filtered(framework, role, mine):
            continue
        free = rs.subtract(free, mine)
        offer = _offer(world, framework, role, mine, now)
        event = events.setdefault(framework.id, scheduler_pb2.Event(type=scheduler_pb2.Event.OFFERS))
        event.offers.offers.append(offer.message)
    for framework_id, event in events.items():
        world.to_framework(world.frameworks[framework_id], event)


def eligible(world: World, resource: mesos_pb2.Resource, role: str, framework: Framework) -> bool:
    """Whether a framework may be offered a resource for one of its roles."""
    if not rs.allocatable_to(resource, role):
        return False
    if resource.HasField("revocable") and not framework.can(mesos_pb2.FrameworkInfo.Capability.REVOCABLE_RESOURCES):
        return False
    set_id = rs.set_id(resource)
    if set_id is None:
        return True
    provider = world.providers.get(rs.provider_of(resource) or "")
    info = provider.sets.get(set_id) if provider is not None else None
    # A set belongs to the role it was made for, and to no role below or beside it.
    owner = info.role if info is not None and info.role else rs.reservation_role(resource)
    return owner == role


def _order(world: World) -> list[tuple[str, Framework]]:
    """Roles by what they have got, then frameworks of a role by what they have got.

    Among equals those come first that were served less often (Mesos's sorter does so), then by name and age.
    """
    total = world.total()
    sizes = {name: rs.sum_of(total, name) for name in ("cpus", "mem")}

    def share(resources: Iterable[mesos_pb2.Resource]) -> float:
        got = list(resources)
        return max((rs.sum_of(got, n) / size for n, size in sizes.items() if size > 0), default=0.0)

    held: list[tuple[str, str, mesos_pb2.Resource]] = []
    for task in world.live_tasks():
        for r in task.record.task.resources:
            held.append((r.allocation_info.role, task.record.framework_id, r))
    for offer in world.offers.values():
        held.extend((offer.role, offer.framework_id, r) for r in offer.resources)

    def key(entry: tuple[str, Framework]) -> tuple[float, int, str, float, int, int]:
        role, framework = entry
        return (
            share(r for got_role, _, r in held if got_role == role),
            world.served[role],
            role,
            share(r for got_role, owner, r in held if got_role == role and owner == framework.id),
            framework.served[role],
            framework.order,
        )

    clients = [
        (role, framework)
        for framework in world.frameworks.values()
        if framework.stream_id is not None
        for role in framework.roles
        if role not in framework.suppressed
    ]
    return sorted(clients, key=key)


def _worthwhile(resources: list[mesos_pb2.Resource]) -> bool:
    return rs.sum_of(resources, "cpus") >= LEAST_CPUS or rs.sum_of(resources, "mem") >= LEAST_MEM


def _filtered(framework: Framework, role: str, resources: list[mesos_pb2.Resource]) -> bool:
    return any(f.role == role and rs.contains(f.resources, resources) for f in framework.filters)


def _offer(world: World, framework: Framework, role: str, resources: list[mesos_pb2.Resource], now: float) -> Offer:
    options = world.options
    # The prefix is of this run of the agent: an id from before a restart must not name another offer.
    offer_id = f"{world.run_id}-O{world.offer_count}"
    world.offer_count += 1
    message = mesos_pb2.Offer(
        id=mesos_pb2.OfferID(value=offer_id),
        framework_id=mesos_pb2.FrameworkID(value=framework.id),
        agent_id=mesos_pb2.AgentID(value=world.agent_id),
        hostname=options.hostname,
        resources=rs.allocate(resources, role),
        attributes=options.attributes,
        allocation_info=mesos_pb2.Resource.AllocationInfo(role=role),
    )
    message.url.scheme = "http"
    message.url.address.hostname = options.hostname
    message.url.address.ip = options.ip
    message.url.address.port = options.port
    message.url.path = "/slave(1)"
    expires = None if options.offer_timeout is None else now + options.offer_timeout
    offer = Offer(message, framework.id, role, resources, expires)
    world.offers[offer_id] = offer
    world.served[role] += 1
    framework.served[role] += 1
    world.counters["offers_sent"] += 1
    log.info("offer %s to framework %s, role %s: %s", offer_id, framework.id, role, rs.describe_all(resources))
    return offer


def rescind(world: World, offer_id: str) -> None:
    """Take an offer back and tell its framework."""
    offer = world.offers.pop(offer_id)
    event = scheduler_pb2.Event(type=scheduler_pb2.Event.RESCIND)
    event.rescind.offer_id.value = offer_id
    world.to_framework(world.frameworks.get(offer.framework_id), event)
    world.counters["offers_rescinded"] += 1


def rescind_all(world: World, provider_id: str | None, reason: str) -> None:
    """Take back every offer that holds something of a provider (None: of the agent's own)."""
    for offer_id, offer in list(world.offers.items()):
        if any(rs.provider_of(r) == provider_id for r in offer.resources):
            log.info("offer %s rescinded from framework %s: %s", offer_id, offer.framework_id, reason)
            rescind(world, offer_id)


def drop(world: World, framework_id: str) -> None:
    """Forget a framework's offers, without a word: it has gone or is about to be told otherwise."""
    for offer_id in [i for i, o in world.offers.items() if o.framework_id == framework_id]:
        del world.offers[offer_id]


def refuse(
    framework: Framework, role: str, resources: list[mesos_pb2.Resource], filters: mesos_pb2.Filters, now: float
) -> None:
    """Keep the resources, and any part of them, from the framework for `refuse_seconds` (5 where unset)."""
    seconds = filters.refuse_seconds
    if seconds != seconds or seconds < 0:
        seconds = 5.0  # Mesos's rule for a value that makes no sense
    if seconds > 0 and not rs.empty(resources):
        framework.filters.append(Filter(role, rs.unallocate(resources), now + min(seconds, FOREVER)))


def decline(world: World, framework: Framework, call: scheduler_pb2.Call.Decline, now: float) -> None:
    """Offers that are unknown, or somebody else's, are ignored, as Mesos does."""
    for offer_id in call.offer_ids:
        offer = world.offers.get(offer_id.value)
        if offer is None or offer.framework_id != framework.id:
            log.info("framework %s declines unknown offer %s; ignored", framework.id, offer_id.value)
            continue
        del world.offers[offer_id.value]
        refuse(framework, offer.role, offer.resources, call.filters, now)


def revive(world: World, framework: Framework, roles: Iterable[str]) -> None:
    """Forget filters and suppression of the roles (all of them where none is named)."""
    wanted = set(roles) or set(framework.roles)
    framework.filters = [f for f in framework.filters if f.role not in wanted]
    framework.suppressed -= wanted
    world.allocate_now = True


def suppress(framework: Framework, roles: Iterable[str]) -> None:
    """No offers for the roles (all where none is named) until REVIVE; what was offered stays."""
    framework.suppressed |= (set(roles) or set(framework.roles)) & set(framework.roles)
