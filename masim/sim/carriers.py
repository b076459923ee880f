"""Carriers: quotes, tenders and their decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from masim.rng import Noise
from masim.sim.clock import Clock
from masim.sim.dists import LogNormal
from masim.sim.past import Dated
from masim.sim.plan import OrderPlan
from masim.sim.spec import CarrierSpec, Status
from masim.sim.terms import CarrierLoad
from masim.sim.wire import Body, Call, Result

REFUSED = "shipper refuses carrier"


@dataclass(slots=True)
class Tender(Dated):
    """One load offered to one carrier: PENDING, then CONFIRMED, REJECTED or CANCELED."""

    carrier: str
    order: str
    leg: int
    agent: str
    price_cents: int
    dispatched: bool = False


class Carrier:
    """One carrier's desk for one day."""

    __slots__ = ("_by_leg", "_by_load", "_clock", "_noise", "_refused_by", "quotes", "spec", "tenders")

    def __init__(self, spec: CarrierSpec, clock: Clock, noise: Noise, refused_by: frozenset[str]) -> None:
        self.spec = spec
        self._clock = clock
        self._noise = noise
        self._refused_by = refused_by
        self._by_load = {own.load_type: own for own in spec.loads}
        self.quotes: dict[tuple[str, int], tuple[int, float]] = {}
        self.tenders: list[Tender] = []
        self._by_leg: dict[tuple[str, int], list[Tender]] = {}

    def quote(self, call: Call, order: OrderPlan) -> Body:
        """Name a price that is good until it expires; the same load gets the same price all day."""
        price = self.price_cents(order, call.leg)
        expires = self._clock.now + self.says_of(order).quote_ttl_s
        self.quotes[call.order, call.leg] = (price, expires)
        return Body(Result.SUCCESS, 200, price_cents=price, expires_s=expires)

    def says_of(self, order: OrderPlan) -> CarrierSpec | CarrierLoad:
        """Return what holds for an order: its ``quote_ttl_s``, ``cancel_fee_cents`` and ``fees``."""
        return self._by_load.get(order.load_type, self.spec)

    def price_cents(self, order: OrderPlan, leg: int) -> int:
        """Return today's price of a leg."""
        u = self._noise.uniform("price", self.spec.id, order.id, leg)
        factor = LogNormal(1.0, self.spec.price_sigma).ppf(u)
        return round(factor * (self.spec.base_cents + self.spec.cents_per_kg * order.weight_kg))

    def accepts(self, order: str, shipper: str, leg: int, nth: int) -> bool:
        """Return whether this carrier takes the nth tender of a leg."""
        if shipper in self._refused_by:
            return False
        return self._noise.uniform("accept", self.spec.id, order, leg, nth) < self.spec.accept_p

    def tender(self, call: Call, agent: str) -> tuple[Body, Tender | None]:
        """Take a load under decision. A second tender of the same load is a second load to the carrier."""
        quote = self.quotes.get((call.order, call.leg))
        if quote is None:
            return Body(Result.FAILURE, 404, problem="no quote"), None
        if quote[1] < self._clock.now:
            return Body(Result.FAILURE, 410, problem="quote expired"), None
        made = Tender(
            self.spec.id, call.order, call.leg, agent, quote[0], status=Status.PENDING, made_s=self._clock.now
        )
        self.tenders.append(made)
        self._by_leg.setdefault((made.order, made.leg), []).append(made)
        wait = self.spec.terms.retry_after_s
        number = f"{self.spec.id}/t{len(self.tenders) - 1}"
        return Body(Result.PENDING, 202, Status.PENDING, retry_after_s=wait, request=number), made

    def decision_delay_s(self, made: Tender, nth: int) -> float:
        """Return how long this carrier takes to decide a tender."""
        return self.spec.decision_delay.ppf(self._noise.uniform("decision", self.spec.id, made.order, made.leg, nth))

    def decide(self, made: Tender, shipper: str, nth: int) -> str:
        """Accept or reject; return the reason of a rejection."""
        if made.status is not Status.PENDING:
            return ""
        if shipper in self._refused_by:
            made.become(Status.REJECTED, self._clock.now)
            return REFUSED
        accepted = self.accepts(made.order, shipper, made.leg, nth)
        made.become(Status.CONFIRMED if accepted else Status.REJECTED, self._clock.now)
        return "" if accepted else "no truck"

    def find(self, call: Call) -> Sequence[Tender]:
        """Return all tenders of a leg, oldest first."""
        return self.of_leg(call.order, call.leg)

    def of_leg(self, order: str, leg: int) -> Sequence[Tender]:
        """Return all tenders of a leg, oldest first."""
        return self._by_leg.get((order, leg), ())

    def status(self, call: Call, snapshot_s: float) -> Body:
        """Say how the best open tender of a leg stands as of a snapshot, or how the last one ended."""
        said = [t.status_at(snapshot_s) for t in self.find(call) if t.made_s <= snapshot_s]
        best = next((wanted for wanted in (Status.CONFIRMED, Status.PENDING) if wanted in said), None)
        return Body(Result.SUCCESS, 200, best or (said[-1] if said else Status.NOT_SCHEDULED))

    def cancel(self, call: Call) -> tuple[Body, int]:
        """Cancel all open tenders of a leg; return the answer and for how many the fee is due."""
        open_ones = [t for t in self.find(call) if t.status in (Status.PENDING, Status.CONFIRMED) and not t.dispatched]
        if not open_ones:
            return Body(Result.FAILURE, 404, problem="no tender to cancel"), 0
        accepted = sum(t.status is Status.CONFIRMED for t in open_ones)
        for made in open_ones:
            made.become(Status.CANCELED, self._clock.now)
        return Body(Result.SUCCESS, 200, Status.CANCELED), accepted
