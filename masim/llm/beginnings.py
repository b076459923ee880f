"""The beginnings of prompts that a model has read: their keys and values, kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from masim.llm.model import LanguageModel

KEPT_BYTES = 256 * 2**20
"""Bytes that are kept of all beginnings; the least recently used go first."""
Layers = list[tuple[Tensor, Tensor]]
"""Keys and values of every layer, each (1, heads, tokens, width)."""


class Beginnings:
    """Reads the beginning of a prompt once."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._kept: OrderedDict[tuple[int, ...], Layers] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def cache(self, prompts: Sequence[tuple[int, ...]]) -> Any:
        """Return a cache of transformers with the beginnings as rows that end at the same column."""
        from transformers import DynamicCache

        width = max(map(len, prompts))
        rows = [self._read_once(tokens) for tokens in prompts]
        cache = DynamicCache()
        for nth, parts in enumerate(zip(*rows, strict=True)):
            keys, values = (torch.cat([_padded(part[kind], width) for part in parts]) for kind in (0, 1))
            cache.update(keys, values, nth)
        return cache

    def forget(self) -> None:
        """Keep nothing of what was read so far."""
        self._kept.clear()

    def _read_once(self, tokens: tuple[int, ...]) -> Layers:
        known = self._kept.get(tokens)
        if known is None:
            known = self._kept[tokens] = self._read(tokens)
        self._kept.move_to_end(tokens)
        while len(self._kept) > 1 and sum(map(_bytes, self._kept.values())) > KEPT_BYTES:
            self._kept.popitem(last=False)
        return known

    def _read(self, tokens: tuple[int, ...]) -> Layers:
        done = self._model.net(input_ids=torch.tensor([tokens]), use_cache=True, logits_to_keep=1)
        return [(layer.keys, layer.values) for layer in done.cache.layers]


def _padded(states: Tensor, width: int) -> Tensor:
    missing = width - states.shape[-2]
    return states if missing == 0 else torch.nn.functional.pad(states, (0, 0, missing, 0))


def _bytes(layers: Layers) -> int:
    return sum(part.numel() * part.element_size() for layer in layers for part in layer)
