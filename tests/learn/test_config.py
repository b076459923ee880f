"""Options that contradict each other, do not exist or have the wrong type are refused, with the way out."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import yaml

from masim.errors import ConfigError
from masim.learn.advantages.registry import ESTIMATORS
from masim.learn.config import LearnerConfig, from_mapping
from masim.learn.credit.registry import UNIT_RULES

PRESETS = sorted((Path(__file__).parents[2] / "configs" / "learner").glob("*.yaml"))
CHOICES = ("unit", "estimator")


def test_there_are_presets() -> None:
    assert {path.stem for path in PRESETS} >= {"grpo", "progpo", "reinforce", "paper-progpo"}


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_presets_load_and_hold_differences_only(path: Path) -> None:
    options = yaml.safe_load(path.read_text("utf-8"))
    if (options.get("progpo") or {}).get("coverage") == "horizon":
        options["progpo"]["t_cap"] = 20  # a study fills in the most decisions that its scenario allows
    config = from_mapping(options)
    assert from_mapping(config.to_mapping()) == config
    default = LearnerConfig().to_mapping()
    for name, value in options.items():
        assert name in CHOICES or value != default[name]
    if options.get("progpo"):
        default_progpo = from_mapping({"progpo": {}}).to_mapping()["progpo"]
        assert not set(options["progpo"].items()) & set(default_progpo.items())


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("unit", UNIT_RULES)
def test_resolved_options_come_back(name: str, unit: str) -> None:
    try:
        config = from_mapping({"estimator": name, "unit": unit, "compare": "group", "progpo": {"control": "shuffled"}})
    except ConfigError:
        assert ESTIMATORS[name].per_step and unit != "rollout"
    else:
        assert from_mapping(config.to_mapping()) == config


CONTRADICTIONS = {
    "progress needs the groups the filter drops": {"progpo": {}, "drop_equal_groups": True},
    "units of a per-step estimator": {"estimator": "reinforce", "unit": "segment"},
    "an agent set cannot be paid per step": {"estimator": "reinforce", "unit": "agent_set", "compare": "group"},
    "a team has no agent": {"unit": "agent_set"},
    "to-go penalties split an agent set": {"unit": "agent_set", "compare": "group", "penalty": "to_go"},
    "one rollout is no group": {"n_rollouts": 1},
    "nor for coverage": {"n_rollouts": 1, "estimator": "reinforce", "progpo": {}},
    "two discounts": {"estimator": {"name": "reinforce", "gamma": 0.9, "tau_s": 60.0}},
    "horizon without its length": {"progpo": {"coverage": "horizon"}},
    "length without horizon": {"progpo": {"t_cap": 20}},
    "a step larger than the buffer": {"buffer_units": 8, "units_per_step": 32},
    "a key of actions": {"compare": "group_id,endpoint"},
    "a key across instances": {"compare": "agent"},
    "a key that varies inside a unit": {"compare": "group_id,turn"},
}


@pytest.mark.parametrize("options", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradictions_raise(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        from_mapping(options)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"learning_rate": 0.1, "lr": 0.1}, "unknown option"),
        ({"unit": {"name": "segment", "segment_length": 5}}, "did you mean 'segment_len'"),
        ({"estimator": "grppo"}, "did you mean 'grpo'"),
        ({"compare": "group_agents"}, "did you mean 'group_agent'"),
        ({"compare": "group_id,action_id"}, "depends on the action"),
        ({"progpo": {"lambda": 0.1}}, "did you mean 'lambda_aux'"),
        ({"progpo": {"keys": "precise"}}, "canonical, exact"),
        ({"lr": "1e-3"}, "1.0e-3"),
        ({"epochs": 1.5}, "wrong type"),
        ({"epochs": True}, "wrong type"),
        ({"progpo": True}, "a mapping"),
        ({"lr": 0.0}, "> 0"),
        ({"estimator": {"name": "grpo", "ddof": 2}}, "0 (population), 1 (sample)"),
    ],
    ids=str,
)
def test_errors_name_the_way_out(options: dict[str, object], hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        from_mapping(options)
    assert hint in str(error.value)


def test_every_option_has_a_place_in_the_resolved_mapping() -> None:
    assert set(LearnerConfig().to_mapping()) == {f.name for f in dataclasses.fields(LearnerConfig)}
