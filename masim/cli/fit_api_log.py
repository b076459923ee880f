"""``masim fit api-log``: a log of API calls to an APIs profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from masim.cli.common import table
from masim.cli.fit import FitOptions
from masim.errors import ConfigError
from masim.scenario.fit.apilog.calls import LogOptions
from masim.scenario.fit.apilog.fit import fit_api_log
from masim.scenario.fit.apilog.losses import lost_share
from masim.scenario.fit.apilog.profile import write_api_profile
from masim.scenario.fit.apilog.result import ApiLogFit, EndpointFit
from masim.units import DAY, MINUTE, duration_s

if TYPE_CHECKING:
    from rich.table import Table


def fit(file: Path, options: FitOptions) -> ApiLogFit:
    """Fit a log. Raises ConfigError for impossible options."""
    if options.unit not in (None, "s", "ms"):
        raise ConfigError("unknown unit", "--unit", str(options.unit), "s, ms", "")
    return fit_api_log(
        file,
        LogOptions(
            columns=pairs("--column", options.column),
            unit=options.unit,
            verbs=pairs("--map", options.map),
            timeout_s=None if options.timeout is None else deadline_s(options.timeout),
            vendor=options.vendor,
        ),
    )


def pairs(option: str, settings: Sequence[str]) -> dict[str, str]:
    """Split ``A=B`` at the last ``=``. Raises ConfigError where there is none."""
    split = [setting.rpartition("=") for setting in settings]
    for setting, (left, _, right) in zip(settings, split, strict=True):
        if not left.strip() or not right.strip():
            raise ConfigError("not a pair", option, setting, "LEFT=RIGHT", f"for example {option} 'GET /rates=quote'")
    return {left.strip(): right.strip() for left, _, right in split}


def deadline_s(text: str) -> float:
    """Return the client's deadline. Raises ConfigError for what is no duration above 0."""
    try:
        value = duration_s(text)
    except ValueError as error:
        raise ConfigError(str(error), "--timeout", text, "a duration with its unit", "write it as '10 s'") from error
    if value <= 0.0:
        raise ConfigError("no deadline", "--timeout", text, "more than 0 s")
    return value


def write(result: ApiLogFit, out: Path) -> str:
    """Write the profile; return what was done."""
    write_api_profile(result, out)
    return f"wrote {len(result.endpoints)} endpoints to {out}"


def overview(result: ApiLogFit) -> Iterable[str | Table]:
    """Yield what was read, the endpoints, and errors, outages and losses."""
    read = f"{result.n_rows:,} rows, {result.n_calls:,} calls to {len(result.vendors)} vendors"
    yield f"{result.file}: {read}, {result.encoding}, {result.form}, sha256 {result.sha256[:12]}"
    yield f"source of every number: {result.source}; intervals are 95%"
    names = (
        "endpoint",
        ">n",
        ">median s",
        ">as counted",
        ">sigma",
        ">own weight",
        ">5xx",
        ">timeouts",
        ">429",
        ">limit",
    )
    made = table(*names, title="Endpoints (drawn towards their kind)")
    for endpoint in result.endpoints:
        made.add_row(endpoint.verb.value, *figures(endpoint))
    yield made
    yield errors(result)


def figures(endpoint: EndpointFit) -> tuple[str, ...]:
    """Return the cells of one endpoint; a number that nothing supports stays empty."""
    fitted, limit = endpoint.latency, endpoint.limit
    median = "" if fitted is None else fitted.median_s().text()
    spread = "" if fitted is None else fitted.spread().text()
    counts = (f"{n:,}" for n in (endpoint.errors, endpoint.timeouts, endpoint.refused))
    rate = "none seen" if limit is None else f"{limit.rate_per_s.value * MINUTE:.3g}/min, burst {limit.burst}"
    counted = "" if endpoint.raw_median_s is None else f"{endpoint.raw_median_s:.4g}"
    return (f"{endpoint.calls:,}", median, counted, spread, f"{endpoint.own:.2f}", *counts, rate)


def errors(result: ApiLogFit) -> Table:
    """Return errors in good and bad spells, outages and losses, with intervals."""
    spells, outages = result.spells, result.outages
    made = table("what", ">estimate", title="Errors")
    for kind, i in (("reads", 0), ("writes", 1)):
        if spells.good_p:
            made.add_row(f"error per call, {kind}" + (", good" if not spells.why else ""), spells.good_p[i].text())
        if spells.good_p and not spells.why:
            made.add_row(f"error per call, {kind}, bad", spells.bad_p[i].text())
        made.add_row(f"lost calls, {kind}", lost_share(result.endpoints, i == 1).text())
    if spells.bad_share is not None and spells.bad_mean_s is not None:
        made.add_row("share of bad spells", spells.bad_share.text())
        made.add_row("mean length of bad spells", spells.bad_mean_s.text("s"))
    made.add_row("outages", f"{len(outages.outages)} in {outages.watched_s / DAY:.3g} vendor-days")
    if outages.gap_s is not None and outages.length_s is not None:
        made.add_row("mean gap between outages", outages.gap_s.text("s"))
        made.add_row("median length of outages", outages.length_s.text("s"))
    return made
