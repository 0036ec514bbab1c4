"""Mesos's JSON and protobuf: what `agent_api.wire.codec` takes, writes and refuses, against recorded exchanges."""

from __future__ import annotations

import base64
import json
import math
import random
import time
import timeit
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_api.wire import agent_pb2, codec, master_pb2, mesos_pb2, pinfold_pb2, resource_provider_pb2, scheduler_pb2
from agent_api.wire.codec import JSON, PROTOBUF, CodecError
from agent_api.wire.plans import MAX_DEPTH, SILENT_DEFAULTS
from tests import golden

MODULES = {
    "agent": agent_pb2,
    "master": master_pb2,
    "resource_provider": resource_provider_pb2,
    "scheduler": scheduler_pb2,
}
RpCall = resource_provider_pb2.Call
Resource = mesos_pb2.Resource


# What is refused, and in which words ----------------------------------------------------------------------------------

PARSE = "Failed to parse body into JSON: "
CONVERT = "Failed to convert JSON into Call protobuf: "
STATUS = '"type":"UPDATE_PUBLISH_RESOURCES_STATUS","update_publish_resources_status":'

REFUSED = [
    # Recorded from a real Mesos.
    (b'{"type": ', PARSE + "syntax error at line 1 near: "),
    (b"not json", PARSE + "syntax error at line 1 near: ot json"),
    (b'{"type": "SUBSCRIBE"} x', PARSE + "Parsed JSON included non-whitespace trailing characters:  x"),
    (b"", PARSE + "syntax error at line 1 near: "),
    ('\ufeff{"type": "SUBSCRIBE"}'.encode(), PARSE + 'syntax error at line 1 near: \ufeff{"type": "SUBSCRIBE"}'),
    (b"[]", CONVERT + "Expecting a JSON object"),
    (b'"GET_HEALTH"', CONVERT + "Expecting a JSON object"),
    (b"1", CONVERT + "Expecting a JSON object"),
    (b"null", CONVERT + "Expecting a JSON object"),
    (b'{"type": 1}', CONVERT + "Not expecting a JSON number for field 'type'"),
    (b'{"type": 12345}', CONVERT + "Not expecting a JSON number for field 'type'"),
    (b'{"type": true}', CONVERT + "Not expecting a JSON boolean for field 'type'"),
    (b'{"type": {}}', CONVERT + "Not expecting a JSON object for field 'type'"),
    (b'{"update_state": 3}', CONVERT + "Not expecting a JSON number for field 'update_state'"),
    (b'{"update_state": {}}', CONVERT + "Missing required fields: update_state.resource_version_uuid"),
    (
        b'{"update_state": {}, "resource_provider_id": {}}',
        CONVERT + "Missing required fields: resource_provider_id.value, update_state.resource_version_uuid",
    ),
    (
        b'{"update_operation_status": {}}',
        CONVERT + "Missing required fields: update_operation_status.status, update_operation_status.operation_uuid",
    ),
    (
        b'{"update_state": {"resource_version_uuid": {"value": "!!!"}}}',
        CONVERT + "Failed to base64 decode bytes field 'value': Invalid character '!'",
    ),
    (
        f'{{{STATUS}{{"uuid":{{"value":""}},"status":"NOPE"}}}}'.encode(),
        CONVERT + "Failed to find enum for 'NOPE'",
    ),
    # In the same manner.
    (b'{"type": []}', CONVERT + "Not expecting a JSON array for field 'type'"),
    (b'{"update_state": "x"}', CONVERT + "Not expecting a JSON string for field 'update_state'"),
    (b'{"resource_provider_id": {"value": 5}}', CONVERT + "Not expecting a JSON number for field 'value'"),
    (
        b'{"update_state": {"resource_version_uuid": {"value": 1}}}',
        CONVERT + "Not expecting a JSON number for field 'value'",
    ),
    (b'{"update_state": {"resources": [1]}}', CONVERT + "Not expecting a JSON number for field 'resources'"),
    (b'{"update_state": {"resources": [[]]}}', CONVERT + "Not expecting a JSON array for field 'resources'"),
    (
        b'{"update_state": {"resource_version_uuid": {"value": "aaaaa"}}}',
        CONVERT + "Failed to base64 decode bytes field 'value': Invalid length",
    ),
    (
        b'{"update_state": {"resources": [{}], "resource_version_uuid": {"value": ""}}}',
        CONVERT + "Missing required fields: update_state.resources[0].name, update_state.resources[0].type",
    ),
    (b'{\n"type": tru}', PARSE + "syntax error at line 2 near: }"),
    (b'{"a": 1,}', PARSE + "syntax error at line 1 near: }"),
    (b'{"type": "SUBSC', PARSE + "syntax error at line 1 near: "),
    (b'{"text": "NaN", "a": NaN}', PARSE + "syntax error at line 1 near: NaN}"),
    (b'{"a": "\\"",\n "b": -Infinity}', PARSE + "syntax error at line 2 near: -Infinity}"),
    (b'{"type": "a\x01"}', PARSE + 'syntax error at line 1 near: "}'),
]


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=[repr(data[:40]) for data, _ in REFUSED])
def test_refused_in_the_words_of_mesos(data: bytes, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        codec.from_json(RpCall, data)
    assert str(caught.value) == message
    assert caught.value.detail == message.split(": ", 1)[1]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        b"hello world",
        b'{"type": "SUBSCRIBE"}',
        RpCall(resource_provider_id=mesos_pb2.ResourceProviderID()).SerializePartialToString(),
        b"\x0a\x04\x0a\x02\xff\xfe",  # text that is no UTF-8
    ],
    ids=["garbage", "text", "json", "required field missing", "invalid UTF-8"],
)
def test_protobuf_that_is_none(data: bytes) -> None:
    with pytest.raises(CodecError, match=r"^Failed to parse body into Call protobuf") as caught:
        codec.decode(RpCall, data, PROTOBUF)
    assert caught.value.detail


def test_the_name_in_an_error_is_the_type_that_was_wanted() -> None:
    with pytest.raises(CodecError, match=r"^Failed to convert JSON into ResourceProviderInfo protobuf: Missing"):
        codec.from_dict(mesos_pb2.ResourceProviderInfo, {"type": "t"})
    with pytest.raises(CodecError, match=r"^Failed to parse body into Resource protobuf$"):
        codec.decode(Resource, b"\xff", PROTOBUF)


def test_other_media_types_are_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="text/plain"):
        codec.encode(Resource(), "text/plain")
    with pytest.raises(ValueError, match="text/plain"):
        codec.decode(Resource, b"", "text/plain")


# What is taken --------------------------------------------------------------------------------------------------------


def _resource(**fields: Any) -> Resource:
    return codec.from_dict(Resource, {"name": "cpus", "type": "SCALAR", **fields})


def test_null_is_unset_unknown_is_ignored_and_the_last_of_two_counts() -> None:
    text = b' {"name": "mem", "type": null, "nope": {"a": [1]}, "role": null, "name": "cpus", "type": "SCALAR"}\n'
    assert codec.from_json(Resource, text) == Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    with pytest.raises(CodecError, match=r"Missing required fields: name$"):
        codec.from_json(Resource, b'{"name": "cpus", "name": null, "type": "SCALAR"}')
    assert len(_resource(reservations=[None, {"role": "a"}, None]).reservations) == 1


@pytest.mark.parametrize("name", ["NO_SUCH_CALL", "subscribe", "", "1"])
def test_an_unknown_name_of_an_optional_enum_is_dropped(name: str) -> None:
    assert not codec.from_dict(RpCall, {"type": name}).HasField("type")


def test_unknown_numbers_of_enums_in_protobuf_are_dropped() -> None:
    call = codec.decode(RpCall, b"\x10\xb9\x60", PROTOBUF)
    assert not call.HasField("type")
    assert call == RpCall(), "what we do not know is thrown away"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (4, 4.0),
        (4.5, 4.5),
        ("4", 4.0),
        ("4.5", 4.5),
        (" -1e3 ", -1000.0),
        (0, 0.0),
        (2**63, float(2**63)),
        ("1e-400", 0.0),
    ],
)
def test_doubles(value: Any, number: float) -> None:
    read = _resource(scalar={"value": value}).scalar.value
    assert (read, type(read)) == (number, float)


@pytest.mark.parametrize("text", ["1e999", "-1e999", '"Infinity"', '"-Infinity"', '"NaN"', '"1e999"', "9" * 400])
def test_a_double_is_finite(text: str) -> None:
    with pytest.raises(CodecError, match="Expecting a finite number for field 'value'"):
        codec.from_json(Resource, f'{{"name":"a","type":"SCALAR","scalar":{{"value":{text}}}}}'.encode())


@pytest.mark.parametrize("text", ["", "four", "0x10", "1_000", "+4", "4.", ".5", "04", "4 4", "١", "inf", "nan"])
def test_strings_that_are_no_numbers(text: str) -> None:
    with pytest.raises(CodecError, match=r"Failed to parse '.*' as a JSON number for field 'value'"):
        _resource(scalar={"value": text})


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (2**64 - 1, 2**64 - 1), ("18446744073709551615", 2**64 - 1), (1e3, 1000), ("1e3", 1000), ("7.0", 7)],
)
def test_unsigned_64_bits(value: Any, number: int) -> None:
    read = _resource(ranges={"range": [{"begin": value, "end": 0}]}).ranges.range[0].begin
    assert (read, type(read)) == (number, int)


@pytest.mark.parametrize("value", [-1, 2**64, "-1", 1e30, "99999999999999999999", 10**300])
def test_integers_outside_their_field(value: Any) -> None:
    with pytest.raises(CodecError, match="Expecting a number from 0 to 18446744073709551615 for field 'begin'"):
        _resource(ranges={"range": [{"begin": value, "end": 0}]})


@pytest.mark.parametrize("value", [1.5, "1.5"])
def test_a_broken_number_is_no_integer(value: Any) -> None:
    with pytest.raises(CodecError, match=r"Expecting a whole number for field 'begin', but received 1\.5"):
        _resource(ranges={"range": [{"begin": value, "end": 0}]})


@pytest.mark.parametrize(("value", "truth"), [(True, True), (False, False), ("true", True), (" false ", False)])
def test_booleans(value: Any, truth: bool) -> None:
    assert codec.from_dict(mesos_pb2.CommandInfo, {"shell": value}).shell is truth


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("yes", "Failed to parse 'yes' as a JSON boolean for field 'shell'"),
        ("True", "Failed to parse 'True' as a JSON boolean for field 'shell'"),
        (1, "Not expecting a JSON number for field 'shell'"),
        ([], "Not expecting a JSON array for field 'shell'"),
    ],
)
def test_what_is_no_boolean(value: Any, message: str) -> None:
    with pytest.raises(CodecError, match=message):
        codec.from_dict(mesos_pb2.CommandInfo, {"shell": value})
    with pytest.raises(CodecError, match="Not expecting a JSON boolean for field 'value'"):
        _resource(scalar={"value": True})


@pytest.mark.parametrize(
    ("text", "data"),
    [("", b""), ("AP8=", b"\x00\xff"), ("AP8", b"\x00\xff"), ("AP\r\n8=\n", b"\x00\xff"), ("+/+/", b"\xfb\xff\xbf")],
)
def test_bytes(text: str, data: bytes) -> None:
    assert codec.from_dict(mesos_pb2.UUID, {"value": text}).value == data


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("-_-_", "Invalid character '-'"),
        ("AA=A", "Invalid character '='"),
        ("é", "Invalid character 'é'"),
        ("A", "Invalid length"),
    ],
)
def test_what_is_no_base64(text: str, detail: str) -> None:
    with pytest.raises(CodecError) as caught:
        codec.from_dict(mesos_pb2.UUID, {"value": text})
    assert caught.value.detail == f"Failed to base64 decode bytes field 'value': {detail}"


def test_a_lone_value_is_a_list_of_one() -> None:
    info = {"name": "n", "user": "u", "roles": "a", "capabilities": {"type": "MULTI_ROLE"}}
    read = codec.from_dict(mesos_pb2.FrameworkInfo, info)
    assert list(read.roles) == ["a"]
    assert len(read.capabilities) == 1


def test_maps() -> None:
    values = {"limits": {"mem": {"value": 1}, "cpus": {"value": "0.5"}, "disk": None}}
    task = codec.from_dict(
        mesos_pb2.TaskInfo, {"name": "n", "task_id": {"value": "t"}, "agent_id": {"value": "a"}} | values
    )
    assert {name: limit.value for name, limit in task.limits.items()} == {"mem": 1.0, "cpus": 0.5}
    written = codec.to_dict(task)["limits"]
    assert written == {"cpus": {"value": 0.5}, "mem": {"value": 1.0}}
    assert list(written) == ["cpus", "mem"], "in a fixed order"
    for wrong, message in [
        ([], "Not expecting a JSON array for field 'limits'"),
        ({"cpus": 1}, "Not expecting a JSON number for field 'limits'"),
        ({"cpus": {}}, r'Missing required fields: .*limits\["cpus"\]\.value'),
    ]:
        with pytest.raises(CodecError, match=message):
            codec.from_dict(mesos_pb2.TaskInfo, {"limits": wrong})


def test_durations() -> None:
    call = codec.from_dict(
        master_pb2.Call,
        {"type": "DRAIN_AGENT", "drain_agent": {"agent_id": {"value": "a"}, "max_grace_period": {"seconds": "600"}}},
    )
    assert call.drain_agent.max_grace_period.seconds == 600
    assert codec.to_dict(call)["drain_agent"]["max_grace_period"] == {"seconds": 600}


def test_bytes_that_are_no_utf8_are_replaced_in_json() -> None:
    assert not codec.from_json(RpCall, b'{"type": "\xff\xfe"}').HasField("type")


# What is written ------------------------------------------------------------------------------------------------------


def test_names_numbers_enums_bytes_and_text() -> None:
    assert codec.encode(mesos_pb2.UUID(value=b"\x00\xff"), JSON) == b'{"value":"AP8="}'
    resource = Resource(name="größe\n\x00💡", type=mesos_pb2.Value.SCALAR)
    resource.scalar.value = 4
    assert codec.to_json(resource) == (
        r'{"name":"gr\u00f6\u00dfe\n\u0000\ud83d\udca1","type":"SCALAR","scalar":{"value":4.0}}'
    )
    ranged = mesos_pb2.Value.Ranges()
    ranged.range.add(begin=2**63, end=2**64 - 1)
    assert codec.to_json(ranged) == '{"range":[{"begin":9223372036854775808,"end":18446744073709551615}]}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (4.0, "4.0"),
        (0.1, "0.1"),
        (252899.0, "252899.0"),
        (1795964576.710913, "1795964576.710913"),
        (2147483648.0, "2147483648.0"),
        (-1.5, "-1.5"),
    ],
)
def test_doubles_are_written_as_mesos_prints_them(value: float, text: str) -> None:
    assert codec.to_json(mesos_pb2.Value.Scalar(value=value)) == f'{{"value":{text}}}'


def test_declared_defaults_are_written_and_deprecated_ones_are_not() -> None:
    assert codec.to_dict(mesos_pb2.CommandInfo()) == {"shell": True}
    assert codec.to_dict(mesos_pb2.Filters()) == {"refuse_seconds": 5.0}
    assert codec.to_dict(mesos_pb2.FrameworkInfo(user="u", name="n")) == {
        "user": "u",
        "name": "n",
        "failover_timeout": 0.0,
        "checkpoint": False,
    }
    assert codec.to_dict(mesos_pb2.ContainerInfo.DockerInfo(image="i"))["network"] == "HOST"
    assert codec.to_dict(Resource(name="cpus", type=0)) == {"name": "cpus", "type": "SCALAR"}
    assert codec.to_dict(Resource(name="cpus", type=0, role="*"))["role"] == "*"


def test_empty_arrays_are_left_out_but_for_answers_that_mesos_writes_by_hand() -> None:
    answer = agent_pb2.Response(type=agent_pb2.Response.GET_OPERATIONS)
    answer.get_operations.SetInParent()
    assert codec.to_json(answer) == '{"type":"GET_OPERATIONS","get_operations":{}}'
    answer = agent_pb2.Response(type=agent_pb2.Response.GET_TASKS)
    answer.get_tasks.SetInParent()
    assert codec.to_dict(answer)["get_tasks"] == {
        f"{kind}_tasks": [] for kind in ("pending", "queued", "launched", "terminated", "completed")
    }
    event = master_pb2.Event(type=master_pb2.Event.SUBSCRIBED)
    event.subscribed.get_state.get_agents.SetInParent()
    assert codec.to_dict(event)["subscribed"]["get_state"]["get_agents"] == {"agents": [], "recovered_agents": []}


def test_dicts_are_new_each_time() -> None:
    answer = agent_pb2.Response.GetTasks()
    codec.to_dict(answer)["launched_tasks"].append("x")
    assert codec.to_dict(answer)["launched_tasks"] == []


def _non_finite() -> Iterator[tuple[str, Message]]:
    for value in (math.nan, math.inf, -math.inf):
        event = scheduler_pb2.Event(type=scheduler_pb2.Event.OFFERS)
        offer = event.offers.offers.add(hostname="h")
        for part in (offer.id, offer.framework_id, offer.agent_id):
            part.value = "x"
        offer.resources.add(name="mem", type=mesos_pb2.Value.SCALAR).scalar.value = 1
        offer.resources.add(name="cpus", type=mesos_pb2.Value.SCALAR).scalar.value = value
        yield r"offers\.offers\[0\]\.resources\[1\]\.scalar\.value is not a finite number", event
        task = mesos_pb2.TaskInfo(name="n")
        task.task_id.value = task.agent_id.value = "x"
        task.limits["cpus"].value = value
        yield r"limits\['cpus'\]\.value is not a finite number", task


@pytest.mark.parametrize(("message", "value"), list(_non_finite()))
def test_numbers_that_json_cannot_carry_are_refused_at_both_doors(message: str, value: Message) -> None:
    name = value.DESCRIPTOR.name
    with pytest.raises(CodecError, match=rf"^Failed to write {name} protobuf as JSON: {message}$"):
        codec.encode(value, JSON)
    with pytest.raises(CodecError, match=rf"^Failed to parse body into {name} protobuf: {message}$"):
        codec.decode(type(value), value.SerializeToString(), PROTOBUF)


def test_an_unfinished_message_is_not_written_as_protobuf() -> None:
    with pytest.raises(CodecError, match="Failed to write Resource protobuf: Missing required fields: type"):
        codec.encode(Resource(name="cpus"), PROTOBUF)


# Hostile input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 200_000, b'{"type":' + b"[" * 5000 + b"]" * 5000 + b"}"])
def test_deep_json(data: bytes) -> None:
    with pytest.raises(CodecError, match="Failed to parse body into JSON: it is nested too deep"):
        codec.from_json(RpCall, data)


def _nested(depth: int) -> dict[str, Any]:
    values: dict[str, Any] = {"value": "0"}
    for _ in range(depth - 1):
        values = {"value": "x", "parent": values}
    return values


def test_messages_nest_as_deep_as_protobuf_lets_them() -> None:
    deepest = codec.from_dict(mesos_pb2.ContainerID, _nested(MAX_DEPTH))
    assert codec.to_dict(deepest) == _nested(MAX_DEPTH)
    assert codec.decode(mesos_pb2.ContainerID, codec.encode(deepest, PROTOBUF), PROTOBUF) == deepest
    for depth in (MAX_DEPTH + 1, 450):
        with pytest.raises(CodecError, match="Messages are nested more than 100 deep"):
            codec.from_json(mesos_pb2.ContainerID, json.dumps(_nested(depth)))
    data = codec.encode(deepest, PROTOBUF)
    for _ in range(10):
        data = mesos_pb2.ContainerID(value="x").SerializeToString() + b"\x12" + _varint(len(data)) + data
    with pytest.raises(CodecError, match="Failed to parse body into ContainerID protobuf"):
        codec.decode(mesos_pb2.ContainerID, data, PROTOBUF)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": ' + b"9" * 100_000 + b"}", "Failed to parse body into JSON: a number is too long"),
        (b'{"resource_provider_id": {"value": "\\ud800"}}', "half of a surrogate pair in the string for field 'value'"),
        (b'{"type": "' + b"x" * 1_000_000, "syntax error at line 1 near: $"),
        (b"x" * 1_000_000, "near: x{256}$"),
        (b'{"resource_provider_id": {"value": "\x00"}}', "syntax error"),
    ],
)
def test_hostile_values(data: bytes, message: str) -> None:
    with pytest.raises(CodecError, match=message) as caught:
        codec.from_json(RpCall, data)
    assert len(str(caught.value)) < 500


def test_a_long_unknown_name_is_not_sent_back_whole() -> None:
    call = {"update_publish_resources_status": {"uuid": {"value": ""}, "status": "\ud800" + "N" * 100_000}}
    with pytest.raises(CodecError, match="Failed to find enum for") as caught:
        codec.from_dict(RpCall, call)
    assert len(str(caught.value).encode()) < 500


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes_are_a_message_or_a_codec_error(data: bytes) -> None:
    for media in (JSON, PROTOBUF):
        try:
            call = codec.decode(scheduler_pb2.Call, data, media)
        except CodecError:
            continue
        assert codec.decode(scheduler_pb2.Call, codec.encode(call, media), media) is not None


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "subscribe", "framework_info", "accept", "offer_ids", "value"]), inner
        )
    ),
    max_leaves=15,
)


@given(JSON_VALUES)
@settings(max_examples=300)
def test_any_values_are_a_message_or_a_codec_error(values: Any) -> None:
    try:
        call = codec.from_dict(scheduler_pb2.Call, values)
    except CodecError:
        return
    assert codec.from_json(scheduler_pb2.Call, codec.to_json(call)).IsInitialized()


# Random messages ------------------------------------------------------------------------------------------------------

MAIN_TYPES: list[type[Message]] = [
    *(
        getattr(module, kind)
        for module in MODULES.values()
        for kind in ("Call", "Event", "Response")
        if hasattr(module, kind)
    ),
    mesos_pb2.Resource,
    mesos_pb2.Offer,
    mesos_pb2.Offer.Operation,
    mesos_pb2.Operation,
    mesos_pb2.TaskInfo,
    mesos_pb2.TaskStatus,
    mesos_pb2.FrameworkInfo,
    mesos_pb2.ResourceProviderInfo,
    pinfold_pb2.CpuReport,
]

TEXTS = ["", "a", "cpus", "größe", '\x00\n"\\/', "💡", "\u2028", "x" * 200]
DOUBLES = [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, -1.5, 1e16, 1.7976931348623157e308, 123456789.123456789]
BITS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def _fill(message: Message, chance: random.Random, depth: int) -> None:
    """Required fields, all that have a declared default (JSON writes them), and a few of the others."""
    fields = message.DESCRIPTOR.fields
    optional = [field for field in fields if not field.is_required]
    chosen = chance.sample(optional, min(len(optional), chance.choice([0, 1, 2, 4]) if depth < 5 else 0))
    for field in fields:
        default = field.has_default_value and field.full_name not in SILENT_DEFAULTS
        if not (field.is_required or default or field in chosen):
            continue
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            item = entry.fields_by_name["value"]
            for key in chance.sample(TEXTS, 2):
                if item.message_type is not None:
                    _fill(getattr(message, field.name)[key], chance, depth + 1)
                else:
                    getattr(message, field.name)[key] = _value(item, chance)
        elif entry is not None:
            if field.is_repeated:
                for _ in range(chance.choice([1, 2])):
                    _fill(getattr(message, field.name).add(), chance, depth + 1)
            else:
                getattr(message, field.name).SetInParent()
                _fill(getattr(message, field.name), chance, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend([_value(field, chance) for _ in range(chance.choice([1, 3]))])
        else:
            setattr(message, field.name, _value(field, chance))


def _value(field: FieldDescriptor, chance: random.Random) -> Any:
    if field.enum_type is not None:
        return chance.choice(field.enum_type.values).number
    if field.type == FieldDescriptor.TYPE_STRING:
        return chance.choice(TEXTS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return chance.choice([b"", b"\x00\xff\xfe", bytes(range(16))])
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return chance.choice([True, False])
    if field.cpp_type in BITS:
        low, high = BITS[field.cpp_type]
        return chance.choice([low, high, 0, 1, high // 3])
    return chance.choice(DOUBLES)


@pytest.mark.parametrize("cls", MAIN_TYPES, ids=lambda cls: cls.DESCRIPTOR.full_name)
@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_random_messages_survive_both_media(cls: type[Message], chance: random.Random) -> None:
    message = cls()
    _fill(message, chance, 0)
    text = codec.encode(message, JSON)
    assert text.isascii()
    assert codec.decode(cls, text, JSON) == message
    assert codec.decode(cls, codec.encode(message, PROTOBUF), PROTOBUF) == message
    assert codec.from_dict(cls, codec.to_dict(message)) == message


# Recorded exchanges ---------------------------------------------------------------------------------------------------

NOT_IN_SCHEMA = {"checkpoint"}
"""What Mesos writes in `agent_info` of some answers though the v1 AgentInfo has no such field (SlaveInfo's field 7)."""

LOSSY_PROTOBUF = {"044-pb-GET_AGENT", "103-SUBSCRIBE-stream-pb"}
"""Recorded protobuf bodies that hold that field."""

MORE_LENIENT = {"059-SET_LOGGING_LEVEL-negative"}
"""Mesos makes 4294967295 of -1 in an unsigned field."""


@dataclass(frozen=True)
class Body:
    """One recorded body; `value` is bytes of protobuf, or JSON values."""

    name: str
    cls: type[Message]
    value: Any
    written_by_mesos: bool


def _without(values: Any) -> Any:
    """Drop `agent_info.checkpoint`."""
    if isinstance(values, list):
        return [_without(one) for one in values]
    if not isinstance(values, dict):
        return values
    return {
        key: {k: _without(v) for k, v in one.items() if k not in NOT_IN_SCHEMA}
        if key == "agent_info"
        else _without(one)
        for key, one in values.items()
    }


BESIDE = {"nonsense", "framework_id", "executor_id", "resource_provider_id"}
"""What the recorder put into calls that have no such field, to see that it is ignored."""


def _known(values: dict[str, Any], cls: type[Message]) -> dict[str, Any]:
    names = cls.DESCRIPTOR.fields_by_name
    return {key: value for key, value in values.items() if key in names or key not in BESIDE}


def _same(left: Any, right: Any) -> bool:
    """Equal also in the types of numbers."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _lost(asked: Any, got: Any, kind: Descriptor, path: str = "") -> list[str]:
    """What of a client's JSON is not in what we write again, or is there without being a declared default."""
    faults = [
        f"{path}{key} was added" for key in got.keys() - asked.keys() if not kind.fields_by_name[key].has_default_value
    ]
    for key, value in asked.items():
        if value in (None, [], {}) and key not in got:
            continue
        if key not in got:
            faults.append(f"{path}{key} is gone")
            continue
        nested = kind.fields_by_name[key].message_type
        if nested is None or nested.GetOptions().map_entry:
            if got[key] != value:
                faults.append(f"{path}{key}: {value!r} became {got[key]!r}")
        else:
            pairs = [(value, got[key])] if isinstance(value, dict) else list(zip(value, got[key], strict=True))
            for one, again in pairs:
                faults += _lost(one, again, nested, f"{path}{key}.")
    return faults


def _clear_defaults(message: Message) -> None:
    for field, value in message.ListFields():
        if field.message_type is not None:
            entry = field.message_type
            if entry.GetOptions().map_entry:
                continue
            for one in value if field.is_repeated else [value]:
                _clear_defaults(one)
        elif field.has_default_value and value == field.default_value and field.full_name not in SILENT_DEFAULTS:
            message.ClearField(field.name)


def _check_body(body: Body) -> list[str]:
    if isinstance(body.value, bytes):
        raw = body.cls.FromString(body.value)
        message = codec.decode(body.cls, body.value, PROTOBUF)
        again = codec.encode(message, PROTOBUF)
        raw.DiscardUnknownFields()
        whole = len(again) == len(body.value) or body.name in LOSSY_PROTOBUF
        ok = whole and raw == message == body.cls.FromString(again)
        ok = ok and codec.from_json(body.cls, codec.to_json(message)) is not None
        return [] if ok else [f"{body.name}: protobuf differs"]
    message = codec.from_json(body.cls, json.dumps(body.value))
    again = json.loads(codec.to_json(message))
    if codec.from_dict(body.cls, again) != codec.from_dict(body.cls, codec.to_dict(message)):
        return [f"{body.name}: not stable"]
    if body.written_by_mesos:
        # Mesos wrote defaults that nobody had set; take them out, and they must come back.
        _clear_defaults(message)
        again = json.loads(codec.to_json(message))
        return [] if _same(again, _without(body.value)) else [f"{body.name}: {again} is not {body.value}"]
    return [f"{body.name}: {fault}" for fault in _lost(body.value, again, message.DESCRIPTOR)]


def _api(entry: dict[str, Any]) -> str | None:
    path = entry["request"]["path"].split("?")[0]
    if "/api/v1" not in path or entry["request"]["method"] != "POST":
        return None
    return next((api for api in ("resource_provider", "scheduler") if path.rstrip("/").endswith(api)), entry["server"])


def _content_type(side: dict[str, Any]) -> str | None:
    return next((value for name, value in reversed(side.get("headers", [])) if name.lower() == "content-type"), None)


def _bytes(side: dict[str, Any]) -> bytes | None:
    if "body_base64" in side:
        return base64.b64decode(side["body_base64"])
    return side["body"].encode() if "body" in side else None


def _recorded() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in golden.NAMES:
        for entry in golden.entries(name):
            api = _api(entry) if "request" in entry else None
            if api is not None:
                yield api, entry


def _plain(entry: dict[str, Any]) -> bool:
    """Whether the recorded request body is the body itself, not as it was on the wire (chunked, gzip'd)."""
    names = {name.lower() for name, _ in entry["request"]["headers"]}
    chunked = "chunked" in entry["file"] or "no-host" in entry["file"]
    return not chunked and not names & {"transfer-encoding", "content-encoding"}


def _recorded_bodies(api: str, entry: dict[str, Any]) -> Iterator[Body]:
    module, name = MODULES[api], entry["file"]
    response = entry.get("response") or {}
    kind = _content_type(response)
    answer = getattr(module, "Response", None)
    if response.get("status") == 200 and answer is not None and "events" not in response:
        if kind == JSON and response.get("body"):
            yield Body(name, answer, json.loads(response["body"]), True)
        elif kind == PROTOBUF:
            yield Body(name, answer, _bytes(response), True)
    for event in response.get("events", []):
        value = event["event"]
        yield Body(name, module.Event, base64.b64decode(value["base64"]) if "base64" in value else value, True)
    for call in entry.get("calls", []):
        if call["status"] in (200, 202):
            yield Body(name, module.Call, _known(json.loads(call["request"]), module.Call), False)
    if response.get("status") in (200, 202) and _plain(entry):
        data = _bytes(entry["request"])
        if _content_type(entry["request"]) == JSON and data is not None:
            yield Body(name, module.Call, _known(json.loads(data), module.Call), False)
        elif _content_type(entry["request"]) == PROTOBUF and data is not None:
            yield Body(name, module.Call, data, False)


def test_all_recorded_bodies_come_back_without_loss() -> None:
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for api, entry in _recorded():
        for body in _recorded_bodies(api, entry):
            if body.name in MORE_LENIENT and not body.written_by_mesos:
                continue
            counts[body.cls.DESCRIPTOR.full_name] += 1
            counts["protobuf" if isinstance(body.value, bytes) else "JSON"] += 1
            faults += _check_body(body)
    assert faults == []
    print(dict(counts))
    assert counts["JSON"] >= 900, counts
    assert counts["protobuf"] >= 10, counts
    assert sum(count for name, count in counts.items() if name.endswith(("Event", "Response"))) >= 440, counts


REFUSALS = (
    "Failed to parse body",
    "Failed to convert JSON",
    "Missing required fields",
    "Expecting a JSON object",
    "Not expecting a JSON",
    "Failed to find enum",
    "Failed to base64",
)


def test_recorded_refusals_are_ours_too_and_in_the_same_words() -> None:
    seen = 0
    for api, entry in _recorded():
        response = entry.get("response") or {}
        data = _bytes(entry["request"])
        media = _content_type(entry["request"])
        readable = media in (JSON, PROTOBUF) and _plain(entry) and "body_truncated" not in entry["request"]
        if not readable or response.get("status") not in (200, 202, 400):
            continue
        theirs = str(response.get("body", ""))
        refused = response.get("status") == 400 and theirs.startswith(REFUSALS)
        try:
            codec.decode(MODULES[api].Call, data or b"", media)
        except CodecError as error:
            if entry["file"] in MORE_LENIENT:
                continue
            # The agent's operator API leaves the first words out.
            ours = {str(error), error.detail, str(error).replace("into Call protobuf", "into a protobuf object")}
            assert theirs in ours, entry["file"]
            seen += 1
        else:
            assert not refused, entry["file"]
    assert seen >= 40


# Time -----------------------------------------------------------------------------------------------------------------


def _offers(resources: int) -> scheduler_pb2.Event:
    event = scheduler_pb2.Event(type=scheduler_pb2.Event.OFFERS)
    offer = event.offers.offers.add(hostname="127.0.0.1")
    for part in (offer.id, offer.framework_id, offer.agent_id):
        part.value = "6ebad4cf-5874-4199-9fb2-feab5ba2b945-0000"
    for _ in range(resources):
        resource = offer.resources.add(name="cpus", type=mesos_pb2.Value.SCALAR)
        resource.scalar.value = 4
        resource.provider_id.value = "5e4b4f56-d2f0-48ef-8f37-d26d42ea39bd"
        resource.allocation_info.role = "latency"
        resource.reservations.add(role="latency", type=Resource.ReservationInfo.DYNAMIC)
        source = resource.cpu.source
        source.type, source.zone, source.pool = Resource.CpuInfo.Source.RAW, "numa/0", "default"
        for key in ("free_cores", "llc/0", "distances"):
            source.metadata.labels.add(key=key, value="4")
    return event


@pytest.mark.bench
def test_an_offers_event_takes_well_under_a_millisecond() -> None:
    event = _offers(20)
    text, data = codec.encode(event, JSON), codec.encode(event, PROTOBUF)
    times = {
        name: min(timeit.repeat(call, timer=time.thread_time, number=100, repeat=5)) * 1e4
        for name, call in {
            "JSON out": lambda: codec.encode(event, JSON),
            "JSON in": lambda: codec.decode(scheduler_pb2.Event, text, JSON),
            "protobuf out": lambda: codec.encode(event, PROTOBUF),
            "protobuf in": lambda: codec.decode(scheduler_pb2.Event, data, PROTOBUF),
        }.items()
    }
    print({name: f"{value:.0f} µs" for name, value in times.items()}, len(text), "bytes")
    assert max(times.values()) < 5000  # µs of CPU time, on a slow machine
