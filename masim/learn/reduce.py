"""Segment reductions over the step table: everything the estimators need from numpy, none of it knows what a reward is.

A *cell* is a set of rows with equal ids. Ids are dense and ordered by value, never by row, so every result moves with
its row when the rows are permuted.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masim.arrays import F64, I64, U64, Bool

Column = npt.NDArray[np.generic]


def dense(*columns: Column) -> tuple[I64, int]:
    """Return ids 0..n-1 of the distinct rows of ``columns`` (each (N,)), ordered lexicographically, and ``n``."""
    ids, count = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        values, inverse = np.unique(column, return_inverse=True)
        found, ids = np.unique(ids * len(values) + inverse, return_inverse=True)
        count = len(found)
    return ids.astype(np.int64), count if len(ids) else 0


def cell_sum(values_N: F64, cell_N: I64, n_cells: int) -> F64:
    """Return the (n_cells,) sums."""
    return np.bincount(cell_N, values_N, n_cells).astype(np.float64)


def cell_any(flags_N: Bool, cell_N: I64, n_cells: int) -> Bool:
    """Return (n_cells,) whether any row of the cell is set."""
    return np.bincount(cell_N, flags_N, n_cells) > 0


def cell_min(values_N: F64, cell_N: I64, n_cells: int) -> F64:
    """Return the (n_cells,) minima; an empty cell gives 0."""
    low = np.full(n_cells, np.inf)
    np.minimum.at(low, cell_N, values_N)
    return np.where(np.isfinite(low), low, 0.0)


def cell_first(cell_N: I64, order_N: Column) -> I64:
    """Return (n_cells,) the row of each cell with the smallest ``order_N``. Every cell must own a row."""
    rows = np.lexsort((order_N, cell_N))
    return rows[_starts(cell_N[rows])].astype(np.int64)


def _starts(sorted_ids: I64) -> Bool:
    """Return whether each entry begins a run of equal values."""
    return np.concatenate((np.ones(min(len(sorted_ids), 1), bool), sorted_ids[1:] != sorted_ids[:-1]))


@dataclass(frozen=True, slots=True)
class GroupStats:
    """Statistics of live members, repeated for every member (same axis as the input)."""

    size: I64
    mean: F64
    deviation: F64
    """Value minus mean, 0 for members that are not live or alone."""
    square_sum: F64
    """Sum of squared deviations of the group."""

    def std(self, ddof: int) -> F64:
        """Return the standard deviation; 0 where the group is too small for ``ddof``."""
        return np.sqrt(self.square_sum / np.maximum(self.size - ddof, 1))

    def equal(self, tolerance: float = 1e-9) -> Bool:
        """Return whether the live members of the group all have the same value, but for rounding."""
        return self.std(0) < tolerance


def group_stats(values: F64, group: I64, live: Bool) -> GroupStats:
    """Return the statistics of ``values`` inside each group, over live members only; each member counts once."""
    n = int(group.max()) + 1 if len(group) else 0
    size = np.bincount(group, live, n).astype(np.int64)
    mean = cell_sum(np.where(live, values, 0.0), group, n) / np.maximum(size, 1)
    deviation = np.where(live & (size[group] > 1), values - mean[group], 0.0)
    squares = cell_sum(deviation**2, group, n)
    return GroupStats(size[group], mean[group], deviation, squares[group])


def first_visits(sample_N: I64, turn_N: I64, key_N: U64, next_key_N: U64) -> Bool:
    """Return (N,) whether the observation after each decision is new to its sample.

    ``visited`` begins as the observation before the first decision; decision t is a first visit iff the observation
    that follows it is not yet in ``visited`` (arXiv 2607.22724). Rows may come in any order.
    """
    if not len(turn_N):
        return np.zeros(0, bool)
    start = cell_first(sample_N, turn_N)
    sample = np.concatenate((sample_N[start], sample_N))
    turn = np.concatenate((np.full(len(start), np.iinfo(np.int64).min), turn_N))
    key = np.concatenate((key_N[start], next_key_N))
    cell, _ = dense(sample, key)
    first = np.zeros(len(sample), bool)
    first[cell_first(cell, turn)] = True
    return first[len(start) :]


def to_go(reward_N: F64, sample_N: I64, turn_N: I64, discount_N: F64) -> F64:
    """Return ``G_t = r_t + discount_t * G_{t+1}`` inside each sample; the last ``discount`` of a sample is unused."""
    order = np.lexsort((turn_N, sample_N))
    begins = np.flatnonzero(_starts(sample_N[order]))
    lengths = np.diff(np.append(begins, len(order)))
    from_end = np.repeat(begins + lengths, lengths) - 1 - np.arange(len(order))
    total, discount = reward_N[order].astype(np.float64), discount_N[order]
    by_depth = np.argsort(from_end, kind="stable")
    bounds = np.cumsum(np.bincount(from_end)) if len(order) else np.zeros(0, np.int64)
    for low, high in itertools.pairwise(bounds):
        rows = by_depth[low:high]
        total[rows] += discount[rows] * total[rows + 1]
    result = np.empty(len(order))
    result[order] = total
    return result


def step_gaps(value_N: F64, sample_N: I64, turn_N: I64) -> F64:
    """Return ``value_{t+1} - value_t`` inside each sample, 0 at its last decision."""
    order = np.lexsort((turn_N, sample_N))
    value, sample = value_N[order], sample_N[order]
    gaps = np.zeros(len(order))
    gaps[:-1] = np.where(sample[1:] == sample[:-1], value[1:] - value[:-1], 0.0)
    result = np.empty(len(order))
    result[order] = gaps
    return result
