"""A fit in sentences, for people."""

from __future__ import annotations

from masim.scenario.fit.result import FitResult, Shares, Summary


def describe_fit(result: FitResult) -> list[str]:
    """Return lines: the file as it is, the part that was fitted, and that part by mode."""
    lines = [f"{result.file}: {_figures(result.whole)}", f"fitted: {_figures(result.kept)}"]
    lines += [f"  {mode}: {shares.n:,} deliveries, {_shares(shares)}" for mode, shares in result.kept.late_by_mode]
    return lines


def _figures(summary: Summary) -> str:
    """One sentence about a set of deliveries."""
    days = summary.days_late
    tail = f"; days late: median {days.median:g}, 90th percentile {days.p90:.3g}" if days else ""
    return f"{summary.n_rows:,} rows, {summary.n_vendors} vendors; {_shares(summary.shares)}{tail}"


def _shares(shares: Shares) -> str:
    """Percentages."""
    return f"{shares.on_time:.1%} on the day, {shares.early:.1%} early, {shares.late:.1%} late"
