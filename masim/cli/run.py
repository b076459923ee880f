"""``masim run``: episodes of a scenario with given agents."""

from __future__ import annotations

from typing import Annotated

import typer

from masim.cli.common import Json, Out, Quiet, Seed, Set, overrides
from masim.cli.progress import shown
from masim.cli.results import Where, Workers, command_line, finish, tell_finished

Agents = Annotated[
    str,
    typer.Option("--agents", metavar="A,B", help="Cards by id or path, or trained agents: RUN or RUN:ARM-sSEED."),
]


def verb(
    context: typer.Context,
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Id of a scenario, or path of a file.")],
    agents: Agents = "scripted",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Days to play with each agent.")] = 8,
    seed: Seed = 0,
    workers: Workers = 0,
    executor: Where = "processes",
    settings: Set = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a scenario with each agent on the same days; write trace, steps, outcomes, metrics and a report.

    The same scenario, seed and agents give the same bytes, on any number of workers.
    """
    from masim.rollout.executors import default_workers
    from masim.scenario.load import load_scenario
    from masim.study.runs import Interrupted, RunOptions, run_scenario

    options = RunOptions(episodes, seed, workers or default_workers(), out, command_line(context), executor)
    names = [name.strip() for name in agents.split(",") if name.strip()]
    world = load_scenario(scenario, overrides(settings) or None)
    try:
        with shown(as_json or quiet) as progress:
            folder = run_scenario(world, names, options, progress)
    except Interrupted as stop:
        tell_finished(stop.folder)
        raise
    finish(folder, report, as_json, quiet)
