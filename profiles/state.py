"""What is known of the profiles on one provider, and what a fetch or a set that goes does to it.

Decides which profile is in force with which parameters: the last good document stays, a profile that sets use is
fixed, one that disappears turns inactive. It never fetches or parses (the results of a fetch are arguments), never
stores (the provider keeps `Known.to_json()` in one row) and never judges whether a host can meet a profile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from profiles.errors import Fault
from profiles.mapping import Entry, Profile, definition, profile_from_definition, selects

__all__ = [
    "ACTIVE",
    "CHANGE_REFUSED",
    "EMPTY",
    "INACTIVE",
    "Failed",
    "FetchResult",
    "Fetched",
    "Known",
    "NotModified",
    "ProfileState",
    "ProfileView",
    "Used",
    "apply_document",
    "apply_result",
    "changes",
    "reconsider",
    "views",
]

ACTIVE: Final = "ACTIVE"
INACTIVE: Final = "INACTIVE"
CHANGE_REFUSED: Final = "CHANGE_REFUSED"

MAX_INACTIVE = 1000
"""How many profiles without sets are remembered after they left the document; the oldest are forgotten first."""

_FORMAT = 1

Used = Mapping[str, Collection[str]]
"""Profile name -> the definitions that its sets were made with (those of live sets only)."""


# --- results of a fetch ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fetched:
    """A valid document whose content differs from the one before."""

    data: bytes
    entries: Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class NotModified:
    """The source still has the document that is in force."""


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no (valid) document to be had; the reason is for people and has no credentials in it."""

    reason: str
    faults: tuple[Fault, ...] = ()
    """Where a document came and was refused."""


FetchResult = Fetched | NotModified | Failed


# --- what is known ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileState:
    """One profile as it is in force on this provider."""

    name: str
    state: str
    """ACTIVE, INACTIVE (no new sets) or CHANGE_REFUSED (in force as it was)."""
    reason: str
    """"" where ACTIVE."""
    since: float
    """Unix time of the last change of `state` or of `definition`."""
    definition: str
    """The parameters in force, as `profiles.mapping.definition` writes them."""
    offered: str | None = None
    """CHANGE_REFUSED: the definition that the document has and that waits for the last set to go."""

    @property
    def profile(self) -> Profile:
        return profile_from_definition(self.definition)

    @property
    def usable(self) -> bool:
        """Whether new sets can be made under it."""
        return self.state != INACTIVE


@dataclass(frozen=True, slots=True)
class Known:
    """Everything the provider keeps about its profiles; immutable, one row in its database."""

    document: bytes | None = None
    """The last good document; None: none ever came."""
    in_force_since: float | None = None
    """Unix time when that document came."""
    confirmed: float | None = None
    """Unix time when the source was last known to have exactly that document."""
    last_fetch: float | None = None
    """Unix time when the last fetch ended, well or not."""
    ok: bool | None = None
    """Outcome of the last fetch; None: there was none yet."""
    outcome: str = "not fetched yet"
    profiles: Mapping[str, ProfileState] = field(default_factory=lambda: MappingProxyType({}))
    """By name, sorted."""

    def to_json(self) -> str:
        """The row's text; `from_json` reads it back."""
        content: dict[str, Any] = {
            "format": _FORMAT,
            "document": None if self.document is None else self.document.decode("utf-8"),
            "in_force_since": self.in_force_since,
            "confirmed": self.confirmed,
            "last_fetch": self.last_fetch,
            "ok": self.ok,
            "outcome": self.outcome,
            "profiles": [
                {
                    "name": profile.name,
                    "state": profile.state,
                    "reason": profile.reason,
                    "since": profile.since,
                    "definition": profile.definition,
                    "offered": profile.offered,
                }
                for profile in self.profiles.values()
            ],
        }
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Known:
        """ValueError for what `to_json` did not write; the caller then starts from EMPTY and says so."""
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT:
                raise ValueError(f"profiles row: format {content['format']!r} is not {_FORMAT}")
            profiles = [
                ProfileState(
                    str(item["name"]),
                    str(item["state"]),
                    str(item["reason"]),
                    float(item["since"]),
                    definition(profile_from_definition(item["definition"])),
                    None if item["offered"] is None else definition(profile_from_definition(item["offered"])),
                )
                for item in content["profiles"]
            ]
            if wrong := [p.state for p in profiles if p.state not in (ACTIVE, INACTIVE, CHANGE_REFUSED)]:
                raise ValueError(f"profiles row: state {wrong[0]!r} is not known")
            document = content["document"]
            return cls(
                document=None if document is None else document.encode("utf-8"),
                in_force_since=content["in_force_since"],
                confirmed=content["confirmed"],
                last_fetch=content["last_fetch"],
                ok=content["ok"],
                outcome=str(content["outcome"]),
                profiles=_by_name(profiles),
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"profiles row: not readable: {error!r}") from error


EMPTY = Known()


# --- decisions -------------------------------------------------------------------------------------------------


def apply_result(
    current: Known, result: FetchResult, used: Used, provider_type: str, provider_name: str, now: float
) -> Known:
    """What is known after a fetch. A failure changes nothing but the outcome that is shown."""
    if isinstance(result, Fetched):
        return apply_document(current, result, used, provider_type, provider_name, now)
    if isinstance(result, NotModified):
        known = replace(current, last_fetch=now, confirmed=now, ok=True, outcome="not modified")
    else:
        known = replace(current, last_fetch=now, ok=False, outcome=result.reason)
    return reconsider(known, used, now)


def apply_document(
    current: Known, document: Fetched, used: Used, provider_type: str, provider_name: str, now: float
) -> Known:
    """A valid document takes the place of the one before; each profile is then decided by itself."""
    targets: dict[str, str | None] = {}
    reasons: dict[str, str] = {}
    for name, entry in document.entries.items():
        if selects(entry, provider_type, provider_name):
            targets[name] = entry.definition
        else:
            reasons[name] = f"its selector does not name provider {provider_type}/{provider_name}"
    selected = len(targets)
    for name in (*current.profiles, *used):
        if name not in targets:
            targets[name] = None
            reasons.setdefault(name, "it is not in the document")
    outcome = f"fetched: {len(document.entries)} profiles, {selected} for this provider"
    return replace(
        current,
        document=document.data,
        in_force_since=now,
        confirmed=now,
        last_fetch=now,
        ok=True,
        outcome=outcome,
        profiles=_decide_all(current.profiles, targets, reasons, used, now),
    )


def reconsider(current: Known, used: Used, now: float) -> Known:
    """The same document after sets came or went: a change that was refused is made once nothing stands in its way.

    Cheap where nothing changed; to be called after each change of the sets.
    """
    targets: dict[str, str | None] = {}
    reasons: dict[str, str] = {}
    for name, profile in current.profiles.items():
        if profile.state == INACTIVE:
            targets[name], reasons[name] = None, profile.reason
        else:
            targets[name] = profile.offered or profile.definition
    for name in used:
        if name not in targets:
            targets[name], reasons[name] = None, "it is in no document that this provider has seen"
    profiles = _decide_all(current.profiles, targets, reasons, used, now)
    return current if profiles == current.profiles else replace(current, profiles=profiles)


def _decide_all(
    before: Mapping[str, ProfileState],
    targets: Mapping[str, str | None],
    reasons: Mapping[str, str],
    used: Used,
    now: float,
) -> Mapping[str, ProfileState]:
    decided = []
    for name, target in targets.items():
        in_use = {text for text in map(_canonical, used.get(name, ())) if text is not None}
        profile = _decide(before.get(name), name, target, reasons.get(name, ""), in_use, now)
        if profile is not None:
            decided.append(profile)
    idle = [profile for profile in decided if profile.state == INACTIVE and not used.get(profile.name)]
    idle.sort(key=lambda profile: (-profile.since, profile.name))
    forgotten = {profile.name for profile in idle[MAX_INACTIVE:]}
    return _by_name([profile for profile in decided if profile.name not in forgotten])


def _decide(
    before: ProfileState | None, name: str, target: str | None, reason: str, in_use: set[str], now: float
) -> ProfileState | None:
    """One profile. `target` is its definition in the document, None where it has none for this provider."""
    held = before.definition if before else min(in_use, default=None)
    if target is None:
        if held is None:
            return None
        after = ProfileState(name, INACTIVE, reason, now, held)
    elif target == held or held is None or in_use <= {target}:
        after = ProfileState(name, ACTIVE, "", now, target)
    else:
        why = f"the document changes {_difference(held, target)} while sets use it; it changes when they are gone"
        after = ProfileState(name, CHANGE_REFUSED, why, now, held, target)
    if before is None or (before.state, before.definition) != (after.state, after.definition):
        return after
    # Mostly nothing changed, and making a new one for each of a thousand takes its time.
    same = (before.reason, before.offered) == (after.reason, after.offered)
    return before if same else replace(after, since=before.since)


def _difference(held: str, target: str) -> str:
    """ "core_siblings from "required" to "none", memory from …": what a person looks for in the document."""
    old, new = json.loads(held), json.loads(target)
    parts = []
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            parts.append(f"{key} from {_text(old, key)} to {_text(new, key)}")
    return ", ".join(parts)


def _text(content: Mapping[str, Any], key: str) -> str:
    return json.dumps(content[key]) if key in content else "nothing"


def _canonical(text: str) -> str | None:
    """A definition that an older Pinfold wrote, in today's words, so that an upgrade changes no profile; None for
    what is none (one broken record of a set must not keep the document from being applied)."""
    try:
        return definition(profile_from_definition(text))
    except ValueError:
        return None


def _by_name(profiles: Collection[ProfileState]) -> Mapping[str, ProfileState]:
    return MappingProxyType({p.name: p for p in sorted(profiles, key=lambda p: p.name)})


# --- views -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileView:
    """One profile as GET_PROFILES and the pages show it."""

    name: str
    state: str
    reason: str
    since: float
    definition: str
    placeable: bool | None
    """Whether this host can meet it at all; None: not judged."""


def views(known: Known, placeable: Callable[[Profile], bool | None] | None = None) -> list[ProfileView]:
    """Every known profile by name; `placeable` is the provider's judgement, asked for each one."""
    return [
        ProfileView(
            profile.name,
            profile.state,
            profile.reason,
            profile.since,
            profile.definition,
            placeable(profile.profile) if placeable else None,
        )
        for profile in known.profiles.values()
    ]


def changes(before: Known, after: Known) -> list[str]:
    """What happened between two states, one sentence each, for the log; empty where nothing did."""
    result = []
    if (before.ok, before.outcome) != (after.ok, after.outcome) and after.ok is False:
        kept = "the last good document stays in force" if after.document is not None else "there is no document yet"
        result.append(f"profile document not taken: {after.outcome}; {kept}")
    elif before.document != after.document:
        result.append(f"profile document {after.outcome}")
    elif before.ok is False and after.ok:
        result.append(f"profile source is back: {after.outcome}")
    for name in sorted({*before.profiles, *after.profiles}):
        old, new = before.profiles.get(name), after.profiles.get(name)
        if new is None:
            result.append(f"profile {name}: forgotten")
        elif old is None or (old.state, old.reason, old.definition) != (new.state, new.reason, new.definition):
            was = old.state if old else "new"
            what = f": {new.reason}" if new.reason else f": {new.definition}"
            result.append(f"profile {name}: {was} -> {new.state}{what}")
    return result
