"""Writes answers: several at once, each under its own guide, on the keys and values of what was read.

A row leaves the batch when its answer is over. Rows do not see each other, so an answer does not depend on who is
written beside it, up to the rounding of sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from masim.llm.beginnings import Beginnings
from masim.llm.guide import Guide
from masim.llm.model import LanguageModel
from masim.llm.rows import Prompt, Rows, blocked
from masim.llm.trie import trie_of


class Writer:
    """Answers of a model, at most ``batch`` at once."""

    def __init__(self, model: LanguageModel, batch: int = 8) -> None:
        self._model = model
        self._batch = batch
        self.beginnings = Beginnings(model)

    def write(self, prompts: Sequence[Prompt], guides: Sequence[Guide]) -> None:
        """Let every guide write its answer to its prompt."""
        with torch.inference_mode():
            for begin in range(0, len(prompts), self._batch):
                end = begin + self._batch
                self._pass(prompts[begin:end], list(guides[begin:end]))

    def _pass(self, prompts: Sequence[Prompt], guides: list[Guide]) -> None:
        net = self._model.net
        rows = Rows(prompts, [trie_of(())] * len(prompts), self._model.end)
        cache = self.beginnings.cache([prompt.before for prompt in prompts])
        read = {"input_ids": rows.tokens, "position_ids": rows.positions, "attention_mask": rows.mask(net.dtype)}
        logits = net(**read, cache=cache, use_cache=True, logits_to_keep=1).logits[:, -1]
        seen, at = rows.shown(), rows.positions[:, -1:]
        while True:
            runs = [guide.next(own) for guide, own in zip(guides, logits, strict=True)]
            live = [i for i, run in enumerate(runs) if run]
            if not live:
                return
            if len(live) < len(runs):
                keep = torch.tensor(live)
                cache.batch_select_indices(keep)
                runs, guides, seen, at = [runs[i] for i in live], [guides[i] for i in live], seen[keep], at[keep]
            tokens, real = _aligned(runs, self._model.end)
            mask = blocked(_sees(seen, real), net.dtype).unsqueeze(1)
            seen = torch.cat([seen, real], dim=1)
            places = at + real.long().cumsum(1)
            at = places[:, -1:]
            logits = net(
                input_ids=tokens,
                position_ids=places,
                attention_mask=mask,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]


def _aligned(runs: Sequence[list[int]], padding: int) -> tuple[Tensor, Tensor]:
    """Return runs of tokens as rows that end at the same column, and which columns hold them."""
    width = max(map(len, runs))
    tokens = torch.full((len(runs), width), padding)
    real = torch.zeros((len(runs), width), dtype=torch.bool)
    for i, run in enumerate(runs):
        tokens[i, width - len(run) :] = torch.tensor(run)
        real[i, width - len(run) :] = True
    return tokens, real


def _sees(seen: Tensor, real: Tensor) -> Tensor:
    """Return (rows, run, columns + run): every token sees what was there, those before it in its run, and itself."""
    width = real.shape[1]
    before = seen[:, None] & real[:, :, None]
    own = torch.ones((width, width), dtype=torch.bool).tril() & real[:, None] & real[:, :, None]
    return torch.cat([before, own | torch.eye(width, dtype=torch.bool)], dim=2)
