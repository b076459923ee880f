"""How the last call to each endpoint ended, as the agent saw it."""

from __future__ import annotations

from functools import cache

import numpy as np

from masim.arrays import F32, I64
from masim.sim.spec import Verb

KINDS = 6
"""Columns of :attr:`Ends.kind`: called before; success, conflict, throttled, server error, timeout."""


@cache
def end_row(code: int) -> F32:
    """Return the columns of an end by its code; 0 is the client's own timeout."""
    kinds = (True, 200 <= code <= 299, code == 409, code == 429, code >= 500, code == 0)
    return np.array(kinds, dtype=np.float32)


class Ends:
    """Ends spread over the K actions that would call the endpoint again, for features; by endpoint for scripts."""

    __slots__ = ("at_s", "code", "kind", "last_s", "noted", "retry_at_s")

    def __init__(self, n_actions: int) -> None:
        self.kind = np.zeros((n_actions, KINDS), dtype=np.float32)
        self.at_s = np.zeros(n_actions)
        self.retry_at_s = np.zeros(n_actions)
        self.noted: list[I64 | slice] = []
        """Which actions each end was noted for, in order: who copies the arrays need not copy them whole."""
        self.code: dict[tuple[Verb, str], int] = {}
        self.last_s: dict[tuple[Verb, str], float] = {}

    def note(self, where: I64 | slice, code: int, at_s: float, retry_at_s: float) -> None:
        """Take down an end for the actions that would call the endpoint again."""
        self.noted.append(where)
        self.kind[where] = end_row(code)
        self.at_s[where] = at_s
        self.retry_at_s[where] = retry_at_s

    def forget(self, where: I64 | slice) -> None:
        """Let actions be as if they had never been tried."""
        self.noted.append(where)
        self.kind[where] = 0.0
        self.at_s[where] = self.retry_at_s[where] = 0.0


def where_of(indices: list[int]) -> I64 | slice:
    """Return ascending indices in the form that arrays write to fastest."""
    first, last = indices[0], indices[-1]
    return slice(first, last + 1) if last - first == len(indices) - 1 else np.array(indices, dtype=np.int64)
