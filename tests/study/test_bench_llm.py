"""``masim bench llm``: the ways beside it decide the same thing, and a quick run measures every part."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from masim.cli.main import run

if find_spec("transformers") is None:
    pytest.skip("transformers is not installed: pip install 'masim[llm]'", allow_module_level=True)

from masim.llm.load import load_model
from masim.llm.score import Scorer
from masim.llm.settings import ModelSettings
from masim.study.bench.llm import AGENTS, CALLS, GENERATED, KEPT, MOMENT, STAYS, WRITES, questions, score_each


def test_the_ordinary_way_gives_the_same_scores() -> None:
    model = load_model(ModelSettings("tiny-llama"))
    asked = questions(model, 0)
    assert [(len(q.before), len(q.now), len(q.answers)) for q in asked] == [(STAYS, MOMENT, CALLS)] * AGENTS
    assert len({q.now for q in asked}) == AGENTS
    np.testing.assert_allclose(Scorer(model).score(asked[:1])[0], score_each(model, asked[0]), atol=1e-4)


def test_a_quick_run_measures_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "llm", "--quick", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    rows = {row["what"]: row for row in found["rates"]}
    assert [next(iter(rows)), list(rows)[-1], len(rows)] == [GENERATED, WRITES, 5]
    assert rows[GENERATED]["ratio"]["median"] == 1.0 and rows[KEPT]["decisions_per_s"]["median"] > 0.0
    assert found["model"]["tokens"]["prompt"] == STAYS + MOMENT
    assert found["peak_mib"] > 50.0 and found["targets"] == []
    assert run(["bench", "llm", "--quick", "--days", "3"]) == 2
    assert run(["bench", "llm", "--quick"]) == 0
    assert "masim scores, beginnings kept" in capsys.readouterr().out
