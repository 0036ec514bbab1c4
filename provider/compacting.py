"""One compaction as the operator asked for it: the moves, one after another, and the answer.

Decides whether a move is done or only shown, and what the answer says. Which sets move is decided in
`provider.compaction`; how one move is changed in the kernel, committed and told is the caller's (`provider.manager`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator

from agent_api.wire import resource_provider_pb2
from provider import compaction, cpuset, report
from provider.inventory import Host, State

__all__ = ["carry_out", "described"]

log = logging.getLogger(__name__)

Answer = resource_provider_pb2.Call.UpdateCompaction
CompactCpusets = resource_provider_pb2.Event.CompactCpusets


def carry_out(
    wanted: CompactCpusets, now: Callable[[], tuple[Host, State]], do: Callable[[compaction.Move], str]
) -> Generator[None, None, Answer]:
    """Move sets to better CPUs, or find what would move; returns the answer.

    `now` tells host and committed state as they are, `do` does one move whole and returns why it could not be done, or
    "". It stops between moves: operations may come in there. A fault ends it early, and the answer says so.
    """
    answer = Answer()
    answer.uuid.CopyFrom(wanted.uuid)
    moves = answer.moves
    planned = now()[1]

    def done(move: compaction.Move) -> bool:
        nonlocal planned
        error = "" if wanted.dry_run else do(move)
        if wanted.dry_run:
            planned = move.state(planned)
        moves.append(report.shown_move(move, done=not wanted.dry_run and not error, reason=error))
        return not error

    def seen() -> tuple[Host, State]:
        host, state = now()
        return host, planned if wanted.dry_run else state

    if now()[0].enforcement == "affinity":
        answer.message = "sets are enforced by affinity: tasks that run cannot be moved"
    else:
        try:
            yield from compaction.search(seen, done, set(wanted.cpuset_ids))
        except Exception as error:
            # What was changed and not committed is put back by the next comparison with the kernel.
            log.exception("compaction %s ended early", wanted.uuid.value.hex())
            answer.message = f"internal error: {type(error).__name__}: {error}"
    log.info(
        "compaction %s: %s%d moves",
        wanted.uuid.value.hex(),
        "a dry run; " if wanted.dry_run else "",
        sum(1 for move in moves if wanted.dry_run or move.done),
    )
    return answer


def described(move: compaction.Move) -> str:
    """From where to where, and what for."""
    gains = ", ".join(f"{name} {old} -> {new}" for name, (old, new) in move.gains.items())
    return f"from CPUs {cpuset.format_mask(move.before.cpus)} to {cpuset.format_mask(move.after.cpus)}: {gains}"
