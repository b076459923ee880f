"""Whole episodes are equal across plays and processes, and whatever is not is found.

1. Every bundled scenario, trace included.
2. Planted nondeterminism after 40 steps: unseeded noise, PYTHONHASHSEED, something of the process in the trace.
3. The digest sees the last bit of a float, dtypes, shapes and keys.
"""

from __future__ import annotations

import numpy as np
import pytest

from masim.errors import ConfigError, HarnessError
from masim.testing import ConformanceError, check_determinism, determinism
from masim.testing.determinism import digest


@pytest.mark.parametrize("scenario", ["freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0"])
def test_scenarios_play_alike_everywhere(scenario: str) -> None:
    assert len(check_determinism(scenario, seed=3)) == 24


def test_noise_after_the_first_steps_is_found() -> None:
    with pytest.raises(
        ConformanceError, match="a second play in this process parts from the first play at round 41 of"
    ):
        check_determinism("testing.planted:late_nondeterminism")


def test_a_hash_seed_that_matters_is_found() -> None:
    with pytest.raises(ConformanceError, match="parts from the first play at round 41 of") as caught:
        check_determinism("testing.planted:hash_seed_matters")
    assert "second play" not in str(caught.value)


def test_a_trace_that_differs_is_found() -> None:
    with pytest.raises(ConformanceError, match="PYTHONHASHSEED=0 parts") as caught:
        check_determinism("testing.planted:process_matters")
    assert "second play" not in str(caught.value)


def test_a_target_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(ConfigError, match="no_such_function"):
        check_determinism("testing.planted:no_such_function")


def test_a_process_that_dies_is_our_failure_not_the_environments() -> None:
    with pytest.raises(HarnessError, match=r"(?s)died: .*no_such_module"):
        determinism._elsewhere("no_such_module:make", 0, 1, "0")


def test_the_digest_tells_values_apart() -> None:
    values = [
        1.0,
        np.nextafter(1.0, 2.0),
        1,
        True,
        "1",
        np.zeros(2, np.float32),
        np.zeros(2, np.float64),
        np.zeros((2, 1), np.float32),
        {"a": 1},
        {"b": 1},
        [1, 2],
        [[1], 2],
        None,
    ]
    assert len({digest(value) for value in values}) == len(values)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
