"""What a fit returns: frozen values, each with the number of observations behind it."""

from __future__ import annotations

from dataclasses import dataclass

from masim.scenario.fit.shrink import BetaPrior


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of ``n`` deliveries on the promised day, before it and after it; they add up to 1 (0 when n is 0)."""

    n: int
    on_time: float
    early: float
    late: float


@dataclass(frozen=True, slots=True)
class LateDays:
    """Log-normal of the days late of ``n`` late deliveries: its median and the sigma of the logarithm."""

    median: float
    sigma: float
    n: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 90th percentile of ``n`` values, in the unit of the field that holds it."""

    median: float
    p90: float
    n: int


@dataclass(frozen=True, slots=True)
class Measures:
    """Days late of late deliveries, days from order and from quote to the promised day, and freight per weight."""

    late_days: LateDays | None
    lead_days: Spread | None
    quote_lead_days: Spread | None
    cents_per_kg: Spread | None


@dataclass(frozen=True, slots=True)
class Lane:
    """A country and how many deliveries of the vendor went there."""

    to: str
    n: int


@dataclass(frozen=True, slots=True)
class ModePrior:
    """One shipment mode over all vendors: what a vendor with few deliveries is drawn towards.

    ``late`` is the share of late ones; ``early_of_rest`` the share of early ones among those not late. Where the
    mode alone is too thin, numbers come from all modes together and ``borrowed`` names them.
    """

    mode: str
    shares: Shares
    late: BetaPrior
    early_of_rest: BetaPrior
    measures: Measures
    borrowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Carrier:
    """One vendor. ``shares`` are shrunk, ``raw`` are as counted; ``mode`` is the one it uses most.

    Measures with too few observations of the vendor's own come from its mode; then ``borrowed`` names them and
    their ``n`` is the number of the vendor's own.
    """

    id: str
    name: str
    mode: str
    shares: Shares
    raw: Shares
    measures: Measures
    lanes: tuple[Lane, ...]
    borrowed: tuple[str, ...]

    @property
    def n(self) -> int:
        """Deliveries with a promised and an actual date."""
        return self.raw.n


@dataclass(frozen=True, slots=True)
class Summary:
    """A set of deliveries in figures: vendors, shares, days late of the late ones, share late by mode."""

    n_rows: int
    n_vendors: int
    shares: Shares
    days_late: Spread | None
    late_by_mode: tuple[tuple[str, Shares], ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """Carriers by falling number of deliveries, the priors by mode, and the source of the numbers."""

    source: str
    priors: tuple[ModePrior, ...]
    carriers: tuple[Carrier, ...]


@dataclass(frozen=True, slots=True)
class FitResult:
    """A fitted history. ``whole`` describes the file as it is, ``kept`` the part that the profile rests on.

    ``dropped`` pairs a reason, which begins with the column, with the number of cells or rows.
    """

    kind: str
    file: str
    sha256: str
    encoding: str
    delimiter: str
    n_rows: int
    whole: Summary
    kept: Summary
    profile: Profile
    assumed: tuple[str, ...]
    dropped: tuple[tuple[str, int], ...]
