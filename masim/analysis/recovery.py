"""How long agents take to come back after an outage: from the last refused call to the first answered one.

An outage is what refuses every call of a vendor (:data:`OUTAGES`). A brown-out answers, late, and is none.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from masim.analysis.metrics import EPISODE, fault_class

OUTAGES = ("outage", "down", "flapping")
"""Classes of causes that count as an outage."""
COLUMNS = ["arm", "outages", "recovered", "median_s", "worst_s"]


def recovery_table(trace: pd.DataFrame) -> pd.DataFrame:
    """Return ``arm, outages, recovered, median_s, worst_s``: outages that agents met, and how they came back.

    An outage is met once however many calls it refuses. One after which nobody was answered any more that day counts
    as met and not as recovered; times are nan where none was recovered from.
    """
    answers = trace[trace["event"] == "answer"].sort_values([*EPISODE, "vendor", "t_s"], kind="stable")
    rows = []
    for arm, own in answers.groupby("arm", sort=True, observed=True):
        waits = [
            wait for _, calls in own.groupby([*EPISODE, "vendor"], sort=True, observed=True) for wait in _waits(calls)
        ]
        known = [wait for wait in waits if np.isfinite(wait)]
        times = (float(np.median(known)), float(max(known))) if known else (np.nan, np.nan)
        rows.append(
            {"arm": arm, "outages": len(waits), "recovered": len(known), "median_s": times[0], "worst_s": times[1]}
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def _waits(calls: pd.DataFrame) -> list[float]:
    """Return the seconds from the last refusal of each outage to the next answer; ``inf`` where none came."""
    waits: list[float] = []
    refused_s: float | None = None
    for t_s, status, cause in zip(calls["t_s"], calls["status"], calls["cause_id"], strict=True):
        if fault_class(str(cause)) in OUTAGES:
            refused_s = float(t_s)
        elif refused_s is not None and str(status).partition("/")[0] in ("SUCCESS", "PENDING"):
            waits.append(float(t_s) - refused_s)
            refused_s = None
    return waits if refused_s is None else [*waits, float("inf")]
