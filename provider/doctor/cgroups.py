"""How CPU sets would be put in force here, and who else is on their CPUs.

Decides what of it is worth saying. Never reads or changes a cgroup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from provider import cpuset
from provider.cpuset import format_mask
from provider.doctor.values import BAD, OK, WARN, Facts, Finding

__all__ = ["enforcing", "has_partitions"]

PARTITIONS_SINCE = (6, 7)
"""The first kernel with cpuset.cpus.exclusive: a partition below a parent that is none (docs/kernel-answers.md)."""
UNIT = "pinfold-sets.service"


def enforcing(facts: Facts) -> Iterator[Finding]:
    """All that is to be said of cgroups."""
    for check in (_enforcement, _directory, _controllers, _bound, _limits, _others, _partitions):
        yield from check(facts)


def _enforcement(facts: Facts) -> Iterator[Finding]:
    cgroups = facts.cgroups
    below = f"{cgroups.root.rstrip('/')}/{cgroups.name}"
    match cgroups.kind:
        case "cgroup2":
            yield Finding("enforcement", OK, f"CPU sets would be in force as cgroup v2, below {below}.")
        case "cgroup1":
            yield Finding(
                "enforcement",
                WARN,
                f"CPU sets would be in force as cgroup v1, below {below}: there are no partitions, and a CPU that was"
                " offline is missing from every set until Pinfold has put it back.",
                "Boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1, or cgroup_no_v1=all).",
            )
        case _ if cgroups.asked == "none":
            yield Finding(
                "enforcement",
                WARN,
                "CPU sets would be scheduling affinity only, as asked: nothing keeps other processes off their CPUs.",
                "Leave --cgroup-root away.",
            )
        case _:
            yield Finding(
                "enforcement",
                BAD,
                f"CPU sets would be scheduling affinity only ({cgroups.reason}): nothing keeps other processes off"
                " their CPUs.",
                f"Run the agent as root or with a delegated cgroup (packaging/systemd/{UNIT}).",
            )


def _directory(facts: Facts) -> Iterator[Finding]:
    cgroups = facts.cgroups
    if cgroups.kind != "cgroup2":
        return
    if cgroups.crowd:
        pids = ", ".join(map(str, cgroups.crowd[:10]))
        yield Finding(
            "directory",
            BAD,
            f"Processes sit in {cgroups.root} itself ({pids}): the kernel gives its directories no controllers then.",
            f"Give Pinfold a directory without processes: --cgroup-root with that of {UNIT}.",
        )
    elif cgroups.delegated:
        yield Finding("directory", OK, f"{cgroups.root} was delegated by systemd.")
    elif facts.systemd and cgroups.top:
        yield Finding(
            "directory",
            WARN,
            f"Sets would be made at the top of {cgroups.root}, which systemd regards as its own.",
            f"Use the units of packaging/systemd: {UNIT} holds a delegated directory, --cgroup-root names it.",
        )


def _controllers(facts: Facts) -> Iterator[Finding]:
    cgroups = facts.cgroups
    if cgroups.kind == "affinity":
        return
    how = (
        f"Delegate=cpuset cpu memory in {UNIT}, or +{{}} in cgroup.subtree_control above it."
        if cgroups.kind == "cgroup2"
        else "Mount the v1 controller {} and let the agent write there."
    )
    effects = {
        "cpuset": "no set can be made",
        "cpu": "shared sets have neither guarantee nor burst",
        "memory": "the mem of a task is not limited",
    }
    missing = [name for name in effects if name not in cgroups.controllers]
    for name in missing:
        level = BAD if name == "cpuset" else WARN
        sentence = f"There is no {name} controller in {cgroups.root}: {effects[name]}."
        yield Finding("controllers", level, sentence, how.format(name))
    if not missing:
        yield Finding("controllers", OK, "The controllers cpuset, cpu and memory are there.")


def _bound(facts: Facts) -> Iterator[Finding]:
    if facts.cgroups.bound:
        yield Finding(
            "time limit",
            BAD,
            f"All sets together are under a time limit ({facts.cgroups.bound}): tasks in exclusive sets are throttled.",
            "Take the limit away (CPUQuota= of the unit or slice, the container's --cpus).",
        )


def _limits(facts: Facts) -> Iterator[Finding]:
    host, cgroups = facts.host, facts.cgroups
    where = f"the cpuset of {cgroups.root}" if cgroups.root else "the cpuset that we are in"
    if cgroups.cpus is not None and host.online & ~cgroups.cpus:
        yield Finding(
            "limits",
            WARN if host.online & cgroups.cpus else BAD,
            f"Of the CPUs {format_mask(host.online)} only {format_mask(cgroups.cpus & host.online) or 'none'} may be"
            f" used: {where} ends there (a container, AllowedCPUs=, or somebody's partition).",
            "Widen it (AllowedCPUs= of the unit and the slices above, the container's cpuset), unless it is meant so.",
        )
    nodes = cpuset.of(node.id for node in host.nodes if node.has_memory)
    if cgroups.mems is not None and nodes & ~cgroups.mems:
        yield Finding(
            "limits",
            WARN,
            f"Of the memory nodes {format_mask(nodes)} only {format_mask(cgroups.mems & nodes) or 'none'} may be used:"
            f" {where} ends there.",
            "Widen it (AllowedMemoryNodes= of the unit and the slices above), unless it is meant so.",
        )


def _others(facts: Facts) -> Iterator[Finding]:
    """Processes that are neither tasks nor ours: only their own cpusets keep them off the sets."""
    cgroups = facts.cgroups
    if cgroups.kind == "affinity":
        return
    usable = facts.host.online if cgroups.cpus is None else facts.host.online & cgroups.cpus
    wide = sorted(path for path, cpus in cgroups.others.items() if cpus & usable)
    if not wide:
        yield Finding("others", OK, "No other group of processes may run on our CPUs.")
        return
    named = ", ".join(wide[:5]) + (f" and {len(wide) - 5} more" if len(wide) > 5 else "")
    keep_off = "Keep them off with AllowedCPUs= in their slices" if facts.systemd else "Give them cpusets of their own"
    partition = "; or use partition root or isolated in the profiles"
    yield Finding(
        "others",
        WARN,
        f"Processes in {named} may run on all CPUs of ours, those of exclusive sets among them.",
        f"{keep_off}{partition if has_partitions(facts) else ''}.",
    )


def has_partitions(facts: Facts) -> bool:
    """Whether a set can be a partition here."""
    return facts.cgroups.kind == "cgroup2" and _version(facts.kernel) >= PARTITIONS_SINCE


def _version(release: str) -> tuple[int, int]:
    """(6, 12) of "6.12.117+deb12-cloud-amd64"; (0, 0) where it is unknown."""
    found = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _partitions(facts: Facts) -> Iterator[Finding]:
    for path, cpus in sorted(facts.cgroups.partitions.items()):
        yield Finding(
            "partitions",
            WARN,
            f"{path} is a partition of somebody else's: CPUs {format_mask(cpus)} are not ours to use.",
            "Name them in reserved_cpus, or end that partition.",
        )
    kernel = f"Linux {facts.kernel}" if facts.kernel else "The kernel"
    since = ".".join(map(str, PARTITIONS_SINCE))
    if has_partitions(facts):
        yield Finding("partitions", OK, f"{kernel} makes partitions below our directory (partition root, isolated).")
    elif facts.cgroups.kind == "cgroup2":
        yield Finding(
            "partitions",
            WARN,
            f"{kernel} is older than {since}: sets that ask for partition root or isolated are made as member, and"
            " say so.",
            f"Linux {since} or later, where profiles ask for partitions.",
        )
