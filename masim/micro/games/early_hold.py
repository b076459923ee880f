"""EarlyHold: the first decision decides, everything after it is noise, and the outcome comes at the very end.

The agent sees which type of hold is the right one and takes one. Then it polls, and every poll pays a little more or
less than nothing at all; at last it confirms. Only the first decision has an advantage: a negative control for every
method that spreads the outcome over the decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.errors import ConfigError
from masim.micro.checks import MOST_ROUNDS, share, whole
from masim.micro.game import Branch, Game, State, View
from masim.micro.policies import Certain

POLLS = 2
"""Ways to poll; which one is taken changes nothing."""


@dataclass(frozen=True, slots=True)
class EarlyHold(Game):
    """Hold, poll, confirm. States are (round, right type, held type, what the last answer said)."""

    title: ClassVar[str] = "The first decision decides, and everything after it is noise"

    types: int = 4
    rounds: int = 20
    fails: float = 0.05
    """Probability that the confirmation of a right hold fails."""
    noise: float = 0.1
    """A poll pays this or its negative on the penalty channel, equally likely."""

    def __post_init__(self) -> None:
        whole("types", self.types, 2, 100)
        whole("rounds", self.rounds, 2, MOST_ROUNDS)
        share("fails", self.fails)
        if not 0.0 <= self.noise <= 10.0:
            raise ConfigError("out of range", "noise", str(self.noise), "0 to 10")

    @property
    def horizon(self) -> int:
        """Most rounds of an episode."""
        return self.rounds

    @property
    def p_star(self) -> float:
        """``1 - fails``."""
        return 1.0 - self.fails

    @property
    def p_random(self) -> float:
        """``(1 - fails) / types``."""
        return (1.0 - self.fails) / self.types

    @property
    def right_advantage(self) -> float:
        """Advantage of the right hold for the uniform policy, ``(1 - fails)(1 - 1 / types)``; all later ones are 0."""
        return (1.0 - self.fails) * (1.0 - 1.0 / self.types)

    def optimal_policy(self) -> Certain:
        """Return the policy that takes the visible right type, then always the first way."""
        return Certain(lambda view: view[2] if view[1] == 0 else 0)

    def begin(self) -> tuple[Branch, ...]:
        """Every type is as likely to be the right one."""
        return tuple(Branch(1.0 / self.types, (0, right, -1, 0)) for right in range(self.types))

    def over(self, state: State) -> bool:
        """The confirmation was answered."""
        return bool(state[0] >= self.rounds)

    def succeeded(self, state: State) -> bool:
        """The right hold was confirmed."""
        return bool(state[1] == state[2] and state[3] > 0)

    def step(self, state: State, actions: tuple[int, ...]) -> tuple[Branch, ...]:
        """Take a hold, poll, or confirm."""
        at, right, held, _ = state
        if at == 0:
            return (Branch(1.0, (1, right, actions[0], 0)),)
        if at < self.rounds - 1:
            more, less = (at + 1, right, held, 1), (at + 1, right, held, -1)
            return (Branch(0.5, more, self.noise), Branch(0.5, less, -self.noise))
        if held != right:
            return (Branch(1.0, (at + 1, right, held, -1)),)
        return (Branch(1.0 - self.fails, (at + 1, right, held, 1)), Branch(self.fails, (at + 1, right, held, -1)))

    def n_actions(self, state: State, agent: int) -> int:
        """Types to hold, ways to poll, and one way to confirm."""
        if state[0] == 0:
            return self.types
        return POLLS if state[0] < self.rounds - 1 else 1

    def view(self, state: State, agent: int) -> View:
        """Return the round, the right type and the held one."""
        return (0, *state[:3])

    def views(self) -> tuple[View, ...]:
        """Return the views of the first round, then those of each later one."""
        kinds = range(self.types)
        first = tuple((0, 0, right, -1) for right in kinds)
        later = ((0, at, right, held) for at in range(1, self.rounds) for right in kinds for held in kinds)
        return (*first, *later)

    def exact(self, state: State, agent: int) -> View:
        """Return the view with what the last poll said."""
        return (0, *state)

    def collects(self, state: State) -> bool:
        """Polls ask for information."""
        return bool(0 < state[0] < self.rounds - 1)
