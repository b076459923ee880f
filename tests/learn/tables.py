"""Step tables from the few columns a test cares about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import ArrayLike

from masim.rollout.types import StepTable

_DTYPES = {"I64": np.int64, "U64": np.uint64, "F64": np.float64, "Bool": np.bool_}


def make_table(n: int, **columns: ArrayLike) -> StepTable:
    """Return a table of ``n`` rows; absent columns are 0, ``valid`` is true, one group, one rollout, one agent."""
    given = {"valid": np.ones(n, bool), "turn": np.arange(n), "event_id": np.arange(n), **columns}
    built = {}
    for field in fields(StepTable):
        if field.default is None and field.name not in given:
            continue
        dtype = _DTYPES[str(field.type).removesuffix(" | None")]
        built[field.name] = np.broadcast_to(np.asarray(given.get(field.name, 0), dtype), (n,)).copy()
    return StepTable(**built)


def rollouts(
    outcomes: Sequence[float],
    groups: Sequence[int] | None = None,
    keys: Sequence[Sequence[int]] | None = None,
    agents: Sequence[int] | None = None,
    penalties: Sequence[Sequence[float]] | None = None,
    **per_rollout: Sequence[object],
) -> StepTable:
    """Return a table of samples: outcome of each, booked at its last decision.

    ``keys[i]`` are the observations of sample i (one more than its decisions; default: one decision, nothing new).
    ``per_rollout`` columns have one value per sample. With ``agents`` consecutive equal groups still get a rollout
    each; pass ``rollout_id`` to put several agents in one.
    """
    keys = keys or [[7, 7]] * len(outcomes)
    rows: dict[str, list[object]] = {}

    def put(**values: object) -> None:
        for name, value in values.items():
            rows.setdefault(name, []).append(value)

    for i, outcome in enumerate(outcomes):
        steps = len(keys[i]) - 1
        for t in range(steps):
            put(
                group_id=groups[i] if groups else 0,
                agent=agents[i] if agents else 0,
                turn=t,
                obs_key=keys[i][t],
                next_obs_key=keys[i][t + 1],
                obs_key_exact=keys[i][t],
                next_obs_key_exact=keys[i][t + 1],
                r_out=outcome if t == steps - 1 else 0.0,
                r_pen=penalties[i][t] if penalties else 0.0,
                **{"rollout_id": i, **{name: values[i] for name, values in per_rollout.items()}},
            )
    return make_table(len(rows["turn"]), **rows)


def coverage_keys(progress: float, steps: int = 10) -> list[int]:
    """Return observations of ``steps`` decisions whose coverage is ``progress``: so many new ones, then old ones."""
    new = round(progress * steps)
    return list(range(new + 1)) + [0] * (steps - new)


def per_sample(values_N: np.ndarray, table: StepTable) -> np.ndarray:
    """Return the value of each sample's first decision, in the order of the table."""
    return values_N[table.turn == 0]
