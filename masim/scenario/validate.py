"""Nodes -> pydantic model, with every refusal turned into one line that names file and line."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from masim.errors import ScenarioError
from masim.scenario.dist_models import FORMS, KINDS
from masim.scenario.nodes import Node

M = TypeVar("M", bound=BaseModel)
_PLAIN_WORDS = {
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "union_tag_not_found": "not a distribution",
    "union_tag_invalid": "not a distribution that fits here",
}


def validate(model: type[M], node: Node, name: str = "") -> M:
    """Return the model of a node; ``name`` is its path from the root of the file, where it is not the root itself.

    Raises ScenarioError for the first problem, with the number of others.
    """
    try:
        return model.model_validate(node.plain())
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise _line(problems[0], node, len(problems) - 1, name) from error


def shown(node: Node) -> str:
    """Return a value as an error message shows it."""
    if isinstance(node.value, dict):
        return "a mapping"
    if isinstance(node.value, tuple):
        return f"a list of {len(node.value)}"
    text = "null" if node.value is None else str(node.value).lower() if node.value is True else repr(node.value)
    return text if len(text) <= 60 else text[:57] + "..."


def _line(error: Any, root: Node, others: int, name: str) -> ScenarioError:
    """Turn one pydantic error into the one line."""
    path = _without_tags(error["loc"])
    context = error.get("ctx", {})
    more = f" (and {others} more)" if others else ""
    if error["type"] == "missing":
        where = root.find(*path[:-1]).where
        if isinstance(path[-1], int):  # a pair or triple that is too short
            short = root.find(*path[:-1])
            return ScenarioError(f"{_dotted(path[:-1], root, name)}: the list is too short{more}", where, shown(short))
        return ScenarioError(f"missing key {_dotted(path, root, name)!r}{more}", where, "", "", f"add `{path[-1]}:`")
    if "key" in context:
        path = (*path, context["key"])
    node = root.find(*path)
    problem = context.get("problem") or _PLAIN_WORDS.get(error["type"]) or error["msg"]
    allowed = context.get("allowed") or str(context.get("expected", ""))
    if error["type"].startswith("union_tag"):
        allowed, context = FORMS, {"fix": "for a fixed value write {constant: ..}"}
    text = f"{_dotted(path, root, name)}: {problem}{more}" if path else f"{problem}{more}"
    return ScenarioError(text, node.where, shown(node), allowed, context.get("fix", ""))


def _without_tags(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop what pydantic adds to a path: the tag before each field of a distribution, and ``[key]``."""
    path: list[str | int] = []
    literal = False
    for part in loc:
        if part in KINDS and not literal:
            literal = True
            continue
        literal = False
        if part != "[key]":
            path.append(part)
    return tuple(path)


def _dotted(path: tuple[str | int, ...], root: Node, name: str) -> str:
    """Render a path for people: list elements by their id where they have one."""
    names, node = [name] if name else [], root
    for part in path:
        child = node.child(part)
        named = child.child("id") if child is not None and isinstance(part, int) else None
        names.append(str(named.value) if named is not None else str(part))
        node = child or node
    return ".".join(names)
