"""The profile document: what is valid, what is not and how it is told, and what definitions mean."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.mapping import (
    MAX_DOCUMENT_BYTES,
    MAX_FAULTS,
    DeviceAffinity,
    DocumentError,
    Memory,
    Power,
    Profile,
    Selector,
    definition,
    notes,
    parse_document,
    profile_from_definition,
    selects,
)
from profiles.schema import SCHEMA
from profiles.uri import FileTarget, HttpTarget, SourceError, parse_uri, redact

EXAMPLE = {
    "profile_matrix": {
        "latency": {
            "resource_provider_selector": {"resource_providers": [{"type": "org.pinfold.rp.cpu", "name": "host"}]},
            "cpuset": {
                "mode": "exclusive",
                "pool": "default",
                "core_siblings": "required",
                "placement": "pack",
                "memory": {"policy": "bind", "mode": "required"},
                "cache": {"llc": "preferred"},
                "device": {"affinity": "required", "match": "net:eth0"},
                "core_kind": "performance",
                "partition": "isolated",
                "power": {
                    "governor": "performance",
                    "min_mhz": 2000,
                    "max_mhz": 3500,
                    "energy_performance_preference": "performance",
                },
            },
        }
    }
}


def document(**cpuset: Any) -> bytes:
    return json.dumps({"profile_matrix": {"p": {"cpuset": cpuset}}}).encode()


def faults(data: bytes) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse_document(data)
    return [str(fault) for fault in caught.value.faults]


def test_the_designs_example() -> None:
    entry = parse_document(json.dumps(EXAMPLE).encode())["latency"]
    assert entry.profile == Profile(
        "latency",
        core_siblings="required",
        memory=Memory("bind", "required"),
        device=DeviceAffinity("net:eth0", "required"),
        core_kind="performance",
        partition="isolated",
        power=Power("performance", 2000, 3500, "performance"),
    )
    assert entry.selectors == (Selector("org.pinfold.rp.cpu", "host"),)
    assert notes(entry) == []


def test_every_default_is_the_first_value() -> None:
    entry = parse_document(document())["p"]
    assert entry.profile == Profile("p")
    assert json.loads(entry.definition) == {
        "name": "p",
        "mode": "exclusive",
        "pool": "default",
        "core_siblings": "preferred",
        "placement": "pack",
        "memory": {"policy": "none", "mode": "preferred"},
        "cache": {"llc": "preferred"},
        "core_kind": "any",
        "partition": "member",
        "lifetime": "framework",
    }


def test_no_profiles_is_a_valid_document() -> None:
    assert parse_document(b'{"profile_matrix": {}}') == {}


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


BYTES = [
    (b"", "$: the document is empty"),
    (b" \n\t ", "$: the document is empty"),
    (b"{}", "$.profile_matrix: is missing"),
    (b"[]", "$: []: must be an object, not an array"),
    (b"null", "$: null: must be an object, not null"),
    (b'"profile_matrix"', '$: "profile_matrix": must be an object, not a string'),
    (b"<!DOCTYPE html><html><body>404</body></html>", "this looks like an HTML or XML page"),
    (b'{"error": "not found"}', "$.profile_matrix: is missing"),
    (b'{"profile_matrix": {"p": {"cpuset"', "$: not JSON at line 1, column "),
    (b'{"profile_matrix": {},}', "$: not JSON at line 1, column "),
    (b'{"profile_matrix": {}} {}', "$: not JSON at line 1, column 24"),
    (b"{\n  'profile_matrix': {}}", "$: not JSON at line 2, column 3"),
    (b'{"profile_matrix": {}, "profile_matrix": {}}', "$.profile_matrix: this key is given more than once"),
    (
        b'{"profile_matrix": {"p": {"cpuset": {"mode": "shared", "mode": "exclusive"}}}}',
        "$.profile_matrix.p.cpuset.mode: this key is given more than once",
    ),
    (b'{"profile_matrix": NaN}', "$.profile_matrix: NaN: is not a finite number"),
    (b'{"profile_matrix": -Infinity}', "$.profile_matrix: -Infinity: is not a finite number"),
    (b'{"profile_matrix": 1e999}', "$.profile_matrix: is not a finite number"),
    (b'{"profile_matrix": ' + b"1" * 5000 + b"}", "$: a number is too long"),
    ('{"profile_matrix": {}}'.encode("utf-16"), "UTF-16"),
    ('{"profile_matrix": {}}'.encode("utf-16-le"), "UTF-16"),
    ('{"profile_matrix": {}}'.encode("utf-32"), "UTF-32"),
    (b"\xef\xbb\xbf" + b'{"profile_matrix": {}}', "byte order mark"),
    (b'{"profile_matrix": {"\xff": {}}}', "$: not UTF-8 at byte 21"),
    (b'{"profile_matrix": {"\\ud800": {"cpuset": {}}}}', "half of a surrogate pair"),
    (b"[" * 100_000, "nested deeper than 16 levels"),
    (b"[" * 300 + b"]" * 300, "nested deeper than 16 levels"),
    (b'{"a":' * 60_000 + b"1" + b"}" * 60_000, "nested deeper than 16 levels"),
    (b'{"profile_matrix": {}}' + b" " * MAX_DOCUMENT_BYTES, "more than the 1048576 allowed"),
    (
        b'{"profile_matrix": {' + b",".join(b'"p%d": {"cpuset": {}}' % i for i in range(1001)) + b"}}",
        "$.profile_matrix: has 1001 entries, more than the 1000 allowed",
    ),
]


@pytest.mark.parametrize(("data", "expected"), BYTES, ids=range(len(BYTES)))
def test_documents_refused_as_text(data: bytes, expected: str) -> None:
    assert expected in "\n".join(faults(data))


FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"mode": "exlusive"}, '.mode: "exlusive": must be one of "exclusive", "shared"; did you mean "exclusive"?'),
    ({"mode": None}, ".mode: null: must be one of"),
    ({"mode": "EXCLUSIVE"}, 'did you mean "exclusive"?'),
    ({"core_sibling": "required"}, '.core_sibling: "required": unknown key; did you mean "core_siblings"?'),
    ({"memory": "bind"}, '.memory: "bind": must be an object, not a string'),
    ({"memory": {"nodes": 2}}, ".memory.nodes: 2: is for policy interleave only"),
    ({"memory": {"policy": "bind", "nodes": 2}}, ".memory.nodes: 2: is for policy interleave only"),
    ({"memory": {"policy": "interleave", "nodes": 0}}, ".memory.nodes: 0: must be at least 1"),
    ({"memory": {"policy": "interleave", "nodes": True}}, ".memory.nodes: true: must be a whole number"),
    ({"memory": {"policy": "interleave", "nodes": 1.5}}, ".memory.nodes: 1.5: must be a whole number"),
    ({"memory": {"mode": "required"}}, '.memory.mode: "required": required needs memory.policy'),
    ({"device": {}}, ".device.match: is missing"),
    ({"device": {"match": "eth0"}}, '.device.match: "eth0": a device is a PCI address'),
    ({"device": {"match": "net:"}}, '.device.match: "net:"'),
    ({"device": {"match": "net:averyveryverylongname"}}, ".device.match"),
    ({"device": {"match": "net:a/../b"}}, ".device.match"),
    ({"device": {"match": "pci:15b"}}, ".device.match"),
    ({"device": {"match": "class:02000"}}, ".device.match"),
    ({"device": {"match": "net:eth0\n"}}, "a text with a control character"),
    ({"power": {}}, ".power: {}: is empty; leave it out"),
    ({"power": {"min_mhz": 3000, "max_mhz": 2000}}, ".power.min_mhz: 3000: is more than max_mhz, 2000"),
    ({"power": {"min_mhz": 0}}, ".power.min_mhz: 0: must be at least 1"),
    ({"power": {"governor": "../x"}}, ".power.governor"),
    ({"power": {"energy_performance_preference": "256"}}, ".power.energy_performance_preference"),
    ({"power": {"energy_performance_preference": 128}}, "must be a string, not a number"),
    ({"pool": ""}, ".pool"),
    ({"pool": "x" * 129}, ".pool"),
    ({"pool": "a\tb"}, ".pool"),
    ({"lifetime": "task"}, '.lifetime: "task": must be one of "framework", "role"'),
    ({"mode": "shared", "core_siblings": "required"}, ".core_siblings"),
    ({"mode": "shared", "core_siblings": "denied"}, ".core_siblings"),
    ({"mode": "shared", "memory": {"policy": "bind", "mode": "required"}}, ".memory.mode"),
    ({"mode": "shared", "cache": {"llc": "required"}}, ".cache.llc"),
    ({"mode": "shared", "device": {"match": "net:eth0"}}, ".device.affinity"),
    ({"mode": "shared", "core_kind": "performance"}, ".core_kind"),
    ({"mode": "shared", "partition": "isolated"}, ".partition"),
    ({"mode": "shared", "power": {"governor": "performance"}}, ".power"),
]


@pytest.mark.parametrize(("cpuset", "expected"), FIELDS, ids=range(len(FIELDS)))
def test_one_slip_is_one_fault_with_path_value_and_reason(cpuset: dict[str, Any], expected: str) -> None:
    found = faults(document(**cpuset))
    assert len(found) == 1
    assert found[0].startswith("$.profile_matrix.p.cpuset.")
    assert expected in found[0]


VALID: list[dict[str, Any]] = [
    {"device": {"match": match, "affinity": "preferred"}}
    for match in ("0000:3b:00.0", "3B:00.7", "pci:15b3", "pci:0x15b3:1017", "class:02", "class:0x0200", "net:eth0.5")
] + [
    {"device": {"match": "block:nvme0n1"}},
    {"memory": {"policy": "interleave", "nodes": 2, "mode": "required"}},
    {"memory": {"policy": "bind"}},
    {"power": {"min_mhz": 2000, "max_mhz": 2000}},
    {"power": {"energy_performance_preference": "0"}},
    {"mode": "shared", "core_siblings": "none", "memory": {"policy": "bind"}, "cache": {"llc": "none"}},
    {"mode": "shared", "device": {"match": "net:eth0", "affinity": "preferred"}},
    {"core_siblings": "denied", "partition": "root", "lifetime": "role", "pool": "dpdk"},
]


@pytest.mark.parametrize("cpuset", VALID, ids=range(len(VALID)))
def test_valid_ones_survive_their_definition(cpuset: dict[str, Any]) -> None:
    entry = parse_document(document(**cpuset))["p"]
    assert profile_from_definition(entry.definition) == entry.profile
    again = json.loads(entry.definition)
    del again["name"]
    assert parse_document(document(**again))["p"] == entry  # it can be pasted back


def test_all_faults_of_a_document_are_told() -> None:
    found = faults(
        json.dumps(
            {
                "profile_matrix": {
                    "a": {"cpuset": {"mode": "x", "placement": "y"}},
                    " b": {"cpuset": {}},
                    "d": {},
                    "e": {"cpuset": {"mode": "shared", "partition": "root"}},
                },
                "version": 1,
            }
        ).encode()
    )
    assert [fault.split(": ")[0] for fault in found] == [
        "$.profile_matrix.a.cpuset.mode",
        "$.profile_matrix.a.cpuset.placement",
        "$.profile_matrix.d.cpuset",
        "$.profile_matrix.e.cpuset.partition",
        '$.profile_matrix[" b"]',
        "$.version",
    ]


def test_the_message_stays_readable() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document(json.dumps({"profile_matrix": {f"p{i}": {} for i in range(900)}}).encode())
    assert len(caught.value.faults) == MAX_FAULTS
    assert str(caught.value).endswith("and 80 more")
    assert len(str(caught.value)) < 2000
    long = faults(document(pool="x" * 100_000))
    assert len(long[0]) < 300


def test_selectors() -> None:
    content = {
        "profile_matrix": {
            "all": {"cpuset": {}},
            "none": {"resource_provider_selector": {"resource_providers": []}, "cpuset": {}},
            "empty": {"resource_provider_selector": {}, "cpuset": {}},
            "two": {
                "description": "for people,\nover two lines",
                "resource_provider_selector": {
                    "resource_providers": [{"type": "t", "name": "a"}, {"type": "u", "name": "b"}]
                },
                "cpuset": {},
            },
        }
    }
    entries = parse_document(json.dumps(content).encode())
    chosen = {
        provider: [name for name, entry in entries.items() if selects(entry, *provider)]
        for provider in (("t", "a"), ("u", "b"), ("t", "b"))
    }
    assert chosen == {("t", "a"): ["all", "two"], ("u", "b"): ["all", "two"], ("t", "b"): ["all"]}
    assert "names no provider" in notes(entries["none"])[0]
    assert entries["empty"].selectors == entries["none"].selectors == ()
    for broken in ({"resource_providers": [{"type": "t"}]}, {"resource_providers": {}}, {"csi": []}, []):
        found = faults(
            json.dumps({"profile_matrix": {"p": {"resource_provider_selector": broken, "cpuset": {}}}}).encode()
        )
        assert found[0].startswith("$.profile_matrix.p.resource_provider_selector")


def test_notes_tell_what_has_no_effect() -> None:
    entry = parse_document(document(mode="shared", placement="spread", core_siblings="denied_preferred"))["p"]
    assert notes(entry) == ["core_siblings, placement has no effect on a shared set: it floats over its pool"]


def test_definitions_of_an_older_pinfold() -> None:
    assert profile_from_definition('{"name": "p"}') == Profile("p")
    assert profile_from_definition('{"name": "p", "mode": "shared", "later": 1}') == Profile("p", mode="shared")
    for broken in ("", "[]", "{}", "null", "1", '{"name": "p", "memory": 3}'):
        with pytest.raises(ValueError):
            profile_from_definition(broken)


@given(
    st.builds(
        Profile,
        name=st.text(min_size=1),
        pool=st.text(min_size=1),
        memory=st.builds(Memory, nodes=st.none() | st.integers(1, 64)),
        power=st.none() | st.builds(Power, min_mhz=st.none() | st.integers(1, 9000)),
        device=st.none() | st.builds(DeviceAffinity, match=st.text()),
    )
)
def test_equal_definitions_are_equal_profiles(profile: Profile) -> None:
    assert profile_from_definition(definition(profile)) == profile
    assert definition(profile) != definition(replace(profile, placement="spread"))


@given(st.binary(max_size=300))
def test_no_bytes_do_anything_but_parse_or_refuse(data: bytes) -> None:
    try:
        parse_document(data)
    except DocumentError as error:
        assert error.faults


JSONISH = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5) | st.sampled_from(["bind", "shared"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["profile_matrix", "cpuset", "memory", "mode", "device", "match", "p", "power", "pool"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSONISH, st.integers(0, 3))
def test_no_json_does_anything_but_parse_or_refuse(value: Any, wrap: int) -> None:
    for key in ("cpuset", "p", "profile_matrix")[3 - wrap :]:
        value = {key: value}
    try:
        parse_document(json.dumps(value).encode())
    except DocumentError as error:
        assert all(fault.path.startswith("$") and fault.reason for fault in error.faults)


REDACTED = [
    ("https://user:pass@host/p.json", "https://host/p.json"),
    ("https://user@host:8443/p.json", "https://host:8443/p.json"),
    ("https://host/p.json?token=secret&x#secret", "https://host/p.json?token=***&***"),
    ("http://user:pa/ss@host/p", "http://***@host/p"),
    ("http://user:pa#ss@host/p", "http://host/p"),
    ("http://user:pa?ss@host/p", "http://***@host/p"),
    ("http://user:12/ss@host/p", "http://***@host/p"),
    ("http://user:p@ss@host/p", "http://host/p"),
    ("http://u:secret@[::1]:80/p", "http://[::1]:80/p"),
    ("cannot read http://u:secret@h/a or //u:secret@i/b now", "cannot read http://h/a or //i/b now"),
    ("file:///etc/pinfold/profiles.json", "file:///etc/pinfold/profiles.json"),
    ("/etc/pinfold/profiles.json", "/etc/pinfold/profiles.json"),
    ("http://host/@v1/p", "http://host/@v1/p"),
]


@pytest.mark.parametrize(("text", "shown"), REDACTED)
def test_redact(text: str, shown: str) -> None:
    assert redact(text) == shown


TARGETS: list[tuple[str, Any]] = [
    ("/etc/p.json", "/etc/p.json"),
    ("p.json", "p.json"),
    ("file:///etc/p%20q.json", "/etc/p q.json"),
    ("file://localhost/etc/p.json", "/etc/p.json"),
    ("FILE:///etc/p.json", "/etc/p.json"),
    ("http://h/p?x=1#f", ("http://h/p?x=1", None)),
    ("https://u:p%40@h:8443", ("https://h:8443/", "Basic dTpwQA==")),
]


@pytest.mark.parametrize(("uri", "expected"), TARGETS)
def test_uris(uri: str, expected: Any) -> None:
    target = parse_uri(uri)
    if isinstance(target, HttpTarget):
        assert (target.url, target.authorization) == expected
        assert "Basic" not in repr(target)
    else:
        assert isinstance(target, FileTarget)
        assert str(target.path) == expected


@pytest.mark.parametrize(
    "uri",
    [
        "",
        " /etc/x",
        "ftp://h/x",
        "file://other/x",
        "file:///",
        "http:///x",
        "http://h:99999/x",
        "http://u:sec/ret@h/x",
        "/etc/\0x",
        "http://[::1/x",
        "http:/u:secret@h/x",
        "HTTPS:u:secret@h/x",
    ],
)
def test_uris_refused(uri: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_uri(uri)
    assert "profiles uri" in str(caught.value)
    assert "sec" not in str(caught.value)
