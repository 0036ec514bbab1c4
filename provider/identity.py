"""Who the provider is to its agent, and the version under which its resources are told.

Decides that an id or a version is stored before anything is told under it. When a new version is due is the caller's:
whatever was decided elsewhere on resources of an older one is dropped from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from provider import cpuset, reconcile
from provider.inventory import Host
from provider.store import Store, Stored

__all__ = ["Identity"]

log = logging.getLogger(__name__)


class Identity:
    """Of one provider; what is here was committed."""

    def __init__(self, store: Store, new_uuid: Callable[[], bytes]) -> None:
        self._store = store
        self._new_uuid = new_uuid
        self.provider_id: str | None = None
        """None until the agent gave one."""
        self.version = b""

    def recover(self, stored: Stored, host: Host) -> None:
        """Take over what was committed before; on another host than then, under a new version."""
        self.provider_id, self.version = stored.provider_id, stored.version
        if stored.host_identity != reconcile.fingerprint(host) or not stored.version:
            if stored.host_identity:
                log.warning(
                    "the CPUs to be offered are not those of the last time: another configuration or host, or CPUs "
                    "that went off- or online (online now: %s); %d sets kept",
                    cpuset.format_mask(host.topology.online),
                    len(stored.state.sets),
                )
            self.renew(host)

    def named(self, provider_id: str, host: Host) -> None:
        """The agent knows the provider by this id. Raises StoreError."""
        if provider_id != self.provider_id:
            self._store.save_identity(provider_id, self.version, reconcile.fingerprint(host))
            log.info("the agent knows this provider as %s", provider_id)
            self.provider_id = provider_id

    def renew(self, host: Host) -> None:
        """From now on another version. Raises StoreError, and the version stays."""
        row = self.following(host)
        self._store.save_identity(*row)
        self.version = row[1]

    def following(self, host: Host) -> tuple[str | None, bytes, str]:
        """(provider id, a new version, the host's fingerprint), for a caller that commits them with something else
        and sets `version` then."""
        return self.provider_id, self._new_uuid(), reconcile.fingerprint(host)
