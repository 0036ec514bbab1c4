"""The provider's own exceptions. Raised deep, translated once: to an operation status, or to an exit status.

Each message names the field and the value that is wrong, and says what would be right.
"""

from __future__ import annotations

__all__ = ["ConfigError", "EnforcementError", "HeldError", "ProviderError", "Refused", "StateError"]


class ProviderError(Exception):
    """Base of all."""


class ConfigError(ProviderError):
    """A provider configuration that can never be right on this host (HTTP 400)."""


class HeldError(ProviderError):
    """A change that would take CPUs that a set or a task holds (HTTP 409). The message names the holder."""


class Refused(ProviderError):
    """A request that cannot be placed now; the message says what would fit."""

    def __init__(self, message: str, *, nearest: int | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest
        """The nearest number of CPUs that could be placed, where there is one."""


class EnforcementError(ProviderError):
    """The kernel refused a write or reads back another value. The message has both values."""


class PowerError(EnforcementError):
    """CPU sets are as they were asked for and cpufreq settings are not: the caller puts both back."""


class StateError(ProviderError):
    """A transition that the table does not have, or stored state that contradicts itself: a bug."""
