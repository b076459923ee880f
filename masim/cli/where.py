"""``masim where``: the file behind an id."""

from __future__ import annotations

from typing import Annotated

import typer

from masim import assets
from masim.cli.common import Json, emit
from masim.errors import ScenarioError, did_you_mean

FOLDERS = ("scenarios", "agents")


def verb(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of a scenario or an agent card.")],
    as_json: Json = False,
) -> None:
    """Print the file that an id stands for: the first one in search order.

    Searched are ./scenarios and ./agents, each folder of $MASIM_PATH, installed packs, and what is bundled.
    """
    known = {folder: assets.list_assets(folder) for folder in FOLDERS}
    paths = {folder.rstrip("s"): found[name] for folder, found in known.items() if name in found}
    if not paths:
        ids = sorted(id for found in known.values() for id in found)
        raise ScenarioError(f"unknown id {name!r}", "", "", ", ".join(ids), did_you_mean(name, ids))
    emit({"id": name, **paths}, as_json, "\n".join(str(path) for path in paths.values()))
