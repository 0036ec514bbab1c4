"""Writes a task's directory: all that its shim is told, in spec.json, before the shim is started.

Decides what becomes of a TaskInfo and its sets: command, environment, cgroups, affinity, memory. Starts nothing, and
chooses no CPUs: they are in the sets' metadata, as the provider wrote it.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from agent_api import memory, shim
from agent_api.cgroup_paths import Hierarchy
from agent_api.task_spec import LaunchError, Sets, argv_of, check_container, environment_of, ids, show, switch_to
from agent_api.wire import mesos_pb2

__all__ = ["MARK", "prepare", "write_cpuset_file"]

log = logging.getLogger(__name__)

MARK = "PINFOLD_TASK_DIR"
"""Variable in the environment of every process of a task, by which what a dead shim left is found."""


def prepare(
    path: Path,
    key: tuple[str, str],
    task: mesos_pb2.TaskInfo,
    user: str,
    cpu_resources: list[mesos_pb2.Resource],
    hierarchy: Hierarchy,
) -> None:
    """Make the directory with its spec.json; `key` is (framework's id, task's id). Raises LaunchError for what cannot
    be run, and OSError."""
    if not task.HasField("command"):
        raise LaunchError("the task has no command; executors are not supported")
    if task.command.uris:
        raise LaunchError(f"command.uris: there is no fetcher; {task.command.uris[0].value!r} would be missing")
    if task.HasField("container"):
        check_container(task.container)
    sets = Sets(cpu_resources)
    program, argv = argv_of(task.command)
    environment = environment_of(task.command.environment)
    switch = switch_to(user)
    own = {
        MARK: str(path),
        "MESOS_SANDBOX": str(path),
        "MESOS_DIRECTORY": str(path),
        "MESOS_TASK_ID": key[1],
        "MESOS_FRAMEWORK_ID": key[0],
    }
    if any("\0" in text for text in (program, *argv, *environment.values(), *own.values())):
        raise LaunchError("the command or its environment holds a NUL character")
    path.mkdir(parents=True, exist_ok=True)
    if switch:
        # The task may make files here, and not replace ours: sticky, and ours belong to us.
        os.chown(path, -1, switch.pw_gid)
        path.chmod(0o1775)
    if sets.ids:
        own |= sets.environment()
        own["PINFOLD_CPUSET_FILE"] = str(write_cpuset_file(path, sets))
        groups = _groups_of(sets, hierarchy)
    else:
        # The shim adds PINFOLD_CPUS and PINFOLD_MEMS: what it then finds itself allowed.
        own |= {"PINFOLD_EXCLUSIVE_CPUS": "", "PINFOLD_SHARED_CPUS": ""}
        environment.pop("PINFOLD_CPUSET_FILE", None)
        try:
            groups = hierarchy.make_plain()
        except OSError as exc:
            raise LaunchError(f"cannot make the cgroup of plain tasks: {exc}") from exc
    mem = [resource.scalar.value for resource in task.resources if resource.name == "mem"]
    place = memory.place(hierarchy, groups, key, sum(mem) if mem else None)
    if place.problem:
        log.warning("task %r of framework %s: its memory is not limited: %s", key[1], key[0], place.problem)
    policy, nodes = sets.memory_policy()
    spec = {
        "framework_id": key[0],
        "task_id": key[1],
        "user": switch.pw_name if switch else "",
        "program": program,
        "argv": argv,
        "environment": environment,
        "own_environment": own,
        "plain": not sets.ids,
        "cgroups": place.directories,
        "memory_cgroup": place.leaf,
        "note": f"The task's memory is not limited: {place.problem}" if place.problem else "",
        "affinity": ids(sets.cpus) if sets.affinity else [],
        "memory_policy": policy,
        "policy_nodes": ids(nodes),
        "least_cpus": show(sets.exclusive),
        # What floats may have moved since: the group's own list says how far.
        "most_cpus": show(sets.cpus) if sets.affinity or not sets.shared else "",
    }
    shim.replace_file(path / "spec.json", json.dumps(spec).encode())


def write_cpuset_file(path: Path, sets: Sets) -> Path:
    """The file that PINFOLD_CPUSET_FILE names, replaced whole."""
    file = path / "cpuset.env"
    text = "".join(f"{name}={value}\n" for name, value in sets.environment().items())
    shim.replace_file(file, text.encode(), mode=0o644)
    return file


def _groups_of(sets: Sets, hierarchy: Hierarchy) -> list[str]:
    if sets.affinity:
        return []
    if len(sets.ids) > 1 and not Path(sets.cgroup).is_dir():
        raise LaunchError(
            "the provider made no cgroup for the CPUs of all these sets together: "
            + ", ".join(f"{kind} set {set_id}" for set_id, kind in sorted(sets.ids.items()))
            + "; a set whose profile asks for a partition of its own is to be used alone"
        )
    return hierarchy.joined(sets.cgroup)
