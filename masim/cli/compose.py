"""From an experiment's name and ``key=value`` words to an :class:`~masim.study.experiment.Experiment`.

Hydra composes the files (``configs/experiment`` picks learner presets per arm); it is used as a library, makes no
folders and never builds objects: ``_target_`` and resolvers such as ``${oc.env:...}`` are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from masim.assets import find_asset, list_assets, search_roots
from masim.errors import ConfigError, did_you_mean
from masim.study.experiment import DEFAULT_BASELINES, Experiment

MAX_BYTES = 65_536
_PLAIN = re.compile(r"[A-Za-z_][\w.+-]*=")
_RESOLVER = re.compile(r"\$\{[^{}]*:")
_TYPES = {
    "scenario": str,
    "agent": str,
    "emptied": bool,
    "executor": str,
    "memory_store": str,
    "early_stop": dict,
    "curriculum": dict,
}


def compose_experiment(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the resolved plain values of an experiment, shared options merged into every arm.

    Raises ConfigError, on one line, for anything that does not compose.
    """
    file = experiment_file(name)
    values = _composed(file, [_override(word) for word in words])
    _refuse_code(values, str(file))
    common = values.pop("common", None) or {}
    arms = values.get("arms") or {}
    for key, value in (("common", common), ("arms", arms)):
        if not isinstance(value, dict):
            raise ConfigError(f"{key!r} is a mapping", str(file), repr(value))
    return {**values, "arms": {arm: {**common, **_options(file, arm, own)} for arm, own in arms.items()}}


def _options(file: Path, arm: str, own: Any) -> dict[str, Any]:
    if own is not None and not isinstance(own, dict):
        raise ConfigError("an arm is a mapping of learner options", f"{file}: arms.{arm}", repr(own))
    return own or {}


def experiment_file(name: str) -> Path:
    """Return the file of an experiment: a path, or the name of a file in ``configs/experiment``."""
    if name.endswith(".yaml"):
        file = Path(name)
        if not file.is_file():
            raise ConfigError("no such file", name, "", "", f"or one of the bundled: {', '.join(experiments())}")
    elif name in experiments():
        file = find_asset("configs", f"experiment/{name}")
    else:
        known = experiments()
        raise ConfigError(f"unknown experiment {name!r}", "", "", ", ".join(known), did_you_mean(name, known))
    if file.stat().st_size > MAX_BYTES:
        raise ConfigError("experiment file is too large", name, f"{file.stat().st_size} bytes", f"<= {MAX_BYTES}")
    return file


def experiments() -> list[str]:
    """Return the names of all experiments."""
    names = [name.partition("/") for name in list_assets("configs")]
    return sorted(name for group, _, name in names if group == "experiment")


def _override(word: str) -> str:
    """Let a plain ``key=value`` add or replace a value; Hydra's other forms pass as they are."""
    key = word.partition("=")[0]
    if key.lstrip("+~").split(".")[0].split("/")[0] == "hydra":
        raise ConfigError("options of Hydra itself cannot be set", "", word, "keys of the experiment")
    return f"++{word}" if _PLAIN.match(word) else word


def _composed(file: Path, words: list[str]) -> dict[str, Any]:
    import yaml
    from hydra import compose, initialize_config_dir
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    parser = OverridesParser.create()
    for word in words:
        try:
            parser.parse_override(word)
        except HydraException as error:
            raise ConfigError(f"not a change: {_first_lines(error)}", "", word.lstrip("+"), "KEY=VALUE") from error
    roots = ",".join(f"'file://{root.resolve()}'" for root in search_roots("configs"))
    try:
        with initialize_config_dir(str(file.parent.resolve()), version_base="1.3", job_name="masim"):
            made = compose(file.stem, [f"hydra.searchpath=[{roots}]", *words])
        raw = OmegaConf.to_container(made, resolve=False)
        _refuse_resolvers(raw, str(file))
        values = OmegaConf.to_container(made, resolve=True, throw_on_missing=True)
    except RecursionError as error:
        raise ConfigError("nested too deeply", str(file)) from error
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(_first_lines(error), str(file), "", "", "see `masim train --help`") from error
    if not isinstance(values, dict):
        raise ConfigError("an experiment is a mapping", str(file))
    return {str(key): value for key, value in values.items()}


def _first_lines(error: Exception) -> str:
    text = str(error).partition("Config search path")[0].partition("See https")[0]
    return " ".join(text.split())


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted path, value) of every leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")
    else:
        yield path, value


def _refuse_resolvers(raw: Any, file: str) -> None:
    for path, value in _leaves(raw):
        if isinstance(value, str) and _RESOLVER.search(value):
            raise ConfigError("resolvers are not evaluated", f"{file}: {path}", value, "plain values and ${other.key}")


def _refuse_code(values: Any, file: str) -> None:
    for path, _ in _leaves(values):
        special = [key for key in path.split(".") if key.startswith("_") and key.endswith("_")]
        if special:
            raise ConfigError(
                "objects cannot be built from configurations", f"{file}: {path}", special[0], "plain keys"
            )


def build_experiment(values: Mapping[str, Any], settings: Mapping[str, str], **given: Any) -> Experiment:
    """Return the experiment of resolved values; ``given`` replaces what is not None, ``settings`` change the scenario.

    Raises ConfigError for an unknown key, with the nearest known one, and for values of a wrong type.
    """
    known = [f.name for f in fields(Experiment)]
    merged = {**values, **{name: value for name, value in given.items() if value is not None}}
    for key in merged:
        if key not in known:
            raise ConfigError("unknown key of an experiment", key, "", ", ".join(known), did_you_mean(key, known))
    if "scenario" not in merged or "episodes" not in merged:
        raise ConfigError(
            "an experiment names its scenario and its episodes", "", ", ".join(merged), "scenario, episodes"
        )
    for key, kind in _TYPES.items():
        if key in merged and not isinstance(merged[key], kind):
            raise ConfigError("wrong type", key, repr(merged[key]), kind.__name__)
    merged["baselines"] = _names(merged.get("baselines"))
    changes = {path: json.dumps(value) for path, value in _leaves(merged.get("overrides") or {}) if path}
    merged["overrides"] = {**changes, **settings}
    return Experiment(**merged)


def _names(value: Any) -> tuple[str, ...]:
    if value is None:
        return DEFAULT_BASELINES
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ConfigError("wrong type", "baselines", repr(value), "a list of agent cards")
    return tuple(value)
