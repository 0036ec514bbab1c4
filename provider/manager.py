"""The one imperative sequence: decide, change the kernel and read it back, commit, tell.

Decides the order of effects and nothing else: what an operation does is decided in `provider.operations`, what the
kernel should have in `provider.reconcile`. Everything that changes anything passes here one after another, in the
thread of the caller; no two operations are ever under way together, and periodic checks see committed state only.

For each operation: (1) decide from the committed state; (2) change the kernel and read it back; (3) one transaction
commits set, reservations, terminal status and converted resources; (4) only then the status is sent. A process that
dies before (3) leaves a changed kernel that `recover` puts back, and the operation is reported as OPERATION_DROPPED
when the agent asks for it. A process that dies after (3) sends the status again.

It knows no sockets and no timers: `send` takes a call for the agent, `tick` is called about every second.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agent_api.wire import mesos_pb2, pinfold_pb2, resource_provider_pb2
from profiles import state as profile_state
from provider import compaction, cpuset, inventory, operations, reconcile, report, revocable
from provider.catalogue import Catalogue, used, would_be_active
from provider.cgroups import Enforcer
from provider.dialect import Dialect, Pinfold, Telling
from provider.errors import ConfigError, EnforcementError, PowerError
from provider.inventory import Host, State
from provider.keeper import Keeper
from provider.layout import Config, plan_layout
from provider.operations import Change, Context, Operation, Record, Refusal
from provider.outbox import Outbox
from provider.power import CpuFreq, PowerKeeper
from provider.room import Growth, RawLabels
from provider.session import Event as Happening
from provider.session import Session
from provider.session import State as Standing
from provider.store import KEPT_ACKNOWLEDGED, Store, StoreError
from provider.tasks import Tasks
from provider.topology import Topology

__all__ = ["Manager", "World"]

log = logging.getLogger(__name__)

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event

RECONCILE_SECONDS = 3.0
REPORT_LOOKS_SECONDS = 10.0
LOGGED_CHANGES = 100
"""Of one document: a thousand lines would hold up the process."""


@dataclass(frozen=True)
class World:
    """What the manager reaches the world with; a test gives its own."""

    store: Store
    enforcer: Enforcer
    read_topology: Callable[[], Topology]
    host_changed: Callable[[], object]
    """A cheap value that differs once CPUs went off- or online."""
    clock: Callable[[], float]
    """Unix time."""
    new_uuid: Callable[[], bytes]
    """16 bytes."""
    new_set_id: Callable[[], str]
    keep_tasks: Callable[[Mapping[str, int], int], list[str]] = lambda groups, plain: []
    """(CPUs by cgroup of tasks, CPUs of all other tasks) -> what could not be done (`provider.task_cgroups`)."""
    cpufreq: CpuFreq | None = None
    """None: cpufreq is not touched, and no profile with `power` can be met."""
    checkpoint: Callable[[str], None] = lambda name: None
    """Called between the steps of each change; a test raises in it."""


def _at_once(steps: Iterator[None]) -> None:
    for _ in steps:
        pass


class Manager:
    """One provider."""

    def __init__(
        self,
        world: World,
        info: mesos_pb2.ResourceProviderInfo,
        config: Config,
        send: Callable[[Call], None],
        wanted: Callable[[], None] = lambda: None,
        dialect: Dialect | None = None,
        in_slices: Callable[[Iterator[None]], None] = _at_once,
    ) -> None:
        """`info` is the configuration as the agent knows it. `send` hands a call to the stream that is open;
        `wanted` asks for a `flush` soon. `dialect` are the agent's words, by default those of Pinfold's own.
        `in_slices` goes through steps with whatever else happens in between."""
        self._world = world
        self._info = info
        self._config = config
        self._hand_over = send
        self._wanted = wanted
        self._dialect: Dialect = dialect or Pinfold()
        self._in_slices = in_slices
        self._agent_id: str | None = None
        self.published = 0.0
        """When tasks were last about to start (Unix time)."""
        self._tasks = Tasks(self._dialect, world.keep_tasks)
        self.session = Session()
        self.torn_down = False
        """The agent told that this provider was removed: the CPUs were given back, and nothing is done any more."""
        self._provider_id: str | None = None
        self._version = b""
        self._state = State()
        self._catalogue = Catalogue()
        self._host: Host | None = None
        self._host_mark: object = None
        self._outbox = Outbox(self._send_status)
        self._unsaved: dict[bytes, Record] = {}
        """Ended operations that could not be committed yet, and are told to nobody."""
        self._dirty = False
        self._reported = 0.0
        self._last_reconcile = 0.0
        power = None if world.cpufreq is None else PowerKeeper(world.cpufreq, world.store.save_power)
        self._power = power
        self._keeper = Keeper(world.enforcer, power)
        self._labels = RawLabels()
        self._growth = Growth()
        self._shown_topology = pinfold_pb2.Topology()
        self._shown_profiles: list[pinfold_pb2.Profile] | None = None
        """None: to be made for the next report."""
        self._revoked: Mapping[str, str] = {}
        """Sets that have to give way, as it was last logged."""

    # -- views ------------------------------------------------------------------------------------------------------

    @property
    def host(self) -> Host:
        if self._host is None:
            raise RuntimeError("recover() comes first")
        return self._host

    @property
    def state(self) -> State:
        """The committed state."""
        return self._state

    @property
    def provider_id(self) -> str | None:
        return self._provider_id

    @property
    def profiles(self) -> profile_state.Known:
        return self._catalogue.known

    @property
    def degraded(self) -> Mapping[str, str]:
        """Reasons by set id."""
        return self._keeper.degraded

    def figures(self) -> inventory.Figures:
        return inventory.figures(self.host, self._state)

    # -- start ------------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Read what was committed, look at the host, and bring the kernel in line with both.

        Raises ConfigError where the configuration cannot be right on this host.
        """
        stored = self._world.store.load()
        self._provider_id = stored.provider_id
        self._state = stored.state
        self._dialect.check(self._info, self._state)
        self._outbox.load(stored.operations)
        if self._power is not None:
            self._power.found.update(stored.power)
        self._host = self._look_at_host(None)
        self._shown_topology = report.shown_topology(self.host)
        self._judge_profiles(stored.profiles)
        self._reconsider_profiles()
        mark = reconcile.fingerprint(self.host)
        self._version = stored.version
        if stored.host_identity != mark or not stored.version:
            if stored.host_identity:
                log.warning(
                    "the CPUs to be offered are not those of the last time: another configuration or host, or CPUs "
                    "that went off- or online (online now: %s); %d sets kept",
                    cpuset.format_mask(self.host.topology.online),
                    len(self._state.sets),
                )
            self._version = self._world.new_uuid()
            self._world.store.save_identity(self._provider_id, self._version, mark)
        self.figures()
        self._keeper.repair(self.host, self._state, self._world.clock(), starting=True)
        self._settle(self._state)
        self._judge()
        self._labels.warm(self._state)
        self._growth(self.host, self._state)
        self.session.handle(Happening.RECOVERED)
        figures = self.figures()
        log.info(
            "recovered: %d CPUs online, %d RAW, %d in %d sets, floor %d, reserved %d; %d statuses to send; by %s",
            figures.online,
            figures.raw_total,
            figures.sets,
            len(self._state.sets),
            figures.floor,
            figures.reserved,
            len(self._outbox.pending),
            self.host.enforcement,
        )

    def _look_at_host(self, before: Host | None) -> Host:
        self._host_mark = self._world.host_changed()
        found = self._world.read_topology()
        for warning in found.warnings:
            log.warning("topology: %s", warning)
        cpus, mems = self._world.enforcer.allowed()
        try:
            layout = plan_layout(found, self._config, cpus)
        except ConfigError as error:
            if before is None:
                raise
            log.error("the configuration does not fit the host as it is now, its last layout stays: %s", error)
            layout = before.layout
        for warning in layout.warnings:
            log.warning("configuration: %s", warning)
        nodes = cpuset.of(node.id for node in found.nodes if node.has_memory)
        allowed = found.online if cpus is None else found.online & cpus
        return Host(
            topology=found,
            layout=layout,
            allowed=allowed,
            allowed_mems=(nodes if mems is None else nodes & mems) or nodes,
            default_stack=inventory.stack_from(self._info.default_reservations),
            enforcement=self._world.enforcer.kind,
            overcommit=self._config.overcommit,
            path=lambda set_id, shared: self._world.enforcer.path(set_id, shared=shared),
            policies={} if self._world.cpufreq is None else self._world.cpufreq.policies(found.online),
        )

    # -- the session ------------------------------------------------------------------------------------------------

    def subscribe_call(self) -> Call:
        """The call that opens a stream."""
        call = Call(type=Call.SUBSCRIBE)
        call.subscribe.resource_provider_info.CopyFrom(self._dialect.info(self._info))
        call.subscribe.resource_provider_info.ClearField("id")
        if self._provider_id is not None:
            call.subscribe.resource_provider_info.id.value = self._provider_id
        return call

    def agent_found(self, agent_id: str | None) -> None:
        """The id of the agent that the next stream is to; None where it does not tell."""
        self._agent_id = agent_id

    def stream_opened(self) -> None:
        self.session.handle(Happening.STREAM_OPENED)

    def stream_closed(self) -> None:
        """The stream is gone; what was not acknowledged is sent again on the next one."""
        self._outbox.new_stream()
        if self.session.state not in (Standing.RECOVERING, Standing.DISCONNECTED):
            self.session.handle(Happening.STREAM_CLOSED)

    def taken(self, call: Call) -> None:
        """The agent answered a call with 202."""
        if call.type == Call.UPDATE_STATE:
            first = self.session.state is Standing.SUBSCRIBED
            self.session.handle(Happening.REPORTED)
            if first:
                figures = self.figures()
                log.info(
                    "READY as provider %s: %d RAW CPUs, %d sets with %d CPUs, floor %d, %d profiles",
                    self._provider_id,
                    figures.raw_total,
                    len(self._state.sets),
                    figures.sets,
                    figures.floor,
                    len(self.profiles.profiles),
                )
                self._outbox.send_due(self._world.clock())

    def handle(self, event: Event) -> None:
        """One event of the stream, done completely before the next."""
        if self.torn_down:
            log.warning("event %s after TEARDOWN is ignored", Event.Type.Name(event.type))
        elif event.type == Event.SUBSCRIBED:
            self._subscribed(event.subscribed.provider_id.value)
        elif self.session.state not in (Standing.SUBSCRIBED, Standing.READY):
            log.warning("event %s before SUBSCRIBED is ignored", Event.Type.Name(event.type))
        elif event.type == Event.APPLY_OPERATION:
            self._apply(event.apply_operation)
        elif event.type == Event.PUBLISH_RESOURCES:
            self._publish(event.publish_resources)
        elif event.type == Event.ACKNOWLEDGE_OPERATION_STATUS:
            self._acknowledged(event.acknowledge_operation_status)
        elif event.type == Event.RECONCILE_OPERATIONS:
            self._reconcile_operations(event.reconcile_operations)
        elif event.type == Event.COMPACT_CPUSETS:
            self._in_slices(self._compact(event.compact_cpusets))
        elif event.type == Event.TEARDOWN:
            log.warning("the agent removed this provider (%s); stopping", self._provider_id)
            self.torn_down = True
            self._release()
        else:
            log.warning("event of type %s is not known and is ignored", event.type)

    def _release(self) -> None:
        """The committed sets stay committed: added again, the provider has them again."""
        try:
            busy = self._keeper.release(self.host, self._state)
            self._tasks.release(reconcile.released(self.host, self._state, busy).plain)
        except EnforcementError as error:
            log.error("the CPUs could not be given back to plain tasks: %s", error)
        else:
            self._settle(reconcile.only(self._state, busy))

    def _settle(self, state: State) -> None:
        """Forget, in a transaction of its own, what was stored of CPUs that have their own power settings again."""
        settled = self._keeper.settled(self.host, state)
        if settled:
            try:
                self._world.store.forget_power(settled)
            except StoreError as error:
                log.error("power settings: %s; it is tried again", error)
                return
            self._keeper.forget(settled)
            log.info("CPUs %s have their own power settings again", cpuset.format_mask(cpuset.of(settled)))

    def _subscribed(self, provider_id: str) -> None:
        if self.session.state is not Standing.CONNECTED:
            log.warning("a second SUBSCRIBED on one stream is ignored")
            return
        if provider_id != self._provider_id:
            self._world.store.save_identity(provider_id, self._version, reconcile.fingerprint(self.host))
            log.info("the agent knows this provider as %s", provider_id)
            self._provider_id = provider_id
        self.session.handle(Happening.SUBSCRIBED)
        self._report()

    # -- operations -------------------------------------------------------------------------------------------------

    def _apply(self, apply: Event.ApplyOperation) -> None:
        uuid = apply.operation_uuid.value
        if len(uuid) != 16:
            log.warning("operation uuid %r is not 16 bytes; the operation is ignored", uuid[:32])
            return
        seen = self._outbox.get(uuid)
        if seen is not None or uuid in self._unsaved:
            log.info("operation %s came again; its outcome stands", uuid.hex())
            if seen is not None:
                self._tell(seen)
            return
        operation = Operation(
            uuid=uuid,
            version=apply.resource_version_uuid.value,
            framework_id=apply.framework_id.value if apply.HasField("framework_id") else None,
            info=apply.info,
        )
        occupied: Mapping[str, int] = {}
        try:
            occupied = self._occupied(operation.info)
            outcome = self._dialect.decide(self._context(occupied), self._state, operation)
        except EnforcementError as error:
            outcome = Refusal(mesos_pb2.OPERATION_FAILED, str(error))
        except Exception as error:
            # A fault of ours in one decision must not take the stream from everybody else.
            log.exception("operation %s could not be decided", uuid.hex())
            outcome = Refusal(mesos_pb2.OPERATION_FAILED, f"internal error: {type(error).__name__}: {error}")
        self._world.checkpoint("decided")
        if isinstance(outcome, Change) and outcome.after.sets != self._state.sets:
            outcome = self._enforce(outcome)
        self._world.checkpoint("enforced")
        self._conclude(operation, outcome)

    def _occupied(self, info: mesos_pb2.Offer.Operation) -> dict[str, int]:
        """Processes in the sets that are to be destroyed."""
        named = self._dialect.emptied(self._state, info)
        return {
            one.id: len(self._world.enforcer.processes(one.id, shared=not one.exclusive))
            for one in self._state.sets.values()
            if one.id in named
        }

    def _context(self, occupied: Mapping[str, int]) -> Context:
        return Context(
            host=self.host,
            provider_id=self._provider_id or "",
            version=self._version,
            profiles=self._catalogue.entries,
            labels=self._labels,
            occupied=occupied,
            now=self._world.clock(),
            new_set_id=self._world.new_set_id(),
        )

    def _enforce(self, change: Change) -> Change | Refusal:
        """Bring the kernel to the new state. Where it refuses, it is as before and the operation fails."""
        try:
            self._keeper.enforce(self.host, change.after)
        except EnforcementError as error:
            if isinstance(error, PowerError):
                self._put_back()
            return Refusal(mesos_pb2.OPERATION_FAILED, f"the kernel refused: {error}")
        return change

    def _conclude(self, operation: Operation, outcome: Change | Refusal) -> None:
        """Commit the outcome in one transaction, then tell it."""
        record = self._record(operation, outcome)
        after = outcome.after if isinstance(outcome, Change) else self._state
        settled = self._keeper.settled(self.host, after)
        try:
            self._world.store.save_outcome(self._state, after, record, settled)
        except StoreError as error:
            log.error("operation %s: %s; it is undone", operation.uuid.hex(), error)
            self._put_back()
            if isinstance(outcome, Change):
                failed = Refusal(mesos_pb2.OPERATION_FAILED, f"the outcome could not be stored: {error}")
                record = self._record(operation, failed)
            # Nothing is told before it is committed: this is tried again until it is.
            self._unsaved[operation.uuid] = record
            self._save_unsaved()
            return
        self._world.checkpoint("committed")
        self._keeper.forget(settled)
        name = mesos_pb2.OperationState.Name(record.status.state)
        said = outcome.summary if isinstance(outcome, Change) else outcome.message
        log.info("operation %s: %s: %s", operation.uuid.hex(), name, said)
        telling = self._dialect.telling(self.host, self._state, operation, outcome)
        self._state = after
        self._outbox.add(record)
        if isinstance(outcome, Change):
            self._reconsider_profiles()
            self._judge()
        self._tell(record)
        self._world.checkpoint("told")
        self._tell_resources(telling)

    def _tell_resources(self, telling: Telling) -> None:
        if telling is Telling.NEW_VERSION:
            self._new_version()
        if telling is not Telling.NOTHING:
            self._want_report()

    def _new_version(self) -> None:
        """What was decided elsewhere on our resources as they were told before is dropped from now on."""
        version = self._world.new_uuid()
        try:
            self._world.store.save_identity(self._provider_id, version, reconcile.fingerprint(self.host))
        except StoreError as error:
            # The totals are told all the same; each operation is checked against what there is.
            log.error("the resource version stays: %s", error)
        else:
            self._version = version

    def _record(self, operation: Operation, outcome: Change | Refusal) -> Record:
        status = operations.terminal_status(self._provider_id or "", operation, outcome, self._world.new_uuid())
        info = mesos_pb2.Offer.Operation()
        info.CopyFrom(operation.info)
        return Record(operation.uuid, operation.framework_id, info, status, False, self._world.clock())

    def _put_back(self) -> None:
        try:
            self._keeper.enforce(self.host, self._state)
        except EnforcementError as error:
            log.error("the kernel could not be put back to the committed state, it is tried again: %s", error)

    def _save_unsaved(self) -> None:
        for uuid, record in list(self._unsaved.items()):
            try:
                self._world.store.save_outcome(self._state, self._state, record)
            except StoreError:
                return
            del self._unsaved[uuid]
            self._outbox.add(record)
            log.info("operation %s: the failure is stored now", uuid.hex())
            self._tell(record)
            refusal = Refusal(record.status.state, record.status.message)
            operation = Operation(uuid, self._version, record.framework_id, record.info)
            self._tell_resources(self._dialect.telling(self.host, self._state, operation, refusal))

    def _acknowledged(self, acknowledge: Event.AcknowledgeOperationStatus) -> None:
        uuid = acknowledge.operation_uuid.value
        record = self._outbox.get(uuid)
        if record is None or record.status.uuid.value != acknowledge.status_uuid.value:
            log.info("an acknowledgement for an unknown status of operation %s is ignored", uuid.hex())
            return
        if record.acknowledged:
            return
        forget = self._outbox.forgettable(KEPT_ACKNOWLEDGED)
        try:
            self._world.store.acknowledge(uuid, forget)
        except StoreError as error:
            log.error("acknowledgement of operation %s: %s; its status will be sent again", uuid.hex(), error)
            return
        self._outbox.acknowledged(uuid, forget)
        log.info("operation %s acknowledged", uuid.hex())

    def _reconcile_operations(self, asked: Event.ReconcileOperations) -> None:
        """Tell the status of each, and end as dropped what never came here or died before its commit."""
        for entry in asked.operation_uuids:
            uuid = entry.value
            if len(uuid) != 16:
                log.warning("operation uuid %r is not 16 bytes; it is not reconciled", uuid[:32])
            elif (record := self._outbox.get(uuid)) is not None:
                self._tell(record)
            elif uuid not in self._unsaved:
                operation = Operation(uuid, self._version, None, mesos_pb2.Offer.Operation())
                dropped = Refusal(mesos_pb2.OPERATION_DROPPED, "the provider does not know this operation")
                self._conclude(operation, dropped)

    # -- compaction ---------------------------------------------------------------------------------------------------

    def _compact(self, wanted: Event.CompactCpusets) -> Iterator[None]:
        """Move sets to better CPUs, or tell what would move; the answer goes out at the end.

        Each move is changed in the kernel, read back, committed and told by itself, so that a process that dies
        between two of them leaves a whole state, and operations that come in between find one.
        """
        call = self._call(Call.UPDATE_COMPACTION)
        call.update_compaction.uuid.CopyFrom(wanted.uuid)
        moves = call.update_compaction.moves
        planned = self._state

        def done(move: compaction.Move) -> bool:
            nonlocal planned
            error = "" if wanted.dry_run else self._move(move)
            if wanted.dry_run:
                planned = move.state(planned)
            moves.append(report.shown_move(move, done=not wanted.dry_run and not error, reason=error))
            return not error

        if self.host.enforcement == "affinity":
            call.update_compaction.message = "sets are enforced by affinity: tasks that run cannot be moved"
        else:
            try:
                yield from compaction.search(
                    lambda: (self.host, planned if wanted.dry_run else self._state), done, set(wanted.cpuset_ids)
                )
            except Exception as error:
                # What was changed and not committed is put back by the next comparison with the kernel.
                log.exception("compaction %s ended early", wanted.uuid.value.hex())
                call.update_compaction.message = f"internal error: {type(error).__name__}: {error}"
        log.info(
            "compaction %s: %s%d moves",
            wanted.uuid.value.hex(),
            "a dry run; " if wanted.dry_run else "",
            sum(1 for move in moves if wanted.dry_run or move.done),
        )
        if self.session.state in (Standing.SUBSCRIBED, Standing.READY):
            self._send(call)

    def _move(self, move: compaction.Move) -> str:
        """Do it; returns why it could not be done, or ""."""
        if self.torn_down:
            return "the provider was removed"
        after = move.state(self._state)
        try:
            self._keeper.enforce(self.host, after)
        except EnforcementError as error:
            if isinstance(error, PowerError):
                self._put_back()
            return f"the kernel refused: {error}"
        self._world.checkpoint("moved")
        version = self._world.new_uuid()
        settled = self._keeper.settled(self.host, after)
        identity = (self._provider_id, version, reconcile.fingerprint(self.host))
        try:
            self._world.store.save_move(self._state, after, identity, settled)
        except StoreError as error:
            self._put_back()
            return f"it could not be stored: {error}"
        self._world.checkpoint("committed")
        self._keeper.forget(settled)
        self._state, self._version = after, version
        log.info(
            "set %s moved from CPUs %s to %s: %s",
            move.after.id,
            cpuset.format_mask(move.before.cpus),
            cpuset.format_mask(move.after.cpus),
            ", ".join(f"{name} {old} -> {new}" for name, (old, new) in move.gains.items()),
        )
        self._judge()
        # Told at once: what the agent decides on the totals of before would be dropped.
        if self.session.state in (Standing.SUBSCRIBED, Standing.READY):
            self._report()
        return ""

    # -- statuses ---------------------------------------------------------------------------------------------------

    def _tell(self, record: Record) -> None:
        """Send the status of an ended operation, where there is a stream."""
        if self.session.state in (Standing.SUBSCRIBED, Standing.READY):
            self._outbox.send(record, self._world.clock())

    def _send_status(self, record: Record) -> None:
        call = self._call(Call.UPDATE_OPERATION_STATUS)
        update = call.update_operation_status
        if record.framework_id is not None:
            update.framework_id.value = record.framework_id
        update.status.CopyFrom(record.status)
        update.latest_status.CopyFrom(record.status)
        update.operation_uuid.value = record.uuid
        self._send(call)

    def _send(self, call: Call) -> None:
        self._hand_over(self._dialect.outgoing(call, self._agent_id))

    def _call(self, kind: Call.Type) -> Call:
        call = Call(type=kind)
        call.resource_provider_id.value = self._provider_id or ""
        return call

    # -- reports ----------------------------------------------------------------------------------------------------

    def _want_report(self, *, shown: bool = False) -> None:
        """Report soon; `shown`: only what is shown beside our resources has changed."""
        if not self._dirty and (self._dialect.extended or not shown):
            self._dirty = True
            self._wanted()

    def flush(self) -> None:
        """Report what changed since the last report."""
        if self._dirty and self.session.state in (Standing.SUBSCRIBED, Standing.READY):
            self._report()

    def _report(self) -> None:
        self._dirty = False
        self._reported = self._world.clock()
        call = self._call(Call.UPDATE_STATE)
        update = call.update_state
        provider_id = self._provider_id or ""
        update.resources.extend(self._dialect.resources(self.host, self._state, provider_id, self._labels))
        for record in self._outbox.pending:
            entry = update.operations.add()
            if record.framework_id is not None:
                entry.framework_id.value = record.framework_id
            entry.info.CopyFrom(record.info)
            entry.latest_status.CopyFrom(record.status)
            entry.statuses.add().CopyFrom(record.status)
            entry.uuid.value = record.uuid
        update.resource_version_uuid.value = self._version
        if self._dialect.extended:
            self._extend(update)
        self._send(call)

    def _extend(self, update: Call.UpdateState) -> None:
        """What goes beyond Mesos."""
        if self._shown_profiles is None:
            self._shown_profiles = report.shown_profiles(self.host, self.profiles, self._catalogue.unmet)
        update.cpu_report.CopyFrom(
            report.cpu_report(
                self.host,
                self._state,
                self.degraded,
                self.profiles,
                self._config.uri,
                self._shown_topology,
                self._shown_profiles,
                self._growth(self.host, self._state),
            )
        )

    # -- publishing -------------------------------------------------------------------------------------------------

    def _publish(self, publish: Event.PublishResources) -> None:
        """Answer whether the sets that tasks are to use are in force; those that are not are put in force first."""
        self.published = self._world.clock()
        problems = self._in_force(publish.resources, publish.together, set(publish.starting))
        call = self._call(Call.UPDATE_PUBLISH_RESOURCES_STATUS)
        answer = call.update_publish_resources_status
        answer.uuid.CopyFrom(publish.uuid)
        answer.status = answer.FAILED if problems else answer.OK
        if problems:
            log.error("publish %s refused: %s", publish.uuid.value.hex(), "; ".join(problems))
        self._send(call)

    def _in_force(
        self,
        resources: Iterable[mesos_pb2.Resource],
        together: Iterable[Event.PublishResources.Together],
        starting: set[str],
    ) -> list[str]:
        """What is wrong with the sets of the task that is about to start (`starting`), or with any where that is not
        told. Those of other tasks are put in force as well, but keep no task out of its own."""
        named, problems = self._dialect.used(self._state, resources)
        if starting:
            problems = [f"set {one!r} does not exist" for one in sorted(starting - self._state.sets.keys())]
        needed = starting or named
        problems.extend(f"set {one} is revoked: {self._revoked[one]}" for one in sorted(needed) if one in self._revoked)
        if problems:
            return problems
        # One that cannot be had is no problem of the others: its task does not start, and says why.
        mixed = {tuple(sorted(one.set_ids)) for one in together if named.issuperset(one.set_ids)}
        self._keeper.repair(self.host, self._state, self._world.clock(), only=named, mixed=mixed)
        self._tasks.keep(self.host, self._state)
        return self._keeper.problems(self.host, self._state, needed)

    def tasks_told(self, tasks: Iterable[mesos_pb2.Task]) -> None:
        """Take over which tasks a stock agent runs."""
        self._tasks.told(self._state, tasks)
        self._tasks.keep(self.host, self._state)

    # -- time -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """To be called about every second: resends, comparison of kernel and state, changes of the host."""
        if self.torn_down:
            return
        self._save_unsaved()
        if self.session.state is Standing.READY:
            self._outbox.send_due(self._world.clock())
        self._tasks.keep(self.host, self._state)
        now = self._world.clock()
        if not 0 <= now - self._last_reconcile < RECONCILE_SECONDS:
            self._last_reconcile = now
            self.reconcile()
        self.flush()

    def reconcile(self) -> None:
        """Compare host and kernel with the committed state, repair what differs, and show what cannot be repaired."""
        cpus, _ = self._world.enforcer.allowed()
        seen = self._seen_limits(cpus)
        if self._world.host_changed() != self._host_mark or seen != self.host.allowed:
            self._host_changed()
        self._keeper.repair(self.host, self._state, self._world.clock())
        self._settle(self._state)
        self._judge()

    def _seen_limits(self, cpus: int | None) -> int:
        online = self.host.topology.online
        return online if cpus is None else online & cpus

    def _host_changed(self) -> None:
        before = self.host
        self._host = self._look_at_host(before)
        self._labels.use(self.host, self._catalogue.active)
        mark = reconcile.fingerprint(self.host)
        if mark == reconcile.fingerprint(before):
            return
        log.warning(
            "CPUs changed: %s were allowed, now %s",
            cpuset.format_mask(before.allowed),
            cpuset.format_mask(self.host.allowed),
        )
        version = self._world.new_uuid()
        try:
            self._world.store.save_identity(self._provider_id, version, mark)
        except StoreError as error:
            log.error("the host changed and this cannot be stored, it is tried again: %s", error)
            self._host, self._host_mark = before, None
            return
        self._version = version
        self._shown_topology = report.shown_topology(self.host)
        self._judge_profiles(self.profiles)
        self._want_report()

    def _judge(self) -> None:
        """Look at each set, and report where one is degraded or revoked or is no more."""
        revoked = revocable.revoked(self.host, self._state)
        for set_id in sorted(revoked.keys() - self._revoked.keys()):
            log.warning("set %s is revoked: %s", set_id, revoked[set_id])
        for set_id in sorted(self._revoked.keys() - revoked.keys()):
            log.info("set %s is not revoked any more%s", set_id, "" if set_id in self._state.sets else ": it is gone")
        if revoked != self._revoked:
            self._revoked = revoked
            self._want_report()
        if self._keeper.judge(self.host, self._state, self._world.clock()):
            self._want_report(shown=True)

    # -- profiles ---------------------------------------------------------------------------------------------------

    def preparation(self, result: profile_state.Fetched) -> Iterator[None]:
        """Work out in short steps what `profiles_fetched` of a new document will need; nothing is in force by it.

        A document of a thousand profiles would hold up everything else if it was looked at in one turn.
        """
        now = self._world.clock()
        known = profile_state.apply_result(
            self.profiles, result, used(self._state), self._info.type, self._info.name, now
        )
        yield
        yield from self._catalogue.prepare(known)
        yield from self._labels.prepare(would_be_active(known), self._state)

    def _judge_profiles(self, known: profile_state.Known) -> None:
        self._catalogue.judge(known, self.host)
        self._labels.use(self.host, self._catalogue.active)
        self._shown_profiles = None

    def profiles_fetched(self, result: profile_state.FetchResult) -> None:
        """Take over what a look at the profile source gave. Raises StoreError where it cannot be stored."""
        known, now = self.profiles, self._world.clock()
        try:
            self._take_profiles(
                profile_state.apply_result(known, result, used(self._state), self._info.type, self._info.name, now)
            )
        except StoreError as error:
            why = f"the document cannot be stored: {error}"
            self._catalogue.known = replace(known, last_fetch=now, ok=False, outcome=why)
            self._want_report(shown=True)
            raise

    def _reconsider_profiles(self) -> None:
        """After sets came or went: what waited for the last one to go is done."""
        try:
            self._take_profiles(profile_state.reconsider(self.profiles, used(self._state), self._world.clock()))
        except StoreError as error:
            log.error("profiles: %s; the ones before stay", error)

    def _take_profiles(self, known: profile_state.Known) -> None:
        """Put it in force; stored where it is more than the time of another look."""
        before = self.profiles
        if known is before:
            return
        if (known.document, known.profiles) != (before.document, before.profiles):
            self._world.store.save_profiles(known)
        said = profile_state.changes(before, known)
        for sentence in said[:LOGGED_CHANGES]:
            log.log(logging.INFO if known.ok else logging.WARNING, "%s", sentence)
        if len(said) > LOGGED_CHANGES:
            log.info("profiles: and %d more changes", len(said) - LOGGED_CHANGES)
        if known.profiles != before.profiles:
            self._judge_profiles(known)
        else:
            self._catalogue.known = known
        changed = (known.ok, known.outcome, known.profiles) != (before.ok, before.outcome, before.profiles)
        # The time of the last look is told as well, but not each time.
        if changed or self._world.clock() - self._reported >= REPORT_LOOKS_SECONDS:
            self._want_report(shown=True)
