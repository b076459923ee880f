"""Reference agents without parameters: ``random`` and ``null``."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
