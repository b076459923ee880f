"""What makes a step table unusable: better an error with the row than an advantage that means nothing."""

from __future__ import annotations

import numpy as np

from masim.arrays import Bool
from masim.errors import ConfigError
from masim.learn.reduce import cell_first, dense, in_order
from masim.rollout.types import StepTable

FILLED_BY = {
    "value": "train with a critic (critic: {}), or fill the column yourself",
    "counterfactual": "name a counterfactual_agent for replays, or fill in what the team came to yourself",
    "obs_similar": "fill it with masim.learn.similar.similar_keys",
    "calls_ok": "let rollouts record it, or use a reward that does not count calls",
    "preference": "collect through masim.feedback.paying.PaidByPreference, which asks the reward model",
    "n_tokens": "it comes with language models; use another weighting or unit without one",
    "span": "make a table of spans: masim.learn.credit.spans.by_span",
}


def check_columns(table: StepTable, needs: tuple[str, ...], who: str) -> None:
    """Raise ConfigError when an optional column that somebody reads is not there."""
    missing = [name for name in needs if name not in table.columns()]
    if missing:
        raise ConfigError(f"{who} needs a column that the table lacks", "table", missing[0], "", FILLED_BY[missing[0]])


def check_rows(table: StepTable) -> None:
    """Raise ConfigError on columns of different lengths, decisions that are there twice and rollouts in two groups."""
    for name, column in table.columns().items():
        if column.shape != (len(table),):
            raise ConfigError("a column does not fit the table", name, str(column.shape), f"({len(table)},)")
    sample, _ = dense(table.rollout_id, table.agent)
    order = in_order(sample, table.turn)
    twice = (np.diff(sample[order]) == 0) & (np.diff(table.turn[order]) == 0)
    if twice.any():
        row = order[np.flatnonzero(twice)[0]]
        value = f"rollout {table.rollout_id[row]}, agent {table.agent[row]}, turn {table.turn[row]}"
        raise ConfigError("a decision is in the table twice", "turn", value, "", "number rollouts over the whole table")
    rollout, _ = dense(table.rollout_id)
    elsewhere = table.group_id != table.group_id[cell_first(rollout, rollout)][rollout]
    if elsewhere.any():
        value = str(table.rollout_id[np.flatnonzero(elsewhere)[0]])
        raise ConfigError("a rollout is in two comparison groups", "rollout_id", value)


def check_values(table: StepTable, live_N: Bool) -> None:
    """Raise ConfigError when no decision is live, and on rewards, times and values of live ones that are not finite."""
    if not live_N.any():
        fix = "look at the failures of its episodes"
        raise ConfigError("no decision counts: the harness failed for every rollout", "masked", "", "", fix)
    for name in ("r_out", "r_pen", "event_time_s", "value", "counterfactual", "outcome", "preference"):
        column = table.columns().get(name)
        if column is not None:
            broken = live_N & ~np.isfinite(column)
            if broken.any():
                value = f"{column[broken][0]} in row {np.flatnonzero(broken)[0]}"
                raise ConfigError("not a finite number", name, value, "finite numbers")
