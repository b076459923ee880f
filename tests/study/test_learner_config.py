"""The horizon of coverage comes from the scenario, unless it is given."""

from __future__ import annotations

import pytest

from masim.errors import ConfigError
from masim.scenario.load import load_scenario
from masim.sim.spec import Verb
from masim.study.training import learner_config

SPEC = load_scenario("freight/first-steps-v0").spec


def test_the_horizon_is_the_most_decisions_of_the_scenario() -> None:
    config = learner_config({"progpo": {"coverage": "horizon"}}, SPEC, seed=3)
    assert config.progpo is not None
    assert (config.progpo.t_cap, config.seed) == (SPEC.max_decisions, 3)


def test_a_given_horizon_and_a_rate_stay() -> None:
    given = learner_config({"progpo": {"coverage": "horizon", "t_cap": 5}}, SPEC).progpo
    rate = learner_config({"progpo": {}}, SPEC).progpo
    assert given is not None and given.t_cap == 5
    assert rate is not None and rate.t_cap is None


def test_waiting_is_what_the_scenario_calls_so() -> None:
    progpo = learner_config({"progpo": {"waiting": "excluded"}}, SPEC).progpo
    assert progpo is not None and progpo.wait_endpoint == list(Verb).index(Verb.WAIT)


def test_bad_options_are_still_refused() -> None:
    with pytest.raises(ConfigError):
        learner_config({"progpo": {"coverage": "horizn"}}, SPEC)
