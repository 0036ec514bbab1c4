"""Watches where a profile document comes from, and hands over what each look at it gave.

Decides when to look (`poll_interval`, backoff with jitter after a failure), that there is one look at a time, and
that a new document is handed over after a random wait. It never decides what a document means (`profiles.mapping`) or
does (`profiles.state`), and whatever happens to a source, it goes on: a failure is a value.

Reading, fetching and parsing happen in a thread; everything else, `on_result` too, in the reactor's. A thread that
cannot be ended (name resolution or a file system that hangs) is reported as a failure and left to itself; the next
look waits for its end.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from profiles.errors import DocumentError, SourceError
from profiles.mapping import MAX_DOCUMENT_BYTES, parse_document
from profiles.source_file import read_file
from profiles.source_http import DEFAULT_TIMEOUTS, NO_VALIDATORS, Abort, Body, Same, Timeouts, Validators, fetch
from profiles.state import Failed, Fetched, FetchResult, NotModified
from profiles.uri import HttpTarget, Target, parse_uri, redact

__all__ = [
    "Clock",
    "Look",
    "ProfileSource",
    "Runner",
    "Timeouts",
    "digest",
    "in_thread",
    "look",
    "parse_uri",
    "redact",
    "retry_delay",
]

log = logging.getLogger(__name__)

FILE_POLL_SECONDS = 5.0
"""How often a file is looked at where no interval is given; HTTP is then fetched once."""
FIRST_RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0
FULL_FETCH_SECONDS = 3600.0
"""So often a document is fetched without asking whether it changed: a server may be wrong about its ETag."""
OVERDUE_GRACE_SECONDS = 5.0
MAX_SECONDS = 365 * 24 * 3600.0


class Call(Protocol):
    def cancel(self) -> Any: ...

    def active(self) -> Any: ...


class Clock(Protocol):
    """What is needed of a Twisted clock."""

    def seconds(self) -> float: ...

    def callLater(self, delay: float, callable: Callable[..., Any], *args: object, **kwargs: object) -> Call: ...  # noqa: N802


class ThreadedReactor(Protocol):
    def callFromThread(self, callable: Callable[..., Any], *args: object, **kwargs: object) -> Any: ...  # noqa: N802


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the source gave."""

    result: FetchResult
    digest: str | None = None
    """Of the content, where it is a valid document."""
    validators: Validators = NO_VALIDATORS


Runner = Callable[[Callable[[], Look], Callable[[Look], None]], None]
"""Runs the first somewhere and calls the second with its value, in the reactor's thread."""


def in_thread(reactor: ThreadedReactor) -> Runner:
    """A thread of its own for each look: the reactor's pool would be waited for when the process ends."""

    def run(work: Callable[[], Look], done: Callable[[Look], None]) -> None:
        def body() -> None:
            reactor.callFromThread(done, work())

        threading.Thread(target=body, name="pinfold-profiles", daemon=True).start()

    return run


def digest(data: bytes) -> str:
    """What tells one document from another where a server or a file system does not."""
    return hashlib.sha256(data).hexdigest()


def retry_delay(failures: int, interval: float | None, random: float) -> float:
    """Seconds until the next look after `failures` failed ones in a row; `random` from 0 up to 1.

    Doubles from the interval (1 s where there is none) up to 30 s, or the interval where that is longer, and lies
    between half of that and all of it.
    """
    first = interval or FIRST_RETRY_SECONDS
    longest = max(first, MAX_RETRY_SECONDS)
    whole = min(longest, first * 2.0 ** min(max(failures, 1) - 1, 30))
    return whole * (0.5 + 0.5 * random)


def look(
    target: Target,
    known: str | None = None,
    validators: Validators = NO_VALIDATORS,
    *,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    limit: int = MAX_DOCUMENT_BYTES,
    ca_file: str | None = None,
    credentials_file: str | None = None,
    abort: Abort | None = None,
) -> Look:
    """Read or fetch the document once and parse it; blocking. `known` is the digest of the document in force."""
    try:
        if isinstance(target, HttpTarget):
            answer = fetch(
                target,
                validators if known else NO_VALIDATORS,
                timeouts=timeouts,
                limit=limit,
                ca_file=ca_file,
                credentials_file=credentials_file,
                abort=abort,
            )
        else:
            answer = read_file(target.path, limit)
        if isinstance(answer, Failed):
            return Look(answer)
        if isinstance(answer, Same):
            return Look(NotModified(), known, validators)
        found = digest(answer.data)
        if found == known:
            return Look(NotModified(), known, answer.validators)
        try:
            entries = parse_document(answer.data)
        except DocumentError as error:
            return Look(Failed(f"document refused: {error}{_served_as(answer)}", error.faults))
        return Look(Fetched(answer.data, entries), found, answer.validators)
    except Exception as error:  # a fault of ours must not end the watching either
        log.exception("looking at the profile document failed in a way that was not foreseen")
        return Look(Failed(f"internal error: {type(error).__name__}"))


def _served_as(answer: Body) -> str:
    media = answer.content_type.partition(";")[0].strip().lower()
    if not media or media.endswith("json") or media in ("text/plain", "application/octet-stream"):
        return ""
    return f" (served as {media})"


class ProfileSource:
    """Looks at one URI again and again, from `start` to `stop`.

    `on_result` gets each look's outcome in the reactor's thread; if it raises, that look counts as failed and its
    document is handed over again. Before a new document is handed over, `prepare` gets it with what it is to call
    when `on_result` may come; until then there is no other look. `document` is the last good one (from
    `Known.document`), so that the same content is not handed over twice. Raises SourceError for a configuration that
    cannot work.
    """

    def __init__(
        self,
        uri: str,
        *,
        clock: Clock,
        run: Runner,
        random: Callable[[], float],
        on_result: Callable[[FetchResult], None],
        prepare: Callable[[Fetched, Callable[[], None]], None] = lambda document, ready: ready(),
        document: bytes | None = None,
        poll_interval: float | None = None,
        max_random_wait: float = 0.0,
        ca_file: str | None = None,
        credentials_file: str | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        limit: int = MAX_DOCUMENT_BYTES,
    ) -> None:
        self._target: Target = parse_uri(uri)
        for name, value in (("poll_interval_seconds", poll_interval), ("max_random_wait_seconds", max_random_wait)):
            if value is not None and not (math.isfinite(value) and 0 <= value <= MAX_SECONDS):
                raise SourceError(f"profiles {name} {value!r}: must be from 0 to {MAX_SECONDS:g} seconds")
        self.uri = redact(uri)
        """For showing: without credentials."""
        http = isinstance(self._target, HttpTarget)
        self._interval = poll_interval or (None if http else FILE_POLL_SECONDS)
        self._max_random_wait = max_random_wait
        self._ca_file = ca_file
        self._credentials_file = credentials_file
        self._timeouts = timeouts
        self._limit = limit
        self._clock = clock
        self._run = run
        self._random = random
        self._on_result = on_result
        self._prepare = prepare
        self._digest = None if document is None else digest(document)
        self._validators = NO_VALIDATORS
        self._full_fetch_at = 0.0
        self._failures = 0
        self._next: Call | None = None
        self._overdue: Call | None = None
        self._abort: Abort | None = None
        self._stuck = False
        self._stopped = True

    def start(self) -> None:
        """Look now, and then again as configured."""
        if self._stopped:
            self._stopped = False
            self._schedule(0.0)

    def stop(self) -> None:
        """Look no more and report nothing more; a fetch under way is ended."""
        self._stopped = True
        for call in (self._next, self._overdue):
            if call is not None and call.active():
                call.cancel()
        if self._abort is not None:
            self._abort.abort()

    def _schedule(self, delay: float) -> None:
        if self._next is not None and self._next.active():
            self._next.cancel()
        self._next = self._clock.callLater(delay, self._look)

    def _look(self) -> None:
        if self._abort is not None:  # the thread of the look before is still stuck
            self._deliver(Look(Failed(self._stuck_reason())))
            return
        now = self._clock.seconds()
        if now >= self._full_fetch_at:
            self._validators = NO_VALIDATORS
            self._full_fetch_at = now + FULL_FETCH_SECONDS
        abort = self._abort = Abort()
        known, validators = self._digest, self._validators
        self._stuck = False
        self._overdue = self._clock.callLater(self._timeouts.total + OVERDUE_GRACE_SECONDS, self._on_overdue)
        self._run(
            lambda: look(
                self._target,
                known,
                validators,
                timeouts=self._timeouts,
                limit=self._limit,
                ca_file=self._ca_file,
                credentials_file=self._credentials_file,
                abort=abort,
            ),
            self._looked,
        )

    def _stuck_reason(self) -> str:
        what = "name resolution" if isinstance(self._target, HttpTarget) else "the file system"
        return f"no end after {self._timeouts.total + OVERDUE_GRACE_SECONDS:g} s: {what} seems to hang"

    def _on_overdue(self) -> None:
        self._stuck = True
        if self._abort is not None:
            self._abort.abort()
        self._deliver(Look(Failed(self._stuck_reason())))

    def _looked(self, found: Look) -> None:
        self._abort = None
        if self._stopped:
            return
        if self._overdue is not None and self._overdue.active():
            self._overdue.cancel()
        if self._stuck:
            # Reported already, and the next look is planned; what came so late is not used.
            self._stuck = False
            return
        if isinstance(found.result, Fetched) and self._digest is not None and self._max_random_wait > 0:
            # Only what changes a document in force waits: many providers would change at the same moment.
            delay = self._max_random_wait * self._random()
            log.info("profile document of %s changed, taken in %.1f s", self.uri, delay)
            self._next = self._clock.callLater(delay, self._take, found)
        else:
            self._take(found)

    def _take(self, found: Look) -> None:
        if isinstance(found.result, Fetched):
            self._prepare(found.result, lambda: self._deliver(found))
        else:
            self._deliver(found)

    def _deliver(self, found: Look) -> None:
        if self._stopped:  # while it was prepared
            return
        good = not isinstance(found.result, Failed)
        try:
            self._on_result(found.result)
        except Exception:
            log.exception("the outcome of looking at %s could not be taken over; trying again", self.uri)
            good = False
        if self._stopped:  # by on_result
            return
        if good:
            self._failures = 0
            self._digest, self._validators = found.digest, found.validators
            if self._interval is not None:
                self._schedule(self._interval)
        else:
            self._failures += 1
            base = self._interval
            if self._digest is None and base is not None:
                base = min(base, FIRST_RETRY_SECONDS)  # there is nothing to live on
            delay = retry_delay(self._failures, base, self._random())
            log.debug("look %d at %s in a row failed, next one in %.1f s", self._failures, self.uri, delay)
            self._schedule(delay)
