"""COMPACT_CPUSETS: the operator asks that sets move to better CPUs.

Decides which providers are asked and how their answers become one. What moves, if anything, is the provider's decision;
nothing is moved without this call, and a call that does not say otherwise is a dry run.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_api.core.effects import CompactionAnswered
from agent_api.core.model import Provider, World
from agent_api.errors import NotFound, Unavailable
from agent_api.wire import agent_pb2, resource_provider_pb2

__all__ = ["answered", "ask", "provider_lost", "response"]

Event = resource_provider_pb2.Event
Answer = resource_provider_pb2.Call.UpdateCompaction


def ask(world: World, call: agent_pb2.Call.CompactCpusets) -> dict[bytes, str]:
    """Ask each provider that is there. Returns what is asked of whom: uuid -> provider id.

    Raises NotFound for a set that nobody has, Unavailable where no provider (or not that of the set) is connected.
    """
    for set_id in call.cpuset_ids:
        owners = [p for p in world.providers.values() if set_id in p.sets]
        if not owners:
            raise NotFound(f"compact_cpusets.cpuset_ids: there is no set {set_id!r}")
        if not any(p.ready for p in owners):
            raise Unavailable(f"compact_cpusets.cpuset_ids: the provider of set {set_id!r} is not connected")
    ready = [p for p in world.providers.values() if p.ready and _concerned(p, call)]
    if not ready:
        raise Unavailable("No resource provider is connected")
    asked: dict[bytes, str] = {}
    for provider in ready:
        event = Event(type=Event.COMPACT_CPUSETS)
        wanted = event.compact_cpusets
        wanted.uuid.value = world.new_uuid()
        wanted.dry_run = call.dry_run
        wanted.cpuset_ids.extend(set_id for set_id in call.cpuset_ids if set_id in provider.sets)
        world.to_provider(provider, event)
        provider.compacting.add(wanted.uuid.value)
        asked[wanted.uuid.value] = provider.id
    return asked


def _concerned(provider: Provider, call: agent_pb2.Call.CompactCpusets) -> bool:
    return not call.cpuset_ids or any(set_id in provider.sets for set_id in call.cpuset_ids)


def answered(world: World, provider: Provider, answer: Answer) -> None:
    """A provider is done."""
    provider.compacting.discard(answer.uuid.value)
    world.effects.append(CompactionAnswered(answer.uuid.value, answer))


def provider_lost(world: World, provider: Provider) -> None:
    """It will not answer any more: whoever waits is told so at once."""
    for uuid in sorted(provider.compacting):
        answer = Answer(message="the provider went away meanwhile; `pinfold sets` tells what moved")
        answer.uuid.value = uuid
        answered(world, provider, answer)


def response(world: World, dry_run: bool, answers: Mapping[str, Answer]) -> agent_pb2.Response:
    """What the operator is told; `answers` by provider id."""
    result = agent_pb2.Response(type=agent_pb2.Response.COMPACT_CPUSETS)
    result.compact_cpusets.dry_run = dry_run
    for provider_id, answer in sorted(answers.items()):
        told = result.compact_cpusets.providers.add()
        told.id.value = provider_id
        provider = world.providers.get(provider_id)
        told.name = provider.key[1] if provider is not None else ""
        told.moves.extend(answer.moves)
        if answer.message:
            told.message = answer.message
    return result
