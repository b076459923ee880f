"""Plays one recorded day through every adapter: the same actions again and again, and no policy inside the seconds.

An adapter is first played once by the bundled workflow, unmeasured, and every agent's actions are written down
(:func:`record`). The measured runs play them again: worlds are deterministic, so they come out the same, and a run that
does not (other turns, an illegal action) raises. What a run costs is then the adapter and the world behind it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from masim.env.calendar import Calendar
from masim.env.core import Session
from masim.env.decision import Decision
from masim.env.session_options import SessionOptions
from masim.errors import RunError
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.sim.spec import WorldSpec

Actions = dict[str, list[int]]
"""Every agent's actions, one per turn, in order."""
Choose = Callable[[Decision], int]
INSTANCE = {"campaign_seed": 0, "day": 0}
WORKFLOW = WorkflowPolicy("workflow", Habits())
SHORT_WAIT = 1
"""The action that waits for 30 s."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run did. Only an agent that was asked makes a decision; an event is one of the world's clock."""

    decisions: int
    events: int
    steps: int
    seconds: float
    """Processor seconds of all steps after the reset, the end of the day and its judgement included."""
    end_s: float
    """Simulated seconds between the reset and the last step."""
    rewards: float
    """Sum of the rewards that the steps returned, over all agents."""

    @property
    def decisions_per_s(self) -> float:
        """Return decisions per processor second."""
        return self.decisions / self.seconds

    @property
    def events_per_s(self) -> float:
        """Return processed events per processor second."""
        return self.events / self.seconds


def workflow(decision: Decision) -> int:
    """Return what the bundled workflow does."""
    return WORKFLOW.choose([Ask(decision, Noise(0, "bench"))])[0].action


def wait_30_s(_: Decision) -> int:
    """Return the wait of 30 s."""
    return SHORT_WAIT


def day(seed: int) -> dict[str, int]:
    """Return the reset options of the day that is played."""
    return INSTANCE | {"campaign_seed": seed}


def record(env: Any, choose: Choose, seed: int, until_s: float) -> Actions:
    """Play until ``until_s`` simulated seconds have passed and return the actions; ``env`` steps like Parallel ones."""
    env.reset(options=day(seed))
    stage = env.stage
    stop_s = stage.session.now + until_s
    actions: Actions = {agent: [] for agent in env.possible_agents}
    while env.agents and stage.session.now < stop_s:
        step = {decision.agent: choose(decision) for decision in stage.open_decisions()}
        for agent, action in step.items():
            actions[agent].append(action)
        env.step(step)
    return actions


def play_parallel(env: Any, actions: Actions, seed: int, until_s: float) -> Run:
    """Play recorded actions, one step of all agents after the other; who is ready is read off the infos."""
    _, infos = env.reset(options=day(seed))
    script, clock = _script(env, actions)
    start_s, before, decisions, steps, rewards = clock.now, clock.events, 0, 0, 0.0
    stop_s = start_s + until_s
    gc.collect()
    began = time.process_time()
    while env.agents and clock.now < stop_s:
        step = {agent: next(script[agent]) for agent, info in infos.items() if info["ready"]}
        decisions += len(step)
        steps += 1
        _, paid, _, _, infos = env.step(step)
        rewards += sum(paid.values())
    seconds = time.process_time() - began
    return _checked(actions, Run(decisions, clock.events - before, steps, seconds, clock.now - start_s, rewards))


def play_aec(env: Any, actions: Actions, seed: int, until_s: float, look: bool = False, dummies: bool = False) -> Run:
    """Play recorded actions, one agent after the other; ``look``: every turn begins with ``last()``.

    Without ``look`` nothing is read but who is selected and its flags. With ``dummies``, as in a converted Parallel
    environment, agents are selected that are not asked, too: their infos are read, and they wait, which is a step and
    no decision.
    """
    env.reset(options=day(seed))
    script, clock = _script(env, actions)
    start_s, before, decisions, steps, rewards = clock.now, clock.events, 0, 0, 0.0
    stop_s = start_s + until_s
    gc.collect()
    began = time.process_time()
    while env.agents and clock.now < stop_s:
        agent = env.agent_selection
        if look:
            _, reward, *_ = env.last()
            rewards += reward
        action: int | None = 0
        if env.terminations[agent] or env.truncations[agent]:
            action = None
        elif not dummies or env.infos[agent]["ready"]:
            action = next(script[agent])
            decisions += 1
        steps += 1
        env.step(action)
    seconds = time.process_time() - began
    return _checked(actions, Run(decisions, clock.events - before, steps, seconds, clock.now - start_s, rewards))


def play_session(spec: WorldSpec, actions: Actions, seed: int) -> Run:
    """Play recorded actions in a session without any adapter: nothing is observed, no trace is kept."""
    instance, memories = Calendar(spec, campaign=False).draw(np.random.default_rng(0), True, day(seed))
    session = Session(spec, instance, memories, SessionOptions(trace=False))
    script, clock = {agent: iter(own) for agent, own in actions.items()}, session.world.clock
    start_s, before, decisions, steps = clock.now, clock.events, 0, 0
    gc.collect()
    began = time.process_time()
    while asked := session.advance():
        steps += 1
        decisions += len(asked)
        for decision in asked:
            session.submit(decision.agent, next(script[decision.agent]))
    seconds = time.process_time() - began
    return _checked(actions, Run(decisions, clock.events - before, steps, seconds, clock.now - start_s, 0.0))


def _script(env: Any, actions: Actions) -> tuple[Mapping[str, Iterator[int]], Any]:
    stage = getattr(env, "unwrapped", env).stage
    return {agent: iter(own) for agent, own in actions.items()}, stage.session.world.clock


def _checked(actions: Actions, run: Run) -> Run:
    """Return a run. Raises RunError when it took other turns than the recorded ones."""
    expected = sum(map(len, actions.values()))
    if run.decisions != expected:
        raise RunError(f"a run of the benchmark took {run.decisions} decisions where {expected} were recorded")
    return run
