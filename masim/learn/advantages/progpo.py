"""ProGPO (arXiv 2607.22724): when every rollout of a group fails, rank them by how much of the world they saw.

A wrapper around any base estimator. Outside all-failed groups the base stays untouched. The lambda rule is known from
a single source; the rest (gate, coverage, population standard deviation, thresholds) from independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from masim.arrays import F64, Bool
from masim.errors import ConfigError
from masim.learn.advantages.base import Estimator, Frame
from masim.learn.advantages.gate import Progress, judge, report
from masim.learn.reduce import cell_any, cell_sum, dense, first_visits, group_stats, in_order, rank_within

Control = Literal["none", "off", "shuffled", "random", "always_on"]
_CHOICES = {
    "keys": ("canonical", "exact"),
    "coverage": ("rate", "horizon"),
    "form": ("trajectory", "step"),
    "waiting": ("counted", "excluded"),
    "lambda_rule": ("q_fail", "fixed"),
    "control": ("none", "off", "shuffled", "random", "always_on"),
}


@runtime_checkable
class StepComparing(Protocol):
    """A base estimator that compares decisions by any reward per step."""

    @property
    def step_weight(self) -> float: ...

    def step_part(self, frame: Frame, reward_N: F64) -> F64: ...


@dataclass(frozen=True, slots=True)
class Progpo:
    """Options of the wrapper, and the wrapper.

    ``keys``: ``exact`` as published; ``canonical`` (ours) ignores clocks and ids, with which every observation is new
    and nothing can fire. ``coverage``: ``rate`` first visits per decision, ``(D - 1) / T``; ``horizon`` per ``t_cap``
    decisions, for tasks that can end early (ending early maximises a rate). ``lambda_rule``: ``q_fail`` scales
    ``lambda_aux`` by the share of all-failed groups, ``fixed`` does not. ``control``: ``none`` is the method;
    ``off`` measures only; ``shuffled`` and ``random`` replace coverage inside gated groups; ``always_on`` drops the
    gate and adds coverage to the base in every group.

    ``form``: ``trajectory`` gives a whole score its coverage. ``step`` (a reconstruction: no primary text available
    here states it) also runs the base estimator on first visits as if they were rewards, ``lambda * (z(P) + w *
    A_S(first visits))``, for bases that compare decisions within states.

    Extensions, off by default: ``waiting: excluded`` leaves decisions that wait out of T, where waiting is necessary
    and would lower a rate (``wait_endpoint`` says which they are; a study fills it in); ``novelty_cap`` counts at most
    so many first visits per agent and endpoint, so that one endpoint's endless answers cannot be farmed.

    Raises ConfigError on values outside these, on ``t_cap`` without ``horizon`` and on ``wait_endpoint`` without
    ``waiting: excluded`` (or the reverse), and on excluded waiting with a horizon, which has no T to leave it out of.
    """

    lambda_aux: float = 0.3
    lambda_rule: Literal["q_fail", "fixed"] = "q_fail"
    keys: Literal["canonical", "exact"] = "canonical"
    coverage: Literal["rate", "horizon"] = "rate"
    t_cap: int | None = None
    form: Literal["trajectory", "step"] = "trajectory"
    waiting: Literal["counted", "excluded"] = "counted"
    wait_endpoint: int | None = None
    novelty_cap: int | None = None
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
        if (self.waiting == "excluded") != (self.wait_endpoint is not None):
            fix = "set both waiting: excluded and wait_endpoint, or neither"
            raise ConfigError("waiting and wait_endpoint disagree", "progpo.wait_endpoint", "", "", fix)
        if self.waiting == "excluded" and self.coverage == "horizon":
            fix = "coverage: rate, or waiting: counted"
            raise ConfigError("a horizon counts no decisions that waiting could leave", "progpo.waiting", "", "", fix)
        if self.novelty_cap is not None and self.novelty_cap < 1:
            raise ConfigError("out of range", "progpo.novelty_cap", str(self.novelty_cap), ">= 1, or null")

    def __call__(self, frame: Frame, base_N: F64, base: Estimator | None = None) -> tuple[F64, Progress]:
        """Return (N,) outcome advantages and what the gate saw; ``base_N`` are those of the estimator ``base``.

        The step form needs ``base`` itself, with a ``step_part``. Raises ConfigError when it has none.
        """
        progress_S = self.progress(frame)
        groups = judge(frame, self.tau_r)
        due_S = groups.eligible_S if self.control == "always_on" else groups.failed_S
        lam = self.lambda_aux * (groups.q_fail if self.lambda_rule == "q_fail" else 1.0)
        stats = group_stats(self._ranked(frame, progress_S), frame.key_S, frame.units.scores.live)
        spoke_S = due_S & (stats.std(0) >= self.tau_p) & (stats.size > 1)
        fallback_N = frame.spread(np.where(spoke_S, lam * stats.deviation / (stats.std(0) + self.eps), 0.0))
        if self.form == "step":
            step_N = np.where(due_S[frame.units.scores.of_N], lam * self._step_part(frame, base), 0.0)
            fallback_N = fallback_N + step_N
            spoke_S = spoke_S | cell_any(step_N != 0.0, frame.units.scores.of_N, len(due_S))
        advantage = self._combine(frame, base_N, fallback_N, groups.failed_S)
        if self.control == "off":
            lam, fallback_N = 0.0, np.zeros(len(base_N))
        return advantage, report(frame, groups, due_S, spoke_S, progress_S, lam, fallback_N, advantage)

    def failed_N(self, frame: Frame) -> Bool:
        """Return (N,) which decisions belong to an all-failed group."""
        return judge(frame, self.tau_r).failed_S[frame.units.scores.of_N]

    def progress(self, frame: Frame) -> F64:
        """Return (S,) coverage of each score: first visits over its decisions (or over ``t_cap``).

        What an earlier segment of the sample has seen is no longer new; a team counts what each member saw.
        """
        scores, of_n = frame.units.scores, frame.units.scores.of_N
        count = cell_sum(self.news(frame), of_n, len(scores))
        decisions = scores.n.astype(np.float64)
        if self.waiting == "excluded":
            waits = frame.units.live_N & (frame.table.endpoint == self.wait_endpoint)
            decisions = decisions - cell_sum(waits.astype(np.float64), of_n, len(scores))
        return count / np.maximum(decisions if self.t_cap is None else self.t_cap, 1)

    def news(self, frame: Frame) -> F64:
        """Return (N,) 1 where a live decision led its agent to an observation that was new to it, else 0."""
        table, rows = frame.table, frame.rows
        key, after = (table.obs_key, table.next_obs_key)
        if self.keys == "exact":
            key, after = (table.obs_key_exact, table.next_obs_key_exact)
        visitor, turn = dense(table.rollout_id[rows], table.agent[rows])[0], table.turn[rows]
        new = first_visits(visitor, turn, key[rows], after[rows])
        if self.novelty_cap is not None:
            found = np.flatnonzero(new)
            place = dense(visitor[found], table.endpoint[rows][found])[0]
            new[found] = rank_within(place, turn[found]) < self.novelty_cap
        return frame.scatter(new.astype(np.float64))

    def _step_part(self, frame: Frame, base: Estimator | None) -> F64:
        """Return (N,) the base's comparison of decisions, with first visits for rewards."""
        if not isinstance(base, StepComparing):
            fix = "form: trajectory, or estimator: gigpo or hgpo"
            raise ConfigError("the step form needs a base with a reward per step", "progpo.form", "step", "", fix)
        news = self.news(frame)
        if self.control in ("random", "shuffled"):
            draws = np.random.Generator(np.random.Philox(frame.seed + 1)).random(len(frame.rows))
            rows = frame.rows[in_order(frame.sample, frame.table.turn[frame.rows])]
            group = frame.key_I[frame.units.samples.of_N[rows]]
            before, after = rows[np.argsort(group, kind="stable")], rows[np.lexsort((draws, group))]
            news[before] = news[after] if self.control == "shuffled" else draws
        return base.step_weight * base.step_part(frame, news)

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
