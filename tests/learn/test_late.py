"""Late and out-of-order rewards: booked where they land or at their request, with equal totals.

1. by hand, in any order of landing
2. totals are equal on random landings, per sample and in all
3. what lands after the last decision goes to it; what lands after its group was closed goes to nobody
4. rollout-level credit does not see the difference, step-wise credit does
5. landings that mean nothing
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learn.strategies import quick, tables
from learn.tables import rollouts

from masim.errors import ConfigError
from masim.learn.advantages.base import make_frame
from masim.learn.advantages.grpo import Grpo
from masim.learn.advantages.reinforce import Reinforce
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.late import Landings, book
from masim.rollout.types import StepTable


def landings(*rows: tuple[int, int, int, int, float]) -> Landings:
    rollout, agent, request, landing, amount = (np.array(column) for column in zip(*rows, strict=True))
    return Landings(rollout, agent, request, landing, amount.astype(float))


def test_booked_by_hand_in_any_order() -> None:
    table = rollouts([0, 0], keys=[[0] * 5, [0] * 3])
    given_ = landings((1, 0, 0, 1, 2.0), (0, 0, 1, 3, 1.0), (0, 0, 0, 3, 0.5))
    assert book(table, given_).table.r_out.tolist() == [0, 0, 0, 1.5, 0, 2]
    assert book(table, given_, "request").table.r_out.tolist() == [0.5, 1, 0, 0, 2, 0]
    assert table.r_out.tolist() == [0] * 6, "the table that was given stays as it is"


@quick
@given(table=tables(), seed=st.integers(0, 2**31))
def test_totals_are_equal(table: StepTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(table), 12)
    request = table.turn[rows]
    given_ = Landings(
        table.rollout_id[rows], table.agent[rows], request, request + rng.integers(0, 9, 12), rng.random(12)
    )
    both = [book(table, given_, at) for at in ("landing", "request")]
    units = [RolloutUnit()(booked.table).samples for booked in both]
    assert not both[0].late.size and not both[1].late.size
    sums = [np.bincount(unit.of_N, booked.table.r_out) for unit, booked in zip(units, both, strict=True)]
    np.testing.assert_allclose(sums[0], sums[1])
    assert both[0].table.r_out.sum() == pytest.approx(table.r_out.sum() + given_.amount.sum())


def test_too_late_for_the_agent_and_too_late_for_the_group() -> None:
    table = rollouts([0, 0], keys=[[0] * 3, [0] * 2])
    booked = book(table, landings((0, 0, 1, 40, 1.0), (7, 0, 0, 2, 5.0), (1, 3, 0, 0, 5.0)))
    assert booked.table.r_out.tolist() == [0, 1, 0]
    assert booked.late.tolist() == [1, 2]
    nothing = book(table.take(np.zeros(0, np.int64)), landings((0, 0, 0, 0, 1.0)))
    assert nothing.late.tolist() == [0]


def test_who_sees_where_a_reward_is_booked() -> None:
    table = rollouts([0, 0], keys=[[0] * 4, [0] * 4])
    given_ = landings((0, 0, 0, 2, 1.0))
    frames = [make_frame(book(table, given_, at).table, RolloutUnit(), "group_agent") for at in ("landing", "request")]
    whole = [Grpo()(frame) for frame in frames]
    assert np.array_equal(*whole)
    step = [Reinforce(baseline="none")(frame)[:3].tolist() for frame in frames]
    assert step == [[1, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("row", "problem"),
    [((0, 0, 2, 1, 1.0), "before its request"), ((0, 0, 0, 1, np.nan), "finite"), ((0, 0, -1, 1, 1.0), "before its")],
)
def test_landings_that_mean_nothing(row: tuple[int, int, int, int, float], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        book(rollouts([0]), landings(row))
    with pytest.raises(ConfigError, match="unknown place"):
        book(rollouts([0]), landings((0, 0, 0, 0, 1.0)), "cause")  # type: ignore[arg-type]
