"""Training paid by what people prefer: a collector that writes what a reward model says into the step table.

The column ``preference`` holds it at the last decision of each unit that the model judges, and 0 elsewhere; the reward
design of that name (:mod:`masim.learn.rewards.preference`) pays it. The outcome channel stays as it is, so a training
is judged by the outcome whatever it is paid, and memories hear of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from masim.arrays import F64, I64
from masim.errors import ConfigError
from masim.feedback.features import ORDER_FEATURES, STEP_FEATURES, order_features, step_features
from masim.feedback.model import PreferenceModel, read_model
from masim.feedback.units import unit_rule
from masim.learn.config import LearnerConfig
from masim.learn.credit.base import Cells, Units
from masim.learn.reduce import cell_first
from masim.learn.rewards.preference import Preference
from masim.rollout.types import Collect, Episode, RolloutBatch, StepTable

_TURNS = 1 << 20
"""More than the decisions of a sample."""
_LATER = 1 << 62


def reward_model(config: LearnerConfig) -> PreferenceModel | None:
    """Return the model that a training is paid by; None where it is paid something else. Raises as ``read_model``."""
    reward = config.reward
    return read_model(Path(reward.model)) if isinstance(reward, Preference) else None


def paid(collect: Collect, config: LearnerConfig) -> Collect:
    """Return a collector whose batches have what the reward of the configuration reads. Raises as ``read_model``."""
    model = reward_model(config)
    return collect if model is None else PaidByPreference(collect, model)


class PaidByPreference:
    """A collector whose batches say what the model thinks of each unit."""

    def __init__(self, collect: Collect, model: PreferenceModel) -> None:
        self.model = model
        self._collect = collect

    def __call__(self, draw: int, policy_version: int) -> RolloutBatch:
        """Collect. Raises ConfigError for rollouts that lack what the model reads."""
        batch = self._collect(draw, policy_version)
        return replace(batch, table=replace(batch.table, preference=preference_N(batch, self.model)))


def preference_N(batch: RolloutBatch, model: PreferenceModel) -> F64:
    """Return (N,) the reward of each live unit at its last decision. Raises ConfigError as :func:`features_of`."""
    table, paid = batch.table, np.zeros(len(batch.table))
    if not len(table):
        return paid
    cut = unit_rule(model.unit)[0](table)
    scores, live = cut.scores, cut.scores.live
    reward_U = model.reward(features_of(batch, cut, model.features))
    paid[_last_decisions(table, cut)[live]] = reward_U[live]
    return np.where(live[scores.of_N] & cut.live_N, paid, 0.0)


def features_of(batch: RolloutBatch, cut: Units, names: tuple[str, ...]) -> F64:
    """Return (U, F) the named features of a batch's units.

    Raises ConfigError where they are about orders and the batch does not say what became of those.
    """
    table, scores = batch.table, cut.scores
    columns = dict(zip(STEP_FEATURES, step_features(table, cut.live_N, scores.of_N, len(scores)).T, strict=True))
    if set(names) & set(ORDER_FEATURES):
        columns |= dict(zip(ORDER_FEATURES, _of_orders(batch, scores).T, strict=True))
    return np.stack([columns[name] for name in names], axis=1)


def _of_orders(batch: RolloutBatch, scores: Cells) -> F64:
    """Return (U, F) the features of orders; zeros for units that are not live."""
    episodes: Mapping[int, Episode] = {episode.rollout_id: episode for episode in batch.episodes}
    rows = np.zeros((len(scores), len(ORDER_FEATURES)))
    for i in np.flatnonzero(scores.live):
        rollout = int(scores.rollout[i])
        if rollout not in episodes or scores.agent[i] < 0:
            fix = "use a model of segments, or a collector that tells episodes"
            problem = "the reward model reads what became of orders, and these rollouts do not say"
            raise ConfigError(problem, "reward.model", f"rollout {rollout}", "", fix)
        name = batch.agent_names[int(scores.agent[i])]
        own = [order for order in episodes[rollout].orders if order.agent == name]
        rows[i] = order_features(own, float(batch.table.event_time_s[scores.first[i]]))
    return rows


def _last_decisions(table: StepTable, cut: Units) -> I64:
    """Return (U,) the row of each unit's last live decision."""
    place = table.event_id * _TURNS + table.turn
    return cell_first(cut.scores.of_N, np.where(cut.live_N, -place, _LATER))
