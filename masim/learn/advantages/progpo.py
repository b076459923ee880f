"""ProGPO (arXiv 2607.22724): when every rollout of a group fails, rank them by how much of the world they saw.

A wrapper around any base estimator. Outside all-failed groups the base stays untouched. The lambda rule is known from
a single source; the rest (gate, coverage, population standard deviation, thresholds) from independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.reduce import cell_sum, dense, first_visits, group_stats

Control = Literal["none", "off", "shuffled", "random", "always_on"]
_CHOICES = {
    "keys": ("canonical", "exact"),
    "coverage": ("rate", "horizon"),
    "lambda_rule": ("q_fail", "fixed"),
    "control": ("none", "off", "shuffled", "random", "always_on"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """What the gate saw, per update. Shares are over comparison groups with at least two live members."""

    all_failed: float
    """Share of groups in which no live rollout has an outcome."""
    equal_outcome: float
    """Share of groups whose outcomes are all equal: those the base estimator learns nothing from."""
    triggered: float
    """Share of groups in which coverage spoke (segments: in at least one comparison)."""
    degenerate: float
    """Share of groups that were due but whose coverage was all equal."""
    lambda_eff: float
    progress_mean: float
    progress_std: float
    """Population standard deviation of coverage over all live scores."""
    progress_rank: float | None
    """Spearman correlation of coverage with completed subtasks; None where the scenario marks none."""
    fallback_mass: float
    """Share of the outcome |A| that comes from coverage."""


@dataclass(frozen=True, slots=True)
class Progpo:
    """Options of the wrapper, and the wrapper.

    ``keys``: ``exact`` as published; ``canonical`` (ours) ignores clocks and ids, with which every observation is new
    and nothing can fire. ``coverage``: ``rate`` first visits per decision, ``(D - 1) / T``; ``horizon`` per ``t_cap``
    decisions, for tasks that can end early (ending early maximises a rate). ``lambda_rule``: ``q_fail`` scales
    ``lambda_aux`` by the share of all-failed groups, ``fixed`` does not. ``control``: ``none`` is the method;
    ``off`` measures only; ``shuffled`` and ``random`` replace coverage inside gated groups; ``always_on`` drops the
    gate and adds coverage to the base in every group.

    Raises ConfigError on values outside these and on ``t_cap`` without ``horizon`` (or the reverse).
    """

    lambda_aux: float = 0.3
    lambda_rule: Literal["q_fail", "fixed"] = "q_fail"
    keys: Literal["canonical", "exact"] = "canonical"
    coverage: Literal["rate", "horizon"] = "rate"
    t_cap: int | None = None
    control: Control = "none"
    tau_r: float = 1e-3
    tau_p: float = 1e-4
    eps: float = 1e-6

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ConfigError("unknown option", f"progpo.{name}", repr(getattr(self, name)), ", ".join(allowed))
        for name in ("lambda_aux", "tau_r", "tau_p", "eps"):
            if getattr(self, name) <= 0:
                raise ConfigError("must be positive", f"progpo.{name}", str(getattr(self, name)), "> 0")
        if (self.coverage == "horizon") != (self.t_cap is not None and self.t_cap > 0):
            fix = "set both coverage: horizon and t_cap >= 1, or neither"
            raise ConfigError("coverage and t_cap disagree", "progpo.t_cap", str(self.t_cap), "", fix)

    def __call__(self, frame: Frame, base_N: F64) -> tuple[F64, Progress]:
        """Return (N,) outcome advantages and what the gate saw; ``base_N`` are the base estimator's."""
        progress_S = self.progress(frame)
        groups = _gate(frame, self.tau_r)
        due_S = groups.eligible_S if self.control == "always_on" else groups.failed_S
        lam = self.lambda_aux * (groups.q_fail if self.lambda_rule == "q_fail" else 1.0)
        stats = group_stats(self._ranked(frame, progress_S), frame.key_S, frame.units.scores.live)
        spoke_S = due_S & (stats.std(0) >= self.tau_p) & (stats.size > 1)
        fallback_N = frame.spread(np.where(spoke_S, lam * stats.deviation / (stats.std(0) + self.eps), 0.0))
        advantage = self._combine(frame, base_N, fallback_N, groups.failed_S)
        if self.control == "off":
            lam, fallback_N = 0.0, np.zeros(len(base_N))
        return advantage, _report(frame, groups, due_S, spoke_S, progress_S, lam, fallback_N, advantage)

    def failed_N(self, frame: Frame) -> Bool:
        """Return (N,) which decisions belong to an all-failed group."""
        return _gate(frame, self.tau_r).failed_S[frame.units.scores.of_N]

    def progress(self, frame: Frame) -> F64:
        """Return (S,) coverage of each score: first visits over its decisions (or over ``t_cap``).

        What an earlier segment of the sample has seen is no longer new; a team counts what each member saw.
        """
        table, live = frame.table, frame.units.live_N
        key, after = (table.obs_key, table.next_obs_key)
        if self.keys == "exact":
            key, after = (table.obs_key_exact, table.next_obs_key_exact)
        visitor = dense(table.rollout_id, table.agent)[0][live]
        new = np.zeros(len(live))
        new[live] = first_visits(visitor, table.turn[live], key[live], after[live])
        scores = frame.units.scores
        count = cell_sum(new, scores.of_N, len(scores))
        return count / np.maximum(scores.n if self.t_cap is None else self.t_cap, 1)

    def _ranked(self, frame: Frame, progress_S: F64) -> F64:
        draws = np.random.Generator(np.random.Philox(frame.seed)).random(len(progress_S))
        if self.control == "random":
            return draws
        if self.control != "shuffled":
            return progress_S
        members = np.flatnonzero(frame.units.scores.live)
        before = members[np.lexsort((members, frame.key_S[members]))]
        after = members[np.lexsort((draws[members], frame.key_S[members]))]
        shuffled = progress_S.copy()
        shuffled[before] = progress_S[after]
        return shuffled

    def _combine(self, frame: Frame, base_N: F64, fallback_N: F64, failed_S: Bool) -> F64:
        if self.control == "off":
            return base_N
        if self.control == "always_on":
            return base_N + fallback_N
        return np.where(failed_S[frame.units.scores.of_N], fallback_N, base_N)


@dataclass(frozen=True, slots=True)
class _Gate:
    eligible_I: Bool
    failed_I: Bool
    equal_I: Bool
    eligible_S: Bool
    failed_S: Bool
    q_fail: float
    groups: int


def _gate(frame: Frame, tau_r: float) -> _Gate:
    """Judge each comparison group on the outcome channel alone, by whole samples (never by single segments)."""
    samples = frame.units.samples
    missed = samples.live & (np.abs(samples.out) < tau_r)
    size = group_stats(missed.astype(np.float64), frame.key_I, samples.live)
    outcome = group_stats(samples.out, frame.key_I, samples.live)
    eligible = size.size > 1
    failed = eligible & (size.mean == 1.0)
    equal = eligible & outcome.equal()
    groups = _count(eligible, frame.key_I)
    q_fail = _count(failed, frame.key_I) / max(groups, 1)
    of_S = frame.units.sample_S
    return _Gate(eligible, failed, equal, eligible[of_S], failed[of_S], q_fail, groups)


def _count(flag_I: Bool, key_I: I64) -> int:
    return len(np.unique(key_I[flag_I]))


def _report(
    frame: Frame, gate: _Gate, due_S: Bool, spoke_S: Bool, progress_S: F64, lam: float, fallback_N: F64, total_N: F64
) -> Progress:
    n, scores, live = max(gate.groups, 1), frame.units.scores, frame.units.scores.live
    key_of_S = frame.key_I[frame.units.sample_S]
    due, spoke = set(key_of_S[due_S].tolist()), set(key_of_S[spoke_S].tolist())
    mass = float(np.abs(total_N).sum())
    seen = progress_S[live] if live.any() else np.zeros(1)
    done = cell_sum(np.where(frame.units.live_N, frame.table.subtask_end, 0.0), scores.of_N, len(scores))
    return Progress(
        all_failed=gate.q_fail,
        equal_outcome=_count(gate.equal_I, frame.key_I) / n,
        triggered=0.0 if lam == 0.0 else len(spoke) / n,
        degenerate=len(due - spoke) / n,
        lambda_eff=lam,
        progress_mean=float(seen.mean()),
        progress_std=float(seen.std()),
        progress_rank=_rank_correlation(progress_S[live], done[live]),
        fallback_mass=float(np.abs(fallback_N).sum()) / mass if mass > 0 else 0.0,
    )


def _rank_correlation(left: F64, right: F64) -> float | None:
    if len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return None
    from scipy.stats import spearmanr

    return float(spearmanr(left, right).statistic)
