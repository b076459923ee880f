"""Text for the adapters: what an agent of a stage reads, its tools, and its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from masim.env.text.bounds import cut, section
from masim.env.text.brief import brief
from masim.env.text.errors import Code, tool_error
from masim.env.text.observe import error_lines, head, observe
from masim.env.text.parse import read_action
from masim.env.text.recall import memory_card
from masim.env.text.several import Said, nothing, parse_decision
from masim.env.text.times import Times, span
from masim.env.text.toolbox import toolbox_of
from masim.errors import ConfigError, ToolError, did_you_mean

if TYPE_CHECKING:
    from masim.env.decision import Decision
    from masim.env.stage import Stage


def observe_text(stage: Stage, agent: str, errors: Sequence[ToolError] = ()) -> str:
    """Return what an agent knows; for one that is not asked only the time and what it waits for.

    What reaches an agent while it is busy is told when it is asked again.
    """
    _known(stage, agent)
    state, place = _state(stage, agent), stage.places[agent]
    if not errors and place.illegal:
        errors = (tool_error(Code.ILLEGAL_NUMBER),)
    if place.asked and place.last is not None:
        return observe(place.last, errors, _memory_card(stage, agent, place.last))
    times = Times.of(stage.spec)
    lines = [
        head(agent, state),
        cut(f"now {times.dated(stage.session.now)}"),
        *section("error", error_lines(errors)),
    ]
    return "\n".join([*lines, *section("under way", _under_way(stage, agent, times))])


def _state(stage: Stage, agent: str) -> str:
    if stage.over:
        return "the episode is over"
    if stage.left(agent):
        return "you have no more turns"
    return "you have not joined yet" if stage.places[agent].last is None else "you are busy"


def _under_way(stage: Stage, agent: str, times: Times) -> list[str]:
    place = stage.places[agent]
    if stage.left(agent) or place.last is None:
        return []
    since_s, until_s, now = place.busy_since_s, place.deadline_s, stage.session.now
    since = f"since {times.at(since_s)} ({span(now - since_s)})"
    box = toolbox_of(stage.table, agent)
    return [f"{box.words(action)} {since}, at most until {times.at(until_s)}" for action in place.actions]


def _memory_card(stage: Stage, agent: str, decision: Decision) -> str:
    """Return what the agent's memory says of its shippers and all carriers; empty without ``memory``."""
    return memory_card(stage.memories[agent], decision) if stage.options.memory else ""


def brief_of(stage: Stage, agent: str) -> str:
    """Return what an agent is told once. Raises ConfigError for an unknown one."""
    _known(stage, agent)
    return brief(stage.table, agent)


def tools(stage: Stage, agent: str) -> list[dict[str, Any]]:
    """Return the tools of an agent as JSON schema; the same in every episode. Raises ConfigError for an unknown one."""
    _known(stage, agent)
    return toolbox_of(stage.table, agent).schemas()


def _known(stage: Stage, agent: str) -> None:
    if agent not in stage.agents:
        near = did_you_mean(str(agent), stage.agents)
        raise ConfigError("no such agent", "agent", str(agent), ", ".join(stage.agents), near)


def parse_for(stage: Stage, agent: str, raw: object) -> Said:
    """Return the actions that an agent's words stand for now, with an error for each call that stands for none.

    An agent that is not asked may only go on waiting: action 0.
    """
    _known(stage, agent)
    if stage.left(agent):
        return nothing(tool_error(Code.NO_MORE_TURNS))
    place = stage.places[agent]
    if place.asked and place.last is not None:
        return parse_decision(raw, place.last)
    try:
        waits = read_action(raw, toolbox_of(stage.table, agent)) == 0
    except ToolError as error:
        return nothing(error)
    return Said((0,)) if waits else nothing(tool_error(Code.BUSY))
