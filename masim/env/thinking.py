"""Decisions that take simulated time: an agent that thinks is asked now and acts later.

Meanwhile it is busy: nobody asks it, and what reaches it waits for its next decision. What it chose may have become
illegal by then; that is a decision of its own row in the trace (``stale``), which costs and counts as an illegal one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from masim.arrays import I64
from masim.env.decision import Seat
from masim.sim.trace import TraceRow
from masim.sim.world import World


class Thinks(Protocol):
    """What thinking needs of a session."""

    world: World


def _nobody(seat: Seat, action: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """How long an agent thinks about one decision, and who is told that its choice has become illegal meanwhile."""

    s: float = 0.0
    stale: Callable[[Seat, int], None] = _nobody

    def begin(
        self,
        session: Thinks,
        seat: Seat,
        actions: tuple[int, ...],
        legal: Callable[[Seat], I64],
        act: Callable[[tuple[int, ...]], None],
    ) -> None:
        """Let an agent act when it has thought, with what of its actions is still legal then."""
        world = session.world
        seat.busy = True

        def over() -> None:
            seat.busy = False
            if seat.retired:
                return
            now_legal = set(legal(seat).tolist())
            lost = [action for action in actions if action not in now_legal]
            for action in lost:
                self._note(world, seat, action)
                self.stale(seat, action)
            act(tuple(action for action in actions if action in now_legal) or (0,))

        world.clock.at(world.clock.now + self.s, over)

    @staticmethod
    def _note(world: World, seat: Seat, action: int) -> None:
        now = world.clock.now
        seat.pay(now, pen=world.spec.rewards.illegal)
        if world.trace.enabled:
            world.trace.note(TraceRow(now, "stale", seat.name, code=action, request_id=seat.decisions - 1))


AT_ONCE = Thinking()
"""No time at all: what everybody takes who is no language model."""
