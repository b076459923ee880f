"""``masim eval``: the trained agents of a run on held-out days."""

from __future__ import annotations

from typing import Annotated

import typer

from masim.cli.common import Json, Out, Quiet, Seed, Set, find_run, overrides
from masim.cli.progress import shown
from masim.cli.results import Where, Workers, command_line, finish, tell_finished
from masim.errors import ConfigError


def verb(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="A run of training, its name, or `last`.")] = "last",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Days to play with each agent.")] = 64,
    seed: Seed = 2,
    emptied: Annotated[bool, typer.Option("--emptied", help="Also with memories emptied every morning.")] = False,
    scenario: Annotated[
        str | None, typer.Option("--scenario", help="Another scenario than the one of training.", show_default=False)
    ] = None,
    agents: Annotated[str, typer.Option("--agents", metavar="A,B", help="Others to compare with.")] = "",
    workers: Workers = 0,
    executor: Where = "processes",
    settings: Set = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play held-out days with every trained agent of a run and with its untrained self; write a new run folder."""
    from masim.rollout.executors import default_workers
    from masim.scenario.load import load_scenario
    from masim.study.evaluation import evaluate_run
    from masim.study.runs import Interrupted, RunOptions

    if settings and scenario is None:
        raise ConfigError("--set changes a scenario that is named", "--set", "", "", "add --scenario")
    options = RunOptions(episodes, seed, workers or default_workers(), out, command_line(context), executor)
    world = None if scenario is None else load_scenario(scenario, overrides(settings) or None)
    others = [name.strip() for name in agents.split(",") if name.strip()]
    try:
        with shown(as_json or quiet) as progress:
            folder = evaluate_run(find_run(run), options, world, others, emptied, progress)
    except Interrupted as stop:
        tell_finished(stop.folder)
        raise
    finish(folder, report, as_json, quiet)
