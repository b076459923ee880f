"""A fitted profile as a YAML file that scenarios can name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import yaml

from masim.errors import DataError
from masim.scenario.fit.result import Carrier, FitResult, LateDays, ModePrior, Shares, Spread
from masim.scenario.fit.shrink import BetaPrior

SCHEMA = 1
DIGITS = 4

Plain = dict[str, object]


def write_profile(result: FitResult, out: Path) -> None:
    """Write the profile whole or not at all. Its id is the file's name. Raises DataError when it cannot be written."""
    write_whole(render_profile(result, out.name.removesuffix(".yaml").removesuffix(".yml")), out)


def write_whole(text: str, out: Path) -> None:
    """Write a text whole or not at all. Raises DataError when it cannot be written."""
    if out.is_dir():
        raise DataError("cannot be written: this is a folder", str(out), "", "", "name the profile's file inside it")
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(out)
    except OSError as error:
        fix = "name a file in a folder that you can write to"
        raise DataError(f"cannot be written: {error.strerror}", str(out), "", "", fix) from error
    finally:
        with contextlib.suppress(OSError):  # what is left of a failed write may not even be reachable
            part.unlink(missing_ok=True)


def render_profile(result: FitResult, profile_id: str) -> str:
    """Return the YAML text: what was assumed and dropped as comments, then the document."""
    comment = render_head(result.kind, result.file, result.sha256, result.assumed, result.dropped)
    document = _document(result, profile_id)
    # default_flow_style=None puts innermost mappings on one line: the file stays readable
    body = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)
    return f"{comment}\n{body}"


def render_head(kind: str, file: str, sha256: str, assumed: Iterable[str], dropped: Iterable[tuple[str, int]]) -> str:
    """Return the comment that opens a fitted profile: the file, what was assumed and what was dropped."""
    notes = [f"Fitted by `masim fit {kind} {file}` (sha256 {sha256[:16]}...).", "", "Assumed:"]
    notes += [f"- {note}" for note in assumed]
    notes += ["", "Dropped:", *(f"- {count:,} x {reason}" for reason, count in dropped)]
    return "\n".join(f"# {note}".rstrip() for note in notes)


def _document(result: FitResult, profile_id: str) -> Plain:
    """Return the profile as plain values."""
    return {
        "schema": SCHEMA,
        "kind": "carriers",
        "id": profile_id,
        "source": result.profile.source,
        "prior": {prior.mode: _prior(prior) for prior in result.profile.priors},
        "carriers": [_carrier(carrier) for carrier in result.profile.carriers],
    }


def _prior(prior: ModePrior) -> Plain:
    """One mode."""
    measures = prior.measures
    return {
        "n": prior.shares.n,
        **_shares(prior.shares),
        "late_prior": _beta(prior.late),
        "early_of_rest_prior": _beta(prior.early_of_rest),
        "late_days": _late_days(measures.late_days),
        "lead_days": _spread(measures.lead_days),
        "quote_lead_days": _spread(measures.quote_lead_days),
        "cents_per_kg": _spread(measures.cents_per_kg),
        "from_all_modes": list(prior.borrowed),
    }


def _carrier(carrier: Carrier) -> Plain:
    """One vendor."""
    price = carrier.measures.cents_per_kg
    return {
        "id": carrier.id,
        "name": carrier.name,
        "n": carrier.n,
        "mode": carrier.mode,
        **_shares(carrier.shares),
        "raw_on_time": round(carrier.raw.on_time, DIGITS),
        "late_days": _late_days(carrier.measures.late_days),
        "lead_days": _spread(carrier.measures.lead_days),
        "cents_per_kg": None if price is None else round(price.median, 1),
        "cents_per_kg_n": 0 if price is None else price.n,
        "lanes": [{"to": lane.to, "n": lane.n} for lane in carrier.lanes],
        "source": _source(carrier),
    }


def _source(carrier: Carrier) -> str:
    """Say where a vendor's numbers come from."""
    base = f"[M] SCMS delivery history, n={carrier.n}"
    return f"{base}; from the prior of its mode: {', '.join(carrier.borrowed)}" if carrier.borrowed else base


def _shares(shares: Shares) -> Plain:
    """Rounded so that the three still add up to 1."""
    early, late = round(shares.early, DIGITS), round(shares.late, DIGITS)
    return {"on_time": max(0.0, round(1.0 - early - late, DIGITS)) if shares.n else 0.0, "early": early, "late": late}


def _beta(prior: BetaPrior) -> Plain:
    """Mean share, strength in deliveries, and what they rest on."""
    strength = round(prior.strength, DIGITS)
    return {"mean": round(prior.mean, DIGITS), "strength": strength, "n": prior.n, "vendors": prior.vendors}


def _late_days(late: LateDays | None) -> Plain | None:
    """Median and sigma of a log-normal, in days."""
    if late is None:
        return None
    return {"median": round(late.median, DIGITS), "sigma": round(late.sigma, DIGITS), "n": late.n}


def _spread(spread: Spread | None) -> Plain | None:
    """Median and 90th percentile."""
    if spread is None:
        return None
    return {"median": round(spread.median, 1), "p90": round(spread.p90, 1), "n": spread.n}
