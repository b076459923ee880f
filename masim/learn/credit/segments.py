"""Segments: consecutive decisions of one agent. How they are cut is one file away; what they are paid is here.

``returns`` names what a segment is paid:

* ``to_go``: all outcome reward from its first decision to the end of the sample;
* ``own``: only what was booked inside it (blind to everything that lands later);
* ``inherit``: the outcome of its sample, the null arm that any claim about segments is to be compared with;
* ``bootstrap``: its own reward, and for what follows the mean return of all segments of the comparison group that
  begin where the next one does (same agent, same canonical observation).

By default segments are compared with segments of the same index. Rollouts that ended earlier are missing from late
comparisons, which scales late terms down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.credit.base import Cells, Units, cells_of, first_decisions, live_rows, samples_of
from masim.learn.reduce import cell_first, cell_sum, dense, in_order, to_go
from masim.rng import Noise
from masim.rollout.types import StepTable

SegmentReturn = Literal["to_go", "own", "inherit", "bootstrap"]
RETURNS = ("to_go", "own", "inherit", "bootstrap")


def check_returns(returns: str) -> None:
    """Raise ConfigError on an unknown name."""
    if returns not in RETURNS:
        raise ConfigError("unknown segment return", "returns", repr(returns), ", ".join(RETURNS))


def check_length(length: int) -> None:
    """Raise ConfigError on a length below 1."""
    if length < 1:
        raise ConfigError("a segment needs at least one decision", "segment_len", str(length), ">= 1")


def segment_units(table: StepTable, segment_N: I64, returns: SegmentReturn) -> Units:
    """Return one unit per (rollout, agent, segment)."""
    live = live_rows(table)
    samples = samples_of(table, live)
    cell, n = dense(samples.of_N, segment_N)
    first = first_decisions(table, live, cell)
    sample = samples.of_N[first]
    own = cell_sum(np.where(live, table.r_out, 0.0), cell, n)
    paid = _paid(table, live, samples, first, own, returns)
    scores = cells_of(table, live, cell, n, paid, segment_N[first])
    return Units(live, cell, n, scores, samples, sample)


def _paid(table: StepTable, live: Bool, samples: Cells, first: I64, own: F64, returns: SegmentReturn) -> F64:
    sample = samples.of_N[first]
    if returns == "own":
        return own
    if returns == "inherit":
        return samples.out[sample]
    remaining = _remaining(own, sample)
    return remaining if returns == "to_go" else own + _next_value(table, live, first, sample, remaining)


def _remaining(own_S: F64, sample_S: I64) -> F64:
    """Return each segment's own reward plus that of the later segments of its sample (segments come in order)."""
    return to_go(own_S, sample_S, np.arange(len(own_S)), np.ones(len(own_S)))


def _next_value(table: StepTable, live: Bool, first: I64, sample: I64, remaining: F64) -> F64:
    """Return what the next segment is worth on average over the segments of the group that begin at its anchor."""
    place, n = dense(table.group_id[first], table.agent[first], table.obs_key[first])
    counts = live[first].astype(np.float64)
    value = cell_sum(remaining * counts, place, n) / np.maximum(cell_sum(counts, place, n), 1.0)
    begun = np.flatnonzero(live[first])  # a segment without a decision begins nowhere
    same = sample[begun][1:] == sample[begun][:-1]
    ahead = np.zeros(len(first))
    ahead[begun[:-1]] = np.where(same, value[place][begun][1:], 0.0)
    return ahead


def count_cuts(table: StepTable, cut_N: Bool) -> I64:
    """Return (N,) how many cuts a sample has had up to and including each decision."""
    order = in_order(*_by_sample(table))
    sample, cuts = _by_sample(table)[0][order], np.cumsum(cut_N[order])
    begins = np.concatenate((np.ones(min(len(order), 1), bool), sample[1:] != sample[:-1]))
    before = np.maximum.accumulate(np.where(begins, cuts - cut_N[order], 0))
    result = np.empty(len(order), np.int64)
    result[order] = cuts - before
    return result


def after(table: StepTable, flag_N: Bool) -> Bool:
    """Return (N,) whether the decision before, in the same sample, is flagged."""
    sample, turn = _by_sample(table)
    order = in_order(sample, turn)
    result = np.zeros(len(order), bool)
    result[order[1:]] = flag_N[order[:-1]] & (sample[order[1:]] == sample[order[:-1]])
    return result


def _by_sample(table: StepTable) -> tuple[I64, I64]:
    return dense(table.rollout_id, table.agent)[0], table.turn


@dataclass(frozen=True, slots=True)
class SegmentUnit:
    """``segment_len`` consecutive decisions of one agent, counted from its first one.

    Raises ConfigError on a length below 1 or an unknown return.
    """

    segment_len: int = 8
    returns: SegmentReturn = "to_go"
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_length(self.segment_len)
        check_returns(self.returns)

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, turn // segment_len)."""
        return segment_units(table, table.turn // self.segment_len, self.returns)


@dataclass(frozen=True, slots=True)
class RandomPhaseUnit:
    """Segments of ``segment_len`` decisions whose first one is shorter, by a phase drawn per instance.

    All rollouts of an instance share the phase, so that segments of one index still cover the same turns; over
    instances no turn is always the last of its segment. ``phase_seed`` keys the draw.
    Raises ConfigError as :class:`SegmentUnit`.
    """

    segment_len: int = 8
    returns: SegmentReturn = "to_go"
    phase_seed: int = 0
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_length(self.segment_len)
        check_returns(self.returns)

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, (turn + phase) // segment_len)."""
        instance, n = dense(table.scenario_seed, table.day)
        first = cell_first(instance, table.turn)
        noise = Noise(self.phase_seed, "credit/phase")
        drawn = [noise.uniform(int(table.scenario_seed[row]), int(table.day[row])) for row in first]
        phase = np.floor(np.array(drawn) * self.segment_len).astype(np.int64) if n else np.zeros(0, np.int64)
        return segment_units(table, (table.turn + phase[instance]) // self.segment_len, self.returns)
