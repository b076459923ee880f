"""Which options go together: all contradictions in one list, each with its reason and the way out.

A new contradiction is one line in :data:`RULES`. The page on estimators lists them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING

from masim.errors import ConfigError
from masim.learn.advantages.graphgpo import Graphgpo
from masim.learn.advantages.progpo import Progpo
from masim.learn.grouping import WHERE, key_columns

if TYPE_CHECKING:
    from masim.learn.config import LearnerConfig


@dataclass(frozen=True, slots=True)
class Rule:
    """One contradiction: when it holds, the option that is named, why, and what to do."""

    broken: Callable[[LearnerConfig], bool]
    option: str
    reason: str
    fix: str


def _splits_teams(config: LearnerConfig) -> bool:
    return config.unit.team and bool({"agent", "role"} & set(key_columns(config.compare)))


def _starts(config: LearnerConfig) -> bool:
    return bool(set(WHERE) & set(key_columns(config.compare)))


def _compares(config: LearnerConfig) -> bool:
    return config.estimator.compares or config.progpo is not None


def _steps(config: LearnerConfig) -> bool:
    return (config.progpo or Progpo()).form == "step" and not hasattr(config.estimator, "step_part")


RULES: tuple[Rule, ...] = (
    Rule(
        lambda c: c.estimator.per_step and not c.unit.per_sample,
        "unit",
        "a per-step estimator pays each decision by itself; units cannot share",
        "use unit: rollout, or a group estimator such as grpo",
    ),
    Rule(_splits_teams, "compare", "a set of agents has no single agent or role", "compare: group"),
    Rule(
        lambda c: c.unit.team and c.penalty == "to_go",
        "penalty",
        "an agent set shares one advantage per event",
        "penalty: sample",
    ),
    Rule(
        lambda c: _starts(c) and not c.unit.starts,
        "compare",
        "the comparison key varies inside a unit",
        "say who is compared (group_agent, group_role, group), or use a segment unit, whose scores begin somewhere",
    ),
    Rule(
        lambda c: _compares(c) and c.n_rollouts < 2,
        "n_rollouts",
        "nothing to compare",
        "raise n_rollouts to 2 or more, or use reinforce or ppo_gae without progpo",
    ),
    Rule(
        lambda c: c.min_group > c.n_rollouts,
        "min_group",
        "no group is large enough to be scored",
        "lower min_group or raise n_rollouts",
    ),
    Rule(
        lambda c: c.drop_equal_groups and c.progpo is not None,
        "drop_equal_groups",
        "progpo and drop_equal_groups contradict: ProGPO learns from exactly the groups that the filter drops",
        "switch one off, or use drop_silent_groups",
    ),
    Rule(
        lambda c: c.drop_silent_groups and c.progpo is None,
        "drop_silent_groups",
        "without ProGPO coverage says nothing, so no group is silent in it",
        "use drop_equal_groups, or progpo",
    ),
    Rule(
        lambda c: c.resample > 0 and not (c.drop_equal_groups or c.drop_silent_groups),
        "resample",
        "no filter leaves groups out, so there is nothing to draw again",
        "set drop_equal_groups (or, with progpo, drop_silent_groups)",
    ),
    Rule(
        _steps,
        "progpo.form",
        "the step form runs the base estimator on first visits, and this base has no reward per step",
        "form: trajectory, or estimator: gigpo or hgpo",
    ),
    Rule(
        lambda c: c.ratio == "set" and not c.unit.team,
        "ratio",
        "a set ratio is that of agents who act together",
        "use unit: agent_set or another set of agents",
    ),
    Rule(
        lambda c: c.ratio == "sequence" and c.unit.team,
        "ratio",
        "the decisions of several agents at one instant are no sequence",
        "ratio: set or decision",
    ),
    Rule(
        lambda c: c.progpo is not None and not c.reward.is_success,
        "reward",
        "ProGPO asks whether everybody failed, and this reward pays those who did",
        "use reward: outcome, unit_event or shaped, or drop progpo",
    ),
    Rule(
        lambda c: isinstance(c.estimator, Graphgpo) and not c.reward.is_success,
        "reward",
        "GraphGPO walks back from success, and this reward pays those who failed as well",
        "use reward: outcome, unit_event or shaped, or another estimator",
    ),
    Rule(
        lambda c: c.reward.telescopes and c.unit.per_sample and not c.estimator.per_step,
        "reward",
        "what shaping adds sums to nothing over a whole rollout, so this estimator cannot see it",
        "use a segment unit, or an estimator that pays single decisions",
    ),
    Rule(
        lambda c: not c.reward.is_outcome and "counterfactual" in c.estimator.needs,
        "reward",
        "the counterfactual return is an outcome and cannot be compared with another reward",
        "use reward: outcome, or another estimator",
    ),
    Rule(
        lambda c: bool(c.counterfactual_agent) and "counterfactual" not in c.estimator.needs,
        "counterfactual_agent",
        "this estimator reads no counterfactual returns, and the replays would cost a group for each agent",
        "drop counterfactual_agent, or use estimator: counterfactual",
    ),
    Rule(
        lambda c: c.booking is not None and not c.reward.lands,
        "booking",
        "nothing of this reward lands late, so there is nothing to book",
        "drop booking, or use another reward",
    ),
    Rule(
        lambda c: c.critic is not None and "value" not in c.estimator.needs,
        "critic",
        "this estimator asks no critic",
        "drop critic, or use estimator: ppo_gae",
    ),
    Rule(
        lambda c: c.units_per_step > c.buffer_units,
        "units_per_step",
        "a step wants more units than the buffer holds",
        "lower units_per_step or raise buffer_units",
    ),
)


def check_legal(config: LearnerConfig) -> None:
    """Raise ConfigError for the first contradiction in the list."""
    for rule in RULES:
        if rule.broken(config):
            raise ConfigError(rule.reason, rule.option, _value(config, rule.option), "", rule.fix)


def _value(config: LearnerConfig, option: str) -> str:
    value: object = config
    for name in option.split("."):
        value = getattr(value, name, "")
    return type(value).__name__ if is_dataclass(value) else repr(value)
