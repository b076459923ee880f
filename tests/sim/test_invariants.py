"""What holds in every world, whatever the agents do (random worlds, random actions).

1. A slot never holds more than its capacity and never less than nothing; what is taken is accounted for at the end.
2. A hold expires exactly once.
   Loads of a type with places of its own take no more than these; a dock that is gone keeps nothing for who waits.
3. The money ledger sums to zero and pays no negative amounts.
4. Time never goes back, neither for decisions nor in the trace.
5. Every effect belongs to one call and has at most one cause, and every call ends exactly once.
6. The trace is byte-equal for the same instance and different for another.
7. Nothing is completed without a confirmed appointment at every stop; nobody acts beyond the limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sim.worlds import apis, at_random, by_script, calm, events, play, rounds, unruly

from masim.env.core import Session
from masim.sim.dists import LogNormal
from masim.sim.docks import Dock
from masim.sim.holds import Hold, Holds
from masim.sim.spec import AppointmentType, Instance, Status, WorldSpec
from masim.sim.wire import Stop

BOOKED = (Status.CONFIRMED, Status.UNCONFIRMED)
STOPS = (Stop.PICKUP, Stop.DELIVERY)
SCRIPTS = st.lists(st.integers(0, 10_000), min_size=1, max_size=40)
RANDOM = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture
def expiries() -> Iterator[list[Hold]]:
    """Record every hold that the clock ends."""
    found: list[Hold] = []
    original = Holds._expire

    def expire(holds: Holds, hold: Hold) -> None:
        if hold.live:
            found.append(hold)
        original(holds, hold)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Holds, "_expire", expire)
        yield found


def booked_at(spec: WorldSpec, dock: str) -> bool:
    """Return whether a dock has appointments at all."""
    return any(d.id == dock and d.type is not AppointmentType.FCFS for d in spec.docks)


def background_of(session: Session, dock: Dock) -> Counter[int]:
    """Return how many other shippers hold each slot: what was taken and belongs to nobody known."""
    known = Counter(a.slot for a in dock.appointments if a.status in (Status.CONFIRMED, Status.UNCONFIRMED)) + Counter(
        hold.slot for hold in dock.holds.values()
    )
    return Counter({slot: dock.places.used[slot] - known[slot] for slot in range(dock.n_slots)})


def check_quotas(session: Session, dock: Dock) -> None:
    """What each load type has taken is what its appointments and holds say, and never more than its places."""
    load_of = {order.id: order.load_type for order in session.plan.orders}
    for load_type, (most, quota) in dock._quotas.items():
        taken = Counter(a.slot for a in dock.appointments if a.status in BOOKED and load_of[a.order] == load_type)
        taken += Counter(hold.slot for hold in dock.holds.values() if load_of[hold.key[0]] == load_type)
        assert quota.used == [taken[slot] for slot in range(dock.n_slots)]
        assert max(quota.used, default=0) <= most
    life = dock.spec.life
    waiting = {leg.order.id for leg in session.world.legs.values() if leg.status == "waiting"}
    if life.gone_s is not None and life.gone_s <= session.now:
        assert not any(a.status in BOOKED and a.order in waiting for a in dock.appointments)


@RANDOM
@given(unruly(), SCRIPTS, st.integers(0, 5))
def test_slots_and_money_and_time(spec: WorldSpec, script: list[int], seed: int) -> None:
    session = Session(spec, Instance(seed, 0))
    times = list(rounds(session, by_script(script)))
    assert times == sorted(times)
    in_order = [row.t_s for row in session.trace_rows if row.event != "outcome"]
    assert in_order == sorted(in_order)
    for dock in session.world.docks.values():
        used = Counter[int]()
        for _, slot, delta in dock.places.log:
            used[slot] += delta
            assert 0 <= used[slot] <= dock.spec.capacity
        check_quotas(session, dock)
        asked = Counter(slot for _, name, slot in session.plan.background if name == dock.spec.id)
        for slot, others in background_of(session, dock).items():
            assert 0 <= others <= asked[slot]
    ledger = session.world.ledger
    assert sum(ledger.balances().values()) == 0
    assert all(entry.amount_cents > 0 for entry in ledger.entries)


@RANDOM
@given(unruly(), SCRIPTS, st.integers(0, 5))
def test_calls_effects_and_answers(spec: WorldSpec, script: list[int], seed: int) -> None:
    session = play(spec, by_script(script), seed)
    calls = Counter(row.request_id for row in events(session, "call"))
    answers = Counter(row.request_id for row in events(session, "answer"))
    effects = Counter(row.request_id for row in events(session, "effect"))
    assert calls == answers == Counter(range(session.world.gateway.calls))
    assert all(effects[request] <= 1 for request in effects) and set(effects) <= set(calls)
    causes: dict[int, set[str]] = {}
    for row in session.trace_rows:
        if row.request_id >= 0 and row.cause_id and row.event in ("effect", "answer", "fault"):
            causes.setdefault(row.request_id, set()).add(row.cause_id)
    assert all(len(found) == 1 for found in causes.values())
    assert len({cause for found in causes.values() for cause in found}) == len(causes)
    limit = spec.client_deadline_s + 1e-6
    assert all(0.0 <= row.latency_s <= limit for row in events(session, "answer"))
    assert all(session.decisions(agent) <= spec.max_decisions for agent in spec.agents)


@RANDOM
@given(unruly(), st.integers(0, 1000), st.integers(0, 1))
def test_the_trace_is_a_function_of_the_instance(spec: WorldSpec, seed: int, day: int) -> None:
    first, second = (play(spec, at_random(seed), seed, day) for _ in range(2))
    assert repr(first.trace_rows).encode() == repr(second.trace_rows).encode()
    assert first.reset_digest() == second.reset_digest()
    for other in (Instance(seed + 1, day), Instance(seed, 1 - day), Instance(seed, day, "train")):
        assert Session(spec, other).reset_digest() != first.reset_digest()


def test_another_instance_plays_otherwise() -> None:
    spec = calm(apis=apis(LogNormal(1.0, 1.0)))
    played = {repr(play(spec, at_random(3), seed, day).trace_rows) for seed in range(4) for day in range(2)}
    assert len(played) == 8


@RANDOM
@given(unruly(), SCRIPTS, st.sampled_from(["drain", "cut"]))
def test_completion_is_earned(spec: WorldSpec, script: list[int], settle: str) -> None:
    session = play(spec, by_script(script), settle=settle)
    for outcome in session.outcomes():
        legs = [leg for (order, _), leg in session.world.legs.items() if order == outcome.order]
        assert outcome.completed == all(leg.status == "delivered" for leg in legs)
        assert not outcome.safe or outcome.completed
        for leg in legs:
            if leg.status == "delivered":
                assert {a.stop for a in leg.used} == {s for s in STOPS if booked_at(spec, leg.dock(s))}
                assert leg.resolved_s <= leg.plan.delivery_due_s


def test_a_hold_expires_exactly_once(expiries: list[Hold]) -> None:
    total = 0
    for seed in range(12):
        session = play(calm(3), at_random(seed), seed)
        total += len(expiries)
        assert len({id(hold) for hold in expiries}) == len(expiries)
        assert all(
            hold.expires_s == float("inf") for dock in session.world.docks.values() for hold in dock.holds.values()
        )
        expiries.clear()
    assert total > 10
