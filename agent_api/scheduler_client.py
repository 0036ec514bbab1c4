"""A small synchronous client of the scheduler API: one framework, its calls, and its events in a queue.

Decides how a lost stream is taken up again (same framework id, growing pauses). It decides nothing about offers.
Messages are plain JSON values here, as on the wire.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from typing import Any

import requests

from agent_api.wire import recordio

__all__ = ["SchedulerClient", "SchedulerError"]

RECONNECT_SECONDS = 30.0
"""How long a lost stream is tried again; the framework's failover timeout is twice that."""

HEARTBEATS_MISSED = 5


class SchedulerError(Exception):
    """The master refused a call, ended the stream for good, or cannot be reached."""


class SchedulerClient:
    """Subscribes on `subscribe`; not for use by several threads."""

    def __init__(self, master_url: str, framework: dict[str, Any], session: requests.Session | None = None) -> None:
        """`session` has what is needed to get in: credentials, certificates to trust."""
        self._url = f"{master_url.rstrip('/')}/api/v1/scheduler"
        self._framework = {**framework, "failover_timeout": 2 * RECONNECT_SECONDS}
        self._session = session or requests.Session()
        self._stream_id = ""
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._response: requests.Response | None = None
        self.framework_id = ""
        self.subscriptions = 0
        """Grows with each subscription; offers of an earlier one are void."""

    def subscribe(self) -> None:
        """Open the stream (again). Raises SchedulerError."""
        body: dict[str, Any] = {"type": "SUBSCRIBE", "subscribe": {"framework_info": self._framework}}
        if self.framework_id:
            body["framework_id"] = {"value": self.framework_id}
            body["subscribe"]["framework_info"] = {**self._framework, "id": {"value": self.framework_id}}
        try:
            response = self._session.post(
                self._url,
                json=body,
                headers={"Accept": "application/json"},
                stream=True,
                timeout=(5, 15 * HEARTBEATS_MISSED),
            )
        except requests.exceptions.SSLError as error:
            raise SchedulerError(f"{self._url}: no trusted TLS connection (is --ca-file needed?): {error}") from error
        except requests.RequestException as error:
            raise SchedulerError(f"nobody answers at {self._url}; is `pinfold agent` running there?") from error
        if response.status_code != 200:
            raise SchedulerError(response.text.strip() or f"{self._url} answered {response.status_code}")
        self._stream_id = response.headers.get("Mesos-Stream-Id", "")
        self._response = response
        self._events = queue.Queue()
        threading.Thread(target=_read, args=(response, self._events), daemon=True).start()
        first = self._take(15.0)
        if first is None or first["type"] != "SUBSCRIBED":
            reason = (first or {}).get("error", {}).get("message", "the stream ended")
            raise SchedulerError(f"the master refused to subscribe: {reason}")
        self.framework_id = first["subscribed"]["framework_id"]["value"]
        self.subscriptions += 1

    def event(self, timeout: float) -> dict[str, Any] | None:
        """The next event, or None after `timeout` seconds without one. A lost stream is taken up again."""
        try:
            event = self._events.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return None
        if event is None:
            self._again()
            return None
        if event["type"] == "ERROR":
            raise SchedulerError(event["error"]["message"])
        return event

    def _take(self, timeout: float) -> dict[str, Any] | None:
        try:
            return self._events.get(timeout=timeout)
        except queue.Empty:
            return None

    def _again(self) -> None:
        end = time.monotonic() + RECONNECT_SECONDS
        pause = 0.25
        while True:
            try:
                self.subscribe()
                return
            except SchedulerError:
                if time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(4.0, 2 * pause)

    def call(self, kind: str, **fields: Any) -> None:
        """Any call but SUBSCRIBE. Raises SchedulerError with the master's text."""
        body = {"type": kind, "framework_id": {"value": self.framework_id}, **fields}
        try:
            response = self._session.post(
                self._url, json=body, headers={"Mesos-Stream-Id": self._stream_id}, timeout=(5, 30)
            )
        except requests.RequestException as error:
            raise SchedulerError(f"{kind}: {self._url} cannot be reached: {error}") from error
        if not response.ok:
            raise SchedulerError(f"{kind}: {response.text.strip() or response.status_code}")

    def accept(self, offer_ids: list[str], *operations: dict[str, Any]) -> None:
        """Use offers of one agent; what is left of them may come back at once."""
        self.call(
            "ACCEPT",
            accept={
                "offer_ids": [{"value": offer_id} for offer_id in offer_ids],
                "operations": list(operations),
                "filters": {"refuse_seconds": 0.0},
            },
        )

    def acknowledge_task(self, status: dict[str, Any]) -> None:
        """Acknowledge a task's status, if it asks for it."""
        if status.get("uuid"):
            self.call(
                "ACKNOWLEDGE",
                acknowledge={"agent_id": status["agent_id"], "task_id": status["task_id"], "uuid": status["uuid"]},
            )

    def acknowledge_operation(self, status: dict[str, Any]) -> None:
        """Acknowledge an operation's status, if it asks for it."""
        if status.get("uuid", {}).get("value"):
            fields = {key: status[key] for key in ("agent_id", "resource_provider_id") if key in status}
            self.call(
                "ACKNOWLEDGE_OPERATION_STATUS",
                acknowledge_operation_status={
                    **fields,
                    "uuid": status["uuid"]["value"],
                    "operation_id": status["operation_id"],
                },
            )

    def close(self) -> None:
        """Drop the connections; the framework itself goes by TEARDOWN."""
        if self._response is not None:
            self._response.close()
        self._session.close()


def _read(response: requests.Response, events: queue.Queue[dict[str, Any] | None]) -> None:
    decoder = recordio.Decoder()
    with contextlib.suppress(requests.RequestException, AttributeError, OSError, ValueError):
        for chunk in response.iter_content(None):
            for record in decoder.feed(chunk):
                events.put(json.loads(record))
    events.put(None)
