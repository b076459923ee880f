"""A ladder of hidden tokens: each stage knows one right candidate of K; only reaching the top in time pays.

The policy is a table of logits per (stage, candidate), so nothing generalises between stages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from learn.tables import make_table

from masim.rollout.types import PolicyInputs, RolloutBatch


class TabularPolicy(torch.nn.Module):
    """Softmax over the candidates of a stage; a candidate row holds its index in the table."""

    def __init__(self, stages: int, k: int) -> None:
        super().__init__()
        self.k = k
        self.logits = torch.nn.Parameter(torch.zeros(stages * k))

    def log_probs(self, inputs: PolicyInputs, action_row: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        index = torch.as_tensor(inputs.rows_MF[:, 0].astype(np.int64)).reshape(-1, self.k)
        logp = torch.log_softmax(self.logits[index], dim=1)
        chosen = logp.gather(1, torch.as_tensor(action_row)[:, None])[:, 0]
        return chosen, -(logp.exp() * logp).sum(1)


@dataclass
class Ladder:
    """``collect`` for the trainer: ``groups`` comparison groups of ``n_rollouts`` rollouts, a function of its draw."""

    policy: TabularPolicy
    length: int = 14
    budget: int = 20
    k: int = 3
    fail: float = 0.1
    n_rollouts: int = 8
    groups: int = 4
    clock: bool = False
    """Put the turn into the exact key, as a clock in the observation would."""

    def __post_init__(self) -> None:
        self.feedback: list[tuple[int, str, float]] = []
        self.completion: list[float] = []

    def __call__(self, draw: int, version: int) -> RolloutBatch:
        rng = np.random.default_rng((11, draw))
        n = self.groups * self.n_rollouts
        stage = np.zeros(n, np.int64)
        with torch.no_grad():
            logp_all = torch.log_softmax(self.policy.logits.reshape(-1, self.k), 1).numpy().astype(np.float64)
        steps = []
        for turn in range(self.budget):
            alive = np.flatnonzero(stage < self.length)
            before = stage[alive]
            noise = rng.gumbel(size=(n, self.k))[alive]
            action = np.argmax(logp_all[before] + noise, axis=1)
            right = (action == before % self.k) & (rng.random(n)[alive] >= self.fail)
            stage[alive] += right
            steps.append(
                np.stack([alive, np.full(len(alive), turn), before, stage[alive], action]),
            )
        rollout, turn, before, after, action = np.concatenate(steps, axis=1)
        order = np.lexsort((turn, rollout))
        rollout, turn, before, after, action = (c[order] for c in (rollout, turn, before, after, action))
        return self._batch(rollout, turn, before, after, action, logp_all[before, action], version)

    def _batch(self, rollout, turn, before, after, action, logp, version):  # type: ignore[no-untyped-def]
        n = len(turn)
        clock = turn * 1000 if self.clock else 0 * turn
        table = make_table(
            n,
            group_id=rollout // self.n_rollouts,
            scenario_seed=rollout // self.n_rollouts,
            rollout_id=rollout,
            event_id=np.arange(n),
            turn=turn,
            event_time_s=turn * 10.0,
            action_id=action,
            action_row=action,
            logp=logp,
            obs_key=before,
            next_obs_key=after,
            obs_key_exact=before + clock,
            next_obs_key_exact=after + clock + (1000 if self.clock else 0),
            subtask_end=after > before,
            policy_version=version,
            r_out=(after == self.length) & (after > before),
        )
        rows = (before[:, None] * self.k + np.arange(self.k)).reshape(-1, 1).astype(np.float32)
        inputs = PolicyInputs(rows, np.arange(n + 1) * self.k, np.zeros((n, 0), np.float32))
        self.completion.append(float(table.r_out.sum()) / (self.groups * self.n_rollouts))
        return RolloutBatch(table, inputs, (), ("agent",), lambda *call: self.feedback.append(call))
