"""``check_determinism``: the same seed plays the same episode, in this process and in others.

The test that PettingZoo ships stops after one step. This one hashes every observation, reward, flag and info of whole
episodes, and the trace where there is one, across processes with different ``PYTHONHASHSEED``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from masim.env.register import ENTRY_POINTS
from masim.errors import ConfigError, HarnessError, did_you_mean
from masim.scenario.load import Scenario, load_scenario
from masim.testing.choose import legal_chooser
from masim.testing.drive import drive, play
from masim.testing.problems import Problem, Problems

HASH_SEEDS = ("0", "1")
ADAPTERS = {**ENTRY_POINTS, "ready": "masim.env.ready:ready_env"}
CHILD = "from masim.testing.determinism import child; child()"


def check_determinism(target: str, seed: int = 0, limit: int = 5_000) -> str:
    """Play one episode twice here and once in each of two processes; return its digest.

    ``target`` names a scenario, played through the Parallel adapter with its trace, or through another as
    ``SCENARIO@aec``, ``SCENARIO@gymnasium`` and ``SCENARIO@ready``; or, as ``module:function``, what builds the
    environment. Raises :class:`masim.testing.problems.ConformanceError` where two plays part, ConfigError for a
    target that leads nowhere, and HarnessError when a process dies.
    """
    return check_determinism_of([target], seed, limit)[target]


def check_determinism_of(targets: Sequence[str], seed: int = 0, limit: int = 5_000) -> dict[str, str]:
    """Do what :func:`check_determinism` does for many targets at once, in two processes for all of them.

    Returns the digest of each. An episode is cut off after ``limit`` steps.
    """
    here = play_targets(targets, seed, limit)
    plays = {"a second play in this process": play_targets(targets, seed, limit)}
    for hash_seed in HASH_SEEDS:
        plays[f"a process with PYTHONHASHSEED={hash_seed}"] = _elsewhere(targets, seed, limit, hash_seed)
    problems = Problems()
    for target in targets:
        for name, other in plays.items():
            problems.add(_parting(f"{target}: {name}", here[target], other[target]))
    problems.raise_any()
    return {target: digest(rounds) for target, rounds in here.items()}


def play_targets(targets: Sequence[str], seed: int, limit: int) -> dict[str, list[str]]:
    """Return what :func:`episode_digests` gives for each target."""
    return {target: episode_digests(build(target), seed, limit) for target in targets}


def _parting(name: str, here: list[str], other: list[str]) -> Iterator[Problem]:
    if here != other:
        same = (i for i, pair in enumerate(zip(here, other, strict=False)) if pair[0] != pair[1])
        at = next(same, min(len(here), len(other)))
        what = "the trace" if at == len(here) - 1 else "what was given"
        yield Problem("determinism", f"parts from the first play: {what} differs", "", at, name)


def build(target: str) -> Any:
    """Return the environment that a target names.

    Raises ConfigError when ``module:function`` leads nowhere or there is no such adapter, ScenarioError when there is
    no such scenario.
    """
    module, colon, function = target.partition(":")
    if not colon:
        name, _, kind = target.partition("@")
        return _adapter(kind or "parallel")(_scenario(name), trace=True)
    try:
        return getattr(import_module(module), function)()
    except (ImportError, AttributeError) as error:
        raise ConfigError(str(error), "target", target, "a scenario, or module:function") from error


@cache
def _scenario(name: str) -> Scenario:
    return load_scenario(name)


def _adapter(kind: str) -> Callable[..., Any]:
    if kind not in ADAPTERS:
        raise ConfigError("no such adapter", "target", f"@{kind}", ", ".join(ADAPTERS), did_you_mean(kind, ADAPTERS))
    module, _, function = ADAPTERS[kind].partition(":")
    return getattr(import_module(module), function)  # type: ignore[no-any-return]


def episode_digests(env: Any, seed: int = 0, limit: int = 5_000) -> list[str]:
    """Play an episode with random legal actions; return one digest per round, and one of the trace."""
    driver = drive(env)
    choose = legal_chooser(driver, np.random.default_rng(seed))
    rounds = [digest((seen, actions)) for seen, actions in play(driver, seed, limit, choose)]
    return [*rounds, digest(getattr(getattr(env, "unwrapped", env), "trace_rows", []))]


def digest(value: Any) -> str:
    """Return a content hash of nested values; dtypes, shapes and the last bit of every float count."""
    state = hashlib.blake2b(digest_size=12)
    _feed(state, value)
    return state.hexdigest()


def _feed(state: hashlib.blake2b, value: Any) -> None:
    if isinstance(value, np.ndarray):
        state.update(f"array {value.dtype} {value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        state.update(f"mapping {len(value)}".encode())
        for key in sorted(value, key=str):
            _feed(state, (str(key), value[key]))
    elif isinstance(value, tuple | list):
        state.update(f"sequence {len(value)}".encode())
        for part in value:
            _feed(state, part)
    elif hasattr(value, "__dataclass_fields__"):
        _feed(state, [getattr(value, name) for name in value.__dataclass_fields__])
    else:
        state.update(f"{type(value).__name__} {value!r}\x1f".encode())


def _elsewhere(targets: Sequence[str], seed: int, limit: int, hash_seed: str) -> dict[str, list[str]]:
    path = os.pathsep.join(part for part in sys.path if part)
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
    command = [sys.executable, "-c", CHILD, str(seed), str(limit), *targets]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HarnessError(f"the process that plays {targets[0]} died: {done.stderr.strip()[-400:]}")
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def child() -> None:
    """Play in a process of its own: ``seed limit target ...`` are its arguments, a JSON object its answer."""
    seed, limit, *targets = sys.argv[1:]
    sys.stdout.write(json.dumps(play_targets(targets, int(seed), int(limit))) + "\n")
