"""Numbers of the step-wise estimators, worked out by hand or published with the formulas.

Two rollouts of one instance, r = 0, 0, 1 over the states s0 s1 s2, and r = 0 over s0 s1 s1 s3.

1. GiGPO: discounted returns, the comparison within states, the whole
2. HGPO: level 1 is GiGPO's; level 2 tells the two visits of s1 apart
3. GAGPO before it is normalised
4. GraphGPO: distances on the group's map; nothing where all failed
5. PPO-GAE with a critic of hand-made values, and where the day was cut
6. turn and agent; what the team would have done without one
7. discount by simulated time ranks two plans of equally many decisions
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from learn.tables import make_table, rollouts

from masim.learn.advantages.agents import Counterfactual, TurnAgent
from masim.learn.advantages.base import Frame, make_frame
from masim.learn.advantages.gae import Gagpo, PpoGae
from masim.learn.advantages.gigpo import Gigpo, returns_to_go
from masim.learn.advantages.graphgpo import Graphgpo
from masim.learn.advantages.hgpo import Hgpo
from masim.learn.credit.rollout import RolloutUnit
from masim.rollout.types import StepTable


def two_rollouts() -> StepTable:
    return rollouts([1, 0], keys=[[0, 1, 2, 9], [0, 1, 1, 3, 8]])


def framed(table: StepTable, key: str = "group_agent") -> Frame:
    return make_frame(table, RolloutUnit(), key)


def test_gigpo_by_hand() -> None:
    frame = framed(two_rollouts())
    np.testing.assert_allclose(returns_to_go(frame, frame.table.r_out, 0.95, None), [0.9025, 0.95, 1, 0, 0, 0, 0])
    gigpo = Gigpo(norm="none")
    step = [0.45125, 0.6333333, 0, -0.45125, -0.3166667, -0.3166667, 0]
    np.testing.assert_allclose(gigpo.step_part(frame, frame.table.r_out), step, atol=1e-6)
    whole = [0.5] * 3 + [-0.5] * 4
    np.testing.assert_allclose(gigpo(frame), np.add(whole, step), atol=1e-6)
    np.testing.assert_allclose(Gigpo(w=0.5, norm="none")(frame), np.add(whole, np.multiply(0.5, step)), atol=1e-6)


def test_a_state_that_was_met_once_says_nothing() -> None:
    frame = framed(rollouts([1, 0], keys=[[0, 1, 2], [5, 6, 7]]))
    assert not Gigpo().step_part(frame, frame.table.r_out).any()


def test_the_memory_is_part_of_the_state_of_a_policy_that_reads_it() -> None:
    table = replace(two_rollouts(), memory_key=np.array([1, 1, 1, 2, 2, 2, 2], np.uint64))
    frame = framed(table)
    assert Gigpo(anchor="canonical").step_part(frame, table.r_out)[0] > 0
    assert Gigpo(anchor="memory").step_part(frame, table.r_out)[0] == 0


def test_hgpo_by_hand() -> None:
    frame = framed(two_rollouts())
    one = Hgpo(levels=1, norm="none")(frame)
    np.testing.assert_allclose(one, Gigpo(norm="none").step_part(frame, frame.table.r_out))
    # Level 2: (begin, s0) twice; (s0, s1) twice, .95 and 0; (s1, s1), (s1, s2), (s1, s3) once each.
    two = [0.45125, 0.475, 0, -0.45125, -0.475, 0, 0]
    np.testing.assert_allclose(Hgpo(levels=2, norm="none")(frame), np.add(one, np.multiply(2, two)) / 3, atol=1e-9)
    equal = Hgpo(levels=2, alpha=0.0, norm="none")(frame)
    np.testing.assert_allclose(equal, np.add(one, two) / 2, atol=1e-9)


def test_gagpo_by_hand() -> None:
    frame = framed(two_rollouts())
    expected = [0.4212, 0.6333, 0, -0.4226, -0.3016, -0.3167, 0]
    np.testing.assert_allclose(Gagpo(norm="none")(frame), expected, atol=5e-5)
    scaled = Gagpo()(frame)
    np.testing.assert_allclose(scaled, (np.array(expected) - np.mean(expected)) / np.std(expected, ddof=1), atol=1e-3)


def test_graphgpo_walks_the_map_of_its_group() -> None:
    # Success by 0 1 2 3 (goal); failure by 0 2 0 5: its first decision led to 2, from where success is 2 steps away.
    frame = framed(rollouts([1, 0], keys=[[0, 1, 2, 3], [0, 2, 0, 5]]))
    start, distance = Graphgpo().distances(frame)
    assert distance.tolist() == [2, 1, 0, 1, 2, math.inf]
    assert len(set(start.tolist())) == 3
    gain = np.where(np.isfinite(distance), 10 * 0.9**distance, 0.0)
    mean = (gain[0] + gain[3] + gain[5]) / 3
    second = (gain[2] + gain[4]) / 2
    expected = [gain[0] - mean, 0, gain[2] - second, gain[3] - mean, gain[4] - second, gain[5] - mean]
    found = Graphgpo(gamma=0.9, norm="none")(frame) - np.repeat([0.5, -0.5], 3)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert not Graphgpo()(framed(rollouts([0, 0], keys=[[0, 1, 2], [0, 2, 3]]))).any()


def test_gae_by_hand() -> None:
    table = replace(rollouts([1], keys=[[0, 1, 2]]), value=np.array([0.5, 0.25]))
    ppo = PpoGae(gamma=0.9, lam=0.8, norm="none")
    last, first = 1 - 0.25, 0.9 * 0.25 - 0.5
    np.testing.assert_allclose(ppo(framed(table)), [first + 0.72 * last, last])
    np.testing.assert_allclose(ppo.targets(framed(table)), [first + 0.72 * last + 0.5, 1.0])
    cut = replace(table, truncated=np.array([False, True]))
    np.testing.assert_allclose(ppo(framed(cut))[1], 1 + 0.9 * 0.25 - 0.25)
    scaled = PpoGae(gamma=0.9, lam=0.8)(framed(table))
    np.testing.assert_allclose(scaled, [-1, 1], atol=1e-4)


def test_turn_and_agent_by_hand() -> None:
    table = make_table(
        6, rollout_id=[0, 0, 0, 1, 1, 1], agent=[0, 0, 1, 0, 0, 1], turn=[0, 1, 0, 0, 1, 0], r_out=[0, 1, 1, 0, 0, 1],
        event_id=np.arange(6),
    )  # fmt: skip
    found = TurnAgent(alpha=2.0, norm="none")(framed(table))
    # Team: 1 and 0. Agent 0: 2 * 1 + 1 against 0, at both turns. Agent 1: 2 + 1 against 0 + 1.
    np.testing.assert_allclose(found, [1.5, 1.5, 1.0, -1.5, -1.5, -1.0])


def test_counterfactual_is_a_difference_of_two_teams() -> None:
    table = make_table(
        4, rollout_id=[0, 0, 1, 1], agent=[0, 1, 0, 1], turn=0, event_id=np.arange(4), r_out=[1, 1, 1, 0],
        counterfactual=[0, 1, 0, 0.25],
    )  # fmt: skip
    np.testing.assert_allclose(Counterfactual()(framed(table)), [1, 0, 0, -0.25])
    scaled = Counterfactual(norm="std", eps=1e-12)(framed(table))
    np.testing.assert_allclose(scaled[:2], [1 / 0.5, 0])


@pytest.mark.parametrize(("options", "equal"), [({"gamma": 0.95}, True), ({"gamma": 1.0, "tau_s": 3600.0}, False)])
def test_simulated_time_tells_two_plans_of_equal_length_apart(options: dict[str, float], equal: bool) -> None:
    table = rollouts([1, 1], keys=[[0, 1, 2], [0, 3, 2]])
    table.event_time_s[:] = [0, 600, 0, 7200]
    first = Gigpo(**options).step_part(framed(table), table.r_out)[[0, 2]]
    assert (first[0] == first[1]) if equal else (first[0] > 0.5 > -0.5 > first[1])
