"""Keeps the kernel as the committed state says, and knows what is wrong with each set.

Decides when drift is repaired and what is remembered of it, and that a change which the kernel refuses leaves what was
there before. What the kernel should have is decided in `provider.reconcile`, how it gets there in `provider.cgroups`.
It changes no state of ours and tells nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from provider import cpuset, reconcile
from provider.cgroup_values import mixed_name
from provider.cgroups import Applied, Difference, Enforcer
from provider.errors import EnforcementError, PowerError
from provider.inventory import Host, State
from provider.power import PowerKeeper
from provider.power_rules import Found
from provider.store import StoreError

__all__ = ["Keeper"]

log = logging.getLogger(__name__)


class Keeper:
    """The kernel side of one provider."""

    def __init__(self, enforcer: Enforcer, power: PowerKeeper | None = None) -> None:
        """`power`: None where cpufreq is not to be touched."""
        self._enforcer = enforcer
        self._power = power
        self._notes: dict[str, str] = {}
        """What the kernel could not be made to do for a set."""
        self._error = ""
        """Why the kernel is not as the committed state says."""
        self._drift = reconcile.Drift()
        self._mixed = reconcile.Mixed()
        self._degraded: dict[str, str] = {}

    @property
    def degraded(self) -> Mapping[str, str]:
        """Reasons by set id; a set that is not named is as it should be."""
        return MappingProxyType(self._degraded)

    def recover(self, power: Mapping[int, Found]) -> None:
        """Take over what was stored of cpufreq settings, by CPU."""
        if self._power is not None:
            self._power.found.update(power)

    def change(self, host: Host, before: State, after: State) -> str:
        """Bring the kernel from one state to another. Returns "", or why it refused; then it is as before."""
        try:
            self._enforce(host, after)
        except EnforcementError as error:
            if isinstance(error, PowerError):
                self.put_back(host, before)
            return f"the kernel refused: {error}"
        return ""

    def put_back(self, host: Host, state: State) -> None:
        """Bring the kernel back to the committed state, after a change that was not committed."""
        try:
            self._enforce(host, state)
        except EnforcementError as error:
            log.error("the kernel could not be put back to the committed state, it is tried again: %s", error)

    def _enforce(self, host: Host, state: State) -> None:
        """Bring the kernel to a state. Raises EnforcementError after undoing what was done, PowerError where the sets
        are in force and cpufreq settings are not: the state before is to be put back then."""
        self._keep(self._enforcer.apply(reconcile.desired(host, state)))
        self._enforce_power(host, state)

    def _enforce_power(self, host: Host, state: State) -> None:
        if self._power is not None:
            try:
                self._power.enforce(reconcile.power(host, state))
            except EnforcementError as error:
                raise PowerError(str(error)) from error

    def settled(self, host: Host, state: State) -> list[int]:
        """CPUs that have their own cpufreq settings again: with this state, what is stored of them is forgotten."""
        return [] if self._power is None else self._power.settled(reconcile.power(host, state))

    def forget(self, settled: list[int]) -> None:
        """That was committed."""
        if self._power is not None:
            self._power.forget(settled)

    def settle(self, host: Host, state: State, forget: Callable[[list[int]], None]) -> None:
        """Forget what was stored of CPUs that have their own power settings again; `forget` commits that, or raises
        StoreError."""
        settled = self.settled(host, state)
        if settled:
            try:
                forget(settled)
            except StoreError as error:
                log.error("power settings: %s; it is tried again", error)
                return
            self.forget(settled)
            log.info("CPUs %s have their own power settings again", cpuset.format_mask(cpuset.of(settled)))

    def repair(
        self,
        host: Host,
        state: State,
        now: float,
        *,
        starting: bool = False,
        only: Collection[str] | None = None,
        mixed: Collection[tuple[str, ...]] = (),
    ) -> None:
        """Bring the kernel back to the committed state where it drifted; `only` asks for these sets' sake, and `mixed`
        for groups of tasks that use several of them at once.

        `starting`: what differs then is what happened while nobody looked, and no sign of somebody else at work.
        """
        if self._power is not None and only is None:
            self._power.repair(reconcile.power(host, state), starting=starting)
        committed = reconcile.desired(host, state)
        asked = {name: set_ids for set_ids in mixed if (name := _named(set_ids))}
        wanted = replace(committed, mixed=tuple(asked.values()))
        self._mixed = self._mixed.asked_for(asked, now)
        try:
            found = self._enforcer.differences(wanted)
            dropped = only is None and self._drop_idle(now)  # after the look at what drifted: this is no drift
            if not dropped and (not found or (only is not None and not any(one.set_id in only for one in found))):
                if not found:
                    self._error = ""
                return
            if asked:  # what a new group changes is no drift
                found = self._enforcer.differences(committed)
            self._keep(self._enforcer.apply(wanted))
        except EnforcementError as error:
            if str(error) != self._error:
                log.error("the kernel cannot be brought in line with the committed state: %s", error)
            self._error = str(error)
            return
        for difference in found:
            self._log_repair(difference, starting)
        if not starting:
            for drifted in {one.set_id for one in found if one.set_id is not None}:
                if drifted in state.sets:
                    self._drift = self._drift.noted(drifted, now)

    def _drop_idle(self, now: float) -> bool:
        """Remove mixed groups that no task uses any more; True where one is gone."""
        self._mixed, idle = self._mixed.looked(self._enforcer.mixed(), now)
        gone = [name for name in idle if self._enforcer.drop(name)]
        return bool(gone)

    def release(self, host: Host, state: State) -> list[str]:
        """Take out of the kernel what nobody looks after any more, and give its CPUs to plain tasks. Returns the ids
        of the sets that stay in force, as something runs in them. Raises EnforcementError after undoing what was done.
        """
        if not self._enforcer.read().groups:
            self._release_power(host, State())
            return []
        busy = [one.id for one in state.sets.values() if self._occupied(one.id, shared=not one.exclusive)]
        self._keep(self._enforcer.apply(reconcile.released(host, state, busy)))
        self._release_power(host, reconcile.only(state, busy))
        log.info(
            "released: %d sets are out of the kernel; still in force, as processes run in them: %s",
            len(state.sets) - len(busy),
            ", ".join(busy) or "none",
        )
        return busy

    def _release_power(self, host: Host, state: State) -> None:
        self._enforce_power(host, state)
        left = [] if self._power is None else self._power.waiting(reconcile.power(host, state))
        if left:
            log.warning(
                "power settings of CPUs %s were not put back (they are offline, or refused it): what they had stays"
                " stored, and is written back by `pinfold provider --release` once they are online, or once this"
                " provider is started again and destroys the set",
                cpuset.format_mask(cpuset.of(left)),
            )

    def _occupied(self, set_id: str, *, shared: bool) -> bool:
        try:
            return bool(self._enforcer.processes(set_id, shared=shared))
        except EnforcementError as error:
            log.error("set %s stays in force: %s", set_id, error)
            return True

    def _keep(self, applied: Applied) -> None:
        """Each apply says all that could not be done."""
        self._error = ""
        self._notes = {set_id: "; ".join(texts) for set_id, texts in applied.notes.items()}

    def _log_repair(self, difference: Difference, starting: bool) -> None:
        expected = starting or difference.set_id in self._notes
        log.log(
            logging.INFO if expected else logging.WARNING,
            "%s: %s was %s in the kernel and should be %s; repaired",
            f"set {difference.set_id}" if difference.set_id else (difference.group or "base"),
            difference.field,
            difference.found,
            difference.wanted,
        )

    def problems(self, host: Host, state: State, named: Collection[str]) -> list[str]:
        """Why these sets cannot be used as they are in the kernel now; empty where they can."""
        wanted = reconcile.desired(host, state)
        result = [
            f"set {set_id}: none of its CPUs is there"
            for set_id in sorted(named)
            if set_id not in wanted.exclusive and set_id not in wanted.shared
        ]
        try:
            left = self._enforcer.differences(wanted)
        except EnforcementError as error:
            return [*result, str(error)]
        for difference in left:
            # A partition that cannot be had leaves a set that is exclusive all the same.
            if difference.set_id in named and difference.field in ("missing", "cpus", "mems"):
                result.append(
                    f"set {difference.set_id}: {difference.field} should be {difference.wanted}, "
                    f"the kernel has {difference.found}"
                )
        return result

    def judge(self, host: Host, state: State, now: float) -> bool:
        """Work out which sets are degraded; True where that changed."""
        reasons = {set_id: [text] for set_id, text in reconcile.degradations(host, state).items()}
        for set_id in state.sets:
            # What is noted of no set in particular is a limit from outside on all that is exclusive.
            outside = self._notes.get("", "") if state.sets[set_id].exclusive else ""
            texts = [self._notes.get(set_id, ""), outside, self._error]
            if not any(texts) and self._drift.returning(set_id, now):
                texts.append("its kernel state was changed by somebody else again and again, and repaired each time")
            for text in filter(None, texts):
                reasons.setdefault(set_id, []).append(text)
        for cpu, text in (self._power.problems if self._power is not None else {}).items():
            for set_id, one in state.sets.items():
                if one.cpus >> cpu & 1:
                    reasons.setdefault(set_id, []).append(f"CPU {cpu}: {text}")
        degraded = {set_id: "; ".join(texts) for set_id, texts in reasons.items()}
        if degraded == self._degraded:
            return False
        for set_id in state.sets:
            if degraded.get(set_id) != self._degraded.get(set_id):
                if set_id in degraded:
                    log.error("set %s is degraded: %s", set_id, degraded[set_id])
                else:
                    log.info("set %s is as it should be again", set_id)
        self._degraded = degraded
        return True


def _named(set_ids: tuple[str, ...]) -> str:
    """The mixed group's name; "" where there is none: that task does not start, and the others are not kept from it."""
    try:
        return mixed_name(set_ids)
    except EnforcementError as error:
        log.error("%s: %s", error, ", ".join(set_ids))
        return ""
