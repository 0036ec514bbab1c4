"""Revocable CPUs at the agent: who sees them, and what becomes of tasks whose set was revoked."""

from __future__ import annotations

from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, launch, text, with_role

from agent_api.core import figures, ledger, views
from agent_api.core import resources as rs
from agent_api.wire import master_pb2, mesos_pb2, pinfold_pb2, quota_pb2, scheduler_pb2

Event = scheduler_pb2.Event
Status = mesos_pb2.TaskStatus
TAKES = ("REVOCABLE_RESOURCES",)


def revocable(resource: mesos_pb2.Resource) -> mesos_pb2.Resource:
    resource.revocable.SetInParent()
    return resource


class World:
    """A provider with a revocable set "s" of role "test" beside RAW of both kinds."""

    def __init__(self, **options: Any) -> None:
        self.host = Host(**options)
        self.provider = ProviderClient(self.host, {})
        self.report("OK")

    def report(self, state: str, reason: str = "", amount: float = 2) -> None:
        mine = revocable(self.provider.cpu_set("s", "numa/0", 2, shared=True))
        extra = revocable(self.provider.raw("numa/0", amount))
        self.provider.total = [self.provider.raw("numa/0", 6), *([extra] if amount else []), mine]
        self.provider.cpusets = [
            pinfold_pb2.Cpuset(
                id="s",
                role="test",
                lifetime="role",
                revocable=True,
                state=pinfold_pb2.Cpuset.State.Value(state),
                reason=reason,
            )
        ]
        self.provider.update_state()

    def set_part(self, amount: float = 1) -> mesos_pb2.Resource:
        return with_role(revocable(self.provider.cpu_set("s", "numa/0", amount, shared=True)), "test")

    def running(self, framework: FrameworkClient, name: str = "t", **task: Any) -> None:
        framework.accept(framework.offer(), launch(self.host, name, [self.set_part()], **task))
        self.provider.published()
        self.host.run()
        for _ in range(2):
            (status,) = framework.statuses()
            framework.acknowledge(status)
        assert status.state == mesos_pb2.TASK_RUNNING


def test_raw_and_sets_go_only_to_those_that_take_them() -> None:
    world = World()
    assert "{REV}" not in text(FrameworkClient(world.host).offer().resources)
    taker = FrameworkClient(world.host, capabilities=TAKES)
    offered = text(taker.offer().resources)
    assert "cpus[RAW numa/0 default]{REV}:2" in offered
    assert "cpus[SHARED s numa/0 default]{REV}:2" in offered
    # The set is its role's, as any other is.
    taker.close()
    other = FrameworkClient(world.host, role="other", capabilities=TAKES)
    offered = text(other.offer().resources)
    assert "SHARED" not in offered and "RAW numa/0 default]{REV}:2" in offered


@pytest.mark.parametrize(
    ("aware", "end"), [(False, mesos_pb2.TASK_LOST), (True, mesos_pb2.TASK_GONE)], ids=["lost", "gone"]
)
def test_tasks_of_a_revoked_set_are_ended_and_then_it_is_destroyed(aware: bool, end: mesos_pb2.TaskState) -> None:
    world = World()
    host, provider = world.host, world.provider
    framework = FrameworkClient(host, capabilities=TAKES)
    if not aware:
        kept = [c for c in framework.info.capabilities if c.type != mesos_pb2.FrameworkInfo.Capability.PARTITION_AWARE]
        assert len(kept) == len(framework.info.capabilities) - 1
        del framework.info.capabilities[:]
        framework.info.capabilities.extend(kept)
        framework.subscribe()
    world.running(framework)
    world.running(framework, "patient", kill_policy={"grace_period": {"nanoseconds": 60_000_000_000}})
    offer = framework.offer()
    assert "SHARED" not in text(offer.resources)  # both CPUs' worth of it are used
    world.report("REVOKED", "room for 0", amount=0)
    assert [(kill.task_id, kill.grace_seconds) for kill in host.killed] == [("t", 3.0), ("patient", 60.0)]
    host.turn(5)
    world.report("REVOKED", "room for 0", amount=0)
    assert len(host.killed) == 2
    assert not provider.applied()
    for name in ("t", "patient"):
        host.end(name, framework.id, None, 15)
        (status,) = framework.statuses()
        assert (status.state, status.reason, status.source) == (
            end,
            Status.REASON_CONTAINER_PREEMPTED,
            Status.SOURCE_AGENT,
        )
        assert status.message == "Preempted: set s is revoked: room for 0"
        framework.acknowledge(status)
    (applied,) = provider.applied()
    assert applied.info.type == mesos_pb2.Offer.Operation.DESTROY_CPUSET
    assert [r.cpu.source.id for r in applied.info.destroy_cpuset.source] == ["s"]
    assert not applied.HasField("framework_id")
    metrics = figures.metrics(host.master, host.now)
    assert metrics["slave/executors_preempted"] == 2
    assert metrics["pinfold/sets_revoked"] == 1
    assert metrics[f"master/tasks_{mesos_pb2.TaskState.Name(end)[5:].lower()}"] == 2
    # It fails as long as processes are left, and is tried again later.
    provider.status(applied, "OPERATION_FAILED", message="processes are in its cgroup")
    assert not provider.applied()
    host.turn(60)
    assert len(provider.applied()) == 1


def test_a_revoked_set_is_offered_to_nobody_until_it_has_room_again() -> None:
    world = World()
    framework = FrameworkClient(world.host, capabilities=TAKES)
    world.running(framework)
    offer = framework.offer()
    assert "SHARED s numa/0 default]{REV}:1" in text(offer.resources)
    world.report("REVOKED", "no room")
    rescinded = [event.rescind.offer_id.value for event in framework.take(Event.RESCIND)]
    assert offer.id.value in rescinded
    for _ in range(3):
        assert "SHARED" not in text(framework.offer().resources)
        world.host.turn(1)
    world.report("OK")
    assert not world.provider.applied()
    assert "SHARED s numa/0 default]{REV}:1" in text(framework.offer().resources)


def test_a_task_that_was_not_started_ends_at_once() -> None:
    world = World()
    framework = FrameworkClient(world.host, capabilities=TAKES)
    framework.accept(framework.offer(), launch(world.host, "t", [world.set_part()]))
    world.report("REVOKED", "no room")
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_GONE, Status.REASON_CONTAINER_PREEMPTED)
    assert not world.host.launched and not world.host.killed


def test_a_restart_forgets_neither_the_kill_nor_its_reason() -> None:
    world = World()
    framework = FrameworkClient(world.host, capabilities=TAKES, failover_timeout=1000.0)
    world.running(framework)
    world.report("REVOKED", "no room")
    again = Host(world.host.now, stored=world.host)
    again.turn(1)
    assert [kill.task_id for kill in again.killed] == ["t"]
    framework.host = again
    framework.subscribe()
    again.end("t", framework.id, 0)
    (status,) = framework.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_GONE, Status.REASON_CONTAINER_PREEMPTED)


def test_what_its_framework_killed_before_is_killed() -> None:
    world = World()
    framework = FrameworkClient(world.host, capabilities=TAKES)
    world.running(framework)
    framework.call({"type": "KILL", "kill": {"task_id": {"value": "t"}}})
    world.report("REVOKED", "no room")
    assert len(world.host.killed) == 1
    world.host.end("t", framework.id, None, 15)
    (status,) = framework.statuses()
    assert status.state == mesos_pb2.TASK_KILLED


def test_less_revocable_disturbs_only_those_that_were_offered_it() -> None:
    world = World()
    plain = FrameworkClient(world.host, role="other")
    taker = FrameworkClient(world.host, capabilities=TAKES)
    with_raw = plain.offer()
    without = taker.offer()
    assert "RAW" in text(with_raw.resources) and "RAW numa/0 default]{REV}" in text(without.resources)
    world.report("OK", amount=1)
    assert not plain.take(Event.RESCIND)
    (event,) = taker.take(Event.RESCIND)
    assert event.rescind.offer_id == without.id
    assert "RAW numa/0 default]{REV}:1" in text(taker.offer().resources)
    held = taker.outstanding()
    world.report("OK", amount=2)  # more of it takes nothing back
    assert taker.outstanding()[: len(held)] == held


def test_sets_and_tasks_of_it_are_beyond_quotas() -> None:
    world = World()
    config = quota_pb2.QuotaConfig(role="test")
    config.limits["cpus"].value = 1
    call = master_pb2.Call(type=master_pb2.Call.UPDATE_QUOTA)
    call.update_quota.quota_configs.append(config)
    world.host.master.master_call(call, world.host.now)
    world.host.turn()
    framework = FrameworkClient(world.host, capabilities=TAKES)
    world.running(framework)
    assert ledger.consumed(world.host.master.world).get("test", {}).get("cpus", 0) == 0
    offered = framework.offer().resources
    assert "RAW numa/0 default]{REV}:2" in text(offered) and "SHARED s numa/0 default]{REV}:1" in text(offered)
    assert rs.sum_of((r for r in offered if not r.HasField("revocable")), "cpus") == 1


def test_one_task_uses_revocable_cpus_or_others() -> None:
    world = World()
    framework = FrameworkClient(world.host, capabilities=TAKES)
    plain = mesos_pb2.Resource(name="cpus", type=mesos_pb2.Value.SCALAR)
    plain.scalar.value = 1
    framework.accept(framework.offer(), launch(world.host, "t", [world.set_part(), plain]))
    (status,) = framework.statuses()
    assert status.state == mesos_pb2.TASK_ERROR
    assert "Cannot use both revocable and non-revocable 'cpus' at the same time" in status.message


def test_figures_keep_them_apart() -> None:
    world = World()
    framework = FrameworkClient(world.host, capabilities=TAKES)
    metrics = figures.metrics(world.host.master, world.host.now)
    assert metrics["master/cpus_total"] == 8 + 6
    assert metrics["master/cpus_revocable_total"] == metrics["slave/cpus_revocable_total"] == 4
    assert (metrics["pinfold/cpus_raw"], metrics["pinfold/cpus_raw_revocable"]) == (6, 2)
    assert (metrics["pinfold/cpus_shared"], metrics["pinfold/cpus_shared_revocable"]) == (0, 2)
    world.running(framework)
    metrics = figures.metrics(world.host.master, world.host.now)
    assert (metrics["slave/cpus_used"], metrics["slave/cpus_revocable_used"]) == (0, 1)
    assert metrics["slave/cpus_revocable_percent"] == 0.25
    state = views.agent_state(world.host.master, world.host.now)
    assert (state["resources"]["cpus"], state["resources"]["cpus_revocable"]) == (14, 4)
