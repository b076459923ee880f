"""What a person is asked next, and what becomes of the answer. Knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from masim.errors import ConfigError
from masim.feedback.labels import MAX_SCORE, VERDICTS, Label, LabelBook, current, verdict_of
from masim.feedback.units import StoredUnits

BY_SCORES = "scores"
"""What the form's button says when the scores are the answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """One pair. ``number`` names it on the page, where units have no names, lest those of agents sway anybody."""

    number: int
    a: str
    b: str
    before: Label | None
    """What the same person said of it before."""


class Desk:
    """Asks pairs in one random order, each person those that they have not judged, and stores answers."""

    def __init__(self, units: StoredUnits, book: LabelBook, seed: int = 0) -> None:
        self.units = units
        self.pairs = units.pairs(seed)
        self._book = book

    def judged(self, who: str) -> dict[frozenset[str], Label]:
        """Return what counts of a person's judgements on units of this kind, oldest first."""
        mine = [x for x in self._book.labels if x.who == who and dict(x.unit) == dict(self.units.rule)]
        return {label.pair: label for label in current(mine)}

    def done(self, who: str) -> int:
        """Return how many of the pairs a person has judged or skipped."""
        judged = self.judged(who)
        return sum(frozenset(pair) in judged for pair in self.pairs)

    def next(self, who: str) -> Question | None:
        """Return the first pair that a person has not judged; None when there is none left."""
        judged = self.judged(who)
        open_ = (i for i, pair in enumerate(self.pairs) if frozenset(pair) not in judged)
        number = next(open_, None)
        return None if number is None else self.question(number, who)

    def previous(self, who: str) -> int | None:
        """Return the number of the pair that a person judged last."""
        numbers = {frozenset(pair): i for i, pair in enumerate(self.pairs)}
        mine = [numbers[pair] for pair in self.judged(who) if pair in numbers]
        return mine[-1] if mine else None

    def question(self, number: int, who: str) -> Question:
        """Return a pair by its number. Raises ConfigError for one that there is not."""
        if not 0 <= number < len(self.pairs):
            raise ConfigError("there is no such pair", "pair", str(number), f"0 to {len(self.pairs) - 1}")
        a, b = self.pairs[number]
        return Question(number, a, b, self.judged(who).get(frozenset((a, b))))

    def answer(self, who: str, form: Mapping[str, str]) -> Label:
        """Store the answer of a form: ``pair``, ``verdict`` and, where that says so, ``score_a`` and ``score_b``.

        Raises ConfigError for an impossible one and OSError when it cannot be written; nothing is stored then.
        """
        number = form.get("pair", "")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise ConfigError("not the number of a pair", "pair", repr(number), f"0 to {len(self.pairs) - 1}")
        asked = self.question(int(number), who)
        verdict = form.get("verdict", "")
        if verdict not in (*VERDICTS, BY_SCORES):
            allowed = ", ".join((*VERDICTS, BY_SCORES))
            raise ConfigError("unknown verdict", "verdict", repr(verdict), allowed)
        scores: tuple[float, float] | None = None
        if verdict == BY_SCORES:
            scores = _score(form, "score_a"), _score(form, "score_b")
            verdict = verdict_of(*scores)
        label = Label(who.strip(), self.units.rule, asked.a, asked.b, verdict, *(scores or (None, None)))
        self._book.add(label)
        return label


def _score(form: Mapping[str, str], name: str) -> float:
    text = form.get(name, "").strip()
    try:
        return float(text)
    except ValueError as error:
        raise ConfigError("not a score", name, repr(text), f"0 to {MAX_SCORE:g}", "score both") from error
