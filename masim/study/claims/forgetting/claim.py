"""The claim: an agent that forgets well converges early and follows a changing world; one that never forgets does not.

Memory is the only learner here. A scripted workflow sends every order by the carrier that its memory thinks best, and
a few by one that is drawn; no weights are trained. So whatever differs between two arms is what their memories keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from masim.errors import ScenarioError
from masim.scenario.load import load_scenario
from masim.scenario.nodes import Node
from masim.study.claims.base import Cell, Endpoint, Measure
from masim.study.claims.forgetting.curves import collapse, first_reached, recoveries, trailing
from masim.study.claims.forgetting.play import play
from masim.study.claims.forgetting.settings import Budget, check_arm, check_budget
from masim.study.claims.protocol import ProtocolDoc

DRIFTING = ("drifting",)
ENDPOINTS = (
    Endpoint("evaluation", "value", "completion in the evaluations from judged_from on, memory frozen, no exploration"),
    Endpoint("campaign", "value", "completion of the campaign's own orders from judged_from on, exploration included"),
    Endpoint("last", "value", "completion in the last evaluation"),
    Endpoint("learned", "time", "episodes until completion first averages the threshold over a window"),
    Endpoint("recovery", "value", "episodes from a change to the threshold again, or to the next change", DRIFTING),
    Endpoint("recovered", "value", "share of the changes after which the threshold was reached again", DRIFTING),
    Endpoint("collapsed", "rate", "whether an evaluation fell below the best one before by the drop or more"),
    Endpoint("collapse", "time", "episode of that evaluation"),
    Endpoint("stale", "value", "share of trucks from the carrier that was the best until the last change", DRIFTING),
    Endpoint("edges", "value", "edges of the memory, mean over the second half of the campaign"),
    Endpoint("forgotten", "value", "edges that left the memory per episode"),
    Endpoint("top5", "value", "yesterday's successful paths among the five best items in the morning"),
    Endpoint("card", "value", "yesterday's successful paths on the card in the morning"),
)  # fmt: skip


class ForgettingClaim:
    """See :class:`masim.study.claims.base.Claim`."""

    endpoints = ENDPOINTS

    def check(self, doc: ProtocolDoc, node: Node) -> None:
        """Raise ScenarioError for a budget, an arm, an endpoint or a world that is not possible."""
        budget = check_budget(node.find("budget"))
        if "quick" in node.items():
            check_budget(node.find("budget"), node.find("quick"))
        for name in doc.arms:
            settings = node.find("arms", name).child("settings")
            if settings is not None:
                check_arm(settings)
        names = [endpoint.name for endpoint in ENDPOINTS]
        for section in ("hypotheses", "contrasts"):
            for entry in node.find(section).elements():
                asked = entry.find("endpoint")
                if asked.value not in names:
                    raise ScenarioError("unknown endpoint", asked.where, str(asked.value), ", ".join(names))
        for name, scenario in doc.worlds.items():
            drift = load_scenario(scenario).spec.hidden.drift
            if (name in DRIFTING) != (drift is not None and drift.every_days < budget.episodes):
                where = node.find("worlds", name).where
                problem = "the world `drifting` changes within the campaign, and no other one does"
                raise ScenarioError(problem, where, scenario)

    def play(self, cell: Cell) -> dict[str, Any]:
        """Play one campaign."""
        return play(cell)

    def measures(self, cell: Cell, played: Mapping[str, Any]) -> list[Measure]:
        """Return what is read off one campaign."""
        head = (cell.arm, cell.world, cell.seed)
        return [Measure(name, *head, float(v), happened) for name, v, happened in _answers(cell, played)]

    def extras(self, cells: Sequence[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
        """Return the curves: mean and quartiles over seeds of windowed completion, edges and evaluations."""
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for cell, played in cells:
            groups.setdefault((cell.world, cell.arm), []).append(played)
        budget = Budget(**cells[0][0].budget)
        changes = {cell.world: played["changes"] for cell, played in cells}
        return {"changes": changes, "curves": [_curve(*key, runs, budget.window) for key, runs in groups.items()]}

    def draw(self, results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
        """Draw the figures."""
        from masim.study.claims.forgetting.figures import draw

        return draw(results, extras, folder)


FORGETTING = ForgettingClaim()


def _answers(cell: Cell, played: Mapping[str, Any]) -> Iterator[tuple[str, float, bool]]:
    budget = Budget(**cell.budget)
    changes, n = played["changes"], len(played["completed"])
    share = np.array(played["completed"], float) / played["orders"]
    since = budget.judged_from
    checks = [(int(day), float(value)) for day, value in played["checks"]]
    later = [value for day, value in checks if day >= since] or [value for _, value in checks]
    yield "evaluation", float(np.mean(later)), True
    yield "campaign", float(share[since:].mean()), True
    yield "last", checks[-1][1], True
    yield ("learned", *first_reached(share, budget.window, budget.threshold))
    day, fell = collapse(checks, budget.drop)
    yield "collapsed", float(fell), True
    yield "collapse", day, fell
    if changes:
        found = recoveries(share, changes, budget.recovery_window, budget.threshold)
        yield "recovery", float(np.mean([episodes for episodes, _ in found])), True
        yield "recovered", float(np.mean([reached for _, reached in found])), True
        yield "stale", sum(played["stale"][changes[0] :]) / max(1, sum(played["trucks"][changes[0] :])), True
    yield "edges", float(np.mean(played["edges"][n // 2 :])), True
    yield "forgotten", float(np.mean(played["forgotten"])), True
    asked = sum(probe[1] for probe in played["probes"])
    for name, place in (("top5", 2), ("card", 3)):
        yield name, sum(probe[place] for probe in played["probes"]) / max(1, asked), True


def _curve(world: str, arm: str, runs: Sequence[Mapping[str, Any]], window: int) -> dict[str, Any]:
    share_SE = np.array([trailing(np.array(run["completed"], float) / run["orders"], window) for run in runs])
    checks_SE = np.array([[value for _, value in run["checks"]] for run in runs])
    step = slice(0, None, max(1, window // 4))
    return {
        "world": world,
        "arm": arm,
        "episodes": [int(day) + window for day in range(share_SE.shape[1])][step],
        "completion": _rounded(share_SE.mean(0)[step]),
        "low": _rounded(np.quantile(share_SE, 0.25, axis=0)[step]),
        "high": _rounded(np.quantile(share_SE, 0.75, axis=0)[step]),
        "checks": [int(day) for day, _ in runs[0]["checks"]],
        "evaluation": _rounded(checks_SE.mean(0)),
        "edges": _rounded(np.mean([run["edges"] for run in runs], axis=0)[step]),
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 4) for value in values]
