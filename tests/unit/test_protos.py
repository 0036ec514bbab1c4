"""The schema against Mesos's facts, and the generated code against the schema."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor

ROOT = Path(__file__).parents[2]
WIRE = ROOT / "agent_api" / "wire"
FACTS: dict[str, Any] = json.loads((ROOT / "tests/data/mesos-v1-fields.json").read_text())
"""Full name of a message or enum of Mesos 1.12 → fields or values; a field is [number, label, type, {default}?]."""
SHARED_FACTS = ROOT.parent / "shared/wire/mesos-v1-fields.json"

OURS = 10001
"""Pinfold's fields and values have numbers from here up."""

TYPES = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in vars(FieldDescriptor).items()
    if name.startswith("TYPE_") and isinstance(value, int)
}


def _files() -> list[FileDescriptor]:
    names = sorted(path.stem for path in WIRE.glob("*.proto"))
    return [importlib.import_module(f"agent_api.wire.{name}_pb2").DESCRIPTOR for name in names]


def _all(kind: Descriptor) -> list[Descriptor | EnumDescriptor]:
    return [kind, *kind.enum_types, *(found for nested in kind.nested_types for found in _all(nested))]


KINDS: dict[str, Descriptor | EnumDescriptor] = {
    found.full_name: found
    for file in _files()
    if file.package.startswith("mesos.v1")
    for top in [*file.message_types_by_name.values(), *file.enum_types_by_name.values()]
    for found in (_all(top) if isinstance(top, Descriptor) else [top])
}


def _label(field: FieldDescriptor) -> str:
    return "repeated" if field.is_repeated else "required" if field.is_required else "optional"


def _type(field: FieldDescriptor) -> str:
    named = field.message_type or field.enum_type
    return named.full_name if named is not None else TYPES[field.type]


def _same_default(field: FieldDescriptor, fact: str | None) -> bool:
    if fact is None or not field.has_default_value:
        return fact is None and not field.has_default_value
    if field.enum_type is not None:
        return field.enum_type.values_by_number[field.default_value].name == fact
    if isinstance(field.default_value, bool):
        return fact == ("true" if field.default_value else "false")
    if isinstance(field.default_value, str):
        return field.default_value == fact
    return math.isclose(field.default_value, float(fact), rel_tol=0)


def _is_ours(name: str) -> bool:
    """Whether a type without facts is reached only through fields and values of our own."""
    kind = KINDS[name]
    users = [
        field
        for other in KINDS.values()
        if isinstance(other, Descriptor)
        for field in other.fields
        if kind in (field.message_type, field.enum_type)
    ]
    return all(field.number >= OURS or field.containing_type.full_name not in FACTS for field in users)


def test_the_check_sees_the_whole_schema() -> None:
    assert len(KINDS) > 380
    assert len(set(KINDS) & set(FACTS)) > 370
    assert sum(isinstance(kind, EnumDescriptor) for kind in KINDS.values()) > 40


@pytest.mark.parametrize("name", sorted(KINDS))
def test_type_is_as_in_mesos_or_an_addition(name: str) -> None:
    kind = KINDS[name]
    fact = FACTS.get(name)
    if fact is None:
        assert _is_ours(name), f"{name} is not in Mesos, but a field of Mesos's own has it"
        return
    if isinstance(kind, EnumDescriptor):
        values = {value.name: value.number for value in kind.values}
        added = {key: number for key, number in values.items() if key not in fact["enum"]}
        assert {key: number for key, number in values.items() if key not in added} == fact["enum"]
        assert all(number >= OURS for number in added.values()), added
        return
    fields = {field.name: field for field in kind.fields}
    assert set(fact["fields"]) <= set(fields), "fields of Mesos are missing"
    for key, field in fields.items():
        if key not in fact["fields"]:
            assert field.number >= OURS, f"{key} is an addition with a number that Mesos may take"
            assert not field.is_required, f"{key} is an addition, and others do not send it"
            continue
        number, label, kind_name, *rest = fact["fields"][key]
        assert (field.number, _label(field), _type(field)) == (number, label, kind_name), key
        assert _same_default(field, rest[0]["default"] if rest else None), key


def test_additions_are_the_ones_agreed_on() -> None:
    added = {
        f"{name}.{field.name}": field.number
        for name, kind in KINDS.items()
        if isinstance(kind, Descriptor) and name in FACTS
        for field in kind.fields
        if field.name not in FACTS[name]["fields"]
    }
    agreed = {
        "mesos.v1.Resource.cpu": 10001,
        "mesos.v1.Offer.Operation.create_cpuset": 10001,
        "mesos.v1.Offer.Operation.destroy_cpuset": 10002,
        "mesos.v1.Offer.Operation.resize_cpuset": 10003,
        "mesos.v1.ResourceProviderInfo.cpu": 10001,
        "mesos.v1.resource_provider.Call.UpdateState.cpu_report": 10001,
    }
    assert agreed.items() <= added.items()
    for enum, value, number in [
        ("mesos.v1.Offer.Operation.Type", "CREATE_CPUSET", 10001),
        ("mesos.v1.Offer.Operation.Type", "DESTROY_CPUSET", 10002),
        ("mesos.v1.Offer.Operation.Type", "RESIZE_CPUSET", 10003),
        ("mesos.v1.agent.Call.Type", "GET_TOPOLOGY", 10001),
        ("mesos.v1.agent.Call.Type", "GET_PROFILES", 10002),
        ("mesos.v1.agent.Call.Type", "GET_CPUSETS", 10003),
        ("mesos.v1.Resource.CpuInfo.Source.Type", "RAW", 1),
        ("mesos.v1.Resource.CpuInfo.Source.Type", "EXCLUSIVE", 2),
        ("mesos.v1.Resource.CpuInfo.Source.Type", "SHARED", 3),
    ]:
        kind = KINDS[enum]
        assert isinstance(kind, EnumDescriptor)
        assert kind.values_by_name[value].number == number


def test_our_copy_of_the_facts_is_true() -> None:
    if not SHARED_FACTS.is_file():
        pytest.skip(f"{SHARED_FACTS} is not there")
    shared = json.loads(SHARED_FACTS.read_text())
    assert {name: shared.get(name) for name in FACTS} == FACTS
    assert set(KINDS) & set(shared) <= set(FACTS), "types that the copy lacks"


def test_generated_code_is_current(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed: the code cannot be generated anew")
    protos = sorted(str(path.relative_to(ROOT)) for path in WIRE.glob("*.proto"))
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    done = subprocess.run([*command, *protos], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {path.name: path.read_text() for path in (tmp_path / "agent_api/wire").iterdir()}
    assert len(made) == 2 * len(protos)
    kept = {path.name: path.read_text() for pattern in ("*_pb2.py", "*_pb2.pyi") for path in WIRE.glob(pattern)}
    assert sorted(made) == sorted(kept)
    stale = [name for name, text in made.items() if text != kept[name]]
    assert not stale, f"generate these anew: {stale}"
