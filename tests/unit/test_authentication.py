"""Credentials files and HTTP basic authentication."""

from __future__ import annotations

import base64
import logging
from pathlib import Path

import pytest

from agent_api.authentication import (
    PROVIDER,
    Credential,
    CredentialsError,
    Guard,
    own_credential,
    parse,
    read,
    read_one,
)
from agent_api.errors import ApiError, Forbidden, Unauthorized

OPS = Credential("ops", "s3cret of ops")
WEB = Credential("web", "pässwörd:with:colons")


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"credentials": [{"principal": "ops", "secret": "s3cret of ops"}]}', [OPS]),
        ('{"principal": "ops", "secret": "s3cret of ops"}', [OPS]),
        ('\n {"credentials": [{"principal": "a", "secret": "b"}, {"principal": "c", "secret": "d"}]}', "a:b c:d"),
        ("a b\n\n  c\td \n", "a:b c:d"),
    ],
)
def test_files(text: str, found: list[Credential] | str) -> None:
    if isinstance(found, str):
        found = [Credential(*pair.split(":")) for pair in found.split()]
    assert parse(text.encode()) == found


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"", "no credentials in it"),
        (b'{"credentials": []}', "no credentials in it"),
        (b'{"credentials": {}}', 'expecting {"credentials": ['),
        (b'{"credentials": ["hush"]}', "credentials[0] is no object"),
        (b'{"credentials": [{"principal": "a"}]}', "credentials[0] has no 'secret'"),
        (b'{"credentials": [{"principal": "a", "secret": 7}]}', "credentials[0] has no 'secret'"),
        (b'{"credentials": [{"principal": "", "secret": "hush"}]}', "credentials[0] has no 'principal'"),
        (b'{"credentials": [{"principal": "a", "secret": "hush"', "not JSON (line 1, column 5"),
        (b'{"credentials": [{"principal": "a:b", "secret": "hush"}]}', "principal 'a:b' cannot be used"),
        (b"a hush\nb", "line 2 must be a principal and a secret, and has 1 words"),
        (b"a hush hush", "line 1 must be a principal and a secret, and has 3 words"),
        (b"a hush\na b", "principal 'a' is there twice"),
        (b"\xff hush", "not UTF-8 (byte 0)"),
        (b'{"principal": "hush", "secret": ' + b"1" * 5000 + b"}", "not JSON (a number has too many digits)"),
    ],
)
def test_wrong_files_are_told_without_a_secret(text: bytes, named: str) -> None:
    with pytest.raises(CredentialsError) as error:
        parse(text)
    assert named in str(error.value)
    assert "hush" not in str(error.value)


def test_a_file_that_others_can_read_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "credentials"
    path.write_text("ops s3cret")
    path.chmod(0o640)
    with caplog.at_level(logging.WARNING):
        assert read(str(path)) == [Credential("ops", "s3cret")]
    assert f"{path} has mode 640: others than its owner can read" in caplog.text
    assert "s3cret" not in caplog.text
    caplog.clear()
    path.chmod(0o600)
    assert read_one(str(path)).principal == "ops"
    assert caplog.text == ""
    path.write_text("ops s3cret\nweb hush")
    with pytest.raises(CredentialsError, match=f"{path}: 2 credentials, where one is needed"):
        read_one(str(path))
    with pytest.raises(CredentialsError, match=f"{tmp_path}/none: No such file"):
        read(f"{tmp_path}/none")


def test_a_credential_shows_no_secret() -> None:
    assert "s3cret" not in repr(OPS)


@pytest.mark.parametrize(
    ("header", "error"),
    [
        (None, "Authentication is needed"),
        ("", "is not one of HTTP basic authentication"),
        ("Bearer abc", "is not one of HTTP basic authentication"),
        ("Basic", "is not one of HTTP basic authentication"),
        ("Basic %%%", "is not one of HTTP basic authentication"),
        ("Basic " + base64.b64encode(b"\xff:x").decode(), "is not one of HTTP basic authentication"),
        (basic("ops"), "is not one of HTTP basic authentication"),
        (basic("ops:"), "unknown or the secret is wrong"),
        (basic("ops:s3cret of op"), "unknown or the secret is wrong"),
        (basic("ops:s3cret of ops "), "unknown or the secret is wrong"),
        (basic("OPS:s3cret of ops"), "unknown or the secret is wrong"),
        (basic(":s3cret of ops"), "unknown or the secret is wrong"),
        (basic("mallory:s3cret of ops"), "unknown or the secret is wrong"),
        (basic("web:s3cret of ops"), "unknown or the secret is wrong"),
    ],
)
def test_who_is_not_let_in(header: str | None, error: str) -> None:
    guard = Guard([OPS, WEB], None)
    with pytest.raises(Unauthorized) as refused:
        guard.principal(header, False)
    assert refused.value.status == 401
    assert error in refused.value.message and "s3cret" not in refused.value.message


def test_who_is_let_in() -> None:
    guard = Guard([OPS, WEB], None)
    assert guard.principal(OPS.header, False) == "ops"
    assert guard.principal(WEB.header.replace("Basic ", "basic  "), True) == "web"
    assert Guard(None, None).principal(None, False) is None
    assert Guard(None, None).principal("nonsense", False) is None


def test_the_providers_own_credential(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    own = own_credential(path)
    assert own.principal == PROVIDER and len(own.secret) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert own_credential(path) == own
    guard = Guard([OPS], own)
    assert guard.principal(own.header, True) == PROVIDER
    with pytest.raises(Forbidden) as error:
        guard.principal(own.header, False)
    assert isinstance(error.value, ApiError) and error.value.status == 403
    assert own_credential(tmp_path / "another.json").secret != own.secret
    with pytest.raises(CredentialsError, match="is the agent's own"):
        Guard([Credential(PROVIDER, "x")], own)
    path.write_text("ops s3cret")
    with pytest.raises(CredentialsError, match="principal 'ops' is not"):
        own_credential(path)
