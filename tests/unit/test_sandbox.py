"""Names of task directories for ids that a framework may send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_api.core.sandbox import encode, task_path


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("web.1_a-b", "web.1_a-b"),
        ("", "%"),
        ("..", "%2E."),
        ("../x", "%2E.%2Fx"),
        ("/", "%2F"),
        ("a b", "a%20b"),
        ("100%", "100%25"),
        ("~", "%7E"),
        ("ü", "%C3%BC"),
        ("a\0b", "a%00b"),
    ],
)
def test_encode(text: str, name: str) -> None:
    assert encode(text) == name


@given(st.lists(st.text(max_size=400), max_size=20, unique=True))
def test_names_are_safe_and_different(texts: list[str]) -> None:
    names = [encode(text) for text in texts]
    assert len(set(names)) == len(texts)
    for name in names:
        assert name and "/" not in name and not name.startswith(".") and name.isascii() and len(name) <= 200


def test_task_path() -> None:
    assert task_path("/w/", "f", "../t") == "/w/tasks/f/%2E.%2Ft"
