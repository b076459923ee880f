"""``masim list``: the scenarios and agent cards that masim finds here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import typer

from masim import assets
from masim.cli.common import Json, Quiet, emit, table

MOST = 10
"""A family of more entries is one line, unless a part of an id is given."""


def verb(
    pattern: Annotated[str, typer.Argument(metavar="[TEXT]", help="Only ids that contain this.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List scenarios and agent cards in search order: here, $MASIM_PATH, installed packs, bundled.

    Families of more than ten are one line; `masim list FAMILY/` shows them. With --quiet, ids alone, all of them.
    """
    from masim.scenario.catalog import list_scenarios

    scenarios = [entry for entry in list_scenarios() if pattern in entry.id]
    cards = {id: path for id, path in assets.list_assets("agents").items() if pattern in id}
    listed = table("scenario", "what it is")
    for row in _folded({entry.id: entry.title for entry in scenarios}, pattern):
        listed.add_row(*row)
    agents = table("agent card", "file")
    for row in _folded({id: str(path) for id, path in cards.items()}, pattern):
        agents.add_row(*row)
    ids = "\n".join([*(entry.id for entry in scenarios), *cards])
    payload = {
        "scenarios": [entry._asdict() for entry in scenarios],
        "agents": [{"id": id, "path": path} for id, path in cards.items()],
    }
    emit(payload, as_json, *([ids] if quiet else [listed, agents]))


def _folded(texts: dict[str, str], pattern: str) -> Iterator[tuple[str, str]]:
    """Yield (id, text) rows; a large family is one row that says how to see it."""
    size = Counter(id.rpartition("/")[0] for id in texts)
    told: set[str] = set()
    for id, text in texts.items():
        family = id.rpartition("/")[0]
        if pattern or not family or size[family] <= MOST:
            yield id, text
        elif family not in told:
            told.add(family)
            yield f"{family}/...", f"{size[family]} more: masim list {family}/"
