"""``masim list``: the scenarios and agent cards that masim finds here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from masim import assets
from masim.cli.common import Json, Quiet, emit, table
from masim.errors import ScenarioError


def verb(
    pattern: Annotated[str, typer.Argument(metavar="[TEXT]", help="Only ids that contain this.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List scenarios and agent cards in search order: here, $MASIM_PATH, installed packs, bundled.

    A scenario that cannot be loaded is listed with its error. With --quiet, ids alone.
    """
    found = {id: path for id, path in assets.list_assets("scenarios").items() if pattern in id}
    cards = {id: path for id, path in assets.list_assets("agents").items() if pattern in id}
    scenarios = [described(id, path) for id, path in found.items()]
    listed = table("scenario", "agents", "what it is")
    for row in scenarios:
        listed.add_row(row["id"], row["agents"], row["title"] or f"cannot be loaded: {row['error']}")
    agents = table("agent card", "file")
    for id, path in cards.items():
        agents.add_row(id, shown(path))
    payload = {"scenarios": scenarios, "agents": [{"id": id, "path": path} for id, path in cards.items()]}
    emit(payload, as_json, *(["\n".join([*found, *cards])] if quiet else [listed, agents]))


def described(id: str, path: Path) -> dict[str, str]:
    """Return id, path and title of a scenario; a broken one has an error in place of its title."""
    from masim.scenario.load import load_scenario

    row = {"id": id, "path": str(path), "agents": "", "title": "", "error": ""}
    try:
        scenario = load_scenario(path)
    except ScenarioError as error:
        return {**row, "error": str(error)}
    return {**row, "agents": str(len(scenario.spec.agents)), "title": scenario.title}


def shown(path: Path) -> str:
    """Return a path as short as it can be said from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
