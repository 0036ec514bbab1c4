"""`pinfold profiles`: the profiles that the agent's providers have, and `check`, which judges a document offline.

Decides only how they are shown. `check` uses what a provider uses, so that a document that passes is one that
providers take.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import click
import requests
from rich.console import Console
from rich.table import Table
from rich.text import Text

from profiles.errors import DocumentError, SourceError
from profiles.mapping import MAX_DOCUMENT_BYTES, Entry, Profile, definition, notes, parse_document
from profiles.source import Look, look, parse_uri, redact
from profiles.state import Failed, Fetched

__all__ = ["profiles"]

TIMEOUT = (5, 30)


@click.group(invoke_without_command=True)
@click.option(
    "--agent",
    "agent_url",
    default="http://127.0.0.1:5051",
    show_default=True,
    envvar="PINFOLD_AGENT",
    show_envvar=True,
    metavar="URL",
    help="The agent port.",
)
@click.option("--json", "json_output", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def profiles(context: click.Context, agent_url: str, json_output: bool) -> None:
    """The profiles of each provider: state, reason, parameters, and how the last fetch went."""
    if context.invoked_subcommand is not None:
        return
    providers = _get_profiles(agent_url)
    if json_output:
        click.echo(json.dumps(providers, indent=2))
        return
    rows = []
    for provider in providers:
        for profile in provider.get("profiles", []):
            placeable = profile.get("placeable")
            rows.append(
                (
                    provider.get("name", ""),
                    profile.get("name", ""),
                    profile.get("state", "UNKNOWN"),
                    _age(profile.get("since")),
                    {True: "yes", False: "no"}.get(placeable, ""),
                    _parameters(profile.get("definition", "")),
                    profile.get("reason", ""),
                )
            )
    _table(("PROVIDER", "PROFILE", "STATE", "SINCE", "PLACEABLE", "PARAMETERS", "REASON"), rows, "no profiles")
    for provider in providers:
        source = provider.get("source")
        if source:
            in_force = source.get("in_force_since")
            uri = source.get("uri", "")
            outcome = source.get("outcome", "not fetched yet").removeprefix(f"{uri}: ")
            click.echo(
                f"{provider.get('name', '')}: {uri}: {outcome}"
                + (f", {_age(source.get('last_fetch'))} ago" if source.get("last_fetch") else "")
                + (f"; document in force for {_age(in_force)}" if in_force else "; no document yet")
            )


@profiles.command()
@click.argument("source", metavar="F|URL")
@click.option("--ca-file", help="Certificates to trust instead of the usual ones.")
@click.option("--credentials-file", help="Credentials for HTTP, as a provider's config names them.")
@click.option("--json", "json_output", is_flag=True, help="Print JSON.")
def check(source: str, ca_file: str | None, credentials_file: str | None, json_output: bool) -> None:
    """Validate a profile document: a file, an http(s) URL, or - for standard input.

    No agent and no provider is needed. Exit status 0: providers take it; 1: they refuse it, and each fault is told.
    """
    shown = redact(source)
    if source == "-":
        found = _look_at_input()
    else:
        try:
            found = look(parse_uri(source), ca_file=ca_file, credentials_file=credentials_file)
        except SourceError as error:
            raise click.BadParameter(str(error), param_hint="F|URL") from error
    result = found.result
    if isinstance(result, Fetched):
        _tell_valid(shown, result.entries, json_output)
        return
    failed = result if isinstance(result, Failed) else Failed("nothing was read")
    if json_output:
        faults = [{"path": fault.path, "value": fault.value, "reason": fault.reason} for fault in failed.faults]
        click.echo(json.dumps({"ok": False, "reason": failed.reason, "faults": faults}, indent=2))
    elif failed.faults:
        count = len(failed.faults)
        click.echo(f"{shown}: refused, {count} fault{'s' if count > 1 else ''}:", err=True)
        for fault in failed.faults:
            click.echo(f"  {fault}", err=True)
    else:
        click.echo(f"{shown}: cannot be read: {failed.reason.removeprefix(f'{shown}: ')}", err=True)
    sys.exit(1)


def _look_at_input() -> Look:
    data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
    try:
        return Look(Fetched(data, parse_document(data)))
    except DocumentError as error:
        return Look(Failed(f"document refused: {error}", error.faults))


def _tell_valid(shown: str, entries: Any, json_output: bool) -> None:
    found: dict[str, Entry] = dict(entries)
    if json_output:
        content = {
            name: {
                "definition": json.loads(entry.definition),
                "providers": None
                if entry.selectors is None
                else [{"type": one.type, "name": one.name} for one in entry.selectors],
                "notes": notes(entry),
            }
            for name, entry in found.items()
        }
        click.echo(json.dumps({"ok": True, "profiles": content}, indent=2))
        return
    rows = [
        (
            name,
            "all"
            if entry.selectors is None
            else ", ".join(f"{one.type}/{one.name}" for one in entry.selectors) or "none",
            _parameters(entry.definition),
        )
        for name, entry in found.items()
    ]
    if rows:
        _table(("PROFILE", "PROVIDERS", "PARAMETERS"), rows, "")
    click.echo(f"{shown}: valid, {len(found)} profile{'' if len(found) == 1 else 's'}")
    for name, entry in found.items():
        for note in notes(entry):
            click.echo(f"note: {name}: {note}")


# --- the agent -------------------------------------------------------------------------------------------------


def _get_profiles(agent_url: str) -> list[dict[str, Any]]:
    """GET_PROFILES' providers. Ends the command on any error."""
    url, shown = f"{agent_url.rstrip('/')}/api/v1", redact(agent_url)
    try:
        response = requests.post(
            url, json={"type": "GET_PROFILES"}, headers={"Accept": "application/json"}, timeout=TIMEOUT
        )
    except requests.ConnectionError:
        _fail(f"nobody answers at {shown}; is `pinfold agent` running there?")
    except requests.RequestException as error:
        _fail(redact(f"{shown}: {error}"))
    if not response.ok:
        _fail(response.text.strip()[:500] or f"{shown} answered {response.status_code}")
    try:
        providers = response.json()["get_profiles"].get("providers", [])
        return [dict(provider) for provider in providers]
    except (ValueError, KeyError, TypeError, AttributeError):
        _fail(f"{shown} did not answer as an agent does; is that Pinfold's agent port?")


def _fail(message: str) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(1)


# --- layout ----------------------------------------------------------------------------------------------------


def _parameters(text: str) -> str:
    """What differs from the defaults: "memory.policy=bind core_siblings=required"."""
    try:
        content = json.loads(text)
        default = json.loads(definition(Profile(content["name"])))
        flat, usual = dict(_flat(content)), dict(_flat(default))
    except (ValueError, KeyError, TypeError, AttributeError):
        return text
    return " ".join(f"{key}={value}" for key, value in flat.items() if usual.get(key) != value) or "(defaults)"


def _flat(content: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _table(columns: Iterable[str], rows: Sequence[tuple[str, ...]], nothing: str) -> None:
    if not rows:
        click.echo(nothing)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    (console if console.is_terminal else Console(width=200)).print(table)


def _age(since: float | None) -> str:
    if since is None:
        return ""
    seconds = max(0, int(time.time() - since))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
