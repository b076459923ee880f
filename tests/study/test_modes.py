"""The preset of modes, on a real training: stretches of asking and of acting are paid for their own job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from masim.env.actions import ActionTable
from masim.learn.trainer import LogRow, Trainer
from masim.policy.build import build_scorer
from masim.policy.card import load_card
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.types import ACT, COLLECT
from masim.scenario.load import load_scenario
from masim.sim.spec import Verb
from masim.study.training import learner_config

SPEC = load_scenario("freight/first-steps-v0").spec
PRESET = yaml.safe_load((Path(__file__).parents[2] / "configs/learner/modes.yaml").read_text("utf-8"))


def test_a_training_by_modes_learns_on_real_rollouts() -> None:
    config = learner_config({**PRESET, "buffer_units": 64, "units_per_step": 16}, SPEC, 0, 64)
    verbs = [list(Verb)[number] for number in config.unit.endpoints()]  # type: ignore[attr-defined]
    assert Verb.TENDER in verbs and Verb.QUOTE not in verbs
    policy = build_scorer(load_card("scorer"), ActionTable(SPEC), 0)
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    collect = CampaignCollector(CampaignPlan(SPEC, config.n_rollouts), policy)
    rows: list[LogRow] = []
    trainer = Trainer(collect, policy, config, rows.append)
    assert trainer.run(2)
    assert rows[0]["optimizer_steps"] and rows[0]["units"] > rows[0]["samples"]  # type: ignore[operator]
    assert any(bool((value != before[name]).any()) for name, value in policy.state_dict().items())
    table = collect(trainer.totals["draws"], 2).table
    scores = config.unit(table).scores
    mode = table.mode[scores.first]
    quality = scores.out[mode == COLLECT]
    assert set(np.unique(table.mode)) == {COLLECT, ACT}
    assert ((quality >= 0) & (quality <= 1)).all() and len(np.unique(quality)) > 1
    assert set(np.unique(scores.out[mode == ACT])) <= {0.0, 1.0}
