"""One campaign of one arm: day after day with a memory, evaluations of it in between, probes of what it recalls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.memory.forget.base import Truth
from masim.memory.graph import Edge, name_of, node
from masim.memory.render import quoted
from masim.memory.views.evidence import CARRIED
from masim.policy.habits import Habits
from masim.policy.workflow import WorkflowPolicy
from masim.rollout.group import GroupTask, Rollout, close_day, play_group
from masim.scenario.load import load_scenario
from masim.sim.plan import draw_hidden, draw_plan
from masim.sim.spec import Instance, WorldSpec
from masim.study.claims.base import CPU_S, Cell
from masim.study.claims.forgetting.curves import changes_of
from masim.study.claims.forgetting.players import KnowingPolicy, Watched
from masim.study.claims.forgetting.settings import Arm, Budget
from masim.units import DAY

CAMPAIGNS_FROM = 950_000
"""Campaign seeds of this claim: apart from those of training and evaluation, and from those it was calibrated with."""
RECALLED = 5
"""Best items among which yesterday's success should be."""
Shares = Callable[[int], dict[str, float]]
"""Day -> each carrier's true share on time."""


@dataclass(slots=True)
class Played:
    """What came of a campaign, one entry per day; JSON's own types alone."""

    orders: int
    changes: list[int]
    completed: list[int] = field(default_factory=list)
    trucks: list[int] = field(default_factory=list)
    stale: list[int] = field(default_factory=list)
    """Trucks ordered from the carrier that was the best one until the last change, and is not any more."""
    edges: list[int] = field(default_factory=list)
    """Edges of the memories after the day."""
    forgotten: list[int] = field(default_factory=list)
    checks: list[tuple[int, float]] = field(default_factory=list)
    """(day, completion) of the evaluations."""
    probes: list[tuple[int, int, int, int]] = field(default_factory=list)
    """(day, paths of yesterday's successes, of them in the top 5, on the card)."""


def play(cell: Cell) -> dict[str, Any]:
    """Play one cell."""
    budget, arm = Budget(**cell.budget), Arm.of(cell.settings)
    return _Campaign(world_of(cell, budget), budget, arm, CAMPAIGNS_FROM + cell.seed).play()


def world_of(cell: Cell, budget: Budget) -> WorldSpec:
    """Return the cell's world, as long as the budget says and changing as often."""
    spec = replace(load_scenario(cell.scenario).spec, campaign_days=budget.episodes)
    if spec.hidden.drift is None or not budget.change_every:
        return spec
    drift = replace(spec.hidden.drift, every_days=budget.change_every)
    return replace(spec, hidden=replace(spec.hidden, drift=drift))


class _Campaign:
    def __init__(self, spec: WorldSpec, budget: Budget, arm: Arm, seed: int) -> None:
        self._spec, self._budget, self._arm, self._seed = spec, budget, arm, seed
        self._shares: Shares = lru_cache(maxsize=None)(lambda day: draw_hidden(spec, seed, day).on_time_p)
        self._changes = changes_of(spec, budget.episodes)
        self._book = self._empty()
        self._table = ActionTable(spec)
        self._policy = Watched(self._acting(budget.explore))
        self._short = replace(spec, orders=replace(spec.orders, per_agent=1))
        self._short_table = ActionTable(self._short)
        self._cpu_s = {"days": 0.0, "nights": 0.0}
        self._played = Played(spec.orders.per_agent * len(spec.agents), self._changes)

    def play(self) -> dict[str, Any]:
        """Play all days."""
        played, budget = self._played, self._budget
        checks = set(budget.checks)
        for day in range(budget.episodes):
            if day in checks:
                played.checks.append((day, self._evaluated(day)))
            began = time.process_time()
            rollout = self._day(day)
            self._cpu_s["days"] += time.process_time() - began
            if day % budget.probe_every == budget.probe_every - 1:
                played.probes.append((day, *self._probed(rollout)))
        names = ("orders", "changes", "completed", "trucks", "stale", "edges", "forgotten", "checks", "probes")
        return {**{name: getattr(played, name) for name in names}, CPU_S: self._cpu_s}

    def _acting(self, explore: float) -> WorkflowPolicy:
        kind = KnowingPolicy if self._arm.actor == "knowing" else WorkflowPolicy
        return kind(self._arm.actor, Habits(explore=explore))

    def _empty(self) -> MemoryBook:
        memory = self._arm.memory
        truth = self._truth() if memory.policy == "oracle" else None
        return MemoryBook(self._spec.agents, memory, truth=truth)

    def _truth(self) -> Truth:
        """Return what knows whether a delivery still says something about its carrier: it has not changed since."""

        def holds(edge: Edge, now_s: float) -> bool:
            if edge.rel != CARRIED:
                return True
            carrier = name_of(edge.src)
            return self._shares(int(edge.last_s // DAY))[carrier] == self._shares(int(now_s // DAY))[carrier]

        return holds

    def _day(self, day: int) -> Rollout:
        """Play one day and remember it."""
        task = GroupTask(self._spec, Instance(self._seed, day, "train"), 1, 0, self._seed)
        self._policy.sent.clear()
        rollout = play_group(task, self._policy, self._book, self._table)[0]
        self._remember(rollout)
        played, gone = self._played, self._stale(day)
        played.completed.append(sum(order.completed for order in rollout.orders))
        played.trucks.append(len(self._policy.sent))
        played.stale.append(sum(carrier == gone for _, carrier in self._policy.sent))
        played.edges.append(sum(1 for memory in rollout.memories.values() for _ in memory.graph))
        played.forgotten.append(sum(len(memory.forget_log()) for memory in rollout.memories.values()))
        return rollout

    def _remember(self, rollout: Rollout) -> None:
        """Book the outcomes, forget, and make it the next version."""
        began = time.process_time()
        for agent, value in rollout.outcomes.items():
            rollout.memories[agent].feedback(value, rollout.episode.sim_end_s)
        close_day(rollout)
        if self._arm.keep:
            self._book.commit(rollout.memories)
        self._cpu_s["nights"] += time.process_time() - began

    def _stale(self, day: int) -> str:
        """Return the carrier that was the best one until the last change, if it is not any more."""
        last = max((change for change in self._changes if change <= day), default=0)
        if not last:
            return ""
        before, now = self._shares(last - 1), self._shares(day)
        best = max(before, key=lambda name: before[name])
        return best if now[best] < max(now.values()) else ""

    def _evaluated(self, day: int) -> float:
        """Return the completion of one-order days of this date with the memory as it is; nothing is remembered."""
        policy, n = self._acting(0.0), self._budget.check_episodes
        done = total = 0
        for i in range(n):
            task = GroupTask(self._short, Instance(self._seed, day, f"eval/{i}"), 1, 0, self._seed)
            rollout = play_group(task, policy, self._book, self._short_table)[0]
            done += sum(order.completed for order in rollout.orders)
            total += len(rollout.orders)
        return done / total

    def _probed(self, rollout: Rollout) -> tuple[int, int, int]:
        """Look, in the next morning and before anything happens, for the paths of yesterday's successes."""
        now_s = (rollout.instance.day + 1) * DAY + self._spec.day_start_s
        shippers = {order.id: order.shipper for order in draw_plan(self._spec, rollout.instance).orders}
        owner = {order.order: order.agent for order in rollout.orders if order.completed}
        paths = {(owner[o], node("user", shippers[o]), node("vendor", c)) for o, c in self._policy.sent if o in owner}
        top = card = 0
        for agent, user, vendor in paths:
            memory = self._book.overlay(agent, now_s)
            top += vendor in memory.recalled([user], RECALLED, now_s)
            card += quoted(vendor) in memory.card([user], now_s)
        return len(paths), top, card
