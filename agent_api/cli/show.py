"""`pinfold providers|sets|tasks|offers|operations`: what there is, as tables or as JSON.

Decides only how it is laid out. Everything is read from the two ports; `sets destroy` and `sets compact` are the calls
that change something.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent_api.cli.client import as_json, call, get, with_access, with_agent, with_json, with_master

__all__ = ["offers", "operations", "providers", "sets", "tasks"]


def _table(columns: Iterable[str], rows: Iterable[Iterable[Any]], nothing: str) -> None:
    """Print rows; columns never wrap into each other, and what others named is no markup."""
    rows = [[Text(str(cell)) for cell in row] for row in rows]
    if not rows:
        click.echo(nothing)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(width=None if Console().is_terminal else 200, soft_wrap=False).print(table)


def _number(value: float) -> str:
    return f"{value:g}"


def _age(since: float | None) -> str:
    if since is None:
        return ""
    seconds = max(0, int(time.time() - since))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _scalars(resources: Iterable[dict[str, Any]], kind: str, revocable: bool = False) -> float:
    """Sum of the CPUs of one source type; kind "" is plain cpus."""
    return sum(
        float(resource.get("scalar", {}).get("value", 0.0))
        for resource in resources
        if resource["name"] == "cpus"
        and resource.get("cpu", {}).get("source", {}).get("type", "") == kind
        and ("revocable" in resource) is revocable
    )


@click.command()
@with_agent
@with_access
@with_json
def providers(agent_url: str, json_output: bool) -> None:
    """The providers that are connected, and what they offer."""
    answer = call(agent_url, {"type": "GET_RESOURCE_PROVIDERS"})["get_resource_providers"]
    found = answer.get("resource_providers", [])
    if json_output:
        as_json(found)
        return
    rows = []
    for provider in found:
        info, resources = provider["resource_provider_info"], provider.get("total_resources", [])
        rows.append(
            (
                info["type"],
                info["name"],
                info.get("id", {}).get("value", ""),
                _number(_scalars(resources, "RAW")),
                _number(_scalars(resources, "EXCLUSIVE")),
                _number(_scalars(resources, "SHARED")),
                _number(_scalars(resources, "RAW", revocable=True)),
                _number(_scalars(resources, "SHARED", revocable=True)),
            )
        )
    columns = ("TYPE", "NAME", "ID", "RAW", "EXCLUSIVE", "SHARED", "REVOCABLE RAW", "REVOCABLE SHARED")
    _table(columns, rows, "no provider is connected")


@click.group(invoke_without_command=True)
@with_agent
@with_access
@with_json
@click.pass_context
def sets(context: click.Context, agent_url: str, json_output: bool) -> None:
    """The CPU sets of this host; `sets destroy ID` destroys one."""
    context.obj = agent_url
    if context.invoked_subcommand is not None:
        return
    answer = call(agent_url, {"type": "GET_CPUSETS"})["get_cpusets"]
    found = [
        {"provider": provider["name"], **cpuset}
        for provider in answer.get("providers", [])
        for cpuset in provider.get("cpusets", [])
    ]
    if json_output:
        as_json(found)
        return
    _table(
        (
            *("ID", "TYPE", "PROFILE", "ROLE", "CHARGE", "BURST", "CPUS", "BLOCKED", "MEMS", "GROWTH", "ENFORCED BY"),
            *("STATE", "AGE", "REASON"),
        ),
        (
            (
                cpuset["id"],
                cpuset.get("type", ""),
                cpuset.get("profile", ""),
                cpuset.get("role", ""),
                _charge(cpuset),
                _number(cpuset["burst"]) if "burst" in cpuset else "",
                cpuset.get("cpus", ""),
                cpuset.get("blocked", ""),
                cpuset.get("mems", ""),
                str(cpuset.get("growth", "")),
                cpuset.get("enforcement", ""),
                cpuset.get("state", ""),
                _age(cpuset.get("created")),
                cpuset.get("reason", ""),
            )
            for cpuset in found
        ),
        "there are no CPU sets",
    )


def _charge(cpuset: dict[str, Any]) -> str:
    """The CPUs that it has of RAW: held, guaranteed or, where that can be taken back, revocable."""
    charged = _number(sum(charge["cpus"] for charge in cpuset.get("charges", [])))
    return f"{charged} revocable" if cpuset.get("revocable") else charged


@sets.command("destroy")
@click.argument("cpuset_id", metavar="ID")
@click.option("--agent", "agent_url", default=None, metavar="URL", help="The agent port.")
@with_access
@click.pass_context
def destroy(context: click.Context, cpuset_id: str, agent_url: str | None) -> None:
    """Destroy a set that no task uses."""
    call(agent_url or context.obj, {"type": "DESTROY_CPUSET", "destroy_cpuset": {"cpuset_id": cpuset_id}})
    click.echo(f"destroying {cpuset_id}")


@sets.command("compact")
@click.argument("cpuset_ids", metavar="[ID]…", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only show what would move.")
@click.option("--yes", is_flag=True, help="Move without asking.")
@click.option("--agent", "agent_url", default=None, metavar="URL", help="The agent port.")
@with_access
@with_json
@click.pass_context
def compact(
    context: click.Context,
    cpuset_ids: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    agent_url: str | None,
    json_output: bool,
) -> None:
    """Move sets to better CPUs while their tasks run.

    Shows each move and what it gains, and asks before anything moves."""
    if json_output and not (dry_run or yes):
        raise click.UsageError("--json asks nobody: it needs --dry-run or --yes")
    url = agent_url or context.obj

    def ask(dry: bool) -> list[dict[str, Any]]:
        wanted = {"dry_run": dry, "cpuset_ids": list(cpuset_ids)}
        answer = call(url, {"type": "COMPACT_CPUSETS", "compact_cpusets": wanted})["compact_cpusets"]
        found: list[dict[str, Any]] = answer.get("providers", [])
        return found

    planned = ask(True) if dry_run or not yes else []
    if dry_run or not yes:
        if json_output:
            as_json(planned)
            return
        _moves(planned, "no set would be better off elsewhere")
        if dry_run or not any(provider.get("moves") for provider in planned):
            return
        click.confirm("Move them?", abort=True)
    done = ask(False)
    if json_output:
        as_json(done)
    else:
        _moves(done, "nothing was moved")
    if any(not move.get("done") for provider in done for move in provider.get("moves", [])):
        context.exit(1)


def _moves(providers: list[dict[str, Any]], otherwise: str) -> None:
    for provider in providers:
        if provider.get("message"):
            click.echo(f"{provider['name']}: {provider['message']}")
    rows = []
    for provider in providers:
        for move in provider.get("moves", []):
            gains = ", ".join(f"{gain['what']} {gain['before']} -> {gain['after']}" for gain in move.get("gains", []))
            rows.append(
                (
                    move["cpuset_id"],
                    move.get("profile", ""),
                    f"{move['from_cpus']} -> {move['to_cpus']}",
                    f"{move['from_mems']} -> {move['to_mems']}" if move["from_mems"] != move["to_mems"] else "",
                    gains,
                    move.get("reason", ""),
                )
            )
    _table(("ID", "PROFILE", "CPUS", "MEMORY NODES", "GAINS", "REASON"), rows, otherwise)


@click.command()
@with_master
@with_access
@with_json
def tasks(master_url: str, json_output: bool) -> None:
    """The tasks of this host, those that have ended too."""
    answer = call(master_url, {"type": "GET_TASKS"})["get_tasks"]
    found = [
        task
        for group in ("pending_tasks", "tasks", "unreachable_tasks", "completed_tasks", "orphan_tasks")
        for task in answer.get(group, [])
    ]
    if json_output:
        as_json(found)
        return
    rows = []
    for task in found:
        resources = task.get("resources", [])
        set_ids = sorted(
            {
                resource["cpu"]["source"].get("id", "")
                for resource in resources
                if resource.get("cpu", {}).get("source", {}).get("type") in ("EXCLUSIVE", "SHARED")
            }
        )
        rows.append(
            (
                task["task_id"]["value"],
                task["framework_id"]["value"],
                task.get("state", ""),
                _number(_scalars(resources, "")),
                " ".join(set_ids),
                next((status.get("message", "") for status in reversed(task.get("statuses", []))), ""),
            )
        )
    _table(("TASK", "FRAMEWORK", "STATE", "PLAIN CPUS", "SETS", "MESSAGE"), rows, "there are no tasks")


@click.command()
@with_master
@with_access
@with_json
def offers(master_url: str, json_output: bool) -> None:
    """The offers that frameworks hold."""
    found = [
        {**offer, "framework": framework["name"]}
        for framework in get(master_url, "/state").get("frameworks", [])
        for offer in framework.get("offers", [])
    ]
    if json_output:
        as_json(found)
        return
    _table(
        ("OFFER", "FRAMEWORK", "ROLE", "CPUS", "REVOCABLE CPUS", "MEM"),
        (
            (
                offer["id"],
                offer["framework"],
                offer.get("allocation_info", {}).get("role", ""),
                _number(offer.get("resources", {}).get("cpus", 0.0)),
                _number(offer.get("resources", {}).get("cpus_revocable", 0.0)),
                _number(offer.get("resources", {}).get("mem", 0.0)),
            )
            for offer in found
        ),
        "there are no offers",
    )


@click.command()
@with_master
@with_access
@with_json
def operations(master_url: str, json_output: bool) -> None:
    """The operations that have not been acknowledged."""
    found = call(master_url, {"type": "GET_OPERATIONS"})["get_operations"].get("operations", [])
    if json_output:
        as_json(found)
        return
    _table(
        ("OPERATION", "FRAMEWORK", "ID", "STATE", "MESSAGE"),
        (
            (
                operation["info"].get("type", ""),
                operation.get("framework_id", {}).get("value", ""),
                operation["info"].get("id", {}).get("value", ""),
                operation["latest_status"]["state"],
                operation["latest_status"].get("message", ""),
            )
            for operation in found
        ),
        "there are no operations",
    )
