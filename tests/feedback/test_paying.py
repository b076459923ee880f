"""Training is paid what people prefer.

1. A training's batch and a stored run give the same features for the same episode.
2. The reward stands at the last decision of each live unit and nowhere else; a harness failure is paid nothing.
3. What a model cannot judge is one error; blends and contradictions are checked before anything is played.
4. Training on the fitted reward raises the hidden taste; the log tells completion by the outcome all the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from feedback.judges import UTILITIES, judged
from learn.ladder import Ladder, TabularPolicy
from study.experiments import SMALL, UPDATE

from masim.analysis.load import load_run
from masim.env.actions import ActionTable
from masim.errors import ConfigError, RunError
from masim.feedback.features import FEATURES
from masim.feedback.fit_run import fit_labels
from masim.feedback.labels import Label
from masim.feedback.model import PreferenceModel
from masim.feedback.paying import features_of, paid, preference_N
from masim.feedback.units import StoredUnits, read_units
from masim.learn.config import from_mapping
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit
from masim.learn.rewards.base import nothing
from masim.learn.rewards.preference import Preference
from masim.learn.trainer import Trainer
from masim.memory.book import MemoryBook
from masim.policy.build import build_policy, build_scorer
from masim.policy.card import load_card
from masim.policy.scorer import ScorerPolicy
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.collected import collect_group
from masim.rollout.group import GroupTask
from masim.rollout.types import RolloutBatch
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.study.experiment import train_experiment

SCENARIO = "freight/first-steps-v0"


@pytest.fixture(scope="session")
def units(played: Path) -> StoredUnits:
    return read_units(played)


def group(agent: str, n: int = 1) -> RolloutBatch:
    """Return the first day of the stored run, played again by ``n`` rollouts."""
    spec, card = load_scenario(SCENARIO).spec, load_card(agent)
    table = ActionTable(spec)
    task = GroupTask(spec, Instance(0, 0, "eval"), n, 0, 0, record=True, client=card.client)
    made = collect_group(task, build_policy(card, table, 0), MemoryBook(spec.agents, card.memory), table)
    return RolloutBatch(made.table, made.inputs, made.episodes, made.agent_names, _deaf)


@pytest.mark.parametrize("agent", ["random", "naive", "scripted"])
def test_a_batch_and_a_stored_run_give_the_same_features(units: StoredUnits, agent: str) -> None:
    batch = group(agent)
    mine = features_of(batch, RolloutUnit()(batch.table), units.names)
    stored = units.features_UF[units.index(f"{agent}/-1/0/booker_0/0")]
    assert units.names == FEATURES
    assert dict(zip(FEATURES, mine[0].tolist(), strict=True)) == dict(zip(FEATURES, stored.tolist(), strict=True))


def model_of(units: StoredUnits, taste: str = "thrifty") -> PreferenceModel:
    return fit_labels(units, judged(units, taste, units.pairs()[:200]))


def test_the_reward_stands_at_the_last_decision_of_each_unit(units: StoredUnits, played: Path) -> None:
    batch, model = group("random", 4), model_of(units)
    paid, table = preference_N(batch, model), batch.table
    ends = np.flatnonzero(np.append(np.diff(table.rollout_id) != 0, True))
    assert np.flatnonzero(paid).tolist() == ends.tolist()
    expected = model.reward(features_of(batch, RolloutUnit()(table), model.features))
    assert paid[ends].tolist() == expected.tolist()
    masked = replace(batch, table=replace(table, masked=table.rollout_id == 1))
    assert np.flatnonzero(preference_N(masked, model)).tolist() == [row for row in ends if table.rollout_id[row] != 1]
    parts = read_units(played, {"name": "segment", "segment_len": 3})
    paid = preference_N(batch, fit_labels(parts, judged_parts(parts)))
    of_N = SegmentUnit(3)(table).unit_N
    assert np.flatnonzero(paid).tolist() == np.flatnonzero(np.append(np.diff(of_N) != 0, True)).tolist()


def judged_parts(parts: StoredUnits) -> list[Label]:
    return [Label("x", parts.rule, a, b, "a" if n % 3 else "b") for n, (a, b) in enumerate(parts.pairs()[:40])]


def test_rollouts_that_say_nothing_of_orders_are_refused(units: StoredUnits) -> None:
    batch = Ladder(TabularPolicy(14, 3))(0, 0)
    with pytest.raises(ConfigError, match="what became of orders"):
        preference_N(batch, model_of(units))
    empty = replace(batch, table=batch.table.take(np.zeros(0, np.int64)))
    assert len(preference_N(empty, model_of(units))) == 0


def test_what_the_design_pays(units: StoredUnits) -> None:
    batch = group("scripted", 2)
    said = preference_N(batch, model_of(units))
    table = replace(batch.table, preference=said)
    outcome = table.r_out
    for blend in (0.25, 1.0):
        step_N = Preference("model.json", blend)(table, nothing()).step_N
        assert step_N.tolist() == ((1 - blend) * outcome + blend * said).tolist()
    with pytest.raises(ConfigError, match="PaidByPreference"):
        Preference("model.json")(batch.table, nothing())


@pytest.mark.parametrize(
    ("reward", "says"),
    [
        ("preference", "needs a reward model"),
        ({"name": "preference", "model": "x.json", "blend": 0.0}, "0 < blend <= 1"),
        ({"name": "preference", "model": "x.json", "blend": 1.5}, "0 < blend <= 1"),
        ({"name": "preference", "model": "x.json", "blnd": 0.5}, "did you mean 'blend'"),
    ],
)
def test_bad_rewards(reward: object, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        from_mapping({"reward": reward})


def test_a_reward_model_that_is_not_there_ends_before_anything_is_written(tmp_path: Path) -> None:
    arm = {"reward": {"name": "preference", "model": str(tmp_path / "none.json")}}
    plan = replace(SMALL, arms={"Preferred": arm})
    with pytest.raises(RunError, match="no such reward model"):
        train_experiment(plan, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_trains_on_a_model_and_is_judged_by_the_outcome(units: StoredUnits, tmp_path: Path) -> None:
    file = tmp_path / "taste.json"
    file.write_text(model_of(units).to_json())
    arm = {"lr": 0.003, "buffer_units": UPDATE, "units_per_step": UPDATE}
    arm |= {"reward": {"name": "preference", "model": str(file), "blend": 0.5}}
    folder = train_experiment(replace(SMALL, arms={"Preferred": arm}, episodes=2 * UPDATE), tmp_path / "run")
    train = load_run(folder).train
    assert set(train["completion"] * UPDATE) <= set(range(UPDATE + 1))  # of outcomes alone
    assert ((train["reward_mean"] > 0) & (train["reward_mean"] < 1)).all()
    assert json.loads((folder / "run.json").read_text())["config"]["arms"]["Preferred"]["reward"]["blend"] == 0.5


def tasted(batch: RolloutBatch, taste: str) -> float:
    """Return the mean hidden utility of a batch's rollouts."""
    rows = features_of(batch, RolloutUnit()(batch.table), FEATURES).tolist()
    return float(np.mean([UTILITIES[taste](dict(zip(FEATURES, row, strict=True))) for row in rows]))


def held_out(policy: ScorerPolicy, taste: str) -> float:
    """Return the mean hidden utility on the first days of 24 campaigns that no training plays."""
    spec, card = load_scenario(SCENARIO).spec, load_card("scorer")
    table, memories = ActionTable(spec), MemoryBook(spec.agents, card.memory)
    tasks = [GroupTask(spec, Instance(n, 0, "eval"), 1, 0, 0, record=True, client=card.client) for n in range(24)]
    made = [collect_group(task, policy, memories, table) for task in tasks]
    batches = [RolloutBatch(m.table, m.inputs, m.episodes, m.agent_names, _deaf) for m in made]
    return float(np.mean([tasted(batch, taste) for batch in batches]))


def _deaf(rollout_id: int, agent: str, value: float) -> None:
    """Hear of no outcome."""


def gain(units: StoredUnits, taste: str, file: Path, updates: int, **learner: object) -> float:
    """Return by how much a short training of a scorer raises the hidden utility on held-out days."""
    file.write_text(model_of(units, taste).to_json())
    config = from_mapping({"buffer_units": 32, "n_rollouts": 8, "lr": 0.01, **learner})
    spec, card = load_scenario(SCENARIO).spec, load_card("scorer")
    policy = build_scorer(card, ActionTable(spec), 0)
    before = held_out(policy, taste)
    plan = CampaignPlan(spec, config.n_rollouts, 4, 0, card.memory, card.client)
    collect = paid(CampaignCollector(plan, policy), config)
    Trainer(collect, policy, config, lambda row: None).run(updates=updates)
    return held_out(policy, taste) - before


def test_training_on_the_fitted_reward_raises_the_hidden_taste(units: StoredUnits, tmp_path: Path) -> None:
    file = tmp_path / "taste.json"
    assert gain(units, "hasty", file, 12, reward={"name": "preference", "model": str(file)}) > 0.2
    assert gain(units, "hasty", file, 12) < 0  # the same training, paid the outcome


@pytest.mark.slow
@pytest.mark.parametrize("taste", UTILITIES)
def test_every_hidden_taste_rises(units: StoredUnits, tmp_path: Path, taste: str) -> None:
    file = tmp_path / "taste.json"
    assert gain(units, taste, file, 60, reward={"name": "preference", "model": str(file)}) > 0
