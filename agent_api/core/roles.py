"""Weights and quotas: what operators ask of the allocator, and which roles there are.

Decides whether a weight or a quota may be set, with Mesos's statuses and words, and which offers are taken back so that
it can hold soon. It never allocates (`core.offers` does) and adds nothing up (`core.ledger` does).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping

from agent_api.core import fairness, formats, ledger, offers, validation
from agent_api.core import resources as rs
from agent_api.core.effects import RemoveQuota, SaveQuota, SaveWeight
from agent_api.core.model import World
from agent_api.core.records import QuotaRecord, WeightRecord
from agent_api.errors import BadRequest, Conflict
from agent_api.wire import master_pb2, mesos_pb2, quota_pb2

__all__ = ["names", "quota_status", "remove_quota", "set_quota", "update_quota", "update_weights", "weight", "weights"]

log = logging.getLogger(__name__)

Call = master_pb2.Call
Config = quota_pb2.QuotaConfig


# Reading


def names(world: World) -> list[str]:
    """Every role that somebody uses or has reserved for, or that an operator has given a weight or a quota."""
    found = {role for f in world.frameworks.values() for role in f.roles}
    found |= {role for role in (rs.reservation_role(r) for r in world.total()) if role is not None}
    found |= {r.allocation_info.role for t in world.live_tasks() for r in t.record.task.resources}
    return sorted((found | set(world.weights) | set(world.quotas)) - {""})


def weight(world: World, role: str) -> float:
    known = world.weights.get(role)
    return known.weight if known is not None else 1.0


def weights(world: World) -> list[mesos_pb2.WeightInfo]:
    """Those that were ever set."""
    return [mesos_pb2.WeightInfo(role=r.role, weight=r.weight) for _, r in sorted(world.weights.items())]


def quota_status(world: World) -> quota_pb2.QuotaStatus:
    """The quotas that were set, in the older form (guarantees only) and in the newer one."""
    status = quota_pb2.QuotaStatus()
    for role, record in sorted(world.quotas.items()):
        info = status.infos.add(role=role)
        for name, value in sorted(record.config.guarantees.items()):
            if value.value > 0:
                info.guarantee.append(rs.scalar(name, value.value))
        status.configs.append(record.config)
    return status


# Weights


def update_weights(world: World, call: Call.UpdateWeights) -> None:
    """All of them or none. Offers are taken back where a role with frameworks has got another weight."""
    words = "Failed to validate update weights request JSON"
    for info in call.weight_infos:
        problem = validation.role(info.role)
        if problem:
            raise BadRequest(f"{words}: Invalid role '{info.role}': {problem}")
        if not (math.isfinite(info.weight) and info.weight > 0):
            raise BadRequest(
                f"{words} for role '{info.role}': Invalid weight '{info.weight:g}': Weights must be positive"
            )
    used = {path for f in world.frameworks.values() for role in f.roles for path in fairness.lineage(role)}
    again = False
    for info in call.weight_infos:
        before = weight(world, info.role)
        again = again or (info.role in used and before != info.weight)
        world.weights[info.role] = WeightRecord(info.role, info.weight)
        world.effects.append(SaveWeight(world.weights[info.role]))
        log.info("weight of role %s: %g, was %g", info.role, info.weight, before)
    if again:
        for offer_id in list(world.offers):
            offers.rescind(world, offer_id)
    world.allocate_now = True


# Quotas


def update_quota(world: World, call: Call.UpdateQuota) -> None:
    """UPDATE_QUOTA: all of them or none. Raises BadRequest."""
    for config in call.quota_configs:
        problem = _config_problem(config)
        if "/" in config.role and validation.role(config.role) is None:
            raise BadRequest(f"Updating quota on nested role '{config.role}' is not supported yet")
        if problem:
            raise BadRequest(f"Invalid QuotaConfig: {problem}")
    problem = _overcommitted(world, call.quota_configs)
    if problem and not call.force:
        raise BadRequest(f"Invalid QuotaConfig: total {problem} (use 'force' flag to bypass this check)")
    for config in call.quota_configs:
        _keep(world, config)
    _make_room(world)


def set_quota(world: World, request: quota_pb2.QuotaRequest) -> None:
    """SET_QUOTA, the older call: a guarantee that is the limit as well. Raises BadRequest or Conflict."""
    words = "Failed to validate set quota request"
    role = request.role
    problem = validation.role(role) or validation.resources(request.guarantee)
    if problem is None and role == "*":
        problem = "QuotaInfo must not specify the default '*' role"
    if problem is None and not request.guarantee:
        problem = "QuotaInfo with empty 'guarantee'"
    for resource in request.guarantee:
        if problem is None and resource.type != mesos_pb2.Value.SCALAR:
            problem = f"QuotaInfo must not include non-scalar resources, such as {rs.describe(resource)}"
        if problem is None and (
            formats.in_new([resource])[0].reservations or resource.HasField("revocable") or resource.HasField("cpu")
        ):
            problem = f"QuotaInfo names amounts only, without reservation or source: {rs.describe(resource)}"
    if problem is None and len({r.name for r in request.guarantee}) != len(request.guarantee):
        problem = "QuotaInfo contains duplicate resource names"
    if problem:
        raise BadRequest(f"{words}: {problem}")
    known = world.quotas.get(role)
    if known is not None and (known.config.guarantees or known.config.limits):
        raise BadRequest(f"{words}: Cannot set quota for role '{role}' which already has quota")
    if "/" in role:
        raise BadRequest(f"Setting quota on nested role '{role}' is not supported yet")
    config = Config(role=role)
    for resource in request.guarantee:
        config.guarantees[resource.name].CopyFrom(resource.scalar)
        config.limits[resource.name].CopyFrom(resource.scalar)
    problem = _overcommitted(world, [config])
    if problem and not request.force:
        raise Conflict(f"Quota guarantees overcommit the cluster (use 'force' to bypass this check): Total {problem}")
    _keep(world, config)
    _make_room(world)


def remove_quota(world: World, role: str) -> None:
    """REMOVE_QUOTA: the role is again as one that never had any."""
    if world.quotas.pop(role, None) is None:
        raise BadRequest(f"Failed to remove quota: Role '{role}' has no quota set")
    world.effects.append(RemoveQuota(role))
    world.allocate_now = True
    log.info("quota of role %s removed", role)


def _config_problem(config: Config) -> str | None:
    problem = validation.role(config.role)
    if problem:
        return f"Invalid 'QuotaConfig.role': {problem}"
    for field, values in (("guarantees", config.guarantees), ("limits", config.limits)):
        for name, value in sorted(values.items()):
            if not name:
                return f"Invalid 'QuotaConfig.{field}': a resource has no name"
            if not 0 <= value.value < 2**53 / 1000:
                return f"Invalid 'QuotaConfig.{field}': '{name}' is {value.value:g}, not a number from 0 up"
    for name, value in config.guarantees.items():
        if name in config.limits and rs.millis(value.value) > rs.millis(config.limits[name].value):
            return (
                f"'QuotaConfig.guarantees' {_braces(config.guarantees)} is not contained within the "
                f"'QuotaConfig.limits' {_braces(config.limits)}"
            )
    return None


def _braces(values: Mapping[str, mesos_pb2.Value.Scalar]) -> str:
    return f"{{ {', '.join(f'{name}: {value.value:g}' for name, value in sorted(values.items()))} }}"


def _amounts(quantities: Mapping[str, int]) -> str:
    return "; ".join(f"{name}:{value / 1000:.15g}" for name, value in sorted(quantities.items()) if value)


def _overcommitted(world: World, changed: Iterable[Config]) -> str | None:
    """Whether all guarantees together are more than there is."""
    configs = {role: record.config for role, record in world.quotas.items()} | {c.role: c for c in changed}
    total: dict[str, int] = {}
    for config in configs.values():
        fairness.add(total, {name: rs.millis(value.value) for name, value in config.guarantees.items()})
    there = ledger.capacity(world)
    if all(value <= there.get(name, 0) for name, value in total.items()):
        return None
    return f"quota guarantees '{_amounts(total)}' exceed cluster capacity '{_amounts(there)}'"


def _keep(world: World, config: Config) -> None:
    copy = Config()
    copy.CopyFrom(config)
    world.quotas[config.role] = QuotaRecord(copy)
    world.effects.append(SaveQuota(world.quotas[config.role]))
    log.info(
        "quota of role %s: guarantees %s, limits %s", config.role, _braces(config.guarantees), _braces(config.limits)
    )


def _make_room(world: World) -> None:
    """Take back offers, the newest first, that are above a limit, or that guarantees need."""
    world.allocate_now = True
    quotas = offers.quotas(world)
    if all(quota.default for quota in quotas.values()):
        return
    consumed, short = _short(world, quotas)
    for offer_id, offer in reversed(list(world.offers.items())):
        role = fairness.top(offer.role)
        mine, quota = consumed.get(role, {}), quotas.get(role, fairness.Quota())
        above = any(mine.get(name, 0) > most for name, most in quota.limits.items())
        # What a role has within its own guarantee is not in the way of the others.
        spare = any(mine.get(name, 0) > quota.guarantees.get(name, 0) for name in short)
        if above or (spare and any(r.name in short for r in offer.resources)):
            log.info("offer %s rescinded from framework %s: quotas changed", offer_id, offer.framework_id)
            offers.rescind(world, offer_id)
            consumed, short = _short(world, quotas)


def _short(world: World, quotas: Mapping[str, fairness.Quota]) -> tuple[dict[str, dict[str, int]], set[str]]:
    """What trees of roles have consumed, and of which resources less is free than is guaranteed and not used."""
    consumed = fairness.by_top(ledger.consumed(world))
    free = ledger.quantities(r for r in world.free() if not r.HasField("revocable") and ledger.owner(world, r) is None)
    needed = fairness.headroom(quotas, consumed)
    return consumed, {name for name, quantity in needed.items() if quantity > free.get(name, 0)}
