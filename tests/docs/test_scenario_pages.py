"""The pages of the scenarios are those of the scenarios as they are, and say what the environments do.

1. Every bundled scenario has its page, up to date, and a history that ends with its version.
2. What a page says of spaces is what the environment has; what it says of making it works.
3. The writer's ``--check`` tells what differs, and writes nothing.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import gymnasium
import pettingzoo
import pytest
from docs.blocks import ROOT

from masim.env.make import parallel_env
from masim.env.page import page_name, scenario_page
from masim.env.register import register_all, scenario_ids
from masim.scenario.load import load_scenario

WRITER = ROOT / "benchmarks/scenario_pages.py"


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scenario_pages", WRITER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_up_to_date(writer: ModuleType) -> None:
    stale = [file.name for file, _ in writer.differences()]
    assert stale == [], "run: python benchmarks/scenario_pages.py"


@pytest.mark.parametrize("name", scenario_ids())
def test_every_scenario_has_a_history(name: str) -> None:
    history = load_scenario(name).doc.history
    assert history and f"-v{history[-1].version}" in name


@pytest.mark.parametrize("name", ["freight/first-steps-v0", "freight/twelve-apis-v0", "stress/all-faults-v0"])
def test_a_page_says_what_the_environment_has(name: str) -> None:
    scenario = load_scenario(name)
    text = scenario_page(scenario)
    env, memory = parallel_env(scenario), parallel_env(scenario, memory=True)
    agent = env.possible_agents[0]
    assert f"`Discrete({env.action_space(agent).n})`" in text
    for space in (env.observation_space(agent)["observation"], memory.observation_space(agent)["observation"]):
        assert f"`Box(-64, 64, ({space.shape[0]},), float32)`" in text
    assert f"`Box(-64, 64, {env.state_space.shape}, float32)`" in text
    ranges = [(int(a), int(b)) for a, b in re.findall(r"^\| \d+ x `\w+` \| (\d+) \| (\d+) \|", text, re.MULTILINE)]
    assert [i for first, last in ranges for i in range(first, last + 1)] == list(range(len(env.stage.table)))
    assert all(f"| {fault.id} | `{fault.kind}` |" in text for fault in scenario.doc.faults)
    assert all(f"| `{api.verb}` |" in text for api in scenario.spec.apis)


def test_the_ids_on_a_page_make_the_scenario() -> None:
    register_all()
    text = (ROOT / "docs/reference/scenarios" / page_name("freight/short-chain-v0")).read_text("utf-8")
    made = set(re.findall(r'make\((?:"\w+", )?"([^"]+)"\)', text))
    assert made == {"masim/freight.short-chain-v0"}
    (id_,) = made
    env = gymnasium.make(id_)
    assert env.unwrapped.stage.scenario.id == "freight/short-chain-v0"  # type: ignore[attr-defined]
    for kind in ("parallel", "aec"):
        assert len(pettingzoo.make(kind, id_).possible_agents) == 4


def test_the_check_names_what_differs(writer: ModuleType, tmp_path: Path) -> None:
    folder = ROOT / "docs/reference/scenarios"
    kept = {file.name: file.read_text("utf-8") for file in folder.glob("*.md")}
    spoilt = dict(kept)
    spoilt["README.md"] += "more\n"
    del spoilt["regress.c11-null-agent-v0.md"]
    spoilt["freight.gone-v0.md"] = "of nobody"
    for name, text in spoilt.items():
        (tmp_path / name).write_text(text, "utf-8")
    found = {file.name: text for file, text in writer.differences(tmp_path)}
    assert found == {
        "README.md": kept["README.md"],
        "regress.c11-null-agent-v0.md": kept["regress.c11-null-agent-v0.md"],
        "freight.gone-v0.md": "",
    }


def test_the_check_of_the_command_line_passes() -> None:
    done = subprocess.run([sys.executable, str(WRITER), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
