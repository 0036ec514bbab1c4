"""What the reading commands share: finding the agent, asking it, and saying what went wrong.

Decides the form of errors: the server's own text, exit status 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import click
import requests

__all__ = ["as_json", "call", "fail", "get", "with_agent", "with_json", "with_master"]

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
        response = requests.request(method, url, timeout=TIMEOUT, **arguments)
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
