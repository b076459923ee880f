"""How fast this machine collects and learns, and how many episodes of training fit into a span of time."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from masim.env.actions import ActionTable
from masim.errors import HarnessError
from masim.policy.build import build_scorer
from masim.policy.card import AgentCard, load_card
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.evaluate import campaign_jobs, play_days
from masim.rollout.executors import run_jobs, stop_asked
from masim.sim.spec import WorldSpec
from masim.study.training import learner_config

if TYPE_CHECKING:
    from masim.learn.trainer import Trainer

PROBE_SEED = 9_999
"""Training seed of the probe; no experiment uses it."""
_UPDATES, _DAYS = 3, 4


@dataclass(frozen=True, slots=True)
class Pace:
    """Wall seconds on one of ``workers`` processes that all work at once."""

    decisions_per_s: float
    """Decisions collected per second by one process."""
    train_s: float
    """Seconds per training episode, learning included."""
    play_s: float
    """Seconds per episode of evaluation."""


@dataclass(frozen=True, slots=True)
class _Probe:
    spec: WorldSpec
    card: AgentCard
    learner: Mapping[str, Any]


def measure_pace(spec: WorldSpec, learner: Mapping[str, Any], workers: int, agent: str = "scorer") -> Pace:
    """Train a throw-away agent for a few updates in every process at once and return the mean pace."""
    probe = _Probe(spec, load_card(agent), dict(learner))
    paces = list(run_jobs(_measure, [probe] * workers, workers))
    return Pace(*(sum(getattr(pace, name) for pace in paces) / len(paces) for name in Pace.__slots__))


def _measure(probe: _Probe) -> Pace:
    from masim.learn.trainer import Trainer

    config, table = learner_config(probe.learner, probe.spec), ActionTable(probe.spec)
    policy = build_scorer(probe.card, table, PROBE_SEED)
    plan = CampaignPlan(
        probe.spec, config.n_rollouts, seed=PROBE_SEED, memory=probe.card.memory, client=probe.card.client,
        reference=config.counterfactual_agent,
    )  # fmt: skip
    trainer = Trainer(CampaignCollector(plan, policy), policy, config, lambda row: None)
    rows = [_update(trainer) for _ in range(_UPDATES)][1:]
    episodes = trainer.totals["episodes"] * len(rows) / _UPDATES
    collect_s, advantages_s, update_s = (
        sum(float(row[f"{part}_wall_s"] or 0.0) for row in rows) for part in ("collect", "advantages", "update")
    )
    decisions = sum(int(row["decisions"] or 0) for row in rows)
    started = time.perf_counter()
    for job in campaign_jobs(probe.spec, probe.card, "probe", _DAYS, 0):
        play_days(job, policy, table)
    play_s = (time.perf_counter() - started) / _DAYS
    return Pace(decisions / collect_s, (collect_s + advantages_s + update_s) / episodes, play_s)


def _update(trainer: Trainer) -> Mapping[str, Any]:
    if stop_asked():
        raise HarnessError("the probe was stopped")
    return trainer.step()


def episodes_within(
    seconds: float, pace: Pace, jobs: int, workers: int, curve: int, bounds: tuple[int, int], multiple: int
) -> int:
    """Return how many episodes each of ``jobs`` may train on so that all end within about ``seconds``.

    ``curve`` episodes of evaluation come on top. The result is a multiple of an update's episodes inside ``bounds``.
    """
    each_s = seconds / math.ceil(jobs / workers) - curve * pace.play_s
    least, most = bounds
    return max(multiple, int(min(max(each_s / pace.train_s, least), most)) // multiple * multiple)
