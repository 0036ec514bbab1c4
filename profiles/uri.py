"""Where a profile document comes from: the URI in a provider's config, and how it is shown.

Decides what a URI means and what of it may be shown. It never opens anything.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from profiles.errors import SourceError

__all__ = ["FileTarget", "HttpTarget", "Target", "origin", "parse_uri", "redact"]

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?//[^\s\"'<>]*")
_SCHEME = re.compile(r"(file|https?):", re.I)
_HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class FileTarget:
    path: Path


@dataclass(frozen=True, slots=True)
class HttpTarget:
    url: str
    """Without user information and fragment."""
    authorization: str | None = field(default=None, repr=False)
    """The header's value where the URI had user information."""


Target = FileTarget | HttpTarget


def parse_uri(uri: str) -> Target:
    """A path, file://, http:// or https://; SourceError for anything else."""
    shown = redact(uri)
    if not uri or uri != uri.strip():
        raise SourceError(f"profiles uri {shown!r}: is empty, or begins or ends with a space")
    if any(ord(character) < 32 or ord(character) == 127 for character in uri):
        raise SourceError(f"profiles uri {shown!r}: has a control character")
    if "://" not in uri:
        if _SCHEME.match(uri):
            # Not a file of that name; and what is behind it may be a password, which nobody would know to hide.
            raise SourceError(f"profiles uri: '{uri.partition(':')[0]}:' must be followed by //")
        return FileTarget(Path(uri))
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise SourceError(f"profiles uri {shown!r}: not a valid URI (is a password not percent-encoded?)") from error
    scheme = parts.scheme.lower()
    if scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise SourceError(f"profiles uri {shown!r}: a file on another host, {parts.hostname}")
        if not parts.path.startswith("/") or parts.path == "/":
            raise SourceError(f"profiles uri {shown!r}: has no path to a file")
        return FileTarget(Path(unquote(parts.path)))
    if scheme not in ("http", "https"):
        raise SourceError(f"profiles uri {shown!r}: scheme {scheme} is not file, http or https")
    if not parts.hostname or port == 0:
        raise SourceError(f"profiles uri {shown!r}: has no host or no valid port")
    authorization = None
    if parts.username is not None:
        user, password = unquote(parts.username), unquote(parts.password or "")
        authorization = "Basic " + b64encode(f"{user}:{password}".encode()).decode("ascii")
    netloc = parts.netloc.rpartition("@")[2]
    return HttpTarget(urlunsplit((scheme, netloc, parts.path or "/", parts.query, "")), authorization)


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port: credentials are for one of these and go to no other."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or (443 if scheme == "https" else 80)


def redact(text: str) -> str:
    """The text with every URI in it freed of user information, query values and fragment.

    It also holds for URIs that are not well formed (a password with a slash in it), at the price of showing less.
    """
    return _URI.sub(lambda match: _redact_one(match.group()), text)


def _redact_one(uri: str) -> str:
    head, _, rest = uri.partition("//")
    rest, _, _ = rest.partition("#") if "@" not in rest.partition("#")[2] else (rest, "", "")
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    host = authority.rpartition("@")[2]
    if "@" in authority:
        # Everything before the authority's last @; what follows it may hold another @ if the password had a slash.
        rest = host + rest[len(authority) :]
    well_formed = re.fullmatch(r"(\[[0-9A-Fa-f:.%]*\]|[^:]*)(:[0-9]*)?", host)
    if "@" in rest and (not well_formed or (well_formed.group(2) and "@" not in authority)):
        # "//user:pa/ss@host", and "//user:12/34@host", which could be a port as well.
        rest = f"{_HIDDEN}@{rest.rpartition('@')[2]}"
    path, mark, query = rest.partition("?")
    if mark:
        query = "&".join(f"{pair.partition('=')[0]}={_HIDDEN}" if "=" in pair else _HIDDEN for pair in query.split("&"))
    return f"{head}//{path}{mark}{query}"
