"""What stored experiments were trained with stays the same to the last bit.

The digests were taken before segments by event, sets by role and step-wise estimators came; all are sums of doubles in
a fixed order, so they do not depend on the machine.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from learn.tables import make_table

from masim.learn.advantages.assemble import advantages
from masim.learn.config import from_mapping
from masim.rollout.types import StepTable

DIGESTS = {
    "grpo": ({}, "a788b434c155d36e"),
    "progpo": ({"progpo": {"coverage": "horizon", "t_cap": 20}}, "488102162ee49614"),
    "reinforce": ({"estimator": "reinforce", "penalty": "to_go"}, "e8c1c7bf534627e1"),
    "segments": (
        {"unit": {"name": "segment", "segment_len": 3}, "progpo": {"control": "shuffled"}},
        "dcbc49da67b31067",
    ),
    "team": ({"unit": "agent_set", "compare": "group", "progpo": {"control": "random"}}, "d818bd4c3585cc3e"),
}


def fixed_table() -> StepTable:
    rng = np.random.default_rng(20)
    lengths = rng.integers(1, 12, 96)
    sample = np.repeat(np.arange(96), lengths)
    turn = np.arange(len(sample)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    n = len(sample)
    last = np.append(turn[1:] == 0, True)
    key = rng.integers(0, 6, n)
    return make_table(
        n, group_id=sample // 16, scenario_seed=sample // 16, rollout_id=sample // 2, agent=sample % 2, turn=turn,
        event_id=(sample // 2) * 100 + turn, event_time_s=turn * 7.5 + rng.random(n), obs_key=key,
        next_obs_key=np.append(key[1:], 0) + last, r_out=last * (rng.random(96) < 0.2)[sample],
        r_pen=-rng.random(n), masked=sample // 2 == 11, subtask_end=rng.random(n) < 0.1,
    )  # fmt: skip


@pytest.mark.parametrize("name", DIGESTS)
def test_advantages_are_what_they_were(name: str) -> None:
    options, digest = DIGESTS[name]
    scored = advantages(fixed_table(), from_mapping(options), 5)
    found = hashlib.sha256(scored.total_N.tobytes() + scored.scored_N.tobytes()).hexdigest()[:16]
    assert found == digest
