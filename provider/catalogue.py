"""The profiles as this host has them: which there are, which new sets may be made under, which it can never meet.

Decides whether a profile can be used for a new set here. What a document does to profiles is decided in
`profiles.state`; nothing is fetched or stored here.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping
from typing import TypeVar

from profiles import state as profile_state
from profiles.mapping import Profile, definition
from provider import power_rules, report
from provider.inventory import Host, State
from provider.operations import Catalogued

__all__ = ["Catalogue", "at_once", "used", "would_be_active"]

log = logging.getLogger(__name__)

LOGGED = 100

T = TypeVar("T")


class Catalogue:
    """What is known of the profiles, and what that means on the host."""

    def __init__(self) -> None:
        self.known = profile_state.EMPTY
        self.entries: Mapping[str, Catalogued] = {}
        """Every profile by name."""
        self.unmet: Mapping[str, str] = {}
        """Profiles that this host cannot meet at all, and why."""
        self._host: Host | None = None
        self._judged: dict[str, tuple[Profile, str]] = {}
        self._by_rules: dict[Profile, str] = {}
        """Judgements on this host, by definition and by rules: most profiles of a new document are as they were, and
        many are alike."""

    @property
    def active(self) -> tuple[Profile, ...]:
        """Those that new sets may be made under."""
        return tuple(entry.profile for entry in self.entries.values() if entry.active)

    def prepare(self, known: profile_state.Known) -> Iterator[None]:
        """Look at the profiles that are to be judged soon, in short steps."""
        if self._host is not None:
            for one in known.profiles.values():
                if one.definition not in self._judged:
                    yield from self._look_at(self._host, one)
                    yield

    def judge(self, known: profile_state.Known, host: Host) -> None:
        """Put in force what is known, on this host."""
        if host is not self._host:
            self._host, self._judged, self._by_rules = host, {}, {}
        entries: dict[str, Catalogued] = {}
        unmet: dict[str, str] = {}
        judged: dict[str, tuple[Profile, str]] = {}
        for name, one in known.profiles.items():
            judgement = self._judged.get(one.definition) or at_once(self._look_at(host, one))
            profile, reason = judged[one.definition] = judgement
            entries[name] = Catalogued(profile, one.usable, "" if one.usable else one.reason)
            if reason:
                unmet[name] = reason
        found = [name for name, reason in unmet.items() if self.unmet.get(name) != reason]
        for name in found[:LOGGED]:
            log.warning("profile %s: this host cannot meet it: %s", name, unmet[name])
        if len(found) > LOGGED:
            log.warning("and %d more profiles that this host cannot meet", len(found) - LOGGED)
        self.known, self.entries, self.unmet, self._judged = known, entries, unmet, judged
        if len(self._by_rules) > 2 * len(judged) + LOGGED:
            self._by_rules = {}

    def _look_at(self, host: Host, one: profile_state.ProfileState) -> Generator[None, None, tuple[Profile, str]]:
        profile = one.profile
        rules = profile.rules
        reason = self._by_rules.get(rules)
        if reason is None:
            reason = yield from report.unplaceable(host, rules)
            if host is self._host:
                self._by_rules[rules] = reason
        if not reason and profile.power is not None:
            reason = power_rules.unmet(host.policies, profile.power, host.pool(profile.pool))
        if host is self._host:
            self._judged[one.definition] = profile, reason
        return profile, reason


def at_once(steps: Generator[object, None, T]) -> T:
    """Do all the steps and return what they come to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value


def would_be_active(known: profile_state.Known) -> tuple[Profile, ...]:
    """`Catalogue.active` once this is in force."""
    return tuple(one.profile for one in known.profiles.values() if one.usable)


def used(state: State) -> profile_state.Used:
    """The definitions that live sets were made with, by profile name."""
    result: dict[str, set[str]] = {}
    for one in state.sets.values():
        result.setdefault(one.profile.name, set()).add(definition(one.profile))
    return result
