"""``masim lint``: check scenario files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from masim.cli.common import Json, Quiet, Set, emit, overrides
from masim.errors import EXIT_BAD_INPUT, ScenarioError


def verb(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files, or ids.")],
    settings: Set = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check scenarios: form, units, ranges, references, windows. Exit code 2 when one cannot be used.

    An error is one line: file and line, the problem, the value, what is allowed, the fix.
    """
    from masim.scenario.load import load_scenario

    rows: list[dict[str, object]] = []
    changes = overrides(settings)
    for file in files:
        try:
            scenario = load_scenario(file, changes)
        except ScenarioError as error:
            rows.append({"file": str(file), "ok": False, "error": str(error)})
        else:
            rows.append({"file": str(file), "ok": True, "id": scenario.id, "hash": scenario.hash})
    emit({"files": rows}, as_json, *(line(row) for row in rows if not (quiet and row["ok"])))
    if not all(row["ok"] for row in rows):
        raise typer.Exit(EXIT_BAD_INPUT)


def line(row: dict[str, object]) -> str:
    """Return what people read about one file."""
    return f"{row['file']}: ok, {row['id']}" if row["ok"] else str(row["error"])
