"""Writes that nobody answered: did they happen? A repetition under the same request id tells.

A 409 (or 208) to the repetition says that the first attempt took effect and its answer was lost; a plain success says
that the request was lost, as far as the vendor checks for repetitions at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masim.scenario.fit.apilog.calls import Calls
from masim.scenario.fit.apilog.cells import TIMEOUT
from masim.scenario.fit.apilog.estimates import Estimate, share
from masim.sim.spec import WRITE_VERBS

MIN_REPEATED = 5
ASSUMED_LOST_RESPONSE = 0.6
"""Share of lost writes whose effect happened, where the log does not tell; as in the typical profile."""


@dataclass(frozen=True, slots=True)
class Split:
    """Share of unanswered writes that took effect; ``measured`` says whether the log told."""

    took_effect: Estimate
    measured: bool
    timeouts: int


def split_losses(calls: Calls) -> Split:
    """Follow every unanswered write to its next attempt."""
    writes = calls.of(verbs=list(WRITE_VERBS))
    timeouts = int((writes & (calls.code == TIMEOUT)).sum())
    rows = np.flatnonzero(writes & (calls.request != 0))
    order = rows[np.lexsort((np.arange(len(rows)), calls.route[rows], calls.request[rows]))]
    same = (np.diff(calls.request[order]) == 0) & (np.diff(calls.route[order]) == 0)
    after = calls.code[order][1:][same & (calls.code[order][:-1] == TIMEOUT)]
    there = int(np.isin(after, (208, 409)).sum())
    gone = int(((after >= 200) & (after < 300) & (after != 208)).sum())
    if there + gone < MIN_REPEATED:
        return Split(Estimate(ASSUMED_LOST_RESPONSE, 0.0, 1.0, there + gone), False, timeouts)
    return Split(share(there, there + gone), True, timeouts)
