"""``masim eval``: the trained agents of a run on other days or another scenario, with or without their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from masim.analysis.arms import EMPTIED
from masim.errors import RunError
from masim.rollout.evaluate import CampaignJob, campaign_jobs
from masim.rollout.io import new_folder
from masim.scenario.load import Scenario, load_scenario
from masim.study.cast import Player, cast, check_fit, described, stored_card, training_meta
from masim.study.experiment import UNTRAINED
from masim.study.runs import Progress, RunOptions, head_of, opened, play_into, silent


def evaluate_run(
    source: Path,
    options: RunOptions,
    scenario: Scenario | None = None,
    others: Sequence[str] = (),
    emptied: bool = False,
    progress: Progress = silent,
) -> Path:
    """Play held-out days with every trained agent of a run, its untrained self, and ``others``; return a new folder.

    ``emptied`` adds each trained agent with its memory emptied every morning. Raises RunError when the run cannot be
    used or its weights do not fit the scenario, :class:`~masim.study.runs.Interrupted` at Ctrl-C.
    """
    scenario = scenario or _own_scenario(source)
    trained = cast([str(source)])
    check_fit(trained, scenario.spec)
    starts = [_untrained(source, seed) for seed in sorted({player.train_seed for player in trained})]
    players = [*(cast(others) if others else []), *starts, *trained]
    jobs = [job for player in players for job in _jobs(scenario, player, options)]
    if emptied:
        jobs += [job for player in trained for job in _jobs(scenario, player, options, keep_memory=False)]
    config = {
        "source": str(source),
        "episodes": options.episodes,
        "emptied": emptied,
        "players": described(players),
    }
    head = head_of(scenario, "eval", options.seed, options.command, config)
    with opened(new_folder("eval", scenario.id, options.out), head) as folder:
        play_into(folder, jobs, options.workers, progress, options.executor)
    return folder.path


def _own_scenario(source: Path) -> Scenario:
    """Load the scenario that a run was trained on. Raises RunError when it has changed since."""
    meta = training_meta(source)
    scenario = load_scenario(meta.scenario, dict(meta.config.get("overrides") or {}) or None)
    if scenario.hash != meta.scenario_hash:
        fix = "name a scenario with --scenario to evaluate on it all the same"
        raise RunError("the scenario has changed since this run", str(source), scenario.hash[:12], "", fix)
    return scenario


def _untrained(source: Path, seed: int) -> Player:
    card = stored_card(training_meta(source), source)
    return Player(UNTRAINED, seed, replace(card, name=UNTRAINED))


def _jobs(scenario: Scenario, player: Player, options: RunOptions, keep_memory: bool = True) -> list[CampaignJob]:
    arm = player.arm if keep_memory else player.arm + EMPTIED
    return list(
        campaign_jobs(
            scenario.spec,
            player.card,
            arm,
            options.episodes,
            options.seed,
            train_seed=player.train_seed,
            keep_memory=keep_memory,
            trace=keep_memory,
        )
    )
