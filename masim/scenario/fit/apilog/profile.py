"""A fitted log as an APIs profile in YAML, each number with its source, interval and count."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from masim.scenario.fit.apilog.estimates import Estimate
from masim.scenario.fit.apilog.latency import LatencyFit
from masim.scenario.fit.apilog.limits import LimitFit
from masim.scenario.fit.apilog.losses import lost_share
from masim.scenario.fit.apilog.outages import KNOWN_SIGMA, OutageFit
from masim.scenario.fit.apilog.result import ApiLogFit, EndpointFit, KindFit
from masim.scenario.fit.profile import render_head, write_whole
from masim.units import DAY, MINUTE

Plain = dict[str, object]
MAX_GAP_S = 366 * DAY
MAX_SIGMA = 5.0
MESSAGES: Plain = {
    "delay": {"median": "2 s", "sigma": 1.3},
    "lost_p": 0.005,
    "duplicate_p": 0.05,
    "source": "[I] not in a log of calls: webhooks as in apis-typical-v0",
}
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*-v[0-9]{1,4}")


def write_api_profile(fit: ApiLogFit, out: Path) -> None:
    """Write the profile whole or not at all. Raises DataError when it cannot be written."""
    write_whole(render_api_profile(fit, out.name.removesuffix(".yaml").removesuffix(".yml")), out)


def render_api_profile(fit: ApiLogFit, name: str) -> str:
    """Return the YAML text. Its id is the name, with a version where the name has none."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_") or "apis"
    document: Plain = {
        "schema": 1,
        "id": plain if _ID.fullmatch(plain) else f"{plain}-v0",
        "title": f"APIs as in {fit.file}",
        "description": f"{fit.n_calls:,} calls to {len(fit.vendors)} vendors. Intervals are 95%.",
        "reads": _kind(fit, fit.reads, fit.writes),
        "writes": _kind(fit, fit.writes, fit.reads),
        "apis": {e.verb.value: own for e in fit.endpoints if (own := _endpoint(fit, e))},
        "messages": MESSAGES,
        "outages": _outages(fit),
    }
    # default_flow_style=None puts innermost mappings on one line: the file stays readable
    body = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, allow_unicode=True, width=1000)
    return (
        f"{render_head(fit.kind, fit.file, fit.sha256, fit.assumed, fit.dropped)}\n{_spell_comment(fit.outages)}{body}"
    )


def _spell_comment(outages: OutageFit) -> str:
    return "" if outages.outages else "# outages: none in the log\n"


def _kind(fit: ApiLogFit, kind: KindFit, other: KindFit) -> Plain:
    """Numbers of all reads, or of all writes."""
    own = kind.latency is not None
    latency = kind.latency if kind.latency is not None else other.latency
    lost = lost_share(fit.endpoints, kind.writes) if own else Estimate(0.0, 0.0, 1.0, 0)
    took = fit.split.took_effect.value if kind.writes else 0.0
    split = f", {took:.0%} of them took effect ({'n=' + str(fit.split.took_effect.n) if fit.split.measured else '[I]'})"
    return {
        "latency": None if latency is None else _latency(fit, latency, "" if own else "[I] as the others; "),
        "transient": _transient(fit, kind),
        "rate_limit": None,
        "lost_request_p": _round(lost.value * (1.0 - took)),
        "lost_response_p": _round(lost.value * took),
        "source": f"{fit.source}: lost {lost.text()}, n={lost.n:,}{split if kind.writes else ''}; limits are below",
    }


def _endpoint(fit: ApiLogFit, endpoint: EndpointFit) -> Plain:
    """What differs for one endpoint."""
    own: Plain = {}
    if endpoint.latency is not None:
        drawn = f"; its own median has weight {endpoint.own:.2f}" if endpoint.own < 0.995 else ""
        own["latency"] = _latency(fit, endpoint.latency, "", drawn)
    if endpoint.limit is not None:
        own["rate_limit"] = _limit(fit, endpoint.limit)
    return own


def _latency(fit: ApiLogFit, latency: LatencyFit, mark: str, more: str = "") -> Plain:
    median, spread = latency.median_s(), latency.spread()
    late = f", {latency.late:,} timeouts at {latency.deadline_s:g} s" if latency.deadline_s is not None else ""
    text = f"{mark}{fit.source}, n={latency.n:,}{late}: median {median.text('s')}, sigma {spread.text()}{more}"
    return {"median": _seconds(median.value), "sigma": _round(min(spread.value, MAX_SIGMA)), "source": text}


def _transient(fit: ApiLogFit, kind: KindFit) -> Plain:
    """Two states, or one probability for both."""
    spells = fit.spells
    if not spells.good_p:
        why = f"[I] {fit.file} does not show transient errors: {spells.why}"
        return {"good_p": 0.0, "bad_p": 0.0, "bad_share": 0.0, "bad_mean": "1 min", "source": why}
    good, bad = spells.good_p[kind.writes], spells.bad_p[kind.writes]
    if spells.bad_share is None or spells.bad_mean_s is None:
        p = _round(good.value)
        text = f"{fit.source}, n={good.n:,}: {good.text()}; one state: {spells.why}"
        return {"good_p": p, "bad_p": p, "bad_share": 0.0, "bad_mean": "1 min", "source": text}
    parts = (f"good {good.text()}", f"bad {bad.text()}", f"share {spells.bad_share.text()}")
    text = f"{fit.source}, n={good.n:,}: {', '.join(parts)}, mean {spells.bad_mean_s.text('s')}"
    return {
        "good_p": _round(good.value),
        "bad_p": _round(bad.value),
        "bad_share": _round(spells.bad_share.value),
        "bad_mean": _seconds(spells.bad_mean_s.value),
        "source": text,
    }


def _limit(fit: ApiLogFit, limit: LimitFit) -> Plain:
    per_min = limit.rate_per_s.times(MINUTE)
    text = f"{fit.source}, n={limit.refused:,} refusals: {per_min.text('per min')}, {limit.disagree} calls disagree"
    return {
        "rate": f"{per_min.value:.4g}/min",
        "burst": limit.burst,
        "retry_after": limit.retry_after,
        "source": text,
    }


def _outages(fit: ApiLogFit) -> Plain | None:
    outages = fit.outages
    if outages.gap_s is None or outages.length_s is None:
        return None
    gap, length = outages.gap_s, outages.length_s
    days, minutes = gap.times(1.0 / DAY), length.times(1.0 / MINUTE)
    spread = f"sigma {outages.sigma.text()}" if outages.sigma is not None else "sigma is that of uptime histories"
    sigma = outages.sigma.value if outages.sigma is not None else KNOWN_SIGMA
    return {
        "gap_mean": f"{min(gap.value, MAX_GAP_S) / DAY:.4g} d",
        "length": {
            "median": f"{minutes.value:.4g} min",
            "sigma": _round(min(sigma, MAX_SIGMA)),
            "source": f"{fit.source}, n={length.n}: median {minutes.text('min')}, {spread}",
        },
        "source": f"{fit.source}, n={gap.n} outages in {outages.watched_s / DAY:.3g} vendor-days: {days.text('d')}",
    }


def _seconds(value_s: float) -> str:
    return f"{value_s:.4g} s"


def _round(value: float) -> float:
    return float(f"{value:.4g}")
