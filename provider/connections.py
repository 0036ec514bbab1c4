"""Connections to the agent: how they are made and watched.

Decides that a peer which vanished without a word is noticed, and what an https agent is trusted by. It never decides
what is said on a connection or when there is one (`provider.client`).
"""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
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

    def __init__(self, reactor: Any, ca_file: str | None) -> None:
        self._reactor = reactor
        self._ca_file = ca_file

    def endpointForURI(self, uri: Any) -> Any:  # noqa: N802
        endpoint: Any = HostnameEndpoint(self._reactor, uri.host, uri.port, timeout=CONNECT_SECONDS)
        if uri.scheme == b"https":
            endpoint = _over_tls(endpoint, uri.host, self._ca_file)
        return _Watched(endpoint)


def _over_tls(endpoint: Any, host: bytes, ca_file: str | None) -> Any:
    # Twisted has these only where pyOpenSSL is installed, and http needs none of it.
    from twisted.internet import endpoints, ssl

    tls: Any = ssl
    trust = {}
    if ca_file is not None:
        authority = tls.Certificate.loadPEM(Path(ca_file).read_bytes())
        trust["trustRoot"] = tls.trustRootFromCertificates([authority])
    return endpoints.wrapClientTLS(tls.optionsForClientTLS(host.decode("ascii"), **trust), endpoint)


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
