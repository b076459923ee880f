"""Scenario nodes + profiles + overrides -> one tree with every number in its place.

Precedence, nearest first: an override, the entry itself, ``carrier_defaults`` / ``dock_defaults``, the profile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from masim.assets import is_file, search_roots
from masim.errors import ScenarioError, did_you_mean
from masim.scenario.nodes import Node, element_name, overlay, parse_nodes, read_nodes
from masim.scenario.profile_faults import with_profile_faults
from masim.scenario.schema import ApisProfileDoc, CarriersProfileDoc
from masim.scenario.validate import validate
from masim.sim.spec import WRITE_VERBS
from masim.units import duration_s

_FROM_PROFILES = ("apis", "carriers", "docks", "messages", "outages", "faults")


def resolve(root: Node, path: Path) -> Node:
    """Return the scenario with profiles and defaults laid under it. Raises ScenarioError for missing profiles."""
    resolved = dict(root.items())
    apis = _profile(root, "apis", path)
    if apis is not None:
        validate(ApisProfileDoc, apis)
        resolved.update(_with_apis_profile(root, apis))
    if (faults := with_profile_faults(root, apis)) is not None:
        resolved["faults"] = faults
    carriers = _profile(root, "carriers", path)
    if carriers is not None:
        validate(CarriersProfileDoc, carriers)
    resolved["carriers"] = _carriers(root, carriers)
    docks = root.find("docks")
    if "docks" in resolved:
        defaults = root.child("dock_defaults") or Node({}, docks.where)
        resolved["docks"] = replace(docks, value=tuple(overlay(defaults, dock) for dock in docks.elements()))
    return replace(root, value=resolved)


def _with_apis_profile(root: Node, profile: Node) -> dict[str, Node]:
    apis = root.find("apis")
    laid = {verb: _api(profile, verb, over) for verb, over in apis.items().items()}
    result = {"apis": replace(apis, value=laid)}
    result["messages"] = overlay(profile.find("messages"), root.child("messages"))
    outages = root.child("outages") or profile.child("outages")
    return {**result, "outages": outages} if outages is not None else result


def _api(profile: Node, verb: str, over: Node) -> Node:
    kind = "writes" if verb in WRITE_VERBS else "reads"
    return overlay(overlay(profile.find(kind), profile.find("apis").child(verb)), over)


def _carriers(root: Node, profile: Node | None) -> Node:
    carriers = root.find("carriers")
    defaults = root.child("carrier_defaults") or Node({}, carriers.where)
    laid = tuple(overlay(defaults, carrier) for carrier in carriers.elements())
    if profile is not None:
        entries = {element_name(entry, i): entry for i, entry in enumerate(profile.find("carriers").elements())}
        laid = tuple(_from_entry(terms, entries) for terms in laid)
    return replace(carriers, value=laid)


def _from_entry(terms: Node, entries: Mapping[str, Node]) -> Node:
    """Fill price per kilogram and lateness from the carrier's profile entry, where the scenario gives none."""
    named = terms.child("profile") or terms.find("id")
    entry = entries.get(str(named.value))
    if entry is None:
        complete = terms.child("late") is not None and terms.child("price_per_kg") is not None
        if complete and terms.child("profile") is None:
            return terms
        fix = did_you_mean(str(named.value), entries) or "give the carrier `late` and `price_per_kg`"
        raise ScenarioError(
            "no such carrier in the carriers profile", named.where, str(named.value), ", ".join(entries), fix
        )
    found = {"price_per_kg": _price_per_kg(entry), "late": _late(entry, terms.child("late_scale"))}
    given = {key: node for key, node in found.items() if node is not None}
    return Node({**given, **terms.items()}, terms.where, terms.source)


def _price_per_kg(entry: Node) -> Node | None:
    cents = entry.child("cents_per_kg")
    if cents is None or not isinstance(cents.value, int | float):
        return None
    return replace(cents, value=f"{cents.value / 100:.6f} USD/kg")


def _late(entry: Node, scale: Node | None) -> Node | None:
    """Days late in the profile become times late here: the shape is measured, the scale is the scenario's."""
    median, sigma = entry.find("late_days", "median"), entry.find("late_days", "sigma")
    if scale is None or not isinstance(scale.value, str) or not isinstance(median.value, int | float):
        return None
    late_s = replace(median, value=f"{median.value * duration_s(scale.value):.3f} s")
    return Node({"median": late_s, "sigma": sigma}, median.where, median.source)


def _profile(root: Node, kind: str, path: Path) -> Node | None:
    named = root.find("profiles").child(kind)
    if named is None or named.value is None:
        return None
    name = str(named.value)
    if name.endswith(".yaml"):
        file = path.parent / name
        if not is_file(file):
            raise ScenarioError(
                "no such profile file", named.where, str(file), "", "the path is relative to the scenario"
            )
        return read_nodes(file)
    known = list_profiles(path)
    if name not in known:
        near = did_you_mean(name, known) or "`scenarios/profiles/` holds the bundled ones"
        raise ScenarioError(f"unknown {kind} profile", named.where, name, ", ".join(known), near)
    return read_nodes(known[name])


def list_profiles(path: Path | None = None) -> dict[str, Path]:
    """Map profile name to file: beside the scenario first, then in ``profiles/`` of every scenario folder."""
    beside = [path.parent / "profiles", path.parent.parent / "profiles"] if path is not None else []
    found: dict[str, Path] = {}
    for folder in (*beside, *(root / "profiles" for root in search_roots("scenarios"))):
        for file in sorted(folder.glob("*.yaml")):
            found.setdefault(file.stem, file)
    return found


def apply_overrides(root: Node, overrides: Mapping[str, str], *, resolved: bool) -> Node:
    """Set dotted paths to YAML values. Those below entries with profiles wait until the tree is resolved.

    Raises ScenarioError (location ``override <path>``) for a path that leads nowhere.
    """
    for dotted, text in overrides.items():
        parts = dotted.split(".")
        if _below_profiles(parts) == resolved:
            where = f"override {dotted}"
            value = parse_nodes(text, where, where) if text.strip() else Node(None, where)
            root = _set(root, parts, replace(value, source=value.source or "override"), where)
    return root


def _below_profiles(parts: list[str]) -> bool:
    """Return whether a path changes what a profile fills in; a whole API is laid over the profile like any other."""
    whole_api = parts[0] == "apis" and len(parts) == 2
    return parts[0] in _FROM_PROFILES and len(parts) > 1 and not whole_api


def _set(node: Node, parts: list[str], value: Node, where: str) -> Node:
    if not parts:
        return value
    if isinstance(node.value, dict):
        child = node.value.get(parts[0], Node({}, where))
        return replace(node, value={**node.value, parts[0]: _set(child, parts[1:], value, where)})
    if isinstance(node.value, tuple):
        names = [element_name(element, i) for i, element in enumerate(node.value)]
        index = names.index(parts[0]) if parts[0] in names else int(parts[0]) if parts[0].isdecimal() else -1
        if not 0 <= index < len(names):
            raise ScenarioError("no such element", where, parts[0], ", ".join(names), did_you_mean(parts[0], names))
        elements = list(node.value)
        elements[index] = _set(elements[index], parts[1:], value, where)
        return replace(node, value=tuple(elements))
    raise ScenarioError("the path goes below a single value", where, parts[0], f"a path that ends at {node.where}")
