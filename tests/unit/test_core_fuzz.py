"""Calls made of anything the schema allows: an answer or an ApiError, never anything else, and nothing is lost."""

from __future__ import annotations

import random
from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, scalar, with_role
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from agent_api.core import resources as rs
from agent_api.errors import ApiError
from agent_api.wire import agent_pb2, codec, master_pb2, resource_provider_pb2, scheduler_pb2

Field = FieldDescriptor


class Maker:
    """Fills messages at random, now and then with values that mean something here."""

    def __init__(self, seed: int, words: list[str], resources: list[Message]) -> None:
        self.random = random.Random(seed)
        self.words = words
        self.resources = resources

    def fill(self, message: Message, depth: int = 0) -> None:
        for field in message.DESCRIPTOR.fields:
            if not field.is_required and self.random.random() < 0.15 + 0.1 * depth:
                continue
            if depth > 5 and not field.is_required:
                continue
            if field.is_repeated:
                if field.message_type is not None and field.message_type.GetOptions().map_entry:
                    continue
                target = getattr(message, field.name)
                for _ in range(self.random.randint(0, 2)):
                    if field.message_type is None:
                        target.append(self.value(field))
                    else:
                        self.item(target.add(), depth)
            elif field.message_type is not None:
                getattr(message, field.name).SetInParent()
                self.item(getattr(message, field.name), depth)
            else:
                setattr(message, field.name, self.value(field))

    def item(self, message: Message, depth: int) -> None:
        if message.DESCRIPTOR.name == "Resource" and self.random.random() < 0.7:
            message.CopyFrom(self.random.choice(self.resources))
            if self.random.random() < 0.3:
                message.scalar.value = self.number()  # type: ignore[attr-defined]
        else:
            self.fill(message, depth + 1)

    def number(self) -> float:
        return self.random.choice([0.0, 1.0, 2.0, 0.5, -1.0, 1e18])  # the codec lets no others in

    def value(self, field: Field) -> Any:
        match field.cpp_type:
            case Field.CPPTYPE_STRING if field.type == Field.TYPE_BYTES:
                return self.random.choice([b"", b"x", b"0123456789abcdef"])
            case Field.CPPTYPE_STRING:
                return self.random.choice(self.words)
            case Field.CPPTYPE_ENUM:
                return self.random.choice(field.enum_type.values).number
            case Field.CPPTYPE_BOOL:
                return self.random.random() < 0.5
            case Field.CPPTYPE_DOUBLE | Field.CPPTYPE_FLOAT:
                return self.number()
            case _:
                return self.random.choice([0, 1, 2, 2**31 - 1])


def tolerant(act: Any) -> None:
    try:
        act()
    except ApiError as error:
        assert 400 <= error.status <= 599 and error.message


@pytest.mark.parametrize("seed", range(10))
def test_any_call(seed: int) -> None:
    host = Host(flags={"a": "b"})
    host.config()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host, failover_timeout=1e6)
    made = with_role(provider.cpu_set("s1", "numa/0", 2), "test")
    raw = with_role(provider.raw("numa/0", 2), "test")
    framework.accept(framework.offer(), create([raw], "op"), launch(host, "t", [scalar("cpus", 1, "test")]))
    (applied,) = provider.applied()
    provider.status(applied, converted=[made])
    host.turn(1)
    world = host.master.world
    words = ["", "x", "*", "test", "t", "s1", "op", world.agent_id, provider.id, framework.id, "a/b", "..", "ä"]
    maker = Maker(seed, words, [made, raw, scalar("cpus", 1, "test"), scalar("mem", 1), provider.raw("numa/1", 1)])
    for step in range(60):
        maker.words = [*words, *framework.outstanding()]
        offers = framework.outstanding()
        scheduler = scheduler_pb2.Call()
        maker.fill(scheduler)
        scheduler.framework_id.value = framework.id
        if scheduler.type == scheduler_pb2.Call.TEARDOWN:
            scheduler.type = scheduler_pb2.Call.ACCEPT
        if scheduler.HasField("accept") and offers:
            scheduler.accept.offer_ids.add(value=offers[0])
        tolerant(lambda: host.master.scheduler_call(scheduler, framework.stream, host.now))  # noqa: B023
        report = resource_provider_pb2.Call()
        maker.fill(report)
        report.resource_provider_id.value = provider.id
        for resource in report.update_state.resources:
            resource.provider_id.value = provider.id
        tolerant(lambda: host.master.provider_call(report, provider.stream, host.now))  # noqa: B023
        subscribe = scheduler_pb2.Call(type=scheduler_pb2.Call.SUBSCRIBE)
        maker.fill(subscribe.subscribe)
        subscribe.framework_id.CopyFrom(subscribe.subscribe.framework_info.id)
        if subscribe.framework_id.value != framework.id:
            stream = host.new_stream()
            tolerant(lambda: host.master.subscribe(subscribe, stream, None, host.now))  # noqa: B023
        joins = resource_provider_pb2.Call(type=resource_provider_pb2.Call.SUBSCRIBE)
        maker.fill(joins.subscribe)
        if joins.subscribe.resource_provider_info.id.value != provider.id:
            stream = host.new_stream()
            host.master.provider_subscribe(joins, stream, host.now)
        operator, other = master_pb2.Call(), agent_pb2.Call()
        maker.fill(operator)
        maker.fill(other)
        if operator.type != master_pb2.Call.TEARDOWN:
            tolerant(lambda: host.master.master_call(operator, host.now))  # noqa: B023
        tolerant(lambda: host.master.agent_call(other, host.now))  # noqa: B023
        host.turn(maker.random.choice([0, 0.25, 1, 30]))
        if step % 20 == 0:
            for kind in ("GET_STATE", "GET_OPERATIONS"):
                call = master_pb2.Call(type=master_pb2.Call.Type.Value(kind))
                codec.to_json(host.master.master_call(call, host.now))
    assert all(r.scalar.value > 0 for r in world.free() if r.HasField("scalar"))
    rs.describe_all(world.total())
    again = Host(host.now, stored=host)
    again.turn(1)
