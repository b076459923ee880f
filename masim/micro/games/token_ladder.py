"""TokenLadder: sub-goals one after the other, each opened by one of several candidates, with a budget of calls.

Every stage has candidates of its own, so nothing that is learned at one stage helps at another. The right one advances
unless the API fails; the others only cost budget. A wrong candidate may answer with a text never seen before
(``decoys``): novelty without progress, which exact observation keys take for progress.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.micro.binomial import at_least, exactly
from masim.micro.checks import MOST_ROUNDS, share, whole
from masim.micro.game import Branch, Game, State, View
from masim.micro.policies import Certain


@dataclass(frozen=True, slots=True)
class TokenLadder(Game):
    """Reach the top of ``subgoals`` stages within ``budget`` calls. States are (calls made, stage, decoys seen)."""

    title: ClassVar[str] = "Sub-goals one after the other, with a budget of calls"

    subgoals: int = 14
    budget: int = 20
    candidates: int = 3
    fails: float = 0.1
    """Probability that the API fails a right call."""
    decoys: int | None = 0
    """How many new texts wrong candidates can show; null: without end, as a clock in the observation does."""

    def __post_init__(self) -> None:
        whole("subgoals", self.subgoals, 1, MOST_ROUNDS)
        whole("budget", self.budget, self.subgoals, MOST_ROUNDS)
        whole("candidates", self.candidates, 2, 1000)
        share("fails", self.fails)
        if self.decoys is not None:
            whole("decoys", self.decoys, 0, 1000)

    @property
    def horizon(self) -> int:
        """Most rounds of an episode."""
        return self.budget

    @property
    def p_star(self) -> float:
        """``P[Bin(budget, 1 - fails) >= subgoals]``."""
        return at_least(self.budget, 1.0 - self.fails, self.subgoals)

    @property
    def p_random(self) -> float:
        """``P[Bin(budget, (1 - fails) / candidates) >= subgoals]``."""
        return at_least(self.budget, (1.0 - self.fails) / self.candidates, self.subgoals)

    def effect(self, left: int, stage: int, advance: float) -> float:
        """Return ``A(right) - A(wrong)`` with ``left`` calls left, for a policy that advances with ``advance``.

        The call matters when the calls after it bring exactly one stage too few: ``(1 - fails) P[Bin(left - 1,
        advance) = subgoals - stage - 1]``.
        """
        return (1.0 - self.fails) * exactly(left - 1, advance, self.subgoals - stage - 1)

    def right(self, stage: int) -> int:
        """Return the candidate that advances a stage."""
        return (7 * stage + 2) % self.candidates

    def optimal_policy(self) -> Certain:
        """Return the policy that always takes the right candidate."""
        return Certain(lambda view: self.right(view[1]))

    def begin(self) -> tuple[Branch, ...]:
        """All instances are alike."""
        return (Branch(1.0, (0, 0, 0)),)

    def over(self, state: State) -> bool:
        """The top is reached, or the budget is spent."""
        return bool(state[0] >= self.budget or state[1] >= self.subgoals)

    def succeeded(self, state: State) -> bool:
        """The top is reached."""
        return bool(state[1] >= self.subgoals)

    def step(self, state: State, actions: tuple[int, ...]) -> tuple[Branch, ...]:
        """Advance, fail, or learn that the candidate was a wrong one."""
        made, stage, seen = state
        if actions[0] != self.right(stage):
            most = 0 if self.decoys is None else self.decoys
            return (Branch(1.0, (made + 1, stage, min(seen + 1, most))),)
        stay = Branch(self.fails, (made + 1, stage, seen))
        return (Branch(1.0 - self.fails, (made + 1, stage + 1, 0)), stay)

    def n_actions(self, state: State, agent: int) -> int:
        """As many as there are candidates."""
        return self.candidates

    def view(self, state: State, agent: int) -> View:
        """Return the stage."""
        return (0, state[1])

    def views(self) -> tuple[View, ...]:
        """Return one view per stage."""
        return tuple((0, stage) for stage in range(self.subgoals))

    def exact(self, state: State, agent: int) -> View:
        """Return the stage with the decoys seen; with the clock where those have no end."""
        made, stage, seen = state
        return (0, stage, made if self.decoys is None else seen)

    def advanced(self, before: State, after: State) -> bool:
        """Return whether a stage was reached."""
        return bool(after[1] > before[1])
