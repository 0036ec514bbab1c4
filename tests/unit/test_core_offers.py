"""Who is offered what, when, and what ends an offer."""

from __future__ import annotations

from typing import Any

import pytest
from core_world import FrameworkClient, Host, ProviderClient, create, launch, reserve, scalar, text, with_role

from agent_api.errors import Conflict
from agent_api.wire import mesos_pb2, scheduler_pb2

Event = scheduler_pb2.Event


def decline(framework: FrameworkClient, **filters: Any) -> None:
    ids = [{"value": i} for i in framework.outstanding()]
    framework.call({"type": "DECLINE", "decline": {"offer_ids": ids, "filters": filters}})


def wait(framework: FrameworkClient, most: float = 10.0) -> float:
    """Seconds until the next offer."""
    start = framework.host.now
    while framework.host.now < start + most:
        framework.host.turn(0.25)
        if framework.offers():
            return framework.host.now - start
    return most


@pytest.mark.parametrize(("filters", "least"), [({}, 5), ({"refuse_seconds": 3}, 3), ({"refuse_seconds": 0}, 0)])
def test_decline_holds_for_refuse_seconds(filters: dict[str, float], least: float) -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.offers()
    decline(framework, **filters)
    waited = wait(framework)
    assert least <= waited <= least + 1.25


def test_revive_brings_an_offer_at_once() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.offers()
    decline(framework, refuse_seconds=1e12)
    assert wait(framework) == 10
    assert framework.call({"type": "REVIVE"}) == 202
    assert framework.offers()


def test_suppress_and_revive_of_roles() -> None:
    host = Host()
    framework = FrameworkClient(host)
    assert framework.call({"type": "SUPPRESS", "suppress": {"roles": ["nope"]}}) == 202
    framework.offers()
    framework.call({"type": "SUPPRESS"})
    assert framework.outstanding()  # what was offered stays
    decline(framework, refuse_seconds=0)
    assert wait(framework) == 10
    framework.call({"type": "REVIVE", "revive": {"roles": ["nope"]}})
    assert not framework.offers()
    framework.call({"type": "REVIVE", "revive": {"roles": ["test"]}})
    assert framework.offers()


def test_suppressed_roles_survive_a_restart() -> None:
    host = Host()
    framework = FrameworkClient(host, failover_timeout=100)
    framework.call({"type": "SUPPRESS"})
    again = Host(host.now, stored=host)
    assert again.master.world.frameworks[framework.id].suppressed == {"test"}


def test_decline_of_unknown_and_foreign_offers_does_nothing() -> None:
    host = Host()
    first = FrameworkClient(host)
    second = FrameworkClient(host)
    (offer_id,) = first.outstanding()
    second.call({"type": "DECLINE", "decline": {"offer_ids": [{"value": offer_id}, {"value": "nope"}]}})
    assert first.outstanding() == [offer_id]


def test_a_filter_does_not_hide_more_than_was_refused() -> None:
    host = Host()
    provider = ProviderClient(host)
    framework = FrameworkClient(host)
    framework.offers()
    decline(framework, refuse_seconds=1000)
    provider.update_state()
    (offer,) = framework.offers()
    assert "RAW numa/0" in text(offer.resources)


def test_the_one_with_least_is_served_first() -> None:
    host = Host()
    first, second = FrameworkClient(host, role="a"), FrameworkClient(host, role="b")
    offer = first.offer()
    first.accept(offer, launch(host, "t", [scalar("cpus", 4, "a"), scalar("mem", 64, "a")]), refuse=0)
    host.turn(1)
    assert second.outstanding() and not first.outstanding()


def test_offer_timeout() -> None:
    host = Host(offer_timeout=5.0)
    framework = FrameworkClient(host)
    (offer,) = framework.offers()
    host.turn(5)
    (rescinded,) = framework.take(Event.RESCIND)
    assert rescinded.rescind.offer_id == offer.id


def test_reserved_goes_to_its_role_and_those_below() -> None:
    host = Host()
    provider = ProviderClient(host, {})
    provider.total = [provider.raw("numa/0", 4, "eng"), provider.raw("numa/1", 4)]
    provider.update_state()
    other = FrameworkClient(host, role="ops")
    assert "eng" not in text(other.offer().resources)
    below = FrameworkClient(host, role="eng/dev")
    host.turn(1)
    assert "(reservations: [(DYNAMIC,eng)])[RAW numa/0 default]:4" in text(below.offers()[-1].resources)


def test_a_set_is_offered_to_its_role_only() -> None:
    host = Host()
    host.config()
    provider = ProviderClient(host)
    provider.update_state()
    owner = FrameworkClient(host, role="a")
    raw = with_role(provider.raw("numa/0", 4), "a")
    owner.accept(owner.offer(), create([raw]))
    (applied,) = provider.applied()
    provider.status(applied, converted=[provider.cpu_set("s1", "numa/0", 4)])
    owner.call({"type": "SUPPRESS"})
    decline(owner, refuse_seconds=0)
    stranger = FrameworkClient(host, role="b")
    below = FrameworkClient(host, role="a/x")
    for _ in range(8):
        for client in (stranger, below):
            assert not any(r.cpu.source.id == "s1" for o in client.offers() for r in o.resources)
            decline(client, refuse_seconds=0)
        host.turn(1)
    below.close()
    # A guessed id helps nobody.
    guess = with_role(provider.cpu_set("s1", "numa/0", 1), "b")
    stranger.accept(stranger.offer(), launch(host, "t", [guess, scalar("mem", 32, "b")]))
    (status,) = stranger.statuses()
    assert (status.state, status.reason) == (mesos_pb2.TASK_ERROR, mesos_pb2.TaskStatus.REASON_TASK_INVALID)
    assert "is more than available" in status.message


def test_revocable_only_to_those_that_take_it() -> None:
    host = Host()
    provider = ProviderClient(host, {})
    extra = provider.raw("numa/0", 4)
    extra.revocable.SetInParent()
    provider.total = [extra]
    provider.update_state()
    plain = FrameworkClient(host)
    assert "{REV}" not in text(plain.offer().resources)
    taker = FrameworkClient(host, capabilities=["REVOCABLE_RESOURCES"])
    assert "{REV}:4" in text(taker.offer().resources)


def test_provider_news_rescind() -> None:
    host = Host()
    host.config()
    provider = ProviderClient(host)
    provider.update_state()
    framework = FrameworkClient(host)
    (offer,) = framework.offers()
    provider.update_state()  # the same totals: nobody is disturbed
    assert not framework.take(Event.RESCIND)
    provider.total[0].scalar.value = 6
    provider.update_state()
    (event,) = framework.take(Event.RESCIND)
    assert event.rescind.offer_id == offer.id
    (offer,) = framework.offers()
    assert "RAW numa/0 default]:6" in text(offer.resources)
    provider.close()
    assert framework.take(Event.RESCIND)
    (offer,) = framework.offers()
    assert "RAW" not in text(offer.resources)


def test_plain_cpus_follow_the_floors() -> None:
    host = Host(resources=[scalar("mem", 100)])
    framework = FrameworkClient(host)
    assert text(framework.offer().resources) == "cpus:16; mem:100"
    host.config(floor=4)
    assert text(framework.offer().resources) == "cpus:4; mem:100"
    host.master.remove_config("org.pinfold.rp.cpu", "host", host.now)
    host.turn()
    assert text(framework.offer().resources) == "cpus:16; mem:100"
    host.config(floor=2, name="other")
    assert text(framework.offer().resources) == "cpus:2; mem:100"


def test_nothing_negative_is_offered() -> None:
    host = Host()
    framework = FrameworkClient(host)
    framework.accept(framework.offer(), launch(host, "t", [scalar("cpus", 6), scalar("mem", 64)]))
    host.config(floor=6)
    (offer,) = framework.offers()
    provider = ProviderClient(host, {})
    provider.update_state(floor=2)  # the host lost CPUs of the floor
    assert [e.rescind.offer_id for e in framework.take(Event.RESCIND)] == [offer.id]
    assert text(framework.offer().resources) == "mem:4032; ports:[31000-32000]"


def test_offers_after_a_restart_have_other_ids() -> None:
    host = Host()
    first = FrameworkClient(host).offer()
    again = Host(host.now, stored=host)
    assert FrameworkClient(again).offer().id.value != first.id.value


def test_own_reservations_are_kept_over_a_restart() -> None:
    host = Host()
    framework = FrameworkClient(host)
    offer = framework.offer()
    framework.accept(offer, reserve([scalar("cpus", 3, "test", "test")], "r"))
    (status,) = framework.operation_statuses()
    assert status.state == mesos_pb2.OPERATION_FINISHED and status.uuid.value
    assert text(status.converted_resources) == "cpus(reservations: [(DYNAMIC,test)]):3"
    assert not status.HasField("resource_provider_id")
    again = Host(host.now, stored=host)
    other = FrameworkClient(again, role="other")
    assert text(other.offer().resources).startswith("cpus:5; ")
    with pytest.raises(Conflict, match=r"cpus\(reservations: \[\(DYNAMIC,test\)\]\):3 is reserved"):
        Host(again.now, stored=again, resources=[scalar("cpus", 2), scalar("mem", 1)])
    # Measured ones nobody can take back: it starts, and what there is stays reserved.
    third = Host(again.now, stored=again, resources=[scalar("cpus", 2), scalar("mem", 1)], measured={"cpus", "mem"})
    assert text(third.master.world.agent.resources) == "mem:1; cpus(reservations: [(DYNAMIC,test)]):2"
