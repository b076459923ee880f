"""Noise that turns log-probabilities into a sample: the largest of log-probability plus noise is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masim.arrays import F32
from masim.policy.base import Ask
from masim.rng import mixed_uniforms


def gumbel(asks: Sequence[Ask]) -> F32:
    """Return standard Gumbel noise for every legal candidate of all questions, from each rollout's own keyed source."""
    counts = [len(ask.decision.legal) for ask in asks]
    seeds = [ask.noise.seed64("choice", ask.decision.agent, ask.decision.turn) for ask in asks]
    actions = np.concatenate([ask.decision.legal for ask in asks]).astype(np.uint64)
    u = mixed_uniforms(np.repeat(np.array(seeds, dtype=np.uint64), counts), actions)
    return np.asarray(-np.log(-np.log(np.clip(u, 1e-12, 1.0 - 1e-12))), dtype=np.float32)
