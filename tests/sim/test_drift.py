"""Carriers drift as their scenario says, and nobody else notices.

1. Until the first change nothing differs from the twin that stays; afterwards the best has traded places.
2. A swap moves two values, a deal any; over several days the way is straight.
3. Any day can be asked for by itself, in any order; other campaigns drift otherwise.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from masim.policy.card import load_card
from masim.rollout.evaluate import CampaignJob, play_campaign
from masim.scenario.load import load_scenario
from masim.sim.drift import DEAL, SWAP, DriftSpec
from masim.sim.plan import draw_hidden, draw_plan
from masim.sim.spec import Instance, WorldSpec

SHARES = (0.95, 0.6, 0.45, 0.35, 0.3, 0.2)


def world(drift: DriftSpec | None) -> WorldSpec:
    spec = load_scenario("freight/steady-carriers-v0").spec
    return replace(spec, hidden=replace(spec.hidden, drift=drift))


def on_time(spec: WorldSpec, day: int, seed: int = 3) -> dict[str, float]:
    return draw_hidden(spec, seed, day).on_time_p


def test_twins_are_one_world_until_the_first_change() -> None:
    jobs = [
        CampaignJob(load_scenario(name, {"hidden.drift.every_days": "2"} if "drift" in name else None).spec,
                    load_card("scripted"), "a", 5, 4, 0, trace=True)
        for name in ("freight/steady-carriers-v0", "freight/drifting-carriers-v0")
    ]  # fmt: skip
    steady, drifting = (play_campaign(job).trace for job in jobs)
    before = [[row for row in trace if row["day"] < 2] for trace in (steady, drifting)]
    assert before[0] == before[1]
    assert steady != drifting


@pytest.mark.parametrize("seed", range(20))
def test_swap_trades_the_best_share_with_one_other(seed: int) -> None:
    spec = world(DriftSpec(10))
    days = [on_time(spec, day, seed) for day in (0, 9, 10, 19, 20)]
    assert days[0] == days[1] == on_time(world(None), 500, seed)
    assert days[2] == days[3]
    for old, new in ((days[1], days[2]), (days[3], days[4])):
        moved = [name for name in old if old[name] != new[name]]
        best = max(old, key=lambda name: old[name])
        assert len(moved) == 2 and best in moved
        assert sorted(new.values()) == sorted(SHARES)


def test_every_other_carrier_may_become_the_best() -> None:
    spec = world(DriftSpec(1))
    heirs = {max((now := on_time(spec, day)), key=lambda name: now[name]) for day in range(60)}
    assert len(heirs) == len(SHARES)


def test_deal_keeps_the_shares_and_mixes_all() -> None:
    spec = world(DriftSpec(1, change=DEAL))
    dealt = [on_time(spec, day) for day in range(12)]
    assert all(sorted(now.values()) == sorted(SHARES) for now in dealt)
    assert len({tuple(sorted(now.items())) for now in dealt}) > 6


def test_a_slow_change_goes_straight() -> None:
    at_once, slow = world(DriftSpec(10)), world(DriftSpec(10, over_days=4))
    old, new = on_time(at_once, 9), on_time(at_once, 10)
    for step, day in enumerate((10, 11, 12, 13, 14), 1):
        now = on_time(slow, day)
        assert now == pytest.approx({name: old[name] + step / 5 * (new[name] - old[name]) for name in old})
    assert on_time(slow, 14) == on_time(slow, 19) == new


def test_days_stand_alone() -> None:
    spec = world(DriftSpec(3))
    forward = [on_time(spec, day) for day in range(30)]
    assert [on_time(spec, day) for day in reversed(range(30))] == forward[::-1]
    assert draw_plan(spec, Instance(3, 7)).hidden.on_time_p == forward[7]
    assert forward != [on_time(spec, day, seed=4) for day in range(30)]
    assert DriftSpec(3).change == SWAP
