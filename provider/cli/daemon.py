"""`pinfold provider`: the provider process; with --check the check of a configuration, with --release its end.

Decides how the command line is read and what goes to which stream; the exit status is 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from migrations.database import DatabaseError
from provider import service
from provider.errors import ConfigError, HeldError, ProviderError

__all__ = ["provider"]


@click.command()
@click.option(
    "--agent",
    metavar="URL",
    help="The agent's address, as in http://127.0.0.1:5051 or, with a path, http://127.0.0.1:5051/slave(1).",
)
@click.option(
    "--engine",
    default="pinfold",
    show_default=True,
    type=click.Choice(service.ENGINES),
    help="The kind of agent: Pinfold's own, or a stock Mesos agent, to which a CPU set is a reservation with the label "
    "pinfold.profile.",
)
@click.option(
    "--task-cgroup-root",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="D",
    help="With --engine mesos: the cgroup below which the agent starts its tasks. They are kept off the CPUs of "
    "exclusive sets, and those that use a set, or are in a cgroup that a set names (label pinfold.cgroup), in the set.",
)
@click.option(
    "--config",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The provider's configuration, a ResourceProviderInfo in JSON.",
)
@click.option(
    "--work-dir", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where the state is kept."
)
@click.option(
    "--sysfs-root",
    default="/",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The directory that has sys/ and proc/.",
)
@click.option("--cgroup-root", default="auto", show_default=True, metavar="auto|none|D", help="Where cgroups are made.")
@click.option("--cgroup-name", default="pinfold", show_default=True, help="The name of our cgroup there.")
@click.option(
    "--content-type",
    default="protobuf",
    show_default=True,
    type=click.Choice(["json", "protobuf"]),
    help="Of the calls.",
)
@click.option(
    "--credentials",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with the principal and secret for the agent.",
)
@click.option("--ca-file", help="CA certificates for an https agent.")
@click.option("--agent-cert", help="The one certificate to take for the agent's, instead of authorities and names.")
@click.option(
    "--log-level",
    default="info",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"], case_sensitive=False),
)
@click.option(
    "--check",
    is_flag=True,
    help="Only tell whether this host can run with the configuration, as JSON; changes nothing.",
)
@click.option(
    "--release",
    is_flag=True,
    help="Only give the CPUs of sets in which nothing runs back to plain tasks, after the provider was removed.",
)
def provider(
    agent: str | None,
    engine: str,
    task_cgroup_root: Path | None,
    config: Path,
    work_dir: Path,
    sysfs_root: Path,
    cgroup_root: str,
    cgroup_name: str,
    content_type: str,
    credentials: Path | None,
    ca_file: str | None,
    agent_cert: str | None,
    log_level: str,
    check: bool,
    release: bool,
) -> None:
    """Offer this host's CPUs to an agent and put CPU sets in force.

    One process for each work directory. SIGTERM ends it; the sets and the tasks in them stay.

    For a stock Mesos agent, started by hand: pinfold provider --engine mesos --agent "http://HOST:5051/slave(1)"
    --config F --work-dir D. A framework asks for a set by a RESERVE whose reservation has the label pinfold.profile,
    and gives it back by UNRESERVE.
    """
    logging.basicConfig(
        level=log_level.upper(),
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    options = service.Options(
        config=config,
        work_dir=work_dir,
        agent=agent or "",
        sysfs_root=sysfs_root,
        cgroup_root=cgroup_root,
        cgroup_name=cgroup_name,
        content_type=content_type,
        credentials=credentials,
        ca_file=ca_file,
        engine=engine,
        task_cgroup_root=task_cgroup_root,
        agent_cert=agent_cert,
    )
    if check and release:
        raise click.UsageError("--check and --release exclude one another.")
    if check or release:
        _once(service.check if check else service.release, options)
        return
    if not agent:
        raise click.UsageError("Missing option '--agent'.")
    # Installing the reactor costs time that --check and --help do not need.
    from twisted.internet import reactor

    status = service.run(options, reactor)
    if status:
        raise click.exceptions.Exit(status)


def _once(work: Callable[[service.Options], dict[str, Any]], options: service.Options) -> None:
    try:
        result = work(options)
    except HeldError as error:
        _refuse(str(error), 409)
    except ConfigError as error:
        _refuse(str(error), 400)
    except (ProviderError, DatabaseError, OSError) as error:
        _refuse(str(error), 409)
    else:
        click.echo(json.dumps(result))


def _refuse(message: str, status: int) -> None:
    click.echo(json.dumps({"error": message, "status": status}))
    raise click.exceptions.Exit(1)
