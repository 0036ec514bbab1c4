"""One VM: 16 CPUs with SMT on 4 NUMA nodes, plain emulation, and a channel to the agent inside it.

Decides the machine's shape and when to give up waiting. Never does: know what runs inside.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from image import Kernel, Qemu

__all__ = ["Broken", "GuestError", "Machine", "TooSlow"]

NODES, CPUS_PER_NODE, MEGABYTES_PER_NODE = 4, 4, 512
BOOTS = 6
"""How often a guest is booted until it comes up; from the fifth time on one thread plays all its CPUs: slower, and free of
the emulator's races."""


class GuestError(Exception):
    """Something in the guest failed, or did not answer in time; carries the end of the console where that helps."""


class TooSlow(GuestError):
    """The guest was still booting when the time was over."""


class Broken(GuestError):
    """The guest's kernel did not survive its boot, whenever it was tried: nothing of ours had run by then."""


class Machine:
    """`disks` in the order root, Pinfold (both read-only), data. `append` goes to the kernel's command line. `start`
    boots and waits for the agent."""

    def __init__(
        self, qemu: Qemu, kernel: Kernel, disks: tuple[Path, Path, Path], directory: Path, append: str = ""
    ) -> None:
        self.qemu, self.kernel, self.disks, self.directory, self.append = qemu, kernel, disks, directory, append
        self.console = directory / "console.log"
        self.boots = 0
        self.threads = "multi"
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._pending = b""
        self._sent: set[str] = set()
        self._numbers = itertools.count(1)

    def command(self) -> list[str]:
        root, app, data = self.disks
        words = [*self.qemu.command, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        words += ["-machine", "q35", "-accel", f"tcg,thread={self.threads}", "-cpu", "Nehalem"]
        # 2 packages of 4 cores of 2 threads; each half of a package is a NUMA node.
        words += [
            "-smp",
            f"{NODES * CPUS_PER_NODE},sockets=2,cores=4,threads=2",
            "-m",
            f"{NODES * MEGABYTES_PER_NODE}M",
        ]
        for node in range(NODES):
            first = node * CPUS_PER_NODE
            words += ["-object", f"memory-backend-ram,id=m{node},size={MEGABYTES_PER_NODE}M"]
            words += ["-numa", f"node,nodeid={node},memdev=m{node},cpus={first}-{first + CPUS_PER_NODE - 1}"]
        for a, b in itertools.product(range(NODES), repeat=2):
            distance = 10 if a == b else 12 if a // 2 == b // 2 else 32
            words += ["-numa", f"dist,src={a},dst={b},val={distance}"]
        words += ["-kernel", str(self.kernel.image), "-initrd", str(self.kernel.initrd)]
        words += ["-append", f"console=ttyS0 loglevel=4 panic=-1 mitigations=off {self.append}"]
        for file, extra in ((root, ",readonly=on"), (app, ",readonly=on"), (data, ",cache=writeback")):
            words += ["-drive", f"file={file},if=virtio,format=raw{extra}"]
        words += ["-serial", f"file:{self.console}", "-device", "virtio-rng-pci", "-device", "virtio-serial-pci"]
        words += ["-chardev", f"socket,id=c,path={self.directory}/channel,server=on,wait=off"]
        return [*words, "-device", "virtserialport,chardev=c,name=pinfold"]

    @property
    def up(self) -> bool:
        return self._process is not None

    def start(self, timeout: float = 200) -> float:
        """Boot, and tell in how many seconds. The emulator now and then breaks a kernel that patches its own code while
        it starts (an int3 that is no more there: seen once in 20 boots, and three times in a row on a quiet machine),
        and a busy machine may take too long: a guest that does not come up is tried again."""
        for attempt in range(BOOTS):
            self.threads = "multi" if attempt < BOOTS - 2 else "single"
            began = time.monotonic()
            try:
                self._start(timeout)
                return time.monotonic() - began
            except TooSlow:
                if attempt:
                    raise
            except GuestError as exc:
                print(f"\nthe VM is booted again: {str(exc)[:200]}")
        raise Broken(f"{BOOTS} boots ended in a panic: {self.last_console()[-1000:]}")

    def last_console(self) -> str:
        path = self.directory / f"console.{self.boots}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _start(self, timeout: float) -> None:
        assert self._process is None
        (self.directory / "channel").unlink(missing_ok=True)
        with (self.directory / "qemu.log").open("ab") as log:
            environment = {**os.environ, **dict(self.qemu.environment)}
            self._process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        self.boots += 1
        self._pending = b""
        self._sent.clear()
        until = time.monotonic() + timeout
        while self._socket is None:
            self._alive(until, "opens no channel")
            candidate = socket.socket(socket.AF_UNIX)
            try:
                candidate.connect(str(self.directory / "channel"))
                self._socket = candidate
            except OSError:
                candidate.close()
                time.sleep(0.1)
        while "agent: ready" not in self.console_text():
            self._alive(until, "does not boot")
            time.sleep(0.2)

    def console_text(self) -> str:
        try:
            return self.console.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _alive(self, until: float, what: str) -> None:
        code = self._process.poll() if self._process else 0
        if code is not None or time.monotonic() > until:
            log = (self.directory / "qemu.log").read_text(errors="replace")
            self.kill()
            fault = GuestError if code is not None else TooSlow
            raise fault(f"the VM {what} (exit {code}): {log[-1000:]}\n{self.last_console()[-3000:]}")

    def _ask(self, patience: float, **request: Any) -> Any:
        assert self._socket
        number = next(self._numbers)
        self._socket.settimeout(30)
        self._socket.sendall(json.dumps({"id": number, **request}).encode() + b"\n")
        until = time.monotonic() + patience
        while True:
            while b"\n" in self._pending:
                line, _, self._pending = self._pending.partition(b"\n")
                answer = json.loads(line)
                if answer["id"] != number:  # of a question that we gave up
                    continue
                if "error" in answer:
                    raise GuestError(answer["error"])
                return answer["value"]
            self._socket.settimeout(max(0.01, until - time.monotonic()))
            try:
                data = self._socket.recv(65536)
            except TimeoutError as exc:
                raise GuestError(
                    f"no answer in {patience:.0f} s to {request['op']}\n{self.console_text()[-2000:]}"
                ) from exc
            if not data:
                raise GuestError(f"the VM has gone\n{self.console_text()[-2000:]}")
            self._pending += data

    def call(self, function: Callable[..., Any], *args: Any, timeout: float = 180) -> Any:
        """Run a function of ours inside. Its whole module is sent once for each boot: it may import the standard
        library only. Arguments and value are JSON."""
        module = inspect.getmodule(function)
        assert module and module.__file__
        source = "" if module.__file__ in self._sent else Path(module.__file__).read_text()
        self._sent.add(module.__file__)
        return self._ask(timeout, op="call", source=source, name=function.__name__, args=args)

    def run(self, *argv: str, timeout: float = 60, env: dict[str, str] | None = None, check: bool = True) -> Any:
        """Run a program inside to its end: {"code", "out", "err"}."""
        done = self._ask(timeout + 15, op="run", argv=argv, timeout=timeout, env=env or {})
        if check and done["code"] != 0:
            raise GuestError(f"{argv}: exit {done['code']}\n{done['out'][-2000:]}\n{done['err'][-3000:]}")
        return done

    def stop(self, timeout: float = 30) -> None:
        """An orderly end: the guest writes its disk and switches off."""
        assert self._process and self._socket
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._socket.sendall(json.dumps({"id": 0, "op": "poweroff"}).encode() + b"\n")
            self._process.wait(timeout)
        self.kill()

    def kill(self) -> None:
        """The power fails: what the guest did not write to its disk is lost."""
        if self._socket:
            self._socket.close()
            self._socket = None
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self.console.exists():
            self.console.replace(self.directory / f"console.{self.boots}.log")
