"""The scorer: acting and learning use the same numbers."""

from __future__ import annotations

import numpy as np
import torch

from masim.env.actions import ActionTable
from masim.env.core import Session, SessionOptions
from masim.env.features import ROW_F, context_size
from masim.policy.base import Ask
from masim.policy.scorer import Scorer, ScorerPolicy, ScorerShape, segment_log_softmax
from masim.rng import Noise
from masim.rollout.types import PolicyInputs
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

SPEC = load_scenario("freight/short-chain-v0").spec


def asks(rollout: int = 0) -> list[Ask]:
    session = Session(SPEC, Instance(3, 0), options=SessionOptions(trace=False))
    noise = Noise(0, f"policy/{rollout}")
    return [Ask(decision, noise) for decision in session.advance()]


def policy(seed: int = 0) -> ScorerPolicy:
    torch.set_num_threads(1)
    net = Scorer(ScorerShape(ROW_F, context_size(ActionTable(SPEC))), seed)
    with torch.no_grad():
        net.head.weight.mul_(100.0)
    return ScorerPolicy(net)


def test_log_softmax_normalises_each_decision() -> None:
    step = torch.tensor([0, 0, 1, 1, 1])
    logp = segment_log_softmax(torch.tensor([0.0, 100.0, 1.0, 2.0, -300.0]), step, 2)
    total = torch.zeros(2).index_add(0, step, logp.exp())
    assert torch.allclose(total, torch.ones(2))
    assert torch.isfinite(logp).all()


def test_learning_recomputes_what_acting_recorded() -> None:
    questions = asks()
    scorer = policy()
    choices = scorer.choose(questions)
    rows = [ask.decision.rows for ask in questions]
    offsets = np.cumsum([0, *(len(r) for r in rows)]).astype(np.int64)
    inputs = PolicyInputs(np.concatenate(rows), offsets, np.stack([ask.decision.context for ask in questions]))
    logp, entropy = scorer.log_probs(inputs, np.array([choice.row for choice in choices]))
    assert np.allclose(logp.detach().numpy(), [choice.logp for choice in choices], atol=1e-5)
    assert (entropy > 0).all()


def test_choice_depends_on_the_rollout_and_is_repeatable() -> None:
    scorer = policy()
    same = [[c.action for c in scorer.choose(asks(0))] for _ in range(2)]
    others = {tuple(c.action for c in scorer.choose(asks(r))) for r in range(8)}
    assert same[0] == same[1]
    assert len(others) > 1


def test_sampling_follows_the_probabilities() -> None:
    scorer = policy()
    question = asks()[0].decision
    drawn = [scorer.choose([Ask(question, Noise(0, f"policy/{r}"))])[0] for r in range(3000)]
    counts = np.bincount([choice.row for choice in drawn], minlength=len(question.legal)) / len(drawn)
    step = torch.zeros(len(question.legal), dtype=torch.int64)
    logits = scorer.net(torch.from_numpy(question.rows), torch.from_numpy(question.context[None]), step)
    expected = torch.softmax(logits, 0).detach().numpy()
    assert np.abs(counts - expected).max() < 4 * np.sqrt(0.25 / len(drawn))


def test_same_seed_same_weights() -> None:
    first, second, third = policy(1), policy(1), policy(2)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), third.parameters(), strict=True))
