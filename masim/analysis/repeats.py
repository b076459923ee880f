"""How often agents make the same call again: what tells a loop from work."""

from __future__ import annotations

import pandas as pd

from masim.analysis.metrics import EPISODE

CALL = ["verb", "vendor", "order", "leg", "stop", "slot"]
"""What makes two calls the same."""
COLUMNS = ["arm", "calls", "repeated", "share", "per_order", "longest"]


def repeats_table(trace: pd.DataFrame) -> pd.DataFrame:
    """Return ``arm, calls, repeated, share, per_order, longest`` of the traced episodes.

    A call is repeated when it is the same as the call that its agent made just before it, whatever was answered;
    attempts that the agent's client made again by itself are no calls of the agent. ``share`` is of the calls,
    ``per_order`` of the orders whose outcome is in the trace (nan without any), and ``longest`` is the most calls in a
    row that were the same.
    """
    again = trace.loc[trace["event"] == "retry", [*EPISODE, "request_id"]]
    calls = trace[trace["event"] == "call"]
    if not again.empty:
        keys = pd.MultiIndex.from_frame(again)
        calls = calls[~pd.MultiIndex.from_frame(calls[[*EPISODE, "request_id"]]).isin(keys)]
    orders = trace[trace["event"] == "outcome"].groupby("arm", observed=True).size()
    rows = [_row(str(arm), own, int(orders.get(arm, 0))) for arm, own in calls.groupby("arm", sort=True, observed=True)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(arm: str, calls: pd.DataFrame, orders: int) -> dict[str, object]:
    """Return one arm's row. Calls of one agent are in the trace's order, which is the order they were made in."""
    who = [*EPISODE, "agent"]
    by_agent = calls.sort_values(who, kind="stable")
    same = (by_agent[[*who, *CALL]] == by_agent[[*who, *CALL]].shift()).all(axis="columns")
    repeated = int(same.sum())
    return {
        "arm": arm,
        "calls": len(calls),
        "repeated": repeated,
        "share": repeated / len(calls),
        "per_order": repeated / orders if orders else float("nan"),
        "longest": int((~same).cumsum().value_counts().max()),
    }
