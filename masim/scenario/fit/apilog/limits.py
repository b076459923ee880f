"""Rate limits from 429s: the token bucket whose refusals agree best with the log's.

Every vendor has a bucket per endpoint that starts full. A whole grid of buckets is played over the calls at once, and
the one that disagrees with the fewest calls (refused but had a token, or answered without one) is taken. The interval
holds the rates that disagree hardly more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masim.arrays import F64, Bool
from masim.scenario.fit.apilog.estimates import Estimate

MAX_CALLS = 20_000
"""Calls that are looked at, around the first refusals."""
MIN_REFUSED = 5
SLACK = 2
"""Disagreements above the fewest that a rate may have and still be in the interval, plus a tenth."""
POOR = 0.2
"""Share of the refused calls above which a token bucket does not describe the limit well."""
_BURSTS = np.unique(np.round(np.geomspace(1, 200, 30)).astype(int)).astype(float)
_FACTORS = np.geomspace(0.9, 3.0, 31)
_WHOLE = 1.0 - 1e-6
_STEPS = (1, 3, 10, 30, 100, 300)
"""Refusals between the two that are compared."""
_FINE = np.geomspace(0.95, 1.05, 21)


@dataclass(frozen=True, slots=True)
class LimitFit:
    """Rate in calls per second and burst; ``disagree`` calls of ``calls`` do not fit; ``refused`` were 429s."""

    rate_per_s: Estimate
    burst: int
    retry_after: bool
    refused: int
    disagree: int
    calls: int

    @property
    def poor(self) -> bool:
        """Whether a token bucket describes the refusals badly."""
        return self.disagree > POOR * self.refused


def fit_limit(groups: Sequence[tuple[F64, Bool, Bool]]) -> LimitFit | None:
    """Fit one bucket to ``(t_s, refused, told)`` of each vendor; ``None`` with fewer than 5 refusals."""
    refused = sum(int(group[1].sum()) for group in groups)
    if refused < MIN_REFUSED:
        return None
    used = [_around_refusals(t_s, flags) for t_s, flags, _ in groups if flags.any()]
    least = max(_least_rate(t_s, flags) for t_s, flags in used)
    rates, bursts, wrong = _grid(used, least * _FACTORS, _BURSTS)
    centre, near = _best(rates, bursts, wrong)
    fine = np.arange(max(1.0, near - 8.0), near + 9.0) if near < 50 else near * np.linspace(0.8, 1.2, 17).round(2)
    rates, bursts, wrong = _grid(used, centre * _FINE, np.unique(np.round(fine)))
    rate, burst = _best(rates, bursts, wrong)
    good = rates[wrong <= wrong.min() + SLACK + 0.1 * wrong.min()]
    told = sum(int((flags & says).sum()) for _, flags, says in groups)
    step = _FINE[1] / _FINE[0]
    interval = Estimate(rate, float(good.min()) / step, float(good.max()) * step, refused)
    n = sum(len(t_s) for t_s, _ in used)
    return LimitFit(interval, int(burst), told > 0.5 * refused, refused, int(wrong.min()), n)


def _around_refusals(t_s: F64, refused: Bool) -> tuple[F64, Bool]:
    """Return the calls from shortly before the first refusal on, at most :data:`MAX_CALLS`."""
    first = max(0, int(np.argmax(refused)) - MAX_CALLS // 4)
    return t_s[first : first + MAX_CALLS], refused[first : first + MAX_CALLS]


def _least_rate(t_s: F64, refused: Bool) -> float:
    """Return a rate that the bucket has at least: it is empty at a refusal, so what is answered until another one
    came in meanwhile, but for one token.
    """
    at = np.flatnonzero(refused)
    answered, moments = np.cumsum(~refused)[at], t_s[at]
    least = 0.0
    for step in _STEPS:
        if step < len(at):
            spent = np.maximum(moments[step:] - moments[:-step], 1e-3)
            least = max(least, float(((answered[step:] - answered[:-step] - 1) / spent).max()))
    return least or 1.0 / max(float(t_s[-1] - t_s[0]), 1.0)


def _grid(used: Sequence[tuple[F64, Bool]], rates: F64, bursts: F64) -> tuple[F64, F64, F64]:
    """Return rate, burst and number of disagreeing calls of every bucket of a grid.

    After a disagreement a bucket holds what the log says, so that one does not bring the next.
    """
    rate, burst = (axis.ravel() for axis in np.meshgrid(rates, bursts, indexing="ij"))
    wrong = np.zeros(rate.size)
    for t_s, refused in used:
        tokens = burst.copy()
        for gap, no in zip(np.diff(t_s, prepend=t_s[0]).tolist(), refused.tolist(), strict=True):
            np.minimum(burst, tokens + gap * rate, out=tokens)
            if no:
                wrong += tokens >= _WHOLE
                np.minimum(tokens, 1.0, out=tokens)
            else:
                wrong += tokens < _WHOLE
                np.maximum(tokens, 1.0, out=tokens)
                tokens -= 1.0
    return rate, burst, wrong


def _best(rates: F64, bursts: F64, wrong: F64) -> tuple[float, float]:
    """Return rate and burst in the middle of the buckets that disagree least."""
    at = np.flatnonzero(wrong == wrong.min())
    middle = at[np.argsort(rates[at], kind="stable")[len(at) // 2]]
    return float(rates[middle]), float(bursts[middle])
