"""What a reward model knows of a unit: counts of what was done, and for whole rollouts what became of the orders.

The same numbers come from a stored run and from a training's batch, so a model that was fitted on one judges the
other. Nothing here depends on names of vendors or agents, nor on the fixed action table of one scenario.
Axes: N decisions, U units, F features.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from masim.arrays import F64, I64, U64, Bool
from masim.learn.reduce import cell_sum, dense
from masim.outcome import OrderOutcome
from masim.rollout.types import StepTable
from masim.sim.spec import Verb
from masim.units import HOUR

STEP_FEATURES = (
    "decisions", "hours", "vendors", "states", "outcome", "penalty", *(f"calls.{verb}" for verb in Verb),
)  # fmt: skip
"""Of any unit: live decisions; simulated hours from the first to the last; different carriers and different
observations (canonical) met; both reward channels; decisions by verb."""
ORDER_FEATURES = (
    "orders", "completed", "safe", "usd", "duplicates", "orphans", "unsupported_claims", "legs_delivered",
    "legs_missed", "landed_hours",
)  # fmt: skip
"""Of a whole rollout of one agent: its orders, how many were completed and safe, what they cost in US dollars, slips,
legs, and when the last leg was resolved, in hours after the unit's first decision (0 where none was)."""
FEATURES = (*STEP_FEATURES, *ORDER_FEATURES)


def step_features(table: StepTable, live_N: Bool, unit_N: I64, n_units: int) -> F64:
    """Return (U, F) the :data:`STEP_FEATURES` of units; rows that are not live count nowhere."""
    rows = np.flatnonzero(live_N)
    unit = unit_N[rows]
    columns = [
        np.bincount(unit, minlength=n_units).astype(np.float64),
        _span(table.event_time_s[rows], unit, n_units) / HOUR,
        _distinct(unit, table.vendor[rows], table.vendor[rows] >= 0, n_units),
        _distinct(unit, table.obs_key[rows], np.ones(len(rows), bool), n_units),
        cell_sum(table.r_out[rows], unit, n_units),
        cell_sum(table.r_pen[rows], unit, n_units),
    ]
    endpoint = table.endpoint[rows]
    columns += [cell_sum((endpoint == i).astype(np.float64), unit, n_units) for i in range(len(Verb))]
    return np.stack(columns, axis=1)


def _span(time_n: F64, unit: I64, n_units: int) -> F64:
    low, high = np.full(n_units, np.inf), np.full(n_units, -np.inf)
    np.minimum.at(low, unit, time_n)
    np.maximum.at(high, unit, time_n)
    return np.where(np.isfinite(low), high - low, 0.0)


def _distinct(unit: I64, value: I64 | U64, counted: Bool, n_units: int) -> F64:
    """Return how many different values each unit has."""
    if not counted.any():
        return np.zeros(n_units)
    ids, n = dense(unit[counted], value[counted])
    owner = np.zeros(n, np.int64)
    owner[ids] = unit[counted]
    return np.bincount(owner, minlength=n_units).astype(np.float64)


def order_features(orders: Iterable[OrderOutcome], start_s: float) -> list[float]:
    """Return the :data:`ORDER_FEATURES` of one agent's orders; ``start_s`` is when it first decided."""
    own = list(orders)
    delivered, legs = sum(o.legs_delivered for o in own), sum(o.legs for o in own)
    return [
        float(len(own)),
        float(sum(o.completed for o in own)),
        float(sum(o.safe for o in own)),
        sum(o.cost_cents for o in own) / 100,
        float(sum(o.duplicates for o in own)),
        float(sum(o.orphans for o in own)),
        float(sum(o.unsupported_claims for o in own)),
        float(delivered),
        float(legs - delivered),
        max((o.landed_s - start_s for o in own if o.landed_s > start_s), default=0.0) / HOUR,
    ]
