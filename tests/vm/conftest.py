"""The VMs that the tests share: one boot of each kernel, and what is inside.

Decides when there is nothing to test on: then the tests are skipped, with the reason. One VM runs at a time: two would
share the same few real CPUs.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "guest"), str(Path(__file__).parents[2])]

import image  # noqa: E402
from machine import Broken, Machine, TooSlow  # noqa: E402
from packages import Unavailable  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vm: boots a kernel under QEMU; run by make test-vm")


SLOW = 120
"""Seconds. On two quiet CPUs a boot takes 10; where it takes this long, the tests would take hours."""


LIMIT = 25 * 60
"""Seconds from the start, after which no further test begins. On two quiet CPUs all of them take 10 minutes."""
_began = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("vm") and time.monotonic() - _began > LIMIT:
        pytest.skip(f"{LIMIT // 60} minutes are over: this machine is too slow for emulation")


class Fleet:
    """One VM for each kernel, and one with systemd, booted when it is first asked for; the one that ran before is switched
    off then."""

    def __init__(self, directories: pytest.TempPathFactory) -> None:
        self.directories = directories
        self.app: Path | None = None
        self.machines: dict[str, Machine] = {}
        self.faults: dict[str, str] = {}
        """Why there is no VM with a kernel, found once."""

    def running(self, which: str) -> Machine:
        """The VM with that kernel (or "systemd": with the newer one where there is one), up. Skips the test where it
        cannot be had."""
        if which in self.faults:
            pytest.skip(self.faults[which])
        if which not in self.machines:
            self._make(which)
        made = self.machines[which]
        if not made.up:
            self.switch_off()
            try:
                seconds = made.start()
            except TooSlow as exc:
                self._skip(which, str(exc)[:200])
            except Broken as exc:
                self.faults[which] = f"no VM: the emulator breaks its kernel: {str(exc)[-200:]}"
                pytest.skip(self.faults[which])
            print(f"\n{made.kernel.release}: booted in {seconds:.1f} s, console {made.directory}")
            if seconds > SLOW:
                made.kill()
                self._skip(which, f"it booted in {seconds:.0f} s")
        return made

    def _skip(self, which: str, reason: str) -> NoReturn:
        self.faults[which] = f"no VM: this machine is too slow for emulation: {reason}"
        pytest.skip(self.faults[which])

    def _make(self, which: str) -> None:
        base = self.directories.getbasetemp()
        try:
            if sys.platform != "linux" or os.uname().machine != "x86_64":
                raise Unavailable("its kernels are for x86_64 Linux")
            if shutil.disk_usage(base).free < 2 * 2**30:
                raise Unavailable(f"less than 2 GiB free in {base}")
            self.app = self.app or image.app_image(self.directories.mktemp("app"))
            directory = self.directories.mktemp(which)
            disks = image.root_image(), self.app, image.data_disk(directory / "data.ext4")
            if which == "systemd":
                try:
                    kernel = image.kernel("newer")
                except Unavailable:
                    kernel = image.kernel("older")
                self.machines[which] = Machine(image.qemu(), kernel, disks, directory, image.SYSTEMD)
            else:
                self.machines[which] = Machine(image.qemu(), image.kernel(which), disks, directory)
        except Unavailable as exc:
            self.faults[which] = f"no VM with the {which} kernel: {exc}"
            pytest.skip(self.faults[which])

    def switch_off(self) -> None:
        for made in self.machines.values():
            if made.up:
                made.stop()

    def scrap(self) -> None:
        """The end, whatever happened."""
        for made in self.machines.values():
            made.kill()
            (made.directory / "data.ext4").unlink(missing_ok=True)
        if self.app:
            self.app.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = Fleet(tmp_path_factory)
    try:
        yield made
        made.switch_off()
    finally:
        made.scrap()


@pytest.fixture(scope="session", params=list(image.KERNELS))
def vm(request: pytest.FixtureRequest, fleet: Fleet) -> Machine:
    """Booted once for each kernel, for all the tests that use it."""
    return fleet.running(request.param)
