"""``masim train`` and ``masim eval``: the only place where worlds, agents and the learner meet.

A training run consists of jobs (arm, training seed), each in a process of its own: collect, learn, evaluate on
held-out campaigns now and then. Every job logs to files of its own in the run folder while it works, so that progress
can be followed and nothing is lost when it is stopped; the tables are built from these files at the end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from masim.analysis.arms import EMPTIED
from masim.env.actions import ActionTable
from masim.env.asked import COMMITMENTS
from masim.errors import ConfigError, RunError
from masim.memory.store.base import GraphStore
from masim.memory.store.registry import open_store
from masim.memory.store.sqlite import SqliteStore
from masim.policy.build import build_scorer, weights_of
from masim.policy.card import AgentCard, load_card
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.copies import Copies
from masim.rollout.evaluate import CampaignJob, campaign_jobs, play_days
from masim.rollout.executors import stop_asked
from masim.rollout.executors.processes import ProcessExecutor
from masim.rollout.io import write_atomically
from masim.sim.spec import Verb, WorldSpec
from masim.study.schedule import Curriculum, EarlyStop

if TYPE_CHECKING:
    from masim.learn.config import LearnerConfig
    from masim.policy.scorer import ScorerPolicy

STORE_FILE = "memory.sqlite"
CURVE_SEED = 900
"""Root seed of the held-out campaigns on the learning curve; final evaluations use others."""


@dataclass(frozen=True, slots=True)
class TrainJob:
    """One arm with one training seed. ``folder`` holds its checkpoints, memories and logs."""

    spec: WorldSpec
    card: AgentCard
    arm: str
    learner: Mapping[str, Any]
    episodes: int
    train_seed: int
    folder: Path
    lanes: int = 8
    curve_points: int = 8
    curve_episodes: int = 32
    resume: bool = False
    store: str = ""
    """Address of a memory store that trainings share; empty: a SQLite file in ``folder``."""
    collectors: int = 1
    """Worker processes that play this training's groups; the bytes do not depend on it."""
    stop: EarlyStop | None = None
    curriculum: Curriculum | None = None
    stages: tuple[WorldSpec, ...] = ()
    """Worlds of the curriculum; the last one is ``spec``."""


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What a job came to; its rows are in its log files."""

    arm: str
    train_seed: int
    complete: bool
    checkpoint: Path
    wall_s: float
    stopped: str = ""
    """Why the training ended before its budget was spent."""


@dataclass(slots=True)
class _Log:
    """Appends JSON lines to a job's files."""

    job: TrainJob

    def write(self, table: str, row: Mapping[str, Any]) -> None:
        head = {"arm": self.job.arm, "train_seed": self.job.train_seed}
        with (self.job.folder / f"{table}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**head, **row}) + "\n")

    def update(self, row: Mapping[str, Any]) -> None:
        """Log one update under the names of the run's tables."""
        self.write("train", {"episodes": row["episodes_so_far"], "completion": row["completion_mean"], **row})


def learner_config(learner: Mapping[str, Any], spec: WorldSpec, seed: int = 0, episodes: int = 0) -> LearnerConfig:
    """Return the learner's options for a scenario and a budget.

    The horizon of coverage is the most decisions that the scenario allows, and waits are what its agents call so; a
    falling learning rate falls over the whole budget of ``episodes``.

    Raises ConfigError for options that cannot be used.
    """
    from masim.learn.config import from_mapping

    options = {**learner, "seed": seed}
    progpo = options.get("progpo")
    if isinstance(progpo, Mapping) and progpo.get("coverage") == "horizon" and progpo.get("t_cap") is None:
        options["progpo"] = progpo = {**progpo, "t_cap": spec.max_decisions}
    if isinstance(progpo, Mapping) and progpo.get("waiting") == "excluded" and progpo.get("wait_endpoint") is None:
        options["progpo"] = {**progpo, "wait_endpoint": list(Verb).index(Verb.WAIT)}
    config = from_mapping(_with_commits(options))
    if config.counterfactual_agent:
        load_card(config.counterfactual_agent)
    if config.lr_end is not None and not config.lr_updates and episodes:
        return replace(config, lr_updates=max(1, episodes // _episodes_per_update(config, spec)))
    return config


def _with_commits(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return learner options in which stretches by mode know the calls that bind somebody."""
    unit = options.get("unit")
    named = {"name": unit} if isinstance(unit, str) else unit
    if not isinstance(named, Mapping) or named.get("name") != "segment_mode" or named.get("commits"):
        return options
    verbs = list(Verb)
    return {**options, "unit": {**named, "commits": ",".join(str(verbs.index(verb)) for verb in COMMITMENTS)}}


def episodes_per_update(learner: Mapping[str, Any], spec: WorldSpec) -> int:
    """Return how many episodes one update consumes with a unit per sample: whole groups until the buffer is full."""
    return _episodes_per_update(learner_config(learner, spec), spec)


def _episodes_per_update(config: LearnerConfig, spec: WorldSpec) -> int:
    groups = -(-config.buffer_units // (config.n_rollouts * len(spec.agents)))
    return groups * config.n_rollouts


def check_learner(learner: Mapping[str, Any], spec: WorldSpec, where: str) -> None:
    """Raise ConfigError, with ``where`` before the option's name, for learner options that cannot be used.

    Raises RunError for a reward model that is not there or damaged.
    """
    from masim.feedback.paying import reward_model

    try:
        reward_model(learner_config(learner, spec))
    except ConfigError as error:
        place = f"{where}.{error.where}".replace(".learner", "")
        raise ConfigError(error.problem, place, error.value, error.allowed, error.fix) from error


def train_job(job: TrainJob) -> TrainResult:
    """Train one arm with one seed, evaluating on held-out campaigns along the way.

    Raises ConfigError for contradictory learner options and RunError when resuming finds nothing usable.
    """
    from masim.feedback.paying import paid
    from masim.learn.trainer import Trainer

    started = time.perf_counter()
    job.folder.mkdir(parents=True, exist_ok=True)
    config = learner_config(job.learner, job.spec, job.train_seed, job.episodes)
    table = ActionTable(job.spec)
    policy = build_scorer(job.card, table, job.train_seed)
    log = _Log(job)
    stopped = ""
    with closing(_store(job)) as store, _copies(job, config, policy) as copies:
        worlds = [
            paid(CampaignCollector(_plan(job, spec, config), policy, store, copies), config)
            for spec in job.stages or (job.spec,)
        ]
        trainer = Trainer(worlds[0], policy, config, log.update, checkpoints=job.folder)
        if job.resume or _begun(job.folder):
            if any(job.folder.glob("update-*")):
                trainer.resume()
            _forget_after(job.folder, trainer.totals["episodes"])
        per_update = episodes_per_update(job.learner, job.spec)
        complete = True
        for updates in _milestones(max(1, job.episodes // per_update), job.curve_points):
            target = updates * per_update
            if trainer.totals["episodes"] > target:
                continue
            stage = _stage(job)
            trainer.collect_from(worlds[stage])
            complete = trainer.run(episodes=target) if target else True
            complete = complete and _curve_point(job, policy, log, trainer.totals["episodes"], stage)
            stopped = job.stop.reason(_rows(job.folder / "curve.jsonl")) if job.stop and complete else ""
            if not complete or stopped:
                break
        checkpoint = trainer.save()
    if checkpoint is None:
        raise RunError("the trainer has no place for checkpoints", str(job.folder))
    return TrainResult(job.arm, job.train_seed, complete, checkpoint, time.perf_counter() - started, stopped)


def _plan(job: TrainJob, spec: WorldSpec, config: LearnerConfig) -> CampaignPlan:
    card, reference = job.card, config.counterfactual_agent
    return CampaignPlan(
        spec, config.n_rollouts, job.lanes, job.train_seed, card.memory, card.client, space_of(job), reference
    )


def _stage(job: TrainJob) -> int:
    """Return how far the curriculum is, by the curve that is on disk."""
    return job.curriculum.stage(_rows(job.folder / "curve.jsonl")) if job.curriculum else 0


def space_of(job: TrainJob) -> str:
    """Return what goes before the names of a job's memories: nothing in a file of its own."""
    return f"{job.folder.parent.parent.name}/{job.folder.name}/" if job.store else ""


def _store(job: TrainJob) -> GraphStore:
    return open_store(job.store) if job.store else SqliteStore(job.folder / STORE_FILE)


@contextmanager
def _copies(job: TrainJob, config: LearnerConfig, policy: ScorerPolicy) -> Iterator[Copies | None]:
    """Return copies of the policy in workers that play the groups of an update; None where one process does all."""
    groups = _episodes_per_update(config, job.spec) // config.n_rollouts
    n = min(job.collectors, groups, job.lanes)
    if n == 1:
        yield None
        return
    with ProcessExecutor(n).crew() as crew:
        yield Copies(crew, n, job.card, partial(weights_of, policy), groups)


def _begun(folder: Path) -> bool:
    """Return whether this very job was at work here before: its worker died, and it is played again."""
    return any(folder.glob("update-*")) or any(folder.glob("*.jsonl"))


def _milestones(updates: int, points: int) -> list[int]:
    return sorted({round(updates * i / points) for i in range(points + 1)}) if points else [updates]


def _curve_point(job: TrainJob, policy: Any, log: _Log, episodes: int, stage: int) -> bool:
    """Measure one point of the learning curve; return False when a stop was asked for meanwhile."""
    rows: list[dict[str, Any]] = []
    spec = job.stages[stage] if job.stages else job.spec
    if job.curve_points:
        for campaign in campaign_jobs(spec, job.card, job.arm, job.curve_episodes, CURVE_SEED):
            rows += play_days(campaign, policy, ActionTable(spec)).outcomes
    if rows and not stop_asked():
        shares = {key: sum(bool(row[source]) for row in rows) / len(rows) for key, source in _SHARES}
        log.write("curve", {"episodes": episodes, **shares, **({"stage": stage} if job.stages else {})})
    return not stop_asked()


_SHARES = (("completion", "completed"), ("safe", "safe"))


def _forget_after(folder: Path, episodes: int) -> None:
    """Drop log rows that a resumed job will write again: later ones, and the curve point at this very place."""
    for table in ("train", "curve"):
        last = episodes if table == "train" else episodes - 1
        kept = [row for row in _rows(folder / f"{table}.jsonl") if row["episodes"] <= last]
        text = "".join(json.dumps(row) + "\n" for row in kept)
        write_atomically(folder / f"{table}.jsonl", text.encode())


def read_logs(folders: Iterable[Path], table: str) -> list[dict[str, Any]]:
    """Return the rows of a log table of all jobs."""
    return [row for folder in folders for row in _rows(folder / f"{table}.jsonl")]


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return the whole rows of a log file; a last line cut short by a kill is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.endswith("}")]


def trained_card(card: AgentCard, arm: str, checkpoint: Path) -> AgentCard:
    """Return the card of a trained agent."""
    return replace(card, name=arm, weights=checkpoint)


def evaluation_jobs(
    spec: WorldSpec, cards: Mapping[tuple[str, int], AgentCard], episodes: int, seed: int, traced: str = ""
) -> list[CampaignJob]:
    """Return held-out campaigns for every (arm, training seed); ``traced`` names the arm whose trace is kept."""
    jobs: list[CampaignJob] = []
    for (arm, train_seed), card in cards.items():
        keep = not arm.endswith(EMPTIED)
        options = {"train_seed": train_seed, "keep_memory": keep, "trace": arm == traced}
        jobs += campaign_jobs(spec, card, arm, episodes, seed, **options)
    return jobs
