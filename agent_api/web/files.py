"""Task sandboxes for LIST_FILES and READ_FILE: regular files below `<work dir>/tasks`, and nothing else.

Decides what a path may name. A task can put any link or fifo into its sandbox, so a path is judged by where the opened
file really is, not by how it is written.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from pathlib import Path

from agent_api.core.sandbox import task_path
from agent_api.errors import ApiError, BadRequest, NotFound
from agent_api.wire import mesos_pb2

__all__ = ["MAX_DOWNLOAD", "MAX_READ", "Sandboxes"]

MAX_READ = 1024 * 1024
"""Bytes that one READ_FILE returns at most; the caller asks again from where the answer ends."""

MAX_DOWNLOAD = 32 * 1024 * 1024

_OWN = ("spec.json", "pid.json", "started.json", "kill.json", "exit.json")
"""The launcher's files in a task's directory: no business of the task's user, and one holds its environment."""

_VIRTUAL = re.compile(r"/frameworks/([^/]+)/executors/([^/]+)/runs/latest(/.*)?")
"""Mesos's path of a task's sandbox, for those who know its ids and not its directory."""


class Sandboxes:
    """The directories of the tasks of one agent."""

    def __init__(self, work_dir: str) -> None:
        self._root = Path(work_dir).absolute() / "tasks"

    def list_files(self, path: str) -> list[mesos_pb2.FileInfo]:
        """What is in a directory, by name; nothing for a file. `path` is absolute, relative to the tasks' directory, or
        the one that Mesos has for a task wherever it lies (`_VIRTUAL`). 404 else."""
        directory = self._resolve(path)
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except NotADirectoryError:
            return []  # as Mesos: there is nothing below a file
        except OSError:
            raise _unknown(path) from None
        found = []
        for entry in entries:
            if self._hidden(directory / entry.name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            found.append(_info(os.path.join(path, entry.name), status))  # noqa: PTH118 (keeps the path as asked)
        return found

    def read_file(self, path: str, offset: int, length: int | None) -> tuple[int, bytes]:
        """The file's size, and at most `length` and MAX_READ bytes from `offset`. 404 for what is no such file."""
        resolved = self._resolve(path)
        try:
            descriptor = os.open(resolved, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            raise _unknown(path) from None
        try:
            # What was opened counts, not what the path named a moment ago.
            really = Path(f"/proc/self/fd/{descriptor}").readlink()
            status = os.fstat(descriptor)
            if not self._inside(really) or self._hidden(really):
                raise _unknown(path)
            if stat.S_ISDIR(status.st_mode):
                raise BadRequest("Cannot read a directory.\n")
            if not stat.S_ISREG(status.st_mode):
                raise _unknown(path)
            wanted = MAX_READ if length is None else min(length, MAX_READ)
            if offset >= status.st_size:
                return status.st_size, b""
            return status.st_size, os.pread(descriptor, wanted, offset)
        finally:
            os.close(descriptor)

    def read_whole(self, path: str) -> bytes:
        """A file of at most MAX_DOWNLOAD bytes, from its beginning to the end it has now. 404, or 413."""
        data = b""
        while True:
            size, part = self.read_file(path, len(data), None)
            if size > MAX_DOWNLOAD:
                raise ApiError(413, f"'{path}' has {size} bytes, more than the {MAX_DOWNLOAD} that are sent at once")
            data += part
            if not part:
                return data

    def _resolve(self, path: str) -> Path:
        if "\0" in path:
            raise _unknown(path)
        root = self._root.resolve()
        wanted = Path(path)
        if virtual := _VIRTUAL.fullmatch(path):
            wanted = Path(task_path(str(self._root.parent), virtual[1], virtual[2]) + (virtual[3] or ""))
        if not wanted.is_absolute():
            wanted = root / wanted
        try:
            resolved = wanted.resolve(strict=True)
        except (OSError, RuntimeError):
            raise _unknown(path) from None
        if not self._inside(resolved) or self._hidden(resolved):
            raise _unknown(path)
        return resolved

    def _inside(self, path: Path) -> bool:
        return path.is_relative_to(self._root.resolve())

    def _hidden(self, path: Path) -> bool:
        root = self._root.resolve()
        parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
        return len(parts) == 3 and parts[2] in _OWN


def _unknown(path: str) -> ApiError:
    return NotFound(f"'{path}' is no file of a task")


def _info(path: str, status: os.stat_result) -> mesos_pb2.FileInfo:
    return mesos_pb2.FileInfo(
        path=path,
        nlink=status.st_nlink,
        size=status.st_size,
        mtime=mesos_pb2.TimeInfo(nanoseconds=status.st_mtime_ns),
        mode=status.st_mode,
        uid=_name(status.st_uid, pwd.getpwuid, 0),
        gid=_name(status.st_gid, grp.getgrgid, 0),
    )


def _name(number: int, look_up: object, field: int) -> str:
    try:
        return str(look_up(number)[field])  # type: ignore[operator]
    except KeyError:
        return str(number)
