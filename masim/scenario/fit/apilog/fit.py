"""An APIs profile from a log of calls: latencies, errors, outages, limits and lost calls, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from masim.arrays import F64, Bool
from masim.errors import DataError
from masim.scenario.fit.apilog.ambiguous import split_losses
from masim.scenario.fit.apilog.assumed import assumptions
from masim.scenario.fit.apilog.calls import Calls, LogOptions, read_calls
from masim.scenario.fit.apilog.cells import TIMEOUT
from masim.scenario.fit.apilog.latency import LatencyFit, fit_latency
from masim.scenario.fit.apilog.limits import fit_limit
from masim.scenario.fit.apilog.outages import MIN_RUN, OutageFit, demanded_run, find_outages, fit_outages
from masim.scenario.fit.apilog.pooling import shrink_latencies
from masim.scenario.fit.apilog.result import ApiLogFit, EndpointFit, KindFit
from masim.scenario.fit.apilog.spells import SpellFit, fit_spells, make_bins
from masim.sim.spec import WRITE_VERBS, Verb

KIND = "api-log"


def fit_api_log(path: Path, options: LogOptions | None = None) -> ApiLogFit:
    """Fit a log. Raises DataError when it cannot be read as one or no call was answered."""
    options = options or LogOptions()
    calls = read_calls(path, options)
    outages, inside, spells, width_s = _outages_and_spells(calls)
    deadlines = _deadlines(calls, options.timeout_s)
    verbs = sorted({verb for _, verb in calls.routes}, key=list(Verb).index)
    kinds = [_kind(calls, writes, inside, deadlines) for writes in (False, True)]
    if all(kind.latency is None for kind in kinds):
        _nothing_answered(calls)
    endpoints = _drawn([_endpoint(calls, verb, inside, deadlines) for verb in verbs])
    fit = ApiLogFit(
        kind=KIND,
        file=path.name,
        sha256=calls.log.sha256,
        encoding=calls.log.encoding,
        form=calls.log.form,
        n_rows=calls.n_rows,
        n_calls=len(calls.t_s),
        vendors=calls.vendors,
        start_s=float(calls.t_s[0]),
        end_s=float(calls.t_s[-1]),
        reads=kinds[0],
        writes=kinds[1],
        endpoints=endpoints,
        spells=spells,
        outages=outages,
        split=split_losses(calls),
        assumed=calls.assumed,
        dropped=calls.dropped,
    )
    return replace(fit, assumed=(*calls.assumed, *assumptions(fit, deadlines, options, width_s)))


def _outages_and_spells(calls: Calls) -> tuple[OutageFit, Bool, SpellFit, float]:
    """Tell outages from bad spells: the more errors there are in bad spells, the longer a run must be."""
    run = MIN_RUN
    while True:
        found, inside, watch = find_outages(calls, run)
        groups = [_errors_of(calls, vendor, inside) for vendor in calls.vendors]
        if not any(len(t_s) for t_s, _, _ in groups):
            return fit_outages(found, watch, run), inside, SpellFit((), (), None, None, "only outages"), 0.0
        bins, width_s = make_bins(groups, 2)
        spells = fit_spells(bins)
        needed = demanded_run(max(p.value for p in spells.bad_p), int(bins.errors.sum()))
        if needed <= run:
            return fit_outages(found, watch, run), inside, spells, width_s
        run = needed


def _errors_of(calls: Calls, vendor: str, inside: Bool) -> tuple[F64, F64, F64]:
    """Return time, kind (1: write) and whether it failed, of a vendor's calls that came through to it."""
    rows = calls.of(vendor=vendor) & ~inside & (calls.code != TIMEOUT) & (calls.code != 429)
    writes = calls.of(verbs=list(WRITE_VERBS))
    return calls.t_s[rows], writes[rows].astype(float), (calls.code[rows] >= 500).astype(float)


def _deadlines(calls: Calls, said_s: float | None) -> dict[Verb, float]:
    """Return the client's deadline of each endpoint with timeouts: said, or read off the calls that timed out."""
    deadlines: dict[Verb, float] = {}
    for verb in {verb for _, verb in calls.routes}:
        rows = calls.of(verbs=[verb])
        waited = calls.latency_s[rows & (calls.code == TIMEOUT)]
        answered = calls.latency_s[rows & (calls.code != TIMEOUT)]
        known, longest = waited[waited > 0.0], answered[answered > 0.0]
        if len(waited):
            seen = float(np.median(known)) if len(known) else float(longest.max()) if len(longest) else 1.0
            deadlines[verb] = seen if said_s is None else said_s
    return deadlines


def _latency_of(calls: Calls, rows: Bool, deadline_s: float | None) -> LatencyFit | None:
    answered = rows & (calls.code >= 200) & (calls.code < 500) & (calls.code != 429) & (calls.latency_s >= 0.0)
    late = int((rows & (calls.code == TIMEOUT)).sum())
    return fit_latency(calls.latency_s[answered], late, deadline_s)


def _kind(calls: Calls, writes: bool, inside: Bool, deadlines: dict[Verb, float]) -> KindFit:
    own = [verb for _, verb in calls.routes if (verb in WRITE_VERBS) is writes]
    rows = calls.of(verbs=own) & ~inside
    deadline_s = float(np.median([deadlines[v] for v in own if v in deadlines] or [0.0])) or None
    return KindFit(writes, int(rows.sum()), _latency_of(calls, rows, deadline_s))


def _endpoint(calls: Calls, verb: Verb, inside: Bool, deadlines: dict[Verb, float]) -> EndpointFit:
    rows = calls.of(verbs=[verb])
    up = rows & ~inside
    answered = calls.latency_s[up & (calls.code >= 200) & (calls.code < 300)]
    answered = answered[answered >= 0.0]
    groups = [
        (calls.t_s[mine], calls.code[mine] == 429, calls.told[mine])
        for vendor in calls.vendors
        if (mine := up & calls.of(vendor=vendor) & (calls.code >= 0)).any()
    ]
    return EndpointFit(
        verb=verb,
        calls=int(rows.sum()),
        errors=int((up & (calls.code >= 500)).sum()),
        refused=int((rows & (calls.code == 429)).sum()),
        timeouts=int((rows & (calls.code == TIMEOUT)).sum()),
        raw_median_s=float(np.median(answered)) if len(answered) else None,
        latency=_latency_of(calls, up, deadlines.get(verb)),
        own=1.0,
        limit=fit_limit(groups),
    )


def _drawn(endpoints: Sequence[EndpointFit]) -> tuple[EndpointFit, ...]:
    """Return the endpoints with latencies drawn towards those of all reads, or of all writes."""
    drawn = {endpoint.verb: endpoint for endpoint in endpoints}
    for writes in (False, True):
        some = [e for e in endpoints if (e.verb in WRITE_VERBS) is writes and e.latency is not None]
        fits, own = shrink_latencies([e.latency for e in some if e.latency is not None])
        for endpoint, fit, weight in zip(some, fits, own, strict=True):
            drawn[endpoint.verb] = replace(endpoint, latency=fit, own=weight)
    return tuple(drawn.values())


def _nothing_answered(calls: Calls) -> None:
    codes, counts = np.unique(calls.code, return_counts=True)
    shown = ", ".join(f"{n:,} x {c or 'timeout'}" for c, n in zip(codes.tolist(), counts.tolist(), strict=True))
    fix = "give a log with answers, or check which column holds the status (--column status=NAME)"
    where = calls.log.at(calls.log.header_line + (calls.log.form == "CSV"))
    raise DataError("hardly any call was answered: no latency can be fitted", where, shown, "8 answers or more", fix)
