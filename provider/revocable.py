"""Shared capacity beyond what is guaranteed: how much of it there is, and which sets must give it back.

Decides, from the same facts as `provider.inventory`, how many revocable CPUs each zone and pool has, and which
revocable sets are revoked because there is no room for them any more. It never decides what becomes of a revoked set's
tasks (the agent ends them, then has the set destroyed), never touches what is guaranteed, and does no I/O.

Revocable CPUs are a promise of time, not CPUs: with `overcommit` 1.5 a pool whose shared sets can run on 8 CPUs has 4
of them. Where exclusive sets take CPUs, both numbers fall at once. The rule, `figures` checks it:

    revocable RAW + revocable sets = room + what the revoked ones still have

where `room` is, by zone, (overcommit - 1) times the CPUs that no exclusive set holds, rounded down. Nothing of it is
in the rule of `provider.inventory`, which holds for what is not revocable alone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent_api.wire import mesos_pb2
from provider import inventory
from provider.errors import StateError
from provider.inventory import CpuSet, Host, State

__all__ = ["Figures", "Key", "Revocations", "amounts", "figures", "resources", "revoked", "room"]

log = logging.getLogger(__name__)

Key = tuple[str, str]
"""(zone, pool)."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Revocable CPUs counted, see the module's rule."""

    room: int
    raw: int
    sets: int
    """What all revocable sets have, the revoked ones among them."""
    excess: int
    """What they have beyond the room: for it sets are revoked."""


def room(host: Host, state: State) -> Mapping[Key, int]:
    """How much revocable sets may have in each zone and pool, whether they have it or not; amounts above 0 only.

    A pool with isolated CPUs has none: no shared set can be made there.
    """
    factor = round(host.overcommit * 1000)
    result: dict[Key, int] = {}
    if factor <= 1000:
        return MappingProxyType(result)
    taken = inventory.held(state)
    for pool in host.layout.pools:
        if not inventory.shareable(host, pool):
            continue
        for zone in host.layout.zones:
            cpus = (host.zone_pool(zone, pool) & ~taken).bit_count()
            extra = cpus * (factor - 1000) // 1000
            if extra:
                result[zone, pool] = extra
    return MappingProxyType(result)


def amounts(host: Host, state: State) -> Mapping[Key, int]:
    """Revocable RAW by zone and pool: the room that no set has. Amounts above 0 only."""
    left, _ = inventory.spread(room(host, state), _sets(state))
    return MappingProxyType({key: amount for key, amount in left.items() if amount})


def revoked(host: Host, state: State) -> Mapping[str, str]:
    """The revocable sets that there is no room for, by id, and why.

    The older ones of a pool keep what they have as far as it goes; a smaller younger one may fit beside them.
    """
    rooms: dict[str, int] = {}
    for (_, pool), amount in room(host, state).items():
        rooms[pool] = rooms.get(pool, 0) + amount
    left = dict(rooms)
    result: dict[str, str] = {}
    for one in _sets(state):
        if one.charge <= left.get(one.pool, 0):
            left[one.pool] -= one.charge
        else:
            result[one.id] = (
                f"its {one.charge} revocable CPUs were taken back: pool {one.pool!r} has room for "
                f"{rooms.get(one.pool, 0)} in all, and older sets have {rooms.get(one.pool, 0) - left.get(one.pool, 0)}"
            )
    return MappingProxyType(result)


def figures(host: Host, state: State) -> Figures:
    """Count everything, and check the rule. Raises StateError where it does not hold: a bug."""
    rooms = room(host, state)
    left, excess = inventory.spread(rooms, _sets(state))
    result = Figures(
        room=sum(rooms.values()),
        raw=sum(left.values()),
        sets=sum(one.charge for one in _sets(state)),
        excess=excess,
    )
    fits = {one.id for one in _sets(state)} - set(revoked(host, state))
    kept = sum(state.sets[set_id].charge for set_id in fits)
    if result.raw + result.sets != result.room + result.excess or kept > result.room:
        raise StateError(f"the revocable CPUs do not add up: {result}")
    return result


def resources(provider_id: str, labels: inventory.Labels, wanted: Mapping[Key, int]) -> list[mesos_pb2.Resource]:
    """One revocable RAW resource for each amount. It is never reserved: a promise that can be taken back is not one
    to keep for somebody."""
    result = []
    for (zone, pool), amount in wanted.items():
        source = inventory.Source(type=inventory.Source.RAW, zone=zone, pool=pool)
        source.metadata.CopyFrom(labels(inventory.Place(zone, pool, 0, amount, revocable=True)))
        resource = inventory.resource(provider_id, b"", amount, source)
        resource.revocable.SetInParent()
        result.append(resource)
    return result


def _sets(state: State) -> list[CpuSet]:
    """Oldest first."""
    return sorted((one for one in state.sets.values() if one.revocable), key=lambda one: (one.created, one.id))


class Revocations:
    """The sets that are revoked, as it was last logged."""

    def __init__(self) -> None:
        self.reasons: Mapping[str, str] = {}
        """By set id."""

    def judge(self, host: Host, state: State) -> bool:
        """Work out which sets are revoked; True where that changed."""
        reasons = revoked(host, state)
        for set_id in sorted(reasons.keys() - self.reasons.keys()):
            log.warning("set %s is revoked: %s", set_id, reasons[set_id])
        for set_id in sorted(self.reasons.keys() - reasons.keys()):
            log.info("set %s is not revoked any more%s", set_id, "" if set_id in state.sets else ": it is gone")
        changed = reasons != self.reasons
        self.reasons = reasons
        return changed
