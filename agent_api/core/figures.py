"""The figures of /metrics/snapshot and GET_METRICS: Mesos's names where it has one, `pinfold/…` for the rest.

Counts nothing itself: what only grows is counted where it happens (`World.counters`, `Framework.counts`), since the
agent was started; the rest is read off the world when it is asked for. A framework's own figures go with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agent_api.core import fairness, ledger, offers
from agent_api.core import resources as rs
from agent_api.core.model import Framework, World
from agent_api.wire import mesos_pb2, pinfold_pb2, scheduler_pb2

if TYPE_CHECKING:
    from agent_api.core.master import Master

__all__ = ["metrics"]


def _names(enum: Any) -> list[str]:
    """The names of a protobuf enum, as figures spell them."""
    return [value.name.lower() for value in enum.DESCRIPTOR.values]


_LIVE = ("STAGING", "STARTING", "RUNNING", "KILLING")
_ENDED = ("FINISHED", "FAILED", "KILLED", "LOST", "ERROR", "DROPPED", "GONE", "GONE_BY_OPERATOR")
_OPERATIONS = [
    name for name in _names(mesos_pb2.Offer.Operation.Type) if name not in ("unknown", "launch", "launch_group")
]
_OUTCOMES = ("finished", "failed", "error", "dropped", "gone_by_operator")

_ONE_AGENT = {
    "master/elected": 1.0,
    "master/slaves_active": 1.0,
    "master/slaves_connected": 1.0,
    "master/slaves_disconnected": 0.0,
    "master/slaves_inactive": 0.0,
    "master/slaves_unreachable": 0.0,
    "master/slave_registrations": 1.0,
    "master/slave_reregistrations": 0.0,
    "master/slave_removals": 0.0,
    "slave/registered": 1.0,
}
"""The agent is a part of its master: it comes and goes with it."""

_MESSAGES = (
    "decline_offers",
    "framework_to_executor",
    "kill_task",
    "launch_tasks",
    "operation_status_update",
    "operation_status_update_acknowledgement",
    "reconcile_operations",
    "reconcile_tasks",
    "register_framework",
    "reregister_framework",
    "resource_request",
    "revive_offers",
    "status_update",
    "status_update_acknowledgement",
    "suppress_offers",
)
_ACKNOWLEDGEMENTS = ("status_update_acknowledgements", "operation_status_update_acknowledgements")


def metrics(master: Master, now: float) -> dict[str, float]:
    """All of them by name."""
    world = master.world
    connected = sum(f.stream_id is not None for f in world.frameworks.values())
    result: dict[str, float] = _ONE_AGENT | {
        "master/uptime_secs": max(0.0, now - world.start_time),
        "slave/uptime_secs": max(0.0, now - world.start_time),
        "master/frameworks_active": float(connected),
        "master/frameworks_connected": float(connected),
        "master/frameworks_disconnected": float(len(world.frameworks) - connected),
        "master/frameworks_inactive": float(len(world.frameworks) - connected),
        "master/outstanding_offers": float(len(world.offers)),
        "slave/executors_preempted": float(world.counters["tasks_preempted"]),
        "slave/executors_running": float(sum(t.launched for t in world.live_tasks())),
        "slave/frameworks_active": float(len({t.record.framework_id for t in world.live_tasks()})),
    }
    for name in _MESSAGES:
        result[f"master/messages_{name}"] = float(world.counters[f"messages_{name}"])
    for name in _ACKNOWLEDGEMENTS:
        for word in ("valid", "invalid"):
            result[f"master/{word}_{name}"] = float(world.counters[f"{word}_{name}"])
    result |= _resources(world) | _tasks(world) | _operations(world) | _allocator(world)
    for framework in world.frameworks.values():
        result |= _framework(world, framework)
    return result | _own(world, now)


def _resources(world: World) -> dict[str, float]:
    result = {}
    total, used = world.total(), world.used()
    for suffix, revocable in (("", False), ("_revocable", True)):
        for name in ("cpus", "mem", "disk", "gpus"):
            have = rs.sum_of((r for r in total if r.HasField("revocable") is revocable), name)
            taken = rs.sum_of((r for r in used if r.HasField("revocable") is revocable), name)
            for prefix in ("master", "slave"):
                result[f"{prefix}/{name}{suffix}_total"] = have
                result[f"{prefix}/{name}{suffix}_used"] = taken
                result[f"{prefix}/{name}{suffix}_percent"] = taken / have if have else 0.0
    return result


def _tasks(world: World) -> dict[str, float]:
    result = {}
    for state in _LIVE:
        count = sum(t.record.state == mesos_pb2.TaskState.Value(f"TASK_{state}") for t in world.tasks.values())
        result[f"master/tasks_{state.lower()}"] = result[f"slave/tasks_{state.lower()}"] = float(count)
    for state in _ENDED:
        count = world.counters[f"task_{state.lower()}"]
        result[f"master/tasks_{state.lower()}"] = result[f"slave/tasks_{state.lower()}"] = float(count)
    # By source and reason, as far as there were any: `task_failed/source_slave/reason_…`.
    return result | {
        f"master/{n}": float(count) for n, count in world.counters.items() if n.startswith("task_") and "/" in n
    }


def _operations(world: World) -> dict[str, float]:
    result = {}
    sums = dict.fromkeys(("pending", *_OUTCOMES), 0)
    for kind in _OPERATIONS:
        pending = [o for o in world.operations.values() if not o.terminal and o.info.HasField("type")]
        counts = {"pending": sum(mesos_pb2.Offer.Operation.Type.Name(o.info.type).lower() == kind for o in pending)}
        counts |= {outcome: world.counters[f"operations/{kind}/{outcome}"] for outcome in _OUTCOMES}
        result[f"master/operations/{kind}/total"] = float(sum(counts.values()))
        for outcome, count in counts.items():
            result[f"master/operations/{kind}/{outcome}"] = float(count)
            sums[outcome] += count
    sums["error"] += world.counters["operations/unknown/error"]
    result |= {f"master/operations/{outcome}": float(count) for outcome, count in sums.items()}
    return result | {"master/operations/total": float(sum(sums.values()))}


def _allocator(world: World) -> dict[str, float]:
    """What there is, what is given away, and how roles stand to each other."""
    result = {"allocator/mesos/allocation_runs": float(world.counters["allocation_runs"])}
    total = ledger.capacity(world)
    given = ledger.quantities(r for r in (*world.used(), *world.offered()) if not r.HasField("revocable"))
    for name, quantity in total.items():
        result[f"allocator/mesos/resources/{name}/total"] = quantity / 1000
        result[f"allocator/mesos/resources/{name}/offered_or_allocated"] = given.get(name, 0) / 1000
    trees: dict[str, dict[str, int]] = {}
    for role, quantities in ledger.shares(world)[0].items():
        for path in fairness.lineage(role):
            fairness.add(trees.setdefault(path, {}), quantities)
    filters = [f.role for framework in world.frameworks.values() for f in framework.filters]
    for role in sorted({role for framework in world.frameworks.values() for role in framework.roles}):
        result[f"allocator/mesos/roles/{role}/shares/dominant"] = fairness.share(trees.get(role, {}), total)
        result[f"allocator/mesos/offer_filters/roles/{role}/active"] = float(filters.count(role))
    consumed = fairness.by_top(ledger.consumed(world))
    for role, quota in offers.quotas(world).items():
        prefix = f"allocator/mesos/quota/roles/{role}/resources"
        for name in {*quota.guarantees, *quota.limits}:
            result[f"{prefix}/{name}/offered_or_allocated"] = consumed.get(role, {}).get(name, 0) / 1000
        for name, quantity in quota.guarantees.items():
            result[f"{prefix}/{name}/guarantee"] = quantity / 1000
        for name, quantity in quota.limits.items():
            result[f"{prefix}/{name}/limit"] = quantity / 1000
    return result


def _framework(world: World, framework: Framework) -> dict[str, float]:
    counts = framework.counts
    names = [f"calls/{name}" for name in _names(scheduler_pb2.Call.Type) if name != "unknown"]
    names += [f"events/{name}" for name in _names(scheduler_pb2.Event.Type) if name != "unknown"]
    names += [f"offers/{word}" for word in ("sent", "accepted", "declined", "rescinded")]
    names += [f"operations/{name}" for name in (*_OPERATIONS, "launch", "launch_group")]
    names += [f"tasks/terminal/task_{state.lower()}" for state in _ENDED]
    result = {name: float(counts[name]) for name in names}
    for whole in ("calls", "events", "operations"):
        result[whole] = sum(value for name, value in result.items() if name.startswith(f"{whole}/"))
    mine = [t.record.state for t in world.live_tasks() if t.record.framework_id == framework.id]
    for state in _LIVE:
        result[f"tasks/active/task_{state.lower()}"] = float(mine.count(mesos_pb2.TaskState.Value(f"TASK_{state}")))
    for role in framework.roles:
        result[f"roles/{role}/suppressed"] = float(role in framework.suppressed)
    result["subscribed"] = float(framework.stream_id is not None)
    prefix = f"master/frameworks/{quote(framework.info.name, safe='')}/{quote(framework.id, safe='')}"
    return {f"{prefix}/{name}": value for name, value in result.items()}


def _own(world: World, now: float) -> dict[str, float]:
    """What Mesos has no name for."""
    result = {}
    for name in ("offers_sent", "offers_rescinded", "operations_sent", "operations_refused", "tasks_launched"):
        result[f"pinfold/{name}"] = float(world.counters[name])
    for name in ("config_changes", "config_refused"):
        result[f"pinfold/{name}"] = float(world.counters[name])
    result["pinfold/config_in_force"] = float(world.config_in_force)
    ready = [p for p in world.providers.values() if p.ready]
    result["pinfold/providers_ready"] = float(len(ready))
    result["pinfold/sets"] = float(sum(len({rs.set_id(r) for r in p.total} - {None}) for p in ready))
    total = world.total()
    for source in ("RAW", "EXCLUSIVE", "SHARED"):
        kind = mesos_pb2.Resource.CpuInfo.Source.Type.Value(source)
        for revocable, suffix in ((False, ""), (True, "_revocable")):
            cpus = [r for r in total if rs.source_type(r) == kind and r.HasField("revocable") is revocable]
            if source != "EXCLUSIVE" or not revocable:
                result[f"pinfold/cpus_{source.lower()}{suffix}"] = rs.sum_of(cpus, "cpus")
    result["pinfold/sets_revoked"] = float(sum(bool(info.revoked) for p in ready for info in p.sets.values()))
    result["pinfold/cpus_offered"] = rs.sum_of(world.offered(), "cpus")
    return result | _profile_metrics([p.report for p in ready if p.report is not None], now)


def _profile_metrics(reports: list[pinfold_pb2.CpuReport], now: float) -> dict[str, float]:
    """Profiles of all providers by state, and their sources: of several the worst one counts. Ages are in seconds, and
    left out where there was no fetch, or is no document, yet."""
    profiles = [profile for report in reports for profile in report.profiles]
    result = {
        f"pinfold/profiles_{state.lower()}": float(
            sum(p.state == pinfold_pb2.Profile.State.Value(state) for p in profiles)
        )
        for state in ("ACTIVE", "INACTIVE", "CHANGE_REFUSED")
    }
    result["pinfold/profiles_not_placeable"] = float(sum(p.HasField("placeable") and not p.placeable for p in profiles))
    sources = [report.profile_source for report in reports if report.HasField("profile_source")]
    if sources:
        result["pinfold/profile_source_ok"] = float(all(source.ok for source in sources))
    for name, field in (("last_fetch_age_secs", "last_fetch"), ("in_force_age_secs", "in_force_since")):
        times = [getattr(source, field) for source in sources if source.HasField(field)]
        if times:
            result[f"pinfold/profile_{name}"] = max(0.0, now - min(times))
    return result
