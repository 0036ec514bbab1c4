"""What differs between the agents that the provider can work for: the words, never the work.

Decides how the provider's state is said to an agent and what the agent's events mean, for Pinfold's own agent
(`Pinfold` below) and, in `provider.dialect_mesos`, for a stock Mesos agent. Which CPUs a set gets, what is committed
and what the kernel has is the same for both, and is decided elsewhere. It does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Protocol

from agent_api.wire import mesos_pb2, resource_provider_pb2
from provider import inventory, operations, revocable
from provider.inventory import Host, State
from provider.operations import Change, Context, Operation, Refusal

__all__ = ["Dialect", "Pinfold", "Telling"]

Resource = mesos_pb2.Resource
Source = inventory.Source
Call = resource_provider_pb2.Call


class Telling(Enum):
    """What the agent must be told of our resources after an operation, besides its status."""

    NOTHING = "nothing"
    """It knows them."""
    REPORT = "report"
    NEW_VERSION = "report under a new version"
    """What the agent and the master have decided meanwhile was decided on totals that never were."""


class Dialect(Protocol):
    """The words of one kind of agent."""

    extended: bool
    """Whether UPDATE_STATE tells what goes beyond Mesos (cpu_report)."""

    def check(self, info: mesos_pb2.ResourceProviderInfo, state: State) -> None:
        """Raise ConfigError where the configuration or a committed set cannot be said in this dialect."""

    def info(self, info: mesos_pb2.ResourceProviderInfo) -> mesos_pb2.ResourceProviderInfo:
        """The provider as SUBSCRIBE tells it."""

    def decide(self, context: Context, state: State, operation: Operation) -> Change | Refusal:
        """Decide one operation that has not been seen before."""

    def emptied(self, state: State, info: mesos_pb2.Offer.Operation) -> set[str]:
        """Ids of the sets that the operation may destroy, so that it matters whether something runs in them."""

    def telling(self, host: Host, before: State, operation: Operation, outcome: Change | Refusal) -> Telling:
        """What must be told after an operation that was decided on `before`."""

    def resources(
        self, host: Host, state: State, provider_id: str, labels: inventory.Labels
    ) -> list[mesos_pb2.Resource]:
        """All that the provider has."""

    def used(self, state: State, resources: Iterable[mesos_pb2.Resource]) -> tuple[set[str], list[str]]:
        """The sets that these published resources are, and why some are none."""

    def groups(self, state: State) -> Mapping[str, tuple[str, ...]]:
        """Cgroups of tasks that are to be kept in sets, as the framework named them: path -> set ids."""

    def containers(self, state: State, tasks: Iterable[mesos_pb2.Task]) -> Mapping[str, tuple[str, ...]]:
        """The same of the tasks that the agent runs."""

    def outgoing(self, call: Call, agent_id: str | None) -> Call:
        """A call as it leaves the process."""


class Pinfold:
    """Pinfold's own agent: sets are resources with `cpu`, made by CREATE_CPUSET."""

    extended = True

    def check(self, info: mesos_pb2.ResourceProviderInfo, state: State) -> None:
        return

    def info(self, info: mesos_pb2.ResourceProviderInfo) -> mesos_pb2.ResourceProviderInfo:
        return info

    def decide(self, context: Context, state: State, operation: Operation) -> Change | Refusal:
        return operations.decide(context, state, operation)

    def emptied(self, state: State, info: mesos_pb2.Offer.Operation) -> set[str]:
        return {resource.cpu.source.id for resource in info.destroy_cpuset.source}

    def telling(self, host: Host, before: State, operation: Operation, outcome: Change | Refusal) -> Telling:
        """The agent undoes what it assumed of a refused operation by itself."""
        return Telling.REPORT if isinstance(outcome, Change) else Telling.NOTHING

    def resources(
        self, host: Host, state: State, provider_id: str, labels: inventory.Labels
    ) -> list[mesos_pb2.Resource]:
        found = inventory.resources(host, state, provider_id, labels)
        found.extend(revocable.resources(provider_id, labels, revocable.amounts(host, state)))
        return found

    def used(self, state: State, resources: Iterable[mesos_pb2.Resource]) -> tuple[set[str], list[str]]:
        named: set[str] = set()
        problems = []
        for resource in resources:
            source = resource.cpu.source
            if source.type not in (Source.EXCLUSIVE, Source.SHARED):
                problems.append(f"{Source.Type.Name(source.type)} CPUs cannot be used by a task")
            elif source.id not in state.sets:
                problems.append(f"set {source.id!r} does not exist")
            else:
                named.add(source.id)
        return named, problems

    def groups(self, state: State) -> Mapping[str, tuple[str, ...]]:
        return {}

    def containers(self, state: State, tasks: Iterable[mesos_pb2.Task]) -> Mapping[str, tuple[str, ...]]:
        return {}

    def outgoing(self, call: Call, agent_id: str | None) -> Call:
        return call
