"""An operation as it comes, and a decision on it that always comes to an end.

Decides that every operation has an outcome: what the kernel does not tell, and a fault of ours, fail this one operation
and take nothing from anybody else. What the operation does is decided by the dialect (`provider.operations`). It
changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from agent_api.wire import mesos_pb2, resource_provider_pb2
from provider.cgroups import Enforcer
from provider.dialect import Dialect
from provider.errors import EnforcementError
from provider.inventory import State
from provider.operations import Change, Context, Operation, Refusal

__all__ = ["decide", "operation_of"]

log = logging.getLogger(__name__)


def operation_of(apply: resource_provider_pb2.Event.ApplyOperation) -> Operation:
    """The operation of an APPLY_OPERATION."""
    return Operation(
        uuid=apply.operation_uuid.value,
        version=apply.resource_version_uuid.value,
        framework_id=apply.framework_id.value if apply.HasField("framework_id") else None,
        info=apply.info,
    )


def decide(
    dialect: Dialect,
    enforcer: Enforcer,
    state: State,
    operation: Operation,
    context: Callable[[Mapping[str, int]], Context],
) -> Change | Refusal:
    """Decide an operation on the committed state. `context` is asked with the number of processes in each set that the
    operation may destroy."""
    try:
        return dialect.decide(context(_occupied(dialect, enforcer, state, operation)), state, operation)
    except EnforcementError as error:
        return Refusal(mesos_pb2.OPERATION_FAILED, str(error))
    except Exception as error:
        # A fault of ours in one decision must not take the stream from everybody else.
        log.exception("operation %s could not be decided", operation.uuid.hex())
        return Refusal(mesos_pb2.OPERATION_FAILED, f"internal error: {type(error).__name__}: {error}")


def _occupied(dialect: Dialect, enforcer: Enforcer, state: State, operation: Operation) -> dict[str, int]:
    """Processes in the sets that are to be destroyed."""
    named = dialect.emptied(state, operation.info)
    return {
        one.id: len(enforcer.processes(one.id, shared=not one.exclusive))
        for one in state.sets.values()
        if one.id in named
    }
