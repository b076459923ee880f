"""How much less a later reward counts: by decisions, or by simulated time.

By decisions, ``gamma`` for each; by time, ``exp(-dt / tau_s)`` over the simulated seconds between two decisions. The
second tells two plans of equally many decisions apart when one of them takes longer. Both at once is a contradiction.
"""

from __future__ import annotations

import numpy as np

from masim.arrays import F64, I64
from masim.errors import ConfigError
from masim.learn.reduce import step_gaps
from masim.rollout.types import StepTable


def check_discount(gamma: float, tau_s: float | None) -> None:
    """Raise ConfigError on values out of range and on two discounts at once."""
    if not 0 < gamma <= 1:
        raise ConfigError("gamma out of range", "gamma", str(gamma), "0 < gamma <= 1")
    if tau_s is not None and tau_s <= 0:
        raise ConfigError("tau_s must be positive", "tau_s", str(tau_s), "> 0 seconds, or null")
    if tau_s is not None and gamma != 1:
        fix = "drop one (gamma: 1.0, or no tau_s): discount by decisions or by simulated time"
        raise ConfigError("gamma and tau_s are both set", "tau_s", str(tau_s), "", fix)


def factors(table: StepTable, rows: I64, sample: I64, gamma: float, tau_s: float | None) -> F64:
    """Return what the next decision of the sample counts, for each of ``rows`` (whose samples are ``sample``)."""
    if tau_s is None:
        return np.full(len(rows), gamma)
    gaps_s = step_gaps(table.event_time_s[rows], sample, table.turn[rows])
    return np.exp(-gaps_s / tau_s)
