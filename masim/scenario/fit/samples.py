"""Statistics of a sample of deliveries, and borrowing those that rest on too few from a larger sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

import numpy as np

from masim.scenario.fit.deliveries import Delivery
from masim.scenario.fit.result import LateDays, Measures, Shares, Spread

MIN_OWN = 5
"""With fewer own observations of days or prices, a vendor takes those of its mode, and a mode those of all modes."""


def count_shares(days_late: Iterable[int | None]) -> Shares:
    """Return the shares as counted; ``None`` (not known) does not count."""
    known = [day for day in days_late if day is not None]
    n = len(known)
    late, early = sum(day > 0 for day in known), sum(day < 0 for day in known)
    return Shares(n, (n - late - early) / n, early / n, late / n) if n else Shares(0, 0.0, 0.0, 0.0)


def fit_late_days(days_late: Iterable[int | None]) -> LateDays | None:
    """Fit a log-normal to the positive days: ``median = exp(mean ln d)``, ``sigma`` = standard deviation of ``ln d``.

    Returns ``None`` when nothing is late.
    """
    logs = np.log([day for day in days_late if day is not None and day > 0])
    if logs.size == 0:
        return None
    return LateDays(float(np.exp(logs.mean())), float(logs.std(ddof=min(1, logs.size - 1))), int(logs.size))


def fit_spread(values: Sequence[float]) -> Spread | None:
    """Return the median and the 90th percentile, linearly interpolated, or ``None`` of nothing."""
    if not values:
        return None
    median, p90 = np.quantile(values, [0.5, 0.9])
    return Spread(float(median), float(p90), len(values))


def fit_measures(deliveries: Sequence[Delivery]) -> Measures:
    """Return days late, lead times and price of a sample."""
    return Measures(
        late_days=fit_late_days(delivery.days_late for delivery in deliveries),
        lead_days=fit_spread([d.lead_days for d in deliveries if d.lead_days is not None]),
        quote_lead_days=fit_spread([d.quote_lead_days for d in deliveries if d.quote_lead_days is not None]),
        cents_per_kg=fit_spread([d.cents_per_kg for d in deliveries if d.cents_per_kg is not None]),
    )


def borrow(own: Measures, fallback: Measures) -> tuple[Measures, tuple[str, ...]]:
    """Return the measures with those on fewer than ``MIN_OWN`` observations taken over, and the names of these.

    A measure that is taken over keeps the number of own observations as its ``n``.
    """
    counts = {field.name: _size(getattr(own, field.name)) for field in fields(Measures)}
    thin = {name: n for name, n in counts.items() if n < MIN_OWN and getattr(fallback, name) is not None}
    taken = {name: replace(getattr(fallback, name), n=n) for name, n in thin.items()}
    return replace(own, **taken), tuple(taken)


def _size(part: LateDays | Spread | None) -> int:
    """Return the number of observations."""
    return 0 if part is None else part.n
