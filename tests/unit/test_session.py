"""The session's transition table: what follows on what, and that nothing else does."""

from __future__ import annotations

import itertools

import pytest

from provider.errors import StateError
from provider.session import TRANSITIONS, Event, Session, State, following


def test_the_way_to_ready_and_back() -> None:
    seen: list[tuple[State, State]] = []
    session = Session(lambda before, after: seen.append((before, after)))
    assert session.state is State.RECOVERING
    for event in (Event.RECOVERED, Event.STREAM_OPENED, Event.SUBSCRIBED, Event.REPORTED, Event.REPORTED):
        session.handle(event)
    assert session.state is State.READY
    session.handle(Event.STREAM_CLOSED)
    assert session.state is State.DISCONNECTED
    assert seen == [
        (State.RECOVERING, State.DISCONNECTED),
        (State.DISCONNECTED, State.CONNECTED),
        (State.CONNECTED, State.SUBSCRIBED),
        (State.SUBSCRIBED, State.READY),
        (State.READY, State.DISCONNECTED),
    ]


@pytest.mark.parametrize(("state", "event"), list(itertools.product(State, Event)))
def test_only_the_table_is_taken(state: State, event: Event) -> None:
    if (state, event) in TRANSITIONS:
        assert following(state, event) is TRANSITIONS[state, event]
    else:
        with pytest.raises(StateError, match=f"{event.value}.*{state.value}"):
            following(state, event)


def test_a_wrong_event_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    session = Session()
    with pytest.raises(StateError):
        session.handle(Event.SUBSCRIBED)
    assert session.state is State.RECOVERING
    assert "subscribed" in caplog.text
    session.handle(Event.RECOVERED)
    assert session.state is State.DISCONNECTED


def test_every_state_is_reached_and_every_stream_may_close() -> None:
    assert set(TRANSITIONS.values()) | {State.RECOVERING} == set(State)
    for state in (State.CONNECTED, State.SUBSCRIBED, State.READY):
        assert TRANSITIONS[state, Event.STREAM_CLOSED] is State.DISCONNECTED
