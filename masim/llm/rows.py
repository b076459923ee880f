"""Prompts and what may follow them as rows of equal length, and who may look at whom in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from masim.llm.trie import Trie


class Prompt(Protocol):
    """What is read: the tokens that stay over an episode, and those of the moment."""

    @property
    def before(self) -> tuple[int, ...]: ...

    @property
    def now(self) -> tuple[int, ...]: ...


class Rows:
    """Prompts as rows: beginnings and moments end, and answers begin, at the same columns."""

    def __init__(self, prompts: Sequence[Prompt], tries: Sequence[Trie], padding: int) -> None:
        self.before = max(len(prompt.before) for prompt in prompts)
        self.now = max(len(prompt.now) for prompt in prompts)
        self.answers = max(len(trie) for trie in tries)
        self._prompts, self._tries = prompts, tries
        width = self.now + self.answers
        tokens = np.full((len(prompts), width), padding, dtype=np.int64)
        positions = np.zeros((len(prompts), width), dtype=np.int64)
        for i, (prompt, trie) in enumerate(zip(prompts, tries, strict=True)):
            begin, end = self.now - len(prompt.now), self.now + len(trie)
            at = len(prompt.before)
            tokens[i, begin:end] = [*prompt.now, *trie.token]
            positions[i, begin : self.now] = np.arange(at, at + len(prompt.now))
            positions[i, self.now : end] = at + len(prompt.now) + trie.depth
        self.tokens, self.positions = torch.from_numpy(tokens), torch.from_numpy(positions)

    def mask(self, dtype: torch.dtype) -> Tensor:
        """Return (rows, 1, width, before + width): 0 where a token may look, very negative elsewhere."""
        width = self.now + self.answers
        sees = np.zeros((len(self._prompts), width, self.before + width), dtype=np.bool_)
        sees[:, np.arange(width), self.before + np.arange(width)] = True
        for i, (prompt, trie) in enumerate(zip(self._prompts, self._tries, strict=True)):
            begin, end = self.now - len(prompt.now), self.now + len(trie)
            sees[i, begin:end, self.before - len(prompt.before) : self.before] = True
            sees[i, begin : self.now, self.before + begin : self.before + self.now] |= np.tri(
                len(prompt.now), dtype=np.bool_
            )
            sees[i, self.now : end, self.before + begin : self.before + self.now] = True
            sees[i, self.now : end, self.before + self.now : self.before + end] = trie.sees()
        return blocked(torch.from_numpy(sees), dtype).unsqueeze(1)

    def shown(self) -> Tensor:
        """Return (rows, before + now): which columns hold a prompt's tokens, where no answers follow."""
        shown = np.zeros((len(self._prompts), self.before + self.now), dtype=np.bool_)
        for i, prompt in enumerate(self._prompts):
            shown[i, self.before - len(prompt.before) : self.before] = True
            shown[i, self.before + self.now - len(prompt.now) :] = True
        return torch.from_numpy(shown)


def blocked(sees: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask for attention: 0 where a token may look, very negative elsewhere."""
    return torch.zeros(sees.shape, dtype=dtype).masked_fill_(~sees, torch.finfo(dtype).min)
