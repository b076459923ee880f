"""The clipped policy-gradient loss over decisions. Axes: n decisions of one minibatch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.ratios import Shared


@dataclass(frozen=True, slots=True)
class LossTerms:
    """One minibatch. ``total`` carries the gradient, the others are for the log."""

    total: Tensor
    policy: float
    entropy: float
    kl_old: float
    """k3 estimate of the divergence from the policy that acted."""
    kl_reference: float
    clip_fraction: float
    """Weighted share of decisions whose gradient the clip removed."""


@dataclass(frozen=True, slots=True)
class LossOptions:
    """Clip bounds and weights, as in the learner's configuration."""

    eps_low: float
    eps_high: float
    entropy_coef: float
    kl_coef: float


def row_weights(scored_N: Bool, sample_N: I64, weighting: str, n_tokens: I64 | None = None) -> F64:
    """Return (N,) weights before normalisation: 1 per decision ("step"), 1/T ("rollout"), its tokens ("token").

    T counts the scored decisions of the sample. Rows that are not scored weigh 0. Raises ConfigError for tokens that
    the table does not count.
    """
    scored = scored_N.astype(np.float64)
    if weighting == "token":
        if n_tokens is None:
            fix = "weighting: step or rollout; tokens come with language models"
            raise ConfigError("the table counts no tokens", "weighting", "token", "step, rollout", fix)
        return scored * n_tokens
    if weighting == "step":
        return scored
    return scored / np.maximum(np.bincount(sample_N, scored), 1.0)[sample_N]


def clipped_loss(
    logp: Tensor, entropy: Tensor, old: Tensor, advantage: Tensor, weight: Tensor, options: LossOptions,
    reference: Tensor | None = None, share: Shared | None = None, mass: float | None = None,
) -> LossTerms:  # fmt: skip
    """Return ``-sum w min(r A, clip(r) A) - c_H H + c_KL k3``, weights divided by ``mass`` (all shapes (n,)).

    ``mass`` is their own sum, unless these are a part of a step whose weights sum to more.

    ``r = exp(logp - old)``, or what ``share`` makes of it. Without a reference its divergence is 0.
    """
    weight = weight / (weight.sum() if mass is None else mass)
    log_ratio = logp - old if share is None else share.spread(logp - old)
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1.0 - options.eps_low, 1.0 + options.eps_high)
    policy = -(weight * torch.minimum(ratio * advantage, clipped * advantage)).sum()
    bonus = (weight * entropy).sum()
    total = policy - options.entropy_coef * bonus
    kl_reference = logp.new_zeros(())
    if reference is not None:
        kl_reference = (weight * k3(logp, reference)).sum()
        total = total + options.kl_coef * kl_reference
    with torch.no_grad():
        removed = (weight * (clipped * advantage < ratio * advantage)).sum()
        kl_old = (weight * k3(old, logp)).sum()
    parts = (policy, bonus, kl_old, kl_reference, removed)
    return LossTerms(total, *(float(part.detach()) for part in parts))


def truncated_weights(start: Tensor, acted: Tensor, cap: float) -> Tensor:
    """Return (n,) ``min(exp(start - acted), cap)``: how much a decision of another policy counts."""
    return (start - acted).exp().clamp(max=cap)


def k3(logp: Tensor, other: Tensor) -> Tensor:
    """Return the estimate of ``KL(p || q)`` from samples of p: ``exp(q - p) - (q - p) - 1``, never negative."""
    gap = other - logp
    return gap.exp() - gap - 1.0
