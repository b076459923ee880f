"""Draw one booking chain: calls as bars, faults as marks, decisions, and hours later the road.

Bars start and end where the call did, but are never thinner than can be seen; the caption of the figure says so.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from masim.analysis.chains import Chain, build_chain
from masim.analysis.style import AMBER, BLUE, GREEN, GRID, INK, MUTED, PAPER, PURPLE, RED, house_style, plain_text
from masim.units import HOUR, MINUTE, clock_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_MIN_SHARE = 0.009
"""Thinnest bar, as a share of the booking phase."""
_BARS = {"answered": (BLUE, "call answered"), "refused": (RED, "call refused"), "silent": (AMBER, "no answer")}


class _Look(NamedTuple):
    marker: str
    colour: str
    label: str


_MARKS = {
    "confirmed": _Look("D", GREEN, "confirmed"),
    "rejected": _Look("X", RED, "rejected"),
    "declared": _Look("|", INK, "declared done"),
    "delivered": _Look("*", GREEN, "delivered"),
    "missed": _Look("X", RED, "truck turned away"),
}
_FAULTS = {
    "transient": "x", "outage": "s", "rate_limit": "v", "lost_response": "P", "lost_request": "p", "latency": "h",
}  # fmt: skip
_FAULT_LIFT = 0.34
"""Faults stand this far above their call, so that they do not hide it."""


def booking_timeline(rows: pd.DataFrame) -> Figure:
    """Draw the trace rows of one (episode, agent, order)."""
    return draw_chain(build_chain(rows))


def draw_chain(chain: Chain) -> Figure:
    """Draw a chain: left the booking phase in minutes, right what landed hours later."""
    start, end = _booking_span(chain)
    road = [mark.t_s for mark in chain.marks if mark.kind in ("delivered", "missed") and mark.t_s > end]
    with house_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9.2, 1.7 + 0.29 * len(chain.lanes)))
        if road:
            booking, later = figure.subplots(1, 2, sharey=True, width_ratios=(5, 1))
            _draw_later(later, chain, start, min(road), max(road))
        else:
            booking = figure.subplots()
        _draw_booking(booking, chain, start, end)
        booking.set_title(chain.title, fontsize=10, fontweight="normal", color=MUTED)
        handles = _legend(chain)
        figure.legend(handles=handles, loc="outside lower left", ncols=min(5, max(1, len(handles))), fontsize=8.5)
        return figure


def _booking_span(chain: Chain) -> tuple[float, float]:
    """Return first and last instant of the booking phase: the road is not part of it."""
    times = [t for bar in chain.bars for t in (bar.start_s, bar.end_s)]
    times += [mark.t_s for mark in chain.marks if mark.kind not in ("delivered", "missed")]
    return (min(times), max(times)) if times else (0.0, MINUTE)


def _draw_booking(axes: Axes, chain: Chain, start: float, end: float) -> None:
    span = max(end - start, MINUTE)
    unit, name = (MINUTE, "minutes") if span < 5 * HOUR else (HOUR, "hours")
    for lane, since, until in chain.pending:
        x = [(since - start) / unit, (until - start) / unit]
        axes.plot(x, [lane, lane], color=MUTED, linewidth=1.2, linestyle=":")
    for bar in chain.bars:
        width = max(bar.end_s - bar.start_s, _MIN_SHARE * span) / unit
        axes.barh(bar.lane, width, 0.56, (bar.start_s - start) / unit, color=_BARS[bar.kind][0], linewidth=0)
    for mark in chain.marks:
        if mark.t_s <= end:
            lift = _FAULT_LIFT if mark.kind.startswith("fault:") else 0.0
            _mark(axes, (mark.t_s - start) / unit, mark.lane - lift, _look(mark.kind), 34 if lift else 58)
    axes.set_xlim(-0.015 * span / unit, 1.03 * span / unit)
    axes.set_xlabel(f"{name} since the first call at {clock_text(start)} (simulated)")
    _lanes(axes, chain)


def _draw_later(axes: Axes, chain: Chain, start: float, first: float, last: float) -> None:
    """Draw the road's end on its own scale, in hours."""
    pad = max(0.25 * (last - first), 1.1 * HOUR)
    for mark in chain.marks:
        if mark.t_s >= first and mark.kind in ("delivered", "missed"):
            _mark(axes, (mark.t_s - start) / HOUR, mark.lane, _look(mark.kind), 130)
    axes.set_xlim((first - pad - start) / HOUR, (last + pad - start) / HOUR)
    axes.set_xlabel("hours later")
    axes.locator_params(axis="x", nbins=2, integer=True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set(linestyle=(0, (2, 3)), color=MUTED)
    axes.grid(axis="y", color=GRID)


def _lanes(axes: Axes, chain: Chain) -> None:
    axes.set_yticks(range(len(chain.lanes)), chain.lanes, fontsize=8.5)
    axes.set_ylim(len(chain.lanes) - 0.4, -0.7)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=GRID)
    axes.spines["left"].set_visible(False)


def _look(kind: str) -> _Look:
    if not kind.startswith("fault:"):
        return _MARKS[kind]
    name = kind.partition(":")[2]
    return _Look(_FAULTS.get(name, "o"), PURPLE, f"fault: {plain_text(name, 24).replace('_', ' ')}")


def _mark(axes: Axes, x: float, lane: float, look: _Look, size: float = 58) -> None:
    if look.marker in ("x", "|"):
        axes.scatter(x, lane, s=size, marker=look.marker, color=look.colour, linewidth=2.2, zorder=4)
    else:
        axes.scatter(x, lane, s=size, marker=look.marker, color=look.colour, edgecolor=PAPER, linewidth=0.9, zorder=4)


def _legend(chain: Chain) -> list[Line2D]:
    """Return an entry for everything that occurs, with how often."""
    from matplotlib.lines import Line2D

    bars = Counter(bar.kind for bar in chain.bars)
    entries = [
        Line2D([], [], color=colour, linewidth=6, label=f"{label} ({bars[kind]})")
        for kind, (colour, label) in _BARS.items()
        if bars[kind]
    ]
    if chain.pending:
        entries.append(Line2D([], [], color=MUTED, linewidth=1.2, linestyle=":", label="waiting for a decision"))
    for kind, count in Counter(mark.kind for mark in chain.marks).items():
        look = _look(kind)
        entries.append(
            Line2D([], [], color=look.colour, marker=look.marker, linestyle="", markeredgewidth=1.6 if look.marker
                   in ("x", "|") else 0.5, markersize=7, label=f"{look.label} ({count})")
        )  # fmt: skip
    return entries
