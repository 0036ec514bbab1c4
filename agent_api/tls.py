"""The agent's certificate and key, for both of its ports.

Decides what files can be used, and says what is wrong with others; versions and ciphers are Twisted's defaults (TLS 1.2
and newer). It opens no connection.
"""

# mypy: allow-untyped-calls
# (twisted's TLS has few types)

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from OpenSSL import SSL, crypto
from twisted.internet import ssl

__all__ = ["TlsError", "server_options"]

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.S)


class TlsError(ValueError):
    """A certificate or key that cannot be used; names the file."""


def server_options(cert_path: str, key_path: str) -> Any:
    """For `listenSSL`: the first certificate in the file is the agent's, the others its chain. Raises TlsError."""
    blocks = _CERTIFICATE.findall(_content(cert_path))
    if not blocks:
        raise TlsError(f"{cert_path}: no certificate in PEM format in it")
    try:
        first, *chain = (crypto.load_certificate(crypto.FILETYPE_PEM, block) for block in blocks)
    except (crypto.Error, ValueError) as error:
        raise TlsError(f"{cert_path}: a certificate cannot be read: {_why(error)}") from None
    try:
        # An empty passphrase: without one OpenSSL would ask for it on the terminal.
        key = crypto.load_privatekey(crypto.FILETYPE_PEM, _content(key_path), passphrase=b"")
    except (crypto.Error, ValueError, TypeError) as error:
        raise TlsError(f"{key_path}: no private key that can be read (is it encrypted?): {_why(error)}") from None
    options = ssl.CertificateOptions(privateKey=key, certificate=first, extraCertChain=chain)
    try:
        options.getContext()
    except (SSL.Error, ValueError) as error:
        raise TlsError(f"{key_path} does not belong to {cert_path}: {_why(error)}") from None
    return options


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise TlsError(f"{path}: {error.strerror or error}") from None


def _why(error: Exception) -> str:
    if error.args and isinstance(error.args[0], list) and error.args[0]:
        return str(error.args[0][0][-1])
    return str(error) or type(error).__name__
