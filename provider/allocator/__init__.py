"""Which CPUs an exclusive set gets.

`place` answers one request; `explain` says why the answer is the one it is; `free_whole_cores` and `largest` say what
can be had before anybody asks. The order of preference is in `order`, the hard rules in `rules`, the search in
`search`, the words of a refusal in `refusal`.

Decides nothing about shared sets (their quantities are arithmetic, `provider.inventory`), keeps no state that could
change an answer, and never reads a file or a clock.
"""

from __future__ import annotations

from provider.allocator.placing import can_place, explain, free_whole_cores, growth, largest, place
from provider.allocator.request import Placement, PlacementRefused, Request

__all__ = [
    "Placement",
    "PlacementRefused",
    "Request",
    "can_place",
    "explain",
    "free_whole_cores",
    "growth",
    "largest",
    "place",
]
