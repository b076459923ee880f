"""What is measured at every update, and when an alarm rings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from learn.tables import make_table

from masim.learn.config import from_mapping
from masim.learn.monitors import compares_memories, entropy_share, singleton_share, watch
from masim.rollout.types import PolicyInputs


def inputs(*counts: int) -> PolicyInputs:
    offsets = np.cumsum([0, *counts])
    return PolicyInputs(np.zeros((offsets[-1], 1), np.float32), offsets, np.zeros((len(counts), 1), np.float32))


def test_who_stands_alone_under_a_memory_key() -> None:
    """Decisions 0 and 1 share a key; 2 has one of its own; 3 is of another agent, 4 of another group, 5 is masked."""
    table = make_table(6, memory_key=[7, 7, 8, 7, 7, 8], agent=[0, 0, 0, 1, 0, 0], group_id=[0, 0, 0, 0, 1, 0])
    live = np.array([True, True, True, True, True, False])
    assert singleton_share(table, live) == pytest.approx(3 / 5)
    assert singleton_share(table, np.zeros(6, bool)) == 0.0


def test_entropy_is_measured_against_a_policy_without_preference() -> None:
    live = np.ones(2, bool)
    most = (math.log(2) + math.log(8)) / 2
    assert entropy_share(most, inputs(2, 8), live) == pytest.approx(1.0)
    assert entropy_share(0.01 * most, inputs(2, 8), live) == pytest.approx(0.01)
    assert entropy_share(0.0, inputs(1, 1), live) == 1.0, "where there is no choice nothing collapses"


@pytest.mark.parametrize(
    ("options", "compares"),
    [
        ({}, False),
        ({"compare": "memory_view", "unit": {"name": "segment", "segment_len": 4}}, True),
        ({"compare": "group_id,agent,memory_key", "unit": {"name": "segment", "segment_len": 4}}, True),
        ({"estimator": {"name": "gigpo", "anchor": "memory"}}, True),
        ({"estimator": {"name": "gigpo", "anchor": "canonical"}}, False),
    ],
)
def test_who_compares_by_memory(options: dict[str, object], compares: bool) -> None:
    assert compares_memories(from_mapping(options)) == compares


def test_alarms_ring_beyond_their_limits_only() -> None:
    config = from_mapping({"estimator": {"name": "gigpo", "anchor": "memory"}})
    table, live = make_table(10, memory_key=range(10)), np.ones(10, bool)
    loud = watch(config, table, inputs(*[4] * 10), live, penalty_mass=0.6, all_failed=0.95, entropy=0.01)
    assert {name for name, value in loud.items() if name.endswith("_alarm") and value} == {
        "penalty_alarm", "singleton_alarm", "collapse_alarm", "all_failed_alarm",
    }  # fmt: skip
    shared = make_table(10, memory_key=[1, 1, 1, *range(2, 9)])
    quiet = watch(config, shared, inputs(*[4] * 10), live, penalty_mass=0.5, all_failed=0.9, entropy=1.0)
    assert not any(value for name, value in quiet.items() if name.endswith("_alarm"))
    assert quiet["memory_singletons"] == pytest.approx(0.7)


def test_an_update_without_a_loss_is_no_collapse() -> None:
    table, live = make_table(2), np.ones(2, bool)
    row = watch(from_mapping({}), table, inputs(3, 3), live, penalty_mass=0.0, all_failed=1.0, entropy=None)
    assert (row["entropy_share"], row["collapse_alarm"], row["all_failed_alarm"]) == (1.0, 0, 1)


def test_every_alarm_has_words_in_the_report() -> None:
    from masim.analysis.report.findings import ALARMS

    row = watch(from_mapping({}), make_table(1), inputs(2), np.ones(1, bool), 0.0, 0.0, None)
    assert {f"{name}_alarm" for name in ALARMS} == {name for name in row if name.endswith("_alarm")}
