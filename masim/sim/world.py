"""One episode's world: vendors, orders and money on one clock.

Life cycle: build it from a spec and a plan, send calls, step the clock, and ask for the outcomes when nothing is left
to happen. Agents hear through two callbacks: answers to their calls, and messages that vendors send later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from masim.outcome import OrderOutcome
from masim.rng import Noise
from masim.sim.api import Gateway
from masim.sim.appointments import Appointment
from masim.sim.carrier_calls import AT_CARRIERS
from masim.sim.carriers import Carrier, Tender
from masim.sim.clock import Clock
from masim.sim.decisions import DecisionDesk
from masim.sim.dock_calls import AT_DOCKS
from masim.sim.docks import Dock
from masim.sim.faults.engine import FaultEngine
from masim.sim.faults.states import STATES
from masim.sim.fees import detention_cents, turned_away
from masim.sim.idempotency import Keys
from masim.sim.judge import judge_order
from masim.sim.ledger import Ledger
from masim.sim.lives import Lives
from masim.sim.mail import Mail
from masim.sim.ownership import Ownership
from masim.sim.plan import OrderPlan, Plan
from masim.sim.slots import NO_LOADS
from masim.sim.spec import AppointmentType, Status, WorldSpec
from masim.sim.terms import Decisions
from masim.sim.trace import Trace
from masim.sim.trucks import TRUCK_LATE, Leg, Trucks
from masim.sim.wire import Answer, Body, Call, Message, Stop
from masim.sim.zones import on_day

WORK = {**AT_CARRIERS, **AT_DOCKS}
"""What a call of a verb does."""


class World:
    """The simulated vendors and what they do to the orders of one day."""

    def __init__(
        self,
        spec: WorldSpec,
        plan: Plan,
        on_answer: Callable[[Answer], None],
        on_message: Callable[[Message], None],
        on_road: Callable[[Leg, str, str], None],
        trace: bool | Trace = True,
    ) -> None:
        self.spec = spec
        self.plan = plan
        self.clock = Clock(plan.day0_s + spec.day_start_s)
        self.trace = trace if isinstance(trace, Trace) else Trace(trace)
        self.ledger = Ledger()
        instance = plan.instance
        self.noise = Noise(instance.campaign_seed, f"{instance.namespace}/day{instance.day}")
        self.orders = {order.id: order for order in plan.orders}
        self.legs = {(o.id, i): Leg(o, i, leg) for o in plan.orders for i, leg in enumerate(o.legs)}
        load_of = {o.id: o.load_type for o in plan.orders} if spec.orders.load_types else NO_LOADS
        self.docks = {d.id: Dock(on_day(d, spec, instance.day), self.clock, plan.day0_s, load_of) for d in spec.docks}
        self.carriers = {c.id: Carrier(c, self.clock, self.noise, self._refusers(c.id)) for c in spec.carriers}
        terms = {c.id: c.terms for c in spec.carriers} | {d.id: d.terms for d in spec.docks}
        self._keys = Keys(terms, self.clock)
        silent = frozenset(v for v, t in terms.items() if t.decisions is Decisions.POLL)
        self.mail = Mail(spec.messages, self.clock, self.noise, self.trace, silent, on_message)
        tell = self.mail.handed
        self.owners = Ownership(spec.staff, plan.orders, self.clock, self.noise, tell) if spec.staff else None
        self.mail.owners = self.owners
        self.claims: dict[str, int] = {}
        self._on_road = on_road
        self.changes = 0
        self.desk = DecisionDesk(self.clock, self.mail, self.carriers, self.orders)
        self.faults = self.mail.faults = self._engine()
        self.gateway = Gateway(spec, plan, self.clock, self.noise, self.trace, self.take_effect, on_answer, self.faults)
        self.trucks = Trucks(spec, self.clock, self.noise, plan.hidden, self.docks, self.legs, self._road, self._detain)
        for t_s, dock, slot in plan.background:
            self.clock.at(t_s, self.docks[dock].background, slot)
        self._lives = self._come_and_go()
        if self.faults is not None:
            self.faults.start(self)

    def _come_and_go(self) -> Lives | None:
        lives = Lives.of(self.carriers, self.docks)
        if not lives:
            return None
        made = Lives(lives, self.clock, self.mail, self.carriers, self.docks, self.legs)
        made.start(self.plan.day0_s + self.spec.booking_end_s)
        return made

    def _engine(self) -> FaultEngine | None:
        if not self.spec.faults:
            return None
        plan = self.plan
        return FaultEngine(
            self.spec.faults, self.noise, plan.day0_s, plan.instance.day, self._in_state, self.mail.strike
        )

    def _in_state(self, state: str, order: str, leg: int) -> bool:
        return STATES[state](self, order, leg)

    def _refusers(self, carrier: str) -> frozenset[str]:
        return frozenset(s for s, refused in self.plan.hidden.refused.items() if carrier in refused)

    def send(self, agent: str, call: Call, deadline_s: float) -> int:
        """Send a call for an agent; returns its request id."""
        return self.gateway.send(agent, call, deadline_s)

    def lateness_s(self, carrier: str, order: str, leg: int) -> float:
        """Return how late this carrier's truck would be at the pickup if it were sent now."""
        return self.trucks.lateness_s(carrier, order, leg)

    def declare(self, agent: str, order: str) -> bool:
        """Record an agent's claim that an order is booked; return whether the world bears it out."""
        legs = range(len(self.orders[order].legs)) if order in self.orders else range(0)
        supported = all(self._booked(self.legs[order, leg]) for leg in legs)
        if not supported:
            self.claims[order] = self.claims.get(order, 0) + 1
        self.mail.state("declare", agent, order, -1, note="supported" if supported else "unsupported")
        return supported

    def _booked(self, leg: Leg) -> bool:
        return leg.status not in ("waiting", "failed") and self.appointed(leg)

    def appointed(self, leg: Leg) -> bool:
        """Return whether every stop of a leg that takes bookings has a confirmed one."""
        return all(self._has_confirmed(leg, stop) for stop in (Stop.PICKUP, Stop.DELIVERY) if leg.dock(stop))

    def _has_confirmed(self, leg: Leg, stop: Stop) -> bool:
        dock = self.docks[leg.dock(stop)]
        made = dock.of_stop(leg.order.id, leg.index, stop)
        return dock.spec.type is AppointmentType.FCFS or any(a.status is Status.CONFIRMED for a in made)

    def take_effect(self, agent: str, call: Call, snapshot_s: float) -> Body:
        """Let a call take effect at its vendor now; reads answer as of a snapshot."""
        if self._lives is not None and (absent := self._lives.absent(call.vendor)) is not None:
            return absent
        work = WORK[call.verb]
        if call.idempotency_key:
            return self._keys.answer(call, partial(work, self, agent, call, snapshot_s))
        return work(self, agent, call, snapshot_s)

    def down(self, vendor: str) -> bool:
        """Return whether a vendor is down now, by itself or by a fault."""
        now = self.clock.now
        own = any(start <= now < end for start, end in self.plan.outages.get(vendor, ()))
        return own or (self.faults is not None and self.faults.down(vendor, now))

    def pay(self, payer: str, payee: str, amount_cents: int, order: str, reason: str) -> None:
        """Book a payment; nothing is booked for nothing."""
        if amount_cents > 0:
            self.ledger.pay(self.clock.now, payer, payee, amount_cents, order, reason)

    def _detain(self, leg: Leg, waited_s: float) -> None:
        cents = detention_cents(self.carriers[leg.carrier].says_of(leg.order).fees, waited_s)
        self.pay(leg.order.agent, leg.carrier, cents, leg.order.id, "detention")

    def _road(self, leg: Leg, kind: str, stop: Stop, problem: str) -> None:
        order = leg.order
        status = Status.CONFIRMED if kind == "delivered" else Status.REJECTED
        self.mail.state(
            "state", order.agent, order.id, leg.index, stop.value, leg.carrier, -1, status, kind + " " + problem
        )
        if problem == TRUCK_LATE:
            self.mail.fault("late_truck", order.agent, order.id, leg.index, stop.value, leg.carrier, "road")
        if kind == "missed":
            turned_away(leg, stop, problem, self.carriers[leg.carrier], self.ledger, self.clock.now)
        self._on_road(leg, kind, problem)
        self.mail.send(Message(order.agent, 0.0, kind, leg.carrier, order.id, leg.index, stop, status, problem=problem))

    def settle(self) -> None:
        """Play everything that is still under way to its end."""
        self.clock.drain()
        for carrier in self.carriers.values():
            for load in carrier.tenders:
                if load.status is Status.CONFIRMED and not load.dispatched:
                    fee_cents = carrier.says_of(self.orders[load.order]).cancel_fee_cents
                    self.pay(load.agent, load.carrier, fee_cents, load.order, "truck not used")

    def outcomes(self) -> tuple[OrderOutcome, ...]:
        """Judge every order; call it after :meth:`settle`."""
        appointments: dict[str, list[Appointment]] = {}
        for dock in self.docks.values():
            for made in dock.appointments:
                appointments.setdefault(made.order, []).append(made)
        loads: dict[str, list[Tender]] = {}
        for carrier in self.carriers.values():
            for load in carrier.tenders:
                loads.setdefault(load.order, []).append(load)
        return tuple(self._outcome(o, appointments.get(o.id, []), loads.get(o.id, [])) for o in self.plan.orders)

    def _outcome(self, order: OrderPlan, appointments: list[Appointment], tenders: list[Tender]) -> OrderOutcome:
        legs = [self.legs[order.id, i] for i in range(len(order.legs))]
        payers = (order.agent,) if self.owners is None else self.spec.agents
        return judge_order(order, legs, appointments, tenders, self.ledger, self.claims.get(order.id, 0), payers)
