"""One look at a profile document in a file, for a thread (the file may lie on a file system that hangs).

Decides when what was read is one version of the file. It never parses the document and keeps nothing between looks:
the content is small, so comparing it is surer than comparing times of a file that an editor replaces.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from profiles.mapping import MAX_DOCUMENT_BYTES
from profiles.source_http import Body
from profiles.state import Failed

__all__ = ["read_file"]

_ATTEMPTS = 3


def read_file(path: Path, limit: int = MAX_DOCUMENT_BYTES) -> Body | Failed:
    """The content of a regular file of at most `limit` bytes (symbolic links are followed). Never raises for what a
    file system can do wrong."""
    try:
        for _ in range(_ATTEMPTS):
            # O_NONBLOCK: opening a FIFO that nobody writes to would wait for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                before = os.fstat(descriptor)
                if not stat.S_ISREG(before.st_mode):
                    return Failed(f"{path}: is not a regular file")
                if before.st_size > limit:
                    return Failed(f"{path}: has {before.st_size} bytes, more than the {limit} allowed")
                data = file.read(limit + 1)
                after = os.fstat(descriptor)
            if len(data) > limit:
                return Failed(f"{path}: has more than the {limit} bytes allowed")
            if _version(before) == _version(after):
                return Body(data)
        return Failed(f"{path}: is being written")
    except OSError as error:
        return Failed(f"{path}: {error.strerror or type(error).__name__}")
    except ValueError as error:  # a zero byte in the path
        return Failed(f"{str(path)!r}: {error}")


def _version(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns
