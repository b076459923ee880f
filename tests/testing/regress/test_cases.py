"""Reported failures stay shown.

1. In every case the agent that falls breaks a constraint, and the agent that avoids keeps all of them on every seed.
2. Where a scenario injects faults, the agent that falls keeps every constraint without them: they are the trap.
3. Every scenario of ``scenarios/regress`` belongs to a case and the reverse.
4. The page lists exactly the cases.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from masim.assets import list_assets
from masim.testing.regress.cases import CASES
from masim.testing.regress.play import Case, judge

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/regress-cases.md"
SEEDS = (1, 2, 3)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_trap_closes_on_one_agent_and_not_on_the_other(case: Case) -> None:
    verdict = judge(case, SEEDS)
    assert verdict.fell > 0, "nobody falls into the trap"
    assert verdict.problems == ()
    assert verdict.unprovoked == (), "it falls without the injected faults too"


def test_every_regress_scenario_has_its_case() -> None:
    known = {name for name in list_assets("scenarios") if name.startswith("regress/")}
    assert {case.scenario for case in CASES} == known


def test_the_page_lists_every_case() -> None:
    text = PAGE.read_text("utf-8")
    assert [case.id for case in CASES if f"| {case.id} |" not in text] == []
