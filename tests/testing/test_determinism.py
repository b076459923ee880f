"""Whole episodes are equal across plays and processes, and whatever is not is found.

1. Every bundled scenario through every adapter, trace included: the beginning, and at night whole episodes.
2. Planted nondeterminism after 40 steps: unseeded noise, PYTHONHASHSEED, something of the process in the trace.
3. The digest sees the last bit of a float, dtypes, shapes and keys.
"""

from __future__ import annotations

import numpy as np
import pytest

from masim.env.register import scenario_ids
from masim.errors import ConfigError, HarnessError
from masim.testing import ConformanceError, check_determinism, check_determinism_of, determinism
from masim.testing.determinism import digest

EVERYWHERE = [f"{name}@{kind}" for kind in ("parallel", "aec", "gymnasium", "ready") for name in scenario_ids()]


OFTEN = [target for target in EVERYWHERE if target.endswith("@parallel") or not target.startswith("regress/")]
"""The reported failures share one world: of them one adapter is enough by day."""


def test_every_scenario_begins_alike_everywhere() -> None:
    digests = check_determinism_of(OFTEN, seed=3, limit=8)
    assert list(digests) == OFTEN and {len(digest) for digest in digests.values()} == {24}


def test_a_whole_episode_is_alike_everywhere() -> None:
    assert len(check_determinism("freight/short-chain-v0", seed=3)) == 24


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_whole_episodes_are_alike_everywhere(seed: int) -> None:
    check_determinism_of(EVERYWHERE, seed)


def test_noise_after_the_first_steps_is_found() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_determinism("testing.planted:late_nondeterminism", limit=45)
    first = caught.value.problems[0]
    assert first.step == 41 and "a second play in this process: parts from the first play" in str(first)


def test_a_hash_seed_that_matters_is_found() -> None:
    with pytest.raises(ConformanceError, match=r"step 41, .*PYTHONHASHSEED=.: parts from the first play") as caught:
        check_determinism("testing.planted:hash_seed_matters", limit=45)
    assert "second play" not in str(caught.value)


def test_a_trace_that_differs_is_found() -> None:
    with pytest.raises(ConformanceError, match=r"PYTHONHASHSEED=0: parts .*: the trace differs") as caught:
        check_determinism("testing.planted:process_matters", limit=45)
    assert "second play" not in str(caught.value)


def test_a_target_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(ConfigError, match="no_such_function"):
        check_determinism("testing.planted:no_such_function")
    with pytest.raises(ConfigError, match="no such adapter; got @tick"):
        check_determinism("freight/first-steps-v0@tick")


def test_a_process_that_dies_is_our_failure_not_the_environments() -> None:
    with pytest.raises(HarnessError, match=r"(?s)died: .*no_such_module"):
        determinism._elsewhere(["no_such_module:make"], 0, 1, "0")


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
