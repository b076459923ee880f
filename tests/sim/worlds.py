"""Small worlds: a calm one without any fault, a strategy over unruly ones, and ways to play them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from masim.env.core import Decision, Session, SessionOptions
from masim.sim.dists import Constant, Dist, Exponential, LogNormal
from masim.sim.spec import (
    CARRIER_VERBS,
    DOCK_VERBS,
    ApiSpec,
    AppointmentType,
    CarrierSpec,
    DockSpec,
    HiddenSpec,
    Instance,
    LegSpec,
    MessageSpec,
    OrderSpec,
    OutageSpec,
    RateLimit,
    StationSpec,
    Transient,
    WorldSpec,
)
from masim.sim.terms import Decline, DockRules, Life, LoadRules
from masim.sim.trace import TraceRow
from masim.units import HOUR, MINUTE

NO_ERRORS = Transient(0.0, 0.0, 0.0, MINUTE)


def apis(latency: Dist | None = None, **changes: Any) -> tuple[ApiSpec, ...]:
    """Return every endpoint with the same numbers."""
    base = {"latency": latency or Constant(1.0), "transient": NO_ERRORS, **changes}
    return tuple(ApiSpec(verb, **base) for verb in (*CARRIER_VERBS, *DOCK_VERBS))


def carrier(name: str, **changes: Any) -> CarrierSpec:
    """Return a carrier that accepts everything within a minute."""
    made = CarrierSpec(name, 20_000, 10.0, 1.0, Constant(MINUTE), 4 * HOUR, 15_000, Constant(2 * HOUR))
    return replace(made, **changes)


def dock(name: str, kind: AppointmentType = AppointmentType.AUTOMATIC, **changes: Any) -> DockSpec:
    """Return a dock that is open all day and has no other customers."""
    made = DockSpec(name, kind, 6 * HOUR, 22 * HOUR, HOUR, 2, 0.0, Constant(10 * MINUTE), hold_ttl_s=10 * MINUTE)
    return replace(made, **changes)


def leg(*docks: str) -> LegSpec:
    """Return a leg between two docks with a drive of two hours."""
    pickup, delivery = docks
    return LegSpec((pickup,), (delivery,), 12 * HOUR, 22 * HOUR, Constant(2 * HOUR), 2 * HOUR)


def calm(n_agents: int = 2, **changes: Any) -> WorldSpec:
    """Return a world in which nothing goes wrong: no faults, no lateness, no refusals, no contention."""
    made = WorldSpec(
        id="test/calm-v0",
        agents=tuple(f"booker_{i}" for i in range(n_agents)),
        campaign_days=2,
        day_start_s=6 * HOUR,
        booking_end_s=18 * HOUR,
        max_decisions=40,
        client_deadline_s=10.0,
        apis=apis(),
        carriers=(carrier("aster"), carrier("birch")),
        docks=(dock("plant"), dock("store", AppointmentType.DEFERRED)),
        shippers=("acme",),
        hidden=HiddenSpec((1.0, 1.0)),
        orders=OrderSpec(1, (leg("plant", "store"),), Constant(800.0), 3.0),
        messages=MessageSpec(Constant(1.0)),
        outages=None,
        late_grace_s=30 * MINUTE,
    )
    return replace(made, **changes)


SHARES = (("dry", 0.5), ("cold", 0.5))


def with_successor(docks: tuple[DockSpec, ...], at_s: float) -> tuple[DockSpec, ...]:
    """Let another dock of the same kind take the place of the first one."""
    first, *others = docks
    heir = replace(first, id="works", life=Life(joins_s=at_s))
    return (replace(first, life=replace(first.life, gone_s=at_s, successor="works")), *others, heir)


@st.composite
def unruly(draw: st.DrawFn) -> WorldSpec:
    """Return worlds with few places, any kind of dock, comings and goings, load types, and all faults at high rates."""
    kinds = st.sampled_from(list(AppointmentType))
    typed = draw(st.booleans())
    docks = tuple(
        dock(
            name,
            draw(kinds),
            loads=(LoadRules("cold", DockRules(lead_min_s=2 * HOUR), 700, 1),) if typed else (),
            life=Life(degrades_s=draw(st.sampled_from([None, 9 * HOUR]))),
            decline=Decline(2.0, 1),
            capacity=draw(st.integers(1, 2)),
            background_per_slot=draw(st.sampled_from([0.0, 0.5])),
            hold_ttl_s=draw(st.sampled_from([None, 30.0, 10 * MINUTE])),
            decision_delay=Exponential(draw(st.sampled_from([MINUTE, HOUR]))),
            slots_per_answer=draw(st.integers(1, 3)),
            cancel_fee_cents=draw(st.sampled_from([0, 5_000])),
            slot_s=draw(st.sampled_from([HOUR, 4 * HOUR])),
        )
        for name in ("plant", "store")
    )
    if draw(st.booleans()):
        docks = with_successor(docks, draw(st.sampled_from([7 * HOUR, 13 * HOUR])))
    endpoints = apis(
        LogNormal(1.0, draw(st.sampled_from([0.0, 2.0]))),
        transient=draw(st.sampled_from([NO_ERRORS, Transient(0.05, 0.5, 0.2, 5 * MINUTE)])),
        rate_limit=draw(st.sampled_from([None, RateLimit(1 / 60, 2), RateLimit(1 / 60, 1, retry_after=False)])),
        lost_request_p=draw(st.sampled_from([0.0, 0.1])),
        lost_response_p=draw(st.sampled_from([0.0, 0.3])),
        stale_age=draw(st.sampled_from([None, Exponential(10 * MINUTE)])),
        station=draw(st.sampled_from([None, StationSpec(1, Exponential(MINUTE)), StationSpec(1, Constant(5.0), 1)])),
    )
    legs = (leg("plant", "store"),) if draw(st.booleans()) else (leg("plant", "store"), leg("store", "plant"))
    return calm(
        draw(st.integers(1, 3)),
        id="test/unruly-v0",
        max_decisions=draw(st.integers(3, 30)),
        apis=endpoints,
        carriers=(carrier("aster", accept_p=0.5), carrier("birch", decision_delay=Exponential(HOUR))),
        docks=docks,
        shippers=("acme", "borealis"),
        hidden=HiddenSpec((0.9, 0.3), draw(st.integers(0, 1))),
        orders=OrderSpec(draw(st.integers(1, 2)), legs, LogNormal(800.0, 0.5), 1.2, SHARES if typed else ()),
        messages=MessageSpec(Exponential(30.0), draw(st.sampled_from([0.0, 0.3])), draw(st.sampled_from([0.0, 0.3]))),
        outages=draw(st.sampled_from([None, OutageSpec(2 * HOUR, Exponential(20 * MINUTE))])),
    )


Chooser = Callable[[Decision], int]


def by_script(script: Sequence[int]) -> Chooser:
    """Return a chooser that reads legal actions off a list of integers, round and round."""
    count = iter(range(10**9))

    def choose(decision: Decision) -> int:
        number = script[next(count) % len(script)]
        return int(decision.legal[number % len(decision.legal)])

    return choose


def at_random(seed: int) -> Chooser:
    """Return a chooser of uniform legal actions, keyed by agent and turn so that agents do not disturb each other."""

    def choose(decision: Decision) -> int:
        rng = np.random.default_rng((seed, decision.agent_index, decision.turn))
        return int(decision.legal[int(rng.integers(len(decision.legal)))])

    return choose


def rounds(session: Session, choose: Chooser) -> Iterator[float]:
    """Play a session to its end; yield the time of every batch of decisions."""
    while batch := session.advance():
        yield session.now
        for decision in batch:
            session.submit(decision.agent, choose(decision))


def play(spec: WorldSpec, choose: Chooser, seed: int = 1, day: int = 0, settle: str = "drain") -> Session:
    """Return a finished session."""
    session = Session(spec, Instance(seed, day), options=SessionOptions(settle=settle))
    for _ in rounds(session, choose):
        continue
    return session


def events(session: Session, event: str, agent: str = "") -> list[TraceRow]:
    """Return the trace rows of one kind, of one agent if named."""
    return [row for row in session.trace_rows if row.event == event and agent in ("", row.agent)]
