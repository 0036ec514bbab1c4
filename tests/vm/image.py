"""The pieces a VM is made of: QEMU, a kernel, an initial RAM disk, a root file system, Pinfold itself.

Decides what goes into each and keys each by its content, so that only what changed is made again. Never does: start
anything, need root, or write outside the cache and the directory it is given.
"""

from __future__ import annotations

import configparser
import hashlib
import io
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packages import Unavailable, cache_root, depends, locked, publish, unpacked

__all__ = ["KERNELS", "Kernel", "Qemu", "app_image", "data_disk", "kernel", "qemu", "root_image"]

PROJECT = Path(__file__).resolve().parents[2]
AGENT = Path(__file__).parent / "guest" / "agent.py"
UNITS = PROJECT / "packaging" / "systemd"

KERNELS = {"older": "linux-image-cloud-amd64", "newer": "linux-image-6.12-cloud-amd64"}
"""Meta-packages; the newer one (6.7 and later: remote partitions, cpuset.cpus.exclusive) is not on every mirror."""

ROOT_PACKAGES = ("python3", "busybox-static", "libstdc++6", "systemd")
"""The C++ library is google-re2's."""
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "virtio_rng", "ext4", "crc32c_generic")


@dataclass(frozen=True, slots=True)
class Qemu:
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """`release` as uname -r says."""

    release: str
    image: Path
    initrd: Path


def qemu() -> Qemu:
    """This machine's QEMU, or Debian's, run from the cache with its own loader and libraries."""
    if found := shutil.which("qemu-system-x86_64"):
        return Qemu((found,))
    tree = unpacked(("qemu-system-x86", "seabios"))
    data = ("-L", f"{tree}/usr/share/qemu", "-L", f"{tree}/usr/share/seabios")
    modules = next(tree.glob("**/qemu/accel-tcg-x86_64.so")).parent
    return Qemu((*_inside(tree, "usr/bin/qemu-system-x86_64"), *data), (("QEMU_MODULE_DIR", str(modules)),))


def _inside(tree: Path, program: str) -> tuple[str, ...]:
    libraries = ":".join(f"{tree}/{d}" for d in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib", "lib"))
    # Not lib64's: that link is absolute, and here would lead to this machine's.
    loader = next(tree.glob("**/x86_64-linux-gnu/ld-linux-x86-64.so.2"))
    return (str(loader), "--library-path", libraries, str(tree / program))


def kernel(which: str) -> Kernel:
    """The kernel of that name of KERNELS with an initial RAM disk that can mount the disks. Raises Unavailable."""
    meta = KERNELS[which]
    pointer = cache_root() / f"{meta}.name"
    if not pointer.exists():
        names = [name for name in depends(meta) if name.startswith("linux-image-")]
        if not names:
            raise Unavailable(f"{meta} names no kernel")
        pointer.write_text(names[0])
    tree = unpacked((pointer.read_text(),), alone=True)
    image = next((tree / "boot").glob("vmlinuz-*"))
    release = image.name.removeprefix("vmlinuz-")
    key = hashlib.sha256(repr((MODULES, _INIT)).encode()).hexdigest()[:12]
    initrd = cache_root() / f"initrd-{release}-{key}"
    with locked("initrd"):
        if not initrd.exists():
            busybox = unpacked(("busybox-static",), alone=True)
            with publish(initrd) as scratch:
                scratch.write_bytes(_initrd(tree, release, next(busybox.glob("**/bin/busybox")).read_bytes()))
    return Kernel(release, image, initrd)


SYSTEMD = "pinfold.systemd"
"""On the kernel's command line: systemd is process 1, and starts our agent and Pinfold's units."""

_INIT = f"""#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in $(/bin/busybox cat /modules); do /bin/busybox insmod /$module || echo "insmod $module failed"; done
# Disks by their order on the command line: root, Pinfold, data.
/bin/busybox mount -t ext4 -o ro /dev/vda /root || exec /bin/busybox poweroff -f
/bin/busybox mount -t ext4 -o ro /dev/vdb /root/opt
/bin/busybox mount -t ext4 /dev/vdc /root/data
/bin/busybox mkdir -p /root/data/lib
/bin/busybox mount -o bind /root/data/lib /root/var/lib
/bin/busybox mount -t proc proc /proc
init="/usr/bin/python3 /sbin/agent.py"
if /bin/busybox grep -q {SYSTEMD} /proc/cmdline; then init=/lib/systemd/systemd; fi
/bin/busybox umount /proc
/bin/busybox umount /dev
exec /bin/busybox switch_root /root $init
"""


def _initrd(tree: Path, release: str, busybox: bytes) -> bytes:
    modules = next(path for path in (tree / "lib/modules", tree / "usr/lib/modules") if path.is_dir()) / release
    files: dict[str, bytes] = {}
    for file in modules.rglob("*.ko*"):
        files[_module(file.name.split(".ko")[0])] = b""
    builtin = {_module(Path(line).stem) for line in (modules / "modules.builtin").read_text().split()}
    paths = {_module(file.name.split(".ko")[0]): file for file in modules.rglob("*.ko*")}
    order: dict[str, bytes] = {}

    def take(name: str) -> None:
        name = _module(name)
        if name in order or name in builtin or name not in paths:
            return
        data = paths[name].read_bytes()
        if paths[name].suffix == ".xz":
            data = lzma.decompress(data)
        needs = re.search(rb"(?<=\0)depends=([^\0]*)", data)
        for other in (needs.group(1).decode() if needs else "").split(","):
            if other:
                take(other)
        order[name] = data

    for name in MODULES:
        take(name)
    archive = io.BytesIO()
    number = 0

    def add(name: str, mode: int, data: bytes = b"") -> None:
        nonlocal number
        number += 1
        raw = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        archive.write(b"070701" + b"".join(b"%08X" % value for value in fields) + raw)
        archive.write(b"\0" * (-archive.tell() % 4))
        archive.write(data)
        archive.write(b"\0" * (-archive.tell() % 4))

    for directory in ("bin", "dev", "proc", "root"):
        add(directory, stat.S_IFDIR | 0o755)
    add("bin/busybox", stat.S_IFREG | 0o755, busybox)
    add("init", stat.S_IFREG | 0o755, _INIT.encode())
    for name, data in order.items():
        add(f"{name}.ko", stat.S_IFREG | 0o644, data)
    add("modules", stat.S_IFREG | 0o644, " ".join(f"{name}.ko" for name in order).encode())
    add("TRAILER!!!", 0)
    return archive.getvalue()


def _module(name: str) -> str:
    return name.replace("-", "_")


_PROGRAMS = "sh mount umount cat ls ps sleep kill dmesg env true false echo sed mkdir"
_ENVIRONMENT = "PATH=/opt/bin:/usr/bin:/bin PYTHONPATH=/opt PYTHONDONTWRITEBYTECODE=1 HOME=/tmp LC_ALL=C.UTF-8"
_SERVE = """\
import os, runpy
agent = runpy.run_path("/sbin/agent.py")
os.environ.update(agent["ENVIRONMENT"])
os.environ.pop("PYTHONPATH")
os.system("/bin/busybox ifconfig lo 127.0.0.1 up")
open("/dev/console", "w").write("agent: ready\\n")
agent["serve"](agent["port"]())
"""
# What a machine of flesh has and this one has not: devices to settle, journals, time, terminals, modules.
_MASKED = """
systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket systemd-udevd-kernel.socket
systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket systemd-journald-audit.socket
systemd-journal-flush.service systemd-tmpfiles-setup.service systemd-tmpfiles-setup-dev.service
systemd-tmpfiles-clean.timer systemd-random-seed.service systemd-update-utmp.service
systemd-update-utmp-runlevel.service systemd-logind.service systemd-sysusers.service systemd-timesyncd.service
systemd-modules-load.service systemd-sysctl.service systemd-remount-fs.service systemd-machine-id-commit.service
systemd-user-sessions.service systemd-boot-system-token.service systemd-firstboot.service kmod-static-nodes.service
getty.target remote-fs.target cryptsetup.target dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount
sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount
""".split()


def _system_files() -> dict[str, str]:
    """The guest's own files; a value that starts with "->" is a link. Pinfold's units are the project's, with a drop-in
    for where things are in here."""
    units = "etc/systemd/system"
    here = f"[Service]\nEnvironment={_ENVIRONMENT}\nStandardError=append:/data/agent.log\n"
    files = {
        "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
        "etc/group": "root:x:0:\nnogroup:x:65534:\n",
        "etc/hosts": "127.0.0.1 localhost\n",
        "etc/hostname": "pinfold-vm\n",
        "etc/fstab": "tmpfs /tmp tmpfs mode=1777 0 0\n",
        "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "etc/systemd/system.conf": "[Manager]\nDefaultStandardOutput=null\nDefaultStandardError=null\nLogTarget=console\n",
        "sbin/agent.py": AGENT.read_text(),
        "sbin/serve.py": _SERVE,
        f"{units}/default.target": "->/lib/systemd/system/multi-user.target",
        f"{units}/guest.service": "[Service]\nExecStart=/usr/bin/python3 /sbin/serve.py\n",
        f"{units}/multi-user.target.wants/guest.service": "->../guest.service",
        f"{units}/multi-user.target.wants/pinfold-agent.service": "->../pinfold-agent.service",
        f"{units}/pinfold-agent.service.d/here.conf": here + 'Environment="PINFOLD_AGENT_OPTIONS=--resources mem:1024;disk:100"\n',
        "usr/bin/env": "->/bin/busybox",
    }
    files |= {f"{units}/{unit.name}": unit.read_text() for unit in sorted(UNITS.glob("*.service"))}
    files |= {f"{units}/{name}": "->/dev/null" for name in _MASKED}
    return files | {f"bin/{name}": "->busybox" for name in _PROGRAMS.split()}


def root_image() -> Path:
    """The guest's root file system, read-only: Python, busybox's shell, our agent as process 1, or systemd."""
    tree = unpacked(ROOT_PACKAGES)
    files = _system_files()
    key = hashlib.sha256(repr((files, tree.name)).encode()).hexdigest()[:12]
    image = cache_root() / f"root-{key}.ext4"
    with locked("root"):
        if image.exists():
            return image
        compiled = tree / ".compiled"
        if not compiled.exists():
            guest_python(tree, "-m", "compileall", "-q", "-j1", *(str(p) for p in (tree / "usr/lib").glob("python3*")))
            compiled.touch()
        for name in ("proc", "sys", "dev", "run", "tmp", "opt", "data", "var/lib", "root"):
            (tree / name).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.name in _PROGRAMS.split() and path.exists():
                continue  # the package's own
            path.unlink(missing_ok=True)
            path.symlink_to(text[2:]) if text.startswith("->") else path.write_text(text)
        with publish(image) as scratch:
            _ext4(scratch, tree)
    return image


def guest_python(tree: Path, *arguments: str) -> None:
    """Run the guest's own Python here, so that what it compiles is right for it. Not compiled is only slower."""
    command = [*_inside(tree, next((tree / "usr/bin").glob("python3.?*")).relative_to(tree).as_posix()), *arguments]
    environment = {**os.environ, "PYTHONHOME": f"{tree}/usr"}
    environment.pop("PYTHONPATH", None)
    subprocess.run(command, env=environment, timeout=300, stdout=subprocess.DEVNULL, check=False)


def app_image(directory: Path) -> Path:
    """Pinfold as pip installs it, with what it depends on, for the guest's Python; mounted at /opt. Made anew in
    `directory` (the dependencies are cached)."""
    tree = unpacked(ROOT_PACKAGES)
    version = next((tree / "usr/bin").glob("python3.?*")).name.removeprefix("python")
    needs = _requirements()
    key = hashlib.sha256(repr((needs, version)).encode()).hexdigest()[:12]
    packages = cache_root() / f"packages-{key}"
    with locked("packages"):
        if not packages.exists():
            with publish(packages) as scratch:
                # Wheels for the guest's Python, whatever Python runs here.
                _pip(
                    *("install", "--only-binary=:all:", "--implementation=cp", f"--python-version={version}"),
                    *("--platform=manylinux2014_x86_64", "--platform=manylinux_2_28_x86_64"),
                    *("--platform=manylinux_2_34_x86_64", "--no-compile", f"--target={scratch}", *needs),
                )
                guest_python(tree, "-m", "compileall", "-q", str(scratch))
    app = directory / "app"
    shutil.copytree(packages, app, symlinks=True)
    source = directory / "source"
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md"):
        shutil.copyfile(PROJECT / name, source / name)
    for name in ("agent_api", "migrations", "profiles", "provider"):
        shutil.copytree(PROJECT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    _pip("install", "--no-deps", "--no-compile", f"--target={app}", "--upgrade", str(source))
    guest_python(tree, "-m", "compileall", "-q", str(app))
    program = app / "bin" / "pinfold"
    lines = program.read_text().splitlines(keepends=True)
    program.write_text("".join(["#!/usr/bin/python3\n", *lines[1:]]))  # not the Python that runs here
    image = directory / "app.ext4"
    _ext4(image, app)
    shutil.rmtree(app)
    shutil.rmtree(source)
    return image


def _requirements() -> tuple[str, ...]:
    config = configparser.ConfigParser()
    config.read(PROJECT / "setup.cfg")
    return tuple(line.strip() for line in config["options"]["install_requires"].splitlines() if line.strip())


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    except subprocess.TimeoutExpired as exc:
        raise Unavailable("pip found no end") from exc
    if done.returncode:
        raise Unavailable(f"pip {arguments[0]}: {done.stderr.strip()[-400:]}")


def data_disk(path: Path, megabytes: int = 512) -> Path:
    """An empty disk that keeps what the guest writes, over its reboots."""
    _ext4(path, None, megabytes)
    return path


def _ext4(image: Path, tree: Path | None, megabytes: int = 0) -> None:
    program = shutil.which("mke2fs") or shutil.which("mke2fs", path="/sbin:/usr/sbin")
    if not program:
        raise Unavailable("no mke2fs (e2fsprogs) on this machine")
    if tree is not None:
        used = sum(p.lstat().st_blocks * 512 + 4096 for p in tree.rglob("*"))
        megabytes = used // 2**20 * 5 // 4 + 32
    command = [program, "-q", "-F", "-t", "ext4", "-E", "root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1"]
    if tree is not None:
        command += ["-d", str(tree), "-O", "^has_journal"]
    done = subprocess.run([*command, str(image), f"{megabytes}M"], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Unavailable(f"mke2fs: {done.stderr.strip()[-400:]}")
