"""The reference names what the code has, no less and (where it is cheap to tell) no more.

1. Every verb has a section, and every option of the verb is named in it or in the shared table.
2. Every key of a scenario file, column of a table, feature block and memory column has its place.
3. README and contents name every page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
from docs.blocks import ROOT
from pydantic import BaseModel

from masim.analysis.load import TABLES
from masim.cli.main import VERBS, build_app
from masim.env import features
from masim.memory.vendor_features import VENDOR_COLUMNS
from masim.rollout.recording.columns import COLUMNS
from masim.rollout.types import StepTable
from masim.scenario import contract_docs, dist_models, drift_docs, role_docs, schema, turn_docs
from masim.sim.spec import Verb
from masim.testing import CHECKS

REFERENCE = ROOT / "docs/reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def code_words(text: str) -> set[str]:
    """Return every name that stands in code style, also inside longer pieces of code."""
    pieces = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return {word for piece in pieces for word in re.findall(r"--?[\w-]+|[\w.]+", piece)}


def options(command: Any) -> Iterator[str]:
    """Yield the long options of a command and its sub-commands (typer brings its own classes of them)."""
    for child in getattr(command, "commands", {}).values():
        yield from options(child)
    for parameter in command.params:
        yield from (name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--"))


@pytest.mark.parametrize("verb", VERBS)
def test_commands_page_names_every_option(verb: str) -> None:
    group: Any = typer.main.get_command(build_app([verb]))
    sections = re.split(r"^## masim ", page("commands"), flags=re.MULTILINE)
    own = [section for section in sections[1:] if section.startswith(f"{verb}\n")]
    assert len(own) == 1, f"one section `## masim {verb}`"
    expected = set(options(group.commands[verb])) - {"--help"}
    assert expected - code_words(own[0]) == set()


def test_commands_page_has_no_other_verb() -> None:
    assert re.findall(r"^## masim (\w+)$", page("commands"), flags=re.MULTILINE) == list(VERBS)


def keys() -> Iterator[str]:
    for module in (schema, dist_models, contract_docs, drift_docs, role_docs, turn_docs):
        for model in vars(module).values():
            profile = "Profile" in getattr(model, "__name__", "")
            if isinstance(model, type) and issubclass(model, schema.Doc) and not profile:
                yield from (field.alias or name for name, field in model.model_fields.items())


def test_scenario_page_names_every_key_and_endpoint() -> None:
    assert issubclass(schema.ScenarioDoc, BaseModel)
    text = page("scenario-yaml")
    known = {part for word in code_words(text) for part in word.split(".")} | set(re.findall(r"(\w+):", text))
    assert set(keys()) - known == set()
    assert {verb.value for verb in Verb} - {"declare", "wait"} <= known


@pytest.mark.parametrize("table", TABLES)
def test_run_folder_page_names_every_column(table: str) -> None:
    section = re.split(r"^## ", page("run-folder"), flags=re.MULTILINE)
    own = next(text for text in section if text.startswith(f"{table}.parquet"))
    assert set(TABLES[table]) - code_words(own) == set()


def test_step_table_page_names_exactly_the_columns() -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", page("step-table"), flags=re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(field.name for field in fields(StepTable))


def test_features_page_states_every_block_and_its_size() -> None:
    text = page("candidate-features")
    blocks = {name: getattr(features, name) for name in dir(features) if re.fullmatch(r"[A-Z]+_F", name)}
    whole, context = blocks.pop("ROW_F"), blocks.pop("GLOBAL_F")
    assert f"F = {whole}" in text and f"`GLOBAL_F` = {context}" in text
    blocks.pop("VENDOR_F")
    assert {name: int(n) for name, n in re.findall(r"^\| `(\w+_F)` \| (\d+) \|", text, flags=re.MULTILINE)} == blocks
    columns = re.findall(r"^\| `([a-z_]+)` \|", text, flags=re.MULTILINE)
    assert tuple(columns) == VENDOR_COLUMNS


def test_recordings_page_names_exactly_the_columns() -> None:
    text = (ROOT / "docs/how-to/record-and-export.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE) == list(COLUMNS)


def test_checks_page_names_exactly_the_checks() -> None:
    text = (ROOT / "docs/how-to/check-your-environment.md").read_text("utf-8")
    assert tuple(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)) == CHECKS


def test_readme_and_decisions_lead_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    contents = (ROOT / "docs/adr/README.md").read_text("utf-8")
    scenarios = (REFERENCE / "scenarios/README.md").read_text("utf-8")
    for file in sorted((ROOT / "docs").rglob("*.md")):
        relative = file.relative_to(ROOT)
        listed = contents if relative.parts[1] == "adr" and file.name != "README.md" else readme
        listed = scenarios if relative.parts[2] == "scenarios" and file.name != "README.md" else listed
        assert Path(relative).name in listed, f"nothing leads to {relative}"
