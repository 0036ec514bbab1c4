"""The provider's connection to its agent: the resource provider API over HTTP.

Decides when to connect again (backoff with jitter), when a stream is given up, and that calls reach the agent one
after another in the order they were made. It never decides what a call says or what an event does
(`provider.manager`), and it never gives up: an agent may come back at any time.

One SUBSCRIBE request stays open and brings events as RecordIO; every other call is a request of its own with the
stream's id. A call that is refused or fails ends the stream: on the next one the whole state is reported anew, so
no call is ever repeated here.
"""

from __future__ import annotations

import base64
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from twisted.internet import defer, error, protocol
from twisted.python.failure import Failure
from twisted.web import client as web
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from agent_api.wire import agent_pb2, codec, mesos_pb2, recordio, resource_provider_pb2
from provider import tls
from provider.connections import Body, Endpoints
from provider.errors import ConfigError

__all__ = ["MEDIA", "Client", "Handler", "Target", "parse_target"]

log = logging.getLogger(__name__)

OPERATOR = "/api/v1"
RESOURCE_PROVIDER = "/resource_provider"
"""The paths of the agent's operator API and, below it, of its resource provider API."""

MEDIA = {"json": "application/json", "protobuf": "application/x-protobuf"}

FIRST_DELAY_SECONDS = 0.5
LAST_DELAY_SECONDS = 15.0
REFUSED_DELAY_SECONDS = 10.0
"""Between attempts where the agent ends the stream at once: it refuses our id, and only an operator can help."""
REFUSED_TIMES_ERROR = 3
STEADY_SECONDS = 10.0
"""A stream that lasted this long makes the next delay short again."""
CALL_SECONDS = 30.0
"""Longest wait for the answer to a call, and for the head of the answer to SUBSCRIBE."""
ERROR_TEXT_BYTES = 500

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event


class Handler(Protocol):
    """What the client talks to; `provider.manager.Manager` is one."""

    def agent_found(self, agent_id: str | None) -> None: ...

    def subscribe_call(self) -> Call: ...

    def stream_opened(self) -> None: ...

    def handle(self, event: Event) -> None: ...

    def taken(self, call: Call) -> None: ...

    def stream_closed(self) -> None: ...


class Target:
    """Where the agent is, and who we are to it."""

    def __init__(self, url: str, authorization: str | None, shown: str) -> None:
        self.url = url
        self.operator_url = url.removesuffix(RESOURCE_PROVIDER)
        """The agent's operator API."""
        self.authorization = authorization
        self.shown = shown
        """For logs: without credentials."""


def parse_target(agent: str, credentials: str | None = None) -> Target:
    """The resource provider API of the agent at a URL ("http://host:5051", "host:5051", "http://host:5051/slave(1)").

    A path is what the agent's paths begin with; one that ends in the API's own is taken as it is. `credentials` are
    "principal:secret"; user information in the URL counts as well. Raises ConfigError.
    """
    text = agent if "://" in agent else f"http://{agent}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ConfigError("--agent: not a URL (a port must be a number from 1 to 65535)") from None
    if parts.scheme not in ("http", "https"):
        raise ConfigError(f"--agent: scheme {parts.scheme!r} is not http or https")
    if not parts.hostname or port == 0:
        raise ConfigError("--agent: a host and a valid port are needed, as in http://127.0.0.1:5051")
    if parts.username is not None and credentials is None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = f"{host}:{port or (443 if parts.scheme == 'https' else 5051)}"
    path = parts.path.rstrip("/")
    if not path.endswith(RESOURCE_PROVIDER):
        path = path.removesuffix(OPERATOR) + OPERATOR + RESOURCE_PROVIDER
    shown = urlunsplit((parts.scheme, netloc, path, "", ""))
    authorization = None
    if credentials is not None:
        authorization = "Basic " + base64.b64encode(credentials.encode()).decode("ascii")
    return Target(shown, authorization, shown)


class Client:
    """Keeps one stream to the agent open, from `start` to `stop`."""

    def __init__(
        self,
        reactor: Any,
        target: Target,
        handler: Handler,
        *,
        media: str = MEDIA["protobuf"],
        random: Callable[[], float],
        ca_file: str | None = None,
        agent_cert: str | None = None,
        ask_agent: bool = False,
    ) -> None:
        """`random` gives numbers from 0 up to 1, for the jitter. With `ask_agent` the agent is asked for its id before
        each SUBSCRIBE. Raises ConfigError where a file cannot be used."""
        self._reactor = reactor
        self._target = target
        self._handler = handler
        self._media = media
        self._random = random
        self._ask_agent = ask_agent
        self._pool: Any = web.HTTPConnectionPool(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self._pool.maxPersistentPerHost = 1
        self._pool.retryAutomatically = False
        endpoints = Endpoints(reactor, tls.wrapper(ca_file, agent_cert) if target.url.startswith("https:") else None)
        # The stream has a connection of its own that is not shared with calls.
        agents: Any = web.Agent
        self._stream_agent = agents.usingEndpointFactory(reactor, endpoints)
        self._call_agent = agents.usingEndpointFactory(reactor, endpoints, self._pool)
        self._stopped = True
        self._timer: Any = None
        self._pending: defer.Deferred[Any] | None = None
        self._stream: _Stream | None = None
        self._stream_id = ""
        self._calls: deque[Call] = deque()
        self._busy = False
        self._failures = 0
        self._refused = 0
        self._complained = False

    # -- connecting -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._stopped = False
        self._connect()

    def stop(self) -> defer.Deferred[Any]:
        """End the stream and all requests; fires when that is done."""
        self._stopped = True
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        if self._pending is not None:
            self._pending.cancel()
        self._drop("the provider stops")
        return defer.maybeDeferred(self._pool.closeCachedConnections)

    def _connect(self) -> None:
        if self._stopped:
            return
        if not self._ask_agent:
            self._subscribe()
            return
        url = self._target.operator_url
        headers = self._headers(None, MEDIA["json"])
        self._pending = self._call_agent.request(b"POST", url.encode(), headers, Body(b'{"type":"GET_AGENT"}'))
        self._pending.addCallback(_with_body)
        self._pending.addTimeout(CALL_SECONDS, self._reactor)
        self._pending.addCallbacks(self._agent_answered, self._not_connected)
        self._pending.addErrback(self._failed)

    def _agent_answered(self, answer: tuple[int, bytes]) -> None:
        """Subscribe in any case: an agent may keep its id from us."""
        self._pending = None
        status, body = answer
        agent_id = None
        try:
            if status == 200:
                found = codec.decode(agent_pb2.Response, body, MEDIA["json"])
                agent_id = found.get_agent.agent_info.id.value or None
        except ValueError as problem:
            log.warning("the agent's answer to GET_AGENT cannot be read: %s", problem)
        if agent_id is None:
            log.warning("the agent does not tell its id (GET_AGENT: status %d); operations are not reported", status)
        self._handler.agent_found(agent_id)
        self._subscribe()

    def _subscribe(self) -> None:
        if self._stopped:
            return
        log.debug("subscribing at %s", self._target.shown)
        body = codec.encode(self._handler.subscribe_call(), self._media)
        self._pending = self._stream_agent.request(b"POST", self._target.url.encode(), self._headers(None), Body(body))
        self._pending.addTimeout(CALL_SECONDS, self._reactor)
        self._pending.addCallbacks(self._answered, self._not_connected)
        self._pending.addErrback(self._failed)

    def _headers(self, stream_id: str | None, media: str | None = None) -> Headers:
        headers = Headers()
        headers.setRawHeaders("Content-Type", [media or self._media])
        headers.setRawHeaders("Accept", [media or self._media])
        headers.setRawHeaders("User-Agent", ["pinfold-provider"])
        if self._target.authorization is not None:
            headers.setRawHeaders("Authorization", [self._target.authorization])
        if stream_id is not None:
            headers.setRawHeaders("Mesos-Stream-Id", [stream_id])
        return headers

    def _answered(self, response: Any) -> None:
        self._pending = None
        if response.code != 200:
            reading = _read_some(response)
            reading.addCallback(lambda text: self._again(f"SUBSCRIBE was answered with {response.code} {text}"))
            return
        ids = response.headers.getRawHeaders("Mesos-Stream-Id") or [""]
        self._stream_id = ids[-1]
        self._stream = _Stream(self, self._reactor.seconds())
        self._handler.stream_opened()
        response.deliverBody(self._stream)
        self._reactor.callLater(CALL_SECONDS, self._greeted, self._stream)

    def _greeted(self, stream: _Stream) -> None:
        if stream is self._stream and not stream.events:
            self.give_up(f"no SUBSCRIBED within {CALL_SECONDS:g} s")

    def _not_connected(self, failure: Failure) -> None:
        self._pending = None
        if not self._stopped:
            self._again(f"no connection: {_reason(failure)}")

    def _failed(self, failure: Failure) -> None:
        """A fault of ours in taking an answer: log it, and try again."""
        log.error("subscribing failed in a way that was not foreseen", exc_info=_exc_info(failure))
        self._drop(_reason(failure))
        if self._timer is None or not self._timer.active():
            self._again(_reason(failure))

    def _again(self, reason: str, least: float = 0.0) -> None:
        """Try again after a while, longer each time, with jitter so that many do not come at once."""
        if self._stopped:
            return
        whole = max(least, min(LAST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** min(self._failures, 10)))
        self._failures += 1
        delay = whole * (0.5 + 0.5 * self._random())
        (log.debug if self._complained else log.warning)(
            "agent %s: %s; again in %.1f s", self._target.shown, reason, delay
        )
        self._complained = True
        self._timer = self._reactor.callLater(delay, self._connect)

    # -- asking -----------------------------------------------------------------------------------------------------

    def ask_tasks(self) -> defer.Deferred[list[mesos_pb2.Task] | None]:
        """The tasks that the agent runs now; None where it does not tell."""
        body = codec.encode(agent_pb2.Call(type=agent_pb2.Call.GET_TASKS), self._media)
        asking: Any = self._call_agent.request(
            b"POST", self._target.operator_url.encode(), self._headers(None), Body(body)
        )
        asking.addCallback(_with_body)
        asking.addTimeout(CALL_SECONDS, self._reactor)

        def answered(answer: tuple[int, bytes]) -> list[mesos_pb2.Task] | None:
            status, body = answer
            if status != 200:
                raise ValueError(f"GET_TASKS was answered with {status}")
            return list(codec.decode(agent_pb2.Response, body, self._media).get_tasks.launched_tasks)

        def failed(failure: Failure) -> None:
            log.info("the agent's tasks are not known: %s", _reason(failure))

        asking.addCallbacks(answered)
        asking.addErrback(failed)
        result: defer.Deferred[list[mesos_pb2.Task] | None] = asking
        return result

    # -- the stream -------------------------------------------------------------------------------------------------

    def _events(self, stream: _Stream, data: bytes) -> None:
        if stream is not self._stream:
            return
        for record in stream.decoder.feed(data):
            try:
                event = codec.decode(Event, record, self._media)
            except ValueError as problem:
                # A newer agent may say more than we know; it is no reason to part.
                log.warning("an event that cannot be read is ignored: %s", problem)
                continue
            stream.events += 1
            if event.type == Event.SUBSCRIBED:
                self._refused = 0
                self._complained = False
            self._handler.handle(event)
            if stream is not self._stream:
                return

    def _ended(self, stream: _Stream, reason: str) -> None:
        if stream is not self._stream:
            return
        lasted = self._reactor.seconds() - stream.since
        self._drop(reason)
        if stream.events == 0:
            self._refused += 1
            what = "the agent ended the stream at once: it refuses this provider's id, type or name"
            if self._refused == REFUSED_TIMES_ERROR:
                log.error(
                    "%s, %d times now; it was removed there (MARK_RESOURCE_PROVIDER_GONE), or another provider has its "
                    "type and name, or the host's CPUs. An operator must act; trying on",
                    what,
                    self._refused,
                )
            else:
                log.warning("%s", what)
            self._again(what, REFUSED_DELAY_SECONDS)
            return
        if lasted >= STEADY_SECONDS:
            self._failures = 0
        self._again(f"the stream ended: {reason}")

    def _drop(self, reason: str) -> None:
        """Forget the stream and what was to be sent on it."""
        stream, self._stream = self._stream, None
        self._calls.clear()
        if stream is not None:
            stream.abort()
            log.info("the stream to the agent is closed: %s", reason)
            self._handler.stream_closed()

    def give_up(self, reason: str) -> None:
        """End the stream and subscribe anew."""
        if self._stream is not None:
            self._drop(reason)
            self._again(reason)

    # -- calls ------------------------------------------------------------------------------------------------------

    def send(self, call: Call) -> None:
        """Send a call on the stream that is open, after those before it. Without a stream it is dropped: all that
        matters is said anew on the next one."""
        if self._stream is None:
            return
        self._calls.append(call)
        self._next()

    def _next(self) -> None:
        if self._busy or not self._calls or self._stream is None:
            return
        call = self._calls.popleft()
        stream = self._stream
        self._busy = True
        body = codec.encode(call, self._media)
        request = self._call_agent.request(
            b"POST", self._target.url.encode(), self._headers(self._stream_id), Body(body)
        )
        request.addCallback(lambda response: _with_text(response))
        request.addTimeout(CALL_SECONDS, self._reactor)

        def done(result: Any) -> None:
            self._busy = False
            if stream is self._stream:
                name = Call.Type.Name(call.type)
                if isinstance(result, Failure):
                    self.give_up(f"{name} failed: {_reason(result)}")
                elif result[0] == 202:
                    self._handler.taken(call)
                else:
                    log.warning("%s was refused: %d %s", name, *result)
                    self.give_up(f"{name} was refused")
            self._next()

        request.addBoth(done)
        request.addErrback(lambda failure: log.error("a call could not be sent", exc_info=_exc_info(failure)))


class _Stream(protocol.Protocol):
    """The body of the answer to SUBSCRIBE."""

    def __init__(self, client: Client, since: float) -> None:
        self.client = client
        self.since = since
        self.events = 0
        self.decoder = recordio.Decoder()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        try:
            self.client._events(self, data)
        except Exception as problem:
            # Nothing half-done is left: what was committed is reported on the next stream.
            log.exception("an event could not be handled")
            self.client.give_up(f"an event could not be handled: {problem}")

    def connectionLost(self, reason: Failure = protocol.connectionDone) -> None:  # noqa: N802
        self.client._ended(self, _reason(reason))

    def abort(self) -> None:
        transport: Any = self.transport
        for way in ("abortConnection", "loseConnection"):
            if hasattr(transport, way):
                getattr(transport, way)()
                return


def _read_some(response: IResponse) -> defer.Deferred[str]:
    """The text of an answer, its beginning only."""
    reading = web.readBody(response)
    return reading.addCallbacks(
        lambda body: body[:ERROR_TEXT_BYTES].decode("utf-8", "replace").strip(), lambda failure: ""
    )


def _with_body(response: IResponse) -> defer.Deferred[tuple[int, bytes]]:
    return web.readBody(response).addCallback(lambda body: (response.code, body))


def _with_text(response: IResponse) -> defer.Deferred[tuple[int, str]]:
    return _read_some(response).addCallback(lambda text: (response.code, text))


def _reason(failure: Failure) -> str:
    """What happened, in a few words."""
    value = failure.value
    reasons = getattr(value, "reasons", None)
    if reasons:
        value = reasons[-1].value
    if isinstance(value, error.ConnectionDone) or type(value).__name__ in ("ResponseDone", "PotentialDataLoss"):
        return "closed by the agent"
    if isinstance(value, (defer.TimeoutError, defer.CancelledError)):
        return "no answer in time"
    return str(value) or type(value).__name__


def _exc_info(failure: Failure) -> Any:
    return (failure.type, failure.value, failure.tb)
