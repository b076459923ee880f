"""Tiny language models that are made here in a second: a Llama of a few hundred thousand weights and its tokenizer.

They know nothing. They are for tests, for training from scratch, and for whoever wants to see the whole path run.
The tokenizer is trained on the words that every agent reads (tools, arguments, errors), so these are few tokens each;
it takes any text, by bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from masim.env.text.errors import TEXTS
from masim.env.text.words import ARGUMENTS, TOOLS
from masim.llm.model import LanguageModel
from masim.llm.settings import TINY

VOCABULARY = 1024
END, BEGIN = "<|end|>", "<|begin|>"
TEMPLATE = (
    "{% for message in messages %}<|begin|>{{ message['role'] }}\n{{ message['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)


def tiny_llama(seed: int = 0, layers: int = 2, width: int = 64, window: int = 4096) -> LanguageModel:
    """Return an untrained Llama; the same seed gives the same weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = tiny_tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = LlamaForCausalLM(config)
    return LanguageModel(net.eval().requires_grad_(False), tokenizer, TINY)


def tiny_tokenizer() -> Any:
    """Return a byte-level tokenizer of :data:`VOCABULARY` tokens with a chat template; always the same."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END, BEGIN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(_words(), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token=END)
    fast.add_special_tokens({"additional_special_tokens": [BEGIN]})
    fast.chat_template = TEMPLATE
    return fast


def save_model(model: LanguageModel, folder: Path) -> None:
    """Write a model as :func:`masim.llm.load.load_folder` reads it."""
    model.net.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)


def _words() -> Iterator[str]:
    yield from TOOLS.values()
    yield from ARGUMENTS.values()
    for text in TEXTS.values():
        yield from (text.problem, text.allowed, text.fix)
    for verb in TOOLS:
        for carrier in ("aster", "birch"):
            yield json.dumps({"name": verb.value, "arguments": {"order": 0, "leg": 1, "carrier": carrier}})
        yield json.dumps({"name": verb.value, "arguments": {"order": 0, "leg": 0, "stop": "pickup", "slot": 2}})
    yield from ("now d0 06:01:14 local, booking ends d0 18:00:00 local, 470.69 USD until d1 10:30:00 local",) * 4
