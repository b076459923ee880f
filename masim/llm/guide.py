"""How an answer is written token by token: what may come next, and when it is over.

A guide takes the model's logits and returns the tokens that it is fed next, until it returns none: more than one where
what follows is certain. What it took is in :attr:`Guide.written`, as it was sampled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import torch
from torch import Tensor

from masim.arrays import F64
from masim.llm.model import LanguageModel
from masim.llm.pick import pick
from masim.llm.said import is_whole

Tree: TypeAlias = "dict[int, Tree]"
"""Tokens that may come first, each with those that may follow it."""


@dataclass(slots=True)
class Written:
    """An answer as it was sampled."""

    tokens: list[int] = field(default_factory=list)
    logp: float = 0.0
    """Of all tokens that were sampled, under what was allowed there."""
    thought: int = 0
    """How many of the tokens came before the call, where that is known."""


class Guide:
    """Free writing: over at the end token, at the end of a JSON object or list, or when the uniforms are used up."""

    def __init__(self, model: LanguageModel, uniforms: F64, temperature: float) -> None:
        self.written = Written()
        self._model = model
        self._uniforms = uniforms
        self._temperature = temperature

    def next(self, logits: Tensor) -> list[int]:
        """Return the tokens to go on with, none when the answer is over."""
        token = self._take(logits)
        written = self.written
        over = token == self._model.end or len(written.tokens) == len(self._uniforms)
        return [] if over or is_whole(self._model.decode(written.tokens)) else [token]

    def _take(self, logits: Tensor, allowed: Tensor | None = None) -> int:
        uniform = float(self._uniforms[len(self.written.tokens)])
        token, logp = pick(logits, uniform, self._temperature, allowed)
        self.written.tokens.append(token)
        self.written.logp += logp
        return token


class CallGuide(Guide):
    """Thinks on one line for at most ``thinking`` tokens, then writes one of the calls of ``tree``."""

    def __init__(self, model: LanguageModel, uniforms: F64, temperature: float, tree: Tree, thinking: int) -> None:
        super().__init__(model, uniforms, temperature)
        self._tree = tree
        self._thinking = thinking

    def next(self, logits: Tensor) -> list[int]:
        """Return the tokens to go on with, none when the call is complete."""
        if self._thinking:
            return self._think(logits)
        token = self._take(logits, torch.tensor(sorted(self._tree)))
        self._tree = self._tree[token]
        return self._certain([token]) if self._tree else []

    def _think(self, logits: Tensor) -> list[int]:
        thoughts, breaks = _thoughts(self._model)
        token = self._take(logits, thoughts)
        self._thinking -= 1
        over = token in breaks
        line = [] if over or self._thinking else self._model.encode("\n")
        self.written.tokens += line
        self.written.thought = len(self.written.tokens)
        self._thinking = 0 if over else self._thinking
        return [token] if self._thinking else self._certain([token, *line])

    def _certain(self, run: list[int]) -> list[int]:
        """Return a run with the tokens behind it that nothing else can take the place of."""
        while len(self._tree) == 1:
            token = next(iter(self._tree))
            if not self._tree[token]:
                break
            run.append(token)
            self.written.tokens.append(token)
            self._tree = self._tree[token]
        return run


def tree_of(answers: Iterable[Iterable[int]]) -> Tree:
    """Return the tokens of some answers as a tree; none of them may be the beginning of another."""
    root: Tree = {}
    for answer in answers:
        place = root
        for token in answer:
            place = place.setdefault(token, {})
    return root


@lru_cache(maxsize=2)
def _thoughts(model: LanguageModel) -> tuple[Tensor, frozenset[int]]:
    """Return the tokens that thoughts can hold, and those of them that end a line.

    Thoughts hold no curly bracket, with which a call begins, and no token of the chat template.
    """
    texts = model.tokenizer.batch_decode([[token] for token in range(len(model.tokenizer))])
    own = set(model.tokenizer.all_special_ids)
    fit = [token for token, text in enumerate(texts) if "{" not in text and token not in own]
    return torch.tensor(fit), frozenset(token for token in fit if "\n" in texts[token])
