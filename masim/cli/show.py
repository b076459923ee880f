"""``masim show``: what a scenario contains and where its numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from masim.cli.common import Json, Quiet, Set, emit, overrides, table
from masim.units import HOUR, clock_text

if TYPE_CHECKING:
    from masim.scenario.load import Scenario
    from masim.sim.spec import WorldSpec


def verb(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", help="Id of a scenario, or path of a file.")],
    settings: Set = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print a scenario in figures, then every number with its source; --quiet leaves the numbers out."""
    from masim.scenario.load import load_scenario

    scenario = load_scenario(name, overrides(settings))
    facts = summary(scenario.spec)
    figures = table("what", "how much")
    for label, value in facts.items():
        figures.add_row(label, value)
    numbers = table("value", "as written", "source")
    for row in scenario.sources:
        numbers.add_row(*row)
    heading = f"{scenario.id}: {scenario.title}\n{scenario.path}  sha256 {scenario.hash[:12]}"
    texts = [heading, *([scenario.doc.description.strip()] if scenario.doc.description else [])]
    emit(payload(scenario, facts), as_json, *texts, figures, *([] if quiet else [numbers]))


def payload(scenario: Scenario, facts: dict[str, str]) -> dict[str, object]:
    """Return what ``--json`` prints: the facts, the numbers with their sources, and the resolved scenario."""
    return {
        "id": scenario.id,
        "title": scenario.title,
        "path": scenario.path,
        "hash": scenario.hash,
        "summary": facts,
        "sources": [dict(zip(("path", "value", "source"), row, strict=True)) for row in scenario.sources],
        "resolved": scenario.doc.model_dump(mode="json", by_alias=True),
    }


def summary(spec: WorldSpec) -> dict[str, str]:
    """Return the world in a dozen figures."""
    kinds = ", ".join(sorted({dock.type.value for dock in spec.docks}))
    return {
        "agents": f"{len(spec.agents)} ({', '.join(spec.agents)})",
        "campaign": f"{spec.campaign_days} days over the same vendors",
        "booking hours": f"{clock_text(spec.day_start_s)[3:8]} to {clock_text(spec.booking_end_s)[3:8]}",
        "decisions": f"at most {spec.max_decisions} per agent and day",
        "orders": f"{spec.orders.per_agent} per agent and day, {len(spec.orders.legs)} legs each",
        "APIs": f"{len(spec.apis)} ({', '.join(api.verb.value for api in spec.apis)})",
        "carriers": f"{len(spec.carriers)}, on time between {min(spec.hidden.on_time_p):.0%} and "
        f"{max(spec.hidden.on_time_p):.0%} of the time, which one is hidden",
        "docks": f"{len(spec.docks)} ({kinds})" if spec.docks else "none",
        "shippers": f"{len(spec.shippers)}, each refuses {spec.hidden.refused_per_shipper} carriers",
        "outages": f"one per vendor every {spec.outages.gap_mean_s / HOUR:.1f} h on average"
        if spec.outages
        else "none",
        "an order counts": f"when it is {spec.rewards.outcome}",
    }
