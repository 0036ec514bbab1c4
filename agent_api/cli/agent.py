"""`pinfold agent`: reads the options, sets up logging and the reactor, runs the agent until it is told to stop.

Decides exit statuses: 0 after SIGTERM or SIGINT, 1 where it cannot start or its state cannot be written, 2 for wrong
usage.
"""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import re
import signal
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from agent_api.wire import mesos_pb2

__all__ = ["agent"]

log = logging.getLogger(__name__)

LEVELS = ("debug", "info", "warning", "error")


@click.command()
@click.option(
    "--work-dir",
    default="/var/lib/pinfold",
    show_default=True,
    type=click.Path(file_okay=False),
    help="State, task sandboxes and provider directories.",
)
@click.option("--ip", default="127.0.0.1", show_default=True, help="Address that both ports listen on.")
@click.option("--port", default=5051, show_default=True, type=click.IntRange(0, 65535), help="Agent port; 0: any.")
@click.option(
    "--master-port", default=5050, show_default=True, type=click.IntRange(0, 65535), help="Master port; 0: any."
)
@click.option("--insecure", is_flag=True, help="Allow an --ip that other hosts reach, without any credentials.")
@click.option("--hostname", default=None, help="Name in offers and answers. Default: this host's.")
@click.option(
    "--resources",
    default=None,
    metavar="STR",
    help="What is offered, as 'cpus:8;mem:4096;disk:1000;ports:[31000-32000]'. What is left out is measured.",
)
@click.option("--sysfs-root", default="/", show_default=True, help="File-system root whose sys/ and proc/ are read.")
@click.option(
    "--cgroup-root", default="auto", show_default=True, help="auto, none, or a directory that was delegated to us."
)
@click.option("--cgroup-name", default="pinfold", show_default=True, help="Name of our cgroup below the root.")
@click.option(
    "--offer-timeout",
    default=None,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Take offers back after this time. Default: never.",
)
@click.option("--log-level", default="info", show_default=True, type=click.Choice(LEVELS, case_sensitive=False))
def agent(
    work_dir: str,
    ip: str,
    port: int,
    master_port: int,
    insecure: bool,
    hostname: str | None,
    resources: str | None,
    sysfs_root: str,
    cgroup_root: str,
    cgroup_name: str,
    offer_timeout: float | None,
    log_level: str,
) -> None:
    """Serve the agent and master APIs of this host until SIGTERM.

    The two ports listen on loopback. The ports in use are written to WORK_DIR/endpoints.json. On a clean stop the
    providers that the agent started end, too; tasks and CPU sets live on and are found again at the next start.
    """
    _check_ip(ip, insecure)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", cgroup_name):
        raise click.BadParameter(
            f"'{cgroup_name}' is no name of a directory (letters, digits, '_', '.' and '-')",
            param_hint="--cgroup-name",
        )
    own = parse_resources(resources) if resources is not None else {}
    online = _online_cpus(sysfs_root)
    flags = {
        "work_dir": str(Path(work_dir).absolute()),
        "ip": ip,
        "port": str(port),
        "master_port": str(master_port),
        "resources": resources or "",
        "sysfs_root": sysfs_root,
        "cgroup_root": cgroup_root,
        "cgroup_name": cgroup_name,
        "log_level": log_level,
    }
    logging.basicConfig(
        stream=sys.stderr,
        level=log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        force=True,
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # Only now: importing the reactor and the core takes time that `--help` need not.
    from agent_api.service import Settings

    sys.exit(
        _run(
            Settings(
                work_dir=work_dir,
                version=version("pinfold"),
                hostname=hostname or socket.gethostname(),
                ip=ip,
                port=port,
                master_port=master_port,
                resources=tuple(own.get(name) or made for name, made in _defaults(online, work_dir).items())
                + tuple(made for name, made in own.items() if name not in ("cpus", "mem", "disk", "ports")),
                online_cpus=online,
                sysfs_root=sysfs_root,
                cgroup_root=cgroup_root,
                cgroup_name=cgroup_name,
                offer_timeout=offer_timeout,
                flags=flags,
            )
        )
    )


def _run(settings: Any) -> int:
    from twisted.internet import reactor as global_reactor
    from twisted.python.log import PythonLoggingObserver

    from agent_api.service import Agent, StartError

    observer: Any = PythonLoggingObserver
    observer("twisted").start()
    logging.getLogger("twisted").setLevel(logging.WARNING)
    reactor: Any = global_reactor
    running = Agent(settings, reactor)
    status = 0
    stopping = False

    def stop(reason: str, result: int) -> None:
        nonlocal status, stopping
        status = max(status, result)
        if stopping:
            return
        stopping = True
        log.info("stopping: %s", reason)
        ended = running.stop()
        ended.addErrback(lambda failure: log.error("stopping failed: %s", failure.getTraceback()))
        ended.addBoth(lambda _: reactor.stop())

    def on_signal(number: int, _frame: Any) -> None:
        reactor.callFromThread(stop, signal.Signals(number).name, 0)

    def start() -> None:
        nonlocal status
        try:
            running.start()
        except StartError as error:
            click.echo(f"Error: {error}", err=True)
            status = 1
            reactor.stop()
        except BaseException:
            log.exception("starting failed")
            status = 1
            reactor.stop()

    running.failed.addCallback(lambda _: stop("the state cannot be written", 1))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    reactor.callWhenRunning(start)
    # What was loaded stays until the end: without it a full collection holds the reactor up for tens of ms.
    gc.collect()
    gc.freeze()
    reactor.run(installSignalHandlers=False)
    return status


def _check_ip(ip: str, insecure: bool) -> None:
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        raise click.BadParameter(f"'{ip}' is no IP address", param_hint="--ip") from None
    if not address.is_loopback and not insecure:
        raise click.BadParameter(
            f"{ip} can be reached from other hosts, and whoever reaches it can run commands here. "
            "Use a loopback address, or --insecure if the network is safe",
            param_hint="--ip",
        )


def parse_resources(text: str) -> dict[str, mesos_pb2.Resource]:
    """Mesos's short form: `name:number`, `name:[low-high,…]` or `name:{item,…}`, joined by `;`. Errors: exit 2."""
    found: dict[str, mesos_pb2.Resource] = {}
    for part in text.split(";"):
        if not part.strip():
            continue
        name, colon, value = (piece.strip() for piece in part.partition(":"))
        if not colon or not name or "(" in name:
            raise _bad_resources(part, "expecting NAME:VALUE")
        if name in found:
            raise _bad_resources(part, f"{name} is there twice")
        resource = mesos_pb2.Resource(name=name)
        try:
            if value.startswith("[") and value.endswith("]"):
                resource.type = mesos_pb2.Value.RANGES
                for piece in value[1:-1].split(","):
                    low, _, high = piece.partition("-")
                    resource.ranges.range.add(begin=int(low), end=int(high))
                if any(entry.begin > entry.end for entry in resource.ranges.range):
                    raise ValueError("a range ends before it begins")
            elif value.startswith("{") and value.endswith("}"):
                resource.type = mesos_pb2.Value.SET
                resource.set.item.extend(item.strip() for item in value[1:-1].split(","))
            else:
                resource.type = mesos_pb2.Value.SCALAR
                resource.scalar.value = float(value)
                if not 0 <= resource.scalar.value < 1e15:
                    raise ValueError("out of range")
        except (ValueError, OverflowError) as error:
            raise _bad_resources(part, str(error)) from None
        found[name] = resource
    return found


def _bad_resources(part: str, reason: str) -> click.BadParameter:
    return click.BadParameter(f"'{part.strip()}': {reason}", param_hint="--resources")


def _defaults(online: int, work_dir: str) -> dict[str, mesos_pb2.Resource]:
    """What is measured: all online CPUs; memory and disk less a part for the host itself, as Mesos does."""

    def scalar(name: str, value: float) -> mesos_pb2.Resource:
        return mesos_pb2.Resource(name=name, type=mesos_pb2.Value.SCALAR, scalar=mesos_pb2.Value.Scalar(value=value))

    ports = mesos_pb2.Resource(name="ports", type=mesos_pb2.Value.RANGES)
    ports.ranges.range.add(begin=31000, end=32000)
    return {
        "cpus": scalar("cpus", online),
        "mem": scalar("mem", _less_reserve(_memory_mb(), 1024)),
        "disk": scalar("disk", _less_reserve(_disk_mb(work_dir), 5 * 1024)),
        "ports": ports,
    }


def _less_reserve(total: int, reserve: int) -> int:
    """What is left beside a fixed reserve, or half where that is less than half of the total."""
    return total - reserve if total >= 2 * reserve else total // 2


def _memory_mb() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 1024


def _disk_mb(work_dir: str) -> int:
    path = Path(work_dir).absolute()
    while not path.exists():
        path = path.parent
    status = os.statvfs(path)
    return status.f_frsize * status.f_blocks // (1024 * 1024)


def _online_cpus(sysfs_root: str) -> int:
    """How many CPUs the kernel runs; those this process may use, where sysfs does not say."""
    try:
        text = (Path(sysfs_root) / "sys/devices/system/cpu/online").read_text().strip()
        count = 0
        for part in text.split(","):
            low, _, high = part.partition("-")
            count += int(high or low) - int(low) + 1
        return count
    except (OSError, ValueError):
        return len(os.sched_getaffinity(0))
