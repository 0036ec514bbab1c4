"""Puts the provider's parts together: a whole process, and the check of a configuration.

Decides nothing about CPUs: it reads the configuration file, makes the objects, hands them to one another and to the
reactor, and translates our own errors into an exit status, once. SIGTERM ends the process and leaves every set in
force: tasks run on.
"""

from __future__ import annotations

import fcntl
import gc
import json
import logging
import os
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twisted.internet.task import Cooperator

from agent_api.wire import codec, mesos_pb2
from migrations.database import DatabaseError
from profiles.errors import ProfilesError
from profiles.source import ProfileSource, in_thread
from profiles.state import Fetched
from provider import cgroups, cpuset, inventory, reconcile, sysfs
from provider.client import MEDIA, Client, parse_target
from provider.dialect import Dialect, Pinfold
from provider.dialect_mesos import Mesos
from provider.errors import ConfigError, HeldError, ProviderError
from provider.inventory import Host, State
from provider.keeper import Keeper
from provider.layout import Config, Layout, config_from_wire, plan_layout
from provider.manager import Manager
from provider.power import CpuFreq, PowerKeeper
from provider.store import Store, peek
from provider.task_cgroups import TaskCgroups
from provider.topology import Topology
from provider.world import World

__all__ = ["DATABASE", "ENGINES", "Options", "check", "load_info", "release", "run"]

log = logging.getLogger(__name__)

ENGINES = ("pinfold", "mesos")
MESOS = ENGINES[1]
"""The kind of agent: Pinfold's own, or a stock Mesos one."""
DATABASE = "provider.db"
"""In the work directory."""
TICK_SECONDS = 1.0
LOOK_SECONDS = 10.0
LOOK_OFTEN_SECONDS = 30.0
"""How often a stock agent's tasks are looked at; and for how long each second after tasks were published."""
REPORT_SECONDS = 0.05
"""How long a report waits for further changes."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    config: Path
    work_dir: Path
    agent: str = ""
    sysfs_root: Path = Path("/")
    cgroup_root: str = "auto"
    cgroup_name: str = "pinfold"
    content_type: str = "protobuf"
    credentials: Path | None = None
    ca_file: str | None = None
    engine: str = "pinfold"
    task_cgroup_root: Path | None = None
    agent_cert: str | None = None


def load_info(path: Path) -> mesos_pb2.ResourceProviderInfo:
    """The configuration file: a ResourceProviderInfo in Mesos's JSON. Raises ConfigError that names the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"--config {path}: {error.strerror}") from error
    try:
        info: mesos_pb2.ResourceProviderInfo = codec.from_json(mesos_pb2.ResourceProviderInfo, data)
    except ValueError as error:
        raise ConfigError(f"--config {path}: {error}") from error
    if info.HasField("id"):
        raise ConfigError(f"--config {path}: id: must not be set, the agent gives it")
    return info


# -- the check ------------------------------------------------------------------------------------------------------


def check(options: Options) -> dict[str, Any]:
    """Whether this host can run with a configuration; changes nothing, also while a provider runs in the work dir.

    Returns {"floor_cpus": N}. Raises ConfigError for what can never be right here, HeldError for what would take CPUs
    that a set holds, and where the provider of another work dir runs.
    """
    info = load_info(options.config)
    config = config_from_wire(info)
    enforcer = _enforcer(options)
    topology = sysfs.read(options.sysfs_root)
    cpus, mems = enforcer.allowed()
    layout = plan_layout(topology, config, cpus)
    database = options.work_dir / DATABASE
    if database.exists():
        before = _layout_before(options, topology, cpus)
        allowed, _ = inventory.usable(topology, cpus, mems)
        stack = inventory.stack_from(info.default_reservations)
        host = Host(topology, layout, allowed, mems or 0, stack, overcommit=config.overcommit)
        _check_held(host, peek(database), before)
    base = _base(enforcer)
    if base and _locked(base) and not _locked(Path(f"{database}.lock")):
        raise HeldError(
            f"another provider works in {base}: it was started by hand, or by another agent; end it first, as one "
            "provider has all CPUs of a host, or give --cgroup-name"
        )
    return {"floor_cpus": layout.floor.bit_count()}


def _layout_before(options: Options, topology: Topology, cpus: int | None) -> Layout | None:
    """What the configuration in the work directory makes of the host; None where there is none, or it fits no more."""
    kept = options.work_dir / "config.json"
    try:
        return plan_layout(topology, config_from_wire(load_info(kept)), cpus) if kept.exists() else None
    except ConfigError:
        return None


def _check_held(host: Host, state: State, before: Layout | None) -> None:
    for one in state.sets.values():
        mine = (one.cpus | one.blocked) & host.allowed
        lost = mine & ~host.layout.pools.get(one.pool, 0)
        if before is not None:
            lost &= before.pools.get(one.pool, 0)
        if lost:
            if lost & host.layout.reserved:
                taker, lost = "cpu.reserved_cpus", lost & host.layout.reserved
            elif lost & host.layout.floor:
                taker, lost = "cpu.floor", lost & host.layout.floor
            else:
                taker = "cpu.pools"
            raise HeldError(
                f"{taker}: would take CPUs {cpuset.format_mask(lost)}, which set {one.id} (role {one.role}) holds; "
                "destroy the set first"
            )
        if not one.exclusive and not one.revocable and one.pool not in host.layout.pools:
            raise HeldError(f"cpu.pools: pool {one.pool!r} is used by set {one.id} (role {one.role})")
    unbacked = inventory.figures(host, state).unbacked
    if unbacked:
        shared = sorted(one.id for one in state.sets.values() if not one.exclusive and not one.revocable)
        raise HeldError(f"cpu: {unbacked} CPUs that shared sets {', '.join(shared)} are guaranteed would be missing")


# -- the end --------------------------------------------------------------------------------------------------------


def release(options: Options) -> dict[str, Any]:
    """For a provider that was removed and runs no more: take the sets in which nothing runs out of the kernel, and
    give their CPUs, the pools and the reserved CPUs to plain tasks. Its state stays, so that it can be added again.

    Returns {"kept": [ids of the sets that are still in force], "released": [ids of the others]}. Raises our own errors
    where a provider runs there, or the kernel refuses.
    """
    database = options.work_dir / DATABASE
    if not database.exists():
        return {"kept": [], "released": []}
    store = Store(database)
    lock = -1
    try:
        stored = store.load()
        state = stored.state
        enforcer = _enforcer(options)
        lock = _own_cgroups(enforcer)
        host = _host(options, enforcer)
        keeper = Keeper(enforcer, PowerKeeper(_cpufreq(options), store.save_power, dict(stored.power)))
        kept = keeper.release(host, state)
        store.forget_power(keeper.settled(host, reconcile.only(state, kept)))
    finally:
        store.close()
        if lock >= 0:
            os.close(lock)
    return {"kept": sorted(kept), "released": sorted(set(state.sets) - set(kept))}


def _host(options: Options, enforcer: cgroups.Enforcer) -> Host:
    """The host under the configuration; without zones and pools where it does not fit any more."""
    topology = sysfs.read(options.sysfs_root)
    cpus, mems = enforcer.allowed()
    info = load_info(options.config)
    try:
        layout = plan_layout(topology, config_from_wire(info), cpus)
    except ConfigError as error:
        log.warning("the configuration does not fit the host any more: %s", error)
        layout = Layout(reserved=0, floor=0, zones={}, pools={})
    return Host(
        topology,
        layout,
        *inventory.usable(topology, cpus, mems),
        inventory.stack_from(info.default_reservations),
        policies=_cpufreq(options).policies(topology.online),
    )


def _cpufreq(options: Options) -> CpuFreq:
    boot = _text(options.sysfs_root / "proc/sys/kernel/random/boot_id") or ""
    return CpuFreq(options.sysfs_root, boot.strip())


def _enforcer(options: Options) -> cgroups.Enforcer:
    proc = options.sysfs_root / "proc"
    return cgroups.detect(
        options.cgroup_root, options.cgroup_name, proc_root=str(proc if proc.is_dir() else Path("/proc"))
    )


# -- the process ----------------------------------------------------------------------------------------------------


def run(options: Options, reactor: Any) -> int:
    """Run until SIGTERM or SIGINT, or until the agent removes this provider. Returns the exit status."""
    try:
        service = Service(options, reactor)
    except (ProviderError, ProfilesError, DatabaseError) as error:
        log.error("cannot start: %s", error)
        return 1
    try:
        reactor.callWhenRunning(service.start)
        # What was loaded stays until the end: without it a full collection holds the reactor up for tens of ms.
        gc.collect()
        gc.freeze()
        reactor.run()
    finally:
        service.close()
    return service.status


class Service:
    """One provider process."""

    def __init__(self, options: Options, reactor: Any) -> None:
        """Open everything and recover the state. Raises our own errors where that is impossible."""
        self._reactor = reactor
        self._cgroup_lock = -1
        self._slices = Cooperator(scheduler=lambda step: reactor.callLater(0, step))
        self.status = 0
        info = load_info(options.config)
        config = config_from_wire(info)
        target = parse_target(options.agent, _credentials(options.credentials))
        try:
            options.work_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(f"--work-dir {options.work_dir}: {error.strerror}") from error
        self._store = Store(options.work_dir / DATABASE)
        try:
            online = options.sysfs_root / "sys/devices/system/cpu/online"
            enforcer = _enforcer(options)
            self._cgroup_lock = _own_cgroups(enforcer)
            world = World(
                store=self._store,
                enforcer=enforcer,
                read_topology=lambda: sysfs.read(options.sysfs_root),
                host_changed=lambda: _text(online),
                clock=time.time,
                new_uuid=lambda: uuid.uuid4().bytes,
                new_set_id=lambda: str(uuid.uuid4()),
                keep_tasks=self._keep_tasks(options, enforcer),
                cpufreq=_cpufreq(options),
            )
            self.manager = Manager(
                world, info, config, self._send, self._wanted, self._dialect(options), self._in_slices
            )
            self.manager.recover()
            if self._cgroup_lock < 0:
                self._cgroup_lock = _own_cgroups(enforcer)
            self.client = Client(
                reactor,
                target,
                self.manager,
                media=MEDIA[options.content_type],
                random=random.random,
                ca_file=options.ca_file,
                ask_agent=options.engine == MESOS,
                agent_cert=options.agent_cert,
            )
            self._source = self._profile_source(config)
        except BaseException:
            self.close()
            raise
        self._placing = options.task_cgroup_root is not None
        self._asking = False
        self._asked = 0.0
        self._report: Any = None
        self._ticking: Any = None

    @staticmethod
    def _dialect(options: Options) -> Dialect:
        if options.engine == MESOS:
            return Mesos(task_cgroups=options.task_cgroup_root is not None)
        return Pinfold()

    @staticmethod
    def _keep_tasks(options: Options, enforcer: cgroups.Enforcer) -> Callable[[Mapping[str, int], int], list[str]]:
        root = options.task_cgroup_root
        if root is None:
            return lambda groups, plain: []
        if options.engine != MESOS:
            raise ConfigError(f"--task-cgroup-root {root}: only with --engine mesos; Pinfold's agent places its tasks")
        plain = enforcer.plain_path()
        return TaskCgroups(root, ours=Path(plain).parent if plain else None).keep

    def _profile_source(self, config: Config) -> ProfileSource | None:
        if config.uri is None:
            return None
        return ProfileSource(
            config.uri,
            clock=self._reactor,
            run=in_thread(self._reactor),
            random=random.random,
            on_result=self.manager.profiles_fetched,
            prepare=self._prepare,
            document=self.manager.profiles.document,
            poll_interval=config.poll_interval_seconds,
            max_random_wait=config.max_random_wait_seconds,
            ca_file=config.ca_file,
            credentials_file=config.credentials_file,
        )

    def _in_slices(self, steps: Iterator[None]) -> None:
        done = self._slices.cooperate(steps).whenDone()
        done.addErrback(lambda failure: log.error("what was asked for could not be finished: %s", failure))

    def _prepare(self, document: Fetched, ready: Callable[[], None]) -> None:
        """Look at a new document in slices of a few milliseconds, with whatever else happens in between."""
        done = self._slices.cooperate(self.manager.preparation(document)).whenDone()
        done.addErrback(lambda failure: log.error("a profile document was not prepared: %s", failure))
        done.addCallback(lambda _: ready())

    def start(self) -> None:
        """Called in the reactor: connect, look at the profiles, watch the kernel."""
        self._reactor.addSystemEventTrigger("before", "shutdown", self.stop)
        if self._source is not None:
            self._source.start()
        self.client.start()
        self._tick()

    def stop(self) -> Any:
        """Stop what runs; sets stay in force."""
        log.info("stopping; the sets stay in force")
        for call in (self._ticking, self._report):
            if call is not None and call.active():
                call.cancel()
        if self._source is not None:
            self._source.stop()
        self._slices.stop()
        return self.client.stop()

    def close(self) -> None:
        self._store.close()
        if self._cgroup_lock >= 0:
            os.close(self._cgroup_lock)
            self._cgroup_lock = -1

    def _tick(self) -> None:
        self._ticking = self._reactor.callLater(TICK_SECONDS, self._tick)
        try:
            self.manager.tick()
        except Exception:
            # A fault in looking after things must not end the process that answers for the sets.
            log.exception("the periodic check failed; it is tried again")
        self._look_at_tasks()
        if self.manager.torn_down and self._reactor.running:
            self._reactor.stop()

    def _look_at_tasks(self) -> None:
        """Ask a stock agent which tasks it runs: often after some were about to start, seldom otherwise."""
        now = time.time()
        pause = TICK_SECONDS if 0 <= now - self.manager.published < LOOK_OFTEN_SECONDS else LOOK_SECONDS
        if self._placing and self.manager.state.sets and not self._asking and not 0 <= now - self._asked < pause * 0.9:
            self._asking, self._asked = True, now

            def answered(tasks: Any) -> None:
                self._asking = False
                if tasks is not None and not self.manager.torn_down:
                    self.manager.tasks_told(tasks)

            self.client.ask_tasks().addCallback(answered).addErrback(
                lambda failure: log.error("tasks could not be looked at: %s", failure)
            )

    def _send(self, call: Any) -> None:
        self.client.send(call)

    def _wanted(self) -> None:
        if self._reactor.running:
            self._report = self._reactor.callLater(REPORT_SECONDS, self.manager.flush)


def _own_cgroups(enforcer: cgroups.Enforcer) -> int:
    """Lock our base directory, or raise ConfigError: two providers there would undo each other's sets.

    Returns the file descriptor that holds the lock; -1 where there is no directory to lock (yet).
    """
    base = _base(enforcer)
    if base is None:
        return -1
    try:
        lock = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return -1
    except OSError as error:
        raise ConfigError(f"--cgroup-root: {base}: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise ConfigError(
            f"another provider works in {base}; one provider has all CPUs of a host, or give --cgroup-name"
        ) from None
    except OSError as error:
        log.warning("%s cannot be locked: %s", base, error.strerror)
    return lock


def _base(enforcer: cgroups.Enforcer) -> Path | None:
    """Our directory among the cgroups; None for affinity."""
    plain = enforcer.plain_path()
    return Path(plain).parent if plain else None


def _locked(path: Path) -> bool:
    """Whether a process holds the lock on a file or directory."""
    try:
        probe = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(probe)
    return False


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _credentials(path: Path | None) -> str | None:
    """principal:secret from a file: JSON {"principal", "secret"}, or the two words on one line."""
    if path is None:
        return None
    try:
        text = path.read_text()
    except OSError as error:
        raise ConfigError(f"--credentials {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"--credentials {path}: not UTF-8 (byte {error.start})") from None
    try:
        content = json.loads(text)
        return f"{content['principal']}:{content['secret']}"
    except (ValueError, KeyError, TypeError):
        words = text.split()
    if len(words) != 2:
        raise ConfigError(f'--credentials {path}: {{"principal": …, "secret": …}} or two words are needed')
    return ":".join(words)
