"""Credentials, ACLs and TLS on both ports of a real agent, its provider and the commands."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from agent_api.wire import mesos_pb2, scheduler_pb2
from tests.functional.certificates import make_certificate
from tests.functional.harness import (
    AgentProcess,
    Framework,
    is_plain,
    launch,
    provider_config,
    take,
    wait_for,
)

OPS, WEB = ("ops", "secret-of-ops"), ("web", "secret-of-web")
ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
ONLY_OPS = [
    {"principals": {"values": ["ops"]}, "resource_providers": ANY},
    {"principals": ANY, "resource_providers": NONE},
]
ACLS = {
    "modify_resource_provider_configs": ONLY_OPS,
    "register_resource_providers": ONLY_OPS,
    "register_frameworks": [
        {"principals": {"values": ["web"]}, "roles": {"values": ["web"]}},
        {"principals": {"values": ["web"]}, "roles": NONE},
    ],
    "update_weights": [{"principals": {"values": ["ops"]}, "roles": ANY}, {"principals": ANY, "roles": NONE}],
    "access_sandboxes": [{"principals": {"values": ["ops"]}, "users": ANY}, {"principals": ANY, "users": NONE}],
    "view_roles": [],
}


def write_credentials(path: Path, *pairs: tuple[str, str]) -> None:
    path.write_text(json.dumps({"credentials": [{"principal": name, "secret": secret} for name, secret in pairs]}))
    path.chmod(0o600)


def write_credential(path: Path, pair: tuple[str, str]) -> str:
    path.write_text(json.dumps({"principal": pair[0], "secret": pair[1]}))
    path.chmod(0o600)
    return str(path)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    """An agent with credentials, ACLs and one provider."""
    directory = tmp_path_factory.mktemp("access")
    write_credentials(directory / "credentials.json", OPS, WEB)
    (directory / "acls.json").write_text(json.dumps(ACLS))
    arguments = ("--credentials", str(directory / "credentials.json"), "--acls", str(directory / "acls.json"))
    started = AgentProcess(directory / "agent", *arguments, access={"auth": OPS})
    try:
        started.start()
        config = provider_config(directory)
        call = {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": config}}
        response = started.agent_call(call)
        assert response.status_code == 200, response.text
        started.wait_ready()
        yield started
    finally:
        started.stop()


SUBSCRIBE = {"type": "SUBSCRIBE", "subscribe": {"framework_info": {"user": "root", "name": "fw", "roles": ["web"]}}}
RP_SUBSCRIBE = {"type": "SUBSCRIBE", "subscribe": {"resource_provider_info": {"type": "t.x", "name": "n"}}}
CLOSED = [
    *(("agent", "POST", f"{prefix}/api/v1", {"type": "GET_STATE"}) for prefix in ("", "/slave(1)", "/slave%281%29")),
    ("agent", "POST", "/api/v1/whatever", {"type": "GET_FLAGS"}),
    *(("agent", "POST", f"{prefix}/api/v1/resource_provider", RP_SUBSCRIBE) for prefix in ("", "/slave(1)")),
    *(("agent", "GET", f"{prefix}/{path}", None) for prefix in ("", "/slave(1)") for path in ("state", "flags")),
    *(("agent", "GET", path, None) for path in ("/", "/metrics", "/metrics/snapshot", "/containers")),
    *(("agent", "GET", f"/files/{path}?path=/", None) for path in ("browse", "read", "download")),
    ("agent", "HEAD", "/state", None),
    *(("master", "POST", f"{prefix}/api/v1", {"type": "SUBSCRIBE"}) for prefix in ("", "/master")),
    *(("master", "POST", f"{prefix}/api/v1/scheduler", SUBSCRIBE) for prefix in ("", "/master")),
    *(
        ("master", "GET", f"{prefix}/{path}", None)
        for prefix in ("", "/master")
        for path in ("state", "slaves", "tasks", "frameworks", "roles", "quota", "weights", "flags")
    ),
    ("master", "GET", "/metrics/snapshot", None),
]


@pytest.mark.parametrize(("port", "method", "path", "body"), CLOSED)
def test_nobody_gets_in_without_credentials(
    agent: AgentProcess, port: str, method: str, path: str, body: dict[str, Any] | None
) -> None:
    url = agent.agent_url if port == "agent" else agent.master_url
    for auth in (None, ("ops", "secret-of-web"), ("mallory", "secret-of-ops"), ("ops", "")):
        response = requests.request(method, url + path, json=body, auth=auth, timeout=10)
        assert response.status_code == 401, f"{auth}: {response.text[:200]}"
        assert response.headers["WWW-Authenticate"] == f'Basic realm="pinfold-{port}"'
        assert "Mesos-Stream-Id" not in response.headers
        assert method == "HEAD" or response.text
    with requests.request(method, url + path, json=body, auth=OPS, timeout=10, stream=True) as response:
        assert response.status_code not in (401, 403), response.text[:200]


@pytest.mark.parametrize("path", ["/health", "/version"])
def test_whether_it_lives_everybody_may_ask(agent: AgentProcess, path: str) -> None:
    for url in (agent.agent_url, agent.master_url):
        assert requests.get(url + path, timeout=10).status_code == 200
        assert requests.get(url + path, timeout=10, auth=("ops", "wrong")).status_code == 200
    assert requests.get(f"{agent.master_url}/redirect", timeout=10, allow_redirects=False).status_code == 307


def test_other_sites_read_nothing_with_a_browsers_credentials(agent: AgentProcess) -> None:
    def status(site: str, auth: tuple[str, str] | None = OPS) -> int:
        headers = {"Sec-Fetch-Site": site}
        return requests.get(f"{agent.agent_url}/state?jsonp=f", headers=headers, auth=auth, timeout=10).status_code

    assert [status(site) for site in ("same-origin", "same-site", "cross-site")] == [200, 200, 403]
    assert status("cross-site", None) == 401
    # A form of another site cannot call anything either: what it may send is no JSON.
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = requests.post(
            f"{agent.agent_url}/api/v1",
            data='{"type": "GET_STATE"}',
            headers={"Content-Type": kind},
            auth=OPS,
            timeout=10,
        )
        assert answer.status_code == 415


def test_the_provider_has_a_credential_of_its_own(agent: AgentProcess) -> None:
    path = agent.work_dir / "provider-credential.json"
    assert path.stat().st_mode & 0o777 == 0o600
    own = json.loads(path.read_text())
    process = Path("/proc") / str(agent.provider_pid())
    for file in ("cmdline", "environ"):
        seen = (process / file).read_bytes()
        assert own["secret"].encode() not in seen
        assert b"secret-of" not in seen
    assert str(path).encode() in (process / "cmdline").read_bytes()
    # It is good for nothing else.
    pair = (own["principal"], own["secret"])
    for url in (agent.agent_url, agent.master_url):
        refused = requests.post(f"{url}/api/v1", json={"type": "GET_STATE"}, auth=pair, timeout=10)
        assert (refused.status_code, refused.text) == (
            403,
            "Principal 'pinfold-provider' may use the resource provider API only",
        )
        assert requests.get(f"{url}/state", auth=pair, timeout=10).status_code == 403


CONFIG = {"type": "org.pinfold.rp.cpu", "name": "host"}
REFUSED = [
    (
        *("agent", "modify_resource_provider_configs"),
        {"type": "REMOVE_RESOURCE_PROVIDER_CONFIG", "remove_resource_provider_config": CONFIG},
    ),
    ("agent", "access_sandboxes", {"type": "LIST_FILES", "list_files": {"path": "/"}}),
    (
        *("master", "update_weights"),
        {"type": "UPDATE_WEIGHTS", "update_weights": {"weight_infos": [{"role": "web", "weight": 3.0}]}},
    ),
]


@pytest.mark.parametrize(("port", "action", "call"), REFUSED)
def test_what_a_principal_may_not_do(agent: AgentProcess, port: str, action: str, call: dict[str, Any]) -> None:
    url = agent.agent_url if port == "agent" else agent.master_url
    refused = requests.post(f"{url}/api/v1", json=call, auth=WEB, timeout=10)
    assert refused.status_code == 403
    assert refused.text.startswith(f"Principal 'web' is not authorized to do {action}")
    assert "WWW-Authenticate" not in refused.headers
    assert len(agent.providers()) == 1
    weights = requests.get(f"{agent.master_url}/weights", auth=OPS, timeout=10)
    assert weights.json() == []
    # Reading is not restricted.
    assert requests.post(f"{url}/api/v1", json={"type": "GET_STATE"}, auth=WEB, timeout=10).status_code == 200


def test_other_paths_ask_the_same(agent: AgentProcess) -> None:
    refused = requests.get(f"{agent.agent_url}/files/browse?path=/", auth=WEB, timeout=10)
    assert (refused.status_code, "access_sandboxes" in refused.text) == (403, True)
    refused = requests.post(f"{agent.agent_url}/api/v1/resource_provider", json=RP_SUBSCRIBE, auth=WEB, timeout=10)
    assert (refused.status_code, "register_resource_providers" in refused.text) == (403, True)


def test_a_framework_is_its_principal(agent: AgentProcess) -> None:
    framework = Framework(agent.master_url, role="web", access={"auth": WEB})
    framework.subscribe()
    offer, plain = framework.offer(is_plain)
    memory = next(r for r in offer.resources if r.name == "mem")
    framework.accept([offer], launch(offer.agent_id.value, "t", "true", take(plain, 0.1), take(memory, 32)))
    for state in (mesos_pb2.TASK_STARTING, mesos_pb2.TASK_RUNNING, mesos_pb2.TASK_FINISHED):
        framework.update("t", state)
    # Another principal, also with the right stream id, cannot speak for it.
    framework.access = {"auth": OPS}
    refused = framework.call(scheduler_pb2.Call(type=scheduler_pb2.Call.TEARDOWN), expect=None)
    assert refused.status_code == 400
    assert "Authenticated principal 'ops' does not match principal 'web'" in refused.text
    framework.access = {"auth": WEB}
    # Nor name another one, nor take a role that it may not have.
    body = json.loads(json.dumps(SUBSCRIBE))
    body["subscribe"]["framework_info"]["principal"] = "ops"
    url = f"{agent.master_url}/api/v1/scheduler"
    refused = requests.post(url, json=body, auth=WEB, timeout=10)
    assert refused.status_code == 400
    assert "Authenticated principal 'web' does not match principal 'ops' set in 'FrameworkInfo'" in refused.text
    body["subscribe"]["framework_info"] = SUBSCRIBE["subscribe"]["framework_info"] | {  # type: ignore[index]
        "roles": ["gold"],
        "capabilities": [{"type": "MULTI_ROLE"}],
    }
    refused = requests.post(url, json=body, auth=WEB, timeout=10)
    assert "Not authorized to use roles '{ gold }'" in refused.text
    framework.simple(scheduler_pb2.Call.TEARDOWN)


def test_secrets_are_shown_nowhere(agent: AgentProcess) -> None:
    own = json.loads((agent.work_dir / "provider-credential.json").read_text())["secret"]
    texts = {
        path: requests.get(f"{url}{path}", auth=OPS, timeout=10).text
        for url in (agent.agent_url, agent.master_url)
        for path in ("/flags", "/state", "/metrics/snapshot", "/frameworks")
    }
    for kind in ("GET_FLAGS", "GET_STATE", "GET_AGENT", "GET_RESOURCE_PROVIDERS"):
        texts[kind] = agent.agent_call({"type": kind}).text
    files = [agent.log, *agent.work_dir.glob("providers/*/log"), *agent.work_dir.glob("agent.db*")]
    for path in files:
        texts[str(path)] = path.read_bytes().decode("latin-1")
    for name, text in texts.items():
        for secret in ("secret-of-", own, base64.b64encode(b"ops:secret-of-ops").decode()):
            assert secret not in text, name
    assert "view_roles have no effect here" in agent.log.read_text()


def pinfold(*arguments: str, agent: AgentProcess, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_api.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PINFOLD_AGENT": agent.agent_url,
            "PINFOLD_MASTER": agent.master_url,
            **environment,
        },
    )


def test_commands(agent: AgentProcess, tmp_path: Path) -> None:
    shown = pinfold("sets", agent=agent)
    assert (shown.returncode, shown.stderr) == (
        1,
        "Error: Authentication is needed: a principal and a secret (HTTP basic authentication)\n",
    )
    ops = write_credential(tmp_path / "ops", OPS)
    web = write_credential(tmp_path / "web", WEB)
    wrong = write_credential(tmp_path / "wrong", ("ops", "wrong"))
    for command in ("sets", "tasks", "offers", "providers", "operations"):
        shown = pinfold(command, "--credential", ops, agent=agent)
        assert (shown.returncode, shown.stderr) == (0, ""), command
    assert pinfold("sets", agent=agent, PINFOLD_CREDENTIAL=web).returncode == 0
    shown = pinfold("providers", "--credential", wrong, agent=agent)
    assert (shown.returncode, shown.stderr) == (1, "Error: The principal is unknown or the secret is wrong\n")
    shown = pinfold("providers", "--credential", str(tmp_path / "none"), agent=agent)
    assert (shown.returncode, "No such file" in shown.stderr) == (1, True)
    shown = pinfold("provider-config", "remove", "org.pinfold.rp.cpu", "host", agent=agent, PINFOLD_CREDENTIAL=web)
    assert shown.returncode == 1
    assert "Principal 'web' is not authorized to do modify_resource_provider_configs" in shown.stderr
    shown = pinfold("sets", "destroy", "none", "--credential", ops, agent=agent)
    assert "No set with id 'none'" in shown.stderr
    run = ("run", "--cpus", "0.1", "--role", "web", "--", "echo", "done")
    shown = pinfold(*run, agent=agent, PINFOLD_CREDENTIAL=ops)
    assert (shown.returncode, shown.stdout) == (0, "done\n"), shown.stderr
    shown = pinfold(*run, agent=agent, PINFOLD_CREDENTIAL=wrong)
    assert (shown.returncode, "unknown or the secret is wrong" in shown.stderr) == (1, True)


def test_other_credentials_without_a_restart(agent: AgentProcess) -> None:
    assert agent.process is not None
    path = agent.work_dir.parent / "credentials.json"
    pid = agent.provider_pid()

    def status(pair: tuple[str, str]) -> int:
        return requests.get(f"{agent.agent_url}/state", auth=pair, timeout=10).status_code

    path.write_text("{")
    os.kill(agent.process.pid, signal.SIGHUP)
    wait_for(lambda: "credentials.json: not JSON" in agent.log.read_text())
    assert status(OPS) == 200
    try:
        write_credentials(path, ("ops", "secret-of-tomorrow"))
        os.kill(agent.process.pid, signal.SIGHUP)
        wait_for(lambda: status(("ops", "secret-of-tomorrow")) == 200)
        assert status(OPS) == status(WEB) == 401
    finally:
        write_credentials(path, OPS, WEB)
        os.kill(agent.process.pid, signal.SIGHUP)
        wait_for(lambda: status(OPS) == 200)
    assert agent.provider_pid() == pid
    agent.wait_ready()


def test_tls(tmp_path: Path) -> None:
    """Both ports, the provider and the commands, with a certificate of our own making."""
    cert, key = make_certificate(tmp_path, "first", ip="127.0.0.1")
    write_credentials(tmp_path / "credentials.json", OPS)
    ops = write_credential(tmp_path / "ops", OPS)
    arguments = ("--credentials", str(tmp_path / "credentials.json"), "--ssl-cert", str(cert), "--ssl-key", str(key))
    agent = AgentProcess(tmp_path / "agent", *arguments, access={"auth": OPS, "verify": str(cert)})
    try:
        agent.start()
        assert agent.agent_url.startswith("https://") and agent.master_url.startswith("https://")
        for url in (agent.agent_url, agent.master_url):
            with pytest.raises(requests.RequestException):
                requests.get(url.replace("https:", "http:") + "/health", timeout=5)
            with pytest.raises(requests.exceptions.SSLError):
                requests.get(f"{url}/health", timeout=5)
            assert requests.get(f"{url}/state", timeout=5, verify=str(cert)).status_code == 401
        redirect = requests.get(f"{agent.master_url}/redirect", verify=str(cert), timeout=5, allow_redirects=False)
        assert redirect.headers["Location"] == agent.master_url.removeprefix("https:")

        # A provider by hand trusts by authority and name, and is refused nothing.
        config = provider_config(tmp_path)
        by_hand = (
            *(sys.executable, "-m", "agent_api.cli.main", "provider", "--agent", agent.agent_url),
            *("--config", str(tmp_path / "config.json"), "--work-dir", str(tmp_path / "by-hand")),
            *("--cgroup-name", agent.cgroup_name, "--credentials", ops),
        )
        (tmp_path / "config.json").write_text(json.dumps(config))
        other, _ = make_certificate(tmp_path, "other", ip="127.0.0.1")
        for trusted, works in (
            (("--ca-file", str(other)), False),
            (("--agent-cert", str(other)), False),
            (("--ca-file", str(cert)), True),
        ):
            log = tmp_path / "provider.log"
            with log.open("w") as output, subprocess.Popen((*by_hand, *trusted), stdout=output, stderr=output) as one:
                try:
                    if works:
                        agent.wait_ready()
                    else:
                        wait_for(lambda log=log: "no connection" in log.read_text(), message=f"{trusted}")
                        assert agent.providers() == []
                finally:
                    one.terminate()
                    one.wait(20)
        wait_for(lambda: agent.providers() == [])

        response = agent.agent_call(
            {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": config}}
        )
        assert response.status_code == 200, response.text
        agent.wait_ready()
        framework = Framework(agent.master_url, access=agent.access)
        framework.subscribe()
        offer, plain = framework.offer(is_plain)
        assert offer.url.scheme == "https"
        memory = next(r for r in offer.resources if r.name == "mem")
        framework.accept([offer], launch(offer.agent_id.value, "t", "true", take(plain, 0.1), take(memory, 32)))
        for state in (mesos_pb2.TASK_STARTING, mesos_pb2.TASK_RUNNING, mesos_pb2.TASK_FINISHED):
            framework.update("t", state)
        framework.simple(scheduler_pb2.Call.TEARDOWN)
        shown = pinfold("providers", "--credential", ops, agent=agent)
        assert (shown.returncode, "is --ca-file needed?" in shown.stderr) == (1, True)
        shown = pinfold("providers", "--credential", ops, "--ca-file", str(cert), agent=agent)
        assert (shown.returncode, "org.pinfold.rp.cpu" in shown.stdout) == (0, True), shown.stderr
        shown = pinfold(
            *("run", "--cpus", "1", "--profile", "latency", "--", "echo", "done"),
            agent=agent,
            PINFOLD_CREDENTIAL=ops,
            PINFOLD_CA_FILE=str(cert),
        )
        assert (shown.returncode, shown.stdout) == (0, "done\n"), shown.stderr

        # The agent is killed and comes back with another certificate, of another name: its provider goes on.
        pid = agent.provider_pid()
        agent.kill()
        make_certificate(tmp_path, "first", dns="elsewhere.example", ip="127.0.0.1")
        agent.start()
        agent.wait_ready()
        assert agent.provider_pid() == pid
    finally:
        agent.stop()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--credentials", "none"), "none: No such file or directory"),
        (("--credentials", "bad"), "bad: line 1 must be a principal and a secret, and has 1 words"),
        (("--acls", "bad"), "bad: not JSON"),
        (("--acls", "unknown"), "unknown: 'eat_cake' is no action"),
        (("--ssl-cert", "cert.pem"), "--ssl-cert and --ssl-key need one another"),
        (("--ssl-cert", "cert.pem", "--ssl-key", "none"), "none: No such file or directory"),
        (("--ssl-cert", "bad", "--ssl-key", "cert.key"), "bad: no certificate in PEM format"),
        (("--ssl-cert", "cert.pem", "--ssl-key", "cert.pem"), "cert.pem: no private key that can be read"),
        (("--ssl-cert", "cert.pem", "--ssl-key", "other.key"), "other.key does not belong to cert.pem"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    make_certificate(tmp_path, "cert")
    make_certificate(tmp_path, "other")
    (tmp_path / "bad").write_text("hush")
    (tmp_path / "unknown").write_text('{"eat_cake": []}')
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "agent_api.cli.main", "agent", "--work-dir", "w", "--port", "0"),
            *("--master-port", "0", *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 2
    assert reason in " ".join(ended.stderr.split())
    assert "hush" not in ended.stderr and "Traceback" not in ended.stderr
    assert not (tmp_path / "w").exists()


def test_a_reachable_address_with_credentials_needs_no_other_word(tmp_path: Path) -> None:
    write_credentials(tmp_path / "credentials.json", OPS)
    agent = AgentProcess(
        *(tmp_path / "agent", "--ip", "0.0.0.0", "--credentials", str(tmp_path / "credentials.json")),
        cgroup_root="none",
        access={"auth": OPS},
    )
    try:
        agent.start()
        assert "secrets travel unencrypted to 0.0.0.0" in agent.log.read_text()
        assert requests.get(f"{agent.agent_url}/state", timeout=5).status_code == 401
    finally:
        agent.stop()
