"""The reference of tools and errors is made from the code; ``--record-golden`` writes its tables anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from docs.blocks import ROOT

from masim.env.actions import ActionTable
from masim.env.text.errors import TEXTS
from masim.env.text.toolbox import Toolbox
from masim.env.text.words import ARGUMENTS, TOOLS
from masim.scenario.load import load_scenario
from masim.sim.dists import Constant
from masim.sim.spec import CARRIER_VERBS, DOCK_VERBS, EXTRA_VERBS, Verb, WorldSpec
from masim.sim.staff import RoleSpec, StaffSpec

PAGE = ROOT / "docs/reference/tools-and-errors.md"
HEADS = ("| tool | arguments |", "| argument | type |", "| code | given when |")


def rows() -> Iterator[list[list[str]]]:
    """Yield the rows of the three tables."""
    arguments: dict[Verb, list[str]] = {}
    types: dict[str, str] = {}
    for tool in Toolbox(ActionTable(with_every_api())).tools.values():
        arguments[tool.verb] = [p.name for p in tool.parameters]
        types |= {p.name: "integer" if p.whole else "string" for p in tool.parameters}
    yield [[f"`{v.value}`", ", ".join(f"`{name}`" for name in arguments[v]), coded(TOOLS[v])] for v in TOOLS]
    yield [[f"`{name}`", types[name], words] for name, words in ARGUMENTS.items()]
    yield [[f"`{code}`", text.when, *map(coded, text[:3])] for code, text in TEXTS.items()]


def with_every_api() -> WorldSpec:
    """Return a bundled scenario with every endpoint that there is, and a role."""
    spec = load_scenario("freight/twelve-apis-v0").spec
    verbs = (*CARRIER_VERBS, *EXTRA_VERBS, *DOCK_VERBS)
    role = RoleSpec("booker", 4, 1, tuple(Verb), ("booker",))
    apis = tuple(replace(spec.apis[0], verb=verb) for verb in verbs)
    return replace(spec, apis=apis, staff=StaffSpec((role,), 1, Constant(60.0)))


def coded(words: str) -> str:
    return re.sub(r"(\{\w+\})", r"`\1`", words)


def tables() -> list[str]:
    return ["".join("| " + " | ".join(row) + " |\n" for row in table) for table in rows()]


def test_every_table_is_that_of_the_code(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text("utf-8")
    made = text
    for head, table in zip(HEADS, tables(), strict=True):
        pattern = re.compile(rf"^({re.escape(head)}.*\n\|[-|]+\n)(?:\|.*\n)*", re.MULTILINE)
        assert pattern.search(made), f"no table {head}"
        made = pattern.sub(lambda found, table=table: found[1] + table, made)  # type: ignore[misc]
    if request.config.getoption("--record-golden"):
        PAGE.write_text(made, "utf-8")
    assert PAGE.read_text("utf-8") == made, "the page is old; write it anew with --record-golden"
