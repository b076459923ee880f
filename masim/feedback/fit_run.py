"""From the stored judgements of a run to a reward model in its folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from masim.errors import RunError, did_you_mean
from masim.feedback.fit import TIE, A, B, Comparisons, fit
from masim.feedback.labels import FILE, Label, current, read_labels
from masim.feedback.model import PreferenceModel
from masim.feedback.units import StoredUnits, read_units
from masim.rollout.io import write_atomically

MODEL_FILE = "preference.json"
_OUTCOMES = {"a": A, "b": B, "tie": TIE}


def fit_run(
    folder: Path, options: object = "rollout", out: Path | None = None, who: str = ""
) -> tuple[PreferenceModel, Path]:
    """Fit a model to the judgements of a run and write it to ``out``, or into the folder; return both.

    ``who`` takes the judgements of one person alone; empty: everybody's.

    Raises RunError for a folder without comparable units, damaged judgements, judgements of unknown units, or too few
    of them; nothing is written then.
    """
    units = read_units(folder, options)
    labels = [label for label in current(read_labels(folder)) if dict(label.unit) == dict(units.rule)]
    people = sorted({label.who for label in labels})
    if who and who not in people:
        raise RunError("nobody of that name has judged", "--who", who, ", ".join(people), did_you_mean(who, people))
    labels = [label for label in labels if who in ("", label.who)]
    model = fit_labels(units, labels)
    file = out or folder / MODEL_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, model.to_json().encode())
    return model, file


def fit_labels(units: StoredUnits, labels: Iterable[Label]) -> PreferenceModel:
    """Return the model of some judgements. Raises RunError as :func:`fit_run`."""
    data = comparisons(units, labels)
    fitted = fit(data)
    used = np.unique(np.concatenate((data.a_C, data.b_C)))
    scale = np.where(fitted.scale > 0, fitted.scale, 1.0)
    utility = ((units.features_UF[used] - fitted.mean) / scale) @ fitted.weights
    meta = units.run.meta
    return PreferenceModel(
        unit=dict(units.rule),
        scenario=meta.scenario,
        scenario_hash=meta.scenario_hash,
        features=units.names,
        mean=tuple(fitted.mean.tolist()),
        scale=tuple(fitted.scale.tolist()),
        weights=tuple(fitted.weights.tolist()),
        tie=fitted.tie,
        centre=float(utility.mean()),
        spread=float(utility.std()),
        l2=fitted.l2,
        comparisons=len(data),
        held_out_accuracy=fitted.held_out_right / fitted.held_out,
    )


def comparisons(units: StoredUnits, labels: Iterable[Label]) -> Comparisons:
    """Return judgements as numbers, skipped pairs left out. Raises RunError for units that the run has not."""
    index = {unit.id: i for i, unit in enumerate(units.units)}
    rows: list[tuple[int, int, int]] = []
    for label in labels:
        if label.verdict == "skip":
            continue
        for name in (label.a, label.b):
            if name not in index:
                fix = "judgements belong to the run in whose folder they were made"
                raise RunError("a judgement names an unknown unit", str(units.run.path / FILE), repr(name), "", fix)
        rows.append((index[label.a], index[label.b], _OUTCOMES[label.verdict]))
    table = np.array(rows, np.int64).reshape(-1, 3)
    return Comparisons(units.features_UF, table[:, 0], table[:, 1], table[:, 2])
