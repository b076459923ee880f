"""A game with what was worked out about it kept: branches by round, and what each agent is shown at a state."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from masim.errors import ConfigError
from masim.micro.game import Branch, Game, State, View
from masim.rng import digest64


@dataclass(frozen=True, slots=True)
class Shown:
    """What one agent is asked at a state."""

    view: View
    n_actions: int
    obs_key: int
    obs_key_exact: int


class Model:
    """Looks rounds and views up once per state; shared by all episodes of a game in one process."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._rounds: dict[tuple[State, tuple[int, ...]], tuple[list[float], tuple[Branch, ...]]] = {}
        self._shown: dict[State, tuple[Shown, ...]] = {}
        self.starts = self._ladder(game.begin())

    @staticmethod
    def _ladder(branches: tuple[Branch, ...]) -> tuple[list[float], tuple[Branch, ...]]:
        edges = list(accumulate(branch.p for branch in branches))
        if abs(edges[-1] - 1.0) > 1e-9:
            raise ConfigError("the branches of a round do not sum to 1", "Game.step", str(edges[-1]), "1")
        return edges[:-1], branches

    def start(self, u: float) -> State:
        """Return the instance at a uniform."""
        edges, branches = self.starts
        return branches[bisect_right(edges, u)].state

    def branch(self, state: State, actions: tuple[int, ...], u: float) -> Branch:
        """Return how the round ends at a uniform: the same ``u`` compares actions under common noise."""
        found = self._rounds.get((state, actions))
        if found is None:
            found = self._rounds[state, actions] = self._ladder(self.game.step(state, actions))
        return found[1][bisect_right(found[0], u)]

    def shown(self, state: State) -> tuple[Shown, ...]:
        """Return what each agent is asked, also where nobody decides any more."""
        found = self._shown.get(state)
        if found is None:
            agents = range(len(self.game.agents))
            found = self._shown[state] = tuple(self._show(state, agent) for agent in agents)
        return found

    def _show(self, state: State, agent: int) -> Shown:
        game = self.game
        over = game.over(state)
        view = game.view(state, agent)
        keys = digest64("view", over, view), digest64("exact", over, game.exact(state, agent))
        return Shown(view, 0 if over else game.n_actions(state, agent), *keys)
