"""``export_minari``: a recording as Minari datasets, one per agent.

Minari knows one agent per dataset. What an agent decides is an episode of its own here: from decision to decision,
with the rewards that landed in between, and with the simulated times in the infos, for a discount over time.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from gymnasium import spaces

from masim.errors import RunError, missing_extra
from masim.rollout.recording.read import Recording, read_recording

FORMAT = "arrow"
"""Of Minari's formats the one that needs nothing that masim does not have."""


def export_minari(recording: Recording | str | Path, namespace: str = "", version: int = 0, **about: Any) -> list[str]:
    """Write one Minari dataset per agent and return their ids, ``<namespace>/<agent>-v<version>``.

    The namespace is ``masim/<family>/<name>-vN`` by default. Minari decides where datasets live
    (``MINARI_DATASETS_PATH``). ``about`` goes to Minari: ``author``, ``algorithm_name``, ``description`` and so on.

    Raises MissingExtraError without Minari; RunError for a recording without decisions, and when a dataset exists.
    """
    try:
        import minari
    except ImportError as error:
        raise missing_extra("minari", "minari") from error
    taken = recording if isinstance(recording, Recording) else read_recording(recording)
    home = namespace or "masim/" + re.sub(r"[^\w/-]", "-", taken.env.replace(".", "/"))
    found = {f"{home}/{agent}-v{version}": list(_episodes(taken, agent)) for agent in taken.agents}
    datasets = {name: episodes for name, episodes in found.items() if episodes}
    if not datasets:
        raise RunError("the recording holds no decisions", str(taken.path), "", "", "play before you close it")
    known = set(minari.list_local_datasets())
    for name in datasets:
        if name in known:
            fix = "give another `version` or `namespace`"
            raise RunError("there is a Minari dataset of this name", name, "", "", fix)
    for (name, episodes), agent in zip(datasets.items(), _agents(taken), strict=True):
        _create(name, episodes, taken.agents[agent], {"description": _text(taken, agent), **about})
    return list(datasets)


def _agents(recording: Recording) -> list[str]:
    """Return the agents that decided anything, in the order in which they were announced."""
    decided = recording.table.filter(pc.greater_equal(recording.table["decision"], 0))
    present = set(pc.unique(decided["agent"]).to_pylist())
    return [agent for agent in recording.agents if agent in present]


def _text(recording: Recording, agent: str) -> str:
    return f"Decisions of {agent} in {recording.env}, recorded by masim {recording.versions.get('masim', '')}."


def _create(name: str, episodes: list[dict[str, Any]], about: Any, texts: dict[str, Any]) -> None:
    import minari
    from minari.data_collector import EpisodeBuffer

    observation, action = spaces_of(about)
    with warnings.catch_warnings():
        # Minari recommends every text about a dataset that is left out, one warning each.
        warnings.simplefilter("ignore", UserWarning)
        minari.create_dataset_from_buffers(
            name,
            [EpisodeBuffer(**episode) for episode in episodes],
            observation_space=observation,
            action_space=action,
            data_format=FORMAT,
            **texts,
        )


def spaces_of(about: Any) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Return (observation space, action space) of an agent as it was recorded."""
    box = spaces.Box(about["low"], about["high"], tuple(about["shape"]), np.float32)
    several = isinstance(about["actions"], list)
    action = spaces.MultiDiscrete(about["actions"]) if several else spaces.Discrete(about["actions"])
    if not about["mask_in_observation"]:
        return box, action
    mask = spaces.MultiBinary(int(np.sum(about["actions"])))
    return spaces.Dict({"observation": box, "action_mask": mask}), action


def _episodes(recording: Recording, agent: str) -> Iterator[dict[str, Any]]:
    """Yield what Minari's buffers take, one per episode: N decisions, N + 1 observations and infos."""
    decided = pc.greater_equal(recording.table["decision"], 0)
    own = recording.table.filter(pc.and_(pc.equal(recording.table["agent"], agent), decided))
    about = recording.agents[agent]
    for episode in pc.unique(own["episode"]).to_pylist():
        rows = own.filter(pc.equal(own["episode"], episode)).sort_by("decision")
        yield {
            "seed": rows["seed"][0].as_py(),
            "observations": _observations(rows, about),
            "actions": np.array(rows["action"].to_pylist(), dtype=np.int64),
            "rewards": rows["reward"].to_numpy(),
            "terminations": rows["terminated"].to_numpy(),
            "truncations": rows["truncated"].to_numpy(),
            "infos": _infos(rows, recording.parts),
        }


def _observations(rows: pa.Table, about: Any) -> Any:
    features = _stack(rows, "observation", np.float32).reshape(-1, *about["shape"])
    if not about["mask_in_observation"]:
        return features
    return {"observation": features, "action_mask": _stack(rows, "mask", np.int8)}


def _stack(rows: pa.Table, column: str, dtype: Any) -> Any:
    """Return a column's arrays and the one of the end. Where that is missing (aborted) the last one stands for it."""
    values = rows[column].to_pylist()
    final = rows[f"final_{column}"][-1].as_py()
    return np.array([*values, values[-1] if final is None else final], dtype=dtype)


def _infos(rows: pa.Table, parts: tuple[str, ...]) -> dict[str, list[float]]:
    """Return time, discount and parts of the reward: entry i + 1 belongs to what followed decision i, as in Gymnasium.

    They are lists: Minari 0.5 writes one-dimensional arrays that it cannot read back.
    """
    times = [*rows["t_s"].to_pylist(), rows["next_t_s"][-1].as_py()]
    infos = {"t_s": [math.nan if t is None else t for t in times]}
    infos["discount"] = [1.0, *rows["discount"].to_pylist()]
    return infos | {part: [0.0, *rows[part].to_pylist()] for part in parts}
