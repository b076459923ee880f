"""A scripted booking workflow, as good or as naive as its settings: the baseline a team would write by hand.

It works leg by leg: quote and tender a carrier, book the pickup, book the delivery, dispatch, and claim the order at
the end. The settings are the habits that separate a demo from a production integration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masim.env.decision import Decision
from masim.env.view import NO, NONE, PENDING, UNKNOWN, YES, LegView, StopView
from masim.memory.features import VENDOR_COLUMNS
from masim.policy.base import Ask, Choice
from masim.sim.spec import AppointmentType, Verb
from masim.sim.wire import Slot
from masim.units import MINUTE

PAGE_AGE_S = 10 * MINUTE
"""How long what a status page said is believed, in scenarios whose carriers have one."""
_WORD = VENDOR_COLUMNS.index("kept_word")
_REFUSED = VENDOR_COLUMNS.index("refused")


@dataclass(frozen=True, slots=True)
class Habits:
    """What the workflow does well. All off is the naive one."""

    remember: bool = True
    """Rank carriers by the memory (reliability first, then price) instead of by price alone."""
    hold: bool = True
    """Hold a slot before asking a dock that decides later."""
    verify: bool = True
    """After a timeout ask what happened before doing it again."""
    back_off: bool = True
    """Wait after a refusal or an error instead of calling again at once."""
    quotes: int = 3
    """How many carriers to ask for a price."""
    patience_s: float = 50 * MINUTE
    """How long to wait for a tender's decision before another carrier is tried."""
    nap: int = 3
    """Which of the waits to take while something is pending (2 is 5 minutes, 3 is 30); a message ends it early."""


NAIVE = Habits(remember=False, hold=False, verify=False, back_off=False, nap=3)


class WorkflowPolicy:
    """Plays the workflow; stateless, everything follows from the agent's view."""

    def __init__(self, name: str, habits: Habits) -> None:
        self.name = name
        self.habits = habits

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the workflow's next call for every question."""
        return [self._choice(ask.decision) for ask in asks]

    def _choice(self, decision: Decision) -> Choice:
        return legal_choice(decision, Step(decision, self.habits).wishes())


def legal_choice(decision: Decision, wishes: Sequence[int]) -> Choice:
    """Return the first wish that is legal, else the wait for a message."""
    for action in wishes:
        row = int(np.searchsorted(decision.legal, action))
        if row < len(decision.legal) and decision.legal[row] == action:
            return Choice(action, row)
    return Choice(0, 0)


class Step:
    """One decision of the workflow. :mod:`masim.policy.oracle` knows better and overrides what it knows."""

    def __init__(self, decision: Decision, habits: Habits) -> None:
        self.decision = decision
        self.view = decision.view
        self.table = decision.table
        self.habits = habits
        self.now = decision.t_s

    def wishes(self) -> list[int]:
        """Return actions in order of preference; the first legal one is taken."""
        if self.habits.back_off and self._just_refused():
            return [1]
        for index, leg in enumerate(self.view.legs):
            if leg.dispatch != YES:
                wish = self._leg(index, leg)
                if wish:
                    return wish
        orders = [k for k, done in enumerate(self.view.declared) if not done]
        if orders and all(leg.dispatch == YES for leg in self.view.legs):
            return [self.table.declare(orders[0])]
        return [2]

    def _just_refused(self) -> bool:
        refused = self.view.last_code == 429 or self.view.last_code >= 500
        return refused and self.decision.reason.name == "CALL_RETURNED"

    def _leg(self, index: int, leg: LegView) -> list[int]:
        if leg.dispatch == UNKNOWN and self.habits.verify:
            return [self.table.find(Verb.TRACK, index)] if self.view.last_code != 200 else self._dispatch(index, leg)
        ready = bool((leg.tender == YES).any())
        if not ready and not self._waiting_for_tender(leg):
            return self._tender(index, leg)
        for stop in (0, 1):
            wish = self._book(index, leg, stop)
            if wish:
                return wish
        if not ready or any(s.dock and s.state == PENDING for s in leg.stops):
            return self._wait_or_poll(index, leg)
        return self._dispatch(index, leg)

    def _dispatch(self, index: int, leg: LegView) -> list[int]:
        accepted = np.flatnonzero(leg.tender == YES)
        return [self.table.find(Verb.DISPATCH, index, int(c)) for c in accepted]

    # -- carriers ------------------------------------------------------------------------------------------------

    def _waiting_for_tender(self, leg: LegView) -> bool:
        pending = np.flatnonzero((leg.tender == PENDING) | (leg.tender == UNKNOWN))
        if not len(pending):
            return False
        vendor = self.view.carriers[int(pending[0])]
        asked = self.view.ends.last_s.get((Verb.TENDER, vendor), self.now)
        return self.now - asked < self.habits.patience_s or not self.habits.remember

    def _order_of_choice(self, leg: LegView) -> list[int]:
        """Return the carriers best first: by memory if the habits say so, else in the order of their listing."""
        if not self.habits.remember:
            return [c for c in range(self.table.n_carriers) if self._there(c)]
        seen = self.decision.recall(leg.order.shipper)
        score = seen[:, _WORD] - 2.0 * seen[:, _REFUSED]
        start = self.decision.agent_index
        there = (c for c in range(len(score)) if self._there(c))
        return sorted(there, key=lambda c: (-round(float(score[c]), 3), (c - start) % len(score)))

    def _there(self, carrier: int) -> bool:
        return self.view.away_until_s.get(carrier, 0.0) <= self.now

    def _tender(self, index: int, leg: LegView) -> list[int]:
        unknown = np.flatnonzero(leg.tender == UNKNOWN)
        if len(unknown) and self.habits.verify:
            return [self.table.find(Verb.TENDER_STATUS, index, int(unknown[0]))]
        open_ones = [c for c in self._order_of_choice(leg) if leg.tender[c] == NONE or leg.tries[c] == 0]
        if not open_ones:
            open_ones = [c for c in self._order_of_choice(leg) if leg.tender[c] in (NONE, NO, UNKNOWN)]
        if not open_ones and self.view.away_until_s:
            return [self.habits.nap]
        many = 1 if self.habits.remember else self.habits.quotes
        wanted, page = self._up(index, open_ones, many)
        if page >= 0:
            return [page]
        if open_ones and not wanted:
            return [2]
        missing = [c for c in wanted if leg.quoted_until_s[c] <= self.now + MINUTE]
        if missing:
            return [self.table.find(Verb.QUOTE, index, missing[0])]
        best = min(wanted, key=lambda c: float(leg.price[c])) if wanted else 0
        pending = np.flatnonzero(leg.tender == PENDING)
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
        if self.decision.reason.name == "TIMER":
            pending = np.flatnonzero(leg.tender == PENDING)
            if len(pending):
                return [self.table.find(Verb.TENDER_STATUS, index, int(pending[0]))]
            for stop in (0, 1):
                if leg.stops[stop].state == PENDING:
                    return [self.table.find(Verb.APPOINTMENT_DETAILS, index, stop=stop)]
        return [self.habits.nap]

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
        fits = [r for r, s in enumerate(view.slots) if s.index not in view.refused and self._fits(index, stop, s)]
        return fits[0] if fits else -1

    def _fits(self, index: int, stop: int, slot: Slot) -> bool:
        return slot.start_s >= max(self.view.earliest_s(index, stop), self.now)

    def _decides_later(self, view: StopView) -> bool:
        docks = {d.id: d for d in self.table.spec.docks}
        return docks[view.dock].type is AppointmentType.DEFERRED

    def _held(self, view: StopView, rank: int) -> bool:
        if view.held is None or view.held_until_s <= self.now:
            return False
        return rank < 0 or view.slots[rank].index == view.held.index
