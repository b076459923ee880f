"""One episode of a game on the simulator's clock: calls go out, answers land later, agents decide when they landed.

What the world draws is a function of the instance and the round alone, never of the rollout or the action: rollouts
of a comparison group meet the same failures, and an action can be replaced with everything else held equal.
"""

from __future__ import annotations

from functools import lru_cache

from masim.errors import ConfigError
from masim.micro.game import State
from masim.micro.model import Model, Shown
from masim.rng import Noise, digest64
from masim.sim.clock import Clock
from masim.sim.trace import Trace, TraceRow

LATENCY_S = (20.0, 40.0)
"""Range of the time from a call to its answer, simulated seconds."""


class Weather:
    """All that the world will draw in one instance."""

    __slots__ = ("_noise", "_rounds", "digest", "start")

    def __init__(self, campaign_seed: int, day: int, namespace: str) -> None:
        self._noise = Noise(campaign_seed, f"micro/{namespace}/day{day}")
        self._rounds: list[tuple[float, float]] = []
        self.start = self._noise.uniform("start")
        self.digest = digest64("micro", namespace, campaign_seed, day)

    def of_round(self, number: int) -> tuple[float, float]:
        """Return the uniform of a round's answer, and when it lands in seconds after the call."""
        rounds = self._rounds
        while len(rounds) <= number:
            u, v, _, _ = self._noise.uniforms("answer", len(rounds))
            rounds.append((u, LATENCY_S[0] + v * (LATENCY_S[1] - LATENCY_S[0])))
        return rounds[number]


@lru_cache(maxsize=64)
def weather(campaign_seed: int, day: int, namespace: str) -> Weather:
    """Return the weather of an instance, shared by its rollouts."""
    return Weather(campaign_seed, day, namespace)


class MicroEpisode:
    """Alternate :meth:`advance` and :meth:`submit` until ``advance`` returns nothing."""

    __slots__ = ("_clock", "_model", "_ready", "_weather", "pay", "round", "state", "trace")

    def __init__(self, model: Model, conditions: Weather, trace: Trace | None = None) -> None:
        self._model, self._weather = model, conditions
        self._clock = Clock(0.0)
        self._ready = True
        self.state: State = model.start(conditions.start)
        self.round = 0
        self.pay = 0.0
        """What the last round paid each agent on the penalty channel."""
        self.trace = trace

    @property
    def now(self) -> float:
        """Return the present simulated time in seconds."""
        return self._clock.now

    @property
    def over(self) -> bool:
        """Return whether the episode has ended."""
        return self._model.game.over(self.state)

    def advance(self) -> tuple[Shown, ...]:
        """Return what each agent is asked at the next instant, or nothing at the end."""
        while not self._ready:
            self._clock.step()
        return () if self.over else self._model.shown(self.state)

    def submit(self, actions: tuple[int, ...]) -> None:
        """Send every agent's call. Raises ConfigError out of turn and for a call that is not offered."""
        if not self._ready or self.over:
            raise ConfigError("nobody has a decision to make now", "submit", str(actions))
        shown = self._model.shown(self.state)
        if len(actions) != len(shown) or not all(
            0 <= action < asked.n_actions for action, asked in zip(actions, shown, strict=True)
        ):
            allowed = " and ".join(f"0 to {asked.n_actions - 1}" for asked in shown)
            raise ConfigError("a call that is not offered", "submit", str(actions), allowed)
        u, delay_s = self._weather.of_round(self.round)
        self._ready = False
        if self.trace is not None:
            self._note("call", actions)
        self._clock.at(self._clock.now + delay_s, self._answer, actions, u)

    def _answer(self, actions: tuple[int, ...], u: float) -> None:
        branch = self._model.branch(self.state, actions, u)
        self.state, self.pay = branch.state, branch.pay
        self.round += 1
        self._ready = True
        if self.trace is not None:
            self._note("answer", actions)

    def _note(self, event: str, actions: tuple[int, ...]) -> None:
        if self.trace is None:
            return
        for agent, action in zip(self._model.game.agents, actions, strict=True):
            note = repr(self.state) if event == "answer" else ""
            self.trace.note(TraceRow(self._clock.now, event, agent, code=action, request_id=self.round, note=note))
