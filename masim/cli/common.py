"""What every verb shares: the options, how results leave the program, and how user errors look."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.errors import EXIT_CHECK_FAILED, ConfigError, RunError, UserError, did_you_mean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

EXIT_BUG = 70
"""An exception that masim does not know: neither the user's input nor a failed check."""
EXIT_INTERRUPTED = 130
PIPE_COLUMNS = 160
"""Width of tables when the output is no terminal, so that scripts and logs see whole cells."""

RUNS = Path("runs")
"""Where runs are written and looked for by name, below the current folder."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone, no progress and no notes.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Root seed; the same seed gives the same bytes.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario, by its dotted path; repeatable."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Where to write.", show_default=False)]


def overrides(settings: list[str] | None) -> dict[str, str]:
    """Split ``--set`` options into dotted paths and YAML values. Raises ConfigError where there is no ``=``."""
    pairs: dict[str, str] = {}
    for setting in settings or []:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise ConfigError("not a setting", "--set", setting, "KEY=VALUE", "for example --set agents.count=2")
        pairs[path.strip()] = value.strip()
    return pairs


def find_run(name: str) -> Path:
    """Return a run folder: a path, a name under ``runs/``, or ``last`` for the newest one there.

    Raises RunError with the nearest name when there is no such folder.
    """
    if Path(name).is_dir():
        return Path(name)
    runs = {file.parent.name: file for file in RUNS.glob("*/run.json")}
    if name in runs:
        return runs[name].parent
    if name == "last" and runs:
        return max(runs.values(), key=lambda file: file.stat().st_mtime).parent
    fix = did_you_mean(name, runs) or "name a run folder; `masim run` and `masim train` make them"
    raise RunError("there is no such run", name, "", "", fix)


def console(stderr: bool = False) -> Console:
    """Return a console on stdout or stderr that adds no colours of its own to ids and numbers."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else PIPE_COLUMNS)


def emit(payload: Mapping[str, Any], as_json: bool, *texts: str | Table) -> None:
    """Write the result of a verb to stdout: the payload as one JSON object, or the texts and tables for people."""
    if as_json:
        print(json.dumps(payload, indent=2, default=str))
        return
    out = console()
    for text in texts:
        out.print(text, markup=False, soft_wrap=isinstance(text, str))


def note(text: str, silent: bool) -> None:
    """Write progress or a remark to stderr, unless the user asked for the result alone."""
    if not silent:
        print(text, file=sys.stderr)


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table; a column whose name starts with ``>`` is aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name in columns:
        made.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left", overflow="fold")
    return made


def check_failed() -> typer.Exit:
    """Return what a verb raises when a check or a gate did not pass (exit code 1)."""
    return typer.Exit(EXIT_CHECK_FAILED)


def report_error(error: UserError, as_json: bool) -> int:
    """Write a user error, one line to stderr or a JSON object to stdout, and return its exit code."""
    if as_json:
        parts = {name: getattr(error, name) for name in ("problem", "where", "value", "allowed", "fix")}
        print(json.dumps({"error": {"kind": type(error).__name__, **parts}}, indent=2))
    else:
        print(f"masim: {' '.join(str(error).split())}", file=sys.stderr)
    return error.exit_code
