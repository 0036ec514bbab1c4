"""Opens a copy of a host's files: a directory, or an archive that is unpacked for as long as it is read.

Decides what of an archive is taken. An archive is not trusted: it comes from another machine, often by mail.
"""

from __future__ import annotations

import lzma
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from provider.topology import TopologyError

__all__ = ["open_root"]

_MAX_MEMBERS = 1_000_000
_MAX_BYTES = 1 << 30


@contextmanager
def open_root(path: str | Path) -> Iterator[str]:
    """The directory to read: `path` itself, or a temporary one with what the archive (.tar, .tar.gz, …) holds.

    An archive is not trusted: devices, absolute names and links that leave it are left out, and it may unpack to
    1 GiB at most. Raises `TopologyError` where `path` is neither.
    """
    path = Path(path)
    if path.is_dir():
        yield str(path)
        return
    if not path.is_file():
        raise TopologyError(f"{path}: no such file or directory")
    with tempfile.TemporaryDirectory(prefix="pinfold-topology-", dir=_scratch(path)) as directory:
        try:
            with tarfile.open(path) as archive:
                _unpack(archive, directory)
        except (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise TopologyError(f"{path}: cannot be unpacked: {error}") from error
        yield _top(directory)


def _scratch(path: Path) -> str | None:
    """Where to unpack: in memory for the usual small archive (five times as fast), else where temporary files go.

    A copy of sysfs is thousands of tiny files, of which each takes a page: some 250 times the archive's size.
    """
    memory = "/dev/shm"
    try:
        room = os.statvfs(memory)
        small = path.stat().st_size <= 1 << 20 and room.f_bavail * room.f_frsize >= 1 << 29
        return memory if small and os.access(memory, os.W_OK | os.X_OK) else None
    except OSError:
        return None


def _unpack(archive: tarfile.TarFile, directory: str) -> None:
    """Files first, into directories that this made; links last: so no file is ever written through a link.

    `TarFile.extractall` with its own filter is as safe and takes 10 s for 6,000 files.
    """
    links = []
    made: set[str] = set()
    size = 0
    for number, member in enumerate(archive):
        size += member.size
        if number >= _MAX_MEMBERS or size > _MAX_BYTES:
            raise tarfile.TarError(f"it unpacks to more than {_MAX_BYTES} bytes or {_MAX_MEMBERS} files")
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if not parts or ".." in parts or "\0" in member.name:
            continue
        parent = "/".join([directory, *parts[:-1]])
        if parent not in made:
            Path(parent).mkdir(parents=True, exist_ok=True)
            made.add(parent)
        target = f"{parent}/{parts[-1]}"
        if member.issym():
            if _stays_inside(parts, member.linkname):
                links.append((member.linkname, target))
        elif member.isdir():
            Path(target).mkdir(exist_ok=True)
            made.add(target)
        elif member.isfile() and target not in made:
            source = archive.extractfile(member)
            if source is not None:
                with open(target, "wb") as file:
                    file.write(source.read())
    for link, target in links:
        if not os.path.lexists(target):
            Path(target).symlink_to(link)


def _stays_inside(parts: list[str], link: str) -> bool:
    """Whether a link at `parts` goes up no further than to the root, and then only down."""
    if link.startswith("/") or "\0" in link:
        return False
    steps = [step for step in link.split("/") if step not in ("", ".")]
    up = next((index for index, step in enumerate(steps) if step != ".."), len(steps))
    return up < len(parts) and ".." not in steps[up:]


def _top(directory: str) -> str:
    """Where sys/ is: at the top, or in the one folder that the archive holds."""
    entries = list(Path(directory).iterdir())
    if len(entries) == 1 and not entries[0].is_symlink() and (entries[0] / "sys").is_dir():
        return str(entries[0])
    return directory
