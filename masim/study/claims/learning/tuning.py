"""Which entry of an arm's grid it trains with: the one that does best on a seed that no result comes from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

Score = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Any]
"""``score(world, learner, budget)``: how well a trial does; a module's own function, of its arguments alone."""


def best_trial(score: Score, world: str, settings: Mapping[str, Any], budget: Mapping[str, Any]) -> dict[str, Any]:
    """Return the best entry of ``settings["grid"]``, the first of equals; worked out once per process."""
    return dict(_best(score, world, json.dumps(settings, sort_keys=True), json.dumps(budget, sort_keys=True)))


@lru_cache(maxsize=256)
def _best(score: Score, world: str, settings: str, budget: str) -> Mapping[str, Any]:
    arm, limits = json.loads(settings), json.loads(budget)
    grid = arm.get("grid", [{}])
    if len(grid) == 1:
        return dict(grid[0])
    scores = [score(world, {**arm.get("learner", {}), **trial}, limits) for trial in grid]
    return dict(grid[max(range(len(grid)), key=lambda i: (scores[i], -i))])
