"""GET_LOGGING_LEVEL and SET_LOGGING_LEVEL: how much the process says, for a while.

Level 0 is how the process was started, any other one says everything (DEBUG). A level that was set goes back by itself.
"""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["LoggingLevel"]

log = logging.getLogger(__name__)


class LoggingLevel:
    """The level of the root logger of this process."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._usual = logging.getLogger().level
        self._revert: Any = None
        self.level = 0

    def set(self, level: int, seconds: float) -> None:
        """Log at `level` for `seconds`; a later call replaces an earlier one."""
        if self._revert is not None:
            self._revert.cancel()
            self._revert = None
        self._apply(level)
        log.info("logging level %d for %g s", level, seconds)
        if level > 0:
            self._revert = self._reactor.callLater(max(0.0, seconds), self._back)

    def _back(self) -> None:
        self._revert = None
        log.info("logging level 0 again")
        self._apply(0)

    def _apply(self, level: int) -> None:
        self.level = level
        logging.getLogger().setLevel(logging.DEBUG if level > 0 else self._usual)
