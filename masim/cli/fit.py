"""``masim fit``: real data to vendor profiles, with everything that was assumed and dropped on the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from masim.cli.common import Json, Out, Quiet, emit, note, table
from masim.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from rich.table import Table

    from masim.scenario.fit.result import Carrier, FitResult, ModePrior

KINDS = {"scms": ("masim.scenario.fit.scms", "fit_scms")}
"""Kind of file to the function that fits it: ``(path) -> FitResult``."""
SHOWN = 15
"""Vendors in the printed table; the profile holds all of them."""


def verb(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What the file is: {', '.join(KINDS)}.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The data, as it came.")],
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit vendor profiles to a delivery history; with --out, write them as a profile that scenarios can name.

    Prints what was assumed and what was dropped, with counts, and the number of observations behind each number.
    """
    result = fitter(kind)(file)
    if out is not None:
        from masim.scenario.fit.profile import write_profile

        write_profile(result, out)
    shown = [] if quiet else [*overview(result), assumed_table(result.assumed), dropped_table(result.dropped)]
    emit({**asdict(result), "out": out}, as_json, *shown)
    if out is not None:
        note(f"wrote {len(result.profile.carriers)} carriers to {out}", silent=as_json)


def fitter(kind: str) -> Callable[[Path], FitResult]:
    """Return the fit function of a kind. Raises ConfigError for an unknown kind."""
    if kind not in KINDS:
        raise ConfigError(f"unknown kind of data {kind!r}", "", "", ", ".join(KINDS), did_you_mean(kind, KINDS))
    module, function = KINDS[kind]
    fit: Callable[[Path], FitResult] = getattr(import_module(module), function)
    return fit


def overview(result: FitResult) -> Iterable[str | Table]:
    """Yield what was read, the modes, and the vendors with most observations."""
    yield f"{result.file}: {result.n_rows:,} rows, {result.encoding}, {result.delimiter}, sha256 {result.sha256[:12]}"
    yield f"source of every number: {result.profile.source}"
    modes = table("mode", *FIGURES, title="By mode (what vendors with few deliveries are drawn towards)")
    for prior in result.profile.priors:
        modes.add_row(prior.mode, *figures(prior))
    yield modes
    carriers = result.profile.carriers
    vendors = table("vendor", "mode", *FIGURES, title=f"{min(SHOWN, len(carriers))} of {len(carriers)} vendors")
    for carrier in carriers[:SHOWN]:
        vendors.add_row(carrier.id, carrier.mode, *figures(carrier))
    yield vendors


FIGURES = (">n", ">on time", ">early", ">late", ">days late (median)", ">lead days (median)", ">cents/kg (median)")


def figures(row: Carrier | ModePrior) -> tuple[str, ...]:
    """Return the cells of :data:`FIGURES`; a number that nothing supports stays empty."""
    shares, measures = row.shares, row.measures
    spreads = (measures.late_days, measures.lead_days, measures.cents_per_kg)
    return (
        f"{shares.n:,}",
        *(f"{share:.1%}" for share in (shares.on_time, shares.early, shares.late)),
        *("" if spread is None else f"{spread.median:,.1f}" for spread in spreads),
    )


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
