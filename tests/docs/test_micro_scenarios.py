"""The page of the micro-scenarios names every option with its default."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from masim.micro.registry import GAMES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "micro-scenarios.md"


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_page_has_every_option(name: str) -> None:
    section = PAGE.read_text("utf-8").split(f"\n## {name}\n")[1].split("\n## ")[0]
    told = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", section, re.MULTILINE))
    defaults = {field.name: field.default for field in fields(GAMES[name])}  # type: ignore[arg-type]
    assert told == {name: value if isinstance(value, str) else json.dumps(value) for name, value in defaults.items()}
