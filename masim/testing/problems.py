"""What a failed check raises: every distinct problem once, in the order in which they were met."""

from __future__ import annotations

from collections.abc import Iterable

from masim.errors import MasimError

MOST = 20
"""Problems beyond this many are left out: the first ones tell."""


class ConformanceError(MasimError):
    """An environment breaks its contract: ``(problems,)``."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(self.problems)


class Problems:
    """Collects problems."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def add(self, problems: Iterable[str]) -> None:
        """Take in problems."""
        for problem in problems:
            if len(self._found) < MOST:
                self._found.setdefault(problem)

    def raise_any(self) -> None:
        """Raise :class:`ConformanceError` if there was any problem."""
        if self._found:
            raise ConformanceError(tuple(self._found))
