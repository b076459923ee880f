"""Paid by what people prefer: a reward model of their judgements, alone or beside the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.errors import ConfigError
from masim.learn.checks import check_columns
from masim.learn.rewards.base import Paid, nothing
from masim.rollout.types import Landings, StepTable


@dataclass(frozen=True, slots=True)
class Preference:
    """``blend`` times what a reward model says of a unit, and ``1 - blend`` times the outcome.

    Whoever collects asks the model in the file ``model`` and writes the column ``preference``. What it says lies in
    [0, 1], as the outcome does; both stay where the rollouts booked them. Raises ConfigError without a file, for a
    blend outside (0, 1], and for a table without the column.
    """

    model: str = ""
    blend: float = 1.0
    is_outcome: ClassVar[bool] = False
    is_success: ClassVar[bool] = False
    lands: ClassVar[bool] = False
    telescopes: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("preference",)

    def __post_init__(self) -> None:
        if not self.model:
            fix = "fit one with: masim label RUN --fit"
            raise ConfigError(
                "a reward by preference needs a reward model", "reward.model", "", "the path of a file", fix
            )
        if not 0.0 < self.blend <= 1.0:
            raise ConfigError(
                "out of range", "reward.blend", str(self.blend), "0 < blend <= 1", "for 0 use reward: outcome"
            )

    def __call__(self, table: StepTable, landings: Landings) -> Paid:
        """Return the blend at the decisions where its parts are booked."""
        check_columns(table, self.needs, "reward preference")
        said = table.columns()["preference"]
        return Paid((1.0 - self.blend) * table.r_out + self.blend * said, nothing())
