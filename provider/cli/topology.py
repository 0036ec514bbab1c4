"""`pinfold topology`: shows a host as a tree, as JSON or as a picture.

Decides what is shown; reading is `provider.sysfs`'s, nesting `provider.outline`'s, drawing `provider.picture`'s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from provider import cpuset, outline, picture, sysfs
from provider import topology as topologies
from provider.outline import Group, memory
from provider.topology import Topology, TopologyError

__all__ = ["topology"]


@click.command()
@click.option(
    "--root",
    type=click.Path(exists=True, path_type=Path),
    default=Path("/"),
    help="Root of a host, or of a copy of its /sys and /proc: a directory or a .tar.gz. Default: this host.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write a picture to this file; - prints it."
)
def topology(root: Path, as_json: bool, svg: Path | None) -> None:
    """Show the host's packages, NUMA nodes, caches, cores and CPUs, and what limits us on it."""
    try:
        with sysfs.open_root(root) as directory:
            host = sysfs.read(directory)
            limits = sysfs.cgroup_limits(directory)
    except (TopologyError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(_json(host, limits), indent=2))
    if svg is not None:
        name = "" if root == Path("/") else root.name.removesuffix(".tar.gz")
        _write(svg, picture.picture(host, allowed=limits[0], name=name), quiet=as_json)
    elif not as_json:
        _print(host, limits)


def _write(path: Path, document: str, *, quiet: bool) -> None:
    if str(path) == "-":
        click.echo(document, nl=False)
        return
    try:
        path.write_text(document, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error
    if not quiet:
        click.echo(f"wrote {path}")


def _json(host: Topology, limits: tuple[int | None, int | None]) -> dict[str, Any]:
    """`to_json`, what the cgroup allows (null: everything), what is usable, and the host's identity."""
    cpus, mems = limits
    return {
        **topologies.to_json(host),
        "allowed": {
            "cpus": None if cpus is None else cpuset.format_mask(cpus & host.online),
            "mems": None if mems is None else cpuset.format_mask(mems),
        },
        "identity": topologies.identity(host),
    }


def _print(host: Topology, limits: tuple[int | None, int | None]) -> None:
    # Into a pipe each line is whole, so that it can be searched.
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 1 << 16
    shape = outline.outline(host)
    tree = Tree(f"[bold]{escape(outline.summary(host))}[/bold]", guide_style="dim")
    _branch(tree, host, shape.host)
    for node in shape.apart:
        near, distance = outline.nearest(host, node)
        text = f"[blue]node {node.id}[/blue]  {memory(node.memory_bytes)}, no CPUs"
        if near:
            word = "node" if len(near) == 1 else "nodes"
            text += f", nearest {word} {cpuset.format_mask(cpuset.of(near))} (distance {distance})"
        tree.add(text + _pages(node.hugepages))
    console.print(tree, soft_wrap=False)
    for group in shape.crossing:
        console.print(f"{_name(group)} cuts across others: CPUs {cpuset.format_mask(group.cpus)}")
    for line in _facts(host, limits):
        console.print(line)
    _print_distances(console, host)
    if host.devices:
        _print_devices(console, host)
    for warning in host.warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}")


def _branch(tree: Tree, host: Topology, group: Group) -> None:
    if group.cores:
        tree.add("  ".join(_core(host, core) for core in group.cores))
    for inner in group.groups:
        names = [_name(inner)]
        notes = _notes(host, inner)
        # Groups of the same CPUs are one line: most packages are one node with one cache.
        while not inner.cores and len(inner.groups) == 1 and inner.groups[0].cpus == inner.cpus:
            inner = inner.groups[0]
            names.append(_name(inner))
            notes += _notes(host, inner)
        text = ", ".join(names) + f"  CPUs {cpuset.format_mask(inner.cpus)}" + "".join(f", {note}" for note in notes)
        branch = tree.add(text)
        plain = not host.kinds and not inner.cpus & host.isolated
        if not (plain and inner.cpus.bit_count() == 1):  # else the line has said it all
            _branch(branch, host, inner)


def _name(group: Group) -> str:
    colours = {"package": "bold", "node": "blue", "die": "magenta", "cache": "yellow"}
    word = "LLC" if group.sort == "cache" else group.sort
    return f"[{colours[group.sort]}]{word} {group.number}[/{colours[group.sort]}]"


def _notes(host: Topology, group: Group) -> list[str]:
    if group.sort != "node":
        return []
    node = next(node for node in host.nodes if node.id == group.number)
    return [memory(node.memory_bytes) + _pages(node.hugepages)]


def _pages(hugepages: tuple[tuple[int, int, int], ...]) -> str:
    return "".join(
        f", {free} of {total} huge pages of {memory(size * 1024)} free" for size, total, free in hugepages if total
    )


def _core(host: Topology, core: int) -> str:
    """A core's CPUs between brackets, isolated ones marked, with the first letter of its kind."""
    cpus = " ".join(f"[red]{cpu}i[/red]" if host.isolated >> cpu & 1 else str(cpu) for cpu in cpuset.ids(core))
    kind = next((kind.name for kind in host.kinds if kind.cpus & core), "")
    letter = {"performance": "P", "efficiency": "E"}.get(kind, kind.removeprefix("kind-"))
    return f"{letter}({cpus})"


def _facts(host: Topology, limits: tuple[int | None, int | None]) -> list[str]:
    lines = []
    for kind in host.kinds:
        lines.append(f"{kind.name} cores: CPUs {cpuset.format_mask(kind.cpus)}")
    cpus, mems = limits
    if cpus is not None and host.online & ~cpus:
        lines.append(f"allowed by our cgroup: CPUs {cpuset.format_mask(cpus & host.online)}")
    all_nodes = cpuset.of(node.id for node in host.nodes)
    if mems is not None and all_nodes & ~mems:
        lines.append(f"allowed by our cgroup: nodes {cpuset.format_mask(mems)}")
    for word, mask in (("isolated", host.isolated), ("nohz_full", host.nohz_full), ("offline", host.offline)):
        if mask:
            lines.append(f"{word}: CPUs {cpuset.format_mask(mask)}")
    if any(total for _, total, _ in host.hugepages):
        lines.append("on the whole host: " + _pages(host.hugepages).removeprefix(", "))
    return lines


def _print_distances(console: Console, host: Topology) -> None:
    """The matrix of up to 16 nodes, without colour and wrapping; of more, in words."""
    if len(host.nodes) < 2:
        return
    if len(host.nodes) > 16:
        values = sorted({distance for node in host.nodes for distance in node.distances})
        console.print(f"distances between nodes: {values[0]} to {values[-1]} (--json and --svg have the matrix)")
        return
    width = max(len(str(number)) for node in host.nodes for number in (*node.distances, node.id)) + 2
    console.print("distances between nodes:")
    console.print(" " * 6 + "".join(f"[blue]{node.id:>{width}}[/blue]" for node in host.nodes))
    for node in host.nodes:
        console.print(f"[blue]{node.id:>6}[/blue]" + "".join(f"{distance:>{width}}" for distance in node.distances))


def _print_devices(console: Console, host: Topology) -> None:
    """Devices with a network interface or a disk; the others are counted."""
    named = [device for device in host.devices if device.names]
    console.print(f"PCI devices: {len(host.devices)}" + ("" if named else ", none with a network interface or a disk"))
    for device in named:
        console.print(
            f"  {device.address}  {escape(' '.join(device.names))}  near CPUs {cpuset.format_mask(device.cpus)}"
            + ("" if device.numa_node is None else f" (node {device.numa_node})")
        )
