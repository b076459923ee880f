"""Bad spells of :class:`masim.sim.spec.Transient` and outages: how much of the time, how long, how many calls they hit.

A good spell and the bad one after it renew themselves, so the long-run share of bad time is their mean lengths'
ratio whatever the distribution of the bad ones (renewal reward); calls at fixed times see the same share.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from masim.sim.dists import LogNormal
from masim.sim.plan import Plan
from masim.sim.spec import OutageSpec, Transient
from masim.testing.theory import rig
from masim.testing.theory.check import Case
from masim.units import DAY

REPLICATIONS = 40
SPAN_S = 2 * DAY
SETTING = Transient(good_p=0.3, bad_p=0.9, bad_share=0.3, bad_mean_s=60.0)
OUTAGES = OutageSpec(gap_mean_s=300.0, length=LogNormal(100.0, 0.5))
CALL_EVERY_S = 300.0
Span = tuple[float, float]


def bad_spans(plan: Plan) -> list[Span]:
    """Return the bad spells of a plan's one error setting; the last may be cut by the end of the plan."""
    (ends,) = plan.errors.values()
    times = [*ends, SPAN_S] if len(ends) % 2 else list(ends)
    return list(zip(times[::2], times[1::2], strict=True))


def down_spans(plan: Plan) -> list[Span]:
    """Return the outages of a plan's one vendor."""
    return list(plan.outages[rig.DOCK])


def share(spans: Sequence[Span]) -> float:
    """Return the share of the plan's time that the spans cover."""
    return sum(min(end, SPAN_S) - min(start, SPAN_S) for start, end in spans) / SPAN_S


def mean_length_s(spans: Sequence[Span]) -> float:
    """Return the mean length of the spans that end within the plan."""
    return float(np.mean([end - start for start, end in spans if end < SPAN_S]))


def mean_gap_s(spans: Sequence[Span]) -> float:
    """Return the mean time from the end of a span to the start of the next."""
    return float(np.mean([after[0] - before[1] for before, after in pairwise(spans)]))


def _share_of(code: int, transient: Transient = rig.CALM, outages: OutageSpec | None = None) -> list[float]:
    spec = rig.world(rig.endpoint(transient=transient), outages)
    times = np.arange(CALL_EVERY_S, SPAN_S, CALL_EVERY_S).tolist()
    found = [[a.body.code for a in rig.answers(spec, plan, times)] for plan in rig.plans(spec, REPLICATIONS)]
    return [codes.count(code) / len(codes) for codes in found]


def spell_cases() -> list[Case]:
    """Return the cases of the errors."""
    s = SETTING
    plans = rig.plans(rig.world(rig.endpoint(transient=s)), REPLICATIONS)
    spans = [bad_spans(plan) for plan in plans]
    errors = s.bad_share * s.bad_p + (1.0 - s.bad_share) * s.good_p
    good_s = s.bad_mean_s * (1.0 - s.bad_share) / s.bad_share
    return [
        Case("error spells: share of time bad", "bad_share", s.bad_share, lambda: list(map(share, spans))),
        Case("error spells: mean bad spell, s", "bad_mean", s.bad_mean_s, lambda: list(map(mean_length_s, spans))),
        Case("error spells: mean good spell, s", "bad_mean(1-q)/q", good_s, lambda: list(map(mean_gap_s, spans))),
        Case("error spells: share of calls answered 502", "q·bad_p+(1-q)·good_p", errors, lambda: _share_of(502, s)),
    ]


def outage_cases() -> list[Case]:
    """Return the cases of the outages."""
    o = OUTAGES
    spans = [down_spans(plan) for plan in rig.plans(rig.world(rig.endpoint(), o), REPLICATIONS)]
    down = o.length.mean / (o.length.mean + o.gap_mean_s)
    return [
        Case("outages: share of time down", "L/(G+L)", down, lambda: list(map(share, spans))),
        Case("outages: mean length, s", "m·exp(σ²/2)", o.length.mean, lambda: list(map(mean_length_s, spans))),
        Case("outages: mean gap, s", "G", o.gap_mean_s, lambda: list(map(mean_gap_s, spans))),
        Case("outages: share of calls answered 503", "L/(G+L)", down, lambda: _share_of(503, outages=o)),
    ]


def cases() -> list[Case]:
    """Return the cases of this module."""
    return [*spell_cases(), *outage_cases()]
