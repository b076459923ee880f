"""What landed for the orders of an episode, and which decisions it can be booked at.

The request is the one whose id the agent saw: its last dispatch for the order, which is what sent the truck. What the
simulator knows beyond that (whose delay made a truck late) plays no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from masim.outcome import OrderOutcome
from masim.rollout.record import SampleRecord
from masim.rollout.types import Landings
from masim.sim.spec import Verb

Row = tuple[int, int, int, int, float]
"""(rollout, agent, request turn, landing turn, amount)."""
_DISPATCH = list(Verb).index(Verb.DISPATCH)


def landings_of(
    samples: Mapping[str, SampleRecord],
    orders: Sequence[OrderOutcome],
    team: Mapping[str, float],
    demand: str,
    places: bool,
) -> list[Row]:
    """Return one landing for each order that an agent owned at the reset.

    ``team``: outcome of each agent, for those that owned none. ``places``: whether the orders keep their places at
    their agent, so that a dispatch names its order; where they change hands the agent's last dispatch stands for all.
    """  # fmt: skip
    rows: list[Row] = []
    for name, sample in samples.items():
        own = [order for order in orders if order.agent == name]
        last = max(0, len(sample.steps) - 1)
        if not own:
            rows.append((sample.rollout_id, sample.agent, last, last, team[name]))
        for place, order in enumerate(own):
            request = _last_dispatch(sample, place if places else None)
            landing = max(request, _last_before(sample, order.landed_s))
            good = order.safe if demand == "safe" else order.completed
            rows.append((sample.rollout_id, sample.agent, request, landing, float(good)))
    return rows


def _last_dispatch(sample: SampleRecord, place: int | None) -> int:
    """Return the turn of the agent's last dispatch (of the order at a place); its last turn where it made none."""
    for turn in range(len(sample.steps) - 1, -1, -1):
        values = sample.steps[turn].values
        if values["endpoint"] == _DISPATCH and place in (None, values["order"]):
            return turn
    return max(0, len(sample.steps) - 1)


def _last_before(sample: SampleRecord, t_s: float) -> int:
    """Return the turn of the last decision at or before a time; 0 where there is none."""
    return max(0, sum(step.t_s <= t_s for step in sample.steps) - 1)


def as_landings(rows: Iterable[Row]) -> Landings:
    """Return rows as columns."""
    found = list(rows)
    ids = np.array([row[:4] for row in found], np.int64).reshape(-1, 4)
    return Landings(ids[:, 0], ids[:, 1], ids[:, 2], ids[:, 3], np.array([row[4] for row in found], float))
