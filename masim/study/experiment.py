"""A training experiment: arms times training seeds, a shared budget, one evaluation of everybody on held-out days.

Life cycle: plan the jobs, train them in worker processes, follow their log files, evaluate, close the run folder. A
stopped experiment keeps its checkpoints and logs and is resumed by name; finished jobs are not trained again.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from masim.analysis.arms import EMPTIED
from masim.errors import ConfigError
from masim.memory.store.connect import without_secrets
from masim.memory.store.registry import open_store
from masim.policy.card import AgentCard, card_to_mapping, load_card
from masim.rollout import executors
from masim.rollout.executors import default_workers, run_jobs
from masim.rollout.io import RunFolder, columns_of, new_folder, write_atomically
from masim.scenario.load import Scenario, load_scenario
from masim.study.runs import MAX_EPISODES, MAX_SEED, Interrupted, Progress, head_of, opened, play_into, silent
from masim.study.schedule import curriculum, early_stop
from masim.study.training import (
    TrainJob,
    TrainResult,
    check_learner,
    evaluation_jobs,
    read_logs,
    train_job,
    trained_card,
)

POLL_S = 0.5
DEFAULT_BASELINES = ("random", "naive", "scripted")
UNTRAINED = "untrained"
_ARM = re.compile(r"[A-Za-z0-9][\w.+-]{0,39}")
_LIMITS = (
    ("episodes", 1, 10_000_000),
    ("seeds", 1, 1000),
    ("first_seed", 0, 100_000),
    ("lanes", 1, 10_000),
    ("curve_points", 0, 1000),
    ("curve_episodes", 1, MAX_EPISODES),
    ("eval_episodes", 1, MAX_EPISODES),
    ("eval_seed", 0, MAX_SEED),
)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What to train and how to judge it. Raises ConfigError on impossible values."""

    scenario: str
    arms: Mapping[str, Mapping[str, Any]]
    """Arm name to learner options."""
    episodes: int
    seeds: int = 1
    first_seed: int = 0
    agent: str = "scorer"
    lanes: int = 8
    curve_points: int = 8
    curve_episodes: int = 32
    eval_episodes: int = 64
    eval_seed: int = 1
    baselines: tuple[str, ...] = DEFAULT_BASELINES
    emptied: bool = True
    """Also evaluate every trained agent with its memory emptied each morning."""
    workers: int = field(default_factory=default_workers)
    executor: str = "processes"
    """Where jobs run: a name of :data:`masim.rollout.executors.EXECUTORS`, or ``ray:ADDRESS``."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    memory_store: str = ""
    """Address of the store of all memories; empty: a SQLite file for each job in the run folder."""
    early_stop: Mapping[str, Any] = field(default_factory=dict)
    """Options of :class:`masim.study.schedule.EarlyStop`; empty: every training spends its budget."""
    curriculum: Mapping[str, Any] = field(default_factory=dict)
    """Options of :class:`masim.study.schedule.Curriculum`; empty: the scenario as it is from the first day."""

    def __post_init__(self) -> None:
        for name, low, high in _LIMITS:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise ConfigError(f"impossible {name}", name, repr(value), f"an integer from {low} to {high:,}")
        executors.executor(self.executor, self.workers)
        for name, made in (("early_stop", early_stop(self.early_stop)), ("curriculum", curriculum(self.curriculum))):
            if made is not None and not self.curve_points:
                raise ConfigError(f"{name} needs a learning curve", "curve_points", "0", ">= 1")
        if not self.arms:
            raise ConfigError("an experiment needs at least one arm", "arms", "{}", "arm name: learner options")
        for arm in self.arms:
            if not _ARM.fullmatch(arm) or arm in (*self.baselines, UNTRAINED):
                allowed = "letters, digits, . _ + -; not the name of a baseline"
                raise ConfigError("impossible name of an arm", "arms", repr(arm), allowed)

    def to_mapping(self) -> dict[str, Any]:
        """Return plain values for ``run.json``; addresses lose their passwords."""
        kept = replace(self, memory_store=without_secrets(self.memory_store))
        return json.loads(json.dumps(asdict(kept), default=list))  # type: ignore[no-any-return]


def train_experiment(
    experiment: Experiment,
    out: Path | None = None,
    command: str = "",
    progress: Progress = silent,
    kind: str = "train",
) -> Path:
    """Train, evaluate and return the run folder.

    Raises UserError of some kind, before anything is written, for what cannot be trained; at Ctrl-C
    :class:`~masim.study.runs.Interrupted`, with a folder that :func:`resume_experiment` continues.
    """
    scenario, _ = check_experiment(experiment)
    return run_experiment(experiment, new_folder(kind, scenario.id, out), command, progress, kind)


def run_experiment(
    experiment: Experiment, path: Path, command: str = "", progress: Progress = silent, kind: str = "train"
) -> Path:
    """Do as :func:`train_experiment` does, in a folder that exists already."""
    scenario, card = check_experiment(experiment)
    config = {**experiment.to_mapping(), "agent_card": card_to_mapping(card)}
    head = head_of(scenario, kind, experiment.first_seed, command, config)
    with opened(path, head) as folder:
        work(experiment, scenario, card, folder, progress, resume=False)
    return path


def check_experiment(experiment: Experiment) -> tuple[Scenario, AgentCard]:
    """Load all that an experiment names. Raises ScenarioError or ConfigError for what is unknown or contradictory."""
    scenario = load_scenario(experiment.scenario, dict(experiment.overrides) or None)
    card = load_card(experiment.agent)
    if card.policy != "scorer":
        raise ConfigError("this agent cannot be trained", "agent", card.policy, "a card with `policy: scorer`")
    for name in experiment.baselines:
        load_card(name)
    for arm, options in experiment.arms.items():
        check_learner(options, scenario.spec, f"arms.{arm}")
    if made := curriculum(experiment.curriculum):
        made.stages(experiment.scenario, experiment.overrides)
    if experiment.memory_store:
        open_store(experiment.memory_store).close()
    return scenario, card


def work(
    experiment: Experiment, scenario: Scenario, card: AgentCard, folder: RunFolder, progress: Progress, resume: bool
) -> None:
    """Train, evaluate and fill the run folder."""
    jobs = training_jobs(experiment, scenario, card, folder.path, resume)
    try:
        with _followed(jobs, experiment.episodes, progress):
            results = _train(jobs, experiment, folder.path)
    finally:
        _write_logs(folder, jobs)
    _write_stops(folder.path, results)
    cards = evaluation_cards(experiment, card, results)
    traced = list(experiment.arms)[-1]
    evaluation = evaluation_jobs(scenario.spec, cards, experiment.eval_episodes, experiment.eval_seed, traced)
    play_into(folder, evaluation, experiment.workers, progress, experiment.executor)


def _train(jobs: Sequence[TrainJob], experiment: Experiment, folder: Path) -> list[TrainResult]:
    """Train all jobs; a job that Ctrl-C ended early ends the others too."""
    results = []
    for result in run_jobs(train_job, jobs, experiment.workers, experiment.executor):
        results.append(result)
        if not result.complete:
            raise Interrupted(folder)
    return results


def training_jobs(
    experiment: Experiment, scenario: Scenario, card: AgentCard, folder: Path, resume: bool = False
) -> list[TrainJob]:
    """Return the jobs of an experiment, seed by seed so that all arms advance alike."""
    grows = curriculum(experiment.curriculum)
    stages = grows.stages(experiment.scenario, experiment.overrides) if grows else ()
    return [
        TrainJob(
            spec=scenario.spec,
            card=card,
            arm=arm,
            learner=dict(options),
            episodes=experiment.episodes,
            train_seed=seed,
            folder=folder / "checkpoints" / f"{arm}-s{seed}",
            lanes=experiment.lanes,
            curve_points=experiment.curve_points,
            curve_episodes=experiment.curve_episodes,
            resume=resume,
            collectors=_collectors(experiment),
            store=experiment.memory_store,
            stop=early_stop(experiment.early_stop),
            curriculum=grows,
            stages=stages,
        )
        for seed in range(experiment.first_seed, experiment.first_seed + experiment.seeds)
        for arm, options in experiment.arms.items()
    ]


def _collectors(experiment: Experiment) -> int:
    """Return how many workers each training has for its own groups: those that would have no training to do."""
    jobs = experiment.seeds * len(experiment.arms)
    return max(1, experiment.workers // jobs) if experiment.executor == "processes" else 1


def evaluation_cards(
    experiment: Experiment, card: AgentCard, results: Sequence[TrainResult]
) -> dict[tuple[str, int], AgentCard]:
    """Return who is evaluated: baselines, the untrained agent, the trained ones, and those with emptied memory."""
    cards: dict[tuple[str, int], AgentCard] = {(name, -1): load_card(name) for name in experiment.baselines}
    for seed in sorted({result.train_seed for result in results}):
        cards[UNTRAINED, seed] = replace(card, name=UNTRAINED)
    for result in results:
        trained = trained_card(card, result.arm, result.checkpoint)
        cards[result.arm, result.train_seed] = trained
        if experiment.emptied:
            cards[result.arm + EMPTIED, result.train_seed] = trained
    return cards


def _write_logs(folder: RunFolder, jobs: Sequence[TrainJob]) -> None:
    for table in ("train", "curve"):
        rows = read_logs([job.folder for job in jobs], table)
        if rows:
            folder.append(table, columns_of(_even(rows)))


def _write_stops(folder: Path, results: Sequence[TrainResult]) -> None:
    """Say in ``stops.json`` which trainings ended before their budget was spent, and why."""
    stops = {f"{result.arm}-s{result.train_seed}": result.stopped for result in results if result.stopped}
    if stops:
        write_atomically(folder / "stops.json", json.dumps(stops, indent=1).encode() + b"\n")


def _even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give all rows the same keys; arms log what they have."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


@contextmanager
def _followed(jobs: Sequence[TrainJob], episodes: int, progress: Progress) -> Iterator[None]:
    """Report the jobs' progress from their log files while they work."""
    done = threading.Event()
    thread = threading.Thread(target=_follow, args=(jobs, episodes, progress, done.wait), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _follow(jobs: Sequence[TrainJob], episodes: int, progress: Progress, wait: Callable[[float], bool]) -> None:
    total = episodes * len(jobs)
    while not wait(POLL_S):
        rows = [_last_row(job.folder / "train.jsonl") for job in jobs]
        progress("training episodes", min(total, sum(int(row.get("episodes", 0)) for row in rows)), total)


def _last_row(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            lines = file.read().splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        if line.startswith(b"{") and line.endswith(b"}"):
            row: dict[str, Any] = json.loads(line)
            return row
    return {}
