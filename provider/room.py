"""The labels of RAW (`inventory.raw_labels`), kept for as long as they are true.

Decides when they are worked out again, and in which steps those for other profiles are worked out beforehand, so that
no turn of the reactor has to do it all. What they say is decided in `provider.inventory`; nothing is sent or stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_api.wire import mesos_pb2
from profiles.mapping import Profile
from provider import allocator, inventory
from provider.inventory import Host, Place, State

__all__ = ["RawLabels"]

MAX_KEPT = 4096

Made = dict[Place, mesos_pb2.Labels]


class RawLabels:
    """An `inventory.Labels` for the profiles in force."""

    def __init__(self) -> None:
        self._host: Host | None = None
        self._profiles: tuple[Profile, ...] = ()
        self._made: Made = {}
        self._coming: tuple[tuple[Profile, ...], Made] = ((), {})
        self._largest: dict[tuple[str, int, Profile], int] = {}
        """By pool, what is free, and rules; for any profiles on this host."""

    def use(self, host: Host, profiles: tuple[Profile, ...]) -> None:
        """From now on tell of these profiles on this host; what was prepared for them is used."""
        if host is not self._host:
            self._host, self._made, self._largest, self._coming = host, {}, {}, ((), {})
        if profiles != self._profiles:
            self._made = self._coming[1] if self._coming[0] == profiles else {}
            self._profiles = profiles
            self._coming = ((), {})

    def prepare(self, profiles: tuple[Profile, ...], state: State) -> Iterator[None]:
        """Work out what these profiles, once in use, will need first. Each step is short."""
        host = self._host
        if host is None or profiles == self._profiles:
            return
        made: Made = {}
        self._coming = (profiles, made)
        for place in inventory.places(host, state):
            for profile in profiles:
                if profile.pool == place.pool and profile.mode == inventory.EXCLUSIVE:
                    self._most(host, place, profile.rules)
                    yield
            made[place] = self._work_out(host, profiles, place)
            yield

    def warm(self, state: State) -> None:
        """Work out all that a report needs, at a time when nobody waits."""
        if self._host is not None:
            for place in inventory.places(self._host, state):
                self(place)

    def __call__(self, place: Place) -> mesos_pb2.Labels:
        found = self._made.get(place)
        if found is None:
            if self._host is None:
                raise RuntimeError("use() comes first")
            if len(self._made) >= MAX_KEPT:
                self._made.clear()
            found = self._made[place] = self._work_out(self._host, self._profiles, place)
        return found

    def _work_out(self, host: Host, profiles: tuple[Profile, ...], place: Place) -> mesos_pb2.Labels:
        labels = mesos_pb2.Labels()
        told = inventory.raw_labels(host, profiles, place, lambda rules: self._most(host, place, rules))
        for key, value in told.items():
            labels.labels.add(key=key, value=value)
        return labels

    def _most(self, host: Host, place: Place, rules: Profile) -> int:
        key = (place.pool, place.free, rules)
        found = self._largest.get(key)
        if found is None:
            if len(self._largest) >= 16 * MAX_KEPT:
                self._largest.clear()
            found = self._largest[key] = allocator.largest(
                host.topology, host.layout.zones, host.pool(place.pool), place.free, rules, mems=host.allowed_mems
            )
        return found
