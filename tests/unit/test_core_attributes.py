"""Attributes: their text, how they are shown, and which changes take something away."""

from __future__ import annotations

import pytest

from agent_api.core import attributes as at
from agent_api.core.resources import ResourceError
from agent_api.wire import mesos_pb2

Value = mesos_pb2.Value


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("rack:r7", Value.TEXT, "r7"),
        ("url:http://host:80/x", Value.TEXT, "http://host:80/x"),
        ("level:10", Value.SCALAR, 10.0),
        ("level:-1.5e2", Value.SCALAR, None),
        ("name:10a", Value.TEXT, "10a"),
        ("name:nan", Value.TEXT, "nan"),
        ("keys:[1000-1500, 7]", Value.RANGES, "[7-7, 1000-1500]"),
        ("tags:{ssd, gpu}", Value.SET, "{ssd, gpu}"),
    ],
)
def test_parse(text: str, kind: int, shown: str | float | None) -> None:
    if shown is None:
        with pytest.raises(ResourceError, match="not a number from 0 up"):
            at.parse(text)
        return
    (attribute,) = at.parse(f" {text} ; ")
    assert attribute.type == kind
    assert attribute.IsInitialized()
    assert at.shown(attribute) == shown


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("rack", "attributes: 'rack' is not of the form name:value"),
        ("rack:", "attributes: 'rack:' is not of the form"),
        (":x", "attributes: ':x' is not of the form"),
        ("ra ck:x", "'ra ck:x'"),
        ("rack:a;rack:b", "attributes: 'rack' is given twice"),
        ("keys:[2-1]", "attributes: 'keys' has '2-1'"),
        ("tags:{a,a}", "attributes: 'tags' has '{a,a}'"),
        ("rack:\x07", "cannot be printed"),
    ],
)
def test_parse_refuses(text: str, named: str) -> None:
    with pytest.raises(ResourceError) as error:
        at.parse(text)
    assert named in str(error.value)


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("", "rack:a", None),
        ("rack:a", "rack:a;level:1", None),
        ("rack:a;level:1", "level:1;rack:a", None),
        ("rack:a", "", "attribute rack:a would go"),
        ("rack:a", "rack:b", "attribute rack:a would become rack:b"),
        ("rack:a", "rack:1", "attribute rack:a would become rack:1"),
        ("level:1", "level:2", None),
        ("level:2", "level:1", "attribute level:2 would become level:1"),
        ("keys:[1-5]", "keys:[1-9]", None),
        ("keys:[1-5]", "keys:[2-9]", "attribute keys:[1-5] would become keys:[2-9]"),
        ("tags:{a}", "tags:{b,a}", None),
        ("tags:{a,b}", "tags:{b}", "attribute tags:{a, b} would become tags:{b}"),
    ],
)
def test_what_is_lost(before: str, after: str, lost: str | None) -> None:
    assert at.lost(at.parse(before), at.parse(after)) == lost
