"""Runs the whole of Pinfold inside the guest: the agent as a process, and one framework that makes sets and launches tasks.

Decides nothing that is tested; it does what the host's test says and tells what it saw in /proc, cgroupfs and the API.
"""

# Plain on purpose: what fails here fails far away.
# ruff: noqa: PTH103, PTH118, PTH208, SIM115, UP031, E501

import contextlib
import functools
import json
import os
import signal
import sys
import threading
import time
import urllib.request
import uuid

AGENT, MASTER = "http://127.0.0.1:5051", "http://127.0.0.1:5050"
BURN = """import sys, time
memory = bytearray(int(sys.argv[2]) << 20)
for at in range(0, len(memory), 4096):
    memory[at] = 1
while True:
    until = time.monotonic() + 0.01
    while time.monotonic() < until:
        pass
    time.sleep(0.09)
"""
PROFILES = {
    "profile_matrix": {
        name: {
            "resource_provider_selector": {"resource_providers": [{"type": "org.pinfold.rp.cpu", "name": "host"}]},
            "cpuset": cpuset,
        }
        for name, cpuset in {
            "latency": {"core_siblings": "required", "memory": {"policy": "bind", "mode": "required"}},
            "kept": {"core_siblings": "required", "memory": {"policy": "bind", "mode": "required"}, "lifetime": "role"},
            "alone": {"core_siblings": "denied", "memory": {"policy": "bind", "mode": "required"}},
            "isolated": {"core_siblings": "required", "partition": "isolated"},
            "wide": {"core_siblings": "required", "memory": {"policy": "interleave", "mode": "required", "nodes": 2}},
            "apart": {"memory": {"policy": "bind"}},
            "batch": {"mode": "shared", "lifetime": "role"},
        }.items()
    }
}
CONFIG = {
    "type": "org.pinfold.rp.cpu",
    "name": "host",
    "cpu": {
        "floor": 2,
        "overcommit": 2.0,
        "profiles": {"uri": "file:///data/profiles.json", "poll_interval_seconds": 5},
    },
}
STATE = {}


class Framework:
    """Sees offers and statuses in a thread of its own; one lock for all."""

    def __init__(self, framework_id=""):
        if "/opt" not in sys.path:
            sys.path.insert(0, "/opt")
        from agent_api import scheduler_client

        scheduler_client.RECONNECT_SECONDS = 240.0  # on a busy machine an emulated agent takes minutes to start
        self.client = scheduler_client.SchedulerClient(
            MASTER,
            {
                "user": "root",
                "name": "vm test",
                "roles": ["latency"],
                "capabilities": [
                    {"type": name} for name in ("MULTI_ROLE", "RESERVATION_REFINEMENT", "REVOCABLE_RESOURCES")
                ],
            },
        )
        self.client.framework_id = framework_id
        self.lock = threading.RLock()
        self.offers, self.operations, self.tasks = {}, {}, {}
        self.ended = None
        self.client.subscribe()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        try:
            while True:
                before = self.client.subscriptions
                event = self.client.event(1.0)
                with self.lock:
                    if self.client.subscriptions != before:
                        self.offers.clear()  # they are of the stream that was lost
                    if event is not None:
                        self.take(event)
        except Exception as exc:
            self.ended = repr(exc)

    def take(self, event):
        kind = event["type"]
        if kind == "OFFERS":
            for offer in event["offers"]["offers"]:
                self.offers[offer["id"]["value"]] = offer
        elif kind == "RESCIND":
            self.offers.pop(event["rescind"]["offer_id"]["value"], None)
        elif kind == "UPDATE_OPERATION_STATUS":
            status = event["update_operation_status"]["status"]
            self.client.acknowledge_operation(status)
            self.operations[status.get("operation_id", {}).get("value")] = status
        elif kind == "UPDATE":
            status = event["update"]["status"]
            self.client.acknowledge_task(status)
            self.tasks.setdefault(status["task_id"]["value"], []).append(status)

    def resources(self):
        return [resource for offer in self.offers.values() for resource in offer.get("resources", [])]

    def accept(self, find, operation, timeout=60):
        """Wait until `find` finds resources among those offered, then ACCEPT all offers with `operation(found)`."""
        until = time.monotonic() + timeout
        while True:
            with self.lock:
                found = find(self.resources())
                if found:
                    ids, self.offers = list(self.offers), {}
                    self.client.accept(ids, operation(found))
                    return found
                have = [describe(resource) for resource in self.resources()]
            if time.monotonic() > until:
                raise RuntimeError("not offered in %d s; offered: %s; stream: %s" % (timeout, have, self.ended))
            time.sleep(0.05)

    def wait(self, get, what, timeout=60):
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            with self.lock:
                value = get()
            if value:
                return value
            time.sleep(0.02)
        raise RuntimeError("no %s in %d s; stream: %s" % (what, timeout, self.ended))


def source(resource):
    return resource.get("cpu", {}).get("source", {})


def describe(resource):
    found = source(resource)
    return [
        resource["name"],
        resource.get("scalar", {}).get("value"),
        found.get("type"),
        found.get("zone"),
        found.get("id"),
    ]


def part(resource, amount):
    return {**resource, "scalar": {"value": amount}}


# The processes.


def write_files():
    for name, text in (("burn.py", BURN), ("profiles.json", json.dumps(PROFILES)), ("config.json", json.dumps(CONFIG))):
        with open("/data/" + name, "w") as file:
            file.write(text)


def wait_agent(but=0):
    """Until the agent answers that systemd has started (not the one with the pid `but`): its pid."""
    until = time.monotonic() + 240
    while True:
        pid = running(b"agent")
        try:
            if pid and pid != but:
                urllib.request.urlopen(AGENT + "/health", timeout=5).read()
                return pid
        except OSError:
            pass
        if time.monotonic() > until:
            raise RuntimeError("no agent answers (pid %s)\n%s" % (pid, logs()))
        time.sleep(0.2)


def running(command):
    """The pid of pinfold COMMAND --work-dir; None where it does not run."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                words = open("/proc/%s/cmdline" % name, "rb").read().split(b"\0")
                if command in words and b"--work-dir" in words and b"--check" not in words:
                    return int(name)
    return None


def kill(command):
    """kill -9; the provider is started again by the agent, the agent by systemd. Returns the pid it had."""
    pid = running(command.encode())
    os.kill(pid, signal.SIGKILL)
    return pid


def logs():
    out = ""
    for path, _, names in os.walk("/data"):
        for name in names:
            if name in ("agent.log", "log"):
                out += "--- %s/%s\n%s\n" % (path, name, open(os.path.join(path, name), errors="replace").read()[-6000:])
    return out


def ask(kind):
    body = json.dumps({"type": kind}).encode()
    request = urllib.request.Request(
        AGENT + "/api/v1", body, {"Content-Type": "application/json", "Accept": "application/json"}
    )
    return json.loads(urllib.request.urlopen(request, timeout=30).read())[kind.lower()]


def sets():
    """{id: set} of all providers."""
    return {
        found["id"]: found
        for provider in ask("GET_CPUSETS").get("providers", [])
        for found in provider.get("cpusets", [])
    }


def wait_sets(conditions, timeout=60):
    """Until the set with each id has the given fields; returns all sets."""
    until = time.monotonic() + timeout
    while True:
        try:
            found = sets()
        except OSError:  # the agent or the provider is not back yet
            found = {}
        if all(found.get(i, {}).get(k) == v for i, wish in conditions.items() for k, v in wish.items()):
            return found
        if time.monotonic() > until:
            raise RuntimeError("wanted %s, have %s\n%s" % (conditions, found, logs()))
        time.sleep(0.2)


def raw_amounts():
    """[RAW by zone, revocable RAW by zone] of all providers, offered or not."""
    out = [{}, {}]
    for provider in ask("GET_RESOURCE_PROVIDERS").get("resource_providers", []):
        for resource in provider.get("total_resources", []):
            found = source(resource)
            if found.get("type") == "RAW":
                amounts = out["revocable" in resource]
                amounts[found["zone"]] = amounts.get(found["zone"], 0) + resource["scalar"]["value"]
    return out


def wait_raw(wish, timeout=60):
    """Until there is just that much RAW."""
    until = time.monotonic() + timeout
    while raw_amounts() != wish:
        if time.monotonic() > until:
            raise RuntimeError("wanted %s, have %s\n%s" % (wish, raw_amounts(), logs()))
        time.sleep(0.2)


def ready(timeout=200):
    """Until a provider has said what it has: the names of its profiles."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        with contextlib.suppress(OSError, KeyError):
            for provider in ask("GET_PROFILES").get("providers", []):
                if provider.get("profiles"):
                    return sorted(profile["name"] for profile in provider["profiles"])
        time.sleep(0.3)
    raise RuntimeError("no provider is ready\n" + logs())


# The framework.


def subscribe():
    STATE["framework"] = Framework()
    return STATE["framework"].client.framework_id


def wait_resubscribed():
    """After the agent's death: until the framework has taken its stream up again, and has offers of it."""
    framework = STATE["framework"]
    framework.wait(lambda: framework.client.subscriptions > 1 and framework.offers, "new subscription", 200)


def step_aside():
    """Give all offers back and want none, so that another framework gets them."""
    framework = STATE["framework"]
    with framework.lock:
        framework.client.call("SUPPRESS")
        ids, framework.offers = [{"value": offer_id} for offer_id in framework.offers], {}
        if ids:
            framework.client.call("DECLINE", decline={"offer_ids": ids, "filters": {"refuse_seconds": 600.0}})


def step_back():
    STATE["framework"].client.call("REVIVE")


def framework_id():
    return STATE["framework"].client.framework_id


def resubscribe(framework_id):
    STATE["framework"] = Framework(framework_id)
    return STATE["framework"].client.framework_id


def operate(find, operation, timeout=60):
    """Accept with an operation and wait for its end: {"state", "message", "resources", "done_at"}. Once more where an
    offer was just taken back: what is revocable changes with each exclusive set."""
    status = {}
    while not status or "is no longer valid" in status.get("message", ""):
        status = operate_once(find, operation, timeout)
    return {
        "state": status["state"],
        "message": status.get("message", ""),
        "resources": [[describe(r), labels(r)] for r in status.get("converted_resources", [])],
        "done_at": time.monotonic(),
    }


def operate_once(find, operation, timeout):
    framework = STATE["framework"]
    name = str(uuid.uuid4())
    framework.accept(find, lambda found: {"id": {"value": name}, **operation(found)}, timeout)
    return framework.wait(lambda: framework.operations.get(name), "status of operation", timeout)


def labels(resource):
    return {x["key"]: x.get("value", "") for x in source(resource).get("metadata", {}).get("labels", [])}


def raw(cpus, zone, revocable=False):
    """That many RAW CPUs of the zone (or lists: so many of each), of as many offers as it takes."""
    zones = {zone: cpus} if isinstance(zone, str) else dict(zip(zone, cpus, strict=True))

    def find(resources):
        taken, wanted = [], dict(zones)
        for resource in resources:
            found = source(resource)
            left = wanted.get(found.get("zone"))
            if left and found.get("type") == "RAW" and ("revocable" in resource) == revocable:
                amount = min(left, resource["scalar"]["value"])
                taken.append(part(resource, amount))
                wanted[found["zone"]] -= amount
        return taken if not any(wanted.values()) else None

    return find


def of_set(set_id):
    return lambda resources: [r for r in resources if source(r).get("id") == set_id] or None


def create(profile, cpus, zone, burst=None, revocable=False):
    wish = {"target_profile": profile, **({"burst": burst} if burst else {})}
    return operate(
        raw(cpus, zone, revocable),
        lambda found: {"type": "CREATE_CPUSET", "create_cpuset": {"source": found, **wish}},
    )


def destroy(set_id):
    began = time.monotonic()
    done = operate(of_set(set_id), lambda found: {"type": "DESTROY_CPUSET", "destroy_cpuset": {"source": found}})
    return {**done, "began_at": began}


def grow(set_id, cpus, zone):
    """Both the set and the RAW have to be offered at once."""

    def find(resources):
        mine, more = of_set(set_id)(resources), raw(cpus, zone)(resources)
        return [mine, more] if mine and more else None

    return operate(
        find, lambda found: {"type": "RESIZE_CPUSET", "resize_cpuset": {"cpuset": found[0], "add": found[1]}}
    )


def shrink(set_id, cpus):
    def operation(found):
        return {"type": "RESIZE_CPUSET", "resize_cpuset": {"cpuset": found, "subtract": [part(found[0], cpus)]}}

    return operate(of_set(set_id), operation)


def launch(name, megabytes, set_ids=(), plain=0.0, amount=None, timeout=90):
    """A task that burns CPU a tenth of the time (emulation is slow enough): in sets (all of each that is offered, or that
    many CPUs' worth), or plain. The pid of the process that burns, and its id."""
    framework = STATE["framework"]
    agent_id = {}

    def find(resources):
        found = []
        for set_id in set_ids:
            mine = of_set(set_id)(resources)
            if not mine:
                return None
            found += [part(mine[0], amount)] if amount else mine
        own = {r["name"]: r for r in resources if "provider_id" not in r and r["name"] in ("cpus", "mem")}
        if "mem" not in own or (plain and own.get("cpus", {"scalar": {"value": 0}})["scalar"]["value"] < plain):
            return None
        agent_id.update(next(iter(framework.offers.values()))["agent_id"])
        return [*found, part(own["mem"], megabytes + 32), *([part(own["cpus"], plain)] if plain else [])]

    def operation(task_id, found):
        command = "exec /usr/bin/python3 -S /data/burn.py %s %d" % (name, megabytes)
        info = {
            "name": name,
            "task_id": {"value": task_id},
            "agent_id": agent_id,
            "resources": found,
            "command": {"value": command},
        }
        return {"type": "LAUNCH", "launch": {"task_infos": [info]}}

    first = {}
    while not first or first.get("reason") == "REASON_INVALID_OFFERS":  # as in `operate`
        task_id = "%s-%s" % (name, uuid.uuid4())
        framework.accept(find, functools.partial(operation, task_id), timeout)
        first = first_status(task_id, timeout)
    if first["state"] != "TASK_RUNNING":
        raise RuntimeError("task %s: %s %s\n%s" % (name, first["state"], first.get("message"), logs()))
    until = time.monotonic() + 60
    while True:
        pid = burning(name)
        if pid:
            return {"task_id": task_id, "pid": pid}
        if time.monotonic() > until:
            raise RuntimeError("task %s runs, but nothing burns" % name)
        time.sleep(0.05)


def first_status(task_id, timeout):
    """That says whether it runs."""
    framework = STATE["framework"]
    return framework.wait(
        lambda: [s for s in framework.tasks.get(task_id, []) if s["state"] not in ("TASK_STAGING", "TASK_STARTING")],
        "status of task " + task_id,
        timeout,
    )[0]


def burning(name):
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                words = open("/proc/%s/cmdline" % entry, "rb").read().split(b"\0")
                if len(words) > 3 and words[-3] == name.encode() and words[-4] == b"/data/burn.py":
                    return int(entry)
    return None


def end_task(task_id, timeout=60):
    """Kill it; its last state."""
    framework = STATE["framework"]
    framework.client.call("KILL", kill={"task_id": {"value": task_id}})
    return last_state(task_id, timeout)


def last_state(task_id, timeout=60):
    return last_status(task_id, timeout)["state"]


def last_status(task_id, timeout=60):
    framework = STATE["framework"]
    return framework.wait(
        lambda: [s for s in framework.tasks.get(task_id, []) if s["state"] not in ("TASK_STAGING", "TASK_STARTING", "TASK_RUNNING", "TASK_KILLING")],
        "end of task " + task_id,
        timeout,
    )[0]  # fmt: skip


# What is seen.


def environment(pid):
    pairs = [word.split(b"=", 1) for word in open("/proc/%d/environ" % pid, "rb").read().split(b"\0") if b"=" in word]
    return {key.decode(): value.decode() for key, value in pairs if key.startswith(b"PINFOLD_")}


def memory(pid):
    """Anonymous pages of large mappings by node."""
    nodes = {}
    for line in open("/proc/%d/numa_maps" % pid):
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if "file" in words or int(words.get("anon", 0)) < 1000:
            continue
        for key, value in words.items():
            if key[0] == "N" and key[1:].isdigit():
                nodes[key[1:]] = nodes.get(key[1:], 0) + int(value)
    return nodes


def group(pid):
    return open("/proc/%d/cgroup" % pid).read().strip()


def alive(pid):
    with contextlib.suppress(OSError):
        return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0] != "Z"
    return False


def file(path):
    try:
        return open(path).read().strip()
    except OSError as exc:
        return exc.strerror


def wait_file(path, words, timeout=60):
    """Until the file has these words."""
    until = time.monotonic() + timeout
    while words not in file(path):
        if time.monotonic() > until:
            raise RuntimeError("%s: no %r in %r" % (path, words, file(path)))
        time.sleep(0.1)


class Sampler(threading.Thread):
    """Looks all the time where processes run: (time, pid, CPU)."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.pids, self.samples, self.on = pids, [], True

    def run(self):
        handles = {pid: open("/proc/%d/stat" % pid) for pid in self.pids}
        while self.on:
            for pid, handle in handles.items():
                try:
                    handle.seek(0)
                    before = time.monotonic()
                    fields = handle.read().rpartition(")")[2].split()
                except OSError:
                    continue
                if fields[0] == "R":  # one that sleeps shows where it was before
                    self.samples.append((before, pid, int(fields[36])))
            time.sleep(0.01)


def sample(pids):
    STATE["sampler"] = Sampler(pids)
    STATE["sampler"].start()


def sampled():
    STATE["sampler"].on = False
    STATE["sampler"].join()
    return STATE["sampler"].samples


def come_and_go(rounds, profile, zones):
    """Makes an exclusive set in each zone, runs a task in it for a moment, destroys it, several times: [[CPU list, from, to,
    pid]]: in these times nothing but that process may have been on those CPUs. Fewer rounds, but two, where it is slow."""
    out, began = [], time.monotonic()
    for number in range(rounds):
        if number > 1 and time.monotonic() - began > 90:
            break
        zone = zones[number % len(zones)]
        made = create(profile, 2, zone)
        if made["state"] != "OPERATION_FINISHED":
            raise RuntimeError(str(made) + logs())
        (_, _, _, _, set_id), facts = made["resources"][0]
        task = launch("guest%d" % number, 1, [set_id])
        time.sleep(0.5)
        end_task(task["task_id"])
        until = time.monotonic()
        gone = destroy(set_id)
        if gone["state"] != "OPERATION_FINISHED":
            raise RuntimeError(str(gone) + logs())
        out.append([facts["cpus"], made["done_at"], until, task["pid"]])
    return out
