"""The provider's session with its agent: which state follows on which event.

Decides, by one table, what the provider may do and in what order. It never connects, sends or waits
(`provider.client` does), and it never tells time.

States (section 6 of the design): RECOVERING (own state is read, the kernel brought in line), DISCONNECTED (no
stream), CONNECTED (SUBSCRIBE was answered with a stream), SUBSCRIBED (the agent gave or confirmed our id), READY
(the agent took our first UPDATE_STATE: operations may be answered, statuses may be sent).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType

from provider.errors import StateError

__all__ = ["TRANSITIONS", "Event", "Session", "State", "following"]

log = logging.getLogger(__name__)


class State(Enum):
    """Where the provider stands."""

    RECOVERING = "RECOVERING"
    DISCONNECTED = "DISCONNECTED"
    CONNECTED = "CONNECTED"
    SUBSCRIBED = "SUBSCRIBED"
    READY = "READY"


class Event(Enum):
    """What happened."""

    RECOVERED = "recovered"
    """State was read and the kernel agrees with it."""
    STREAM_OPENED = "stream opened"
    """SUBSCRIBE was answered with 200 and a stream id."""
    SUBSCRIBED = "subscribed"
    """The first event on the stream; our id is stored."""
    REPORTED = "reported"
    """The agent took an UPDATE_STATE (202)."""
    STREAM_CLOSED = "stream closed"
    """The stream ended, was given up, or the agent refused a call."""


TRANSITIONS: Mapping[tuple[State, Event], State] = MappingProxyType(
    {
        (State.RECOVERING, Event.RECOVERED): State.DISCONNECTED,
        (State.DISCONNECTED, Event.STREAM_OPENED): State.CONNECTED,
        (State.CONNECTED, Event.SUBSCRIBED): State.SUBSCRIBED,
        (State.CONNECTED, Event.STREAM_CLOSED): State.DISCONNECTED,
        (State.SUBSCRIBED, Event.REPORTED): State.READY,
        (State.SUBSCRIBED, Event.STREAM_CLOSED): State.DISCONNECTED,
        (State.READY, Event.REPORTED): State.READY,
        (State.READY, Event.STREAM_CLOSED): State.DISCONNECTED,
    }
)
"""Every transition there is. What is not here is an error and changes nothing."""


def following(state: State, event: Event) -> State:
    """The state after `event`. Raises StateError where the table has no such transition."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise StateError(f"event {event.value!r} cannot happen in state {state.value}") from None


class Session:
    """One session: the current state, changed by `handle` only."""

    def __init__(self, on_change: Callable[[State, State], None] | None = None) -> None:
        """`on_change(before, after)` is called after each change of state."""
        self._state = State.RECOVERING
        self._on_change = on_change

    @property
    def state(self) -> State:
        return self._state

    @property
    def subscribed(self) -> bool:
        """Whether the agent knows us on this stream: it may be answered and told."""
        return self._state in (State.SUBSCRIBED, State.READY)

    def handle(self, event: Event) -> State:
        """Take one transition. An event that does not belong here is logged and raises StateError, and the
        state stays as it was."""
        before = self._state
        try:
            after = following(before, event)
        except StateError as error:
            log.error("session: %s; the state is left", error)
            raise
        self._state = after
        if after is not before:
            log.info("session: %s -> %s (%s)", before.value, after.value, event.value)
            if self._on_change is not None:
                self._on_change(before, after)
        return after
