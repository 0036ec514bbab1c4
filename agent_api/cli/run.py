"""`pinfold run`: a framework for one command. Makes a set, runs the command in it, destroys the set; without a
profile it runs the command as a plain task.

Decides which RAW to take: the first zone that can hold the number, else several zones, largest first; offers of no use
to it go back to the others. Where anything fails, or the user interrupts, everything that was made is taken down again.
Exit status: the command's, 128 + signal where it was killed, 1 where it could not be run.
"""

from __future__ import annotations

import base64
import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import click
import requests

from agent_api.cli.client import TIMEOUT, credential, session, with_access, with_agent, with_master
from agent_api.scheduler_client import SchedulerClient, SchedulerError

__all__ = ["pick_raw", "run"]

PASSED_ENVIRONMENT = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TERM|TZ")
TERMINAL = (
    *("TASK_FINISHED", "TASK_FAILED", "TASK_KILLED", "TASK_ERROR", "TASK_LOST"),
    *("TASK_DROPPED", "TASK_GONE", "TASK_GONE_BY_OPERATOR"),
)
CLEANUP_SECONDS = 20.0
FOLLOW_SECONDS = 0.1
HOLD_SECONDS = 1.0
"""How long an offer is held that does not hold enough: what comes next may complete it, but others wait for it, too."""
REFUSE_SECONDS = 1.0
UNWANTED_SECONDS = 3600.0


class _RunError(Exception):
    """The command cannot be run; the message is for the user."""


class _Interrupted(Exception):  # noqa: N818 (an order, not an error)
    """The user wants it to end."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--profile", default=None, help="The profile of the set; without it, a plain task is run.")
@click.option(
    "--cpus",
    required=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="How many RAW CPUs to take, a whole number; for a plain task any number.",
)
@click.option("--mem", default=0.0, type=click.FloatRange(min=0), metavar="MB", help="Memory limit of the command.")
@click.option("--zone", default=None, metavar="Z", help="Take them from this zone only, e.g. numa/0.")
@click.option("--role", default="*", show_default=True, help="The role to run as.")
@click.option("--burst", default=None, type=click.FloatRange(min=0), metavar="N", help="For shared profiles.")
@click.option("--env", "environment", multiple=True, metavar="NAME[=VALUE]", help="Pass a variable on.")
@click.option(
    "--timeout", default=60.0, show_default=True, type=click.FloatRange(min=0), help="Seconds to wait for CPUs."
)
@with_agent
@with_master
@with_access
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    profile: str | None,
    cpus: float,
    mem: float,
    zone: str | None,
    role: str,
    burst: float | None,
    environment: tuple[str, ...],
    timeout: float,
    agent_url: str,
    master_url: str,
    command: tuple[str, ...],
) -> None:
    """Run COMMAND in a CPU set of its own, in this directory, with its output here.

    Without --profile it is a plain task: it runs on the CPUs that no exclusive set holds. Ctrl-C ends the command and
    gives the set back. Exits with the command's exit status.
    """
    if profile is not None and cpus != int(cpus):
        raise click.BadParameter(f"{cpus:g} is not a whole number of CPUs", param_hint="'--cpus'")
    for option, value in (("--zone", zone), ("--burst", burst)):
        if profile is None and value is not None:
            raise click.UsageError(f"{option} needs a --profile")
    program = shutil.which(command[0])
    if program is None:
        click.echo(f"Error: {command[0]}: command not found", err=True)
        sys.exit(127)
    one = _Run(
        agent_url=agent_url,
        master_url=master_url,
        profile=profile,
        cpus=cpus,
        mem=mem,
        zone=zone,
        role=role,
        burst=burst,
        timeout=timeout,
        command=(os.path.abspath(program), *command),  # noqa: PTH100 (links keep their names)
        environment=_environment(environment),
    )
    sys.exit(one.execute())


def _environment(asked: tuple[str, ...]) -> dict[str, str]:
    passed = {name: value for name, value in os.environ.items() if PASSED_ENVIRONMENT.fullmatch(name)}
    for entry in asked:
        name, equals, value = entry.partition("=")
        if equals:
            passed[name] = value
        elif name in os.environ:
            passed[name] = os.environ[name]
    return passed


def _source(resource: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = resource.get("cpu", {}).get("source", {})
    return found


def _amount(resource: dict[str, Any]) -> float:
    return float(resource.get("scalar", {}).get("value", 0.0))


def _part(resource: dict[str, Any], amount: float) -> dict[str, Any]:
    return {**resource, "scalar": {"value": amount}}


def pick_raw(offered: list[dict[str, Any]], cpus: float, pool: str, zone: str | None) -> list[dict[str, Any]] | None:
    """`cpus` RAW CPUs out of offered resources, as parts of them: of the first zone (in the order offered) that
    has them all, else of several zones, those with most first. None where there are not enough. Revocable CPUs
    are not taken, and never those of two providers."""
    by_zone: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for resource in offered:
        source = _source(resource)
        if source.get("type") == "RAW" and "revocable" not in resource and source.get("pool", "default") == pool:
            key = (resource["provider_id"]["value"], source.get("zone", ""))
            if zone is None or key[1] == zone:
                by_zone.setdefault(key, []).append(resource)

    def take(resources: list[dict[str, Any]], wanted: float) -> list[dict[str, Any]]:
        taken = []
        for resource in resources:
            amount = min(wanted, _amount(resource))
            if amount > 0:
                taken.append(_part(resource, amount))
                wanted -= amount
        return taken

    totals = {key: sum(map(_amount, resources)) for key, resources in by_zone.items()}
    for key, resources in by_zone.items():
        if totals[key] >= cpus:
            return take(resources, cpus)
    for provider in dict.fromkeys(key[0] for key in by_zone):
        keys = sorted((key for key in by_zone if key[0] == provider), key=lambda key: -totals[key])
        if sum(totals[key] for key in keys) >= cpus:
            return take([resource for key in keys for resource in by_zone[key]], cpus)
    return None


class _Run:
    """One command from SUBSCRIBE to TEARDOWN."""

    def __init__(
        self,
        *,
        agent_url: str,
        master_url: str,
        profile: str | None,
        cpus: float,
        mem: float,
        zone: str | None,
        role: str,
        burst: float | None,
        timeout: float,
        command: tuple[str, ...],
        environment: dict[str, str],
    ) -> None:
        self.agent_url = agent_url.rstrip("/")
        self.profile = profile
        self.cpus = cpus
        self.mem = mem
        self.zone = zone
        self.burst = burst
        self.timeout = timeout
        self.command = command
        self.environment = environment
        known = credential()
        self.client = SchedulerClient(
            master_url,
            {
                **({"principal": known.principal} if known is not None else {}),
                "user": getpass.getuser(),
                "name": f"pinfold run {command[1]}",
                "roles": [role],
                "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
            },
            session(),
        )
        self.offers: dict[str, dict[str, Any]] = {}
        self.offered_at: dict[str, float] = {}
        self.wanting = True
        """Whether anything is to be taken from offers now."""
        self.given_back: list[dict[str, Any]] = []
        """The resources that were of no use last."""
        self.operations: dict[str, dict[str, Any]] = {}
        self.task_id = ""
        self.task: dict[str, Any] = {}
        self.set_id = ""
        self.create_id = ""
        self.signals = 0
        self.output_at = {"stdout": 0, "stderr": 0}
        self.output_read = False
        self.session = session()

    def execute(self) -> int:
        """Run it and clean up; the exit status."""
        with self._signals():
            status = 1
            try:
                self.client.subscribe()
                if self.profile is not None:
                    self._make_set()
                self._launch()
                status = self._follow()
            except _Interrupted:
                status = 130
            except (_RunError, SchedulerError) as error:
                click.echo(f"Error: {error}", err=True)
            finally:
                self._clean_up()
        return status

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        def count(_number: int, _frame: Any) -> None:
            self.signals += 1

        before = {number: signal.signal(number, count) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # -- events

    def _step(self, timeout: float) -> None:
        """Take one event, if one comes in time, and remember what it says. Then decline what is of no use."""
        subscription = self.client.subscriptions
        event = self.client.event(timeout)
        if self.client.subscriptions != subscription:
            self.offers.clear()
        if event is not None:
            self._remember(event)
        self._give_back()

    def _remember(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "OFFERS":
                for offer in event["offers"]["offers"]:
                    self.offers[offer["id"]["value"]] = offer
                    self.offered_at[offer["id"]["value"]] = time.monotonic()
            case "RESCIND":
                self.offers.pop(event["rescind"]["offer_id"]["value"], None)
            case "UPDATE_OPERATION_STATUS":
                status = event["update_operation_status"]["status"]
                with contextlib.suppress(SchedulerError):  # else it is sent again
                    self.client.acknowledge_operation(status)
                operation_id = status.get("operation_id", {}).get("value")
                if operation_id:
                    self.operations[operation_id] = status
            case "UPDATE":
                status = event["update"]["status"]
                with contextlib.suppress(SchedulerError):
                    self.client.acknowledge_task(status)
                if status["task_id"]["value"] == self.task_id and self.task.get("state") not in TERMINAL:
                    self.task = status
            case _:
                pass

    def _give_back(self) -> None:
        now = time.monotonic()
        useless = [i for i in self.offers if not self.wanting or now - self.offered_at[i] >= HOLD_SECONDS]
        if not useless:
            return
        self.given_back = self._resources()
        for offer_id in useless:
            del self.offers[offer_id]
        decline = {
            "offer_ids": [{"value": offer_id} for offer_id in useless],
            "filters": {"refuse_seconds": REFUSE_SECONDS if self.wanting else UNWANTED_SECONDS},
        }
        with contextlib.suppress(SchedulerError):  # offers end with the stream
            self.client.call("DECLINE", decline=decline)

    def _want(self, wanting: bool) -> None:
        """Ask for offers, or for none."""
        self.wanting = wanting
        with contextlib.suppress(SchedulerError):  # without SUPPRESS they come and are declined
            self.client.call("REVIVE" if wanting else "SUPPRESS")

    def _wait(self, done: Callable[[], Any], timeout: float, interruptible: bool = True) -> Any:
        """Take events until `done()` is something; None after the timeout."""
        end = time.monotonic() + timeout
        while True:
            found = done()
            if found:
                return found
            if interruptible and self.signals:
                raise _Interrupted
            left = end - time.monotonic()
            if left <= 0:
                return None
            self._step(min(left, 0.2))

    def _resources(self) -> list[dict[str, Any]]:
        return [resource for offer in self.offers.values() for resource in offer.get("resources", [])]

    def _accept(self, wanted: list[dict[str, Any]], operation: dict[str, Any]) -> None:
        """ACCEPT all held offers of the agent that has the wanted resources."""
        identity = [{key: value for key, value in part.items() if key != "scalar"} for part in wanted]
        used = [
            offer
            for offer in self.offers.values()
            if any(
                {key: value for key, value in resource.items() if key != "scalar"} in identity
                for resource in offer.get("resources", [])
            )
        ]
        for offer in used:
            del self.offers[offer["id"]["value"]]
        self.client.accept([offer["id"]["value"] for offer in used], operation)

    # -- steps

    def _make_set(self) -> None:
        pool = self._pool()
        taken = self._wait(lambda: pick_raw(self._resources(), self.cpus, pool, self.zone), self.timeout)
        if taken is None:
            raise _RunError(self._nothing_fits(pool))
        self.create_id = f"create-{uuid.uuid4()}"
        create: dict[str, Any] = {"source": taken, "target_profile": self.profile}
        if self.burst is not None:
            create["burst"] = self.burst
        self._accept(taken, {"type": "CREATE_CPUSET", "id": {"value": self.create_id}, "create_cpuset": create})
        status = self._wait(lambda: self.operations.get(self.create_id), self.timeout)
        if status is None:
            raise _RunError(f"the provider has not made the set within {self.timeout:g} s")
        if status["state"] != "OPERATION_FINISHED":
            raise _RunError(f"no set was made: {status.get('message') or status['state']}")
        self.set_id = _source(status["converted_resources"][0])["id"]

    def _pool(self) -> str:
        """The pool that the profile takes its CPUs from; the default one where the agent does not tell."""
        answer = self._ask({"type": "GET_PROFILES"}).get("get_profiles", {})
        for provider in answer.get("providers", []):
            for profile in provider.get("profiles", []):
                if profile["name"] == self.profile:
                    with contextlib.suppress(ValueError, AttributeError):
                        definition = json.loads(profile.get("definition", "{}"))
                        return str(definition.get("pool") or definition.get("cpuset", {}).get("pool") or "default")
        return "default"

    def _nothing_fits(self, pool: str) -> str:
        wanted = f"{self.cpus:g} RAW CPUs of pool {pool}" + (f" in zone {self.zone}" if self.zone else "")
        zones: dict[str, float] = {}
        for resource in self._resources() or self.given_back:
            source = _source(resource)
            if source.get("type") == "RAW":
                name = f"{source.get('zone')} (pool {source.get('pool', 'default')})"
                zones[name] = zones.get(name, 0.0) + _amount(resource)
        offered = ", ".join(f"{name}: {amount:g}" for name, amount in zones.items())
        return f"{wanted} were not offered within {self.timeout:g} s; " + (
            f"offered are {offered}" if offered else "no RAW CPUs were offered at all"
        )

    def _in_set(self) -> list[dict[str, Any]]:
        return [
            resource for resource in self._resources() if self.set_id and _source(resource).get("id") == self.set_id
        ]

    def _plain(self, name: str, amount: float) -> list[dict[str, Any]]:
        """That much of one of the agent's own resources; empty where no offer has it."""
        for resource in self._resources():
            if resource["name"] == name and "provider_id" not in resource and _amount(resource) >= amount:
                return [_part(resource, amount)]
        return []

    def _launch(self) -> None:
        def enough() -> list[dict[str, Any]] | None:
            parts = self._plain("cpus", self.cpus) if self.profile is None else self._in_set()
            if sum(map(_amount, parts)) < self.cpus:
                return None
            memory = self._plain("mem", self.mem) if self.mem else []
            return [*parts, *memory] if memory or not self.mem else None

        resources = self._wait(enough, self.timeout)
        if resources is None:
            what = f"{self.cpus:g} plain CPUs" if self.profile is None else f"the set {self.set_id}"
            what += f" with {self.mem:g} MB of memory" if self.mem else ""
            raise _RunError(f"{what}: not offered within {self.timeout:g} s")
        agent_id = next(iter(self.offers.values()))["agent_id"]
        self.task_id = f"run-{uuid.uuid4()}"
        variables = [{"name": name, "value": value} for name, value in self.environment.items()]
        task = {
            "name": self.command[1],
            "task_id": {"value": self.task_id},
            "agent_id": agent_id,
            "resources": resources,
            "command": {
                "shell": False,
                "value": "/bin/sh",
                # The task starts in its sandbox; the command is wanted here.
                "arguments": ["sh", "-c", 'cd "$0" && exec "$@"', os.getcwd(), self.command[0], *self.command[2:]],  # noqa: PTH109
                "environment": {"variables": variables},
            },
        }
        self._accept(resources, {"type": "LAUNCH", "launch": {"task_infos": [task]}})
        self._want(False)

    def _follow(self) -> int:
        """Copy the output until the task has ended; its exit status."""
        killed, next_try = 0, 0.0
        while self.task.get("state") not in TERMINAL:
            if self.signals > killed and time.monotonic() >= next_try:
                next_try = time.monotonic() + 1.0
                if self._kill():
                    killed = self.signals
            self._step(FOLLOW_SECONDS)
            self._copy_output()
        self._copy_output()
        if not self.output_read:
            click.echo(f"Warning: the output of the command cannot be read at {self.agent_url}", err=True)
        return self._exit_status()

    def _kill(self) -> bool:
        try:
            self.client.call("KILL", kill={"task_id": {"value": self.task_id}})
        except SchedulerError:
            return False
        return True

    def _copy_output(self) -> None:
        if not self.task:
            return
        for name, target in (("stdout", sys.stdout.buffer), ("stderr", sys.stderr.buffer)):
            while True:
                data = self._read_file(name, self.output_at[name])
                if not data:
                    break
                self.output_at[name] += len(data)
                target.write(data)
                target.flush()

    def _read_file(self, name: str, offset: int) -> bytes:
        path = f"{self.client.framework_id}/{self.task_id}/{name}"
        answer = self._ask({"type": "READ_FILE", "read_file": {"path": path, "offset": offset}})
        if "read_file" not in answer:
            return b""
        self.output_read = True
        return base64.b64decode(answer["read_file"].get("data", ""))

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """An operator call whose answer we can do without."""
        try:
            response = self.session.post(
                f"{self.agent_url}/api/v1", json=body, headers={"Accept": "application/json"}, timeout=TIMEOUT
            )
            found: dict[str, Any] = response.json() if response.ok and response.content else {}
        except (requests.RequestException, ValueError):
            return {}
        return found

    def _exit_status(self) -> int:
        state, message = self.task["state"], self.task.get("message", "")
        if state == "TASK_FINISHED":
            return 0
        said = re.search(r"exited with status (\d+)", message)
        if said:
            return int(said[1])
        killed = re.match(r"Command terminated with signal (.*)", message)
        if killed:
            for number in signal.valid_signals():
                if killed[1] in (signal.strsignal(number), str(int(number))):
                    return 128 + int(number)
        click.echo(f"Error: {state}: {message}" if message else f"Error: {state}", err=True)
        return 1

    # -- taking it down

    def _clean_up(self) -> None:
        """End the task, destroy the set, remove the framework. Nothing here raises, a second Ctrl-C shortens it."""
        if not self.client.framework_id:
            self.client.close()
            return
        patience = self.signals + 1

        def until(done: Callable[[], Any]) -> Any:
            return self._wait(lambda: done() or self.signals > patience, CLEANUP_SECONDS, interruptible=False)

        try:
            if self.task_id and self.task.get("state") not in TERMINAL:
                self._kill()
                until(lambda: self.task.get("state") in TERMINAL)
            if self.create_id and not self.set_id:
                # Interrupted while the provider was at it: what it made must be known to be destroyed.
                status = until(lambda: self.operations.get(self.create_id))
                if isinstance(status, dict) and status["state"] == "OPERATION_FINISHED":
                    self.set_id = _source(status["converted_resources"][0])["id"]
            if self.set_id:
                self._destroy(until)
        except (SchedulerError, LookupError) as error:
            click.echo(f"Warning: cleaning up: {error}", err=True)
        finally:
            with contextlib.suppress(SchedulerError):
                self.client.call("TEARDOWN")
            self.client.close()

    def _destroy(self, until: Callable[[Callable[[], Any]], Any]) -> None:
        self._want(True)
        until(lambda: sum(map(_amount, self._in_set())) >= self.cpus)
        parts = self._in_set()
        if parts:
            operation_id = f"destroy-{uuid.uuid4()}"
            self._accept(
                parts,
                {"type": "DESTROY_CPUSET", "id": {"value": operation_id}, "destroy_cpuset": {"source": parts}},
            )
            status = until(lambda: self.operations.get(operation_id))
            if isinstance(status, dict) and status["state"] == "OPERATION_FINISHED":
                return
            if isinstance(status, dict):
                click.echo(f"Warning: set {self.set_id}: {status.get('message') or status['state']}", err=True)
        self._ask({"type": "DESTROY_CPUSET", "destroy_cpuset": {"cpuset_id": self.set_id}})
