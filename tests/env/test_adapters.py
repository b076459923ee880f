"""What the adapters promise beyond conformance.

1. Parallel: event and barrier stepping, busy agents, illegal actions, agents that stay or leave, late outcomes.
2. AEC: decisions in order of (time, agent), and rewards since the agent's previous decision.
3. Gymnasium: one agent among the workflow or another policy.
4. All three pay the same total for the same actions, and draw the same instance for the same seed.
5. Resets: seeds, days, campaigns with memories carried over; copies of a new environment play days of their own.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from masim.env.aec import BookingAECEnv
from masim.env.core import Decision
from masim.env.make import aec_env, parallel_env
from masim.env.parallel import BookingParallelEnv
from masim.env.ready import ready_env
from masim.env.text.wrapper import TextWrapper
from masim.errors import ConfigError, RunError
from masim.policy.base import Ask
from masim.policy.company import gym_env, scripted
from masim.policy.scripted import NullPolicy
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise

FIRST, SHORT = "freight/first-steps-v0", "freight/short-chain-v0"
Chooser = Callable[[Decision], int]
WORKFLOW = WorkflowPolicy("workflow", Habits())


def workflow(decision: Decision) -> int:
    return WORKFLOW.choose([Ask(decision, Noise(0, "policy"))])[0].action


def run_parallel(env: BookingParallelEnv, choose: Chooser, seed: int | None = 0) -> dict[str, float]:
    """Play an episode and return each agent's sum of rewards."""
    env.reset(seed=seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        rewards = env.step({d.agent: choose(d) for d in env.stage.open_decisions()})[1]
        for agent, reward in rewards.items():
            total[agent] += reward
    return total


def run_aec(env: BookingAECEnv, choose: Chooser, seed: int = 0) -> dict[str, float]:
    """Play an episode and return each agent's sum of what ``last()`` said."""
    env.reset(seed=seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        decision = next((d for d in env.stage.open_decisions() if d.agent == agent), None)
        env.step(None if terminated or truncated or decision is None else choose(decision))
    return total


# -- parallel ---------------------------------------------------------------------------------------------------------


def test_event_steps_ask_few_and_barrier_steps_ask_all() -> None:
    shares = {}
    for sync in ("event", "all"):
        env = parallel_env(SHORT, sync=sync)
        env.reset(seed=0)
        ready = []
        while env.agents:
            infos = env.step({d.agent: workflow(d) for d in env.stage.open_decisions()})[4]
            ready += [sum(i["ready"] + i["left"] > 0 for i in infos.values()) / 4] if env.agents else []
        shares[sync] = float(np.mean(ready))
    assert shares["event"] < 0.8
    assert shares["all"] > 0.95


def test_a_busy_agent_waits_and_knows_only_its_own_deadline() -> None:
    env = parallel_env(SHORT)
    env.reset(seed=0)
    quote = next(i for i in range(len(env.stage.table)) if env.stage.table.verb[i] == "quote")
    actions = dict.fromkeys(env.agents, 0) | {"booker_1": 1, "booker_2": 2, "booker_3": quote}
    observations, _, _, _, infos = env.step(actions)
    layout, info = env.stage.layout, infos["booker_0"]
    ready = [agent for agent in env.agents if infos[agent]["ready"]]
    assert ready and "booker_0" not in ready
    assert observations["booker_0"]["action_mask"].tolist() == [1] + [0] * (layout.k - 1)
    assert info["busy_since_s"] == 6 * 3600 and info["deadline_s"] == 8 * 3600
    rows = layout.rows_of(observations["booker_0"]["observation"])
    assert rows[0].any() and not rows[1:].any()
    assert infos[ready[0]]["busy_since_s"] == infos[ready[0]]["deadline_s"] == -1.0


@pytest.mark.parametrize("action", [60, -1, 10**6, 2.5, None, "wait", np.array([1, 2]), float("nan")])
def test_whatever_is_no_legal_action_is_a_wait_and_noted(action: Any) -> None:
    env = parallel_env(SHORT)
    env.reset(seed=0)
    assert 60 not in env.stage.open_decisions()[0].legal
    _, rewards, _, _, infos = env.step({"booker_0": action, "booker_1": 1, "booker_2": 1, "booker_3": 1})
    assert [infos[a]["illegal"] for a in env.agents] == [1, 0, 0, 0]
    assert rewards["booker_0"] < rewards["booker_1"] < 0.0
    assert infos["booker_0"]["deadline_s"] == 8 * 3600


def test_integers_of_any_type_are_actions() -> None:
    env = parallel_env(FIRST)
    for action in (1, np.int64(1), np.uint8(1), np.array(1), np.array([1])):
        env.reset(seed=0)
        assert env.step({"booker_0": action})[4]["booker_0"]["t_s"] == 6 * 3600 + 30


def test_an_unknown_agent_is_refused_by_name() -> None:
    env = parallel_env(SHORT)
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="did you mean 'booker_1'"):
        env.step({"boker_1": 0})


@pytest.mark.parametrize("make", [parallel_env, ready_env])
@pytest.mark.parametrize("actions", [None, 3, [], "x", [("booker_0", 0)]])
def test_actions_that_name_no_agents_are_refused(make: Callable[[str], Any], actions: Any) -> None:
    env = make(SHORT)
    env.reset(seed=1)
    for form in (env, TextWrapper(env)):
        with pytest.raises(ConfigError, match="actions are no mapping"):
            form.step(actions)


@pytest.mark.parametrize("name", [3, None, ("booker_0",)])
def test_names_that_are_no_text_are_refused(name: Any) -> None:
    env = parallel_env(SHORT)
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="no such agent"):
        env.step({name: 1})
    with pytest.raises(ConfigError, match="no such agent"):
        gym_env(SHORT, agent=name if name is not None else 4)


def test_a_snapshot_of_another_world_or_another_pace_is_refused() -> None:
    slow, other = parallel_env(SHORT, sync="tick", tick_s=60.0), parallel_env(FIRST)
    slow.reset(seed=1)
    other.reset(seed=1)
    for options in ({}, {"sync": "all"}, {"sync": "tick", "tick_s": 30.0}):
        with pytest.raises(ConfigError, match=r"asks at other times; got sync='tick', tick_s=60\.0"):
            parallel_env(SHORT, **options).restore(slow.snapshot())
    with pytest.raises(RunError, match="of another scenario"):
        slow.restore(other.snapshot())


def test_steps_before_the_reset_and_after_the_end() -> None:
    env = parallel_env(FIRST)
    for act in (lambda: env.step({}), lambda: aec_env(FIRST).step(0), lambda: gym_env(FIRST).step(0)):
        with pytest.raises(ConfigError, match=r"call reset\(\) first"):
            act()
    run_parallel(env, workflow)
    assert env.step({}) == ({}, {}, {}, {}, {})


@pytest.mark.parametrize(("settle", "flags"), [("drain", (True, False)), ("cut", (False, True))])
def test_the_end_terminates_or_truncates(settle: str, flags: tuple[bool, bool]) -> None:
    env = parallel_env(FIRST, settle=settle)
    env.reset(seed=0)
    terminated: dict[str, bool] = {}
    truncated: dict[str, bool] = {}
    while env.agents:
        _, _, terminated, truncated, _ = env.step({d.agent: workflow(d) for d in env.stage.open_decisions()})
    assert (terminated["booker_0"], truncated["booker_0"]) == flags


def paid(**options: object) -> tuple[dict[str, float], list[str]]:
    """Return the sums of a workflow day that completes something, and the agents that had left before the end."""
    for seed in range(20):
        env = parallel_env(SHORT, **options)
        env.reset(seed=seed)
        total = dict.fromkeys(env.possible_agents, 0.0)
        gone: list[str] = []
        while env.agents:
            before = list(env.agents)
            rewards = env.step({d.agent: workflow(d) for d in env.stage.open_decisions()})[1]
            gone = [a for a in env.possible_agents if a not in before]
            for agent, reward in rewards.items():
                total[agent] += reward
        outcomes = env.stage.session.sample_outcomes()
        if any(outcomes[a] > 0.0 for a in gone) or options.get("death") != "remove":
            return total, gone
    raise AssertionError("no agent that left early completed its order")


def test_an_agent_that_left_is_still_paid_its_outcome() -> None:
    _, gone = paid(death="remove")
    for seed in range(5):
        staying, leaving = (parallel_env(SHORT, death=death) for death in ("absorb", "remove"))
        assert run_parallel(staying, workflow, seed) == pytest.approx(run_parallel(leaving, workflow, seed))
    assert gone


# -- all three --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_all_adapters_pay_the_same(seed: int) -> None:
    parallel = run_parallel(parallel_env(SHORT), workflow, seed)
    assert run_aec(aec_env(SHORT), workflow, seed) == pytest.approx(parallel)
    env = gym_env(SHORT)
    env.reset(seed=seed)
    campaign = env.stage.session.instance.campaign_seed
    multi = parallel_env(SHORT)
    parallel = run_parallel_at(multi, campaign)
    _, info = env.reset(options={"campaign_seed": campaign})
    total, done = 0.0, False
    while not done:
        _, reward, terminated, truncated, info = env.step(workflow(env.stage.open_decisions()[0]))
        total, done = total + reward, terminated or truncated
    assert info["left"] == 1
    assert total == pytest.approx(parallel["booker_0"])


def run_parallel_at(env: BookingParallelEnv, campaign_seed: int) -> dict[str, float]:
    """As :func:`run_parallel`, on a given campaign."""
    reset = env.reset

    def fixed(seed: int | None = None, options: Any = None) -> Any:
        return reset(options={"campaign_seed": campaign_seed})

    env.reset = fixed  # type: ignore[method-assign]
    return run_parallel(env, workflow, None)


def test_aec_asks_in_order_of_time_and_agent() -> None:
    env = aec_env(SHORT)
    env.reset(seed=1)
    order = []
    for agent in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        assert info["ready"] == 1
        order.append((info["t_s"], env.possible_agents.index(agent)))
        env.step(workflow(env.stage.open_decisions()[0]))
    assert order == sorted(order)
    assert len(order) > 20
    env.step(0)


def test_the_company_of_a_single_agent_matters() -> None:
    ends = []
    for others in (None, NullPolicy()):
        env = gym_env(SHORT, others, agent="booker_2", trace=True)
        env.reset(seed=3)
        for _ in range(3):
            env.step(0)
        ends.append({row.agent for row in env.trace_rows if row.event == "call"})
    assert ends == [{"booker_0", "booker_1", "booker_3"}, set()]
    assert scripted().policy.name == "workflow"
    with pytest.raises(ConfigError, match="booker_0"):
        gym_env(SHORT, agent="booker_9")


def test_masks_for_maskable_trainers() -> None:
    env = gym_env(FIRST, mask_in="info")
    observation, info = env.reset(seed=0)
    assert observation.shape == env.observation_space.shape
    assert np.array_equal(info["action_mask"], env.action_masks())


# -- resets -----------------------------------------------------------------------------------------------------------


def instance(env: BookingParallelEnv, **how: Any) -> tuple[int, int]:
    env.reset(**how)
    found = env.stage.session.instance
    return found.campaign_seed, found.day


def test_seeds_decide_what_is_drawn() -> None:
    one, two = parallel_env(FIRST), parallel_env(FIRST)
    drawn = [[instance(env, seed=5), instance(env), instance(env)] for env in (one, two)]
    assert drawn[0] == drawn[1]
    assert len({instance(one) for _ in range(5)}) == 5
    assert instance(one, seed=6) != instance(one, seed=5)
    assert instance(parallel_env(FIRST)) != instance(parallel_env(FIRST))
    assert instance(one, options={"campaign_seed": 17, "day": 3}) == (17, 3)


@pytest.mark.parametrize("make", [parallel_env, aec_env, ready_env, gym_env])
def test_copies_of_a_new_environment_play_days_of_their_own(make: Callable[[str], Any]) -> None:
    # Vector environments copy what they are given; copies that all play the same days teach less, and nobody notices.
    env = make(FIRST)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301 - what trainers do, of our own bytes
    assert instance(copies[0]) != instance(copies[1])
    assert instance(copies[0], seed=5) == instance(copies[1], seed=5)
    assert instance(copies[0]) == instance(copies[1])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"day": 8}, r"options\['day'\].*an integer in \[0, 8\)"),
        ({"day": 1.5}, "impossible reset option"),
        ({"day": True}, "impossible reset option"),
        ({"campaign_seed": -1}, "impossible reset option"),
        ({"days": 1}, "did you mean 'day'"),
        ([1], "reset options are no mapping"),
    ],
)
def test_reset_options_that_cannot_be_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        parallel_env(FIRST).reset(options=options)


@pytest.mark.parametrize("make", [parallel_env, aec_env, ready_env])
@pytest.mark.parametrize("seed", [-1, 1.5, "a", [-1], True])
def test_seeds_that_cannot_be_are_refused(make: Callable[[str], Any], seed: Any) -> None:
    with pytest.raises(ConfigError, match="impossible seed"):
        make(FIRST).reset(seed=seed)


@pytest.mark.parametrize("make", [parallel_env, aec_env, ready_env, gym_env])
@pytest.mark.parametrize("thing", [None, 3, {"instance": 1}])
def test_what_is_no_snapshot_is_refused(make: Callable[[str], Any], thing: Any) -> None:
    env = make(FIRST)
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="this is no snapshot"):
        env.restore(thing)


def test_a_campaign_goes_on_day_after_day_with_its_memories() -> None:
    env = parallel_env(FIRST, campaign=True, memory=True)
    days, known = [], []
    for n in range(9):
        observations, infos = env.reset(seed=4 if n == 0 else None)
        days.append(instance_of(env))
        known.append(float(np.abs(observations["booker_0"]["observation"][env.stage.layout.memory]).sum()))
        assert infos["booker_0"]["day"] == days[-1][1]
        while env.agents:
            env.step({d.agent: workflow(d) for d in env.stage.open_decisions()})
    assert [day for _, day in days] == [0, 1, 2, 3, 4, 5, 6, 7, 0]
    assert len({seed for seed, _ in days[:8]}) == 1 and days[8][0] != days[0][0]
    assert known[0] == known[8] == 0.0 and all(known[1:8])


def instance_of(env: BookingParallelEnv) -> tuple[int, int]:
    found = env.stage.session.instance
    return found.campaign_seed, found.day


def test_a_day_left_before_its_end_is_played_again() -> None:
    env = parallel_env(FIRST, campaign=True)
    first = instance(env, seed=4)
    env.step({"booker_0": 1})
    assert instance(env) == first
    with pytest.raises(ConfigError, match="the campaign decides the day"):
        env.reset(options={"day": 2})


def test_without_a_campaign_memories_are_empty() -> None:
    env = parallel_env(FIRST, memory=True)
    for _ in range(2):
        run_parallel(env, workflow, None)
        observation = env.reset()[0]["booker_0"]["observation"]
        assert not observation[env.stage.layout.memory].any()


def test_the_state_fits_its_space_and_moves() -> None:
    env = parallel_env(SHORT)
    env.reset(seed=0)
    before = env.state()
    env.step({d.agent: workflow(d) for d in env.stage.open_decisions()})
    assert env.state_space.contains(before) and env.state_space.contains(env.state())
    assert not np.array_equal(before, env.state())
