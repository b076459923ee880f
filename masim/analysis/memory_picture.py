"""A memory as a picture, before and after a sweep: a column per kind of profile, width is weight, colour is age."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from masim.analysis.style import INK, MUTED, PAPER, house_style, plain_text
from masim.memory.graph import NODE_KINDS, kind_of, name_of
from masim.units import DAY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

NODES_SHOWN = 60
COLUMNS = ("user", "task", "strategy", "agent", "tool", "vendor", "incident")
"""Kinds from left to right, so that most edges go to a neighbouring column."""
OLD_DAYS = 4.0
"""Edges that were not touched for this long are all of the same colour."""
_WIDEST = 7.0
_THINNEST = 0.35


@dataclass(frozen=True, slots=True)
class Line:
    """One edge to draw."""

    src: str
    dst: str
    weight: float
    age_days: float


@dataclass(frozen=True, slots=True)
class Panel:
    """One state of the graph."""

    title: str
    lines: tuple[Line, ...]


Places = dict[str, tuple[float, float]]


def places_of(lines: Iterable[Line], shown: int = NODES_SHOWN) -> Places:
    """Return where the heaviest nodes stand: a column per kind, by name from the top."""
    worth: dict[str, float] = {}
    for line in lines:
        for end in (line.src, line.dst):
            worth[end] = worth.get(end, 0.0) + line.weight
    best = sorted(sorted(worth, key=lambda node: (-worth[node], node))[:shown])
    kinds = [kind for kind in (*COLUMNS, *NODE_KINDS) if any(kind_of(node) == kind for node in best)]
    kinds += sorted({kind_of(node) for node in best} - set(kinds))
    places: Places = {}
    for x, kind in enumerate(dict.fromkeys(kinds)):
        column = [node for node in best if kind_of(node) == kind]
        for i, node in enumerate(column):
            places[node] = (float(x), 1.0 - (i + 0.5) / len(column))
    return places


def memory_picture(panels: Sequence[Panel], title: str) -> Figure:
    """Draw the states of one graph side by side, with the nodes of the first at the same places in all."""
    import matplotlib as mpl
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    places = places_of(panels[0].lines)
    tallest = max((sum(kind_of(other) == kind_of(node) for other in places) for node in places), default=1)
    colours = ScalarMappable(Normalize(0.0, OLD_DAYS), mpl.colormaps["viridis_r"])
    with house_style():
        figure = Figure(figsize=(9.5 * len(panels), 3.0 + 0.28 * tallest))
        rooms = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(rooms, panels, strict=True):
            _draw(axes, panel, places, colours)
        bar = figure.colorbar(colours, ax=list(rooms), fraction=0.02, pad=0.01)
        bar.set_label(f"days since the last touch ({OLD_DAYS:g} and more: one colour)")
        figure.suptitle(plain_text(title, 160), x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)
    return figure


def _draw(axes: Axes, panel: Panel, places: Places, colours: ScalarMappable) -> None:
    from matplotlib.patches import FancyArrowPatch

    there = {end for line in panel.lines for end in (line.src, line.dst)}
    for line in sorted(panel.lines, key=lambda line: (line.weight, line.src, line.dst)):
        if line.src in places and line.dst in places:
            (x0, y0), (x1, y1) = places[line.src], places[line.dst]
            bend = 0.35 if x0 == x1 else 0.08
            colour: Any = colours.to_rgba(np.array(min(OLD_DAYS, line.age_days)))
            arrow = FancyArrowPatch(
                (x0, y0), (x1, y1), arrowstyle="-|>", mutation_scale=7, shrinkA=5, shrinkB=5, alpha=0.85,
                connectionstyle=f"arc3,rad={bend}", linewidth=min(_WIDEST, _THINNEST + 1.6 * line.weight),
                color=colour,
            )  # fmt: skip
            axes.add_patch(arrow)
    for node, (x, y) in places.items():
        here = node in there
        axes.plot([x], [y], "o", markersize=5, color=INK if here else PAPER, markeredgecolor=MUTED)
        label = plain_text(name_of(node) or node, 26)
        axes.annotate(label, (x, y), (0, 5), textcoords="offset points", ha="center", fontsize=7,
                      color=INK if here else MUTED)  # fmt: skip
    for kind in {kind_of(node): None for node in places}:
        x = next(place[0] for node, place in places.items() if kind_of(node) == kind)
        axes.annotate(plain_text(kind, 20), (x, 1.04), ha="center", fontsize=9, color=MUTED)
    axes.set_title(plain_text(panel.title, 120), fontsize=10, fontweight="normal", color=MUTED)
    axes.set_xlim(-0.6, max((x for x, _ in places.values()), default=0.0) + 0.6)
    axes.set_ylim(-0.03, 1.1)
    axes.set_axis_off()


def save_memory(panels: Sequence[Panel], title: str, file: Path) -> None:
    """Draw into a .png or .svg file; the same memory gives the same bytes. Raises OSError when it cannot be written."""
    import matplotlib as mpl

    figure = memory_picture(panels, title)
    with mpl.rc_context({"svg.hashsalt": "masim-memory", "svg.fonttype": "none", "text.parse_math": False}):
        unsaid: Any = dict.fromkeys(("Date", "Creator") if file.suffix == ".svg" else ("Software",))
        figure.savefig(file, dpi=110, facecolor=PAPER, metadata=unsaid)


def lines_of(rows: Iterable[tuple[str, str, float, float]]) -> tuple[Line, ...]:
    """Return lines from (source, target, weight, seconds since the last touch)."""
    return tuple(Line(src, dst, weight, max(0.0, age_s) / DAY) for src, dst, weight, age_s in rows)
