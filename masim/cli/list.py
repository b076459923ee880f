"""``masim list``: the scenarios and agent cards that masim finds here."""

from __future__ import annotations

from typing import Annotated

import typer

from masim import assets
from masim.cli.common import Json, Quiet, emit, table


def verb(
    pattern: Annotated[str, typer.Argument(metavar="[TEXT]", help="Only ids that contain this.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List scenarios and agent cards in search order: here, $MASIM_PATH, installed packs, bundled.

    With --quiet, ids alone.
    """
    from masim.scenario.catalog import list_scenarios

    scenarios = [entry for entry in list_scenarios() if pattern in entry.id]
    cards = {id: path for id, path in assets.list_assets("agents").items() if pattern in id}
    listed = table("scenario", "what it is")
    for entry in scenarios:
        listed.add_row(entry.id, entry.title)
    agents = table("agent card", "file")
    for id, path in cards.items():
        agents.add_row(id, str(path))
    ids = "\n".join([*(entry.id for entry in scenarios), *cards])
    payload = {
        "scenarios": [entry._asdict() for entry in scenarios],
        "agents": [{"id": id, "path": path} for id, path in cards.items()],
    }
    emit(payload, as_json, *([ids] if quiet else [listed, agents]))
