"""`pinfold profiles` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functional.test_profile_source import Server

GOOD = {
    "profile_matrix": {
        "latency": {"cpuset": {"core_siblings": "required", "memory": {"policy": "bind"}}},
        "nobody": {"resource_provider_selector": {"resource_providers": []}, "cpuset": {}},
    }
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", "profiles", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def test_check_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text(json.dumps(GOOD))
    status, out, err = run("check", str(path))
    assert (status, err) == (0, "")
    assert "core_siblings=required memory.policy=bind" in out
    assert f"{path}: valid, 2 profiles" in out
    assert "note: nobody: its selector names no provider" in out
    status, out, _ = run("check", "--json", f"file://{path}")
    content: dict[str, Any] = json.loads(out)
    assert (status, content["ok"], list(content["profiles"])) == (0, True, ["latency", "nobody"])
    assert content["profiles"]["latency"]["definition"]["memory"] == {"policy": "bind", "mode": "preferred"}


def test_check_tells_each_fault() -> None:
    broken = '{"profile_matrix": {"a": {"cpuset": {"mode": "exlusive", "burst": 2}}}}'
    status, out, err = run("check", "-", stdin=broken)
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "-: refused, 2 faults:",
        "  $.profile_matrix.a.cpuset.burst: 2: unknown key",
        '  $.profile_matrix.a.cpuset.mode: "exlusive": must be one of "exclusive", "shared"; did you mean "exclusive"?',
    ]
    status, out, _ = run("check", "--json", "-", stdin=broken)
    assert status == 1
    assert json.loads(out)["faults"][0] == {
        "path": "$.profile_matrix.a.cpuset.burst",
        "value": "2",
        "reason": "unknown key",
    }


def test_check_what_cannot_be_had(server: Server, tmp_path: Path) -> None:
    assert run("check", str(tmp_path / "none"))[::2] == (
        1,
        f"{tmp_path / 'none'}: cannot be read: No such file or directory\n",
    )
    status, out, err = run("check", server.url("/status?404", user="me:secret"))
    assert (status, out) == (1, "")
    assert "HTTP status 404 Not Found" in err
    assert "secret" not in err
    assert run("check", server.url("/good"))[0] == 0
    status, out, err = run("check", "ftp://me:secret@host/x")
    assert (status, out) == (2, "")
    assert "secret" not in err
    assert run("check")[0] == 2


def test_listing_without_an_agent(server: Server) -> None:
    status, out, err = run("--agent", "http://me:secret@127.0.0.1:1")
    assert (status, out) == (1, "")
    assert err == "Error: nobody answers at http://127.0.0.1:1; is `pinfold agent` running there?\n"
    status, _, err = run("--agent", server.url(""))
    assert status == 1
    assert err.startswith("Error: ")
