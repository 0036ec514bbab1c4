"""Tasks that use an exclusive and a shared set at once: they have a group with the CPUs of both, whatever happens."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_api.wire import mesos_pb2, resource_provider_pb2
from tests.functional.provider_world import Died, Operation, Provider, create, destroy, made, resize, uuid

Call = resource_provider_pb2.Call
OK, FAILED = Call.UpdatePublishResourcesStatus.OK, mesos_pb2.OPERATION_FAILED
MIX = "mix.set-1+set-2"


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def scene(directory: Path, version: int) -> Provider:
    """A shared set, an exclusive one, and a task in both."""
    directory.mkdir(exist_ok=True)
    provider = Provider(directory, version=version)
    provider.start()
    made(provider, create(1, "batch"))
    made(provider, create(2), 2)
    assert publish(provider) == OK
    provider.fs.start(77, f"{provider.enforcer().base}/{MIX}")
    return provider


def publish(provider: Provider) -> int:
    used = [*provider.resources("set-1"), *provider.resources("set-2")]
    return provider.publish(*used, together=[("set-2", "set-1")])


@pytest.fixture
def provider(tmp_path: Path, version: int) -> Iterator[Provider]:
    made = scene(tmp_path, version)
    yield made
    made.check()
    made.close()


def test_the_group_is_made_when_it_is_asked_for(provider: Provider) -> None:
    kernel = provider.kernel()
    assert (kernel["set.set-2"], kernel["shared/set-1"], kernel[MIX]) == ("1,5", "2-3,6-7", "1-3,5-7")
    assert publish(provider) == OK
    assert provider.kernel() == kernel
    # That the shared set's weight is divided by it is nobody's doing but ours.
    assert provider.manager._keeper._drift.times == {}
    assert provider.manager.degraded == {}


def test_it_follows_both_sets(provider: Provider) -> None:
    made(provider, create(2), 3)
    kernel = provider.kernel()
    assert kernel["set.set-3"] == "2,6"
    assert (kernel["shared/set-1"], kernel[MIX]) == ("3,7", "1,3,5,7")
    made(provider, destroy(provider.resources("set-3")), 4)
    assert provider.kernel()[MIX] == "1-3,5-7"
    made(provider, resize(provider.resources("set-2"), add=2), 5)
    kernel = provider.kernel()
    assert (kernel["set.set-2"], kernel["shared/set-1"], kernel[MIX]) == ("1-2,5-6", "3,7", "1-3,5-7")
    made(provider, resize(provider.resources("set-2"), subtract=2), 6)
    assert provider.kernel()[MIX] == "1-3,5-7"


def test_neither_set_is_destroyed_under_it(provider: Provider) -> None:
    for number, set_id in enumerate(("set-1", "set-2"), 3):
        status = provider.apply(destroy(provider.resources(set_id)), uuid(number))
        assert status is not None and status.state == FAILED
        assert "1 processes are in its cgroup" in status.message
    provider.fs.stop(77)
    made(provider, destroy(provider.resources("set-2")), 5)
    assert MIX not in provider.kernel()
    made(provider, destroy(provider.resources("set-1")), 6)
    assert provider.kernel() == {"plain": "0-7"}


def test_a_restart_and_drift(provider: Provider) -> None:
    kernel = provider.kernel()
    provider.start()
    assert provider.kernel() == kernel
    path = f"{provider.enforcer().base}/{MIX}"
    provider.fs.write(f"{path}/cpuset.cpus", "1,5")
    provider.now += 4
    provider.manager.tick()
    assert provider.kernel() == kernel
    assert provider.manager.degraded == {}
    provider.fs.stop(77)
    provider.fs.rmdir(path)
    assert publish(provider) == OK
    assert provider.kernel() == kernel


def test_the_end_of_the_provider_keeps_what_is_used(provider: Provider) -> None:
    kernel = provider.kernel()
    provider.manager._release()
    assert provider.kernel() == kernel
    provider.fs.stop(77)
    provider.manager._release()
    assert provider.kernel() == {"plain": "0-7"}
    provider.start()


def weights(provider: Provider) -> dict[str, float]:
    """Of each group, in the shared set's guarantee."""
    unit = provider.enforcer().rules.weight_unit  # type: ignore[attr-defined]
    return {n: g.weight / unit for n, g in provider.enforcer().read().groups.items() if n and g.weight is not None}


def later(provider: Provider, seconds: float = 4) -> None:
    provider.now += seconds
    provider.manager.tick()


@pytest.mark.parametrize("leaf", ["", "/task.1"])
def test_an_idle_group_goes_and_the_set_has_its_whole_weight_again(provider: Provider, leaf: str) -> None:
    path = f"{provider.enforcer().base}/{MIX}"
    if leaf:
        provider.fs.mkdir(path + leaf)
        if provider.version == 2:
            provider.fs.stop(77)
            provider.fs.mkdir(f"{path}/shims")
        provider.fs.start(77, path + leaf)
        provider.manager.reconcile()
    assert weights(provider)["shared/set-1"] == weights(provider)[MIX] == 0.5
    for _ in range(3):
        later(provider, 1000)
    assert weights(provider)[MIX] == 0.5, "its task runs"
    provider.fs.stop(77)
    if leaf:
        later(provider)
        later(provider)
        assert MIX in provider.kernel(), "the agent has yet to see how the task ended"
        provider.fs.rmdir(path + leaf)
    later(provider)
    assert MIX in provider.kernel(), "one look may have come between two tasks"
    later(provider)
    assert MIX not in provider.kernel()
    assert weights(provider)["shared/set-1"] == weights(provider)["shared"] == 1.0
    assert provider.manager._keeper._drift.times == {}
    assert provider.manager.degraded == {}
    assert publish(provider) == OK
    assert weights(provider)["shared/set-1"] == weights(provider)[MIX] == 0.5


def test_a_group_waits_for_the_task_that_it_was_made_for(provider: Provider) -> None:
    later(provider, 1000)
    assert publish(provider) == OK
    provider.fs.stop(77)
    for _ in range(7):
        later(provider)  # 28 s
        assert MIX in provider.kernel()
    assert publish(provider) == OK
    for _ in range(7):
        later(provider)
        assert MIX in provider.kernel()
    provider.start()
    for _ in range(7):
        later(provider)
        assert MIX in provider.kernel(), "a new process does not know when it was asked for"
    later(provider)
    later(provider)
    assert MIX not in provider.kernel()


def test_a_task_that_joins_at_the_last_moment_keeps_its_group(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(provider, 1000)
    provider.fs.stop(77)
    later(provider)
    kernel, path = provider.kernel(), f"{provider.enforcer().base}/{MIX}"
    rmdir = provider.fs.rmdir

    def joined_before(directory: str) -> None:
        if not any(88 in node.procs for root in provider.fs.roots.values() for node in root.below()):
            provider.fs.start(88, path)
        rmdir(directory)

    monkeypatch.setattr(provider.fs, "rmdir", joined_before)
    later(provider)
    assert provider.fs.where(88) == path
    later(provider)
    assert provider.kernel() == kernel and provider.fs.where(88) == path
    assert provider.manager.degraded == {}


def test_ids_that_are_too_long_for_one_name(tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture) -> None:
    """That task has no group, as the launcher says, and nobody else notices."""
    provider = Provider(tmp_path, version=version)
    provider.ids = (f"{number:0121}" for number in itertools.count(1))  # type: ignore[assignment]
    provider.start()
    for number, profile in enumerate(("batch", "any", "batch"), 1):
        made(provider, create(1, profile), number)
    one, two, three = provider.manager.state.sets
    long = [resource for set_id in (one, two, three) for resource in provider.resources(set_id)]
    assert provider.publish(*long, together=[(one, two, three), (one, two)]) == OK
    assert [name for name in provider.kernel() if name.startswith("mix.")] == [f"mix.{one}+{two}"]
    provider.manager.reconcile()
    assert provider.manager.degraded == {}
    assert "381 bytes, and the kernel takes 255" in caplog.text
    provider.check()
    provider.close()


def test_a_partition_is_not_mixed(tmp_path: Path) -> None:
    provider = Provider(tmp_path, version=2)
    provider.start(profiles={"batch": {"mode": "shared"}, "alone": {"mode": "exclusive", "partition": "isolated"}})
    made(provider, create(1, "batch"))
    made(provider, create(2, "alone"), 2)
    assert publish(provider) == OK, "it is a matter of that task alone"
    assert MIX not in provider.kernel()
    provider.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda provider: create(2),
        lambda provider: resize(provider.resources("set-2"), add=2),
        lambda provider: resize(provider.resources("set-1"), add=1),
    ],
    ids=["create", "grow", "grow shared"],
)
def test_death_at_every_point(tmp_path: Path, version: int, change: Callable[[Provider], Operation]) -> None:
    whole = scene(tmp_path / "whole", version)
    kernels = [whole.kernel()]
    start = whole.points
    assert whole.apply(change(whole), uuid(3)) is not None
    points = whole.points - start
    kernels.append(whole.kernel())
    whole.close()
    seen = set()
    for point in range(1, points + 1):
        provider = scene(tmp_path / str(point), version)
        info = change(provider)
        provider.die_at = provider.points + point
        with pytest.raises(Died):
            provider.apply(info, uuid(3))
        provider.start()
        provider.check()
        seen.add(kernels.index(provider.kernel()))
        assert provider.fs.where(77).endswith(MIX)
        provider.close()
    assert seen == {*range(len(kernels))} or kernels[0] == kernels[1]
