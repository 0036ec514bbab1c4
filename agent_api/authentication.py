"""Who is at the other end of a request: credentials files and HTTP basic authentication.

Decides whether a principal and a secret belong together, in a time that says nothing about either. What a principal may
do is decided in `agent_api.core.authorization`. Secrets are never logged and never shown.

The providers that the agent starts have a credential of their own, which is good for the resource provider API alone:
it is made once for a work directory and given to them as a file that only the agent's user can read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_api.errors import Forbidden, Unauthorized

__all__ = ["PROVIDER", "Credential", "CredentialsError", "Guard", "own_credential", "parse", "read", "read_one"]

log = logging.getLogger(__name__)

PROVIDER = "pinfold-provider"
"""The principal of the providers that the agent starts."""

MAX_BYTES = 1024 * 1024


class CredentialsError(ValueError):
    """A file with credentials cannot be used. The message names the file and the place, and never a secret."""


@dataclass(frozen=True, slots=True)
class Credential:
    principal: str
    secret: str = field(repr=False)

    @property
    def header(self) -> str:
        """The value of an Authorization header."""
        return "Basic " + base64.b64encode(f"{self.principal}:{self.secret}".encode()).decode("ascii")


def parse(data: bytes) -> list[Credential]:
    """Mesos's formats: `{"credentials": [{"principal": …, "secret": …}]}`, one such object alone, or a line
    `principal secret` for each. Raises CredentialsError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CredentialsError(f"not UTF-8 (byte {error.start})") from None
    found = _from_json(text) if text.lstrip()[:1] in ("{", "[") else _from_lines(text)
    if not found:
        raise CredentialsError("no credentials in it")
    names = set()
    for credential in found:
        if credential.principal in names:
            raise CredentialsError(f"principal '{credential.principal}' is there twice")
        names.add(credential.principal)
    return found


def _from_json(text: str) -> list[Credential]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        # Without the text around the error: it may be a secret.
        raise CredentialsError(f"not JSON (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise CredentialsError("not JSON (too deep)") from None
    except ValueError:
        raise CredentialsError("not JSON (a number has too many digits)") from None
    if isinstance(document, dict) and set(document) == {"principal", "secret"}:
        return [_credential("the credential", document)]
    if not isinstance(document, dict) or not isinstance(document.get("credentials"), list):
        raise CredentialsError('expecting {"credentials": [{"principal": …, "secret": …}]}')
    return [_credential(f"credentials[{i}]", entry) for i, entry in enumerate(document["credentials"])]


def _credential(where: str, entry: Any) -> Credential:
    if not isinstance(entry, dict):
        raise CredentialsError(f"{where} is no object")
    for name in ("principal", "secret"):
        if not isinstance(entry.get(name), str) or not entry[name]:
            raise CredentialsError(f"{where} has no '{name}', or one that is no text")
    return _checked(where, entry["principal"], entry["secret"])


def _from_lines(text: str) -> list[Credential]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2:
            raise CredentialsError(f"line {number} must be a principal and a secret, and has {len(words)} words")
        found.append(_checked(f"line {number}", *words))
    return found


def _checked(where: str, principal: str, secret: str) -> Credential:
    if ":" in principal or not principal.isprintable():
        raise CredentialsError(f"{where}: principal {principal!r} cannot be used: it has a ':' or cannot be printed")
    return Credential(principal, secret)


def read(path: str) -> list[Credential]:
    """The credentials in a file; says at WARNING where others can read it, too. Raises CredentialsError."""
    try:
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CredentialsError(f"{path}: {error.strerror or error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        log.warning("%s has mode %03o: others than its owner can read the secrets in it", path, stat.S_IMODE(mode))
    if len(data) > MAX_BYTES:
        raise CredentialsError(f"{path}: more than {MAX_BYTES} bytes")
    try:
        return parse(data)
    except CredentialsError as error:
        raise CredentialsError(f"{path}: {error}") from None


def read_one(path: str) -> Credential:
    """The one credential in a file. Raises CredentialsError."""
    found = read(path)
    if len(found) != 1:
        raise CredentialsError(f"{path}: {len(found)} credentials, where one is needed")
    return found[0]


def own_credential(path: Path) -> Credential:
    """The credential of the agent's own providers; made where there is none. Raises CredentialsError and OSError."""
    if path.exists():
        credential = read_one(str(path))
        if credential.principal != PROVIDER:
            raise CredentialsError(f"{path}: principal '{credential.principal}' is not '{PROVIDER}'")
        return credential
    credential = Credential(PROVIDER, secrets.token_urlsafe(32))
    partial = path.with_name(path.name + ".new")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump({"principal": credential.principal, "secret": credential.secret}, file)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
    return credential


class Guard:
    """Lets requests in. Without credentials everybody is let in, as nobody in particular."""

    def __init__(self, credentials: list[Credential] | None, own: Credential | None) -> None:
        """`own`: the providers'. Raises CredentialsError where the operator's have its principal."""
        self.own = own
        self._digests: Mapping[str, bytes] | None = None
        if credentials is None:
            return
        digests = {credential.principal: _digest(credential.secret) for credential in credentials}
        if own is not None:
            if own.principal in digests:
                raise CredentialsError(f"principal '{own.principal}' is the agent's own for its providers")
            digests[own.principal] = _digest(own.secret)
        self._digests = digests

    def principal(self, authorization: str | None, of_provider: bool) -> str | None:
        """The principal of a request with this header; None where nobody is authenticated here.

        `of_provider`: whether the request is one of the resource provider API. Raises Unauthorized, and Forbidden where
        the providers' own credential is used for anything else.
        """
        if self._digests is None:
            return None
        if authorization is None:
            raise Unauthorized("Authentication is needed: a principal and a secret (HTTP basic authentication)")
        given = _basic(authorization)
        if given is None:
            raise Unauthorized("The 'Authorization' header is not one of HTTP basic authentication")
        principal, secret = given
        # Also for an unknown principal, so that it takes the same time.
        known = hmac.compare_digest(self._digests.get(principal, b"\0" * 32), _digest(secret))
        if not known or principal not in self._digests:
            raise Unauthorized("The principal is unknown or the secret is wrong")
        if self.own is not None and principal == self.own.principal and not of_provider:
            raise Forbidden(f"Principal '{principal}' may use the resource provider API only")
        return principal


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _basic(authorization: str) -> tuple[str, str] | None:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    principal, colon, secret = text.partition(":")
    return (principal, secret) if colon else None
