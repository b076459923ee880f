"""``masim replay``: a stored episode, decision by decision."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from masim.cli.common import Json, console, emit, find_run
from masim.units import clock_text

if TYPE_CHECKING:
    from masim.study.replay import Step


def verb(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run folder, its name under runs/, or `last`.")
    ] = "last",
    episode: Annotated[int, typer.Option("--episode", "-e", help="Which episode.")] = 0,
    arm: Annotated[
        str,
        typer.Option(
            "--arm", metavar="ARM[-sSEED]", help="Whose episode, where several cards played; else the first's."
        ),
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="All decisions at once, without keys.")] = False,
    first: Annotated[int, typer.Option("--from", help="First decision, from 0.")] = 0,
    last: Annotated[int | None, typer.Option("--to", help="Last decision.", show_default=False)] = None,
    agent: Annotated[str, typer.Option("--agent", help="Decisions of this agent alone.")] = "",
    order: Annotated[str, typer.Option("--order", help="Decisions about this order alone.")] = "",
    gantt: Annotated[Path | None, typer.Option("--gantt", metavar="FILE", help="Draw it: .png or .svg.")] = None,
    as_json: Json = False,
) -> None:
    """Step through a stored episode: time, agent, action, answer, money, faults with their causes, state of orders.

    It is simulated again from its scenario and actions where that is possible, and the two traces are compared.
    """
    from masim.analysis.load import load_run
    from masim.study.replay import check_picture, choose, pick_episode, steps_of
    from masim.study.resimulate import resimulate

    if gantt is not None:
        check_picture(gantt)
    data = load_run(find_run(run))
    rows = pick_episode(data, episode, arm)
    steps = choose(steps_of(rows), first, last, agent, order)
    same, said = resimulate(data, rows)
    if gantt is not None:
        from masim.analysis.gantt import save_gantt

        save_gantt(rows, gantt)
    payload = {"run": data.path, "episode": episode, "same": same, "check": said, "gantt": gantt}
    if gantt is not None and not everything:
        emit(payload, as_json, said, str(gantt))
    elif as_json or everything or not (sys.stdin.isatty() and sys.stdout.isatty()):
        texts = [said, *(text_of(step) for step in steps)]
        emit({**payload, "decisions": [asdict(step) for step in steps]}, as_json, *texts)
    else:
        page(steps, said)


def text_of(step: Step) -> str:
    """Return one decision in lines."""
    lines = [f"{step.n:>4}  {clock_text(step.t_s)}  {step.agent}  {step.action}"]
    money = f"  ${step.amount_cents / 100:,.2f}" if step.amount_cents else ""
    lines += [f"      -> {step.answer}{money}"] if step.answer else []
    lines += [f"      fault {cause}" for cause in step.faults]
    lines += [f"      {event}" for event in step.events]
    for order, links in step.chains.items():
        lines.append(f"      {order}: {', '.join(f'{link} {state}' for link, state in links.items())}")
    return "\n".join(lines)


def page(steps: Sequence[Step], said: str) -> None:
    """Show one decision after the other: any key goes on, b back, q leaves."""
    out, at = console(), 0
    out.print(said, "any key: next, b: back, q: leave", sep="\n", markup=False)
    while 0 <= at < len(steps):
        out.print(text_of(steps[at]), markup=False)
        key = typer.getchar()
        if key in ("q", "\x1b", "\x03", "\x04"):
            return
        at = max(0, at - 1) if key == "b" else at + 1
