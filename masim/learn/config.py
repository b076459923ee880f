"""Options of the learner: one frozen dataclass, the only place of their defaults and documentation."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from masim.errors import ConfigError, did_you_mean
from masim.learn.advantages.base import Estimator
from masim.learn.advantages.grpo import Grpo
from masim.learn.advantages.penalties import PenaltyMode
from masim.learn.advantages.progpo import Progpo
from masim.learn.advantages.registry import ESTIMATORS
from masim.learn.completion import Completion
from masim.learn.credit.base import UnitRule
from masim.learn.credit.registry import UNIT_RULES
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.critic_options import CriticOptions
from masim.learn.grouping import key_columns
from masim.learn.late import PLACES, At
from masim.learn.legal import check_legal
from masim.learn.rewards.base import RewardDesign
from masim.learn.rewards.outcome import Outcome
from masim.learn.rewards.registry import REWARDS

T = TypeVar("T")
_CHOICES = {
    "weighting": ("step", "rollout", "token"),
    "ratio": ("decision", "sequence", "set"),
    "penalty": ("sample", "to_go"),
    "completion": ("minimum", "retry", "fail_fast"),
    "optimizer": ("adam", "sgd"),
    "importance": ("none", "truncated"),
    "stale": ("drop", "refuse"),
}


@dataclass(frozen=True, slots=True)
class LearnerConfig:
    """Everything that decides an update. Build from user input with :func:`from_mapping`."""

    seed: int = 0
    """Seeds minibatch order and randomised controls; never the world."""
    unit: UnitRule = field(default_factory=RolloutUnit)
    """Credit unit, with its own options (:mod:`masim.learn.credit.registry`)."""
    compare: str = "group_agent"
    """Comparison key: a name or columns (:mod:`masim.learn.grouping`)."""
    estimator: Estimator = field(default_factory=Grpo)
    """Base estimator, with its own options (:mod:`masim.learn.advantages.registry`)."""
    reward: RewardDesign = field(default_factory=Outcome)
    """What is paid on the channel that the estimator reads (:mod:`masim.learn.rewards.registry`)."""
    booking: At | None = None
    """Where late rewards are booked: ``landing`` or ``request``; null: where the scenario's ``credit_at`` says."""
    counterfactual_agent: str = ""
    """Agent card that stands in for each agent in turn, in replays of every rollout: what fills the column
    ``counterfactual``; empty: it comes with the table."""
    progpo: Progpo | None = None
    """ProGPO around the base; null: off."""
    w_pen: float = 0.1
    """Weight of the penalty channel."""
    w_pen_failed: float | None = None
    """Weight of the penalty channel inside all-failed groups; null: ``w_pen``. Where nobody succeeds, the cheapest way
    to pay no penalty is to do nothing; 0 keeps that lesson out."""
    penalty: PenaltyMode = "sample"
    """``sample``: one penalty for a whole sample; ``to_go``: each decision answers for the penalties that follow."""
    critic: CriticOptions | None = None
    """The value network that ``ppo_gae`` is trained with; null: the column ``value`` comes with the table."""
    drop_equal_groups: bool = False
    """Leave groups whose outcomes are all equal out of the loss (the filter of DAPO, arXiv 2503.14476)."""
    drop_silent_groups: bool = False
    """Leave groups out whose outcomes are all equal and whose coverage is, too: the filter that fits ProGPO."""
    resample: int = 0
    """Most groups that are drawn in addition, per update, for those that a filter leaves out; 0: none."""
    completion: Completion = "minimum"
    """What becomes of a group when the harness failed for some of its rollouts (:mod:`masim.learn.completion`)."""
    min_group: int = 1
    """Fewest live rollouts of a group that is scored."""
    n_rollouts: int = 8
    """Rollouts per comparison group."""
    buffer_units: int = 64
    """Units collected before an update; rounded up to whole comparison groups."""
    units_per_step: int = 32
    """Most units in one optimizer step."""
    epochs: int = 1
    """Passes over the buffer per update."""
    optimizer: Literal["adam", "sgd"] = "adam"
    """``sgd`` takes a gradient as it is. Adam divides by what it is used to: after many updates without one, a single
    success moves the weights as far as ten ordinary updates would."""
    lr: float = 1e-3
    """Learning rate."""
    lr_end: float | None = None
    """The learning rate falls to this in a straight line and is there after ``lr_updates``; null: it stays."""
    lr_updates: int = 0
    """Updates after which ``lr_end`` is reached; a training run fills in all that it will do."""
    lr_hold: float = 0.0
    """Share of ``lr_updates`` before the fall begins; in [0, 1)."""
    grad_clip: float = 1.0
    """Largest gradient norm."""
    eps_low: float = 0.2
    """The ratio is clipped to ``[1 - eps_low, 1 + eps_high]``."""
    eps_high: float = 0.2
    ratio: Literal["decision", "sequence", "set"] = "decision"
    """What is clipped: the ratio of each decision; ``sequence`` the geometric mean over a unit (GSPO, arXiv
    2507.18071); ``set`` that of the members of an event, ``exp(sum of log-ratios / sqrt(members))`` (SRPO)."""
    importance: Literal["none", "truncated"] = "none"
    """``none``: ratios are taken to the policy that acted. ``truncated``: they are taken to the policy at the start of
    the update, and each decision weighs ``min(pi_start / pi_acted, importance_cap)``, for groups that an older policy
    or another inference engine has played."""
    importance_cap: float = 2.0
    """Most that one decision may weigh; 1.5 to 5 are usual for tokens."""
    max_staleness: int | None = None
    """Most updates that the policy of a group may lie behind; null: no bound. A collector that plays ahead may bring
    such groups; those of masim do not."""
    stale: Literal["drop", "refuse"] = "drop"
    """What becomes of older groups: they are left out, counted and drawn again, or the training ends with an error."""
    weighting: Literal["step", "rollout", "token"] = "step"
    """Mean of the loss over decisions, over samples (each the mean of its decisions), or over tokens."""
    entropy_coef: float = 0.0
    """Weight of the entropy bonus."""
    kl_coef: float = 0.0
    """Weight of the k3 divergence from the reference policy; above 0 a reference is needed."""
    checkpoint_every: int = 10
    """Updates between checkpoints; the last update is always saved."""
    keep_checkpoints: int = 3
    """Older checkpoints are deleted."""

    def validate(self) -> LearnerConfig:
        """Return self, or raise ConfigError on values out of range and on options that contradict each other."""
        _check_ranges(self)
        key_columns(self.compare)
        check_legal(self)
        return self

    def to_mapping(self) -> dict[str, object]:
        """Return the resolved options as plain values; :func:`from_mapping` accepts them again."""
        plain: dict[str, object] = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        plain["unit"] = _named(self.unit, UNIT_RULES)
        plain["estimator"] = _named(self.estimator, ESTIMATORS)
        plain["reward"] = _named(self.reward, REWARDS)
        for name in ("progpo", "critic"):
            part = plain[name]
            plain[name] = None if part is None else dataclasses.asdict(part)  # type: ignore[call-overload]
        return plain


def from_mapping(options: Mapping[str, object]) -> LearnerConfig:
    """Build and validate a configuration from plain values; absent options keep their defaults.

    ``unit``, ``estimator`` and ``reward`` are a name or ``{name: ..., option: value}``; ``progpo`` is a mapping (may be
    empty) or null. Raises ConfigError on unknown names (with the nearest known one), wrong types and contradictions.
    """
    plain = dict(options)
    built: dict[str, object] = {}
    for name, registry in (("unit", UNIT_RULES), ("estimator", ESTIMATORS), ("reward", REWARDS)):
        if name in plain:
            built[name] = _choose(plain.pop(name), registry, name)
    for name, kind in (("progpo", Progpo), ("critic", CriticOptions)):
        if (part := plain.pop(name, None)) is not None:
            built[name] = _build(kind, _mapping(part, name), name)
    return _build(LearnerConfig, plain, "learner", built).validate()


def _check_ranges(config: LearnerConfig) -> None:
    positive = ("n_rollouts", "buffer_units", "units_per_step", "epochs", "checkpoint_every", "keep_checkpoints")
    lowest = dict.fromkeys(positive, 1) | dict.fromkeys(("seed", "w_pen", "entropy_coef", "kl_coef", "lr_updates"), 0)
    lowest |= {"resample": 0, "min_group": 1}
    for name, low in lowest.items():
        if getattr(config, name) < low:
            raise ConfigError("out of range", name, str(getattr(config, name)), f">= {low}")
    if config.importance_cap < 1.0:
        raise ConfigError("out of range", "importance_cap", str(config.importance_cap), ">= 1")
    if config.max_staleness is not None and config.max_staleness < 0:
        raise ConfigError("out of range", "max_staleness", str(config.max_staleness), ">= 0, or null")
    for name in ("lr", "grad_clip", "eps_low", "eps_high"):
        if getattr(config, name) <= 0:
            raise ConfigError("out of range", name, str(getattr(config, name)), "> 0")
    if not 0.0 <= config.lr_hold < 1.0:
        raise ConfigError("out of range", "lr_hold", str(config.lr_hold), "0 <= lr_hold < 1")
    for name in ("w_pen_failed", "lr_end"):
        value = getattr(config, name)
        if value is not None and value < 0:
            raise ConfigError("out of range", name, str(value), ">= 0, or null")
    if config.booking is not None and config.booking not in PLACES:
        raise ConfigError("unknown booking", "booking", repr(config.booking), ", ".join((*PLACES, "null")))
    for name, allowed in _CHOICES.items():
        if getattr(config, name) not in allowed:
            raise ConfigError(f"unknown {name}", name, repr(getattr(config, name)), ", ".join(allowed))


def _named(part: object, registry: Mapping[str, type]) -> dict[str, object]:
    name = next(known for known, kind in registry.items() if isinstance(part, kind))
    return {"name": name, **{f.name: getattr(part, f.name) for f in dataclasses.fields(registry[name])}}


def _choose(value: object, registry: Mapping[str, type[T]], where: str) -> T:
    options = {"name": value} if isinstance(value, str) else dict(_mapping(value, where))
    name = options.pop("name", "")
    if not isinstance(name, str) or name not in registry:
        hint = did_you_mean(str(name), registry)
        raise ConfigError(f"unknown {where}", where, repr(name), ", ".join(registry), hint)
    return _build(registry[name], options, f"{where}.{name}")


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigError("expected options as key: value", where, repr(value), "a mapping")
    return {str(key): item for key, item in value.items()}


def _build(kind: type[T], options: Mapping[str, object], where: str, built: Mapping[str, object] | None = None) -> T:
    hints = typing.get_type_hints(kind)
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in options:
        if name not in known:
            raise ConfigError("unknown option", where, repr(name), ", ".join(known), did_you_mean(name, known))
    typed = {name: _typed(value, hints[name], f"{where}.{name}") for name, value in options.items()}
    return kind(**typed, **(built or {}))


def _typed(value: object, hint: object, where: str) -> object:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        if value is None:
            return None
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    wanted: object = str if typing.get_origin(hint) is Literal else hint
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    right = isinstance(value, wanted) if isinstance(wanted, type) else False
    if not right or (wanted is int and isinstance(value, bool)):
        name = getattr(wanted, "__name__", str(wanted))
        fix = "write floats with a point, as 1.0e-3" if wanted is float else ""
        raise ConfigError("wrong type", where, repr(value), name, fix)
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError("not a finite number", where, repr(value), "finite numbers")
    return value
