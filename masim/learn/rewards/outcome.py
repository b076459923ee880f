"""Rewards for what was achieved: all of an agent's orders together, or each one for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from masim.learn.reduce import dense
from masim.learn.rewards.base import Paid, outcome_of
from masim.rollout.types import Landings, StepTable


@dataclass(frozen=True, slots=True)
class Outcome:
    """1 when every order of the agent met the demand, else 0: the outcome channel as it is."""

    is_outcome: ClassVar[bool] = True
    is_success: ClassVar[bool] = True
    lands: ClassVar[bool] = True
    telescopes: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, table: StepTable, landings: Landings) -> Paid:
        """Return one late reward per sample."""
        return Paid(np.zeros(len(table)), outcome_of(table, landings))


@dataclass(frozen=True, slots=True)
class UnitEvent:
    """Each order that met the demand pays its share of 1 when it lands, whatever became of the others."""

    is_outcome: ClassVar[bool] = False
    is_success: ClassVar[bool] = True
    lands: ClassVar[bool] = True
    telescopes: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, table: StepTable, landings: Landings) -> Paid:
        """Return one late reward per order."""
        cell, n = dense(landings.rollout_id, landings.agent)
        share = landings.amount / np.bincount(cell, minlength=n)[cell]
        return Paid(np.zeros(len(table)), replace(landings, amount=share))
