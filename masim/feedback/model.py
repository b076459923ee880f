"""The reward model: a linear utility of a unit's features, as Bradley and Terry rank players; stored as JSON.

The utility is known up to a constant and a scale, so what training is paid is put into [0, 1]: the logistic function
of how far, in standard deviations, a unit lies above the mean of the units that people compared. A utility without
bounds would pay without end for whatever no labelled unit ever did.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from masim.arrays import F64
from masim.errors import RunError, did_you_mean
from masim.feedback.features import FEATURES

SCHEMA = 1
KIND = "bradley-terry"
_NUMBERS = ("mean", "scale", "weights")
_SCALARS = ("tie", "centre", "spread", "l2", "held_out_accuracy")


@dataclass(frozen=True, slots=True)
class PreferenceModel:
    """A fitted model. ``mean``, ``scale`` and ``weights`` have one entry per feature."""

    unit: Mapping[str, Any]
    """Unit rule of the units that were compared; it judges only such."""
    scenario: str
    scenario_hash: str
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    """Standard deviation over the compared units; 0 for a feature that never varied, whose weight is 0."""
    weights: tuple[float, ...]
    tie: float | None
    """Log-odds of a tie between equals, over a win of either; None where nobody ever tied."""
    centre: float
    """Mean utility of the compared units."""
    spread: float
    """Its standard deviation."""
    l2: float
    comparisons: int
    held_out_accuracy: float | None
    """Share of decided comparisons that a model fitted without them ranks right; None with too few to leave any out."""

    def utility(self, features_UF: F64) -> F64:
        """Return (U,) utilities."""
        scale = np.where(np.array(self.scale) > 0, self.scale, 1.0)
        result: F64 = ((features_UF - np.array(self.mean)) / scale) @ np.array(self.weights)
        return result

    def reward(self, features_UF: F64) -> F64:
        """Return (U,) what training is paid, in [0, 1]; 0.5 for a unit as good as the mean of the compared ones."""
        above = (self.utility(features_UF) - self.centre) / (self.spread or 1.0)
        result: F64 = 0.5 * (1.0 + np.tanh(0.5 * above))  # the logistic function, without overflow
        return result

    def to_json(self) -> str:
        """Return the model as text; :func:`read_model` takes it back."""
        return json.dumps({"schema": SCHEMA, "kind": KIND, **asdict(self)}, indent=1) + "\n"


def read_model(file: Path) -> PreferenceModel:
    """Read a model. Raises RunError for a file that is absent, damaged, or of another version."""
    fix = "fit it again with: masim label RUN --fit"
    if not file.is_file():
        raise RunError("there is no such reward model", str(file), "", "", fix)
    try:
        raw = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RunError("the reward model is damaged: not JSON", str(file), "", "", fix) from error
    if not isinstance(raw, dict) or (raw.get("schema"), raw.get("kind")) != (SCHEMA, KIND):
        found = f"schema {raw.get('schema')!r}, kind {raw.get('kind')!r}" if isinstance(raw, dict) else ""
        raise RunError("not a reward model of this version", str(file), found, f"schema {SCHEMA}, kind {KIND}", fix)
    try:
        model = _model({name: value for name, value in raw.items() if name not in ("schema", "kind")})
    except (TypeError, ValueError, KeyError) as error:
        raise RunError(
            "the reward model is damaged: missing or wrong values", str(file), str(error), "", fix
        ) from error
    unknown = [name for name in model.features if name not in FEATURES]
    if unknown:
        hint = did_you_mean(unknown[0], FEATURES)
        raise RunError("the reward model reads unknown features", str(file), ", ".join(unknown), "", hint or fix)
    return model


def _model(raw: dict[str, Any]) -> PreferenceModel:
    """Return the model of plain values. Raises TypeError, ValueError or KeyError for wrong ones."""
    features = tuple(str(name) for name in raw["features"])
    numbers = {name: tuple(_finite(value) for value in raw[name]) for name in _NUMBERS}
    if any(len(values) != len(features) for values in numbers.values()) or not features:
        raise ValueError(f"features, {', '.join(_NUMBERS)} differ in length")
    scalars = {name: None if raw[name] is None else _finite(raw[name]) for name in _SCALARS}
    if not isinstance(raw["unit"], dict) or scalars["centre"] is None or scalars["spread"] is None:
        raise ValueError("unit, centre or spread")
    plain = {**raw, **numbers, **scalars, "features": features, "comparisons": int(raw["comparisons"])}
    return PreferenceModel(**plain)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)
