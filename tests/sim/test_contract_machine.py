"""The invariants of the contract over random operation sequences, called directly at the vendors of one world.

1. A slot never holds more than its capacity, and what is taken is accounted for by appointments, holds and others.
2. A hold ends exactly once: when it is due no live hold is left over.
3. Every effect in the trace belongs to one call; a replayed key makes no appointment, no tender and no entry.
4. The ledger sums to zero, and time never goes back.
5. While a change is under decision the old slot stays taken.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sim.desk import Desk
from sim.worlds import calm, carrier, dock

from masim.sim.dists import Constant
from masim.sim.spec import AppointmentType, Status, Verb
from masim.sim.terms import Decisions, DockRules, Fees, KeyRule, Life, LoadRules, Terms
from masim.sim.wire import Stop
from masim.units import HOUR, MINUTE

BOOKED = (Status.CONFIRMED, Status.UNCONFIRMED)
DOCK_CALLS = (
    Verb.HOLD,
    Verb.SCHEDULE,
    Verb.RESCHEDULE,
    Verb.CANCEL_APPOINTMENT,
    Verb.CONFIRM_APPOINTMENT,
    Verb.APPOINTMENT_DETAILS,
)
CARRIER_CALLS = (Verb.QUOTE, Verb.TENDER, Verb.TENDER_STATUS, Verb.CANCEL_TENDER, Verb.DISPATCH)
OWNERS = st.sampled_from(["booker_0", "booker_1", "booker_2"])
KEYS = st.sampled_from(["", "k1", "k2"])


class Contract(RuleBasedStateMachine):
    """One world under arbitrary calls; few slots and one place each, so that everybody is in everybody's way."""

    @initialize(
        kind=st.sampled_from(AppointmentType),
        keys=st.sampled_from(KeyRule),
        way=st.sampled_from(Decisions),
        ttl=st.sampled_from([MINUTE, 2 * HOUR]),
        gone_s=st.sampled_from([7 * HOUR, 15 * HOUR, 20 * HOUR]),
    )
    def start(self, kind: AppointmentType, keys: KeyRule, way: Decisions, ttl: float, gone_s: float) -> None:
        terms = Terms(way, key_rule=keys, key_ttl_s=30 * MINUTE if keys is KeyRule.EXPIRES else None)
        rules = DockRules(
            confirm_by_s=2 * HOUR if kind is AppointmentType.CARRIER_CONFIRMATION_REQUIRED else None,
            changes_decided=kind is AppointmentType.DEFERRED,
            cancel_free_s=HOUR,
            dwell=Constant(3 * HOUR),
        )
        made = dock(
            "plant", kind, slot_s=4 * HOUR, capacity=1, hold_ttl_s=ttl, cancel_fee_cents=100, terms=terms, rules=rules
        )
        fees = Fees(HOUR, 5_000, 15_000)
        vendors = (
            carrier("aster", terms=terms, fees=fees, life=Life(gone_s=13 * HOUR, successor="birch")),
            carrier("birch", terms=terms, fees=fees, accept_p=0.5),
        )
        cold = LoadRules("cold", replace(rules, lead_min_s=HOUR), capacity=1)
        heir = replace(made, id="works", life=Life(joins_s=gone_s))
        made = replace(made, loads=(cold,), life=Life(gone_s=gone_s, successor="works"))
        spec = calm(3, docks=(made, heir, dock("store")), carriers=vendors)
        self.desk = Desk(replace(spec, orders=replace(spec.orders, load_types=(("dry", 0.5), ("cold", 0.5)))))
        self.last_s = self.desk.now
        self.plant = self.desk.world.docks["plant"]

    def made(self) -> tuple[int, ...]:
        """Count everything that an effect can leave behind."""
        world = self.desk.world
        carriers = [len(c.tenders) for c in world.carriers.values()]
        return (len(self.plant.appointments), *carriers, len(world.ledger.entries))

    def call(self, verb: Verb, vendor: str, stop: Stop, slot: int, owner: str, key: str) -> None:
        more = {"agent": owner, "order": f"{owner}-order_0", "idempotency_key": key}
        deadline = self.desk.now + 0.6
        self.desk.send(verb, vendor, stop, slot, **more)
        self.desk.until(deadline - 0.05)
        before = self.made()
        self.desk.until(deadline + 0.6)
        if self.desk.answers[-1].body.replayed:
            assert key and self.made() == before

    @rule(verb=st.sampled_from(DOCK_CALLS), slot=st.integers(0, 3), owner=OWNERS, key=KEYS)
    def at_the_dock(self, verb: Verb, slot: int, owner: str, key: str) -> None:
        self.call(verb, "plant", Stop.PICKUP, slot, owner, key)

    @rule(verb=st.sampled_from(CARRIER_CALLS), vendor=st.sampled_from(["aster", "birch"]), owner=OWNERS, key=KEYS)
    def at_a_carrier(self, verb: Verb, vendor: str, owner: str, key: str) -> None:
        self.call(verb, vendor, Stop.NONE, -1, owner, key)

    @rule(minutes=st.sampled_from([1, 15, 150]))
    def wait(self, minutes: int) -> None:
        self.desk.after(minutes * MINUTE)

    @rule(slot=st.integers(0, 3))
    def somebody_else_books(self, slot: int) -> None:
        if self.plant.start_s(slot) > self.desk.now:
            self.plant.background(slot)

    @invariant()
    def places_are_accounted_for(self) -> None:
        used = Counter(a.slot for a in self.plant.appointments if a.status in BOOKED)
        used += Counter(hold.slot for hold in self.plant.holds.values())
        for slot in range(self.plant.n_slots):
            assert 0 <= used[slot] <= self.plant.spec.capacity - self.plant.free(slot) <= self.plant.spec.capacity
        levels = Counter[int]()
        for _, slot, delta in self.plant.places.log:
            levels[slot] += delta
            assert 0 <= levels[slot] <= self.plant.spec.capacity

    @invariant()
    def holds_end_when_they_are_due(self) -> None:
        assert all(not hold.live or hold.expires_s > self.desk.now - 1e-6 for hold in self.plant.holds.values())

    @invariant()
    def changes_keep_the_old_slot(self) -> None:
        for made, _ in self.plant.moves.values():
            if made.status in BOOKED:
                assert self.plant.free(made.slot) == 0

    @invariant()
    def money_and_time(self) -> None:
        world = self.desk.world
        assert sum(world.ledger.balances().values()) == 0
        assert self.desk.now >= self.last_s
        self.last_s = self.desk.now

    def teardown(self) -> None:
        if not hasattr(self, "desk"):
            return
        world = self.desk.world
        world.settle()
        self.places_are_accounted_for()
        self.money_and_time()
        assert world.outcomes() and self.plant.moves == {} and self.plant.holds == {}
        rows = world.trace.rows
        effects = Counter(row.request_id for row in rows if row.event == "effect")
        assert all(count == 1 for count in effects.values())
        assert set(effects) <= {row.request_id for row in rows if row.event == "call"}
        new = [row for row in rows if row.event == "effect" and row.verb == "schedule" and row.code in (200, 202)]
        assert sum(row.note != "replayed" for row in new) == len(self.plant.appointments)
        assert [row.t_s for row in rows] == sorted(row.t_s for row in rows)


TestContract = Contract.TestCase
TestContract.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
