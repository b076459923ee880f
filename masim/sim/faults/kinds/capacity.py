"""Family 9, capacity: places that were promised are gone, others come first, or the dock sells more than it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from masim.errors import ConfigError
from masim.sim.dists import Constant, Dist
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.engine import Stage
from masim.sim.faults.event import Event
from masim.sim.faults.kinds.staged import Staged, Ticking, stage_of
from masim.sim.spec import Verb
from masim.sim.wire import Body, Result
from masim.units import HOUR, MINUTE

MAX_BURST = 1000
"""Most bookings of others in one burst: each is an event of its own."""
_SLOT_CALLS = frozenset({Verb.HOLD.value, Verb.SCHEDULE.value, Verb.RESCHEDULE.value})


@dataclass(frozen=True, slots=True)
class HoldExpiry(CallFault, Staged):
    """A hold ends ``after`` it was asked for, whatever its answer said, also under a request that waits for it."""

    after_s: float = 1 * MINUTE
    kind: ClassVar[str] = "hold_expiry"
    family: ClassVar[str] = "capacity"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.HOLD.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Let the hold end early; the strike is counted when it does."""
        stage = stage_of(memo)
        stage.world.clock.at(event.t_s + self.after_s, _lapse, stage, event)
        return False


def _lapse(stage: Stage, event: Event) -> None:
    if stage.world.docks[event.vendor].lapse((event.order, event.leg, event.stop)):
        stage.label(event)


@dataclass(frozen=True, slots=True)
class Contention(Ticking):
    """Other shippers book in a burst: so many attempts at slots that are still to come, spread over a while.

    The rate is drawn per dock every ``every``; places that are taken already stay so.
    """

    bookings: int = 6
    over_s: float = 5 * MINUTE
    every_s: float = 30 * MINUTE
    kind: ClassVar[str] = "contention"
    family: ClassVar[str] = "capacity"

    def __post_init__(self) -> None:
        Ticking.__post_init__(self)
        if self.bookings > MAX_BURST:
            raise ConfigError("more than a burst", "bookings", str(self.bookings), f"at most {MAX_BURST}")

    def on_tick(self, stage: Stage, dock: str, n: int, event: Event | None, memo: Memo) -> None:
        """Book for others."""
        if event is None:
            return
        world, desk = stage.world, stage.world.docks[dock]
        first = next((s for s in range(desk.n_slots) if desk.start_s(s) > event.t_s), desk.n_slots)
        stage.label(event, event.t_s + self.over_s)
        for i in range(self.bookings if first < desk.n_slots else 0):
            u_slot, u_when, _, _ = world.noise.uniforms("contention", stage.armed.spec.id, dock, n, i)
            slot = first + int(u_slot * (desk.n_slots - first))
            world.clock.at(event.t_s + u_when * self.over_s, desk.background, slot)


@dataclass(frozen=True, slots=True)
class Oversell(Ticking):
    """The dock sells places beyond its capacity; the trucks of those who booked last are turned away.

    The rate is drawn per dock every ``every`` and holds until the next draw.
    """

    extra: int = 2
    every_s: float = 30 * MINUTE
    kind: ClassVar[str] = "oversell"
    family: ClassVar[str] = "capacity"

    def on_tick(self, stage: Stage, dock: str, n: int, event: Event | None, memo: Memo) -> None:
        """Set how many places are sold that are not there."""
        extra = self.extra if event is not None else 0
        stage.world.docks[dock].extra += extra - memo.get(dock, 0)
        memo[dock] = extra
        if event is not None:
            stage.label(event, event.t_s + self.every_s)


@dataclass(frozen=True, slots=True)
class LeadTime(CallFault, Staged):
    """A cut-off: the dock takes no request for a slot that starts within ``lead``, though it lists it."""

    lead_s: float = 8 * HOUR
    kind: ClassVar[str] = "lead_time"
    family: ClassVar[str] = "capacity"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return _SLOT_CALLS

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse a slot that is too close."""
        starts_s = stage_of(memo).world.docks[event.vendor].start_s(event.slot)
        if starts_s - event.t_s >= self.lead_s:
            return False
        return change.refuse(Body(Result.FAILURE, 409, problem="inside the lead time"))


@dataclass(frozen=True, slots=True)
class SilentMove(CallFault, Staged):
    """The dock moves a confirmed appointment to a later slot with room and tells nobody; only details show it."""

    after_s: Dist = field(default=Constant(HOUR))
    slots_later: int = 2
    kind: ClassVar[str] = "silent_move"
    family: ClassVar[str] = "capacity"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.SCHEDULE.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Move the booking some time after it was asked for; the strike is counted when it is moved."""
        stage = stage_of(memo)
        stage.world.clock.at(event.t_s + self.after_s.ppf(event.us[0]), self._move, stage, event)
        return False

    def _move(self, stage: Stage, event: Event) -> None:
        dock = stage.world.docks[event.vendor]
        made = [a for a in dock.of_stop(event.order, event.leg, event.stop) if a.confirmed]
        if made and dock.put_off(made[-1], self.slots_later):
            stage.label(event)
