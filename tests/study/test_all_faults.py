"""The scenario with every fault at once, played for a few days.

1. Every kind of the registry stands in it, so that a new kind cannot be forgotten.
2. Every line of it strikes the careful workflow, and with that every family.
3. Under all of it some orders are still carried out.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from masim.policy.card import load_card
from masim.rollout.evaluate import CampaignJob, CampaignRows, play_campaign
from masim.scenario.load import load_scenario
from masim.sim.faults.base import FAMILIES
from masim.sim.faults.registry import FAULTS
from masim.sim.spec import WorldSpec

SEED, DAYS = 0, 8


@cache
def world() -> WorldSpec:
    return load_scenario("stress/all-faults-v0").spec


@cache
def played() -> CampaignRows:
    return play_campaign(CampaignJob(world(), load_card("scripted"), "scripted", SEED, DAYS, 0, trace=True))


def test_every_kind_stands_in_it() -> None:
    assert {fault.fault.kind for fault in world().faults} == set(FAULTS)


def test_every_fault_and_family_strikes() -> None:
    causes = [row["cause_id"].split(":") for row in played().trace if row["event"] == "fault"]
    struck = Counter(cause[-1].partition("#")[0] for cause in causes if "#" in cause[-1])
    assert [fault.id for fault in world().faults if not struck[fault.id]] == []
    assert {FAULTS[cause[0]].family for cause in causes if "#" in cause[-1]} == set(FAMILIES)


def test_some_orders_survive_it() -> None:
    assert any(order["completed"] for order in played().outcomes)
