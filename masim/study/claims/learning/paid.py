"""Paying segments as practitioners do: 1 when everything that landed inside went well, else 0.

The reward mass of an episode is held fixed: a segment pays its share of the decisions, so a longer one is not also a
better paid one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from masim.arrays import F64
from masim.micro.games.hidden_flaky import HiddenFlaky
from masim.rollout.types import RolloutBatch, StepTable

Collect = Callable[[int, int], RolloutBatch]


@dataclass(frozen=True, slots=True)
class SegmentPaid:
    """``collect`` whose outcomes are those of segments of ``length``; ``inner`` books them where they land.

    ``penalty`` is taken off at every decision, inside the same channel, as "plus one a segment, minus a tenth a step".
    """

    inner: Collect
    game: HiddenFlaky
    length: int
    penalty: float = 0.0

    def __call__(self, draw: int, policy_version: int) -> RolloutBatch:
        """Return the batch with the segments' pay in place of the bookings' results."""
        batch = self.inner(draw, policy_version)
        return replace(batch, table=replace(batch.table, r_out=self.pay(batch.table)))

    def pay(self, table: StepTable) -> F64:
        """Return (N,) the pay: at the last decision of each segment, 0 elsewhere."""
        n, last = self.game.bookings, table.turn == self.game.bookings - 1
        landing = (table.turn >= self.game.delay) * 1 + np.where(last, min(self.game.delay, n), 0)
        cell = np.unique(table.rollout_id, return_inverse=True)[1] * n + table.turn // self.length
        good, due = np.bincount(cell, table.r_out * n), np.bincount(cell, landing)
        paid = (due > 0) & (np.abs(good - due) < 0.5)
        ends = last | (table.turn % self.length == self.length - 1)
        share = (table.turn % self.length + 1) / n
        return np.where(ends & paid[cell], share, 0.0) - self.penalty / n
