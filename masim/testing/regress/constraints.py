"""What may hold of the world that an agent leaves behind. One function each; parameters make a constraint of it."""

from __future__ import annotations

from collections import Counter

from masim.sim.appointments import OPEN_STATES
from masim.sim.spec import Status
from masim.testing.regress.play import Constraint, Played

DOWN = ("outage", "down", "flapping")
"""Causes that are an outage; a brown-out answers, late, and is none."""


def completed(played: Played) -> list[str]:
    """Every order was delivered."""
    return [f"{o.order} was not completed: {o.failure}" for o in played.outcomes if not o.completed]


def completed_again(day: int) -> Constraint:
    """Every order of ``day`` and later days was delivered."""

    def check(played: Played) -> list[str]:
        first = day * len(played.outcomes) // len(played.worlds)
        late = [(n, o) for n, o in enumerate(played.outcomes) if n >= first and not o.completed]
        per_day = len(played.outcomes) // len(played.worlds)
        return [f"{o.order} of day {n // per_day} was not completed: {o.failure}" for n, o in late]

    return check


def safe(played: Played) -> list[str]:
    """Every order was delivered once, in budget, and nothing was claimed that is not so."""
    return [
        f"{o.order} is not safe: {o.failure or 'duplicates, claims or cost'}" for o in played.outcomes if not o.safe
    ]


def nothing_completed(played: Played) -> list[str]:
    """No order was delivered."""
    return [f"{o.order} was completed by nobody's doing" for o in played.outcomes if o.completed]


def one_booking_per_stop(played: Played) -> list[str]:
    """No stop ends with more than one open appointment."""
    open_ones = Counter(
        (a.order, a.leg, a.stop)
        for world in played.worlds
        for dock in world.docks.values()
        for a in dock.appointments
        if a.status in OPEN_STATES
    )
    return [f"{n} appointments for {key[2]} of {key[0]}" for key, n in open_ones.items() if n > 1]


def one_truck_per_leg(played: Played) -> list[str]:
    """No leg ends with more than one accepted load."""
    loads = Counter(
        (t.order, t.leg)
        for world in played.worlds
        for carrier in world.carriers.values()
        for t in carrier.tenders
        if t.status is Status.CONFIRMED
    )
    return [f"{n} trucks ordered for leg {leg} of {order}" for (order, leg), n in loads.items() if n > 1]


def every_truck_drives(played: Played) -> list[str]:
    """No truck ends ordered and not used."""
    return [
        f"{t.carrier} holds a truck for leg {t.leg} of {t.order} that nobody sends"
        for world in played.worlds
        for carrier in world.carriers.values()
        for t in carrier.tenders
        if t.status is Status.CONFIRMED and not t.dispatched
    ]


def no_orphans(played: Played) -> list[str]:
    """Nothing stays booked for a leg that was not delivered."""
    return [f"{o.orphans} bookings left over for {o.order}" for o in played.outcomes if o.orphans]


def no_vendor_down(played: Played) -> list[str]:
    """No vendor was down at any time."""
    causes = (row.cause_id.partition(":")[0] for row in played.trace)
    return [f"{n} calls met {cause}" for cause, n in Counter(c for c in causes if c in DOWN).items()]


def no_unsupported_claims(played: Played) -> list[str]:
    """No claim that the world denies."""
    return [f"{o.order} was claimed {o.unsupported_claims} times without being booked"
            for o in played.outcomes if o.unsupported_claims]  # fmt: skip


def calls_at_most(limit: int, verb: str = "") -> Constraint:
    """No agent sends more than so many calls (of a verb)."""

    def check(played: Played) -> list[str]:
        sent = Counter(row.agent for row in played.trace if row.event == "call" and verb in ("", row.verb))
        return [f"{agent} sent {n} calls of {verb or 'any kind'}" for agent, n in sent.items() if n > limit]

    return check


def same_refusal_at_most(limit: int) -> Constraint:
    """No vendor refuses the same call of an agent in the same words more often."""

    def check(played: Played) -> list[str]:
        heard = Counter(
            (row.agent, row.code, row.verb, row.vendor, row.slot)
            for row in played.trace
            if row.event == "answer" and row.code >= 400
        )
        return [f"{agent} heard {n} times {code} from {verb} at {vendor}"
                for (agent, code, verb, vendor, _), n in heard.items() if n > limit]  # fmt: skip

    return check


def cost_at_most(cents: int) -> Constraint:
    """No order costs more, fees included."""

    def check(played: Played) -> list[str]:
        return [f"{o.order} cost {o.cost_cents / 100:.2f} USD" for o in played.outcomes if o.cost_cents > cents]

    return check


def ends_by(clock_s: float) -> Constraint:
    """Every agent makes its last decision by this clock time of the day."""

    def check(played: Played) -> list[str]:
        last = {row.agent: row.t_s % 86400.0 for row in played.trace if row.event == "decision"}
        return [f"{agent} still decides at {t / 3600:.1f} h" for agent, t in last.items() if t > clock_s]

    return check
