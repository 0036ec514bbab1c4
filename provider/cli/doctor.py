"""`pinfold doctor`: what on this host helps or hinders, and what to do about it.

Decides how findings are shown and the exit status: 0, or 1 where one of them is bad. Reading them is
`provider.doctor.reading`'s, judging the rest of `provider.doctor`'s. Changes nothing.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from provider.cli.files import BadFileError, read_profiles, read_provider_config
from provider.doctor import BAD, OK, WARN, Finding, examine
from provider.doctor.reading import read
from provider.errors import ProviderError
from provider.layout import config_from_wire
from provider.sysfs import open_root
from provider.topology import TopologyError

__all__ = ["doctor"]

_COLOURS = {OK: "green", WARN: "yellow", BAD: "red"}


@click.command()
@click.option(
    "--sysfs-root",
    default="/",
    show_default=True,
    type=click.Path(exists=True, path_type=Path),
    help="The directory (or .tar.gz) that has sys/ and proc/.",
)
@click.option("--cgroup-root", default="auto", show_default=True, metavar="auto|none|D", help="As the agent gets it.")
@click.option("--cgroup-name", default="pinfold", show_default=True, help="The name of our cgroup there.")
@click.option("--profiles", metavar="F", help="A profile document: which of its wishes this host cannot meet.")
@click.option("--config", metavar="F", help="A provider config: reserved CPUs, floor, pools, group_by.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(
    sysfs_root: Path, cgroup_root: str, cgroup_name: str, profiles: str | None, config: str | None, as_json: bool
) -> None:
    """Show what on this host helps or hinders, and what to do about it.

    What may be written is judged for the user who asks: ask as the one who runs the agent. The exit status is 1 where
    something is bad.
    """
    try:
        entries = read_profiles(Path(profiles)) if profiles else None
        info, named = read_provider_config(Path(config)) if config else (None, False)
        with open_root(sysfs_root) as root:
            facts = read(root, cgroup_root, cgroup_name)
        found = examine(
            facts,
            config_from_wire(info) if info else None,
            entries,
            (info.type, info.name) if info and named else None,
        )
    except (BadFileError, ProviderError, TopologyError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(finding) for finding in found], indent=1))
    else:
        _print(found)
    if any(finding.level == BAD for finding in found):
        raise click.exceptions.Exit(1)


def _print(found: list[Finding]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(finding.topic) for finding in found)
    for finding in found:
        colour = _COLOURS[finding.level]
        console.print(
            f"[{colour}]{finding.level:<4}[/{colour}] {escape(finding.topic):<{width}}  {escape(finding.sentence)}"
        )
        if finding.remedy:
            console.print(f"{'':<{width + 5}}  [dim]{escape(finding.remedy)}[/dim]")
    counts = Counter(finding.level for finding in found)
    console.print(", ".join(f"{counts[level]} {level}" for level in (OK, WARN, BAD)))
