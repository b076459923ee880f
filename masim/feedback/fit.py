"""Fit utilities to comparisons: Bradley-Terry with ties as Davidson (1970) has them, and a ridge on the weights.

With ``d`` the utility of ``a`` less that of ``b``, the three outcomes have the probabilities ``softmax(d/2, -d/2, t)``.
The loss is convex. How strong the ridge is, is chosen among :data:`RIDGES` by the log-likelihood of comparisons that
were left out; the same folds say how many of them the model ranks right. The same data give the same model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import RunError

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 5
MIN_DECIDED = 10
"""Fewest comparisons with a winner that a model is fitted to."""
_TIE_RIDGE = 1e-3
A, B, TIE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Comparisons:
    """C judgements on U units: who was compared (rows of the features), and what came out."""

    features_UF: F64
    a_C: I64
    b_C: I64
    outcome_C: I64
    """:data:`A`, :data:`B` or :data:`TIE`."""

    def __len__(self) -> int:
        return len(self.outcome_C)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of standardised features, and how well they rank what they were not fitted to."""

    mean: F64
    scale: F64
    weights: F64
    tie: float | None
    l2: float
    held_out_right: int
    held_out: int
    """Decided comparisons that were left out once."""


def fit(data: Comparisons, ridges: tuple[float, ...] = RIDGES) -> Fitted:
    """Fit. Raises RunError with fewer than :data:`MIN_DECIDED` decided comparisons."""
    decided = int((data.outcome_C != TIE).sum())
    if decided < MIN_DECIDED:
        fix = "judge more pairs: masim label RUN"
        raise RunError(
            "too few comparisons for a reward model", "labels", f"{decided} decided", f">= {MIN_DECIDED}", fix
        )
    used = np.unique(np.concatenate((data.a_C, data.b_C)))
    mean, scale = data.features_UF[used].mean(axis=0), data.features_UF[used].std(axis=0)
    scale = np.where(scale > 1e-12 * np.maximum(1.0, np.abs(mean)), scale, 0.0)
    z = np.where(scale > 0, (data.features_UF - mean) / np.where(scale > 0, scale, 1.0), 0.0)
    delta_CF = z[data.a_C] - z[data.b_C]
    fold_C = _folds(data)
    tried = [(_left_out(delta_CF, data.outcome_C, fold_C, l2), l2) for l2 in ridges]
    (_, right), l2 = max(tried, key=lambda found: (found[0][0], found[1]))
    weights, tie = _solve(delta_CF, data.outcome_C, l2)
    return Fitted(mean, scale, weights, tie, l2, right, decided)


def _folds(data: Comparisons) -> I64:
    """Return the fold of each comparison: those of one pair of units stay together, in the order of their first."""
    pairs = np.sort(np.stack((data.a_C, data.b_C), axis=1), axis=1)
    _, first, of_C = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    folds: I64 = rank[of_C.reshape(-1)] % FOLDS
    return folds


def _left_out(delta_CF: F64, outcome_C: I64, fold_C: I64, l2: float) -> tuple[float, int]:
    """Return the log-likelihood of comparisons under models that did not see them, and how many they rank right."""
    likely, right = 0.0, 0
    for fold in range(FOLDS):
        out: Bool = fold_C == fold
        if not out.any() or out.all():
            continue
        weights, tie = _solve(delta_CF[~out], outcome_C[~out], l2)
        d = delta_CF[out] @ weights
        shares = _log_shares(d, -np.log(1e6) if tie is None else tie)
        likely += float(shares[np.arange(len(d)), outcome_C[out]].sum())
        right += int(((d > 0) & (outcome_C[out] == A)).sum() + ((d < 0) & (outcome_C[out] == B)).sum())
    return likely, right


def _log_shares(d_C: F64, tie: float) -> F64:
    """Return (C, 3) log-probabilities of a, b and a tie."""
    logits = np.stack((d_C / 2, -d_C / 2, np.full(len(d_C), tie)), axis=1)
    top = logits.max(axis=1, keepdims=True)
    result: F64 = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
    return result


def _solve(delta_CF: F64, outcome_C: I64, l2: float) -> tuple[F64, float | None]:
    """Return weights and the log-odds of a tie; None where there is none."""
    from scipy.optimize import minimize

    ties = bool((outcome_C == TIE).any())
    n = delta_CF.shape[1]
    happened = np.eye(3)[outcome_C]
    ridge = np.append(np.full(n, l2), [_TIE_RIDGE] * ties)

    def shares(x: F64) -> F64:
        return _log_shares(delta_CF @ x[:n], float(x[n]) if ties else -np.inf)

    def loss(x: F64) -> tuple[float, F64]:
        log = shares(x)
        gap = np.exp(log) - happened
        value = 0.5 * float(ridge @ x**2) - float(np.where(happened > 0, log, 0.0).sum())
        slope = delta_CF.T @ ((gap[:, A] - gap[:, B]) / 2)
        return value, np.append(slope, [gap[:, TIE].sum()] * ties) + ridge * x

    def curvature(x: F64) -> F64:
        p = np.exp(shares(x))
        lean, even = (p[:, A] - p[:, B]) / 2, p[:, TIE]
        result: F64 = np.diag(ridge)
        result[:n, :n] += (delta_CF.T * ((1 - even) / 4 - lean**2)) @ delta_CF
        if ties:
            result[n, :n] = result[:n, n] = -delta_CF.T @ (lean * even)
            result[n, n] += float((even * (1 - even)).sum())
        return result

    found = minimize(loss, np.zeros(n + ties), jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-6})
    return np.asarray(found.x[:n], np.float64), float(found.x[n]) if ties else None
