"""The penalty channel: step costs, invalid calls, format errors.

Centred by its comparison group and never divided by a standard deviation: z-scoring would make the smallest penalty
difference of a failed group as loud as an outcome and teaches an agent to end early. Never part of the gate, the
coverage or the outcome advantage.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from masim.arrays import F64
from masim.learn.advantages.base import Frame
from masim.learn.reduce import cell_sum, dense, group_stats, to_go

PenaltyMode = Literal["sample", "to_go"]


def penalty_advantage(frame: Frame, w_pen: F64 | float, mode: PenaltyMode = "sample") -> F64:
    """Return (N,) ``w_pen * (pen - group mean)``; ``w_pen`` is one weight, or (N,) of them.

    ``sample``: ``pen`` is the sum of ``r_pen`` over the sample's decisions. ``to_go``: the sum from each decision on,
    centred by the group's mean at the same turn. A lone sample gets 0.
    """
    if mode == "sample":
        samples = frame.units.samples
        deviation = group_stats(samples.pen, frame.key_I, samples.live).deviation
        return np.where(frame.units.live_N, w_pen * deviation[samples.of_N], 0.0)
    return w_pen * _centred_to_go(frame)


def _centred_to_go(frame: Frame) -> F64:
    """Return (N,) what each decision's sample still pays, minus its group's mean at the same turn.

    A member that has ended has nothing left to pay and counts as 0. One mean for all turns would instead blame every
    early decision for having the day before it.
    """
    live, samples = frame.units.live_N, frame.units.samples
    sample, turn = samples.of_N[live], frame.table.turn[live]
    ahead = to_go(frame.table.r_pen[live], sample, turn, np.ones(len(sample)))
    members = group_stats(samples.pen, frame.key_I, samples.live).size[sample]
    cell, n_cells = dense(frame.key_I[sample], turn)
    mean = cell_sum(ahead, cell, n_cells)[cell] / np.maximum(members, 1)
    result = np.zeros(len(live))
    result[live] = np.where(members > 1, ahead - mean, 0.0)
    return result
