"""What a training will be like, before it is started."""

from __future__ import annotations

from dataclasses import dataclass

from masim.errors import ConfigError
from masim.sim.spec import RewardSpec, WorldSpec
from masim.study.experiment import Experiment
from masim.study.training import episodes_per_update, learner_config


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """One arm's budget, and how often a comparison group of ``n_rollouts`` says nothing about the outcome."""

    arm: str
    n_rollouts: int
    episodes_per_update: int
    updates: int
    all_fail: float
    """``(1-p)^G``: all rollouts of a group fail."""
    dead: float
    """``p^G + (1-p)^G``: all rollouts of a group end alike, so their outcomes rank nobody."""


def advise(experiment: Experiment, spec: WorldSpec, p: float) -> list[ArmPlan]:
    """Return the plan of every arm for an assumed completion ``p``. Raises as :func:`check_probability`."""
    check_probability(p)
    plans = []
    for arm, options in experiment.arms.items():
        size = learner_config(options, spec).n_rollouts
        per_update = episodes_per_update(options, spec)
        fail = (1.0 - p) ** size
        plans.append(ArmPlan(arm, size, per_update, max(1, experiment.episodes // per_update), fail, p**size + fail))
    return plans


def check_probability(p: float) -> None:
    """Raise ConfigError unless 0 <= p <= 1."""
    if not 0.0 <= p <= 1.0:
        raise ConfigError("not a probability", "--assume-p", f"{p:g}", "0 to 1")


def break_even(rewards: RewardSpec) -> float | None:
    """Return after how many decisions the penalties cancel an outcome of 1, or None where decisions cost nothing."""
    return -1.0 / rewards.decision if rewards.decision < 0 else None
