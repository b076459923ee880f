"""``masim train``: train agents as an experiment file says, and judge them on held-out days."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Out, Quiet, Set, emit, find_run, note, overrides
from masim.cli.progress import shown
from masim.cli.results import Where, Workers, arms_table, close_run, command_line
from masim.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from masim.study.advice import ArmPlan
    from masim.study.experiment import Experiment

Resume = Annotated[
    str | None, typer.Option("--resume", metavar="RUN", help="Go on with a stopped or killed run.", show_default=False)
]
Store = Annotated[
    str,
    typer.Option(
        "--memory-store",
        metavar="ADDRESS",
        envvar="MASIM_MEMORY_STORE",
        help="Keep memories here, as redis://...; in files of the run by default.",
        show_default=False,
    ),
]
Assumed = Annotated[
    float, typer.Option("--assume-p", help="With --dry-run: completion of the untrained agent that is assumed.")
]
Board = Annotated[
    bool | None,
    typer.Option("--tensorboard/--no-tensorboard", help="Event files for TensorBoard.", show_default="if installed"),
]
Whole = int | None


def verb(
    context: typer.Context,
    experiment: Annotated[str, typer.Argument(metavar="[EXPERIMENT]", help="A name, or a YAML file.")] = "",
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="For example arms.ProGPO.lr=0.001 seeds=5")
    ] = None,
    episodes: Annotated[Whole, typer.Option("--episodes", "-n", help="Per arm and seed.", show_default=False)] = None,
    seeds: Annotated[Whole, typer.Option("--seeds", help="Training seeds per arm.", show_default=False)] = None,
    seed: Annotated[Whole, typer.Option("--seed", min=0, help="First training seed.", show_default=False)] = None,
    workers: Workers = 0,
    executor: Where = "processes",
    memory_store: Store = "",
    settings: Set = None,
    resume: Resume = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    assume_p: Assumed = 0.02,
    tensorboard: Board = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train every arm of an experiment with every seed, then evaluate all of them on held-out days.

    Words after the experiment change its values; `learner@arms.NAME=PRESET` picks another preset for an arm and
    `+learner@arms.NAME=PRESET` adds an arm. Ctrl-C saves; --resume goes on.
    """
    silent = as_json or quiet
    if resume is not None:
        if experiment or changes or dry_run:
            raise ConfigError("--resume takes no experiment, changes or --dry-run; the run knows its own", "--resume")
        check_board(tensorboard)
        _finish(
            _resumed(find_run(resume), workers or None, executor, memory_store, silent),
            tensorboard,
            report,
            as_json,
            quiet,
        )
        return
    from masim.cli.compose import build_experiment, compose_experiment

    values = compose_experiment(experiment or _missing(), changes or [])
    given: dict[str, Any] = {"episodes": episodes, "seeds": seeds, "first_seed": seed, "workers": workers or None}
    given |= {"executor": executor} if executor != "processes" else {}
    given |= {"memory_store": memory_store or None}
    plan = build_experiment(values, overrides(settings), **given)
    if dry_run:
        emit(*_dry_run(plan, assume_p, as_json))
        return
    check_board(tensorboard)
    _finish(_trained(plan, out, command_line(context), silent), tensorboard, report, as_json, quiet)


def _missing() -> str:
    from masim.cli.compose import experiments

    raise ConfigError(
        "name an experiment", "EXPERIMENT", "", ", ".join(experiments()), "or a YAML file, or --resume RUN"
    )


def check_board(asked: bool | None) -> None:
    """Raise MissingExtraError before anything is trained when TensorBoard is asked for and absent."""
    from masim.study.board import available, require

    if asked and not available():
        require()


def _trained(plan: Experiment, out: Path | None, command: str, silent: bool) -> Path:
    from masim.study.experiment import train_experiment
    from masim.study.runs import Interrupted

    try:
        with shown(silent) as progress:
            return train_experiment(plan, out, command, progress)
    except Interrupted as stop:
        tell_resume(stop.folder)
        raise


def _resumed(folder: Path, workers: int | None, executor: str, memory_store: str, silent: bool) -> Path:
    from masim.study.resume import resume_experiment
    from masim.study.runs import Interrupted

    try:
        with shown(silent) as progress:
            return resume_experiment(folder, progress, workers, executor, memory_store)
    except Interrupted as stop:
        tell_resume(stop.folder)
        raise


def tell_resume(folder: Path) -> None:
    """Say how to go on with an interrupted training."""
    note(f"masim: saved in {folder}; go on with: masim train --resume {folder}", silent=False)


def _finish(folder: Path, tensorboard: bool | None, report: bool, as_json: bool, quiet: bool) -> None:
    from masim.study.board import available, write_board

    board = write_board(folder) if tensorboard or (tensorboard is None and available()) else None
    content, file = close_run(folder, report)
    payload = {"run": folder, "report": file, "tensorboard": board, "arms": content["arms"]}
    emit(payload, as_json, *([] if quiet else [arms_table(content)]), str(file or folder))


def _dry_run(plan: Experiment, p: float, as_json: bool) -> tuple[Any, ...]:
    import yaml

    from masim.study.advice import advise, break_even
    from masim.study.experiment import check_experiment

    scenario, _ = check_experiment(plan)
    rewards = scenario.spec.rewards
    arms = advise(plan, scenario.spec, p)
    even = break_even(rewards)
    steps = "never" if even is None else f"after {even:g} decisions"
    payload = {
        "experiment": plan.to_mapping(),
        "assumed_p": p,
        "break_even_decisions": even,
        "arms": [asdict(arm) for arm in arms],
    }
    text = yaml.safe_dump(plan.to_mapping(), sort_keys=False)
    remark = f"penalty {rewards.decision:g} per decision outweighs an outcome of 1 {steps}; the channels are kept apart"
    return payload, as_json, text, _plan_table(arms, p), remark


def _plan_table(arms: list[ArmPlan], p: float) -> Table:
    from masim.cli.common import table

    heads = (">rollouts", ">episodes per update", ">updates", f">P(all fail), p={p:g}", ">P(no contrast)")
    made = table("arm", *heads, title="Plan")
    for arm in arms:
        shares = (f"{arm.all_fail:.1%}", f"{arm.dead:.1%}")
        made.add_row(arm.arm, str(arm.n_rollouts), str(arm.episodes_per_update), str(arm.updates), *shares)
    return made
