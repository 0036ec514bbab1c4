"""The few file operations that cgroups need, so that a test can answer in the kernel's place.

Decides: nothing. Paths are absolute strings; errors are OSError with the kernel's errno.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Protocol

__all__ = ["Fs", "RealFs"]

_DELEGATED = ("user.delegate", "trusted.delegate")
"""Extended attributes: systemd 251 and later, and before."""
_OURS = ("cpuset.", "cpu.", "cgroup.")


class Fs(Protocol):
    """A cgroup file system."""

    def read(self, path: str) -> str:
        """The file's text, stripped of white space at its ends."""

    def write(self, path: str, text: str) -> None:
        """Write `text` with one write(2), as the kernel wants it."""

    def mkdir(self, path: str) -> None: ...

    def rmdir(self, path: str) -> None: ...

    def listdir(self, path: str) -> list[str]:
        """Names of the directories in it, sorted (files are not listed)."""

    def exists(self, path: str) -> bool: ...

    def writable(self, path: str) -> bool:
        """Whether we may create directories in it."""

    def delegated(self, path: str) -> bool:
        """Whether systemd marks the directory as one whose inside is somebody else's to arrange (Delegate=)."""


class RealFs:
    """The host's (or a directory tree that stands for it)."""

    def read(self, path: str) -> str:
        # Plain descriptors: a change to 500 sets reads thousands of these files, and file objects cost more than they.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.read(fd, 65536)
            while part := os.read(fd, 65536):
                data += part
        finally:
            os.close(fd)
        return data.decode("utf-8", "replace").strip()

    def write(self, path: str, text: str) -> None:
        # O_CREAT: does nothing on cgroupfs (EACCES for an unknown name), and makes a plain directory tree usable.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    def mkdir(self, path: str) -> None:
        Path(path).mkdir(mode=0o755)

    def rmdir(self, path: str) -> None:
        try:
            Path(path).rmdir()
        except OSError as exc:
            # cgroupfs removes a directory with its files and never says ENOTEMPTY: this is a plain directory tree.
            if exc.errno != errno.ENOTEMPTY:
                raise
            for entry in Path(path).iterdir():
                if entry.name.startswith(_OURS) and entry.is_file():
                    entry.unlink()
            Path(path).rmdir()

    def listdir(self, path: str) -> list[str]:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def exists(self, path: str) -> bool:
        with contextlib.suppress(OSError):
            return Path(path).exists()
        return False

    def writable(self, path: str) -> bool:
        # A mount may be read-only although the mode bits say otherwise; access(2) knows.
        return os.access(path, os.W_OK | os.X_OK)

    def delegated(self, path: str) -> bool:
        for name in _DELEGATED:
            with contextlib.suppress(OSError):
                return os.getxattr(path, name) == b"1"
        return False
