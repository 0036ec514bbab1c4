"""Drives `provider.cgroups` inside the guest, on its real cgroup v2, and reads back what the kernel then has.

Decides nothing. Sent by the host, standard library and the installed Pinfold only.
"""

# Plain on purpose: what fails here fails far away.
# ruff: noqa: PTH102, PTH106, PTH110, PTH208, SIM105, SIM115, UP031, E501

import os
import subprocess
import sys

BASE = "/sys/fs/cgroup/vmtest"
RUNNING = {}


def enforcer():
    if "/opt" not in sys.path:
        sys.path.insert(0, "/opt")
    from provider import cgroups

    return cgroups.detect("auto", "vmtest")


def enforcer_ready():
    """Imports take a while on an emulated CPU."""
    return enforcer().kind


def tree():
    """{group: {file: text}} of everything below our base."""
    out = {}
    for path, _, _ in os.walk(BASE):
        files = {}
        for name in ("cpus", "cpus.effective", "mems.effective", "cpus.partition", "cpus.exclusive"):
            try:
                files[name] = open(path + "/cpuset." + name).read().strip()
            except OSError:
                pass
        for name in ("cpu.weight", "cpu.max"):
            try:
                files[name] = open(path + "/" + name).read().strip()
            except OSError:
                pass
        out[path[len(BASE) :].strip("/")] = files
    return out


def desired(exclusive, shared, plain):
    from provider.cgroups import Desired, SharedSlot, Slot
    from provider.cpuset import parse

    return Desired(
        plain=parse(plain),
        exclusive={
            k: Slot(parse(cpus), parse(mems or ""), partition) for k, (cpus, mems, partition) in exclusive.items()
        },
        shared={k: SharedSlot(parse(cpus), 0, guarantee, burst) for k, (cpus, guarantee, burst) in shared.items()},
    )


def apply(exclusive, shared, plain):
    """{"kind", "error", "notes", "steps", "again": steps of a second call, "tree", "drift"}"""
    made = enforcer()
    wish = desired(exclusive, shared, plain)
    out = {"kind": made.kind, "error": None}
    try:
        applied = made.apply(wish)
        out["steps"] = [str(step) for step in applied.steps]
        out["notes"] = {key: list(texts) for key, texts in applied.notes.items()}
        out["again"] = [str(step) for step in made.apply(wish).steps]
    except Exception as exc:
        out["error"] = "%s: %s" % (type(exc).__name__, exc)
    out["tree"] = tree()
    out["drift"] = drift(exclusive, shared, plain)
    return out


def drift(exclusive, shared, plain):
    return [[d.group, d.field, d.wanted, d.found] for d in enforcer().differences(desired(exclusive, shared, plain))]


def limits():
    from provider.cpuset import format_mask

    cpus, mems = enforcer().allowed()
    return [format_mask(cpus), format_mask(mems)]


def remove_all():
    for child in RUNNING.values():
        child.kill()
        child.wait()
    RUNNING.clear()
    enforcer().remove_all()
    return os.path.exists(BASE)


def spin(name, group):
    """A process that burns CPU in the group; a second call with the same name moves nothing."""
    child = subprocess.Popen(["/usr/bin/python3", "-S", "-c", "while True: pass"])
    RUNNING[name] = child
    write(BASE + "/" + group + "/cgroup.procs", str(child.pid))
    return child.pid


def write(path, text):
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def rmdir(path):
    os.rmdir(path)


def set_online(cpu, on):
    import time

    path = "/sys/devices/system/cpu/cpu%d/online" % cpu
    if open(path).read().strip() != ("1" if on else "0"):
        write(path, "1" if on else "0")
        time.sleep(0.5)


def group_of(pid):
    return [line.strip() for line in open("/proc/%d/cgroup" % pid)]


def watch(pids, seconds):
    """{pid: {"cpus": CPUs it was seen on, "allowed": its Cpus_allowed_list, "ticks": time used}}, looked at often."""
    import time

    seen = {pid: set() for pid in pids}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for pid in pids:
            # Field 39 of the file, counted after the name, which may hold spaces.
            fields = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
            if fields[0] == "R":  # one that sleeps shows where it was before
                seen[pid].add(int(fields[36]))
        time.sleep(0.02)
    out = {}
    for pid in pids:
        status = dict(line.split(":", 1) for line in open("/proc/%d/status" % pid) if ":" in line)
        fields = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
        out[str(pid)] = {
            "cpus": sorted(seen[pid]),
            "allowed": status["Cpus_allowed_list"].strip(),
            "mems": status["Mems_allowed_list"].strip(),
            "ticks": int(fields[11]) + int(fields[12]),
        }
    return out


def crowded_parent():
    """A directory given to us in which a process sits: [error, the controllers enabled in it then]."""
    import sys

    enforcer()
    from provider import cgroups

    parent = "/sys/fs/cgroup/crowd"
    write("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset +cpu")
    os.mkdir(parent)
    child = subprocess.Popen(["/bin/busybox", "sleep", "1000"])
    try:
        write(parent + "/cgroup.procs", str(child.pid))
        made = cgroups.detect(parent, "mine")
        try:
            made.apply(cgroups.Desired(plain=3))
            error = None
        except sys.modules["provider.errors"].EnforcementError as exc:
            error = str(exc)
        return [error, open(parent + "/cgroup.subtree_control").read().strip(), os.listdir(parent).count("mine")]
    finally:
        child.kill()
        child.wait()
        made.remove_all()
        os.rmdir(parent)


DELEGATED = """
import json, os
from agent_api import cgroup_paths
from provider import cgroups
agent = cgroup_paths.find("auto", "mine")
agent.step_aside()
made = cgroups.detect("auto", "mine")
wish = cgroups.Desired(plain=0xff0f, exclusive={"a": cgroups.Slot(0xf0, 2, "isolated")})
applied = made.apply(wish)
read = lambda path: open(path).read().strip()
print(json.dumps({
    "agent": agent.root, "provider": made.root, "self": read("/proc/self/cgroup"), "again": len(made.apply(wish).steps),
    "set": read(made.path("a") + "/cpuset.cpus.effective"), "plain": read(made.plain_path() + "/cpuset.cpus.effective"),
    "partition": read(made.path("a") + "/cpuset.cpus.partition"), "notes": {k: list(v) for k, v in applied.notes.items()},
    "allowed": made.allowed()[0],
}))
made.remove_all()
"""


def in_a_delegated_service():
    """What a process finds that is started as systemd starts one with Delegate=: in a directory that is marked."""
    import json

    enforcer()
    unit = "/sys/fs/cgroup/auto.slice/auto.service"
    for above, path in (("/sys/fs/cgroup", "/sys/fs/cgroup/auto.slice"), ("/sys/fs/cgroup/auto.slice", unit)):
        write(above + "/cgroup.subtree_control", "+cpuset +cpu")
        os.makedirs(path, exist_ok=True)
    os.setxattr(unit, "user.delegate", b"1")
    done = subprocess.run(
        ["/bin/sh", "-c", "echo $$ > %s/cgroup.procs; exec /usr/bin/python3 -c '%s'" % (unit, DELEGATED)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=120,  # noqa: F821  the guest agent's
    )  # fmt: skip
    left = os.path.exists(unit + "/mine")
    for path in (unit + "/mine.main", unit, os.path.dirname(unit)):
        os.rmdir(path)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return {**json.loads(done.stdout), "left": left}
