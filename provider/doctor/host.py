"""The CPUs, caches and memory of a host: what can be offered, and what slows a set down.

Decides what of it is worth saying. Never chooses CPUs: the layout is `provider.layout`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from provider import allocator, cpuset
from provider.cpuset import format_mask
from provider.doctor.values import BAD, OK, WARN, Facts, Finding
from provider.layout import Layout

__all__ = ["describing"]


def describing(facts: Facts, layout: Layout | None) -> Iterator[Finding]:
    """All that is to be said of the host itself. `layout` None: the configuration does not fit it."""
    if layout is not None:
        yield from _free(facts, layout)
        for warning in layout.warnings:
            yield Finding("config", WARN, f"{warning}.")
    yield from _smt(facts)
    yield from _offline(facts)
    yield from _isolated(facts, layout)
    for check in (_kinds, _nodes, _frequency, _balancing, _pages, _guesses):
        yield from check(facts)


def _free(facts: Facts, layout: Layout) -> Iterator[Finding]:
    taken = 0
    for cpus in facts.cgroups.sets.values():
        taken |= cpus
    offerable = layout.offerable
    free = offerable & ~taken
    words = f"{offerable.bit_count()} of {facts.host.online.bit_count()} CPUs can be offered"
    words += f", the floor is {format_mask(layout.floor)}"
    if layout.reserved:
        words += f", reserved are {format_mask(layout.reserved)}"
    if taken:
        words += f", {len(facts.cgroups.sets)} exclusive sets hold {format_mask(taken)}"
    whole = allocator.free_whole_cores(facts.host, free).bit_count()
    words += f"; free are {format_mask(free) or 'none'}, {whole} of them in whole cores."
    if not offerable:
        yield Finding("CPUs", BAD, words, "Pinfold needs a second core: one is always left to plain tasks.")
    elif not free:
        yield Finding("CPUs", WARN, words, "Destroy sets that no task uses: pinfold sets.")
    else:
        yield Finding("CPUs", OK, words)


def _smt(facts: Facts) -> Iterator[Finding]:
    widest = max(core.bit_count() for core in facts.host.cores)
    if widest > 1:
        yield Finding(
            "SMT", OK, f"Cores have up to {widest} threads: core_siblings says whether two sets may share a core."
        )
    elif facts.smt in ("off", "forceoff"):
        yield Finding("SMT", OK, f"SMT is switched off ({facts.smt}): each core is one CPU.")
    else:
        yield Finding("SMT", OK, "No SMT: each core is one CPU.")


def _offline(facts: Facts) -> Iterator[Finding]:
    offline = facts.host.offline
    if not offline or facts.smt in ("off", "forceoff"):  # then they are the siblings that were switched off
        return
    yield Finding(
        "offline",
        WARN,
        f"CPUs {format_mask(offline)} are offline: they are not offered, and sets that hold them are degraded.",
        "echo 1 > /sys/devices/system/cpu/cpuN/online, unless it is meant so.",
    )


def _isolated(facts: Facts, layout: Layout | None) -> Iterator[Finding]:
    isolated, full = facts.host.isolated & facts.host.online, facts.host.nohz_full & facts.host.online
    withheld = isolated & (layout.withheld if layout else isolated)
    if withheld:
        yield Finding(
            "isolcpus",
            WARN,
            f"CPUs {format_mask(withheld)} are isolated (isolcpus=) and in no pool: they are not offered. The kernel"
            " spreads no load among them.",
            f'Name them in a pool of the configuration: {{"name": "isolated", "cpus": "{format_mask(withheld)}"}}.',
        )
    elif isolated:
        yield Finding(
            "isolcpus",
            OK,
            f"CPUs {format_mask(isolated)} are isolated (isolcpus=) and named by the configuration; the kernel spreads"
            " no load among them: a task with several threads has to place these itself.",
        )
    if full:
        level = OK if not full & ~isolated else WARN
        yield Finding(
            "nohz_full",
            level,
            f"CPUs {format_mask(full)} have no tick while one thread runs on them (nohz_full=)"
            + ("." if level == OK else ", and not all of them are isolated: several threads on one bring it back."),
            "" if level == OK else "Give sets on them one thread for each CPU.",
        )


def _kinds(facts: Facts) -> Iterator[Finding]:
    if facts.host.kinds:
        kinds = ", ".join(f"{kind.name} {format_mask(kind.cpus)}" for kind in facts.host.kinds)
        yield Finding("kinds", OK, f"There are cores of {len(facts.host.kinds)} kinds: {kinds} (core_kind chooses).")


def _frequency(facts: Facts) -> Iterator[Finding]:
    if not facts.governors:
        yield Finding("frequency", OK, "No cpufreq: the CPUs' speed is not ours to set (a VM, or the firmware's).")
        return
    slow = {name: cpus for name, cpus in facts.governors.items() if name != "performance"}
    if not slow:
        yield Finding("frequency", OK, "All CPUs have the governor performance.")
        return
    have = ", ".join(f"{format_mask(cpus)} have {name}" for name, cpus in sorted(slow.items()))
    yield Finding(
        "frequency",
        WARN,
        f"CPUs {have}: they speed up only some time after work comes.",
        "Profiles with power.governor set it for their sets; cpupower frequency-set -g performance for the host.",
    )


def _nodes(facts: Facts) -> Iterator[Finding]:
    host = facts.host
    bare = cpuset.of(node.id for node in host.nodes if node.cpus and not node.has_memory)
    if bare:
        yield Finding(
            "nodes",
            WARN,
            f"Nodes {format_mask(bare)} have CPUs and no memory: sets there take memory from the nearest node,"
            " and memory bind required is refused.",
            "Put memory into each socket or channel, or reserve these CPUs.",
        )
    far = cpuset.of(node.id for node in host.nodes if not node.cpus)
    if far:
        yield Finding(
            "nodes", OK, f"Nodes {format_mask(far)} have no CPUs: they are no zones, and sets are not bound to them."
        )
    if len(host.nodes) > 1:
        yield Finding("nodes", OK, f"{len(host.nodes)} memory nodes: memory.policy bind keeps a set's memory near.")
    else:
        yield Finding("nodes", OK, "One memory node: all memory is near.")


def _balancing(facts: Facts) -> Iterator[Finding]:
    if len(facts.host.nodes) > 1 and facts.numa_balancing:
        yield Finding(
            "NUMA balancing",
            WARN,
            "The kernel moves pages between nodes (kernel.numa_balancing), which stops tasks for moments; memory that"
            " is bound stays on its nodes.",
            "sysctl kernel.numa_balancing=0, where all that matters runs in bound sets.",
        )
    elif facts.numa_balancing is not None:
        yield Finding("NUMA balancing", OK, "The kernel moves no pages between nodes.")


def _pages(facts: Facts) -> Iterator[Finding]:
    if facts.thp == "always":
        yield Finding(
            "huge pages",
            WARN,
            "Transparent huge pages are made for every process: a page fault may wait until memory was put together.",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled.",
        )
    elif facts.thp:
        yield Finding("huge pages", OK, f"Transparent huge pages: {facts.thp}.")


def _guesses(facts: Facts) -> Iterator[Finding]:
    for warning in facts.host.warnings:
        yield Finding("topology", WARN, warning, "pinfold topology shows what was taken instead.")
