"""The page on language models names exactly the keys of a card's model and server sections, with their defaults."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from docs.blocks import ROOT

from masim.llm.served.settings import ServerSettings
from masim.llm.settings import ModelSettings

TEXT = (ROOT / "docs/how-to/use-a-language-model.md").read_text("utf-8")


def listed(part: str) -> dict[str, str]:
    table = TEXT.split(f"Keys of `{part}:`")[1].split("\n\n")[1]
    return dict(re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? ?\|", table, flags=re.MULTILINE))


def defaults(kind: type[Any]) -> dict[str, str]:
    found = {f.name: f.default for f in fields(kind)}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}


def test_the_tables_name_exactly_the_keys_and_their_defaults() -> None:
    assert listed("model") == defaults(ModelSettings)
    assert listed("server") == defaults(ServerSettings)
