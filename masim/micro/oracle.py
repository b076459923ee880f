"""Exact values of a policy in a game, by recursion over the hidden state: the truth that credit is compared with.

``Q(h, a)`` is the expected outcome when one agent does ``a`` at the full state ``h`` and everybody follows the policy
otherwise; ``A = Q - V`` (CREDIT's ``A``: the other agents are resampled). :meth:`Oracle.coma` holds what the others
did in the same round instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from masim.errors import ConfigError
from masim.micro.game import Game, MicroPolicy, State

MAX_STATES = 2_000_000
"""Larger games are refused rather than computed for hours."""


class Oracle:
    """Values of ``policy``. ``w_pen`` adds that much of the penalty channel to the outcome."""

    def __init__(self, game: Game, policy: MicroPolicy, w_pen: float = 0.0) -> None:
        self.game, self.policy, self.w_pen = game, policy, w_pen
        self._values: dict[State, float] = {}

    def success(self) -> float:
        """Return the expected return from the start: with ``w_pen`` 0 the probability of success."""
        return sum(branch.p * self.value(branch.state) for branch in self.game.begin())

    def value(self, state: State) -> float:
        """Return ``V(h)``. Raises ConfigError for a game with too many states."""
        found = self._values.get(state)
        if found is None:
            if len(self._values) >= MAX_STATES:
                raise ConfigError("too many states for exact values", "game", f"{MAX_STATES:,}", "", "make it shorter")
            found = self._values[state] = self._value(state)
        return found

    def _value(self, state: State) -> float:
        game = self.game
        if game.over(state):
            return float(game.succeeded(state))
        return sum(p * self.joint(state, actions) for p, actions in self._joint_actions(state))

    def chances(self, state: State, agent: int) -> tuple[float, ...]:
        """Return the policy's probabilities for one agent."""
        game = self.game
        return tuple(self.policy.probabilities(game.view(state, agent), game.n_actions(state, agent)))

    def _joint_actions(
        self, state: State, fixed: dict[int, int] | None = None
    ) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield (probability, actions) of a round, without what never happens; ``fixed`` agents do as told."""
        options: list[list[tuple[float, int]]] = []
        for agent in range(len(self.game.agents)):
            if fixed is not None and agent in fixed:
                options.append([(1.0, fixed[agent])])
            else:
                options.append([(p, a) for a, p in enumerate(self.chances(state, agent)) if p > 0.0])
        for chosen in product(*options):
            p = 1.0
            for share, _ in chosen:
                p *= share
            yield p, tuple(action for _, action in chosen)

    def joint(self, state: State, actions: tuple[int, ...]) -> float:
        """Return the expected return when all agents do as told in this round."""
        return sum(
            branch.p * (self.w_pen * branch.pay + self.value(branch.state))
            for branch in self.game.step(state, actions)
            if branch.p > 0.0
        )

    def q(self, state: State, agent: int, action: int) -> float:
        """Return ``Q(h, a)`` of one agent, the others resampled."""
        return sum(p * self.joint(state, actions) for p, actions in self._joint_actions(state, {agent: action}))

    def advantages(self, state: State, agent: int = 0) -> tuple[float, ...]:
        """Return the exact advantage of every call that one agent may choose."""
        value = self.value(state)
        return tuple(self.q(state, agent, a) - value for a in range(self.game.n_actions(state, agent)))

    def coma(self, state: State, actions: tuple[int, ...], agent: int) -> float:
        """Return ``Q(h, actions) - sum_b pi(b) Q(h, actions with b)``: the others' choices held."""
        own = self.chances(state, agent)
        instead = ((*actions[:agent], b, *actions[agent + 1 :]) for b in range(len(own)))
        return self.joint(state, actions) - sum(
            p * self.joint(state, other) for p, other in zip(own, instead, strict=True) if p > 0.0
        )


def exact_advantage(game: Game, policy: MicroPolicy, state: State, agent: int = 0) -> tuple[float, ...]:
    """Return the exact advantages at one state; keep an :class:`Oracle` to ask for many."""
    return Oracle(game, policy).advantages(state, agent)
