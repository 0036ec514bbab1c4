"""Plays recorded exchanges against a running agent and says where it is not as a real Mesos was.

    found = Replay(agent, ["4-sched"], known=Known.read()).run()

`agent` is a `harness.AgentProcess` on `REPLAY_OPTIONS`, `found` the differences that `known` does not have. The
requests of the recordings are sent in the order of their times, streams are opened and left where they were. Before
each request the events that Mesos had sent until then are waited for; offers only where they are used. Ids in the
recording are examples: wherever an answer or an event has one for the first time, it stands for ours at that place from
then on, also in requests.

What is compared: status, headers that clients read, texts of errors word for word, fields, types and values of JSON
and protobuf (`replay_compare` says which values not), each stream's events in their order, one record in one chunk,
and whether the connection stays open. Of HEARTBEATs only one right after SUBSCRIBED counts. A reading call that differs
is asked again for a moment: the recording does not tell what it had to wait for.

Differences that are meant are in `tests/data/golden/differences.toml`, each with its reason; `Known.stale` names those
that are none any more. To see the others: `python -m tests.functional.replay 3-rp` (`-a`: all; `-l`: each by itself;
`-q`: without waiting long for what does not come).
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_api.wire import agent_pb2, codec, master_pb2, resource_provider_pb2, scheduler_pb2
from tests.functional.harness import AgentProcess
from tests.functional.replay_compare import Difference, Ids, amounts, covers, differences
from tests.functional.replay_known import Known
from tests.functional.replay_steps import Step, steps
from tests.functional.replay_wire import Answer, Stream, ask, event_values, header, recorded_event

__all__ = ["GROUPS", "REPLAY_OPTIONS", "Replay"]

GROUPS = {
    "agent": ("1-agent", "1-agent-rpconfig", "2-errors-agent-op", "2-errors-agent-rp", "3-rp"),
    "scheduler": ("4-sched",),
    "master": ("5-master",),
}
"""What was recorded from one pair of daemons, which were started for it."""

OWN_PROVIDER = ("org.apache.mesos.rp.local.storage", "org.pinfold.rp.cpu")
"""The one type of provider that Mesos can start, and ours. From the first config on that is whole, ours is meant."""

REPLAY_OPTIONS = ("--hostname", "127.0.0.1", "--resources", "cpus:8;mem:4096;ports:[31000-32000];disk:252899")
"""The agent that was recorded had these."""

PATIENCE = 3.0
"""Seconds that an event may come later than Mesos's, and a reading call may need to agree."""

TASK_PATIENCE = 10.0
"""Seconds more for what a task or a filter of offers makes happen: the recorded ones take six at most."""

LISTED_PATIENCE = 1.0
"""Seconds for an event that is listed as one that need not come."""

OFFERING = ("OFFERS", "RESCIND")
"""Events that come when an allocation is made. They are waited for where their offers are used, and in no order."""

HEADERS = ("Content-Type", "Content-Encoding", "Transfer-Encoding", "Allow", "Location")

READING = ("GET_", "LIST_", "READ_")


@dataclass
class Live:
    """A stream of ours beside the recorded one. `taken` are the numbers of our events that were expected."""

    name: str
    entry: dict[str, Any]
    stream: Stream
    event_class: Any
    expected: int = 0
    offers: list[dict[str, Any]] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    last: int = -1
    closed: bool = False

    @property
    def recorded(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.entry.get("response", {}).get("events", [])
        return events

    @property
    def server_ends(self) -> bool:
        return "last chunk" in self.entry.get("response", {}).get("end", {}).get("how", "")


class Replay:
    """One replay of one or more recordings against one agent."""

    def __init__(
        self, agent: AgentProcess, recordings: Iterable[str], known: Known, patience: float = PATIENCE
    ) -> None:
        self.known = known
        self.patience = patience
        self.steps = sorted((step for name in recordings for step in steps(name)), key=lambda step: step.time)
        self.addresses = {name: _address(url) for name, url in _urls(agent).items()}
        self.ids = Ids()
        for name, port in (("agent", 15051), ("master", 15050)):
            self.ids.bind(f"127.0.0.1:{port}", "{}:{}".format(*self.addresses[name]))
        self.streams: list[Live] = []
        self.used: set[str] = set()
        """Offers of ours that were accepted or declined."""
        self.found: list[Difference] = []

    def run(self) -> list[Difference]:
        """Play all, and return the differences that are not known."""
        before = self.steps[0].time
        try:
            for step in self.steps:
                self._settle(before, step.time)
                before = step.time
                {"call": self._call, "open": self._open, "close": self._close}[step.do](step)
            self._settle(before, float("inf"))
            for live in self.streams:
                self._finish(live)
        finally:
            for live in self.streams:
                live.stream.close()
        return self.found

    def _report(self, new: Iterable[Difference]) -> None:
        self.found += [one for one in new if not self.known.has(one)]

    # -- calls

    def _request(self, entry: dict[str, Any]) -> tuple[str, str, list[tuple[str, str]], bytes]:
        """The request as it was recorded, with our ids."""
        request = entry["request"]
        body = _body(request)
        if "body" in request and "Transfer-Encoding" not in dict(request["headers"]):
            if '"storage": {' in request["body"]:
                self.ids.bind(*OWN_PROVIDER)
            body = self.ids.translate(request["body"]).encode()
            if plain_path(request["path"]).endswith("/scheduler"):
                body = self._with_offers(body, request["body"])
        headers = []
        for name, value in request["headers"]:
            if name == "Content-Length":
                value = str(len(body))
            headers.append((name, self.ids.translate(value)))
        return request["method"], self.ids.translate(request["path"]), headers, body

    def _with_offers(self, body: bytes, recorded: str) -> bytes:
        """The offers of Mesos that an ACCEPT or DECLINE names stand for all that is offered now, as soon as that is as
        much: Mesos and Pinfold do not make their offers at the same moments."""
        try:
            call = json.loads(body)
            part = call[call["type"].lower()]
            named = [one["value"] for one in json.loads(recorded)[call["type"].lower()]["offer_ids"]]
        except (ValueError, KeyError, TypeError):
            return body
        theirs = [one for one in named if re.search(r"-O\d+$", one)]
        ours = [one for one in named if one not in theirs]
        if theirs:
            wanted = amounts(offer for offer in self._recorded_offers() if offer["id"]["value"] in theirs)
            end = time.monotonic() + self.patience + TASK_PATIENCE
            while True:
                offered = self._outstanding()
                if (offered and covers(amounts(offered), wanted)) or time.monotonic() >= end:
                    break
                time.sleep(0.02)
            ours += [one["id"]["value"] for one in offered]
        part["offer_ids"] = [{"value": one} for one in dict.fromkeys(ours)]
        self.used.update(ours)
        return json.dumps(call).encode()

    def _recorded_offers(self) -> Iterator[dict[str, Any]]:
        for live in self.streams:
            for event in live.recorded:
                yield from event["event"].get("offers", {}).get("offers", [])

    def _outstanding(self) -> list[dict[str, Any]]:
        """Our offers that were not rescinded, accepted or declined."""
        found: dict[str, dict[str, Any]] = {}
        for live in self.streams:
            for event in [] if live.closed else list(live.stream.events):
                for offer in event.get("offers", {}).get("offers", []):
                    found[offer["id"]["value"]] = offer
                if event["type"] == "RESCIND":
                    found.pop(event["rescind"]["offer_id"]["value"], None)
        return [offer for name, offer in found.items() if name not in self.used]

    def _call(self, step: Step) -> None:
        entry = step.entry
        reading = entry["request"]["method"] != "POST" or _type_of(entry).startswith(READING)
        end = time.monotonic() + (self.patience if reading else 0)
        request = self._request(entry)
        while True:
            ids = self.ids.copy()
            found = self._compare(step, ask(self.addresses[entry["server"]], *request), ids)
            if all(map(self.known.has, found)) or time.monotonic() >= end:
                break
            time.sleep(0.1)
        self.ids = ids
        self._report(found)

    def _compare(self, step: Step, answer: Answer, ids: Ids) -> list[Difference]:
        name, theirs = step.name, step.entry["response"]
        if theirs["status"] != answer.status:
            text = theirs.get("body", "")[:100], answer.body[:200].decode("utf-8", "replace")
            return [Difference(name, "status", "", (theirs["status"], text[0]), (answer.status, text[1]))]
        found = list(_compare_headers(name, theirs["headers"], answer.headers, ids))
        if theirs.get("connection_after") in ("kept open", "closed by server"):
            kept_open = theirs["connection_after"] == "kept open"
            if kept_open != answer.kept_open:
                found.append(Difference(name, "connection", "", kept_open, answer.kept_open))
        media = (header(theirs["headers"], "Content-Type") or "").split(";")[0]
        if media == (header(answer.headers, "Content-Type") or "").split(";")[0]:
            found += self._compare_bodies(name, step.entry, media, _body(theirs), answer.body, ids)
        return found

    def _compare_bodies(
        self, name: str, entry: dict[str, Any], media: str, theirs: bytes, ours: bytes, ids: Ids
    ) -> Iterator[Difference]:
        module: Any = {"agent": agent_pb2, "master": master_pb2}[entry["server"]]
        if media == codec.PROTOBUF:
            values = [event_values(one, media, module.Response) for one in (theirs, ours)]
            yield from differences(name, *values, ids)
        elif media in (codec.JSON, "text/javascript"):
            key = "(snapshot)" if "/metrics/snapshot" in entry["request"]["path"] else ""
            yield from differences(name, _json(theirs), _json(ours), ids, key)
        else:
            wanted, got = ids.translate(theirs.decode("utf-8", "replace")), ours.decode("utf-8", "replace")
            if wanted != got:
                yield Difference(name, "text", "", wanted, got)

    # -- streams

    def _open(self, step: Step) -> None:
        entry = step.entry
        _, path, headers, body = self._request(entry)
        plain = plain_path(path)
        event_class: Any = master_pb2.Event
        if plain.endswith("scheduler"):
            event_class = scheduler_pb2.Event
        elif plain.endswith("resource_provider"):
            event_class = resource_provider_pb2.Event
        stream = Stream(self.addresses[entry["server"]], path, headers, body, event_class)
        live = Live(step.name, entry, stream, event_class)
        self.streams.append(live)
        theirs = entry.get("response", {"status": 200, "headers": stream.headers})
        if theirs["status"] != stream.status:
            self._report([Difference(step.name, "status", "", theirs["status"], stream.status)])
            return
        self._report(_compare_headers(step.name, theirs["headers"], stream.headers, self.ids))
        recorded, ours = (header(one, "Mesos-Stream-Id") for one in (theirs["headers"], stream.headers))
        if recorded and ours:
            self.ids.bind(recorded, ours)
        elif recorded or ours:
            self._report([Difference(step.name, "header", "Mesos-Stream-Id", recorded, ours)])

    def _close(self, step: Step) -> None:
        for live in self.streams:
            if live.name == step.name:
                live.closed = True
                live.stream.close()

    def _settle(self, before: float, until: float) -> None:
        """Wait for what came on the streams before `until`; `before` is the time of what was done last."""
        due = []
        for live in self.streams:
            for number, event in enumerate(live.recorded):
                at = live.entry["time"] + event["t_ms"] / 1000
                if number >= live.expected and at < until:
                    due.append((at, number, live, event))
                    live.expected = number + 1
        started = time.monotonic()
        for at, number, live, event in sorted(due, key=lambda one: one[0]):
            values = recorded_event(event["event"], live.event_class)
            if values["type"] in OFFERING:
                live.offers.append(values)
            elif values["type"] != "HEARTBEAT" or number == 1:
                self._expect(live, values, started + max(0.0, at - before) + self.patience)
        for live in self.streams:
            live.offers = [one for one in live.offers if not self._taken(live, one)]
            if live.server_ends and live.entry["time"] + live.entry["response"]["end"]["t_ms"] / 1000 < until:
                self._expect_end(live)

    def _taken(self, live: Live, recorded: dict[str, Any]) -> bool:
        """Whether an event like a recorded one has come, which is compared and then taken."""
        kind, wanted = recorded["type"], _identity(self.ids.values(recorded))
        for number, event in enumerate(list(live.stream.events)):
            same = number not in live.taken and event["type"] == kind and _identity(event) == wanted
            if same and _offered(event) == _offered(recorded):
                live.taken.add(number)
                if kind not in ("HEARTBEAT", *OFFERING):
                    if number < live.last:
                        self._report([Difference(live.name, "order", kind, live.last, number)])
                    live.last = max(live.last, number)
                self._report(differences(live.name, recorded, event, self.ids, kind))
                return True
        return False

    def _expect(self, live: Live, recorded: dict[str, Any], deadline: float) -> None:
        missing = Difference(live.name, "event", f"{recorded['type']}{_identity(recorded)}", recorded, None)
        if "TASK_" in missing.path:
            deadline += TASK_PATIENCE
        elif self.known.has(missing, use=False):
            deadline = min(deadline, time.monotonic() + LISTED_PATIENCE)
        while True:
            seen, ended = len(live.stream.events), live.stream.ended
            if self._taken(live, recorded):
                return
            if time.monotonic() >= deadline or ended:
                self._report([missing])
                return
            live.stream.wait(
                lambda seen=seen: len(live.stream.events) > seen or live.stream.ended, deadline - time.monotonic()
            )

    def _expect_end(self, live: Live) -> None:
        if not live.closed:
            live.closed = True
            if not live.stream.wait(lambda: live.stream.ended, self.patience):
                self._report([Difference(live.name, "ended", "", "the server ended it", "it is open")])

    def _finish(self, live: Live) -> None:
        """What came and was not expected, and the offers that did not come."""
        for one in live.offers:
            self._report([Difference(live.name, "event", one["type"], one, None)])
        for number, event in enumerate(live.stream.events):
            if number not in live.taken and event["type"] != "HEARTBEAT" and "response" in live.entry:
                name = f"{event['type']}{_identity(event)}"
                self._report([Difference(live.name, "extra", f"event {name}", None, event)])
        if live.stream.uneven_chunks:
            self._report([Difference(live.name, "chunk", "", "one record each", live.stream.uneven_chunks)])


def _urls(agent: AgentProcess) -> dict[str, str]:
    return {"agent": agent.agent_url, "master": agent.master_url}


def _address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host, int(port)


def plain_path(path: str) -> str:
    """Without a query and a slash at its end."""
    return path.split("?")[0].rstrip("/")


def _body(side: dict[str, Any]) -> bytes:
    """A recorded body: as text, as base64, or one of many equal bytes at its end that were not kept."""
    if "body_base64" in side:
        return base64.b64decode(side["body_base64"])
    if "body_truncated" in side:
        text = side["body_truncated"].removesuffix("…").rstrip(".")
        missing = side["body_length"] - len(text) - 2
        return (text + "x" * missing + '"}').encode()
    return str(side.get("body", "")).encode()


def _json(data: bytes) -> Any:
    """A JSON body, also one that calls a function with it."""
    text = data.decode("utf-8")
    if text.endswith(")") and "(" in text.partition("{")[0]:
        function, _, rest = text.partition("(")
        return {"(function)": function, "(argument)": json.loads(rest[:-1])}
    return json.loads(text)


def _type_of(entry: dict[str, Any]) -> str:
    try:
        return str(json.loads(entry["request"]["body"])["type"])
    except (ValueError, KeyError, TypeError):
        return ""


def _compare_headers(exchange: str, theirs: Any, ours: Any, ids: Ids) -> Iterator[Difference]:
    for name in HEADERS:
        wanted, got = header(theirs, name), header(ours, name)
        if (ids.translate(wanted) if wanted else wanted) != got:
            yield Difference(exchange, "header", name, wanted, got)


_IDENTITIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "UPDATE": lambda event: (event["update"]["status"]["task_id"]["value"], event["update"]["status"]["state"]),
    "UPDATE_OPERATION_STATUS": lambda event: (
        event["update_operation_status"]["status"].get("operation_id", {}).get("value"),
        event["update_operation_status"]["status"]["state"],
    ),
    "APPLY_OPERATION": lambda event: (
        event["apply_operation"]["info"]["type"],
        event["apply_operation"]["info"].get("id", {}).get("value"),
    ),
    "ACKNOWLEDGE_OPERATION_STATUS": lambda event: event["acknowledge_operation_status"]["status_uuid"]["value"],
    "TASK_ADDED": lambda event: event["task_added"]["task"]["task_id"]["value"],
    "TASK_UPDATED": lambda event: (
        event["task_updated"]["status"]["task_id"]["value"],
        event["task_updated"]["status"]["state"],
    ),
    "ERROR": lambda event: event["error"]["message"],
}


def _identity(event: dict[str, Any]) -> str:
    """What tells an event from others of its type."""
    of = _IDENTITIES.get(event["type"])
    return f" {of(event)}" if of else ""


def _offered(event: dict[str, Any]) -> list[Any]:
    """What an event offers, as far as it is the same in two runs; nothing for other events."""
    resources = [r for offer in event.get("offers", {}).get("offers", []) for r in offer["resources"]]
    return sorted(
        [r["name"], "provider_id" in r, "reservations" in r, str(r.get("scalar"))]
        for r in resources
        if r["type"] == "SCALAR"
    )


def main() -> None:
    """Print the differences of the recordings that the arguments name."""
    names = [one for one in sys.argv[1:] if not one.startswith("-")]
    known = Known([]) if "-a" in sys.argv else Known.read()
    with tempfile.TemporaryDirectory() as directory:
        agent = AgentProcess(Path(directory) / "agent", *REPLAY_OPTIONS, cgroup_root="none")
        agent.start()
        began = time.monotonic()
        try:
            found = Replay(agent, names, known, patience=0.3 if "-q" in sys.argv else PATIENCE).run()
        finally:
            agent.stop()
    grouped = defaultdict(list)
    for one in found:
        grouped[str(one) if "-l" in sys.argv else one.key].append(one)
    for same in grouped.values():
        print(f"{len(same)}x {same[0]}")
    for stale in known.stale(names):
        print("no difference any more:", stale)
    print(f"{len(found)} differences, {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
