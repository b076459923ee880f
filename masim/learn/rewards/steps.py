"""Rewards that come with the decisions: a cost for each, a share for progress, and a proxy for what was meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.learn.checks import check_columns
from masim.learn.reduce import dense, in_order
from masim.learn.rewards.base import Paid, check_finite, nothing, outcome_of
from masim.rollout.types import Landings, StepTable


@dataclass(frozen=True, slots=True)
class StepPenalty:
    """The outcome less ``cost`` for every decision, in one channel, as practitioners pay it.

    A success of more than ``1 / cost`` decisions is paid less than doing nothing at once. Raises ConfigError unless
    ``cost`` > 0.
    """

    cost: float = 0.1
    is_outcome: ClassVar[bool] = False
    is_success: ClassVar[bool] = False
    lands: ClassVar[bool] = True
    telescopes: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_finite("cost", self.cost, 0.0, "> 0 per decision")

    def __call__(self, table: StepTable, landings: Landings) -> Paid:
        """Return the cost of each decision, and the outcome."""
        return Paid(np.where(table.valid, -self.cost, 0.0), outcome_of(table, landings))


@dataclass(frozen=True, slots=True)
class Shaped:
    """The outcome, and ``per_part`` for each part of an order as soon as it is done, taken back at the end.

    A potential that counts the parts done: the reward is its difference (Ng, Harada and Russell 1999), and it is 0 at
    the end, so every sample is paid its outcome in all, and no other policy becomes the best one. It moves rewards
    to earlier decisions, which only methods that pay single decisions or segments can see.
    Raises ConfigError unless ``per_part`` > 0.
    """

    per_part: float = 0.1
    is_outcome: ClassVar[bool] = False
    is_success: ClassVar[bool] = True
    lands: ClassVar[bool] = True
    telescopes: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_finite("per_part", self.per_part, 0.0, "> 0 per part")

    def __call__(self, table: StepTable, landings: Landings) -> Paid:
        """Return the differences of the potential, and the outcome."""
        gain = np.where(table.valid & table.subtask_end, self.per_part, 0.0)
        sample, n = dense(table.rollout_id, table.agent)
        order = in_order(sample, table.turn)
        last = np.zeros(n, np.int64)
        last[sample[order]] = order
        gain[last] -= np.bincount(sample, gain, n)
        return Paid(gain, outcome_of(table, landings))


@dataclass(frozen=True, slots=True)
class SuccessfulCalls:
    """A proxy: ``per_call`` for every API call that was answered with success, and nothing for the outcome.

    It looks like progress, because a booking needs successful calls; it is here to show what becomes of an agent that
    is paid for it. Raises ConfigError unless ``per_call`` > 0, and for a table that does not count calls.
    """

    per_call: float = 0.1
    is_outcome: ClassVar[bool] = False
    is_success: ClassVar[bool] = False
    lands: ClassVar[bool] = False
    telescopes: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("calls_ok",)

    def __post_init__(self) -> None:
        check_finite("per_call", self.per_call, 0.0, "> 0 per call")

    def __call__(self, table: StepTable, landings: Landings) -> Paid:
        """Return what the calls of each decision are paid."""
        check_columns(table, self.needs, "reward successful_calls")
        calls = table.columns()["calls_ok"]
        return Paid(np.where(table.valid, self.per_call * calls, 0.0), nothing())
