"""What a micro-scenario is: a small decision process that says of itself everything that can be known.

A game is a frozen dataclass (its fields are its options). It plays in rounds: in every round each of its agents
chooses one call, all calls are answered, and the answer is one of a few *branches* with known probabilities. The
whole hidden state is one hashable tuple, so that exact values follow by recursion (:mod:`masim.micro.oracle`), while
episodes are played on the simulator's own clock with keyed noise (:mod:`masim.micro.episode`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

State: TypeAlias = tuple[Any, ...]
"""Everything about the world at one instant, what no agent sees included."""
View: TypeAlias = tuple[Any, ...]
"""What an agent goes by; starts with the agent's index."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way in which a round may end."""

    p: float
    state: State
    pay: float = 0.0
    """What each agent gets on the penalty channel."""


class MicroPolicy(Protocol):
    """Who acts in a game."""

    def probabilities(self, view: View, n_actions: int) -> Sequence[float]:
        """Return (n_actions,) probabilities of the calls that may be chosen at a view."""
        ...


class Game(ABC):
    """One micro-scenario. Only ``p_star`` and ``p_random`` are closed forms; all else describes one round."""

    title: ClassVar[str]
    """What it is about, in one line."""
    agents: ClassVar[tuple[str, ...]] = ("agent",)

    @property
    @abstractmethod
    def horizon(self) -> int:
        """Most rounds of an episode."""

    @property
    @abstractmethod
    def p_star(self) -> float:
        """Largest probability of success that any policy can reach with what the agents see."""

    @property
    @abstractmethod
    def p_random(self) -> float:
        """Probability of success when every call is chosen uniformly."""

    @abstractmethod
    def optimal_policy(self) -> MicroPolicy:
        """Return a policy that succeeds with ``p_star``."""

    @abstractmethod
    def begin(self) -> tuple[Branch, ...]:
        """Return the instances that there are. All rollouts of a comparison group share theirs."""

    @abstractmethod
    def over(self, state: State) -> bool:
        """Return whether the episode has ended."""

    @abstractmethod
    def succeeded(self, state: State) -> bool:
        """Return whether an episode that ended here is a success."""

    @abstractmethod
    def step(self, state: State, actions: tuple[int, ...]) -> tuple[Branch, ...]:
        """Return how a round may end, the better ways first; ``actions`` has one call per agent."""

    @abstractmethod
    def n_actions(self, state: State, agent: int) -> int:
        """Return how many calls an agent may choose from now."""

    @abstractmethod
    def view(self, state: State, agent: int) -> View:
        """Return what an agent goes by: the canonical observation, without clocks and counters."""

    @abstractmethod
    def views(self) -> tuple[View, ...]:
        """Return every view there may be, in a fixed order. Raises ConfigError where they cannot be listed."""

    def exact(self, state: State, agent: int) -> View:
        """Return the observation with everything in it that an environment would show."""
        return self.view(state, agent)

    def advanced(self, before: State, after: State) -> bool:
        """Return whether a round completed a sub-goal."""
        return self.over(after) and self.succeeded(after)

    def landed(self, before: State, after: State) -> tuple[tuple[int, float], ...]:
        """Return what landed in a round as (round of its request, share of the outcome): by default all at the end.

        The shares of an episode sum to 1 where everything went well.
        """
        return ((before[0], float(self.succeeded(after))),) if self.over(after) else ()

    def collects(self, state: State) -> bool:
        """Return whether this round asks for information rather than for an act."""
        return False
