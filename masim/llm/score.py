"""Scores the answers to a question: one pass reads what was not read before, and all answers beside each other.

What stays the same over an episode (the system's words) is read once and kept as keys and values. The rest of the
prompt and the trie of the answers follow in one row per question, under a mask that lets every token see exactly what
it would see if its answer stood alone. Questions are computed in rows beside each other; what is padding is seen by
nobody, so a question's scores do not depend on its neighbours, up to the rounding of sums (1e-4 in float32).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from masim.arrays import F64
from masim.errors import ConfigError
from masim.llm.beginnings import Beginnings
from masim.llm.model import LanguageModel
from masim.llm.rows import Rows
from masim.llm.trie import Trie, trie_of


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the tokens that stay, the tokens of the moment, and the possible answers."""

    before: tuple[int, ...]
    now: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]


class Scorer:
    """Log-probabilities of answers under a model, at most ``batch`` questions to a pass."""

    def __init__(self, model: LanguageModel, batch: int = 8) -> None:
        self._model = model
        self._batch = batch
        self.beginnings = Beginnings(model)
        _refuse_unmaskable(model)

    def score(self, questions: Sequence[Question]) -> list[F64]:
        """Return per question the summed log-probability of each answer's tokens, its last one included."""
        found: list[F64] = []
        with torch.inference_mode():
            for begin in range(0, len(questions), self._batch):
                found += self._pass(questions[begin : begin + self._batch])
        return found

    def _pass(self, questions: Sequence[Question]) -> list[F64]:
        tries = [trie_of(question.answers) for question in questions]
        rows = Rows(questions, tries, self._model.end)
        net = self._model.net
        logits = net(
            input_ids=rows.tokens,
            position_ids=rows.positions,
            attention_mask=rows.mask(net.dtype),
            cache=self.beginnings.cache([question.before for question in questions]),
            use_cache=True,
            logits_to_keep=rows.answers + 1,
        ).logits
        return [_sums(own, trie) for own, trie in zip(logits, tries, strict=True)]


def _sums(logits: Tensor, trie: Trie) -> F64:
    """Return each answer's log-probability from the logits of the places of its trie."""
    places = logits[: len(trie) + 1].float()
    chosen = places[torch.from_numpy(trie.edge_place), torch.from_numpy(trie.edge_token)]
    edges = (chosen - places.logsumexp(-1)[torch.from_numpy(trie.edge_place)]).double().numpy()
    return np.array([edges[path].sum() for path in trie.paths])


def _refuse_unmaskable(model: LanguageModel) -> None:
    """Raise ConfigError for a network whose layers do not all look at everything before them."""
    kinds = set(getattr(model.net.config, "layer_types", None) or ["full_attention"])
    if kinds != {"full_attention"}:
        fix = "use a model with full attention in every layer, or act: json"
        problem = "calls cannot be scored with this architecture"
        raise ConfigError(problem, model.name, ", ".join(sorted(kinds)), "full_attention", fix)
