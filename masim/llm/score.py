"""Scores the answers to a question: one pass reads what was not read before, and all answers beside each other.

What stays the same over an episode (the system's words) is read once and kept as keys and values. The rest of the
prompt and the trie of the answers follow in one row per question, under a mask that lets every token see exactly what
it would see if its answer stood alone. Questions are computed in rows beside each other; what is padding is seen by
nobody, so a question's scores do not depend on its neighbours, up to the rounding of sums (1e-4 in float32).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from masim.arrays import F64
from masim.errors import ConfigError
from masim.llm.model import LanguageModel
from masim.llm.trie import Trie, trie_of

KEPT_BYTES = 256 * 2**20
"""Keys and values that are kept of prompts' beginnings; the least recently used go first."""
Layers = list[tuple[Tensor, Tensor]]
"""Keys and values of every layer, each (1, heads, tokens, width)."""


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
        self._beginnings: OrderedDict[tuple[int, ...], Layers] = OrderedDict()
        self.forgets = False
        """Whether nothing is kept between passes, to measure what keeping saves."""
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
        row = _Rows(questions, tries, self._model.end)
        beginnings = [self._beginning(question.before) for question in questions]
        net = self._model.net
        logits = net(
            input_ids=row.tokens,
            position_ids=row.positions,
            attention_mask=row.mask(net.dtype),
            cache=_side_by_side(beginnings, row.before),
            use_cache=True,
            logits_to_keep=row.answers + 1,
        ).logits
        return [_sums(own, trie) for own, trie in zip(logits, tries, strict=True)]

    def _beginning(self, tokens: tuple[int, ...]) -> Layers:
        """Return the keys and values of a prompt's beginning, read now if it was not read before."""
        known = self._beginnings.get(tokens)
        if known is None:
            known = self._read(tokens)
            if not self.forgets:
                self._beginnings[tokens] = known
        else:
            self._beginnings.move_to_end(tokens)
        while len(self._beginnings) > 1 and sum(map(_bytes, self._beginnings.values())) > KEPT_BYTES:
            self._beginnings.popitem(last=False)
        return known

    def _read(self, tokens: tuple[int, ...]) -> Layers:
        done = self._model.net(input_ids=torch.tensor([tokens]), use_cache=True, logits_to_keep=1)
        return [(layer.keys, layer.values) for layer in done.cache.layers]


class _Rows:
    """Questions as rows of equal length: beginnings and moments end, and answers begin, at the same columns."""

    def __init__(self, questions: Sequence[Question], tries: Sequence[Trie], padding: int) -> None:
        self.before = max(len(question.before) for question in questions)
        self.now = max(len(question.now) for question in questions)
        self.answers = max(len(trie) for trie in tries)
        self._questions, self._tries = questions, tries
        width = self.now + self.answers
        tokens = np.full((len(questions), width), padding, dtype=np.int64)
        positions = np.zeros((len(questions), width), dtype=np.int64)
        for i, (question, trie) in enumerate(zip(questions, tries, strict=True)):
            begin, end = self.now - len(question.now), self.now + len(trie)
            at = len(question.before)
            tokens[i, begin:end] = [*question.now, *trie.token]
            positions[i, begin : self.now] = np.arange(at, at + len(question.now))
            positions[i, self.now : end] = at + len(question.now) + trie.depth
        self.tokens, self.positions = torch.from_numpy(tokens), torch.from_numpy(positions)

    def mask(self, dtype: torch.dtype) -> Tensor:
        """Return (rows, 1, width, before + width): 0 where a token may look, very negative elsewhere."""
        width = self.now + self.answers
        sees = np.zeros((len(self._questions), width, self.before + width), dtype=np.bool_)
        sees[:, np.arange(width), self.before + np.arange(width)] = True
        for i, (question, trie) in enumerate(zip(self._questions, self._tries, strict=True)):
            begin, end = self.now - len(question.now), self.now + len(trie)
            sees[i, begin:end, self.before - len(question.before) : self.before] = True
            sees[i, begin : self.now, self.before + begin : self.before + self.now] |= np.tri(
                len(question.now), dtype=np.bool_
            )
            sees[i, self.now : end, self.before + begin : self.before + self.now] = True
            sees[i, self.now : end, self.before + self.now : self.before + end] = trie.sees()
        mask = torch.zeros(sees.shape, dtype=dtype)
        return mask.masked_fill_(~torch.from_numpy(sees), torch.finfo(dtype).min).unsqueeze(1)


def _side_by_side(beginnings: Sequence[Layers], width: int) -> Any:
    """Return a cache with the beginnings as rows that end at the same column."""
    from transformers import DynamicCache

    cache = DynamicCache()
    for nth, parts in enumerate(zip(*beginnings, strict=True)):
        keys, values = (torch.cat([_padded(part[kind], width) for part in parts]) for kind in (0, 1))
        cache.update(keys, values, nth)
    return cache


def _padded(states: Tensor, width: int) -> Tensor:
    missing = width - states.shape[-2]
    return states if missing == 0 else torch.nn.functional.pad(states, (0, 0, missing, 0))


def _bytes(layers: Layers) -> int:
    return sum(part.numel() * part.element_size() for layer in layers for part in layer)


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
