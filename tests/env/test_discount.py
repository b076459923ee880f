"""Discounting by simulated time: ``gamma_per_hour``.

1. A case worked out by hand: two waits and a claim.
2. Every adapter's steps chain to one and the same discounted return, that of the trace: each reward times gamma to the
   power of the hours from the start of the day to the moment at which it landed.
3. With gamma 1, and without the option, sums are what they were; parts add up to the reward.
4. What is no discount is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from masim.env.core import Decision, Session
from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.errors import ConfigError
from masim.policy.base import Ask, Choice
from masim.policy.company import gym_env
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

FIRST, SHORT = "freight/first-steps-v0", "freight/short-chain-v0"
GAMMA = 0.81
"""0.9 in half an hour."""
WORKFLOW = WorkflowPolicy("workflow", Habits(quotes=1, patience_s=600.0))
Step = tuple[float, float]
"""(reward, discount) of one step of one agent."""


def chained(steps: list[Step]) -> float:
    """Return the return of semi-Markov steps, from the last to the first."""
    total = 0.0
    for reward, discount in reversed(steps):
        total = reward + discount * total
    return total


def act(decision: Decision) -> int:
    """Follow the workflow; every fifth decision is a claim, so that penalties land too."""
    claims = [int(i) for i in decision.legal if decision.table.verb[int(i)] == "declare"]
    if decision.turn % 5 == 4 and claims and decision.agent_index % 2:
        return claims[0]
    return WORKFLOW.choose([Ask(decision, Noise(0, "policy"))])[0].action


def parallel_steps(campaign: int, **options: Any) -> dict[str, list[Step]]:
    env = parallel_env(SHORT, **options)
    env.reset(options={"campaign_seed": campaign})
    found: dict[str, list[Step]] = {a: [] for a in env.agents}
    while env.agents:
        _, rewards, _, _, infos = env.step({d.agent: act(d) for d in env.stage.open_decisions()})
        for agent, reward in rewards.items():
            assert reward == pytest.approx(infos[agent]["r_out"] + infos[agent]["r_pen"])
            found[agent].append((reward, infos[agent]["discount"]))
    return found


def ready_steps(campaign: int, **options: Any) -> dict[str, list[Step]]:
    env = ready_env(SHORT, **options)
    env.reset(options={"campaign_seed": campaign})
    found: dict[str, list[Step]] = {a: [] for a in env.agents}
    while env.agents:
        _, rewards, _, _, infos = env.step({d.agent: act(d) for d in env.stage.open_decisions()})
        for agent, reward in rewards.items():
            found[agent].append((reward, infos[agent]["discount"]))
    return found


def aec_steps(campaign: int, **options: Any) -> dict[str, list[Step]]:
    env = aec_env(SHORT, **options)
    env.reset(options={"campaign_seed": campaign})
    found: dict[str, list[Step]] = {a: [] for a in env.agents}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        found[agent].append((reward, info["discount"]))
        decision = next((d for d in env.stage.open_decisions() if d.agent == agent), None)
        env.step(None if terminated or truncated or decision is None else act(decision))
    # The first ``last()`` shows the start: nothing has landed, and no time has passed.
    assert all(steps[0] == (0.0, 1.0) for steps in found.values())
    return found


def gym_steps(campaign: int, **options: Any) -> dict[str, list[Step]]:
    class Same:
        name = "same"

        def choose(self, asks: Any) -> list[Any]:
            return [Choice(act(ask.decision), 0) for ask in asks]

    found: dict[str, list[Step]] = {}
    for agent in ("booker_0", "booker_1"):
        env = gym_env(SHORT, Same(), agent=agent, **options)
        env.reset(options={"campaign_seed": campaign})
        found[agent], over = [], False
        while not over:
            decision = next(d for d in env.stage.open_decisions() if d.agent == agent)
            _, reward, terminated, truncated, info = env.step(act(decision))
            found[agent].append((reward, info["discount"]))
            over = terminated or truncated
    return found


ADAPTERS: tuple[Callable[..., dict[str, list[Step]]], ...] = (parallel_steps, ready_steps, aec_steps, gym_steps)


def by_hand(campaign: int, gamma: float) -> dict[str, float]:
    """Return the discounted return of every agent, read off what landed when."""
    spec = load_scenario(SHORT).spec
    session = Session(spec, Instance(campaign, 0, "train"))
    start = session.now
    total = dict.fromkeys(session.agents, 0.0)
    closes = start
    while decisions := session.advance():
        for d in decisions:
            action = act(d)
            claim = d.table.verb[action] == "declare"
            session.take_rewards(d.agent)
            session.submit(d.agent, action)
            hours = (d.t_s - start) / 3600
            wrong = claim and session.take_rewards(d.agent)[1] < -1.0
            total[d.agent] += gamma**hours * (spec.rewards.decision + wrong * spec.rewards.unsupported_claim)
            closes = d.t_s
    for agent in session.agents:
        mine = [o for o in session.outcomes() if o.agent == agent]
        landed = max(max(o.landed_s for o in mine), closes)
        total[agent] += gamma ** ((landed - start) / 3600) * float(all(o.completed for o in mine))
        for o in mine:
            late = (max(o.landed_s, closes) - start) / 3600
            total[agent] += gamma**late * spec.rewards.duplicate * o.duplicates
    return total


def test_two_waits_and_a_claim_by_hand() -> None:
    env = gym_env(FIRST, gamma_per_hour=GAMMA)
    _, info = env.reset(seed=0)
    assert info["discount"] == 1.0
    claim = env.stage.table.declare(0)
    steps = []
    for action in (3, claim, 3):
        _, reward, _, _, info = env.step(action)
        steps.append((reward, info["discount"]))
    assert np.array(steps) == pytest.approx(np.array([(-0.1, 0.9), (-1.1, 1.0), (-0.1, 0.9)]))
    assert chained(steps) == pytest.approx(-0.1 + 0.9 * -1.1 + 0.9 * -0.1)


@pytest.mark.parametrize("campaign", [3, 1_000_007])
@pytest.mark.parametrize("gamma", [0.5, 0.97])
def test_every_adapter_chains_to_the_discounted_return(campaign: int, gamma: float) -> None:
    expected = by_hand(campaign, gamma)
    assert len(set(expected.values())) == len(expected)
    for steps in ADAPTERS:
        found = steps(campaign, gamma_per_hour=gamma)
        assert {a: chained(s) for a, s in found.items()} == pytest.approx({a: expected[a] for a in found})


def test_some_day_pays_an_outcome_that_lands_late() -> None:
    found = parallel_steps(3, gamma_per_hour=GAMMA)
    undiscounted = parallel_steps(3)
    lost = [sum(r for r, _ in undiscounted[a]) - sum(r for r, _ in found[a]) for a in found]
    assert max(lost) > 0.05


@pytest.mark.parametrize("steps", ADAPTERS)
def test_gamma_one_changes_nothing(steps: Callable[..., dict[str, list[Step]]]) -> None:
    assert steps(3, gamma_per_hour=1.0) == steps(3)
    assert all(discount == 1.0 for rows in steps(3).values() for _, discount in rows)


def test_ticks_and_barriers_chain_too() -> None:
    for options in ({"sync": "all"}, {"sync": "tick", "tick_s": 120.0}):
        env = parallel_env(SHORT, gamma_per_hour=0.9, **options)
        env.reset(options={"campaign_seed": 3})
        hours = [0.0]
        while env.agents:
            infos = env.step({d.agent: act(d) for d in env.stage.open_decisions()})[4]
            hours += [info["discount"] for info in list(infos.values())[:1]]
        passed = (env.stage.session.now - env.stage.session.plan.day0_s) / 3600 - 6
        assert np.prod(hours[1:]) == pytest.approx(0.9**passed, rel=1e-6)


def test_a_restored_episode_discounts_late_rewards_from_the_step_in_which_their_agent_left() -> None:
    env = parallel_env(SHORT, gamma_per_hour=0.7, death="remove")
    env.reset(options={"campaign_seed": 3})
    while len(env.agents) > 2:
        env.step({d.agent: act(d) for d in env.stage.open_decisions()})
    snapshot = env.snapshot()
    ends = []
    for back in (False, True):
        if back:
            env.restore(snapshot)
        paid: dict[str, float] = {}
        while env.agents:
            _, rewards, *_ = env.step({d.agent: act(d) for d in env.stage.open_decisions()})
            paid |= rewards
        ends.append(paid)
    assert ends[0] == pytest.approx(ends[1])
    assert any(0.0 < ends[0][a] < 1.0 for a in ends[0])


@pytest.mark.parametrize("gamma", [0.0, 1.1, -0.5, float("nan"), True, "0.9"])
@pytest.mark.parametrize("make", [parallel_env, aec_env, ready_env, gym_env])
def test_what_is_no_discount_is_refused(make: Any, gamma: Any) -> None:
    with pytest.raises(ConfigError, match="gamma_per_hour: impossible environment option"):
        make(FIRST, gamma_per_hour=gamma)


def test_landing_times_are_kept_on_request_only() -> None:
    session = Session(load_scenario(FIRST).spec, Instance(1, 0))
    with pytest.raises(ConfigError, match=r"SessionOptions\(landings=True\)"):
        session.take_landings("booker_0")
