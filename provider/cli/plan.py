"""`pinfold plan`: what the allocator would give, on paper.

Decides how the files are read and in which order the requests see each other's CPUs; the answers are the allocator's.
Runs nothing and changes nothing on the host.

What is free for a request:

- with `available` exactly these CPUs (with `--config`: those of them that are in the profile's pool, so never reserved
  ones);
- without it every CPU of the pool that no earlier request of the file has got, or holds;
- reserved CPUs, pools and `group_by` come from `--config`; without it the whole machine is the default pool and the
  zones are its nodes. A floor is kept only where the configuration names one (also 0, which means one core): on paper
  nothing else runs. A provider at work always keeps at least one whole core.

A request of a shared profile gets the CPUs that it may run on, as long as its guarantee fits besides the earlier ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from profiles.errors import ProfilesError
from profiles.mapping import Entry, selects
from provider import allocator, cpuset, layout, sysfs, topology
from provider.cli.files import BadFileError, read_json, read_profiles, read_provider_config
from provider.errors import ProviderError, Refused
from provider.topology import Topology

__all__ = ["plan"]


@dataclass
class _Paper:
    """The host as planned so far."""

    host: Topology
    layout: layout.Layout
    configured: bool
    provider: tuple[str, str] | None
    taken: int = 0
    promised: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Wish:
    id: str
    profile: str
    cpus: int
    available: int | None
    zones: Mapping[str, int] | None
    holds: int


_WISH_KEYS = {"id", "profile", "cpus", "available", "zones", "holds"}


@click.command()
@click.option(
    "--topology", "topology_path", required=True, metavar="D|F", help="A sysfs copy (directory or .tar.gz), or JSON."
)
@click.option("--profiles", "profiles_path", required=True, metavar="F", help="The profile document.")
@click.option("--requests", "requests_path", required=True, metavar="F", help="The requests, a JSON list.")
@click.option("--config", "config_path", metavar="F", help="A provider config: reserved CPUs, floor, pools, group_by.")
@click.option("--explain", is_flag=True, help="Say why these CPUs and why not others.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(
    topology_path: str, profiles_path: str, requests_path: str, config_path: str | None, explain: bool, as_json: bool
) -> None:
    """Show what the allocator would give, without running anything."""
    try:
        host = _read_topology(Path(topology_path))
        entries = read_profiles(Path(profiles_path))
        wishes = _read_requests(Path(requests_path))
        paper = _read_config(host, Path(config_path) if config_path else None)
    except (BadFileError, ProviderError, ProfilesError, OSError) as error:
        raise click.ClickException(str(error)) from error
    for warning in (*host.warnings, *paper.layout.warnings):
        click.echo(f"warning: {warning}", err=True)
    answers = [_answer(paper, entries, wish, explain) for wish in wishes]
    if as_json:
        click.echo(json.dumps(answers, indent=1 if explain else None))
        return
    _print_table(answers)


def _read_topology(path: Path) -> Topology:
    if path.is_dir() or path.name.endswith((".tar.gz", ".tgz")):
        try:
            with sysfs.open_root(path) as root:
                return sysfs.read(root)
        except topology.TopologyError as error:
            raise BadFileError(str(error)) from error
    data = read_json(path)
    if not isinstance(data, dict):
        raise BadFileError(f"{path}: a topology is an object with a list 'cpus'")
    try:
        return topology.from_records(data)
    except (ProviderError, ValueError) as error:
        raise BadFileError(f"{path}: {error}") from error


def _read_config(host: Topology, path: Path | None) -> _Paper:
    if path is None:
        return _Paper(host, layout.plan_layout(host, layout.Config(), with_floor=False), False, None)
    info, named = read_provider_config(path)
    config = layout.config_from_wire(info)
    cut = layout.plan_layout(host, config, with_floor=info.cpu.HasField("floor"))
    return _Paper(host, cut, True, (info.type, info.name) if named else None)


def _read_requests(path: Path) -> list[_Wish]:
    data = read_json(path)
    if not isinstance(data, list):
        raise BadFileError(f"{path}: the requests are a list")
    return [_wish(f"{path}: requests[{index}]", index, item) for index, item in enumerate(data)]


def _wish(where: str, index: int, item: Any) -> _Wish:
    if not isinstance(item, dict):
        raise BadFileError(f"{where}: a request is an object")
    for key in sorted(item.keys() - _WISH_KEYS):
        click.echo(f"warning: {where}.{key}: a request has no such key; it is ignored", err=True)
    profile = item.get("profile")
    if not isinstance(profile, str):
        raise BadFileError(f"{where}.profile: the name of a profile is needed, not {profile!r}")
    zones = item.get("zones")
    if zones is not None:
        if not isinstance(zones, dict):
            raise BadFileError(f"{where}.zones: an object of numbers by zone is needed, not {zones!r}")
        zones = {name: _number(f"{where}.zones.{name}", count) for name, count in zones.items()}
    available = item.get("available")
    return _Wish(
        id=str(item.get("id", f"r{index + 1}")),
        profile=profile,
        cpus=_number(f"{where}.cpus", item.get("cpus")),
        available=None if available is None else _mask(f"{where}.available", available),
        zones=zones,
        holds=_mask(f"{where}.holds", item.get("holds") or ""),
    )


def _number(where: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise BadFileError(f"{where}: a whole number of CPUs is needed, not {value!r}")
    return value


def _mask(where: str, value: Any) -> int:
    if isinstance(value, list) and all(type(cpu) is int and 0 <= cpu <= cpuset.MAX_CPU_ID for cpu in value):
        return cpuset.of(value)
    if not isinstance(value, str):
        raise BadFileError(f"{where}: a list of CPUs such as '0-3,8' is needed, not {value!r}")
    try:
        return cpuset.parse(value, field=where)
    except cpuset.CpuListError as error:
        raise BadFileError(str(error)) from error


def _answer(paper: _Paper, entries: Mapping[str, Entry], wish: _Wish, explain: bool) -> dict[str, Any]:
    holds = wish.holds & paper.host.online
    try:
        answer = _try(paper, entries, wish, holds, explain)
    except Refused as refused:
        paper.taken |= holds
        return {"id": wish.id, "error": str(refused)}
    return {"id": wish.id, **answer}


def _try(paper: _Paper, entries: Mapping[str, Entry], wish: _Wish, holds: int, explain: bool) -> dict[str, Any]:
    entry = entries.get(wish.profile)
    if entry is None:
        raise Refused(f"profile {wish.profile!r} is not in the document; there are {', '.join(entries) or 'none'}")
    if paper.provider is not None and not selects(entry, *paper.provider):
        raise Refused(f"profile {wish.profile!r} is not for provider {'.'.join(paper.provider)}")
    profile = entry.profile
    pool = paper.layout.pools.get(profile.pool)
    if pool is None:
        raise Refused(f"there is no pool {profile.pool!r}; there are {', '.join(paper.layout.pools)}")
    if missing := wish.holds & ~paper.host.online:
        raise Refused(f"holds: CPUs {cpuset.format_mask(missing)} are not online on this host")
    if wish.available is None:
        free = pool & ~paper.taken & ~holds
    else:
        if unknown := wish.available & ~(paper.host.online | paper.host.offline | paper.host.possible):
            raise Refused(f"available: CPUs {cpuset.format_mask(unknown)} are not on this host")
        if not paper.configured:
            pool |= wish.available & paper.host.online
        free = pool & wish.available & ~holds
    zones = _zones(paper, pool)
    promised = paper.promised.get(profile.pool, 0) if wish.available is None else 0
    if profile.mode == "shared":
        return _shared(paper, entry, wish, free, promised, explain)
    request = allocator.Request(wish.cpus, profile, wish.zones, holds)
    placement = allocator.place(paper.host, zones, pool, free, request)
    left = (free & ~placement.charge).bit_count()
    if left < promised:
        most = max(0, wish.cpus - (promised - left))
        raise Refused(
            f"{wish.cpus} CPUs would leave {left} in pool {profile.pool!r}, {promised} are guaranteed to shared sets; "
            f"at most {most} would not touch their guarantee"
        )
    answer: dict[str, Any] = {
        "cpus": cpuset.ids(placement.cpus),
        "blocked": cpuset.ids(placement.blocked),
        "mems": cpuset.ids(placement.mems),
    }
    if explain:
        answer["explain"] = allocator.explain(paper.host, zones, pool, free, request)
    paper.taken = paper.taken & ~holds | placement.charge
    return answer


def _zones(paper: _Paper, pool: int) -> Mapping[str, int]:
    """The layout's zones; CPUs that are free only because a request says so are in the zone of their node."""
    loose = pool & ~paper.layout.offerable
    if not loose:
        return paper.layout.zones
    zones = dict(paper.layout.zones)
    for node in paper.host.nodes:
        if node.cpus & loose:
            name = f"numa/{node.id}"
            zones[name] = zones.get(name, 0) | node.cpus & loose
    return zones


def _shared(paper: _Paper, entry: Entry, wish: _Wish, free: int, promised: int, explain: bool) -> dict[str, Any]:
    pool = entry.profile.pool
    room = free.bit_count() - promised
    if not 0 < wish.cpus <= room:
        raise Refused(
            f"{wish.cpus} CPUs' worth of pool {pool!r} cannot be guaranteed: {max(0, room)} are left for shared sets"
        )
    if wish.available is None:
        paper.promised[pool] = promised + wish.cpus
    mems = [node.id for node in paper.host.nodes if node.has_memory]
    answer: dict[str, Any] = {"cpus": cpuset.ids(free), "blocked": [], "mems": mems}
    if explain:
        answer["explain"] = [f"shared: it may run on every CPU of pool {pool!r} that no exclusive set holds"]
    return answer


def _print_table(answers: list[dict[str, Any]]) -> None:
    rows = [("ID", "CPUS", "BLOCKED", "MEMS")]
    for answer in answers:
        if "error" in answer:
            rows.append((answer["id"], f"error: {answer['error']}", "", ""))
            continue
        lists = (cpuset.format_mask(cpuset.of(answer[key])) or "-" for key in ("cpus", "blocked", "mems"))
        rows.append((answer["id"], *lists))
    widths = [max((len(row[i]) for row in rows if not row[1].startswith("error")), default=0) for i in range(4)]
    for row, answer in zip(rows, [{}, *answers], strict=True):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        for line in answer.get("explain", ()):
            click.echo(f"    {line}")
