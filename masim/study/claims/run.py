"""Plays a claim's cells into a run folder, once each, and judges them when all are there.

Every finished cell is a file of its own, written before it is reported; a run that was stopped or killed goes on with
what is missing. ``results.json`` is made of these files in the order of the protocol, so neither the number of workers
nor an interruption changes a byte of it. What depends on the machine (times) is kept apart in ``costs.json``.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from masim.assets import asset_root
from masim.errors import ConfigError, RunError
from masim.micro.registry import PREFIX, digest_of, read_game
from masim.rollout.executors import check_workers, run_jobs
from masim.rollout.io import RunFolder, new_folder, write_atomically
from masim.scenario.load import load_scenario
from masim.study.claims.base import CPU_S, Cell, Claim, Measure
from masim.study.claims.judge import SUPPORTED, judge
from masim.study.claims.protocol import ProtocolDoc, load_protocol
from masim.study.claims.registry import find_claim
from masim.study.claims.tables import markdown
from masim.study.runs import Interrupted, Progress, silent

CELLS = "cells"
RESULTS, CURVES, MEASURES, TABLES = "results.json", "curves.json", "measures.csv", "tables.md"
COSTS = "costs.json"
MAX_SEEDS = 1000
QUICK_SEEDS = 2


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """How to run a claim."""

    quick: bool = False
    """Few seeds and a small budget: shows that it works, and judges nothing."""
    seeds: int | None = None
    workers: int = 1
    executor: str = "processes"
    out: Path | None = None
    command: str = ""

    def __post_init__(self) -> None:
        check_workers(self.workers)
        if self.seeds is not None and not 1 <= self.seeds <= MAX_SEEDS:
            raise ConfigError("impossible number of seeds", "--seeds", str(self.seeds), f"1 to {MAX_SEEDS}")


@dataclass(frozen=True, slots=True)
class Plan:
    """A claim with everything decided."""

    name: str
    claim: Claim
    doc: ProtocolDoc
    quick: bool
    seeds: int

    def cells(self) -> list[Cell]:
        """Return the cells seed by seed, so that all arms advance alike; ``settings: {seeds: n}`` is content with n."""
        doc = self.doc
        budget = {**doc.budget, **(doc.quick if self.quick else {})}
        first = doc.seeds.first
        return [
            Cell(self.name, arm, world, seed, dict(settings.settings), scenario, budget)
            for seed in range(first, first + self.seeds)
            for world, scenario in doc.worlds.items()
            for arm, settings in doc.arms.items()
            if seed - first < settings.settings.get("seeds", self.seeds)
        ]

    def config(self) -> dict[str, Any]:
        """Return what a run folder says of the plan."""
        scenarios = {name: world_hash(scenario) for name, scenario in self.doc.worlds.items()}
        return {
            "claim": self.name,
            "protocol": self.doc.digest(),
            "scenarios": scenarios,
            "quick": self.quick,
            "seeds": self.seeds,
        }


def world_hash(world: str) -> str:
    """Return the content hash of a scenario, or of a micro-scenario with its options."""
    if world.startswith(PREFIX):
        return digest_of(read_game(world))
    return load_scenario(world).hash


def plan_of(name: str, quick: bool = False, seeds: int | None = None) -> Plan:
    """Return a checked plan. Raises ConfigError for an unknown claim, ScenarioError for a bad protocol."""
    claim = find_claim(name)
    doc, node = load_protocol(name)
    claim.check(doc, node)
    return Plan(name, claim, doc, quick, seeds or (QUICK_SEEDS if quick else doc.seeds.count))


def run_claim(name: str, options: ClaimOptions, progress: Progress = silent) -> Path:
    """Play and judge a claim in a new folder. At Ctrl-C :class:`Interrupted`; :func:`resume_claim` goes on."""
    plan = plan_of(name, options.quick, options.seeds)
    folder = new_folder("claims", name, options.out)
    return _work(plan, folder, options.workers, options.executor, options.command, progress)


def resume_claim(folder: Path, workers: int, executor: str = "processes", progress: Progress = silent) -> Path:
    """Go on with a run that was stopped or killed. Raises RunError when it is none, or the protocol has changed."""
    head = read_head(folder)
    config = head["config"]
    plan = plan_of(config["claim"], config["quick"], config["seeds"])
    if plan.config() != config:
        problem, fix = "the protocol or a scenario has changed since this run", "restore them, or start a new run"
        raise RunError(problem, str(folder), plan.doc.digest(), str(config["protocol"]), fix)
    return _work(plan, folder, workers, executor, str(head.get("command", "")), progress)


def read_head(folder: Path) -> dict[str, Any]:
    """Return what ``run.json`` of a claim's run says. Raises RunError where there is none."""
    try:
        head = json.loads((folder / "run.json").read_text("utf-8"))
        found = head["kind"] == "claims" and {"claim", "protocol", "quick", "seeds"} <= head["config"].keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        found = False
    if not found:
        raise RunError("this is no run of a claim", str(folder), "", "", "start one: masim claims NAME")
    return head  # type: ignore[no-any-return]


def _work(plan: Plan, folder: Path, workers: int, executor: str, command: str, progress: Progress) -> Path:
    head = {"kind": "claims", "scenario": ", ".join(plan.doc.worlds.values()), "title": plan.doc.title,
            "seed": plan.doc.seeds.first, "command": command, "config": plan.config(), "commit": commit()}  # fmt: skip
    try:
        with RunFolder(folder, head):
            _play_missing(plan, folder, workers, executor, progress)
            cells = [(cell, _read(folder, cell)) for cell in plan.cells()]
            results = results_of(plan, cells)
            extras, measures = results.pop("extras"), results.pop("measures")
            _write(folder / RESULTS, results)
            write_atomically(folder / CURVES, json.dumps(extras, allow_nan=False).encode() + b"\n")
            write_atomically(folder / MEASURES, "".join(f"{line}\n" for line in measures).encode())
            write_atomically(folder / TABLES, markdown(results).encode())
            _write(folder / COSTS, {"cpu_s": costs(plan, folder)})
            plan.claim.draw(results, extras, folder)
    except KeyboardInterrupt:
        raise Interrupted(folder) from None
    return folder


def _play_missing(plan: Plan, folder: Path, workers: int, executor: str, progress: Progress) -> None:
    (folder / CELLS).mkdir(exist_ok=True)
    cells = plan.cells()
    missing = [cell for cell in cells if not cell_file(folder, cell).is_file()]
    done = len(cells) - len(missing)
    progress("cells", done, len(cells))
    for _ in run_jobs(partial(play_into, folder), missing, workers, executor):
        done += 1
        progress("cells", done, len(cells))


def cell_file(folder: Path, cell: Cell) -> Path:
    """Return the file of a cell."""
    return folder / CELLS / f"{cell.name}.json"


def play_into(folder: Path, cell: Cell) -> str:
    """Play one cell and write its file; the unit of work of every executor."""
    began = time.process_time()
    played = find_claim(cell.claim).play(cell)
    spent = {"cell": time.process_time() - began, **played.pop(CPU_S, {})}
    _write(cell_file(folder, cell).with_suffix(".cpu"), {name: round(value, 3) for name, value in spent.items()})
    _write(cell_file(folder, cell), played)
    return cell.name


def results_of(plan: Plan, cells: Sequence[tuple[Cell, dict[str, Any]]]) -> dict[str, Any]:
    """Return everything that a claim's run found, as plain values."""
    claim = plan.claim
    measures: list[Measure] = [measure for cell, played in cells for measure in claim.measures(cell, played)]
    names = ("claim", "title", "says", "decided", "worlds", "budget", "seeds", "arms")
    about = plan.doc.model_dump(mode="json", include=set(names))
    return {
        **about,
        "quick": plan.quick,
        "protocol": plan.doc.digest(),
        "seeds": {"first": plan.doc.seeds.first, "count": plan.seeds},
        "budget": dict(plan.cells()[0].budget),
        **judge(plan.doc, claim.endpoints, measures),
        "endpoints": [asdict(endpoint) for endpoint in claim.endpoints],
        "extras": claim.extras(cells),
        "measures": ["endpoint,world,seed,value,happened,arm", *map(_line, measures)],
    }


def _line(measure: Measure) -> str:
    """Return a measure as a line of CSV."""
    arm = f'"{measure.arm}"' if "," in measure.arm else measure.arm
    head = f"{measure.endpoint},{measure.world},{measure.seed}"
    return f"{head},{round(measure.value, 6):g},{str(measure.happened).lower()},{arm}"


def costs(plan: Plan, folder: Path) -> dict[str, dict[str, float]]:
    """Return the mean processor seconds of a cell and of its parts, by arm and world."""
    found: dict[str, list[dict[str, float]]] = {}
    for cell in plan.cells():
        spent = json.loads(cell_file(folder, cell).with_suffix(".cpu").read_text("utf-8"))
        found.setdefault(f"{cell.arm}, {cell.world}", []).append(spent)
    return {
        name: {part: round(sum(spent[part] for spent in rows) / len(rows), 3) for part in rows[0]}
        for name, rows in found.items()
    }


def passed(results: dict[str, Any]) -> bool:
    """Return whether every hypothesis is supported; a quick run judges nothing and passes."""
    return bool(results["quick"]) or all(row["verdict"] == SUPPORTED for row in results["hypotheses"])


def read_results(folder: Path) -> dict[str, Any]:
    """Return the results of a finished run. Raises RunError where there are none yet."""
    read_head(folder)
    try:
        return json.loads((folder / RESULTS).read_text("utf-8"))  # type: ignore[no-any-return]
    except (OSError, ValueError):
        fix = f"go on with: masim claims --resume {folder}"
        raise RunError("this run has no results yet", str(folder), "", "", fix) from None


def _read(folder: Path, cell: Cell) -> dict[str, Any]:
    return json.loads(cell_file(folder, cell).read_text("utf-8"))  # type: ignore[no-any-return]


def _write(file: Path, value: Any) -> None:
    write_atomically(file, json.dumps(value, indent=1, allow_nan=False).encode() + b"\n")


def commit() -> str:
    """Return the commit of the checkout that this is, with ``+`` when files differ from it; empty outside of one."""
    root = asset_root()
    if not (root / ".git").exists():
        return ""
    lines = list(_git(root, "rev-parse", "HEAD")) + ["+" for _ in _git(root, "status", "--porcelain", "-uno")][:1]
    return "".join(lines)


def _git(root: Path, *words: str) -> Iterator[str]:
    try:
        said = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return
    yield from said.stdout.split("\n")[:-1] if said.returncode == 0 else ()
