"""What the reading commands share: finding the agent, asking it, and saying what went wrong.

Decides the form of errors: the server's own text, exit status 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
import requests
import requests.adapters
import requests.auth

from agent_api.authentication import Credential, CredentialsError, read_one

__all__ = [
    "as_json",
    "call",
    "credential",
    "fail",
    "get",
    "session",
    "with_access",
    "with_agent",
    "with_json",
    "with_master",
]

F = TypeVar("F", bound=Callable[..., Any])

TIMEOUT = (5, 120)
"""Seconds to connect and to wait for the answer: adding a config waits for its check."""

with_agent = click.option(
    "--agent",
    "agent_url",
    default="http://127.0.0.1:5051",
    show_default=True,
    envvar="PINFOLD_AGENT",
    show_envvar=True,
    metavar="URL",
    help="The agent port.",
)
with_master = click.option(
    "--master",
    "master_url",
    default="http://127.0.0.1:5050",
    show_default=True,
    envvar="PINFOLD_MASTER",
    show_envvar=True,
    metavar="URL",
    help="The master port.",
)
_ACCESS = "agent_api.cli.client.access"


def _keep(ctx: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.meta.setdefault(_ACCESS, {})[option.name] = value


def with_access(command: F) -> F:
    """The options by which a command gets in where the agent asks for credentials, or speaks https."""
    credential_option = click.option(
        "--credential",
        envvar="PINFOLD_CREDENTIAL",
        show_envvar=True,
        metavar="F",
        expose_value=False,
        callback=_keep,
        help="File with a principal and its secret.",
    )
    ca_option = click.option(
        "--ca-file",
        envvar="PINFOLD_CA_FILE",
        show_envvar=True,
        metavar="F",
        expose_value=False,
        callback=_keep,
        help="Certificates to trust for https. Default: those that the system trusts.",
    )
    return credential_option(ca_option(command))


def _access(name: str) -> str | None:
    found: str | None = click.get_current_context().meta.get(_ACCESS, {}).get(name)
    return found


def credential() -> Credential | None:
    """What `--credential` names. Ends the command where it cannot be used."""
    path = _access("credential")
    if path is None:
        return None
    try:
        return read_one(path)
    except CredentialsError as error:
        fail(f"--credential: {error}")


def session() -> requests.Session:
    """A session that gets in as the options of the running command say."""
    made = requests.Session()
    known = credential()
    made.auth = _Basic(known)  # also where it does nothing: else ~/.netrc would be asked
    ca_file = _access("ca_file")
    if ca_file is not None:
        if not Path(ca_file).is_file():
            fail(f"--ca-file: {ca_file}: no such file")
        # On the adapter: what the environment names as CA bundle would win over the session's own.
        made.mount("https://", _Trusting(ca_file))
    return made


class _Basic(requests.auth.AuthBase):
    def __init__(self, known: Credential | None) -> None:
        self._known = known

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._known is not None:
            request.headers["Authorization"] = self._known.header
        return request


class _Trusting(requests.adapters.HTTPAdapter):
    def __init__(self, ca_file: str) -> None:
        self._ca_file = ca_file
        super().__init__()

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        return super().send(request, *arguments, **{**options, "verify": self._ca_file})


with_json = click.option("--json", "json_output", is_flag=True, help="Print JSON instead of a table.")


def fail(message: str) -> NoReturn:
    """End the command with exit status 1."""
    click.echo(f"Error: {message}", err=True)
    sys.exit(1)


def call(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST one operator call; its answer, {} where that is empty. Ends the command on any error."""
    response = _ask("POST", f"{url.rstrip('/')}/api/v1", json=body, headers={"Accept": "application/json"})
    if not response.content:
        return {}
    return _parse(response)


def get(url: str, path: str) -> dict[str, Any]:
    """GET one JSON endpoint. Ends the command on any error."""
    return _parse(_ask("GET", f"{url.rstrip('/')}{path}"))


def _ask(method: str, url: str, **arguments: Any) -> requests.Response:
    try:
        response = session().request(method, url, timeout=TIMEOUT, **arguments)
    except requests.exceptions.SSLError as error:
        fail(f"{url}: no trusted TLS connection (is --ca-file needed?): {error}")
    except requests.ConnectionError:
        fail(f"nobody answers at {url}; is `pinfold agent` running there?")
    except requests.RequestException as error:
        fail(f"{url}: {error}")
    if not response.ok:
        fail(response.text.strip() or f"{url} answered {response.status_code} {response.reason}")
    return response


def _parse(response: requests.Response) -> dict[str, Any]:
    try:
        value = response.json()
    except ValueError:
        fail(f"{response.url} did not answer with JSON; is that a Pinfold port?")
    if not isinstance(value, dict):
        fail(f"{response.url} did not answer with a JSON object")
    return value


def as_json(value: Any) -> None:
    """Print JSON, indented."""
    click.echo(json.dumps(value, indent=2))
