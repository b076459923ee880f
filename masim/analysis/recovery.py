"""How long agents take to come back after an outage: from its last refused call to the vendor's next answer.

An outage is what refuses every call of a vendor (:data:`OUTAGES`). A brown-out answers, late, and is none. The trace
holds calls, not timelines, so an outage ends here with the last call that it refused: what was missed before that is
not counted, and an outage that nobody called into was not met.
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

    An outage is met once however many calls it refuses. Two of one vendor without an answer between them are told
    apart where their causes are (:func:`outage_source`). One after which nobody was answered any more that day counts
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


def outage_source(cause_id: str) -> str:
    """Return what caused an outage: its class, with the id of the fault where one was injected; empty for no outage.

    The number that ends a cause id counts strikes, not outages, so it says nothing here.
    """
    kind = fault_class(cause_id)
    if kind not in OUTAGES:
        return ""
    last = cause_id.split(":", 3)[-1]
    fault, mark, _ = last.rpartition("#")
    return f"{kind}:{fault}" if mark else kind


def _waits(calls: pd.DataFrame) -> list[float]:
    """Return the seconds from the last refusal of each outage to the next answer; ``inf`` where none came."""
    waits: list[float] = []
    refused_s: dict[str, float] = {}
    for t_s, status, cause in zip(calls["t_s"], calls["status"], calls["cause_id"], strict=True):
        source = outage_source(str(cause))
        if source:
            refused_s[source] = float(t_s)
        elif str(status).partition("/")[0] in ("SUCCESS", "PENDING"):
            waits += [float(t_s) - last_s for last_s in refused_s.values()]
            refused_s.clear()
    return waits + [float("inf")] * len(refused_s)
