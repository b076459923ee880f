"""Paired measurements: what is compared runs in turn, so that a machine whose speed drifts moves both alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, smallest and largest of some plain runs."""

    mean: float
    median: float
    low: float
    high: float
    n: int


def spread(values: Sequence[float]) -> Spread:
    """Summarise some runs, of which there must be one."""
    return Spread(sum(values) / len(values), median(values), min(values), max(values), len(values))


def in_turn(subjects: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Run every subject once per round, A B C A B C ..., after one round that is not counted."""
    found: dict[str, list[T]] = {name: [] for name in subjects}
    for n in range(rounds + 1):
        for name, run in subjects.items():
            result = run()
            if n > 0:
                found[name].append(result)
    return found


def ratios(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Summarise the ratios of runs that were made in the same round."""
    return spread([a / b for a, b in zip(above, below, strict=True)])
