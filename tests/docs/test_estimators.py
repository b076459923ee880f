"""The page on estimators names what the code has, no more and no less.

1. units, keys, estimators and their options
2. every contradiction, with its reason
3. which estimators go with which units
"""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import product

import pytest
from docs.blocks import ROOT

from masim.errors import ConfigError
from masim.learn.advantages.progpo import Progpo
from masim.learn.advantages.registry import ESTIMATORS
from masim.learn.config import from_mapping
from masim.learn.credit.registry import UNIT_RULES
from masim.learn.grouping import ANCHORS, KEYS
from masim.learn.legal import RULES
from masim.learn.rewards.registry import REWARDS

PAGE = (ROOT / "docs/reference/estimators.md").read_text("utf-8")
SECTIONS = {text.partition("\n")[0]: text for text in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}


def rows(section: str) -> list[list[str]]:
    """Return the cells of the rows of a section's table whose first cell is a name."""
    lines = re.findall(r"^\| `\w+` \|.*\|$", SECTIONS[section], flags=re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize(
    ("section", "registry"), [("Units", UNIT_RULES), ("Rewards", REWARDS), ("Estimators", ESTIMATORS)]
)
def test_names_and_options(section: str, registry: dict[str, type]) -> None:
    listed = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1]) for row in rows(section)}
    assert listed == {name: [f.name for f in fields(kind)] for name, kind in registry.items()}


def test_keys_anchors_and_progpo() -> None:
    assert [row[0].strip("`") for row in rows("Comparison keys")] == list(KEYS)
    for name in ANCHORS:
        assert f"`{name}`" in SECTIONS["Comparison keys"]
    for field in fields(Progpo):
        assert f"`{field.name}`" in SECTIONS["ProGPO"]


def test_every_contradiction_has_its_reason() -> None:
    listed = re.findall(r"^\| `([\w.]+)` \| (.+) \|$", SECTIONS["What goes together"], flags=re.MULTILINE)
    assert [row for row in listed if row[0] not in ESTIMATORS] == [(rule.option, rule.reason) for rule in RULES]


def test_who_goes_with_whom() -> None:
    for estimator, unit in product(ESTIMATORS, UNIT_RULES):
        try:
            from_mapping({"estimator": estimator, "unit": unit, "compare": "group"})
        except ConfigError:
            together = False
        else:
            together = True
        assert together == (unit == "rollout" or estimator in ("grpo", "rloo")), (estimator, unit)


def test_every_estimator_and_method_has_a_preset() -> None:
    folder = ROOT / "configs/learner"
    text = " ".join(path.read_text("utf-8") for path in folder.glob("*.yaml"))
    assert {name for name in ESTIMATORS if not re.search(rf"\b{name}\b", text)} == set()
