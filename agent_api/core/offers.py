"""Who is offered what, and for how long.

Decides the order in which frameworks are served (by weighted shares, deterministic), what each may see (its role's
reservations and sets, revocable resources only where it takes them, of the rest what quotas leave), filters, and when
an offer ends. It never decides whether an offer may be used; `core.accept` does. The sums are `core.ledger`'s and the
arithmetic is `core.fairness`'s.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from agent_api.core import fairness, formats, ledger
from agent_api.core import resources as rs
from agent_api.core.model import Filter, Framework, Offer, World
from agent_api.wire import mesos_pb2, scheduler_pb2

__all__ = [
    "allocate",
    "decline",
    "drop",
    "eligible",
    "quotas",
    "refuse",
    "rescind",
    "rescind_all",
    "rescind_those",
    "revive",
    "suppress",
    "tick",
    "wants_agent",
]

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
    """One allocation: each framework gets at most one offer for each of its roles.

    First everyone gets what their quota guarantees them, then, in the same order, what is free beyond the headroom that
    all guarantees need.
    """
    world.counters["allocation_runs"] += 1
    order = _order(world)
    if not order:
        return
    pool = _Pool(world)
    given: dict[int, list[_Pick]] = {}
    for i, (role, framework) in enumerate(order):
        if pool.owes(role):
            picks = [*pool.own(role, framework), *pool.common(role, framework, guaranteed=True)]
            if _wanted(framework, role, picks):
                pool.take(role, picks)
                given[i] = picks
    events: dict[str, scheduler_pb2.Event] = {}
    for i, (role, framework) in enumerate(order):
        more = [*pool.own(role, framework), *pool.common(role, framework)]
        picks = [*given.get(i, ()), *more]
        if not _wanted(framework, role, picks):
            continue
        pool.take(role, more)
        mine = [p.resource for p in sorted(picks, key=lambda p: p.place)]
        if i in given:
            mine = rs.normalize(mine)  # two parts of one may be among them
        offer = _offer(world, framework, role, mine, now)
        event = events.setdefault(framework.id, scheduler_pb2.Event(type=scheduler_pb2.Event.OFFERS))
        event.offers.offers.append(_told(framework, offer))
    for framework_id, event in events.items():
        world.to_framework(world.frameworks[framework_id], event)


class _Pick(NamedTuple):
    """All or a part of one free resource."""

    place: int
    resource: mesos_pb2.Resource
    amount: int
    part: bool
    common: bool
    """Unreserved, in no set and not revocable: what quotas are about."""


class _Pool:
    """What is free during one allocation, sorted by who may have it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._free: list[mesos_pb2.Resource] = world.free()
        self._taken: set[int] = set()
        self._common: list[int] = []
        self._revocable: list[int] = []
        self._held: dict[str, list[int]] = {}  # sets and reservations, by the role they belong to
        for i, resource in enumerate(self._free):
            holder = ledger.owner(world, resource)
            if holder is not None:
                self._held.setdefault(holder, []).append(i)
            elif rs.set_id(resource) is None:
                (self._revocable if resource.HasField("revocable") else self._common).append(i)
        self._quotas = {role: quota for role, quota in quotas(world).items() if not quota.default}
        # Without a quota nobody has to count.
        self._consumed = fairness.by_top(ledger.consumed(world)) if self._quotas else {}
        self._amounts = ledger.quantities(self._free[i] for i in self._common)

    def owes(self, role: str) -> bool:
        """Whether the role's quota guarantees more than it has got."""
        quota = self._quotas.get(fairness.top(role))
        if quota is None:
            return False
        got = self._consumed.get(fairness.top(role), {})
        return any(got.get(name, 0) < most for name, most in quota.guarantees.items())

    def own(self, role: str, framework: Framework) -> list[_Pick]:
        """The role's sets and reservations, those of the roles above it, and what is revocable."""
        candidates = [i for path in fairness.lineage(role) for i in self._held.get(path, ())]
        return [
            _Pick(i, self._free[i], 0, False, False)
            for i in (*candidates, *self._revocable)
            if i not in self._taken and eligible(self._world, self._free[i], role, framework)
        ]

    def common(self, role: str, framework: Framework, guaranteed: bool = False) -> list[_Pick]:
        """As much as the role may have of what is free for all. With `guaranteed` only what its quota promises it, and
        of resources it has no guarantee for what the others can spare."""
        indexes = [i for i in self._common if i not in self._taken]
        if not self._quotas:
            return [_Pick(i, self._free[i], 0, False, True) for i in indexes]
        allowed = fairness.may_take(role, self._quotas, self._consumed, self._amounts)
        names = self._quotas[fairness.top(role)].guarantees if guaranteed else {}
        left = {n: owed if n in names else most for n, (owed, most) in allowed.items()}
        # Where not all may be had, each time another part comes first: who has no use for one sees the others.
        start = self._world.served[role] % len(indexes) if indexes else 0
        picks = []
        for i in (*indexes[start:], *indexes[:start]):
            resource = self._free[i]
            have, room = ledger.amount(resource), left.get(resource.name, 0)
            if have > room:
                if resource.type != mesos_pb2.Value.SCALAR:
                    continue
                # RAW is given in whole CPUs: a set is made of nothing less.
                room -= room % 1000 if resource.HasField("cpu") else 0
                if room <= 0:
                    continue
                part = mesos_pb2.Resource()
                part.CopyFrom(resource)
                part.scalar.value = room / 1000
                picks.append(_Pick(i, part, room, True, True))
                left[resource.name] -= room
            else:
                picks.append(_Pick(i, resource, have, False, True))
                left[resource.name] -= have
        return picks

    def take(self, role: str, picks: Iterable[_Pick]) -> None:
        mine = self._consumed.setdefault(fairness.top(role), {}) if self._quotas else None
        for pick in picks:
            if not pick.part:
                self._taken.add(pick.place)
            else:
                rest = mesos_pb2.Resource()
                rest.CopyFrom(self._free[pick.place])
                rest.scalar.value = (rs.millis(rest.scalar.value) - pick.amount) / 1000
                self._free[pick.place] = rest
            if mine is not None and pick.common:
                name = pick.resource.name
                mine[name] = mine.get(name, 0) + pick.amount
                self._amounts[name] -= pick.amount


def quotas(world: World) -> dict[str, fairness.Quota]:
    """The quotas of all roles, in thousandths."""
    return {
        role: fairness.Quota(
            {name: rs.millis(scalar.value) for name, scalar in record.config.guarantees.items() if scalar.value > 0},
            {name: rs.millis(scalar.value) for name, scalar in record.config.limits.items()},
        )
        for role, record in world.quotas.items()
    }


def _wanted(framework: Framework, role: str, picks: list[_Pick]) -> bool:
    """Whether it is worth an offer, and not filtered."""
    resources = [p.resource for p in picks]
    return _worthwhile(resources) and not _filtered(framework, role, resources)


def eligible(world: World, resource: mesos_pb2.Resource, role: str, framework: Framework) -> bool:
    """Whether a framework may be offered a resource for one of its roles."""
    if not rs.allocatable_to(resource, role):
        return False
    if resource.HasField("revocable") and not framework.can(mesos_pb2.FrameworkInfo.Capability.REVOCABLE_RESOURCES):
        return False
    if len(resource.reservations) > 1 and not framework.can(mesos_pb2.FrameworkInfo.Capability.RESERVATION_REFINEMENT):
        return False  # it could not tell whose it is
    if ledger.revoked(world, resource):
        return False
    # A set belongs to the role it was made for, and to no role below or beside it.
    return rs.set_id(resource) is None or ledger.owner(world, resource) == role


def wants_agent(world: World, framework: Framework, role: str) -> bool:
    """Whether this agent meets the framework's offer constraints for a role."""
    return framework.constraints.met(role, world.options.attributes, world.options.hostname)


def _order(world: World) -> list[tuple[str, Framework]]:
    """Roles by their weighted dominant shares, then frameworks of a role by what they have got in it.

    Among equals those come first that were served less often (Mesos's sorter does so), then by name and age.
    """
    clients: dict[str, list[Framework]] = {}
    for framework in world.frameworks.values():
        if framework.stream_id is not None:
            for role in framework.roles:
                if role not in framework.suppressed and wants_agent(world, framework, role):
                    clients.setdefault(role, []).append(framework)
    if not clients:
        return []
    total = ledger.capacity(world)
    by_role, by_client = ledger.shares(world)
    weights = {role: record.weight for role, record in world.weights.items()}
    result: list[tuple[str, Framework]] = []
    for role in fairness.order(clients, by_role, total, weights, world.served):
        waiting = [
            (fairness.share(by_client.get((role, f.id), {}), total), f.served[role], f.order, f) for f in clients[role]
        ]
        result.extend((role, entry[3]) for entry in sorted(waiting, key=lambda e: e[:3]))
    return result


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
    message.url.scheme = options.scheme
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
    framework.counts["offers/sent"] += 1
    log.info("offer %s to framework %s, role %s: %s", offer_id, framework.id, role, rs.describe_all(resources))
    return offer


def _told(framework: Framework, offer: Offer) -> mesos_pb2.Offer:
    """The offer as its framework reads it: reservations in the old format and no role of the allocation, where it
    lacks the capabilities to know better (RESERVATION_REFINEMENT, MULTI_ROLE), as Mesos does."""
    capability = mesos_pb2.FrameworkInfo.Capability
    refined, multi = framework.can(capability.RESERVATION_REFINEMENT), framework.can(capability.MULTI_ROLE)
    if refined and multi:
        return offer.message
    message = mesos_pb2.Offer()
    message.CopyFrom(offer.message)
    resources = list(message.resources) if refined else formats.in_old(message.resources)
    del message.resources[:]
    message.resources.extend(resources if multi else rs.unallocate(resources))
    if not multi:
        message.ClearField("allocation_info")
    return message


def rescind(world: World, offer_id: str) -> None:
    """Take an offer back and tell its framework."""
    offer = world.offers.pop(offer_id)
    event = scheduler_pb2.Event(type=scheduler_pb2.Event.RESCIND)
    event.rescind.offer_id.value = offer_id
    framework = world.frameworks.get(offer.framework_id)
    world.to_framework(framework, event)
    world.counters["offers_rescinded"] += 1
    if framework is not None:
        framework.counts["offers/rescinded"] += 1


def rescind_all(world: World, provider_id: str | None, reason: str) -> None:
    """Take back every offer that holds something of a provider (None: of the agent's own)."""
    rescind_those(world, lambda offer: any(rs.provider_of(r) == provider_id for r in offer.resources), reason)


def rescind_those(world: World, which: Callable[[Offer], bool], reason: str) -> None:
    """Take back the offers that `which` is true for."""
    for offer_id, offer in list(world.offers.items()):
        if which(offer):
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
        framework.counts["offers/declined"] += 1
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
