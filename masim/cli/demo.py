"""``masim demo``: the main job in one go, on bundled real data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Out, Quiet, Seed, check_failed, emit, find_run, note
from masim.cli.progress import shown
from masim.cli.results import Workers, command_line

if TYPE_CHECKING:
    from masim.study.conclusions import Conclusions
    from masim.study.demo import DemoOptions


def verb(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="A minute's look: everything runs, nothing is shown.")] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="N", help="Time for training.", show_default="210")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FILE", help="Fit vendors to this delivery history first.")
    ] = None,
    resume: Annotated[str | None, typer.Option("--resume", metavar="RUN", help="Go on with a stopped demo.")] = None,
    seed: Seed = 0,
    workers: Workers = 0,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Real vendors, agents that play, GRPO and ProGPO that learn on the same budget, held-out days, and a report.

    Exit code 1 when the trained agent's interval does not lie above the untrained one's.
    """
    from masim.study.runs import Interrupted

    silent = as_json or quiet
    changes: dict[str, Any] = {"seed": seed, "data": data, "out": out, "command": command_line(context)}
    changes |= {"seconds": seconds} if seconds is not None else {}
    changes |= {"workers": workers} if workers else {}
    try:
        found = _go_on(resume, silent) if resume is not None else _do(changes, quick, silent)
    except Interrupted as stop:
        note(f"masim: saved in {stop.folder}; go on with: masim demo --resume {stop.folder}", silent=False)
        raise
    emit(asdict(found), as_json, *([] if quiet else ["", *found.lines]), f"report: {found.report}")
    if not found.passed:
        raise check_failed()


def _do(changes: dict[str, Any], quick: bool, silent: bool) -> Conclusions:
    from masim.study.demo import QUICK, DemoOptions, run_demo

    options: DemoOptions = DemoOptions(**{**(QUICK if quick else {}), **changes})
    with shown(silent) as progress:
        return run_demo(options, progress, lambda text: note(text, silent))


def _go_on(name: str, silent: bool) -> Conclusions:
    from masim.study.demo import resume_demo

    with shown(silent) as progress:
        return resume_demo(find_run(name), progress)
