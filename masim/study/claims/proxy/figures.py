"""What was paid and what was done, update by update: one panel per arm, thin lines for single seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from masim.analysis.stats import iqm
from masim.analysis.style import BLUE, RED, house_style

LOGS = "proxy.png"


def draw_logs(results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the figure into the folder."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    arms = list(results["arms"])
    with house_style():
        figure = Figure(figsize=(8.6, 3.0))
        panels = figure.subplots(1, len(arms), squeeze=False)[0]
        for axes, arm in zip(panels, arms, strict=True):
            logs_SUC = np.array([entry["log"] for entry in extras["logs"] if entry["arm"] == arm])
            other = axes.twinx()
            for panel, column, colour, label in ((axes, 1, BLUE, "reward"), (other, 2, RED, "completion")):
                at = logs_SUC[0, :, 0]
                for log in logs_SUC:
                    panel.plot(at, log[:, column], color=colour, linewidth=0.5, alpha=0.3)
                panel.plot(at, [iqm(values) for values in logs_SUC[:, :, column].T], color=colour, linewidth=1.7)
                panel.set_ylabel(label, color=colour)
                panel.set_ylim(0.0, None if column == 1 else 1.02)
            axes.set(title=f"paid for {arm}", xlabel="episodes")
        file = folder / LOGS
        figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    return [file]
