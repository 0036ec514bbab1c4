"""Who may do what: Mesos's ACL document, and its answer to one question.

Decides with Mesos's rules: of an action's entries the first one that speaks of the principal and the object counts, and
where none does, `permissive`. A caller without a principal, and an action on no particular object, stand for ANY. It
knows no call; `core.authorization` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ALLOW_ALL", "Acls", "AclsError", "parse"]

OBJECTS = {
    "access_sandboxes": "users",
    "compact_cpusets": "roles",
    "destroy_cpusets": "roles",
    "mark_resource_providers_gone": "resource_providers",
    "modify_resource_provider_configs": "resource_providers",
    "register_frameworks": "roles",
    "register_resource_providers": "resource_providers",
    "reserve_resources": "roles",
    "run_tasks": "users",
    "set_log_level": "level",
    "teardown_frameworks": "framework_principals",
    "unreserve_resources": "reserver_principals",
    "update_quotas": "roles",
    "update_weights": "roles",
}
"""The actions, and what each is done to. Those of sets and register_resource_providers are Pinfold's own."""

ALL_OR_NOTHING = frozenset(
    {
        "access_sandboxes",
        "compact_cpusets",
        "mark_resource_providers_gone",
        "modify_resource_provider_configs",
        "register_resource_providers",
        "set_log_level",
    }
)
"""Actions whose objects are not told apart: an entry must say ANY or NONE."""

NOT_SERVED = re.compile(
    r"(access_mesos_logs|get_endpoints|get_quotas|prune_images|shutdown_frameworks)"
    r"|view_(containers|executors|flags|frameworks|resource_providers|roles|standalone_containers|tasks)"
    r"|(register|drain|deactivate|reactivate)_agents|mark_agents_gone"
    r"|(create|destroy|resize)_volumes|(create|destroy)_(block|mount)_disks|destroy_raw_disks"
    r"|(get|update)_maintenance_schedules|(start|stop)_maintenances|get_maintenance_statuses"
    r"|attach_containers_(input|output)|(kill|remove|wait)_(nested|standalone)_containers"
    r"|launch_(nested|standalone)_container\w*"
)
"""Mesos's actions without effect here: what they are about is not there, or all who are authenticated may read it."""


class AclsError(ValueError):
    """An ACL document that is wrong; names the place and the value."""


@dataclass(frozen=True, slots=True)
class Entity:
    kind: str
    """ANY, NONE or SOME."""
    values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    principals: Entity
    objects: Entity


@dataclass(frozen=True, slots=True)
class Acls:
    permissive: bool = True
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    without_effect: tuple[str, ...] = ()
    """Actions in the document that Pinfold does not ask for."""

    def allows(self, action: str, principal: str | None, value: str | None = None) -> bool:
        """Whether the principal (None: nobody in particular) may do it to `value` (None: to all there is)."""
        for rule in self.rules.get(action, ()):
            if _speaks_of(rule.principals, principal) and _speaks_of(rule.objects, value):
                return _allows(rule.principals, principal) and _allows(rule.objects, value)
        return self.permissive


ALLOW_ALL = Acls()


def _holds(entity: Entity, value: str) -> bool:
    # "eng/%" are the roles below eng.
    return value in entity.values or any(
        known.endswith("/%") and value.startswith(known[:-1]) for known in entity.values
    )


def _speaks_of(entity: Entity, value: str | None) -> bool:
    return entity.kind != "SOME" or (value is not None and _holds(entity, value))


def _allows(entity: Entity, value: str | None) -> bool:
    return entity.kind == "ANY" or (entity.kind == "SOME" and value is not None and _holds(entity, value))


def parse(data: bytes) -> Acls:
    """A document as Mesos's `--acls` takes it, in JSON. Raises AclsError."""
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise AclsError(f"not UTF-8 (byte {error.start})") from None
    except AclsError:
        raise
    except (ValueError, RecursionError) as error:  # also a number with too many digits
        raise AclsError(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise AclsError("no JSON object")
    permissive = document.pop("permissive", True)
    if not isinstance(permissive, bool):
        raise AclsError(f"'permissive' must be true or false, and is {json.dumps(permissive)}")
    rules, without_effect = {}, []
    for action, entries in document.items():
        if NOT_SERVED.fullmatch(action):
            without_effect.append(action)
        elif action not in OBJECTS:
            raise AclsError(f"'{action}' is no action; known are {', '.join(OBJECTS)}")
        elif not isinstance(entries, list):
            raise AclsError(f"'{action}' must be a list, and is {json.dumps(entries)[:100]}")
        else:
            rules[action] = tuple(_rule(f"{action}[{i}]", action, entry) for i, entry in enumerate(entries))
    return Acls(permissive, rules, tuple(without_effect))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        raise AclsError(f"'{next(n for n in names if names.count(n) > 1)}' is given twice")
    return result


def _rule(where: str, action: str, entry: Any) -> Rule:
    objects = OBJECTS[action]
    if not isinstance(entry, dict) or set(entry) != {"principals", objects}:
        raise AclsError(f"'{where}' must have just 'principals' and '{objects}', and is {json.dumps(entry)[:100]}")
    rule = Rule(_entity(f"{where}.principals", entry["principals"]), _entity(f"{where}.{objects}", entry[objects]))
    if action in ALL_OR_NOTHING and rule.objects.kind == "SOME":
        raise AclsError(f"'{where}.{objects}' must be of type ANY or NONE: these are not told apart")
    return rule


def _entity(where: str, value: Any) -> Entity:
    if not isinstance(value, dict) or not set(value) <= {"type", "values"}:
        raise AclsError(f"'{where}' must have 'type' or 'values', and is {json.dumps(value)[:100]}")
    kind, values = value.get("type", "SOME"), value.get("values", [])
    if kind not in ("ANY", "NONE", "SOME"):
        raise AclsError(f"'{where}.type' must be ANY, NONE or SOME, and is {json.dumps(kind)[:100]}")
    if not isinstance(values, list) or not all(isinstance(one, str) and one for one in values):
        raise AclsError(f"'{where}.values' must be a list of texts, and is {json.dumps(values)[:100]}")
    if bool(values) is (kind != "SOME"):
        raise AclsError(f"'{where}' must have 'values', or 'type' ANY or NONE; it has {json.dumps(value)[:100]}")
    return Entity(kind, frozenset(values))
