"""The peer of `masim bench world`: the same world rules, written the ordinary way with SimPy.

One generator process per call, per hold, per decision, per callback and per truck, each waiting with
``yield env.timeout(...)``; dictionaries for state; a list of dictionaries as the log. It plays the same load on the
same plan and takes the same keyed draws as masim, so every answer must be the same: tests/study/test_bench.py
compares them call by call. Nothing in it is slow on purpose: bookings are found by dictionary, not by search.

It covers what the benchmark's worlds use: no injected faults, no queueing stations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import simpy

from masim.rng import Noise
from masim.sim.dists import LogNormal
from masim.sim.plan import Plan
from masim.sim.spec import WRITE_VERBS, AppointmentType, DockSpec, Status, Verb, WorldSpec
from masim.sim.wire import Call, Stop

Answer = dict[str, Any]
OPEN = (Status.PENDING, Status.CONFIRMED, Status.UNCONFIRMED)


def said(result: str, code: int, status: str = "NOT_SCHEDULED", problem: str = "", **more: Any) -> Answer:
    """Return what a vendor says."""
    return {"result": result, "code": code, "status": status, "problem": problem, **more}


@dataclass
class Booking:
    """An appointment or a tender."""

    agent: str
    order: str
    leg: int
    stop: str
    vendor: str
    status: Status
    slot: int = -1
    price_cents: int = 0
    dispatched: bool = False


@dataclass
class Dock:
    """One dock's day."""

    spec: DockSpec
    first_s: float
    used: list[int]
    changes: list[tuple[float, int, int]] = field(default_factory=list)
    holds: dict[tuple[str, int, str], dict[str, Any]] = field(default_factory=dict)
    booked: dict[tuple[str, int, str], list[Booking]] = field(default_factory=lambda: defaultdict(list))

    def start_s(self, slot: int) -> float:
        return self.first_s + slot * self.spec.slot_s

    def take(self, now: float, slot: int, delta: int) -> None:
        self.used[slot] += delta
        self.changes.append((now, slot, delta))

    def refusal(self, now: float, slot: int) -> str:
        if not 0 <= slot < len(self.used):
            return "no such slot"
        if self.start_s(slot) <= now:
            return "slot is in the past"
        return "" if self.used[slot] < self.spec.capacity else "slot is taken"

    def listed(self, now: float, call: Call, snapshot_s: float) -> list[int]:
        used = list(self.used)
        for when, slot, delta in reversed(self.changes):
            if when <= snapshot_s:
                break
            used[slot] -= delta
        earliest = max(call.not_before_s, now)
        free = [i for i in range(len(used)) if used[i] < self.spec.capacity and self.start_s(i) >= earliest]
        return free[: self.spec.slots_per_answer]


class PeerWorld:
    """One day."""

    def __init__(
        self, spec: WorldSpec, plan: Plan, trace: bool, hear: Callable[[int, float, Answer], None] | None = None
    ) -> None:
        self.spec = spec
        self.plan = plan
        self.env = simpy.Environment(initial_time=plan.day0_s + spec.day_start_s)
        instance = plan.instance
        self.noise = Noise(instance.campaign_seed, f"{instance.namespace}/day{instance.day}")
        self.apis = {api.verb: api for api in spec.apis}
        self.carriers = {c.id: c for c in spec.carriers}
        self.orders = {order.id: order for order in plan.orders}
        self.quotes: dict[tuple[str, str, int], tuple[int, float]] = {}
        self.tenders: dict[tuple[str, str, int], list[Booking]] = defaultdict(list)
        self.docks = {d.id: Dock(d, plan.day0_s + d.open_s, [0] * _slots(d)) for d in spec.docks}
        self.buckets: dict[tuple[str, Verb], list[float]] = {}
        self.attempts: dict[tuple[Any, ...], int] = defaultdict(int)
        self.repeats: dict[tuple[Any, ...], int] = defaultdict(int)
        self.legs: dict[tuple[str, int], str] = {(o.id, i): "waiting" for o in plan.orders for i in range(len(o.legs))}
        self.carried: dict[tuple[str, int], str] = {}
        self.failures: dict[tuple[str, int], str] = {}
        self.cost: dict[tuple[str, str], int] = defaultdict(int)
        self.log: list[dict[str, Any]] | None = [] if trace else None
        self.hear = hear
        self.calls = 0

    def play(self, load: Iterator[tuple[float, str, Call]]) -> None:
        """Run a whole day: the load, everything that comes of it, and the trucks of the evening."""
        self.env.process(self.others())
        self.env.process(self.source(load))
        self.env.run()
        for (carrier, _, _), made in self.tenders.items():
            for load_ in made:
                if load_.status is Status.CONFIRMED and not load_.dispatched:
                    self.cost[load_.order, load_.agent] += self.carriers[carrier].cancel_fee_cents

    def source(self, load: Iterator[tuple[float, str, Call]]) -> Iterator[simpy.Event]:
        for t_s, agent, call in load:
            yield self.env.timeout(max(0.0, t_s - self.env.now))
            self.env.process(self.call(agent, call, self.calls))
            self.calls += 1

    def others(self) -> Iterator[simpy.Event]:
        for t_s, dock, slot in self.plan.background:
            yield self.env.timeout(max(0.0, t_s - self.env.now))
            if self.docks[dock].used[slot] < self.docks[dock].spec.capacity:
                self.docks[dock].take(self.env.now, slot, 1)

    # -- one call -------------------------------------------------------------------------------------------------

    def call(self, agent: str, call: Call, request: int) -> Iterator[simpy.Event]:
        env, api, deadline = self.env, self.apis[call.verb], self.spec.client_deadline_s
        sent = env.now
        key = (agent, call.verb, call.vendor, call.order, call.leg, call.stop, call.slot)
        u_latency, u_error, u_loss, u_stale = self.noise.uniforms("api", *key, self.attempts[key])
        self.attempts[key] += 1
        self.note("call", agent, call, request)
        refusal = self.refused(call)
        if refusal is not None:
            self.note("fault", agent, call, request, cause=refusal["problem"])
            yield env.timeout(0.05)
            self.end(agent, call, request, sent, refusal)
            return
        latency = api.latency.ppf(u_latency)
        late = latency > deadline
        write = call.verb in WRITE_VERBS
        if u_error < self.error_p(call):
            self.note("fault", agent, call, request, cause="transient")
            yield env.timeout(min(latency, deadline))
            self.end(agent, call, request, sent, timed_out() if late else said("FAILURE", 502, problem="bad gateway"))
            return
        if u_loss < api.lost_request_p:
            self.note("fault", agent, call, request, cause="lost request")
            yield env.timeout(deadline)
            self.end(agent, call, request, sent, timed_out())
            return
        lost = write and u_loss < api.lost_request_p + api.lost_response_p
        if lost or late:
            self.note("fault", agent, call, request, cause="lost response" if lost else "latency")
        work = 0.6 * latency
        if work > deadline:
            yield env.timeout(deadline)
            self.end(agent, call, request, sent, timed_out())
            yield env.timeout(work - deadline)
            self.effect(agent, call, request, u_stale)
            return
        yield env.timeout(work)
        answer = self.effect(agent, call, request, u_stale)
        if lost or late:
            yield env.timeout(deadline - work)
            answer = timed_out()
        else:
            yield env.timeout(latency - work)
        self.end(agent, call, request, sent, answer)

    def refused(self, call: Call) -> Answer | None:
        now = self.env.now
        if any(start <= now < end for start, end in self.plan.outages[call.vendor]):
            return said("FAILURE", 503, problem="service unavailable")
        limit = self.apis[call.verb].rate_limit
        if limit is None:
            return None
        bucket = self.buckets.setdefault((call.vendor, call.verb), [float(limit.burst), now])
        bucket[0] = min(float(limit.burst), bucket[0] + (now - bucket[1]) * limit.rate_per_s)
        bucket[1] = now
        if bucket[0] >= 1.0:
            bucket[0] -= 1.0
            return None
        return said("FAILURE", 429, problem="too many requests")

    def error_p(self, call: Call) -> float:
        setting = self.apis[call.verb].transient
        bad = bisect_right(self.plan.errors[call.vendor, setting], self.env.now) % 2
        return setting.bad_p if bad else setting.good_p

    def effect(self, agent: str, call: Call, request: int, u_stale: float) -> Answer:
        answer = self.handlers[call.verb](self, agent, call, u_stale)
        self.note("effect", agent, call, request, answer)
        return answer

    def end(self, agent: str, call: Call, request: int, sent: float, answer: Answer) -> None:
        self.note("answer", agent, call, request, answer, latency=self.env.now - sent)
        if self.hear is not None:
            self.hear(request, self.env.now, answer)

    def note(
        self,
        event: str,
        agent: str,
        call: Call,
        request: int,
        answer: Answer | None = None,
        cause: str = "",
        latency: float = 0.0,
    ) -> None:
        if self.log is None:
            return
        row = {
            "t_s": self.env.now,
            "event": event,
            "agent": agent,
            "order": call.order,
            "leg": call.leg,
            "stop": call.stop,
            "verb": call.verb,
            "vendor": call.vendor,
            "slot": call.slot,
            "latency_s": latency,
            "request_id": request,
            "cause_id": cause,
        }
        if answer is not None:
            row.update(status=answer["status"], code=answer["code"], note=answer["problem"])
        self.log.append(row)

    def event(self, event: str, b: Booking, note: str = "") -> None:
        if self.log is not None:
            row = {"t_s": self.env.now, "event": event, "agent": b.agent, "order": b.order, "leg": b.leg}
            row.update(stop=b.stop, vendor=b.vendor, slot=b.slot, status=b.status, note=note)
            self.log.append(row)

    # -- carriers -------------------------------------------------------------------------------------------------

    def quote(self, agent: str, call: Call, u_stale: float) -> Answer:
        carrier = self.carriers[call.vendor]
        factor = LogNormal(1.0, carrier.price_sigma).ppf(self.noise.uniform("price", call.vendor, call.order, call.leg))
        price = round(factor * (carrier.base_cents + carrier.cents_per_kg * self.orders[call.order].weight_kg))
        self.quotes[call.vendor, call.order, call.leg] = (price, self.env.now + carrier.quote_ttl_s)
        return said("SUCCESS", 200, price_cents=price)

    def tender(self, agent: str, call: Call, u_stale: float) -> Answer:
        price, expires = self.quotes.get((call.vendor, call.order, call.leg), (0, 0.0))
        if not price:
            return said("FAILURE", 404, problem="no quote")
        if expires < self.env.now:
            return said("FAILURE", 410, problem="quote expired")
        made = Booking(agent, call.order, call.leg, "", call.vendor, Status.PENDING, price_cents=price)
        mine = self.tenders[call.vendor, call.order, call.leg]
        mine.append(made)
        self.env.process(self.decide_tender(made, len(mine)))
        return said("PENDING", 202, "PENDING")

    def decide_tender(self, made: Booking, nth: int) -> Iterator[simpy.Event]:
        carrier = self.carriers[made.vendor]
        u = self.noise.uniform("decision", made.vendor, made.order, made.leg, nth)
        yield self.env.timeout(carrier.decision_delay.ppf(u))
        if made.status is not Status.PENDING:
            return
        problem = ""
        if made.vendor in self.plan.hidden.refused[self.orders[made.order].shipper]:
            problem = "shipper refuses carrier"
        elif self.noise.uniform("accept", made.vendor, made.order, made.leg, nth) >= carrier.accept_p:
            problem = "no truck"
        made.status = Status.REJECTED if problem else Status.CONFIRMED
        self.event("state", made, problem)
        self.callback("tender", made, problem)

    def tender_status(self, agent: str, call: Call, u_stale: float) -> Answer:
        states = [t.status for t in self.tenders[call.vendor, call.order, call.leg]]
        for wanted in (Status.CONFIRMED, Status.PENDING):
            if wanted in states:
                return said("SUCCESS", 200, wanted)
        return said("SUCCESS", 200, states[-1] if states else "NOT_SCHEDULED")

    def cancel_tender(self, agent: str, call: Call, u_stale: float) -> Answer:
        mine = self.tenders[call.vendor, call.order, call.leg]
        found = [t for t in mine if t.status in (Status.PENDING, Status.CONFIRMED) and not t.dispatched]
        if not found:
            return said("FAILURE", 404, problem="no tender to cancel")
        accepted = sum(t.status is Status.CONFIRMED for t in found)
        self.cost[call.order, agent] += accepted * self.carriers[call.vendor].cancel_fee_cents
        for made in found:
            made.status = Status.CANCELED
        return said("SUCCESS", 200, "CANCELED")

    def dispatch(self, agent: str, call: Call, u_stale: float) -> Answer:
        if self.legs[call.order, call.leg] != "waiting":
            return said("FAILURE", 409, problem="leg is already dispatched")
        mine = self.tenders[call.vendor, call.order, call.leg]
        accepted = [t for t in mine if t.status is Status.CONFIRMED]
        if not accepted:
            return said("FAILURE", 404, problem="no accepted tender")
        if not all(self.confirmed(call.order, call.leg, stop) for stop in (Stop.PICKUP, Stop.DELIVERY)):
            return said("FAILURE", 422, problem="a stop has no confirmed appointment")
        accepted[0].dispatched = True
        self.legs[call.order, call.leg] = "under_way"
        self.carried[call.order, call.leg] = call.vendor
        self.cost[call.order, agent] += accepted[0].price_cents
        self.env.process(self.truck(accepted[0]))
        return said("SUCCESS", 200, "CONFIRMED")

    def track(self, agent: str, call: Call, u_stale: float) -> Answer:
        leg = (call.order, call.leg)
        status = "CONFIRMED" if leg in self.carried else "NOT_SCHEDULED"
        return said("SUCCESS", 200, status, self.failures.get(leg) or self.legs[leg])

    # -- docks ----------------------------------------------------------------------------------------------------

    def availability(self, agent: str, call: Call, u_stale: float) -> Answer:
        dock, now, stale = self.docks[call.vendor], self.env.now, self.apis[call.verb].stale_age
        slots = dock.listed(now, call, now if stale is None else now - stale.ppf(u_stale))
        if self.log is not None and slots != dock.listed(now, call, now):
            made = Booking(agent, call.order, call.leg, call.stop, call.vendor, Status.NOT_SCHEDULED)
            self.event("fault", made, "stale read")
        return said("SUCCESS", 200, slots=slots)

    def hold(self, agent: str, call: Call, u_stale: float) -> Answer:
        dock, now, key = self.docks[call.vendor], self.env.now, (call.order, call.leg, call.stop)
        if dock.spec.hold_ttl_s is None:
            return said("FAILURE", 405, problem="this dock has no holds")
        held = dock.holds.get(key)
        if held is not None and held["deciding"]:
            return said("FAILURE", 409, problem="decision pending")
        problem = dock.refusal(now, call.slot)
        if problem and not (problem == "slot is taken" and held is not None and held["slot"] == call.slot):
            return said("FAILURE", 409, problem=problem)
        self.release(dock, key)
        held = dock.holds[key] = {"slot": call.slot, "deciding": False}
        dock.take(now, call.slot, 1)
        self.env.process(self.expire(dock, key, held))
        return said("SUCCESS", 200, slot=call.slot)

    def expire(self, dock: Dock, key: tuple[str, int, str], held: dict[str, Any]) -> Iterator[simpy.Event]:
        yield self.env.timeout(dock.spec.hold_ttl_s)
        if dock.holds.get(key) is held and not held["deciding"]:
            self.release(dock, key)

    def release(self, dock: Dock, key: tuple[str, int, str]) -> None:
        held = dock.holds.pop(key, None)
        if held is not None:
            dock.take(self.env.now, held["slot"], -1)

    def schedule(self, agent: str, call: Call, u_stale: float) -> Answer:
        dock, key = self.docks[call.vendor], (call.order, call.leg, call.stop)
        held = dock.holds.get(key)
        own = held is not None and held["slot"] == call.slot
        problem = "" if own else dock.refusal(self.env.now, call.slot)
        if problem:
            return said("FAILURE", 409, problem=problem)
        made = Booking(agent, call.order, call.leg, call.stop, call.vendor, Status.PENDING, call.slot)
        dock.booked[key].append(made)
        if dock.spec.type is AppointmentType.DEFERRED:
            if own and held is not None:
                held["deciding"] = True
            self.env.process(self.decide_booking(dock, made, len(dock.booked[key])))
            return said("PENDING", 202, "PENDING", slot=call.slot)
        if own:
            self.release(dock, key)
        dock.take(self.env.now, call.slot, 1)
        made.status = Status.CONFIRMED
        if dock.spec.type is AppointmentType.CARRIER_CONFIRMATION_REQUIRED:
            made.status = Status.UNCONFIRMED
            self.env.process(self.decide_booking(dock, made, len(dock.booked[key])))
        return said("SUCCESS", 200, made.status, slot=call.slot)

    def decide_booking(self, dock: Dock, made: Booking, tries: int) -> Iterator[simpy.Event]:
        u = self.noise.uniform("dock decision", made.vendor, made.order, made.leg, made.stop, tries)
        yield self.env.timeout(dock.spec.decision_delay.ppf(u))
        if made.status not in (Status.PENDING, Status.UNCONFIRMED):
            return
        if made.status is Status.UNCONFIRMED:
            made.status = Status.CONFIRMED
        else:
            key = (made.order, made.leg, made.stop)
            held = dock.holds.get(key)
            mine = held is not None and held["slot"] == made.slot
            if mine:
                self.release(dock, key)
            if mine or not dock.refusal(self.env.now, made.slot):
                dock.take(self.env.now, made.slot, 1)
                made.status = Status.CONFIRMED
            else:
                made.status = Status.REJECTED
        self.event("state", made)
        self.callback("appointment", made)

    def open_ones(self, call: Call) -> list[Booking]:
        return [a for a in self.docks[call.vendor].booked[call.order, call.leg, call.stop] if a.status in OPEN]

    def reschedule(self, agent: str, call: Call, u_stale: float) -> Answer:
        dock, key, found = self.docks[call.vendor], (call.order, call.leg, call.stop), self.open_ones(call)
        if not found:
            return said("FAILURE", 404, problem="no appointment to move")
        made, held = found[-1], dock.holds.get(key)
        problem = dock.refusal(self.env.now, call.slot)
        if problem and not (problem == "slot is taken" and held is not None and held["slot"] == call.slot):
            return said("FAILURE", 409, made.status, problem)
        if made.status is Status.PENDING:
            return said("FAILURE", 409, "PENDING", "decision pending")
        if held is not None and held["slot"] == call.slot:
            self.release(dock, key)
        dock.take(self.env.now, call.slot, 1)
        dock.take(self.env.now, made.slot, -1)
        made.slot = call.slot
        return said("SUCCESS", 200, made.status, slot=call.slot)

    def cancel_appointment(self, agent: str, call: Call, u_stale: float) -> Answer:
        dock, found = self.docks[call.vendor], self.open_ones(call)
        for made in found:
            if made.status is not Status.PENDING:
                dock.take(self.env.now, made.slot, -1)
            made.status = Status.CANCELED
        self.release(dock, (call.order, call.leg, call.stop))
        self.cost[call.order, agent] += len(found) * dock.spec.cancel_fee_cents
        if not found:
            return said("FAILURE", 404, problem="no appointment to cancel")
        return said("SUCCESS", 200, "CANCELED")

    def appointment_details(self, agent: str, call: Call, u_stale: float) -> Answer:
        found = self.open_ones(call)
        if found:
            return said("SUCCESS", 200, found[-1].status, slot=found[-1].slot)
        ended = self.docks[call.vendor].booked[call.order, call.leg, call.stop]
        return said("SUCCESS", 200, ended[-1].status if ended else "NOT_SCHEDULED")

    def confirmed(self, order: str, leg: int, stop: Stop) -> list[float]:
        plan = self.orders[order].legs[leg]
        dock = self.docks[plan.pickup_dock if stop is Stop.PICKUP else plan.delivery_dock]
        return [dock.start_s(a.slot) for a in dock.booked[order, leg, stop] if a.status is Status.CONFIRMED]

    # -- callbacks and trucks -------------------------------------------------------------------------------------

    def callback(self, kind: str, b: Booking, problem: str = "", vendor: str = "") -> None:
        key = (kind, vendor or b.vendor, b.order, b.leg, b.stop, b.status)
        u_delay, u_lost, u_twice, _ = self.noise.uniforms("message", *key, self.repeats[key])
        self.repeats[key] += 1
        if u_lost < self.spec.messages.lost_p:
            self.event("fault", b, "callback lost")
            return
        delay = self.spec.messages.delay.ppf(u_delay)
        self.env.process(self.arrive(delay, b, f"{kind} {problem}"))
        if u_twice < self.spec.messages.duplicate_p:
            self.event("fault", b, "callback duplicate")
            self.env.process(self.arrive(2.0 * delay, b, f"{kind} {problem}"))

    def arrive(self, delay: float, b: Booking, text: str) -> Iterator[simpy.Event]:
        yield self.env.timeout(delay)
        self.event("message", b, text)

    def truck(self, load: Booking) -> Iterator[simpy.Event]:
        env, leg, grace = self.env, (load.order, load.leg), self.spec.late_grace_s
        plan = self.orders[load.order].legs[load.leg]
        planned = max(min(self.confirmed(*leg, Stop.PICKUP)), env.now)
        u_on_time, u_late, _, _ = self.noise.uniforms("truck", load.vendor, *leg)
        on_time = u_on_time < self.plan.hidden.on_time_p[load.vendor]
        late = 0.0 if on_time else self.carriers[load.vendor].late_s.ppf(u_late)
        yield env.timeout(planned + late - env.now)
        before = self.legs.get((load.order, load.leg - 1), "delivered")
        if before != "delivered":
            self.missed(load, Stop.PICKUP, "freight_not_there")
            return
        starts = [start for start in self.confirmed(*leg, Stop.PICKUP) if env.now <= start + grace]
        if not starts:
            gone = env.now > planned + grace
            self.missed(load, Stop.PICKUP, "truck_late" if gone else "no_pickup_appointment")
            return
        yield env.timeout(max(env.now, min(starts)) + plan.transit_s - env.now)
        starts = [start for start in self.confirmed(*leg, Stop.DELIVERY) if env.now <= start + grace]
        served = max(env.now, min(starts)) if starts else -1.0
        if served < 0.0 or served > plan.delivery_due_s:
            self.missed(load, Stop.DELIVERY, "no_delivery_appointment")
            return
        yield env.timeout(served - env.now)
        self.legs[leg] = "delivered"
        self.report("delivered", load, Stop.DELIVERY, Status.CONFIRMED, "")

    def missed(self, load: Booking, stop: Stop, problem: str) -> None:
        leg = (load.order, load.leg)
        self.legs[leg] = "failed"
        self.failures[leg] = problem
        self.report("missed", load, stop, Status.REJECTED, problem)

    def report(self, kind: str, load: Booking, stop: Stop, status: Status, problem: str) -> None:
        told = Booking(self.orders[load.order].agent, load.order, load.leg, stop, load.vendor, status)
        self.event("state", told, f"{kind} {problem}")
        if problem == "truck_late":
            self.event("fault", told, "late truck")
        self.callback(kind, told, problem)

    def outcomes(self) -> dict[str, tuple[bool, int]]:
        """Return per order whether it was completed, and what its agent paid."""
        return {
            order.id: (
                all(self.legs[order.id, i] == "delivered" for i in range(len(order.legs))),
                self.cost[order.id, order.agent],
            )
            for order in self.plan.orders
        }

    handlers: ClassVar[dict[Verb, Callable[..., Answer]]] = {
        Verb.QUOTE: quote,
        Verb.TENDER: tender,
        Verb.TENDER_STATUS: tender_status,
        Verb.CANCEL_TENDER: cancel_tender,
        Verb.DISPATCH: dispatch,
        Verb.TRACK: track,
        Verb.AVAILABILITY: availability,
        Verb.HOLD: hold,
        Verb.SCHEDULE: schedule,
        Verb.RESCHEDULE: reschedule,
        Verb.CANCEL_APPOINTMENT: cancel_appointment,
        Verb.APPOINTMENT_DETAILS: appointment_details,
    }


def timed_out() -> Answer:
    """Return what a caller sees whose deadline passes."""
    return said("TIMEOUT", 0, problem="no answer within the deadline")


def _slots(spec: DockSpec) -> int:
    return int((spec.close_s - spec.open_s) / spec.slot_s)
