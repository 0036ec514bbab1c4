"""Reads what a host is from its sysfs and procfs, or from a copy of them.

Decides how kernel files become a `Topology`, and what stands in for a file that is missing or lies; it never
chooses CPUs, and it never fails over a file: only a root without a single CPU is an error. Files are read once
each; equal masks are parsed once and shared.

| not told by the kernel | taken instead |
|---|---|
| which CPUs are online | CPUs whose `cpuN/online` is not 0; without `cpuN`, the processors of /proc/cpuinfo |
| a core (`core_cpus`, `thread_siblings`) | CPUs with the same package, die and core id; without ids, the CPU itself |
| a package (`package_cpus`, `core_siblings`) | CPUs with the same package id; without ids, the CPUs of the node |
| a die | the package |
| a last-level cache with its CPUs | the CPUs of the node |
| the node directory | one node 0 with all CPUs, all memory, distance 10 |
| the node of a CPU | the online node with the lowest id |
| distances | 10 to itself, 20 to others |
| memory of a node | unknown (that of /proc/meminfo, where there is one node) |
| isolated CPUs | `isolcpus=` of the kernel's command line |
| kinds of core | one kind (see `provider.sysfs_kinds`) |

Where CPUs contradict each other about who shares a core, a package or a cache, all that one of them joins is one
group: it is safer to leave a sibling alone than to give it away. A core ends at the borders of its die, package and
node, which is the kernel's own rule. Where nodes contradict each other, the links
`cpuN/nodeM` decide, then the lowest id. A CPU that a list names and that does not exist is ignored. Each guess is
one sentence in `Topology.warnings`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path

from provider import cpuset
from provider.sysfs_archive import open_root
from provider.sysfs_devices import pci_devices
from provider.sysfs_files import Files
from provider.sysfs_kinds import kinds
from provider.sysfs_limits import cgroup_limits
from provider.topology import DEFAULT_DISTANCE, LOCAL_DISTANCE, Node, Topology, TopologyError, from_records, group

__all__ = ["cgroup_limits", "load", "open_root", "read"]

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def read(root: str | Path = "/") -> Topology:
    """The host below `root`, a file-system root with `sys/` and mostly `proc/` in it.

    Raises `TopologyError` where no CPU can be found there, and for nothing else.
    """
    files = Files(root)
    online, present, possible = _cpus(files)
    if not online:
        raise TopologyError(f"{root}: no CPU found below it ({CPU} and proc/cpuinfo tell of none)")
    members = cpuset.ids(online)
    nodes = _nodes(files, online, present | possible)
    node_of = {cpu: node.id for node in nodes for cpu in cpuset.ids(node.cpus)}

    packages = _packages(files, members, online, node_of)
    dies = _inside(files, _dies(files, members, online, packages), packages, "die", "packages")
    cores = _inside(files, _cores(files, members, online), dies, "core", "dies")
    cores = _inside(files, cores, tuple(node.cpus for node in nodes if node.cpus), "core", "nodes")
    llcs = _llcs(files, members, online, node_of)

    return Topology(
        online=online,
        cores=cores,
        llcs=llcs,
        dies=dies,
        packages=packages,
        nodes=nodes,
        kinds=kinds(files, online, cores),
        devices=pci_devices(files, online, {node.id: node.cpus for node in nodes}),
        possible=possible | online,
        offline=present & ~online,
        isolated=_boot_list(files, "isolated", "isolcpus"),
        nohz_full=_boot_list(files, "nohz_full", "nohz_full"),
        hugepages=_hugepages_of_directory(files, "sys/kernel/mm/hugepages")
        or _hugepages_of_meminfo(files, "proc/meminfo"),
        memory_bytes=_meminfo(files, "proc/meminfo").get("MemTotal"),
        warnings=tuple(files.warnings),
    )


def load(path: str | Path) -> Topology:
    """The host that `path` describes: a directory or an archive (see `open_root`), or a JSON file (DESIGN 8).

    Raises `TopologyError` naming the path and what is wrong.
    """
    path = Path(path)
    if path.is_file():
        with open(path, "rb") as file:
            start = file.read(4096)
        if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
            try:
                return from_records(json.loads(path.read_bytes()))
            except (ValueError, RecursionError) as error:
                raise TopologyError(f"{path}: {error}") from error
    with open_root(path) as root:
        return read(root)


# --- CPUs -------------------------------------------------------------------------------------------------------


def _cpus(files: Files) -> tuple[int, int, int]:
    """(online, present, possible). A CPU with a directory is present, one that is present is possible."""
    numbers = files.numbered(CPU, "cpu", cpuset.MAX_CPU_ID)
    with_directory = cpuset.of(numbers)
    online = files.mask(f"{CPU}/online")
    if not online:
        online = cpuset.of(cpu for cpu in numbers if files.number(f"{CPU}/cpu{cpu}/online") != 0)
        # Kernels before 2.6.28 have none of the three masks, and cpuN/online is all there is: no guess.
        if online and any(files.text(f"{CPU}/{name}") is not None for name in ("online", "present", "possible")):
            files.warn(f"{CPU}/online is missing or empty: CPUs count as online unless cpuN/online says 0.")
    if not online:
        online = cpuset.of(_processors(files))
        if online:
            files.warn(f"{CPU} tells of no CPU: the processors of /proc/cpuinfo are taken as online.")
    present = (files.mask(f"{CPU}/present") or 0) | with_directory
    possible = (files.mask(f"{CPU}/possible") or 0) | present | online
    return online, present, possible


def _processors(files: Files) -> list[int]:
    found = re.findall(r"^processor\s*:\s*([0-9]{1,5})$", files.text("proc/cpuinfo") or "", re.MULTILINE)
    return [int(number) for number in found if int(number) <= cpuset.MAX_CPU_ID]


def _boot_list(files: Files, name: str, parameter: str) -> int:
    """A mask in the cpu directory, or what the kernel's command line says."""
    mask = files.mask(f"{CPU}/{name}")
    if mask is not None:
        return mask
    found = re.search(rf"(?:^|\s){parameter}=(\S+)", files.text("proc/cmdline") or "")
    if found is None:
        return 0
    # isolcpus takes flags first: isolcpus=nohz,domain,2-3
    items = found[1].split(",")
    while items and items[0][:1].isalpha():
        items.pop(0)
    try:
        mask = cpuset.parse(",".join(items), field=parameter)
    except cpuset.CpuListError as error:
        files.warn(f"{error}: it is ignored.")
        return 0
    files.warn(f"{CPU}/{name} is missing: {cpuset.format_mask(mask)} is taken from {parameter}= of the command line.")
    return mask


def _topology_files(cpu: int) -> str:
    return f"{CPU}/cpu{cpu}/topology"


def _id(files: Files, cpu: int, name: str) -> int | None:
    """An id; a negative one is how kernels say that they do not know."""
    number = files.number(f"{_topology_files(cpu)}/{name}")
    return None if number is None or number < 0 else number


def _packages(files: Files, members: list[int], online: int, node_of: Mapping[int, int]) -> tuple[int, ...]:
    names = ("package_cpus_list", "core_siblings_list", "package_cpus", "core_siblings")
    claims = {cpu: files.either(_topology_files(cpu), *names) for cpu in members}

    def by_id(cpu: int) -> Hashable:
        package = _id(files, cpu, "physical_package_id")
        return ("node", node_of[cpu]) if package is None else ("id", package)

    return _groups(files, claims, online, "package", by_id, "the CPUs of the same package id, or else of the node")


def _cores(files: Files, members: list[int], online: int) -> tuple[int, ...]:
    names = ("core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings")
    claims = {cpu: files.either(_topology_files(cpu), *names) for cpu in members}

    def by_id(cpu: int) -> Hashable:
        core = _id(files, cpu, "core_id")
        if core is None:
            return ("cpu", cpu)
        return ("id", _id(files, cpu, "physical_package_id"), _id(files, cpu, "die_id"), core)

    return _groups(files, claims, online, "core", by_id, "the CPUs of the same core id, or else the CPU itself")


def _dies(files: Files, members: list[int], online: int, packages: tuple[int, ...]) -> tuple[int, ...]:
    claims: dict[int, int | None] = {}
    for cpu in members:
        # Where a kernel does not know it says -1, and may print a mask of the CPU alone.
        if _id(files, cpu, "die_id") is not None:
            claims[cpu] = files.either(_topology_files(cpu), "die_cpus_list", "die_cpus")
        elif not claims:
            return packages  # most machines, and kernels before 5.2: the others need not be asked
        else:
            claims[cpu] = None
    package_of = {cpu: number for number, mask in enumerate(packages) for cpu in cpuset.ids(mask)}
    return _groups(files, claims, online, "die", lambda cpu: ("package", package_of[cpu]), "the package")


def _llcs(files: Files, members: list[int], online: int, node_of: Mapping[int, int]) -> tuple[int, ...]:
    claims = {cpu: _last_cache(files, cpu) for cpu in members}
    return _groups(
        files, claims, online, "last-level cache", lambda cpu: ("node", node_of[cpu]), "the CPUs of the node"
    )


def _last_cache(files: Files, cpu: int) -> int | None:
    """The CPUs that share this CPU's last data or unified cache, None where that is not told."""
    directory = f"{CPU}/cpu{cpu}/cache"
    levels = []
    for index in files.numbered(directory, "index", 99):
        level = files.number(f"{directory}/index{index}/level")
        if level is not None:
            levels.append((-level, index))
    for _, index in sorted(levels):
        if (files.text(f"{directory}/index{index}/type") or "").strip() == "Instruction":
            continue
        # Old kernels have caches with an empty map: nothing is known of those, the next lower one is asked.
        shared = files.either(f"{directory}/index{index}", "shared_cpu_list", "shared_cpu_map")
        if shared:
            return shared
    return None


def _groups(
    files: Files,
    claims: Mapping[int, int | None],
    online: int,
    what: str,
    fallback: Callable[[int], Hashable],
    guess: str | None,
) -> tuple[int, ...]:
    """Disjoint groups from what each CPU says about its own group; see the module's text.

    `fallback` gives the key of a CPU that says nothing; `guess` says in words what that is, None where nobody
    needs to be told.
    """
    joined: dict[int, int] = {}
    contradicting = 0
    seen: set[int] = set()
    for cpu, claim in claims.items():
        told = (claim or 0) & online
        if not told:
            continue
        mask = told | 1 << cpu
        if mask in seen:
            continue
        seen.add(mask)
        whole = mask
        for member in cpuset.ids(mask):
            whole |= joined.get(member, 0)
        if whole != mask or mask != told or any(joined.get(member, mask) != mask for member in cpuset.ids(mask)):
            contradicting |= whole
        for member in cpuset.ids(whole):
            joined[member] = whole
    keys: dict[int, Hashable] = {}
    guessed = 0
    for cpu in claims:
        if cpu in joined:
            keys[cpu] = joined[cpu]
        else:
            keys[cpu] = fallback(cpu)
            guessed |= 1 << cpu
    if contradicting:
        files.warn(
            f"CPUs {cpuset.format_mask(contradicting)} contradict each other about their {what}: all that one of them"
            " joins is one."
        )
    if guessed and guess is not None:
        files.warn(f"The {what} of CPUs {cpuset.format_mask(guessed)} is not told: it is taken to be {guess}.")
    return group(keys)


def _inside(files: Files, inner: tuple[int, ...], outer: tuple[int, ...], what: str, where: str) -> tuple[int, ...]:
    """`inner` cut at the borders of `outer`, as the kernel does it with cores that lie in two nodes."""
    around = {cpu: mask for mask in outer for cpu in cpuset.ids(mask)}
    found = []
    for mask in inner:
        rest = mask
        while rest:
            part = rest & around[cpuset.ids(cpuset.lowest(rest))[0]]
            found.append(part)
            rest &= ~part
        if found[-1] != mask:
            files.warn(
                f"The {what} of CPUs {cpuset.format_mask(mask)} lies in several {where}: it is taken as one in each."
            )
    return tuple(sorted(found, key=cpuset.lowest))


# --- Nodes ------------------------------------------------------------------------------------------------------


def _nodes(files: Files, online: int, known: int) -> tuple[Node, ...]:
    directories = files.numbered(NODE, "node", cpuset.MAX_NODE_ID)
    listed = files.mask(f"{NODE}/online", max_id=cpuset.MAX_NODE_ID)
    if listed:
        ids = [node for node in directories if listed >> node & 1]
        missing = listed & ~cpuset.of(directories)
        if missing:
            files.warn(f"Nodes {cpuset.format_mask(missing)} are online and have no directory: they are ignored.")
    else:
        ids = directories
    if not ids:
        files.warn(f"{NODE} is missing: all CPUs and all memory are taken as one node 0.")
        return (
            Node(
                id=0,
                cpus=online,
                memory_bytes=_meminfo(files, "proc/meminfo").get("MemTotal"),
                distances=(LOCAL_DISTANCE,),
                hugepages=_hugepages_of_directory(files, "sys/kernel/mm/hugepages")
                or _hugepages_of_meminfo(files, "proc/meminfo"),
            ),
        )
    cpus = _cpus_of_nodes(files, ids, online, known)
    memory = {node: _meminfo(files, f"{NODE}/node{node}/meminfo") for node in ids}
    pages = {node: _hugepages_of_directory(files, f"{NODE}/node{node}/hugepages") for node in ids}
    if not any(pages.values()):  # older kernels tell of the default size only
        pages = {node: _hugepages_of_meminfo(files, f"{NODE}/node{node}/meminfo") for node in ids}
    nodes = []
    for node in ids:
        total = memory[node].get("MemTotal")
        if total is None and len(ids) == 1:
            total = _meminfo(files, "proc/meminfo").get("MemTotal")
        nodes.append(
            Node(
                id=node,
                cpus=cpus[node],
                memory_bytes=total,
                distances=_distances(files, node, ids),
                hugepages=pages[node],
            )
        )
    return tuple(nodes)


def _cpus_of_nodes(files: Files, ids: list[int], online: int, known: int) -> dict[int, int]:
    claimed = {node: files.either(f"{NODE}/node{node}", "cpulist", "cpumap") for node in ids}
    cpus: dict[int, int] = {}
    seen = 0
    twice = 0
    for node, claim in claimed.items():
        if claim is None:
            claim = cpuset.of(files.numbered(f"{NODE}/node{node}", "cpu", cpuset.MAX_CPU_ID))
        unknown = claim & ~known
        if unknown:
            files.warn(f"Node {node} lists CPUs {cpuset.format_mask(unknown)}, which do not exist: they are ignored.")
        cpus[node] = claim & online
        twice |= seen & cpus[node]
        seen |= cpus[node]
    if twice:
        files.warn(
            f"Several nodes claim CPUs {cpuset.format_mask(twice)}: each is taken to be in the node that its cpuN/nodeM"
            " link names, or else in the first."
        )
        for cpu in cpuset.ids(twice):
            claimants = [node for node in ids if cpus[node] >> cpu & 1]
            linked = [
                node for node in files.numbered(f"{CPU}/cpu{cpu}", "node", cpuset.MAX_NODE_ID) if node in claimants
            ]
            for node in claimants:
                if node != (linked or claimants)[0]:
                    cpus[node] &= ~(1 << cpu)
    nowhere = online & ~seen
    if nowhere:
        files.warn(f"No online node has CPUs {cpuset.format_mask(nowhere)}: they are taken to be in node {ids[0]}.")
        cpus[ids[0]] |= nowhere
    return cpus


def _distances(files: Files, node: int, ids: list[int]) -> tuple[int, ...]:
    """The row of one node, in the order of `ids`.

    The kernel prints a column for each online node, sorted by id; some have printed one for each possible node.
    """
    default = tuple(LOCAL_DISTANCE if other == node else DEFAULT_DISTANCE for other in ids)
    text = files.text(f"{NODE}/node{node}/distance")
    if text is None:
        if len(ids) > 1:
            files.warn("Distances between nodes are not told: 10 inside a node and 20 between nodes are taken.")
        return default
    words = text.split()
    row = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 10]
    if row and len(row) == len(words):
        if len(row) == len(ids):
            return tuple(row)
        for name in ("online", "possible"):
            columns = cpuset.ids(files.mask(f"{NODE}/{name}", max_id=cpuset.MAX_NODE_ID) or 0)
            if len(columns) == len(row) and set(ids) <= set(columns):
                return tuple(row[columns.index(other)] for other in ids)
    files.warn(f"The distances of node {node} are {' '.join(words)[:60]!r} for {len(ids)} nodes: 10 and 20 are taken.")
    return default


# --- Memory -----------------------------------------------------------------------------------------------------

_MEMINFO = re.compile(
    r"^(?:Node\s+[0-9]+\s+)?(MemTotal|HugePages_Total|HugePages_Free|Hugepagesize):\s*([0-9]{1,18})", re.MULTILINE
)


def _meminfo(files: Files, path: str) -> dict[str, int]:
    """The lines of a meminfo file that matter: sizes in bytes, numbers of pages as they are."""
    return {
        name: int(number) * (1024 if name in ("MemTotal", "Hugepagesize") else 1)
        for name, number in _MEMINFO.findall(files.text(path) or "")
    }


def _hugepages_of_directory(files: Files, directory: str) -> tuple[tuple[int, int, int], ...]:
    found = []
    for name in files.names(directory):
        size = re.fullmatch(r"hugepages-([0-9]{1,12})kB", name)
        total = files.number(f"{directory}/{name}/nr_hugepages") if size else None
        if size and total is not None:
            found.append((int(size[1]), total, files.number(f"{directory}/{name}/free_hugepages") or 0))
    return tuple(sorted(found))


def _hugepages_of_meminfo(files: Files, path: str) -> tuple[tuple[int, int, int], ...]:
    """Pages of the default size, which only /proc/meminfo tells, from a meminfo file."""
    counts = _meminfo(files, path)
    size = _meminfo(files, "proc/meminfo").get("Hugepagesize")
    if size is None or "HugePages_Total" not in counts:
        return ()
    return ((size // 1024, counts["HugePages_Total"], counts.get("HugePages_Free", 0)),)
