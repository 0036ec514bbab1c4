"""What a TaskInfo asks for, read for the shim: its command, environment, user and CPU sets.

Decides what cannot be run, with the reason. Changes nothing; the only thing it looks up is the user's account.
"""

from __future__ import annotations

import functools
import operator
import os
import pwd
from pathlib import PurePosixPath

from agent_api import shim
from agent_api.wire import mesos_pb2

__all__ = ["LaunchError", "Sets", "argv_of", "check_container", "environment_of", "ids", "show", "switch_to"]

_NAME_MAX = 255
"""Bytes in a directory's name."""
_Source = mesos_pb2.Resource.CpuInfo.Source


class LaunchError(Exception):
    """The task cannot be started; the message goes to the framework."""


class Sets:
    """The CPU sets that a task uses, from its resources' metadata (written by the provider)."""

    def __init__(self, resources: list[mesos_pb2.Resource]) -> None:
        self.ids: dict[str, str] = {}
        """Set id -> "exclusive" or "shared"."""
        self.exclusive = self.shared = self.mems = 0
        self.cgroups: dict[str, str] = {}
        """Set id -> its directory."""
        self.policies: dict[str, tuple[str, int]] = {}
        """Set id -> its memory policy ("" = none) and nodes."""
        self.enforcement = ""
        for resource in resources:
            source = resource.cpu.source
            if source.type not in (_Source.EXCLUSIVE, _Source.SHARED):
                raise LaunchError(f"cpus of type {_Source.Type.Name(source.type)} cannot be run on")
            labels = {label.key: label.value for label in source.metadata.labels}
            try:
                cpus, mems = shim.list_mask(labels.get("cpus", "")), shim.list_mask(labels.get("mems", ""))
            except ValueError:
                raise LaunchError(f"set {source.id}: its cpus {labels.get('cpus')!r} are no list") from None
            if not cpus:
                raise LaunchError(f"set {source.id} has no CPUs")
            self.mems |= mems
            if source.type == _Source.EXCLUSIVE:
                self.exclusive |= cpus
            else:
                self.shared |= cpus
            self.ids[source.id] = "exclusive" if source.type == _Source.EXCLUSIVE else "shared"
            self.cgroups[source.id] = labels.get("cgroup", "")
            self.policies[source.id] = labels.get("memory", ""), mems
            self.enforcement = labels.get("enforcement", "")
        if self.ids and not self.affinity and not all(self.cgroups.values()):
            raise LaunchError(f"set {', '.join(self.ids)}: enforcement {self.enforcement!r}, but no cgroup")

    @property
    def cpus(self) -> int:
        return self.exclusive | self.shared

    @property
    def affinity(self) -> bool:
        return bool(self.ids) and self.enforcement == "affinity"

    @property
    def cgroup(self) -> str:
        """The directory that the task joins: the set's; of several the provider's mix.ID+ID beside them."""
        (first, kind), *more = sorted(self.ids.items())
        directory = PurePosixPath(self.cgroups[first])
        if not more:
            return str(directory)
        base = directory.parent if kind == "exclusive" else directory.parent.parent
        name = f"mix.{'+'.join(sorted(self.ids))}"
        if len(name) > _NAME_MAX:
            raise LaunchError(
                f"it uses {len(self.ids)} CPU sets at once, which are too many: the name of their cgroup would have"
                f" {len(name)} bytes, and the kernel takes {_NAME_MAX}"
            )
        return str(base / name)

    def memory_policy(self) -> tuple[str, int]:
        """What the task sets on itself: interleave over the nodes of the sets that ask for it; bind where all ask for
        that and no cgroup does it; "" for none. And the nodes."""
        interleaved = [nodes for policy, nodes in self.policies.values() if policy == "interleave"]
        if interleaved:
            return "interleave", functools.reduce(operator.or_, interleaved)
        if self.affinity and all(policy == "bind" for policy, _ in self.policies.values()):
            return "bind", self.mems
        return "", 0

    def environment(self) -> dict[str, str]:
        return {
            "PINFOLD_EXCLUSIVE_CPUS": show(self.exclusive),
            "PINFOLD_SHARED_CPUS": show(self.shared),
            "PINFOLD_CPUS": show(self.cpus),
            "PINFOLD_MEMS": show(self.mems),
        }


def check_container(container: mesos_pb2.ContainerInfo) -> None:
    """A task must not run on the bare host where it was promised an image, or miss its volumes."""
    if container.type == mesos_pb2.ContainerInfo.DOCKER or container.HasField("docker"):
        raise LaunchError("container: docker is not supported")
    if container.mesos.HasField("image"):
        raise LaunchError("container.mesos.image: images are not supported")
    if container.volumes:
        raise LaunchError("container.volumes: volumes are not supported")


def argv_of(command: mesos_pb2.CommandInfo) -> tuple[str, list[str]]:
    """(program, arguments with the program's name first)."""
    if command.shell:
        if not command.HasField("value"):
            raise LaunchError("command.value is missing: the shell has nothing to run")
        return "/bin/sh", ["sh", "-c", command.value]
    if not command.value:
        raise LaunchError("command.value is missing: there is no program to run")
    return command.value, list(command.arguments) or [command.value]


def environment_of(environment: mesos_pb2.Environment) -> dict[str, str]:
    out = {}
    for variable in environment.variables:
        name = variable.name
        if not name or "=" in name or "\0" in name:
            raise LaunchError(f"command.environment: {name!r} cannot name a variable")
        if variable.type == mesos_pb2.Environment.Variable.SECRET:
            if variable.secret.type != mesos_pb2.Secret.VALUE:
                raise LaunchError(f"command.environment: {name} is a secret by reference, and there is no resolver")
            out[name] = variable.secret.value.data.decode("utf-8", "surrogateescape")
        else:
            out[name] = variable.value
    return out


def switch_to(user: str) -> pwd.struct_passwd | None:
    """The account to run as; None where that is ours already."""
    if not user:
        return None
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise LaunchError(f"user {user!r} is unknown on this host") from None
    except ValueError:
        raise LaunchError(f"user {user!r} is no user's name") from None
    if entry.pw_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise LaunchError(f"cannot run as user {user!r}: the agent does not run as root")
    return entry


def ids(mask: int) -> list[int]:
    return [cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1]


def show(mask: int) -> str:
    """Kernel list format; "" for none. (The provider has its own: the two packages share only the wire.)"""
    spans: list[str] = []
    members = ids(mask)
    start = 0
    for index, cpu in enumerate(members):
        if index + 1 == len(members) or members[index + 1] != cpu + 1:
            spans.append(f"{members[start]}-{cpu}" if cpu > members[start] else f"{cpu}")
            start = index + 1
    return ",".join(spans)
