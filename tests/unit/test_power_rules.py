"""What `power` means on a CPU: texts, clipping, and what a host cannot do."""

from __future__ import annotations

import pytest

from profiles.mapping import Power
from provider.power_rules import (
    EPP,
    GOVERNOR,
    MAX_KHZ,
    MIN_KHZ,
    Policy,
    UnmetError,
    capable,
    clipped,
    crossing,
    same,
    settings,
    unmet,
)

ALL = frozenset({GOVERNOR, MIN_KHZ, MAX_KHZ, EPP})
FULL = Policy(1, ("schedutil", "performance"), 800_000, 3_600_000, ("performance", "power"), ALL)
PLAIN = Policy(2)


@pytest.mark.parametrize(
    ("power", "texts"),
    [
        (Power("performance"), {GOVERNOR: "performance"}),
        (Power(min_mhz=2000, max_mhz=3000), {MIN_KHZ: "2000000", MAX_KHZ: "3000000"}),
        (Power(min_mhz=100, max_mhz=9000), {MIN_KHZ: "800000", MAX_KHZ: "3600000"}),
        (Power(max_mhz=100), {MAX_KHZ: "800000"}),
        (Power(energy_performance_preference="power"), {EPP: "power"}),
        (Power(energy_performance_preference="77"), {EPP: "77"}),
    ],
)
def test_the_text_of_each_file(power: Power, texts: dict[str, str]) -> None:
    assert settings(FULL, power) == texts


@pytest.mark.parametrize(
    ("power", "texts"),
    [
        (Power(min_mhz=2000, max_mhz=3000), ("2400000", "2400000")),
        (Power(min_mhz=1300, max_mhz=3600), ("1300000", "3600000")),
        (Power(min_mhz=1301), ("2400000", None)),
        (Power(max_mhz=2399), (None, "1300000")),
        (Power(min_mhz=100, max_mhz=9000), ("1300000", "3600000")),
        # Nothing lies between: the kernel takes the upper limit for both.
        (Power(min_mhz=2500, max_mhz=3500), ("2400000", "2400000")),
    ],
)
def test_a_kernel_with_a_table_takes_only_what_is_in_it(power: Power, texts: tuple[str | None, str | None]) -> None:
    """It makes of any other value the next one in the table, below an upper limit and above a lower one."""
    policy = Policy(1, min_khz=1_300_000, max_khz=3_600_000, steps=(3_900_000, 3_600_000, 2_400_000, 1_300_000))
    found = settings(policy, power)
    assert (found.get(MIN_KHZ), found.get(MAX_KHZ)) == texts


@pytest.mark.parametrize(
    ("policy", "power", "words"),
    [
        (None, Power("performance"), "it has no cpufreq"),
        (FULL, Power("ondemand"), "power.governor: 'ondemand' is none of schedutil, performance"),
        (PLAIN, Power(energy_performance_preference="power"), "its driver has none"),
        (FULL, Power(energy_performance_preference="default"), "'default' is none of performance, power"),
        (Policy(1, files=frozenset({GOVERNOR})), Power(max_mhz=1000), "has no scaling_max_freq"),
    ],
)
def test_what_a_cpu_cannot_be_given(policy: Policy | None, power: Power, words: str) -> None:
    with pytest.raises(UnmetError, match=words):
        settings(policy, power)
    there = {0: policy} if policy else {}
    assert words in unmet(there, power, 1)
    assert capable(there, power, 1) == 0


def test_some_cpus_can() -> None:
    policies = {0: FULL, 1: PLAIN}
    assert capable(policies, Power("performance"), 0b111) == 0b11
    assert capable(policies, Power(energy_performance_preference="power"), 0b111) == 0b1
    assert unmet(policies, Power("performance"), 0b111) == ""
    assert unmet(policies, Power("performance"), 0b100) == "CPU 2: it has no cpufreq"
    assert unmet(policies, Power("performance"), 0) == "no CPU is there"


def test_what_is_clipped_is_told() -> None:
    policies = {0: FULL, 1: FULL, 2: PLAIN}
    assert clipped(policies, Power(min_mhz=800, max_mhz=3600), 0b111) == ""
    assert clipped(policies, Power(min_mhz=100, max_mhz=4000), 0b111) == (
        "power.min_mhz 100 is outside the hardware's range: 800 on CPUs 0-1; "
        "power.max_mhz 4000 is outside the hardware's range: 3600 on CPUs 0-1"
    )
    policies = {0: Policy(1, min_khz=800_000, max_khz=2_016_000, steps=(800_000, 1_992_000, 2_016_000)), 1: FULL}
    assert clipped(policies, Power(min_mhz=2000, max_mhz=2016), 0b11) == (
        "power.min_mhz 2000 is none of the hardware's frequencies: 2016 on CPUs 0"
    )


def test_a_policy_of_others_too() -> None:
    policies = {0: Policy(0b11), 1: Policy(0b11), 2: Policy(0b100)}
    assert crossing(policies, 0b11, 0b11) == crossing(policies, 0b1, 0b11) == crossing(policies, 0b100, 0b100) == ""
    assert "policy of CPU 0 covers CPUs 1 too" in crossing(policies, 0b101, 0b101)


@pytest.mark.parametrize(
    ("file", "wrote", "read", "equal"),
    [
        (GOVERNOR, "performance", "performance", True),
        (GOVERNOR, "performance", "powersave", False),
        (MIN_KHZ, "800000", "800001", False),
        (EPP, "128", "balance_performance", True),
        (EPP, "balance_power", "192", True),
        (EPP, "77", "78", False),
    ],
)
def test_what_counts_as_the_same(file: str, wrote: str, read: str, equal: bool) -> None:
    assert same(file, wrote, read) is equal
