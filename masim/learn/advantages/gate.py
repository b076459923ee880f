"""The gate of ProGPO: which comparison groups have failed, and what an update's log says of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.learn.advantages.base import Frame
from masim.learn.reduce import cell_sum, group_stats


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
class Gate:
    """Which comparison groups can be judged, have failed, or have equal outcomes; by sample and by score."""

    eligible_I: Bool
    failed_I: Bool
    equal_I: Bool
    eligible_S: Bool
    failed_S: Bool
    q_fail: float
    groups: int


def judge(frame: Frame, tau_r: float) -> Gate:
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
    return Gate(eligible, failed, equal, eligible[of_S], failed[of_S], q_fail, groups)


def _count(flag_I: Bool, key_I: I64) -> int:
    return len(np.unique(key_I[flag_I]))


def report(
    frame: Frame, gate: Gate, due_S: Bool, spoke_S: Bool, progress_S: F64, lam: float, fallback_N: F64, total_N: F64
) -> Progress:
    """Return what is logged of one update."""
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
