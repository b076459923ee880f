"""``masim lint``: check scenario files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from masim.cli.common import Json, Quiet, Set, check_failed, emit, overrides
from masim.errors import EXIT_BAD_INPUT


def verb(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Scenario files, or ids.")],
    settings: Set = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail the check (exit code 1).")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check scenarios: form, units, ranges, references, windows. Exit code 2 when one cannot be used.

    A finding is one line: file and line, the problem, the value, what is allowed, the fix. Warnings are about worlds
    that load but mislead: numbers without a source, too little dock space, a carrier nobody can use.
    """
    from masim.scenario.lint import lint_scenario

    changes = overrides(settings)
    findings = {file: lint_scenario(file, changes) for file in files}
    lines = [str(finding) for found in findings.values() for finding in found]
    clean = [f"{file}: ok" for file, found in findings.items() if not found and not quiet]
    payload = {file: [asdict(finding) for finding in found] for file, found in findings.items()}
    emit({"files": payload}, as_json, *lines, *clean)
    severities = {finding.severity for found in findings.values() for finding in found}
    if "error" in severities:
        raise typer.Exit(EXIT_BAD_INPUT)
    if strict and severities:
        raise check_failed()
