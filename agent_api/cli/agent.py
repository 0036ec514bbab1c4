"""`pinfold agent`: reads the options, sets up logging and the reactor, runs the agent until it is told to stop.

Decides exit statuses: 0 after SIGTERM or SIGINT, 1 where it cannot start or its state cannot be written, 2 for wrong
usage.
"""

from __future__ import annotations

import gc
import ipaddress
import logging
import math
import re
import signal
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import click

from agent_api import flags

__all__ = ["agent"]

log = logging.getLogger(__name__)

LEVELS = ("debug", "info", "warning", "error")


R = TypeVar("R")

WATCH_SECONDS = 2.0
"""How often the config file is looked at; SIGHUP reads it at once."""


class _Command(click.Command):
    """Keeps the words of the command line, to read them again together with a changed config file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)


WORDS = "agent_api.cli.agent.words"


def _kind(option: click.Parameter) -> type:
    if getattr(option, "is_flag", False):
        return bool
    if isinstance(option.type, click.types.IntParamType):
        return int
    return float if isinstance(option.type, click.types.FloatParamType) else str


def _read_config(ctx: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """The file's values stand in for defaults: whatever the command line says wins."""
    if path is not None:
        known = {
            other.name: _kind(other) for other in ctx.command.params if other.name is not None and other is not option
        }
        try:
            ctx.default_map = flags.read(path, known)
        except flags.FlagsError as error:
            raise click.BadParameter(str(error), ctx, option) from None
    return path


@click.command(cls=_Command)
@click.option(
    "--config",
    default=None,
    metavar="F",
    is_eager=True,
    callback=_read_config,
    help="JSON file with these options as keys; what is given here wins. Read again on SIGHUP and when it changes.",
)
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
    help="What is offered, as 'cpus:8;mem:4096;disk:1000;ports:[31000-32000]', with 'cpus(role):2' for a static "
    "reservation. What is left out is measured.",
)
@click.option(
    "--attributes",
    default=None,
    metavar="STR",
    help="What frameworks are told of this host, as 'rack:r7;level:10;ports:[1-9];tags:{ssd,gpu}'.",
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
@click.option(
    "--gc-delay",
    default=604800.0,
    show_default=True,
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Remove a task's directory this long after its end.",
)
@click.option(
    "--credentials",
    default=None,
    metavar="F",
    help="File with the principals and secrets that both ports ask for: Mesos's JSON, or 'principal secret' lines.",
)
@click.option("--acls", default=None, metavar="F", help="File that says who may do what: Mesos's JSON.")
@click.option(
    "--ssl-cert", default=None, metavar="F", help="Certificate in PEM format, its chain behind it: for https."
)
@click.option("--ssl-key", default=None, metavar="F", help="The certificate's private key.")
@click.option("--log-level", default="info", show_default=True, type=click.Choice(LEVELS, case_sensitive=False))
@click.pass_context
def agent(ctx: click.Context, /, **options: Any) -> None:
    """Serve the agent and master APIs of this host until SIGTERM.

    The two ports listen on loopback. The ports in use are written to WORK_DIR/endpoints.json. On a clean stop the
    providers that the agent started end, too; tasks and CPU sets live on and are found again at the next start.
    """
    words = ctx.meta[WORDS]
    _check(options)
    logging.basicConfig(
        stream=sys.stderr,
        level=options["log_level"].upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        force=True,
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    local = ipaddress.ip_address(options["ip"]).is_loopback
    if options["credentials"] is not None and options["ssl_cert"] is None and not local:
        log.warning("without --ssl-cert and --ssl-key, secrets travel unencrypted to %s", options["ip"])

    def again() -> Any:
        """The settings as the command line and the config file have them by now. Raises FlagsError."""
        try:
            with agent.make_context("agent", list(words)) as ctx:
                _check(ctx.params)
                return _settings(ctx.params)
        except click.ClickException as error:
            raise flags.FlagsError(error.format_message()) from None

    sys.exit(_run(_settings(options), again))


def _check(options: dict[str, Any]) -> None:
    _check_ip(options["ip"], options["insecure"] or options["credentials"] is not None)
    if (options["ssl_cert"] is None) is not (options["ssl_key"] is None):
        raise click.UsageError("--ssl-cert and --ssl-key need one another")
    for seconds in ("offer_timeout", "gc_delay"):
        if options[seconds] is not None and math.isnan(options[seconds]):
            raise click.BadParameter("nan is no number of seconds", param_hint=f"--{seconds.replace('_', '-')}")
    name = options["cgroup_name"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise click.BadParameter(
            f"'{name}' is no name of a directory (letters, digits, '_', '.' and '-')",
            param_hint="--cgroup-name",
        )


def _parsed(parse: Callable[[str], R], text: str, option: str) -> R:
    try:
        return parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def _read_acls(path: str) -> Any:
    from agent_api.core import acls

    try:
        found = acls.parse(Path(path).read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except acls.AclsError as error:
        raise ValueError(f"{path}: {error}") from None
    if found.without_effect:
        log.warning("%s: %s have no effect here", path, ", ".join(found.without_effect))
    return found


def _access(options: dict[str, Any]) -> dict[str, Any]:
    """The part of the settings that is about who gets in and what for."""
    from agent_api import authentication

    access: dict[str, Any] = {"ssl_cert": options["ssl_cert"]}
    if options["credentials"] is not None:
        access["credentials"] = _parsed(authentication.read, options["credentials"], "--credentials")
    if options["acls"] is not None:
        access["acls"] = _parsed(_read_acls, options["acls"], "--acls")
    if options["ssl_cert"] is not None:
        from agent_api import tls

        access["tls"] = _parsed(
            lambda cert: tls.server_options(cert, options["ssl_key"]), options["ssl_cert"], "--ssl-cert"
        )
    return access


def _settings(options: dict[str, Any]) -> Any:
    # Only here: importing the core takes time that `--help` need not.
    from agent_api import measured
    from agent_api.core import attributes, resources
    from agent_api.settings import Settings

    own = _parsed(resources.parse, options["resources"] or "", "--resources")
    online = measured.online_cpus(options["sysfs_root"])
    given = {resource.name for resource in own}
    found = [r for r in measured.resources(online, options["work_dir"]) if r.name not in given]
    shown = {name: "" if value is None else str(value) for name, value in options.items()}
    shown["work_dir"] = str(Path(options["work_dir"]).absolute())
    shown["insecure"] = str(options["insecure"]).lower()
    return Settings(
        work_dir=options["work_dir"],
        version=version("pinfold"),
        hostname=options["hostname"] or socket.gethostname(),
        ip=options["ip"],
        port=options["port"],
        master_port=options["master_port"],
        resources=(*own, *found),
        measured=frozenset(r.name for r in found),
        attributes=tuple(_parsed(attributes.parse, options["attributes"] or "", "--attributes")),
        online_cpus=online,
        sysfs_root=options["sysfs_root"],
        cgroup_root=options["cgroup_root"],
        cgroup_name=options["cgroup_name"],
        offer_timeout=options["offer_timeout"],
        gc_delay=options["gc_delay"],
        flags=shown,
        **_access(options),
    )


def _run(settings: Any, again: Callable[[], Any]) -> int:
    from twisted.internet import reactor as global_reactor
    from twisted.internet.task import LoopingCall
    from twisted.python.log import PythonLoggingObserver

    try:
        from agent_api.service import Agent, StartError
    except ImportError as error:
        click.echo(f"Error: {error}; is pinfold installed with all that it depends on?", err=True)
        return 1

    observer: Any = PythonLoggingObserver
    observer("twisted").start()
    logging.getLogger("twisted").setLevel(logging.WARNING)
    reactor: Any = global_reactor
    running = Agent(settings, reactor, again)
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

    def on_hangup(_number: int, _frame: Any) -> None:
        reactor.callFromThread(running.reload, "SIGHUP")

    def start() -> None:
        nonlocal status
        try:
            running.start()
            if settings.flags["config"]:
                watch = flags.FileWatch(settings.flags["config"])

                def look() -> None:
                    if watch.changed():
                        running.reload("the config file changed")

                LoopingCall(look).start(WATCH_SECONDS, now=False)
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
    signal.signal(signal.SIGHUP, on_hangup)
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
            "Give --credentials (and --ssl-cert, --ssl-key), a loopback address, or --insecure if the network is safe",
            param_hint="--ip",
        )
