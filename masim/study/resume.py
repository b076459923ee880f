"""Going on with a training experiment that was stopped or killed, in its own folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, RunError
from masim.memory.store.connect import without_secrets
from masim.rollout.executors import default_workers
from masim.study.cast import TRAINING_KINDS, stored_card
from masim.study.experiment import Experiment, check_experiment, work
from masim.study.runs import Progress, head_of, opened, silent


def resume_experiment(
    path: Path,
    progress: Progress = silent,
    workers: int | None = None,
    executor: str = "processes",
    memory_store: str = "",
) -> Path:
    """Continue a stopped or killed experiment in its own folder; what was trained is not trained again.

    ``memory_store`` is the address of the store that the run began with, for one whose address has a password.

    Raises RunError for a folder of another kind or version, or when the scenario has changed since.
    """
    from masim.analysis.load import read_meta

    meta = read_meta(path / "run.json")
    if meta.kind not in TRAINING_KINDS:
        raise RunError("only training runs can be resumed", str(path), meta.kind, ", ".join(TRAINING_KINDS))
    if meta.status == "complete":
        raise RunError("the run is complete; there is nothing to resume", str(path))
    experiment = _experiment_of(path, meta.config, workers or default_workers(), executor)
    experiment = _reached(experiment, memory_store)
    scenario, _ = check_experiment(experiment)
    card = stored_card(meta, path)
    if scenario.hash != meta.scenario_hash:
        fix = "restore the scenario file, or start a new run"
        raise RunError("the scenario has changed since this run", str(path), scenario.hash[:12], "", fix)
    head = head_of(scenario, meta.kind, meta.seed, meta.command, dict(meta.config))
    with opened(path, head) as folder:
        work(experiment, scenario, card, folder, progress, resume=True)
    return path


def _experiment_of(path: Path, config: Mapping[str, Any], workers: int, executor: str) -> Experiment:
    known = {name: value for name, value in config.items() if name != "agent_card"}
    try:
        here = {"baselines": tuple(config["baselines"]), "workers": workers, "executor": executor}
        return Experiment(**{**known, **here})
    except (KeyError, TypeError) as error:
        raise RunError("run.json does not describe an experiment", str(path / "run.json"), str(error)) from error


def _reached(experiment: Experiment, address: str) -> Experiment:
    """Return the experiment with the address of its store as it is given now. Raises ConfigError for another store."""
    if not address:
        return experiment
    if without_secrets(address) != experiment.memory_store:
        known = experiment.memory_store or "none: its memories are in its folder"
        raise ConfigError("not the memory store of this run", "--memory-store", without_secrets(address), known)
    return replace(experiment, memory_store=address)
