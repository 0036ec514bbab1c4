"""The systemd units: valid to systemd, and right in what Pinfold relies on."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from agent_api.cli.agent import agent
from provider.cli.daemon import provider

UNITS = Path(__file__).parents[2] / "packaging" / "systemd"
NAMES = sorted(path.name for path in UNITS.glob("*.service"))
DIRECTORY = "/sys/fs/cgroup/pinfold.slice/pinfold-sets.service"


def read(name: str) -> configparser.ConfigParser:
    """Without `Environment=`, the one key that comes several times."""
    lines = (UNITS / name).read_text().splitlines()
    unit = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string("\n".join(line for line in lines if not line.startswith("Environment=")))
    return unit


def environment(name: str) -> dict[str, str]:
    found = re.findall(r"^Environment=(\w+)=(.*)$", (UNITS / name).read_text(), re.MULTILINE)
    return dict(found)


def test_there_are_three() -> None:
    assert NAMES == ["pinfold-agent.service", "pinfold-provider.service", "pinfold-sets.service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_understands_every_line() -> None:
    # It needs no running systemd; an unknown key is a line on stderr and no error.
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(UNITS / name) for name in NAMES)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "pinfold" in line]
    assert (done.returncode, said) == (0, [])


def test_the_sets_are_delegated_and_outlive_agent_and_provider() -> None:
    sets = read("pinfold-sets.service")["Service"]
    assert sets["Delegate"].split() == ["cpuset", "cpu", "memory"]
    assert sets["ExecStart"].endswith("exec sleep infinity'"), "systemd removes the directory of an empty service"
    assert "/holder/cgroup.procs" in sets["ExecStart"], "and nobody may sit in it itself"
    for name in ("pinfold-agent.service", "pinfold-provider.service"):
        unit = read(name)
        assert unit["Service"]["KillMode"] == "process" and unit["Service"]["Restart"] == "on-failure"
        assert "pinfold-sets.service" in unit["Unit"]["Requires"] and "pinfold-sets.service" in unit["Unit"]["After"]
        assert f"/sys/fs/cgroup/{sets['Slice']}/pinfold-sets.service" == DIRECTORY
        assert environment(name)["PINFOLD_CGROUP_ROOT"] == DIRECTORY


@pytest.mark.parametrize(
    ("name", "command"), [("pinfold-agent.service", agent), ("pinfold-provider.service", provider)]
)
def test_the_command_line_is_one_that_the_command_takes(name: str, command: click.Command) -> None:
    words = read(name)["Service"]["ExecStart"].split()
    assert words[:3] == ["/usr/bin/env", "pinfold", command.name]
    known = environment(name) | {"STATE_DIRECTORY": "/var/lib/pinfold"}
    given = []
    for word in words[3:]:
        if word.startswith("$") and not word.startswith("${"):
            continue  # more options, none by default
        given.append(re.sub(r"\$\{(\w+)\}", lambda found: known[found[1]], word))
    values = command.make_context(command.name, given).params
    assert values["cgroup_root"] == DIRECTORY and str(values["work_dir"]) == "/var/lib/pinfold"
