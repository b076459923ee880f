"""Scoring a step table the way one would first write it: rows in a loop, statistics in dictionaries.

It does what :func:`~masim.learn.advantages.assemble.advantages` does with GiGPO on rows in order: it refuses broken
rows, sums outcomes and penalties, counts first visits for the log, compares rollouts, decisions and penalties. One
pass over the rows for each of these steps, nothing quadratic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite, sqrt
from typing import Any

from masim.rollout.types import StepTable

NAMES = (
    "group_id", "scenario_seed", "day", "reset_digest", "rollout_id", "agent", "turn", "obs_key", "next_obs_key",
    "r_out", "r_pen", "valid", "masked",
)  # fmt: skip
Rows = list[tuple[Any, ...]]


def columns_of(table: StepTable) -> Rows:
    """Return the rows that the loop reads, as plain values; making them is not timed."""
    return list(zip(*(getattr(table, name).tolist() for name in NAMES), strict=True))


def looped(rows: Rows, gamma: float = 0.95, eps: float = 1e-6, w_pen: float = 0.1) -> tuple[list[float], float]:
    """Return the advantages of the rows and the mean coverage of the samples."""
    live = _live(rows)
    outcome: dict[Any, float] = defaultdict(float)
    penalty: dict[Any, float] = defaultdict(float)
    steps: dict[Any, int] = defaultdict(int)
    group_of: dict[Any, Any] = {}
    for row, counts in zip(rows, live, strict=True):
        if counts:
            sample = (row[4], row[5])
            outcome[sample] += row[9]
            penalty[sample] += row[10]
            steps[sample] += 1
            group_of[sample] = (row[0], row[5])
    whole = dict(zip(outcome, _compared(group_of.values(), list(outcome.values()), eps), strict=True))
    centred = dict(zip(penalty, _compared(group_of.values(), list(penalty.values()), None), strict=True))
    returns, states = _returns(rows, live, gamma)
    step = _compared(states, returns, eps)
    total = [
        whole[row[4], row[5]] + step[i] + w_pen * centred[row[4], row[5]] if live[i] else 0.0
        for i, row in enumerate(rows)
    ]
    news = _first_visits(rows, live)
    return total, sum(news[sample] / n for sample, n in steps.items()) / len(steps)


def _live(rows: Rows) -> list[bool]:
    """Return which rows count. Raises ValueError on rows that mean nothing."""
    broken, seen = set(), set()
    instance: dict[Any, Any] = {}
    for row in rows:
        if row[12]:
            broken.add(row[4])
    live = []
    for row in rows:
        if (place := (row[4], row[5], row[6])) in seen:
            raise ValueError(f"twice: {place}")
        seen.add(place)
        counts = row[11] and row[4] not in broken
        live.append(counts)
        if counts:
            if not (isfinite(row[9]) and isfinite(row[10])):
                raise ValueError(f"not finite: {place}")
            if instance.setdefault(row[0], row[1:4]) != row[1:4]:
                raise ValueError(f"another instance: {place}")
    return live


def _returns(rows: Rows, live: list[bool], gamma: float) -> tuple[list[float], list[Any]]:
    returns, states, ahead, last = [0.0] * len(rows), [None] * len(rows), 0.0, None
    for i in range(len(rows) - 1, -1, -1):
        row = rows[i]
        if live[i]:
            sample = (row[4], row[5])
            ahead = row[9] + (gamma * ahead if sample == last else 0.0)
            returns[i], last, states[i] = ahead, sample, (row[0], row[5], row[7])  # type: ignore[call-overload]
    return returns, states


def _first_visits(rows: Rows, live: list[bool]) -> dict[Any, int]:
    visited: dict[Any, set[int]] = {}
    news: dict[Any, int] = defaultdict(int)
    for row, counts in zip(rows, live, strict=True):
        if counts:
            sample = (row[4], row[5])
            seen = visited.get(sample)
            if seen is None:
                seen = visited[sample] = {row[7]}
            if row[8] not in seen:
                seen.add(row[8])
                news[sample] += 1
    return news


def _compared(keys: Iterable[Any], values: Sequence[float], eps: float | None) -> list[float]:
    """Return ``value - mean`` within each key, over ``std + eps`` where there is an eps."""
    given = list(keys)
    sums: dict[Any, list[float]] = {}
    for key, value in zip(given, values, strict=True):
        seen = sums.get(key)
        if seen is None:
            sums[key] = [1.0, value, value * value]
        else:
            seen[0] += 1.0
            seen[1] += value
            seen[2] += value * value
    scale: dict[Any, tuple[float, float]] = {}
    for key, (n, total, squares) in sums.items():
        mean = total / n
        spare = max(squares - n * mean * mean, 0.0)
        scale[key] = (mean, 1.0 if n == 1 or eps is None else sqrt(spare / (n - 1)) + eps)
    return [(value - scale[key][0]) / scale[key][1] for key, value in zip(given, values, strict=True)]
