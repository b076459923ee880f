"""What happens on the road after a dispatch: the pickup, the drive, the delivery, hours later.

A truck comes for the planned pickup on time or late (the carrier's hidden reliability). It is served when the stop has
a confirmed appointment that it does not miss by more than the grace; a stop without docks only needs the window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from masim.rng import Noise
from masim.sim.appointments import Appointment
from masim.sim.carriers import Tender
from masim.sim.clock import Clock
from masim.sim.docks import Dock
from masim.sim.plan import Hidden, LegPlan, OrderPlan
from masim.sim.spec import AppointmentType, CarrierSpec, Status, WorldSpec
from masim.sim.wire import Stop

DOCK_FULL = "dock_full"
"""Failure of a leg whose truck was turned away because the dock had sold its slot beyond its capacity."""
TRUCK_LATE = "truck_late"
"""Failure of a leg whose truck came past the grace of its pickup."""


@dataclass(slots=True)
class Leg:
    """One leg as the world knows it. ``status`` is waiting, under_way, delivered or failed."""

    order: OrderPlan
    index: int
    plan: LegPlan
    carrier: str = ""
    status: str = "waiting"
    failure: str = ""
    resolved_s: float = 0.0
    used: list[Appointment] = field(default_factory=list)
    moved: dict[str, str] | None = None
    """Docks of the plan that another one has taken the place of."""

    def dock(self, stop: Stop) -> str:
        """Return the dock of a stop, empty when the leg has none."""
        dock = self.plan.pickup_dock if stop is Stop.PICKUP else self.plan.delivery_dock
        return dock if self.moved is None else self.moved.get(dock, dock)

    def move(self, stop: Stop, dock: str) -> None:
        """Let another dock take the place of a stop's dock."""
        planned = self.plan.pickup_dock if stop is Stop.PICKUP else self.plan.delivery_dock
        self.moved = {**(self.moved or {}), planned: dock}


Report = Callable[[Leg, str, Stop, str], None]
"""``report(leg, kind, stop, problem)`` tells the agent what happened on the road."""

Detain = Callable[[Leg, float], None]
"""``detain(leg, waited_s)``: a dock kept the truck that long."""


class Trucks:
    """Runs dispatched legs on the world's clock."""

    __slots__ = ("_carriers", "_clock", "_detain", "_docks", "_grace_s", "_hidden", "_legs", "_noise", "_report")

    def __init__(
        self,
        spec: WorldSpec,
        clock: Clock,
        noise: Noise,
        hidden: Hidden,
        docks: dict[str, Dock],
        legs: dict[tuple[str, int], Leg],
        report: Report,
        detain: Detain,
    ) -> None:
        self._carriers: dict[str, CarrierSpec] = {c.id: c for c in spec.carriers}
        self._clock = clock
        self._noise = noise
        self._hidden = hidden
        self._docks = docks
        self._legs = legs
        self._report = report
        self._detain = detain
        self._grace_s = spec.late_grace_s

    def dispatch(self, leg: Leg, tender: Tender) -> None:
        """Send the truck to the leg's pickup as it is planned now."""
        tender.dispatched = True
        leg.carrier = tender.carrier
        leg.status = "under_way"
        confirmed = self._confirmed(leg, Stop.PICKUP)
        planned = min((start for start, _ in confirmed), default=leg.plan.pickup_open_s)
        planned = max(planned, self._clock.now)
        self._clock.at(planned + self.lateness_s(leg.carrier, leg.order.id, leg.index), self._at_pickup, leg, planned)

    def lateness_s(self, carrier: str, order: str, leg: int) -> float:
        """Return how late a truck that is sent now comes to its pickup."""
        u_on_time, u_late, _, _ = self._noise.uniforms("truck", carrier, order, leg)
        on_time_p = self._hidden.on_time_p[carrier]
        life = self._carriers[carrier].life
        if life.degrades_s is not None and self._clock.now >= life.degrades_s:
            on_time_p *= life.on_time_factor
        if u_on_time < on_time_p:
            return 0.0
        return self._carriers[carrier].late_s.ppf(u_late)

    def _confirmed(self, leg: Leg, stop: Stop) -> list[tuple[float, Appointment]]:
        dock = self._docks.get(leg.dock(stop))
        if dock is None:
            return []
        return [
            (dock.start_s(a.slot), a)
            for a in dock.of_stop(leg.order.id, leg.index, stop)
            if a.status is Status.CONFIRMED
        ]

    def _in_time(self, leg: Leg, stop: Stop) -> list[tuple[float, Appointment]]:
        """Return the confirmed appointments for which a truck that is here now is not too late."""
        now = self._clock.now
        return [(start, a) for start, a in self._confirmed(leg, stop) if now <= start + self._grace_s]

    def _served_s(self, leg: Leg, stop: Stop, window: tuple[float, float]) -> float:
        """Return when a truck that is here now is served, or -1 when it is turned away."""
        now = self._clock.now
        if not leg.dock(stop):
            opens, closes = window
            return max(now, opens) if now <= closes + self._grace_s else -1.0
        dock = self._docks[leg.dock(stop)]
        if dock.spec.type is AppointmentType.FCFS:
            return dock.queue()
        possible = [(start, a) for start, a in self._in_time(leg, stop) if not dock.turns_away(a)]
        if not possible:
            return -1.0
        start, appointment = min(possible, key=lambda pair: pair[0])
        leg.used.append(appointment)
        return max(now, start)

    def _at_pickup(self, leg: Leg, planned_s: float) -> None:
        previous = self._legs.get((leg.order.id, leg.index - 1))
        if previous is not None and previous.status != "delivered":
            self._fail(leg, Stop.PICKUP, "freight_not_there")
            return
        opens = leg.plan.pickup_open_s
        served = self._served_s(leg, Stop.PICKUP, (opens, max(opens, planned_s)))
        if served < 0.0:
            late = self._clock.now > planned_s + self._grace_s
            self._fail(leg, Stop.PICKUP, TRUCK_LATE if late else self._why_not(leg, Stop.PICKUP))
            return
        leaves = self._leaves_s(leg, Stop.PICKUP, served)
        self._clock.at(leaves + leg.plan.transit_s, self._at_delivery, leg)

    def _at_delivery(self, leg: Leg) -> None:
        served = self._served_s(leg, Stop.DELIVERY, (0.0, leg.plan.delivery_due_s))
        if served < 0.0 or served > leg.plan.delivery_due_s:
            problem = self._why_not(leg, Stop.DELIVERY) if served < 0.0 and leg.dock(Stop.DELIVERY) else ""
            booked = leg.dock(Stop.DELIVERY) and not self._queues(leg, Stop.DELIVERY)
            self._fail(leg, Stop.DELIVERY, problem or ("no_delivery_appointment" if booked else "after_due_time"))
            return
        self._clock.at(self._leaves_s(leg, Stop.DELIVERY, served), self._deliver, leg)

    def _queues(self, leg: Leg, stop: Stop) -> bool:
        dock = self._docks.get(leg.dock(stop))
        return dock is not None and dock.spec.type is AppointmentType.FCFS

    def _why_not(self, leg: Leg, stop: Stop) -> str:
        if self._queues(leg, stop):
            return "dock_closed"
        return DOCK_FULL if self._in_time(leg, stop) else f"no_{stop.value}_appointment"

    def _leaves_s(self, leg: Leg, stop: Stop, served_s: float) -> float:
        """Return when a truck leaves its dock, and tell how long the dock has kept it."""
        dock = self._docks.get(leg.dock(stop))
        if dock is None:
            return served_s
        dwell_s = 0.0
        if dock.rules_for(leg.order.id).dwell is not None:
            u = self._noise.uniform("dwell", dock.spec.id, leg.order.id, leg.index, stop)
            dwell_s = dock.dwell_s(leg.order.id, u)
        queued = self._queues(leg, stop)
        since = max(self._clock.now, dock.start_s(0)) if queued else served_s
        if dwell_s > 0.0 or queued:
            self._detain(leg, served_s + dwell_s - since)
        return served_s + dwell_s

    def _deliver(self, leg: Leg) -> None:
        leg.status = "delivered"
        leg.resolved_s = self._clock.now
        self._report(leg, "delivered", Stop.DELIVERY, "")

    def _fail(self, leg: Leg, stop: Stop, problem: str) -> None:
        leg.status = "failed"
        leg.failure = problem
        leg.resolved_s = self._clock.now
        self._report(leg, "missed", stop, problem)
