"""What verbs that make a run folder say at their end: metrics, report, and a short table."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import emit, note, table
from masim.units import MINUTE

if TYPE_CHECKING:
    from rich.table import Table

Workers = Annotated[int, typer.Option("--workers", "-w", help="Worker processes.", show_default="one per processor")]
Where = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Where jobs run: serial, processes, ray or ray:ADDRESS. The bytes are the same.",
    ),
]
SHOWN = {
    "completion": ("completion", 100, "%", 1),
    "safe_completion": ("safe", 100, "%", 1),
    "cost_per_completed_order": ("USD per order", 1, "", 0),
    "duplicates_per_1000_orders": ("duplicates per 1,000", 1, "", 1),
}
"""Metric to column head, scale, unit and decimals."""


def command_line(context: typer.Context) -> str:
    """Return the command as it was typed, less passwords in addresses, for ``run.json``."""
    from masim.memory.store.connect import without_secrets

    return without_secrets(shlex.join(["masim", *(context.obj or [])]))


def tell_finished(folder: Path) -> None:
    """Say what an interrupted run left."""
    if any(folder.glob("*.parquet")):
        note(f"masim: what was finished is in {folder}; see it with: masim report {folder}", silent=False)
    else:
        note(f"masim: nothing was finished; {folder} holds run.json alone", silent=False)


def close_run(folder: Path, report: bool = True) -> tuple[dict[str, Any], Path | None]:
    """Write ``metrics.json`` and, if asked for, the report; return the metrics and the report's path."""
    from masim.analysis.summary import summarise

    content = summarise(folder)
    if not report:
        return content, None
    from masim.analysis.report.build import build_report

    return content, build_report(folder)


def arms_table(content: Mapping[str, Any]) -> Table:
    """Return one row per arm with its metrics and their 95% intervals."""
    made = table("agent", ">episodes", *(f">{head}" for head, *_ in SHOWN.values()), ">worst completion")
    for arm in content["arms"]:
        cells = [interval(arm["metrics"][name], *form[1:]) for name, form in SHOWN.items()]
        made.add_row(arm["arm"], str(arm["episodes"]), *cells, _worst(arm))
    return made


def _worst(arm: Mapping[str, Any]) -> str:
    """Return the completion of the worst replication; a dash where there is only one."""
    several_days = arm["episodes"] > arm["campaigns"]
    count, unit = (arm["campaigns"], "campaigns") if several_days else (arm["episodes"], "episodes")
    return f"{100 * arm['worst']['completion']:.1f}% of {count} {unit}" if count > 1 else "-"


def recovery_tables(content: Mapping[str, Any]) -> list[Table]:
    """Return a table of how agents came back after outages, none where nobody met an outage."""
    met = [row for row in content["recovery"] if row["outages"]]
    if not met:
        return []
    made = table("agent", ">outages met", ">recovered from", ">median", ">longest")
    for row in met:
        times = _minutes(row["median_s"]), _minutes(row["worst_s"])
        made.add_row(row["arm"], str(row["outages"]), str(row["recovered"]), *times)
    return [made]


def _minutes(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds / MINUTE:,.1f} min"


def interval(estimate: Mapping[str, Any], scale: float = 100, unit: str = "%", digits: int = 1) -> str:
    """Return ``62.5% [50.1, 73.2]``; without an interval the value alone, without a value a dash."""
    if estimate["value"] is None:
        return "-"
    value = f"{scale * estimate['value']:,.{digits}f}{unit}"
    if estimate["low"] is None or estimate["high"] is None:
        return value
    return f"{value} [{scale * estimate['low']:,.{digits}f}, {scale * estimate['high']:,.{digits}f}]"


def finish(folder: Path, report: bool, as_json: bool, quiet: bool) -> None:
    """Write metrics and report of a finished run and print what came out."""
    content, file = close_run(folder, report)
    payload = {"run": folder, "report": file, "arms": content["arms"], "recovery": content["recovery"]}
    texts = [] if quiet else [arms_table(content), *recovery_tables(content)]
    emit(payload, as_json, *texts, str(file or folder))
