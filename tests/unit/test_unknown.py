"""Keys of a file that no field is there for."""

from __future__ import annotations

from typing import Any

import pytest

from agent_api.wire import mesos_pb2
from agent_api.wire.unknown import unknown_fields


@pytest.mark.parametrize(
    ("data", "sentences"),
    [
        ({}, []),
        ({"type": "t", "name": "n", "cpu": {"floor": 1, "pools": [{"name": "a", "cpus": "0"}]}}, []),
        ({"typ": "t"}, ["typ: there is no such field; is type meant?"]),
        ({"cpu": {"reserved_cpu": "0"}}, ["cpu.reserved_cpu: there is no such field; is reserved_cpus meant?"]),
        (
            {"cpu": {"zzz": 1, "pools": [{}, {"capcity": 2}]}},
            ["cpu.zzz: there is no such field", "cpu.pools[1].capcity: there is no such field; is capacity meant?"],
        ),
        ({"cpu": {"profiles": {"url": "http://h"}}}, ["cpu.profiles.url: there is no such field; is uri meant?"]),
        ({"cpu": 7, "default_reservations": "x", "zzz": None}, ["zzz: there is no such field"]),
        (
            {"default_reservations": [{"role": "a", "labels": {"labels": [{"ky": "a"}]}}]},
            ["default_reservations[0].labels.labels[0].ky: there is no such field; is key meant?"],
        ),
    ],
)
def test_each_key_without_a_field_is_named(data: dict[str, Any], sentences: list[str]) -> None:
    assert unknown_fields(mesos_pb2.ResourceProviderInfo, data) == sentences
