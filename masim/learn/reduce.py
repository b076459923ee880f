"""Segment reductions over the step table: everything the estimators need from numpy, none of it knows what a reward is.

A *cell* is a set of rows with equal ids. Ids are dense and ordered by value, never by row, so every result moves with
its row when the rows are permuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masim.arrays import F64, I64, U64, Bool

Column = npt.NDArray[Any]
_DENSE_PER_ROW, _DENSE_SPARE = 4, 1024
"""Ranges up to so many values per row are counted."""


def dense(*columns: Column) -> tuple[I64, int]:
    """Return ids 0..n-1 of the distinct rows of ``columns`` (each (N,)), ordered lexicographically, and ``n``."""
    ids, count = _ranks(columns[0])
    for column in columns[1:]:
        ranks, n = _ranks(column)
        ids, count = _ranks(ids * n + ranks)
    return ids, count


def _ranks(column: Column) -> tuple[I64, int]:
    """Return the rank of each value among the distinct ones, and their number.

    Integers within a small range are counted, others are hashed; both take time linear in the rows.
    """
    if not len(column):
        return np.zeros(0, np.int64), 0
    if column.dtype == np.bool_:
        column = column.view(np.int8)
    if column.dtype.kind not in "iu":
        values, inverse = np.unique(column, return_inverse=True)
        return inverse.astype(np.int64), len(values)
    low, high = column.min(), column.max()
    if int(high) - int(low) <= _DENSE_PER_ROW * len(column) + _DENSE_SPARE:
        return _counted((column - low).astype(np.int64), int(high) - int(low) + 1)
    return _hashed(column)


def _counted(offset: I64, span: int) -> tuple[I64, int]:
    seen = np.zeros(span, bool)
    seen[offset] = True
    rank = np.cumsum(seen) - 1
    return rank[offset], int(rank[-1]) + 1


def _hashed(column: Column) -> tuple[I64, int]:
    import pandas as pd

    codes, values = pd.factorize(column)
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(values)] = np.arange(len(values))
    return rank[codes], len(values)


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
    rows = in_order(cell_N, order_N)
    return rows[_starts(cell_N[rows])]


def in_order(cell_N: I64, order_N: Column) -> I64:
    """Return the rows by cell and, within it, by ``order_N``; rows that come in this order are not sorted again."""
    step = cell_N[1:] - cell_N[:-1]
    if np.all((step > 0) | ((step == 0) & (order_N[1:] >= order_N[:-1]))):
        return np.arange(len(cell_N))
    return np.lexsort((order_N, cell_N)).astype(np.int64)


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


def group_stats(values: F64, group: I64, live: Bool | None = None) -> GroupStats:
    """Return the statistics of ``values`` inside each group, over live members only; each member counts once."""
    n = int(group.max()) + 1 if len(group) else 0
    live = np.ones(len(group), bool) if live is None else live
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
    order = in_order(sample_N, turn_N)
    sample, key, after = sample_N[order], key_N[order], next_key_N[order]
    start = np.flatnonzero(_starts(sample))
    place, n = dense(np.concatenate((sample[start], sample)), np.concatenate((key[start], after)))
    begins, place = place[: len(start)], place[len(start) :]
    earliest = np.empty(n, np.int64)
    earliest[place[::-1]] = np.arange(len(order))[::-1]  # the last write to a cell is its first row
    earliest[begins] = -1
    first = np.empty(len(order), bool)
    first[order] = earliest[place] == np.arange(len(order))
    return first


def to_go(reward_N: F64, sample_N: I64, turn_N: I64, discount_N: F64) -> F64:
    """Return ``G_t = r_t + discount_t * G_{t+1}`` inside each sample; the last ``discount`` of a sample is unused."""
    order = in_order(sample_N, turn_N)
    begins = np.flatnonzero(_starts(sample_N[order]))
    lengths = np.diff(np.append(begins, len(order)))
    longest = np.argsort(-lengths, kind="stable")
    last, counts = (begins + lengths - 1)[longest], np.bincount(lengths)
    alive = len(lengths) - np.cumsum(counts)
    total, discount = reward_N[order].astype(np.float64), discount_N[order]
    for back in range(1, len(counts) - 1):
        rows = last[: alive[back]] - back
        total[rows] += discount[rows] * total[rows + 1]
    result = np.empty(len(order))
    result[order] = total
    return result


def step_gaps(value_N: F64, sample_N: I64, turn_N: I64) -> F64:
    """Return ``value_{t+1} - value_t`` inside each sample, 0 at its last decision."""
    order = in_order(sample_N, turn_N)
    value, sample = value_N[order], sample_N[order]
    gaps = np.zeros(len(order))
    gaps[:-1] = np.where(sample[1:] == sample[:-1], value[1:] - value[:-1], 0.0)
    result = np.empty(len(order))
    result[order] = gaps
    return result


def previous(value_N: I64, sample_N: I64, turn_N: I64, start: int) -> I64:
    """Return (N,) the value of the decision before in the same sample; ``start`` at its first one."""
    order = in_order(sample_N, turn_N)
    shifted = np.full(len(order), start, np.int64)
    shifted[1:] = np.where(sample_N[order][1:] == sample_N[order][:-1], value_N[order][:-1], start)
    result = np.empty(len(order), np.int64)
    result[order] = shifted
    return result


def following(value_N: F64, sample_N: I64, turn_N: I64) -> F64:
    """Return (N,) the value of the decision after in the same sample; 0 at its last one."""
    order = in_order(sample_N, turn_N)
    shifted = np.zeros(len(order))
    shifted[:-1] = np.where(sample_N[order][1:] == sample_N[order][:-1], value_N[order][1:], 0.0)
    result = np.empty(len(order))
    result[order] = shifted
    return result


def last_rows(sample_N: I64, turn_N: I64) -> I64:
    """Return the row of the last decision of each sample."""
    order = in_order(sample_N, turn_N)
    return order[np.append(np.flatnonzero(_starts(sample_N[order]))[1:], len(order)) - 1] if len(order) else order


def rank_within(cell_N: I64, turn_N: I64) -> I64:
    """Return (N,) how many rows of the same cell come before, by turn."""
    order = in_order(cell_N, turn_N)
    starts = np.flatnonzero(_starts(cell_N[order]))
    lengths = np.diff(np.append(starts, len(order)))
    result = np.empty(len(order), np.int64)
    result[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return result
