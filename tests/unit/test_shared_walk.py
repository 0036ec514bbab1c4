"""A long walk of operations over one pool: exclusive, shared and revocable sets come, grow, shrink and go.

After each step both sums hold, and an agent that only converts what it is told has the same totals as the provider, but
for revocable RAW that an exclusive set took: that comes with the next report.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from agent_api.core import resources as rs
from agent_api.wire import mesos_pb2
from profiles.mapping import Profile
from provider import inventory, reconcile, revocable
from provider.cgroup_plan import plan
from provider.cgroup_values import Observed, Rules
from provider.inventory import Host, Source, State
from provider.layout import Config, PoolConfig
from provider.operations import Catalogued, Change, Context, Operation, decide
from tests.unit.hosts import D16, host

Offer = mesos_pb2.Offer.Operation
Resource = mesos_pb2.Resource
PROFILES = {
    name: Catalogued(profile)
    for pool in ("default", "side")
    for name, profile in {
        f"own-{pool}": Profile(name=f"own-{pool}", pool=pool),
        f"cores-{pool}": Profile(name=f"cores-{pool}", pool=pool, core_siblings="denied"),
        f"batch-{pool}": Profile(name=f"batch-{pool}", pool=pool, mode="shared"),
    }.items()
}


class Walk:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.host: Host = host(D16, Config(pools=(PoolConfig("side", capacity=4),)), overcommit=1.5)
        self.state = State()
        self.count = 0
        self.done: list[str] = []
        self.totals = self.resources()
        """As an agent has them that was told all by conversions."""

    def labels(self, place: inventory.Place) -> mesos_pb2.Labels:
        return mesos_pb2.Labels()

    def resources(self) -> list[Resource]:
        return rs.normalize(
            [
                *inventory.resources(self.host, self.state, "rp", self.labels),
                *revocable.resources("rp", self.labels, revocable.amounts(self.host, self.state)),
            ]
        )

    def some(self, resource: Resource) -> Resource:
        """A part of it, allocated to the role."""
        part = Resource()
        part.CopyFrom(resource)
        part.scalar.value = self.random.randint(1, int(resource.scalar.value))
        part.allocation_info.role = "r"
        return part

    def raw(self, pool: str, loose: bool) -> list[Resource]:
        fits = [
            r
            for r in self.totals
            if rs.source_type(r) == Source.RAW and r.cpu.source.pool == pool and r.HasField("revocable") is loose
        ]
        return [self.some(r) for r in self.random.sample(fits, self.random.randint(min(1, len(fits)), len(fits)))]

    def of(self, set_id: str) -> list[Resource]:
        return rs.allocate([r for r in self.totals if rs.set_id(r) == set_id], "r")

    def next(self) -> Offer:
        kind = self.random.choice(("create", "create", "grow", "shrink", "destroy"))
        sets = sorted(self.state.sets)
        info = Offer()
        if kind == "create" or not sets:
            pool = self.random.choice(("default", "default", "side"))
            profile = self.random.choice(("own", "cores", "batch", "batch"))
            loose = profile == "batch" and self.random.random() < 0.5
            info.type = Offer.CREATE_CPUSET
            info.create_cpuset.target_profile = f"{profile}-{pool}"
            info.create_cpuset.source.extend(self.raw(pool, loose))
            return info
        one = self.state.sets[self.random.choice(sets)]
        mine = self.of(one.id)
        if kind == "destroy":
            info.type = Offer.DESTROY_CPUSET
            info.destroy_cpuset.source.extend(mine)
            return info
        info.type = Offer.RESIZE_CPUSET
        info.resize_cpuset.cpuset.extend(mine)
        if kind == "grow":
            info.resize_cpuset.add.extend(self.raw(one.pool, one.revocable))
        else:
            info.resize_cpuset.subtract.append(self.some(self.random.choice(mine)))
        return info

    def step(self) -> None:
        self.count += 1
        info = self.next()
        context = Context(self.host, "rp", b"v", PROFILES, self.labels, {}, float(self.count), f"set-{self.count}")
        outcome = decide(context, self.state, Operation(bytes(16), b"v", "fw", info))
        self.done.append(
            f"{Offer.Type.Name(info.type)}: {outcome.summary if isinstance(outcome, Change) else outcome.message}"
        )
        if isinstance(outcome, Change):
            self.state = outcome.after
            taken = rs.unallocate(
                [
                    *info.create_cpuset.source,
                    *info.destroy_cpuset.source,
                    *info.resize_cpuset.cpuset,
                    *info.resize_cpuset.add,
                ]
            )
            assert rs.contains(self.totals, taken)
            self.totals = rs.add(rs.subtract(self.totals, taken), outcome.converted)
        self.check()

    def check(self) -> None:
        inventory.figures(self.host, self.state)
        revocable.figures(self.host, self.state)
        told = self.resources()
        assert same(firm(self.totals), firm(told)), self.done[-3:]
        # Of what is revocable the agent may still believe in what an exclusive set took meanwhile; never in less.
        assert rs.contains(self.totals, told), self.done[-3:]
        self.totals = told
        # No shared set ever has fewer CPUs than what is guaranteed in its pool, and the kernel can be brought there.
        wanted = reconcile.desired(self.host, self.state)
        for one in self.state.sets.values():
            if not one.exclusive and not one.revocable:
                others = self.state.sets.values()
                promised = sum(s.charge for s in others if s.pool == one.pool and not s.exclusive and not s.revocable)
                assert wanted.shared[one.id].cpus.bit_count() >= promised
        plan(Observed("cgroup2", D16.online, 3), wanted, Rules(inherits=True, partitions=True))


def firm(resources: Iterable[Resource]) -> list[Resource]:
    return [r for r in resources if not r.HasField("revocable")]


def same(a: list[Resource], b: list[Resource]) -> bool:
    return rs.contains(a, b) and rs.contains(b, a)


@pytest.mark.parametrize("seed", range(4))
def test_the_sums_hold_on_a_long_walk(seed: int) -> None:
    walk = Walk(seed)
    revoked = 0
    for _ in range(150):
        walk.step()
        revoked += bool(revocable.revoked(walk.host, walk.state))
    done = sum("set-" in line and "made" in line for line in walk.done)
    # The walk is worth something: sets were made and refused, and some had to give way.
    assert 20 < done < 150, walk.done
    assert revoked, walk.done
