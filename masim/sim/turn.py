"""What one decision of an agent may be: how many calls, which waits, and when the agent is asked again."""

from __future__ import annotations

from dataclasses import dataclass

from masim.units import HOUR, MINUTE

WAITS_S = (2 * HOUR, 30.0, 5 * MINUTE, 30 * MINUTE)
"""The waits where a scenario names none."""
MODES = ("blocking", "first", "async")
"""An agent is asked again when all its calls have been answered; when the first has; or at once."""
SAME_CALL = ("send", "drop")


@dataclass(frozen=True, slots=True)
class TurnSpec:
    """One decision of an agent; the default is one call that the agent waits for."""

    waits_s: tuple[float, ...] = WAITS_S
    """Durations of the waits. The first lasts until the agent's next message, and at most that long."""
    calls: int = 1
    """Most calls of one decision."""
    mode: str = "blocking"
    """One of :data:`MODES`."""
    same_call: str = "send"
    """What becomes of a call that stands in one decision twice: ``send`` both, or ``drop`` the second."""

    @property
    def single(self) -> bool:
        """Whether a decision is one call that the agent waits for."""
        return self.calls == 1 and self.mode == "blocking"
