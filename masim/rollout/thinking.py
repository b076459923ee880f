"""How long language models think in simulated time: seconds per token, and a queue where many want to think at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from masim.env.decision import Seat
from masim.env.text.toolbox import toolbox_of
from masim.env.text.why import why_not
from masim.env.thinking import AT_ONCE, Thinking
from masim.errors import ToolError
from masim.policy.base import Choice, Pace, Policy


@dataclass(slots=True)
class Queue:
    """The thinking of all agents of one rollout: first come, first served, at most ``pace.at_once`` together."""

    pace: Pace
    stale: dict[str, ToolError] = field(default_factory=dict)
    """Why what an agent chose was not legal any more when it had thought."""
    _over_s: list[float] = field(default_factory=list)

    def admit(self, choice: Choice, now_s: float) -> Thinking:
        """Return how long the agent takes that asks now: its turn in the queue, and its tokens."""
        work_s = choice.tokens * self.pace.token_s
        if work_s <= 0.0:
            return AT_ONCE
        over_s = self._over_s
        while over_s and over_s[0] <= now_s:
            heappop(over_s)
        full = self.pace.at_once and len(over_s) >= self.pace.at_once
        begin_s = heappop(over_s) if full else now_s
        heappush(over_s, begin_s + work_s)
        return Thinking(begin_s + work_s - now_s, self._tell)

    def _tell(self, seat: Seat, action: int) -> None:
        box = toolbox_of(seat.view.table, seat.name)
        self.stale[seat.name] = why_not(action, seat.view, box)


def queue_of(policy: Policy) -> Queue | None:
    """Return the queue of a policy that takes its time, None for everybody else."""
    pace = getattr(policy, "pace", None)
    return Queue(pace) if isinstance(pace, Pace) and pace.token_s > 0.0 else None
