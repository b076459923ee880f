"""One token from a model's logits: the most probable one, or one drawn with a uniform that is given."""

from __future__ import annotations

import torch
from torch import Tensor


def pick(logits: Tensor, uniform: float, temperature: float, allowed: Tensor | None = None) -> tuple[int, float]:
    """Return a token of the (V,) logits and its log-probability at that temperature (0 for the best one at 0).

    ``allowed`` holds the only tokens that may be taken, in rising order; the others have no probability.
    """
    x = (logits if allowed is None else logits[allowed]).double()
    if temperature == 0.0:
        at, logp = int(x.argmax()), 0.0
    else:
        p = (x / temperature).softmax(-1)
        total = p.cumsum(-1)
        at = min(int(torch.searchsorted(total, uniform * total[-1], right=True)), len(p) - 1)
        logp = float(p[at].log())
    return (at if allowed is None else int(allowed[at])), logp
