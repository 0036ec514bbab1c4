"""The agent as a process: puts the pure master, the store, the launcher, the daemons and the HTTP ports together.

Decides the order of things: how it starts and stops, that one turn of the core is one transaction, and that nothing
leaves the process before that transaction is committed. What is said and done is the core's decision.

A clean stop (SIGTERM, SIGINT) ends the streams and the providers this agent started; tasks and sets live on, and the
next start finds them again; cgroups without any go. After kill -9 the providers live on, too, and are adopted.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pwd
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, DeferredLock, TimeoutError, inlineCallbacks, returnValue
from twisted.internet.error import CannotListenError
from twisted.internet.task import LoopingCall

from agent_api import memory, sandboxes
from agent_api.authentication import CredentialsError, Guard, own_credential
from agent_api.core import effects
from agent_api.core.master import Master
from agent_api.core.model import Options
from agent_api.core.reconfiguration import Change
from agent_api.errors import ApiError, Conflict
from agent_api.flags import FlagsError
from agent_api.launcher import Exit, Launcher
from agent_api.provider_daemon import ProviderDaemons
from agent_api.settings import Settings
from agent_api.shim import boot_id
from agent_api.store import Store, StoreError, is_change
from agent_api.web import routes
from agent_api.web.protocol import ApiSite, watch_connections
from agent_api.web.streams import Stream
from agent_api.wire import agent_pb2, codec, mesos_pb2, recordio
from migrations.database import DatabaseError

__all__ = ["Agent", "StartError"]

log = logging.getLogger(__name__)

TICK_SECONDS = 0.25

COMPACTION_SECONDS = 100.0
"""How long the operator waits for providers that move sets; less than the commands wait for an answer."""

LIVE_FLAGS = ("resources", "attributes", "acls")
"""What a running agent takes over."""

R = TypeVar("R")


def _own_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


class StartError(Exception):
    """The agent cannot start; the message names the value in the way. Nothing was changed."""


class Agent:
    """One agent. `start` once, then requests and timers drive it until `stop`."""

    def __init__(
        self,
        settings: Settings,
        reactor: Any,
        again: Callable[[], Settings],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`again` gives the settings as the operator wants them by now. It may raise FlagsError."""
        self.settings = settings
        self.again = again
        self.reactor = reactor
        self.clock = clock
        self.ready = False
        self.failed: Deferred[None] = Deferred()
        """Fires (with None) where the process must stop because its state could not be written."""
        self.master: Master
        self.store: Store | None = None
        self.launcher: Launcher
        self.daemons: ProviderDaemons
        self.guard = Guard(None, None)
        self.agent_url = self.master_url = ""
        self._listening: list[Any] = []
        self._ticker: LoopingCall | None = None
        self._sweeper: sandboxes.Sweeper | None = None
        self._streams: dict[str, Stream] = {}
        self._operators: set[Stream] = set()
        self._busy = False
        self._later: deque[Callable[[float], None]] = deque()
        self._compactions: dict[bytes, Deferred[Any]] = {}
        self._config_lock = DeferredLock()
        self._broken = False

    # -- start and stop

    def start(self) -> None:
        """Listen, open the state, find tasks and providers again. Raises StartError."""
        settings = self.settings
        agent_port = master_port = None
        try:
            agent_port = self._listen(routes.agent_routes(self), settings.port, "pinfold-agent")
            master_port = self._listen(routes.master_routes(self), settings.master_port, "pinfold-master")
            self._open(agent_port.getHost().port, master_port.getHost().port)
        except BaseException:
            self._close()
            raise
        self._begin()

    def _listen(self, paths: dict[str, Any], port: int, realm: str) -> Any:
        settings = self.settings
        # Until the state is open, nobody gets further than "not ready"; the guard is there before that.
        site = ApiSite(paths, lambda: self.ready, lambda *who: self.guard.principal(*who), realm, self.reactor)
        try:
            if settings.tls is not None:
                listening = self.reactor.listenSSL(port, site, settings.tls, interface=settings.ip)
            else:
                listening = self.reactor.listenTCP(port, site, interface=settings.ip)
        except (CannotListenError, OSError, OverflowError) as error:
            reason = getattr(error, "socketError", error)
            raise StartError(f"cannot listen on {self.settings.ip}:{port}: {reason}") from None
        watch_connections(listening)
        self._listening.append(listening)
        return listening

    def _open(self, agent_port: int, master_port: int) -> None:
        settings = self.settings
        work_dir = Path(settings.work_dir)
        try:
            work_dir.mkdir(parents=True, exist_ok=True)
            self.store = Store(str(work_dir / "agent.db"))
        except OSError as error:
            raise StartError(f"cannot use the work directory {work_dir}: {error.strerror or error}") from None
        except DatabaseError as error:
            raise StartError(str(error)) from None
        provider_credential = work_dir.absolute() / "provider-credential.json"
        if settings.credentials is not None:
            try:
                self.guard = Guard(settings.credentials, own_credential(provider_credential))
            except (CredentialsError, OSError) as error:
                raise StartError(f"--credentials: {error}") from None
        state = self.store.load()
        host = f"[{settings.ip}]" if ":" in settings.ip else settings.ip
        if settings.ip in ("0.0.0.0", "::"):
            host = "127.0.0.1" if settings.ip == "0.0.0.0" else "[::1]"
        scheme = "http" if settings.tls is None else "https"
        self.agent_url = f"{scheme}://{host}:{agent_port}"
        self.master_url = f"{scheme}://{host}:{master_port}"
        options = Options(
            hostname=settings.hostname,
            ip=settings.ip,
            port=agent_port,
            master_port=master_port,
            version=settings.version,
            resources=list(settings.resources),
            online_cpus=settings.online_cpus,
            measured=settings.measured,
            attributes=list(settings.attributes),
            boot_id=boot_id(),
            offer_timeout=settings.offer_timeout,
            work_dir=str(work_dir.absolute()),
            flags=settings.flags,
            scheme=scheme,
            user=_own_user(),
            acls=settings.acls,
        )
        try:
            self.master = Master(options, state, lambda: str(uuid.uuid4()), self.clock())
        except Conflict as error:
            raise StartError(str(error)) from None
        try:
            self.launcher = Launcher(
                str(work_dir.absolute()),
                settings.cgroup_root,
                settings.cgroup_name,
                self.reactor,
                self._task_started,
                self._task_exited,
                self._task_failed,
                sysfs_root=settings.sysfs_root,
            )
            self.launcher.cgroups.step_aside()
            log.info("memory of tasks: %s", memory.described(self.launcher.cgroups))
        except (OSError, ValueError) as error:
            raise StartError(f"cannot use cgroups as --cgroup-root says: {error}") from None
        self.daemons = ProviderDaemons(
            settings.work_dir,
            self.agent_url,
            self.reactor,
            sysfs_root=settings.sysfs_root,
            cgroup_root=settings.cgroup_root,
            cgroup_name=settings.cgroup_name,
            credential=str(provider_credential) if settings.credentials is not None else None,
            agent_cert=str(Path(settings.ssl_cert).absolute()) if settings.ssl_cert is not None else None,
        )

    def _begin(self) -> None:
        tasks = self.master.recoverable_tasks()
        for task in tasks:
            self.launcher.recover(task.framework_id, task.task.task_id.value, task.pid, task.start_ticks, task.boot_id)
        # Only after the launcher knows its tasks again: the first turn may end some of them.
        self.turn(lambda now: None)
        configs = self.master.configs()
        for config in configs:
            self._run_provider(config.info)
        self.daemons.finish_removals()
        self._ticker = LoopingCall(self.notify, lambda now: None)
        self._ticker.clock = self.reactor
        self._ticker.start(TICK_SECONDS, now=False)
        self._sweeper = sandboxes.Sweeper(
            self.reactor,
            self.launcher.work_dir,
            self.settings.gc_delay,
            lambda: {self.launcher.sandbox(*key) for key in self.master.task_keys()},
        )
        self._sweeper.start()
        content = {"agent": self.agent_url, "master": self.master_url, "pid": os.getpid()}
        endpoints = Path(self.settings.work_dir) / "endpoints.json"
        partial = endpoints.with_name("endpoints.json.new")
        partial.write_text(json.dumps(content) + "\n")
        partial.rename(endpoints)
        self.ready = True
        log.info(
            "agent %s, master %s: ready; %d tasks to find again, %d provider configs, work directory %s",
            self.agent_url,
            self.master_url,
            len(tasks),
            len(configs),
            self.settings.work_dir,
        )

    def reload(self, why: str) -> None:
        """Take over what may change while the agent runs: its own resources and attributes, credentials and ACLs. What
        is refused leaves everything as it was."""
        if not self.ready:
            return
        log.info("reading the settings again: %s", why)
        try:
            new = self.again()
            shown = {name: new.flags[name] for name in LIVE_FLAGS}
            if None not in (new.credentials, self.settings.credentials):
                shown["credentials"] = new.flags["credentials"]
                guard = Guard(new.credentials, self.guard.own)
            else:
                guard = self.guard  # to ask for credentials or not is a matter of the providers' command lines, too
            flags = {**self.settings.flags, **shown}
            change = Change(new.resources, new.online_cpus, new.attributes, flags, new.acls)
            self.turn(lambda now: self.master.reconfigure(change, now))
            self.guard = guard
        except (FlagsError, CredentialsError) as error:
            log.error("the settings stay as they were: %s", error)
            self.notify(self.master.reconfigure_refused)
            return
        except ApiError as error:
            log.error("the settings stay as they were: %s", error)
            return
        except Exception:
            # A fault of ours; whoever watches the files has to go on watching.
            log.exception("the settings stay as they were")
            self.notify(self.master.reconfigure_refused)
            return
        later = sorted(name for name, value in new.flags.items() if value != flags[name])
        if later:
            log.warning("changed, and in force from the next start on: %s", ", ".join(later))
        self.settings = replace(
            self.settings,
            resources=new.resources,
            online_cpus=new.online_cpus,
            attributes=new.attributes,
            acls=new.acls,
            flags=flags,
        )

    @inlineCallbacks
    def stop(self) -> Any:
        """End the streams, the ports and the providers; then give the state up. Tasks live on."""
        self.ready = False
        self._broken = True
        if self._ticker is not None and self._ticker.running:
            self._ticker.stop()
        if self._sweeper is not None:
            self._sweeper.stop()
        for stream in [*self._streams.values(), *self._operators]:
            stream.close()
        for listening in self._listening:
            yield listening.stopListening()
        self._listening = []
        yield self.daemons.stop_all()
        self.launcher.cgroups.remove_unused()
        with contextlib.suppress(FileNotFoundError):
            (Path(self.settings.work_dir) / "endpoints.json").unlink()
        self._close()

    def _close(self) -> None:
        for listening in self._listening:
            listening.stopListening()
        self._listening = []
        if self.store is not None:
            self.store.close()
            self.store = None

    # -- compaction

    @inlineCallbacks
    def compact(self, call: agent_pb2.Call.CompactCpusets) -> Any:
        """Ask the providers to move sets, or what they would move, and wait for their answers. Raises ApiError."""
        asked = self.turn(lambda now: self.master.compact(call, now))
        for key in asked:
            self._compactions[key] = Deferred()
        waiting = [self._compactions[key].addTimeout(COMPACTION_SECONDS, self.reactor) for key in asked]
        answers = {}
        try:
            for provider_id, answer in zip(asked.values(), waiting, strict=True):
                answers[provider_id] = yield answer
        except TimeoutError:
            raise ApiError(
                503,
                f"Provider {provider_id} gave no answer for {COMPACTION_SECONDS:g} s; `pinfold sets` tells what moved",
            ) from None
        finally:
            for key in asked:
                self._compactions.pop(key, None)
        returnValue(self.turn(lambda now: self.master.compacted(call.dry_run, answers, now)))

    # -- turns

    def turn(self, decide: Callable[[float], R], first: Callable[[R], None] | None = None) -> R:
        """Run one turn of the core: decide, tick, commit, then send.

        `first` is called with the result after the commit and before anything else is sent. Raises what `decide`
        raises, after the turn was carried out as far as it came.
        """
        if self._broken:
            raise ApiError(503, "The agent is stopping")
        assert not self._busy, "a turn inside a turn"
        self._busy = True
        try:
            now = self.clock()
            failure: BaseException | None = None
            try:
                result = decide(now)
            except Exception as error:
                failure = error
            try:
                self.master.tick(now)
            except Exception:
                # A fault of ours; what was decided before it still has to be kept and told.
                log.exception("the core's timers failed")
            drained = self.master.drain()
            self._commit([effect for effect in drained if is_change(effect)])
            if failure is None and first is not None:
                first(result)
            for effect in drained:
                try:
                    self._perform(effect)
                except Exception:
                    log.exception("carrying out %s failed", type(effect).__name__)
        finally:
            self._busy = False
        if self._later:
            self.reactor.callLater(0, self._run_later)
        if failure is not None:
            raise failure
        return result

    def notify(self, decide: Callable[[float], None]) -> None:
        """Run a turn now, or right after the one that is running. For news from the world; never raises."""
        self._later.append(decide)
        if not self._busy:
            self._run_later()

    def _run_later(self) -> None:
        while self._later and not self._busy and not self._broken:
            try:
                self.turn(self._later.popleft())
            except ApiError as error:
                log.warning("news from the world was refused: %s", error)
            except Exception:
                log.exception("a turn of the core failed")

    def _commit(self, changes: list[Any]) -> None:
        if not changes:
            return
        assert self.store is not None
        try:
            self.store.apply(changes)
        except StoreError as error:
            # What is in memory now is not what a restart would find: nobody may be told of it.
            self._broken = True
            self.ready = False
            log.critical("the state cannot be written, stopping: %s", error)
            self.reactor.callLater(0, self.failed.callback, None)
            raise ApiError(503, "The state cannot be written; the agent is stopping") from error

    def _perform(self, effect: effects.Effect) -> None:
        match effect:
            case effects.CompactionAnswered(key, answer):
                waiting = self._compactions.pop(key, None)
                if waiting is not None:  # whoever waits goes on with a turn of its own
                    self.reactor.callLater(0, waiting.callback, answer)
            case effects.ToFramework(stream_id, event) | effects.ToProvider(stream_id, event):
                stream = self._streams.get(stream_id)
                if stream is not None:
                    stream.send(event)
            case effects.CloseFramework(stream_id) | effects.CloseProvider(stream_id):
                stream = self._streams.pop(stream_id, None)
                if stream is not None:
                    stream.close()
            case effects.ToOperators(event):
                records: dict[str, bytes] = {}
                for operator in list(self._operators):
                    if operator.media not in records:
                        records[operator.media] = recordio.frame(codec.encode(event, operator.media))
                    operator.send_record(records[operator.media])
            case effects.LaunchTask(framework_id, task, user, cpu_resources):
                try:
                    self.launcher.launch(framework_id, task, user, cpu_resources)
                except Exception as error:
                    log.exception("launching task %s of %s failed", task.task_id.value, framework_id)
                    self._task_failed(framework_id, task.task_id.value, f"launching failed: {error}")
            case effects.KillTask(framework_id, task_id, grace_seconds):
                self.launcher.kill(framework_id, task_id, grace_seconds)
            case effects.UpdateTaskCpus(framework_id, task_id, cpu_resources):
                self.launcher.update_cpus(framework_id, task_id, cpu_resources)
            case _:
                pass  # the store's

    # -- news from tasks

    def _task_started(self, framework_id: str, task_id: str, pid: int, ticks: int, boot_id: str, note: str) -> None:
        self.notify(lambda now: self.master.task_started(framework_id, task_id, pid, ticks, boot_id, now, note))

    def _task_exited(self, framework_id: str, task_id: str, end: Exit) -> None:
        self.notify(
            lambda now: self.master.task_exited(
                framework_id, task_id, end.code, end.signal, end.lost, end.message, now, end.out_of_memory
            )
        )

    def _task_failed(self, framework_id: str, task_id: str, message: str) -> None:
        self.notify(lambda now: self.master.task_failed_to_start(framework_id, task_id, message, now))

    # -- streams

    def open_stream(
        self,
        stream: Stream,
        subscribe: Callable[[float], None],
    ) -> None:
        """Subscribe a framework or a provider: its stream starts once the turn is committed."""
        assert stream.stream_id is not None
        self._streams[stream.stream_id] = stream
        try:
            self.turn(subscribe, first=lambda _: stream.start())
        except BaseException:
            self._streams.pop(stream.stream_id, None)
            raise

    def open_operator_stream(self, stream: Stream) -> None:
        """Subscribe an operator: the snapshot first, then every event of later turns."""

        def first(event: Any) -> None:
            stream.start()
            stream.send(event)
            stream.send(routes.operator_heartbeat())
            self._operators.add(stream)

        self.turn(self.master.subscribe_operator, first=first)

    def framework_stream_lost(self, stream: Stream) -> None:
        """The framework's connection is gone (or was cut off)."""
        self._lost(stream, self.master.framework_stream_closed)

    def provider_stream_lost(self, stream: Stream) -> None:
        """The provider's connection is gone (or was cut off)."""
        self._lost(stream, self.master.provider_stream_closed)

    def operator_stream_lost(self, stream: Stream) -> None:
        self._operators.discard(stream)

    def _lost(self, stream: Stream, tell: Callable[[str, float], None]) -> None:
        stream_id = stream.stream_id
        assert stream_id is not None
        if self._streams.pop(stream_id, None) is not None and not self._broken and self.store is not None:
            self.notify(lambda now: tell(stream_id, now))

    # -- provider configs, one change at a time in the order they came

    def add_config(self, info: mesos_pb2.ResourceProviderInfo) -> Deferred[None]:
        """ADD_RESOURCE_PROVIDER_CONFIG: check, keep, start. Fails with ApiError."""
        return self._config_lock.run(self._change_config, info, update=False)

    def update_config(self, info: mesos_pb2.ResourceProviderInfo) -> Deferred[None]:
        """UPDATE_RESOURCE_PROVIDER_CONFIG: check, keep, replace the process. Fails with ApiError."""
        return self._config_lock.run(self._change_config, info, update=True)

    def remove_config(self, type_: str, name: str) -> Deferred[None]:
        """REMOVE_RESOURCE_PROVIDER_CONFIG: forget, stop the process, then give its CPUs back to plain tasks."""
        return self._config_lock.run(self._remove_config, type_, name)

    @inlineCallbacks
    def _change_config(self, info: mesos_pb2.ResourceProviderInfo, update: bool) -> Any:
        def needed(_now: float) -> bool:
            return self.master.config_to_update(info) if update else self.master.config_to_add(info)

        if not self.turn(needed):
            returnValue(None)
        result = yield self.daemons.check(info, adding=not update)
        if result.status == 409 and not update:
            # Where there is a config, that is the better reason than what the provider program found locked.
            self.turn(lambda now: self.master.has_the_host(info))
        if result.error is not None:
            raise ApiError(
                result.status,
                f"Failed to validate resource provider config with type '{info.type}' and name '{info.name}': "
                f"{result.error}",
            )
        if update:
            self.turn(lambda now: self.master.update_config(info, result.floor_cpus, now))
            log.info("provider config %s %s updated", info.type, info.name)
        else:
            self.turn(lambda now: self.master.add_config(info, result.floor_cpus, now))
            log.info("provider config %s %s added", info.type, info.name)
        self._run_provider(info)

    def _run_provider(self, info: mesos_pb2.ResourceProviderInfo) -> None:
        """Start or replace the process. Nobody waits for it: the config is kept, the process follows."""
        self.daemons.run(info).addErrback(
            lambda failure: log.error("provider %s %s cannot be run: %s", info.type, info.name, failure.value)
        )

    @inlineCallbacks
    def _remove_config(self, type_: str, name: str) -> Any:
        self.turn(lambda now: self.master.remove_config(type_, name, now))
        log.info("provider config %s %s removed", type_, name)
        yield self.daemons.remove(type_, name)
