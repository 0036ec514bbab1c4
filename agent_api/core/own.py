"""The agent's own resources and attributes when they are changed: what carries over, and what may not go.

Decides, with the rule of Mesos's additive reconfiguration policy as far as something is in use: totals may always
grow, and shrink only where no reservation and no task is left without what it holds; attributes may lose something
only while no task runs that was placed by them. It never stores and never tells anybody; `core.model` does at a start
and `core.reconfiguration` while the agent runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from agent_api.core import attributes as at
from agent_api.core import resources as rs
from agent_api.wire import mesos_pb2

__all__ = ["carry", "problem", "wanted"]

Resource = mesos_pb2.Resource


def wanted(given: Iterable[Resource], online_cpus: int) -> list[Resource]:
    """What the agent is to have before reservations; without `cpus` all that are online."""
    result = rs.normalize(given)
    if not any(r.name == "cpus" for r in result):
        result.insert(0, rs.scalar("cpus", float(online_cpus)))
    return result


def carry(
    stored: Iterable[Resource], new: Sequence[Resource], measured: Collection[str] = ()
) -> tuple[list[Resource], list[Resource]]:
    """The new resources with the dynamic reservations of the stored ones, and the reserved ones that do not fit.

    `measured`: names of scalars of which a reservation that does not fit keeps what there is.
    """
    result, unfit = list(new), []
    for resource in stored:
        plain = Resource()
        plain.CopyFrom(resource)
        while plain.reservations and plain.reservations[-1].type == Resource.ReservationInfo.DYNAMIC:
            del plain.reservations[-1]
        if len(plain.reservations) == len(resource.reservations):
            continue
        if rs.contains(result, [plain]):
            result = rs.add(rs.subtract(result, [plain]), [resource])
        else:
            unfit.append(resource)
            there = next((r for r in result if rs.kind(r) == rs.kind(plain)), None)
            if resource.name in measured and resource.type == mesos_pb2.Value.SCALAR and there is not None:
                kept = Resource()
                kept.CopyFrom(resource)
                kept.scalar.value = there.scalar.value
                result = rs.add(rs.subtract(result, [there]), [kept])
    return result, unfit


def problem(
    before: Sequence[Resource],
    after: Sequence[Resource],
    unfit: Iterable[Resource],
    users: Sequence[tuple[str, Sequence[Resource]]],
    attributes: tuple[Sequence[mesos_pb2.Attribute], Sequence[mesos_pb2.Attribute]],
    unchecked: Collection[str] = (),
) -> str | None:
    """Why a change from `before` to `after` is refused; None where nothing that is in use goes.

    `unfit`: reserved resources that found no place in `after`. `users`: the name of each task and what it uses, of the
    agent's own, not allocated. `unchecked`: names of resources that were measured, so that nobody can be asked to take
    a smaller number back. What was missing before may go on missing.
    """
    for resource in unfit:
        if resource.name not in unchecked:
            return f"{rs.describe(resource)} is reserved, and not there any more; UNRESERVE it first"
    used = rs.normalize(r for _, resources in users for r in resources if r.name not in unchecked)
    missing = rs.subtract(rs.subtract(used, after), rs.subtract(used, before))
    if missing:
        kinds = {rs.kind(r) for r in missing}
        names = [name for name, resources in users if any(rs.kind(r) in kinds for r in resources)]
        there = [r for r in after if rs.kind(r) in kinds]
        return (
            f"tasks use {rs.describe_all(r for r in used if rs.kind(r) in kinds)}, and only "
            f"{rs.describe_all(there) or 'nothing'} would be there ({_names(names)})"
        )
    what = at.lost(*attributes)
    if what is not None and users:
        return f"{what} while tasks run that may have been placed by it ({_names([name for name, _ in users])})"
    return None


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
