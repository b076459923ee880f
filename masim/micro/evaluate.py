"""How often a policy succeeds when a game is really played; every episode is an instance of its own."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from masim.errors import ConfigError
from masim.micro.episode import MicroEpisode, Weather
from masim.micro.game import MicroPolicy
from masim.micro.model import Model
from masim.micro.registry import name_of
from masim.rng import Noise

HELD_OUT = 500_000
"""Instances of evaluations have campaign seeds from here."""


def play(model: Model, policy: MicroPolicy, seed: int) -> MicroEpisode:
    """Play one episode of the instance ``seed``; the policy's draws belong to the same seed."""
    name = name_of(model.game)
    episode = MicroEpisode(model, Weather(seed, 0, f"{name}/held-out"))
    noise = Noise(seed, f"policy/{name}/held-out")
    while shown := episode.advance():
        actions = []
        for agent, asked in enumerate(shown):
            edges = list(accumulate(policy.probabilities(asked.view, asked.n_actions)))[:-1]
            actions.append(bisect_right(edges, noise.uniform("choice", agent, episode.round)))
        episode.submit(tuple(actions))
    return episode


def successes(model: Model, policy: MicroPolicy, episodes: int, first_seed: int = HELD_OUT) -> int:
    """Return how many of ``episodes`` held-out instances end in success. Raises ConfigError for none."""
    if episodes < 1:
        raise ConfigError("no episodes to play", "episodes", str(episodes), ">= 1")
    ends = (play(model, policy, first_seed + i) for i in range(episodes))
    return sum(model.game.succeeded(episode.state) for episode in ends)
