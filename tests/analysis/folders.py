"""Synthetic run folders: small, seeded, and with hostile strings where a vendor could put them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

HOSTILE = "<script>alert(\"x\")</script> $\\frac{1}{0}$ & 'quoted' \x00\x1b\u202e"
AGENTS = ("booker-1", "booker-2")
ARMS = {"random": 0.0, "scripted": 0.55, "untrained": 0.03, "grpo": 0.25, "progpo": 0.7}
LEARNERS = ("grpo", "progpo")
SEEDS = (0, 1, 2)

META: dict[str, Any] = {
    "schema": 1,
    "kind": "demo",
    "scenario": "freight/short-chain-v0",
    "scenario_hash": "9f2c" * 16,
    "title": "Short booking chains over twelve vendors",
    "seed": 7,
    "versions": {"masim": "0.1.0", "python": "3.11.9", "numpy": "2.4.6"},
    "command": "masim demo --seed 7",
    "started": "2026-01-05T09:00:00+00:00",
    "finished": "2026-01-05T09:04:30+00:00",
    "config": {"learner": {"name": "progpo", "lr": 0.003}},
    "sources": [["apis.quote.latency", "lognormal 400 ms", "public API benchmark"], ["docks", "4", "invented: <b>"]],
    "status": "complete",
}


def outcome_rows(arms: dict[str, float], episodes: int, seed: int = 1) -> pd.DataFrame:
    """Return outcomes with the given completion per arm; learners get one block per training seed."""
    rng = np.random.default_rng(seed)
    hardness = rng.normal(0, 0.15, episodes)
    rows = []
    for arm, rate in arms.items():
        for train_seed in SEEDS if arm in LEARNERS else (-1,):
            shift = 0.03 * (train_seed - 1) if train_seed >= 0 else 0.0
            for episode in range(episodes):
                for agent in AGENTS:
                    p = 0.0 if rate == 0 else rate + shift + hardness[episode]
                    rows.append(_outcome(rng, arm, train_seed, episode, agent, bool(rng.random() < p)))
    return pd.DataFrame(rows)


def _outcome(
    rng: np.random.Generator, arm: str, train_seed: int, episode: int, agent: str, completed: bool
) -> dict[str, Any]:
    return {
        "episode": episode, "arm": arm, "train_seed": train_seed, "campaign_seed": 900 + episode, "day": 0,
        "agent": agent, "order": f"{agent}/o1", "completed": completed, "safe": completed and bool(rng.random() < 0.9),
        "cost_cents": int(rng.integers(60_000, 120_000)) if completed else int(rng.integers(0, 20_000)),
        "duplicates": int(rng.random() < 0.05), "orphans": int(rng.random() < 0.1),
        "unsupported_claims": int(not completed and rng.random() < 0.2), "legs_delivered": int(completed), "legs": 1,
        "landed_s": 60_000.0 if completed else float("nan"),
        "failure": "" if completed else str(rng.choice(["missed_pickup", "not_dispatched", "refused"])),
        "decisions": int(rng.integers(10, 25)), "calls": int(rng.integers(8, 20)),
    }  # fmt: skip


def train_rows(updates: int = 40) -> pd.DataFrame:
    """Return a training log in which ProGPO leaves the all-failed region earlier than GRPO."""
    rng = np.random.default_rng(2)
    rows = []
    for arm in LEARNERS:
        for seed in SEEDS:
            for update in range(updates):
                x = update / updates * (3.0 if arm == "progpo" else 1.2)
                completion = 0.7 * (1 - np.exp(-x)) + rng.normal(0, 0.03)
                failed = np.clip(0.85 * np.exp(-1.5 * x) + rng.normal(0, 0.05), 0, 1)
                rows.append({
                    "arm": arm, "train_seed": seed, "update": update, "episodes": (update + 1) * 32,
                    "decisions": (update + 1) * 700, "completion": float(np.clip(completion, 0, 1)),
                    "all_failed": float(failed), "triggered": float(failed > 0.3) if arm == "progpo" else 0.0,
                    "lambda_eff": 0.2, "entropy": 1.5 - x / 3, "loss": 0.1, "wall_s": 1.7,
                })  # fmt: skip
    return pd.DataFrame(rows)


def curve_rows(train: pd.DataFrame) -> pd.DataFrame:
    """Return held-out evaluations at every fifth update."""
    kept = train[train["update"] % 5 == 4]
    return kept[["arm", "train_seed", "episodes", "completion"]].assign(safe=kept["completion"] * 0.9)


def trace_rows(arm: str = "progpo", episode: int = 0, vendor: str = "Kestrel Haulage") -> pd.DataFrame:
    """Return one booking chain with a transient error, a lost response, pending decisions and a delivery."""
    chain = _Chain(arm, episode)
    chain.call(60, "quote", vendor, 1.2)
    chain.call(70, "quote", "Nordlicht Freight", 30.0, code=502, fault="transient")
    chain.call(130, "quote", "Nordlicht Freight", 0.9)
    chain.call(150, "tender", vendor, 2.5, status="PENDING/PENDING")
    chain.add(1500, "message", vendor=vendor, status="CONFIRMED", note="tender")
    chain.call(1510, "availability", "Dock Antwerp 3", 1.0, stop="pickup")
    chain.call(1530, "hold", "Dock Antwerp 3", 0.8, stop="pickup", slot=4)
    chain.call(1540, "schedule", "Dock Antwerp 3", 60.0, "TIMEOUT/NOT_SCHEDULED", 0, "lost_response", stop="pickup")
    chain.call(1620, "appointment_details", "Dock Antwerp 3", 1.0, "SUCCESS/CONFIRMED", stop="pickup")
    chain.call(1640, "schedule", "Dock Lyon 1", 0.1, "FAILURE/NOT_SCHEDULED", 503, "outage", stop="delivery")
    chain.call(2300, "schedule", "Dock Lyon 1", 1.1, "PENDING/PENDING", stop="delivery")
    chain.add(3900, "message", vendor="Dock Lyon 1", stop="delivery", status="CONFIRMED", note="appointment")
    chain.call(4000, "dispatch", vendor, 1.3, "SUCCESS/CONFIRMED")
    chain.add(4030, "declare", status="SUCCESS")
    chain.add(46_000, "state", vendor=vendor, stop="delivery", status="CONFIRMED", note="delivered ")
    chain.add(46_060, "message", vendor=vendor, stop="delivery", status="CONFIRMED", note="delivered")
    chain.add(46_900, "outcome", status="completed", note=HOSTILE)
    return pd.DataFrame(chain.rows)


class _Chain:
    """Collects trace rows of one order, filling the columns that do not matter."""

    def __init__(self, arm: str, episode: int) -> None:
        self.rows: list[dict[str, Any]] = []
        self.base = {
            "arm": arm, "train_seed": -1, "episode": episode, "campaign_seed": 900 + episode, "day": 0,
            "agent": "booker-1", "order": "booker-1/o1", "leg": 0, "stop": "", "verb": "", "vendor": "", "slot": -1,
            "status": "", "code": 0, "latency_s": 0.0, "request_id": -1, "cause_id": "", "amount_cents": 0, "note": "",
        }  # fmt: skip

    def add(self, t_s: float, event: str, **columns: Any) -> None:
        self.rows.append({**self.base, "t_s": float(t_s), "event": event, **columns})

    def call(
        self, t_s: float, verb: str, vendor: str, latency_s: float, status: str = "SUCCESS/NOT_SCHEDULED",
        code: int = 200, fault: str = "", stop: str = "", slot: int = -1,
    ) -> None:  # fmt: skip
        request = len(self.rows)
        common = {"verb": verb, "vendor": vendor, "request_id": request, "stop": stop, "slot": slot}
        cause = f"{fault}:{vendor}:{verb}:{request}" if fault else ""
        self.add(t_s, "call", **common)
        if cause:
            self.add(t_s, "fault", cause_id=cause, **common)
        self.add(t_s + latency_s, "answer", latency_s=latency_s, code=code, status=status, cause_id=cause, **common)


def demo_tables(episodes: int = 40) -> dict[str, pd.DataFrame]:
    """Return all tables of a demo run."""
    train = train_rows()
    trace = pd.concat([trace_rows(), trace_rows("scripted", 1, HOSTILE)], ignore_index=True)
    return {
        "outcomes": outcome_rows(ARMS, episodes), "train": train, "curve": curve_rows(train), "trace": trace,
    }  # fmt: skip
