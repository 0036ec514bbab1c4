"""The two ways in which a resource says for whom it is reserved: before reservations could be refined, and since.

Decides what the old fields `role` and `reservation` mean, and how the new field `reservations` is told in them, with
Mesos's rules. Inside the agent only `reservations` is used; the old fields are read at the edge where a call comes in,
and written where an answer or an offer goes to somebody who knows no others. It never decides who may have what.

| | new | old |
|---|---|---|
| unreserved | no reservations | `role` "*" (or unset) |
| reserved by the agent's `--resources` | one, STATIC | `role` |
| reserved by an operation | one, DYNAMIC | `role` and `reservation` (principal and labels) |
| refined | several | none: it cannot be said |
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_api.wire import mesos_pb2

__all__ = ["in_both", "in_new", "in_old", "problem"]

Resource = mesos_pb2.Resource
Reservation = Resource.ReservationInfo


def problem(resource: Resource) -> str | None:
    """What is wrong with the old fields. `role: "*"` is their default, which some clients write: it says nothing.

    Beside `reservations` they may stand as the operator API shows them, so that what was read there can be sent back.
    """
    if resource.reservations:
        role = resource.reservations[-1].role
        if resource.role not in ("*", role):
            return f"'Resource.role' is '{resource.role}', and 'Resource.reservations' are for role '{role}'"
        return None
    if not resource.HasField("reservation"):
        return None
    for field in ("type", "role"):
        if resource.reservation.HasField(field):
            return f"'Resource.ReservationInfo.{field}' must not be set in the field 'Resource.reservation'"
    if resource.role == "*":
        return 'Invalid reservation: role "*" cannot be dynamically reserved'
    return None


def in_new(resources: Iterable[Resource]) -> list[Resource]:
    """With `reservations` alone, whichever way it was said. Only for what `problem` has nothing to say about."""
    result = []
    for resource in resources:
        copy = Resource()
        copy.CopyFrom(resource)
        copy.ClearField("role")
        copy.ClearField("reservation")
        if not copy.reservations and resource.role != "*":
            entry = copy.reservations.add()
            if resource.HasField("reservation"):
                entry.CopyFrom(resource.reservation)
                entry.type = Reservation.DYNAMIC
            else:
                entry.type = Reservation.STATIC
            entry.role = resource.role
        result.append(copy)
    return result


def _write_old(resource: Resource) -> None:
    """Fill the old fields in. Nothing is written for a refined reservation."""
    if len(resource.reservations) > 1:
        return
    if not resource.reservations:
        resource.role = "*"
        return
    only = resource.reservations[0]
    resource.role = only.role
    if only.type == Reservation.DYNAMIC:
        resource.reservation.CopyFrom(only)
        resource.reservation.ClearField("type")
        resource.reservation.ClearField("role")


def in_old(resources: Iterable[Resource]) -> list[Resource]:
    """As frameworks without RESERVATION_REFINEMENT read it. A refined reservation stays as it is: they are offered
    none."""
    result = in_both(resources)
    for copy in result:
        if len(copy.reservations) < 2:
            copy.ClearField("reservations")
    return result


def in_both(resources: Iterable[Resource]) -> list[Resource]:
    """Old fields beside the new one, as Mesos's operator API shows resources to old and new readers alike."""
    result = []
    for resource in resources:
        copy = Resource()
        copy.CopyFrom(resource)
        _write_old(copy)
        result.append(copy)
    return result
