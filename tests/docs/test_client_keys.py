"""The page on robust calls names exactly the keys of a card's client section, and every policy."""

from __future__ import annotations

import re

from docs.blocks import ROOT

from masim.policy.client_card import keys_of
from masim.tools.breaker import BreakerSettings
from masim.tools.client import CIRCUIT_OPEN
from masim.tools.retry import POLICIES, RetrySettings
from masim.tools.settings import ClientSettings

TEXT = (ROOT / "docs/how-to/make-calls-robust.md").read_text("utf-8")


def listed(part: str) -> list[str]:
    table = TEXT.split(f"| key of `{part}` |")[1].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)


def test_the_tables_name_exactly_the_keys() -> None:
    kinds = {"client": ClientSettings, "retry": RetrySettings, "breaker": BreakerSettings}
    assert {part: sorted(listed(part)) for part in kinds} == {part: sorted(keys_of(k)) for part, k in kinds.items()}


def test_the_page_names_every_policy_and_the_text_of_an_open_circuit() -> None:
    assert {f"`{name}`" in TEXT for name in POLICIES} == {True}
    assert f"`{CIRCUIT_OPEN}`" in TEXT
