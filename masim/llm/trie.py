"""A token trie of answers: what they have in common is read once, and each is scored from the same pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masim.arrays import I64, Bool


@dataclass(frozen=True, slots=True)
class Trie:
    """All answers to one question, each a sequence of tokens that is no beginning of another.

    T inner nodes, parents before children: tokens that something follows. E edges: (place that predicts, token), each
    counted once; place 0 is the end of the prompt, place ``i + 1`` is node ``i``.
    """

    token: I64
    """(T,)"""
    parent: I64
    """(T,), -1 for a first token."""
    depth: I64
    """(T,), 0 for a first token."""
    edge_place: I64
    """(E,)"""
    edge_token: I64
    """(E,)"""
    paths: tuple[I64, ...]
    """Edges of each answer, in their order."""

    def __len__(self) -> int:
        return len(self.token)

    def sees(self) -> Bool:
        """Return (T, T): which nodes each node may look at, its ancestors and itself."""
        sees = np.eye(len(self), dtype=np.bool_)
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                sees[node] |= sees[parent]
        return sees


def trie_of(answers: Sequence[Sequence[int]]) -> Trie:
    """Return the trie of some answers; each must end with a token that stands nowhere else in any of them."""
    token: list[int] = []
    parent: list[int] = []
    depth: list[int] = []
    place_of: dict[tuple[int, int], int] = {}
    edges: dict[tuple[int, int], int] = {}
    paths: list[list[int]] = []
    for answer in answers:
        place = 0
        path: list[int] = []
        for nth, one in enumerate(answer):
            path.append(edges.setdefault((place, one), len(edges)))
            if nth == len(answer) - 1:
                break
            if (place, one) not in place_of:
                token.append(one)
                parent.append(place - 1)
                depth.append(nth)
                place_of[place, one] = len(token)
            place = place_of[place, one]
        paths.append(path)
    at, follows = [place for place, _ in edges], [one for _, one in edges]
    return Trie(_ints(token), _ints(parent), _ints(depth), _ints(at), _ints(follows), tuple(map(_ints, paths)))


def _ints(values: Sequence[int]) -> I64:
    return np.array(values, dtype=np.int64)
