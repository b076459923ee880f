"""What changes along a training: when it is over early, and how far its horizon has grown.

Both are read off the learning curve on held-out days, whose rows are on disk before anything depends on them. So a
training that was killed takes the same decisions again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from masim.env.actions import ActionTable
from masim.env.features import context_size
from masim.errors import ConfigError, did_you_mean
from masim.scenario.load import load_scenario
from masim.sim.spec import WorldSpec

METRICS = ("completion", "safe")


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """End a training when its curve has stopped rising. Raises ConfigError on values out of range."""

    patience: int = 3
    """Points of the curve in a row without a new best."""
    min_delta: float = 0.01
    """By how much a new best has to be better."""
    metric: str = "completion"

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise ConfigError("out of range", "early_stop.patience", str(self.patience), ">= 1")
        if not 0.0 <= self.min_delta <= 1.0:
            raise ConfigError("out of range", "early_stop.min_delta", str(self.min_delta), "0 to 1")
        if self.metric not in METRICS:
            raise ConfigError("unknown metric", "early_stop.metric", repr(self.metric), ", ".join(METRICS))

    def reason(self, curve: Sequence[Mapping[str, Any]]) -> str:
        """Return why a training with this curve is over, or nothing. A new stage of a curriculum begins anew."""
        rows = [row for row in curve if row.get("stage", 0) == curve[-1].get("stage", 0)] if curve else []
        best, since = float("-inf"), 0
        for row in rows:
            better = row[self.metric] > best and row[self.metric] >= best + self.min_delta
            best, since = (row[self.metric], 0) if better else (best, since + 1)
        if since < self.patience:
            return ""
        return f"{self.metric} has not risen by {self.min_delta:g} above {best:.3f} for {since} points of the curve"


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Raise a value of the scenario, step by step, as the held-out days of each step succeed.

    Raises ConfigError on values out of range.
    """

    field: str
    """Dotted path into the scenario."""
    values: tuple[float | int | str, ...]
    """One per stage; after the last one comes the scenario as it is."""
    threshold: float = 0.8
    """Completion on held-out days at which the next stage begins."""

    def __post_init__(self) -> None:
        if not self.values:
            raise ConfigError("a curriculum has at least one stage", "curriculum.values", "[]")
        if not 0.0 < self.threshold <= 1.0:
            raise ConfigError("out of range", "curriculum.threshold", str(self.threshold), "above 0, up to 1")

    def stages(self, scenario: str, overrides: Mapping[str, str]) -> tuple[WorldSpec, ...]:
        """Return the world of every stage, the scenario itself last.

        Raises ScenarioError for a path or a value that the scenario does not take, ConfigError where agents or the
        policy's inputs would change.
        """
        last = load_scenario(scenario, dict(overrides) or None).spec
        early = [load_scenario(scenario, {**overrides, self.field: str(value)}).spec for value in self.values]
        for value, spec in zip(self.values, early, strict=True):
            same = spec.agents == last.agents and context_size(ActionTable(spec)) == context_size(ActionTable(last))
            if not same or spec.campaign_days != last.campaign_days:
                fix = "choose a field that changes neither agents, nor legs, nor the days of a campaign"
                raise ConfigError("a policy cannot be carried over", f"curriculum.{self.field}", str(value), "", fix)
        return (*early, last)

    def stage(self, curve: Sequence[Mapping[str, Any]]) -> int:
        """Return the number of the stage that follows these points of the curve."""
        at = 0
        for row in curve:
            if row.get("stage", 0) == at and row["completion"] >= self.threshold and at < len(self.values):
                at += 1
        return at


def early_stop(options: Mapping[str, Any]) -> EarlyStop | None:
    """Return the rule of plain options, None without any. Raises ConfigError for unknown ones."""
    return EarlyStop(**_known(options, EarlyStop, "early_stop")) if options else None


def curriculum(options: Mapping[str, Any]) -> Curriculum | None:
    """Return the curriculum of plain options, None without any. Raises ConfigError for unknown or missing ones."""
    if not options:
        return None
    given = _known(options, Curriculum, "curriculum")
    for name in ("field", "values"):
        if name not in given:
            raise ConfigError("missing option", f"curriculum.{name}", "", "field, values, threshold")
    if not isinstance(given["values"], (list, tuple)):
        raise ConfigError("wrong type", "curriculum.values", repr(given["values"]), "a list")
    return Curriculum(**{**given, "values": tuple(given["values"])})


def _known(options: Mapping[str, Any], kind: type, where: str) -> dict[str, Any]:
    types = {field.name: str(field.type) for field in fields(kind)}
    plain: dict[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "str": str}
    for name, value in options.items():
        if name not in types:
            raise ConfigError("unknown option", where, repr(name), ", ".join(types), did_you_mean(name, types))
        wanted = plain.get(types[name])
        if wanted is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise ConfigError("wrong type", f"{where}.{name}", repr(value), types[name])
    return dict(options)
