"""Figures of runs: completion bars, learning curves, the all-failed share. Each returns a matplotlib Figure.

Every figure names its units and its n. Intervals are 95%; rows are aggregated to one per seed before any interval.
The timeline of a booking chain is in :mod:`masim.analysis.timeline`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from masim.analysis import stats
from masim.analysis.load import RunData
from masim.analysis.metrics import ArmSummary
from masim.analysis.stats import Estimate
from masim.analysis.style import INK, MUTED, arm_colour, arm_label, house_style
from masim.analysis.summary import Summary, arm_rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SMOOTH = 5
"""Updates in the moving average of the thick lines over training."""
_LABEL_GAP = 5.5
"""Least distance of two line labels, in points of the 0..100 axis."""


def percent(estimate: Estimate) -> str:
    """Return ``71% [64, 77]``, or the bare value where there is no interval."""
    if not np.isfinite(estimate.value):
        return "unknown"
    value = f"{100 * estimate.value:.0f}%"
    return f"{value} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]" if estimate.known else value


def replication(arm: ArmSummary) -> str:
    """Return what an arm's interval rests on: ``3 seeds × 40 episodes``."""
    episodes = f"{arm.episodes} episode{'s' * (arm.episodes != 1)}"
    if arm.campaigns < arm.episodes:
        episodes += f" in {arm.campaigns} campaign{'s' * (arm.campaigns != 1)}"
    return f"{arm.seeds} seeds × {episodes}" if arm.seeds > 1 else episodes


def completion_bars(run: RunData, summary: Summary) -> Figure:
    """Draw completion (thick) and safe completion (thin) per arm with intervals, and a dot per training seed."""
    with house_style():
        figure, axes = _figure(7.6, 0.9 + 0.72 * len(summary.arms))
        for row, arm in enumerate(reversed(summary.arms)):
            _bar_pair(axes, row, arm)
            _seed_dots(axes, row, run.outcomes[run.outcomes["arm"] == arm.arm])
        labels = [f"{arm_label(arm.arm)}\n{replication(arm)}" for arm in reversed(summary.arms)]
        axes.set_yticks(range(len(labels)), labels)
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 128), xticks=range(0, 101, 20), xlabel="samples with every order completed (%), 95% interval")
        axes.spines["left"].set_visible(False)
        axes.spines["bottom"].set_bounds(0, 100)
        axes.grid(axis="x")
        return figure


def _bar_pair(axes: Axes, row: int, arm: ArmSummary) -> None:
    colour = arm_colour(arm.arm)
    for name, shift, height, alpha in (("completion", 0.12, 0.42, 1.0), ("safe_completion", -0.24, 0.16, 0.5)):
        found = arm.metrics[name]
        if not np.isfinite(found.value):
            continue
        axes.barh(row + shift, 100 * found.value, height, color=colour, alpha=alpha, linewidth=0)
        if found.known:
            axes.plot([100 * found.low, 100 * found.high], [row + shift] * 2, color=INK, linewidth=1.4)
        text = percent(found) if name == "completion" else f"safe {percent(found)}"
        right = 100 * max(found.value, found.high if found.known else 0.0)
        size, tint = (10, INK) if name == "completion" else (8, MUTED)
        axes.text(right + 1.5, row + shift, text, va="center", fontsize=size, color=tint)


def _seed_dots(axes: Axes, row: int, outcomes: pd.DataFrame) -> None:
    """Mark each training seed's completion, so that nobody takes three seeds for a cloud."""
    if outcomes["train_seed"].nunique() < 2:
        return
    samples = outcomes.groupby(["train_seed", "episode", "agent"])["completed"].all()
    values = 100 * samples.groupby("train_seed").mean().to_numpy(float)
    axes.scatter(values, [row + 0.12] * len(values), s=18, facecolor="white", edgecolor=INK, linewidth=0.8, zorder=3)


def learning_curve(run: RunData, summary: Summary) -> Figure:
    """Draw completion over training episodes: held-out evaluations when the run has them, else while training."""
    held_out = not run.curve.empty
    table = run.curve if held_out else run.train
    with house_style():
        figure, axes = _figure(7.6, 4.0)
        ends = _lines(axes, table, "completion", 1 if held_out else _SMOOTH)
        _references(axes, summary, ends)
        what = "held-out evaluation" if held_out else f"while training, mean of {_SMOOTH} updates"
        _finish(axes, f"completion (% of samples), {what}", ends)
        return figure


def all_failed_share(run: RunData) -> Figure:
    """Draw the share of comparison groups in which every rollout failed, over training episodes."""
    with house_style():
        figure, axes = _figure(7.6, 3.6)
        ends = _lines(axes, run.train, "all_failed", _SMOOTH)
        _finish(axes, f"groups with no success (%), mean of {_SMOOTH} updates", ends)
        return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure that no global state holds on to."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots()


def _lines(axes: Axes, table: pd.DataFrame, column: str, window: int) -> list[tuple[float, float, str, str]]:
    """Draw every arm's seeds and mean with its band; return the labels for the line ends (x, y, text, colour)."""
    ends = []
    for arm in sorted(table["arm"].unique(), key=arm_rank):
        seeds = _per_seed(table[table["arm"] == arm], column, window)
        if seeds.empty:
            continue
        colour, x, y = arm_colour(arm), seeds.index.to_numpy(float), seeds.to_numpy(float)
        axes.plot(x, y, color=colour, linewidth=0.7, alpha=0.45)
        marker = "o" if len(x) < 15 else ""
        axes.plot(x, y.mean(axis=1), color=colour, linewidth=2.4, marker=marker, markersize=4)
        low, high = _band(y)
        axes.fill_between(x, low, high, color=colour, alpha=0.14, linewidth=0)
        ends.append((float(x[-1]), float(y[-1].mean()), f"{arm_label(arm)} ({_seeds(y.shape[1])})", colour))
    return ends


def _per_seed(rows: pd.DataFrame, column: str, window: int) -> pd.DataFrame:
    """Return percent by episodes (down) and seed (across), smoothed, only where every seed has a value."""
    wide = 100 * rows.pivot_table(index="episodes", columns="train_seed", values=column, aggfunc="mean")
    return wide.sort_index().interpolate(limit_area="inside").dropna().rolling(window, min_periods=1).mean()


def _band(y_TS: np.ndarray[Any, Any]) -> tuple[list[float], list[float]]:
    """Return the t interval over seeds at each point, inside 0..100."""
    found = [stats.t_interval(row).clipped(0.0, 100.0) for row in y_TS]
    return [item.low for item in found], [item.high for item in found]


def _references(axes: Axes, summary: Summary, ends: list[tuple[float, float, str, str]]) -> None:
    """Add a dashed line per arm that does not learn, and its label to ``ends``."""
    right = max((end[0] for end in ends), default=1.0)
    for arm in summary.arms:
        value = 100 * arm.metrics["completion"].value
        if arm.arm in summary.learners or not np.isfinite(value):
            continue
        axes.axhline(value, color=arm_colour(arm.arm), linewidth=1.2, linestyle=(0, (4, 3)))
        ends.append((right, value, arm_label(arm.arm), arm_colour(arm.arm)))


def _finish(axes: Axes, ylabel: str, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Name the axes and the lines. Labels stand beside the line ends, moved apart where they would touch."""
    axes.set(ylim=(0, 100), xlabel="training episodes")
    axes.set_title(ylabel, fontsize=10, fontweight="normal", color=MUTED)
    axes.grid(axis="y")
    axes.set_xlim(0.0, max((end[0] for end in ends), default=1.0))
    ordered = sorted(ends, key=lambda end: end[1])
    for y, (_, _, text, colour) in zip(_spread([end[1] for end in ordered]), ordered, strict=True):
        axes.annotate(
            text, (1.0, y), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
            va="center", color=colour, fontsize=9, fontweight="bold", annotation_clip=False,
        )  # fmt: skip


def _spread(values: Sequence[float]) -> list[float]:
    """Move sorted positions apart to at least the label gap, keeping them inside 0..100."""
    placed: list[float] = []
    for value in values:
        placed.append(max(value, placed[-1] + _LABEL_GAP if placed else 0.0))
    over = max(0.0, placed[-1] - 100.0) if placed else 0.0
    for i in range(len(placed) - 1, -1, -1):
        ceiling = 100.0 - _LABEL_GAP * (len(placed) - 1 - i)
        placed[i] = min(placed[i], ceiling) if over else placed[i]
    return placed


def _seeds(n: int) -> str:
    return "1 seed" if n == 1 else f"{n} seeds"
