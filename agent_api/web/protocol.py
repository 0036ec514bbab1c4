"""HTTP as this agent speaks it: bodies and their limits, content negotiation, routing, answers.

Decides how a request is read and an answer is written, in the words of a real Mesos where a client can see them. It
knows no call and no state: `agent_api.web.routes` does.
"""

# mypy: allow-untyped-calls
# (most of twisted.web has no types)

from __future__ import annotations

import gzip
import logging
import socket
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from google.protobuf.message import Message
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web import resource, server
from twisted.web.http import datetimeToString

from agent_api.errors import ApiError, Unauthorized
from agent_api.wire import codec

__all__ = [
    "JSON",
    "MAX_BODY",
    "PROTOBUF",
    "ApiRequest",
    "ApiSite",
    "Route",
    "accepts",
    "answer",
    "answer_message",
    "content_type",
    "decode_body",
    "header",
    "media_wanted",
    "read_body",
    "watch_connections",
]

log = logging.getLogger(__name__)

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
TEXT = "text/plain; charset=utf-8"

MAX_BODY = 16 * 1024 * 1024
"""Bytes of a request body, before and after unpacking."""

GZIP_FROM = 1024
"""Answers from this size on are packed where the client takes gzip."""

IDLE_SECONDS = 900
"""A connection without a request is closed after this time."""

KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_COUNT, USER_TIMEOUT_MS = 10, 5, 4, 30_000
"""A peer that no longer answers is noticed after 30 s, whether we send to it or not."""

_REASONS = {
    400: "400 Bad Request.",
    404: "404 Not Found.",
    413: "413 Request Entity Too Large.",
    500: "500 Internal Server Error.",
    501: "501 Not Implemented.",
    503: "503 Service Unavailable.",
}

M = TypeVar("M", bound=Message)

Handler = Callable[["ApiRequest"], "Deferred[None] | None"]


@dataclass(frozen=True, slots=True)
class Route:
    """What answers under a path. `methods` are those it takes, all where there are none; HEAD comes with GET."""

    handler: Handler
    methods: tuple[str, ...] = ("POST",)
    exact: bool = False
    """Only this very path, none below it."""
    public: bool = False
    """Answered without credentials, too."""
    of_provider: bool = False
    """Of the resource provider API: the credential of the agent's own providers is good for it."""


class ApiRequest(server.Request):
    """A request whose body is bounded while it arrives, answered by the route of its path."""

    site: ApiSite
    defaultContentType = None  # an empty answer has no Content-Type  # noqa: N815
    _received = 0
    principal: str | None = None
    """Who asks; None where nobody is authenticated."""

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        super().gotLength(0 if length is not None and length > MAX_BODY else length)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        # A body over the limit is read to its end and thrown away: the connection can be used on after the error.
        self._received += len(data)
        if self._received <= MAX_BODY:
            super().handleContentChunk(data)

    def process(self) -> None:
        channel: Any = self.channel
        self.site = channel.site
        self.setHeader(b"Date", datetimeToString())
        try:
            result = self._dispatch()
        except Exception:
            self._fail(Failure())
            return
        if isinstance(result, Deferred):
            result.addErrback(self._fail)

    def _dispatch(self) -> Deferred[None] | None:
        route = self.site.find(self.path.decode("latin-1"))
        if route is None:
            raise ApiError(404, _REASONS[404])
        if not route.public:
            self.principal = self.site.authenticate(header(self, "Authorization"), route.of_provider)
        if not self.site.ready():
            raise ApiError(503, "The agent has not finished its recovery")
        method = self.method.decode("latin-1")
        if route.methods and method not in route.methods and not (method == "HEAD" and "GET" in route.methods):
            self.setHeader(b"Allow", ", ".join(route.methods).encode("ascii"))
            expected = ", ".join(f"'{name}'" for name in route.methods)
            raise ApiError(405, f"405 Method Not Allowed. Expecting one of {{ {expected} }}, but received '{method}'.")
        return route.handler(self)

    def _fail(self, failure: Failure) -> None:
        error = failure.value
        path = self.path.decode("latin-1")
        if isinstance(error, ApiError):
            log.debug("%s %s: %d %s", self.method.decode("latin-1"), path, error.status, error.message)
            status, text = error.status, error.message
            if isinstance(error, Unauthorized):
                log.info("401 for %s, %s %s: %s", self.getClientAddress(), self.method.decode("latin-1"), path, text)
                self.setHeader(b"WWW-Authenticate", f'Basic realm="{self.site.realm}"'.encode("ascii"))
        else:
            log.error(
                "answering %s %s failed: %s",
                self.method.decode("latin-1"),
                path,
                error,
                exc_info=error,
            )
            status, text = 500, _REASONS[500]
        if self.startedWriting:
            channel: Any = self.channel
            if channel is not None:
                channel.transport.abortConnection()
            return
        answer(self, status, text.encode("utf-8"), TEXT)


class ApiSite(server.Site):
    """One listening port's paths. Routing is by the longest registered prefix, in whole path parts."""

    def __init__(
        self,
        routes: Mapping[str, Route],
        ready: Callable[[], bool],
        authenticate: Callable[[str | None, bool], str | None],
        realm: str,
        reactor: Any,
    ) -> None:
        """`authenticate` gives the principal for an Authorization header and `Route.of_provider`, or raises ApiError;
        `realm` is what a 401 names."""
        super().__init__(
            resource.Resource(),
            requestFactory=ApiRequest,
            parsePOSTFormSubmission=False,
            timeout=IDLE_SECONDS,
            reactor=reactor,
        )
        self.ready = ready
        self.authenticate = authenticate
        self.realm = realm
        self._routes = {_parts(path): route for path, route in routes.items()}

    def find(self, path: str) -> Route | None:
        """The route of a raw (still encoded) path, or None."""
        parts = _parts(unquote(path, encoding="latin-1"))
        for length in range(len(parts), -1, -1):
            route = self._routes.get(parts[:length])
            if route is not None and (length == len(parts) or not route.exact):
                return route
        return None

    def log(self, request: Any) -> None:
        log.debug(
            "%s %s %s: %s, %s bytes",
            request.getClientAddress(),
            request.method.decode("latin-1"),
            request.path.decode("latin-1"),
            request.code,
            request.sentLength,
        )


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def watch_connections(listening: Any) -> None:
    """Make the kernel probe each connection accepted on this port. Accepted sockets inherit the listener's options."""
    handle: socket.socket = listening.socket
    handle.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, KEEPALIVE_IDLE),
        (socket.TCP_KEEPINTVL, KEEPALIVE_INTERVAL),
        (socket.TCP_KEEPCNT, KEEPALIVE_COUNT),
        (socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS),
    ):
        handle.setsockopt(socket.IPPROTO_TCP, option, value)


def header(request: ApiRequest, name: str) -> str | None:
    """A request header; of one sent more than once the last counts."""
    values = request.requestHeaders.getRawHeaders(name.encode("ascii"))
    return values[-1].decode("latin-1").strip() if values else None


def accepts(request: ApiRequest, media: str) -> bool:
    """Whether the client takes this media type (`application/…`). One that says nothing takes all."""
    accept = header(request, "Accept")
    if accept is None or accept == "":
        return True
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        refused = any(part.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
        if name in (media, "application/*", "*/*") and not refused:
            return True
    return False


def media_wanted(request: ApiRequest) -> str:
    """The media type to answer in: JSON wins where both are acceptable, and where nothing is said. Else 406."""
    for media in (JSON, PROTOBUF):
        if accepts(request, media):
            return media
    raise ApiError(406, f"Expecting 'Accept' to allow '{PROTOBUF}' or '{JSON}'")


def read_body(request: ApiRequest) -> bytes:
    """The body, unpacked. Raises ApiError 400, 413 or 415."""
    if request._received > MAX_BODY:
        raise ApiError(413, f"The request body is larger than {MAX_BODY} bytes")
    content: Any = request.content
    data: bytes = content.read()
    encoding = (header(request, "Content-Encoding") or "identity").lower()
    if encoding in ("gzip", "x-gzip"):
        return _unpack(data)
    if encoding != "identity":
        raise ApiError(415, f"Expecting 'Content-Encoding' of gzip or identity, but received '{encoding}'")
    return data


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        plain = unpacker.decompress(data, MAX_BODY + 1)
    except zlib.error as error:
        raise ApiError(400, f"Failed to decompress the gzip'd body: {error}") from None
    if len(plain) > MAX_BODY:
        raise ApiError(413, f"The request body is larger than {MAX_BODY} bytes when unpacked")
    if not unpacker.eof or unpacker.unused_data:
        raise ApiError(400, "Failed to decompress the gzip'd body: it is cut off or has more than one part")
    return plain


def content_type(request: ApiRequest) -> str:
    """The media type of the body, without parameters and in small letters; 400 where the client does not say it."""
    value = header(request, "Content-Type")
    if value is None:
        raise ApiError(400, "Expecting 'Content-Type' to be present")
    return value.split(";")[0].strip().lower()


def decode_body(request: ApiRequest, cls: type[M]) -> M:
    """The body as one message, by its Content-Type. Raises ApiError 400, 413 or 415."""
    media = content_type(request)
    if media not in (JSON, PROTOBUF):
        raise ApiError(415, f"Expecting 'Content-Type' of {JSON} or {PROTOBUF}")
    data = read_body(request)
    try:
        message: M = codec.decode(cls, data, media)
        return message
    except codec.CodecError as error:
        raise ApiError(400, str(error)) from None


def answer(request: ApiRequest, status: int, body: bytes = b"", content_type: str | None = None) -> None:
    """Write the whole answer, packed where the client takes gzip and it is worth it. An empty one has no type."""
    if request._disconnected or request.finished:
        return
    request.setResponseCode(status)
    if content_type is not None:
        request.setHeader(b"Content-Type", content_type.encode("ascii"))
    if len(body) >= GZIP_FROM and _takes_gzip(request):
        body = gzip.compress(body, compresslevel=4, mtime=0)
        request.setHeader(b"Content-Encoding", b"gzip")
    request.setHeader(b"Content-Length", b"%d" % len(body))
    request.write(body)
    request.finish()


def answer_message(request: ApiRequest, message: Message | None, media: str) -> None:
    """200 with a message, or empty where there is none."""
    if message is None:
        answer(request, 200)
    else:
        answer(request, 200, codec.encode(message, media), media)


def _takes_gzip(request: ApiRequest) -> bool:
    for entry in (header(request, "Accept-Encoding") or "").split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        if name in ("gzip", "x-gzip", "*"):
            return not any(part.replace(" ", "") in ("q=0", "q=0.0") for part in parameters)
    return False
