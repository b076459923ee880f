"""The loss against values worked out by hand, and its gradient against the policy gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from masim.errors import ConfigError
from masim.learn.losses import LossOptions, clipped_loss, k3, row_weights
from masim.learn.ratios import shared
from masim.learn.reduce import dense

PLAIN = LossOptions(0.2, 0.2, 0.0, 0.0)


def tensor(*values: float, grad: bool = False) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


def test_clipping_bounds_each_side_by_its_own_eps() -> None:
    old, new = tensor(0, 0, 0, 0), tensor(*map(math.log, (2.0, 0.5, 2.0, 0.5)))
    advantage = tensor(1, 1, -1, -1)
    terms = clipped_loss(new, tensor(0, 0, 0, 0), old, advantage, tensor(1, 1, 1, 1), LossOptions(0.1, 0.3, 0, 0))
    assert float(terms.total) == pytest.approx(-(1.3 + 0.5 - 2.0 - 0.9) / 4)
    assert terms.clip_fraction == 0.5
    assert terms.policy == pytest.approx(float(terms.total))


def test_on_policy_gradient_is_the_policy_gradient() -> None:
    logp = tensor(-1.0, -2.0, -0.5, grad=True)
    terms = clipped_loss(logp, tensor(0, 0, 0), logp.detach(), tensor(1, -2, 3), tensor(1, 1, 2), PLAIN)
    terms.total.backward()
    assert logp.grad is not None
    np.testing.assert_allclose(logp.grad.numpy(), [-0.25, 0.5, -1.5])


def test_entropy_lowers_and_divergence_raises_the_loss() -> None:
    logp, ones = tensor(-1.0, -2.0), tensor(1, 1)
    base = clipped_loss(logp, tensor(0.5, 0.7), logp, ones, ones, PLAIN)
    both = clipped_loss(logp, tensor(0.5, 0.7), logp, ones, ones, LossOptions(0.2, 0.2, 0.1, 0.5), tensor(-1.5, -2.0))
    assert both.entropy == pytest.approx(0.6)
    assert both.kl_reference == pytest.approx((math.exp(-0.5) + 0.5 - 1) / 2)
    assert float(both.total) == pytest.approx(float(base.total) - 0.1 * 0.6 + 0.5 * both.kl_reference)


def test_k3_estimates_the_divergence() -> None:
    p, q = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.2, 0.6])
    estimate = (p * k3(p.log(), q.log())).sum()
    assert float(estimate) == pytest.approx(float((p * (p / q).log()).sum()), abs=1e-6)
    assert bool((k3(p.log(), q.log()) >= 0).all())


def test_weights_by_decision_or_by_sample() -> None:
    sample, _ = dense(np.array([4, 4, 4, 9]))
    scored = np.array([True, True, False, True])
    assert row_weights(scored, sample, "step").tolist() == [1, 1, 0, 1]
    assert row_weights(scored, sample, "rollout").tolist() == [0.5, 0.5, 0, 1]


def test_a_set_shares_one_ratio_and_one_clip() -> None:
    share = shared("set", np.array([7, 7, 7]), None)
    assert share is not None
    logp = tensor(0.10, -0.04, 0.06, grad=True)
    assert float(share.spread(logp)[0].detach().exp()) == pytest.approx(1.0717, abs=5e-5)
    zero, ones = tensor(0, 0, 0), tensor(1, 1, 1)
    terms = clipped_loss(logp, zero, zero, ones, ones, LossOptions(0.05, 0.05, 0, 0), share=share)
    assert terms.policy == pytest.approx(-1.05)
    terms.total.backward()
    assert logp.grad is not None and not logp.grad.any(), "one clip for all members"


def test_a_sequence_has_the_geometric_mean_of_its_tokens() -> None:
    tokens = np.array([3, 1, 5])
    share = shared("sequence", np.array([2, 2, 9]), tokens)
    assert share is not None
    found = share.spread(tensor(0.2, 0.2, -0.5)).exp()
    np.testing.assert_allclose(found.numpy(), np.exp([0.1, 0.1, -0.1]))
    plain = shared("sequence", np.array([2, 2, 9]), None)
    assert plain is not None
    np.testing.assert_allclose(plain.spread(tensor(0.2, 0.4, -0.5)).numpy(), [0.3, 0.3, -0.5])
    assert shared("decision", np.array([0, 1]), None) is None


def test_weights_by_token_need_tokens() -> None:
    scored, sample = np.array([True, False, True]), np.zeros(3, np.int64)
    assert row_weights(scored, sample, "token", np.array([5, 3, 2])).tolist() == [5, 0, 2]
    with pytest.raises(ConfigError, match="counts no tokens"):
        row_weights(scored, sample, "token")
