"""What can be wrong with a profile document or its source.

Decides how a fault is told to a person: where it is, what stands there and why that is not accepted. It never
decides what is a fault (`profiles.mapping` does).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["DocumentError", "Fault", "ProfilesError", "SourceError"]

SHOWN_FAULTS = 20


class ProfilesError(Exception):
    """Base of everything that this package raises on purpose."""


class SourceError(ProfilesError):
    """A profile source that cannot work as configured (scheme, path, times); names the field and its value."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a document."""

    path: str
    """JSON path, "$.profile_matrix.latency.cpuset.mode"; "$" for the document as a whole."""
    value: str
    """What stands there, as JSON and cut to a readable length; "" where there is nothing to show."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.value}: {self.reason}" if self.value else f"{self.path}: {self.reason}"


class DocumentError(ProfilesError):
    """A document that is refused as a whole, with each of its faults."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        if not faults:
            raise ValueError("a DocumentError needs at least one fault")
        self.faults: tuple[Fault, ...] = tuple(faults)
        shown = [str(fault) for fault in self.faults[:SHOWN_FAULTS]]
        if len(self.faults) > SHOWN_FAULTS:
            shown.append(f"and {len(self.faults) - SHOWN_FAULTS} more")
        super().__init__("; ".join(shown))
