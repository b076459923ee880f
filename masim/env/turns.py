"""Decisions of several calls, and calls that an agent does not wait for: what ``turn:`` of a scenario allows.

A decision is up to ``calls`` actions of the table, carried out in their order at one instant; the wait for a message
beside other actions is padding. A scenario without the section has none of this: its sessions have no :class:`Turns`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from masim.arrays import I64
from masim.env.actions import ActionTable
from masim.env.decision import Reason, Seat
from masim.env.hands import Hands
from masim.errors import ConfigError
from masim.sim.spec import OWN_VERBS
from masim.sim.turn import TurnSpec
from masim.sim.wire import Answer, Call

ILLEGAL = "illegal"
AGAIN = ", twice in one decision: made once"
"""Note of an action that stood in its decision before and is made once."""
LONGER = ", beside a shorter wait: ends with it"
"""Note of a wait that another one of its decision makes needless."""
RETURNS = (Reason.CALL_RETURNED, Reason.TIMEOUT)
_Content: TypeAlias = tuple[str, str, str, int, str, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """What becomes of a decision."""

    kept: tuple[int, ...]
    """The actions that are carried out."""
    notes: tuple[tuple[int, str], ...]
    """Every entry as the trace has it: its action (0 for an illegal one), and what is wrong with it."""
    illegal: int
    """How many entries were illegal."""


@dataclass(slots=True)
class Turn:
    """Where one agent is between two of its decisions."""

    open: bool = False
    """Its decision is being carried out, and it was not asked again yet."""
    acting: bool = False
    """Its actions are being carried out at this instant."""
    reason: Reason = Reason.CALLS_SENT
    under_way: list[tuple[_Content, int]] = field(default_factory=list)
    """Calls that were not answered yet, with the actions that made them, the oldest first."""


def entries(action: int | Sequence[int], most: int) -> tuple[int, ...]:
    """Return the entries of a decision without its padding. Raises ConfigError for more than ``most``."""
    given = tuple(int(a) for a in action) if isinstance(action, Sequence) else (int(action),)
    if len(given) > most:
        fix = "raise `calls` under `turn` in the scenario, or decide again"
        raise ConfigError("too many calls in one decision", "submit", str(len(given)), f"at most {most}", fix)
    return tuple(a for a in given if a != 0) or (0,)


class Turns:
    """The turns of one session's agents."""

    __slots__ = ("_free", "_hands", "_spec", "_table", "_turns")

    def __init__(self, spec: TurnSpec, table: ActionTable, agents: Sequence[str]) -> None:
        self._spec = spec
        self._table = table
        self._turns = {agent: Turn() for agent in agents}

    def join(self, hands: Hands, free: Callable[[Seat, Reason], None]) -> None:
        """Take over what actions are carried out with, and who is told that an agent has to be asked."""
        self._hands = hands
        self._free = free

    def under_way(self, agent: str) -> tuple[int, ...]:
        """Return the actions whose calls were not answered yet, the oldest first."""
        return tuple(action for _, action in self._turns[agent].under_way)

    # -- a decision -----------------------------------------------------------------------------------------------

    def read(self, given: tuple[int, ...], legal: I64) -> Reading:
        """Sort a decision's entries; with none left it is the wait for a message.

        Illegal is what the mask hides. Of several waits the shortest counts. A claim or a hand-over that stands there
        twice is made once, and so is a call where the scenario drops the second.
        """
        wait = min(filter(self._is_wait, given), key=lambda a: self._table.actions[a].wait_s, default=0)
        notes: list[tuple[int, str]] = []
        kept: list[int] = []
        for action in given:
            note = self._objection(action, wait, kept) if np.any(legal == action) else ILLEGAL
            notes.append((0 if note == ILLEGAL else action, note))
            kept += [action] if not note else []
        return Reading(tuple(kept) or (0,), tuple(notes), sum(note == ILLEGAL for _, note in notes))

    def _objection(self, action: int, wait: int, kept: list[int]) -> str:
        """Return why a legal action is not carried out, nothing if it is."""
        if self._is_wait(action) and action != wait:
            return LONGER
        once = self._table.verb[action] in OWN_VERBS or self._spec.same_call == "drop"
        return AGAIN if once and action in kept else ""

    def act(self, seat: Seat, kept: tuple[int, ...]) -> None:
        """Carry a decision out: calls, claims and hand-overs in their order, its wait last."""
        turn = self._turns[seat.name]
        turn.open = turn.acting = True
        turn.reason = Reason.CALLS_SENT
        # What the agent knew when it decided is in all its calls, also when the first one makes it forget.
        calls = {a: seat.view.call(a) for a in kept if self._table.verb[a] not in OWN_VERBS}
        turn.under_way += [(_content(calls[a]), a) for a in kept if a in calls]
        for nth, action in enumerate(sorted(kept, key=self._is_wait)):
            if action in calls:
                self._hands.call(seat, calls[action], nth)
            else:
                self._hands.act(seat, action)
        turn.acting = False
        hears_all = self._hears_all(seat)
        if seat.waiting < 0 and not (turn.under_way if hears_all else calls and self._spec.mode == "first"):
            self._ask(seat, turn, turn.reason)

    def _hears_all(self, seat: Seat) -> bool:
        """Return whether an agent waits for all its calls, as everybody does who has no decision left."""
        return self._spec.mode == "blocking" or seat.decisions >= self._table.spec.max_decisions

    def _is_wait(self, action: int) -> bool:
        return 0 <= action < self._table.n_waits

    # -- what ends it ---------------------------------------------------------------------------------------------

    def answered(self, answer: Answer) -> None:
        """Take note that a call has been answered."""
        under_way = self._turns[answer.agent].under_way
        content = _content(answer.call)
        for at, (asked, _) in enumerate(under_way):
            if asked == content:
                del under_way[at]
                return

    def ended(self, seat: Seat, reason: Reason) -> None:
        """Take what would end an agent's turn if it were waiting for nothing else."""
        turn = self._turns[seat.name]
        if turn.acting:
            turn.reason = reason
        elif reason is Reason.START:
            self._free(seat, reason)
        elif turn.open:
            if reason not in RETURNS:
                seat.waiting = -1
            if not (self._hears_all(seat) and (turn.under_way or seat.waiting >= 0)):
                self._ask(seat, turn, reason)

    def _ask(self, seat: Seat, turn: Turn, reason: Reason) -> None:
        turn.open = False
        self._free(seat, reason)


def _content(call: Call) -> _Content:
    """Return what a call asks for; a client may have added a key to it since."""
    return (call.verb, call.vendor, call.order, call.leg, call.stop, call.slot)
