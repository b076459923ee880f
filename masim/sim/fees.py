"""Fees of the road: detention, and trucks that were ordered and turned away."""

from __future__ import annotations

from math import ceil

from masim.sim.carriers import Carrier
from masim.sim.ledger import Ledger
from masim.sim.terms import Fees
from masim.sim.trucks import TRUCK_LATE, Leg
from masim.sim.wire import Stop
from masim.units import HOUR


def detention_cents(fees: Fees, waited_s: float) -> int:
    """Return what a wait at a dock costs: nothing for the free time, then by the second, rounded up to a cent."""
    over_s = max(0.0, waited_s - fees.detention_free_s)
    return ceil(over_s * fees.detention_cents_per_h / HOUR - 1e-9)


def turned_away(leg: Leg, stop: Stop, problem: str, carrier: Carrier, ledger: Ledger, now_s: float) -> None:
    """Take the freight back and charge the truck, where the load was not there for a truck that came in time."""
    tonu = carrier.says_of(leg.order).fees.tonu_cents
    if tonu is None or stop is not Stop.PICKUP or problem == TRUCK_LATE:
        return
    order = leg.order
    freight = next(t.price_cents for t in carrier.of_leg(order.id, leg.index) if t.dispatched)
    ledger.pay(now_s, leg.carrier, order.agent, freight, order.id, "freight refunded")
    ledger.pay(now_s, order.agent, leg.carrier, tonu, order.id, "truck turned away")
