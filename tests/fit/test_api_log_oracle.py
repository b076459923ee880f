"""The fit of logs whose truth is known: the simulator's own, and numbers drawn by hand.

1. Latencies, errors in good and bad spells, losses and outages of a probed world lie in the intervals.
2. So do those of a world without bad spells, which is recognised as such.
3. A token bucket is found from its refusals, in rate and burst.
4. Intervals of latencies cover the truth as often as they say, also where the client gives up on many.
5. The likelihood of spells is that of a sum over every path of states; classes of endpoints are fitted apart.
6. Endpoints with few calls are drawn to the others, and those with many are not.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from fit.logs import probe, write_csv

from masim.scenario.fit.apilog.estimates import Estimate
from masim.scenario.fit.apilog.fit import fit_api_log
from masim.scenario.fit.apilog.latency import fit_latency
from masim.scenario.fit.apilog.losses import lost_share
from masim.scenario.fit.apilog.outages import demanded_run
from masim.scenario.fit.apilog.pooling import shrink
from masim.scenario.fit.apilog.result import ApiLogFit
from masim.scenario.fit.apilog.spells import log_likelihood, make_bins
from masim.sim.spec import Verb

TYPICAL = {
    "profiles.apis": "apis-typical-v0",
    "outages": "{gap_mean: '8 h', length: {median: '20 min', sigma: 0.6}}",
}
NO_SPELLS = "{good_p: 0.02, bad_p: 0.02, bad_share: 0, bad_mean: '1 min'}"
STEADY = {
    "profiles.apis": "apis-still-v0",
    **{f"apis.{verb}.transient": NO_SPELLS for verb in ("quote", "tender", "dispatch")},
    "apis.tender.latency": "{median: '6 s', sigma: 0.7}",
}


@pytest.fixture(scope="module")
def typical(tmp_path_factory: pytest.TempPathFactory) -> ApiLogFit:
    rows = probe(TYPICAL, every_s=6.0, episodes=3)
    return fit_api_log(write_csv(rows, tmp_path_factory.mktemp("log") / "typical.csv"))


def known(estimate: Estimate | None) -> Estimate:
    assert estimate is not None
    return estimate


def test_latencies_of_a_probed_world(typical: ApiLogFit) -> None:
    assert (typical.n_rows, len(typical.endpoints)) == (typical.n_calls, 3) and typical.n_calls > 70_000
    truth = {Verb.QUOTE: (4.4, 0.35), Verb.TENDER: (0.33, 1.41), Verb.DISPATCH: (0.33, 1.41)}
    for endpoint in typical.endpoints:
        assert endpoint.latency is not None
        median, sigma = truth[endpoint.verb]
        assert endpoint.latency.median_s().covers(median)
        assert endpoint.latency.spread().covers(sigma)
        assert endpoint.latency.median_s().high / endpoint.latency.median_s().low < 1.06
        assert endpoint.limit is None and endpoint.refused == 0


def test_errors_and_losses_of_a_probed_world(typical: ApiLogFit) -> None:
    spells = typical.spells
    assert spells.why == ""
    assert all(known(p).covers(truth) for p, truth in zip(spells.good_p, (0.005, 0.008), strict=True))
    assert all(known(p).covers(truth) for p, truth in zip(spells.bad_p, (0.3, 0.35), strict=True))
    assert known(spells.bad_share).covers(0.04) and known(spells.bad_mean_s).covers(300.0)
    assert lost_share(typical.endpoints, writes=False).covers(0.001)
    assert lost_share(typical.endpoints, writes=True).covers(0.004 + 0.006)
    assert not typical.split.measured


def test_outages_of_a_probed_world(typical: ApiLogFit) -> None:
    outages = typical.outages
    assert known(outages.gap_s).covers(8 * 3600.0)
    assert known(outages.length_s).covers(1200.0)
    assert known(outages.sigma).covers(0.6)
    assert outages.watched_s == pytest.approx(3 * 3 * 40 * 3600.0, rel=0.01)  # 3 episodes, 3 vendors


def numbers(fit: ApiLogFit) -> dict[str, tuple[Estimate | None, float]]:
    """Return every estimate of a typical world beside its truth."""
    spells, outages = fit.spells, fit.outages
    truth = {Verb.QUOTE: (4.4, 0.35), Verb.TENDER: (0.33, 1.41), Verb.DISPATCH: (0.33, 1.41)}
    found: dict[str, tuple[Estimate | None, float]] = {
        "lost reads": (lost_share(fit.endpoints, writes=False), 0.001),
        "lost writes": (lost_share(fit.endpoints, writes=True), 0.01),
        "gap": (outages.gap_s, 8 * 3600.0),
        "length": (outages.length_s, 1200.0),
        "sigma of lengths": (outages.sigma, 0.6),
        "bad share": (spells.bad_share, 0.04),
        "bad mean": (spells.bad_mean_s, 300.0),
    }
    for i, (good, bad) in enumerate(((0.005, 0.3), (0.008, 0.35))):
        found |= {f"good {i}": (spells.good_p[i], good), f"bad {i}": (spells.bad_p[i], bad)}
    for endpoint in fit.endpoints:
        assert endpoint.latency is not None
        median, sigma = truth[endpoint.verb]
        found[f"median {endpoint.verb}"] = (endpoint.latency.median_s(), median)
        found[f"sigma {endpoint.verb}"] = (endpoint.latency.spread(), sigma)
    return found


@pytest.mark.slow
def test_intervals_cover_over_many_worlds(tmp_path: Path) -> None:
    hits: dict[str, int] = {}
    for world in range(20):
        rows = probe(TYPICAL, every_s=10.0, episodes=2, first=1000 + 10 * world)
        for name, (estimate, truth) in numbers(fit_api_log(write_csv(rows, tmp_path / "log.csv"))).items():
            hits[name] = hits.get(name, 0) + (estimate is not None and estimate.covers(truth))
    assert min(hits.values()) >= 15, hits
    assert sum(hits.values()) >= 0.9 * 20 * len(hits), hits


def test_one_probability_is_told_from_two_states(tmp_path: Path) -> None:
    fit = fit_api_log(write_csv(probe(STEADY, every_s=20.0, episodes=1), tmp_path / "steady.csv"))
    assert fit.spells.why == "two states explain the errors no better than one probability"
    assert all(p.covers(0.02) for p in fit.spells.good_p)
    assert fit.outages.outages == () and fit.outages.gap_s is None
    (tender,) = (endpoint for endpoint in fit.endpoints if endpoint.verb is Verb.TENDER)
    assert tender.latency is not None and tender.latency.late > 300  # a quarter is later than the client's 10 s
    assert tender.latency.median_s().covers(6.0) and tender.latency.spread().covers(0.7)
    assert tender.latency.lost.covers(0.0)


@pytest.mark.parametrize(("rate", "burst", "every_s"), [("12/min", 4, 1.0), ("60/min", 10, 0.2)])
def test_token_bucket(tmp_path: Path, rate: str, burst: int, every_s: float) -> None:
    settings = {"profiles.apis": "apis-calm-v0", "apis.tender.rate_limit": f"{{rate: '{rate}', burst: {burst}}}"}
    rows = probe(settings, every_s, 1, [Verb.TENDER], hours=every_s)
    (tender,) = fit_api_log(write_csv(rows, tmp_path / "limit.csv")).endpoints
    assert tender.limit is not None and tender.refused > 100
    assert tender.limit.rate_per_s.covers(float(rate.split("/")[0]) / 60.0)
    assert tender.limit.rate_per_s.high / tender.limit.rate_per_s.low < 1.2
    assert abs(tender.limit.burst - burst) <= 1
    assert not tender.limit.poor


@pytest.mark.parametrize(
    ("median", "sigma", "lost", "deadline"),
    [(0.33, 1.41, 0.01, 10.0), (8.6, 0.6, 0.0, 10.0), (4.4, 0.35, 0.0, 10.0), (0.3, 0.6, 0.05, 10.0)],
)
def test_intervals_cover_as_often_as_they_say(median: float, sigma: float, lost: float, deadline: float) -> None:
    rng = np.random.default_rng(7)
    hits = np.zeros(3)
    for _ in range(200):
        latency = median * np.exp(sigma * rng.standard_normal(400))
        in_time = (rng.random(400) >= lost) & (latency <= deadline)
        fit = fit_latency(latency[in_time], int((~in_time).sum()), deadline)
        assert fit is not None
        hits += [fit.median_s().covers(median), fit.spread().covers(sigma), fit.lost.covers(lost)]
    assert (hits >= 180).all()  # 95% of 200, three standard errors below


def test_likelihood_of_spells_is_the_sum_over_all_paths() -> None:
    t_s = np.array([0.0, 3.0, 4.0, 60.0, 61.0, 200.0])
    kind, error = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    good, bad, bad_share, mean_s = np.array([0.01, 0.02]), np.array([0.3, 0.5]), 0.1, 40.0
    total = 0.0
    for path in itertools.product((0, 1), repeat=len(t_s)):
        weight = bad_share if path[0] else 1.0 - bad_share
        for i, state in enumerate(path):
            if i:
                keep = np.exp(-(t_s[i] - t_s[i - 1]) / (mean_s * (1.0 - bad_share)))
                stationary = bad_share if state else 1.0 - bad_share
                weight *= stationary * (1.0 - keep) + keep * (state == path[i - 1])
            p = (bad if state else good)[int(kind[i])]
            weight *= p if error[i] else 1.0 - p
        total += weight
    bins, width_s = make_bins([(t_s, kind, error), (t_s, kind, error)], 2)
    assert width_s == 0.0
    assert log_likelihood(bins, good, bad, bad_share, mean_s) == pytest.approx(2.0 * np.log(total))


def test_runs_that_make_an_outage() -> None:
    # 100 errors, half of the calls in bad spells fail: 100 * 0.5**k <= 0.05 from k = 10.97 on
    assert demanded_run(0.5, 100) == 11
    assert demanded_run(0.01, 100) == 6


def test_stray_latencies_do_not_move_the_fit() -> None:
    rng = np.random.default_rng(3)
    latency = 0.4 * np.exp(0.5 * rng.standard_normal(2000))
    clean = fit_latency(latency, 0, None)
    latency[:100] = 150.0
    dirty = fit_latency(latency, 0, None)
    assert clean is not None and dirty is not None
    assert dirty.mu == pytest.approx(clean.mu, abs=0.06) and dirty.sigma < 1.2 * clean.sigma
    assert dirty.heavy and not clean.heavy


def test_shrinking_by_hand() -> None:
    # errors of 1: weights 1; mean 4, spread 32 about it, room 2 - 1 = 1 -> tau^2 = (32 - 1) / 1 = 31
    first, second = shrink([0.0, 8.0], [1.0, 1.0])
    assert first.own == second.own == pytest.approx(31 / 32)
    assert (first.value, second.value) == (pytest.approx(4 / 32), pytest.approx(8 - 4 / 32))
    alike = shrink([1.0, 1.5], [1.0, 1.0])
    assert [drawn.value for drawn in alike] == [1.25, 1.25] and alike[0].se == pytest.approx(0.5**0.5)
    few, many = shrink([0.0, 1.0, 3.0, 2.0], [2.0, 0.01, 0.01, 0.01])[:2]
    assert many.value == pytest.approx(1.0, abs=1e-3) and few.value > 1.0
    assert shrink([5.0], [9.0])[0].value == 5.0
