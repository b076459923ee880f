"""One stored episode, decision by decision: what is asked of a run, and its trace cut into decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from masim.analysis.load import RunData
from masim.errors import RunError, did_you_mean
from masim.sim.spec import WRITE_VERBS, Verb
from masim.units import clock_text

Chains = dict[str, dict[str, str]]
"""Order -> link of its chain (``leg 1 tender``) -> state."""


@dataclass(slots=True)
class Step:
    """One decision and what came of it until the agent's next one."""

    n: int
    t_s: float
    agent: str
    turn: int
    action: str
    order: str = ""
    answer: str = ""
    amount_cents: int = 0
    """Price that the answer names, in cents."""
    faults: list[str] = field(default_factory=list)
    """Cause ids of the faults that struck this agent before its next decision."""
    events: list[str] = field(default_factory=list)
    chains: Chains = field(default_factory=dict)
    """Links of the chain of each of the agent's orders, and how far they are, afterwards."""


def pick_episode(run: RunData, episode: int, arm: str = "") -> pd.DataFrame:
    """Return the trace rows of one episode. Raises RunError, with range and nearest, for one that is not there."""
    trace = run.trace
    if trace.empty:
        fix = "play it again with: masim run"
        raise RunError("the run kept no trace", str(run.path / "trace.parquet"), "", "", fix)
    arms = list(dict.fromkeys(trace["arm"]))
    trained = trace[trace["train_seed"] >= 0]
    jobs = {f"{name}-s{seed}": (name, seed) for name, seed in zip(trained["arm"], trained["train_seed"], strict=True)}
    if arm and arm not in arms and arm not in jobs:
        names = [*arms, *jobs]
        raise RunError("the run has no such agent card", "--arm", arm, ", ".join(names), did_you_mean(arm, names))
    name, seed = jobs.get(arm, (arm or arms[0], None))
    own = trace[(trace["arm"] == name) & ((trace["train_seed"] == seed) | (seed is None))]
    known = sorted({int(e) for e in own["episode"]})
    if episode not in known:
        nearest = min(known, key=lambda e: (abs(e - episode), e))
        allowed = f"{known[0]} to {known[-1]}"
        raise RunError("the run has no such episode", "--episode", str(episode), allowed, f"the nearest is {nearest}")
    rows: pd.DataFrame = own[own["episode"] == episode]
    chosen: pd.DataFrame = rows[rows["train_seed"] == rows["train_seed"].min()]
    return chosen.reset_index(drop=True)


def steps_of(rows: pd.DataFrame) -> list[Step]:
    """Return the decisions of an episode with what followed each. Raises RunError for a trace that has none."""
    steps: list[Step] = []
    last: dict[str, Step] = {}
    chains: dict[str, Chains] = {}
    for row in rows.to_dict("records"):
        agent, event = str(row["agent"]), str(row["event"])
        if event == "decision":
            step = Step(len(steps), float(row["t_s"]), agent, int(row["request_id"]), str(row["note"]))
            known = chains.setdefault(agent, {})
            step.chains = {name: dict(links) for name, links in known.items()}
            steps.append(step)
            last[agent] = step
        elif agent in last:
            _add(last[agent], chains.setdefault(agent, {}), event, row)
    if not steps:
        raise RunError(
            "the trace of this episode is damaged: it has no decisions", "trace.parquet", "", "", "run it again"
        )
    return steps


def _add(step: Step, chains: Chains, event: str, row: Mapping[Any, Any]) -> None:
    order = str(row["order"])
    if event == "call":
        step.order = order
    elif event == "answer":
        step.answer = f"{row['status']} {row['code']} after {float(row['latency_s']):.1f} s {row['note']}".strip()
        step.amount_cents = int(row["amount_cents"])
    elif event == "fault":
        step.faults.append(str(row["cause_id"]))
    elif event == "declare":
        step.order, step.answer = order, str(row["note"])
    elif event == "hand_over" and row["status"] == "PENDING":
        step.order, step.answer = order, f"{row['status']} {row['note']}"
    elif event in ("message", "state", "retry", "short_circuit", "hand_over"):
        said = (event, str(row["vendor"]), str(row["status"]), str(row["note"]))
        step.events.append(f"{clock_text(float(row['t_s']))} {' '.join(filter(None, said))}")
    elif event == "outcome":
        cost = f"${int(row['amount_cents']) / 100:,.2f}"
        step.events.append(" ".join(filter(None, (event, order, str(row["status"]), str(row["note"]), cost))))
    link, state = _moved(event, row)
    if order and link:
        chains.setdefault(order, {})[link] = state
        step.chains = {name: dict(links) for name, links in chains.items()}


def _moved(event: str, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return which link of an order's chain an event moves, and to what; nothing where it moves none."""
    leg = f"leg {int(row['leg']) + 1} "
    note, status = str(row["note"]), str(row["status"])
    if event == "outcome":
        return "outcome", status
    if event in ("declare", "hand_over"):
        return ("declared", note) if event == "declare" else ("hand-over", f"{status} {note}")
    if event == "answer" and row["verb"] in WRITE_VERBS and int(row["code"]) in (200, 202):
        state = status.partition("/")[2]
        if row["verb"] in (Verb.TENDER, Verb.CANCEL_TENDER, Verb.DISPATCH):
            return f"{leg}{'dispatch' if row['verb'] == Verb.DISPATCH else 'tender'}", f"{row['vendor']} {state}"
        return f"{leg}{row['stop']}", f"{row['vendor']} {row['verb']} {state}"
    if event == "message":
        what = note.partition(" ")[0]
        return f"{leg}{row['stop'] if what == 'appointment' and row['stop'] else what}", f"{row['vendor']} {status}"
    if event == "state" and note in ("delivered", "missed"):
        return f"{leg}{row['stop'] or 'truck'}", note
    return "", ""


def choose(steps: list[Step], first: int, last: int | None, agent: str, order: str) -> list[Step]:
    """Return the steps in [first, last] of an agent and an order. Raises RunError for what the episode has not."""
    end = len(steps) - 1
    for option, number in (("--from", first), ("--to", end if last is None else last)):
        if not 0 <= number <= end:
            near = f"the nearest is {min(max(number, 0), end)}"
            raise RunError("the episode has no such decision", option, str(number), f"0 to {end}", near)
    for name, value, known in (
        ("--agent", agent, sorted({step.agent for step in steps})),
        ("--order", order, sorted({o for step in steps for o in (step.order, *step.chains) if o})),
    ):
        if value and value not in known:
            raise RunError(
                f"the episode has no such {name[2:]}", name, value, ", ".join(known), did_you_mean(value, known)
            )
    stop = end if last is None else last
    return [s for s in steps[first : stop + 1] if (not agent or s.agent == agent) and (not order or s.order == order)]


def check_picture(file: Path) -> None:
    """Raise RunError for a picture of a kind that is not drawn."""
    if file.suffix not in (".png", ".svg"):
        raise RunError("not a kind of picture", "--gantt", str(file), ".png, .svg")
