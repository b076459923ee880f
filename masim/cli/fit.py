"""``masim fit``: real data to vendor profiles, with everything that was assumed and dropped on the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Out, Quiet, emit, note, table
from masim.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from rich.table import Table

KINDS = {"scms": "masim.cli.fit_scms", "api-log": "masim.cli.fit_api_log"}
"""Kind of file to the module that fits it: ``fit(file, options)``, ``overview(result)`` and ``write(result, out)``."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What the user says about the file, as it was typed."""

    column: tuple[str, ...] = ()
    map: tuple[str, ...] = ()
    unit: str | None = None
    timeout: str | None = None
    vendor: str | None = None

    def refuse(self, kind: str) -> None:
        """Raise ConfigError when any is given to a kind that knows none."""
        for name, value in asdict(self).items():
            if value:
                raise ConfigError(f"{kind} has no such option", f"--{name}", str(value), "", "remove it")


def verb(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What the file is: {', '.join(KINDS)}.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The data, as it came.")],
    column: Annotated[
        list[str] | None, typer.Option("--column", metavar="ROLE=NAME", help="api-log: a column; repeatable.")
    ] = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="ENDPOINT=NAME", help="api-log: an endpoint ('-' leaves it out); repeatable."),
    ] = None,
    unit: Annotated[str | None, typer.Option("--unit", help="api-log: unit of latencies, s or ms.")] = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DURATION", help="api-log: the client's deadline, as '10 s'.")
    ] = None,
    vendor: Annotated[str | None, typer.Option("--vendor", help="api-log: fit this vendor alone.")] = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit vendor profiles to your own data; with --out, write them as a profile that scenarios can name.

    Prints what was assumed and what was dropped, with counts, and the number of observations behind each number.
    """
    how = module(kind)
    result = how.fit(file, FitOptions(tuple(column or ()), tuple(mapped or ()), unit, timeout, vendor))
    said = how.write(result, out) if out is not None else ""
    shown = [] if quiet else [*how.overview(result), assumed_table(result.assumed), dropped_table(result.dropped)]
    emit({**asdict(result), "out": out}, as_json, *shown)
    if said:
        note(said, silent=as_json)


def module(kind: str) -> Any:
    """Return the module of a kind. Raises ConfigError for an unknown kind."""
    if kind not in KINDS:
        raise ConfigError(f"unknown kind of data {kind!r}", "", "", ", ".join(KINDS), did_you_mean(kind, KINDS))
    return import_module(KINDS[kind])


def assumed_table(assumed: Iterable[str]) -> Table:
    """Return the assumptions, numbered."""
    made = table(">", "assumed")
    for number, text in enumerate(assumed, 1):
        made.add_row(str(number), text)
    return made


def dropped_table(dropped: Iterable[tuple[str, int]]) -> Table:
    """Return the reasons for dropped cells and rows with their counts."""
    made = table(">count", "dropped")
    for reason, count in dropped:
        made.add_row(f"{count:,}", reason)
    return made
