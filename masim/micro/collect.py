"""Comparison groups of a game for the trainer: ``collect(draw, policy_version)`` as a pure function of its arguments.

All rollouts of a group play the same instance; which instance a draw plays follows from its number.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from masim.arrays import F64
from masim.errors import ConfigError, did_you_mean
from masim.micro.episode import MicroEpisode, Weather, weather
from masim.micro.game import State
from masim.micro.model import Model
from masim.micro.registry import name_of
from masim.micro.tabular import TabularPolicy
from masim.outcome import OrderOutcome
from masim.rng import Noise, mixed_uniforms
from masim.rollout.types import ACT, COLLECT, Episode, PolicyInputs, RolloutBatch, StepTable

TRAIN_SEEDS_FROM = 1_000_000
"""Instances of training have campaign seeds from here; those of evaluation lie below."""
Booked = Literal["end", "landing", "request"]
"""Where the outcome is booked: all of it at the last decision; each part where it landed; each at its own request."""


@dataclass(slots=True)
class _Steps:
    """Decisions as columns, in the order in which they were taken."""

    whole: list[tuple[int, ...]] = field(default_factory=list)
    real: list[tuple[float, ...]] = field(default_factory=list)
    keys: list[tuple[int, int, int, int]] = field(default_factory=list)
    out: list[float] = field(default_factory=list)


class MicroCollector:
    """Plays one group per draw with a tabular policy. ``seed`` separates trainings; it never reaches the world.

    The world's draws come from the instance, which is ``TRAIN_SEEDS_FROM * (seed + 1) + draw``; the policy's from
    (``seed``, draw).
    """

    def __init__(
        self, model: Model, policy: TabularPolicy, n_rollouts: int, seed: int = 0, booked: Booked = "end"
    ) -> None:
        if booked not in get_args(Booked):
            known = get_args(Booked)
            raise ConfigError("unknown booking", "booked", repr(booked), ", ".join(known), did_you_mean(booked, known))
        self._model, self._policy = model, policy
        self._n, self._seed, self._booked = n_rollouts, seed, booked
        self.name = name_of(model.game)

    def __call__(self, draw: int, policy_version: int) -> RolloutBatch:
        instance = TRAIN_SEEDS_FROM * (self._seed + 1) + draw
        conditions = weather(instance, 0, f"{self.name}/train")
        steps, episodes = _Steps(), []
        uniforms = self._uniforms(draw)
        for number in range(self._n):
            rollout = draw * self._n + number
            episode = self._play(conditions, rollout, uniforms[number], steps)
            episodes.append(self._summary(instance, rollout, episode))
        table = self._table(steps, instance, conditions, draw, policy_version)
        return RolloutBatch(table, self._inputs(steps), tuple(episodes), self._model.game.agents, _no_memory)

    def _uniforms(self, draw: int) -> F64:
        """Return (rollouts, agents, rounds) uniforms of the policy."""
        game = self._model.game
        noise = Noise(self._seed, f"policy/{self.name}/{draw}")
        ids = [
            noise.seed64("choice", rollout, agent) for rollout in range(self._n) for agent in range(len(game.agents))
        ]
        seeds = np.repeat(np.array(ids, np.uint64), game.horizon)
        rounds = np.tile(np.arange(game.horizon, dtype=np.uint64), len(ids))
        return mixed_uniforms(seeds, rounds).reshape(self._n, len(game.agents), game.horizon)

    def _play(self, conditions: Weather, rollout: int, uniforms: F64, steps: _Steps) -> MicroEpisode:
        episode = MicroEpisode(self._model, conditions)
        draws = uniforms.tolist()
        row, index, game = self._policy.row, self._policy.index, self._model.game
        outcome = [0.0] * game.horizon
        shown = episode.advance()
        while shown:
            at, now, state = episode.round, episode.now, episode.state
            chosen = []
            for agent, asked in enumerate(shown):
                known = row(asked.view, asked.n_actions)
                action = bisect_right(known.edges, draws[agent][at])
                chosen.append((asked, action, known.logp[action]))
            episode.submit(tuple(action for _, action, _ in chosen))
            after = episode.advance()
            ended, shown_next = not after, self._model.shown(episode.state)
            self._book(outcome, state, episode.state, at)
            done = int(game.advanced(state, episode.state))
            mode = COLLECT if game.collects(state) else ACT
            for agent, (asked, action, logp) in enumerate(chosen):
                place, then = index[asked.view], shown_next[agent]
                steps.whole.append((rollout, agent, at, place, asked.n_actions, action, mode, done, int(ended)))
                steps.real.append((now, logp, episode.pay))
                steps.keys.append((asked.obs_key, asked.obs_key_exact, then.obs_key, then.obs_key_exact))
            shown = after
        agents = range(len(game.agents))
        steps.out += [value for value in outcome[: episode.round] for _ in agents]
        return episode

    def _book(self, outcome: list[float], before: State, after: State, at: int) -> None:
        """Write what a round brought into the outcomes by round."""
        game = self._model.game
        if self._booked == "end":
            outcome[at] = float(game.over(after) and game.succeeded(after))
            return
        for request, part in game.landed(before, after):
            outcome[at if self._booked == "landing" else request] += part

    def _table(self, steps: _Steps, instance: int, conditions: Weather, draw: int, version: int) -> StepTable:
        whole, real = np.array(steps.whole, np.int64), np.array(steps.real, np.float64)
        keys = np.array(steps.keys, np.uint64)
        order = np.lexsort((whole[:, 2], whole[:, 1], whole[:, 0]))
        rollout, agent, turn, place, _, action, mode, done, ended = whole[order].T
        now, logp, pay = real[order].T
        out = np.array(steps.out, np.float64)[order]
        key, exact, after, after_exact = keys[order].T
        n = len(order)
        same = np.zeros(n, np.int64)
        return StepTable(
            scenario_seed=same + instance, day=same, reset_digest=np.full(n, conditions.digest, np.uint64),
            group_id=same + draw, rollout_id=rollout, agent=agent, role=same, turn=turn,
            event_id=rollout * self._model.game.horizon + turn, event_time_s=now, reason=same, mode=mode, kind=same,
            order=same, vendor=action, endpoint=place, action_id=action, action_row=action, logp=logp,
            subtask_end=done.astype(bool), obs_key_exact=exact, obs_key=key, next_obs_key_exact=after_exact,
            next_obs_key=after, memory_key=np.zeros(n, np.uint64), memory_version=same, policy_version=same + version,
            r_out=out, r_pen=pay, terminated=ended.astype(bool), truncated=np.zeros(n, bool), valid=np.ones(n, bool),
            masked=np.zeros(n, bool),
        )  # fmt: skip

    def _inputs(self, steps: _Steps) -> PolicyInputs:
        whole = np.array(steps.whole, np.int64)
        _, _, turn, place, offered = whole[np.lexsort((whole[:, 2], whole[:, 1], whole[:, 0]))].T[:5]
        return self._policy.inputs(place, offered, turn / self._model.game.horizon)

    def _summary(self, instance: int, rollout: int, episode: MicroEpisode) -> Episode:
        game = self._model.game
        done = game.succeeded(episode.state)
        order = OrderOutcome(
            self.name, game.agents[0], done, done, 0, 0, 0, 0, int(done), 1, episode.now, "" if done else "failed"
        )
        decisions = dict.fromkeys(game.agents, episode.round)
        calls = episode.round * len(game.agents)
        return Episode(f"micro/{self.name}", instance, 0, rollout, (order,), decisions, calls, episode.now)


def _no_memory(rollout_id: int, agent: str, value: float) -> None:
    """These agents keep no memory between episodes."""
