"""For kinds that act later than the event that sets them off: they keep their stage, and label when they act."""

from __future__ import annotations

from masim.sim.faults.base import Memo, WorldFault
from masim.sim.faults.engine import Stage

_STAGE = "stage"


class Staged(WorldFault):
    """Keeps the stage in the memo; nothing is scheduled when the day starts."""

    def on_start(self, stage: Stage, memo: Memo) -> None:
        """Keep the stage."""
        memo[_STAGE] = stage


def stage_of(memo: Memo) -> Stage:
    """Return the stage that a staged kind keeps."""
    stage: Stage = memo[_STAGE]
    return stage
