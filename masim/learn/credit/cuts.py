"""Segments that end where something happened.

A cut that a decision causes (a finished subtask, an improbable choice) comes *after* that decision, so the segment that
a decision belongs to never depends on what is chosen in it. A cut that the world causes comes *before* the decision
that answers it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.errors import ConfigError
from masim.learn.credit.base import Units, live_rows, numbers, samples_of
from masim.learn.credit.segments import SegmentReturn, after, check_returns, count_cuts, segment_units
from masim.rollout.types import StepTable

EXTERNAL = "3,6"
"""Reasons of being asked that come from outside: a message, a hand-over on its way."""


@dataclass(frozen=True, slots=True)
class SubtaskUnit:
    """A segment ends with each decision that finished a subtask (``subtask_end``).

    Raises ConfigError on an unknown return, and on a table in which somebody succeeded without a single subtask
    marked: then the scenario marks none, and every segment would silently be a whole rollout.
    """

    returns: SegmentReturn = "to_go"
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_returns(self.returns)

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, number of subtasks finished before)."""
        live = live_rows(table)
        if not table.subtask_end.any() and bool(np.any(samples_of(table, live).out > 0)):
            fix = "use unit: segment, or a scenario that marks subtasks"
            raise ConfigError("no decision of the table finished a subtask", "subtask_end", "", "", fix)
        return segment_units(table, count_cuts(table, after(table, table.subtask_end)), self.returns)


@dataclass(frozen=True, slots=True)
class EventUnit:
    """A segment begins with each decision that was asked for from outside.

    ``reasons`` lists the values of the column ``reason`` that count, joined by commas; by default messages and
    hand-overs. Raises ConfigError when they are no numbers, and on an unknown return.
    """

    reasons: str = EXTERNAL
    returns: SegmentReturn = "to_go"
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_returns(self.returns)
        numbers(self.reasons, "reasons", "reason")

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, number of outside events so far)."""
        asked = np.isin(table.reason, numbers(self.reasons, "reasons", "reason"))
        return segment_units(table, count_cuts(table, asked), self.returns)


@dataclass(frozen=True, slots=True)
class LowProbUnit:
    """A segment ends with every ``cuts_per_segment``-th decision that the policy made against its own odds.

    A decision counts when its probability was below ``below`` (cut points of SPO, arXiv 2505.23564). Where the policy
    is sure, nothing is decided, and the credit of a long stretch needs no division.
    Raises ConfigError on values out of range and on an unknown return.
    """

    below: float = 0.5
    cuts_per_segment: int = 1
    returns: SegmentReturn = "to_go"
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_returns(self.returns)
        if not 0 < self.below < 1:
            raise ConfigError("out of range", "below", str(self.below), "0 < below < 1")
        if self.cuts_per_segment < 1:
            raise ConfigError("out of range", "cuts_per_segment", str(self.cuts_per_segment), ">= 1")

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, number of improbable decisions before // cuts_per_segment)."""
        unlikely = table.logp < math.log(self.below)
        return segment_units(table, count_cuts(table, after(table, unlikely)) // self.cuts_per_segment, self.returns)
