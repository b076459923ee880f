"""Priors by shipment mode, and carriers drawn towards them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from masim.scenario.fit.deliveries import Delivery
from masim.scenario.fit.result import Carrier, Lane, ModePrior, Shares
from masim.scenario.fit.samples import borrow, count_shares, fit_measures
from masim.scenario.fit.shrink import fit_beta_prior

MIN_PRIOR_VENDORS = 5
MIN_PRIOR_ROWS = 30
ALL_MODES = "all modes"
SLUG_LENGTH = 40


def fit_priors(deliveries: Sequence[Delivery]) -> dict[str, ModePrior]:
    """Return the prior of every mode, by falling number of deliveries, and at last that of all modes together."""
    together = _fit_prior(ALL_MODES, deliveries, None)
    modes = _group(deliveries, lambda delivery: delivery.mode)
    ordered = sorted(modes, key=lambda mode: (-len(modes[mode]), mode))
    priors = {mode: _fit_prior(mode, modes[mode], together) for mode in ordered}
    return {**priors, ALL_MODES: together}


def fit_carriers(deliveries: Sequence[Delivery], priors: Mapping[str, ModePrior]) -> tuple[Carrier, ...]:
    """Return the vendors with at least one timed delivery, by falling number of these; ids are unique."""
    vendors = _group(deliveries, lambda delivery: delivery.vendor)
    carriers = [_fit_carrier(name, own, priors) for name, own in vendors.items()]
    carriers.sort(key=lambda carrier: (-carrier.n, carrier.name))
    return _with_unique_ids([carrier for carrier in carriers if carrier.n])


def _group(deliveries: Sequence[Delivery], key: Callable[[Delivery], str]) -> dict[str, list[Delivery]]:
    """Group deliveries by a text."""
    groups: defaultdict[str, list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        groups[key(delivery)].append(delivery)
    return dict(groups)


def _fit_prior(mode: str, deliveries: Sequence[Delivery], fallback: ModePrior | None) -> ModePrior:
    """Fit one mode; what is too thin comes from the fallback."""
    raws = [_raw(own) for own in _group(deliveries, lambda delivery: delivery.vendor).values()]
    late = fit_beta_prior([(_events(raw.late, raw), raw.n) for raw in raws])
    early = fit_beta_prior([(_events(raw.early, raw), raw.n - _events(raw.late, raw)) for raw in raws])
    measures, shares = fit_measures(deliveries), _raw(deliveries)
    if fallback is None:
        return ModePrior(mode, shares, late, early, measures, ())
    measures, borrowed = borrow(measures, fallback.measures)
    if late.vendors < MIN_PRIOR_VENDORS or late.n < MIN_PRIOR_ROWS:
        late, early, borrowed = fallback.late, fallback.early_of_rest, ("shares", *borrowed)
    return ModePrior(mode, shares, late, early, measures, borrowed)


def _raw(deliveries: Sequence[Delivery]) -> Shares:
    """Return the shares as counted."""
    return count_shares(delivery.days_late for delivery in deliveries)


def _events(share: float, shares: Shares) -> int:
    """Return the count behind a share."""
    return round(share * shares.n)


def _fit_carrier(name: str, own: Sequence[Delivery], priors: Mapping[str, ModePrior]) -> Carrier:
    """Fit one vendor; its id is not yet unique."""
    modes = Counter(delivery.mode for delivery in own)
    mode = min(modes, key=lambda m: (-modes[m], m))
    measures, borrowed = borrow(fit_measures(own), priors[mode].measures)
    lanes = Counter(delivery.country for delivery in own if delivery.country)
    ordered = sorted(lanes.items(), key=lambda lane: (-lane[1], lane[0]))
    raw = _raw(own)
    shares = _shrink(raw, priors[mode])
    return Carrier(slug(name), name, mode, shares, raw, measures, tuple(Lane(*lane) for lane in ordered), borrowed)


def _shrink(raw: Shares, prior: ModePrior) -> Shares:
    """Shrink late first, then early among those not late; the rest is on time."""
    late_n = _events(raw.late, raw)
    late = prior.late.shrink(late_n, raw.n)
    early = (1.0 - late) * prior.early_of_rest.shrink(_events(raw.early, raw), raw.n - late_n)
    return Shares(raw.n, 1.0 - late - early, early, late)


def slug(name: str) -> str:
    """Return a name in lower-case ASCII letters, digits and hyphens, cut at a word where it is long."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-") or "vendor"
    return words if len(words) <= SLUG_LENGTH else words[: SLUG_LENGTH + 1].rpartition("-")[0] or words[:SLUG_LENGTH]


def _with_unique_ids(carriers: Sequence[Carrier]) -> tuple[Carrier, ...]:
    """Number ids that occur again: ``x``, ``x-2``, ``x-3``."""
    taken: set[str] = set()
    unique: list[Carrier] = []
    for carrier in carriers:
        numbered = (carrier.id if i == 1 else f"{carrier.id}-{i}" for i in count(1))
        new_id = next(candidate for candidate in numbered if candidate not in taken)
        taken.add(new_id)
        unique.append(replace(carrier, id=new_id))
    return tuple(unique)
