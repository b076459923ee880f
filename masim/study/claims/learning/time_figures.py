"""Time per unit and time to the threshold, over the units of an optimizer step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from masim.analysis.stats import iqm
from masim.analysis.style import BLUE, MUTED, house_style

TIMES = "times.png"
PANELS = (("ms_per_unit", "processor ms per unit"), ("to_threshold_s", "processor s to the threshold"))


def draw_times(results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the figure into the folder."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    arms = list(results["arms"])
    with house_style():
        figure = Figure(figsize=(8.6, 3.0))
        for axes, (key, label) in zip(figure.subplots(1, 2), PANELS, strict=True):
            means = []
            for i, arm in enumerate(arms):
                seen = [row[key] for row in extras["times"] if row["arm"] == arm]
                axes.plot([i] * len(seen), seen, ".", color=MUTED, markersize=3)
                means.append(iqm(seen))
            axes.plot(range(len(arms)), means, color=BLUE, marker="o", markersize=4)
            axes.set_xticks(range(len(arms)), arms)
            axes.set(xlabel="units per optimizer step", ylabel=label, ylim=(0.0, None))
        file = folder / TIMES
        figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    return [file]
