"""Kinds of core on hybrid hosts: which CPUs are performance cores and which are efficiency cores.

Decides from what kernels tell, the surest first; each step is used only where the one before says nothing:

1. x86: the PMUs `cpu_core`, `cpu_atom` and `cpu_lowpower`, each with the CPUs it counts for;
2. ARM: the core's model (`midr_el1`, or implementer and part of /proc/cpuinfo), ranked by the largest
   `cpu_capacity`, then maximum frequency, of each model. Capacity alone would not do: boards give one model
   several capacities;
3. `cpu_capacity` alone (RISC-V), parted where one is more than a quarter above the next lower;
4. x86 without PMUs: cores with several threads and cores with one, where each of the former is clocked higher
   (`cpuinfo_max_freq`) than all of the latter. One sign alone would be an offline sibling or a favoured core.

It never stops: a host that shows none of these has one kind.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from provider import cpuset
from provider.sysfs_files import Files
from provider.topology import Kind, kind_names

__all__ = ["kinds"]

_CPU = "sys/devices/system/cpu"
_PMUS = ("cpu_core", "cpu_atom", "cpu_lowpower")


def kinds(files: Files, online: int, cores: tuple[int, ...]) -> tuple[Kind, ...]:
    """The kinds, most capable first; empty where there is one."""
    masks = (
        _by_pmu(files, online) or _by_model(files, online) or _by_capacity(files, online) or _by_threads(files, cores)
    )
    if len(masks) < 2:
        return ()
    return tuple(Kind(name, mask) for name, mask in zip(kind_names(len(masks)), masks, strict=True))


def _by_pmu(files: Files, online: int) -> list[int]:
    masks = [(files.mask(f"sys/devices/{name}/cpus") or 0) & online for name in _PMUS]
    masks = [mask for mask in masks if mask]
    total = 0
    for mask in masks:
        if mask & total:
            files.warn("The PMUs of performance and efficiency cores claim the same CPUs: they are ignored.")
            return []
        total |= mask
    if len(masks) > 1 and total != online:
        rest = cpuset.format_mask(online & ~total)
        files.warn(f"CPUs {rest} are in no PMU of a core kind: they are taken as the least capable kind.")
        masks[-1] |= online & ~total
    return masks


def _by_model(files: Files, online: int) -> list[int]:
    members = cpuset.ids(online)
    first = files.text(f"{_CPU}/cpu{members[0]}/regs/identification/midr_el1")
    models: dict[int, Hashable]
    if first is not None:
        models = {cpu: files.hexadecimal(f"{_CPU}/cpu{cpu}/regs/identification/midr_el1") for cpu in members}
        # Revision and variant may differ between equal cores; implementer, architecture and part may not.
        models = {cpu: model & 0xFF0FFFF0 if isinstance(model, int) else None for cpu, model in models.items()}
    else:
        models = _parts(files, members)
    found: dict[Hashable, int] = {}
    for cpu in members:
        model = models.get(cpu)
        if model is None:
            return []
        found[model] = found.get(model, 0) | 1 << cpu
    if len(found) < 2:
        return []

    def rank(mask: int) -> tuple[int, int, int]:
        ids = cpuset.ids(mask)
        capacity = max(files.number(f"{_CPU}/cpu{cpu}/cpu_capacity") or 0 for cpu in ids)
        return -capacity, -max(_frequency(files, cpu) for cpu in ids), cpuset.lowest(mask)

    return sorted(found.values(), key=rank)


def _parts(files: Files, members: list[int]) -> dict[int, Hashable]:
    """(implementer, part) of each processor that /proc/cpuinfo tells them of."""
    text = files.text("proc/cpuinfo") or ""
    if "CPU part" not in text:
        return {}
    found: dict[int, Hashable] = {}
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(processor|CPU implementer|CPU part)\s*:\s*(\S+)$", block, re.MULTILINE))
        number = fields.get("processor", "")
        if number.isdigit() and "CPU part" in fields and int(number) in members:
            found[int(number)] = (fields.get("CPU implementer"), fields["CPU part"])
    return found


def _by_capacity(files: Files, online: int) -> list[int]:
    members = cpuset.ids(online)
    capacity: dict[int, int] = {}
    for cpu in members:
        number = files.number(f"{_CPU}/cpu{cpu}/cpu_capacity")
        if number is None:
            return []
        capacity[cpu] = number
    masks: list[int] = []
    above: int | None = None
    for cpu in sorted(members, key=lambda cpu: (-capacity[cpu], cpu)):
        if above is None or above * 4 > capacity[cpu] * 5:
            masks.append(0)
        masks[-1] |= 1 << cpu
        above = capacity[cpu]
    return masks if len(masks) > 1 else []


def _by_threads(files: Files, cores: tuple[int, ...]) -> list[int]:
    wide = [core for core in cores if core.bit_count() > 1]
    narrow = [core for core in cores if core.bit_count() == 1]
    if not wide or not narrow:
        return []
    slowest = min(_frequency(files, cpuset.ids(core)[0]) for core in wide)
    fastest = max(_frequency(files, cpuset.ids(core)[0]) for core in narrow)
    if not fastest or slowest <= fastest:
        return []
    files.warn(
        "No PMU tells performance and efficiency cores apart: cores with several threads and a higher maximum"
        " frequency are taken as performance cores."
    )
    return [sum(wide), sum(narrow)]


def _frequency(files: Files, cpu: int) -> int:
    return files.number(f"{_CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq") or 0
