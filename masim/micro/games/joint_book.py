"""JointBook: two agents choose a window at the same time, and only the same window is a booking.

While both choose at random, no window is better than another for one of them alone: every marginal advantage is 0,
and credit that resamples the other agent has nothing to teach. Credit that holds the other's choice has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.micro.binomial import at_least
from masim.micro.checks import MOST_ROUNDS, share, whole
from masim.micro.game import Branch, Game, State, View
from masim.micro.policies import Certain


@dataclass(frozen=True, slots=True)
class JointBook(Game):
    """Book ``needed`` of ``rounds``. States are (round, booked)."""

    title: ClassVar[str] = "Two agents must choose the same window"

    rounds: int = 10
    needed: int = 7
    windows: int = 2
    fails: float = 0.05
    """Probability that one agent's API fails; a booking needs both."""
    one_open: bool = False
    """Only the first window is open: then a round's success is the product of what each agent does."""
    agents: ClassVar[tuple[str, ...]] = ("carrier_desk", "dock_desk")

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, 1, MOST_ROUNDS)
        whole("needed", self.needed, 1, self.rounds)
        whole("windows", self.windows, 2, 100)
        share("fails", self.fails)

    @property
    def horizon(self) -> int:
        """Most rounds of an episode."""
        return self.rounds

    @property
    def p_star(self) -> float:
        """``P[Bin(rounds, (1 - fails)^2) >= needed]``."""
        return at_least(self.rounds, (1.0 - self.fails) ** 2, self.needed)

    @property
    def p_random(self) -> float:
        """The same with the probability that both meet: ``1 / windows``, in the one open window its square."""
        meet = 1.0 / self.windows ** (2 if self.one_open else 1)
        return at_least(self.rounds, meet * (1.0 - self.fails) ** 2, self.needed)

    def optimal_policy(self) -> Certain:
        """Return the policy that always takes the first window."""
        return Certain(lambda view: 0)

    def begin(self) -> tuple[Branch, ...]:
        """All instances are alike."""
        return (Branch(1.0, (0, 0)),)

    def over(self, state: State) -> bool:
        """All rounds were played."""
        return bool(state[0] >= self.rounds)

    def succeeded(self, state: State) -> bool:
        """Enough windows were booked."""
        return bool(state[1] >= self.needed)

    def step(self, state: State, actions: tuple[int, ...]) -> tuple[Branch, ...]:
        """Book when both chose the same open window and neither API fails."""
        at, booked = state
        met = len(set(actions)) == 1 and not (self.one_open and actions[0])
        p = (1.0 - self.fails) ** 2 if met else 0.0
        return (Branch(p, (at + 1, booked + 1)), Branch(1.0 - p, (at + 1, booked)))

    def n_actions(self, state: State, agent: int) -> int:
        """As many as there are windows."""
        return self.windows

    def view(self, state: State, agent: int) -> View:
        """Return who is asked, the round, and how many are booked."""
        return (agent, *state)

    def views(self) -> tuple[View, ...]:
        """Return the views of one agent, then of the other."""
        return tuple((who, at, got) for who in range(2) for at in range(self.rounds) for got in range(at + 1))

    def advanced(self, before: State, after: State) -> bool:
        """Return whether a window was booked."""
        return bool(after[1] > before[1])


def shapley_of_product(r_a: float, r_b: float, r_0: float) -> tuple[float, float]:
    """Return both agents' Shapley values where a success is the product of what each does.

    ``r_a`` and ``r_b`` are how often each agent does its part, ``r_0`` how often the reference policy would. With two
    players ``phi_A = 1/2 (r_A - r_0)(r_0 + r_B)``, and both sum to ``r_A r_B - r_0^2``.
    """
    return 0.5 * (r_a - r_0) * (r_0 + r_b), 0.5 * (r_b - r_0) * (r_0 + r_a)
