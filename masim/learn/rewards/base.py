"""What a reward design is: a pure function of the step table and of what landed for its samples.

A design says what is paid on the channel that estimators read (``r_out``). What the world says of success stays in the
column ``outcome``, so that a training paid for something else is still judged by it (:mod:`masim.learn.monitors`).
A new design is one class and one line in :data:`masim.learn.rewards.registry.REWARDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from masim.arrays import F64, I64
from masim.errors import ConfigError
from masim.learn.reduce import cell_min, dense
from masim.rollout.types import Landings, StepTable


@dataclass(frozen=True, slots=True)
class Paid:
    """What a design pays: some of it with the decisions themselves, the rest when it lands."""

    step_N: F64
    late: Landings


class RewardDesign(Protocol):
    """A pure function ``(StepTable, Landings) -> Paid``."""

    is_outcome: ClassVar[bool]
    """Whether a sample is paid its outcome and nothing else, wherever that is booked."""
    is_success: ClassVar[bool]
    """Whether a sample is paid nothing in all unless something was achieved: what the gate of ProGPO relies on."""
    lands: ClassVar[bool]
    """Whether any of it lands late, so that there is something to book."""
    telescopes: ClassVar[bool]
    """Whether what it adds to the outcome sums to nothing over a sample."""
    needs: ClassVar[tuple[str, ...]]
    """Optional columns that it reads."""

    def __call__(self, table: StepTable, landings: Landings) -> Paid: ...


def outcome_of(table: StepTable, landings: Landings) -> Landings:
    """Return one landing per sample: 1 iff all of its own are, with the last of them.

    An outcome lands at the last decision: nothing is judged before the booking day is over, because an order may be
    changed until then.
    """
    cell, n = dense(landings.rollout_id, landings.agent)
    rows = np.zeros(n, np.int64)
    rows[cell] = np.arange(len(cell))
    request = np.zeros(n, np.int64)
    np.maximum.at(request, cell, landings.request_turn)
    last = np.maximum(_last_turns(table, landings)[rows], request)
    return Landings(landings.rollout_id[rows], landings.agent[rows], request, last, cell_min(landings.amount, cell, n))


def _last_turns(table: StepTable, landings: Landings) -> I64:
    """Return (L,) the last turn of each landing's sample."""
    rollout, agent = (np.concatenate((getattr(table, k), getattr(landings, k))) for k in ("rollout_id", "agent"))
    sample, n = dense(rollout, agent)
    last = np.zeros(n, np.int64)
    np.maximum.at(last, sample[: len(table)], table.turn)
    return last[sample[len(table) :]]


def nothing() -> Landings:
    """Return no landings."""
    none = np.zeros(0, np.int64)
    return Landings(none, none, none, none, np.zeros(0))


def check_finite(name: str, value: float, least: float, allowed: str) -> None:
    """Raise ConfigError unless a number is finite and above ``least``."""
    if not (np.isfinite(value) and value > least):
        raise ConfigError("out of range", name, str(value), allowed)
