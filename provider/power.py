"""cpufreq settings of exclusive sets: what was found is stored first, and put back when a set goes.

Decides the order of effects: (1) what a CPU has now is stored durably, (2) it is changed and read back, and (3) once a
CPU is in no set with `power` any more, what was stored is written back, and only then forgotten, in the transaction
that commits the set's end. So a process that dies at any point leaves what the next start needs to put it right. Which
text goes where is decided in `provider.power_rules`; it stores nothing itself (`save` does).

Only what a profile names is written; with it a driver may change other settings, so all of a CPU's are kept.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provider import cpuset
from provider.errors import EnforcementError, ProviderError
from provider.power_rules import EPP, GOVERNOR, MAX_KHZ, MIN_KHZ, Found, Policy, Settings, same

__all__ = ["CpuFreq", "PowerKeeper"]

log = logging.getLogger(__name__)

CHECKED_AT_ONCE = 64
"""CPUs that one periodic look reads; with more of them the looks take turns."""

_ALL = (GOVERNOR, MAX_KHZ, MIN_KHZ, EPP)


class CpuFreq:
    """The cpufreq directories below a file-system root."""

    def __init__(self, root: Path, boot: str, checkpoint: Callable[[str], None] = lambda name: None) -> None:
        """`boot` tells one boot from another. `checkpoint` is called before each write; a test raises in it."""
        self._cpus = root / "sys/devices/system/cpu"
        self.boot = boot
        self._checkpoint = checkpoint

    def policies(self, online: int) -> dict[int, Policy]:
        """What each online CPU offers; a CPU without cpufreq is not named."""
        found: dict[int, Policy] = {}
        for cpu in cpuset.ids(online):
            place = self._cpus / f"cpu{cpu}/cpufreq"
            if not place.is_dir():
                continue
            preferences = _text(place / "energy_performance_available_preferences")
            covered = _text(place / "affected_cpus") or str(cpu)
            found[cpu] = Policy(
                cpus=cpuset.of(int(word) for word in covered.split() if word.isdigit()) | 1 << cpu,
                governors=tuple((_text(place / "scaling_available_governors") or "").split()),
                min_khz=_number(place / "cpuinfo_min_freq"),
                max_khz=_number(place / "cpuinfo_max_freq"),
                steps=_numbers(place / "scaling_available_frequencies") + _numbers(place / "scaling_boost_frequencies"),
                preferences=tuple((preferences or "").split()) if (place / EPP).exists() else None,
                files=frozenset(file for file in _ALL if (place / file).exists()),
            )
        return found

    def there(self, cpu: int) -> bool:
        """Whether the CPU has a directory now; one that is offline has none."""
        return (self._cpus / f"cpu{cpu}/cpufreq").is_dir()

    def read(self, cpu: int) -> dict[str, str]:
        """The settings as they are; what cannot be read is left out."""
        place = self._cpus / f"cpu{cpu}/cpufreq"
        return {file: text for file in _ALL if (text := _text(place / file)) is not None}

    def write(self, cpu: int, wanted: Settings) -> None:
        """Write what differs, in an order in which the lower limit is never above the upper one, and read it back.

        Raises EnforcementError with the file, what was written and what is there.
        """
        now = self.read(cpu)
        order = [GOVERNOR, MAX_KHZ, MIN_KHZ, EPP]
        highest, lowest = wanted.get(MAX_KHZ, ""), now.get(MIN_KHZ, "")
        if highest.isdigit() and lowest.isdigit() and int(highest) < int(lowest):
            order = [GOVERNOR, MIN_KHZ, MAX_KHZ, EPP]
        for file in order:
            if file not in wanted or same(file, wanted[file], self.read(cpu).get(file, "")):
                continue
            path = self._cpus / f"cpu{cpu}/cpufreq/{file}"
            self._checkpoint(f"power: {file}")
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
                try:
                    os.write(descriptor, wanted[file].encode())
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise EnforcementError(f"{path}: writing {wanted[file]!r}: {error.strerror}") from error
            got = _text(path)
            if got is None or not same(file, wanted[file], got):
                raise EnforcementError(f"{path}: wrote {wanted[file]!r}, kernel has {got!r}")


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdigit() else None


def _numbers(path: Path) -> tuple[int, ...]:
    return tuple(int(word) for word in (_text(path) or "").split() if word.isdigit())


@dataclass
class PowerKeeper:
    """The cpufreq side of one provider."""

    files: CpuFreq
    save: Callable[[Mapping[int, Found]], None]
    """Commits what was found, in a transaction of its own. Raises where it cannot."""
    found: dict[int, Found] = field(default_factory=dict)
    """By CPU: what is committed of what was there before."""
    problems: dict[int, str] = field(default_factory=dict)
    """What could not be done for a CPU, by its last try."""
    _restored: set[int] = field(default_factory=set)
    """CPUs in `found` that have again what was found, and were given nothing since."""
    _given: dict[int, frozenset[str]] = field(default_factory=dict)
    """The files that each CPU has from us."""
    _next: int = 0

    def enforce(self, wanted: Mapping[int, Settings]) -> None:
        """Bring every CPU to what is wanted, and those that are not named any more back to what they had.

        Raises EnforcementError where a CPU cannot be given what is wanted; the caller then asks for what was before.
        What cannot be put back is kept for later, and told.
        """
        self._remember(wanted)
        for cpu in self._leaving(wanted):
            self._put_back(cpu)
        for cpu, values in wanted.items():
            if self._given.get(cpu, frozenset()) - values.keys():
                # It goes from one set to another at once: what only the first one named is not the second one's.
                self._put_back(cpu)
            self._give(cpu, values)
            self.problems.pop(cpu, None)

    def settled(self, wanted: Iterable[int]) -> list[int]:
        """The CPUs that are as they were found and in no set any more: what was found of them may be forgotten."""
        named = set(wanted)
        return [cpu for cpu in self.found if cpu not in named and cpu in self._restored]

    def waiting(self, wanted: Iterable[int]) -> list[int]:
        """The CPUs that are in no set any more and could not be given back what they had: offline, or refused."""
        return sorted(self.found.keys() - set(wanted) - self._restored)

    def forget(self, cpus: Iterable[int]) -> None:
        """It was committed that nothing is kept of them any more."""
        for cpu in cpus:
            self.found.pop(cpu, None)
            self._restored.discard(cpu)

    def repair(self, wanted: Mapping[int, Settings], *, starting: bool = False) -> None:
        """As `enforce`, for what drifted: raises nothing, and looks at some CPUs only where there are many."""
        try:
            self._remember(wanted)
        except EnforcementError as error:
            log.error("power settings wait: %s", error)
            return
        for cpu in self._leaving(wanted):
            if cpu not in self._restored:
                self._put_back(cpu)
        cpus = list(wanted)
        if not starting and len(cpus) > CHECKED_AT_ONCE:
            first = self._next % len(cpus)
            self._next = first + CHECKED_AT_ONCE
            cpus = (cpus + cpus)[first : first + CHECKED_AT_ONCE]
        for cpu in cpus:
            now = self.files.read(cpu)
            drifted = [file for file, text in wanted[cpu].items() if not same(file, text, now.get(file, ""))]
            if not drifted and cpu not in self.problems:
                self._given[cpu] = frozenset(wanted[cpu])
                continue
            try:
                self._give(cpu, wanted[cpu])
            except EnforcementError as error:
                self._trouble(cpu, f"power settings are not in force: {error}")
                continue
            self.problems.pop(cpu, None)
            log.log(
                logging.INFO if starting else logging.WARNING,
                "CPU %d: %s was changed and is set again",
                cpu,
                ", ".join(drifted),
            )

    def _give(self, cpu: int, values: Settings) -> None:
        self._restored.discard(cpu)
        self._given[cpu] = frozenset(values)
        self.files.write(cpu, values)

    def _leaving(self, wanted: Mapping[int, Settings]) -> list[int]:
        return [cpu for cpu in self.found if cpu not in wanted]

    def _remember(self, wanted: Mapping[int, Settings]) -> None:
        """Store what is there before anything is changed. After a boot it is what that boot came up with."""
        new: dict[int, Found] = {}
        for cpu in wanted:
            known = self.found.get(cpu)
            if known is None or known.boot != self.files.boot:
                new[cpu] = Found(self.files.read(cpu), self.files.boot)
        if new:
            try:
                self.save(new)
            except ProviderError as error:
                raise EnforcementError(f"the power settings that were found cannot be stored: {error}") from error
            self.found.update(new)

    def _put_back(self, cpu: int) -> None:
        known = self.found[cpu]
        # Another boot came up with its own settings, and nothing of ours was written since.
        if known.boot == self.files.boot:
            if not self.files.there(cpu):
                return  # It is offline, and comes back with what it has.
            try:
                self.files.write(cpu, known.settings)
            except EnforcementError as error:
                self._trouble(cpu, f"power settings could not be put back: {error}")
                return
        self.problems.pop(cpu, None)
        self._given.pop(cpu, None)
        self._restored.add(cpu)

    def _trouble(self, cpu: int, what: str) -> None:
        if self.problems.get(cpu) != what:
            log.error("CPU %d: %s; it is tried again", cpu, what)
        self.problems[cpu] = what
