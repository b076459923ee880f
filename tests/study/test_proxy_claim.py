"""The claim about a proxy reward: the protocol is in order, a cell is a function of it, mistakes have their line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from masim.errors import ScenarioError
from masim.study.claims.protocol import read_protocol
from masim.study.claims.proxy.claim import ENDPOINTS, PROXY
from masim.study.claims.run import plan_of

FILE = Path(__file__).resolve().parents[2] / "configs/claims/proxy-reward.yaml"


def test_a_cell_is_a_function_of_its_protocol() -> None:
    cells = [replace(c, budget={**c.budget, "episodes": 32, "evaluated": 2, "max_decisions": 8})
             for c in plan_of("proxy-reward", quick=True, seeds=1).cells()]  # fmt: skip
    paid = {cell.arm: PROXY.play(cell) for cell in cells}
    assert PROXY.play(cells[1]) == paid[cells[1].arm]
    first = {arm: played["log"][0] for arm, played in paid.items()}
    assert first["outcome"][1] == first["outcome"][2], "paid the outcome"
    assert first["successful_calls"][2] == first["outcome"][2], "untrained agents do the same whatever is paid"
    assert first["successful_calls"][1] != first["outcome"][1]
    measures = PROXY.measures(cells[0], paid[cells[0].arm])
    assert [measure.endpoint for measure in measures] == [endpoint.name for endpoint in ENDPOINTS]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("reward: successful_calls", "reward: succesful_calls", "unknown reward"),
        ("endpoint: alarm", "endpoint: alarms", "unknown endpoint"),
        ("episodes: 512", "episodes: 0", "impossible budget"),
    ],
)
def test_mistakes_have_their_line(before: str, after: str, problem: str, tmp_path: Path) -> None:
    text = FILE.read_text("utf-8")
    assert before in text
    file = tmp_path / "wrong.yaml"
    file.write_text(text.replace(before, after, 1), "utf-8")
    with pytest.raises(ScenarioError, match=problem) as caught:
        PROXY.check(*read_protocol(file))
    assert "wrong.yaml:" in str(caught.value)
