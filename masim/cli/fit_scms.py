"""``masim fit scms``: a delivery history to a carriers profile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from masim.cli.common import table
from masim.cli.fit import FitOptions
from masim.scenario.fit.profile import write_profile
from masim.scenario.fit.result import Carrier, FitResult, ModePrior
from masim.scenario.fit.scms import KIND, fit_scms

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = 15
"""Vendors in the printed table; the profile holds all of them."""


def fit(file: Path, options: FitOptions) -> FitResult:
    """Fit a history. Raises ConfigError for options of other kinds."""
    options.refuse(KIND)
    return fit_scms(file)


def write(result: FitResult, out: Path) -> str:
    """Write the profile; return what was done."""
    write_profile(result, out)
    return f"wrote {len(result.profile.carriers)} carriers to {out}"


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
