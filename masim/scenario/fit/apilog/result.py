"""What the fit of a log returns: frozen values, each number with its interval and the calls behind it."""

from __future__ import annotations

from dataclasses import dataclass

from masim.scenario.fit.apilog.ambiguous import Split
from masim.scenario.fit.apilog.latency import LatencyFit
from masim.scenario.fit.apilog.limits import LimitFit
from masim.scenario.fit.apilog.outages import OutageFit
from masim.scenario.fit.apilog.spells import SpellFit
from masim.sim.spec import Verb


@dataclass(frozen=True, slots=True)
class EndpointFit:
    """One endpoint over all vendors. ``latency`` is drawn towards its kind; ``own`` is the weight of its own median.

    ``raw_median_s`` is as counted, ``None`` where nothing succeeded; ``latency`` is ``None`` when too few calls were
    answered.
    """

    verb: Verb
    calls: int
    errors: int
    refused: int
    timeouts: int
    raw_median_s: float | None
    latency: LatencyFit | None
    own: float
    limit: LimitFit | None


@dataclass(frozen=True, slots=True)
class KindFit:
    """All reads or all writes together; ``None`` of a latency: the log has no such endpoint."""

    writes: bool
    calls: int
    latency: LatencyFit | None


@dataclass(frozen=True, slots=True)
class ApiLogFit:
    """A fitted log."""

    kind: str
    file: str
    sha256: str
    encoding: str
    form: str
    n_rows: int
    n_calls: int
    vendors: tuple[str, ...]
    start_s: float
    end_s: float
    reads: KindFit
    writes: KindFit
    endpoints: tuple[EndpointFit, ...]
    spells: SpellFit
    outages: OutageFit
    split: Split
    assumed: tuple[str, ...]
    dropped: tuple[tuple[str, int], ...]

    @property
    def source(self) -> str:
        """Where every measured number comes from."""
        return f"[M] {self.file}"
