"""Profiles: names for placement and isolation parameters, and the document that defines them.

Decides whether a document is valid, what is wrong with it and where, and what each profile means. It never fetches
a document (`profiles.source` does), never decides what a document does to profiles in use (`profiles.state` does),
and never places CPUs.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jsonschema

from profiles.errors import DocumentError, Fault
from profiles.schema import VALIDATOR

__all__ = [
    "MAX_DEPTH",
    "MAX_DOCUMENT_BYTES",
    "MAX_FAULTS",
    "MAX_PROFILES",
    "DeviceAffinity",
    "DocumentError",
    "Entry",
    "Fault",
    "Memory",
    "Power",
    "Profile",
    "Selector",
    "definition",
    "notes",
    "parse_document",
    "profile_from_definition",
    "selects",
]

MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_DEPTH = 16
"""A valid document is 7 deep."""
MAX_PROFILES = 1000
"""And of keys in any other object."""
MAX_VALUES = 100_000
"""Commas and opening brackets, counted before anything is parsed. A document of 1000 profiles with every parameter has
a quarter of them. What is far larger would be parsed and freed in C, in steps long enough to hold up the process."""
MAX_FAULTS = 100
"""What is looked for in one document: nobody reads more, and the work on a hostile one stays bounded."""

_SHOWN_VALUE = 80
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Memory:
    policy: str = "none"  # none, bind, interleave
    mode: str = "preferred"  # preferred, required
    nodes: int | None = None  # interleave only: how many nodes; None: all with CPUs and memory


@dataclass(frozen=True, slots=True)
class DeviceAffinity:
    match: str  # a PCI address, pci:VENDOR[:DEVICE], class:HEX, net:NAME, block:NAME
    affinity: str = "required"  # required, preferred


@dataclass(frozen=True, slots=True)
class Power:
    governor: str | None = None
    min_mhz: int | None = None
    max_mhz: int | None = None
    energy_performance_preference: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The parameters of one profile; every default is the first value in section 5 of the design."""

    name: str
    mode: str = "exclusive"  # exclusive, shared
    pool: str = "default"
    core_siblings: str = "preferred"  # preferred, required, denied, denied_preferred, none
    placement: str = "pack"  # pack, spread
    memory: Memory = Memory()
    llc: str = "preferred"  # cache.llc: preferred, none, required
    device: DeviceAffinity | None = None
    core_kind: str = "any"  # any, performance, efficiency
    partition: str = "member"  # member, root, isolated
    power: Power | None = None
    lifetime: str = "framework"  # framework, role

    @property
    def rules(self) -> Profile:
        """What decides where a set may lie: the same for profiles that differ in nothing but what they are called."""
        return _rules(self)


@functools.lru_cache(4 * MAX_PROFILES)
def _rules(profile: Profile) -> Profile:
    return replace(profile, name="", lifetime="framework", power=None)


@dataclass(frozen=True, slots=True)
class Selector:
    """One provider that has a profile, by the type and name of its config."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One profile of a valid document."""

    profile: Profile
    selectors: tuple[Selector, ...] | None
    """None: every provider has this profile. Empty: none has it (as in Mesos, MESOS-8598)."""
    definition: str
    """`definition(profile)`."""
    description: str = ""


def selects(entry: Entry, provider_type: str, provider_name: str) -> bool:
    """Whether the provider of this type and name has the profile."""
    return entry.selectors is None or Selector(provider_type, provider_name) in entry.selectors


# --- definitions -----------------------------------------------------------------------------------------------


def definition(profile: Profile) -> str:
    """The parameters as canonical JSON, in the shape of the document's `cpuset` object plus `name`.

    Defaults are written out and keys sorted, so that two definitions that mean the same are the same text, and a
    set keeps its meaning when a default changes.
    """
    content: dict[str, Any] = {
        "name": profile.name,
        "mode": profile.mode,
        "pool": profile.pool,
        "core_siblings": profile.core_siblings,
        "placement": profile.placement,
        "memory": _without_none(policy=profile.memory.policy, mode=profile.memory.mode, nodes=profile.memory.nodes),
        "cache": {"llc": profile.llc},
        "core_kind": profile.core_kind,
        "partition": profile.partition,
        "lifetime": profile.lifetime,
    }
    if profile.device is not None:
        content["device"] = {"match": profile.device.match, "affinity": profile.device.affinity}
    if profile.power is not None:
        content["power"] = _without_none(
            governor=profile.power.governor,
            min_mhz=profile.power.min_mhz,
            max_mhz=profile.power.max_mhz,
            energy_performance_preference=profile.power.energy_performance_preference,
        )
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


@functools.lru_cache(4 * MAX_PROFILES)
def profile_from_definition(text: str) -> Profile:
    """The profile that `definition` wrote, also one written by an older Pinfold that knew fewer parameters.

    What is kept with a set was valid when the set was made, so nothing is judged here but the shape; ValueError
    for what is no definition at all.
    """
    try:
        content = json.loads(text)
        return _profile(content["name"], content)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"definition {_shown(text)} is not a profile's definition: {error!r}") from error


def _profile(name: str, cpuset: Mapping[str, Any]) -> Profile:
    memory = cpuset.get("memory", {})
    device = cpuset.get("device")
    power = cpuset.get("power")
    nodes = memory.get("nodes")
    return Profile(
        name=name,
        mode=cpuset.get("mode", "exclusive"),
        pool=cpuset.get("pool", "default"),
        core_siblings=cpuset.get("core_siblings", "preferred"),
        placement=cpuset.get("placement", "pack"),
        memory=Memory(
            policy=memory.get("policy", "none"),
            mode=memory.get("mode", "preferred"),
            nodes=None if nodes is None else int(nodes),
        ),
        llc=cpuset.get("cache", {}).get("llc", "preferred"),
        device=None if device is None else DeviceAffinity(device["match"], device.get("affinity", "required")),
        core_kind=cpuset.get("core_kind", "any"),
        partition=cpuset.get("partition", "member"),
        power=None
        if power is None
        else Power(
            governor=power.get("governor"),
            min_mhz=None if power.get("min_mhz") is None else int(power["min_mhz"]),
            max_mhz=None if power.get("max_mhz") is None else int(power["max_mhz"]),
            energy_performance_preference=power.get("energy_performance_preference"),
        ),
        lifetime=cpuset.get("lifetime", "framework"),
    )


def _without_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


# --- the document ----------------------------------------------------------------------------------------------


def parse_document(data: bytes) -> Mapping[str, Entry]:
    """The profiles of a document by name, in the document's order.

    Raises DocumentError with every fault found: first of the bytes and the JSON text (encoding, syntax, keys given
    twice, numbers that are not finite, depth), then of the schema, then of the rules between fields.
    """
    document = _load(data)
    faults = list(itertools.islice(_structural_faults(document), MAX_FAULTS))
    matrix = document.get("profile_matrix") if isinstance(document, dict) else None
    if faults:
        raise DocumentError(faults)
    found = (fault for error in VALIDATOR.iter_errors(document) for fault in _schema_faults(error))
    faults = list(dict.fromkeys(itertools.islice(found, MAX_FAULTS)))
    if len(faults) < MAX_FAULTS and isinstance(matrix, dict):
        for name, entry in matrix.items():
            path = _child("$.profile_matrix", name)
            # Rules between fields only where the fields themselves are right, so that one slip is one fault.
            if not any(fault.path == path or fault.path.startswith((path + ".", path + "[")) for fault in faults):
                faults.extend(_cross_faults(_child(path, "cpuset"), entry["cpuset"]))
    if faults:
        # jsonschema goes over unknown keys in no fixed order.
        raise DocumentError(sorted(faults, key=lambda fault: fault.path))
    return {name: _entry(name, entry) for name, entry in document["profile_matrix"].items()}


def _entry(name: str, entry: Mapping[str, Any]) -> Entry:
    profile = _profile(name, entry["cpuset"])
    selector = entry.get("resource_provider_selector")
    selectors = None
    if selector is not None:
        selectors = tuple(Selector(item["type"], item["name"]) for item in selector.get("resource_providers", ()))
    text = definition(profile)
    # Read back, and its rules made, here in the thread of a fetch: the reactor then finds them in the caches.
    profile = profile_from_definition(text)
    _ = profile.rules
    return Entry(profile, selectors, text, entry.get("description", ""))


class _Object(dict[str, Any]):
    """A JSON object that remembers which keys it was given twice."""

    twice: tuple[str, ...] = ()


class _NotFinite(float):
    """NaN or Infinity as the text spelled it."""

    text: str = ""


def _pairs(pairs: list[tuple[str, Any]]) -> _Object:
    result = _Object(pairs)
    if len(result) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        result.twice = tuple(key for key, count in counts.items() if count > 1)
    return result


def _constant(text: str) -> float:
    value = _NotFinite("nan")
    value.text = text
    return value


def _load(data: bytes) -> Any:
    def refuse(reason: str) -> DocumentError:
        return DocumentError([Fault("$", "", reason)])

    if len(data) > MAX_DOCUMENT_BYTES:
        raise refuse(f"the document has {len(data)} bytes, more than the {MAX_DOCUMENT_BYTES} allowed")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise refuse("the document is UTF-16 or UTF-32 (byte order mark); save it as UTF-8 without one")
    if data.startswith(b"\xef\xbb\xbf"):
        raise refuse("the document begins with a UTF-8 byte order mark; save it without one")
    values = data.count(b",") + data.count(b"{") + data.count(b"[")
    if values > MAX_VALUES:
        raise refuse(f"the document has {values} commas and brackets, more than the {MAX_VALUES} allowed")
    if b"\0" in data[:4]:
        raise refuse("the document is UTF-16, UTF-32 or binary (it begins with zero bytes); save it as UTF-8")
    if not data.strip():
        raise refuse('the document is empty; a document without profiles is {"profile_matrix": {}}')
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(f"not UTF-8 at byte {error.start}: {error.reason}") from error
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as error:
        hint = "; this looks like an HTML or XML page" if text.lstrip().startswith("<") else ""
        raise refuse(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}{hint}") from error
    except RecursionError as error:
        raise refuse(f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise refuse(f"a number is too long: {error}") from error


def _structural_faults(value: Any, path: str = "$", depth: int = 0) -> Iterator[Fault]:
    if depth > MAX_DEPTH:
        yield Fault(path, "", f"nested deeper than {MAX_DEPTH} levels")
    elif isinstance(value, _Object):
        if len(value) > MAX_PROFILES:
            # Here and not in the schema, which would first look at each of them.
            yield Fault(path, "", f"has {len(value)} entries, more than the {MAX_PROFILES} allowed")
            return
        for key in value.twice:
            yield Fault(_child(path, key), "", "this key is given more than once")
        for key, item in value.items():
            fault = _text_fault(key)
            if fault:
                yield Fault(_child(path, key), _shown(key), f"a key with {fault}")
            yield from _structural_faults(item, _child(path, key), depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _structural_faults(item, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        fault = _text_fault(value)
        # People write more than one line in a description.
        if fault and not (fault == "a control character" and path.endswith(".description")):
            yield Fault(path, _shown(value), f"a text with {fault}")
    elif isinstance(value, _NotFinite):
        yield Fault(path, value.text, "is not a finite number")
    elif isinstance(value, float) and not math.isfinite(value):
        yield Fault(path, "", "is not a finite number (too large)")


def _text_fault(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "half of a surrogate pair"
    return "a control character" if any(ord(character) < 32 or ord(character) == 127 for character in text) else ""


# --- faults of the schema, in our own words --------------------------------------------------------------------


def _schema_faults(error: jsonschema.ValidationError) -> Iterator[Fault]:
    path = "$"
    for part in error.absolute_path:
        path = f"{path}[{part}]" if isinstance(part, int) else _child(path, part)
    wanted: Any = error.validator_value
    value: Any = error.instance
    kind = str(error.validator)
    rule: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    if kind == "additionalProperties" and wanted is False:
        known = list(rule.get("properties", {}))
        for key in value:
            if key not in known:
                yield Fault(_child(path, key), _shown(value[key]), f"unknown key{_suggestion(key, known)}")
    elif kind == "required":
        # jsonschema reports each missing key by itself; which one it means is in the message only.
        for key in wanted:
            if key not in value:
                yield Fault(_child(path, key), "", "is missing")
    elif "propertyNames" in error.absolute_schema_path:
        yield Fault(_child(path, str(value)), _shown(value), rule.get("description", "is not a valid name"))
    elif kind == "enum":
        choices = ", ".join(json.dumps(choice) for choice in wanted)
        yield Fault(path, _shown(value), f"must be one of {choices}{_suggestion(value, wanted)}")
    elif kind == "type":
        yield Fault(path, _shown(value), f"must be {_TYPES.get(str(wanted), str(wanted))}, not {_type(value)}")
    elif kind == "minProperties":
        yield Fault(path, _shown(value), "is empty; leave it out")
    elif kind == "maxProperties":
        yield Fault(path, "", f"has {len(value)} entries, more than the {wanted} allowed")
    elif kind == "maxItems":
        yield Fault(path, "", f"has {len(value)} items, more than the {wanted} allowed")
    elif kind in ("minLength", "maxLength"):
        limit = "empty" if kind == "minLength" else f"longer than {wanted} characters"
        yield Fault(path, _shown(value), f"must not be {limit}")
    elif kind == "pattern":
        yield Fault(path, _shown(value), rule.get("description", "is not written as it must be"))
    elif kind in ("minimum", "maximum"):
        yield Fault(path, _shown(value), f"must be {'at least' if kind == 'minimum' else 'at most'} {wanted}")
    else:
        yield Fault(path, _shown(value), error.message)


_TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "a whole number",
}


def _type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a string" if isinstance(value, str) else "an array" if isinstance(value, list) else "an object"


def _suggestion(value: Any, known: Any) -> str:
    texts = [choice for choice in known if isinstance(choice, str)]
    close = difflib.get_close_matches(value.lower()[:64], texts, 1) if isinstance(value, str) else []
    return f'; did you mean "{close[0]}"?' if close else ""


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_VALUE else text[: _SHOWN_VALUE - 1] + "…"


def _child(path: str, key: str) -> str:
    if _PLAIN_KEY.fullmatch(key) and len(key) <= _SHOWN_VALUE:
        return f"{path}.{key}"
    return f"{path}[{_shown(key)}]"


# --- rules between fields --------------------------------------------------------------------------------------


def _cross_faults(path: str, cpuset: Mapping[str, Any]) -> Iterator[Fault]:
    """What each field allows by itself and no host could do together."""

    def fault(field: str, reason: str) -> Fault:
        value: Any = cpuset
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return Fault(f"{path}.{field}", "" if value is None else _shown(value), reason)

    profile = _profile("", cpuset)
    memory = profile.memory
    if memory.nodes is not None and memory.policy != "interleave":
        yield fault("memory.nodes", f"is for policy interleave only, and the policy is {memory.policy}")
    if memory.mode == "required" and memory.policy == "none":
        yield fault("memory.mode", "required needs memory.policy bind or interleave")
    power = profile.power
    if power and power.min_mhz is not None and power.max_mhz is not None and power.min_mhz > power.max_mhz:
        yield fault("power.min_mhz", f"is more than max_mhz, {power.max_mhz}")
    if profile.mode != "shared":
        return
    # A shared set floats over the CPUs of its pool while others come and go, so no promise about which CPUs it has
    # can be kept. Preferences are accepted (`notes` says that they have no effect).
    if profile.core_siblings in ("required", "denied"):
        yield fault("core_siblings", "is a promise about whole cores that a shared set cannot keep")
    if memory.mode == "required" and memory.policy != "none":
        yield fault("memory.mode", "required is a promise about nodes that a shared set cannot keep")
    if profile.llc == "required":
        yield fault("cache.llc", "required is a promise about caches that a shared set cannot keep")
    if profile.device is not None and profile.device.affinity == "required":
        yield fault("device.affinity", "required (the default) is a promise that a shared set cannot keep")
    if profile.core_kind != "any":
        yield fault("core_kind", "is a promise about CPUs that a shared set cannot keep; use a pool")
    if profile.partition != "member":
        yield fault("partition", "is for exclusive sets only")
    if profile.power is not None:
        yield fault("power", "is for exclusive sets only: the CPUs of a shared set are used by others too")


def notes(entry: Entry) -> list[str]:
    """What a person might not expect of a valid profile; for `pinfold profiles check`."""
    profile, result = entry.profile, []
    if entry.selectors == ():
        result.append("its selector names no provider: nobody has it (leave the selector out for every provider)")
    if profile.mode == "shared":
        idle = [
            name
            for name, is_set in (
                ("core_siblings", profile.core_siblings == "denied_preferred"),
                ("placement", profile.placement == "spread"),
                ("device", profile.device is not None),
                ("memory.nodes", profile.memory.nodes is not None),
            )
            if is_set
        ]
        if idle:
            result.append(f"{', '.join(idle)} has no effect on a shared set: it floats over its pool")
    return result
