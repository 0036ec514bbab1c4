"""Offer constraints: for which of its roles a framework wants offers of this agent, told by the agent's attributes.

Decides whether constraints are well formed, in Mesos's words, and whether the agent meets them: at least one group of
the role's, and all constraints of that group. A role without constraints is met by every agent. Patterns are RE2's, as
with Mesos: they take linear time whatever they are, and their size is bounded. It never decides what is in an offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from agent_api.wire import mesos_pb2, scheduler_pb2

try:
    import re2
except ImportError as error:  # the package, or a C++ library that it is linked with
    raise ImportError(f"google-re2, for the patterns of offer constraints, cannot be loaded: {error}") from error

__all__ = ["MAX_MEMORY", "MAX_PROGRAM", "OfferConstraints"]

MAX_MEMORY, MAX_PROGRAM = 4096, 100
"""Bytes and instructions that one pattern may take (Mesos's defaults)."""

Constraint = scheduler_pb2.AttributeConstraint
Value = mesos_pb2.Attribute | str | None
"""What a selector finds: an attribute, the hostname, or nothing."""
_Test = Callable[[Sequence[mesos_pb2.Attribute], str], bool]

_PREDICATES = ("exists", "not_exists", "text_equals", "text_not_equals", "text_matches", "text_not_matches")


class OfferConstraints:
    """The constraints of one framework, ready to be asked. Raises ValueError where they are not well formed."""

    def __init__(self, message: scheduler_pb2.OfferConstraints | None = None, roles: Iterable[str] = ()) -> None:
        """`roles` are those of the framework: constraints for others are refused."""
        self.message = scheduler_pb2.OfferConstraints()
        if message is not None:
            self.message.CopyFrom(message)
        self._tests: dict[str, list[list[_Test]]] = {}
        known = set(roles)
        for role in self.message.role_constraints:
            if role not in known:
                raise ValueError(
                    f"Offer constraints specify `role_constraints` for a role '{role}' not contained in the set of "
                    "roles"
                )
        for role, constraints in self.message.role_constraints.items():
            words = "Offer constraints are not valid: "
            if not constraints.groups:
                raise ValueError(
                    f"{words}'OfferConstraints::role_constraints' has an empty 'RoleConstraints::groups' for role "
                    f"{role}"
                )
            groups = self._tests.setdefault(role, [])
            for group in constraints.groups:
                if not group.attribute_constraints:
                    raise ValueError(
                        f"{words}'OfferConstraints::RoleConstraints::groups' for role {role} contains an empty "
                        "RoleConstraints::Group"
                    )
                try:
                    groups.append([_test(constraint) for constraint in group.attribute_constraints])
                except ValueError as error:
                    raise ValueError(f"{words}A role {role} has an invalid 'AttributeConstraint': {error}") from None

    def met(self, role: str, attributes: Sequence[mesos_pb2.Attribute], hostname: str) -> bool:
        """Whether the agent may be offered for the role."""
        groups = self._tests.get(role)
        return groups is None or any(all(test(attributes, hostname) for test in group) for group in groups)


def _test(constraint: Constraint) -> _Test:
    select, holds = _selector(constraint.selector), _predicate(constraint.predicate)
    return lambda attributes, hostname: holds(select(attributes, hostname))


def _selector(selector: Constraint.Selector) -> Callable[[Sequence[mesos_pb2.Attribute], str], Value]:
    kinds = Constraint.Selector
    if selector.HasField("attribute_name") is selector.HasField("pseudoattribute_type"):
        raise ValueError(
            "Exactly one of 'AttributeConstraint::Selector::name' or "
            "'AttributeConstraint::Selector::pseudoattribute_type' must be set"
        )
    if selector.HasField("attribute_name"):
        name = selector.attribute_name
        return lambda attributes, _: next((a for a in attributes if a.name == name), None)
    if selector.pseudoattribute_type == kinds.HOSTNAME:
        return lambda _, hostname: hostname
    if selector.pseudoattribute_type in (kinds.REGION, kinds.ZONE):
        return lambda _, __: None  # the agent says nothing about its region and zone
    raise ValueError("Unknown pseudoattribute type")


def _predicate(predicate: Constraint.Predicate) -> Callable[[Value], bool]:
    given = [name for name in _PREDICATES if predicate.HasField(name)]
    if len(given) != 1:
        raise ValueError("Unknown predicate type" if not given else f"Exactly one of {' and '.join(given)} must be set")
    match given[0]:
        case "exists":
            return lambda value: value is not None
        case "not_exists":
            return lambda value: value is None
        case "text_equals":
            wanted = predicate.text_equals.value
            return _of_text(lambda text: text == wanted, missing=False)
        case "text_not_equals":
            unwanted = predicate.text_not_equals.value
            return _of_text(lambda text: text != unwanted, missing=True)
        case "text_matches":
            matches = _pattern(predicate.text_matches.regex)
            return _of_text(matches, missing=False)
        case _:
            avoids = _pattern(predicate.text_not_matches.regex)
            return _of_text(lambda text: not avoids(text), missing=True)


def _of_text(holds: Callable[[str], bool], missing: bool) -> Callable[[Value], bool]:
    """What is said of text; of an attribute that is no text nothing is said, so it passes either way."""

    def test(value: Value) -> bool:
        if value is None:
            return missing
        if isinstance(value, str):
            return holds(value)
        return value.type != mesos_pb2.Value.TEXT or holds(value.text.value)

    return test


def _pattern(regex: str) -> Callable[[str], bool]:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        compiled = re2.compile(regex, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "it is no pattern"
        raise ValueError(f"Failed to construct regex from pattern '{regex}': {reason}") from None
    if compiled.programsize > MAX_PROGRAM:
        raise ValueError(
            f"Regex '{regex}' is too complex: program size of {compiled.programsize} is larger than maximum of "
            f"{MAX_PROGRAM} allowed"
        )
    return lambda text: compiled.fullmatch(text) is not None
