"""Vendor profiles from an SCMS delivery history: who is on time, how late, how long ahead, at what price, where.

Shares are measured in whole days against the scheduled delivery date and shrunk, vendor by vendor, towards the mean
of the shipment mode (:mod:`masim.scenario.fit.shrink`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from masim.scenario.fit.carriers import MIN_PRIOR_ROWS, MIN_PRIOR_VENDORS, fit_carriers, fit_priors
from masim.scenario.fit.deliveries import ACTUAL, COLUMNS, DEPOT, ORDERED, PROMISED, Delivery, read_deliveries
from masim.scenario.fit.reading import Table, read_table
from masim.scenario.fit.result import FitResult, Profile, Summary
from masim.scenario.fit.samples import MIN_OWN, count_shares, fit_spread

KIND = "scms"


def fit_scms(path: Path) -> FitResult:
    """Fit the vendors of a delivery history. Raises DataError when the file cannot be read as one."""
    table = read_table(path, COLUMNS)
    history = read_deliveries(table)
    priors = fit_priors(history.kept)
    carriers = fit_carriers(history.kept, priors)
    source = f"[M] SCMS delivery history, {path.name}, n={len(history.kept)}"
    return FitResult(
        kind=KIND,
        file=path.name,
        sha256=table.sha256,
        encoding=table.encoding,
        delimiter=table.delimiter,
        n_rows=len(table.rows),
        whole=summarize(history.deliveries),
        kept=summarize(history.kept),
        profile=Profile(source, tuple(priors.values()), carriers),
        assumed=(*_read_as(table), *history.assumed, *_ASSUMED),
        dropped=table.dropped + history.dropped,
    )


def _read_as(table: Table) -> list[str]:
    """Say how the file was read."""
    notes = [f"the file is {table.encoding} text, {table.delimiter} separated"]
    return notes if table.ended else [*notes, "the last line has no line end; it was taken as complete"]


def summarize(deliveries: Sequence[Delivery]) -> Summary:
    """Put a set of deliveries in figures."""
    modes: defaultdict[str, list[int | None]] = defaultdict(list)
    for delivery in deliveries:
        modes[delivery.mode].append(delivery.days_late)
    days = [delivery.days_late for delivery in deliveries]
    return Summary(
        n_rows=len(deliveries),
        n_vendors=len({delivery.vendor for delivery in deliveries if delivery.vendor}),
        shares=count_shares(days),
        days_late=fit_spread([day for day in days if day is not None and day > 0]),
        late_by_mode=tuple((mode, count_shares(modes[mode])) for mode in sorted(modes)),
    )


_ASSUMED = (
    f"late is {ACTUAL!r} after {PROMISED!r}, early is before it, on time is the same day",
    "[I] the history counts whole days: shares are measured, but how many hours a late truck is late is not in it; "
    "late_days stays in days, and turning it into hours is the scenario's own assumption",
    f"{DEPOT!r} is the programme's own depot, not a vendor, and is left out",
    "a vendor's shares are shrunk towards the mode it uses most: beta-binomial by moments for late, and for early "
    "among those not late; raw_* are as counted",
    f"a mode with fewer than {MIN_PRIOR_VENDORS} vendors or {MIN_PRIOR_ROWS} deliveries takes the prior of all modes",
    f"days and prices with fewer than {MIN_OWN} own observations come from the mode, or from all modes when the mode "
    "has too few as well; n is then the number of own observations",
    "late_days is a log-normal fitted to the days late of late deliveries",
    f"lead_days runs from {ORDERED!r} to {PROMISED!r}; quote_lead_days likewise from the price quote",
    "cents_per_kg is the median of freight by weight over rows where both are numbers above 0; rows whose freight is "
    "booked on another line are left out of it",
)
