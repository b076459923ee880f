"""What an agent is asked for: to collect information, or to act on what it knows. Known before the choice.

A decision asks for an *act* when at least one commitment is at hand that would move an order on: a call that the
protocol allows, that was not made with success already, and that rests on information which still holds. Otherwise
there is nothing to commit to, and all that the agent can do is to ask, or to wait for an answer.

============== =============================================================================
commitment     at hand when
============== =============================================================================
tender         the carrier's price has not run out, and no tender of the leg is pending or accepted
hold, schedule the stop's slots were listed, and no appointment of the stop is pending or confirmed
confirm        the appointment waits for the carrier's own confirmation
dispatch       a carrier has accepted, every stop is booked, and no truck is on its way
declare        every leg of the order is dispatched
============== =============================================================================

Cancelling and rescheduling undo a commitment, and an order can be handed over at any time: neither says that there is
something to act on. Which of the legal calls is made plays no part.
"""

from __future__ import annotations

from masim.arrays import I64
from masim.env.actions import ActionTable, verb_bits
from masim.env.leg_view import PENDING, YES
from masim.env.view import AgentView
from masim.sim.spec import Verb

COMMITMENTS = (Verb.TENDER, Verb.HOLD, Verb.SCHEDULE, Verb.CONFIRM_APPOINTMENT, Verb.DISPATCH, Verb.DECLARE)
"""Calls that move an order on and bind somebody."""
_COMMITS = verb_bits(COMMITMENTS)
_TAKEN = (PENDING, YES)


def asks_for_act(view: AgentView, table: ActionTable, legal: I64, t_s: float) -> bool:
    """Return whether one of the ``legal`` calls is a commitment at hand at simulated time ``t_s``."""
    commitments = legal[(table.verb_bits[legal] & _COMMITS) != 0]
    return any(_at_hand(view, table, i, t_s) for i in commitments.tolist())


def _at_hand(view: AgentView, table: ActionTable, index: int, t_s: float) -> bool:
    verb, action = table.verb[index], table.actions[index]
    if verb is Verb.DECLARE:
        return view.holds(action.order) and view.is_dispatched(action.order)
    leg = view.legs[action.leg]
    if verb is Verb.TENDER:
        return bool(leg.quoted_until_s[action.vendor] > t_s) and leg.best_tender() not in _TAKEN
    if verb in (Verb.HOLD, Verb.SCHEDULE):
        return leg.stops[action.stop].state not in _TAKEN
    return True
