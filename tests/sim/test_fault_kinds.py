"""Kinds of faults as a scenario names them.

1. The reference page names every kind with its family and settings, and nothing else.
2. Every family of the taxonomy is known to the bases.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from masim.scenario.fault_docs import setting_name
from masim.sim.faults.base import FAMILIES
from masim.sim.faults.registry import FAULTS

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/faults.md"


def test_the_reference_page_names_every_kind_with_its_settings() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    told = {kind: (family, set(re.findall(r"`(\w+)`", settings))) for kind, family, settings in rows}
    known = {
        name: (kind.family, {setting_name(f.name) for f in dataclasses.fields(kind)})  # type: ignore[arg-type]
        for name, kind in FAULTS.items()
    }
    assert told == known


def test_every_kind_belongs_to_a_family() -> None:
    assert {kind.family for kind in FAULTS.values()} <= set(FAMILIES)
