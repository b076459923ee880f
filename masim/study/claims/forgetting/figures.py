"""The figures: completion along the campaign, and what recommended gains or loses against each other arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from masim.analysis.style import AMBER, BLUE, GREEN, GREY, INK, MUTED, PURPLE, RED, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = {
    "knows": (GREY, ":"), "emptied": (GREY, "-."), "none": (RED, "-"), "recommended": (BLUE, "-"),
    "history(18)": (AMBER, "--"), "lru": (PURPLE, "--"), "oracle": (GREEN, ":"),
}  # fmt: skip
"""Arms of the first figure, with colour and stroke: no two are told apart by colour alone."""
LEVEL = 0.05
CURVES, DIFFERENCES = "completion.png", "differences.png"


def draw(results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw both figures into the folder."""
    import matplotlib

    matplotlib.use("Agg")
    return [_curves(results, extras, folder / CURVES), _differences(results, folder / DIFFERENCES)]


def _curves(results: Mapping[str, Any], extras: Mapping[str, Any], file: Path) -> Path:
    from matplotlib.figure import Figure

    worlds = list(results["worlds"])
    with house_style():
        figure = Figure(figsize=(8.6, 2.7 * len(worlds)))
        panels = figure.subplots(len(worlds), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, world in zip(panels, worlds, strict=True):
            rows = [row for row in extras["curves"] if row["world"] == world and row["arm"] in SHOWN]
            _panel(axes, world, rows, extras["changes"][world])
        panels[-1].set_xlabel(f"episodes (means over {results['seeds']['count']} seeds; band: their middle half)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
        figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    return file


def _panel(axes: Axes, world: str, rows: Sequence[Mapping[str, Any]], changes: Sequence[int]) -> None:
    for row in sorted(rows, key=lambda row: list(SHOWN).index(row["arm"])):
        colour, stroke = SHOWN[row["arm"]]
        axes.plot(row["episodes"], row["completion"], color=colour, linestyle=stroke, linewidth=1.6, label=row["arm"])
        if row["arm"] in ("recommended", "none"):
            axes.fill_between(row["episodes"], row["low"], row["high"], color=colour, alpha=0.12, linewidth=0)
    for day in changes:
        axes.axvline(day, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)))
    axes.set(title=f"{world}{': carriers change at the dotted lines' if changes else ''}", ylim=(0.3, 1.0))
    axes.set_ylabel("orders completed")


def _differences(results: Mapping[str, Any], file: Path) -> Path:
    from matplotlib.figure import Figure

    worlds = list(results["worlds"])
    rows = [row for row in results["contrasts"] if row["endpoint"] == "evaluation"]
    others = list(dict.fromkeys(row["minus"] for row in rows))
    with house_style():
        figure = Figure(figsize=(8.6, 1.1 + 0.27 * len(others)))
        panels = figure.subplots(1, len(worlds), sharey=True, squeeze=False)[0]
        for axes, world in zip(panels, worlds, strict=True):
            _forest(axes, world, [row for row in rows if row["world"] == world], others)
        panels[0].set_yticks(range(len(others)), [f"minus {other}" for other in others])
        figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    return file


def _forest(axes: Axes, world: str, rows: Sequence[Mapping[str, Any]], others: Sequence[str]) -> None:
    axes.axvline(0.0, color=MUTED, linewidth=0.8)
    for row in rows:
        y, ends = others.index(row["minus"]), [row["low"], row["high"]]
        if None not in ends:
            axes.plot([100 * end for end in ends], [y, y], color=INK, linewidth=1.4)
        face = INK if row["p_holm"] < LEVEL else "white"
        axes.plot([100 * row["value"]], [y], "o", color=INK, markersize=4, markerfacecolor=face)
    axes.set(title=f"recommended minus others, {world}", xlabel="points of completion, 95% (filled: p < .05, Holm)")
    axes.set_ylim(len(others) - 0.5, -0.5)
