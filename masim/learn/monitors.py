"""What goes wrong quietly in a training: measured at every update, with an alarm where a limit is passed.

Alarms change nothing; they are logged, and reports say in how many updates each one rang.
"""

from __future__ import annotations

import numpy as np

from masim.arrays import Bool
from masim.learn.config import LearnerConfig
from masim.learn.grouping import ANCHORS, key_columns
from masim.learn.reduce import dense
from masim.learn.rewards.watch import watch_reward
from masim.rollout.types import PolicyInputs, StepTable

PENALTY_LIMIT = 0.5
"""Share of |A| above which the penalty channel is louder than the outcome channel."""
SINGLETON_LIMIT = 0.8
"""Share of decisions alone under their memory key above which comparing by that key says nothing."""
COLLAPSE_LIMIT = 0.02
"""Share of the largest possible entropy below which a policy has stopped exploring."""
FAILED_LIMIT = 0.9
"""Share of groups in which every rollout failed above which the outcome teaches nothing."""
MEMORY = "memory_key"


def singleton_share(table: StepTable, live_N: Bool) -> float:
    """Return the share of live decisions whose agent has no other one under the same memory key in its group."""
    if not live_N.any():
        return 0.0
    cell, n = dense(table.group_id[live_N], table.agent[live_N], table.memory_key[live_N])
    return float((np.bincount(cell, minlength=n)[cell] == 1).mean())


def entropy_share(entropy: float, inputs: PolicyInputs, live_N: Bool) -> float:
    """Return a mean entropy over what a policy without any preference would have; 1 where there is no choice."""
    most = float(np.log(np.maximum(1, np.diff(inputs.offsets)[live_N])).mean()) if live_N.any() else 0.0
    return entropy / most if most > 0.0 else 1.0


def compares_memories(config: LearnerConfig) -> bool:
    """Return whether decisions are compared under their memory key."""
    anchor = getattr(config.estimator, "anchor", "")
    return MEMORY in key_columns(config.compare) or MEMORY in ANCHORS.get(anchor, ())


def watch(
    config: LearnerConfig,
    table: StepTable,
    inputs: PolicyInputs,
    live_N: Bool,
    penalty_mass: float,
    all_failed: float,
    entropy: float | None,
) -> dict[str, float | int]:
    """Return the measures and alarms of one update; without an entropy nothing was learned from."""
    alone = singleton_share(table, live_N)
    left = 1.0 if entropy is None else entropy_share(entropy, inputs, live_N)
    return {
        **watch_reward(table, live_N),
        "memory_singletons": alone,
        "entropy_share": left,
        "penalty_alarm": int(penalty_mass > PENALTY_LIMIT),
        "singleton_alarm": int(compares_memories(config) and alone > SINGLETON_LIMIT),
        "collapse_alarm": int(left < COLLAPSE_LIMIT),
        "all_failed_alarm": int(all_failed > FAILED_LIMIT),
    }
