"""What a training will take: a short probe, and from it decisions, time and cost of the whole experiment.

One comparison group of the first arm is collected and learned from, with a throw-away agent. Trained agents make more
or fewer decisions and their calls land at other times, so all of it is a first guess, and said to be one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from masim.analysis.stats import Estimate, wilson
from masim.env.actions import ActionTable
from masim.errors import ConfigError
from masim.policy.build import build_scorer
from masim.policy.card import AgentCard
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.sim.spec import WorldSpec
from masim.study.experiment import Experiment
from masim.study.pace import PROBE_SEED
from masim.study.training import learner_config


@dataclass(frozen=True, slots=True)
class Probe:
    """What one comparison group and one update came to."""

    episodes: int
    decisions_per_episode: float
    s_per_decision: float
    """Wall seconds of one process, learning included."""
    completion: Estimate
    """Share of samples whose outcome was a success."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the experiment will take."""

    probe: Probe
    training_decisions: int
    """Of all arms and seeds."""
    evaluation_decisions: int
    """Learning curves and the final evaluation."""
    core_hours: float
    wall_s: float
    cost: float | None
    """In the currency of the price; None without one."""


def probe(experiment: Experiment, spec: WorldSpec, card: AgentCard) -> Probe:
    """Collect one group with an untrained agent and learn from it."""
    from masim.learn.trainer import Trainer

    learner = next(iter(experiment.arms.values()))
    config = learner_config(learner, spec)
    units = config.n_rollouts * len(spec.agents)
    config = replace(config, buffer_units=units, units_per_step=min(config.units_per_step, units), resample=0)
    policy = build_scorer(card, ActionTable(spec), PROBE_SEED)
    plan = CampaignPlan(spec, config.n_rollouts, seed=PROBE_SEED, memory=card.memory, client=card.client)
    plan = replace(plan, reference=config.counterfactual_agent)
    trainer = Trainer(CampaignCollector(plan, policy), policy, config, lambda row: None)
    began = time.perf_counter()
    row = trainer.step()
    spent = time.perf_counter() - began
    decisions, samples = max(1, int(row["decisions"] or 0)), max(1, int(row["samples"] or 0))
    won = round(float(row["completion_mean"] or 0.0) * samples)
    episodes = trainer.totals["episodes"]
    return Probe(episodes, decisions / episodes, spent / decisions, wilson(won, samples, unit="samples"))


def forecast(experiment: Experiment, found: Probe, price: float | None) -> Forecast:
    """Return what follows from a probe. Raises ConfigError for a negative price."""
    if price is not None and price < 0:
        raise ConfigError("out of range", "--price", f"{price:g}", ">= 0 per core hour")
    jobs = len(experiment.arms) * experiment.seeds
    curve = (experiment.curve_points + 1) * experiment.curve_episodes if experiment.curve_points else 0
    trained = 2 if experiment.emptied else 1
    judged = len(experiment.baselines) + experiment.seeds * (len(experiment.arms) * trained + 1)
    per_episode = found.decisions_per_episode
    training = round(jobs * experiment.episodes * per_episode)
    evaluation = round((jobs * curve + judged * experiment.eval_episodes) * per_episode)
    core_s = (training + evaluation) * found.s_per_decision
    hours = core_s / 3600.0
    wall_s = core_s / max(1, min(experiment.workers, jobs))
    return Forecast(found, training, evaluation, hours, wall_s, None if price is None else hours * price)
