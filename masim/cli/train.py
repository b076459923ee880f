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
    from masim.study.forecast import Forecast

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
    float | None,
    typer.Option("--assume-p", help="With --dry-run: assume this completion of the untrained agent; else measured."),
]
ASSUMED_P = 0.02
"""Completion of an untrained agent where it is neither given nor measured."""
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
    probe: Annotated[
        bool, typer.Option(help="With --dry-run: play and learn from one group, to tell time and cost.")
    ] = True,
    price: Annotated[
        float | None, typer.Option("--price", help="With --dry-run: of a core hour, for the cost.", show_default=False)
    ] = None,
    assume_p: Assumed = None,
    tensorboard: Board = None,
    track: Annotated[
        list[str] | None,
        typer.Option("--track", metavar="TRACKER", help="Keep the logs for wandb or trackio, too; repeatable."),
    ] = None,
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
        check_board(tensorboard, track)
        _finish(
            _resumed(find_run(resume), workers or None, executor, memory_store, silent),
            tensorboard,
            track,
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
        emit(*_dry_run(plan, assume_p, as_json, probe, price))
        return
    check_board(tensorboard, track)
    _finish(_trained(plan, out, command_line(context), silent), tensorboard, track, report, as_json, quiet)


def _missing() -> str:
    from masim.cli.compose import experiments

    raise ConfigError(
        "name an experiment", "EXPERIMENT", "", ", ".join(experiments()), "or a YAML file, or --resume RUN"
    )


def check_board(asked: bool | None, track: list[str] | None) -> None:
    """Raise MissingExtraError before anything is trained when a tracker is asked for and absent."""
    from masim.study.board import available, require
    from masim.study.trackers import check_trackers

    check_trackers(track or [])
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


def _finish(
    folder: Path, tensorboard: bool | None, track: list[str] | None, report: bool, as_json: bool, quiet: bool
) -> None:
    from masim.study.board import available, write_board
    from masim.study.trackers import write_tracker

    board = write_board(folder) if tensorboard or (tensorboard is None and available()) else None
    tracked = {name: write_tracker(name, folder) for name in track or []}
    content, file = close_run(folder, report)
    payload = {"run": folder, "report": file, "tensorboard": board, "tracked": tracked, "arms": content["arms"]}
    emit(payload, as_json, *([] if quiet else [arms_table(content)]), str(file or folder))


def _dry_run(plan: Experiment, p: float | None, as_json: bool, probed: bool, price: float | None) -> tuple[Any, ...]:
    import yaml

    from masim.study.advice import advise, break_even, check_probability
    from masim.study.experiment import check_experiment
    from masim.study.forecast import forecast, probe

    scenario, card = check_experiment(plan)
    rewards = scenario.spec.rewards
    if p is not None:
        check_probability(p)  # before the probe takes its time
    found = forecast(plan, probe(plan, scenario.spec, card), price) if probed else None
    measured = found is not None and p is None
    p = found.probe.completion.value if found is not None and p is None else ASSUMED_P if p is None else p
    arms = advise(plan, scenario.spec, p)
    even = break_even(rewards)
    steps = "never" if even is None else f"after {even:g} decisions"
    payload = {
        "experiment": plan.to_mapping(),
        "assumed_p": p,
        "p_is_measured": measured,
        "forecast": None if found is None else asdict(found),
        "break_even_decisions": even,
        "arms": [asdict(arm) for arm in arms],
    }
    text = yaml.safe_dump(plan.to_mapping(), sort_keys=False)
    remark = f"penalty {rewards.decision:g} per decision outweighs an outcome of 1 {steps}; the channels are kept apart"
    return payload, as_json, text, _plan_table(arms, p), remark, *([] if found is None else [_forecast_text(found)])


def _forecast_text(found: Forecast) -> str:
    """Return what the probe found and what follows from it, as sentences."""
    seen, share = found.probe, found.probe.completion
    cost = "give --price for the cost" if found.cost is None else f"cost {found.cost:.2f}"
    return (
        f"probe: {seen.episodes} episodes of an untrained agent, {seen.decisions_per_episode:.1f} decisions each, "
        f"{1e3 * seen.s_per_decision:.2f} ms a decision, "
        f"completion {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]\n"
        f"expected: {found.training_decisions:,} decisions of training, {found.evaluation_decisions:,} of evaluation, "
        f"{found.wall_s / 60:.1f} minutes, {found.core_hours:.2f} core hours, {cost}; trained agents may differ"
    )


def _plan_table(arms: list[ArmPlan], p: float) -> Table:
    from masim.cli.common import table

    heads = (">rollouts", ">episodes per update", ">updates", f">P(all fail), p={p:g}", ">P(no contrast)")
    made = table("arm", *heads, title="Plan")
    for arm in arms:
        shares = (f"{arm.all_fail:.1%}", f"{arm.dead:.1%}")
        made.add_row(arm.arm, str(arm.n_rollouts), str(arm.episodes_per_update), str(arm.updates), *shares)
    return made
