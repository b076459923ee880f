"""``load_scenario``: name or path -> frozen :class:`Scenario`; every refusal is one ScenarioError with file:line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from masim.assets import find_asset, list_assets
from masim.errors import ScenarioError
from masim.scenario.build import build_spec
from masim.scenario.checks import check
from masim.scenario.extend import extend
from masim.scenario.nodes import Node, read_nodes
from masim.scenario.resolve import apply_overrides, resolve
from masim.scenario.schema import ScenarioDoc
from masim.scenario.validate import validate
from masim.sim.spec import WorldSpec

_NO_NUMBERS = (
    "schema",
    "id",
    "title",
    "description",
    "history",
    "profiles",
    "carrier_defaults",
    "dock_defaults",
    "shippers",
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario that passed every check, with the world that it describes."""

    id: str
    title: str
    path: Path
    spec: WorldSpec
    hash: str
    """sha256 of the canonical JSON of ``spec``: two scenarios with one hash are the same world."""
    sources: tuple[tuple[str, str, str], ...]
    """(dotted path, value as written, source text or ``""``) of every number."""
    doc: ScenarioDoc
    """The resolved model: profiles and defaults filled in."""
    node: Node = field(repr=False, compare=False)
    """The resolved tree, which knows the file and line of every value."""

    def where(self, *path: str | int) -> str:
        """Return ``file:line`` of a key path such as ``("carriers", 0, "price")``."""
        return self.node.find(*path).where


def load_scenario(name_or_path: str | Path, overrides: Mapping[str, str] | None = None) -> Scenario:
    """Load a scenario by id, unique last part of an id, or path; ``overrides`` maps dotted paths to YAML values.

    Raises ScenarioError (one line: file:line, value, what is allowed, the fix) for anything that cannot be used.
    """
    path = find_scenario(name_or_path)
    changes = overrides or {}
    if "extends" in changes:
        fix = "write a file that extends it, and run that one"
        raise ScenarioError("the base cannot be overridden", "override extends", changes["extends"], "", fix)
    root = apply_overrides(extend(read_nodes(path), path), changes, resolved=False)
    validate(ScenarioDoc, root)
    node = apply_overrides(resolve(root, path), changes, resolved=True)
    doc = validate(ScenarioDoc, node)
    check(doc, node)
    spec = build_spec(doc, node)
    return Scenario(doc.id, doc.title, path, spec, content_hash(spec), tuple(_sources(node)), doc, node)


def find_scenario(name_or_path: str | Path) -> Path:
    """Return the file of a scenario. Raises ScenarioError with the nearest name."""
    name = str(name_or_path)
    known = list_assets("scenarios")
    short = [path for key, path in known.items() if key.rpartition("/")[2] == name]
    if name not in known and len(short) == 1:
        return short[0]
    return find_asset("scenarios", name)


def content_hash(spec: WorldSpec) -> str:
    """Return the sha256 of the canonical JSON of a specification."""
    text = json.dumps(_canonical(spec), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{f.name: _canonical(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, tuple):
        return [_canonical(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _sources(node: Node) -> list[tuple[str, str, str]]:
    rows = []
    for path, leaf in node.leaves():
        numeric = not isinstance(leaf.value, bool) and any(c.isdigit() for c in str(leaf.value))
        if numeric and path[0] not in _NO_NUMBERS and path[-1] not in ("id", "profile"):
            rows.append((".".join(path), str(leaf.value), leaf.source))
    return rows
