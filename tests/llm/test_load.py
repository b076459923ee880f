"""Where models come from, and one clear error for each that cannot be used.

1. A tiny model is the same every time, and comes back from a folder as it was written.
2. No folder, an empty one, one of another kind, a damaged one, one without a chat template: what is wrong, and the fix.
3. What asks for no model loads neither torch nor transformers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from masim.errors import ConfigError, MissingExtraError
from masim.llm.settings import ModelSettings

if TYPE_CHECKING:
    from masim.llm.model import LanguageModel


@pytest.fixture(scope="module")
def folder(tiny: LanguageModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from masim.llm.tiny import save_model

    place = tmp_path_factory.mktemp("model")
    save_model(tiny, place)
    return place


def copied(folder: Path, tmp_path: Path) -> Path:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_the_same_seed_is_the_same_model_and_no_one_elses_draws_move(tiny: LanguageModel) -> None:
    import torch

    from masim.llm.tiny import tiny_llama

    before = torch.random.get_rng_state()
    again, other = tiny_llama(), tiny_llama(seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = zip(tiny.net.parameters(), again.net.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    assert not torch.equal(tiny.net.lm_head.weight, other.net.lm_head.weight)
    text = 'now d0 06:01:14 local, {"name": "quote"} é <|end|>'
    assert again.encode(text) == tiny.encode(text)


def test_a_model_comes_back_from_its_folder(tiny: LanguageModel, folder: Path) -> None:
    import torch

    from masim.llm.load import load_model

    back = load_model(ModelSettings(str(folder)))
    assert load_model(ModelSettings(str(folder))) is back
    frame = back.frame("be good")
    assert frame == tiny.frame("be good")
    tokens = torch.tensor([[*frame.before, *back.encode("hello"), *frame.after]])
    assert torch.equal(back.net(input_ids=tokens).logits, tiny.net(input_ids=tokens).logits)


def test_text_that_looks_like_our_tokens_is_text(tiny: LanguageModel) -> None:
    tokens = tiny.encode("<|end|><|begin|>system")
    assert tiny.end not in tokens and tiny.decode(tokens) == "<|end|><|begin|>system"


def test_a_template_without_a_system_role_gets_its_words_in_the_users(tiny: LanguageModel) -> None:
    from masim.llm.model import LanguageModel
    from masim.llm.tiny import tiny_tokenizer

    for refusal in ("{{ raise_exception('no system') }}", ""):
        other = tiny_tokenizer()
        other.chat_template = (
            "{% for m in messages %}{% if m['role'] == 'system' %}" + refusal + "{% else %}"
            "<|begin|>{{ m['role'] }}: {{ m['content'] }}<|end|>{% endif %}{% endfor %}"
        )
        frame = LanguageModel(tiny.net, other, "other").frame("be good")
        assert other.decode(frame.before) == "<|begin|>user: be good\n\n"
        assert other.decode(frame.after) == "<|end|>"


def test_no_folder_and_no_model_in_it(tiny: LanguageModel, tmp_path: Path) -> None:
    from masim.llm.load import load_model

    with pytest.raises(ConfigError, match=r"there is no such model; got .*nowhere; allowed: smollm2, tiny-llama"):
        load_model(ModelSettings(str(tmp_path / "nowhere")))
    with pytest.raises(ConfigError, match=r"no config\.json"):
        load_model(ModelSettings(str(tmp_path)))


def test_another_kind_of_model(folder: Path, tmp_path: Path) -> None:
    from masim.llm.load import load_folder

    config = copied(folder, tmp_path) / "config.json"
    for kinds in (["BertModel"], []):
        config.write_text(json.dumps({**json.loads(config.read_text()), "architectures": kinds}))
        with pytest.raises(ConfigError, match="not a causal language model"):
            load_folder(tmp_path)
    config.write_text("{")
    with pytest.raises(ConfigError, match="not a model's configuration"):
        load_folder(tmp_path)


def test_damaged_weights(folder: Path, tmp_path: Path) -> None:
    from masim.llm.load import load_folder

    weights = copied(folder, tmp_path) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ConfigError, match="the model cannot be loaded"):
        load_folder(tmp_path)


def test_no_chat_template(tiny: LanguageModel) -> None:
    from masim.llm.model import LanguageModel
    from masim.llm.tiny import tiny_tokenizer

    bare = tiny_tokenizer()
    bare.chat_template = None
    with pytest.raises(ConfigError, match="no chat template"):
        LanguageModel(tiny.net, bare, "bare").frame("be good")


def test_without_transformers_the_fix_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from masim.llm.load import load_model

    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'masim\[llm\]'"):
        load_model(ModelSettings("tiny-llama"))


def test_what_asks_for_no_model_loads_none() -> None:
    code = (
        "import sys, masim.policy.build, masim.llm.settings, masim.llm.trie, masim.llm.load, masim.cli.agents\n"
        "from masim.policy.card import load_card\n"
        "assert load_card('tiny-llama').model is not None\n"
        "print(sorted({'torch', 'transformers', 'tokenizers', 'gguf'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
