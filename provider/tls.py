"""TLS on the way to the agent: whose certificate is taken for the agent's.

Decides it in one of three ways: one very certificate, known from a file (the agent gives its own to the providers it
starts, whatever name is in it); certificates signed by authorities from a file, with the host's name in them; the
same with the system's authorities. It knows nothing of what is sent.
"""

# mypy: allow-untyped-calls
# (twisted's TLS has few types)

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from provider.errors import ConfigError

__all__ = ["wrapper"]

log = logging.getLogger(__name__)

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.S)


def wrapper(ca_file: str | None, agent_cert: str | None) -> Callable[[Any, bytes], Any]:
    """A function of an endpoint and the host's name that gives the endpoint with TLS. Raises ConfigError."""
    # Twisted has these only where pyOpenSSL is installed, and http needs none of it.
    from twisted.internet import endpoints, ssl

    tls: Any = ssl
    if agent_cert is not None:
        pinned: Any = _Pinned(agent_cert)
        return lambda endpoint, host: endpoints.wrapClientTLS(pinned, endpoint)
    trust: dict[str, Any] = {}
    if ca_file is not None:
        found = [tls.Certificate.loadPEM(block) for block in _blocks("--ca-file", ca_file)]
        trust["trustRoot"] = tls.trustRootFromCertificates(found)
    return lambda endpoint, host: endpoints.wrapClientTLS(
        tls.optionsForClientTLS(host.decode("ascii"), **trust), endpoint
    )


def _blocks(option: str, path: str) -> list[bytes]:
    """The certificates in a file, as PEM. Raises ConfigError."""
    try:
        blocks = _CERTIFICATE.findall(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{option} {path}: {error.strerror}") from error
    if not blocks:
        raise ConfigError(f"{option} {path}: no certificate in PEM format in it")
    return blocks


class _Pinned:
    """Takes the first certificate in a file and no other. The file is read for each connection: the agent may have a
    new one after a restart."""

    def __init__(self, path: str) -> None:
        from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
        from zope.interface import directlyProvides

        directlyProvides(self, IOpenSSLClientConnectionCreator)
        self._path = path
        self._digest = self._read()

    def _read(self) -> bytes:
        from OpenSSL import crypto

        block = _blocks("--agent-cert", self._path)[0]
        try:
            return crypto.load_certificate(crypto.FILETYPE_PEM, block).digest("sha256")
        except crypto.Error as error:
            raise ConfigError(f"--agent-cert {self._path}: the certificate cannot be read: {error}") from error

    def clientConnectionForTLS(self, tls_protocol: Any) -> Any:  # noqa: N802 (Twisted's name)
        from OpenSSL import SSL
        from twisted.internet import ssl

        try:
            self._digest = self._read()
        except ConfigError as error:
            log.warning("%s; the one read before counts", error)
        wanted = self._digest
        options: Any = ssl.CertificateOptions()
        context = options.getContext()
        # Nobody vouches for it but the file: authorities, names and dates do not count.
        context.set_verify(
            SSL.VERIFY_PEER,
            lambda connection, certificate, error, depth, ok: depth > 0 or certificate.digest("sha256") == wanted,
        )
        return SSL.Connection(context, None)
