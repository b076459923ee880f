"""What an adapter remembers of one agent between its decisions, and what it shows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from masim.arrays import F32
from masim.env.decision import Decision, Seat
from masim.env.spaces import BOUND, Layout, bounded
from masim.units import HOUR

Info = dict[str, Any]


class Moment(NamedTuple):
    """What all agents have in common at one instant."""

    now: float
    over: bool
    day: int
    """Number of the day in its campaign."""
    share: float
    """Share of the booking day that is over."""


@dataclass(slots=True)
class Place:
    """One agent, seen from outside. Its observation is built of its last decision, open or not."""

    seat: Seat
    last: Decision | None = None
    asked: bool = False
    reason: int = 0
    """Why it was asked last, as a number."""
    illegal: bool = False
    actions: tuple[int, ...] = (0,)
    """What it chose last, without padding."""
    busy_since_s: float = -1.0
    deadline_s: float = -1.0
    r_out: float = 0.0
    r_pen: float = 0.0
    since_s: float = 0.0
    """When the step began whose rewards are being collected; discounts count from here."""
    kept: F32 | None = None
    """The head of the last decision's observation, which is all that is shown once it was answered."""

    def ask(self, decision: Decision) -> None:
        """Take a decision that is to be made now."""
        self.last, self.asked, self.kept = decision, True, None
        self.reason = int(decision.reason)
        self.busy_since_s = self.deadline_s = -1.0

    def keep(self, layout: Layout) -> None:
        """Keep what is shown of the open decision once it is answered.

        A decision builds its arrays when asked for; later they would show what the agent did not know yet.
        """
        if self.last is not None and self.kept is None:
            self.kept = layout.head(self.last.context, self.last.rows[0])

    def show(self, out: F32, layout: Layout, moment: Moment) -> None:
        """Write context, status and rows into an observation that is still zero; what else it has stays so."""
        if self.asked and self.last is not None:
            self._show_open(self.last, out, layout)
        elif self.last is not None:
            self.keep(layout)
            out[: layout.head_size] = self.kept
        at = layout.status.start
        out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4] = self.status(moment)

    def _show_open(self, last: Decision, out: F32, layout: Layout) -> None:
        out[layout.context] = last.context
        layout.rows_of(out)[last.legal] = last.rows
        bounded(out)
        # Bounded already, and its status is still zero: what is shown later is a copy of the beginning.
        self.kept = out[: layout.head_size].copy()

    def busy(self, over: bool) -> bool:
        """Return whether the agent is in between two turns; one that has not joined yet is not."""
        return not self.asked and self.last is not None and not over and not self.seat.retired

    def status(self, moment: Moment) -> tuple[float, float, float, float, float]:
        """Return the status block, within the bound."""
        now, over, _, share = moment
        if not self.busy(over):
            return float(self.asked), float(over or self.seat.retired), 0.0, 0.0, share
        busy_h, deadline_h = (now - self.busy_since_s) / HOUR, (self.deadline_s - now) / HOUR
        busy_h = busy_h if busy_h < BOUND else BOUND
        return 0.0, 0.0, busy_h, 0.0 if deadline_h < 0.0 else deadline_h if deadline_h < BOUND else BOUND, share

    def begin(self, now: float) -> None:
        """Begin a step: the sums of reward parts start anew, and discounts count from now."""
        self.r_out = self.r_pen = 0.0
        self.since_s = now

    @property
    def unpaid(self) -> bool:
        """Return whether a reward has landed that nobody collected yet."""
        seat = self.seat
        return bool(seat.reward_out or seat.reward_pen or seat.landed)

    def info(self, moment: Moment, discount: float) -> Info:
        """Return the numbers that an info always has."""
        now, over, day, _ = moment
        last, seat, busy = self.last, self.seat, self.busy(over)
        return {
            "t_s": now,
            "dt_s": last.dt_s if last is not None else 0.0,
            "ready": 1 if self.asked else 0,
            "left": 1 if over or seat.retired else 0,
            "decision_index": seat.decisions,
            "reason": self.reason,
            "illegal": 1 if self.illegal else 0,
            "busy_since_s": self.busy_since_s if busy else -1.0,
            "deadline_s": self.deadline_s if busy else -1.0,
            "discount": discount,
            "r_out": self.r_out,
            "r_pen": self.r_pen,
            "day": day,
        }
