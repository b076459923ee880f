"""An agent's situation in words: for people and for language models, never part of a numeric observation.

Everything in it comes from what the agent was told. Headings are ``[words]`` at the start of a line and vendors' words
stand in ``<<<fences>>>``; neither can occur inside a fence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from masim.env.decision import Decision
from masim.env.text.bounds import cut, section
from masim.env.text.errors import Code
from masim.env.text.fence import FENCE_NOTE, plain
from masim.env.text.heard import heard_line
from masim.env.text.orders import order_lines
from masim.env.text.times import Times, span
from masim.env.text.toolbox import toolbox_of
from masim.env.text.version import TEXT_VERSION
from masim.errors import ToolError

_ENDS = 12
"""Endpoints whose last end is listed, the newest first."""


def observe(decision: Decision, errors: Sequence[ToolError] = (), memory: str = "") -> str:
    """Return what the agent of an open decision knows, and what it may do.

    ``errors`` say why calls of its last decision did nothing, ``memory`` is the card of its memory. The text has at
    most :data:`masim.env.text.bounds.MAX_TEXT` characters, all of them in :data:`masim.env.text.version.CHARSET`.
    """
    times, view, now = Times.of(decision.table.spec), decision.view, decision.t_s
    turns = f"decision {decision.turn} of at most {decision.table.spec.max_decisions}"
    lines = [
        head(decision.agent, f"{turns}, asked because of {decision.reason.name.lower()}"),
        cut(f"now {times.dated(now)}, booking ends {times.at(decision.end_s)}"),
        *section("error", error_lines(errors)),
        *section("heard", [heard_line(event, decision.agent, view, times) for event in decision.heard], FENCE_NOTE),
        *section("under way", _under_way(decision)),
        *section("orders", list(order_lines(view, now, times))),
        *section("endpoints", list(_endpoints(decision))),
        *section("memory", memory.splitlines()),
        *section("may", list(_may(decision))),
    ]
    return "\n".join(lines)


def head(agent: str, state: str) -> str:
    """Return the first line of a text."""
    return cut(f"[masim text {TEXT_VERSION}] {plain(agent)}, {state}")


def error_lines(errors: Sequence[ToolError]) -> list[str]:
    """Return the lines about the calls of the last decision that did nothing.

    The only call of a decision counted as a wait; one of an agent that was not asked was no decision at all.
    """
    only = len(errors) == 1 and not errors[0].text.startswith("call ")
    waited = only and errors[0].code not in (Code.BUSY, Code.NO_MORE_TURNS)
    head = "your last call did nothing and counted as a wait." if waited else "this did nothing."
    return [f"{head} {error}" for error in errors]


def _under_way(decision: Decision) -> list[str]:
    """Return the calls that were not answered yet, where agents do not wait for their calls."""
    box = toolbox_of(decision.table, decision.agent)
    return [f"{box.words(action)}, no answer yet" for action in decision.under_way]


def _endpoints(decision: Decision) -> Iterator[str]:
    """Yield the last end of each endpoint that was called, the newest first."""
    ends, now = decision.view.ends, decision.t_s
    newest = sorted(ends.last_s, key=lambda place: (-ends.last_s[place], place[0].value, place[1]))
    for verb, vendor in newest[:_ENDS]:
        code = ends.code[verb, vendor] or "no answer"
        line = f"{verb.value} at {plain(vendor)}: {code}, {span(now - ends.last_s[verb, vendor])} ago"
        retry_s = decision.view.retry_at_s(verb, vendor) - now
        yield line + (f", ask again after {span(retry_s)}" if retry_s > 0 else "")
    if len(newest) > _ENDS:
        yield f"({len(newest) - _ENDS} endpoints called earlier left out)"


def _may(decision: Decision) -> Iterator[str]:
    """Yield the legal calls, those that differ in their last argument on one line."""
    box = toolbox_of(decision.table, decision.agent)
    groups: dict[str, list[str]] = {}
    for index in decision.legal.tolist():
        begin, value = box.lines[index]
        groups.setdefault(begin, []).append(value)
    for begin, values in groups.items():
        yield begin + " | ".join(values)
