"""Ratios that several decisions share: of a sequence (GSPO), of a set of agents (SRPO).

What shares a ratio is a credit unit; one unit, one ratio, one clip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from masim.arrays import F64, I64


@dataclass(frozen=True, slots=True)
class Shared:
    """Which rows of a minibatch share a ratio (n,), and what the sum of their log-ratios is divided by (units,)."""

    unit: Tensor
    divisor: Tensor

    def spread(self, log_ratio: Tensor) -> Tensor:
        """Return (n,) the log-ratio of each row's unit, with gradients to all of its rows."""
        total = log_ratio.new_zeros(len(self.divisor)).index_add(0, self.unit, log_ratio)
        return (total / self.divisor.to(total))[self.unit]


def shared(kind: str, unit_n: I64, n_tokens: F64 | I64 | None) -> Shared | None:
    """Return who shares a ratio: None for ``decision``.

    ``sequence``: log-ratios per token of the unit (per decision where no tokens are counted), GSPO, arXiv 2507.18071.
    ``set``: the sum over the K members over ``sqrt(K)``, SRPO.
    """
    if kind == "decision":
        return None
    _, unit = np.unique(unit_n, return_inverse=True)
    divisor = np.bincount(unit, n_tokens) if kind == "sequence" else np.sqrt(np.bincount(unit))
    return Shared(torch.from_numpy(unit), torch.from_numpy(np.maximum(divisor, 1.0)))
