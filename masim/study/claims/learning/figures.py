"""Learning curves of every arm, one panel per world: the interquartile mean over thin lines of single seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from masim.analysis.stats import iqm
from masim.analysis.style import AMBER, BLUE, GREEN, GREY, INK, MUTED, PURPLE, RED, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (BLUE, RED, AMBER, PURPLE, GREEN, INK, GREY)
STROKES = ("-", "--", "-.", ":")
CURVES = "curves.png"


def draw_curves(results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the learning curves into the folder."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    worlds = list(results["worlds"])
    arms = [arm for arm in results["arms"] if results["arms"][arm]["family"] != "reference"]
    with house_style():
        figure = Figure(figsize=(8.6, 2.5 * len(worlds)))
        panels = figure.subplots(len(worlds), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, world in zip(panels, worlds, strict=True):
            for i, arm in enumerate(arms):
                curves = [c["curve"] for c in extras["curves"] if c["world"] == world and c["arm"] == arm]
                style = {"color": COLOURS[i % len(COLOURS)], "linestyle": STROKES[i // len(COLOURS) % len(STROKES)]}
                _arm(axes, curves, arm, style)
            axes.axhline(extras["optimum"][world], color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)))
            axes.set(title=f"{world}: {results['worlds'][world]} (dotted: optimum)", ylim=(-0.02, 1.02))
            axes.set_ylabel("success, exact")
        panels[-1].set_xlabel(
            f"episodes (interquartile means; thin: single seeds, {results['seeds']['count']} at most)"
        )
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
        file = folder / CURVES
        figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    return [file]


def _arm(axes: Axes, curves: list[list[list[float]]], label: str, style: Mapping[str, Any]) -> None:
    if not curves:
        return
    at = [episodes for episodes, _ in curves[0]]
    values_SP = np.array([[value for _, value in curve] for curve in curves])
    for row in values_SP:
        axes.plot(at, row, linewidth=0.5, alpha=0.3, color=style["color"])
    axes.plot(at, [iqm(column) for column in values_SP.T], linewidth=1.7, label=label, **style)
