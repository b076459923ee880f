"""One booking chain as lanes, bars and marks: what the timeline draws and the report lists. Pure data, no plotting.

A *chain* is what one agent did for one order in one episode. A lane is (verb, vendor), in order of first use; the
last lane is the road. Times are simulated seconds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from masim.analysis.metrics import EPISODE, fault_class
from masim.analysis.style import arm_label, plain_text
from masim.analysis.summary import Summary

CHAIN = [*EPISODE, "agent", "order"]
ROAD = "on the road"
MAX_LANES = 28
_MESSAGE_VERBS = {"tender": ("tender",), "appointment": ("schedule", "reschedule", "hold")}
_ROAD_KINDS = ("delivered", "missed")


@dataclass(frozen=True, slots=True)
class Bar:
    """A call: ``kind`` is answered, refused (an error code) or silent (no answer within the deadline)."""

    lane: int
    start_s: float
    end_s: float
    kind: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something at one instant: confirmed, rejected, delivered, missed, declared or ``fault:CLASS``."""

    lane: int
    t_s: float
    kind: str


@dataclass(slots=True)
class Chain:
    """One booking chain, ready to draw."""

    title: str
    lanes: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    pending: list[tuple[int, float, float]] = field(default_factory=list)
    """(lane, from, to): waiting for a vendor's decision."""
    dropped_lanes: int = 0

    @property
    def faults(self) -> list[str]:
        """Classes of the faults that struck, one entry per strike."""
        return [mark.kind.partition(":")[2] for mark in self.marks if mark.kind.startswith("fault:")]


def pick_chain(trace: pd.DataFrame, summary: Summary) -> pd.DataFrame | None:
    """Return the rows of the most telling chain, or None when nothing was traced.

    A delivered one before a failed one, then the arm with the best completion, then the most kinds of faults, then the
    longest; ties go to the first.
    """
    own = trace[(trace["agent"] != "") & (trace["order"] != "")]
    if own.empty:
        return None
    struck = own["cause_id"].where(own["event"] == "fault").map(fault_class, na_action="ignore")
    marked = own.assign(delivered=own["note"].str.startswith("delivered"), struck=struck)
    chains = marked.groupby(CHAIN, sort=True).agg(
        delivered=("delivered", "any"), faults=("struck", "nunique"), events=("t_s", "size")
    )
    chains["completion"] = [_completion(summary, str(arm)) for arm in chains.index.get_level_values("arm")]
    ranked = chains.sort_values(["delivered", "completion", "faults", "events"], ascending=False, kind="stable")
    chosen = own.set_index(CHAIN).loc[ranked.index[:1]].reset_index()
    return chosen.sort_values("t_s", kind="stable")


def _completion(summary: Summary, name: str) -> float:
    arm = summary.arm(name)
    value = arm.metrics["completion"].value if arm else 0.0
    return value if math.isfinite(value) else 0.0


def build_chain(rows: pd.DataFrame) -> Chain:
    """Return the chain of the rows of one (episode, agent, order), which must not be empty."""
    first = rows.iloc[0]
    agent, order, arm = (plain_text(str(first[name]), 40) for name in ("agent", "order", "arm"))
    chain = Chain(f"{arm_label(arm)} · {agent} · {order} · campaign {first['campaign_seed']}, day {first['day']}")
    index = _lanes(chain, rows)
    waiting: dict[int, float] = {}
    for row in rows.sort_values("t_s", kind="stable").to_dict("records"):
        _place(chain, index, waiting, row)
    return chain


def _lanes(chain: Chain, rows: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Give each (verb, vendor) of a call its lane; too many are cut, and counted."""
    calls = rows[rows["event"].isin(["call", "answer"])]
    pairs = list(dict.fromkeys(zip(calls["verb"], calls["vendor"], strict=True)))
    chain.dropped_lanes = max(0, len(pairs) - MAX_LANES)
    kept = pairs[:MAX_LANES]
    chain.lanes = [_lane_name(verb, vendor) for verb, vendor in kept] + [ROAD]
    return {pair: lane for lane, pair in enumerate(kept)}


def _lane_name(verb: str, vendor: str) -> str:
    return " · ".join(part for part in (plain_text(verb, 24).replace("_", " "), plain_text(vendor, 24)) if part)


def _place(
    chain: Chain, index: dict[tuple[str, str], int], waiting: dict[int, float], row: Mapping[Hashable, Any]
) -> None:
    """Add what one trace row shows. ``waiting`` remembers per lane since when a decision is open."""
    event, t_s, status = str(row["event"]), float(row["t_s"]), str(row["status"])
    lane = _lane_of(index, row, len(chain.lanes) - 1)
    if lane is None:
        return
    if event == "answer":
        chain.bars.append(Bar(lane, t_s - float(row["latency_s"]), t_s, _bar_kind(status, int(row["code"]))))
        if "PENDING" in status:
            waiting.setdefault(lane, t_s)
    elif event == "fault":
        chain.marks.append(Mark(lane, t_s, f"fault:{fault_class(str(row['cause_id']))}"))
    elif event == "declare":
        chain.marks.append(Mark(lane, t_s, "declared"))
    elif event in ("message", "state"):
        _place_decision(chain, waiting, lane, t_s, _decision(str(row["note"]), status), event)


def _place_decision(chain: Chain, waiting: dict[int, float], lane: int, t_s: float, kind: str, event: str) -> None:
    """A vendor's decision as the agent learns it, or what the road brought as it happens."""
    on_road = kind in _ROAD_KINDS
    if not kind or on_road != (event == "state"):
        return
    since = waiting.pop(lane, None)
    if since is not None:
        chain.pending.append((lane, since, t_s))
    chain.marks.append(Mark(lane, t_s, kind))


def _bar_kind(status: str, code: int) -> str:
    if status.startswith("TIMEOUT"):
        return "silent"
    return "refused" if code >= 400 else "answered"


def _decision(note: str, status: str) -> str:
    kind = note.partition(" ")[0]
    if kind in _ROAD_KINDS:
        return kind
    return {"CONFIRMED": "confirmed", "REJECTED": "rejected", "CANCELED": "rejected"}.get(status, "")


def _lane_of(index: dict[tuple[str, str], int], row: Mapping[Hashable, Any], road: int) -> int | None:
    """Return the lane of a row: its own call's, that of the call a message answers, or the road."""
    verb, vendor, kind = str(row["verb"]), str(row["vendor"]), str(row["note"]).partition(" ")[0]
    if str(row["event"]) == "declare" or kind in _ROAD_KINDS:
        return road
    if verb:
        return index.get((verb, vendor))
    for candidate in _MESSAGE_VERBS.get(kind, ()):
        if (candidate, vendor) in index:
            return index[candidate, vendor]
    same = [lane for (_, other), lane in index.items() if other == vendor]
    return same[-1] if same else None
