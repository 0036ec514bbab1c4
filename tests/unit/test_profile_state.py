"""What a fetch, or a set that goes, does to the profiles in force: one table of steps after another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from profiles.errors import Fault
from profiles.mapping import Profile, definition, parse_document
from profiles.source import retry_delay
from profiles.state import (
    EMPTY,
    MAX_INACTIVE,
    Failed,
    Fetched,
    FetchResult,
    Known,
    NotModified,
    apply_result,
    changes,
    reconsider,
    views,
)

PROVIDER = ("org.pinfold.rp.cpu", "host")


def fetched(_selector: Any = None, **profiles: dict[str, Any]) -> Fetched:
    matrix = {name: {"cpuset": cpuset} for name, cpuset in profiles.items()}
    if _selector is not None:
        for entry in matrix.values():
            entry["resource_provider_selector"] = _selector
    data = json.dumps({"profile_matrix": matrix}).encode()
    return Fetched(data, parse_document(data))


def made(name: str, **parameters: Any) -> str:
    return definition(Profile(name, **parameters))


OLD = made("a")
A, A2, B = {}, {"placement": "spread"}, {"mode": "shared"}
IN_USE = {"a": [OLD]}

# Steps: (result or None for "a set came or went", definitions in use) -> {name: (state, placement in force)}
Step = tuple[FetchResult | None, dict[str, list[str]], dict[str, tuple[str, str]]]
TABLE: dict[str, list[Step]] = {
    "a good new profile arrives next to a refused change": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2, b=B), IN_USE, {"a": ("CHANGE_REFUSED", "pack"), "b": ("ACTIVE", "pack")}),
    ],
    "unused profiles change": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), {}, {"a": ("ACTIVE", "spread")}),
    ],
    "a refused change that is taken back": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (fetched(a=A), IN_USE, {"a": ("ACTIVE", "pack")}),
        (None, {}, {"a": ("ACTIVE", "pack")}),
    ],
    "a refused change is made once the last set went": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), {"a": [OLD, OLD]}, {"a": ("CHANGE_REFUSED", "pack")}),
        (None, IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (None, {}, {"a": ("ACTIVE", "spread")}),
    ],
    "not modified and failed looks change nothing": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (NotModified(), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (Failed("HTTP status 500"), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (NotModified(), {}, {"a": ("ACTIVE", "spread")}),
    ],
    "removed in use, returns unchanged": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(), IN_USE, {"a": ("INACTIVE", "pack")}),
        (fetched(a=A), IN_USE, {"a": ("ACTIVE", "pack")}),
    ],
    "removed in use, returns changed": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(), IN_USE, {"a": ("INACTIVE", "pack")}),
        (fetched(a=A2), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (None, {}, {"a": ("ACTIVE", "spread")}),
    ],
    "removed in use, returns changed after its last set went": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(), IN_USE, {"a": ("INACTIVE", "pack")}),
        (None, {}, {"a": ("INACTIVE", "pack")}),
        (fetched(a=A2), {}, {"a": ("ACTIVE", "spread")}),
    ],
    "refused change, then removed, then back as it was first": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (fetched(), IN_USE, {"a": ("INACTIVE", "pack")}),
        (None, {}, {"a": ("INACTIVE", "pack")}),
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
    ],
    "an empty document": [
        (fetched(a=A, b=B), {}, {"a": ("ACTIVE", "pack"), "b": ("ACTIVE", "pack")}),
        (fetched(), {}, {"a": ("INACTIVE", "pack"), "b": ("INACTIVE", "pack")}),
    ],
    "a selector that names us no more": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched({"resource_providers": []}, a=A), IN_USE, {"a": ("INACTIVE", "pack")}),
        (
            fetched({"resource_providers": [{"type": PROVIDER[0], "name": "host"}]}, a=A),
            IN_USE,
            {"a": ("ACTIVE", "pack")},
        ),
    ],
    "a profile for others that we never had": [
        (fetched({"resource_providers": [{"type": PROVIDER[0], "name": "other"}]}, a=A), {}, {}),
    ],
    "sets of which nothing else is known (the row was lost)": [
        (None, IN_USE, {"a": ("INACTIVE", "pack")}),
        (fetched(a=A2), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
        (fetched(a=A), IN_USE, {"a": ("ACTIVE", "pack")}),
    ],
    "the row was lost and the document is the first thing": [
        (fetched(a=A2), IN_USE, {"a": ("CHANGE_REFUSED", "pack")}),
    ],
    "a definition in use as an older Pinfold wrote it": [
        (fetched(a=A), {}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A), {"a": ['{"name":"a"}']}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), {"a": ['{"name":"a","placement":"spread"}']}, {"a": ("ACTIVE", "spread")}),
    ],
    "a set's record that cannot be read stops nothing": [
        (fetched(a=A), {"a": ["what?"], "c": ["null"]}, {"a": ("ACTIVE", "pack")}),
        (fetched(a=A2), {"a": ["what?", OLD]}, {"a": ("CHANGE_REFUSED", "pack")}),
    ],
}


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted between steps"])
@pytest.mark.parametrize("name", TABLE)
def test_states(name: str, restart: bool) -> None:
    known = EMPTY
    for now, (result, used, expected) in enumerate(TABLE[name]):
        if result is None:
            known = reconsider(known, used, float(now))
        else:
            known = apply_result(known, result, used, *PROVIDER, float(now))
        found = {profile.name: (profile.state, profile.profile.placement) for profile in known.profiles.values()}
        assert found == expected, f"step {now}"
        if restart:
            assert Known.from_json(known.to_json()) == known
            known = Known.from_json(known.to_json())


def test_since_reason_and_what_the_log_says() -> None:
    first = apply_result(EMPTY, fetched(a=A), {}, *PROVIDER, 10.0)
    assert first.profiles["a"].since == 10.0
    assert changes(EMPTY, first) == [
        "profile document fetched: 1 profiles, 1 for this provider",
        f"profile a: new -> ACTIVE: {OLD}",
    ]
    second = apply_result(first, fetched(a=A2), IN_USE, *PROVIDER, 20.0)
    profile = second.profiles["a"]
    assert (profile.since, profile.usable) == (20.0, True)
    assert profile.reason.startswith('the document changes placement from "pack" to "spread" while sets use it')
    assert changes(first, second)[1].startswith("profile a: ACTIVE -> CHANGE_REFUSED: the document changes placement")
    third = apply_result(second, fetched(a={**A2, "pool": "x"}), IN_USE, *PROVIDER, 30.0)
    assert third.profiles["a"].since == 20.0
    assert 'pool from "default" to "x"' in third.profiles["a"].reason
    fourth = apply_result(third, fetched(), IN_USE, *PROVIDER, 40.0)
    assert fourth.profiles["a"].reason == "it is not in the document"
    assert not fourth.profiles["a"].usable
    fifth = apply_result(fourth, fetched({"resource_providers": []}, a=A), IN_USE, *PROVIDER, 50.0)
    assert "selector does not name provider org.pinfold.rp.cpu/host" in fifth.profiles["a"].reason
    assert fifth.profiles["a"].since == 40.0
    assert changes(fifth, fifth) == []


def test_what_is_shown_of_the_source() -> None:
    known = apply_result(EMPTY, Failed("HTTP status 404 Not Found"), {}, *PROVIDER, 1.0)
    assert (known.document, known.last_fetch, known.ok, known.outcome, known.in_force_since) == (
        None,
        1.0,
        False,
        "HTTP status 404 Not Found",
        None,
    )
    assert changes(EMPTY, known) == ["profile document not taken: HTTP status 404 Not Found; there is no document yet"]
    good = fetched(a=A)
    known = apply_result(known, good, {}, *PROVIDER, 2.0)
    known = apply_result(known, NotModified(), {}, *PROVIDER, 3.0)
    refused = Failed("document refused: $.x: unknown key", (Fault("$.x", "1", "unknown key"),))
    after = apply_result(known, refused, {}, *PROVIDER, 4.0)
    assert (after.document, after.in_force_since, after.confirmed, after.last_fetch, after.ok) == (
        good.data,
        2.0,
        3.0,
        4.0,
        False,
    )
    assert changes(known, after) == [
        "profile document not taken: document refused: $.x: unknown key; the last good document stays in force"
    ]
    back = apply_result(after, NotModified(), {}, *PROVIDER, 5.0)
    assert changes(after, back) == ["profile source is back: not modified"]
    # The same failure again is no news.
    assert changes(after, apply_result(after, refused, {}, *PROVIDER, 6.0)) == []


def test_reconsider_gives_the_same_value_where_nothing_changed() -> None:
    known = apply_result(EMPTY, fetched(a=A, b=B), IN_USE, *PROVIDER, 1.0)
    assert reconsider(known, IN_USE, 2.0) is known


def test_placeable_is_the_providers_judgement() -> None:
    known = apply_result(EMPTY, fetched(a=A, b=B), {}, *PROVIDER, 1.0)
    assert [view.placeable for view in views(known)] == [None, None]
    seen = views(known, lambda profile: profile.mode == "shared")
    assert [(view.name, view.state, view.placeable) for view in seen] == [("a", "ACTIVE", False), ("b", "ACTIVE", True)]


def test_profiles_that_went_are_forgotten_at_some_time_but_not_those_in_use() -> None:
    known = EMPTY
    for round_ in range(3):
        many = {f"r{round_}n{i}": A for i in range(900)}
        known = apply_result(known, fetched(**many), {"r0n0": [made("r0n0")]}, *PROVIDER, float(round_))
    assert len(known.profiles) == 900 + MAX_INACTIVE + 1
    assert known.profiles["r0n0"].state == "INACTIVE"
    assert "r1n0" in known.profiles


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", '{"format": 2}', EMPTY.to_json().replace('"profiles": []', '"profiles": [{"name": "a"}]')],
)
def test_a_row_that_is_not_ours(text: str) -> None:
    with pytest.raises(ValueError):
        Known.from_json(text)


@pytest.mark.parametrize(
    ("failures", "interval", "random", "delay"),
    [
        (1, None, 0.0, 0.5),
        (1, None, 1.0, 1.0),
        (2, None, 1.0, 2.0),
        (6, None, 1.0, 30.0),
        (1, 10.0, 1.0, 10.0),
        (2, 10.0, 0.5, 15.0),
        (3, 10.0, 1.0, 30.0),
        (100_000, 10.0, 1.0, 30.0),
        (1, 300.0, 1.0, 300.0),
        (9, 300.0, 0.0, 150.0),
    ],
)
def test_backoff(failures: int, interval: float | None, random: float, delay: float) -> None:
    assert retry_delay(failures, interval, random) == delay
