"""What faults do to a workflow, and that the comparison is a fair one.

1. The same arm twice is the same, and its comparison finds nothing; a fault that never strikes moves nothing.
2. One example of each family moves the naive workflow: the paired interval excludes 0.
3. Every family has a file of examples, every kind of it is in there, and every example fits its scenario and agent.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml

from masim.policy.card import load_card
from masim.sim.faults.base import FAMILIES
from masim.sim.faults.registry import FAULTS
from masim.sim.spec import WorldSpec
from masim.study.fault_effects import MEASURES, Arm, Example, compare, moved, play_arm

SCENARIO = "freight/short-chain-v0"
CALM = {"profiles.apis": "apis-calm-v0"}
SEEDS = range(10)
FILES = sorted((Path(__file__).resolve().parents[2] / "benchmarks/fault_examples").glob("*.yaml"))
TYPICAL = {
    "transport": "hang",
    "status": "empty_success",
    "throttle": "token_bucket",
    "auth": "clock_skew",
    "outage": "down",
    "staleness": "cache_age",
    "commit": "duplicate_commit",
    "asynchronous": "pending_forever",
    "agent": "replay",
    "capacity": "silent_move",
    "data": "truncated_id",
    "money": "price_change",
    "observability": "false_green",
}


def shown(family: str) -> dict[str, Example]:
    (path,) = [path for path in FILES if path.stem == family]
    named = yaml.safe_load(path.read_text("utf-8"))
    return {name: Example.of(name, doc, CALM) for name, doc in named.items()}


@cache
def played(spec: WorldSpec) -> Arm:
    return play_arm(spec, SEEDS)


def calm() -> Arm:
    return played(Example("none", {}, (), CALM).spec(SCENARIO, struck=False))


def test_no_fault_no_effect() -> None:
    idle = Example("idle", {"kind": "reset", "p": 0.0}, (), CALM)
    arm = play_arm(idle.spec(SCENARIO, struck=True), SEEDS)
    assert arm == calm()
    effect = compare(calm(), arm)
    assert list(effect) == list(MEASURES) and moved(effect) == []
    assert {difference.value for difference in effect.values()} == {0.0}


@pytest.mark.parametrize("family", TYPICAL)
def test_every_family_moves_the_naive_workflow(family: str) -> None:
    example = shown(family)[TYPICAL[family]]
    without = played(example.spec(SCENARIO, struck=False))
    arm = played(example.spec(SCENARIO, struck=True))
    assert arm.strikes > 1.0
    assert moved(compare(without, arm))


def test_every_family_has_examples() -> None:
    assert {path.stem for path in FILES} == set(FAMILIES) == set(TYPICAL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_are_complete_and_fit(path: Path) -> None:
    examples = shown(path.stem)
    kinds = {example.fault["kind"] for example in examples.values()}
    assert kinds == {name for name, kind in FAULTS.items() if kind.family == path.stem}
    for example in examples.values():
        faults = example.spec(SCENARIO, struck=True).faults
        assert faults[-1].fault.kind == example.fault["kind"]
        assert load_card(example.agent).name == example.agent
