"""What a failed check raises: every distinct problem once, with the step where it was met first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from masim.errors import MasimError

MOST = 20
"""Problems beyond this many are left out: the first ones tell."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that an environment does and must not."""

    check: str
    """Name of the check that found it, a key of :data:`masim.testing.CHECKS`."""
    text: str
    agent: str = ""
    """Empty where it is about no single agent."""
    step: int = -1
    """Number of the step, 0 for the reset; -1 where it is about no single step."""
    part: str = ""
    """Which part of the answer, such as ``reward`` or ``observation.action_mask``."""
    times: int = 1
    """How often the same part of the same agent was wrong."""

    def __str__(self) -> str:
        step = f"step {self.step}" if self.step >= 0 else ""
        head = ", ".join(part for part in (step, self.agent, self.part) if part)
        again = f", {self.times} times in all" if self.times > 1 else ""
        return f"{head}{': ' if head else ''}{self.text} [{self.check}{again}]"


class ConformanceError(MasimError):
    """An environment breaks its contract: ``(problems,)``, at least one :class:`Problem`."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Problems:
    """Collects problems; the same part of the same agent counts once, where it was met first."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Problem] = {}

    def add(self, problems: Iterable[Problem]) -> None:
        """Take in problems."""
        for problem in problems:
            key = (problem.check, problem.agent, problem.part)
            first = self._found.get(key)
            if first is not None:
                self._found[key] = replace(first, times=first.times + 1)
            elif len(self._found) < MOST:
                self._found[key] = problem

    def raise_any(self) -> None:
        """Raise :class:`ConformanceError` if there was any problem."""
        if self._found:
            raise ConformanceError(tuple(self._found.values()))
