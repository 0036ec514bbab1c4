"""How one agent runs, as the command line and its files gave it. Values only; it decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent_api import sandboxes
from agent_api.authentication import Credential
from agent_api.core.acls import ALLOW_ALL, Acls
from agent_api.wire import mesos_pb2

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How one agent runs, as the command line gave it."""

    work_dir: str
    version: str
    hostname: str
    ip: str = "127.0.0.1"
    port: int = 5051
    master_port: int = 5050
    resources: tuple[mesos_pb2.Resource, ...] = ()
    measured: frozenset[str] = frozenset()
    """Names among them that were measured on this host, and not given."""
    attributes: tuple[mesos_pb2.Attribute, ...] = ()
    online_cpus: int = 1
    sysfs_root: str = "/"
    cgroup_root: str = "auto"
    cgroup_name: str = "pinfold"
    offer_timeout: float | None = None
    gc_delay: float = sandboxes.GC_DELAY
    credentials: list[Credential] | None = field(default=None, repr=False)
    """Who may use the two ports; None: everybody."""
    acls: Acls = ALLOW_ALL
    ssl_cert: str | None = None
    """Path of the certificate in `tls`."""
    tls: Any = None
    """What `agent_api.tls.server_options` made of certificate and key; None: plain HTTP."""
    flags: dict[str, str] = field(default_factory=dict)
