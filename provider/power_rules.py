"""Which cpufreq settings a profile's `power` means on a CPU, and whether this host can give them.

Decides the text for each file of a cpufreq directory, what is clipped to the hardware's range, and which CPUs a set can
have these settings on. It reads and writes nothing (`provider.power` does), and never chooses CPUs.

A cpufreq policy may cover several CPUs, and a setting holds for all of them: a set gets one only where all of the
policy's CPUs are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from profiles.mapping import Power
from provider import cpuset

__all__ = [
    "EPP",
    "GOVERNOR",
    "MAX_KHZ",
    "MIN_KHZ",
    "Found",
    "Policy",
    "Settings",
    "UnmetError",
    "capable",
    "clipped",
    "crossing",
    "same",
    "settings",
    "unmet",
]

GOVERNOR = "scaling_governor"
MIN_KHZ = "scaling_min_freq"
MAX_KHZ = "scaling_max_freq"
EPP = "energy_performance_preference"

_EPP_NUMBERS = {"performance": "0", "balance_performance": "128", "balance_power": "192", "power": "255"}


Settings = Mapping[str, str]
"""File -> text."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a CPU had before it was changed first, and in which boot that was."""

    settings: Settings
    boot: str


@dataclass(frozen=True, slots=True)
class Policy:
    """What the cpufreq directory of a CPU offers; None or empty for what is not there."""

    cpus: int
    """All online CPUs that its settings hold for."""
    governors: tuple[str, ...] = ()
    min_khz: int | None = None
    """The hardware's range."""
    max_khz: int | None = None
    preferences: tuple[str, ...] | None = None
    """None: there is no energy_performance_preference."""
    files: frozenset[str] = frozenset({GOVERNOR, MIN_KHZ, MAX_KHZ})
    """The settings that there are."""
    steps: tuple[int, ...] = ()
    """The frequencies in kHz that the driver has; empty: any within the range."""


class UnmetError(Exception):
    """A CPU cannot be given what is asked for; the message names the value and what there is."""


def settings(policy: Policy | None, power: Power) -> dict[str, str]:
    """The text for each file. Raises UnmetError."""
    if policy is None:
        raise UnmetError("it has no cpufreq")
    wanted: dict[str, str] = {}
    if power.governor is not None:
        if policy.governors and power.governor not in policy.governors:
            raise UnmetError(f"power.governor: {power.governor!r} is none of {', '.join(policy.governors)}")
        wanted[GOVERNOR] = power.governor
    for file, khz in _limits(policy, power).items():
        wanted[file] = str(khz)
    preference = power.energy_performance_preference
    if preference is not None:
        if policy.preferences is None:
            raise UnmetError("power.energy_performance_preference: its driver has none")
        if policy.preferences and preference not in policy.preferences and not preference.isdigit():
            raise UnmetError(
                f"power.energy_performance_preference: {preference!r} is none of {', '.join(policy.preferences)}"
            )
        wanted[EPP] = preference
    missing = sorted(file for file in wanted if file not in policy.files)
    if missing:
        raise UnmetError(f"its cpufreq has no {', '.join(missing)}")
    return wanted


def _limits(policy: Policy, power: Power) -> dict[str, int]:
    """The limits in kHz as the kernel would have them: in the hardware's range, and of its steps the next one below an
    upper limit and above a lower one."""
    limits: dict[str, int] = {}
    if power.max_mhz is not None:
        khz = _within(policy, 1000 * power.max_mhz)
        limits[MAX_KHZ] = max((step for step in _steps(policy) if step <= khz), default=khz)
    if power.min_mhz is not None:
        khz = _within(policy, 1000 * power.min_mhz)
        least = min((step for step in _steps(policy) if step >= khz), default=khz)
        limits[MIN_KHZ] = min(least, limits.get(MAX_KHZ, least))
    return limits


def _within(policy: Policy, khz: int) -> int:
    if policy.min_khz is not None:
        khz = max(khz, policy.min_khz)
    if policy.max_khz is not None:
        khz = min(khz, policy.max_khz)
    return khz


def _steps(policy: Policy) -> list[int]:
    return [step for step in policy.steps if _within(policy, step) == step]


def clipped(policies: Mapping[int, Policy], power: Power, cpus: int) -> str:
    """What the hardware's range and steps make of the frequencies on these CPUs; "" where nothing is changed."""
    found: list[str] = []
    for name, file, mhz in (("min_mhz", MIN_KHZ, power.min_mhz), ("max_mhz", MAX_KHZ, power.max_mhz)):
        if mhz is None:
            continue
        got: dict[tuple[int, bool], int] = {}
        for cpu in cpuset.ids(cpus):
            if cpu in policies and (khz := _limits(policies[cpu], power)[file]) != 1000 * mhz:
                key = khz, _within(policies[cpu], 1000 * mhz) != 1000 * mhz
                got[key] = got.get(key, 0) | 1 << cpu
        for (khz, outside), mask in sorted(got.items()):
            why = "outside the hardware's range" if outside else "none of the hardware's frequencies"
            found.append(f"power.{name} {mhz} is {why}: {khz / 1000:g} on CPUs {cpuset.format_mask(mask)}")
    return "; ".join(found)


def capable(policies: Mapping[int, Policy], power: Power, cpus: int) -> int:
    """Those of the CPUs that can be given it."""
    mask = 0
    for cpu in cpuset.ids(cpus):
        try:
            settings(policies.get(cpu), power)
        except UnmetError:
            continue
        mask |= 1 << cpu
    return mask


def unmet(policies: Mapping[int, Policy], power: Power, cpus: int) -> str:
    """Why none of the CPUs can be given it; "" where one can."""
    reason = ""
    for cpu in cpuset.ids(cpus):
        try:
            settings(policies.get(cpu), power)
        except UnmetError as error:
            reason = reason or f"CPU {cpu}: {error}"
        else:
            return ""
    return reason or "no CPU is there"


def crossing(policies: Mapping[int, Policy], cpus: int, own: int) -> str:
    """Which settings of these CPUs would hold for CPUs that are not the set's own; "" where none would."""
    for cpu in cpuset.ids(cpus):
        others = policies[cpu].cpus & ~own if cpu in policies else 0
        if others:
            covered = cpuset.format_mask(others)
            return f"the cpufreq policy of CPU {cpu} covers CPUs {covered} too, which are not the set's"
    return ""


def same(file: str, wrote: str, read: str) -> bool:
    """Whether what the kernel has is what was written; it tells some preferences by name, others by number."""
    if file == EPP:
        return _EPP_NUMBERS.get(wrote, wrote) == _EPP_NUMBERS.get(read, read)
    return wrote == read
