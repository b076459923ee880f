"""Every unit, key and estimator once more, row by row, from the formulas; nothing here is shared with the package.

A table becomes a list of dictionaries. A *sample* is a tuple, a *score* is a tuple, and everything else is a loop.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from masim.rng import Noise
from masim.rollout.types import StepTable

Row = dict[str, Any]
Cell = Hashable
LEN, BELOW, FRESH_S, WINDOW_S = 3, 0.5, 20.0, 15.0
UNIT_OPTIONS: dict[str, dict[str, Any]] = {
    "segment": {"segment_len": LEN},
    "segment_random_phase": {"segment_len": LEN},
    "segment_low_prob": {"below": BELOW, "cuts_per_segment": 2},
    "segment_mode": {"fresh_s": FRESH_S},
    "window_set": {"window_s": WINDOW_S},
}
STATE = {"canonical": ["obs_key"], "exact": ["obs_key_exact"], "memory": ["obs_key", "memory_key"]}
STATE["similar"] = ["obs_similar"]


def mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given)


def deviation(values: list[float], ddof: int) -> float:
    return math.sqrt(sum((v - mean(values)) ** 2 for v in values) / max(len(values) - ddof, 1))


class Slow:
    """One table under one unit, one key (its columns)."""

    def __init__(self, table: StepTable, unit: str, key: tuple[str, ...], returns: str = "to_go") -> None:
        columns = {name: column.tolist() for name, column in table.columns().items()}
        self.rows: list[Row] = [
            {"n": i, **{name: column[i] for name, column in columns.items()}} for i in range(len(table))
        ]
        broken = {row["rollout_id"] for row in self.rows if row["masked"]}
        for row in self.rows:
            row["live"] = row["valid"] and row["rollout_id"] not in broken
            row["who"] = (row["rollout_id"], row["agent"])
        self.decisions = [row for row in self.rows if row["live"]]
        self.unit, self.key, self.returns = unit, key, returns
        self.found: dict[str, dict[Cell, list[Row]]] = {}
        self._cut()
        self._value()

    # -- units ----------------------------------------------------------------------------------------------------

    def by(self, name: str) -> dict[Cell, list[Row]]:
        """Return the decisions of each cell, by turn; found once."""
        if name not in self.found:
            found = self.found[name] = defaultdict(list)
            for row in sorted(self.decisions, key=lambda r: r["turn"]):
                found[row[name]].append(row)
        return self.found[name]

    def _cut(self) -> None:
        part = self._parts()
        for rows in self.by("who").values():
            segment, unlikely, before = 0, 0, None
            for row in rows:
                if self.unit == "segment":
                    segment = row["turn"] // LEN
                elif self.unit == "segment_random_phase":
                    draw = Noise(0, "credit/phase").uniform(row["scenario_seed"], row["day"])
                    segment = (row["turn"] + int(draw * LEN)) // LEN
                elif self.unit == "segment_subtask":
                    segment += before is not None and before["subtask_end"]
                elif self.unit == "segment_event":
                    segment += row["reason"] in (3, 6)
                elif self.unit == "segment_low_prob":
                    unlikely += before is not None and math.exp(before["logp"]) < BELOW
                    segment = unlikely // 2
                elif self.unit == "segment_mode":
                    segment += before is not None and before["mode"] != row["mode"]
                row["segment"], before = int(segment), row
        for row in self.decisions:
            row["part"] = part(row)
            sets = self.unit.endswith("_set")
            row["sample"] = (row["rollout_id"], row["part"]) if sets else row["who"]
            row["score"] = (row["sample"], row["segment"] if self.unit.startswith("segment") else 0)

    def _parts(self) -> Callable[[Row], int]:
        if self.unit == "role_set":
            return lambda row: row["role"]
        if self.unit == "vendor_set":
            return self._component
        return lambda row: 0

    def _component(self, row: Row) -> int:
        """Grow the set of agents that share vendors with this one, until nobody joins."""
        calls = [r for r in self.decisions if r["group_id"] == row["group_id"] and r["vendor"] >= 0]
        agents = {row["agent"]}
        while True:
            vendors = {r["vendor"] for r in calls if r["agent"] in agents}
            more = agents | {r["agent"] for r in calls if r["vendor"] in vendors}
            if more == agents:
                return min(agents)
            agents = more

    # -- what scores and samples are worth --------------------------------------------------------------------------

    def _value(self) -> None:
        self.alone = {who: sum(r["r_out"] for r in rows) for who, rows in self.by("who").items()}
        self.sample_out = {
            sample: min(self.alone[r["who"]] for r in rows) for sample, rows in self.by("sample").items()
        }
        self.sample_key = {
            sample: (*(rows[0][c] for c in self.key if c in ("group_id", "agent", "role")), rows[0]["part"])
            if not self.unit.endswith("_set")
            else (rows[0]["group_id"], rows[0]["part"])
            for sample, rows in self.by("sample").items()
        }
        scores = self.by("score")
        where = [c for c in self.key if c not in ("group_id", "agent", "role")] or ["segment"]
        if not self.unit.startswith("segment"):
            where = []
        self.score_key = {s: (self.sample_key[r[0]["sample"]], *(r[0][c] for c in where)) for s, r in scores.items()}
        self.score_out = {s: self._paid(s, rows) for s, rows in scores.items()}
        if self.unit.startswith("segment") and self.returns == "bootstrap":
            self._bootstrap(scores)
        if self.unit == "segment_mode":
            for s, rows in scores.items():
                if rows[0]["mode"] == 1:
                    self.score_out[s] = mean(float(self._useful(row)) for row in rows)

    def _paid(self, score: Cell, rows: list[Row]) -> float:
        sample = rows[0]["sample"]
        if not self.unit.startswith("segment") or self.returns == "inherit":
            return self.sample_out[sample]
        later = [r for r in self.by("sample")[sample] if r["segment"] >= rows[0]["segment"]]
        return sum(r["r_out"] for r in (rows if self.returns in ("own", "bootstrap") else later))

    def _bootstrap(self, scores: dict[Cell, list[Row]]) -> None:
        place = {s: (rows[0]["group_id"], rows[0]["agent"], rows[0]["obs_key"]) for s, rows in scores.items()}
        to_go = {}
        for s, rows in scores.items():
            later = [r for r in self.by("sample")[rows[0]["sample"]] if r["segment"] >= rows[0]["segment"]]
            to_go[s] = sum(r["r_out"] for r in later)
        for s in scores:
            after = [t for t in scores if t[0] == s[0] and t[1] > s[1]]  # type: ignore[index]
            if after:
                following = min(after, key=lambda t: t[1])  # type: ignore[index]
                self.score_out[s] += mean(to_go[t] for t in scores if place[t] == place[following])

    def _useful(self, row: Row) -> bool:
        rows = self.by("who")[row["who"]]
        seen = {rows[0]["obs_key"], *(r["next_obs_key"] for r in rows if r["turn"] < row["turn"])}
        if row["next_obs_key"] in seen:
            return False

        def fits(mine: int, theirs: int) -> bool:
            return mine == -1 or mine == theirs

        return any(
            r["mode"] == 2 and r["turn"] > row["turn"] and r["event_time_s"] - row["event_time_s"] <= FRESH_S
            and fits(row["order"], r["order"]) and fits(row["vendor"], r["vendor"])
            for r in rows
        )  # fmt: skip

    # -- comparisons ------------------------------------------------------------------------------------------------

    def compare(
        self, value: dict[Cell, float], key: dict[Cell, Cell], scale: Callable[[list[float]], float]
    ) -> dict[Cell, float]:
        """Return value minus the mean of its group, over ``scale``; 0 for who is alone."""
        groups: dict[Cell, list[Cell]] = defaultdict(list)
        for cell in value:
            groups[key[cell]].append(cell)
        result = {}
        for cells in groups.values():
            given = [value[c] for c in cells]
            for cell in cells:
                result[cell] = (value[cell] - mean(given)) / scale(given) if len(cells) > 1 else 0.0
        return result

    @staticmethod
    def scale(norm: str, ddof: int) -> Callable[[list[float]], float]:
        return lambda values: deviation(values, ddof) + 1e-6 if norm == "std" else 1.0

    def spread(self, value: dict[Cell, float], cell: str) -> list[float]:
        return [value[row[cell]] if row["live"] else 0.0 for row in self.rows]

    def per_decision(self, value: dict[int, float]) -> list[float]:
        return [value.get(row["n"], 0.0) for row in self.rows]

    def state(self, row: Row, columns: list[str]) -> Cell:
        return (self.sample_key[row["sample"]], *(row[c] for c in columns))

    def returns_of(self, reward: Callable[[Row], float], gamma: float) -> dict[int, float]:
        result = {}
        for rows in self.by("who").values():
            for i, row in enumerate(rows):
                result[row["n"]] = sum(gamma**k * reward(later) for k, later in enumerate(rows[i:]))
        return result

    # -- estimators, with the defaults of their options -------------------------------------------------------------

    def grpo(self, norm: str = "std", ddof: int = 1) -> list[float]:
        return self.spread(self.compare(self.score_out, self.score_key, self.scale(norm, ddof)), "score")

    def rloo(self) -> list[float]:
        groups: dict[Cell, list[Cell]] = defaultdict(list)
        for score in self.score_out:
            groups[self.score_key[score]].append(score)
        result: dict[Cell, float] = {}
        for cells in groups.values():
            for cell in cells:
                others = [self.score_out[c] for c in cells if c != cell]
                result[cell] = self.score_out[cell] - mean(others) if others else 0.0
        return self.spread(result, "score")

    def reinforce(self) -> list[float]:
        returns = self.returns_of(lambda r: r["r_out"], 1.0)
        return self.per_decision({n: g - mean(returns.values()) for n, g in returns.items()})

    def _gae(self, value: dict[int, float], gamma: float, lam: float) -> dict[int, float]:
        result = {}
        for rows in self.by("who").values():
            ahead = 0.0
            for i in reversed(range(len(rows))):
                n = rows[i]["n"]
                final = value[n] if rows[i]["truncated"] else 0.0
                following = value[rows[i + 1]["n"]] if i + 1 < len(rows) else final
                ahead = rows[i]["r_out"] + gamma * following - value[n] + gamma * lam * ahead
                result[n] = ahead
        return result

    def ppo_gae(self) -> list[float]:
        raw = self._gae({r["n"]: r["value"] for r in self.decisions}, 0.99, 0.95)
        same: dict[Cell, Cell] = dict.fromkeys(raw, 0)
        return self.per_decision(self.compare(raw, same, self.scale("std", 0)))  # type: ignore[arg-type]

    def steps(self, returns: dict[int, float], key: dict[Cell, Cell], norm: str = "std") -> dict[int, float]:
        return self.compare(returns, key, self.scale(norm, 1))  # type: ignore[arg-type, return-value]

    def gigpo(self, anchor: str = "canonical", reward: Callable[[Row], float] | None = None) -> list[float]:
        returns = self.returns_of(reward or (lambda r: r["r_out"]), 0.95)
        key: dict[Cell, Cell] = {r["n"]: self.state(r, STATE[anchor]) for r in self.decisions}
        step = self.per_decision(self.steps(returns, key))
        return step if reward else [a + b for a, b in zip(self.grpo(), step, strict=True)]

    def hgpo(self, reward: Callable[[Row], float] | None = None) -> list[float]:
        returns = self.returns_of(reward or (lambda r: r["r_out"]), 0.95)
        total: dict[int, float] = dict.fromkeys(returns, 0.0)
        for level in range(1, 5):
            key: dict[Cell, Cell] = {}
            for rows in self.by("who").values():
                for i, row in enumerate(rows):
                    past = [self.state(r, STATE["memory"]) for r in rows[max(0, i - level + 1) : i + 1]]
                    key[row["n"]] = (self.sample_key[row["sample"]], *["begin"] * (level - len(past)), *past)
            for n, a in self.steps(returns, key).items():
                total[n] += level / 10 * a
        return self.per_decision(total)

    def gagpo(self) -> list[float]:
        returns = self.returns_of(lambda r: r["r_out"], 0.95)
        at: dict[Cell, list[float]] = defaultdict(list)
        for row in self.decisions:
            at[self.state(row, STATE["canonical"])].append(returns[row["n"]])
        raw = self._gae({r["n"]: mean(at[self.state(r, STATE["canonical"])]) for r in self.decisions}, 0.95, 0.95)
        members: dict[Cell, set[Cell]] = defaultdict(set)
        for row in self.decisions:
            members[self.sample_key[row["sample"]]].add(row["sample"])
        group: dict[Cell, Cell] = {r["n"]: self.sample_key[r["sample"]] for r in self.decisions}
        scaled = self.steps(raw, group)
        return self.per_decision({n: a if len(members[group[n]]) > 1 else 0.0 for n, a in scaled.items()})

    def graphgpo(self) -> list[float]:
        def before(row: Row) -> Cell:
            return self.state(row, ["obs_key"])

        def after(row: Row) -> Cell:
            last = self.by("who")[row["who"]][-1]
            wins = row is last and self.alone[row["who"]] > 0
            return "success" if wins else self.state(row, ["next_obs_key"])

        edges: dict[Cell, set[Cell]] = defaultdict(set)
        for row in self.decisions:
            edges[before(row)].add(after(row))
            edges[before(row)].add(self.state(row, ["next_obs_key"]))

        def distance(node: Cell) -> float:
            reached, steps = {node}, 0
            while "success" not in reached:
                more = reached | {far for near in reached for far in edges.get(near, set())}
                if more == reached:
                    return math.inf
                reached, steps = more, steps + 1
            return steps

        far = {row["n"]: distance(after(row)) for row in self.decisions}
        gain = {n: 0.0 if math.isinf(d) else 10 * 0.95**d for n, d in far.items()}
        key: dict[Cell, Cell] = {r["n"]: before(r) for r in self.decisions}
        step = self.per_decision(self.steps(gain, key))
        return [a + b for a, b in zip(self.grpo(), step, strict=True)]

    def _team(self, row: Row) -> float:
        return min(out for (rollout, _), out in self.alone.items() if rollout == row["rollout_id"])

    def turn_agent(self) -> list[float]:
        local = self.returns_of(lambda r: r["r_out"], 1.0)
        returns = {r["n"]: self._team(r) + local[r["n"]] for r in self.decisions}
        key: dict[Cell, Cell] = {r["n"]: self.state(r, ["turn"]) for r in self.decisions}
        return self.per_decision(self.steps(returns, key))

    def counterfactual(self) -> list[float]:
        return self.per_decision({r["n"]: self._team(r) - r["counterfactual"] for r in self.decisions})

    # -- ProGPO -----------------------------------------------------------------------------------------------------

    def news(self, cap: int | None = None) -> dict[int, float]:
        result = {}
        for rows in self.by("who").values():
            visited, counted = {rows[0]["obs_key"]}, defaultdict(int)
            for row in rows:
                new = row["next_obs_key"] not in visited
                visited.add(row["next_obs_key"])
                counted[row["endpoint"]] += new
                result[row["n"]] = float(new and (cap is None or counted[row["endpoint"]] <= cap))
        return result

    def progpo(self, base: list[float], cap: int | None = None, wait: int | None = None, t_cap: int | None = None,
               step: Callable[[Callable[[Row], float]], list[float]] | None = None) -> list[float]:  # fmt: skip
        news = self.news(cap)
        coverage = {}
        for score, rows in self.by("score").items():
            t = t_cap or sum(r["endpoint"] != wait for r in rows)
            coverage[score] = sum(news[r["n"]] for r in rows) / max(t, 1)
        members: dict[Cell, list[Cell]] = defaultdict(list)
        for sample in self.sample_out:
            members[self.sample_key[sample]].append(sample)
        groups = {key: cells for key, cells in members.items() if len(cells) > 1}
        failed = {key for key, cells in groups.items() if all(abs(self.sample_out[c]) < 1e-3 for c in cells)}
        lam = 0.3 * len(failed) / max(len(groups), 1)

        def spoken(values: list[float]) -> float:
            std = deviation(values, 0)
            return std + 1e-6 if std >= 1e-4 else math.inf

        z = self.spread(self.compare(coverage, self.score_key, spoken), "score")
        extra = step(lambda r: news[r["n"]]) if step else [0.0] * len(self.rows)
        return [
            lam * (z[i] + extra[i]) if row["live"] and self.sample_key[row["sample"]] in failed else base[i]
            for i, row in enumerate(self.rows)
        ]
