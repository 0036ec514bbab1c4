"""Profiles on their way into force: worked out beforehand, stored, judged on the host, shown.

Decides when a change is stored (before it is in force), what of it is logged, and whether it is worth a report. What a
document does to profiles is decided in `profiles.state`, what that means on the host in `provider.catalogue`. It never
fetches anything, changes no set and tells nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agent_api.wire import mesos_pb2, pinfold_pb2
from profiles import state as profile_state
from provider import report
from provider.catalogue import Catalogue, used, would_be_active
from provider.inventory import Host, State
from provider.room import RawLabels
from provider.store import Store, StoreError

__all__ = ["ProfileKeeper"]

log = logging.getLogger(__name__)

REPORT_LOOKS_SECONDS = 10.0
LOGGED_CHANGES = 100
"""Of one document: a thousand lines would hold up the process."""


class ProfileKeeper:
    """The profiles of one provider."""

    def __init__(
        self,
        store: Store,
        info: mesos_pb2.ResourceProviderInfo,
        labels: RawLabels,
        clock: Callable[[], float],
    ) -> None:
        """`info`: whose profiles in a document count. `labels` are told which profiles they are of."""
        self._store = store
        self._info = info
        self._labels = labels
        self._clock = clock
        self.catalogue = Catalogue()
        self._shown: list[pinfold_pb2.Profile] | None = None
        """None: to be made for the next report."""

    @property
    def known(self) -> profile_state.Known:
        return self.catalogue.known

    def shown(self, host: Host) -> Sequence[pinfold_pb2.Profile]:
        """As a report shows them."""
        if self._shown is None:
            self._shown = report.shown_profiles(host, self.known, self.catalogue.unmet)
        return self._shown

    def judge(self, known: profile_state.Known, host: Host) -> None:
        """Put them in force on this host; storing is the caller's."""
        self.catalogue.judge(known, host)
        self._labels.use(host, self.catalogue.active)
        self._shown = None

    def preparation(self, result: profile_state.Fetched, state: Callable[[], State]) -> Iterator[None]:
        """Work out in short steps what `fetched` of a new document will need; nothing is in force by it. `state` tells
        the committed state, which may change between two steps.

        A document of a thousand profiles would hold up everything else if it was looked at in one turn.
        """
        known = self._after(result, state())
        yield
        yield from self.catalogue.prepare(known)
        yield from self._labels.prepare(would_be_active(known), state())

    def _after(self, result: profile_state.FetchResult, state: State) -> profile_state.Known:
        return profile_state.apply_result(
            self.known, result, used(state), self._info.type, self._info.name, self._clock()
        )

    def fetched(self, result: profile_state.FetchResult, host: Host, state: State, reported: float) -> bool:
        """Take over what a look at the source gave; whether that is to be reported, with the last report at `reported`.

        Raises StoreError where it cannot be stored: the profiles stay, and the look is known as one that failed.
        """
        now = self._clock()
        try:
            return self._take(self._after(result, state), host, reported)
        except StoreError as error:
            why = f"the document cannot be stored: {error}"
            self.catalogue.known = replace(self.known, last_fetch=now, ok=False, outcome=why)
            raise

    def reconsider(self, host: Host, state: State, reported: float) -> bool:
        """After sets came or went: what waited for the last one to go is done. Returns what `fetched` does."""
        try:
            return self._take(profile_state.reconsider(self.known, used(state), self._clock()), host, reported)
        except StoreError as error:
            log.error("profiles: %s; the ones before stay", error)
            return False

    def _take(self, known: profile_state.Known, host: Host, reported: float) -> bool:
        """Put it in force; stored where it is more than the time of another look."""
        before = self.known
        if known is before:
            return False
        if (known.document, known.profiles) != (before.document, before.profiles):
            self._store.save_profiles(known)
        said = profile_state.changes(before, known)
        for sentence in said[:LOGGED_CHANGES]:
            log.log(logging.INFO if known.ok else logging.WARNING, "%s", sentence)
        if len(said) > LOGGED_CHANGES:
            log.info("profiles: and %d more changes", len(said) - LOGGED_CHANGES)
        if known.profiles != before.profiles:
            self.judge(known, host)
        else:
            self.catalogue.known = known
        changed = (known.ok, known.outcome, known.profiles) != (before.ok, before.outcome, before.profiles)
        # The time of the last look is told as well, but not each time.
        return changed or self._clock() - reported >= REPORT_LOOKS_SECONDS
