"""The profiles as this host has them: which there are, which new sets may be made under, which it can never meet.

Decides whether a profile can be used for a new set here. What a document does to profiles is decided in
`profiles.state`; nothing is fetched or stored here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from profiles import state as profile_state
from profiles.mapping import Profile, definition
from provider import report
from provider.inventory import Host, State
from provider.operations import Catalogued

__all__ = ["Catalogue", "used"]

log = logging.getLogger(__name__)

LOGGED = 100


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
    def active(self) -> list[Profile]:
        """Those that new sets may be made under."""
        return [entry.profile for entry in self.entries.values() if entry.active]

    def judge(self, known: profile_state.Known, host: Host) -> None:
        """Put in force what is known, on this host."""
        if host is not self._host:
            self._host, self._judged, self._by_rules = host, {}, {}
        entries: dict[str, Catalogued] = {}
        unmet: dict[str, str] = {}
        judged: dict[str, tuple[Profile, str]] = {}
        for name, one in known.profiles.items():
            profile, reason = judged[one.definition] = self._judged.get(one.definition) or self._look_at(
                host, one.profile
            )
            missing = not_supported(profile)
            entries[name] = Catalogued(profile, one.usable and not missing, missing if one.usable else one.reason)
            if missing or reason:
                unmet[name] = missing or reason
        found = [name for name, reason in unmet.items() if self.unmet.get(name) != reason]
        for name in found[:LOGGED]:
            log.warning("profile %s: this host cannot meet it: %s", name, unmet[name])
        if len(found) > LOGGED:
            log.warning("and %d more profiles that this host cannot meet", len(found) - LOGGED)
        self.known, self.entries, self.unmet, self._judged = known, entries, unmet, judged
        if len(self._by_rules) > 2 * len(judged) + LOGGED:
            self._by_rules = {}

    def _look_at(self, host: Host, profile: Profile) -> tuple[Profile, str]:
        rules = profile.rules
        if rules not in self._by_rules:
            self._by_rules[rules] = report.unplaceable(host, rules)
        return profile, self._by_rules[rules]


def used(state: State) -> profile_state.Used:
    """The definitions that live sets were made with, by profile name."""
    result: dict[str, set[str]] = {}
    for one in state.sets.values():
        result.setdefault(one.profile.name, set()).add(definition(one.profile))
    return result


def not_supported(profile: Profile) -> str:
    """What a profile asks for that this provider cannot do yet: refused, never silently left out."""
    return "power settings are not applied by this version" if profile.power is not None else ""
