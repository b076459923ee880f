"""Family 6, commit semantics: what the caller was told and what the vendor's books say come apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from masim.sim.appointments import OPEN_STATES, Appointment
from masim.sim.carriers import Tender
from masim.sim.dists import Constant, Dist
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.spec import WRITE_VERBS, Status, Verb
from masim.sim.wire import Body, Call, Result
from masim.units import MINUTE

if TYPE_CHECKING:
    from masim.sim.world import World

CANCELLATIONS = frozenset({Verb.CANCEL_TENDER.value, Verb.CANCEL_APPOINTMENT.value})
_WRITES = frozenset(verb.value for verb in WRITE_VERBS)


@dataclass(frozen=True, slots=True)
class LostRequest(CallFault):
    """The request never arrives: no effect and no answer."""

    kind: ClassVar[str] = "lost_request"
    family: ClassVar[str] = "commit"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Lose the request."""
        change.lost = "request"
        return True


@dataclass(frozen=True, slots=True)
class LostResponse(CallFault):
    """The vendor does what it was asked and the answer gets lost."""

    kind: ClassVar[str] = "lost_response"
    family: ClassVar[str] = "commit"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Lose the answer; a request that is lost already stays lost."""
        if change.lost:
            return False
        change.lost = "response"
        return True


@dataclass(frozen=True, slots=True)
class DuplicateCommit(CallFault):
    """The vendor does it twice for one request (its own retry); writes only. ``after``: how long after the first."""

    after_s: float = 2.0
    kind: ClassVar[str] = "duplicate_commit"
    family: ClassVar[str] = "commit"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return _WRITES

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Do it again."""
        change.again_s = self.after_s
        return True


@dataclass(frozen=True, slots=True)
class DelayedCommit(CallFault):
    """The vendor answers 202 at once and does it later; writes only."""

    delay_s: Dist = field(default=Constant(10 * MINUTE))
    kind: ClassVar[str] = "delayed_commit"
    family: ClassVar[str] = "commit"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return _WRITES

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Put the effect off."""
        change.effect_delay_s += self.delay_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class PartialBatch(CallFault):
    """One part of a batch fails and the vendor keeps it, while the answer speaks for the whole.

    The batches are the cancellations: of all open tenders of a leg, of all open appointments of a stop. The newest of
    them stays open; the answer says that all are gone.
    """

    kind: ClassVar[str] = "partial_batch"
    family: ClassVar[str] = "commit"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return CANCELLATIONS

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Spare one part of a cancellation."""
        change.acts.append(_all_but_newest)
        return True


def _all_but_newest(world: World, call: Call, work: Callable[[], Body]) -> Body:
    """Let the vendor cancel what it finds while the newest open part is out of its sight."""
    spared = _open_parts(world, call)[-1:]
    was = [part.status for part in spared]
    for part in spared:
        part.status = Status.REJECTED
    body = work()
    for part, status in zip(spared, was, strict=True):
        part.status = status
    return replace(body, result=Result.SUCCESS, code=200, status=Status.CANCELED, problem="") if spared else body


def _open_parts(world: World, call: Call) -> Sequence[Tender | Appointment]:
    if call.verb is Verb.CANCEL_TENDER:
        loads = world.carriers[call.vendor].find(call)
        return [load for load in loads if load.status in OPEN_STATES and not load.dispatched]
    return world.docks[call.vendor].find(call)
