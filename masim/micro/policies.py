"""Policies that need no learning: the uniform one, and one that is given by a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from masim.micro.game import View


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every call alike."""

    def probabilities(self, view: View, n_actions: int) -> Sequence[float]:
        """Return equal probabilities."""
        return (1.0 / n_actions,) * n_actions


@dataclass(frozen=True, slots=True)
class Certain:
    """Always the call that a function names."""

    choose: Callable[[View], int]

    def probabilities(self, view: View, n_actions: int) -> Sequence[float]:
        """Return 1 for the chosen call and 0 for all others."""
        chosen = self.choose(view)
        return tuple(float(action == chosen) for action in range(n_actions))


@dataclass(frozen=True, slots=True)
class Mixed:
    """Follows ``mostly``, and with probability ``slip`` any call."""

    mostly: Certain
    slip: float

    def probabilities(self, view: View, n_actions: int) -> Sequence[float]:
        """Return the mixture of both."""
        sure = self.mostly.probabilities(view, n_actions)
        return tuple((1.0 - self.slip) * p + self.slip / n_actions for p in sure)
