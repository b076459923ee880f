"""Long tables are scored part by part, to the same advantages.

1. every estimator that compares, with and without ProGPO, equals the whole table's, for any size of a part
2. parts split no group
3. what looks beyond a group is refused
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from masim.errors import ConfigError
from masim.learn.advantages.assemble import advantages
from masim.learn.advantages.parts import parts, scored_in_parts
from masim.learn.config import from_mapping
from masim.rollout.types import StepTable
from masim.study.bench.learn import made_up

CASES: list[dict[str, Any]] = [
    {"estimator": "grpo"},
    {"estimator": "rloo", "progpo": {}},
    {"estimator": "gigpo", "progpo": {"form": "step"}},
    {"estimator": "hgpo", "progpo": {"control": "always_on"}},
    {"estimator": "gagpo"},
    {"estimator": "graphgpo", "progpo": {"lambda_rule": "fixed"}},
    {"progpo": {"control": "off"}, "w_pen_failed": 0.0, "penalty": "to_go"},
    {"unit": {"name": "segment", "segment_len": 5}, "compare": "anchor", "progpo": {}},
    {"drop_silent_groups": True, "progpo": {}},
]


@pytest.fixture(scope="module")
def table() -> StepTable:
    made = made_up(4_000, 3)
    out = made.r_out.copy()
    out[made.group_id % 3 == 0] = 0.0
    return replace(made, r_out=out, masked=made.rollout_id == 5)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("rows", [1, 700, 10_000])
def test_parts_equal_the_whole(table: StepTable, case: dict[str, Any], rows: int) -> None:
    config = from_mapping(case)
    whole, found = advantages(table, config), scored_in_parts(table, config, rows)
    assert np.allclose(found.total_N, whole.total_N, rtol=1e-12, atol=1e-12)
    assert np.array_equal(found.scored_N, whole.scored_N)
    assert found.all_failed == pytest.approx(whole.progress.all_failed)
    assert np.abs(found.total_N).max() > 0.1


def test_a_table_in_which_nobody_failed(table: StepTable) -> None:
    good = replace(table, r_out=(table.turn == 24) * 1.0, masked=np.zeros(len(table), bool))
    config = from_mapping({"progpo": {}})
    assert np.allclose(scored_in_parts(good, config, 700).total_N, advantages(good, config).total_N)


def test_parts_split_no_group() -> None:
    group = np.repeat([4, 2, 9, 1], [3, 1, 5, 2])
    assert list(parts(group, 1)) == [(0, 3), (3, 4), (4, 9), (9, 11)]
    assert list(parts(group, 4)) == [(0, 4), (4, 9), (9, 11)]
    assert list(parts(group, 100)) == [(0, 11)]
    assert list(parts(group[:0], 4)) == []
    with pytest.raises(ConfigError, match="do not lie together"):
        list(parts(np.array([1, 2, 1]), 2))


@pytest.mark.parametrize(
    "case",
    [{"estimator": "reinforce"}, {"progpo": {"control": "random"}}, {"progpo": {"control": "shuffled"}}],
    ids=str,
)
def test_what_looks_beyond_a_group_is_refused(table: StepTable, case: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"looks beyond|whole table"):
        scored_in_parts(table, from_mapping(case))
