"""What an arm of a claim about learning may say, and how its budget is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol, TypeVar

from masim.errors import ConfigError, ScenarioError
from masim.learn.config import from_mapping
from masim.micro.registry import PREFIX, read_game
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node
from masim.scenario.validate import shown
from masim.study.claims.base import Endpoint
from masim.study.claims.protocol import ProtocolDoc

POLICIES = ("random", "optimal")
T = TypeVar("T")


class Learns(Protocol):
    """A budget that says which options of the learner all arms share."""

    def learner(self) -> dict[str, Any]: ...


def check_budget(kind: type[T], node: Node) -> T:
    """Return the budget of a protocol with its ``quick`` values checked, too. Raises ScenarioError with the line."""
    budget = node.find("budget")
    made = _budget(kind, budget, None)
    if "quick" in node.items():
        _budget(kind, budget, node.find("quick"))
    return made


def _budget(kind: type[T], node: Node, over: Node | None) -> T:
    known = asdict(kind())  # type: ignore[call-overload]
    values: dict[str, Any] = {}
    lines: dict[str, Node] = {}
    for part in (node, over):
        for name, child in entries(part, known, "budget", "setting").items() if part is not None else ():
            values[name], lines[name] = typed(child, f"budget.{name}", type(known[name])), child
    try:
        return kind(**values)
    except ConfigError as error:
        where = lines.get(error.where, node).where
        raise ScenarioError(f"{error.problem}: {error.where}", where, error.value, error.allowed) from error


def positive(budget: object, *names: str) -> None:
    """Raise ConfigError unless these parts of a budget are at least 1."""
    for name in names:
        if getattr(budget, name) < 1:
            raise ConfigError("impossible budget", name, str(getattr(budget, name)), ">= 1")


def check_tuned(
    kind: type[Learns], doc: ProtocolDoc, node: Node, endpoints: Sequence[Endpoint], known: Sequence[str]
) -> None:
    """Raise ScenarioError for a budget, a world, an endpoint or a trained arm that is not possible."""
    base = check_budget(kind, node).learner()
    check_worlds(doc, node)
    check_endpoints(node, endpoints)
    for name in doc.arms:
        check_arm(node.find("arms", name).find("settings"), base, known)


def check_worlds(doc: ProtocolDoc, node: Node) -> None:
    """Raise ScenarioError for worlds that are no micro-scenarios."""
    for name, world in doc.worlds.items():
        where = node.find("worlds", name).where
        if not world.startswith(PREFIX):
            raise ScenarioError("this claim is tried on micro-scenarios", where, world, f"{PREFIX}NAME?option=value")
        try:
            read_game(world)
        except ConfigError as error:
            raise ScenarioError(error.problem, where, error.value, error.allowed, error.fix) from error


def check_endpoints(node: Node, endpoints: Sequence[Endpoint]) -> None:
    """Raise ScenarioError for a hypothesis or a contrast about something that is not measured."""
    names = [endpoint.name for endpoint in endpoints]
    for section in ("hypotheses", "contrasts"):
        if section in node.items():
            for entry in node.find(section).elements():
                asked = entry.find("endpoint")
                if asked.value not in names:
                    raise ScenarioError("unknown endpoint", asked.where, str(asked.value), ", ".join(names))


def check_arm(node: Node, base: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ScenarioError for an arm that neither names a policy nor can be trained, ``base`` below its options."""
    given = entries(node, (*known, "seeds"), "settings", "setting")
    if "seeds" in given and typed(given["seeds"], "seeds", int) < 1:
        raise ScenarioError("an arm needs a seed", given["seeds"].where, shown(given["seeds"]), ">= 1")
    if "policy" in given:
        if given["policy"].value not in POLICIES:
            raise ScenarioError("unknown policy", given["policy"].where, shown(given["policy"]), ", ".join(POLICIES))
        return
    settings = node.plain()
    for trial in settings.get("grid", [{}]):
        try:
            from_mapping({**base, **settings.get("learner", {}), **trial})
        except ConfigError as error:
            problem = f"{error.problem}: {error.where}"
            raise ScenarioError(problem, node.where, error.value, error.allowed, error.fix) from error
