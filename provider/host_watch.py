"""The host as it is now, under this configuration, and whether it is still the one that was looked at.

Decides when a look is worth its time (`HostWatch.changed`), and that the last layout stays where the configuration
does not fit the host any more. Which CPUs are set aside is decided in `provider.layout`. It changes and stores nothing,
and never decides what follows from a change: `provider.manager` does.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from agent_api.wire import mesos_pb2
from provider import cpuset, inventory, reconcile
from provider.errors import ConfigError
from provider.inventory import Host
from provider.layout import Config, plan_layout
from provider.power_rules import Policy
from provider.world import World

__all__ = ["HostWatch", "differs"]

log = logging.getLogger(__name__)


class HostWatch:
    """Looks at one host."""

    def __init__(self, world: World, info: mesos_pb2.ResourceProviderInfo, config: Config) -> None:
        self._world = world
        self._info = info
        self._config = config
        self._mark: object = None
        """`World.host_changed` at the last look."""
        self._fresh = False
        """The last look came right after a change: a CPU is there some milliseconds before its cpufreq driver."""

    def look(self, before: Host | None) -> Host:
        """Read everything anew. `before`: the host of the last look, whose layout stays where the configuration does
        not fit any more; with None, ConfigError is raised then."""
        self._mark = self._world.host_changed()
        self._fresh = True
        found = self._world.read_topology()
        for warning in found.warnings:
            log.warning("topology: %s", warning)
        cpus, mems = self._world.enforcer.allowed()
        try:
            layout = plan_layout(found, self._config, cpus)
        except ConfigError as error:
            if before is None:
                raise
            log.error("the configuration does not fit the host as it is now, its last layout stays: %s", error)
            layout = before.layout
        for warning in layout.warnings:
            log.warning("configuration: %s", warning)
        allowed, allowed_mems = inventory.usable(found, cpus, mems)
        return Host(
            topology=found,
            layout=layout,
            allowed=allowed,
            allowed_mems=allowed_mems,
            default_stack=inventory.stack_from(self._info.default_reservations),
            enforcement=self._world.enforcer.kind,
            overcommit=self._config.overcommit,
            path=lambda set_id, shared: self._world.enforcer.path(set_id, shared=shared),
            policies=self._policies(found.online),
        )

    def _policies(self, online: int) -> dict[int, Policy]:
        return {} if self._world.cpufreq is None else self._world.cpufreq.policies(online)

    def drivers(self, host: Host) -> Host:
        """The host with what cpufreq drivers offer now, read once more some time after each look; the same host where
        that is the same. They may have been late."""
        if not self._fresh:
            return host
        self._fresh = False
        policies = self._policies(host.topology.online)
        return host if policies == host.policies else replace(host, policies=policies)

    def changed(self, host: Host) -> bool:
        """Whether CPUs went off- or online since the last look, or others are allowed than on `host`."""
        seen, _ = inventory.usable(host.topology, *self._world.enforcer.allowed())
        return self._world.host_changed() != self._mark or seen != host.allowed

    def look_again(self) -> None:
        """What the last look gave could not be taken over: the host counts as changed until the next."""
        self._mark = None


def differs(before: Host, now: Host) -> bool:
    """Whether what is offered on a host may be another than before; where it is, that is logged."""
    if reconcile.fingerprint(now) == reconcile.fingerprint(before):
        return False
    log.warning(
        "CPUs changed: %s were allowed, now %s",
        cpuset.format_mask(before.allowed),
        cpuset.format_mask(now.allowed),
    )
    return True
