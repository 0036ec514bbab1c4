"""Tasks that use an exclusive and a shared set at once: they have a group with the CPUs of both, whatever happens."""

from __future__ import annotations

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
