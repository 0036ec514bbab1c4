"""Connections to the agent: how they are made and watched.

Decides that a peer which vanished without a word is noticed. It never decides what is said on a connection or when
there is one (`provider.client`), nor by what an https agent is trusted (`provider.tls`).
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import Any

from twisted.internet import defer
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.web.iweb import IAgentEndpointFactory, IBodyProducer
from zope.interface import implementer

__all__ = ["Body", "Endpoints"]

CONNECT_SECONDS = 10.0
USER_TIMEOUT_MS = 15000
"""How long sent data may stay unacknowledged by the peer's kernel before the connection counts as dead."""


@implementer(IBodyProducer)
class Body:
    """A request body that is at hand."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.length = len(body)

    def startProducing(self, consumer: Any) -> defer.Deferred[None]:  # noqa: N802
        consumer.write(self.body)
        return defer.succeed(None)

    def pauseProducing(self) -> None: ...  # noqa: N802

    def resumeProducing(self) -> None: ...  # noqa: N802

    def stopProducing(self) -> None: ...  # noqa: N802


@implementer(IAgentEndpointFactory)
class Endpoints:
    """Connections that notice when the other side is gone."""

    def __init__(self, reactor: Any, over_tls: Callable[[Any, bytes], Any] | None) -> None:
        """`over_tls` as `provider.tls.wrapper` gives it; None for http."""
        self._reactor = reactor
        self._over_tls = over_tls

    def endpointForURI(self, uri: Any) -> Any:  # noqa: N802
        endpoint: Any = HostnameEndpoint(self._reactor, uri.host, uri.port, timeout=CONNECT_SECONDS)
        if self._over_tls is not None:
            endpoint = self._over_tls(endpoint, uri.host)
        return _Watched(endpoint)


@implementer(IStreamClientEndpoint)
class _Watched:
    """Sets keepalive and the user timeout on each connection: a peer that vanished without a word is noticed."""

    def __init__(self, endpoint: Any) -> None:
        self._endpoint = endpoint

    def connect(self, factory: Any) -> defer.Deferred[Any]:
        connecting: defer.Deferred[Any] = self._endpoint.connect(factory)

        def connected(made: Any) -> Any:
            transport = made.transport
            with contextlib.suppress(AttributeError, OSError):
                transport.setTcpNoDelay(True)
                transport.setTcpKeepAlive(True)
                sock = transport.getHandle()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
            return made

        return connecting.addCallback(connected)
