"""Training is paid what people prefer.

1. A training's batch and a stored run give the same features for the same episode.
2. The reward stands at the last decision of each live unit and nowhere else; a harness failure is paid nothing.
3. What a model cannot judge is one error; blends and contradictions are checked before anything is played.
4. Training on the fitted reward raises the hidden taste, and completion is still what it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from feedback.judges import judged
from learn.ladder import Ladder, TabularPolicy

from masim.env.actions import ActionTable
from masim.errors import ConfigError
from masim.feedback.features import FEATURES
from masim.feedback.fit_run import fit_labels
from masim.feedback.model import PreferenceModel
from masim.feedback.paying import features_of, preference_N
from masim.feedback.units import StoredUnits, read_units
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit
from masim.memory.book import MemoryBook
from masim.policy.build import build_policy
from masim.policy.card import load_card
from masim.rollout.collected import collect_group
from masim.rollout.group import GroupTask
from masim.rollout.types import RolloutBatch
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

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
    return RolloutBatch(made.table, made.inputs, made.episodes, made.agent_names, lambda *_: None)


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


def judged_parts(parts: StoredUnits):  # type: ignore[no-untyped-def]
    from masim.feedback.labels import Label

    return [Label("x", parts.rule, a, b, "a" if n % 3 else "b") for n, (a, b) in enumerate(parts.pairs()[:40])]


def test_rollouts_that_say_nothing_of_orders_are_refused(units: StoredUnits) -> None:
    batch = Ladder(TabularPolicy(14, 3))(0, 0)
    with pytest.raises(ConfigError, match="what became of orders"):
        preference_N(batch, model_of(units))
    empty = replace(batch, table=batch.table.take(np.zeros(0, np.int64)))
    assert len(preference_N(empty, model_of(units))) == 0
