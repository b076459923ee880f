"""How a language model acts: the ``model:`` section of an agent card, as values."""

from __future__ import annotations

from dataclasses import dataclass

from masim.errors import ConfigError, did_you_mean

SMOLLM2 = "smollm2"
TINY = "tiny-llama"
SERVED = "served"
SCORE = "score"
DTYPES = ("float32", "bfloat16")
LENGTHS = ("sum", "mean")
WRITE = "json"
ACTS = (SCORE, WRITE)
CONSTRAINTS = ("tools", "legal", "none")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model, and how it acts. Raises ConfigError for a value that none of it can have."""

    source: str = ""
    """``smollm2``, ``tiny-llama``, ``served``, or a folder with a causal model of transformers and its tokenizer."""
    act: str = SCORE
    """One of :data:`ACTS`."""
    dtype: str = "float32"
    """What it computes with, one of :data:`DTYPES`."""
    threads: int = 1
    """Processor threads of each process that plays."""
    batch: int = 8
    """Most decisions of one pass."""
    prompt_tokens: int = 2048
    """Most tokens of what is read for one decision; a longer text loses lines."""
    temperature: float = 1.0
    """0 takes the best, 1 samples as the model says."""
    length: str = "sum"
    """``sum``: a call counts with the log-probability of all its tokens; ``mean``: with that of one on average."""
    constrain: str = "tools"
    """What ``json`` can write: a call of its ``tools``, one that is ``legal`` now, or anything (``none``)."""
    reasoning_tokens: int = 0
    """Most tokens of thoughts before the call (``json``)."""
    answer_tokens: int = 128
    """Most tokens of the call (``json``)."""
    repair: bool = True
    """Whether what stands for no call is answered with the reason and may be written once more (``json``)."""
    token_s: float = 0.0
    """Simulated seconds that one written token takes; an agent acts when it has written."""
    at_once: int = 0
    """How many agents of one rollout write at once in simulated time, the others queue; 0: all."""

    def __post_init__(self) -> None:
        self._require(bool(self.source), "source", f"{SMOLLM2}, {TINY}, {SERVED}, or the folder of a model")
        for name, known in (("act", ACTS), ("dtype", DTYPES), ("length", LENGTHS), ("constrain", CONSTRAINTS)):
            value = getattr(self, name)
            self._require(value in known, name, ", ".join(known), did_you_mean(value, known))
        self._require(1 <= self.threads <= 256, "threads", "an integer from 1 to 256")
        self._require(1 <= self.batch <= 1024, "batch", "an integer from 1 to 1024")
        self._require(64 <= self.prompt_tokens <= 1_000_000, "prompt_tokens", "an integer from 64 to 1000000")
        self._require(0 <= self.reasoning_tokens <= 100_000, "reasoning_tokens", "an integer from 0 to 100000")
        self._require(8 <= self.answer_tokens <= 100_000, "answer_tokens", "an integer from 8 to 100000")
        self._require(0.0 <= self.token_s <= 3600.0, "token_s", "seconds from 0 to 3600")
        self._require(0 <= self.at_once <= 100_000, "at_once", "an integer from 0 to 100000")
        if self.at_once and not self.token_s:
            fix = "set model.token_s, or leave it out"
            raise ConfigError("nobody queues where writing takes no time", "model.at_once", str(self.at_once), "0", fix)
        if self.source == SERVED and self.act != WRITE:
            raise ConfigError("a served model cannot score calls", "model.act", self.act, WRITE)
        self._require(0.0 <= self.temperature <= 100.0, "temperature", "a number from 0 to 100")

    def _require(self, good: bool, name: str, allowed: str, fix: str = "") -> None:
        if not good:
            raise ConfigError("impossible model setting", f"model.{name}", repr(getattr(self, name)), allowed, fix)
