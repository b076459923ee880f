"""The tables of a report, every one sortable. Each function returns its HTML, empty when the run has no data for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from masim.analysis.load import RunData
from masim.analysis.metrics import LATENCY_QUANTILES, METRICS, ArmSummary, Metric
from masim.analysis.report.findings import points
from masim.analysis.report.page import NOTHING, Cell, Html, element, joined, section, table
from masim.analysis.stats import Estimate
from masim.analysis.style import arm_label
from masim.analysis.summary import Summary
from masim.units import MINUTE, clock_text

_MAX_ROWS = 250
_FOLD_ROWS = 12
_MARKS = {"[M]": "measured on public data", "[S]": "stated by a public source", "[I]": "inferred by the authors"}
Row = list[Cell | str]


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in record.items()} for record in frame.to_dict("records")]


def contrasts(summary: Summary) -> Html:
    """Return all contrasts, folded away."""
    if not summary.comparisons:
        return NOTHING
    rows: list[Row] = [
        [
            f"{arm_label(item.a)} − {arm_label(item.b)}", METRICS[item.metric].label,
            Cell(points(item.difference), item.difference.value), Cell(str(item.difference.n), item.difference.n),
            item.difference.method,
        ]
        for item in summary.comparisons
    ]  # fmt: skip
    headers = ["contrast", "of", "difference", "n", "method"]
    inner = table(headers, rows, "Contrasts by role, chosen before looking at the results.", 2)
    return element("details", element("summary", "All contrasts"), inner)


def events(rows: pd.DataFrame) -> Html:
    """Return the trace rows of one chain, the first ones of a very long one."""
    kept = rows.head(_MAX_ROWS)
    cells: list[Row] = [
        [
            Cell(clock_text(row["t_s"]), row["t_s"]), row["event"], row["verb"], row["vendor"], row["stop"],
            row["status"], row["cause_id"].partition(":")[0], row["note"],
        ]
        for row in _records(kept)
    ]  # fmt: skip
    left = f"; {len(rows) - len(kept)} later rows are left out" if len(rows) > len(kept) else ""
    headers = ["time", "event", "verb", "vendor", "stop", "status", "fault", "note"]
    return table(headers, cells, f"Trace of the chain, simulated time{left}.", len(headers), dense=True)


def numbers(summary: Summary) -> Html:
    """Return the table of metrics, why orders failed, and latencies."""
    if not summary.arms:
        return NOTHING
    headers = ["arm", *(f"{metric.label} ({metric.unit})" for metric in METRICS.values())]
    rows: list[Row] = [
        [arm_label(arm.arm), *(_metric_cell(arm.metrics[name], metric) for name, metric in METRICS.items())]
        for arm in summary.arms
    ]
    meaning = " · ".join(f"{metric.label}: {metric.meaning}" for metric in METRICS.values())
    made = table(headers, rows, f"Value and 95% interval. {meaning}.")
    return section("numbers", "All numbers", made, _worst(summary.arms), _reasons(summary.arms), _latency(summary))


def _metric_cell(estimate: Estimate, metric: Metric) -> Cell:
    if not math.isfinite(estimate.value):
        return Cell("–", "")
    factor, digits, sign = (1, 1 if metric.unit == "per order" else 0, "")
    if metric.is_share:
        factor, sign = (100, "%")
    shown = [f"{factor * value:,.{digits}f}" for value in (estimate.value, estimate.low, estimate.high)]
    return Cell(shown[0] + sign, estimate.value, f"{shown[1]} to {shown[2]}" if estimate.known else "no interval")


def _worst(arms: Sequence[ArmSummary]) -> Html:
    """Return the rates of each arm's worst replication; of a single one they would be the numbers above again."""
    several = [arm for arm in arms if arm.replications[0] > 1]
    if not several:
        return NOTHING
    rows: list[Row] = [
        [arm_label(arm.arm), *(Cell(f"{100 * share:.0f}%", share) for share in arm.worst.values()), _of(arm)]
        for arm in several
    ]
    headers = ["arm", *(METRICS[name].label for name in several[0].worst), "worst of"]
    caption = "Lowest share of samples over the replications, each column on its own: what a bad day looks like."
    return joined(element("h3", "The worst replication"), table(headers, rows, caption))


def _of(arm: ArmSummary) -> Cell:
    count, unit = arm.replications
    return Cell(f"{count} {unit}s", count)


def _reasons(arms: Sequence[ArmSummary]) -> Html:
    totals: dict[str, int] = {}
    for arm in arms:
        for reason, count in arm.failures.items():
            totals[reason] = totals.get(reason, 0) + count
    if not totals:
        return NOTHING
    rows: list[Row] = [
        [
            reason.replace("_", " "),
            *(Cell(f"{100 * arm.failures.get(reason, 0) / arm.orders:.0f}%", arm.failures.get(reason, 0) / arm.orders,
                   f"{arm.failures.get(reason, 0)} of {arm.orders}") for arm in arms),
        ]
        for reason in sorted(totals, key=lambda name: -totals[name])
    ]  # fmt: skip
    headers = ["why an order failed", *(arm_label(arm.arm) for arm in arms)]
    return joined(element("h3", "Why orders failed"), table(headers, rows, "Share of all orders of the arm."))


def _latency(summary: Summary) -> Html:
    if summary.latency.empty:
        return NOTHING
    rows: list[Row] = [
        [
            arm_label(row["arm"]), row["verb"], Cell(f"{row['n']:,}", row["n"]),
            *(_seconds(row[quantile]) for quantile in LATENCY_QUANTILES),
        ]
        for row in _records(summary.latency[summary.latency["vendor"] == ""])
    ]  # fmt: skip
    caption = "Seconds from sending a call to its answer or its deadline. A dash: too few answers for that quantile."
    made = table(["arm", "verb", "answers", "p50 (s)", "p95 (s)", "p99 (s)"], rows, caption, 2)
    return element("details", element("summary", "Latency per verb"), made)


def _seconds(value: float) -> Cell:
    return Cell(f"{value:.2f}", value) if math.isfinite(value) else Cell("–", "")


def faults(summary: Summary) -> Html:
    """Return how often each class of faults struck, per arm."""
    if summary.faults.empty:
        return NOTHING
    arms = [arm.arm for arm in summary.arms if arm.arm in set(summary.faults["arm"])]
    arms = arms or list(summary.faults["arm"].drop_duplicates())
    found = {(row["fault"], row["arm"]): row for row in _records(summary.faults)}
    classes = sorted(summary.faults["fault"].unique())
    rows: list[Row] = [
        [kind.replace("_", " "), *(_strikes(found.get((kind, arm))) for arm in arms)] for kind in classes
    ]
    caption = "Faults that struck a call or a callback in the traced episodes; beneath, different causes among them."
    headers = ["class", *(arm_label(arm) for arm in arms)]
    return section("faults", "Faults injected", table(headers, rows, caption), _recovery(summary))


def _recovery(summary: Summary) -> Html:
    """Return how agents came back after outages, if any outage was met."""
    met = summary.recovery[summary.recovery["outages"] > 0]
    if met.empty:
        return NOTHING
    rows: list[Row] = [
        [
            arm_label(row["arm"]), Cell(f"{row['outages']:,}", row["outages"]),
            Cell(f"{row['recovered']:,}", row["recovered"]), _minutes(row["median_s"]), _minutes(row["worst_s"]),
        ]
        for row in _records(met)
    ]  # fmt: skip
    headers = ["arm", "outages met", "recovered from", "median (min)", "longest (min)"]
    caption = "Simulated minutes from the last call that an outage refused to the vendor's next answer."
    return joined(element("h3", "Recovery after outages"), table(headers, rows, caption))


def _minutes(seconds: float) -> Cell:
    return Cell(f"{seconds / MINUTE:,.1f}", seconds) if math.isfinite(seconds) else Cell("–", "")


def _strikes(row: dict[str, Any] | None) -> Cell:
    if row is None:
        return Cell("0", 0)
    causes = f"{row['causes']:,} cause" + "s" * (row["causes"] != 1)
    return Cell(f"{row['hits']:,}", row["hits"], causes if row["causes"] != row["hits"] else "")


def sources(run: RunData) -> Html:
    """Return where the scenario's numbers come from."""
    if not run.meta.sources:
        return NOTHING
    marks = Counter(source[:3] if source[:3] in _MARKS else "" for _, _, source in run.meta.sources)
    kinds = [f"{marks[mark]} {meaning}" for mark, meaning in _MARKS.items() if marks[mark]]
    kinds += [f"{marks['']} without a mark"] if marks[""] else []
    caption = f"{len(run.meta.sources)} numbers of the scenario: {', '.join(kinds)}."
    rows: list[Row] = [list(row) for row in run.meta.sources]
    made = table(["setting", "value", "source"], rows, "Settings as the scenario resolved them.", 3)
    if len(rows) > _FOLD_ROWS:
        made = element("details", element("summary", f"All {len(rows)} numbers with their sources"), made)
    return section("sources", "Where the numbers come from", element("p", caption), made)
