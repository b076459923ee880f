"""A whole episode as a picture: a lane per agent and per vendor, calls, waits, holds, appointments, trucks, faults.

Calls last a second, waits half an hour, trucks a day. So the time axis is stretched where much happens: the distance
between two events is the fourth root of the seconds between them. The ticks name the true times.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from masim.analysis.metrics import fault_class
from masim.analysis.style import (
    AMBER,
    BLUE,
    GREEN,
    GREY,
    GRID,
    INK,
    MUTED,
    PAPER,
    PURPLE,
    RED,
    SKY,
    house_style,
    plain_text,
)  # fmt: skip
from masim.units import clock_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[Hashable, Any]
BARS = {
    "answered": (BLUE, 0.6), "refused": (RED, 0.6), "no answer": (AMBER, 0.6), "wait": (GRID, 0.3),
    "hold": (SKY, 0.24), "truck on the road": (GREEN, 0.14),
}  # fmt: skip
"""What lasts: colour, and height as a share of the lane."""
DOTS = {
    "tender accepted": ("o", GREEN), "appointment confirmed": ("D", GREEN), "rejected": ("X", RED),
    "held back by a breaker": ("s", GREY), "declared": ("|", INK), "delivered": ("*", GREEN),
    "truck turned away": ("X", INK), "order taken over": (">", INK),
}  # fmt: skip
"""What happens at an instant: mark and colour."""
_FAULT_MARKS = "v^<>sPphdX"
_FAULT_COLOURS = (PURPLE, INK, RED, GREY)
_MIN_SHARE = 0.003
"""Thinnest bar, as a share of the axis."""
_TICKS = 9
_WAIT = re.compile(r"wait\((\d+(?:\.\d+)?) s\)")


@dataclass(frozen=True, slots=True)
class Mark:
    """Something in a lane, from ``start_s`` to ``end_s``; an instant where they agree."""

    lane: str
    label: str
    start_s: float
    end_s: float


@dataclass(slots=True)
class _Reader:
    """Goes through an episode and remembers what has begun and not ended."""

    last_s: float
    waits: dict[str, tuple[float, float]] = field(default_factory=dict)
    holds: dict[tuple[str, ...], float] = field(default_factory=dict)
    road: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def read(self, row: Row) -> Iterator[Mark]:
        """Yield what a row ends or shows."""
        event, t_s, agent, vendor = str(row["event"]), float(row["t_s"]), str(row["agent"]), str(row["vendor"])
        if event == "decision":
            yield from self._decision(row, t_s, agent)
        elif event == "answer":
            sent = t_s - float(row["latency_s"])
            yield from (Mark(lane, call_result(row), sent, t_s) for lane in (agent, vendor))
            yield from self._booked(row, t_s, vendor)
        elif event == "fault":
            yield Mark(vendor or agent, f"fault: {fault_class(str(row['cause_id']))}", t_s, t_s)
        elif event == "declare":
            yield Mark(agent, "declared", t_s, t_s)
        elif event == "hand_over" and row["status"] != "PENDING":
            yield Mark(agent, "order taken over" if row["status"] == "CONFIRMED" else "rejected", t_s, t_s)
        elif event == "short_circuit":
            yield Mark(agent, "held back by a breaker", t_s, t_s)
        elif event in ("message", "state"):
            yield from self._news(row, event, t_s, vendor)

    def _decision(self, row: Row, t_s: float, agent: str) -> Iterator[Mark]:
        if agent in self.waits:
            yield Mark(agent, "wait", self.waits.pop(agent)[0], t_s)
        note = str(row["note"])
        asked = _WAIT.match(note)
        if asked or note == "illegal":
            self.waits[agent] = (t_s, t_s + float(asked[1]) if asked else self.last_s)

    def _booked(self, row: Row, t_s: float, vendor: str) -> Iterator[Mark]:
        """A hold lasts from its answer to the booking of its stop; a truck is on the road from its dispatch on."""
        key = (str(row["order"]), str(row["leg"]), str(row["stop"]), vendor)
        if int(row["code"]) not in (200, 202):
            return
        if row["verb"] == "hold":
            self.holds[key] = t_s
        elif row["verb"] == "schedule" and key in self.holds:
            yield Mark(vendor, "hold", self.holds.pop(key), t_s)
        elif row["verb"] == "dispatch":
            self.road.setdefault(key[:2], (t_s, vendor))

    def _news(self, row: Row, event: str, t_s: float, vendor: str) -> Iterator[Mark]:
        note = str(row["note"]).partition(" ")[0]
        if event == "state" and note in ("delivered", "missed"):
            since = self.road.pop((str(row["order"]), str(row["leg"])), None)
            if since is not None:
                yield Mark(vendor, "truck on the road", since[0], t_s)
            yield Mark(vendor, "delivered" if note == "delivered" else "truck turned away", t_s, t_s)
        elif event == "message" and note in ("tender", "appointment"):
            good = "tender accepted" if note == "tender" else "appointment confirmed"
            yield Mark(vendor, good if row["status"] == "CONFIRMED" else "rejected", t_s, t_s)

    def rest(self) -> Iterator[Mark]:
        """Yield what was still going on at the end: waits to their timer, holds never used, trucks not seen again."""
        for agent, (since, until) in self.waits.items():
            yield Mark(agent, "wait", since, min(until, self.last_s))
        for key, since in self.holds.items():
            yield Mark(key[3], "hold", since, since)
        for since, vendor in self.road.values():
            yield Mark(vendor, "truck on the road", since, self.last_s)


def call_result(row: Row) -> str:
    """Return how an answered call ended, as the picture colours it."""
    if str(row["status"]).startswith("TIMEOUT"):
        return "no answer"
    return "refused" if int(row["code"]) >= 400 else "answered"


def marks_of(rows: pd.DataFrame) -> list[Mark]:
    """Return everything that the picture of an episode shows, in the order of its ends."""
    records = [r for r in rows.to_dict("records") if r["event"] != "outcome"]
    records.sort(key=lambda r: float(r["t_s"]))
    reader = _Reader(max((float(r["t_s"]) for r in records), default=0.0))
    found = [mark for row in records for mark in reader.read(row)]
    return [*found, *reader.rest()]


def lanes_of(rows: pd.DataFrame) -> list[str]:
    """Return the agents, then the vendors, each in alphabetical order."""
    agents = sorted({str(name) for name in rows["agent"] if name})
    return [*agents, *sorted({str(name) for name in rows["vendor"] if name} - set(agents))]


def save_gantt(rows: pd.DataFrame, file: Path) -> None:
    """Draw the trace rows of one episode into a .png or .svg file."""
    gantt(rows).savefig(file, dpi=110, facecolor=PAPER)


def gantt(rows: pd.DataFrame) -> Figure:
    """Draw the trace rows of one episode, which may be none."""
    from matplotlib.figure import Figure

    lanes, marks = lanes_of(rows), marks_of(rows)
    instants = np.unique([0.0, *(t for m in marks for t in (m.start_s, m.end_s))][1 if marks else 0 :])
    places = np.concatenate([[0.0], np.cumsum(np.diff(instants) ** 0.25)])
    with house_style():
        figure = Figure(figsize=(16, 2.6 + 0.42 * max(1, len(lanes))))
        axes = figure.subplots()
        _draw(axes, marks, {name: i for i, name in enumerate(lanes)}, instants, places)
        _frame(axes, lanes, instants, places)
        title = "an episode without events"
        if len(rows):
            first = rows.iloc[0]
            title = f"{plain_text(str(first['arm']), 28)} · campaign {first['campaign_seed']}, day {first['day']}"
        axes.set_title(title, fontsize=10, fontweight="normal", color=MUTED)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower left", ncols=8, fontsize=8.5)
        return figure


def _draw(axes: Axes, marks: list[Mark], lanes: dict[str, int], instants: Any, places: Any) -> None:
    known = [*BARS, *DOTS]
    faults = sorted({mark.label for mark in marks} - set(known))
    for label in (*known, *faults):
        own = [mark for mark in marks if mark.label == label and mark.lane in lanes]
        if not own:
            continue
        y = np.array([float(lanes[mark.lane]) for mark in own])
        x = np.interp([mark.start_s for mark in own], instants, places)
        shown = plain_text(label, 32)
        if label in BARS:
            colour, height = BARS[label]
            width = np.interp([mark.end_s for mark in own], instants, places) - x
            width = np.maximum(width, _MIN_SHARE * places[-1])
            axes.barh(y, width, height, x, color=colour, label=shown, linewidth=0.4, edgecolor=PAPER)
        elif label in DOTS:
            shape, colour = DOTS[label]
            edge: dict[str, Any] = {} if shape == "|" else {"edgecolor": PAPER, "linewidth": 0.7}
            size = 150 if shape == "*" else 90 if shape == "|" else 46
            axes.scatter(x, y, s=size, marker=shape, color=colour, zorder=5, label=shown, **edge)
        else:
            nth = faults.index(label)
            round_, at = divmod(nth, len(_FAULT_MARKS))
            colour = _FAULT_COLOURS[round_ % len(_FAULT_COLOURS)]
            axes.scatter(x, y - 0.4, s=26, marker=_FAULT_MARKS[at], color=colour, zorder=4, label=shown,
                         edgecolor=PAPER, linewidth=0.4)  # fmt: skip


def _frame(axes: Axes, lanes: list[str], instants: Any, places: Any) -> None:
    axes.set_yticks(range(len(lanes)), [plain_text(name, 24) for name in lanes], fontsize=8.5)
    axes.set_ylim(max(1, len(lanes)) - 0.4, -0.75)
    end = max(float(places[-1]), 1.0)
    axes.set_xlim(-0.01 * end, 1.015 * end)
    near = np.abs(places[:, None] - np.linspace(0.0, places[-1], _TICKS)).argmin(axis=0)
    ticks = [i for n, i in enumerate(near) if n == 0 or places[i] - places[near[n - 1]] > 0.04 * end]
    axes.set_xticks(places[ticks], [clock_text(float(instants[i])) for i in ticks], fontsize=8.5)
    axes.set_xlabel("simulated time; stretched where much happens: distance = fourth root of seconds between events")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
