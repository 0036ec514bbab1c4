"""Third-party clients as their authors publish them: fetched once into a cache outside the project, versions pinned.

Decides where they are kept and how each kind of package is had; never what a test does with it, and it changes no
file of a client. A package that cannot be had raises `UnavailableError`, and the test that wants it is skipped with
that.

The cache is `$PINFOLD_CLIENTS_CACHE`, or `pinfold-clients` in the user's cache directory. It may be removed at any
time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

INSTALL_SECONDS = 300


class UnavailableError(Exception):
    """A package or a tool that a client needs cannot be had here; the text says which and why."""


def cache() -> Path:
    """The directory that holds the clients."""
    named = os.environ.get("PINFOLD_CLIENTS_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else base / "pinfold-clients"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _installed(name: str, recipe: str, install: Callable[[Path], None]) -> Path:
    """The directory of `name` in the cache, installed if it is not there complete and by the same recipe."""
    digest = hashlib.sha256(f"{recipe} {sys.version_info[:2]} {sys.prefix}".encode()).hexdigest()[:12]
    path = cache() / f"{name}-{digest}"
    done = path / ".installed"
    if done.exists():
        return path
    with _locked(cache() / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
            install(path)
            done.touch()
    return path


def run(*command: str | Path, cwd: Path | None = None, environ: dict[str, str] | None = None) -> str:
    """Run an installer; UnavailableError with the end of what it said if it fails."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(environ or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_SECONDS,
        )
    except FileNotFoundError as error:
        raise UnavailableError(f"{command[0]} is not installed: {error}") from None
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{command[0]} did not end within {INSTALL_SECONDS} s") from None
    if done.returncode:
        raise UnavailableError(
            f"{' '.join(map(str, command[:4]))} … ended with {done.returncode}: {done.stdout[-600:]}"
        )
    return done.stdout


def venv(name: str, *requirements: str, options: tuple[str, ...] = ()) -> Path:
    """The Python of a virtual environment of its own with these requirements."""

    def install(path: Path) -> None:
        python = _new_venv(path)
        run(*pip(python), "install", *options, *requirements)

    return _installed(name, " ".join([*options, *requirements]), install) / "bin" / "python"


def pip(python: Path) -> tuple[str, ...]:
    """pip as it is called here: where there is no registry this is to be known soon."""
    return (str(python), "-m", "pip", "-q", "--retries", "1", "--timeout", "60")


def _new_venv(path: Path) -> Path:
    run(sys.executable, "-m", "venv", path)
    return path / "bin" / "python"


HTTP_PARSER = "http-parser==0.9.0"
CYTHON = "cython==3.0.11"


def pymesos() -> Path:
    """The Python of an environment with pymesos.

    The C code in the archive of its dependency http-parser was generated for Python 3.7 and does not compile with a
    newer one, so that it is generated again, from the same archive's source.
    """

    def install(path: Path) -> None:
        python = _new_venv(path)
        run(*pip(python), "install", CYTHON, "setuptools<80", "wheel")
        archives = path / "archives"
        run(*pip(python), "download", "--no-deps", "--no-build-isolation", "-d", archives, HTTP_PARSER)
        for archive in archives.glob("*.tar.gz"):
            with tarfile.open(archive) as opened:
                opened.extractall(archives, filter="data")
        (parser,) = archives.glob("*/http_parser/parser.pyx")
        run(path / "bin" / "cython", "-2", parser, "-o", parser.with_suffix(".c"))
        run(*pip(python), "install", "--no-build-isolation", parser.parents[1])
        run(*pip(python), "install", "pymesos==0.3.15")

    return _installed("pymesos", f"pymesos==0.3.15 {HTTP_PARSER} {CYTHON} 2", install) / "bin" / "python"


def npm(name: str, *packages: str) -> Path:
    """A directory whose node_modules holds these packages."""
    node()

    def install(path: Path) -> None:
        (path / "package.json").write_text('{"private": true}\n')
        quiet = (
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--ignore-scripts",
            "--save-exact",
            "--fetch-retries=1",
        )
        run("npm", "install", *quiet, *packages, cwd=path)

    return _installed(name, " ".join(packages), install)


def node() -> str:
    """The node program."""
    found = shutil.which("node")
    if found is None:
        raise UnavailableError("node is not installed")
    return found


MESOS_GO = "golang-github-mesos-mesos-go-dev=0.0.6+dfsg-2"
GO_LIBRARIES = (
    "golang-github-gogo-protobuf-dev",
    "golang-github-google-uuid-dev",
    "golang-github-pborman-uuid-dev",
    "golang-github-pquerna-ffjson-dev",
)


def mesos_go(source: Path) -> Path:
    """The program in the directory `source`, built with Debian's mesos-go and its Go.

    Debian's packages are unpacked into the cache, not installed, so that this needs no rights.
    """
    fetched = _installed("go", f"{MESOS_GO} {GO_LIBRARIES}", _unpack_go)
    root = fetched / "root"
    text = "".join(path.read_text() for path in sorted(source.glob("*.go")))

    def build(path: Path) -> None:
        (go_root,) = root.glob("usr/lib/go-*")
        environ = {
            "GOROOT": str(go_root),
            "GOPATH": str(root / "usr/share/gocode"),
            "GO111MODULE": "off",
            "GOCACHE": str(fetched / "build"),
            "GOFLAGS": "-p=1",
            "CGO_ENABLED": "0",
            "GOTOOLCHAIN": "local",
        }
        run(go_root / "bin" / "go", "build", "-o", path / "program", cwd=source, environ=environ)

    return _installed("mesos-go", f"{fetched} {text}", build) / "program"


def _unpack_go(path: Path) -> None:
    compiler = re.findall(r"Depends: (golang-[\d.]+-go)\b", _apt_cache("depends", "golang-go"))
    if not compiler:
        raise UnavailableError("apt knows no golang-go")
    compiler_source = compiler[0].removesuffix("-go") + "-src"
    archives = path / "archives"
    archives.mkdir()
    run("apt-get", "download", "-q", compiler[0], compiler_source, MESOS_GO, *GO_LIBRARIES, cwd=archives)
    for archive in archives.glob("*.deb"):
        run("dpkg-deb", "-x", archive, path / "root")
    shutil.rmtree(archives)


def _apt_cache(*arguments: str) -> str:
    """What apt-cache says; apt's lists are fetched first where there are none."""
    try:
        return run("apt-cache", *arguments)
    except UnavailableError:
        run("apt-get", "update", "-q")
        return run("apt-cache", *arguments)
