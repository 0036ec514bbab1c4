"""Pinfold's main job, for real, on this host: run by `make demo`.

Starts an agent in a scratch directory, adds a CPU provider through the operator API, makes an exclusive CPU set
by the name of a profile, runs a task pinned to it beside a plain one, shows which CPUs each has as the kernel
tells, destroys the set, and stops everything it started: all of it with commands or calls that a user has.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import requests

PINFOLD = [sys.executable, "-m", "agent_api.cli.main"]
PROFILES = {
    "profile_matrix": {
        "latency": {"cpuset": {"mode": "exclusive", "core_siblings": "required", "memory": {"policy": "bind"}}},
        "batch": {"cpuset": {"mode": "shared"}},
    }
}
ALLOWED = "grep Cpus_allowed_list /proc/self/status"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def wait_for(what: Any, why: str, timeout: float = 20.0) -> Any:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            found = what()
            if found:
                return found
        except (OSError, requests.RequestException, ValueError):
            pass
        time.sleep(0.1)
    raise SystemExit(f"demo: {why}: not within {timeout:.0f} s")


def allowed_list(output: str) -> str:
    return next(line.split(":")[1].strip() for line in output.splitlines() if line.startswith("Cpus_allowed_list"))


def demo(directory: Path) -> None:
    work_dir = directory / "agent"
    profiles = directory / "profiles.json"
    profiles.write_text(json.dumps(PROFILES, indent=1))
    config = directory / "provider.json"
    config.write_text(
        json.dumps(
            {
                "type": "org.pinfold.rp.cpu",
                "name": "host",
                "cpu": {"floor": 1, "profiles": {"uri": f"file://{profiles}"}},
            },
            indent=1,
        )
    )
    log = directory / "agent.log"
    cgroup = f"pinfold-demo-{os.getpid()}"
    say("$ pinfold agent --work-dir … --port 0 --master-port 0")
    with log.open("wb") as output:
        agent = subprocess.Popen(
            [
                *(*PINFOLD, "agent", "--work-dir", str(work_dir), "--port", "0", "--master-port", "0"),
                *("--cgroup-name", cgroup),
            ],
            stdout=output,
            stderr=output,
        )
    plain: subprocess.Popen[str] | None = None
    try:
        endpoints = wait_for(lambda: json.loads((work_dir / "endpoints.json").read_text()), f"agent up, see {log}")
        os.environ.update(PINFOLD_AGENT=endpoints["agent"], PINFOLD_MASTER=endpoints["master"])
        wait_for(lambda: requests.get(f"{endpoints['agent']}/health", timeout=2).ok, "agent healthy")
        say(f"  agent at {endpoints['agent']}, master at {endpoints['master']}")

        say("$ pinfold provider-config add provider.json")
        subprocess.run([*PINFOLD, "provider-config", "add", str(config)], check=True)
        wait_for(lambda: "RAW" in pinfold("providers", "--json"), "provider ready")
        say("$ pinfold topology")
        subprocess.run([*PINFOLD, "topology"], check=True)

        say("$ pinfold run --cpus 0.5 -- sh -c '… sleep …'      (a plain task, in the background)")
        before = directory / "before"
        after = directory / "after"
        script = f"{ALLOWED} > {before}; while [ ! -e {after}.go ]; do sleep 0.1; done; {ALLOWED} > {after}; sleep 2"
        plain = subprocess.Popen([*PINFOLD, "run", "--cpus", "0.5", "--", "sh", "-c", script], text=True)
        alone = allowed_list(wait_for(before.read_text, "plain task started"))

        say("$ pinfold run --profile latency --cpus N -- sh -c 'grep Cpus_allowed_list /proc/self/status; …'")
        number = one_core(endpoints["agent"])
        pinned = subprocess.run(
            [
                *(*PINFOLD, "run", "--profile", "latency", "--cpus", str(number), "--"),
                *("sh", "-c", f"{ALLOWED}; touch {after}.go; while [ ! -s {after} ]; do sleep 0.1; done"),
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        beside = allowed_list(after.read_text())
        mine = allowed_list(pinned.stdout)
        code = plain.wait(30)
        say("")
        say("CPUs as the kernel tells (Cpus_allowed_list):")
        say(f"  plain task, alone on the host          {alone}")
        say(f"  task in the exclusive set 'latency'    {mine}")
        say(f"  plain task beside it                   {beside}")
        sets = json.loads(pinfold("sets", "--json"))
        say(f"  sets left after the run                {len(sets)}")
        if code != 0 or sets:
            raise SystemExit(f"demo: the plain task ended with {code}, sets left: {sets}")
    finally:
        if plain is not None and plain.poll() is None:
            plain.send_signal(signal.SIGINT)
            plain.wait(30)
        if agent.poll() is None:
            agent.send_signal(signal.SIGTERM)
            agent.wait(30)


def pinfold(*arguments: str) -> str:
    return subprocess.run([*PINFOLD, *arguments], check=True, capture_output=True, text=True).stdout


def one_core(agent_url: str) -> int:
    """How many CPUs a core of this host has."""
    response = requests.post(f"{agent_url}/api/v1", json={"type": "GET_TOPOLOGY"}, timeout=10)
    cpus = response.json()["get_topology"]["providers"][0]["topology"]["cpus"]
    return max(Counter(cpu["core"] for cpu in cpus).values())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pinfold-demo-") as scratch:
        demo(Path(scratch))
    say("Everything is stopped and removed.")
