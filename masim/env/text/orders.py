"""What an agent knows of its orders, leg by leg: prices, tenders, appointments, lists, holds and trucks."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf

from masim.env.actions import STOPS
from masim.env.desk import DeskView
from masim.env.leg_view import NO, NONE, PENDING, UNKNOWN, YES, LegView, StopView
from masim.env.text.fence import plain
from masim.env.text.times import Times, span
from masim.env.view import AgentView
from masim.sim.spec import AppointmentType, DockSpec
from masim.units import duration_text

_TENDER = {
    UNKNOWN: "tender not answered, it may have arrived",
    PENDING: "tender pending",
    YES: "tender accepted",
    NO: "tender rejected or ended",
}
_DECIDES = {
    AppointmentType.AUTOMATIC: "decides at once",
    AppointmentType.DEFERRED: "decides later",
    AppointmentType.FCFS: "first come, first served",
    AppointmentType.CARRIER_CONFIRMATION_REQUIRED: "asks for your confirmation",
}
_APPOINTMENT = {
    NONE: "no appointment",
    UNKNOWN: "schedule not answered, it may have happened",
    PENDING: "appointment pending",
    YES: "appointment confirmed",
    NO: "appointment refused or cancelled",
}


def order_lines(view: AgentView, now_s: float, times: Times) -> Iterator[str]:
    """Yield the lines of all orders; one that is dispatched and declared has one line, and so has one on its way."""
    per_order = view.table.legs_per_order
    if not any(map(view.holds, range(len(view.orders)))):
        yield "you have no orders now"
    for k, order in enumerate(view.orders):
        if not view.holds(k):
            continue
        legs = view.legs[k * per_order : (k + 1) * per_order]
        claim = "declared" if view.declared[k] else "not declared"
        load = f", load {plain(order.load_type)}" if order.load_type else ""
        facts = f"{order.weight_kg:.0f} kg{load}, budget {order.budget_cents / 100:.2f} USD"
        head = f"order {k}: {plain(order.id)} of shipper {plain(order.shipper)}, {facts}, {claim}"
        if view.declared[k] and all(leg.dispatch == YES for leg in legs):
            yield f"{head}, every leg dispatched"
            continue
        if isinstance(view, DeskView) and k in view.leaving:
            yield f"{head}, on its way to somebody else"
            continue
        yield head
        for i, leg in enumerate(legs):
            yield from _leg(i, leg, view, now_s, times)


def _leg(index: int, leg: LegView, view: AgentView, now_s: float, times: Times) -> Iterator[str]:
    plan = leg.plan
    window = f"pickup from {times.at(plan.pickup_open_s)}, delivery by {times.at(plan.delivery_due_s)}"
    yield f" leg {index}: {window}, allow {duration_text(plan.transit_plan_s)} for the drive; {_truck(leg, view)}"
    news = [(c, _carrier(c, leg, view, now_s, times)) for c in range(len(view.carriers))]
    for c, parts in news:
        if parts:
            yield f"  {plain(view.carriers[c])}: {', '.join(parts)}"
    silent = [plain(view.carriers[c]) for c, parts in news if not parts]
    if silent:
        yield f"  nothing asked of: {', '.join(silent)}"
    docks = {dock.id: dock for dock in view.table.spec.docks}
    for which, stop in enumerate(leg.stops):
        if stop.dock:
            yield from _stop(STOPS[which].value, stop, docks, now_s, times)


def _truck(leg: LegView, view: AgentView) -> str:
    if leg.dispatch == NONE:
        return "no truck sent"
    carrier = plain(view.carriers[leg.dispatched_to])
    if leg.dispatch == UNKNOWN:
        return f"dispatch of {carrier} not answered, it may have happened"
    return f"truck of {carrier} sent" + {YES: ", delivered", NO: ", failed"}.get(leg.road, "")


def _carrier(c: int, leg: LegView, view: AgentView, now_s: float, times: Times) -> list[str]:
    parts = []
    if leg.price[c] > 0:
        until_s = float(leg.quoted_until_s[c])
        left = f"{span(until_s - now_s)} left" if until_s > now_s else "expired"
        parts.append(f"{leg.price[c] / 100:.2f} USD until {times.at(until_s)} ({left})")
    if leg.tender[c] != NONE:
        parts.append(_TENDER[int(leg.tender[c])])
    if leg.tries[c]:
        parts.append(f"{int(leg.tries[c])} tender{'s' if leg.tries[c] > 1 else ''} sent")
    if c in view.away_until_s:
        back_s = view.away_until_s[c]
        parts.append("gone for good" if isinf(back_s) else f"not there yet, try after {times.at(back_s)}")
    if c in view.told_down:
        parts.append("its status page said down")
    return parts


def _nature(dock: DockSpec) -> str:
    """Return how a dock decides, and whether it keeps slots for those who ask."""
    return _DECIDES[dock.type] + (", has holds" if dock.hold_ttl_s is not None else "")


def _stop(name: str, stop: StopView, docks: dict[str, DockSpec], now_s: float, times: Times) -> Iterator[str]:
    state = "appointment waits for your confirmation" if stop.unconfirmed else _APPOINTMENT[stop.state]
    booked = f" for {times.at(stop.booked.start_s)}" if stop.booked is not None else ""
    yield f"  {name} at {plain(stop.dock)} ({_nature(docks[stop.dock])}): {state}{booked}"
    if stop.held is not None:
        left_s = stop.held_until_s - now_s
        end = f"ends in {span(left_s)}" if left_s > 0 else "has ended"
        yield f"   hold for {times.at(stop.held.start_s)}, {span(now_s - stop.held_at_s)} old, {end}"
    if stop.slots:
        slots = [
            f"{rank} {times.at(slot.start_s)}{' (refused)' if slot.index in stop.refused else ''}"
            for rank, slot in enumerate(stop.slots)
        ]
        yield f"   slots listed {span(now_s - stop.slots_at_s)} ago: {', '.join(slots)}"
