"""What PUBLISH_RESOURCES asks for: the sets that are to be in force, and those that the answer is about.

Decides which sets keep a task from starting. Whether they are in force is the kernel's to say (`provider.keeper`); it
does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent_api.wire import resource_provider_pb2
from provider.dialect import Dialect
from provider.inventory import State

__all__ = ["Wanted", "wanted"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one PUBLISH_RESOURCES asks for."""

    named: frozenset[str]
    """The sets of all tasks; they are put in force."""
    needed: frozenset[str]
    """Those of the task that is about to start, or of all where that is not told; the answer is about these."""
    mixed: frozenset[tuple[str, ...]]
    """Sets that tasks use together."""
    problems: tuple[str, ...]
    """Why it cannot be had, whatever the kernel says."""


def wanted(
    dialect: Dialect, state: State, revoked: Mapping[str, str], publish: resource_provider_pb2.Event.PublishResources
) -> Wanted:
    """What is asked for. `revoked` are reasons by set id.

    A set of another task that cannot be had is no problem: its own task does not start, and says why.
    """
    named, problems = dialect.used(state, publish.resources)
    starting = set(publish.starting)
    if starting:
        problems = [f"set {one!r} does not exist" for one in sorted(starting - state.sets.keys())]
    needed = starting or named
    problems.extend(f"set {one} is revoked: {revoked[one]}" for one in sorted(needed) if one in revoked)
    mixed = {tuple(sorted(one.set_ids)) for one in publish.together if named.issuperset(one.set_ids)}
    return Wanted(frozenset(named), frozenset(needed), frozenset(mixed), tuple(problems))
