"""``masim report``: the HTML report of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from masim.cli.common import Json, Out, emit, find_run


def verb(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run folder, its name under runs/, or `last`.")
    ] = "last",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Build the report of a run again, from its tables: one HTML file that needs no network.

    It is written into the run folder, or to --out.
    """
    from masim.analysis.report.build import build_report

    folder = find_run(run)
    report = build_report(folder, out)
    emit({"run": folder, "report": report}, as_json, str(report))
