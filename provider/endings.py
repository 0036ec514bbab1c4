"""How operations end: the record of an outcome, those that wait to be stored, and acknowledgements.

Decides that an ended operation goes to the outbox once it is committed and not before, and which acknowledgement is of
the status that was sent. It never decides an outcome, and sends nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from agent_api.wire import mesos_pb2, resource_provider_pb2
from provider import operations
from provider.inventory import State
from provider.operations import Change, Operation, Record, Refusal
from provider.outbox import Outbox
from provider.store import KEPT_ACKNOWLEDGED, Store, StoreError

__all__ = ["Endings", "ended", "log_ended"]

log = logging.getLogger(__name__)


def ended(
    provider_id: str | None, operation: Operation, outcome: Change | Refusal, status_uuid: bytes, now: float
) -> Record:
    """The record of an operation that has just ended."""
    status = operations.terminal_status(provider_id or "", operation, outcome, status_uuid)
    info = mesos_pb2.Offer.Operation()
    info.CopyFrom(operation.info)
    return Record(operation.uuid, operation.framework_id, info, status, False, now)


def log_ended(record: Record, outcome: Change | Refusal) -> None:
    """The one line that each operation leaves."""
    name = mesos_pb2.OperationState.Name(record.status.state)
    said = outcome.summary if isinstance(outcome, Change) else outcome.message
    log.info("operation %s: %s: %s", record.uuid.hex(), name, said)


class Endings:
    """The ended operations of one provider on their way through store and outbox."""

    def __init__(self, store: Store, outbox: Outbox) -> None:
        self._store = store
        self._outbox = outbox
        self._unsaved: dict[bytes, Record] = {}
        """Ended operations that could not be committed yet, and are told to nobody."""

    def __contains__(self, uuid: bytes) -> bool:
        """Whether the operation ended and waits to be stored."""
        return uuid in self._unsaved

    def wait(self, record: Record) -> None:
        """It could not be committed; nothing is told of it before it is."""
        self._unsaved[record.uuid] = record

    def stored(self, state: State) -> Iterator[Record]:
        """Try to commit those that wait; gives each that now is, for the caller to tell it. They leave the committed
        state as it is."""
        for uuid, record in list(self._unsaved.items()):
            try:
                self._store.save_outcome(state, state, record)
            except StoreError:
                return
            del self._unsaved[uuid]
            self._outbox.add(record)
            log.info("operation %s: the failure is stored now", uuid.hex())
            yield record

    def acknowledged(self, acknowledge: resource_provider_pb2.Event.AcknowledgeOperationStatus) -> None:
        """Take over that a status arrived, and forget the oldest operations that are acknowledged."""
        uuid = acknowledge.operation_uuid.value
        record = self._outbox.get(uuid)
        if record is None or record.status.uuid.value != acknowledge.status_uuid.value:
            log.info("an acknowledgement for an unknown status of operation %s is ignored", uuid.hex())
            return
        if record.acknowledged:
            return
        forget = self._outbox.forgettable(KEPT_ACKNOWLEDGED)
        try:
            self._store.acknowledge(uuid, forget)
        except StoreError as error:
            log.error("acknowledgement of operation %s: %s; its status will be sent again", uuid.hex(), error)
            return
        self._outbox.acknowledged(uuid, forget)
        log.info("operation %s acknowledged", uuid.hex())
