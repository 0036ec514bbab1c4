"""`pinfold topology`, as a process or as click runs it: tree, JSON, picture, exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from provider import cpuset, sysfs, topology
from provider.cli.topology import topology as command

DUMPS = Path(__file__).parent.parent / "data" / "topologies"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], env={"COLUMNS": "100"})


def dump(name: str) -> Path:
    return DUMPS / f"{name}.tar.gz"


def test_this_host() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", "topology", "--json"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert [cpu["cpu"] for cpu in told["cpus"]] == cpuset.ids(sysfs.read("/").online)
    assert done.stderr == ""


def test_the_tree() -> None:
    result = run("--root", dump("64intel64-fakeKNL-SNC4-hybrid"))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "64 CPUs, 16 cores x 4 threads, 1 package, 8 NUMA nodes, 8 last-level caches, 12 GiB"
    assert "├── package 0  CPUs 0-63" in lines
    assert "│   ├── node 0  CPUs 0-3,16-19,32-35,48-51, 1 GiB" in lines
    assert "│   │   │   └── (0 16 32 48)  (1 17 33 49)" in lines
    assert "├── node 4  2 GiB, no CPUs, nearest node 1 (distance 31)" in lines
    assert "     7  31  41  41  41  41  41  41  10" in lines


def test_groups_of_the_same_cpus_are_one_line_and_limits_are_told() -> None:
    result = run("--root", dump("16amd64-4n4c-cgroup-distance-merge"))
    assert "package 0, node 0, LLC 0  CPUs 0-3, 8 GiB, 512 of 512 huge pages of 2 MiB free" in result.stdout
    assert "allowed by our cgroup: CPUs 0-3\n" in result.stdout
    assert "allowed by our cgroup: nodes 2-3\n" in result.stdout


def test_kinds_guesses_and_offline_cpus_are_told() -> None:
    hybrid = run("--root", dump("20em64t-hybrid-1p6c2t+2ca4co1t")).stdout
    assert "P(10 11)" in hybrid
    assert "E(19)" in hybrid
    assert "efficiency cores: CPUs 12-19" in hybrid
    broken = run("--root", dump("offline-cpu0-node0")).stdout
    assert "offline: CPUs 0-3,21-23" in broken
    assert "warning: No online node has CPUs 4,6,8,10,12,14,16,18,20: they are taken to be in node 1." in broken


def test_json_has_everything() -> None:
    result = run("--root", dump("16amd64-4n4c-cgroup-distance-merge"), "--json")
    told = json.loads(result.stdout)
    with sysfs.open_root(dump("16amd64-4n4c-cgroup-distance-merge")) as root:
        host = sysfs.read(root)
    assert topology.from_records(told) == host
    assert told["allowed"] == {"cpus": "0-3", "mems": "2-3"}
    assert told["identity"] == topology.identity(host)


def test_isolated_cpus_are_marked(tmp_path: Path) -> None:
    with sysfs.open_root(dump("8em64t-2s2ca2c-buggynuma")) as root:
        (Path(root) / "sys/devices/system/cpu/isolated").write_text("2-3\n")
        result = run("--root", root)
        picture = tmp_path / "x.svg"
        run("--root", root, "--svg", picture)
    assert "isolated: CPUs 2-3" in result.stdout
    assert "(2i)" in result.stdout
    assert picture.read_text().count('class="isolated"') == 3  # two CPUs and the legend


@pytest.mark.parametrize("archive", sorted(DUMPS.glob("*.tar.gz")), ids=lambda path: path.name)
def test_pictures(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "host.svg"
    result = run("--root", archive, "--svg", target)
    assert (result.exit_code, result.stdout) == (0, f"wrote {target}\n")
    root = ElementTree.parse(target).getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    with sysfs.open_root(archive) as directory:
        online = cpuset.ids(sysfs.read(directory).online)
    assert archive.name.removesuffix(".tar.gz") in texts
    assert all(str(cpu) in texts for cpu in online)


def test_a_picture_can_be_printed() -> None:
    result = run("--root", dump("2ps3-2t"), "--svg", "-")
    assert ElementTree.fromstring(result.stdout).tag.endswith("svg")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--root", "/nowhere"], 2, "does not exist"),
        (["--root", __file__], 1, "cannot be unpacked"),
        (["--root", str(Path(__file__).parent)], 1, "no CPU found below it"),
        (["--root", str(dump("2ps3-2t")), "--svg", "/nowhere/x.svg"], 1, "cannot write /nowhere/x.svg"),
        (["--colour"], 2, "No such option"),
        (["extra"], 2, "unexpected extra argument"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], status: int, words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == status
    assert words in result.output
    assert "Traceback" not in result.output
