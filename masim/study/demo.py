"""``masim demo``: the main job in one go. Real vendor profiles, agents that play, agents that learn, and what came out.

The trained agents share one budget, which is sized to the machine before anything is trained; what is compared, and
what must hold, is fixed beforehand (:data:`JUDGED` against the untrained agent on held-out days).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from masim.analysis.load import read_meta
from masim.errors import ConfigError, RunError
from masim.policy.card import load_card
from masim.rollout.evaluate import campaign_jobs, play_campaign
from masim.rollout.executors import check_workers, default_workers
from masim.rollout.io import new_folder
from masim.scenario.fit.profile import write_profile
from masim.scenario.fit.result import FitResult
from masim.scenario.fit.scms import fit_scms
from masim.scenario.load import Scenario, load_scenario
from masim.scenario.nodes import read_nodes
from masim.scenario.resolve import list_profiles
from masim.study.conclusions import Conclusions, conclude
from masim.study.experiment import Experiment, run_experiment
from masim.study.pace import episodes_within, measure_pace
from masim.study.resume import resume_experiment
from masim.study.runs import Progress, silent
from masim.study.training import episodes_per_update

SCENARIO = "freight/short-chain-v0"
AGENT = "scorer"
PROFILE_FILE = "carriers-fitted.yaml"
JUDGED = "ProGPO"
"""The arm that must complete more than the untrained agent, named before anything is run."""
PLAYERS = ("null", "random", "naive", "scripted")
_SHARED: Mapping[str, Any] = {
    "estimator": "grpo", "lr": 0.003, "epochs": 2, "units_per_step": 16, "w_pen": 0.05, "w_pen_failed": 0.0,
}  # fmt: skip
ARMS: Mapping[str, Mapping[str, Any]] = {"GRPO": _SHARED, "ProGPO": {**_SHARED, "progpo": {"coverage": "horizon"}}}
"""One difference between the arms: what is learnt from groups in which everybody failed."""

QUICK: Mapping[str, Any] = {
    "seconds": 20.0, "least": 32, "most": 96, "seeds": 2, "first_look": 2, "curve_points": 1, "curve_episodes": 8,
    "eval_episodes": 8,
}  # fmt: skip
"""What ``--quick`` sets: everything runs, and nothing is large enough to compare."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """How much of everything. Raises ConfigError on impossible values."""

    seed: int = 0
    seconds: float = 210.0
    """Wall time that training may take, on ``workers`` processes."""
    least: int = 480
    most: int = 2400
    """Bounds of the episodes per arm and training seed, whatever the machine."""
    seeds: int = 3
    first_look: int = 8
    curve_points: int = 6
    curve_episodes: int = 24
    eval_episodes: int = 100
    workers: int = field(default_factory=default_workers)
    scenario: str = SCENARIO
    data: Path | None = None
    out: Path | None = None
    command: str = ""

    def __post_init__(self) -> None:
        check_workers(self.workers)
        if not 1 <= self.seconds <= 86_400:
            raise ConfigError("impossible --seconds", "--seconds", f"{self.seconds:g}", "1 to 86400")
        if not 0 <= self.seed <= 800:
            raise ConfigError("impossible --seed", "--seed", str(self.seed), "0 to 800")


def run_demo(options: DemoOptions, progress: Progress = silent, say: Say = lambda text: None) -> Conclusions:
    """Do everything and return what it came to; ``say`` hears what is being done.

    Raises DataError for an unusable data file, RunError for an unusable folder, and at Ctrl-C
    :class:`~masim.study.runs.Interrupted`, with a folder that :func:`resume_demo` continues.
    """
    vendors = None if options.data is None else fit_scms(options.data)
    path = new_folder("demo", options.scenario, options.out)
    with _removed_on_failure(path):
        overrides = {} if vendors is None else _fitted(vendors, path)
        scenario = load_scenario(options.scenario, overrides or None)
        say(_bundled(scenario) if vendors is None else _told(vendors))
        _first_look(scenario, options, say)
        experiment = _planned(options, scenario, overrides, say)
    run_experiment(experiment, path, options.command, progress, "demo")
    return conclude(path, JUDGED)


def resume_demo(path: Path, progress: Progress = silent) -> Conclusions:
    """Continue a stopped demo, or say again what a finished one came to.

    Raises RunError as :func:`~masim.study.experiment.resume_experiment` does, and for a run of another kind.
    """
    meta = read_meta(path / "run.json")
    if meta.kind != "demo":
        raise RunError("not a demo", str(path), meta.kind, "demo", f"masim train --resume {path}")
    return conclude(path if meta.status == "complete" else resume_experiment(path, progress), JUDGED)


@contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    """Remove the folder when the preparations fail or are interrupted; until then nothing in it is worth keeping."""
    try:
        yield
    except BaseException:
        (path / PROFILE_FILE).unlink(missing_ok=True)
        path.rmdir()
        raise


def _fitted(vendors: FitResult, path: Path) -> dict[str, str]:
    """Write the fitted profile into the run folder and return the override that makes the scenario use it."""
    file = path.resolve() / PROFILE_FILE
    write_profile(vendors, file)
    return {"profiles.carriers": json.dumps(str(file))}


def _told(vendors: FitResult) -> str:
    kept, dropped = vendors.kept, sum(count for _, count in vendors.dropped)
    return (
        f"Vendors: fitted {kept.n_vendors} vendors from {kept.n_rows:,} of {vendors.n_rows:,} rows of {vendors.file}; "
        f"{dropped:,} cells or rows were dropped for named reasons ({PROFILE_FILE} in the run folder lists them)."
    )


def _bundled(scenario: Scenario) -> str:
    name = str(scenario.doc.profiles.carriers)
    profile = read_nodes(list_profiles(scenario.path)[name])
    carriers = profile.find("carriers").elements()
    rows = sum(int(str(carrier.find("n").value)) for carrier in carriers)
    return (
        f"Vendors: {name}, fitted to real deliveries: {len(carriers)} vendors, {rows:,} deliveries. "
        f"Source: {profile.find('source').value}"
    )


def _first_look(scenario: Scenario, options: DemoOptions, say: Say) -> None:
    """Let everybody who has not learnt anything play a few days."""
    say(f"First look, {options.first_look} days of {scenario.id} each (completion of orders, no intervals yet):")
    for name in (*PLAYERS, AGENT):
        card = load_card(name)
        rows = [
            row
            for job in campaign_jobs(scenario.spec, card, name, options.first_look, options.seed)
            for row in play_campaign(job).outcomes
        ]
        done = sum(bool(row["completed"]) for row in rows)
        shown = "untrained" if name == AGENT else name
        say(f"  {shown:<10} {done:>4} of {len(rows)} orders ({done / len(rows):.1%})")


def _planned(options: DemoOptions, scenario: Scenario, overrides: Mapping[str, str], say: Say) -> Experiment:
    """Measure the machine, size the training, say so, and return the experiment."""
    jobs, curve = len(ARMS) * options.seeds, (options.curve_points + 1) * options.curve_episodes
    pace = measure_pace(scenario.spec, ARMS[JUDGED], min(options.workers, jobs))
    bounds, multiple = (options.least, options.most), episodes_per_update(ARMS[JUDGED], scenario.spec)
    episodes = episodes_within(options.seconds, pace, jobs, options.workers, curve, bounds, multiple)
    train_s = -(-jobs // options.workers) * (episodes * pace.train_s + curve * pace.play_s)
    say(
        f"Pace: {pace.decisions_per_s:,.0f} decisions/s per process, {options.workers} processes; "
        f"{1000 * pace.train_s:.0f} ms per training episode."
    )
    say(
        f"Plan: {' and '.join(ARMS)}, {options.seeds} training seeds each, {episodes:,} episodes per arm and seed "
        f"(about {train_s:.0f} s); then {options.eval_episodes} held-out days with every agent."
    )
    return Experiment(
        scenario=options.scenario,
        arms=ARMS,
        episodes=episodes,
        seeds=options.seeds,
        first_seed=options.seed,
        agent=AGENT,
        curve_points=options.curve_points,
        curve_episodes=options.curve_episodes,
        eval_episodes=options.eval_episodes,
        eval_seed=options.seed + 1,
        baselines=PLAYERS,
        workers=options.workers,
        overrides=overrides,
    )
