"""How much work one request may cost.

Decides when the search for the best answer ends and that for a good one begins. Work is counted, not timed, so that the
same input gives the same answer on every machine.
"""

from __future__ import annotations

__all__ = ["MAX_WORK", "Budget", "TooMuchWorkError"]

MAX_WORK = 1_000_000
"""How many pairs of entries of tables one request may add up (about half a second); beyond it a good answer is looked
for: in the caches with the most room, and in sets of nodes grown from each node. Such an answer keeps every rule."""


class TooMuchWorkError(Exception):
    """The budget is spent; caught inside the allocator."""


class Budget:
    """The work that is left for one request: `work` for the best answer, and half as much for good ones."""

    def __init__(self, work: int = MAX_WORK) -> None:
        self.left = work
        self.good: Budget | None = None
        self.work = work

    def spend(self, work: int) -> None:
        """Raise `TooMuchWorkError` where nothing is left."""
        self.left -= work
        if self.left < 0:
            raise TooMuchWorkError

    def rest(self) -> Budget:
        """What may be spent on good answers; shared by all of them."""
        if self.good is None:
            self.good = Budget(self.work // 2)
            self.good.good = self.good
        return self.good
