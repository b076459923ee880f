"""What an adapter remembers of one agent between its decisions, and what it shows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from masim.arrays import F32
from masim.env.decision import Decision, Seat
from masim.env.spaces import BOUND, Layout
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
        self.busy_since_s = self.deadline_s = -1.0

    def keep(self, layout: Layout) -> None:
        """Keep what is shown of the open decision once it is answered.

        A decision builds its arrays when asked for; later they would show what the agent did not know yet.
        """
        if self.last is not None and self.kept is None:
            self.kept = layout.head(self.last.context, self.last.rows[0])

    def features(self, layout: Layout, moment: Moment) -> F32:
        """Return context, status and rows in an observation of its own; what else it has is still zero."""
        out = layout.empty()
        if self.last is not None:
            self._show(self.last, out, layout)
        at = layout.status.start
        out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4] = self.status(moment)
        return out

    def _show(self, last: Decision, out: F32, layout: Layout) -> None:
        if self.asked:
            out[layout.context] = last.context
            layout.rows_of(out)[last.legal] = last.rows
            out.clip(-BOUND, BOUND, out=out)
        else:
            self.keep(layout)
            out[: layout.head_size] = self.kept

    def busy(self, over: bool) -> bool:
        """Return whether the agent is in between two turns; one that has not joined yet is not."""
        return not self.asked and self.last is not None and not over and not self.seat.retired

    def status(self, moment: Moment) -> tuple[float, float, float, float, float]:
        """Return the status block, within the bound."""
        now, over = moment.now, moment.over
        if not self.busy(over):
            return float(self.asked), float(over or self.seat.retired), 0.0, 0.0, moment.share
        busy_h, deadline_h = (now - self.busy_since_s) / HOUR, (self.deadline_s - now) / HOUR
        return 0.0, 0.0, min(busy_h, BOUND), min(max(deadline_h, 0.0), BOUND), moment.share

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
        last, seat, busy = self.last, self.seat, self.busy(moment.over)
        return {
            "t_s": moment.now,
            "dt_s": last.dt_s if last is not None else 0.0,
            "ready": int(self.asked),
            "left": int(moment.over or seat.retired),
            "decision_index": seat.decisions,
            "reason": int(last.reason) if last is not None else 0,
            "illegal": int(self.illegal),
            "busy_since_s": self.busy_since_s if busy else -1.0,
            "deadline_s": self.deadline_s if busy else -1.0,
            "discount": discount,
            "r_out": self.r_out,
            "r_pen": self.r_pen,
            "day": moment.day,
        }
