"""Golden traces: what a bundled scenario does under the scripted agent is part of its version.

A digest that changes means that dynamics, rewards or texts changed: bump the scenario's version or undo it. Refresh
with ``make golden`` and review the difference.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masim.policy.card import load_card
from masim.rng import digest64
from masim.rollout.evaluate import CampaignJob, play_campaign
from masim.scenario.catalog import list_scenarios
from masim.scenario.load import load_scenario

FILE = Path(__file__).parent / "traces.json"
BUNDLED = [entry.id for entry in list_scenarios() if entry.path.is_relative_to(Path(__file__).parents[2])]
IDS = [name for name in BUNDLED if not name.startswith("regress/")]
"""Reported failures are judged by what must hold of the world, not by one replay."""


def observed(scenario: str) -> dict[str, object]:
    spec = load_scenario(scenario).spec
    rows = play_campaign(CampaignJob(spec, load_card("scripted"), "scripted", 7, 2, 0, trace=True))
    completed = sum(bool(row["completed"]) for row in rows.outcomes)
    text = [[round(v, 6) if isinstance(v, float) else v for v in row.values()] for row in rows.trace]
    return {"rows": len(text), "completed": completed, "digest": f"{digest64(*text):016x}"}


@pytest.mark.parametrize("scenario", IDS)
def test_trace_is_the_golden_one(scenario: str, request: pytest.FixtureRequest) -> None:
    golden = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    found = observed(scenario)
    if request.config.getoption("--record-golden"):
        golden[scenario] = found
        FILE.write_text(json.dumps(dict(sorted(golden.items())), indent=1) + "\n", "utf-8")
    assert found == golden.get(scenario), "dynamics changed; if that is meant, run `make golden` and bump the version"
