"""``masim show``: what a scenario contains and where its numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, emit, table

if TYPE_CHECKING:
    from masim.scenario.load import Scenario


def verb(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", help="Id of a scenario, or path of a file.")],
    sources: Annotated[bool, typer.Option("--sources", help="Every number with its source, below the rest.")] = False,
    page: Annotated[bool, typer.Option("--page", help="The whole page, in Markdown, as in the documentation.")] = False,
    as_json: Json = False,
) -> None:
    """Print a page about a scenario: who acts, the vendors, the APIs and their faults, the sources of the numbers."""
    from masim.env.page import scenario_page
    from masim.scenario.catalog import card_text
    from masim.scenario.load import load_scenario

    scenario = load_scenario(name)
    if page and not as_json:
        print(scenario_page(scenario), end="")
        return
    numbers = table("value", "as written", "source")
    for row in scenario.sources:
        numbers.add_row(*row)
    emit(payload(scenario), as_json, card_text(name), *([numbers] if sources else []))


def payload(scenario: Scenario) -> dict[str, Any]:
    """Return what ``--json`` prints: who it is, every number with its source, and the resolved scenario."""
    return {
        "id": scenario.id,
        "title": scenario.title,
        "path": scenario.path,
        "hash": scenario.hash,
        "sources": [dict(zip(("path", "value", "source"), row, strict=True)) for row in scenario.sources],
        "history": [entry.model_dump(mode="json", exclude={"source"}) for entry in scenario.doc.history],
        "resolved": scenario.doc.model_dump(mode="json", by_alias=True),
    }
