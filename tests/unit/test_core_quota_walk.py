"""Random walks under quotas: no role is ever offered more than its limit, and what is guaranteed stays to be had."""

from __future__ import annotations

import random
from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, reserve, with_role

from agent_api.core import fairness, ledger, offers
from agent_api.core import resources as rs
from agent_api.wire import master_pb2, mesos_pb2
from agent_api.wire.codec import from_dict

ROLES = ["a", "a/x", "b", "c", "c/y", "d"]


class Walk:
    """Four trees of roles on 4 plain CPUs and two zones of 8; three have quotas."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.host = Host(resources=rs.parse("cpus:4;mem:4096"))
        self.host.config(floor=4)
        self.provider = ProviderClient(self.host)
        self.provider.update_state()
        self.free = {"numa/0": 8, "numa/1": 8}
        self.sets: dict[str, tuple[str, int, str]] = {}
        self.count = 0
        self.quotas()
        self.clients = [FrameworkClient(self.host, role=role) for role in ROLES]

    def quotas(self) -> None:
        choice = self.random.choice
        configs = []
        for role, guarantees in (("a", [0, 2, 5]), ("b", [0, 3, 4.5]), ("c", [1, 6])):
            cpus = choice(guarantees)
            config: dict[str, Any] = {"role": role, "guarantees": {"cpus": {"value": cpus}}}
            if choice([True, False]):
                config["guarantees"]["mem"] = {"value": choice([100, 1000])}
            if choice([True, False]):
                config["limits"] = {"cpus": {"value": cpus + choice([0, 1, 2.5, 10])}}
            configs.append(config)
        body = {"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": configs}}
        self.host.master.master_call(from_dict(master_pb2.Call, body), self.host.now)
        self.host.turn()

    def step(self) -> None:
        client = self.random.choice(self.clients)
        world = self.host.master.world
        mine = [o for o in world.offers.values() if o.framework_id == client.id]
        match self.random.choice(["decline", "launch", "create", "reserve", "end", "time", "suppress", "revive"]):
            case "decline":
                ids = [{"value": i} for i in client.outstanding()]
                refuse = {"refuse_seconds": self.random.choice([0, 3])}
                client.call({"type": "DECLINE", "decline": {"offer_ids": ids, "filters": refuse}})
            case "launch" if mine:
                parts = [r for r in mine[0].resources if not (r.HasField("cpu") and rs.set_id(r) is None)]
                if parts:
                    self.count += 1
                    used = [with_role(r, client.role) for r in parts]
                    client.accept(mine[0].message.id.value, launch(self.host, f"t{self.count}", used))
                    self.provider.published()
            case "create" if mine:
                raw = [
                    r for r in mine[0].resources if r.HasField("cpu") and rs.set_id(r) is None and not r.reservations
                ]
                for resource in raw[:1]:
                    client.accept(mine[0].message.id.value, create([with_role(resource, client.role)]))
                    self.check()
                    for applied in self.provider.applied():
                        self.count += 1
                        zone, cpus = resource.cpu.source.zone, int(resource.scalar.value)
                        self.free[zone] -= cpus
                        self.sets[f"s{self.count}"] = (zone, cpus, client.role)
                        converted = [self.provider.cpu_set(f"s{self.count}", zone, cpus)]
                        self.provider.status(applied, converted=converted, status_uuid=self.count)
            case "reserve" if mine:
                plain = [r for r in mine[0].resources if not r.HasField("provider_id") and not r.reservations]
                for resource in plain[:1]:
                    named = with_role(resource, client.role)
                    named.reservations.add(type=mesos_pb2.Resource.ReservationInfo.DYNAMIC, role=client.role)
                    client.accept(mine[0].message.id.value, reserve([named], None))
            case "end":
                for task in list(world.live_tasks())[:1]:
                    self.host.end(task.key[1], task.key[0])
            case "suppress":
                client.call({"type": "SUPPRESS"})
            case "revive":
                client.call({"type": "REVIVE"})
            case "time":
                self.host.turn(self.random.choice([0.25, 1, 4]))

    def check(self) -> None:
        world = self.host.master.world
        assert rs.contains(world.total(), [*world.used(), *world.offered(), *world.held()])
        quotas = offers.quotas(world)
        consumed = fairness.by_top(ledger.consumed(world))
        for role, quota in quotas.items():
            for name, most in quota.limits.items():
                assert consumed.get(role, {}).get(name, 0) <= most, role
        free = ledger.quantities(r for r in world.free() if ledger.owner(world, r) is None)
        for name, needed in fairness.headroom(quotas, consumed).items():
            assert free.get(name, 0) >= needed, (name, free, consumed, quotas)


@pytest.mark.parametrize("seed", range(30))
def test_walk(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(60):
        walk.step()
        walk.check()
