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
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from masim.errors import ConfigError, HarnessError
from masim.testing.drive import drive, legal_chooser, play
from masim.testing.problems import ConformanceError

HASH_SEEDS = ("0", "1")
CHILD = "from masim.testing.determinism import child; child()"


def check_determinism(target: str, seed: int = 0, limit: int = 5_000) -> str:
    """Play one episode twice here and once in each of two processes; return its digest.

    ``target`` names a scenario (played through the Parallel adapter, trace included) or, as ``module:function``, what
    builds the environment. Raises :class:`masim.testing.problems.ConformanceError` where two plays part, and
    HarnessError when a process dies.
    """
    here = episode_digests(build(target), seed, limit)
    plays = {"a second play in this process": episode_digests(build(target), seed, limit)}
    for hash_seed in HASH_SEEDS:
        plays[f"a process with PYTHONHASHSEED={hash_seed}"] = _elsewhere(target, seed, limit, hash_seed)
    problems = tuple(text for name, other in plays.items() for text in _parting(name, here, other))
    if problems:
        raise ConformanceError(problems)
    return digest(here)


def _parting(name: str, here: list[str], other: list[str]) -> Iterable[str]:
    if here != other:
        same = (i for i, pair in enumerate(zip(here, other, strict=False)) if pair[0] != pair[1])
        at = next(same, min(len(here), len(other)))
        yield f"{name} parts from the first play at round {at} of {len(here)}"


def build(target: str) -> Any:
    """Return the environment that a target names. Raises ConfigError when ``module:function`` leads nowhere."""
    module, colon, function = target.partition(":")
    if not colon:
        from masim.env.make import parallel_env

        return parallel_env(target, trace=True)
    try:
        return getattr(import_module(module), function)()
    except (ImportError, AttributeError) as error:
        raise ConfigError(str(error), "target", target, "a scenario, or module:function") from error


def episode_digests(env: Any, seed: int = 0, limit: int = 5_000) -> list[str]:
    """Play an episode with random legal actions; return one digest per round, and one of the trace."""
    driver = drive(env)
    agent = driver.reset(seed)[0].agent
    choose = legal_chooser(np.random.default_rng(seed), int(getattr(driver.spaces(agent)[1], "n", 1)))
    rounds = [digest((seen, actions)) for seen, actions in play(driver, seed, limit, choose)]
    return [*rounds, digest(getattr(env, "trace_rows", []))]


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


def _elsewhere(target: str, seed: int, limit: int, hash_seed: str) -> list[str]:
    path = os.pathsep.join(part for part in sys.path if part)
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
    command = [sys.executable, "-c", CHILD, target, str(seed), str(limit)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HarnessError(f"the process that plays {target} died: {done.stderr.strip()[-400:]}")
    return list(map(str, json.loads(done.stdout.splitlines()[-1])))


def child() -> None:
    """Play in a process of its own: ``target seed limit`` are its arguments, a JSON list its answer."""
    target, seed, limit = sys.argv[1:4]
    sys.stdout.write(json.dumps(episode_digests(build(target), int(seed), int(limit))) + "\n")
