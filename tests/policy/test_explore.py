"""A workflow that explores draws a carrier for a share of the legs: one draw for each leg, however often asked."""

from __future__ import annotations

import pytest

from masim.env.actions import ActionTable
from masim.errors import ConfigError
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.habits import Habits
from masim.policy.workflow import WorkflowPolicy
from masim.rollout.group import GroupTask, play_group
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.study.claims.forgetting.players import Watched

DAYS = 60


def sent(explore: float, seed: int = 0) -> list[str]:
    """Return the carriers of all trucks of some days without memory."""
    spec = load_scenario("freight/steady-carriers-v0").spec
    book, table = MemoryBook(spec.agents, MemoryConfig()), ActionTable(spec)
    policy = Watched(WorkflowPolicy("w", Habits(explore=explore)))
    for day in range(DAYS):
        play_group(GroupTask(spec, Instance(1, day), 1, 0, seed), policy, book, table)
    return [carrier for _, carrier in policy.sent]


def test_a_share_of_the_legs_goes_by_a_drawn_carrier() -> None:
    never, some, always = sent(0.0), sent(0.3), sent(1.0)
    assert len(never) == len(some) == len(always) == 4 * DAYS  # nobody changes its mind between quote and tender
    assert set(never) == {"aster"}
    assert len(set(always)) == 6
    drawn = sum(carrier != "aster" for carrier in some) / len(some)
    assert drawn == pytest.approx(0.3 * 5 / 6, abs=0.08)
    assert some == sent(0.3)
    assert some != sent(0.3, seed=1)


def test_an_impossible_share_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"habits.explore"):
        Habits(explore=1.5)
