"""The estimators once more, as plain loops over rows and dictionaries; slow, and written from the formulas alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from statistics import fmean

import numpy as np

from masim.rollout.types import StepTable

Cell = Hashable


class Reference:
    """All quantities of one table under one unit rule and one comparison key (names of row columns)."""

    def __init__(self, table: StepTable, unit: str = "rollout", compare: tuple[str, ...] = ("group_id", "agent"),
                 segment_len: int = 3, returns: str = "to_go") -> None:  # fmt: skip
        self.table, self.unit, self.compare = table, unit, compare
        self.n = len(table.turn)
        harness = {table.rollout_id[r] for r in range(self.n) if table.masked[r]}
        self.live = [bool(table.valid[r]) and table.rollout_id[r] not in harness for r in range(self.n)]
        team = unit == "agent_set"
        self.sample = [(table.rollout_id[r], -1 if team else table.agent[r]) for r in range(self.n)]
        part = [table.turn[r] // segment_len if unit == "segment" else -1 for r in range(self.n)]
        self.score = [(self.sample[r], part[r]) for r in range(self.n)]
        self.key_of_sample = {self.sample[r]: self._key(r) for r in range(self.n)}
        self.key_of_score = {self.score[r]: (self._key(r), part[r]) for r in range(self.n)}
        self.out = self._outcomes()
        self.paid = {cell: self._paid(cell, returns) for cell in self.rows_of(self.score)}

    def _key(self, row: int) -> Cell:
        team = self.unit == "agent_set"
        return tuple(-1 if team and c != "group_id" else int(getattr(self.table, c)[row]) for c in self.compare)

    def rows_of(self, cells: list[Cell]) -> dict[Cell, list[int]]:
        """Return the live rows of each cell that has one, in turn order."""
        found: dict[Cell, list[int]] = defaultdict(list)
        for row in sorted(range(self.n), key=lambda r: self.table.turn[r]):
            if self.live[row]:
                found[cells[row]].append(row)
        return found

    def _outcomes(self) -> dict[Cell, float]:
        by_agent: dict[Cell, float] = defaultdict(float)
        for row in range(self.n):
            if self.live[row]:
                by_agent[(self.table.rollout_id[row], self.table.agent[row])] += float(self.table.r_out[row])
        if self.unit != "agent_set":
            return dict(by_agent)
        return {(r, -1): min(v for (rr, _), v in by_agent.items() if rr == r) for r, _ in by_agent}

    def _paid(self, cell: Cell, returns: str) -> float:
        sample, _ = cell
        if self.unit != "segment" or returns == "inherit":
            return self.out[sample]
        first = min(self.table.turn[r] for r in self.rows_of(self.score)[cell])
        rows = [r for r in self.rows_of(self.sample)[sample] if self.table.turn[r] >= first]
        if returns == "own":
            rows = [r for r in rows if self.score[r] == cell]
        return float(sum(self.table.r_out[r] for r in rows))

    def members(self, key_of: dict[Cell, Cell], value: dict[Cell, float]) -> dict[Cell, list[Cell]]:
        """Return the live cells of each comparison group."""
        found: dict[Cell, list[Cell]] = defaultdict(list)
        for cell in value:
            found[key_of[cell]].append(cell)
        return found

    def per_group(
        self, value: dict[Cell, float], key_of: dict[Cell, Cell], rule: Callable[[list[float]], list[float]]
    ) -> dict[Cell, float]:
        """Apply a rule to the values of each group of two or more; a lone cell gets 0."""
        result = {}
        for cells in self.members(key_of, value).values():
            given = [value[c] for c in cells]
            result.update(zip(cells, rule(given) if len(cells) > 1 else [0.0], strict=True))
        return result

    def spread(self, value: dict[Cell, float], cells: list[Cell]) -> np.ndarray:
        return np.array([value[cells[r]] if self.live[r] else 0.0 for r in range(self.n)])

    def grpo(self, ddof: int | None = 1, eps: float = 1e-6) -> np.ndarray:
        """``ddof=None``: no division."""

        def rule(values: list[float]) -> list[float]:
            scale = 1.0 if ddof is None else float(np.std(values, ddof=ddof)) + eps
            return [(v - fmean(values)) / scale for v in values]

        return self.spread(self.per_group(self.paid, self.key_of_score, rule), self.score)

    def rloo(self) -> np.ndarray:
        def rule(values: list[float]) -> list[float]:
            return [v - (sum(values) - v) / (len(values) - 1) for v in values]

        return self.spread(self.per_group(self.paid, self.key_of_score, rule), self.score)

    def returns_to_go(self, reward: np.ndarray, discount: Callable[[int, int], float]) -> np.ndarray:
        """``discount(row, later)`` weighs the reward of ``later`` at ``row``; rows not live get 0."""
        result = np.zeros(self.n)
        agents = [(self.table.rollout_id[r], self.table.agent[r]) for r in range(self.n)]
        for rows in self.rows_of(agents).values():
            for i, row in enumerate(rows):
                result[row] = sum(discount(i, j) * reward[rows[j]] for j in range(i, len(rows)))
        return result

    def coverage(self) -> dict[Cell, float]:
        """First visits per decision of each score."""
        agents = [(self.table.rollout_id[r], self.table.agent[r]) for r in range(self.n)]
        new: dict[Cell, list[bool]] = defaultdict(list)
        for rows in self.rows_of(agents).values():
            visited = {self.table.obs_key[rows[0]]}
            for row in rows:
                new[self.score[row]].append(self.table.next_obs_key[row] not in visited)
                visited.add(self.table.next_obs_key[row])
        return {cell: fmean(flags) for cell, flags in new.items()}

    def progpo(
        self, base: np.ndarray, lambda_aux: float = 0.3, fixed: bool = False, always: bool = False
    ) -> np.ndarray:
        groups = {k: c for k, c in self.members(self.key_of_sample, self.out).items() if len(c) > 1}
        failed = {k for k, cells in groups.items() if all(abs(self.out[c]) < 1e-3 for c in cells)}
        lam = 0.3 * (1.0 if fixed else len(failed) / max(len(groups), 1))

        def rule(values: list[float]) -> list[float]:
            std = float(np.std(values))
            return [lam * (v - fmean(values)) / (std + 1e-6) if std >= 1e-4 else 0.0 for v in values]

        z = self.spread(self.per_group(self.coverage(), self.key_of_score, rule), self.score)
        result = base.copy()
        for row in range(self.n):
            key = self.key_of_sample[self.sample[row]]
            if self.live[row] and always and key in groups:
                result[row] += z[row]
            elif self.live[row] and not always and key in failed:
                result[row] = z[row]
        return result

    def penalty(self, w_pen: float = 0.1) -> np.ndarray:
        total = {
            cell: float(sum(self.table.r_pen[r] for r in rows)) for cell, rows in self.rows_of(self.sample).items()
        }
        centred = self.per_group(total, self.key_of_sample, lambda v: [w_pen * (x - fmean(v)) for x in v])
        return self.spread(centred, self.sample)
