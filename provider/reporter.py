"""What UPDATE_STATE tells, with the parts of it that take long kept for as long as they are true.

Decides what is worked out again, and what goes beyond Mesos for an agent that knows it. How things are shown is decided
in `provider.report` and by the dialect, when to report by `provider.manager`. It sends and stores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_api.wire import pinfold_pb2, resource_provider_pb2
from provider import calls, report
from provider.dialect import Dialect
from provider.identity import Identity
from provider.inventory import Host, State
from provider.operations import Record
from provider.profile_keeper import ProfileKeeper
from provider.room import Growth, RawLabels

__all__ = ["Reporter"]


class Reporter:
    """The reports of one provider."""

    def __init__(self, dialect: Dialect, labels: RawLabels, profiles: ProfileKeeper, profiles_uri: str | None) -> None:
        self._dialect = dialect
        self._labels = labels
        self._profiles = profiles
        self._profiles_uri = profiles_uri
        self._growth = Growth()
        self._topology = pinfold_pb2.Topology()

    def host_is(self, host: Host) -> None:
        """From now on tell of this host."""
        self._topology = report.shown_topology(host)

    def warm(self, host: Host, state: State) -> None:
        """Work out all that a report needs, at a time when nobody waits."""
        self._labels.warm(state)
        self._growth(host, state)

    def update_state(
        self, identity: Identity, host: Host, state: State, pending: Iterable[Record], degraded: Mapping[str, str]
    ) -> resource_provider_pb2.Call:
        """The call. `pending` are operations that are not acknowledged, `degraded` reasons by set id."""
        resources = self._dialect.resources(host, state, identity.provider_id or "", self._labels)
        shown = None
        if self._dialect.extended:
            shown = report.cpu_report(
                host,
                state,
                degraded,
                self._profiles.known,
                self._profiles_uri,
                self._topology,
                self._profiles.shown(host),
                self._growth(host, state),
            )
        return calls.update_state(identity.provider_id, identity.version, resources, pending, shown)
