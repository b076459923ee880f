"""Loads language models: from a folder, from a package that ships one, or a tiny one that is made here.

Nothing is ever fetched: what is not on this machine is an error that names the way to get it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, missing_extra
from masim.llm.model import LanguageModel
from masim.llm.settings import SMOLLM2, TINY, ModelSettings

KEPT = 2
"""Models that a process keeps loaded."""


def load_model(settings: ModelSettings) -> LanguageModel:
    """Return the model of some settings, the same object for the same source and number type.

    Sets the number of torch's threads for this process. Raises MissingExtraError without transformers, ConfigError for
    a model that is not there, is damaged, or is no causal language model.
    """
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise missing_extra(error.name or "transformers", "llm") from error
    torch.set_num_threads(settings.threads)
    return _load(settings.source, settings.dtype)


@lru_cache(maxsize=KEPT)
def _load(source: str, dtype: str) -> LanguageModel:
    if source == TINY:
        from masim.llm.tiny import tiny_llama

        return tiny_llama()
    if source == SMOLLM2:
        from masim.llm.smollm2 import smollm2_folder

        return load_folder(smollm2_folder(), dtype, SMOLLM2)
    return load_folder(Path(source).expanduser(), dtype, source)


def load_folder(folder: Path, dtype: str = "float32", name: str = "") -> LanguageModel:
    """Return the causal model and the tokenizer that a folder holds."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    _refuse_foreign(folder)
    bars = _hide_bars()
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        net = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=getattr(torch, dtype))
    except Exception as error:  # transformers raises errors of many libraries for a folder that it cannot read
        reason = str(error).strip().partition("\n")[0]
        fix = "it needs config.json, *.safetensors and tokenizer files that transformers can read"
        raise ConfigError(f"the model cannot be loaded: {reason}", str(folder), "", "", fix) from error
    finally:
        bars()
    return LanguageModel(_ready(net), tokenizer, name or folder.name)


def _refuse_foreign(folder: Path) -> None:
    """Raise ConfigError for a folder that is not there or that holds no causal language model."""
    config = folder / "config.json"
    if not folder.is_dir():
        allowed = f"{SMOLLM2}, {TINY}, or the folder of a model"
        raise ConfigError("there is no such model", "model.source", str(folder), allowed, "check the path")
    if not config.is_file():
        raise ConfigError("the folder holds no model", str(folder), "no config.json", "", "check the path")
    try:
        kinds = json.loads(config.read_text("utf-8")).get("architectures") or []
    except (ValueError, AttributeError, OSError) as error:
        raise ConfigError("not a model's configuration", str(config), str(error)) from error
    if not any(str(kind).endswith(("ForCausalLM", "LMHeadModel")) for kind in kinds):
        allowed = "an architecture that ends in ForCausalLM"
        raise ConfigError("not a causal language model", str(config), ", ".join(map(str, kinds)) or "none", allowed)


def _hide_bars() -> Callable[[], None]:
    """Keep transformers from drawing progress bars; return what lets it draw them again if it did before."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    return logging.enable_progress_bar if shown else lambda: None


def _ready(net: Any) -> Any:
    net.eval()
    return net.requires_grad_(False)
