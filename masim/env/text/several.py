"""What an agent says in one decision: one call, or a list of calls where the scenario's ``turn`` allows several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from masim.env.decision import Decision
from masim.env.text.errors import Code, tool_error
from masim.env.text.parse import example_of, load_json, parse_call
from masim.env.text.toolbox import toolbox_of
from masim.errors import ToolError

ILLEGAL = -1
"""Stands in a decision for a call that is none: every adapter takes it as illegal."""


@dataclass(frozen=True, slots=True)
class Said:
    """A decision in words as actions of the table, :data:`ILLEGAL` where a call stands for none."""

    actions: tuple[int, ...]
    errors: tuple[ToolError, ...] = ()

    @property
    def action(self) -> int | tuple[int, ...]:
        """Return what adapters and sessions take."""
        return self.actions if len(self.actions) > 1 else self.actions[0]


def nothing(error: ToolError) -> Said:
    """Return a decision that does nothing, and why."""
    return Said((ILLEGAL,), (error,))


def parse_decision(raw: object, decision: Decision) -> Said:
    """Return the actions that an agent's words stand for, with an error for each that stands for none.

    One call is read as :func:`masim.env.text.parse.parse_call` does it. Where several are allowed, a list of them is
    too, also under ``tool_calls`` as servers give it; they are carried out in their order, and one that stands for
    nothing does not stop the others. Raises nothing.
    """
    most = decision.table.spec.turn.calls
    try:
        calls = [raw] if most == 1 else _listed(raw, decision)
        if not 1 <= len(calls) <= most:
            raise tool_error(Code.HOW_MANY, count=len(calls), most=most)
    except ToolError as error:
        return nothing(error)
    found = [parse_call(call, decision) for call in calls]
    errors = [_numbered(f, n, len(found)) for n, f in enumerate(found, 1) if isinstance(f, ToolError)]
    return Said(tuple(ILLEGAL if isinstance(f, ToolError) else f for f in found), tuple(errors))


def _listed(raw: object, decision: Decision) -> list[Any]:
    tool = next(iter(toolbox_of(decision.table, decision.agent).tools.values()))
    found = load_json(raw, example_of(tool)) if isinstance(raw, str) else raw
    if isinstance(found, Mapping) and isinstance(found.get("tool_calls"), list | tuple):
        found = found["tool_calls"]
    return list(found) if isinstance(found, list | tuple) else [found]


def _numbered(error: ToolError, nth: int, of: int) -> ToolError:
    return ToolError(error.code, f"call {nth} of {of}: {error.text}") if of > 1 else error
