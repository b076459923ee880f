"""What batches bring, paid as the configuration says, until an update has enough.

A batch may also bring results of rollouts that came with an earlier one. While the update still collects, they are
booked where they belong. Once it has learned, its groups are closed: a result that comes then is counted and booked to
nobody, because whoever it could be booked to did not earn it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from masim.errors import ConfigError
from masim.learn.late import book
from masim.rollout.types import Landings, RolloutBatch, StepTable

if TYPE_CHECKING:
    from masim.learn.config import LearnerConfig


class Arrivals:
    """The batches of one update."""

    def __init__(self, config: LearnerConfig) -> None:
        self.batches: list[RolloutBatch] = []
        self.late = 0
        """Results that came after their group was closed."""
        self._config = config

    def take(self, batch: RolloutBatch) -> RolloutBatch:
        """Keep a batch and return it as it is paid. Raises ConfigError as :func:`pay`."""
        landings = batch.landings
        if landings is not None:
            own = np.isin(landings.rollout_id, batch.table.rollout_id)
            self._book_earlier(landings.take(~own))
            landings = landings.take(own)
        paid = replace(batch, table=pay(batch.table, landings, self._config))
        self.batches.append(paid)
        return paid

    def _book_earlier(self, strays: Landings) -> None:
        for i, earlier in enumerate(self.batches):
            if len(strays):
                booked = book(earlier.table, strays, self._config.booking or "landing")
                self.batches[i] = replace(earlier, table=booked.table)
                strays = strays.take(booked.late)
        self.late += len(strays)


def pay(table: StepTable, landings: Landings | None, config: LearnerConfig) -> StepTable:
    """Return a table with what the reward design pays in ``r_out``, and the outcome in a column of its own.

    A table that is paid its outcome where the rollouts booked it is returned as it is. Raises ConfigError when the
    rollouts do not say what landed, or lack a column that the design reads.
    """
    design = config.reward
    if design.is_outcome and config.booking is None:
        return table
    if landings is None:
        if design.lands:
            fix = "use reward: outcome without booking, or a collector that keeps landings"
            raise ConfigError("these rollouts do not say what landed when", "landings", "", "", fix)
        landings = Landings(*(np.zeros(0, np.int64),) * 4, np.zeros(0))
    paid = design(table, landings)
    booked = book(replace(table, r_out=paid.step_N), paid.late, config.booking or "landing").table
    return booked if design.is_outcome else replace(booked, outcome=table.r_out)
