"""``masim play``: one agent of a scenario, by hand, in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from masim.cli.common import Json, Out, Set, emit, overrides
from masim.cli.results import close_run, command_line, tell_finished

if TYPE_CHECKING:
    from masim.env.decision import Chosen, Decision
    from masim.study.play import Played

PROMPT = "> "


def verb(
    context: typer.Context,
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Id of a scenario, or path of a file.")],
    agent: Annotated[str, typer.Option("--agent", help="Whose place to take.", show_default="the first")] = "",
    others: Annotated[str, typer.Option("--others", metavar="CARD", help="Who plays the other agents.")] = "scripted",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Root seed, as of `masim run`.")] = 0,
    day: Annotated[int, typer.Option("--day", min=0, help="Day of the campaign, from 0.")] = 0,
    settings: Set = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Play a day by hand: read what your agent knows, type the number of a call, see what is answered.

    Words show only the calls that contain them, an empty line shows everything again, ? helps, and q leaves: the day
    then goes on without you, and the run folder is written all the same. Lines may come from a pipe.
    """
    from masim.scenario.load import load_scenario
    from masim.study.play import PlayOptions, play_scenario
    from masim.study.runs import Interrupted

    world = load_scenario(scenario, overrides(settings) or None)
    options = PlayOptions(agent, others, seed, day, out, command_line(context))
    screen = sys.stderr if as_json else sys.stdout
    try:
        played = play_scenario(world, Terminal(sys.stdin, screen), options)
    except Interrupted as stop:
        tell_finished(stop.folder)
        raise
    _, file = close_run(played.folder, report)
    emit(payload(played, file), as_json, *ending(played), str(file or played.folder))


class Terminal:
    """A person at a terminal, or a script in its place."""

    def __init__(self, keys: TextIO, screen: TextIO) -> None:
        self._keys = keys
        self._screen = screen
        if hasattr(keys, "reconfigure"):
            keys.reconfigure(errors="replace")  # a byte that is no text is a line that is not understood, no crash
        self._say("? helps, q leaves")

    def choose(self, decision: Decision) -> Chosen | None:
        """Show the decision and ask until a line names calls; ``None`` for leaving or when there are no more lines."""
        from masim.cli.menu import Menu

        menu = Menu(decision)
        self._show(situation(decision), menu.lines())
        while True:
            self._screen.write(PROMPT)
            self._screen.flush()
            line = self._keys.readline()
            if not line:
                self._say("", "no more input: the day goes on without you")
                return None
            reply = menu.read(line)
            if reply.leave:
                return None
            if reply.actions:
                self._say(reply.say)
                return reply.actions if len(reply.actions) > 1 else reply.actions[0]
            if reply.say:
                self._say(reply.say)
            else:
                self._show(() if reply.words else situation(decision), menu.lines(reply.words))

    def _show(self, facts: Iterable[str], calls: Iterable[str]) -> None:
        self._say(*facts, *(f"  {line}" for line in calls))

    def _say(self, *lines: str) -> None:
        for line in lines:
            print(line, file=self._screen)


def situation(decision: Decision) -> Iterable[str]:
    """Yield time, what reached the agent since its last decision, and what it knows of its orders."""
    from masim.env.text.fence import FENCE_NOTE
    from masim.env.text.heard import heard_line
    from masim.env.text.orders import order_lines
    from masim.env.text.times import Times
    from masim.env.text.toolbox import toolbox_of

    times = Times.of(decision.table.spec)
    turns = f"decision {decision.turn + 1} of at most {decision.table.spec.max_decisions}"
    why = decision.reason.name.lower().replace("_", " ")
    yield ""
    yield f"== {times.dated(decision.t_s)}  {decision.agent}, {turns} ({why}); booking ends {times.at(decision.end_s)}"
    heard = [heard_line(event, decision.agent, decision.view, times) for event in decision.heard]
    if any("<<<" in line for line in heard):
        yield FENCE_NOTE
    yield from (f"  {line}" for line in heard)
    box = toolbox_of(decision.table, decision.agent)
    yield from (f"  {box.words(action)}, no answer yet" for action in decision.under_way)
    yield "orders"
    yield from (f"  {line}" for line in order_lines(decision.view, decision.t_s, times))
    most = decision.table.spec.turn.calls
    yield "you may" if most == 1 else f"you may (up to {most} calls in one decision: type their numbers)"


def ending(played: Played) -> list[str]:
    """Return how the day went, in lines."""
    lines = [f"\n{played.agent}: {played.decisions} decisions, {played.calls} calls, reward {played.reward:.2f}"]
    for order in played.orders:
        state = "completed and safe" if order.safe else "completed, not safe" if order.completed else "not completed"
        why = f": {order.failure}" if order.failure else ""
        cost = f"{order.cost_cents / 100:,.2f} USD"
        lines.append(f"{order.order}: {state}{why}; {order.legs_delivered} of {order.legs} legs delivered, {cost}")
    return lines


def payload(played: Played, file: Path | None) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "run": played.folder,
        "report": file,
        "agent": played.agent,
        "left": played.left,
        "decisions": played.decisions,
        "calls": played.calls,
        "reward": played.reward,
        "orders": [asdict(order) for order in played.orders],
    }
