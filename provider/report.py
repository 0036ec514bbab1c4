"""What the provider tells its agent of the host, the profiles and the sets beyond Mesos's vocabulary.

Decides how they are shown (UpdateState.cpu_report, and two lines of the log), and whether this host can meet a profile
at all. It never decides anything else, and does no I/O.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping

from agent_api.wire import pinfold_pb2
from profiles.mapping import Profile, profile_from_definition
from profiles.state import Known, views
from profiles.uri import redact
from provider import allocator, cpuset, inventory, power_rules, revocable, topology
from provider.compaction import Move
from provider.errors import Refused
from provider.inventory import CpuSet, Host, State

__all__ = ["cpu_report", "ready", "shown_move", "shown_profiles", "shown_topology", "summary", "unplaceable"]


def shown_topology(host: Host) -> pinfold_pb2.Topology:
    """The host. On a large one this takes a while, and it is the same for as long as the host is."""
    shown = topology.to_wire(host.topology)
    shown.allowed = cpuset.format_mask(host.allowed)
    shown.reserved = cpuset.format_mask(host.layout.reserved & host.allowed)
    shown.floor = cpuset.format_mask(host.floor)
    shown.enforcement = host.enforcement
    return shown


def shown_profiles(host: Host, known: Known, unmet: Mapping[str, str]) -> list[pinfold_pb2.Profile]:
    """The profiles by name; `unmet` are reasons by profile name (`unplaceable`)."""
    result = []
    for view in views(known):
        reason = view.reason
        if not reason and view.name in unmet:
            reason = f"this host cannot meet it: {unmet[view.name]}"
        if not reason:
            reason = _not_in_full(host, profile_from_definition(view.definition))
        result.append(
            pinfold_pb2.Profile(
                name=view.name,
                state=view.state,
                reason=reason,
                since=view.since,
                definition=view.definition,
                placeable=view.name not in unmet,
            )
        )
    return result


def _not_in_full(host: Host, profile: Profile) -> str:
    """What sets under a profile do not get on this host, although they can be made."""
    if profile.partition != "member" and host.enforcement != "cgroup2":
        return (
            f"partition {profile.partition} needs cgroup v2, and this host enforces by {host.enforcement}: "
            "its sets are made as member and shown as degraded"
        )
    return power_rules.clipped(host.policies, profile.power, host.pool(profile.pool)) if profile.power else ""


def cpu_report(
    host: Host,
    state: State,
    degraded: Mapping[str, str],
    known: Known,
    profiles_uri: str | None,
    shown: pinfold_pb2.Topology,
    profiles: Iterable[pinfold_pb2.Profile],
    growth: Mapping[str, int],
) -> pinfold_pb2.CpuReport:
    """The whole report. `degraded` are reasons by set id, `growth` as `room.growth` tells it."""
    report = pinfold_pb2.CpuReport(floor_cpus=host.floor.bit_count())
    report.topology.CopyFrom(shown)
    report.profiles.extend(profiles)
    revoked = revocable.revoked(host, state)
    for one in sorted(state.sets.values(), key=lambda one: (one.created, one.id)):
        reasons = degraded.get(one.id, ""), revoked.get(one.id, "")
        report.cpusets.append(_cpuset(host, state, one, *reasons, growth.get(one.id, 0)))
    if profiles_uri is not None:
        source = report.profile_source
        source.uri = redact(profiles_uri)
        source.outcome = known.outcome
        if known.ok is not None:
            source.ok = known.ok
        if known.last_fetch is not None:
            source.last_fetch = known.last_fetch
        if known.in_force_since is not None:
            source.in_force_since = known.in_force_since
    return report


def _cpuset(host: Host, state: State, one: CpuSet, degraded: str, revoked: str, growth: int) -> pinfold_pb2.Cpuset:
    standing = pinfold_pb2.Cpuset.DEGRADED if degraded else pinfold_pb2.Cpuset.OK
    labels = inventory.set_labels(host, state, one)
    shown = pinfold_pb2.Cpuset(
        id=one.id,
        type=pinfold_pb2.Cpuset.EXCLUSIVE if one.exclusive else pinfold_pb2.Cpuset.SHARED,
        profile=one.profile.name,
        pool=one.pool,
        role=one.role,
        cpus=labels["cpus"],
        blocked=labels.get("blocked", ""),
        mems=labels["mems"],
        cgroup=labels["cgroup"],
        enforcement=labels["enforcement"],
        state=pinfold_pb2.Cpuset.REVOKED if revoked else standing,
        reason="; ".join(filter(None, (revoked, degraded))),
        created=one.created,
        lifetime=one.profile.lifetime,
        growth=growth,
    )
    if one.framework_id is not None:
        shown.framework_id = one.framework_id
    if one.burst is not None:
        shown.burst = one.burst
    if one.revocable:
        shown.revocable = True
    for charge in one.charges:
        shown.charges.add(zone=charge.zone, cpus=charge.cpus)
    return shown


def shown_move(move: Move, *, done: bool, reason: str) -> pinfold_pb2.CpusetMove:
    """A move as the operator sees it."""
    shown = pinfold_pb2.CpusetMove(
        cpuset_id=move.before.id,
        profile=move.before.profile.name,
        role=move.before.role,
        from_cpus=cpuset.format_mask(move.before.cpus),
        to_cpus=cpuset.format_mask(move.after.cpus),
        from_mems=cpuset.format_mask(move.before.mems),
        to_mems=cpuset.format_mask(move.after.mems),
        done=done,
        reason=reason,
    )
    for name, (before, after) in move.gains.items():
        shown.gains.add(what=name, before=before, after=after)
    return shown


def summary(host: Host, state: State, statuses: int) -> str:
    """What the log says of a provider that has recovered; `statuses` are to be sent."""
    figures = inventory.figures(host, state)
    return (
        f"{figures.online} CPUs online, {figures.raw_total} RAW, {figures.sets} in {len(state.sets)} sets, "
        f"floor {figures.floor}, reserved {figures.reserved}; {statuses} statuses to send; by {host.enforcement}"
    )


def ready(host: Host, state: State, profiles: int) -> str:
    """What the log says of a provider whose first report was taken."""
    figures = inventory.figures(host, state)
    return (
        f"{figures.raw_total} RAW CPUs, {len(state.sets)} sets with {figures.sets} CPUs, "
        f"floor {figures.floor}, {profiles} profiles"
    )


def unplaceable(host: Host, profile: Profile) -> Generator[None, None, str]:
    """Why no set under the profile could be made even if nothing were taken; "" where one could.

    Asked with the smallest numbers of CPUs that can meet a rule: one or one core, in one node or in each. On a large
    host each of these takes its time, so it stops after each.
    """
    pool = host.pool(profile.pool)
    if profile.pool not in host.layout.pools:
        return f"pool {profile.pool!r} is not configured; there are {', '.join(host.layout.pools)}"
    if not pool:
        return f"pool {profile.pool!r} has no CPU online"
    if profile.mode == inventory.SHARED:
        isolated = cpuset.format_mask(pool & host.topology.isolated)
        return f"pool {profile.pool!r} has isolated CPUs, {isolated}: shared sets cannot run there" if isolated else ""
    widths = sorted({(core & pool).bit_count() for core in host.topology.cores if core & pool})
    nodes = 1
    if profile.memory.policy == "interleave":
        there = sum(1 for node in host.topology.nodes if node.cpus & pool and host.allowed_mems >> node.id & 1)
        nodes = profile.memory.nodes or there
    requests = [
        allocator.Request(cpus=cpus, profile=profile)
        for cpus in sorted({1, nodes, *widths, *(width * nodes for width in widths)})
    ]
    where = (host.topology, host.layout.zones, pool, pool)
    for request in requests:
        if allocator.can_place(*where, request, mems=host.allowed_mems):
            return ""
        yield
    try:
        allocator.place(*where, requests[0], mems=host.allowed_mems)
    except Refused as refusal:
        return str(refusal)
    return ""
