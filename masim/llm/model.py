"""A loaded language model: its network, its tokenizer, and how a conversation becomes tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from masim.errors import ConfigError

_MARK = "\x1fhere\x1f"


@dataclass(frozen=True)
class Frame:
    """A conversation's tokens around what is read at one decision: ``before`` stays the same over an episode."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class LanguageModel:
    """A causal language model of transformers in evaluation mode."""

    net: Any
    tokenizer: Any
    name: str

    @property
    def window(self) -> int:
        """Return how many tokens fit."""
        return int(getattr(self.net.config, "max_position_embeddings", 1 << 30))

    @property
    def end(self) -> int:
        """Return the token that ends an answer."""
        return int(self.tokenizer.eos_token_id)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text of somebody else's: what looks like a token of ours in it is plain text."""
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens, those of the chat template left out."""
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))

    def frame(self, system: str) -> Frame:
        """Return the tokens around a user's words that follow ``system``; see :meth:`pieces`."""
        return Frame(*self.pieces(system, 1))

    def pieces(self, system: str, turns: int) -> tuple[tuple[int, ...], ...]:
        """Return the tokens before, between and after the words of a user and an assistant in turn, the user first.

        A template without a system role gets the system's words at the head of the user's. Raises ConfigError for a
        tokenizer without a chat template.
        """
        said = [{"role": ("user", "assistant")[nth % 2], "content": _MARK} for nth in range(turns)]
        try:
            text = self._template([{"role": "system", "content": system}, *said])
            lost = system not in text
        except Exception as error:  # templates raise errors of their own for roles that they do not know
            if not self.tokenizer.chat_template:
                raise self._no_template() from error
            lost = True
        if lost:
            said[0]["content"] = f"{system}\n\n{_MARK}"
            text = self._template(said)
        return tuple(tuple(self._own(piece)) for piece in text.split(_MARK))

    def _template(self, messages: list[dict[str, str]]) -> str:
        return str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))

    def _own(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def _no_template(self) -> ConfigError:
        fix = "use a model that was tuned for conversations, or add a chat_template to its tokenizer"
        return ConfigError("the tokenizer has no chat template", self.name, "", "", fix)
