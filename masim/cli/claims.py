"""``masim claims``: the honest experiments, each with its hypotheses and rules written beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Out, Quiet, emit, find_run, note, table
from masim.cli.progress import shown
from masim.cli.results import Where, Workers, command_line
from masim.errors import EXIT_CHECK_FAILED, EXIT_OK, ConfigError

if TYPE_CHECKING:
    from rich.table import Table


def verb(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which claim; without a name they are listed.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Small and few: shows that it works, judges nothing.")] = False,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Seeds of each arm; else the protocol's.", show_default=False)
    ] = None,
    workers: Workers = 0,
    executor: Where = "processes",
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Go on with a stopped or killed run.")
    ] = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Play a claim's protocol and judge its hypotheses; exit 1 when one of them is not supported.

    Every arm meets the same seeds. A finished (arm, world, seed) is never played again: Ctrl-C saves, --resume goes on.
    The same protocol gives the same results.json, on any number of workers.
    """
    if not name and resume is None:
        return _listed(as_json)
    folder = _played(context, name, quick, seeds, workers, executor, resume, out, as_json or quiet)
    return _told(folder, as_json, quiet)


def _listed(as_json: bool) -> int:
    from masim.study.claims.protocol import claim_names, load_protocol

    rows = [{"claim": name, "title": load_protocol(name)[0].title} for name in claim_names()]
    made = table("claim", "question")
    for row in rows:
        made.add_row(row["claim"], row["title"])
    emit({"claims": rows}, as_json, made)
    return EXIT_OK


def _played(
    context: typer.Context,
    name: str,
    quick: bool,
    seeds: int | None,
    workers: int,
    executor: str,
    resume: str | None,
    out: Path | None,
    silent: bool,
) -> Path:
    from masim.rollout.executors import default_workers
    from masim.study.claims.run import ClaimOptions, resume_claim, run_claim
    from masim.study.runs import Interrupted

    if resume is not None and (name or quick or seeds or out):
        raise ConfigError("--resume takes no name, --quick, --seeds or --out; the run knows its own", "--resume")
    many = workers or default_workers()
    try:
        with shown(silent) as progress:
            if resume is not None:
                return resume_claim(find_run(resume), many, executor, progress)
            options = ClaimOptions(quick, seeds, many, executor, out, command_line(context))
            return run_claim(name, options, progress)
    except Interrupted as stop:
        note(f"masim: saved in {stop.folder}; go on with: masim claims --resume {stop.folder}", silent=False)
        raise


def _told(folder: Path, as_json: bool, quiet: bool) -> int:
    from masim.study.claims.run import passed, read_results

    results = read_results(folder)
    tables = [] if quiet else [_verdicts(results)]
    remark = ["a quick run: nothing is judged by it"] if results["quick"] else []
    payload = {"run": folder, "quick": results["quick"], "hypotheses": results["hypotheses"]}
    emit(payload, as_json, *tables, *remark, str(folder))
    return EXIT_OK if passed(results) else EXIT_CHECK_FAILED


def _verdicts(results: dict[str, Any]) -> Table:
    from masim.study.claims.tables import interval

    made = table("hypothesis", "what", "rule", ">found", "verdict", title=results["title"])
    for row in results["hypotheses"]:
        what = f"{row['endpoint']}, {row['world']}: {row['arm']}" + (f" minus {row['minus']}" if row["minus"] else "")
        made.add_row(row["id"], what, row["rule"], interval(row), row["verdict"])
    return made
