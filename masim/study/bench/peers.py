"""The peers: the same jobs written the ordinary way. They are in ``benchmarks/`` of a checkout, not in the wheel."""

from __future__ import annotations

import gc
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

from masim.assets import asset_root
from masim.errors import ConfigError
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance, WorldSpec
from masim.study.bench.drive import Played
from masim.study.bench.load import Load


def load_peer(name: str, folder: Path | None = None) -> ModuleType:
    """Import ``<name>.py`` of the peers' folder, by default ``benchmarks/`` beside the bundled scenarios.

    Raises ConfigError where there is none.
    """
    home = folder or asset_root() / "benchmarks"
    file = home / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"masim_{name}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        problem = f"there is no {file.name}; an installed masim comes without the benchmarks' peers"
        fix = "name the folder `benchmarks` of a checkout with --peers"
        raise ConfigError(problem, "--peers", str(home), "", fix)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def play_peer(peer: ModuleType, spec: WorldSpec, seed: int, trace: bool) -> Played:
    """Play one day in the peer's world; its events are not counted, since a process makes more of them for less."""
    began = time.process_time()
    plan = draw_plan(spec, Instance(seed, 0))
    load = list(Load(spec, plan))
    world = peer.PeerWorld(spec, plan, trace)
    gc.collect()
    ready = time.process_time()
    world.play(iter(load))
    world.outcomes()
    seconds = time.process_time() - ready
    return Played(world.calls, 0, len(world.log or ()), seconds, ready - began)
