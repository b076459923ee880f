"""From an agent's words to an action, or to an error that it can read. Nothing is ever evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from masim.env.decision import Decision
from masim.env.text.errors import Code, tool_error
from masim.env.text.fence import quoted
from masim.env.text.toolbox import Arguments, Parameter, Tool, Toolbox, Value, toolbox_of
from masim.env.text.version import MAX_CALL_CHARS
from masim.env.text.why import why_not
from masim.errors import ToolError, did_you_mean

Raw = str | Mapping[str, Any]
"""A call as JSON text, or as what that JSON would be."""
_ENVELOPE = ("id", "type", "function")
_CALL = ("name", "arguments")


def parse_call(raw: object, decision: Decision) -> int | ToolError:
    """Return the action that a call stands for at this decision, or why there is none. Raises nothing.

    Taken are ``{"name": ..., "arguments": {...}}`` and the tool call of OpenAI-compatible servers around it
    (``{"function": {...}}``, arguments as an object or as JSON text), each as text or as an object.
    """
    box = toolbox_of(decision.table, decision.agent)
    try:
        index = read_action(raw, box)
    except ToolError as error:
        return error
    if (decision.legal == index).any():
        return index
    return why_not(index, decision.view, box)


def read_action(raw: object, box: Toolbox) -> int:
    """Return the row of the table that a call names, legal or not. Raises ToolError."""
    name, arguments = _read_call(raw, box)
    tool = box.tools.get(name)
    if tool is None:
        near = did_you_mean(name, box.tools) or "take one of the tools"
        raise tool_error(Code.UNKNOWN_TOOL, echo=quoted(name), allowed=", ".join(box.tools), near=near.rstrip("?"))
    index = box.find(name, _read_arguments(arguments, tool))
    if index < 0:
        raise tool_error(Code.NO_SUCH_CALL, tool=name, allowed=_together(name, box))
    return index


def example_of(tool: Tool) -> str:
    """Return a call of a tool that is well formed."""
    return json.dumps({"name": tool.verb.value, "arguments": tool.example})


# -- the call ---------------------------------------------------------------------------------------------------------


def _read_call(raw: object, box: Toolbox) -> tuple[str, dict[str, Any]]:
    example = example_of(next(iter(box.tools.values())))
    found = load_json(raw, example) if isinstance(raw, str) else raw
    if isinstance(found, Mapping) and isinstance(found.get("function"), Mapping):
        _only(found, _ENVELOPE, example)
        found = found["function"]
    if not isinstance(found, Mapping):
        _no_call(f"this is {_kind(found)}", example)
    _only(found, _CALL, example)
    name, arguments = found.get("name"), found.get("arguments")
    if not isinstance(name, str):
        _no_call(f'"name" is {_kind(name)}' if "name" in found else '"name" is missing', example)
    if isinstance(arguments, str):
        arguments = load_json(arguments, example)
    if not isinstance(arguments, Mapping):
        _no_call(f'"arguments" is {_kind(arguments)}' if "arguments" in found else '"arguments" is missing', example)
    return name, {str(key): value for key, value in arguments.items()}


def _only(found: Mapping[Any, Any], known: tuple[str, ...], example: str) -> None:
    for key in found:
        if key not in known:
            _no_call(f"there is a key {quoted(str(key))} beside {' and '.join(known)}", example)


def _no_call(what: str, example: str) -> NoReturn:
    raise tool_error(Code.NOT_A_CALL, what=what, example=example)


def _kind(value: object) -> str:
    """Return the JSON type of a value in words."""
    if value is None:
        return "null"
    for kinds, word in ((bool, "a boolean"), ((int, float), "a number"), (str, "a string"), (Mapping, "an object")):
        if isinstance(value, kinds):
            return word
    return "a list" if isinstance(value, list | tuple) else "no JSON value"


# -- JSON -------------------------------------------------------------------------------------------------------------


class _Twice(ValueError):
    """A key stands twice in one object."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return found


def _constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON", name, 0)


def load_json(text: str, example: str) -> Any:
    """Return what a text is as JSON. Raises ToolError; ``example`` is the call that its fix shows."""
    if len(text) > MAX_CALL_CHARS:
        raise tool_error(Code.TOO_LONG, length=len(text), limit=MAX_CALL_CHARS)
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except _Twice as twice:
        raise tool_error(
            Code.NOT_A_CALL, what=f"the key {quoted(str(twice))} is there twice", example=example
        ) from None
    except (ValueError, RecursionError) as error:
        if _is_half(text):
            raise tool_error(Code.HALF_JSON, example=example) from None
        at = getattr(error, "pos", 0)
        raise tool_error(Code.NOT_JSON, at=at, echo=quoted(text[at:]), example=example) from None


def _is_half(text: str) -> bool:
    """Return whether a text begins as an object or a list and leaves a bracket or a quote open."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    depth, inside, escaped = 0, False, False
    for char in text:
        if inside:
            inside, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char == '"':
            inside = True
        else:
            depth += (char in "{[") - (char in "}]")
    return inside or depth > 0


# -- the arguments ----------------------------------------------------------------------------------------------------


def _read_arguments(given: dict[str, Any], tool: Tool) -> Arguments:
    names = [parameter.name for parameter in tool.parameters]
    for name in given:
        if name not in names:
            near = did_you_mean(name, [n for n in names if n not in given]) or "leave it out"
            raise tool_error(
                Code.UNKNOWN_ARGUMENT,
                tool=tool.verb,
                echo=quoted(name),
                allowed=", ".join(names),
                near=near.rstrip("?"),
            )
    for parameter in tool.parameters:
        if parameter.name not in given:
            raise tool_error(
                Code.MISSING_ARGUMENT,
                tool=tool.verb,
                name=parameter.name,
                allowed=parameter.allowed(),
                example=example_of(tool),
            )
    return {parameter.name: _value(given[parameter.name], parameter, tool) for parameter in tool.parameters}


def _value(value: Any, parameter: Parameter, tool: Tool) -> Value:
    """Return a value of the parameter; 2.0 is the integer 2, as in JSON schema."""
    if parameter.whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int if parameter.whole else str):
        raise tool_error(
            Code.WRONG_TYPE,
            tool=tool.verb,
            name=parameter.name,
            echo=_shown(value),
            allowed=parameter.allowed(),
            example=example_of(tool),
        )
    if value not in parameter.values:
        near = "" if parameter.whole else did_you_mean(str(value), [str(v) for v in parameter.values])
        raise tool_error(
            Code.BAD_VALUE,
            tool=tool.verb,
            name=parameter.name,
            echo=_shown(value),
            allowed=parameter.allowed(),
            near=near.rstrip("?") or "take one of the allowed values",
        )
    return value


def _shown(value: Any) -> str:
    """Return a value with its type: strings in quotes, numbers bare, lists and objects by their type alone."""
    kind = _kind(value)
    if isinstance(value, str):
        return f"the string {quoted(value)}"
    bare = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
    return f"the number {value:g}" if bare else kind


def _together(name: str, box: Toolbox) -> str:
    """Return the combinations of a tool's arguments, slots and carriers left aside."""
    rows = [box.arguments(i) for i in box.actions if box.table.verb[i].value == name]
    kept = [{k: v for k, v in row.items() if k not in ("carrier", "slot")} for row in rows]
    return "; ".join(dict.fromkeys(", ".join(f"{k} {v}" for k, v in row.items()) for row in kept))
