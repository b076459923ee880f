"""Random step tables for Hypothesis: whole groups, one to three agents, failed harnesses, rows that do not count.

Hypothesis draws (and shrinks) the structure; what fills it comes from one drawn seed, which keeps a draw cheap.
"""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from learn.tables import make_table

from masim.rollout.types import StepTable

quick = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def tables(draw: st.DrawFn) -> StepTable:
    """Rows of a sample are in turn order; every sample has at least one valid row."""
    sizes = [draw(st.integers(2, 4)), *draw(st.lists(st.integers(1, 4), max_size=2))]  # somebody can be compared
    agents = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows: list[dict[str, object]] = []
    rollout = 0
    for group, size in enumerate(sizes):
        for _ in range(size):
            masked = bool(rng.random() < 0.15 and rollout > 1)
            for agent in range(agents):
                rows += _sample(rng, group, rollout, agent, masked)
            rollout += 1
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns["event_time_s"] = np.array(columns["turn"]) ** 1.5
    columns["event_id"] = np.array(columns["rollout_id"]) * 100 + np.array(columns["turn"])
    return make_table(len(rows), **columns)


def _sample(rng: np.random.Generator, group: int, rollout: int, agent: int, masked: bool) -> list[dict[str, object]]:
    steps = int(rng.integers(1, 8))
    keys = rng.integers(0, 5, steps + 1)
    outcome, paid_at = float(rng.random() < 0.3), rng.integers(0, steps)
    return [
        {
            "group_id": group + 10,
            "scenario_seed": group,
            "rollout_id": rollout + 5,
            "agent": agent,
            "role": agent % 2,
            "turn": t,
            "obs_key": keys[t],
            "next_obs_key": keys[t + 1],
            "r_out": outcome if t == paid_at else 0.0,
            "r_pen": rng.choice([0.0, -0.1, -1.0]),
            "masked": masked,
            "valid": t == 0 or rng.random() > 0.2,
        }
        for t in range(steps)
    ]
