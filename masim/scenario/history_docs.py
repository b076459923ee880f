"""The section ``history`` of a scenario: what each of its versions changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pydantic import Field

from masim.errors import ScenarioError
from masim.scenario.contract_docs import Date
from masim.scenario.dist_models import Doc
from masim.scenario.nodes import Node
from masim.scenario.quantities import CountOrZero, Text
from masim.scenario.validate import shown


class VersionDoc(Doc):
    """One version of a scenario."""

    version: CountOrZero = Field(description="The N of -vN at the end of the id.")
    date: Date | None = Field(default=None, description="Day on which it appeared.")
    change: Text = Field(description="What agents experience otherwise than in the version before.")


def check_history(id_: str, history: tuple[VersionDoc, ...], node: Node) -> Iterator[ScenarioError]:
    """Versions go up, and the last one is that of the id."""
    versions = [entry.version for entry in history]
    for i, (before, version) in enumerate(pairwise(versions), 1):
        if version <= before:
            where = node.find(i, "version")
            yield ScenarioError("history: versions do not go up", where.where, shown(where), f"above {before}")
    own = int(id_.rpartition("-v")[2])
    if versions and versions[-1] != own:
        where = node.find(len(versions) - 1, "version")
        fix = "add an entry for this version, or give the id the version of the last entry"
        yield ScenarioError(
            f"history: does not end with the version of {id_}", where.where, shown(where), str(own), fix
        )
