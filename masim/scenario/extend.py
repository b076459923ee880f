"""``extends:``: a scenario that says only what differs from another file.

The base is looked for beside the scenario, then in every scenario folder, so a copied scenario still finds it. Keys of
a section replace those of the base one by one; lists and whole values (a distribution, a leg) are replaced whole, and
the history of the base is left to the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from masim.assets import is_file, search_roots
from masim.errors import ScenarioError
from masim.scenario.nodes import Node, overlay, read_nodes
from masim.scenario.validate import shown

MAX_BASES = 4


def extend(root: Node, path: Path) -> Node:
    """Return the scenario laid over its bases. Raises ScenarioError for a base that is missing or leads back."""
    chain, files = [root], [path]
    while (named := chain[-1].child("extends")) is not None:
        base = base_file(named, path)
        _refuse_loop(named, [*files, base])
        if len(chain) > MAX_BASES:
            names = " -> ".join(file.name for file in files)
            raise ScenarioError(
                "too many bases", named.where, names, f"at most {MAX_BASES}", "lay some of them together"
            )
        chain.append(read_nodes(base))
        files.append(base)
    result = chain.pop()
    while chain:
        result = _over(result, chain.pop())
    return result


def _refuse_loop(named: Node, files: Sequence[Path]) -> None:
    """Raise ScenarioError when the last file is one of those before it; the line is the one that leads back."""
    *before, base = (file.resolve() for file in files)
    if base in before:
        loop = " -> ".join(file.name for file in files[before.index(base) :])
        raise ScenarioError("these files extend each other in a loop", named.where, loop, "", "remove one `extends`")


def base_names(path: Path) -> list[tuple[str, Path]]:
    """Return the bases of a scenario file, nearest first: as they are written, and where they lie."""
    found: list[tuple[str, Path]] = []
    named = read_nodes(path).child("extends")
    while named is not None and len(found) < MAX_BASES:
        found.append((str(named.value), base_file(named, path)))
        named = read_nodes(found[-1][1]).child("extends")
    return found


def base_file(named: Node, path: Path) -> Path:
    """Return the file that an ``extends`` of a scenario names. Raises ScenarioError when there is none."""
    text = named.value if isinstance(named.value, str) else ""
    places = [path.parent / text, *(root / text for root in search_roots("scenarios"))]
    for place in places:
        if text.endswith(".yaml") and is_file(place):
            return place
    allowed = "a .yaml file beside the scenario or in a scenario folder"
    raise ScenarioError("no such base to extend", named.where, shown(named), allowed, "check the path")


def _over(base: Node, over: Node) -> Node:
    children = dict(base.items())
    for key, child in over.items().items():
        below = children.get(key)
        both = below is not None and isinstance(below.value, dict) and isinstance(child.value, dict)
        children[key] = overlay(below, child) if both and below is not None else child
    children.pop("extends", None)
    if over.child("history") is None:
        children.pop("history", None)  # the base's versions are not those of what extends it
    return replace(over, value=children)
