"""The VMs that the tests share: one boot of each kernel, and what is inside.

Decides when there is nothing to test on: then the tests are skipped, with the reason.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "guest"), str(Path(__file__).parents[2])]

import image  # noqa: E402
from machine import Machine  # noqa: E402
from packages import Unavailable  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vm: boots a kernel under QEMU; run by make test-vm")


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.disk_usage(tmp_path_factory.getbasetemp()).free < 2 * 2**30:
        pytest.skip("no VM: less than 2 GiB free for its disks")
    try:
        return image.app_image(tmp_path_factory.mktemp("app"))
    except Unavailable as exc:
        pytest.skip(f"no VM: {exc}")


def machine(which: str, app: Path, directory: Path) -> Machine:
    """A VM with an empty data disk, not started."""
    try:
        parts = image.qemu(), image.kernel(which)
        disks = image.root_image(), app, image.data_disk(directory / "data.ext4")
    except Unavailable as exc:
        pytest.skip(f"no VM with the {which} kernel: {exc}")
    return Machine(*parts, disks, directory)


@pytest.fixture(scope="session", params=list(image.KERNELS))
def vm(request: pytest.FixtureRequest, app: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Booted once for each kernel, for all the tests that use it."""
    made = machine(request.param, app, tmp_path_factory.mktemp(request.param))
    began = time.monotonic()
    try:
        made.start()
        print(f"\n{made.kernel.release}: booted in {time.monotonic() - began:.1f} s, console {made.directory}")
        yield made
        made.stop()
    finally:
        made.kill()
        (made.directory / "data.ext4").unlink(missing_ok=True)
