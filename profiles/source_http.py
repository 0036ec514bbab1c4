"""One fetch of a profile document over HTTP, blocking, for a thread.

Decides what is sent (validators, credentials to their own host only), which answers count (200 with a complete body
within the limits, 304 for what was sent) and how a failure is told without secrets. It never parses the document,
never retries and never runs in the reactor.

Beside requests' own times for connecting and for a silent peer there is one for the whole fetch: at its end the
sockets are shut down, so that a peer that sends a byte a second, in the body, in a header or in the TLS handshake,
holds the thread no longer than that. Proxies, .netrc and CA variables of the environment are not used: what is
fetched depends on the configuration alone.
"""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import ssl
import threading
import time
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from profiles.errors import SourceError
from profiles.mapping import MAX_DOCUMENT_BYTES
from profiles.state import Failed
from profiles.uri import HttpTarget, origin, redact

__all__ = [
    "DEFAULT_TIMEOUTS",
    "NO_VALIDATORS",
    "Abort",
    "Body",
    "Same",
    "Timeouts",
    "Validators",
    "fetch",
    "read_credentials",
]

MAX_REDIRECTS = 5
MAX_CREDENTIALS_BYTES = 64 * 1024
MAX_ETAG_LENGTH = 1024
_CHUNK = 16 * 1024


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds."""

    connect: float = 5.0
    read: float = 10.0
    """Longest silence of the peer."""
    total: float = 30.0
    """From the start of the fetch to its end, redirects included."""

    def __post_init__(self) -> None:
        for name in ("connect", "read", "total"):
            if not getattr(self, name) > 0:
                raise SourceError(f"profiles timeout {name} {getattr(self, name)!r}: must be more than 0 seconds")


@dataclass(frozen=True, slots=True)
class Validators:
    """What the server said identifies the document that is in force."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return self.etag is not None or self.last_modified is not None


DEFAULT_TIMEOUTS = Timeouts()
NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class Body:
    """A complete body within the limit, unpacked; not looked into."""

    data: bytes
    validators: Validators = NO_VALIDATORS
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """304 for the validators that were sent."""


class Abort:
    """Ends a fetch from another thread: at its deadline by itself, or by `abort`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self.expired = False

    def watch(self, connection: socket.socket) -> None:
        # A duplicate: TLS takes the original away from its object. Shutting down either ends the connection.
        duplicate = connection.dup()
        with self._lock:
            self._sockets.append(duplicate)
            expired = self.expired
        if expired:
            self.abort()

    def abort(self) -> None:
        """Safe from any thread and does not block."""
        with self._lock:
            self.expired = True
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            for connection in self._sockets:
                connection.close()
            self._sockets.clear()


class _FetchError(Exception):
    """Ends a fetch; its text becomes `Failed.reason`."""


def fetch(
    target: HttpTarget,
    validators: Validators = NO_VALIDATORS,
    *,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    limit: int = MAX_DOCUMENT_BYTES,
    ca_file: str | None = None,
    credentials_file: str | None = None,
    abort: Abort | None = None,
) -> Body | Same | Failed:
    """GET the document. Never raises for what a server, a network or a file can do wrong.

    `limit` is in bytes and holds both as sent and unpacked. `credentials_file` is read anew for each fetch, and
    comes before user information in the URI.
    """
    abort = abort or Abort()
    deadline = time.monotonic() + timeouts.total
    alarm = threading.Timer(timeouts.total, abort.abort)
    alarm.daemon = True
    alarm.start()
    try:
        authorization = target.authorization
        if credentials_file:
            authorization = read_credentials(credentials_file)
        with requests.Session() as session:
            session.trust_env = False
            session.verify = ca_file or True
            adapter = _Adapter(abort)
            session.mount("http://", adapter)
            session.mount("https://", adapter)
            result = _get(session, target.url, authorization, validators, timeouts, limit, deadline)
        if not abort.expired:
            return result
        # A body that ends with the connection looks complete when we are the ones who ended it.
        reason = ""
    except _FetchError as failure:
        reason = str(failure)
    except SourceError as error:
        reason = str(error)
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        reason = _reason(error, urlsplit(target.url).netloc, timeouts, ca_file)
    finally:
        alarm.cancel()
        abort.close()
    if abort.expired:
        took_too_long = time.monotonic() >= deadline
        reason = f"not complete within {timeouts.total:g} s" if took_too_long else "stopped"
    return Failed(redact(reason))


def _get(
    session: requests.Session,
    url: str,
    authorization: str | None,
    validators: Validators,
    timeouts: Timeouts,
    limit: int,
    deadline: float,
) -> Body | Same:
    home = origin(url)
    redirects = 0
    while True:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "pinfold"}
        if authorization and origin(url) == home:
            headers["Authorization"] = authorization
        if validators.etag:
            headers["If-None-Match"] = validators.etag
        if validators.last_modified:
            headers["If-Modified-Since"] = validators.last_modified
        remaining = max(deadline - time.monotonic(), 0.001)
        with session.get(
            url,
            headers=headers,
            timeout=(min(timeouts.connect, remaining), min(timeouts.read, remaining)),
            allow_redirects=False,
            stream=True,
        ) as response:
            if response.is_redirect:
                redirects += 1
                url = _redirected(url, response.headers["Location"], redirects)
                continue
            if response.status_code == HTTPStatus.NOT_MODIFIED:
                if not validators:
                    raise _FetchError("HTTP status 304 Not Modified, and there is no document that was asked about")
                if _other_etag(validators.etag, response.headers.get("ETag")):
                    # About something else than what is in force; ask for it as a whole, once.
                    validators = NO_VALIDATORS
                    continue
                return Same()
            if response.status_code != HTTPStatus.OK:
                raise _FetchError(f"HTTP status {_status(response.status_code)}")
            data = _body(response, limit)
            return Body(
                data,
                Validators(_header(response, "ETag"), _header(response, "Last-Modified")),
                response.headers.get("Content-Type", "")[:100],
            )


def _redirected(url: str, location: str, count: int) -> str:
    """The URL that a redirect leads to, where it may be followed."""
    if count > MAX_REDIRECTS:
        raise _FetchError(f"more than {MAX_REDIRECTS} redirects")
    shown = redact(location)[:200]
    try:
        parts = urlsplit(urljoin(url, location))
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise _FetchError(f"redirected to {shown}, which is not http or https")
    except ValueError as error:
        raise _FetchError(f"redirected to {shown}, which is not a valid URL") from error
    if parts.scheme.lower() == "http" and urlsplit(url).scheme.lower() == "https":
        raise _FetchError(f"redirected from https to {shown}, which is not encrypted")
    # User information in a redirect is the server's idea, not the operator's.
    return urlunsplit((parts.scheme.lower(), parts.netloc.rpartition("@")[2], parts.path or "/", parts.query, ""))


def _other_etag(sent: str | None, got: str | None) -> bool:
    return sent is not None and got is not None and sent.removeprefix("W/") != got.removeprefix("W/")


def _header(response: requests.Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value if value and len(value) <= MAX_ETAG_LENGTH and value.isprintable() else None


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


# --- the body --------------------------------------------------------------------------------------------------


def _body(response: requests.Response, limit: int) -> bytes:
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and int(length[:20]) > limit:
        raise _FetchError(f"the document has {length[:20]} bytes, more than the {limit} allowed")
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    chunks = _chunks(response, limit)
    if encoding in ("gzip", "x-gzip"):
        return _unpack(chunks, limit)
    if encoding not in ("", "identity"):
        raise _FetchError(f"Content-Encoding {encoding[:40]} was not asked for (gzip is understood)")
    return b"".join(chunks)


def _chunks(response: requests.Response, limit: int) -> Iterator[bytes]:
    size = 0
    while chunk := response.raw.read(_CHUNK, decode_content=False):
        size += len(chunk)
        if size > limit:
            raise _FetchError(f"the document has more than the {limit} bytes allowed")
        yield chunk
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and size < int(length[:20]) and "chunked" not in response.headers.get("Transfer-Encoding", ""):
        raise _FetchError(f"cut off after {size} of {length[:20]} bytes")


def _unpack(chunks: Iterator[bytes], limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    unpacker = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            while chunk:
                if unpacker.eof:  # another member follows
                    unpacker = zlib.decompressobj(wbits=31)
                part = unpacker.decompress(chunk, limit + 1 - size)
                size += len(part)
                if size > limit or unpacker.unconsumed_tail:
                    raise _FetchError(f"the document has more than the {limit} bytes allowed once unpacked")
                parts.append(part)
                chunk = unpacker.unused_data
    except zlib.error as error:
        raise _FetchError(f"not valid gzip: {error}") from error
    if not unpacker.eof:
        raise _FetchError("gzip data ends too early")
    return b"".join(parts)


# --- credentials -----------------------------------------------------------------------------------------------


def read_credentials(path: str) -> str:
    """The Authorization header from a file: {"principal", "secret"} (basic), {"bearer_token"}, or a bare token.

    SourceError names the file and never its content.
    """

    def refuse(reason: str) -> SourceError:
        return SourceError(f"profiles credentials_file {path!r}: {reason}")

    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_CREDENTIALS_BYTES + 1)
    except OSError as error:
        raise refuse(error.strerror or type(error).__name__) from error
    if len(data) > MAX_CREDENTIALS_BYTES:
        raise refuse(f"is larger than {MAX_CREDENTIALS_BYTES} bytes")
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise refuse("is not UTF-8") from None
    if not text.startswith("{"):
        return f"Bearer {_token(text, refuse('is neither a JSON object nor one token on one line'))}"
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise refuse("is not valid JSON") from None
    if isinstance(content.get("bearer_token"), str):
        return f"Bearer {_token(content['bearer_token'], refuse('bearer_token is not a token'))}"
    principal, secret = content.get("principal"), content.get("secret")
    if not isinstance(principal, str) or not isinstance(secret, str) or ":" in principal:
        raise refuse("needs bearer_token, or principal (without a colon) and secret, as strings")
    return "Basic " + b64encode(f"{principal}:{secret}".encode()).decode("ascii")


def _token(text: str, refusal: SourceError) -> str:
    if not re.fullmatch(r"[!-~]+", text):
        raise refusal
    return text


# --- the connection --------------------------------------------------------------------------------------------


class _Adapter(HTTPAdapter):
    """requests' own, with connections that `Abort` can end."""

    def __init__(self, abort: Abort) -> None:
        self._abort = abort
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        abort = self._abort

        class Plain(urllib3.connection.HTTPConnection):
            def _new_conn(self) -> socket.socket:
                connection = super()._new_conn()
                abort.watch(connection)
                return connection

        class Secure(urllib3.connection.HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                connection = super()._new_conn()
                abort.watch(connection)
                return connection

        class PlainPool(urllib3.HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(urllib3.HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}


# --- failures in words -----------------------------------------------------------------------------------------


def _reason(error: BaseException, netloc: str, timeouts: Timeouts, ca_file: str | None) -> str:
    """What went wrong, from the innermost error that says something. The texts of requests and urllib3 are not used:
    they hold the whole URL."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"TLS: certificate of {netloc} not accepted: {cause.verify_message}"
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return f"host of {netloc} cannot be resolved: {cause.strerror}"
        if isinstance(cause, ssl.SSLError):
            return f"TLS: {cause.reason or type(cause).__name__} ({netloc})"
        if isinstance(cause, ConnectionRefusedError):
            return f"connection to {netloc} refused"
    for cause in causes:
        if isinstance(cause, requests.ConnectTimeout | urllib3.exceptions.ConnectTimeoutError):
            return f"no connection to {netloc} within {timeouts.connect:g} s"
        if isinstance(cause, requests.ReadTimeout | urllib3.exceptions.ReadTimeoutError):
            return f"{netloc} sent nothing for {timeouts.read:g} s"
        if isinstance(cause, urllib3.exceptions.IncompleteRead):
            return f"{netloc} cut the answer off after {cause.partial} bytes"
        if isinstance(cause, requests.exceptions.InvalidURL | urllib3.exceptions.LocationValueError | UnicodeError):
            return f"the host name of {netloc} is not valid"
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno is not None and not isinstance(cause, requests.RequestException):
            return f"{netloc}: {os.strerror(cause.errno)} ({errno.errorcode.get(cause.errno, cause.errno)})"
    if ca_file and not Path(ca_file).exists():
        return f"profiles ca_file {ca_file!r}: no such file"
    if isinstance(error, requests.exceptions.InvalidHeader):
        return "the credentials cannot be sent in a header"
    innermost = causes[-1]
    return f"{netloc}: the answer is not valid HTTP or broke off ({type(innermost).__name__})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = [current.__cause__, current.__context__, getattr(current, "reason", None), *current.args]
        waiting.extend(item for item in inner if isinstance(item, BaseException))
