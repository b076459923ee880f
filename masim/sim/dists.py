"""Value-typed distributions: a frozen dataclass each, sampled by the inverse CDF of a uniform.

``ppf(u)`` maps u in [0, 1) to a value, so one keyed uniform gives one value and common random numbers hold. All
values are non-negative; units are those of the field that holds the distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

_NORMAL = NormalDist()
_z = _NORMAL.inv_cdf
_exp = math.exp
_EDGE = 1e-12
_LAST = 1.0 - _EDGE


class Dist(Protocol):
    """A non-negative random quantity."""

    def ppf(self, u: float) -> float:
        """Return the quantile of ``u``."""

    @property
    def mean(self) -> float:
        """Return the expectation."""


@dataclass(frozen=True, slots=True)
class Constant:
    """Always ``value``."""

    value: float

    def ppf(self, u: float) -> float:
        return self.value

    @property
    def mean(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True)
class Uniform:
    """Uniform on [low, high]."""

    low: float
    high: float

    def ppf(self, u: float) -> float:
        return self.low + u * (self.high - self.low)

    @property
    def mean(self) -> float:
        return 0.5 * (self.low + self.high)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Exponential with the given mean."""

    mean_value: float

    def ppf(self, u: float) -> float:
        return -self.mean_value * math.log1p(-u)

    @property
    def mean(self) -> float:
        return self.mean_value


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Log-normal by its median and the sigma of the underlying normal (WireMock's parameters)."""

    median: float
    sigma: float

    def ppf(self, u: float) -> float:
        if self.sigma == 0.0:
            return self.median
        if u < _EDGE:
            u = _EDGE
        elif u > _LAST:
            u = _LAST
        return self.median * _exp(self.sigma * _z(u))

    @property
    def mean(self) -> float:
        return self.median * math.exp(0.5 * self.sigma * self.sigma)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Part ``i`` with probability ``weights[i]``; the uniform is rescaled inside the chosen part."""

    weights: tuple[float, ...]
    parts: tuple[Dist, ...]

    def ppf(self, u: float) -> float:
        low = 0.0
        last = len(self.parts) - 1
        for i, (weight, part) in enumerate(zip(self.weights, self.parts, strict=True)):
            if u < low + weight or i == last:
                return part.ppf(min(max((u - low) / weight, 0.0), 1.0 - _EDGE))
            low += weight
        raise AssertionError("unreachable: a mixture has at least one part")

    @property
    def mean(self) -> float:
        return sum(w * part.mean for w, part in zip(self.weights, self.parts, strict=True))
