"""The labels of a reservation: which make it a set, which are wrong, and which order they may have."""

from __future__ import annotations

import pytest

from agent_api.wire import mesos_pb2
from provider.operations import FailError
from provider.reservation import Wish, canonical, shown, stack_of, wish_of

Resource = mesos_pb2.Resource


def reserved(*entries: tuple[str, dict[str, str] | list[tuple[str, str]]]) -> Resource:
    result = Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    for role, labels in entries:
        entry = result.reservations.add(type=Resource.ReservationInfo.DYNAMIC, role=role)
        for key, value in labels.items() if isinstance(labels, dict) else labels:
            entry.labels.labels.add(key=key, value=value)
    return result


@pytest.mark.parametrize(
    ("resource", "wish"),
    [
        (reserved(), None),
        (reserved(("r", {})), None),
        (reserved(("r", {"team": "x"})), None),
        (reserved(("r", {"pinfold.profile": "any", "team": "x"})), Wish("any")),
        (reserved(("r", {}), ("r/a", {"pinfold.profile": "any"})), Wish("any")),
        (
            reserved(
                (
                    "r",
                    {
                        "pinfold.profile": "batch",
                        "pinfold.set": "web-1",
                        "pinfold.zone": "numa/1",
                        "pinfold.burst": "4.5",
                        "pinfold.cgroup": "a/b.c",
                    },
                )
            ),
            Wish("batch", "web-1", "numa/1", 4.5, "a/b.c"),
        ),
    ],
)
def test_what_a_reservation_asks_for(resource: Resource, wish: Wish | None) -> None:
    assert wish_of(stack_of(resource), "f") == wish


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (reserved(("r", {"pinfold.profil": "any"})), "label 'pinfold.profil' is unknown; there are pinfold.profile"),
        (reserved(("r", {"pinfold.set": "a"})), "label pinfold.set needs pinfold.profile"),
        (reserved(("r", {"pinfold.profile": ""})), "pinfold.profile: a value is needed"),
        (reserved(("r", [("pinfold.profile", "a"), ("pinfold.profile", "b")])), "pinfold.profile is there twice"),
        (reserved(("r", {"pinfold.profile": "a", "pinfold.set": "a/b"})), "pinfold.set: set id 'a/b' cannot name"),
        (reserved(("r", {"pinfold.profile": "a", "pinfold.burst": "many"})), "pinfold.burst: .*'many'"),
        (reserved(("r", {"pinfold.profile": "a", "pinfold.burst": "inf"})), "pinfold.burst: .*'inf'"),
        (reserved(("r", {"pinfold.profile": "a"}), ("r/b", {})), "cannot be refined"),
        *(
            (reserved(("r", {"pinfold.profile": "a", "pinfold.cgroup": path})), "pinfold.cgroup: a path below")
            for path in ("/etc", "..", "a/../../b", "a//b", "./a", "a/", "a\nb", "x" * 1001)
        ),
    ],
)
def test_labels_that_are_wrong(resource: Resource, words: str) -> None:
    with pytest.raises(FailError, match=f"^f: .*{words}"):
        wish_of(stack_of(resource), "f")


def test_the_order_of_labels_says_nothing() -> None:
    one = reserved(("r", [("pinfold.profile", "any"), ("a", "1")]))
    other = reserved(("r", [("a", "1"), ("pinfold.profile", "any")]))
    assert stack_of(one) == stack_of(other) != stack_of(reserved(("r", [("a", "2"), ("pinfold.profile", "any")])))
    assert canonical(stack_of(one)) == stack_of(one)


def test_the_old_form_of_a_reservation() -> None:
    old = Resource(name="cpus", type=mesos_pb2.Value.SCALAR, role="r")
    old.reservation.labels.labels.add(key="pinfold.profile", value="any")
    assert wish_of(stack_of(old), "f") == Wish("any")


def test_in_words() -> None:
    assert shown(b"") == "unreserved"
    assert shown(stack_of(reserved(("r", {}), ("r/a", {"k": "v"})))) == "reserved for r / r/a (k=v)"
