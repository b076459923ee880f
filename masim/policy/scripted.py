"""Reference agents without parameters: ``random``, ``null``, ``loop`` and ``claim``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from masim.env.decision import Decision
from masim.policy.base import Ask, Choice


class RandomPolicy:
    """Chooses uniformly among the legal candidates."""

    name = "random"

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return one uniform choice per question."""
        return [self._one(ask) for ask in asks]

    @staticmethod
    def _one(ask: Ask) -> Choice:
        legal = ask.decision.legal
        row = int(ask.uniform() * len(legal))
        return Choice(int(legal[row]), row, -math.log(len(legal)))


class NullPolicy:
    """Never does anything: waits for a message that nobody has reason to send. Must score 0."""

    name = "null"

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the wait of every question."""
        return [Choice(0, 0) for _ in asks]


class LoopPolicy:
    """Makes the first call that it may make, again and again, whatever is answered. Must end, and be seen to loop."""

    name = "loop"

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the first legal action that is no wait."""
        return [self._one(ask.decision) for ask in asks]

    @staticmethod
    def _one(decision: Decision) -> Choice:
        """Wait where nothing else is allowed: an agent with a role may have no order in hand."""
        legal, row = decision.legal, decision.table.n_waits
        return Choice(int(legal[row]), row) if len(legal) > row else Choice(0, 0)


class ClaimPolicy:
    """Says that every order is booked and calls nobody. Must score 0, and be counted as unsupported claims."""

    name = "claim"

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the claim of the first order that is not claimed yet, then the wait for a message."""
        return [self._one(ask) for ask in asks]

    @staticmethod
    def _one(ask: Ask) -> Choice:
        table, done = ask.decision.table, ask.decision.view.declared
        if all(done):
            return Choice(0, 0)
        action, legal = table.declare(done.index(False)), ask.decision.legal
        row = int(np.searchsorted(legal, action))
        return Choice(action, row) if row < len(legal) and legal[row] == action else Choice(0, 0)
