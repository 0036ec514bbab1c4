"""The fake cgroup file system of the functional tests, as a world that `guest/answers.py` can question."""

from __future__ import annotations

import errno
import itertools
import os

from provider.cpuset import format_mask
from tests.functional.fakecgroup import FakeCgroups

__all__ = ["FakeWorld"]


class FakeWorld:
    """16 CPUs, 4 nodes. `remote`: the kernel knows cpuset.cpus.exclusive (6.7 and later)."""

    def __init__(self, version: int, *, remote: bool) -> None:
        self.fake = FakeCgroups(version, 0xFFFF, 0xF, remote=remote)
        self.version = version
        self.root = "/cg" if version == 2 else "/cg/cpuset"
        self._pids = itertools.count(100)
        self.mkdir, self.rmdir, self.read, self.exists = (
            self.fake.mkdir,
            self.fake.rmdir,
            self.fake.read,
            self.fake.exists,
        )

    def write(self, path: str, text: str) -> None:
        if not text.strip() and path.endswith(("/cpuset.cpus", "/cpuset.mems")):
            # The fake is strict here on purpose: nothing of ours may write an empty list.
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), path)
        self.fake.write(path, text)

    def start(self, directory: str) -> int:
        pid = next(self._pids)
        self.fake.start(pid, directory)
        return pid

    def end(self, pid: int) -> None:
        for root in self.fake.roots.values():
            for node in root.below():
                node.procs.discard(pid)

    def allowed(self, pid: int) -> str | None:
        return format_mask(self.fake.effective(self.fake._node(self.fake.where(pid))))

    def dead(self) -> int:
        return 99

    def online(self, cpu: int, on: bool) -> None:
        self.fake.set_online(self.fake.online | 1 << cpu if on else self.fake.online & ~(1 << cpu))
