"""One whole rollout of one agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.learn.credit.base import Units, live_rows, samples_of
from masim.rollout.types import StepTable


@dataclass(frozen=True, slots=True)
class RolloutUnit:
    """One whole rollout of one agent."""

    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = True
    starts: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent)."""
        live = live_rows(table)
        samples = samples_of(table, live)
        return Units(live, samples.of_N, len(samples), samples, samples, np.arange(len(samples)))
