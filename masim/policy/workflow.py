"""A scripted booking workflow, as good or as naive as its settings: the baseline a team would write by hand.

It works leg by leg: quote and tender a carrier, book the pickup, book the delivery, dispatch, and claim the order at
the end. The settings are the habits that separate a demo from a production integration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from masim.arrays import I64, Bool
from masim.env.decision import Decision
from masim.env.desk import DeskView
from masim.env.leg_view import NO, NONE, PENDING, UNKNOWN, YES, LegView, StopView
from masim.memory.vendor_features import VENDOR_COLUMNS
from masim.policy.base import Ask, Choice
from masim.policy.duties import shared
from masim.policy.habits import NAIVE as NAIVE
from masim.policy.habits import Habits as Habits
from masim.rng import Noise
from masim.sim.spec import AppointmentType, Verb
from masim.sim.wire import Slot
from masim.units import DAY, MINUTE

PAGE_AGE_S = 10 * MINUTE
"""How long what a status page said is believed, in scenarios whose carriers have one."""
FRUITLESS_S = 30 * MINUTE
"""How long a carrier that gave no price is passed over."""
PAUSE_S = 10 * MINUTE
"""How old a list of slots may be."""
_WORD = VENDOR_COLUMNS.index("kept_word")
_REFUSED = VENDOR_COLUMNS.index("refused")


class WorkflowPolicy:
    """Plays the workflow; stateless, everything follows from the agent's view."""

    def __init__(self, name: str, habits: Habits) -> None:
        self.name = name
        self.habits = habits

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the workflow's next call for every question."""
        return [self._choice(ask) for ask in asks]

    def _choice(self, ask: Ask) -> Choice:
        return legal_choice(ask.decision, Step(ask.decision, self.habits, ask.noise).wishes())


def legal_choice(decision: Decision, wishes: Sequence[int]) -> Choice:
    """Return the first wish that is legal, else the wait for a message."""
    for action in wishes:
        row = int(np.searchsorted(decision.legal, action))
        if row < len(decision.legal) and decision.legal[row] == action:
            return Choice(action, row)
    return Choice(0, 0)


class Step:
    """One decision of the workflow. :mod:`masim.policy.oracle` knows better and overrides what it knows."""

    def __init__(self, decision: Decision, habits: Habits, noise: Noise | None = None) -> None:
        self._noise = noise
        self.decision = decision
        self.view = decision.view
        self.table = decision.table
        self.habits = habits
        self.now = decision.t_s

    def wishes(self) -> list[int]:
        """Return actions in order of preference; the first legal one is taken."""
        if self.habits.back_off and self._just_refused():
            return [self.table.wait(1)]
        if self.habits.wary and 400 <= self.view.last_code < 500 and self._just_answered():
            return [self.table.wait(2)]
        if isinstance(self.view, DeskView):
            return shared(self, self.view)
        for index, leg in enumerate(self.view.legs):
            if leg.dispatch != YES:
                wish = next(self.work(index, leg), [])
                if wish:
                    return wish
        orders = [k for k, done in enumerate(self.view.declared) if not done]
        if orders and all(leg.dispatch == YES for leg in self.view.legs):
            return [self.table.declare(orders[0])]
        return [self.table.wait(2)]

    def _just_refused(self) -> bool:
        refused = self.view.last_code == 429 or self.view.last_code >= 500
        return refused and self._just_answered()

    def _just_answered(self) -> bool:
        return self.decision.reason.name == "CALL_RETURNED"

    def work(self, index: int, leg: LegView) -> Iterator[list[int]]:
        """Yield what could be done about a leg now, the best first: each a list of actions in order of preference."""
        if leg.dispatch == UNKNOWN and self.habits.verify:
            asked = self.view.last_code != 200
            yield [self.table.find(Verb.TRACK, index)] if asked else self._dispatch(index, leg)
            return
        doubtful = self._unchecked(index, leg)
        if doubtful:
            yield doubtful
            return
        ready = bool(self._accepted(leg).size)
        untried = not ready and not self._waiting_for_tender(leg)
        if untried:
            yield self._tender(index, leg)
        unbooked = False
        for stop in (0, 1):
            wish = self._book(index, leg, stop)
            unbooked = unbooked or bool(wish)
            if wish:
                yield wish
        if not ready or any(s.dock and s.state == PENDING for s in leg.stops):
            yield self._wait_or_poll(index, leg)
        elif not unbooked:
            yield self._dispatch(index, leg)

    def _dispatch(self, index: int, leg: LegView) -> list[int]:
        return [self.table.find(Verb.DISPATCH, index, int(c)) for c in self._accepted(leg)]

    def _accepted(self, leg: LegView) -> I64:
        accepted = np.flatnonzero(leg.tender == YES)
        if not self.habits.stale_events:
            accepted = np.array([c for c in accepted if not self._cancelled(int(c))], dtype=np.int64)
        return accepted

    def _cancelled(self, carrier: int, tried: bool = False) -> bool:
        """Return whether a carrier's last tender was taken back, or at least ``tried`` to."""
        vendor, ends = self.view.carriers[carrier], self.view.ends
        asked_s = ends.last_s.get((Verb.CANCEL_TENDER, vendor), -1.0)
        later = asked_s > ends.last_s.get((Verb.TENDER, vendor), 0.0)
        return later and (tried or 200 <= ends.code[Verb.CANCEL_TENDER, vendor] <= 299)

    def _unchecked(self, index: int, leg: LegView) -> list[int]:
        """Return the question whether a cancellation is true or a booking's time is, where the habits ask it."""
        last_s = self.view.ends.last_s
        for c in np.flatnonzero(leg.tries) if self.habits.check_cancel else ():
            vendor = self.view.carriers[int(c)]
            asked_s = last_s.get((Verb.TENDER_STATUS, vendor), -1.0)
            if self._cancelled(int(c)) and asked_s < last_s[Verb.CANCEL_TENDER, vendor]:
                return [self.table.find(Verb.TENDER_STATUS, index, int(c))]
        for stop, view in enumerate(leg.stops) if self.habits.read_back else ():
            asked_s = last_s.get((Verb.APPOINTMENT_DETAILS, view.dock), -1.0)
            if view.state == YES and asked_s < last_s.get((Verb.SCHEDULE, view.dock), -1.0):
                return [self.table.find(Verb.APPOINTMENT_DETAILS, index, stop=stop)]
        return []

    # -- carriers ------------------------------------------------------------------------------------------------

    def _waiting_for_tender(self, leg: LegView) -> bool:
        pending = self._undecided((leg.tender == PENDING) | (leg.tender == UNKNOWN))
        if not len(pending):
            return False
        vendor = self.view.carriers[int(pending[0])]
        asked = self.view.ends.last_s.get((Verb.TENDER, vendor), self.now)
        return self.now - asked < self.habits.patience_s or not self.habits.remember

    def _undecided(self, carriers: Bool) -> I64:
        found = np.flatnonzero(carriers)
        if not self.habits.insist:
            found = np.array([c for c in found if not self._cancelled(int(c), tried=True)], dtype=np.int64)
        return found

    def _order_of_choice(self, leg: LegView) -> list[int]:
        """Return the carriers best first: by memory if the habits say so, else in the order of their listing."""
        best_first = self._ranked(leg)
        drawn = self._drawn(leg, best_first)
        return best_first if drawn < 0 else [drawn, *(c for c in best_first if c != drawn)]

    def _drawn(self, leg: LegView, carriers: list[int]) -> int:
        """Return the carrier that is tried for its own sake, -1 for none: one draw for each leg, whenever asked."""
        if not self.habits.explore or self._noise is None or not carriers:
            return -1
        key = self.decision.agent, leg.order.id, leg.order.legs.index(leg.plan)
        u_whether, u_which, _, _ = self._noise.uniforms("explore", *key)
        return sorted(carriers)[int(u_which * len(carriers))] if u_whether < self.habits.explore else -1

    def _ranked(self, leg: LegView) -> list[int]:
        if not self.habits.remember:
            return [c for c in range(self.table.n_carriers) if self._there(c)]
        seen = self.decision.recall(leg.order.shipper)
        score = seen[:, _WORD] - 2.0 * seen[:, _REFUSED]
        start = self.decision.agent_index
        there = (c for c in range(len(score)) if self._there(c))
        return sorted(there, key=lambda c: (-round(float(score[c]), 3), (c - start) % len(score)))

    def _there(self, carrier: int) -> bool:
        if self.view.away_until_s.get(carrier, 0.0) > self.now:
            return False
        return not self.habits.move_on or not self._fruitless(carrier)

    def _fruitless(self, carrier: int) -> bool:
        """Return whether a carrier's last answer to a quote was trouble, or a success without a price."""
        end = (Verb.QUOTE, self.view.carriers[carrier])
        code, ends = self.view.ends.code.get(end, -1), self.view.ends
        if code < 0 or self.now - ends.last_s[end] > FRUITLESS_S:
            return False
        return code == 0 or code >= 500 or not (self.view.price[:, carrier] > 0).any()

    def _tender(self, index: int, leg: LegView) -> list[int]:
        unknown = np.flatnonzero(leg.tender == UNKNOWN)
        if len(unknown) and self.habits.verify:
            return [self.table.find(Verb.TENDER_STATUS, index, int(unknown[0]))]
        open_ones = [c for c in self._order_of_choice(leg) if leg.tender[c] == NONE or leg.tries[c] == 0]
        if not open_ones:
            open_ones = [c for c in self._order_of_choice(leg) if leg.tender[c] in (NONE, NO, UNKNOWN)]
        if not open_ones and self.view.away_until_s:
            return [self.table.wait(self.habits.nap)]
        many = 1 if self.habits.remember else self.habits.quotes
        wanted, page = self._up(index, open_ones, many)
        if page >= 0:
            return [page]
        if open_ones and not wanted:
            return [self.table.wait(2)]
        good_s = self.now + MINUTE if self.habits.requote else 0.0
        missing = [c for c in wanted if leg.quoted_until_s[c] <= good_s]
        if missing:
            return [self.table.find(Verb.QUOTE, index, missing[0])]
        best = min(wanted, key=lambda c: float(leg.price[c])) if wanted else 0
        pending = self._undecided(leg.tender == PENDING)
        if len(pending):
            return [self.table.find(Verb.CANCEL_TENDER, index, int(pending[0]))]
        return [self.table.find(Verb.TENDER, index, best)]

    def _up(self, index: int, carriers: list[int], many: int) -> tuple[list[int], int]:
        """Return the first carriers that no status page calls down, and the page to read first (-1: none)."""
        up: list[int] = []
        for c in carriers:
            page = self.table.find(Verb.HEALTH, index, c)
            read_s = self.view.ends.last_s.get((Verb.HEALTH, self.view.carriers[c]))
            if page >= 0 and (read_s is None or self.now - read_s > PAGE_AGE_S):
                return up, page
            if c not in self.view.told_down:
                up.append(c)
            if len(up) == many:
                break
        return up, -1

    def _wait_or_poll(self, index: int, leg: LegView) -> list[int]:
        if self.decision.reason.name == "TIMER" and self.habits.poll:
            pending = np.flatnonzero(leg.tender == PENDING)
            if len(pending):
                return [self.table.find(Verb.TENDER_STATUS, index, int(pending[0]))]
            for stop in (0, 1):
                if leg.stops[stop].state == PENDING:
                    return [self.table.find(Verb.APPOINTMENT_DETAILS, index, stop=stop)]
        return [self.table.wait(self.habits.nap)]

    # -- docks ---------------------------------------------------------------------------------------------------

    def _book(self, index: int, leg: LegView, stop: int) -> list[int]:
        """Return the next call towards a booked stop, nothing when it is booked or under decision."""
        view = leg.stops[stop]
        if view.unconfirmed and view.state == PENDING:
            confirm = self.table.find(Verb.CONFIRM_APPOINTMENT, index, stop=stop)
            return [confirm] if confirm in self.decision.legal else []
        if not view.dock or view.state in (YES, PENDING):
            return []
        if view.state == UNKNOWN and self.habits.verify:
            return [self.table.find(Verb.APPOINTMENT_DETAILS, index, stop=stop)]
        rank = self._slot(index, leg, stop)
        if rank < 0:
            if self.habits.wary and not view.slots and view.slots_at_s > self.now - PAUSE_S:
                return [self.table.wait(self.habits.nap)]
            return [self.table.find(Verb.AVAILABILITY, index, stop=stop)]
        if self.habits.hold and self._decides_later(view) and not self._held(view, rank):
            return [
                self.table.find(Verb.HOLD, index, stop=stop, rank=rank),
                self.table.find(Verb.SCHEDULE, index, stop=stop, rank=rank),
            ]
        return [self.table.find(Verb.SCHEDULE, index, stop=stop, rank=rank)]

    def _slot(self, index: int, leg: LegView, stop: int) -> int:
        """Return the rank of the first fresh slot that fits, or -1 to ask again."""
        view = leg.stops[stop]
        if not view.slots or self.now - view.slots_at_s > 10 * MINUTE:
            return -1
        refused = view.refused if self.habits.other_slot else ()
        fits = [r for r, s in enumerate(view.slots) if s.index not in refused and self._fits(index, stop, s)]
        return fits[0] if fits else -1

    def _fits(self, index: int, stop: int, slot: Slot) -> bool:
        earliest_s = max(self.view.earliest_s(index, stop), self.now)
        if self.habits.mend_dates and slot.start_s < earliest_s - DAY / 2:
            return slot.start_s + DAY >= earliest_s
        return slot.start_s >= earliest_s + (self.habits.slack_s if stop else 0.0)

    def _decides_later(self, view: StopView) -> bool:
        docks = {d.id: d for d in self.table.spec.docks}
        return docks[view.dock].type is AppointmentType.DEFERRED

    def _held(self, view: StopView, rank: int) -> bool:
        if view.held is None or view.held_until_s <= self.now:
            return False
        return rank < 0 or view.slots[rank].index == view.held.index
