"""Debian packages, unpacked into directories of a cache, without installing anything on this machine.

Decides which directory of the cache stands for which packages. Never does: change this machine's packages or apt's own
state (it keeps a state of its own in the cache, so that root is not needed), name a host (the sources are this
machine's).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Unavailable", "cache_root", "locked", "publish", "unpacked"]


class Unavailable(Exception):  # noqa: N818 (a reason, not a fault)
    """What the VM is made of cannot be had on this machine: the reason to skip its tests."""


def cache_root() -> Path:
    """Where images are kept between runs: PINFOLD_VM_CACHE, or `pinfold-vm` in the user's cache directory. Removing it
    is always safe, and the way to fetch newer packages."""
    if named := os.environ.get("PINFOLD_VM_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pinfold-vm"


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One builder of `name` at a time, also among processes."""
    directory = cache_root()
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def publish(target: Path) -> Iterator[Path]:
    """A scratch path that becomes `target` if the block ends well: what is in the cache under its name is whole."""
    scratch = target.with_name(f"{target.name}.part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.unlink(missing_ok=True)
    yield scratch
    scratch.rename(target)


def unpacked(names: tuple[str, ...], *, alone: bool = False) -> Path:
    """A directory with `names` and, unless `alone`, all that they depend on, unpacked. Raises Unavailable."""
    key = hashlib.sha256(repr((names, alone)).encode()).hexdigest()[:12]
    target = cache_root() / f"tree-{names[0]}-{key}"
    with locked("apt"):
        if target.exists():
            return target
        files = _download(names, alone)
        with publish(target) as scratch:
            scratch.mkdir()
            for file in files:
                _run(["dpkg-deb", "-x", str(file), str(scratch)], 120)
    return target


def _download(names: tuple[str, ...], alone: bool) -> list[Path]:
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Unavailable("no apt-get and dpkg-deb on this machine: the VM is made of Debian packages")
    state = cache_root() / "apt"
    for part in ("state/lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = [
        f"Dir::State={state}/state",
        f"Dir::Cache={state}/cache",
        f"Dir::State::status={state}/status",  # nothing is installed: everything is fetched
        "Debug::NoLocking=1",
        "APT::Install-Recommends=0",
        "APT::Architecture=amd64",
        "Acquire::Retries=2",
        "Acquire::http::Timeout=30",
    ]
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    known = any((state / "state/lists").glob("*Packages*"))
    if not known:
        _run([*apt, "update"], 180)
    try:
        return _fetch(apt, state, names, alone)
    except Unavailable:
        if not known:
            raise
    _run([*apt, "update"], 180)  # the lists name what the mirror does not have any more
    return _fetch(apt, state, names, alone)


def _fetch(apt: list[str], state: Path, names: tuple[str, ...], alone: bool) -> list[Path]:
    archives = state / "cache/archives"
    if not alone:
        # 'URI' NAME SIZE HASH; only of what is not in the archives yet, so with none.
        empty = state / "empty"
        (empty / "partial").mkdir(parents=True, exist_ok=True)
        listing = _run([*apt, "-o", f"Dir::Cache::archives={empty}", "install", "-y", "--print-uris", *names], 120)
        files = [line.split()[1] for line in listing.splitlines() if line.startswith("'")]
        _run([*apt, "install", "-y", "--download-only", *names], 600)
        return [archives / file for file in files]
    found = []
    for name in names:
        listing = _run([*apt, "download", "--print-uris", name], 120)
        file = next(line.split()[1] for line in listing.splitlines() if line.startswith("'"))
        _run([*apt, "download", name], 600, cwd=archives)
        found.append(archives / file)
    return found


def _run(argv: list[str], timeout: float, cwd: Path | None = None) -> str:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, env=environment, cwd=cwd)
    except subprocess.TimeoutExpired as exc:
        raise Unavailable(f"{argv[0]} {argv[-1]}: no end after {timeout:.0f} s") from exc
    if done.returncode:
        raise Unavailable(f"{argv[0]} {argv[-1]}: {done.stderr.strip()[-400:]}")
    return done.stdout


def depends(name: str) -> tuple[str, ...]:
    """The packages that `name` (a meta-package) depends on, by its control data. Raises Unavailable."""
    file = _download((name,), alone=True)[0]
    field = _run(["dpkg-deb", "-f", str(file), "Depends"], 60)
    return tuple(word.split()[0] for word in field.split(",") if word.strip())
