"""cpufreq directories as files: what the kernel would have there for CPUs that each have a policy of their own."""

from __future__ import annotations

from pathlib import Path

from provider import cpuset

__all__ = ["FOUND", "directory", "read", "write_cpufreq"]

FOUND = {
    "scaling_governor": "schedutil",
    "scaling_min_freq": "800000",
    "scaling_max_freq": "3600000",
    "energy_performance_preference": "balance_performance",
}
"""What each CPU has at first."""

OFFERED = {
    "scaling_available_governors": "conservative schedutil performance powersave ",
    "energy_performance_available_preferences": "default performance balance_performance balance_power power ",
    "cpuinfo_min_freq": "800000",
    "cpuinfo_max_freq": "3600000",
}


def directory(root: Path, cpu: int) -> Path:
    return root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"


def write_cpufreq(root: Path, cpus: int, policies: dict[int, str] | None = None, **changes: str) -> Path:
    """`policies`: CPU -> list of the CPUs that its policy covers, where that is not itself alone."""
    for cpu in cpuset.ids(cpus):
        place = directory(root, cpu)
        place.mkdir(parents=True, exist_ok=True)
        covered = " ".join(map(str, cpuset.ids(cpuset.parse((policies or {}).get(cpu, str(cpu))))))
        for file, text in {**FOUND, **OFFERED, "affected_cpus": covered, **changes}.items():
            (place / file).write_text(text + "\n")
    return root


def read(root: Path, cpu: int) -> dict[str, str]:
    return {file: (directory(root, cpu) / file).read_text().strip() for file in FOUND}
