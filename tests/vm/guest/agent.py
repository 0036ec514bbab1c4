"""Process 1 of the guest: mounts what a system needs, then does what the host asks for, one JSON line at a time.

Decides nothing about Pinfold. It is the only file of the tests that runs inside without being sent in; standard library only.

Requests: {"id": N, "op": "call", "source": STR, "name": STR, "args": [...]} executes a function's source in one lasting
namespace and returns its value; {"op": "run", "argv": [...], "timeout": S, "env": {...}, "input": STR} runs a program to
its end; {"op": "poweroff"} ends the machine after writing everything to the disk. Answers: {"id": N, "value": ...} or
{"id": N, "error": STR}.
"""

# Plain on purpose: what fails here fails far away.
# ruff: noqa: PTH103, PTH207, SIM115, E501

import ctypes
import glob
import json
import os
import subprocess
import threading
import traceback

LIBC = ctypes.CDLL(None, use_errno=True)
ENVIRONMENT = {
    "PATH": "/opt/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "PYTHONPATH": "/opt",
    "PYTHONDONTWRITEBYTECODE": "1",
    "HOME": "/tmp",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
}


def mount(source, target, kind, flags=0, options=""):
    os.makedirs(target, exist_ok=True)
    if LIBC.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode()):
        code = ctypes.get_errno()
        raise OSError(code, f"mount {target}: {os.strerror(code)}")


def umount(target):
    if LIBC.umount2(target.encode(), 0):
        code = ctypes.get_errno()
        raise OSError(code, f"umount {target}: {os.strerror(code)}")


def port():
    for name in glob.glob("/sys/class/virtio-ports/*/name"):
        if open(name).read().strip() == "pinfold":
            return open("/dev/" + name.split("/")[-2], "r+b", buffering=0)
    raise OSError("no virtio port named pinfold")


def serve(channel):
    lock = threading.Lock()
    namespace = {"mount": mount, "umount": umount, "ENVIRONMENT": ENVIRONMENT}

    def answer(number, **fields):
        data = json.dumps({"id": number, **fields}).encode() + b"\n"
        with lock:
            while data:
                data = data[os.write(channel.fileno(), data) :]

    def one(request):
        try:
            answer(request["id"], value=do(request, namespace))
        except BaseException:
            answer(request.get("id"), error=traceback.format_exc())

    pending = b""
    while True:
        data = os.read(channel.fileno(), 65536)
        if not data:  # nobody is connected at the other end
            threading.Event().wait(0.05)
            continue
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            threading.Thread(target=one, args=(json.loads(line),), daemon=True).start()


def do(request, namespace):
    if request["op"] == "call":
        exec(compile(request["source"], "<host>", "exec"), namespace)
        return namespace[request["name"]](*request["args"])
    if request["op"] == "run":
        try:
            done = subprocess.run(
                request["argv"],
                input=request.get("input") or "",
                capture_output=True,
                text=True,
                errors="replace",
                timeout=request["timeout"],
                env={**ENVIRONMENT, **request.get("env", {})},
                cwd="/tmp",
            )
        except subprocess.TimeoutExpired as exc:
            return {"code": None, "out": str(exc.stdout), "err": str(exc.stderr)}
        return {"code": done.returncode, "out": done.stdout, "err": done.stderr}
    if request["op"] == "poweroff":
        os.sync()
        LIBC.reboot(0x4321FEDC)
    raise ValueError(request["op"])


def main():
    for source, target, kind in (
        ("proc", "/proc", "proc"),
        ("sys", "/sys", "sysfs"),
        ("dev", "/dev", "devtmpfs"),
        ("tmp", "/tmp", "tmpfs"),
        ("run", "/run", "tmpfs"),
        ("cgroup", "/sys/fs/cgroup", "cgroup2"),
    ):
        mount(source, target, kind)
    subprocess.run(["/bin/busybox", "ifconfig", "lo", "127.0.0.1", "up"])
    os.environ.update(ENVIRONMENT)
    os.environ.pop("PYTHONPATH")
    if os.fork() == 0:
        os.setsid()
        channel = port()
        print("agent: ready", flush=True)
        serve(channel)
    while True:  # what tasks leave behind when their parents go becomes ours
        try:
            os.wait()
        except ChildProcessError:
            threading.Event().wait(1)


if __name__ == "__main__":
    main()
