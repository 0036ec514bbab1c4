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
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping

from agent_api.wire import mesos_pb2, resource_provider_pb2
from profiles import state as profile_state
from provider import calls, compacting, compaction, deciding, inventory, publishing, reconcile, report, revocable
from provider.catalogue import at_once
from provider.dialect import Dialect, Pinfold, Telling
from provider.endings import Endings, ended, log_ended
from provider.errors import EnforcementError
from provider.host_watch import HostWatch, differs
from provider.identity import Identity
from provider.inventory import Host, State
from provider.keeper import Keeper
from provider.layout import Config
from provider.operations import Change, Context, Operation, Record, Refusal
from provider.outbox import Outbox
from provider.power import PowerKeeper
from provider.profile_keeper import ProfileKeeper
from provider.reporter import Reporter
from provider.room import RawLabels
from provider.session import Event as Happening
from provider.session import Session
from provider.session import State as Standing
from provider.store import StoreError
from provider.tasks import Tasks
from provider.world import World

__all__ = ["Manager"]

log = logging.getLogger(__name__)

Call = resource_provider_pb2.Call
Event = resource_provider_pb2.Event

RECONCILE_SECONDS = 3.0


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
        in_slices: Callable[[Generator[None, None, None]], None] = at_once,
    ) -> None:
        """`info` is the configuration as the agent knows it. `send` hands a call to the stream that is open;
        `wanted` asks for a `flush` soon. `dialect` are the agent's words, by default those of Pinfold's own.
        `in_slices` goes through steps with whatever else happens in between."""
        self._world = world
        self._info = info
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
        self._identity = Identity(world.store, world.new_uuid)
        self._state = State()
        self._watch = HostWatch(world, info, config)
        self._host: Host | None = None
        self._outbox = Outbox(self._send_status)
        self._endings = Endings(world.store, self._outbox)
        self._dirty = False
        self._reported = 0.0
        self._last_reconcile = 0.0
        power = None if world.cpufreq is None else PowerKeeper(world.cpufreq, world.store.save_power)
        self._keeper = Keeper(world.enforcer, power)
        self._labels = RawLabels()
        self._profiles = ProfileKeeper(world.store, info, self._labels, world.clock)
        self._reporter = Reporter(self._dialect, self._labels, self._profiles, config.uri)
        self._revocations = revocable.Revocations()

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
        return self._identity.provider_id

    @property
    def version(self) -> bytes:
        """The version of our resources as they are told."""
        return self._identity.version

    @property
    def profiles(self) -> profile_state.Known:
        return self._profiles.known

    @property
    def degraded(self) -> Mapping[str, str]:
        """Reasons by set id."""
        return self._keeper.degraded

    @property
    def revoked(self) -> Mapping[str, str]:
        """Reasons by set id: sets that have to give way."""
        return self._revocations.reasons

    def figures(self) -> inventory.Figures:
        return inventory.figures(self.host, self._state)

    # -- start ------------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Read what was committed, look at the host, and bring the kernel in line with both.

        Raises ConfigError where the configuration cannot be right on this host.
        """
        stored = self._world.store.load()
        self._state = stored.state
        self._dialect.check(self._info, self._state)
        self._outbox.load(stored.operations)
        self._keeper.recover(stored.power)
        self._host = self._watch.look(None)
        self._reporter.host_is(self.host)
        self._profiles.judge(stored.profiles, self.host)
        self._reconsider_profiles()
        self._identity.recover(stored, self.host)
        self.figures()
        self._keeper.repair(self.host, self._state, self._world.clock(), starting=True)
        self._keeper.settle(self.host, self._state, self._world.store.forget_power)
        self._judge()
        self._reporter.warm(self.host, self._state)
        self.session.handle(Happening.RECOVERED)
        log.info("recovered: %s", report.summary(self.host, self._state, len(self._outbox.pending)))

    # -- the session ------------------------------------------------------------------------------------------------

    def subscribe_call(self) -> Call:
        """The call that opens a stream."""
        return calls.subscribe(self._dialect.info(self._info), self.provider_id)

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
                ready = report.ready(self.host, self._state, len(self.profiles.profiles))
                log.info("READY as provider %s: %s", self.provider_id, ready)
                self._outbox.send_due(self._world.clock())

    def handle(self, event: Event) -> None:
        """One event of the stream, done completely before the next."""
        if self.torn_down:
            log.warning("event %s after TEARDOWN is ignored", Event.Type.Name(event.type))
        elif event.type == Event.SUBSCRIBED:
            self._subscribed(event.subscribed.provider_id.value)
        elif not self.session.subscribed:
            log.warning("event %s before SUBSCRIBED is ignored", Event.Type.Name(event.type))
        elif event.type == Event.APPLY_OPERATION:
            self._apply(event.apply_operation)
        elif event.type == Event.PUBLISH_RESOURCES:
            self._publish(event.publish_resources)
        elif event.type == Event.ACKNOWLEDGE_OPERATION_STATUS:
            self._endings.acknowledged(event.acknowledge_operation_status)
        elif event.type == Event.RECONCILE_OPERATIONS:
            self._reconcile_operations(event.reconcile_operations)
        elif event.type == Event.COMPACT_CPUSETS:
            self._in_slices(self._compact(event.compact_cpusets))
        elif event.type == Event.TEARDOWN:
            log.warning("the agent removed this provider (%s); stopping", self.provider_id)
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
            self._keeper.settle(self.host, reconcile.only(self._state, busy), self._world.store.forget_power)

    def _subscribed(self, provider_id: str) -> None:
        if self.session.state is not Standing.CONNECTED:
            log.warning("a second SUBSCRIBED on one stream is ignored")
            return
        self._identity.named(provider_id, self.host)
        self.session.handle(Happening.SUBSCRIBED)
        self._report()

    # -- operations -------------------------------------------------------------------------------------------------

    def _apply(self, apply: Event.ApplyOperation) -> None:
        uuid = apply.operation_uuid.value
        if len(uuid) != 16:
            log.warning("operation uuid %r is not 16 bytes; the operation is ignored", uuid[:32])
            return
        seen = self._outbox.get(uuid)
        if seen is not None or uuid in self._endings:
            log.info("operation %s came again; its outcome stands", uuid.hex())
            if seen is not None:
                self._tell(seen)
            return
        operation = deciding.operation_of(apply)
        outcome = deciding.decide(self._dialect, self._world.enforcer, self._state, operation, self._context)
        self._world.checkpoint("decided")
        if isinstance(outcome, Change) and outcome.after.sets != self._state.sets:
            error = self._keeper.change(self.host, self._state, outcome.after)
            if error:
                outcome = Refusal(mesos_pb2.OPERATION_FAILED, error)
        self._world.checkpoint("enforced")
        self._conclude(operation, outcome)

    def _context(self, occupied: Mapping[str, int]) -> Context:
        return Context(
            host=self.host,
            provider_id=self.provider_id or "",
            version=self.version,
            profiles=self._profiles.catalogue.entries,
            labels=self._labels,
            occupied=occupied,
            now=self._world.clock(),
            new_set_id=self._world.new_set_id(),
        )

    def _conclude(self, operation: Operation, outcome: Change | Refusal) -> None:
        """Commit the outcome in one transaction, then tell it."""
        record = self._record(operation, outcome)
        after = outcome.after if isinstance(outcome, Change) else self._state
        settled = self._keeper.settled(self.host, after)
        try:
            self._world.store.save_outcome(self._state, after, record, settled)
        except StoreError as error:
            log.error("operation %s: %s; it is undone", operation.uuid.hex(), error)
            self._keeper.put_back(self.host, self._state)
            if isinstance(outcome, Change):
                failed = Refusal(mesos_pb2.OPERATION_FAILED, f"the outcome could not be stored: {error}")
                record = self._record(operation, failed)
            # Nothing is told before it is committed: this is tried again until it is.
            self._endings.wait(record)
            self._store_unsaved()
            return
        self._world.checkpoint("committed")
        self._keeper.forget(settled)
        log_ended(record, outcome)
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
            try:
                self._identity.renew(self.host)
            except StoreError as error:
                # The totals are told all the same; each operation is checked against what there is.
                log.error("the resource version stays: %s", error)
        if telling is not Telling.NOTHING:
            self._want_report()

    def _record(self, operation: Operation, outcome: Change | Refusal) -> Record:
        return ended(self.provider_id, operation, outcome, self._world.new_uuid(), self._world.clock())

    def _store_unsaved(self) -> None:
        for record in self._endings.stored(self._state):
            self._tell(record)
            refusal = Refusal(record.status.state, record.status.message)
            operation = Operation(record.uuid, self.version, record.framework_id, record.info)
            self._tell_resources(self._dialect.telling(self.host, self._state, operation, refusal))

    def _reconcile_operations(self, asked: Event.ReconcileOperations) -> None:
        """Tell the status of each, and end as dropped what never came here or died before its commit."""
        for entry in asked.operation_uuids:
            uuid = entry.value
            if len(uuid) != 16:
                log.warning("operation uuid %r is not 16 bytes; it is not reconciled", uuid[:32])
            elif (record := self._outbox.get(uuid)) is not None:
                self._tell(record)
            elif uuid not in self._endings:
                operation = Operation(uuid, self.version, None, mesos_pb2.Offer.Operation())
                dropped = Refusal(mesos_pb2.OPERATION_DROPPED, "the provider does not know this operation")
                self._conclude(operation, dropped)

    # -- compaction ---------------------------------------------------------------------------------------------------

    def _compact(self, wanted: Event.CompactCpusets) -> Generator[None, None, None]:
        """Move sets to better CPUs, or tell what would move; the answer goes out at the end.

        Each move is changed in the kernel, read back, committed and told by itself, so that a process that dies
        between two of them leaves a whole state, and operations that come in between find one.
        """
        call = calls.to_provider(Call.UPDATE_COMPACTION, self.provider_id)
        answer = yield from compacting.carry_out(wanted, lambda: (self.host, self._state), self._move)
        call.update_compaction.CopyFrom(answer)
        if self.session.subscribed:
            self._send(call)

    def _move(self, move: compaction.Move) -> str:
        """Do it; returns why it could not be done, or ""."""
        if self.torn_down:
            return "the provider was removed"
        after = move.state(self._state)
        error = self._keeper.change(self.host, self._state, after)
        if error:
            return error
        self._world.checkpoint("moved")
        settled = self._keeper.settled(self.host, after)
        identity = self._identity.following(self.host)
        try:
            self._world.store.save_move(self._state, after, identity, settled)
        except StoreError as fault:
            self._keeper.put_back(self.host, self._state)
            return f"it could not be stored: {fault}"
        self._world.checkpoint("committed")
        self._keeper.forget(settled)
        self._state, self._identity.version = after, identity[1]
        log.info("set %s moved %s", move.after.id, compacting.described(move))
        self._judge()
        # Told at once: what the agent decides on the totals of before would be dropped.
        if self.session.subscribed:
            self._report()
        return ""

    # -- telling ----------------------------------------------------------------------------------------------------

    def _tell(self, record: Record) -> None:
        """Send the status of an ended operation, where there is a stream."""
        if self.session.subscribed:
            self._outbox.send(record, self._world.clock())

    def _send_status(self, record: Record) -> None:
        self._send(calls.operation_status(self.provider_id, record))

    def _send(self, call: Call) -> None:
        self._hand_over(self._dialect.outgoing(call, self._agent_id))

    def _want_report(self, *, shown: bool = False) -> None:
        """Report soon; `shown`: only what is shown beside our resources has changed."""
        if not self._dirty and (self._dialect.extended or not shown):
            self._dirty = True
            self._wanted()

    def flush(self) -> None:
        """Report what changed since the last report."""
        if self._dirty and self.session.subscribed:
            self._report()

    def _report(self) -> None:
        self._dirty = False
        self._reported = self._world.clock()
        pending = self._outbox.pending
        self._send(self._reporter.update_state(self._identity, self.host, self._state, pending, self.degraded))

    # -- publishing -------------------------------------------------------------------------------------------------

    def _publish(self, publish: Event.PublishResources) -> None:
        """Answer whether the sets that tasks are to use are in force; those that are not are put in force first."""
        self.published = self._world.clock()
        wanted = publishing.wanted(self._dialect, self._state, self.revoked, publish)
        problems: Collection[str] = wanted.problems
        if not problems:
            self._keeper.repair(self.host, self._state, self._world.clock(), only=wanted.named, mixed=wanted.mixed)
            self._tasks.keep(self.host, self._state)
            problems = self._keeper.problems(self.host, self._state, wanted.needed)
        if problems:
            log.error("publish %s refused: %s", publish.uuid.value.hex(), "; ".join(problems))
        self._send(calls.publish_status(self.provider_id, publish.uuid, problems))

    def tasks_told(self, tasks: Iterable[mesos_pb2.Task]) -> None:
        """Take over which tasks a stock agent runs."""
        self._tasks.told(self._state, tasks)
        self._tasks.keep(self.host, self._state)

    # -- time -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """To be called about every second: resends, comparison of kernel and state, changes of the host."""
        if self.torn_down:
            return
        self._store_unsaved()
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
        if self._watch.changed(self.host):
            self._host_changed()
        elif (host := self._watch.drivers(self.host)) is not self.host:
            self._host = host
            self._profiles.judge(self.profiles, host)
            self._want_report()
        self._keeper.repair(self.host, self._state, self._world.clock())
        self._keeper.settle(self.host, self._state, self._world.store.forget_power)
        self._judge()

    def _host_changed(self) -> None:
        before = self.host
        self._host = self._watch.look(before)
        self._labels.use(self.host, self._profiles.catalogue.active)
        if not differs(before, self.host):
            return
        try:
            self._identity.renew(self.host)
        except StoreError as error:
            log.error("the host changed and this cannot be stored, it is tried again: %s", error)
            self._host = before
            self._watch.look_again()
            return
        self._reporter.host_is(self.host)
        self._profiles.judge(self.profiles, self.host)
        self._want_report()

    def _judge(self) -> None:
        """Look at each set, and report where one is degraded or revoked or is no more."""
        if self._revocations.judge(self.host, self._state):
            self._want_report()
        if self._keeper.judge(self.host, self._state, self._world.clock()):
            self._want_report(shown=True)

    # -- profiles ---------------------------------------------------------------------------------------------------

    def preparation(self, result: profile_state.Fetched) -> Iterator[None]:
        """Short steps that make `profiles_fetched` of a new document a short one; nothing is in force by them."""
        return self._profiles.preparation(result, lambda: self._state)

    def profiles_fetched(self, result: profile_state.FetchResult) -> None:
        """Take over what a look at the profile source gave. Raises StoreError where it cannot be stored."""
        try:
            news = self._profiles.fetched(result, self.host, self._state, self._reported)
        except StoreError:
            self._want_report(shown=True)
            raise
        if news:
            self._want_report(shown=True)

    def _reconsider_profiles(self) -> None:
        """After sets came or went: what waited for the last one to go is done."""
        if self._profiles.reconsider(self.host, self._state, self._reported):
            self._want_report(shown=True)
