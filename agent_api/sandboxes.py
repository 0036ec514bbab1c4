"""The directories of tasks that are over: set aside when their id is used again, removed after a while.

Decides which they are: nothing is left to be said of the task, no process of its shim lives, and its end is longer ago
than the delay. Never touches the directory of a task that the agent knows. What is removed is first moved out of
`tasks/`, so that nobody finds half of it, and then deleted in a thread, as it may be much.
"""

# mypy: allow-untyped-calls
# (most of twisted has no types)

from __future__ import annotations

import contextlib
import logging
import shutil
import time
import uuid
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThreadPool

from agent_api import shim

__all__ = ["GC_DELAY", "Sweeper", "discard", "set_aside"]

log = logging.getLogger(__name__)

GC_DELAY = 7 * 24 * 3600.0
"""Seconds from a task's end to the removal of its directory (Mesos's default)."""
_LOOK_SECONDS = 3600.0


def _running(claim: dict[str, Any]) -> bool:
    pid, start = claim.get("pid"), claim.get("start_ticks")
    # A task that runs as the agent's user can write what it likes there.
    if not isinstance(pid, int) or not isinstance(start, int) or claim.get("boot_id") != shim.boot_id():
        return False
    return shim.process_start(pid) == start


def set_aside(path: Path) -> None:
    """Out of the way with the directory of a task of the same id that is over. Raises OSError."""
    if not path.exists():
        return
    claim = shim.trusted_json(path / "pid.json") or {}
    if _running(claim) or not (claim or (path / "exit.json").exists()):
        return
    number = 1
    while (aside := path.with_name(f"{path.name}~{number}")).exists():
        number += 1
    path.rename(aside)
    log.info("%s: of an earlier task with this id, kept as %s", path, aside.name)


def discard(work_dir: str, known: Collection[str], before: float) -> list[Path]:
    """Move the directories of tasks that ended before this time (Unix) to `tasks.removed/`; which these were. `known`
    are those of the tasks that the agent still knows, running or not."""
    found = []
    trash = Path(work_dir, "tasks.removed")
    for path in Path(work_dir, "tasks").glob("*/*"):
        with contextlib.suppress(OSError):
            if str(path) in known or _ended(path) >= before:
                continue
            if _running(shim.trusted_json(path / "pid.json") or {}):
                continue
            trash.mkdir(exist_ok=True)
            path.rename(trash / uuid.uuid4().hex)
            found.append(path)
    for framework in {path.parent for path in found}:
        with contextlib.suppress(OSError):
            framework.rmdir()  # where it was the last one
    return found


def _ended(path: Path) -> float:
    try:
        return (path / "exit.json").stat().st_mtime
    except FileNotFoundError:
        return path.stat().st_mtime


class Sweeper:
    """Looks now and then, while the agent runs. `known` tells the directories of the tasks that it knows."""

    def __init__(self, reactor: Any, work_dir: str, delay: float, known: Callable[[], Collection[str]]) -> None:
        self._reactor, self._work_dir, self._delay, self._known = reactor, work_dir, delay, known
        self._deleting = False
        self._calls = LoopingCall(self._look)
        self._calls.clock = reactor

    def start(self) -> None:
        self._calls.start(min(_LOOK_SECONDS, max(1.0, self._delay)))

    def stop(self) -> None:
        if self._calls.running:
            self._calls.stop()

    def _look(self) -> None:
        if self._deleting:
            return
        found = discard(self._work_dir, self._known(), time.time() - self._delay)
        for path in found:
            log.info("%s: its task ended more than %g s ago; removed", path, self._delay)
        trash = Path(self._work_dir, "tasks.removed")
        if trash.exists():
            self._deleting = True
            pool = self._reactor.getThreadPool()
            deleting = deferToThreadPool(self._reactor, pool, shutil.rmtree, trash, ignore_errors=True)
            deleting.addBoth(self._deleted)

    def _deleted(self, _result: Any) -> None:
        self._deleting = False
