"""A small torch policy that scores the legal candidate calls.

Each candidate row (what the call is, what the agent knows of it, what its memory says of the carrier) and the
decision's context go through one network to a logit; a softmax over the legal candidates is the policy. The same
weights serve every agent and any number of carriers, slots and legs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from masim.arrays import F32, I64
from masim.policy.base import Ask, Choice, Seen
from masim.policy.gumbel import gumbel


class Inputs(Protocol):
    """What the policy saw, ragged over candidates: rows (M, F), offsets (N+1,), contexts (N, C)."""

    @property
    def rows_MF(self) -> F32: ...

    @property
    def offsets(self) -> I64: ...

    @property
    def context_NC(self) -> F32: ...


@dataclass(frozen=True, slots=True)
class ScorerShape:
    """Sizes of a scorer: F features per candidate, C of the context, and its hidden width."""

    row_features: int
    context_features: int
    hidden: int = 64


class Scorer(nn.Module):
    """Candidate logits from (M, F) rows and (N, C) contexts."""

    def __init__(self, shape: ScorerShape, seed: int) -> None:
        super().__init__()
        self.shape = shape
        self.row = nn.Linear(shape.row_features, shape.hidden)
        self.context = nn.Linear(shape.context_features, shape.hidden, bias=False)
        self.middle = nn.Linear(shape.hidden, shape.hidden)
        self.head = nn.Linear(shape.hidden, 1)
        self._initialise(seed)

    def _initialise(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for layer, gain in ((self.row, 1.0), (self.context, 1.0), (self.middle, 1.4), (self.head, 0.01)):
            scale = gain / layer.in_features**0.5
            with torch.no_grad():
                layer.weight.copy_(torch.randn(layer.weight.shape, generator=generator) * scale)
                if layer.bias is not None:
                    layer.bias.zero_()

    def forward(self, rows_MF: Tensor, context_NC: Tensor, step_M: Tensor, more_MH: Tensor | None = None) -> Tensor:
        """Return (M,) logits; ``step_M`` names the decision of each row, ``more_MH`` is added to its first layer."""
        hidden = self.row(rows_MF) + self.context(context_NC)[step_M]
        hidden = torch.relu(hidden if more_MH is None else hidden + more_MH)
        hidden = torch.relu(self.middle(hidden))
        return torch.as_tensor(self.head(hidden)).squeeze(-1)


def segment_log_softmax(logits_M: Tensor, step_M: Tensor, n: int) -> Tensor:
    """Return (M,) log-probabilities, normalised within each of the ``n`` decisions."""
    top = torch.full((n,), -torch.inf).scatter_reduce(0, step_M, logits_M.detach(), "amax")
    shifted = logits_M - top[step_M]
    total = torch.zeros(n).index_add(0, step_M, shifted.exp())
    return shifted - total.log()[step_M]


class ScorerPolicy:
    """The scorer as a policy that acts and as one that can be trained."""

    own_inputs = False
    """Whether it sees more than the decision's own arrays; what it saw is then kept with its choices."""

    def __init__(self, net: nn.Module, name: str = "scorer", greedy: bool = False) -> None:
        self.net = net
        self.name = name
        self.greedy = greedy

    # -- acting ---------------------------------------------------------------------------------------------------

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Sample one candidate per question by Gumbel-max on the rollout's own keyed noise (or take the best)."""
        if not asks:
            return []
        seen = [self._seen(ask) for ask in asks]
        counts = np.array([len(rows) for rows, _ in seen])
        step = np.repeat(np.arange(len(asks)), counts)
        logp = self._log_probs(np.concatenate([rows for rows, _ in seen]), np.stack([c for _, c in seen]), step)
        noisy = logp if self.greedy else logp + gumbel(asks)
        return self._pick(asks, noisy, logp, counts, seen if self.own_inputs else [None] * len(asks))

    def _seen(self, ask: Ask) -> Seen:
        """Return the candidate rows and the context that the policy goes by."""
        return ask.decision.rows, ask.decision.context

    def _log_probs(self, rows: F32, contexts: F32, step: I64) -> F32:
        with torch.inference_mode():
            step_M = torch.from_numpy(step)
            logits = self.net(torch.from_numpy(rows), torch.from_numpy(contexts), step_M)
            return np.asarray(segment_log_softmax(logits, step_M, len(contexts)).numpy())

    @staticmethod
    def _pick(asks: Sequence[Ask], noisy: F32, logp: F32, counts: I64, seen: Sequence[Seen | None]) -> list[Choice]:
        choices = []
        start = 0
        for ask, count, inputs in zip(asks, counts, seen, strict=True):
            row = int(np.argmax(noisy[start : start + count]))
            choices.append(Choice(int(ask.decision.legal[row]), row, float(logp[start + row]), seen=inputs))
            start += int(count)
        return choices

    # -- learning -------------------------------------------------------------------------------------------------

    def log_probs(self, inputs: Inputs, action_row: I64) -> tuple[Tensor, Tensor]:
        """Return (n,) log-probabilities of the chosen rows and (n,) entropies."""
        counts = np.diff(inputs.offsets)
        n = len(counts)
        step_M = torch.from_numpy(np.repeat(np.arange(n), counts))
        logits = self.net(torch.from_numpy(inputs.rows_MF), torch.from_numpy(inputs.context_NC), step_M)
        logp = segment_log_softmax(logits, step_M, n)
        chosen = torch.from_numpy(inputs.offsets[:-1] + action_row)
        entropy = torch.zeros(n).index_add(0, step_M, -(logp.exp() * logp))
        return logp[chosen], entropy

    def parameters(self) -> list[nn.Parameter]:
        """Return the trainable parameters."""
        return list(self.net.parameters())

    def state_dict(self) -> dict[str, Tensor]:
        """Return the weights."""
        return dict(self.net.state_dict())

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Take over weights of the same shape."""
        self.net.load_state_dict(state)
