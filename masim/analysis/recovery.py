"""How long agents take to come back after an outage: from its end to the vendor's next answer.

An outage is what refuses every call of a vendor (:data:`OUTAGES`). A brown-out answers, late, and is none. Its end
stands in the trace: the ``fault`` row of each call that it refuses says how much longer it lasts, and a cause id that
names an outage belongs to the one that ends then. Where a row says nothing (an outage without an end of its own, a
trace from before rows said it) the last refused call stands for the end. An outage that nobody called into was not met.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from masim.analysis.metrics import EPISODE, fault_class

OUTAGES = ("outage", "down", "flapping")
"""Classes of causes that count as an outage."""
COLUMNS = ["arm", "outages", "recovered", "median_s", "worst_s"]
SAME_END_S = 1
"""Decimals of a second to which the ends of one outage agree; sums of clock times do not to the last bit."""


def recovery_table(trace: pd.DataFrame) -> pd.DataFrame:
    """Return ``arm, outages, recovered, median_s, worst_s``: outages that agents met, and how they came back.

    An outage is met once however many calls it refuses: calls of one vendor and source (:func:`outage_source`) that
    were refused until one end. One after which nobody was answered any more that day counts as met and not as
    recovered; times are nan where none was recovered from.
    """
    kept = trace[trace["event"].isin(["answer", "fault"])].sort_values([*EPISODE, "vendor", "t_s"], kind="stable")
    rows = []
    for arm, own in kept.groupby("arm", sort=True, observed=True):
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


def _ends(calls: pd.DataFrame) -> Mapping[str, float]:
    """Return when the outage ends that a cause id belongs to, for those whose rows say it."""
    faults = calls[(calls["event"] == "fault") & (calls["latency_s"] > 0.0)]
    cells = zip(faults["cause_id"], faults["t_s"], faults["latency_s"], strict=True)
    return {str(cause): float(t_s) + float(left_s) for cause, t_s, left_s in cells if outage_source(str(cause))}


def _waits(calls: pd.DataFrame) -> list[float]:
    """Return the seconds from the end of each outage to the vendor's next answer; ``inf`` where none came."""
    ends = _ends(calls)
    answers = calls[calls["event"] == "answer"]
    waits: list[float] = []
    met: dict[tuple[str, float], float] = {}
    for t_s, status, cause in zip(answers["t_s"], answers["status"], answers["cause_id"], strict=True):
        source = outage_source(str(cause))
        if source:
            end_s = ends.get(str(cause), float("inf"))
            met[source, round(end_s, SAME_END_S)] = end_s if np.isfinite(end_s) else float(t_s)
        elif str(status).partition("/")[0] in ("SUCCESS", "PENDING"):
            over = {outage: end_s for outage, end_s in met.items() if end_s <= float(t_s)}
            waits += [float(t_s) - end_s for end_s in over.values()]
            met = {outage: end_s for outage, end_s in met.items() if outage not in over}
    return waits + [float("inf")] * len(met)
