"""Pictures of an episode, drawn from its trace: a timeline of calls as text, a Gantt chart as pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from masim.sim.trace import TraceRow
from masim.units import HOUR, clock_text

Pixels = npt.NDArray[np.uint8]
Bar = tuple[float, float, str, str]
"""(start, end, agent, verb) of one finished call."""


def render(mode: str, rows: Sequence[TraceRow], agents: Sequence[str]) -> str | Pixels:
    """Return the picture of a mode."""
    return timeline(rows) if mode == "ansi" else gantt(rows, agents)


def timeline(rows: Sequence[TraceRow]) -> str:
    """Return one line per answered call and per message."""
    return "\n".join(_line(row) for row in rows if row.event in ("answer", "message"))


def _line(row: TraceRow) -> str:
    what = row.verb if row.event == "answer" else "message"
    where = " ".join(part for part in (row.vendor, row.order, row.stop) if part)
    how = f"{row.code} {row.status}" if row.event == "answer" else f"{row.status} {row.note}"
    return f"{clock_text(row.t_s)} {row.agent:<12} {what:<19} {where}: {how} ({row.latency_s:.1f} s)"


def bars(rows: Sequence[TraceRow]) -> list[Bar]:
    """Return the finished calls."""
    return [(r.t_s - r.latency_s, r.t_s, r.agent, r.verb) for r in rows if r.event == "answer"]


def gantt(rows: Sequence[TraceRow], agents: Sequence[str], size: tuple[float, float] = (9.6, 3.2)) -> Pixels:
    """Return an (H, W, 3) picture with one lane per agent and one bar per call, over simulated hours."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=100, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    calls = bars(rows)
    for n, verb in enumerate(sorted({bar[3] for bar in calls})):
        mine = [bar for bar in calls if bar[3] == verb]
        # Calls last seconds on an axis of hours: a floor keeps them visible.
        widths = [max((end - start) / HOUR, 0.02) for start, end, _, _ in mine]
        lanes = [agents.index(agent) for _, _, agent, _ in mine]
        axes.barh(lanes, widths, left=[start / HOUR for start, *_ in mine], color=f"C{n % 10}", label=verb)
    axes.set_yticks(range(len(agents)), labels=list(agents))
    axes.set_ylim(len(agents) - 0.5, -0.5)
    axes.set_xlabel("simulated hours")
    if calls:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    return np.asarray(pixels, dtype=np.uint8)[..., :3].copy()
