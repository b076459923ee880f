"""The benchmarks by name. One function and one line here each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, did_you_mean

BENCHES = {
    "world": "masim.study.bench.world:bench_world",
    "env": "masim.study.bench.env:bench_env",
    "memory": "masim.study.bench.memory:bench_memory",
    "learn": "masim.study.bench.learn:bench_learn",
    "llm": "masim.study.bench.llm:bench_llm",
}


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How to measure."""

    quick: bool = False
    seed: int = 0
    days: int = 0
    """Simulated days of one more memory run; 0: none."""
    scenario: str = ""
    """One more world to rate: the rules and faults of this scenario."""
    peers: Path | None = None
    stores: tuple[str, ...] = ()
    """Addresses of more memory stores to rate."""


Bench = Callable[[BenchOptions, Callable[[str], None]], dict[str, Any]]
"""``bench(options, say)`` returns everything that it measured; ``say`` tells what is measured now."""


def find_bench(name: str) -> Bench:
    """Return a benchmark. Raises ConfigError with the nearest name."""
    if name not in BENCHES:
        raise ConfigError("unknown benchmark", "NAME", repr(name), ", ".join(BENCHES), did_you_mean(name, BENCHES))
    module, _, function = BENCHES[name].partition(":")
    found: Bench = getattr(import_module(module), function)
    return found


def refuse(given: bool, option: str, why: str) -> None:
    """Raise ConfigError for an option that a benchmark cannot follow."""
    if given:
        raise ConfigError("this benchmark has no such setting", option, "", "", f"leave it out: {why}")
