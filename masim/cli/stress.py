"""``masim stress``: replications of a scenario with intervals, and a gate with an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from masim.cli.common import Json, Out, Quiet, Seed, Set, check_failed, emit, overrides, table
from masim.cli.progress import shown
from masim.cli.results import SHOWN, Where, Workers, command_line, interval, tell_finished

if TYPE_CHECKING:
    from rich.table import Table

    from masim.stress.study import Stressed


def verb(
    context: typer.Context,
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Id of a scenario, or path of a file.")],
    agent: Annotated[str, typer.Option("--agent", metavar="A,B", help="Cards, or trained agents: RUN.")] = "scripted",
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            "-n",
            help="Replications, or the most of them with --half-width.",
            show_default="1000; 10000 with --half-width",
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width", metavar="X", help="Stop when safe completion is known to +-X.", show_default=False
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option("--gate", metavar="METRIC>=X", help="Exit 1 unless the whole interval is there; repeatable."),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 0,
    executor: Where = "processes",
    settings: Set = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Replicate a scenario under held seeds and say how often an agent completes it, with intervals.

    The same scenario, seed and agents give the same bytes, on any number of workers.
    """
    from masim.rollout.executors import default_workers
    from masim.scenario.load import load_scenario
    from masim.stress.gate import parse_gates
    from masim.stress.rules import DEFAULT, MAX_UNTIL, Stop
    from masim.stress.study import stress_scenario
    from masim.study.runs import Interrupted, RunOptions

    stop = Stop(n if n is not None else DEFAULT if half_width is None else MAX_UNTIL, half_width)
    gates = parse_gates(gate or [], stop)
    options = RunOptions(1, seed, workers or default_workers(), out, command_line(context), executor)
    names = [name.strip() for name in agent.split(",") if name.strip()]
    world = load_scenario(scenario, overrides(settings) or None)
    try:
        with shown(as_json or quiet) as progress:
            result = stress_scenario(world, names, stop, gates, options, progress)
    except Interrupted as interrupted:
        tell_finished(interrupted.folder)
        raise
    _tell(result, as_json, quiet)


def _tell(result: Stressed, as_json: bool, quiet: bool) -> None:
    """Print what came out. Raises the exit of a failed check when a gate did not pass."""
    told = [{"gate": v.gate.text, "arm": v.arm, "passed": v.passed, "found": v.text} for v in result.verdicts]
    lines = [f"gate {'passed' if v.passed else 'FAILED'}: {v.gate.text}: {v.arm}: {v.text}" for v in result.verdicts]
    shown_table = [] if quiet else [arms_table(result)]
    emit({"run": result.folder, "arms": result.arms, "gates": told}, as_json, *shown_table, *lines, str(result.folder))
    if not all(verdict.passed for verdict in result.verdicts):
        raise check_failed()


def arms_table(result: Stressed) -> Table:
    """Return one row per agent with its metrics and their 95% intervals."""
    made = table("agent", ">replications", *(f">{head}" for head, *_ in SHOWN.values()), ">worst completion")
    for arm in result.arms:
        cells = [interval(arm["metrics"][name], *form[1:]) for name, form in SHOWN.items()]
        made.add_row(arm["arm"], str(arm["replications"]), *cells, f"{100 * arm['worst']['completion']:.1f}%")
    return made
