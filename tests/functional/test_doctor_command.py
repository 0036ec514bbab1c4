"""`pinfold doctor` on copies of hosts, on trees that stand for a cgroup hierarchy, and on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from provider.cgroups import detect
from provider.cli.doctor import doctor as command
from provider.cli.topology import topology as show_topology

DUMPS = Path(__file__).parent.parent / "data" / "topologies"
HYBRID = DUMPS / "20em64t-hybrid-1p6c2t+2ca4co1t.tar.gz"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], env={"COLUMNS": "100"})


def told(*arguments: str | Path, status: int | None = None) -> dict[str, list[dict[str, str]]]:
    """Findings by topic."""
    result = run(*arguments, "--json")
    found: list[dict[str, str]] = json.loads(result.stdout)
    bad = any(finding["level"] == "bad" for finding in found)
    assert result.exit_code == (1 if bad else 0) and (status is None or result.exit_code == status), result.output
    out: dict[str, list[dict[str, str]]] = {}
    for finding in found:
        assert set(finding) == {"topic", "level", "sentence", "remedy"}
        out.setdefault(finding["topic"], []).append(finding)
    return out


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def a_host(root: Path, **more: str) -> Path:
    """4 CPUs, one node; cgroup v2 with systemd's slices and the service that holds our sets."""
    files = {
        "sys/devices/system/cpu/online": "0-3\n",
        "sys/devices/system/cpu/possible": "0-3\n",
        "sys/devices/system/cpu/present": "0-3\n",
        "sys/devices/system/cpu/smt/control": "notsupported\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        "proc/sys/kernel/osrelease": "6.12.9\n",
        "proc/sys/kernel/numa_balancing": "1\n",
        "proc/1/comm": "systemd\n",
        "proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n",
        "proc/self/cgroup": "0::/user.slice/session-1.scope\n",
        "sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory pids\n",
        "sys/fs/cgroup/cpuset.cpus.effective": "0-3\n",
        "sys/fs/cgroup/cpuset.mems.effective": "0\n",
        "sys/fs/cgroup/system.slice/cgroup.events": "populated 1\nfrozen 0\n",
        "sys/fs/cgroup/system.slice/cpuset.cpus.effective": "0-3\n",
        "sys/fs/cgroup/empty.slice/cgroup.events": "populated 0\nfrozen 0\n",
        "sys/fs/cgroup/user.slice/cgroup.events": "populated 1\nfrozen 0\n",
        "sys/fs/cgroup/user.slice/cpuset.cpus.effective": "0\n",
        "sys/fs/cgroup/user.slice/session-1.scope/cgroup.controllers": "cpu\n",
        **{f"sys/devices/system/cpu/cpu{cpu}/topology/core_id": f"{cpu}\n" for cpu in range(4)},
    }
    return write(root, files | more)


def test_a_host_with_systemd(tmp_path: Path) -> None:
    found = told("--sysfs-root", a_host(tmp_path))
    assert "below /sys/fs/cgroup/pinfold" in found["enforcement"][0]["sentence"]
    assert found["directory"][0]["level"] == "warn"
    assert "in /sys/fs/cgroup/system.slice, /sys/fs/cgroup/user.slice may run" in found["others"][0]["sentence"]
    assert found["partitions"][0]["level"] == "ok"
    assert found["huge pages"][0]["level"] == "warn"
    assert "1-3" in found["CPUs"][0]["sentence"]


def delegate(root: Path) -> Path:
    service = write(
        root / "sys/fs/cgroup/pinfold.slice/pinfold-sets.service",
        {
            "cgroup.controllers": "cpuset cpu\n",
            "cgroup.type": "domain\n",
            "cgroup.procs": "",
            "cpuset.cpus.effective": "0-2\n",
            "cpuset.mems.effective": "0\n",
            "cpu.max": "max 100000\n",
            "pinfold/cgroup.controllers": "cpuset cpu\n",
            "pinfold/set.a/cpuset.cpus": "2\n",
            "pinfold/set.a/cpuset.cpus.effective": "2\n",
            "pinfold/set.a/cgroup.events": "populated 1\n",
        },
    )
    write(root / "sys/fs/cgroup/pinfold.slice", {"cgroup.controllers": "cpuset cpu\n", "cpu.max": "50000 100000\n"})
    try:
        os.setxattr(service, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error}")
    return service


def test_in_a_service_that_has_a_directory_of_its_own(tmp_path: Path) -> None:
    root = a_host(tmp_path, **{"proc/self/cgroup": "0::/pinfold.slice/pinfold-sets.service\n"})
    delegate(root)
    found = told("--sysfs-root", root, status=1)
    below = "/sys/fs/cgroup/pinfold.slice/pinfold-sets.service"
    assert f"below {below}/pinfold." in found["enforcement"][0]["sentence"]
    assert found["directory"] == [
        {"topic": "directory", "level": "ok", "sentence": f"{below} was delegated by systemd.", "remedy": ""}
    ]
    assert "no memory controller" in found["controllers"][0]["sentence"]
    assert "/sys/fs/cgroup/pinfold.slice/cpu.max is '50000 100000'" in found["time limit"][0]["sentence"]
    assert "CPUs 0-3 only 0-2" in found["limits"][0]["sentence"]
    assert "exclusive sets hold 2; free are 1" in found["CPUs"][0]["sentence"]


def test_processes_where_our_directories_would_be(tmp_path: Path) -> None:
    service = delegate(a_host(tmp_path))
    (service / "cgroup.procs").write_text("17\n18\n")
    found = told("--sysfs-root", tmp_path, "--cgroup-root", service, status=1)
    assert "(17, 18)" in found["directory"][0]["sentence"]


def test_somebody_elses_partition(tmp_path: Path) -> None:
    beside = {"cpuset.cpus.partition": "isolated\n", "cpuset.cpus.effective": "3\n"}
    root = a_host(tmp_path, **{f"sys/fs/cgroup/vm.slice/{name}": text for name, text in beside.items()})
    [finding, _] = told("--sysfs-root", root)["partitions"]
    assert "/sys/fs/cgroup/vm.slice is a partition of somebody else's: CPUs 3" in finding["sentence"]


def test_affinity_alone_is_bad_unless_it_was_asked_for(tmp_path: Path) -> None:
    root = a_host(tmp_path, **{"proc/mounts": "tmpfs /tmp tmpfs rw 0 0\n"})
    found = told("--sysfs-root", root, status=1)
    assert "no cgroup hierarchy with cpuset is mounted" in found["enforcement"][0]["sentence"]
    assert told("--sysfs-root", root, "--cgroup-root", "none", status=0)["enforcement"][0]["level"] == "warn"


def test_cgroup_v1(tmp_path: Path) -> None:
    mounts = "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
    v1 = {
        "cpuset/cpuset.cpus": "0-3\n",
        "cpuset/cpuset.mems": "0\n",
        "cpuset/cgroup.procs": "1\n",
        "cpuset/docker/cpuset.cpus": "0-1\n",
        "cpuset/docker/cgroup.procs": "2\n",
        "cpuset/old/cpuset.cpus": "0-1\n",
        "cpuset/old/cgroup.procs": "",
        "cpuset/pinfold/set.a/cpuset.cpus": "3\n",
        "cpu/cgroup.procs": "1\n",
    }
    root = write(a_host(tmp_path, **{"proc/mounts": mounts}) / "sys/fs/cgroup", v1).parents[2]
    found = told("--sysfs-root", root, status=0)
    assert found["enforcement"][0]["level"] == "warn" and "cgroup v1" in found["enforcement"][0]["sentence"]
    assert "no memory controller" in found["controllers"][0]["sentence"]
    named = found["others"][0]["sentence"]
    assert "/sys/fs/cgroup/cpuset, /sys/fs/cgroup/cpuset/docker may run" in named and "old" not in named
    assert "hold 3" in found["CPUs"][0]["sentence"]


def test_a_hybrid_host_in_an_archive(tmp_path: Path) -> None:
    profiles = tmp_path / "profiles.json"
    matrix = {
        "fast": {"core_kind": "performance", "power": {"governor": "performance"}},
        "calm": {"core_kind": "efficiency", "power": {"max_mhz": 9000}},
        "near": {"device": {"match": "net:nowhere0"}},
    }
    provider = {"resource_providers": [{"type": "org.pinfold.rp.cpu", "name": "host"}]}
    document = {name: {"resource_provider_selector": provider, "cpuset": cpuset} for name, cpuset in matrix.items()}
    profiles.write_text(json.dumps({"profile_matrix": document}))
    found = told("--sysfs-root", HYBRID, "--profiles", profiles)
    assert "cores of 2 kinds" in found["kinds"][0]["sentence"]
    assert "have powersave" in found["frequency"][0]["sentence"]
    assert [finding["level"] for finding in found["profile fast"]] == ["ok"]
    assert [finding["level"] for finding in found["profile calm"]] == ["warn", "ok"]
    assert [finding["level"] for finding in found["profile near"]] == ["bad"]
    other = tmp_path / "config.json"
    other.write_text(json.dumps({"type": "org.pinfold.rp.cpu", "name": "another", "cpu": {"reserved_cpus": "0"}}))
    configured = told("--sysfs-root", HYBRID, "--profiles", profiles, "--config", other)
    assert not [topic for topic in configured if topic.startswith("profile")]
    assert "reserved are" in configured["CPUs"][0]["sentence"]


@pytest.mark.parametrize("dump", sorted(DUMPS.glob("*.tar.gz")), ids=lambda path: path.name.removesuffix(".tar.gz"))
def test_every_copy_of_a_host_is_understood(dump: Path) -> None:
    found = told("--sysfs-root", dump, "--cgroup-root", "none")
    shown = json.loads(CliRunner().invoke(show_topology, ["--root", str(dump), "--json"]).stdout)
    assert [finding["sentence"] for finding in found.get("topology", [])] == shown["warnings"]
    assert ("offline" in found) == bool(shown["offline"])
    assert "enforcement" in found and "nodes" in found


def test_this_machine_as_a_process() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", "doctor", "--json", "--cgroup-name", f"none-{os.getpid()}"],
        capture_output=True,
        text=True,
        check=False,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.returncode == (1 if any(finding["level"] == "bad" for finding in found) else 0)
    [enforcement] = [finding for finding in found if finding["topic"] == "enforcement"]
    words = {"cgroup2": "cgroup v2", "cgroup1": "cgroup v1", "affinity": "affinity"}
    assert words[detect("auto").kind] in enforcement["sentence"]
    assert done.stderr == ""


def test_as_text(tmp_path: Path) -> None:
    result = run("--sysfs-root", a_host(tmp_path))
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ok   enforcement") and lines[-1].endswith(" warn, 0 bad")
    warned = next(number for number, line in enumerate(lines) if line.startswith("warn directory"))
    assert "packaging/systemd" in lines[warned + 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cgroup-root", "/nowhere"], "cgroup root '/nowhere'"),
        (["--profiles", "BAD"], "bad.json: "),
        (["--config", "BAD"], "bad.json: "),
        (["--sysfs-root", "EMPTY"], "no CPU found below it"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "empty").mkdir()
    places = {"BAD": str(tmp_path / "bad.json"), "EMPTY": str(tmp_path / "empty")}
    result = run(*(places.get(argument, argument) for argument in arguments))
    assert result.exit_code == 1 and words in result.output


def test_the_host_is_left_as_it_was(tmp_path: Path) -> None:
    root = a_host(tmp_path / "host")
    delegate(root)
    shutil.copytree(root, tmp_path / "before")
    told("--sysfs-root", root)
    names = [sorted(path.relative_to(top) for path in top.rglob("*")) for top in (root, tmp_path / "before")]
    assert names[0] == names[1]
