"""The tools of a scenario: one per verb, with the arguments that its rows of the action table differ in.

A call is ``{"name": verb, "arguments": {...}}``; calls and actions stand for each other one to one. Numbers count as
in the table: orders of the agent from 0, legs within the order, slots by their rank in the last list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from masim.env.actions import STOPS, Action, ActionTable
from masim.env.desk import permits, table_role
from masim.env.text.words import ARGUMENTS, TOOLS
from masim.sim.spec import Verb
from masim.sim.staff import RoleSpec
from masim.units import duration_text

Value = str | int
Arguments = dict[str, Value]
UNTIL_MESSAGE = "until_message"
"""The duration of action 0."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool and all values that it has in the table, in their order."""

    name: str
    values: tuple[Value, ...]

    @property
    def whole(self) -> bool:
        """Return whether the values are integers, else they are strings."""
        return isinstance(self.values[0], int)

    def allowed(self) -> str:
        """Return the values in words."""
        if not self.whole:
            return ", ".join(f'"{value}"' for value in self.values)
        if len(self.values) > 1 and self._gapless():
            return f"an integer from {self.values[0]} to {self.values[-1]}"
        return f"the integer {' or '.join(map(str, self.values))}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        described = {"description": ARGUMENTS[self.name]}
        if not self.whole:
            return {"type": "string", "enum": list(self.values), **described}
        if self._gapless():
            return {"type": "integer", "minimum": self.values[0], "maximum": self.values[-1], **described}
        return {"type": "integer", "enum": list(self.values), **described}

    def _gapless(self) -> bool:
        first = int(self.values[0])
        return self.values == tuple(range(first, first + len(self.values)))


@dataclass(frozen=True, slots=True)
class Tool:
    """One verb and its parameters; every one of them is required."""

    verb: Verb
    description: str
    parameters: tuple[Parameter, ...]
    example: Arguments
    """The arguments of its first action."""

    def schema(self) -> dict[str, Any]:
        """Return the tool in the function form that OpenAI-compatible servers and chat templates take."""
        return {
            "type": "function",
            "function": {
                "name": self.verb.value,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {p.name: p.schema() for p in self.parameters},
                    "required": [p.name for p in self.parameters],
                    "additionalProperties": False,
                },
            },
        }


class Toolbox:
    """All tools of one action table that a role has, and the way from an action to its call and back."""

    def __init__(self, table: ActionTable, role: RoleSpec | None = None) -> None:
        self.table = table
        self.actions = range(len(table)) if role is None else np.flatnonzero(permits(table, role)).tolist()
        """The rows of the table that can ever be an action here."""
        self._arguments = tuple(self._read(action) for action in table.actions)
        verbs = dict.fromkeys(table.verb[i] for i in self.actions)
        self.tools: dict[str, Tool] = {verb.value: self._tool(verb) for verb in verbs}
        self.lines = tuple(_line(a.verb, self._arguments[i]) for i, a in enumerate(table.actions))
        """Each action in words, cut before the value of its last argument."""
        self._index = {self._key(table.verb[i].value, self._arguments[i]): i for i in self.actions}

    def _read(self, action: Action) -> Arguments:
        found: Arguments = {}
        if action.verb == Verb.WAIT.value:
            found["duration"] = self._duration(action)
        if action.order >= 0:
            found["order"] = action.order
        if action.role >= 0:
            found["to"] = table_role(self.table, action.role)
        elif action.leg >= 0:
            found["leg"] = action.leg % self.table.legs_per_order
        if action.vendor >= 0:
            found["carrier"] = self.table.spec.carriers[action.vendor].id
        if action.stop >= 0:
            found["stop"] = STOPS[action.stop].value
        if action.rank >= 0:
            found["slot"] = action.rank
        return found

    def _duration(self, action: Action) -> str:
        return UNTIL_MESSAGE if action is self.table.actions[0] else duration_text(action.wait_s)

    def _tool(self, verb: Verb) -> Tool:
        rows = [self._arguments[i] for i in self.actions if self.table.verb[i] is verb]
        names = list(rows[0])
        parameters = [Parameter(name, tuple(dict.fromkeys(row[name] for row in rows))) for name in names]
        description = TOOLS[verb].format(cap=duration_text(self.table.actions[0].wait_s))
        return Tool(verb, description, tuple(parameters), rows[0])

    @staticmethod
    def _key(name: str, arguments: Mapping[str, Value]) -> tuple[object, ...]:
        return name, *sorted(arguments.items())

    def schemas(self) -> list[dict[str, Any]]:
        """Return every tool as JSON schema, in the order of the table; the same for every episode."""
        return [tool.schema() for tool in self.tools.values()]

    def call(self, index: int) -> dict[str, Any]:
        """Return the call that an action stands for."""
        return {"name": self.table.verb[index].value, "arguments": dict(self._arguments[index])}

    def words(self, index: int) -> str:
        """Return an action in words, as ``quote(order 0, leg 0, carrier aster)``."""
        name, _, rest = "".join(self.lines[index]).partition(": ")
        return f"{name}({rest})"

    def arguments(self, index: int) -> Mapping[str, Value]:
        """Return the arguments of an action."""
        return self._arguments[index]

    def find(self, name: str, arguments: Mapping[str, Value]) -> int:
        """Return the action of a call whose arguments are in their range, -1 when the table has no such row."""
        return self._index.get(self._key(name, arguments), -1)


def _line(verb: str, arguments: Arguments) -> tuple[str, str]:
    *first, (last, value) = arguments.items()
    return f"{verb}: {''.join(f'{name} {given}, ' for name, given in first)}{last} ", str(value)


@lru_cache(maxsize=32)
def toolbox(table: ActionTable, role: RoleSpec | None = None) -> Toolbox:
    """Return the tools of a role, the same object for the same table and role."""
    return Toolbox(table, role)


def toolbox_of(table: ActionTable, agent: str) -> Toolbox:
    """Return the tools of an agent."""
    staff = table.spec.staff
    return toolbox(table, None if staff is None else staff.role_of(agent))
