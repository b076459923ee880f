"""``masim bench learn``: the loop beside it computes the same advantages, and a quick run measures every part."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from masim.cli.main import run
from masim.learn.advantages.assemble import advantages
from masim.learn.config import from_mapping
from masim.study.bench.learn import CASES, G, T, made_up
from masim.study.bench.loop import columns_of, looped


def test_the_loop_is_honest() -> None:
    table = made_up(4_000, 1)
    assert len(table) == 4_000 // (T * G) * T * G
    scored = advantages(table, from_mapping(CASES["gigpo"]))
    found, coverage = looped(columns_of(table))
    np.testing.assert_allclose(found, scored.total_N, atol=1e-5)
    assert coverage == pytest.approx(scored.progress.progress_mean)
    assert np.abs(scored.total_N).max() > 1
    table.turn[1] = 0
    with pytest.raises(ValueError, match="twice"):
        looped(columns_of(table))


def test_a_quick_run_measures_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "learn", "--quick", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [row["what"] for row in found["rates"]] == [*CASES, "the loop, gigpo"]
    assert found["decisions"] == 2_000 and len(found["growth"]) == 3 and found["targets"] == []
    assert len(found["training"]) == 5 and all(row["figure"] >= 0.0 for row in found["training"])
    assert run(["bench", "learn", "--quick", "--days", "3"]) == 2
