"""The scorer with a graph network over the memory: what is known around a carrier reaches the calls that would use it.

Two rounds of messages over the small dense graph of :mod:`masim.memory.neighbourhood`, in plain torch: each node takes
the mean of its neighbours by the weight of the ties (after GraphSAGE, arXiv 1706.02216). A candidate call reads the
node of its carrier; one without a carrier reads the mean of the nodes that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from masim.arrays import F32, I64
from masim.env.decision import Decision
from masim.memory.graph import node
from masim.memory.neighbourhood import NODE_F, OTHERS, Neighbourhood, flat_size, neighbourhood
from masim.policy.base import Ask
from masim.policy.scorer import Scorer, ScorerPolicy, ScorerShape

ROUNDS = 2


@dataclass(frozen=True, slots=True)
class GraphShape:
    """Sizes of the graph network: the carriers that have places of their own, and its hidden width."""

    carriers: int
    hidden: int = 32

    @property
    def places(self) -> int:
        """Return P, the number of nodes."""
        return self.carriers + OTHERS


class GraphScorer(nn.Module):
    """Candidate logits from rows with the carrier's place behind them, and contexts with the graph behind them."""

    def __init__(self, scorer: ScorerShape, graph: GraphShape, seed: int) -> None:
        super().__init__()
        self.scorer = Scorer(scorer, seed)
        self.shape = graph
        self.read = nn.Linear(NODE_F, graph.hidden)
        self.own = nn.ModuleList(nn.Linear(graph.hidden, graph.hidden) for _ in range(ROUNDS))
        self.around = nn.ModuleList(nn.Linear(graph.hidden, graph.hidden, bias=False) for _ in range(ROUNDS))
        self.show = nn.Linear(graph.hidden, scorer.hidden, bias=False)
        self._initialise(seed)

    def _initialise(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed + 1)
        for layer in (self.read, *self.own, *self.around, self.show):
            linear = cast(nn.Linear, layer)
            with torch.no_grad():
                linear.weight.copy_(torch.randn(linear.weight.shape, generator=generator) / linear.in_features**0.5)
                if linear.bias is not None:
                    linear.bias.zero_()

    def nodes(self, nodes_NPK: Tensor, ties_NPP: Tensor) -> Tensor:
        """Return (N, P, hidden) of what each node knows; 0 at empty places."""
        there = (nodes_NPK != 0.0).any(-1, keepdim=True).to(nodes_NPK.dtype)
        mean = ties_NPP / ties_NPP.sum(-1, keepdim=True).clamp(min=1e-6)
        state = torch.relu(self.read(nodes_NPK)) * there
        for own, around in zip(self.own, self.around, strict=True):
            state = torch.relu(own(state) + around(torch.bmm(mean, state))) * there
        return torch.as_tensor(state)

    def forward(self, rows: Tensor, context: Tensor, step_M: Tensor) -> Tensor:
        """Return (M,) logits; ``step_M`` names the decision of each row."""
        nodes, ties = self._graph(context[:, self.scorer.shape.context_features :])
        state = self.nodes(nodes, ties)
        there = (nodes != 0.0).any(-1, keepdim=True).to(state.dtype)
        mean = (state * there).sum(1) / there.sum(1).clamp(min=1.0)
        place = rows[:, -1].long()
        seen = torch.where(place[:, None] >= 0, state[step_M, place.clamp(min=0)], mean[step_M])
        plain = context[:, : self.scorer.shape.context_features]
        return torch.as_tensor(self.scorer(rows[:, :-1], plain, step_M, self.show(seen)))

    def _graph(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        n, p = len(flat), self.shape.places
        cut = p * NODE_F
        return flat[:, :cut].reshape(n, p, NODE_F), flat[:, cut:].reshape(n, p, p)


class GraphScorerPolicy(ScorerPolicy):
    """A scorer policy that looks into the agent's memory itself."""

    own_inputs = True

    def _seen(self, ask: Ask) -> tuple[F32, F32]:
        decision = ask.decision
        place = carrier_of(decision)[:, None].astype(np.float32)
        return np.hstack((decision.rows, place)), np.concatenate((decision.context, flat_graph(decision)))


def carrier_of(decision: Decision) -> I64:
    """Return (n_legal,): the place of each candidate's carrier, -1 for candidates without one."""
    return decision.table.vendor[decision.legal]


def flat_graph(decision: Decision) -> F32:
    """Return the flat neighbourhood of a decision; all zero without a memory."""
    vendors: Sequence[str] = decision.view.carriers
    memory = decision.memory
    if memory is None:
        return np.zeros(flat_size(len(vendors)), np.float32)
    shippers = dict.fromkeys(node("user", order.shipper) for order in decision.view.orders if order.id)
    found: Neighbourhood = neighbourhood(
        memory.graph,
        node("agent", memory.agent),
        [node("vendor", name) for name in vendors],
        list(shippers),
        decision.t_s,
        memory.config,
    )
    return found.flat()
