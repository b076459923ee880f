"""Standard errors from the curvature of a loss at its minimum (observed information)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.arrays import F64


def curvature_errors(loss: Callable[[F64], float], theta: F64, step: float) -> F64 | None:
    """Return standard errors of the parameters; ``None`` where the information is not positive definite."""
    k = len(theta)
    moves = step * np.eye(k)
    centre = loss(theta)
    hessian = np.empty((k, k))
    for i in range(k):
        hessian[i, i] = loss(theta + moves[i]) - 2.0 * centre + loss(theta - moves[i])
        for j in range(i):
            plus = loss(theta + moves[i] + moves[j]) + loss(theta - moves[i] - moves[j])
            cross = loss(theta + moves[i] - moves[j]) + loss(theta - moves[i] + moves[j])
            hessian[i, j] = hessian[j, i] = 0.25 * (plus - cross)
    try:
        np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(step * np.sqrt(np.diag(np.linalg.inv(hessian))))
