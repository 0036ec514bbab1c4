"""Arithmetic on resources, as Mesos does it. Decides what is equal, contained, left over, and how it prints.

Values are `mesos_pb2.Resource` messages; lists of them are values too: no function here changes its arguments.
Scalars are fixed point with three decimals (Mesos's rule), ranges are sets of integers, sets are sets of strings.
Two resources are of one kind when all but the quantity is equal: name, type, reservations, provider, revocable,
shared, disk, role of the allocation, and the CPU source without its metadata (metadata is the provider's word
about a resource and not a part of its identity). It never looks at who owns or uses a resource.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from agent_api.wire import mesos_pb2

__all__ = [
    "Resource",
    "ResourceError",
    "Words",
    "add",
    "allocatable_to",
    "allocate",
    "canonical",
    "contains",
    "describe",
    "describe_all",
    "empty",
    "kind",
    "limit",
    "millis",
    "normalize",
    "parse",
    "parse_value",
    "provider_of",
    "reservation_role",
    "scalar",
    "set_id",
    "source_type",
    "subtract",
    "sum_of",
    "unallocate",
    "validate",
]

Resource = mesos_pb2.Resource
Kind = tuple[object, ...]
Quantity = int | tuple[tuple[int, int], ...] | frozenset[str]

_TOO_LARGE = 2**53 / 1000
"""Above it, thousandths are not exact any more."""
_NAME = re.compile(r"[A-Za-z0-9_.\-/]+")
_ITEM = re.compile(r"\s*([^():\s]+)\s*(?:\(\s*([^)]*?)\s*\))?\s*:\s*(.*?)\s*", re.S)


class ResourceError(ValueError):
    """A resource, or a text that should be one, that is wrong; says which and why."""


def millis(value: float) -> int:
    """The fixed-point form of a scalar: thousandths, rounded. What is no finite number counts as nothing."""
    return round(value * 1000) if math.isfinite(value) and abs(value) < _TOO_LARGE * 1000 else 0


def scalar(name: str, value: float) -> Resource:
    return Resource(name=name, type=mesos_pb2.Value.SCALAR, scalar=mesos_pb2.Value.Scalar(value=value))


def provider_of(resource: Resource) -> str | None:
    """The id of the provider that the resource comes from; None for the agent's own."""
    return resource.provider_id.value if resource.HasField("provider_id") else None


def source_type(resource: Resource) -> int:
    """Resource.CpuInfo.Source.Type; UNKNOWN for what is not a CPU provider's."""
    return resource.cpu.source.type if resource.HasField("cpu") else Resource.CpuInfo.Source.UNKNOWN


def set_id(resource: Resource) -> str | None:
    """The id of the set that the resource is of; None for everything that is no set."""
    if source_type(resource) in (Resource.CpuInfo.Source.EXCLUSIVE, Resource.CpuInfo.Source.SHARED):
        return resource.cpu.source.id
    return None


def reservation_role(resource: Resource) -> str | None:
    """The role that the innermost reservation names; None for unreserved resources."""
    return resource.reservations[-1].role if resource.reservations else None


def allocatable_to(resource: Resource, role: str) -> bool:
    """Unreserved resources go to any role, reserved ones to their role and the roles below it."""
    reserved = reservation_role(resource)
    return reserved is None or role == reserved or role.startswith(reserved + "/")


def kind(resource: Resource) -> Kind:
    """What must be equal for two resources to be added up."""
    source: object = None
    if resource.HasField("cpu"):
        s = resource.cpu.source
        source = (s.type, s.id, s.profile, s.zone, s.pool)
    return (
        resource.name,
        resource.type,
        provider_of(resource),
        tuple(r.SerializeToString(deterministic=True) for r in resource.reservations),
        source,
        resource.HasField("revocable"),
        resource.HasField("shared"),
        resource.disk.SerializeToString(deterministic=True) if resource.HasField("disk") else None,
        resource.allocation_info.role if resource.HasField("allocation_info") else None,
    )


def _quantity(resource: Resource) -> Quantity:
    if resource.type == mesos_pb2.Value.RANGES:
        return _coalesce((r.begin, r.end) for r in resource.ranges.range)
    if resource.type == mesos_pb2.Value.SET:
        return frozenset(resource.set.item)
    return millis(resource.scalar.value)


def _with_quantity(resource: Resource, quantity: Quantity) -> Resource:
    result = Resource()
    result.CopyFrom(resource)
    if isinstance(quantity, int):
        result.scalar.value = quantity / 1000
    elif isinstance(quantity, frozenset):
        del result.set.item[:]
        result.set.item.extend(sorted(quantity))
    else:
        del result.ranges.range[:]
        for begin, end in quantity:
            result.ranges.range.add(begin=begin, end=end)
    return result


def _coalesce(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    result: list[tuple[int, int]] = []
    for begin, end in sorted(r for r in ranges if r[0] <= r[1]):
        if result and begin <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return tuple(result)


def _plus(a: Quantity, b: Quantity) -> Quantity:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return a | b
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _coalesce((*a, *b))
    return a


def _minus(a: Quantity, b: Quantity) -> Quantity:
    if isinstance(a, int) and isinstance(b, int):
        return max(0, a - b)
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return a - b
    if isinstance(a, tuple) and isinstance(b, tuple):
        left = list(a)
        for begin, end in b:
            cut: list[tuple[int, int]] = []
            for low, high in left:
                cut.extend(((low, min(high, begin - 1)), (max(low, end + 1), high)))
            left = [(low, high) for low, high in cut if low <= high]
        return _coalesce(left)
    return a


def _covers(a: Quantity, b: Quantity) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return b <= a
    return not _minus(b, a)


def _collect(resources: Iterable[Resource]) -> dict[Kind, tuple[Resource, Quantity]]:
    """By kind, in order of first appearance. Of equal kinds the last one's metadata holds: it is the newer word."""
    result: dict[Kind, tuple[Resource, Quantity]] = {}
    for resource in resources:
        key = kind(resource)
        quantity = _quantity(resource)
        if isinstance(quantity, int) and quantity <= 0:
            continue
        known = result.get(key)
        result[key] = (resource, quantity if known is None else _plus(known[1], quantity))
    return result


def _list(collected: dict[Kind, tuple[Resource, Quantity]]) -> list[Resource]:
    return [_with_quantity(resource, quantity) for resource, quantity in collected.values() if quantity]


def normalize(resources: Iterable[Resource]) -> list[Resource]:
    """Equal kinds merged; zero and negative ones dropped."""
    return _list(_collect(resources))


def add(a: Iterable[Resource], b: Iterable[Resource]) -> list[Resource]:
    """The sum. Where both have a kind, the metadata of `b` holds."""
    return _list(_collect((*a, *b)))


def subtract(a: Iterable[Resource], b: Iterable[Resource]) -> list[Resource]:
    """What is left of `a`, never below nothing; `b` may hold more than `a`."""
    left = _collect(a)
    for key, (_, quantity) in _collect(b).items():
        if key in left:
            resource, have = left[key]
            left[key] = (resource, _minus(have, quantity))
    return _list(left)


def contains(a: Iterable[Resource], b: Iterable[Resource]) -> bool:
    have = _collect(a)
    for key, (_, quantity) in _collect(b).items():
        if key not in have or not _covers(have[key][1], quantity):
            return False
    return True


def empty(resources: Iterable[Resource]) -> bool:
    return not _list(_collect(resources))


def allocate(resources: Iterable[Resource], role: str) -> list[Resource]:
    """The same resources allocated to a role; those that are allocated already keep their role."""
    result = []
    for resource in resources:
        copy = Resource()
        copy.CopyFrom(resource)
        if not copy.HasField("allocation_info") or not copy.allocation_info.role:
            copy.allocation_info.role = role
        result.append(copy)
    return result


def unallocate(resources: Iterable[Resource]) -> list[Resource]:
    result = []
    for resource in resources:
        copy = Resource()
        copy.CopyFrom(resource)
        copy.ClearField("allocation_info")
        result.append(copy)
    return result


class Words:
    """What a provider says of its resources, by kind without the allocation; made once for many questions."""

    def __init__(self, known: Iterable[Resource]) -> None:
        self._metadata = {kind(r)[:-1]: r.cpu.source.metadata for r in known if r.cpu.source.HasField("metadata")}

    def of(self, resource: Resource) -> mesos_pb2.Labels | None:
        return self._metadata.get(kind(resource)[:-1])


def canonical(resources: Iterable[Resource], known: Words | Iterable[Resource]) -> list[Resource]:
    """The resources with the metadata that `known` (the provider's totals) has for their kind.

    What the sender wrote into metadata is dropped either way. The allocation does not matter for the match.
    """
    words = known if isinstance(known, Words) else Words(known)
    result = []
    for resource in resources:
        copy = Resource()
        copy.CopyFrom(resource)
        if copy.HasField("cpu"):
            copy.cpu.source.ClearField("metadata")
            metadata = words.of(copy)
            if metadata is not None:
                copy.cpu.source.metadata.CopyFrom(metadata)
        result.append(copy)
    return result


def sum_of(resources: Iterable[Resource], name: str) -> float:
    """All scalars of one name added up."""
    return sum(millis(r.scalar.value) for r in resources if r.name == name) / 1000


def limit(resources: Sequence[Resource], name: str, most: float) -> list[Resource]:
    """Not more than `most` of one scalar: unreserved resources give way first, then the later reserved ones."""
    surplus = millis(sum_of(resources, name)) - millis(most)
    quantities = [_quantity(r) for r in resources]
    for reserved in (False, True):
        for i in reversed(range(len(resources))):
            have = quantities[i]
            if surplus > 0 and isinstance(have, int) and resources[i].name == name:
                if bool(resources[i].reservations) is not reserved:
                    continue
                cut = min(surplus, have)
                quantities[i] = have - cut
                surplus -= cut
    return [_with_quantity(r, q) for r, q in zip(resources, quantities, strict=True) if q]


def describe(resource: Resource) -> str:
    """As Mesos prints it, e.g. `cpus(allocated: test):100`; a CPU source is added in square brackets."""
    text = resource.name
    if resource.HasField("allocation_info"):
        text += f"(allocated: {resource.allocation_info.role})"
    if resource.reservations:
        text += f"(reservations: [{','.join(_describe_reservation(r) for r in resource.reservations)}])"
    if resource.HasField("cpu"):
        source = resource.cpu.source
        words = [Resource.CpuInfo.Source.Type.Name(source.type), source.id, source.zone, source.pool]
        text += f"[{' '.join(w for w in words if w)}]"
    if resource.HasField("revocable"):
        text += "{REV}"
    if resource.HasField("shared"):
        text += "<SHARED>"
    quantity = _quantity(resource)
    if isinstance(quantity, int):
        if not math.isfinite(resource.scalar.value) or abs(resource.scalar.value) > _TOO_LARGE:
            return f"{text}:{resource.scalar.value}"
        return f"{text}:{_number(quantity)}"
    if isinstance(quantity, frozenset):
        return f"{text}:{{{', '.join(sorted(quantity))}}}"
    return f"{text}:[{', '.join(f'{begin}-{end}' for begin, end in quantity)}]"


def describe_all(resources: Iterable[Resource]) -> str:
    return "; ".join(describe(r) for r in resources)


def _describe_reservation(reservation: mesos_pb2.Resource.ReservationInfo) -> str:
    words = [mesos_pb2.Resource.ReservationInfo.Type.Name(reservation.type), reservation.role]
    if reservation.HasField("principal"):
        words.append(reservation.principal)
    if reservation.HasField("labels"):
        pairs = (f"{label.key}: {label.value}" for label in reservation.labels.labels)
        words.append(f"{{{', '.join(pairs)}}}")
    return f"({','.join(words)})"


def _number(thousandths: int) -> str:
    whole, rest = divmod(abs(thousandths), 1000)
    text = f"{whole}.{rest:03d}".rstrip("0").rstrip(".") if rest else str(whole)
    return f"-{text}" if thousandths < 0 else text


def validate(resource: Resource) -> None:
    """Raises ResourceError with Mesos's words. Of reservations, in whichever format, it says nothing."""
    problem = _problem(resource)
    if problem:
        raise ResourceError(f"Resource '{describe(resource)}' is invalid: {problem}")


def _problem(resource: Resource) -> str | None:
    if not resource.name:
        return "Empty resource name"
    if resource.type == mesos_pb2.Value.SCALAR:
        if not resource.HasField("scalar") or resource.HasField("ranges") or resource.HasField("set"):
            return "Invalid scalar resource"
        value = resource.scalar.value
        if not math.isfinite(value):
            return f"Invalid scalar resource: value {value} is not a number"
        if value > _TOO_LARGE:
            return f"Invalid scalar resource: value {value} is too large"
        if millis(value) <= 0:
            return "Invalid scalar resource: value <= 0"
    elif resource.type == mesos_pb2.Value.RANGES:
        if not resource.HasField("ranges") or resource.HasField("scalar") or resource.HasField("set"):
            return "Invalid ranges resource"
        if any(r.begin > r.end for r in resource.ranges.range):
            return "Invalid ranges resource: begin > end"
        if sum(r.end - r.begin + 1 for r in resource.ranges.range) != sum(
            e - b + 1 for b, e in _coalesce((r.begin, r.end) for r in resource.ranges.range)
        ):
            return "Invalid ranges resource: overlapping ranges"
    elif resource.type == mesos_pb2.Value.SET:
        if not resource.HasField("set") or resource.HasField("scalar") or resource.HasField("ranges"):
            return "Invalid set resource"
        if len(set(resource.set.item)) != len(resource.set.item):
            return "Invalid set resource: duplicated elements"
    else:
        return "Unsupported resource type"
    return None


def parse(text: str) -> list[Resource]:
    """A `--resources` text: `cpus:8;mem:4096;ports:[31000-32000];disks:{a,b}`, with `name(role)` for a static
    reservation. Raises ResourceError naming the item."""
    result: list[Resource] = []
    for item in text.split(";"):
        if not item.strip():
            continue
        match = _ITEM.fullmatch(item)
        if match is None or not _NAME.fullmatch(match[1]):
            raise ResourceError(f"resources: '{item.strip()}' is not of the form name:value or name(role):value")
        name, role, value = match[1], match[2], match[3]
        try:
            resource = parse_value(name, value)
        except ResourceError as error:
            raise ResourceError(f"resources: {error}") from None
        if role is not None and role != "*":
            if not role:
                raise ResourceError(f"resources: '{item.strip()}' has an empty role")
            resource.reservations.add(type=mesos_pb2.Resource.ReservationInfo.STATIC, role=role)
        result.append(resource)
    kinds = [kind(r) for r in result]
    for i, resource in enumerate(result):
        if kinds[i] in kinds[:i]:
            raise ResourceError(f"resources: '{resource.name}' is given twice")
    return normalize(result)


def parse_value(name: str, value: str) -> Resource:
    """One value of such a text: a number, `[ranges]` or `{a set}`. Raises ResourceError naming it."""
    if value.startswith("[") and value.endswith("]"):
        resource = Resource(name=name, type=mesos_pb2.Value.RANGES)
        ranges = []
        for part in value[1:-1].split(","):
            match = re.fullmatch(r"\s*([0-9]{1,19})\s*(?:-\s*([0-9]{1,19})\s*)?", part)
            if match is None or int(match[1]) > int(match[2] or match[1]):
                raise ResourceError(f"'{name}' has '{part.strip()}', which is not a range like 31000-32000")
            ranges.append((int(match[1]), int(match[2] or match[1])))
        resource.ranges.SetInParent()
        return _with_quantity(resource, _coalesce(ranges))
    if value.startswith("{") and value.endswith("}"):
        items = [part.strip() for part in value[1:-1].split(",")]
        if not all(items) or len(set(items)) != len(items):
            raise ResourceError(f"'{name}' has '{value}', which is not a set of different words")
        return Resource(name=name, type=mesos_pb2.Value.SET, set=mesos_pb2.Value.Set(item=items))
    try:
        number = float(value)
    except ValueError:
        raise ResourceError(f"'{name}' has '{value}', which is not a number, range or set") from None
    if not 0 <= number <= _TOO_LARGE:
        raise ResourceError(f"'{name}' has '{value}', which is not a number from 0 up")
    return scalar(name, number)
