"""Measured clarity of a gradient over the segment length, the law beside it, one panel per delay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from masim.analysis.stats import iqm
from masim.analysis.style import BLUE, MUTED, RED, house_style

LENGTHS = "lengths.png"


def scaled(rows: list[Mapping[str, Any]]) -> list[float]:
    """Return the law of one delay, scaled to the least squares fit of what was measured."""
    law = np.array([row["law"] for row in rows])
    seen = np.array([iqm(row["snr"]) for row in rows])
    weight = float(law @ law)
    return [float(value) for value in law * (float(law @ seen) / weight if weight else 0.0)]


def draw_lengths(results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the figure into the folder."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    worlds = list(results["worlds"])
    with house_style():
        figure = Figure(figsize=(8.6, 2.1 * len(worlds)))
        panels = figure.subplots(len(worlds), 1, sharex=True, squeeze=False)[:, 0]
        for axes, world in zip(panels, worlds, strict=True):
            rows = sorted((row for row in extras["lengths"] if row["world"] == world), key=lambda row: row["length"])
            at = [row["length"] for row in rows]
            for row in rows:
                axes.plot([row["length"]] * len(row["snr"]), row["snr"], ".", color=MUTED, markersize=3)
            axes.plot(at, [iqm(row["snr"]) for row in rows], color=BLUE, marker="o", markersize=4, label="measured")
            axes.plot(at, scaled(rows), color=RED, linestyle="--", label="law, scaled")
            axes.set(title=world, ylabel="signal to noise")
        panels[-1].set_xlabel("decisions per segment (line: interquartile mean; dots: seeds)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
        file = folder / LENGTHS
        figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    return [file]
