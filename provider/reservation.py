"""What a reservation of a stock Mesos asks of the provider: the labels that make it a CPU set.

Decides how reservations are compared (as Mesos compares them: the order of labels says nothing) and how the labels
`pinfold.*` are read and which are wrong. It never decides whether there are CPUs (`provider.dialect_mesos`), and does
no I/O.

The labels of the outermost reservation:

- `pinfold.profile`: the name of the profile. This one makes the reservation a set.
- `pinfold.set`: the set's id, chosen by the framework, and with it the name of its cgroup.
- `pinfold.zone`: all CPUs from this zone.
- `pinfold.burst`: the most CPUs' worth of time, shared profiles only.
- `pinfold.cgroup`: a cgroup below the operator's `--task-cgroup-root` whose processes are kept in the set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from agent_api.wire import mesos_pb2
from provider import cgroup_values, inventory
from provider.errors import EnforcementError
from provider.operations import FailError

__all__ = ["PREFIX", "Wish", "canonical", "named_in", "shown", "stack_of", "wish_of"]

PREFIX = "pinfold."
_KEYS = ("profile", "set", "zone", "burst", "cgroup")

ReservationInfo = mesos_pb2.Resource.ReservationInfo


@dataclass(frozen=True, slots=True)
class Wish:
    """The set that a reservation asks for."""

    profile: str
    name: str | None = None
    zone: str | None = None
    burst: float | None = None
    cgroup: str | None = None
    """Relative, without `.` and `..`."""


def canonical(stack: bytes) -> bytes:
    """The stack with the labels of each reservation in order: Mesos takes labels in any order for the same."""
    entries = inventory.reservations_of(stack)
    for entry in entries:
        if len(entry.labels.labels) > 1:
            ordered = sorted(entry.labels.labels, key=lambda label: (label.key, label.value))
            labels = mesos_pb2.Labels(labels=ordered)
            entry.labels.CopyFrom(labels)
    return inventory.stack_from(entries)


def stack_of(resource: mesos_pb2.Resource) -> bytes:
    """The reservations of a resource as a value that can be compared as Mesos compares them."""
    return canonical(inventory.stack_of(resource))


def shown(stack: bytes) -> str:
    """A stack in words."""
    parts = []
    for entry in inventory.reservations_of(stack):
        labels = ", ".join(f"{label.key}={label.value}" for label in entry.labels.labels)
        parts.append(entry.role + (f" ({labels})" if labels else ""))
    return f"reserved for {' / '.join(parts)}" if parts else "unreserved"


def named_in(entries: Iterable[ReservationInfo]) -> list[str]:
    """The keys of our labels in these reservations."""
    return sorted({label.key for entry in entries for label in entry.labels.labels if label.key.startswith(PREFIX)})


def wish_of(stack: bytes, field: str) -> Wish | None:
    """The set that a stack asks for; None for an ordinary reservation. Raises FailError that names the label."""
    entries = inventory.reservations_of(stack)
    if lower := named_in(entries[:-1]):
        raise FailError(f"{field}: label {lower[0]}: the reservation of a set cannot be refined")
    if not entries or not named_in(entries[-1:]):
        return None
    values: dict[str, str] = {}
    for label in entries[-1].labels.labels:
        if not label.key.startswith(PREFIX):
            continue
        key = label.key.removeprefix(PREFIX)
        if key not in _KEYS:
            raise FailError(
                f"{field}: label {label.key!r} is unknown; there are {', '.join(PREFIX + k for k in _KEYS)}"
            )
        if key in values:
            raise FailError(f"{field}: label {label.key} is there twice")
        if not label.value:
            raise FailError(f"{field}: label {label.key}: a value is needed")
        values[key] = label.value
    if "profile" not in values:
        raise FailError(f"{field}: label {PREFIX}{min(values)} needs {PREFIX}profile beside it")
    return Wish(
        profile=values["profile"],
        name=_name(values.get("set"), field),
        zone=values.get("zone"),
        burst=_burst(values.get("burst"), field),
        cgroup=_cgroup(values.get("cgroup"), field),
    )


def _name(value: str | None, field: str) -> str | None:
    if value is not None:
        try:
            cgroup_values.group_name(value)
        except EnforcementError as error:
            raise FailError(f"{field}: label {PREFIX}set: {error}") from error
    return value


def _burst(value: str | None, field: str) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise FailError(f"{field}: label {PREFIX}burst: a number of CPUs is needed, got {value!r}")
    return number


def _cgroup(value: str | None, field: str) -> str | None:
    if value is None:
        return None
    parts = value.split("/")
    if any(part in ("", ".", "..") for part in parts) or not value.isprintable() or len(value) > 1000:
        raise FailError(
            f"{field}: label {PREFIX}cgroup: a path below the operator's root is needed, as in 'web/1', "
            f"got {value[:80]!r}"
        )
    return value
