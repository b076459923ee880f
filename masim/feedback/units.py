"""Who can be compared in a stored run: its credit units, by comparison group, with their features.

A group here is what several agents did with the same instance: the same agent of the same day of the same campaign,
and for segments the same segment. People compare outcomes, so memories may differ: a training's groups are narrower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from masim.analysis.load import RunData, load_run
from masim.arrays import F64, I64
from masim.errors import RunError, did_you_mean
from masim.feedback.features import ORDER_FEATURES, STEP_FEATURES, order_features, step_features
from masim.learn.checks import check_columns
from masim.learn.config import from_mapping
from masim.learn.credit.base import Cells, UnitRule
from masim.learn.grouping import sample_keys, score_keys
from masim.learn.reduce import dense
from masim.outcome import OrderOutcome
from masim.rng import Noise
from masim.rollout.record import COLUMN_TYPES
from masim.rollout.types import StepTable

_HEAD = ("arm", "train_seed", "agent_name")
_REQUIRED = [f.name for f in fields(StepTable) if f.default is MISSING]


@dataclass(frozen=True, slots=True)
class Unit:
    """One outcome that people can judge."""

    id: str
    group: int
    arm: str
    train_seed: int
    episode: int
    campaign_seed: int
    day: int
    agent: str
    """Whose decisions; empty where several agents decided."""
    start_s: float
    end_s: float
    """First and last decision."""
    until_s: float
    """Where the same agents' next unit begins; infinite for their last."""
    n: int
    """Decisions."""


@dataclass(frozen=True, slots=True)
class StoredUnits:
    """The units of a run that have somebody to be compared with."""

    run: RunData
    rule: Mapping[str, Any]
    units: tuple[Unit, ...]
    names: tuple[str, ...]
    """Of the features."""
    features_UF: F64

    def index(self, id: str) -> int:
        """Return the position of a unit. Raises RunError for one that the run has not."""
        known = {unit.id: i for i, unit in enumerate(self.units)}
        if id not in known:
            hint = did_you_mean(id, known)
            raise RunError("the run has no such unit to compare", str(self.run.path), repr(id), "", hint)
        return known[id]

    def pairs(self, seed: int = 0) -> list[tuple[str, str]]:
        """Return every pair worth a question, in a random order that the seed decides.

        Left and right are drawn, too, so that no agent is always on one side. Pairs without any difference in their
        features say nothing of weights and are left out.
        """
        members: dict[int, list[int]] = {}
        for i, unit in enumerate(self.units):
            members.setdefault(unit.group, []).append(i)
        noise = Noise(seed, "feedback")
        drawn: list[tuple[float, str, str]] = []
        for i, j in (pair for group in members.values() for pair in combinations(group, 2)):
            left, right = self.units[i], self.units[j]
            same = (left.arm, left.train_seed, left.episode) == (right.arm, right.train_seed, right.episode)
            if same or np.array_equal(self.features_UF[i], self.features_UF[j]):
                continue
            place, side, *_ = noise.uniforms("pair", left.id, right.id)
            a, b = (left, right) if side < 0.5 else (right, left)
            drawn.append((place, a.id, b.id))
        return [(a, b) for _, a, b in sorted(drawn)]


def unit_rule(options: object) -> tuple[UnitRule, Mapping[str, Any]]:
    """Return a unit rule and its resolved options from a name or a mapping. Raises ConfigError for unknown ones."""
    config = from_mapping({"unit": options})
    resolved = config.to_mapping()["unit"]
    return config.unit, resolved if isinstance(resolved, dict) else {}


def read_units(folder: Path, options: object = "rollout") -> StoredUnits:
    """Read the units of a run.

    Raises RunError for a folder that is none, without steps, or in which nobody met the same instance as anybody
    else; ConfigError for a unit rule that is unknown or reads columns that runs do not store.
    """
    rule, resolved = unit_rule(options)
    run = load_run(folder)
    frame = _steps(folder)
    table = _table(frame)
    check_columns(table, rule.needs, str(resolved["name"]))
    cut = rule(table)
    scores = cut.scores
    compare = "group" if rule.team else "group_agent"
    key_S = score_keys(table, compare, sample_keys(cut.samples, compare), cut.sample_S, scores)
    features = step_features(table, cut.live_N, scores.of_N, len(scores))
    names = STEP_FEATURES
    units = _described(frame, table, scores, key_S)
    if rule.per_sample:
        features = np.hstack((features, _of_orders(run.outcomes, units)))
        names = (*STEP_FEATURES, *ORDER_FEATURES)
    kept = _comparable(units, scores)
    if not len(kept):
        fix = "play several agents on the same days: masim run SCENARIO --agents random,naive,scripted"
        raise RunError("the run has no comparison groups: nobody met the same day twice", str(folder), "", "", fix)
    return StoredUnits(run, resolved, tuple(units[i] for i in kept), names, features[kept])


def _steps(folder: Path) -> pd.DataFrame:
    file = folder / "steps.parquet"
    if not file.is_file():
        fix = "`masim run` keeps steps; it also plays trained agents: --agents RUN:ARM-sSEED"
        raise RunError("the run kept no steps", str(file), "", "", fix)
    try:
        frame = pd.read_parquet(file, engine="pyarrow")
    except (OSError, ValueError) as error:
        raise RunError("the table is truncated or damaged", str(file), "", "", "run it again") from error
    missing = [name for name in (*_HEAD, *_REQUIRED) if name not in frame.columns]
    if missing:
        raise RunError("the table lacks columns", str(file), ", ".join(missing), "", "run it again")
    return frame


def _table(frame: pd.DataFrame) -> StepTable:
    """Return the step table with ids that are unique over the run, and groups that are instances."""
    columns: dict[str, Any] = {
        name: frame[name].to_numpy(kind) for name, kind in COLUMN_TYPES.items() if name in frame.columns
    }
    rollout = frame.groupby(["arm", "train_seed", "group_id"], sort=False).ngroup().to_numpy(np.int64)
    columns["rollout_id"] = rollout
    columns["event_id"] = dense(rollout, columns["event_id"])[0]
    columns["group_id"] = dense(columns["scenario_seed"], columns["day"])[0]
    return StepTable(**columns)


def _described(frame: pd.DataFrame, table: StepTable, scores: Cells, key_S: I64) -> list[Unit]:
    """Return the units, those without a live decision included."""
    last_s = np.full(len(scores), -np.inf)
    np.maximum.at(last_s, scores.of_N, table.event_time_s)
    heads = frame.iloc[scores.first][["arm", "train_seed", "group_id", "agent_name"]].to_dict("records")
    within: dict[tuple[Any, ...], int] = {}
    units = []
    for i, row in enumerate(heads):
        first = int(scores.first[i])
        agent = str(row["agent_name"]) if scores.agent[i] >= 0 else ""
        place = (str(row["arm"]), int(row["train_seed"]), int(row["group_id"]), agent)
        number = within[place] = within.get(place, -1) + 1
        unit = Unit(
            id="/".join(map(str, (*place[:3], agent or "all", number))),
            group=int(key_S[i]), arm=place[0], train_seed=place[1], episode=place[2],
            campaign_seed=int(table.scenario_seed[first]), day=int(table.day[first]), agent=agent,
            start_s=float(table.event_time_s[first]), end_s=float(last_s[i]), until_s=np.inf, n=int(scores.n[i]),
        )  # fmt: skip
        units.append(unit)
    return _followed(units)


def _followed(units: list[Unit]) -> list[Unit]:
    """Return the units with the beginnings of those that follow them."""
    starts: dict[tuple[Any, ...], list[float]] = {}
    for unit in units:
        starts.setdefault((unit.arm, unit.train_seed, unit.episode, unit.agent), []).append(unit.start_s)
    return [
        replace(unit, until_s=min((s for s in starts[unit.arm, unit.train_seed, unit.episode, unit.agent]
                                   if s > unit.end_s), default=np.inf))
        for unit in units
    ]  # fmt: skip


def _of_orders(outcomes: pd.DataFrame, units: list[Unit]) -> F64:
    names = [name for name in OrderOutcome.__dataclass_fields__ if name in outcomes.columns]
    own: dict[tuple[Any, ...], list[OrderOutcome]] = {}
    for row in outcomes.to_dict("records"):
        place = (row["arm"], row["train_seed"], row["episode"], row["agent"])
        own.setdefault(place, []).append(OrderOutcome(**{name: row[name] for name in names}))
    return np.array([order_features(own.get((u.arm, u.train_seed, u.episode, u.agent), ()), u.start_s) for u in units])


def _comparable(units: list[Unit], scores: Cells) -> list[int]:
    """Return the live units whose group has another rollout."""
    met: dict[int, set[tuple[Any, ...]]] = {}
    live = [i for i in range(len(units)) if scores.live[i]]
    for i in live:
        met.setdefault(units[i].group, set()).add((units[i].arm, units[i].train_seed, units[i].episode))
    return [i for i in live if len(met[units[i].group]) > 1]
