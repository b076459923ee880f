"""A policy with one logit per (view, call): nothing that is learned at one view helps at another.

It acts as a :class:`~masim.micro.game.MicroPolicy` and learns as the trainer's ``TrainablePolicy``. Candidate rows
hold the place of their logit as a share of all places, so that a critic that reads them sees small numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from masim.arrays import F32, I64
from masim.micro.game import Game, View
from masim.policy.scorer import segment_log_softmax
from masim.rollout.types import PolicyInputs


class Table(nn.Module):
    """The logits, all 0 at first: every call alike."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(places))


class TabularPolicy:
    """Softmax over the logits of a view's calls. Raises ConfigError for a game whose views cannot be listed."""

    name = "tabular"

    def __init__(self, game: Game) -> None:
        views = game.views()
        self.index = {view: i for i, view in enumerate(views)}
        """Number of each view."""
        self.n_views = len(views)
        self.width = _most_actions(game)
        self.table = Table(self.n_views * self.width)
        self._seen: tuple[int, dict[tuple[int, int], _Row]] = (-1, {})

    def row(self, view: View, n_actions: int) -> _Row:
        """Return what is needed to act at a view, worked out once per state of the weights."""
        version = self.table.logits._version
        if self._seen[0] != version:
            self._seen = (version, {})
        place = self.index[view]
        found = self._seen[1].get((place, n_actions))
        if found is None:
            begin = place * self.width
            with torch.no_grad():
                logits = self.table.logits[begin : begin + n_actions].double()
                logp = torch.log_softmax(logits, 0).tolist()
            found = self._seen[1][place, n_actions] = _Row(logp)
        return found

    def probabilities(self, view: View, n_actions: int) -> Sequence[float]:
        """Return (n_actions,) probabilities."""
        return [float(np.exp(value)) for value in self.row(view, n_actions).logp]

    # -- learning -------------------------------------------------------------------------------------------------

    def inputs(self, views: I64, counts: I64, clock: F32) -> PolicyInputs:
        """Return what was seen: (N,) numbers of views, (N,) calls offered, and (N,) share of the horizon gone.

        The context says the view one-hot and the clock: enough for a critic, and not read by the policy itself.
        """
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        places = np.repeat(views * self.width, counts) + within
        context = np.zeros((len(views), self.n_views + 1), np.float32)
        context[np.arange(len(views)), views] = 1.0
        context[:, -1] = clock
        return PolicyInputs((places / self._places)[:, None].astype(np.float32), offsets, context)

    @property
    def _places(self) -> int:
        return self.n_views * self.width

    def log_probs(self, inputs: PolicyInputs, action_row: I64) -> tuple[Tensor, Tensor]:
        """Return (n,) log-probabilities of the chosen calls and (n,) entropies."""
        counts = np.diff(inputs.offsets)
        n = len(counts)
        step_M = torch.from_numpy(np.repeat(np.arange(n), counts))
        places = np.rint(inputs.rows_MF[:, 0].astype(np.float64) * self._places).astype(np.int64)
        logp = segment_log_softmax(self.table.logits[torch.from_numpy(places)], step_M, n)
        chosen = torch.from_numpy(inputs.offsets[:-1] + action_row)
        entropy = torch.zeros(n).index_add(0, step_M, -(logp.exp() * logp))
        return logp[chosen], entropy

    def parameters(self) -> list[nn.Parameter]:
        """Return the trainable parameters."""
        return list(self.table.parameters())

    def state_dict(self) -> dict[str, Any]:
        """Return the weights."""
        return dict(self.table.state_dict())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over weights of the same shape."""
        self.table.load_state_dict(state)


class _Row:
    """One view's log-probabilities, and the edges to draw a call by a uniform."""

    __slots__ = ("edges", "logp")

    def __init__(self, logp: list[float]) -> None:
        self.logp = logp
        self.edges = list(accumulate(np.exp(logp).tolist()))[:-1]


def _most_actions(game: Game) -> int:
    """Return the largest number of calls at any state that the game can reach by first choices."""
    most, state = 1, game.begin()[0].state
    while not game.over(state):
        counts = [game.n_actions(state, agent) for agent in range(len(game.agents))]
        most = max(most, *counts)
        state = game.step(state, (0,) * len(counts))[-1].state
    return most
